// SPDX-License-Identifier: Apache-2.0
`include "assert.svh"
/// MSI-X: vector numbers in, interrupt messages out; vector table and pending bit array as registers.
///
/// `regs`: 16 bytes a vector from 0 on (address, upper address, data, control with the mask in bit 0; reset: masked), and
/// the pending bits from `PbaOffset` on (read only); partial writes are allowed, answers come in the next clock. A vector
/// becomes pending, and is sent (and no longer pending) as soon as neither it nor the function is masked and MSI-X and bus
/// mastering are enabled: in 4 clocks if that is so already, otherwise at most `Vectors` clocks after it has become so.
/// With `Functions` each has its share of the vectors, in their order: its own mask, enable and bus mastering count, and the message is its own.
/// One message in 4 clocks; several requests of a vector that is held back become one. `vector` waits while a message
/// waits at `tlp`, which is registered. A number without a table entry is dropped; `dropped_o` and `sent_o` count.
module msix
  import pcie_pkg::*;
#(
    parameter int Vectors = 32,
    parameter int Functions = 1,
    parameter logic [15:0] PbaOffset = 16'h8000
) (
    input logic clk_i,
    input logic rst_i,
    input pcie_cfg_t cfg_i,

    // Vector table and pending bits.
    reg_if.slave regs,

    // Vector numbers in, queue_t.
    stream_if.snk vector,

    // tlp_beat_t out: memory writes.
    stream_if.src tlp,

    // Event counts.
    output logic sent_o,
    output logic dropped_o
);
  if (Vectors < 1 || Vectors > 2048 || 16 * Vectors > int'(PbaOffset) || PbaOffset[7:0] != '0)
  begin : g_bad_parameter
    $fatal(1, "msix: %0d vectors do not fit below the pending bits at %h", Vectors, PbaOffset);
  end
  localparam int VectorW = Vectors > 1 ? $clog2(Vectors) : 1;
  localparam int PbaWords = (Vectors + 31) / 32;
  typedef logic [VectorW-1:0] index_t;

  /// What the RAM holds of a table entry.
  typedef struct packed {
    logic [31:0] data;
    logic [63:0] addr;
  } entry_t;

  logic [Vectors-1:0] masked_q, pending_q;
  index_t look_q;
  logic enabled;
  function_t whose;
  if (Functions > 1) begin : g_functions
    wire [5:0] which = 6'(look_q[VectorW-1-:$clog2(Functions)]);
    assign whose = function_t'(which);
    assign enabled = cfg_i.functions.msix_enable[which] && !cfg_i.functions.msix_mask[which] &&
        cfg_i.functions.master[which] && cfg_i.bus_master;
  end else begin : g_one_function
    assign whose   = '0;
    assign enabled = cfg_i.msix_enable && !cfg_i.msix_mask && cfg_i.bus_master;
  end

  // Register side.
  wire [15:0] addr = 16'(regs.addr);
  wire in_table = addr < 16'(16 * Vectors);
  wire in_pba = addr >= PbaOffset && addr < PbaOffset + 16'(4 * PbaWords);
  wire index_t entry = addr[4+:VectorW];
  wire [1:0] word = addr[3:2];
  logic [11:0] table_we;
  always_comb begin
    table_we = '0;
    if (regs.req && regs.write && in_table && word != 2'd3) table_we[4*word+:4] = regs.wstrb;
  end

  entry_t read;
  logic   fetch;
  ram_sdp #(
      .Width($bits(entry_t)),
      .Depth(Vectors),
      .Lanes(12)
  ) i_table (
      .clk_i,
      .we_i   (table_we),
      .waddr_i(entry),
      .wdata_i({3{regs.wdata}}),
      .re_i   (regs.req || fetch),
      .raddr_i(regs.req ? entry : look_q),
      .rdata_o(read)
  );

  logic ack_q, from_ram_q;
  logic [ 1:0] word_q;
  logic [31:0] other_q;  // what does not come from the RAM
  assign regs.ack   = ack_q;
  assign regs.rdata = from_ram_q ? 32'(read >> {word_q, 5'd0}) : other_q;

  always_ff @(posedge clk_i) begin
    ack_q <= regs.req;
    if (regs.req) begin
      word_q <= word;
      from_ram_q <= in_table && word != 2'd3;
      other_q <= '0;
      if (in_table) other_q <= 32'(masked_q[entry]);
      else if (in_pba) other_q <= 32'(pending_q >> {addr[7:2], 5'd0});
      if (regs.write && in_table && word == 2'd3 && regs.wstrb[0]) masked_q[entry] <= regs.wdata[0];
    end
    if (rst_i) begin
      ack_q <= 1'b0;
      masked_q <= '1;
    end
  end

  // Message side. One vector is looked at in each clock: one that has just come, or else the next of an endless walk over
  // all of them, which finds those that have been let go. A message advances the walk too, so that it always goes on.
  typedef enum logic [1:0] {
    Look,
    Fetch,  // its table entry is read
    Send
  } state_e;
  state_e state_q;
  index_t walk_q;
  logic fresh_q;  // look_q has just come in
  entry_t entry_q;
  function_t whose_q;

  wire hit = enabled && pending_q[look_q] && !masked_q[look_q];
  // The register side goes first at the RAM.
  assign fetch = state_q == Look && hit && !regs.req;
  assign vector.ready = state_q == Look && !hit && !fresh_q;
  wire take = vector.valid && vector.ready;
  wire [15:0] number = 16'(vector.data);
  wire exists = number < 16'(Vectors);

  always_ff @(posedge clk_i) begin
    dropped_o <= take && !exists;
    sent_o <= tlp.valid && tlp.ready;
    unique case (state_q)
      Look: begin
        if (take && exists) begin
          pending_q[number[VectorW-1:0]] <= 1'b1;
          look_q <= number[VectorW-1:0];
          fresh_q <= 1'b1;
        end else if (!hit || fetch) begin
          look_q  <= walk_q;
          walk_q  <= walk_q == index_t'(Vectors - 1) ? '0 : walk_q + 1'b1;
          fresh_q <= 1'b0;
        end
        if (fetch) begin
          whose_q <= whose;
          pending_q[look_q] <= 1'b0;
          state_q <= Fetch;
        end
      end
      Fetch: begin
        entry_q <= read;
        state_q <= Send;
      end
      default: if (tlp.ready) state_q <= Look;
    endcase
    if (rst_i) begin
      pending_q <= '0;
      look_q <= '0;
      walk_q <= '0;
      fresh_q <= 1'b0;
      state_q <= Look;
      dropped_o <= 1'b0;
      sent_o <= 1'b0;
    end
  end

  // One DW, all bytes enabled, never relaxed: it must not overtake what it announces.
  wire low = entry_q.addr[63:32] == '0;
  mem4_hdr_t hdr;
  always_comb begin
    hdr = '0;
    hdr.dw0.fmt_type = low ? MWr3 : MWr4;
    hdr.dw0.length = 10'd1;
    hdr.requester_id = cfg_i.requester_id;
    if (Functions > 1) hdr.requester_id[7:0] = routing_of(whose_q);
    hdr.first_be = 4'hf;
    hdr.addr = low ? {entry_q.addr[31:2], 34'h0} : {entry_q.addr[63:2], 2'b00};
  end
  assign tlp.valid = state_q == Send;
  assign tlp.data  = '{hdr: hdr, data: 512'(entry_q.data), sop: 1'b1, eop: 1'b1};
  wire unused = &{1'b0, cfg_i, addr, entry_q.addr[1:0]};

  `ASSERT(LookAtOneThatExists, 16'(look_q) < 16'(Vectors))
endmodule
