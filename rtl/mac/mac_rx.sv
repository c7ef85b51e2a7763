// SPDX-License-Identifier: Apache-2.0
`include "assert.svh"
`include "stream.svh"
/// Frames from the MAC into the core clock domain, bad ones marked or removed (host-nic paper, section II-A).
///
/// The MAC cannot wait: one beat in each MAC clock is taken. Cut-through: a frame leaves while it still arrives, about 6
/// core clocks behind. A runt is removed here; a frame that turns out bad later (FCS error, oversize, FIFO full in the
/// middle) is cut at that beat, which leaves with `eop` and `err`: the packet buffer behind it erases such frames. A frame
/// that finds the FIFO full at its start never leaves. `count_o` tells each frame's fate once, in the core clock.
/// `stamp` gives the time of the first beat in the MAC for each frame that leaves, good or marked, in order.
/// One beat a core clock out; `frame` and `stamp` may stall for as long as the FIFO has room. Both resets together.
module mac_rx
  import eth_pkg::*;
#(
    parameter int Depth      = 64,  // beats between the clocks, a power of two
    parameter int StampDepth = 32   // frames between here and the packet buffer
) (
    // MAC clock domain.
    input logic        mac_clk_i,
    input logic        mac_rst_i,
    input logic        rx_valid_i,
    input frame_beat_t rx_i,
    input ptp_time_t   time_i,

    // Core clock domain.
    input  logic                 clk_i,
    input  logic                 rst_i,
    input  logic          [13:0] max_frame_i,  // without FCS
           stream_if.src         frame,        // frame_beat_t
           stream_if.src         stamp,        // ptp_time_t
    output mac_rx_count_t        count_o
);
  typedef enum logic [1:0] {
    Beat = 2'd0,
    Cut  = 2'd1,  // no room for the rest of this frame
    Lost = 2'd2   // data[15:0] frames were lost whole
  } kind_e;
  typedef struct packed {
    kind_e       kind;
    ptp_time_t   stamp;
    frame_beat_t beat;
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
      .wrst_i (mac_rst_i),
      .in     (cross_in),
      .count_o(level),
      .rclk_i (clk_i),
      .rrst_i (rst_i),
      .out    (cross_out)
  );

  wire may_start = level <= CountW'(Depth - 3);
  wire may_go_on = level < CountW'(Depth - 1);

  logic skip_q, skip_d;
  logic [15:0] lost_q, lost_d;

  always_comb begin
    cross_in.valid = 1'b0;
    cross_in.data.kind = Beat;
    cross_in.data.stamp = time_i;
    cross_in.data.beat = rx_i;
    skip_d = skip_q;
    lost_d = lost_q;
    if (rx_valid_i) begin
      if (rx_i.sop) begin
        cross_in.valid = may_start;
        skip_d = !may_start && !rx_i.eop;
        if (!may_start && lost_q != '1) lost_d = lost_q + 1'b1;
      end else if (skip_q) begin
        skip_d = !rx_i.eop;
      end else begin
        cross_in.valid = 1'b1;
        if (!may_go_on) begin
          cross_in.data.kind = Cut;
          skip_d = !rx_i.eop;
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
    if (mac_rst_i) begin
      skip_q <= 1'b0;
      lost_q <= '0;
    end
  end

  // Core side.
  entry_t               head;
  logic          [ 8:0] beats_q;  // of the frame so far
  logic                 swallow_q;  // the rest of an oversize frame
  logic          [15:0] unreported_q;  // lost frames not yet told on count_o
  mac_rx_count_t        count_d;
  assign head = cross_out.data;

  `STREAM(ptp_time_t, stamp_in)
  `FIFO(ptp_time_t, StampDepth, i_stamp, stamp_in, stamp)

  // An oversize frame has 512 beats at most in the count: it is cut long before that.
  wire [15:0] bytes = 16'({beats_q, 6'd0}) + 16'(head.beat.len);
  wire oversize = bytes > 16'(max_frame_i);
  wire runt = head.beat.sop && head.beat.eop && head.beat.len < 7'(MinFrame);
  wire cut = head.kind == Cut;
  // These leave no trace on `frame`.
  wire hidden = head.kind == Lost || swallow_q || (runt && !cut);

  assign frame.valid = cross_out.valid && !hidden && (!head.beat.sop || stamp_in.ready);
  assign frame.data = '{
          data: head.beat.data,
          len: head.beat.len,
          sop: head.beat.sop,
          eop: head.beat.eop || cut || oversize,
          err: cut || oversize || (head.beat.eop && head.beat.err)
      };
  assign cross_out.ready = hidden || (frame.ready && (!head.beat.sop || stamp_in.ready));
  assign stamp_in.valid = frame.valid && frame.ready && head.beat.sop;
  assign stamp_in.data = head.stamp;

  wire pop = cross_out.valid && cross_out.ready;
  wire moved = frame.valid && frame.ready;

  always_comb begin
    count_d = '0;
    if (moved && frame.data.eop) begin
      if (cut) count_d.fifo_full = 1'b1;
      else if (oversize) count_d.oversize = 1'b1;
      else if (frame.data.err) count_d.bad_fcs = 1'b1;
      else count_d.good = 1'b1;
    end
    if (pop && runt && head.kind == Beat && !swallow_q) count_d.runt = 1'b1;
    // Lost frames wait for a clock in which no other frame is told of as lost.
    if (!count_d.fifo_full && unreported_q != '0) count_d.fifo_full = 1'b1;
  end

  wire report_lost = count_d.fifo_full && !(moved && cut);

  always_ff @(posedge clk_i) begin
    count_o <= count_d;
    if (moved) beats_q <= frame.data.eop ? '0 : beats_q + 1'b1;
    if (moved && !cut && oversize) swallow_q <= !head.beat.eop;
    else if (pop && head.kind != Lost && (head.beat.eop || cut)) swallow_q <= 1'b0;
    unreported_q <= unreported_q - 16'(report_lost)
        + ((pop && head.kind == Lost) ? head.beat.data[15:0] : 16'd0);
    if (rst_i) begin
      count_o <= '0;
      beats_q <= '0;
      swallow_q <= 1'b0;
      unreported_q <= '0;
    end
  end

  `ASSERT(RoomIsKept, cross_in.valid |-> cross_in.ready, mac_clk_i, mac_rst_i)
  `ASSERT(StampFits, stamp_in.valid |-> stamp_in.ready)
endmodule
