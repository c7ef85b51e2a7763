// SPDX-License-Identifier: Apache-2.0
`include "assert.svh"
/// Where packets come in: picks the generator or the wire, and finds out flow hash and filter verdict of each packet.
///
/// Frames pass unchanged, 2 clocks later; `info` has one entry for each, in order. A frame from the wire brings a stamp of
/// its own; one of the generator is stamped as it passes. While `enable_i` is off frames from the wire are thrown away
/// whole and the generator waits; both change over between frames only. One beat a clock, one frame a clock, full
/// back-pressure: at most `Depth` frames are inside until their `info` is taken. Reset empties it.
module cap_front
  import eth_pkg::*, cap_pkg::*;
#(
    parameter int Depth = 16
) (
    input logic clk_i,
    input logic rst_i,
    input logic enable_i,
    input logic use_generator_i,
    input ptp_time_t time_i,
    input filter_t [FilterEntries-1:0] filter_i,

    stream_if.snk generated,   // frame_beat_t
    stream_if.snk wire_frame,  // frame_beat_t
    stream_if.snk wire_stamp,  // ptp_time_t

    stream_if.src frame,  // frame_beat_t
    stream_if.src info    // info_t
);
  localparam int CountW = $clog2(Depth + 1);
  // The key of the RSS specification's examples.
  localparam logic [319:0] Key =
      320'h6d5a56da255b0ec24167253d43a38fb0d0ca2bcbae7b30b477cb2da38030f20c6a42b73bbeac01fa;

  typedef enum logic [1:0] {
    None,
    Generated,
    Wire,
    Waste  // of the wire
  } source_e;
  source_e source, source_q;
  logic inside_q;  // of a frame

  logic [CountW-1:0] count_q, unused_beats, unused_hashes, unused_stamps;
  frame_beat_t gen_beat, wire_beat, beat;
  assign gen_beat  = generated.data;
  assign wire_beat = wire_frame.data;

  // The stamp of a frame from the wire comes after its first beat: whether it is wanted then is kept until then.
  stream_if #(
      .T(logic)
  ) kind_in (
      clk_i,
      rst_i
  );
  stream_if #(
      .T(logic)
  ) kind (
      clk_i,
      rst_i
  );
  logic [CountW-1:0] unused_kinds;
  fifo #(
      .T(logic),
      .Depth(Depth)
  ) i_kinds (
      .clk_i,
      .rst_i,
      .in(kind_in),
      .out(kind),
      .count_o(unused_kinds)
  );

  wire place = count_q < CountW'(Depth);
  always_comb begin
    source = source_q;
    if (!inside_q) begin
      source = None;
      if (!enable_i) begin
        if (wire_frame.valid && kind_in.ready) source = Waste;
      end else if (use_generator_i) begin
        if (generated.valid && place) source = Generated;
      end else if (wire_frame.valid && kind_in.ready && place) begin
        source = Wire;
      end
    end
  end

  stream_if #(
      .T(frame_beat_t)
  ) held (
      clk_i,
      rst_i
  );
  assign beat = source == Generated ? gen_beat : wire_beat;
  assign held.valid = (source == Generated && generated.valid) || (source == Wire && wire_frame.valid);
  assign held.data = beat;
  assign generated.ready = source == Generated && held.ready;
  assign wire_frame.ready = source == Waste || (source == Wire && held.ready);
  wire moves = held.valid && held.ready;
  wire wastes = source == Waste && wire_frame.valid;
  wire leaves = info.valid && info.ready;
  assign kind_in.valid = !inside_q && (wastes || (source == Wire && moves));
  assign kind_in.data  = source == Wire;

  always_ff @(posedge clk_i) begin
    if (moves || wastes) begin
      inside_q <= !beat.eop;
      source_q <= source;
    end
    count_q <= count_q + CountW'(moves && beat.sop) - CountW'(leaves);
    if (rst_i) begin
      inside_q <= 1'b0;
      count_q  <= '0;
    end
  end

  fifo #(
      .T(frame_beat_t),
      .Depth(Depth)
  ) i_beats (
      .clk_i,
      .rst_i,
      .in(held),
      .out(frame),
      .count_o(unused_beats)
  );

  typedef struct packed {
    logic drop;
    logic [31:0] hash;
  } verdict_t;
  stream_if #(
      .T(verdict_t)
  ) verdict_in (
      clk_i,
      rst_i
  );
  stream_if #(
      .T(verdict_t)
  ) verdict_out (
      clk_i,
      rst_i
  );
  stream_if #(
      .T(ptp_time_t)
  ) stamp_in (
      clk_i,
      rst_i
  );
  stream_if #(
      .T(ptp_time_t)
  ) stamp_out (
      clk_i,
      rst_i
  );
  logic hash_valid;
  logic [3:0] unused_kind;

  rx_hash i_hash (
      .clk_i,
      .rst_i,
      .key_i  (Key),
      .valid_i(moves),
      .beat_i (beat),
      .valid_o(hash_valid),
      .hash_o (verdict_in.data.hash),
      .type_o (unused_kind)
  );
  cap_filter i_filter (
      .clk_i,
      .rst_i,
      .filter_i,
      .valid_i(moves),
      .beat_i (beat),
      .valid_o(verdict_in.valid),
      .drop_o (verdict_in.data.drop)
  );
  fifo #(
      .T(verdict_t),
      .Depth(Depth)
  ) i_verdicts (
      .clk_i,
      .rst_i,
      .in(verdict_in),
      .out(verdict_out),
      .count_o(unused_hashes)
  );
  wire generates = moves && source == Generated && beat.sop;
  wire stamped = wire_stamp.valid && kind.valid && !generates;
  assign wire_stamp.ready = stamped;
  assign kind.ready = stamped;
  assign stamp_in.valid = generates || (stamped && kind.data);
  assign stamp_in.data = generates ? time_i : wire_stamp.data;
  fifo #(
      .T(ptp_time_t),
      .Depth(Depth)
  ) i_stamps (
      .clk_i,
      .rst_i,
      .in(stamp_in),
      .out(stamp_out),
      .count_o(unused_stamps)
  );

  assign info.valid = verdict_out.valid && stamp_out.valid;
  assign info.data = '{
          drop: verdict_out.data.drop,
          hash: verdict_out.data.hash,
          stamp: stamp_out.data
      };
  assign verdict_out.ready = leaves;
  assign stamp_out.ready = leaves;

  `ASSERT(HashAndFilterInStep, hash_valid == verdict_in.valid)
  `ASSERT(ResultsHaveRoom,
          (verdict_in.valid |-> verdict_in.ready) and(stamp_in.valid |-> stamp_in.ready))
endmodule
