// SPDX-License-Identifier: Apache-2.0
// fifo with its beats in order and at the most two of them, as a module in its place: for proofs by induction that have to say
// what it holds. A beat is out in the clock after it came in.
// verilog_lint: waive-start module-filename
module fifo #(
    parameter type T = logic,
    parameter int Depth = 16,
    parameter bit Registered = 1'b0,
    localparam int CountW = $clog2(Depth + 1)
) (
    input  logic                      clk_i,
    input  logic                      rst_i,
           stream_if.snk              in,
           stream_if.src              out,
    output logic         [CountW-1:0] count_o
);
  localparam int Places = 2;
  T beat_q[Places];  // the oldest first
  logic [2:0] held_q;
  assign in.ready  = held_q < 3'(Places);
  assign out.valid = held_q != '0;
  assign out.data  = beat_q[0];
  assign count_o   = CountW'(held_q);
  wire pop = out.valid && out.ready;
  wire push = in.valid && in.ready;

  always_ff @(posedge clk_i) begin
    for (int i = 0; i < Places; i++) begin
      if (pop && i + 1 < Places) beat_q[i] <= beat_q[(i+1)%Places];
      if (push && 3'(i) == held_q - 3'(pop)) beat_q[i] <= in.data;
    end
    held_q <= held_q + 3'(push) - 3'(pop);
    if (rst_i) held_q <= '0;
  end
endmodule
