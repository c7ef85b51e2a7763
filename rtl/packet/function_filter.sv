// SPDX-License-Identifier: Apache-2.0
`include "stream.svh"
/// Receive filter by function (SR-IOV): which PCI function a frame is for, by its destination address and, where the function has one, its VLAN.
///
/// Watches the beats of a stream of frames. A frame to the address of a virtual function whose entry is valid is that function's; if the entry
/// names a VLAN only when the frame's outermost tag (802.1Q or 802.1ad) has that ID. Of several such functions it is the one with the lowest
/// number's. All else is the physical function's (0): broadcast, multicast, addresses of nobody. `valid_o` comes 3 clocks after a first beat,
/// one frame a clock, never refused. `coalesce_o`: that function's segments may be joined (rx_coalesce); the physical one's always.
/// `regs`: 16 bytes a function: word 0 bytes 0 ... 3 of its address, the first in bits 7:0; word 1 the other two (15:0), `coalesce` (29), `check` (30: tx_source
/// looks at the source of what it sends) and `valid` (31); word 2 the VLAN ID (11:0) and whether there is one (31). Words 0 and 2 are held until a
/// write of word 1 puts all three into that function's entry at once; so reads give what is in the entry. A function that there is not, or a group
/// address, is not written and pulses `refused_o`. A frame sees an entry as it was or as it is. `set_o` tells what was put.
/// An access takes 3 clocks. Reset makes all entries invalid, which then read 0.
module function_filter
  import eth_pkg::*;
#(
    parameter int Functions = 64  // a power of two
) (
    input logic clk_i,
    input logic rst_i,
    reg_if.slave regs,
    output logic refused_o,
    output source_rule_t set_o,

    // A beat of a frame moves.
    input logic valid_i,
    input wide_beat_t beat_i,

    output logic   valid_o,
    output owner_t owner_o,
    output logic   coalesce_o
);
  localparam int FunctionW = $clog2(Functions);
  if (Functions < 2 || Functions > MostOwners || 2 ** FunctionW != Functions) begin : g_bad_parameter
    $fatal(
        1, "function_filter: Functions %0d is no power of two from 2 to %0d", Functions, MostOwners
    );
  end
  typedef logic [FunctionW-1:0] index_t;
  typedef struct packed {
    logic        on;
    logic [11:0] id;
  } vlan_t;
  typedef struct packed {
    vlan_t vlan;
    logic [47:0] address;
  } rule_t;

  // ---- Registers.
  logic take, write, answer_q;
  logic [31:0] addr, wdata, rdata;
  reg_slot i_slot (
      .clk_i,
      .rst_i,
      .regs,
      .waiting_o(take),
      .write_o  (write),
      .addr_o   (addr),
      .wdata_o  (wdata),
      .take_i   (take),
      .answer_i (answer_q),
      .rdata_i  (rdata)
  );
  wire [1:0] word = addr[3:2];
  wire [5:0] number = addr[9:4];
  wire index_t index = index_t'(number);
  wire exists = 32'(number) < Functions;
  logic [31:0] low_q;
  vlan_t vlan_q;
  rule_t rule;
  assign rule = '{vlan: vlan_q, address: {wdata[15:0], low_q}};
  wire put = take && write && word == 2'd1;
  wire known = exists && !(wdata[31] && rule.address[0]);
  assign refused_o = (put && !known) || (take && write && !exists && word != 2'd1);
  assign set_o = '{
          valid: put && known,
          owner: owner_t'(number),
          check: wdata[31] && wdata[30],
          address: rule.address
      };

  logic  [Functions-1:0] valid_q;
  rule_t [Functions-1:0] rule_q;
  logic check, coalesce, there_q;
  logic [1:0] word_q;
  rule_t read;
  ram_sdp #(
      .Width($bits(rule_t) + 2),
      .Depth(Functions)
  ) i_read (
      .clk_i,
      .we_i(put && known),
      .waddr_i(index),
      .wdata_i({wdata[30:29], rule}),
      .re_i(take),
      .raddr_i(index),
      .rdata_o({check, coalesce, read})
  );
  always_comb begin
    unique case (word_q)
      2'd0: rdata = read.address[31:0];
      2'd1: rdata = {1'b1, check, coalesce, 13'd0, read.address[47:32]};
      2'd2: rdata = {read.vlan.on, 19'd0, read.vlan.id};
      default: rdata = '0;
    endcase
    if (!there_q) rdata = '0;
  end
  always_ff @(posedge clk_i) begin
    answer_q <= take;
    if (take) begin
      word_q  <= word;
      there_q <= exists && valid_q[index];
      if (write && word == 2'd0) low_q <= wdata;
      if (write && word == 2'd2) vlan_q <= '{on: wdata[31], id: wdata[11:0]};
    end
    for (int i = 0; i < Functions; i++) begin
      if (put && known && index == index_t'(i)) begin
        valid_q[i] <= wdata[31];
        rule_q[i]  <= rule;
      end
    end
    if (rst_i) begin
      answer_q <= 1'b0;
      valid_q  <= '0;
      low_q    <= '0;
      vlan_q   <= '0;
    end
  end
  wire unused = &{1'b0, addr, beat_i};

  // ---- Frames: the key; who matches, by eights; the first of them.
  localparam int Bank = Functions < 8 ? Functions : 8, Banks = Functions / Bank, BankW = $clog2(
      Bank
  );
  wire first = valid_i && beat_i.sop;
  wire [15:0] ether_type = {beat_i.data[8*12+:8], beat_i.data[8*13+:8]};
  logic [2:0] valid;
  rule_t key_q;
  logic group_q, group_match_q;
  assign valid[0] = first;
  always_ff @(posedge clk_i) begin
    if (first) begin
      group_q <= beat_i.data[0];
      key_q <= '{
          vlan: '{on: is_tag(ether_type), id: {beat_i.data[8*14+:4], beat_i.data[8*15+:8]}},
          address: beat_i.data[47:0]
      };
    end
    if (valid[1]) group_match_q <= group_q;
    valid[2:1] <= valid[1:0];
    valid_o <= valid[2];
    if (rst_i) begin
      valid[2:1] <= '0;
      valid_o <= 1'b0;
    end
  end

  rule_t [Functions-1:0] mask;
  for (genvar i = 0; i < Functions; i++) begin : g_mask
    assign mask[i] = '{vlan: rule_q[i].vlan.on ? '1 : '0, address: '1};
  end
  logic [Banks-1:0] hit_q;
  logic [Banks-1:0][BankW-1:0] place_q;
  for (genvar b = 0; b < Banks; b++) begin : g_bank
    logic hit;
    logic [BankW-1:0] place;
    ternary_match #(
        .Rules(Bank),
        .Width($bits(rule_t))
    ) i_match (
        .valid_i(valid[1]),
        .key_i(key_q),
        .rule_valid_i(b == 0 ? valid_q[Bank-1:0] & ~Bank'(1) : valid_q[b*Bank+:Bank]),
        .value_i(rule_q[b*Bank+:Bank]),
        .mask_i(mask[b*Bank+:Bank]),
        .hit_o(hit),
        .index_o(place)
    );
    always_ff @(posedge clk_i) begin
      if (valid[1]) begin
        hit_q[b]   <= hit;
        place_q[b] <= place;
      end
    end
  end
  always_ff @(posedge clk_i) begin
    if (valid[2]) begin
      owner_o <= '0;
      for (int b = Banks - 1; b >= 0; b--)
      if (hit_q[b] && !group_match_q) owner_o <= owner_t'(b * Bank) | owner_t'(place_q[b]);
    end
  end
  // As it is when the owner is told: what has been found has been put.
  logic joins[Functions];
  always_ff @(posedge clk_i) if (put && known) joins[index] <= wdata[29];
  assign coalesce_o = owner_o == '0 || joins[index_t'(owner_o)];
endmodule
