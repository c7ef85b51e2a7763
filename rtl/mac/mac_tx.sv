// SPDX-License-Identifier: Apache-2.0
`include "assert.svh"
`include "stream.svh"
/// Frames from the core clock domain to the MAC, with a time stamp back for each (host-nic paper, section II-A).
///
/// For beats of any width: `Beat` at the MAC, `Wide` in the core, the same or twice as wide. A frame shorter than 60 bytes is
/// padded with zeros. In the MAC clock domain a frame starts once it is there to its end, or `StartBeats` beats of it; from then
/// on it has no gaps. (A frame of up to StartBeats beats needs nothing for that, a longer one a `frame` that delivers as fast as the MAC takes; with StartBeats = 64 of 64 bytes a
/// beat a core clock is enough for every frame up to 16 kB and a MAC that takes a beat in each of its clocks.) The time of the
/// first beat's handshake with the MAC comes back on `stamp`, one for each frame in order; while stamps find no room, the next
/// frame waits (StampDepth = 0: no stamps). Of a frame with `late_i` at that handshake it is what the MAC says with `late_valid_i`, from the next clock
/// on; no other frame begins until then, or until the MAC has said nothing for 1024 clocks: then it is that of the handshake. One beat a clock on both sides, no bubble between frames, full back-pressure.
/// Drops nothing; `err` goes to the MAC with the last beat.
///
/// Each side may be reset alone. The MAC's loses what is in the store, the rest of a frame of which it lost the start, and a beat in each
/// of its clocks of what is between the clocks (so 24 clocks leave nothing); the lost frames' stamps still come, with any time. The core's
/// leaves the frames that are whole, ends an open one with `err`, and its stamps are for those after it only. (Of a frame longer than
/// StartBeats that comes as slowly as it may, a gap can be before that end.)
module mac_tx
  import eth_pkg::*;
#(
    parameter  type Beat       = frame_beat_t,  // frame_beat_t or word_beat_t
    parameter  type Wide       = Beat,          // that, or wide_beat_t
    parameter  int  Depth      = 128,           // beats in the MAC clock domain
    parameter  int  StartBeats = 64,
    parameter  int  StampDepth = 16,            // a power of two; 0: no stamps
    localparam int  CrossDepth = 16
) (
    // Core clock domain.
    input logic         clk_i,
    input logic         rst_i,
          stream_if.snk frame,  // Wide
          stream_if.src stamp,  // ptp_time_t

    // MAC clock domain.
    input  logic      mac_clk_i,
    input  logic      mac_rst_i,
    input  ptp_time_t time_i,
    input  logic      late_i = 1'b0,
    input  logic      late_valid_i = 1'b0,
    input  ptp_time_t late_time_i = '0,
    output logic      tx_valid_o,
    input  logic      tx_ready_i,
    output Beat       tx_o
);
  if (StartBeats < 1 || StartBeats > Depth) begin : g_bad_parameter
    $fatal(1, "mac_tx: StartBeats %0d does not fit Depth %0d", StartBeats, Depth);
  end
  localparam int CountW = $clog2(Depth + 1);
  Wide beat;
  localparam int BeatBytes = $bits(beat.data) / 8;
  localparam int LenW = $bits(beat.len);
  localparam int LastBeat = (MinFrame - 1) / BeatBytes;  // of the shortest frame,
  localparam logic [LenW-1:0] LastLen = LenW'(MinFrame - BeatBytes * LastBeat);  // and its bytes
  localparam int PadBytes = BeatBytes < MinFrame ? BeatBytes : MinFrame;
  localparam int AtW = $clog2(LastBeat + 2);

  // Core side: pad, then cross.
  `STREAM(Wide, cross_in)
  `STREAM_ON(Wide, crossed, mac_clk_i, mac_rst_i)
  `STREAM_ON(Wide, kept, mac_clk_i, mac_rst_i)
  `STREAM_ON(Beat, store_in, mac_clk_i, mac_rst_i)
  `STREAM_ON(Beat, store, mac_clk_i, mac_rst_i)
  logic [$clog2(CrossDepth):0] unused_crossing;
  logic [CountW-1:0] stored;

  // Reset leaves an open frame to be padded to its end, so none of these is touched by it.
  logic [AtW-1:0] at_q = '0;  // number of the next beat, at most that behind the shortest frame
  logic padding_q = 1'b0;  // beats of zeros are still to come
  logic err_q;  // of the frame that is padded
  assign beat = frame.data;
  wire at_last = at_q == AtW'(LastBeat);
  wire past = at_q > AtW'(LastBeat);
  wire pads = frame.valid && beat.eop && !past && (!at_last || beat.len < LastLen);

  assign cross_in.valid = padding_q || (frame.valid && !rst_i);
  assign frame.ready = !padding_q && cross_in.ready;
  always_comb begin
    if (`WORTH(padding_q || frame.valid)) begin
      cross_in.data = beat;
      if (padding_q) begin
        cross_in.data = '0;
      end else if (pads) begin
        // What lies behind the frame's end is not for the wire.
        for (int i = 0; i < PadBytes; i++) begin
          if (LenW'(i) >= beat.len) cross_in.data.data[8*i+:8] = '0;
        end
      end
      if (padding_q || pads) begin
        cross_in.data.len = at_last ? LastLen : LenW'(BeatBytes);
        cross_in.data.eop = at_last || past;
        cross_in.data.err = (at_last || past) && (padding_q ? err_q : beat.err);
      end
    end
  end

  always_ff @(posedge clk_i) begin
    if (cross_in.valid && cross_in.ready) begin
      at_q <= cross_in.data.eop ? '0 : past ? at_q : at_q + 1'b1;
      padding_q <= (padding_q || pads) && !at_last && !past;
      if (!padding_q) err_q <= beat.err;
    end
    if (rst_i && !padding_q) begin
      padding_q <= at_q != '0;
      err_q <= 1'b1;
    end
  end

  fifo_async #(
      .T(Wide),
      .Depth(CrossDepth)
  ) i_cross (
      .wclk_i (clk_i),
      .wrst_i (1'b0),
      .in     (cross_in),
      .count_o(unused_crossing),
      .rclk_i (mac_clk_i),
      .rrst_i (1'b0),
      .out    (crossed)
  );

  // Reset takes what has crossed, and then what has no start.
  logic outside_q;  // no frame is open: to the next start
  wire  headless = outside_q && !crossed.data.sop;
  wire  crosses = crossed.valid && crossed.ready;
  assign kept.valid = crossed.valid && !headless;
  assign kept.data = crossed.data;
  assign crossed.ready = mac_rst_i || headless || kept.ready;
  always_ff @(posedge mac_clk_i) begin
    if (crosses) outside_q <= headless || crossed.data.eop;
    if (mac_rst_i) outside_q <= 1'b1;
  end
  beat_narrow #(
      .Beat(Beat),
      .Wide(Wide)
  ) i_narrow (
      .clk_i(mac_clk_i),
      .rst_i(mac_rst_i),
      .in(kept),
      .out(store_in)
  );

  // MAC side: the store, and how much of it may go.
  fifo #(
      .T(Beat),
      .Depth(Depth)
  ) i_store (
      .clk_i(mac_clk_i),
      .rst_i(mac_rst_i),
      .in(store_in),
      .out(store),
      .count_o(stored)
  );

  logic [CountW-1:0] whole_q;  // ends of frames in the store
  logic              many_q;  // StartBeats are there, a clock ago
  logic              started_q;  // inside a frame
  wire               end_in = store_in.valid && store_in.ready && store_in.data.eop;
  wire               end_out = store.valid && store.ready && store.data.eop;

  logic              stamp_ready;
  // All of these grow only, until the frame's own beats leave: a start once offered stays offered.
  wire               start = (whole_q != '0 || many_q) && stamp_ready;
  assign tx_valid_o  = store.valid && (started_q || start);
  assign tx_o        = store.data;
  assign store.ready = tx_ready_i && tx_valid_o;

  always_ff @(posedge mac_clk_i) begin
    whole_q <= whole_q + CountW'(end_in) - CountW'(end_out);
    if (tx_valid_o && tx_ready_i) started_q <= !store.data.eop;
    many_q <= (store.valid && store.ready) ? stored > CountW'(StartBeats) : stored >= CountW'(StartBeats);
    if (mac_rst_i) begin
      whole_q   <= '0;
      many_q    <= 1'b0;
      started_q <= 1'b0;
    end
  end

  // Time stamps back to the core: one for each frame that has crossed, whatever becomes of it.
  if (StampDepth != 0) begin : g_stamp
    localparam int FramesW = $clog2(CrossDepth + Depth + StampDepth + 8);
    `STREAM_ON(ptp_time_t, stamp_in, mac_clk_i, mac_rst_i)
    `STREAM(ptp_time_t, stamp_out)
    logic [$clog2(StampDepth):0] stamps;
    logic [FramesW-1:0] due_q = '0;  // frames that have crossed, without their stamps
    logic [FramesW-1:0] lost_q = '0;  // of these, the first ones, which reset took
    logic give_q = 1'b0;
    logic room_q;
    logic stamped_q = 1'b0;  // a stamp went with a start, or after a late one, a clock ago
    logic late_q;  // the MAC has yet to say when the newest frame began
    logic given_up_q;
    logic [9:0] waited_q;
    ptp_time_t handshake_q;  // its
    // A clock late: one place is left for a start or a lost one of that clock. What is offered stays so.
    wire room = stamps < ($clog2(StampDepth) + 1)'(StampDepth - 1);
    wire [FramesW-1:0] due = due_q + FramesW'(crosses && crossed.data.sop) - FramesW'(give_q) - FramesW'(stamped_q);
    wire starts = tx_valid_o && tx_ready_i && store.data.sop && !mac_rst_i;
    wire comes_late = late_q && (late_valid_i || given_up_q) && !mac_rst_i;
    wire stamped = comes_late || (starts && !late_i);
    assign stamp_in.valid = give_q || stamped;
    assign stamp_in.data = !late_q ? time_i : late_valid_i ? late_time_i : handshake_q;
    assign stamp_ready = room_q && !late_q;
    always_ff @(posedge mac_clk_i) begin
      stamped_q <= stamped;
      late_q <= (starts && late_i) || (late_q && !comes_late && !mac_rst_i);
      given_up_q <= late_q && &waited_q;
      waited_q <= late_q ? waited_q + 1'b1 : '0;
      if (starts) handshake_q <= time_i;
      due_q  <= due;
      lost_q <= mac_rst_i ? due : lost_q - FramesW'(give_q);
      give_q <= room && lost_q > FramesW'(give_q);
      room_q <= (room && lost_q == '0) || (room_q && tx_valid_o && !tx_ready_i);
      if (mac_rst_i) room_q <= 1'b0;
    end
    fifo_async #(
        .T(ptp_time_t),
        .Depth(StampDepth)
    ) i_stamp (
        .wclk_i (mac_clk_i),
        .wrst_i (1'b0),
        .in     (stamp_in),
        .count_o(stamps),
        .rclk_i (clk_i),
        .rrst_i (1'b0),
        .out    (stamp_out)
    );

    // In the core: those of frames from before its reset go no further.
    logic [FramesW-1:0] owed_q = '0;
    logic [FramesW-1:0] stale_q;
    logic swallow_q;
    wire comes = stamp_out.valid && stamp_out.ready;
    wire takes = cross_in.valid && cross_in.ready && cross_in.data.sop;
    wire [FramesW-1:0] owed = owed_q + FramesW'(takes) - FramesW'(comes);
    wire [FramesW-1:0] stale = (rst_i ? owed_q : stale_q) - FramesW'(comes && (rst_i || swallow_q));
    assign stamp.valid = stamp_out.valid && !swallow_q;
    assign stamp.data = stamp_out.data;
    assign stamp_out.ready = stamp.ready || swallow_q;
    always_ff @(posedge clk_i) begin
      owed_q <= owed;
      stale_q <= stale;
      swallow_q <= stale != '0;
    end
    `ASSERT(StampFits, stamp_in.valid |-> stamp_in.ready, mac_clk_i, 1'b0)
    `ASSERT(StampIsDue, stamp_in.valid |-> due_q != '0, mac_clk_i, 1'b0)
    `ASSERT(StampIsOwed, stamp_out.valid |-> owed_q != '0, clk_i, 1'b0)
  end else begin : g_no_stamp
    wire unused = &{1'b0, time_i, late_i, late_valid_i, late_time_i, stamp.ready};
    assign stamp.valid = 1'b0;
    assign stamp.data  = '0;
    assign stamp_ready = 1'b1;
  end

  `ASSERT(NoGapInFrame, started_q |-> tx_valid_o, mac_clk_i, mac_rst_i)
  `ASSERT(OfferStays, tx_valid_o && !tx_ready_i |=> tx_valid_o, mac_clk_i, mac_rst_i)
endmodule
