// SPDX-License-Identifier: Apache-2.0
`include "stream.svh"
/// What a MAC sends as what it receives, for its loopback: XGMII words from one clock in another.
///
/// Words of Idle that find the store more than a third full are left out, those that find it less than a quarter full go out twice, and what
/// comes after an empty store waits until some of it is there, with Idle until then: so clocks that differ are no matter where there are such
/// words between frames. At line rate there are hardly any; then a difference that adds up to the store (30 ppm: 0.4 million words) spoils a
/// frame. Latency about 20 clocks of `out_clk_i`. Either side's reset may come alone; what is under way is then cut or lost.
module xgmii_loop
  import xgmii_pkg::*;
(
    input  logic   in_clk_i,
    input  logic   in_rst_i,
    input  xgmii_t in_i,
    input  logic   out_clk_i,
    input  logic   out_rst_i,
    output xgmii_t out_o
);
  localparam int Depth = 32;
  typedef struct packed {
    logic   twice;  // a word of Idle
    xgmii_t word;
  } kept_t;
  `STREAM_ON(kept_t, in, in_clk_i, in_rst_i)
  `STREAM_ON(kept_t, out, out_clk_i, out_rst_i)
  logic [$clog2(Depth):0] level;
  fifo_async #(
      .T(kept_t),
      .Depth(Depth)
  ) i_store (
      .wclk_i (in_clk_i),
      .wrst_i (1'b0),
      .in,
      .count_o(level),
      .rclk_i (out_clk_i),
      .rrst_i (out_rst_i),
      .out
  );
  logic under_q;  // less than a quarter full, a clock ago
  assign in.data = '{twice: in_i == IdleWord && under_q, word: in_i};
  logic over_q;  // more than a third full, a clock ago
  logic wide_q;  // the word before has five bytes of a gap, the least that a receiver is to stand
  assign in.valid = !in_rst_i && !(in_i == IdleWord && over_q && wide_q);
  always_ff @(posedge in_clk_i) wide_q <= in_i.ctl[3];
  always_ff @(posedge in_clk_i) under_q <= level < ($clog2(Depth) + 1)'(Depth / 4);
  always_ff @(posedge in_clk_i) over_q <= level > ($clog2(Depth) + 1)'(Depth / 2 - 5);

  // The store runs empty between frames only: seven clocks' words are there when it goes on, and 200 ppm of the longest frame are half a word.
  logic [2:0] wait_q;
  logic again_q;  // an Idle that goes out twice has gone out once
  assign out.ready = wait_q == '0 && (again_q || !out.data.twice);
  wire moves = out.valid && out.ready;
  always_ff @(posedge out_clk_i) begin
    out_o   <= moves ? out.data.word : IdleWord;
    again_q <= out.valid && wait_q == '0 && !out.ready;
    if (!out.valid) wait_q <= 3'd7;
    else if (wait_q != '0) wait_q <= wait_q - 1'b1;
    if (out_rst_i) begin
      out_o   <= IdleWord;
      again_q <= 1'b0;
      wait_q  <= 3'd7;
    end
  end
  wire unused = &{1'b0, in.ready};
endmodule
