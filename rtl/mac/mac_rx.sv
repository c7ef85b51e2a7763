// SPDX-License-Identifier: Apache-2.0
`include "assert.svh"
`include "stream.svh"
/// Frames from the MAC into the core clock domain, bad ones marked or removed (host-nic paper, section II-A).
///
/// For beats of any width: `Beat` at the MAC, `Wide` in the core, the same or twice as wide. The MAC cannot wait: one beat in
/// each MAC clock is taken. Cut-through: a frame leaves while it still arrives, about 6 core clocks behind. A frame that turns out bad (FCS error, runt, oversize, FIFO full in the
/// middle) is cut at that beat, which leaves with `eop` and `err`: the packet buffer behind it erases such frames. Two leave
/// no trace: a frame that finds the FIFO full at its start, and a runt where a beat holds a frame of minimum size. `count_o`
/// gives each frame's fate once, in the core clock. `stamp` gives the time of the first beat in the MAC for each frame that
/// leaves, good or marked, in order (StampDepth = 0: never). One beat a core clock out; `frame` and `stamp` may stall for as
/// long as the FIFO has room. Each side may be reset alone. The MAC's cuts the frame that is coming in, as a full FIFO would; the core's
/// loses what is inside, uncounted. Of a frame whose start a reset took nothing comes out.
module mac_rx
  import eth_pkg::*;
#(
    parameter type Beat = frame_beat_t,  // frame_beat_t or word_beat_t
    parameter type Wide = Beat,  // that, or wide_beat_t
    parameter int Depth = 64,  // beats of the core between the clocks, a power of two from 8
    parameter int StampDepth = 32  // frames between here and the packet buffer; 0: no stamps
) (
    // MAC clock domain.
    input logic      mac_clk_i,
    input logic      mac_rst_i,
    input logic      rx_valid_i,
    input Beat       rx_i,
    input ptp_time_t time_i,

    // Core clock domain.
    input  logic                 clk_i,
    input  logic                 rst_i,
    input  logic          [13:0] max_frame_i,  // without FCS
           stream_if.src         frame,        // Wide
           stream_if.src         stamp,        // ptp_time_t
    output mac_rx_count_t        count_o
);
  if (Depth < 8) begin : g_bad_parameter
    $fatal(1, "mac_rx: Depth %0d is below 8", Depth);
  end
  // In beats of the core, each with the time of its first byte.
  logic valid;
  Wide beat;
  ptp_time_t beat_time;
  if ($bits(Wide) == $bits(Beat)) begin : g_same
    assign valid = rx_valid_i;
    assign beat = rx_i;
    assign beat_time = time_i;
  end else begin : g_widen
    beat_widen #(
        .Beat(Beat),
        .Wide(Wide)
    ) i_widen (
        .clk_i  (mac_clk_i),
        .rst_i  (mac_rst_i),
        .valid_i(rx_valid_i),
        .beat_i (rx_i),
        .time_i,
        .valid_o(valid),
        .beat_o (beat),
        .time_o (beat_time)
    );
  end
  localparam int BeatBytes = $bits(beat.data) / 8;
  localparam int LaneW = $clog2(BeatBytes);
  // A runt of one beat is known before any of it has left.
  localparam bit RemovesRunts = BeatBytes >= MinFrame;
  localparam int StampW = StampDepth == 0 ? 1 : TimeW;

  typedef enum logic [1:0] {
    Part = 2'd0,  // a beat
    Cut  = 2'd1,  // no room for the rest of this frame, or reset
    Lost = 2'd2   // data[15:0] frames were lost whole
  } kind_e;
  typedef struct packed {
    kind_e             kind;
    logic [StampW-1:0] stamp;
    Wide               beat;
  } entry_t;

  localparam int CountW = $clog2(Depth) + 1;

  // MAC side: never ready-checked, the fill level decides before each push. The last place is kept for a Cut.
  `STREAM_ON(entry_t, cross_in, mac_clk_i, mac_rst_i)
  `STREAM(entry_t, cross_out)
  logic [CountW-1:0] level;
  fifo_async #(
      .T(entry_t),
      .Depth(Depth)
  ) i_cross (
      .wclk_i (mac_clk_i),
      .wrst_i (1'b0),
      .in     (cross_in),
      .count_o(level),
      .rclk_i (clk_i),
      .rrst_i (rst_i),
      .out    (cross_out)
  );

  wire may_start = level <= CountW'(Depth - 3);
  wire may_go_on = level < CountW'(Depth - 1);

  logic skip_q, skip_d;  // no frame is open: to the next start
  logic [15:0] lost_q, lost_d;

  always_comb begin
    cross_in.valid = 1'b0;
    cross_in.data  = 'x;
    if (`WORTH(valid || mac_rst_i || lost_q != '0)) begin
      cross_in.data.kind  = Part;
      cross_in.data.stamp = beat_time[StampW-1:0];
      cross_in.data.beat  = beat;
    end
    skip_d = skip_q;
    lost_d = lost_q;
    if (mac_rst_i) begin
      cross_in.valid = !skip_q;
      cross_in.data.kind = Cut;
      cross_in.data.beat.sop = 1'b0;
      cross_in.data.beat.len = 1;  // not known here
      skip_d = 1'b1;
      lost_d = '0;
    end else if (valid) begin
      if (beat.sop) begin
        cross_in.valid = may_start;
        skip_d = !may_start || beat.eop;
        if (!may_start && lost_q != '1) lost_d = lost_q + 1'b1;
      end else if (!skip_q) begin
        cross_in.valid = 1'b1;
        skip_d = beat.eop;
        if (!may_go_on) begin
          cross_in.data.kind = Cut;
          skip_d = 1'b1;
        end
      end
    end else if (lost_q != '0 && may_start) begin
      // The news of lost frames goes along in the first clock that the MAC leaves free.
      cross_in.valid = 1'b1;
      cross_in.data.kind = Lost;
      cross_in.data.beat.data[15:0] = lost_q;
      lost_d = '0;
    end
  end

  always_ff @(posedge mac_clk_i) begin
    skip_q <= skip_d;
    lost_q <= lost_d;
  end

  // Core side.
  entry_t                     head;
  logic          [14-LaneW:0] beats_q;  // of the frame so far
  logic                       closed_q;  // no frame is open: to the next start
  logic          [      15:0] unreported_q;  // lost frames not yet on count_o
  mac_rx_count_t              count_d;
  assign head = cross_out.data;

  logic stamp_ready;
  wire  takes_stamp = frame.valid && frame.ready && head.beat.sop;
  if (StampDepth != 0) begin : g_stamp
    `STREAM(ptp_time_t, stamp_in)
    `FIFO(ptp_time_t, StampDepth, i_stamp, stamp_in, stamp)
    assign stamp_in.valid = takes_stamp;
    assign stamp_in.data = head.stamp;
    assign stamp_ready = stamp_in.ready;
    `ASSERT(StampFits, stamp_in.valid |-> stamp_in.ready)
  end else begin : g_no_stamp
    wire unused = &{1'b0, beat_time[TimeW-1:StampW], head.stamp, stamp.ready, takes_stamp};
    assign stamp.valid = 1'b0;
    assign stamp.data  = '0;
    assign stamp_ready = 1'b1;
  end

  // A frame has far less than 2^15 bytes in the count: an oversize one is cut long before that.
  wire [15:0] bytes = 16'({beats_q, LaneW'(0)}) + 16'(head.beat.len);
  wire oversize = bytes > 16'(max_frame_i);
  wire runt = head.kind == Part && head.beat.eop && bytes < 16'(MinFrame);
  wire cut = head.kind == Cut;
  // These leave no trace on `frame`. Without its start: the rest of an oversize frame, or of one that a reset took.
  wire headless = closed_q && !head.beat.sop;
  wire hidden = head.kind == Lost || headless || (RemovesRunts && runt);

  assign frame.valid = cross_out.valid && !hidden && (!head.beat.sop || stamp_ready);
  wire eop = head.beat.eop || cut || oversize;
  wire err = cut || oversize || runt || (head.beat.eop && head.beat.err);
  `STREAM_DATA(frame, '{data: head.beat.data, len: head.beat.len, sop: head.beat.sop, eop: eop,
                      err: err})
  assign cross_out.ready = hidden || (frame.ready && (!head.beat.sop || stamp_ready));

  wire pop = cross_out.valid && cross_out.ready;
  wire moved = frame.valid && frame.ready;

  // Lost frames wait for a clock in which no other frame can count as lost.
  wire report_lost = unreported_q != '0 && !(cross_out.valid && cut);
  wire news = cross_out.valid && head.kind == Lost;  // is never kept waiting

  always_comb begin
    count_d = '{err: head.beat.eop && head.beat.err, bytes: bytes, default: '0};
    if (eop && (moved || (pop && runt && !headless))) begin
      if (cut) count_d.fifo_full = 1'b1;
      else if (oversize) count_d.oversize = 1'b1;
      else if (runt) count_d.runt = 1'b1;
      else if (err) count_d.bad_fcs = 1'b1;
      else count_d.good = 1'b1;
    end
    if (report_lost) count_d.fifo_full = 1'b1;
  end

  always_ff @(posedge clk_i) begin
    count_o <= count_d;
    if (moved) beats_q <= eop ? '0 : beats_q + 1'b1;
    if (moved) closed_q <= eop;
    unreported_q <= unreported_q - 16'(report_lost) + (news ? head.beat.data[15:0] : 16'd0);
    if (rst_i) begin
      count_o <= '0;
      beats_q <= '0;
      closed_q <= 1'b1;
      unreported_q <= '0;
    end
  end

  `ASSERT(RoomIsKept, cross_in.valid |-> cross_in.ready, mac_clk_i, 1'b0)
endmodule
