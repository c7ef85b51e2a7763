// SPDX-License-Identifier: Apache-2.0
`include "stream.svh"
/// Exact-match steering (n-tuple filters, flow director): the receive queue of each flow that the host has put into the table.
///
/// A flow is what rx_hash hashes, addresses and ports, compared bit by bit. The table has two ways of `Entries` / 2 places. A flow
/// may lie in way 0 at the low bits of its hash, or in way 1 at its bits from 16 on; the host chooses, and moves another flow to
/// its other place to make room (cuckoo hashing). In both it counts in way 0; elsewhere it is never found. `valid_o` comes 2
/// clocks after `found_i.valid`, one flow a clock, never refused.
/// `regs`: words 0 ... 8 the flow, first byte in bits 31:24 of word 0; word 9 its kind (19:16, rx_hash's type), its queue (15:0) and
/// whether there is one (31); a write of word 10 puts these into entry n, n from `Entries` / 2 on being way 1. An entry that there is
/// not, or one with a queue from `Queues` on, is not written and pulses `refused_o`. Word 11 is `Entries`. Frames see an entry as it was or
/// as it is. Reset empties the table, in `Entries` / 2 clocks in which nothing matches and register accesses wait. With
/// `Entries` 0 nothing matches, at once.
module flow_table
  import eth_pkg::*;
#(
    parameter int Entries = 1024,
    parameter int Queues  = 65536
) (
    input logic clk_i,
    input logic rst_i,
    reg_if.slave regs,
    output logic refused_o,

    input  flow_found_t found_i,
    output logic        valid_o,
    output flow_queue_t queue_o
);
  if (Entries != 0 && (Entries < 4 || Entries > 65536 || Entries != 2 ** $clog2(
          Entries
      ))) begin : g_bad_parameter
    $fatal(1, "flow_table: Entries %0d is neither 0 nor a power of two from 4 to 65536", Entries);
  end
  localparam int Ways = 2;
  localparam int Words = 32'(FlowRegAction) - 32'(FlowRegFlow);
  typedef struct packed {
    logic        valid;
    logic [15:0] queue;
    flow_t flow;
  } entry_t;

  // ---- Registers.
  logic waiting, write, cleared, answer_q;
  logic [31:0] addr, wdata, rdata_q;
  wire [3:0] word = addr[5:2];
  wire take = waiting && cleared;
  reg_slot i_slot (
      .clk_i,
      .rst_i,
      .regs,
      .waiting_o(waiting),
      .write_o  (write),
      .addr_o   (addr),
      .wdata_o  (wdata),
      .take_i   (take),
      .answer_i (answer_q),
      .rdata_i  (rdata_q)
  );
  logic [Words-1:0][31:0] words_q;  // word 0 the leftmost
  logic [31:0] action_q;
  wire put = take && write && word == FlowRegPut;
  wire known = Entries != 0 && wdata < Entries && (!action_q[31] || 32'(action_q[15:0]) < Queues);
  assign refused_o = put && !known;
  always_ff @(posedge clk_i) begin
    answer_q <= take;
    if (take) begin
      rdata_q <= '0;
      for (int i = 0; i < Words; i++) begin
        if (word == FlowRegFlow + 4'(i)) begin
          rdata_q <= words_q[Words-1-i];
          if (write) words_q[Words-1-i] <= wdata;
        end
      end
      if (word == FlowRegAction) begin
        rdata_q <= action_q;
        if (write) action_q <= wdata;
      end
      if (word == FlowRegEntries) rdata_q <= Entries;
    end
    if (rst_i) begin
      answer_q <= 1'b0;
      words_q  <= '0;
      action_q <= '0;
    end
  end
  wire unused = &{1'b0, addr, action_q[30:20]};

  if (Entries == 0) begin : g_none
    assign cleared = 1'b1;
    assign queue_o = '0;
    assign valid_o = found_i.valid;
    wire unused_flow = &{1'b0, found_i, words_q};
  end else begin : g_table
    localparam int Places = Entries / Ways;
    localparam int PlaceW = $clog2(Places);

    logic [PlaceW:0] clear_q;  // next place to clear; Places when all are
    assign cleared = clear_q[PlaceW];
    always_ff @(posedge clk_i) begin
      if (!cleared) clear_q <= clear_q + 1'b1;
      if (rst_i) clear_q <= '0;
    end

    wire entry_t new_entry =
    '{
        valid: cleared && action_q[31],
        queue: action_q[15:0],
        flow : '{kind: action_q[19:16], fields: words_q}
    }
    ;

    logic valid_q;
    logic clean_q;  // looked up when the table was cleared
    flow_t flow_q;
    flow_queue_t [Ways-1:0] in_way;
    for (genvar w = 0; w < Ways; w++) begin : g_way
      entry_t entry;
      ram_sdp #(
          .Width($bits(entry_t)),
          .Depth(Places)
      ) i_ram (
          .clk_i,
          .we_i(!cleared || (put && known && wdata[PlaceW] == 1'(w))),
          .waddr_i(cleared ? wdata[PlaceW-1:0] : clear_q[PlaceW-1:0]),
          .wdata_i(new_entry),
          .re_i(found_i.valid),
          .raddr_i(found_i.hash[16*w+:PlaceW]),
          .rdata_o(entry)
      );
      `WHILE(valid_q, in_way[w],
             '{hit: entry.valid && clean_q && entry.flow == flow_q, queue: entry.queue})
    end

    always_ff @(posedge clk_i) begin
      valid_q <= found_i.valid && !rst_i;
      valid_o <= valid_q && !rst_i;
      if (found_i.valid) begin
        flow_q  <= found_i.flow;
        clean_q <= cleared;
      end
      if (valid_q) queue_o <= in_way[0].hit ? in_way[0] : in_way[1];
    end
    wire unused_hash = &{1'b0, found_i.hash};
  end
endmodule
