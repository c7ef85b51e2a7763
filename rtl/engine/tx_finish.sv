// SPDX-License-Identifier: Apache-2.0
`include "stream.svh"
/// Last step of the transmit engine: packets that have left (or failed) become records, commits and `sent` notes.
///
/// `done` brings packets in order; one without `error` waits for its time stamp. One packet a
/// clock, latency 3 clocks after the stamp, up to `Depth` packets wait; all streams may stall. `count_o` pulses once for
/// each packet; `counted` tells what is to be added to its queue's counters (stat_ram). A piece of a stream queue's turn takes the stamps of its frames as they come, one a clock, until `token` has
/// told how many there are: then its granules are committed, the turn's last one is `sent`, and its record tells the index
/// behind it (`csum`), how many frames left with it (`hash`) and the stamp of the last one; if it is broken and was read
/// it stops its queue (ErrLength). A packet that was cut takes those of its segments likewise, until
/// `segments` has told how many; its record tells that number (`hash`) and the last stamp; if it could not be cut its queue is stopped (ErrSegments).
/// Reset forgets the packets under way.
module tx_finish
  import queue_pkg::*, engine_pkg::*;
#(
    parameter int Depth = 512,
    parameter bit Segment = 0,  // packets may be cut
    parameter bit Shared = 0,  // records tell slot and port
    parameter logic [1:0] Port = '0
) (
    input  logic             clk_i,
    input  logic             rst_i,
           stream_if.snk     done,      // tx_done_t
           stream_if.snk     token,     // tx_token_t
           stream_if.snk     segments,  // tx_segments_t
           stream_if.snk     stamp,     // ptp_time_t
           stream_if.src     record,    // record_t
           stream_if.src     commit,    // commit_t
           stream_if.src     sent,      // sent_t
           stream_if.src     stop,      // queue_error_t
           stream_if.src     counted,   // queue_count_t
    output tx_engine_count_t count_o
);
  `STREAM(tx_done_t, head)
  `STREAM(record_t, record_in)
  `STREAM(commit_t, commit_in)
  `STREAM(sent_t, sent_in)
  `STREAM(queue_error_t, stop_in)
  `STREAM(queue_count_t, counted_in)
  fifo #(
      .T(tx_done_t),
      .Depth(Depth),
      .Registered(1)
  ) i_done (
      .clk_i,
      .rst_i,
      .in(done),
      .out(head),
      .count_o()
  );
  `SPILL(record_t, i_record, record_in, record)
  `SPILL(commit_t, i_commit, commit_in, commit)
  `SPILL(sent_t, i_sent, sent_in, sent)
  `SPILL(queue_error_t, i_stop, stop_in, stop)
  `SPILL(queue_count_t, i_counted, counted_in, counted)

  // All leave together; their readies come from registers.
  wire open = record_in.ready && commit_in.ready && sent_in.ready && stop_in.ready && counted_in.ready;
  wire stream = head.data.stream;
  wire cut = Segment && head.data.cut && !head.data.error;

  // Frames of pieces, modulo 256: whose stamps were taken, and how many of them before this piece.
  logic [7:0] taken_q, before_q;
  logic [39:0] stamp_q;  // of the newest one
  wire all = token.valid && taken_q == token.data.frames;
  logic [15:0] cut_q;  // stamps of the packet at hand taken, where it was cut
  wire all_cut = segments.valid && cut_q == segments.data.frames;
  wire gather = head.valid && (stream ? !all : cut && !all_cut);
  wire finish = head.valid && open && (stream ? all : cut ? all_cut : head.data.error || stamp.valid);
  wire take = gather && stamp.valid;
  assign stamp.ready = stream || cut ? gather : finish && !head.data.error;
  assign head.ready = finish;
  assign segments.ready = finish && cut;
  assign token.ready = finish && stream;
  wire broken = stream ? token.data.broken : head.data.error || (cut && segments.data.bad);
  wire [7:0] frames = taken_q - before_q;
  wire [7:0] whole = frames - 8'(token.data.aborted);  // of the piece
  logic [13:0] bytes_q;  // of frames before this piece, modulo 2^14
  wire [13:0] bytes = token.data.bytes - bytes_q;

  // When the last frame was sent: 0 where none was, or not all of it.
  wire [39:0] sent_at = cut ? stamp_q : stamp.data[39:0];
  wire [39:0] when = stream ? (frames != '0 ? stamp_q : '0) : broken ? '0 : sent_at;
  cpl_t cpl;
  assign cpl = '{
          timestamp: when,
          flags: Shared ? {2'd0, Port, 4'd0} : '0,
          csum: stream || Shared ? head.data.index : '0,
          hash: stream ? 32'(whole) : cut ? 32'(segments.data.frames) : '0,
          phase: 1'b0,
          error: broken,
          len: head.data.len,
          queue: head.data.queue
      };
  assign record_in.valid = finish;
  `STREAM_DATA(record_in, '{cq: head.data.cq, record: cpl})
  assign commit_in.valid = finish;
  assign commit_in.data = '{queue: head.data.queue, count: stream ? head.data.granules : 9'd1};
  assign sent_in.valid = finish && (!stream || head.data.ends);
  assign sent_in.data = '{queue: head.data.queue, bytes: stream ? '0 : head.data.len};

  assign stop_in.valid = finish && (stream || cut) && broken && !head.data.error;
  assign stop_in.data = '{queue: head.data.queue, code: cut ? ErrSegments : ErrLength};

  assign counted_in.valid = finish;
  always_comb begin
    if (`WORTH(finish)) begin
      counted_in.data = '{
          queue: head.data.queue,
          packets: 16'd1,
          bytes: queue_bytes_t'(head.data.len),
          error: broken,
          drop: 1'b0
      };
      if (stream) begin
        counted_in.data.packets = 16'(whole);
        counted_in.data.bytes   = queue_bytes_t'(bytes);
      end else if (cut) begin
        counted_in.data.packets = segments.data.frames;
        counted_in.data.bytes   = segments.data.bytes;
      end else if (head.data.error) begin
        counted_in.data.packets = '0;
        counted_in.data.bytes   = '0;
      end
    end
  end

  always_ff @(posedge clk_i) begin
    count_o.sent  <= stream || cut ? take : finish && !head.data.error;
    count_o.error <= finish && broken;
    if (take) begin
      if (stream) taken_q <= taken_q + 1'b1;
      cut_q   <= cut_q + 1'b1;
      stamp_q <= stamp.data[39:0];
    end
    if (finish && stream) begin
      before_q <= taken_q;
      bytes_q  <= token.data.bytes;
    end
    if (finish) cut_q <= '0;
    if (rst_i) begin
      count_o <= '0;
      taken_q <= '0;
      cut_q <= '0;
      before_q <= '0;
      bytes_q <= '0;
    end
  end
endmodule
