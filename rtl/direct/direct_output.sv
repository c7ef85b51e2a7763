// SPDX-License-Identifier: Apache-2.0
`include "assert.svh"
`include "stream.svh"
/// Output FIFOs of a card, fast and slow path, and what chooses between them (direct-router paper, section III-A).
///
/// Whole frames only: a frame is chosen when all of it is in its FIFO, then leaves one word a clock without a gap of its own.
/// Strict priority to the slow path, or round robin (`round_robin_i`). The fast FIFO cannot be held up: the response scheduler
/// grants no more than `fast_room_o`; a frame that does not fit all the same is dropped whole (`overflow_o`). The slow one has
/// back-pressure: it takes a frame when there is room for all of it (one that never fits, is empty or a header alone is dropped). Reset empties both.
/// With two `Lanes` there are two fast FIFOs, and `fast_lane_i` is the one that grants go into now: its frames leave when the other is
/// empty, which keeps the order of each input (response_scheduler).
module direct_output
  import direct_pkg::*;
#(
    parameter int FifoBytes = 15360,  // of each FIFO
    parameter int Lanes = 1
) (
    input  logic                     clk_i,
    input  logic                     rst_i,
    input  logic                     round_robin_i,
    // Fast path, from direct_scheduler
    input  frame_write_t [Lanes-1:0] fast_i,
    input  logic                     fast_lane_i,
    output words_t       [Lanes-1:0] fast_room_o,    // words, packet headers counted
    output logic         [Lanes-1:0] fast_empty_o,
    // Slow path, in stored form (stored_word_t): packet header, data words
           stream_if.snk             slow,
    output words_t                   slow_room_o,
    // To the MAC: word_beat_t
           stream_if.src             out,
    // Words held; one clock for each frame that left; how many were dropped in a clock
    output words_t                   fast_used_o,
    output words_t                   slow_used_o,
    output logic                     sent_fast_o,
    output logic                     sent_slow_o,
    output logic         [      1:0] overflow_o
);
  localparam words_t Words = words_t'(FifoBytes / 8);

  // Slow path in: the header says how much room the frame needs.
  logic in_frame_q, too_long_q;
  logic [15:0] bytes_q;
  wire stored_word_t slow_word = slow.data;
  wire [15:0] slow_bytes = slow_word.data[15:0];  // if it is a header
  wire [13:0] needs = 14'((17'(slow_bytes) + 17'd7) >> 3) + 1'b1;
  wire too_long = needs > 14'(Words) || slow_bytes == '0;
  frame_write_t slow_write;
  logic slow_dropped;

  assign slow.ready = in_frame_q || too_long || needs <= 14'(slow_room_o);
  assign slow_write = '{
          valid: slow.valid && in_frame_q && !too_long_q,
          data: slow_word.data,
          last: slow_word.last,
          bytes: bytes_q,
          abort: 1'b0
      };
  wire drop_slow = slow.valid && slow.ready && slow_word.last && (!in_frame_q || too_long_q);

  always_ff @(posedge clk_i) begin
    if (slow.valid && slow.ready) begin
      in_frame_q <= !slow_word.last;
      if (!in_frame_q) begin
        bytes_q <= slow_bytes;
        too_long_q <= too_long;
      end
    end
    if (rst_i) in_frame_q <= 1'b0;
  end

  frame_read_if #(.Queues(1)) slow_read ();
  `STREAM(stored_word_t, slow_out)
  logic slow_accepted;
  logic [Lanes-1:0] fast_accepted, fast_dropped, fast_valid, fast_ready;
  stored_word_t [Lanes-1:0] fast_word;
  words_t [Lanes-1:0] fast_used;
  for (genvar l = 0; l < Lanes; l++) begin : g_fast
    frame_read_if #(.Queues(1)) read ();
    `STREAM(stored_word_t, frame)
    frame_queues #(
        .Queues(1),
        .Bytes (FifoBytes)
    ) i_queue (
        .clk_i,
        .rst_i,
        .write_i(fast_i[l]),
        .write_queue_i(1'b0),
        .accepted_o(fast_accepted[l]),
        .dropped_o(fast_dropped[l]),
        .read
    );
    frame_reader i_reader (
        .clk_i,
        .rst_i,
        .read,
        .out(frame)
    );
    assign fast_valid[l] = frame.valid;
    assign fast_word[l] = frame.data;
    assign frame.ready = fast_ready[l];
    assign fast_used[l] = read.used[0];
    assign fast_room_o[l] = Words - fast_used[l];
    assign fast_empty_o[l] = fast_used[l] == '0;
  end
  frame_queues #(
      .Queues(1),
      .Bytes (FifoBytes)
  ) i_slow (
      .clk_i,
      .rst_i,
      .write_i(slow_write),
      .write_queue_i(1'b0),
      .accepted_o(slow_accepted),
      .dropped_o(slow_dropped),
      .read(slow_read)
  );
  frame_reader i_slow_reader (
      .clk_i,
      .rst_i,
      .read(slow_read),
      .out (slow_out)
  );
  logic [UnitsW:0] all_used;
  always_comb begin
    all_used = '0;
    for (int l = 0; l < Lanes; l++) all_used += (UnitsW + 1)'(fast_used[l]);
  end
  assign fast_used_o = all_used[UnitsW] ? '1 : words_t'(all_used);
  assign slow_used_o = slow_read.used[0];
  assign slow_room_o = Words - slow_used_o;

  // The choice: headers are taken one at a time, the rest of the frame follows.
  logic busy_q, busy_slow_q, was_slow_q, first_q;
  logic [2:0] tail_q;  // valid bytes of the last word, 0 for 8: the frame's length modulo 8
  logic busy_lane_q;
  wire other_lane = Lanes > 1 && !fast_lane_i;
  wire lane = busy_q ? busy_lane_q : (fast_empty_o[other_lane] ? fast_lane_i : other_lane);
  wire pick_slow = slow_out.valid && !(round_robin_i && was_slow_q && fast_valid[lane]);
  wire from_slow = busy_q ? busy_slow_q : pick_slow;
  wire stored_word_t word = from_slow ? slow_out.data : fast_word[lane];
  wire valid = from_slow ? slow_out.valid : fast_valid[lane];
  wire take = valid && (busy_q ? out.ready : 1'b1);
  wire eth_pkg::word_beat_t beat =
  '{
      data: word.data,
      len: (word.last && tail_q != '0) ? {1'b0, tail_q} : 4'd8,
      sop: first_q,
      eop: word.last,
      err: 1'b0
  }
  ;
  assign out.valid = busy_q && valid;
  assign out.data = beat;
  assign slow_out.ready = from_slow && (!busy_q || out.ready);
  always_comb begin
    fast_ready = '0;
    fast_ready[lane] = !from_slow && (!busy_q || out.ready);
  end

  always_ff @(posedge clk_i) begin
    if (take) begin
      if (!busy_q) begin
        busy_q <= 1'b1;
        busy_slow_q <= from_slow;
        busy_lane_q <= lane;
        was_slow_q <= from_slow;
        first_q <= 1'b1;
        tail_q <= word.data[2:0];
      end else begin
        first_q <= 1'b0;
        if (word.last) busy_q <= 1'b0;
      end
    end
    sent_fast_o <= take && busy_q && word.last && !from_slow;
    sent_slow_o <= take && busy_q && word.last && from_slow;
    overflow_o  <= 2'($countones(fast_dropped)) + 2'(slow_dropped || drop_slow);
    if (rst_i) begin
      busy_q <= 1'b0;
      was_slow_q <= 1'b0;
      sent_fast_o <= 1'b0;
      sent_slow_o <= 1'b0;
      overflow_o <= '0;
    end
  end

  `ASSERT(OneSlowEnd, !(slow_dropped && drop_slow))
  `ASSERT(FrameIsWhole, !busy_q || valid)
  `ASSERT(OneKindOfEnd, !(slow_accepted && slow_dropped) && (fast_accepted & fast_dropped) == '0)
endmodule
