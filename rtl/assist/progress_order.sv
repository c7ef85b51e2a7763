// SPDX-License-Identifier: Apache-2.0
`include "assert.svh"
`include "stream.svh"
/// The progress count of an assist: commands end in several places, but are counted in their order.
///
/// Each command enters `kind` when it is given out: 0 ... Places-1 says where it will end, Places that it was refused and
/// ends at once. `done_i[p]` counts what has ended in place p, which keeps the order of its commands. `progress_o` moves by
/// at most one a clock. Holds `Depth` commands, back-pressure on `kind`. Reset forgets all.
module progress_order #(
    parameter  int Places = 1,
    parameter  int Depth  = 64,
    localparam int KindW  = $clog2(Places + 1)
) (
    input  logic                            clk_i,
    input  logic                            rst_i,
           stream_if.snk                    kind,       // logic [KindW-1:0]
    input  logic         [Places-1:0][31:0] done_i,
    output logic         [      31:0]       progress_o
);
  typedef logic [KindW-1:0] kind_t;
  `STREAM(kind_t, head)
  `FIFO(kind_t, Depth, i_order, kind, head)

  logic [Places-1:0][7:0] seen_q;
  logic [Places-1:0] ended;
  for (genvar p = 0; p < Places; p++) begin : g_place
    assign ended[p] = head.data == KindW'(p) && done_i[p][7:0] != seen_q[p];
    wire unused = &{1'b0, done_i[p][31:8]};
  end
  assign head.ready = |ended || head.data == KindW'(Places);

  always_ff @(posedge clk_i) begin
    if (head.valid && head.ready) begin
      progress_o <= progress_o + 1'b1;
      for (int p = 0; p < Places; p++) if (ended[p]) seen_q[p] <= seen_q[p] + 1'b1;
    end
    if (rst_i) begin
      progress_o <= '0;
      seen_q <= '0;
    end
  end
endmodule
