// SPDX-License-Identifier: Apache-2.0
// prove: mode=prove depth=16
`include "formal.svh"
`include "stream.svh"
/// rx_buffer: no beat is stored where a frame lies that stays and has not been given back, whatever arrives and is given back
/// meanwhile; what is in use is what those frames and the one that arrives hold, so that no place is lost.
module rx_buffer_formal
  import engine_pkg::*;
(
    input logic                clk_i,
    input logic                rst_i,
    input logic                frame_valid_i,
    input eth_pkg::wide_beat_t frame_i,
    input logic                info_valid_i,
    input eth_pkg::rx_info_t   info_i,
    input logic                meta_ready_i,
    input rx_free_t            free_i,
    input logic                records_i
);
  `FORMAL_BEGIN
  localparam int Units = 4;
  `STREAM(eth_pkg::wide_beat_t, frame)
  `STREAM(eth_pkg::rx_info_t, info)
  `STREAM(rx_meta_t, meta)
  assign frame.valid = frame_valid_i;
  assign frame.data  = frame_i;
  assign info.valid  = info_valid_i;
  assign info.data   = info_i;
  assign meta.ready  = meta_ready_i;
  dma_pkg::ram_row_t row, moved_row;
  logic row_ready;
  logic dropped;
  logic [15:0] in_use;
  rx_buffer #(
      .RamBytes (Units * UnitBytes),
      .MaxFrames(2)
  ) dut (
      .clk_i,
      .rst_i,
      .records_i,
      .frame,
      .info,
      .meta,
      .free_i,
      .ram_i(dma_pkg::ram_read_t'('0)),
      .ram_o(row),
      .row_valid_i(1'b0),
      .row_addr_i('0),
      .row_ready_o(row_ready),
      .row_o(moved_row),
      .dropped_o(dropped),
      .units_o(in_use)
  );

  // Frames that stay lie from tail_q on; so many units are not given back.
  logic [1:0] tail_q;
  logic [2:0] owed_q;
  logic wrapped_q;
  wire [8:0] back = free_i.valid ? free_i.count : '0;
  wire last = frame.valid && frame.ready && frame_i.eop;
  wire [2:0] held = owed_q + dut.beats[2:0];
  always_ff @(posedge clk_i) begin
    tail_q <= tail_q + back[1:0];
    owed_q <= owed_q - back[2:0] + (dut.keep ? dut.beats[2:0] + 3'd1 : 3'd0);
    wrapped_q <= wrapped_q || (dut.keep && dut.write == 2'd3);
    if (rst_i) {tail_q, owed_q, wrapped_q} <= '0;
  end
  always_comb begin
    if (started_q) begin
      assume (back <= 9'(owed_q));
      assert (dut.beats <= 9'(Units) && held <= 3'(Units));
      assert (in_use == 16'(held));
      assert (dut.start == tail_q + owed_q[1:0]);
      assert (dut.write == dut.start + dut.beats[1:0]);
      if (dut.store) assert (held < 3'(Units));
      // A frame stays only if its last beat was stored behind all the others.
      if (dut.keep) assert (last && dut.store && !frame_i.err);
      if (last && !frame_i.err) assert (dut.keep != dut.drop);
      cover (in_use == 16'(Units) && wrapped_q);
      cover (dut.keep && dut.second_q);
      cover (dut.drop && dut.beats != '0);
      cover (last && frame_i.err && dut.beats != '0);
    end
  end
endmodule
