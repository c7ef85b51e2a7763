// SPDX-License-Identifier: Apache-2.0
`include "assert.svh"
/// Reads transfers from a window of host memory and gives them out, in order, each when all of it is there.
///
/// Asks for as many as the host has prepared (`prepared_i` counts them, modulo 2^32; looked at a clock late), up to `in_flight`
/// that have not left; `started_o` is high in the clock in which one is asked for. Each has a slot of its own in the RAM that
/// the DMA engine fills. Its end is noticed `delay` clocks after the status, then it is copied out at the pace of `cost`, a beat
/// of 64 bytes a clock at the most, first beat 3 clocks later. What is given out is never refused. A transfer that failed is
/// given out as it is in the RAM, with `failed_o` high for a clock before. While `enable` is low nothing new is asked for; turn
/// it off only when all that was prepared is out.
module probe_read
  import dma_pkg::*;
  import probe_pkg::*;
#(
    parameter ram_sel_t Sel = '0
) (
    input logic       clk_i,
    input logic       rst_i,
    input probe_cfg_t cfg_i,

    input  logic [31:0] prepared_i,
    output logic        started_o,

    // dma_req_t to the DMA read engine, its status and its writes.
    stream_if.src req,
    input dma_status_t status_i,
    input ram_write_t ram_i,

    output logic        valid_o,
    output probe_beat_t beat_o,
    output logic        failed_o
);
  localparam int SlotW = $clog2(ProbeSlots);
  localparam int BeatW = $clog2(ProbeMost / ProbeBeatBytes);

  // Transfers asked for, noticed as ended, given out: modulo 2^32.
  logic [31:0] asked, ended_q, out_q, prepared_q;

  // ---------------------------------------------------------------- asking
  wire [31:0] in_flight = asked - out_q;
  assign started_o = req.valid && req.ready;
  probe_ask #(
      .Sel(Sel)
  ) i_ask (
      .clk_i,
      .rst_i,
      .cfg_i,
      .want_i (cfg_i.enable && asked != prepared_q && in_flight < 32'(cfg_i.in_flight)),
      .asked_o(asked),
      .req
  );

  // ---------------------------------------------------------------- the end, noticed late
  wire status = status_i.valid && status_i.sel == Sel;
  logic [ProbeDelays-1:0] late_q;
  wire [ProbeDelays-1:0] late = {late_q[ProbeDelays-2:0], status};
  wire ended = late[cfg_i.delay];
  assign failed_o = status && status_i.result != DmaOk;

  // ---------------------------------------------------------------- copying out
  logic [BeatW-1:0] beat;
  logic copy_ready;
  wire [12:0] end_at = cfg_i.len - 13'd1;
  wire copy = ended_q != out_q && copy_ready;
  wire last = beat == end_at[$clog2(ProbeBeatBytes)+:BeatW];
  probe_copy i_copy (
      .clk_i,
      .rst_i,
      .cfg_i,
      .take_i (copy),
      .last_i (last),
      .ready_o(copy_ready),
      .beat_o (beat)
  );
  logic [1:0] read_q, first_q, last_q;
  seg_ram_dma_wr #(
      .Bytes(ProbeSlots * ProbeMost),
      .Sel  (Sel)
  ) i_ram (
      .clk_i,
      .rst_i,
      .ram_i,
      .re_i(copy),
      .raddr_i({out_q[SlotW-1:0], beat}),
      .rdata_o(beat_o.data)
  );
  assign valid_o = read_q[1];
  assign beat_o.sop = first_q[1];
  assign beat_o.eop = last_q[1];

  always_ff @(posedge clk_i) begin
    late_q <= late;
    prepared_q <= prepared_i;
    read_q <= {read_q[0], copy};
    first_q <= {first_q[0], beat == '0};
    last_q <= {last_q[0], last};
    if (ended) ended_q <= ended_q + 32'd1;
    if (copy && last) out_q <= out_q + 32'd1;
    if (rst_i) begin
      late_q <= '0;
      read_q <= '0;
      ended_q <= '0;
      prepared_q <= '0;
      out_q <= '0;
    end
  end

  `ASSERT(NoMoreThanSlots, in_flight <= 32'(ProbeSlots))
  `ASSERT(EndsInOrder, ended |-> ended_q != asked)
endmodule
