// SPDX-License-Identifier: Apache-2.0
`include "assert.svh"
/// Takes transfers and writes them into a window of host memory, in order.
///
/// Each is copied into a slot of the RAM that the DMA engine reads, at the pace of `cost`, a beat of 64 bytes a clock at the
/// most, and asked to be written when all of it is there. Up to `in_flight` are inside; then `in` waits. Every transfer has the
/// bytes that `cfg_i.len` says, whatever its beats. Nothing is taken while `enable` is low.
module probe_write
  import dma_pkg::*;
  import probe_pkg::*;
#(
    parameter ram_sel_t Sel = '0
) (
    input logic       clk_i,
    input logic       rst_i,
    input probe_cfg_t cfg_i,

    stream_if.snk in,  // probe_beat_t

    // dma_req_t to the DMA write engine, its status and its reads.
    stream_if.src req,
    input dma_status_t status_i,
    input ram_read_t ram_i,
    output ram_row_t ram_o
);
  localparam int SlotW = $clog2(ProbeSlots);
  localparam int BeatW = $clog2(ProbeMost / ProbeBeatBytes);

  // Transfers copied in, asked to be written, written: modulo 2^32.
  logic [31:0] in_q, asked, written_q;
  wire [31:0] held = in_q - written_q;

  // ---------------------------------------------------------------- copying in
  logic [BeatW-1:0] at;
  logic copy_ready;
  probe_beat_t beat;
  assign beat = in.data;
  assign in.ready = cfg_i.enable && copy_ready && held < 32'(cfg_i.in_flight);
  wire copy = in.valid && in.ready;
  probe_copy i_copy (
      .clk_i,
      .rst_i,
      .cfg_i,
      .take_i (copy),
      .last_i (beat.eop),
      .ready_o(copy_ready),
      .beat_o (at)
  );
  seg_ram_dma_rd #(
      .Bytes(ProbeSlots * ProbeMost),
      .Sel  (Sel)
  ) i_ram (
      .clk_i,
      .rst_i,
      .we_i(copy),
      .waddr_i({in_q[SlotW-1:0], at}),
      .wdata_i(beat.data),
      .ram_i,
      .ram_o
  );

  // ---------------------------------------------------------------- asking
  probe_ask #(
      .Sel(Sel)
  ) i_ask (
      .clk_i,
      .rst_i,
      .cfg_i,
      .want_i (asked != in_q),
      .asked_o(asked),
      .req
  );

  always_ff @(posedge clk_i) begin
    if (copy && beat.eop) in_q <= in_q + 32'd1;
    if (status_i.valid && status_i.sel == Sel) written_q <= written_q + 32'd1;
    if (rst_i) begin
      in_q <= '0;
      written_q <= '0;
    end
  end

  wire unused = &{1'b0, beat.sop, status_i.result, cfg_i.delay};
  `ASSERT(FirstBeatFirst, copy |-> beat.sop == (at == '0))
  `ASSERT(NoMoreThanSlots, held <= 32'(ProbeSlots))
endmodule
