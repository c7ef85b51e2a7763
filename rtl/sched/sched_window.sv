// SPDX-License-Identifier: Apache-2.0
`include "assert.svh"
/// How many more packets a transmit scheduler may grant, so that no more than `window_i` bytes are between it and the wire.
///
/// What is deeper than a round trip to host memory waits behind what was granted before, whatever the scheduler decides. Counted
/// are the bytes of packets whose descriptors are here (`behind_i.beat`; until `sent`), and for those granted
/// before that as many as the longest of the last ones had, rounded up to a power of two; a grant that is not answered counts as
/// eight packets. `room_o` is 0 ... 8; it knows of a grant six clocks after it was taken, and is 0 meanwhile where packets are long; with
/// `Single`, for schedulers with many grants of a packet, it is less by what these grants are of.
/// So more than the window is under way only where packets are much longer than those before, or where one alone is. With `Mean` they
/// count as long as the last ones were in the mean, to within a factor of 1.5: short ones among long ones are not held up, and more may be
/// under way. Pieces of stream queues weigh nothing. Reset: nothing is under way.
module sched_window
  import queue_pkg::*;
#(
    parameter bit Single = 0,
    parameter bit Mean   = 0   // `room_o` is a register, and does not look at the grant on offer
) (
    input logic clk_i,
    input logic rst_i,
    input logic [19:0] window_i,  // in bytes

    // The grant on offer, and what becomes of those before it.
    input logic grant_valid_i,
    input logic grant_ready_i,
    input logic [3:0] grant_max_i,
    input behind_grant_t behind_i,

    output logic [3:0] room_o,

    // A packet's length is known: for a clock, a clock after its last descriptor has gone by.
    output logic  begun_o,
    output sent_t begun_packet_o
);
  localparam int Seen = 6;  // clocks until a grant is counted
  // As much as may go unseen for so long: 32 packets of 256 bytes, or 56 of 1024.
  localparam int LogSmall = Mean ? 10 : 8;
  typedef logic [22:0] bytes_t;
  typedef logic [13:0] packets_t;

  /// The least power of two that is not below.
  function automatic logic [3:0] log_up(logic [13:0] bytes);
    logic [13:0] less = bytes - 14'd1;
    log_up = '0;
    for (int i = 0; i < 14; i++) if (less[i]) log_up = 4'(i + 1);
  endfunction

  desc_beat_t beat;
  assign beat = behind_i.beat;

  // Packets: their lengths as the engine finds them (tx_engine's records and `sent` say the same).
  logic [18:0] sum_q;
  wire [18:0] sum = sum_q + 19'(beat.desc.len);
  wire begins = behind_i.beat_valid && behind_i.beat_ready && beat.status == DeqOk;
  logic begun_q, sent_q;
  logic [13:0] begun_bytes_q, sent_bytes_q;
  queue_t begun_queue_q;
  assign begun_o = begun_q;
  assign begun_packet_o = '{queue: begun_queue_q, bytes: begun_bytes_q};

  // Known bytes, grants without an answer, packets without a descriptor.
  bytes_t known_q;
  packets_t unknown_q, most_q;
  logic [7:0] grants_q;
  logic [3:0] log_q;
  if (Mean) begin : g_mean
    logic [17:0] mean_q;  // in 16ths of a byte
    logic weighs_q;
    wire [13:0] mean = mean_q[17:4];
    always_ff @(posedge clk_i) begin
      weighs_q <= !beat.stream;
      if (begun_q && weighs_q) mean_q <= mean_q - 18'(mean) + 18'(begun_bytes_q);
      log_q <= log_up((mean - (mean >> 2)) | 14'd1);
      if (rst_i) mean_q <= 18'(64 << 4);
    end
  end else begin : g_longest
    logic [5:0] age_q;
    wire  [3:0] log_new = log_up(begun_bytes_q);
    always_ff @(posedge clk_i) begin
      if (begun_q) begin
        age_q <= age_q + 1'b1;
        if (log_new >= log_q) begin
          log_q <= log_new;
          age_q <= '0;
        end else if (&age_q) log_q <= log_q - 1'b1;
      end
      if (rst_i) begin
        log_q <= 4'd14;
        age_q <= '0;
      end
    end
  end

  // Six clocks: counts, their sum, what that is in bytes, how much is free, how many packets that is, and the room.
  logic [27:0] may_be_q;
  logic signed [28:0] free_q;
  logic [3:0] room_q;
  logic [Seen-1:0] recent_q;
  wire take = grant_valid_i && grant_ready_i;
  wire answer = behind_i.granted_valid && behind_i.granted_ready;
  wire [28:0] fits = free_q >>> log_q;
  wire unseen = grant_valid_i || recent_q != '0;
  logic none_q;  // nothing is under way: one packet may be, however long
  wire are_long = log_q > 4'(LogSmall);
  wire [3:0] whole = none_q && room_q == '0 ? 4'd1 : room_q;
  if (Mean) begin : g_mean_room
    wire unused = &{1'b0, grant_max_i, unseen};
    always_ff @(posedge clk_i)
      room_o <= rst_i || (are_long && (take || recent_q[Seen-2:0] != '0)) ? '0 : whole;
  end else if (Single) begin : g_single
    logic [Seen-1:0][3:0] recent_max_q;
    logic [6:0] granted_q;  // of these
    wire [7:0] granted = granted_q + (grant_valid_i ? 8'(grant_max_i) : '0);
    wire [3:0] rest = granted < 8'(room_q) ? room_q - granted[3:0] : '0;
    assign room_o = unseen ? are_long ? rest : room_q : whole;
    always_ff @(posedge clk_i) begin
      recent_max_q <= {recent_max_q[Seen-2:0], take ? grant_max_i : 4'd0};
      granted_q <= granted_q + (take ? 7'(grant_max_i) : '0) - 7'(recent_max_q[Seen-1]);
      if (rst_i) {recent_max_q, granted_q} <= '0;
    end
  end else begin : g_whole
    wire unused = &{1'b0, grant_max_i};
    assign room_o = unseen ? are_long ? '0 : room_q : whole;
  end

  always_ff @(posedge clk_i) begin
    begun_q <= begins && beat.last && (!beat.stream || beat.ends);
    begun_queue_q <= beat.queue;
    begun_bytes_q <= beat.stream ? '0 : sum > 19'h3fff ? 14'h3fff : sum[13:0];
    if (begins) sum_q <= beat.last ? '0 : sum;
    sent_q <= behind_i.sent_valid && behind_i.sent_ready;
    sent_bytes_q <= behind_i.sent.bytes;

    known_q <= known_q + (begun_q ? bytes_t'(begun_bytes_q) : '0) - (sent_q ? bytes_t'(sent_bytes_q) : '0);
    grants_q <= grants_q + 8'(take) - 8'(answer);
    unknown_q <= unknown_q + (answer ? packets_t'(behind_i.granted.count) : '0) - packets_t'(begun_q);

    most_q <= unknown_q + packets_t'({grants_q, 3'd0});
    may_be_q <= 28'(most_q) << log_q;
    free_q <= $signed({9'd0, window_i}) - $signed({6'd0, known_q}) - $signed({1'b0, may_be_q});
    room_q <= free_q[28] ? '0 : fits > 29'd8 ? 4'd8 : fits[3:0];
    none_q <= known_q == '0 && most_q == '0;
    recent_q <= {recent_q[Seen-2:0], take};

    if (rst_i) begin
      begun_q <= 1'b0;
      sent_q <= 1'b0;
      sum_q <= '0;
      known_q <= '0;
      grants_q <= '0;
      unknown_q <= '0;
      most_q <= '0;
      may_be_q <= '0;
      free_q <= '0;
      room_q <= '0;
      none_q <= 1'b0;
      recent_q <= '0;
    end
  end

  // A packet's descriptor may be here before its grant's answer.
  `ASSERT(NothingBelowNone, !known_q[22] && !most_q[13] && !grants_q[7])
endmodule
