// SPDX-License-Identifier: Apache-2.0
`include "assert.svh"
`include "stream.svh"
/// Register accesses from the host's clock in the core clock.
///
/// Writes are posted: answered at once, up to `Depth` of them on their way; a read waits for all before it and its answer.
/// Order is kept. A write takes one host clock, a read about three clocks of each domain. Both resets together.
module host_cross #(
    parameter int AddrW = 20,
    parameter int Depth = 16
) (
    input logic        host_clk_i,
    input logic        host_rst_i,
          reg_if.slave host,

    input logic         core_clk_i,
    input logic         core_rst_i,
          reg_if.master core
);
  typedef struct packed {
    logic             write;
    logic [AddrW-1:0] addr;
    logic [31:0]      wdata;
    logic [3:0]       wstrb;
  } access_t;
  `STREAM_ON(access_t, in, host_clk_i, host_rst_i)
  `STREAM_ON(access_t, out, core_clk_i, core_rst_i)
  `STREAM_ON(logic [31:0], answer_in, core_clk_i, core_rst_i)
  `STREAM_ON(logic [31:0], answer, host_clk_i, host_rst_i)
  logic [$clog2(Depth):0] unused_accesses;
  logic [2:0] unused_answers;

  // The access waits here until it is in the FIFO.
  access_t held_q;
  logic held_full_q;
  assign in.valid = held_full_q;
  assign in.data  = held_q;
  wire enters = held_full_q && in.ready;
  always_ff @(posedge host_clk_i) begin
    if (host.req) begin
      held_q <= '{write: host.write, addr: host.addr, wdata: host.wdata, wstrb: host.wstrb};
      held_full_q <= 1'b1;
    end else if (enters) begin
      held_full_q <= 1'b0;
    end
    if (host_rst_i) held_full_q <= 1'b0;
  end
  assign host.ack = (enters && held_q.write) || answer.valid;
  assign host.rdata = answer.data;
  assign answer.ready = 1'b1;

  fifo_async #(
      .T(access_t),
      .Depth(Depth)
  ) i_accesses (
      .wclk_i (host_clk_i),
      .wrst_i (host_rst_i),
      .in,
      .count_o(unused_accesses),
      .rclk_i (core_clk_i),
      .rrst_i (core_rst_i),
      .out
  );
  fifo_async #(
      .T(logic [31:0]),
      .Depth(4)
  ) i_answers (
      .wclk_i(core_clk_i),
      .wrst_i(core_rst_i),
      .in(answer_in),
      .count_o(unused_answers),
      .rclk_i(host_clk_i),
      .rrst_i(host_rst_i),
      .out(answer)
  );

  // One at a time in the core clock.
  access_t now;
  assign now = out.data;
  logic busy_q;
  assign core.req = out.valid && !busy_q;
  assign core.write = now.write;
  assign core.addr = now.addr;
  assign core.wdata = now.wdata;
  assign core.wstrb = now.wstrb;
  assign out.ready = core.ack;
  assign answer_in.valid = core.ack && !now.write;
  assign answer_in.data = core.rdata;
  always_ff @(posedge core_clk_i) begin
    busy_q <= (busy_q || core.req) && !core.ack;
    if (core_rst_i) busy_q <= 1'b0;
  end

  `ASSERT(AnswerPlaceKept, answer_in.valid |-> answer_in.ready, core_clk_i, core_rst_i)
endmodule
