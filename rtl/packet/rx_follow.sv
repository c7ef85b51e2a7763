// SPDX-License-Identifier: Apache-2.0
`include "assert.svh"
`include "stream.svh"
/// Says of each received frame whether it is a TCP segment that continues the one before it of its flow: what a device needs to
/// know to hand several to the host as one (receive coalescing; the rule is that of Linux's GRO, but for more being the same).
///
/// `able` is a segment of IPv4 without options and with DF, or of IPv6 without extension headers, behind up to two VLAN tags: flags ACK, or
/// ACK and PSH; payload; headers of up to 94 bytes; the frame as long as IP says; checksums of IP and TCP right and not ffff. It `follows` when besides
/// its headers are those of the last such frame in its entry of the table, but for lengths, checksums, PSH, a sequence number that is
/// higher by that frame's payload, and of IPv4 an identification that is higher by one. So headers of the first, lengths and PSH of
/// each are enough to make all of them again. The entry is picked by the low bits of the flow hash; `serial` counts its frames that are able, so that one
/// lost behind this block is missed; for that long runs of losses are too, every `lost_i` makes the table forget.
///
/// Watches the beats of a stream of frames, and what rx_hash (with headers) and rx_csum say of them. `valid_o` comes 5 clocks after
/// `csum_valid_i`, one frame a clock, and is never refused. At most `Depth` frames are inside. Reset forgets all.
module rx_follow
  import eth_pkg::*;
#(
    parameter int Entries = 32,  // a power of two
    parameter int Depth   = 16
) (
    input logic clk_i,
    input logic rst_i,

    // A beat of a frame moves.
    input logic       valid_i,
    input wide_beat_t beat_i,

    // Of the frames in order.
    input logic hash_valid_i,
    input logic [31:0] hash_i,
    input logic [3:0] type_i,
    input header_words_t header_i,
    input logic csum_valid_i,
    input logic [15:0] csum_i,

    // A frame did not come where it was to be joined.
    input logic lost_i,

    output logic       valid_o,
    output rx_follow_t follow_o
);
  localparam int Words = 20;  // of four bytes behind byte 14
  localparam int FrontBits = 8 * 14;
  localparam int HeadBits = FrontBits + 32 * Words;
  localparam int EntryW = $clog2(Entries);
  localparam logic [15:0] Right = '1;  // sum of what holds its checksum
  if (Entries < 2 || Entries != 2 ** EntryW) begin : g_bad_parameter
    $fatal(1, "rx_follow: Entries %0d is not a power of two from 2 on", Entries);
  end
  typedef logic [Words-1:0][31:0] words_t;

  // ---- Of each frame its first bytes, what is known of it, its length and sum; all there with the last.
  typedef struct packed {
    logic [EntryW-1:0] entry;
    logic v4;
    header_words_t words;  // 0: not one that can be joined
  } kind_t;
  typedef struct packed {
    logic err;
    logic [13:0] len;
  } end_t;
  `STREAM(logic [HeadBits-1:0], head_in)
  `STREAM(logic [HeadBits-1:0], head)
  `STREAM(kind_t, kind_in)
  `STREAM(kind_t, kind)
  `STREAM(end_t, end_in)
  `STREAM(end_t, tail)
  `FIFO(logic [HeadBits-1:0], Depth, i_heads, head_in, head)
  `FIFO(kind_t, Depth, i_kinds, kind_in, kind)
  `FIFO(end_t, Depth, i_ends, end_in, tail)
  logic [6:0] full_q;  // beats of the frame before this one
  logic [15:0] csum_q;
  logic all_q;
  assign head_in.valid = valid_i && beat_i.sop;
  assign head_in.data  = beat_i.data[HeadBits-1:0];
  assign end_in.valid  = valid_i && beat_i.eop;
  assign end_in.data   = '{err: beat_i.err, len: {full_q, 7'd0} + 14'(beat_i.len)};
  assign kind_in.valid = hash_valid_i;
  wire joinable = type_i[2] && header_i <= header_words_t'(Words);
  assign kind_in.data = '{
          entry: hash_i[EntryW-1:0],
          v4: type_i[0],
          words: joinable ? header_i : '0
      };
  assign head.ready = all_q;
  assign kind.ready = all_q;
  assign tail.ready = all_q;
  always_ff @(posedge clk_i) begin
    if (valid_i) full_q <= beat_i.eop ? '0 : full_q + 1'b1;
    all_q  <= csum_valid_i;
    csum_q <= csum_i;
    if (rst_i) begin
      full_q <= '0;
      all_q  <= 1'b0;
    end
  end

  // ---- Step 1: the tags aside. IP's and TCP's words in network order, those behind them 0.
  typedef struct packed {
    logic [FrontBits-1:0] front;
    logic [1:0][31:0] tags;  // with the type behind each
    words_t l3;
    logic v4;
    logic [EntryW-1:0] entry;
    logic able;
    logic [13:0] total;  // IP's length, if the frame has nothing but it
    logic [13:0] payload;
    logic [15:0] csum;
  } found_t;
  typedef logic [1:0][15:0] halves_t;
  function automatic logic [19:0] added(halves_t word);
    return 20'(word[1]) + 20'(word[0]);
  endfunction
  words_t word;
  logic [1:0] tags;
  found_t found, found_q;
  logic found_valid_q;
  always_comb begin
    for (int w = 0; w < Words; w++)
    for (int b = 0; b < 4; b++) word[w][31-8*b-:8] = head.data[FrontBits+32*w+8*b+:8];
    tags = '0;
    if (is_tag({head.data[96+:8], head.data[104+:8]})) tags = is_tag(word[0][15:0]) ? 2'd2 : 2'd1;
    found.front = head.data[FrontBits-1:0];
    found.tags  = '0;
    if (tags != '0) found.tags[0] = word[0];
    if (tags[1]) found.tags[1] = word[1];
    for (int w = 0; w < Words; w++) begin
      found.l3[w] = word[w];
      if (tags == 2'd1) found.l3[w] = w + 1 < Words ? word[(w+1)%Words] : '0;
      if (tags == 2'd2) found.l3[w] = w + 2 < Words ? word[(w+2)%Words] : '0;
      if (5'(w) + 5'(tags) >= kind.data.words) found.l3[w] = '0;
    end
    found.v4 = kind.data.v4;
    found.entry = kind.data.entry;
    found.total = tail.data.len - 14'd14 - {10'd0, tags, 2'b00};
    found.payload = tail.data.len - 14'd14 - {7'd0, kind.data.words, 2'b00};
    found.able = kind.data.words != '0 && !tail.data.err;
    found.csum = csum_q;
  end
  always_ff @(posedge clk_i) begin
    found_valid_q <= all_q && !rst_i;
    if (all_q) found_q <= found;
  end

  // ---- Step 2: what has to be the same, what has to go on, and what decides whether the frame is able.
  typedef struct packed {
    logic [FrontBits-1:0] front;
    logic [1:0][31:0] tags;
    words_t l3;
  } same_t;
  typedef struct packed {
    same_t same;
    logic [31:0] seq;  // of this frame; of an entry what the next one is to have
    logic [15:0] id;
  } entry_t;
  typedef struct packed {
    logic [EntryW-1:0] entry;
    entry_t own;
    entry_t next;
    logic able;
    logic push;
    logic [19:0] ip_sum;
    logic [19:0] tcp_sum;
  } judged_t;
  judged_t judged, judged_q;
  logic judged_valid_q;
  logic [31:0] flags, check;
  always_comb begin
    flags = found_q.v4 ? found_q.l3[8] : found_q.l3[13];
    check = found_q.v4 ? found_q.l3[9] : found_q.l3[14];
    judged.entry = found_q.entry;
    judged.own = '{
        same: '{front: found_q.front, tags: found_q.tags, l3: found_q.l3},
        seq: found_q.v4 ? found_q.l3[6] : found_q.l3[11],
        id: found_q.v4 ? found_q.l3[1][31:16] : '0
    };
    if (found_q.v4) begin
      judged.own.same.l3[0][15:0]  = '0;
      judged.own.same.l3[1][31:16] = '0;
      judged.own.same.l3[2][15:0]  = '0;
      judged.own.same.l3[6]        = '0;
      judged.own.same.l3[8][19]    = 1'b0;
      judged.own.same.l3[9][31:16] = '0;
    end else begin
      judged.own.same.l3[1][31:16]  = '0;
      judged.own.same.l3[11]        = '0;
      judged.own.same.l3[13][19]    = 1'b0;
      judged.own.same.l3[14][31:16] = '0;
    end
    judged.next = judged.own;
    judged.next.seq = judged.own.seq + 32'(found_q.payload);
    if (found_q.v4) judged.next.id = judged.own.id + 1'b1;
    judged.push = flags[19];
    judged.able = found_q.able && found_q.payload != '0 && {flags[23:20], flags[18:16]} == 7'b0001000 &&
        check[31:16] != Right;
    // With the tags' words taken off, and of IPv4 the header, which sums to nothing, the sum is that of TCP but for the pseudo header.
    judged.ip_sum = 20'(Right);
    judged.tcp_sum = 20'(found_q.csum) + added(~found_q.tags[0]) + added(~found_q.tags[1]) + 20'd6;
    if (found_q.v4) begin
      judged.able &= found_q.l3[0][15:0] == 16'(found_q.total) && found_q.l3[1][14] && found_q.l3[2][15:0] != Right;
      judged.ip_sum = '0;
      for (int w = 0; w < 5; w++) judged.ip_sum += added(found_q.l3[w]);
      judged.tcp_sum += added(found_q.l3[3]) + added(found_q.l3[4]) + 20'(found_q.total - 14'd20);
    end else begin
      judged.able &= found_q.l3[1][31:16] == 16'(found_q.total - 14'd40);
      judged.tcp_sum += added(~found_q.l3[0]) + added({16'd0, ~found_q.l3[1][15:0]});
    end
  end
  always_ff @(posedge clk_i) begin
    judged_valid_q <= found_valid_q && !rst_i;
    if (found_valid_q) judged_q <= judged;
  end

  // ---- Step 3: the frame before it out of the table, and this one into it.
  function automatic logic right(logic [19:0] sum);
    return 17'(sum[15:0]) + 17'(sum[19:16]) == 17'(Right);
  endfunction
  entry_t entries[Entries];
  logic [7:0] serials[Entries];
  logic [Entries-1:0] known_q;
  typedef struct packed {
    rx_follow_t told;
    entry_t own;
    entry_t earlier;
  } pair_t;
  pair_t pair_q;
  logic pair_valid_q;
  wire able = judged_q.able && right(judged_q.ip_sum) && right(judged_q.tcp_sum);
  wire enters = judged_valid_q && able;
  wire [7:0] serial = serials[judged_q.entry] + 1'b1;
  always_ff @(posedge clk_i) begin
    pair_valid_q <= judged_valid_q && !rst_i;
    if (judged_valid_q) begin
      pair_q.told <= '{
          able: able,
          follows: able && known_q[judged_q.entry],
          push: judged_q.push,
          serial: serial
      };
      pair_q.own <= judged_q.own;
      pair_q.earlier <= entries[judged_q.entry];
    end
    if (enters) begin
      entries[judged_q.entry] <= judged_q.next;
      serials[judged_q.entry] <= serial;
      known_q[judged_q.entry] <= 1'b1;
    end
    if (lost_i || rst_i) known_q <= '0;
  end

  // ---- Step 4: the two compared, in parts for speed.
  localparam int PartBits = 32;
  localparam int Parts = $bits(entry_t) / PartBits;
  if (Parts * PartBits != $bits(entry_t)) begin : g_parts
    $fatal(1, "rx_follow: an entry is not %0d bits", Parts * PartBits);
  end
  rx_follow_t told_q;
  logic [Parts-1:0] like_q;
  always_ff @(posedge clk_i) begin
    valid_o <= pair_valid_q && !rst_i;
    if (pair_valid_q) begin
      told_q <= pair_q.told;
      for (int p = 0; p < Parts; p++)
      like_q[p] <= pair_q.own[PartBits*p+:PartBits] == pair_q.earlier[PartBits*p+:PartBits];
    end
  end
  always_comb begin
    follow_o = told_q;
    follow_o.follows = told_q.follows && &like_q;
  end

  `ASSERT(AllAreThere, all_q |-> head.valid && kind.valid && tail.valid)
  `ASSERT(HaveRoom, (head_in.valid |-> head_in.ready) and(kind_in.valid |-> kind_in.ready))
  wire unused = &{1'b0, beat_i.data, hash_i, type_i, flags, check, head_in.ready, kind_in.ready, end_in.ready};
endmodule
