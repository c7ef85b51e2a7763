// SPDX-License-Identifier: Apache-2.0
`include "assert.svh"
`include "stream.svh"
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

    stream_if.snk generated,   // wide_beat_t
    stream_if.snk wire_frame,  // wide_beat_t
    stream_if.snk wire_stamp,  // ptp_time_t

    stream_if.src frame,  // wide_beat_t
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

  logic [CountW-1:0] count_q;
  wide_beat_t gen_beat, wire_beat, beat;
  assign gen_beat  = generated.data;
  assign wire_beat = wire_frame.data;

  // The stamp of a frame from the wire comes after its first beat: whether it is wanted then is kept until then.
  `STREAM(logic, kind_in)
  `STREAM(logic, kind)
  `FIFO(logic, Depth, i_kinds, kind_in, kind)

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

  `STREAM(wide_beat_t, held)
  // Wherever a beat could come from: whether it does is known later.
  wire from_generator = inside_q ? source_q == Generated : enable_i && use_generator_i;
  assign beat = from_generator ? gen_beat : wire_beat;
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

  `FIFO(wide_beat_t, Depth, i_beats, held, frame)

  typedef struct packed {
    logic drop;
    logic [31:0] hash;
  } verdict_t;
  `STREAM(verdict_t, verdict_in)
  `STREAM(verdict_t, verdict_out)
  `STREAM(ptp_time_t, stamp_in)
  `STREAM(ptp_time_t, stamp_out)
  logic hash_valid;
  logic [3:0] unused_kind;

  rx_hash #(
      .Beat(wide_beat_t)
  ) i_hash (
      .clk_i,
      .rst_i,
      .key_i(Key),
      .valid_i(moves),
      .beat_i(beat),
      .valid_o(hash_valid),
      .header_o(),
      .hash_o(verdict_in.data.hash),
      .type_o(unused_kind),
      .ahead_o()
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
  `FIFO(verdict_t, Depth, i_verdicts, verdict_in, verdict_out)
  wire generates = moves && source == Generated && beat.sop;
  wire stamped = wire_stamp.valid && kind.valid && !generates;
  assign wire_stamp.ready = stamped;
  assign kind.ready = stamped;
  assign stamp_in.valid = generates || (stamped && kind.data);
  assign stamp_in.data = generates ? time_i : wire_stamp.data;
  `FIFO(ptp_time_t, Depth, i_stamps, stamp_in, stamp_out)

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
