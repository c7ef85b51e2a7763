// SPDX-License-Identifier: Apache-2.0
/// A ready/valid stream that carries one struct.
///
/// A beat moves in each clock in which `valid` and `ready` are both high. Once `valid` is high it stays high and `data`
/// stays the same until the beat moves; `ready` may come and go and may depend on `valid`, never the other way round.
interface stream_if #(
    parameter type T = logic
) (
    input logic clk_i,
    input logic rst_i
);
  logic valid;
  logic ready;
  T data;

  modport src(output valid, output data, input ready);
  modport snk(input valid, input data, output ready);

`ifndef SYNTHESIS
  // The law, as immediate assertions: a build without assertions has nothing of this left.
  logic waiting_q;
  T data_q;
  always_ff @(posedge clk_i) begin
    waiting_q <= valid && !ready && !rst_i;
    data_q <= data;
    if (waiting_q && !rst_i) begin
      assert (valid)
      else $error("%m: valid fell before the beat moved");
      assert (data === data_q)
      else $error("%m: data changed before the beat moved");
    end
  end
`endif
endinterface
