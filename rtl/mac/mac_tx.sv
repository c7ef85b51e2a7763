// SPDX-License-Identifier: Apache-2.0
`include "assert.svh"
`include "stream.svh"
/// Frames from the core clock domain to the MAC, with a time stamp back for each (host-nic paper, section II-A).
///
/// A frame shorter than 60 bytes is padded with zeros. In the MAC clock domain a frame starts once it is there to its end,
/// or `StartBeats` beats of it; from then on it has no gaps. (With StartBeats = 64 that holds for every frame up to 16 kB
/// even if the MAC takes a beat in each of its clocks, provided `frame` delivers one beat a core clock within a frame.)
/// The time of the first beat's handshake with the MAC comes back on `stamp`, one for each frame in order; when nobody
/// takes the stamps, the next frame waits. One beat a clock on both sides, no bubble between frames, full back-pressure.
/// Drops nothing. Both resets must be given together.
module mac_tx
  import eth_pkg::*;
#(
    parameter  int Depth      = 128,  // beats in the MAC clock domain
    parameter  int StartBeats = 64,
    parameter  int StampDepth = 16,   // a power of two
    localparam int CrossDepth = 16
) (
    // Core clock domain.
    input logic         clk_i,
    input logic         rst_i,
          stream_if.snk frame,  // frame_beat_t
          stream_if.src stamp,  // ptp_time_t

    // MAC clock domain.
    input  logic        mac_clk_i,
    input  logic        mac_rst_i,
    input  ptp_time_t   time_i,
    output logic        tx_valid_o,
    input  logic        tx_ready_i,
    output frame_beat_t tx_o
);
  if (StartBeats < 1 || StartBeats > Depth) begin : g_bad_parameter
    $fatal(1, "mac_tx: StartBeats %0d does not fit Depth %0d", StartBeats, Depth);
  end
  localparam int CountW = $clog2(Depth + 1);

  // Core side: pad, then cross.
  `STREAM(frame_beat_t, cross_in)
  `STREAM_ON(frame_beat_t, store_in, mac_clk_i, mac_rst_i)
  `STREAM_ON(frame_beat_t, store, mac_clk_i, mac_rst_i)
  logic [$clog2(CrossDepth):0] unused_crossing;
  logic [CountW-1:0] stored;

  assign cross_in.valid = frame.valid;
  assign frame.ready = cross_in.ready;
  always_comb begin
    cross_in.data = frame.data;
    if (frame.valid && frame.data.sop && frame.data.eop && frame.data.len < 7'(MinFrame)) begin
      // What lies behind the frame's end is not for the wire.
      for (int i = 0; i < MinFrame; i++) begin
        if (7'(i) >= frame.data.len) cross_in.data.data[8*i+:8] = '0;
      end
      cross_in.data.len = 7'(MinFrame);
    end
  end

  fifo_async #(
      .T(frame_beat_t),
      .Depth(CrossDepth)
  ) i_cross (
      .wclk_i (clk_i),
      .wrst_i (rst_i),
      .in     (cross_in),
      .count_o(unused_crossing),
      .rclk_i (mac_clk_i),
      .rrst_i (mac_rst_i),
      .out    (store_in)
  );

  // MAC side: the store, and how much of it may go.
  fifo #(
      .T(frame_beat_t),
      .Depth(Depth)
  ) i_store (
      .clk_i(mac_clk_i),
      .rst_i(mac_rst_i),
      .in(store_in),
      .out(store),
      .count_o(stored)
  );

  logic [CountW-1:0] whole_q;  // ends of frames in the store
  logic              started_q;  // inside a frame
  wire               end_in = store_in.valid && store_in.ready && store_in.data.eop;
  wire               end_out = store.valid && store.ready && store.data.eop;

  `STREAM_ON(ptp_time_t, stamp_in, mac_clk_i, mac_rst_i)
  logic [$clog2(StampDepth):0] unused_stamps;
  // All of these grow only, until the frame's own beats leave: a start once offered stays offered.
  wire start = (whole_q != '0 || stored >= CountW'(StartBeats)) && stamp_in.ready;
  assign tx_valid_o  = store.valid && (started_q || start);
  assign tx_o        = store.data;
  assign store.ready = tx_ready_i && tx_valid_o;

  always_ff @(posedge mac_clk_i) begin
    whole_q <= whole_q + CountW'(end_in) - CountW'(end_out);
    if (tx_valid_o && tx_ready_i) started_q <= !store.data.eop;
    if (mac_rst_i) begin
      whole_q   <= '0;
      started_q <= 1'b0;
    end
  end

  // Time stamps back to the core.
  assign stamp_in.valid = tx_valid_o && tx_ready_i && store.data.sop;
  assign stamp_in.data  = time_i;
  fifo_async #(
      .T(ptp_time_t),
      .Depth(StampDepth)
  ) i_stamp (
      .wclk_i (mac_clk_i),
      .wrst_i (mac_rst_i),
      .in     (stamp_in),
      .count_o(unused_stamps),
      .rclk_i (clk_i),
      .rrst_i (rst_i),
      .out    (stamp)
  );

  `ASSERT(NoGapInFrame, started_q |-> tx_valid_o, mac_clk_i, mac_rst_i)
  `ASSERT(OfferStays, tx_valid_o && !tx_ready_i |=> tx_valid_o, mac_clk_i, mac_rst_i)
  `ASSERT(StampFits, stamp_in.valid |-> stamp_in.ready, mac_clk_i, mac_rst_i)
endmodule
