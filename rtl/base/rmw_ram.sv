// SPDX-License-Identifier: Apache-2.0
`include "assert.svh"
/// State of many things in RAM, one read-modify-write a clock, whatever the order of the indices.
///
/// An operation starts with `start_i` and its index; two clocks later its word is on `now_o` and the new value is taken
/// from `next_i` in that same clock (give `now_o` back to leave it as it is). The word seen is always the one the
/// operation before left, also when the two follow each other at distance 1 or 2: the pipe forwards, it never waits and
/// cannot be stalled. After reset all words are cleared, one a clock; no `start_i` while `ready_o` is low.
module rmw_ram #(
    parameter type T = logic,
    parameter int Depth = 256,
    localparam int IndexW = Depth > 1 ? $clog2(Depth) : 1
) (
    input  logic              clk_i,
    input  logic              rst_i,
    output logic              ready_o,
    // Start of an operation.
    input  logic              start_i,
    input  logic [IndexW-1:0] index_i,
    // Its second half, two clocks later.
    output T                  now_o,
    input  T                  next_i
);
  // Stage 1: the RAM is being read. Stage 2: the update. Stage 3: what was written last.
  logic read_q, update_q, written_q;
  logic [IndexW-1:0] read_index_q, update_index_q, written_index_q;
  T now_q, written_data_q, read_data;

  // The sweep after reset.
  logic ready_q;
  logic [IndexW-1:0] sweep_q;
  assign ready_o = ready_q;

  ram_sdp #(
      .Width($bits(T)),
      .Depth(Depth)
  ) i_ram (
      .clk_i,
      .we_i(update_q || !ready_q),
      .waddr_i(ready_q ? update_index_q : sweep_q),
      .wdata_i(ready_q ? next_i : '0),
      .re_i(1'b1),  // `start_i` comes late, and nobody looks at what was read without it
      .raddr_i(index_i),
      .rdata_o(read_data)
  );

  // What the RAM gave is too old if the update before, or the one before that, was of the same word.
  wire newest = update_q && update_index_q == read_index_q;
  wire newer = written_q && written_index_q == read_index_q;

  assign now_o = now_q;

  always_ff @(posedge clk_i) begin
    read_q <= start_i;
    update_q <= read_q;
    written_q <= update_q;
    read_index_q <= index_i;
    if (read_q) begin
      update_index_q <= read_index_q;
      now_q <= newest ? next_i : newer ? written_data_q : read_data;
    end
    if (update_q) begin
      written_index_q <= update_index_q;
      written_data_q  <= next_i;
    end
    if (!ready_q) begin
      sweep_q <= sweep_q + 1'b1;
      ready_q <= sweep_q == IndexW'(Depth - 1);
    end
    if (rst_i) begin
      read_q <= 1'b0;
      update_q <= 1'b0;
      written_q <= 1'b0;
      ready_q <= 1'b0;
      sweep_q <= '0;
    end
  end

  `ASSERT(StartsWhenReady, start_i |-> ready_o)
  `ASSERT(IndexInRange, start_i |-> 32'(index_i) < Depth)
endmodule
