// SPDX-License-Identifier: Apache-2.0
`include "assert.svh"
`include "stream.svh"
/// Register accesses from one clock domain (`in`) in another (`out`).
///
/// Writes are posted: answered at once, up to `Depth` of them on their way; a read waits for all before it and its answer.
/// Order is kept. A write takes one clock of `in`, a read about three clocks of each domain.
///
/// Each side may be reset alone. While `out` is in reset, accesses are taken and do nothing, a read gives all ones: none is kept waiting
/// by a slave that will not answer. What `in` did before its reset goes on; the answer it no longer waits for is thrown away,
/// and its next access waits for that.
module reg_cross #(
    parameter int AddrW = 20,
    parameter int Depth = 16
) (
    input logic        in_clk_i,
    input logic        in_rst_i,
          reg_if.slave in,

    input logic         out_clk_i,
    input logic         out_rst_i,
          reg_if.master out
);
  typedef struct packed {
    logic             write;
    logic [AddrW-1:0] addr;
    logic [31:0]      wdata;
    logic [3:0]       wstrb;
  } access_t;
  `STREAM_ON(access_t, cross_in, in_clk_i, in_rst_i)
  `STREAM_ON(access_t, cross_out, out_clk_i, out_rst_i)
  `STREAM_ON(logic [31:0], answer_in, out_clk_i, out_rst_i)
  `STREAM_ON(logic [31:0], answer, in_clk_i, in_rst_i)
  logic [$clog2(Depth):0] unused_accesses;
  logic [2:0] unused_answers;

  // The access waits here until it is in the FIFO, and as long as the answer to one from before a reset is to come.
  access_t held_q;
  logic held_full_q;
  logic owed_q = 1'b0;  // an answer is to come,
  logic stale_q;  // and its access was given up
  assign cross_in.valid = held_full_q && !stale_q;
  assign cross_in.data  = held_q;
  wire enters = cross_in.valid && cross_in.ready && !in_rst_i;
  wire owed = (owed_q && !answer.valid) || (enters && !held_q.write);
  always_ff @(posedge in_clk_i) begin
    owed_q  <= owed;
    stale_q <= owed && (stale_q || in_rst_i);
    if (in.req) begin
      held_q <= '{write: in.write, addr: in.addr, wdata: in.wdata, wstrb: in.wstrb};
      held_full_q <= 1'b1;
    end else if (enters) begin
      held_full_q <= 1'b0;
    end
    if (in_rst_i) held_full_q <= 1'b0;
  end
  assign in.ack = (enters && held_q.write) || (answer.valid && !stale_q);
  assign in.rdata = answer.data;
  assign answer.ready = 1'b1;

  fifo_async #(
      .T(access_t),
      .Depth(Depth)
  ) i_accesses (
      .wclk_i (in_clk_i),
      .wrst_i (in_rst_i),
      .in     (cross_in),
      .count_o(unused_accesses),
      .rclk_i (out_clk_i),
      .rrst_i (1'b0),
      .out    (cross_out)
  );
  fifo_async #(
      .T(logic [31:0]),
      .Depth(4)
  ) i_answers (
      .wclk_i(out_clk_i),
      .wrst_i(1'b0),
      .in(answer_in),
      .count_o(unused_answers),
      .rclk_i(in_clk_i),
      .rrst_i(1'b0),
      .out(answer)
  );

  // One at a time. Reset answers for the slave.
  access_t now;
  assign now = cross_out.data;
  logic busy_q;
  assign out.req = cross_out.valid && !busy_q && !out_rst_i;
  assign out.write = now.write;
  assign out.addr = now.addr;
  assign out.wdata = now.wdata;
  assign out.wstrb = now.wstrb;
  assign cross_out.ready = out.ack || out_rst_i;
  assign answer_in.valid = cross_out.valid && cross_out.ready && !now.write;
  assign answer_in.data = out.rdata | {32{out_rst_i}};
  always_ff @(posedge out_clk_i) begin
    busy_q <= (busy_q || out.req) && !out.ack;
    if (out_rst_i) busy_q <= 1'b0;
  end

  `ASSERT(AnswerPlaceKept, answer_in.valid |-> answer_in.ready, out_clk_i, 1'b0)
endmodule
