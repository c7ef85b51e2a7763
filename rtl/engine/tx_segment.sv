// SPDX-License-Identifier: Apache-2.0
`include "assert.svh"
`include "stream.svh"
/// TCP segmentation: makes of one long packet as many frames as its payload takes, `mss` bytes each (transmit engine).
///
/// A packet with `cut` is an Ethernet frame of `total` bytes, up to 65535: up to two tags, IPv4 (options too) or IPv6 without extension
/// headers, then at `csum.start` TCP, headers of 126 bytes at the most. Each frame has these headers with its own lengths, IPv4
/// identification (one more each) and header checksum, and sequence number; FIN and PSH only in the last, CWR only in the first. The TCP
/// checksum is left to tx_csum: its field, in which the host has put the sum of the pseudo header without the length, gets the length.
/// `token` tells for each such packet, in order, how many frames have left, and their bytes. One that cannot be cut (`mss` 0, no or broken headers of
/// that kind, no payload, frames of more than `max_frame_i`) is passed over: `bad`, and no frame.
/// Other units pass as they are. A beat a clock: of frames of one beat one in two clocks; before each packet that is cut 7 clocks or so.
/// Latency 4 clocks, full back-pressure. Reset forgets everything.
module tx_segment
  import eth_pkg::*, dma_pkg::*, queue_pkg::*, engine_pkg::*;
#(
    parameter int TokenDepth = 64
) (
    input logic                clk_i,
    input logic                rst_i,
    input logic         [13:0] max_frame_i,
          stream_if.snk        in,           // tx_unit_t
          stream_if.src        out,          // tx_unit_t
          stream_if.src        token         // tx_segments_t
);
  localparam int Most = WideBeatBytes - 2;  // bytes of headers
  typedef logic [7:0] count_t;  // bytes of a beat

  typedef enum logic [2:0] {
    Pass,
    Study,
    Start,
    Next,   // the segment's values are being worked out
    Cut,
    Skip    // to the packet's end
  } state_e;

  // ---- The row at hand (a) and the next one (b).
  tx_unit_t a_q, b_q;
  logic a_valid_q, b_valid_q, pop;
  wire shift = b_valid_q && (!a_valid_q || pop);
  wire accept = in.valid && in.ready;
  assign in.ready = !b_valid_q || shift;
  always_ff @(posedge clk_i) begin
    if (shift) a_q <= b_q;
    if (accept) b_q <= in.data;
    a_valid_q <= shift || (a_valid_q && !pop);
    b_valid_q <= accept || (b_valid_q && !shift);
    if (rst_i) begin
      a_valid_q <= 1'b0;
      b_valid_q <= 1'b0;
    end
  end

  // ---- What the headers say.
  state_e state_q;
  logic begun, ok;
  tx_headers_t headers;
  logic header_used;  // in a stage that still needs it
  logic token_room_q;
  wire begins = state_q == Pass && a_valid_q && a_q.cut && a_q.beat.sop;
  wire start = begins && !header_used && token_room_q;
  tx_headers i_headers (
      .clk_i,
      .rst_i,
      .max_frame_i,
      .start_i  (start),
      .unit_i   (a_q),
      .done_o   (begun),
      .ok_o     (ok),
      .headers_o(headers)
  );

  // ---- Where the packet is: the next beat takes `take_q` bytes of payload, from `at_q` of the row at hand up to `stop_q`, which
  // is in the next one where it is above 128.
  logic [6:0] at_q;
  count_t take_q, stop_q, room_q;  // room_q: behind the headers in a first beat
  logic straddles_q;
  logic first_q, last_q, final_q, opening_q;  // beat of its frame; frame of its packet
  logic [13:0] left_q;  // of the segment behind this beat,
  logic [15:0] rest_q;  // of the packet behind this segment
  logic [13:0] size_q;
  logic [15:0] frames_q;
  queue_bytes_t bytes_q;
  logic [31:0] seq_q;
  logic [15:0] id_q;
  logic step;
  // Of the segment behind this one, or the first one; known in `Next` as the bytes that are left do not change in the clock before.
  logic [13:0] next_size_q, next_left_q;
  count_t next_take_q;
  logic next_final_q, next_last_q;
  wire mss_fits = headers.mss <= 14'(room_q);
  wire rest_fits = rest_q <= 16'(room_q);
  wire [13:0] size = rest_q <= 16'(headers.mss) ? rest_q[13:0] : headers.mss;
  wire ends_row = stop_q[7];
  wire over = last_q && final_q;
  // The row in which a packet ends is not left by its last beat, if that began in the row before.
  wire emit_cut = state_q == Cut && a_valid_q && (!straddles_q || b_valid_q);
  wire emit_pass = state_q == Pass && a_valid_q && !begins;
  wire emit = (emit_cut || emit_pass) && step;
  assign pop = (emit && (emit_pass || ends_row || over)) || (state_q == Skip && a_valid_q);
  wire long = left_q > 14'(WideBeatBytes);
  wire count_t more = long ? count_t'(WideBeatBytes) : left_q[7:0];
  // Behind a last beat nothing is left, and the next frame begins where that ended.
  wire count_t stop = count_t'(stop_q[6:0]) + (state_q == Next ? next_take_q : more);

  always_ff @(posedge clk_i) begin
    unique case (state_q)
      Pass: if (start) state_q <= Study;
      Study: if (begun) state_q <= ok ? Start : Skip;
      Start: state_q <= Next;
      Next: state_q <= Cut;
      Cut: begin
        if (emit && last_q) state_q <= !over ? Next : straddles_q ? Skip : Pass;
      end
      default: if (a_valid_q && a_q.beat.eop) state_q <= Pass;
    endcase
    if (state_q == Study) begin  // its last clock counts
      at_q <= headers.bytes;
      stop_q <= count_t'(headers.bytes);
      room_q <= count_t'(WideBeatBytes) - count_t'(headers.bytes);
      rest_q <= headers.payload;
      seq_q <= headers.seq;
      id_q <= headers.id;
      frames_q <= '0;
      bytes_q <= '0;
      opening_q <= 1'b1;
    end
    if (state_q inside {Start, Cut}) begin
      next_size_q  <= size;
      next_final_q <= rest_q <= 16'(headers.mss);
      next_last_q  <= mss_fits || rest_fits;
      next_take_q  <= mss_fits || rest_fits ? size[7:0] : room_q;
      next_left_q  <= mss_fits || rest_fits ? '0 : size - 14'(room_q);
    end
    if (state_q == Next) begin
      size_q  <= next_size_q;
      rest_q  <= rest_q - 16'(next_size_q);
      final_q <= next_final_q;
      first_q <= 1'b1;
      last_q  <= next_last_q;
      take_q  <= next_take_q;
      left_q  <= next_left_q;
    end
    if (emit && emit_cut) begin
      at_q <= stop_q[6:0];
      first_q <= 1'b0;
      take_q <= more;
      last_q <= !long;
      left_q <= left_q - 14'(more);
      if (last_q) begin
        seq_q <= seq_q + 32'(size_q);
        id_q <= id_q + 1'b1;
        frames_q <= frames_q + 1'b1;
        bytes_q <= bytes_q + queue_bytes_t'(size_q) + queue_bytes_t'(headers.bytes);
        opening_q <= 1'b0;
      end
    end
    if (state_q == Next || (emit && emit_cut)) begin
      stop_q <= stop;
      straddles_q <= stop > count_t'(WideBeatBytes);
    end
    if (rst_i) state_q <= Pass;
  end

  // ---- Three stages: pick the bytes from two rows; turn them by single bytes; by 16, and put the headers in front.
  typedef struct packed {
    tx_unit_t    unit;
    logic [6:0]  turn,   turn_n;
    logic        head;             // has headers
    logic        final_, opening;
    logic [31:0] seq;
    logic [15:0] id;
    logic [13:0] size;
  } stage_t;
  stage_t picked, first_stage_q, second_stage_q;
  logic [2:0] valid_q;
  tx_unit_t out_q;
  assign step = !valid_q[2] || out.ready;
  assign header_used = (valid_q[0] && first_stage_q.head) || (valid_q[1] && second_stage_q.head);

  wire [6:0] turn = emit_pass ? '0 : first_q ? at_q - 7'(headers.bytes) : at_q;
  always_comb begin
    picked.unit = a_q;
    if (emit_cut) begin
      for (int i = 0; i < WideBeatBytes; i++)
      if (7'(i) < at_q) picked.unit.beat.data[8*i+:8] = b_q.beat.data[8*i+:8];
      picked.unit.beat.sop = first_q;
      picked.unit.beat.eop = last_q;
      picked.unit.beat.len = first_q ? take_q + count_t'(headers.bytes) : take_q;
      picked.unit.csum = headers.csum;
    end
    picked.turn = turn;
    picked.turn_n = ~turn;
    picked.head = emit_cut && first_q;
    picked.final_ = final_q;
    picked.opening = opening_q;
    picked.seq = seq_q;
    picked.id = id_q;
    picked.size = size_q;
  end

  logic [8*WideBeatBytes-1:0] by_bytes, by_16;
  rotate #(
      .TurnW(4),
      .Right(1)
  ) i_by_bytes (
      .valid_i (valid_q[0]),
      .turn_i  (first_stage_q.turn[3:0]),
      .turn_n_i(first_stage_q.turn_n[3:0]),
      .data_i  (first_stage_q.unit.beat.data),
      .data_o  (by_bytes)
  );
  rotate #(
      .Lanes(8),
      .LaneBits(128),
      .Right(1)
  ) i_by_16 (
      .valid_i (valid_q[1]),
      .turn_i  (second_stage_q.turn[6:4]),
      .turn_n_i(second_stage_q.turn_n[6:4]),
      .data_i  (second_stage_q.unit.beat.data),
      .data_o  (by_16)
  );

  logic [8*WideBeatBytes-1:0] head;
  tx_header_fields i_fields (
      .clk_i,
      .step_i(step),
      .headers_i(headers),
      .size_i(first_stage_q.size),
      .id_i(first_stage_q.id),
      .seq_i(first_stage_q.seq),
      .final_i(first_stage_q.final_),
      .opening_i(first_stage_q.opening),
      .head_o(head)
  );

  always_ff @(posedge clk_i) begin
    if (step) begin
      valid_q <= {valid_q[1:0], emit};
      if (emit) first_stage_q <= picked;
      if (valid_q[0]) begin
        second_stage_q <= first_stage_q;
        second_stage_q.unit.beat.data <= by_bytes;
      end
      if (valid_q[1]) begin
        out_q <= second_stage_q.unit;
        out_q.cut <= 1'b0;
        for (int i = 0; i < WideBeatBytes; i++)
        out_q.beat.data[8*i+:8] <= second_stage_q.head && 8'(i) < 8'(headers.bytes) ? head[8*i+:8] : by_16[8*i+:8];
      end
    end
    if (rst_i) valid_q <= '0;
  end
  assign out.valid = valid_q[2];
  assign out.data  = out_q;

  // ---- Tokens.
  `STREAM(tx_segments_t, told)
  logic [$clog2(TokenDepth+1)-1:0] waiting;
  fifo #(
      .T(tx_segments_t),
      .Depth(TokenDepth)
  ) i_tokens (
      .clk_i,
      .rst_i,
      .in(told),
      .out(token),
      .count_o(waiting)
  );
  logic told_q, bad_q;
  assign told.valid = told_q;
  assign told.data  = '{bad: bad_q, frames: bad_q ? '0 : frames_q, bytes: bad_q ? '0 : bytes_q};
  always_ff @(posedge clk_i) begin
    told_q <= (state_q == Study && begun && !ok) || (emit && emit_cut && over);
    bad_q <= state_q == Study;
    token_room_q <= 32'(waiting) + 3 < TokenDepth;
    if (rst_i) told_q <= 1'b0;
  end
  wire unused = &{1'b0, first_stage_q, second_stage_q.turn[3:0], second_stage_q.turn_n[3:0], second_stage_q.seq,
                  second_stage_q.id, second_stage_q.size, second_stage_q.final_, second_stage_q.opening};

  `ASSERT(TokenHasRoom, told.valid |-> told.ready)
  `ASSERT(HeadersFit, state_q == Cut |-> 32'(headers.bytes) <= Most)
  `ASSERT(EndsWithItsPacket, emit && emit_cut && over && !straddles_q |-> a_q.beat.eop)
endmodule
