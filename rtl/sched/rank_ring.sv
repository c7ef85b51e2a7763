// SPDX-License-Identifier: Apache-2.0
`include "assert.svh"
/// An ordered list of queues by rank: what is pushed in anywhere comes out smallest first (PIEO, SIGCOMM 2019; integer buckets and a
/// tree of bitmaps as Eiffel, NSDI 2019). A queue is in it at the most once.
///
/// A rank is a class, the smallest first, and in it a place on a ring of 2^(`LogWords` + `LogBits`): of each class the order begins with
/// word `first_i`, that is with the place {`first_i`, 0}, and goes around once; nothing inside may come to lie before it. Queues of one place are a linked list,
/// first in first out; heads and tails are a RAM of places, links a RAM of a word a queue, and which places have queues one bit each in RAM and a bit a word in
/// flip-flops. The list of the smallest rank is taken out whole and handed out queue by queue; where a smaller rank comes, it is put back first.
/// A push a clock, which may not be refused; lists are taken and put back in clocks without. `some_o`: `head_o` can be taken with
/// `pop_i`, the next one of its list two clocks later, of another list `Late` clocks later or less; its rank is on `class_o` and `place_o`, and has been for two clocks. The
/// order is that of all queues that have been inside for `Late` clocks without a push in the last ones, those pushed since may be left out. After reset no
/// queue is inside; this takes as many clocks as there are places, until `ready_o`: no push before.
module rank_ring #(
    parameter  int Queues   = 256,
    parameter  int Classes  = 8,
    parameter  int LogWords = 5,
    parameter  int LogBits  = 5,
    localparam int IndexW   = $clog2(Queues),
    localparam int ClassW   = Classes > 1 ? $clog2(Classes) : 1,
    localparam int PlaceW   = LogWords + LogBits
) (
    input  logic                             clk_i,
    input  logic                             rst_i,
    output logic                             ready_o,
    input  logic [Classes-1:0][LogWords-1:0] first_i,
    input  logic                             push_i,
    input  logic [ ClassW-1:0]               push_class_i,
    input  logic [ PlaceW-1:0]               push_place_i,
    input  logic [ IndexW-1:0]               push_queue_i,
    output logic                             some_o,
    output logic [ ClassW-1:0]               class_o,
    output logic [ PlaceW-1:0]               place_o,
    output logic [ IndexW-1:0]               head_o,
    input  logic                             pop_i
);
  localparam int Words = 2 ** LogWords, Bits = 2 ** LogBits;
  localparam int Effect = 8;  // clocks from the taking of a list to when the search no longer finds it
  localparam int Steady = 2;  // clocks from a new list to its first queue
  typedef logic [IndexW-1:0] index_t;
  typedef logic [LogWords-1:0] word_t;
  typedef struct packed {
    logic [ClassW-1:0]  cls;
    word_t              word;
    logic [LogBits-1:0] bit_;
  } rank_t;
  typedef struct packed {
    logic   some;
    index_t head;
    index_t tail;
  } list_t;
  typedef enum logic [1:0] {
    Nothing,
    Push,
    Take,
    Back
  } op_e;
  typedef struct packed {
    op_e    op;
    rank_t  rank;
    index_t queue;
  } op_t;

  // ---- Places: an operation each clock, two clocks later its effect.
  op_t op, op_q[1:2];
  rank_t found_q, new_q, choice_q, taken_q, active_q;
  logic take, back, lists_ready, bits_ready;
  always_comb begin
    op = '{op: Nothing, rank: active_q, queue: push_queue_i};
    if (push_i) begin
      op.op   = Push;
      op.rank = {push_class_i, push_place_i};
    end else if (back) op.op = Back;
    else if (take) begin
      op.op   = Take;
      op.rank = choice_q;
    end
  end
  list_t list, list_next;
  logic [Bits-1:0] bits, bits_next;
  rmw_ram #(
      .T(list_t),
      .Depth(Classes * Words * Bits)
  ) i_lists (
      .clk_i,
      .rst_i,
      .ready_o(lists_ready),
      .start_i(op.op != Nothing),
      .index_i(op.rank),
      .now_o  (list),
      .next_i (list_next)
  );
  rmw_ram #(
      .T(logic [Bits-1:0]),
      .Depth(Classes * Words)
  ) i_bits (
      .clk_i,
      .rst_i,
      .ready_o(bits_ready),
      .start_i(op.op != Nothing),
      .index_i({op.rank.cls, op.rank.word}),
      .now_o  (bits),
      .next_i (bits_next)
  );
  assign ready_o = lists_ready && bits_ready;

  // The list that is handed out. `moving`: the head after the one taken is being read.
  logic some_q, moving_q;
  index_t head_q, tail_q, next_head;
  always_comb begin
    unique case (op_q[2].op)
      Push:
      list_next = '{
          some: 1'b1,
          head: list.some ? list.head : op_q[2].queue,
          tail: op_q[2].queue
      };
      Back: list_next = '{some: 1'b1, head: head_q, tail: list.some ? list.tail : tail_q};
      Take: list_next = '0;
      default: list_next = list;
    endcase
    bits_next = bits;
    bits_next[op_q[2].rank.bit_] = list_next.some;
  end
  ram_sdp #(
      .Width(IndexW),
      .Depth(Queues)
  ) i_links (
      .clk_i,
      .we_i   (op_q[2].op inside {Push, Back} && list.some),
      .waddr_i(op_q[2].op == Push ? list.tail : tail_q),
      .wdata_i(op_q[2].op == Push ? op_q[2].queue : list.head),
      .re_i   (pop_i),
      .raddr_i(head_q),
      .rdata_o(next_head)
  );

  // ---- The smallest rank, always searched for: the class, the words from the first one on, the word, the bit.
  logic [Classes-1:0][Words-1:0] word_some_q;
  logic [Classes-1:0] class_some_q;
  logic [5:1] search_q;
  logic [4:1][ClassW-1:0] class_q;
  word_t [3:1] first_q;
  word_t word_q, word_4_q, after_q;
  logic [Words-1:0] words_q, words_2_q, later_q;
  logic [Bits-1:0] word_bits;
  logic [PlaceW-1:0] found_order_q, new_order_q, order_q;  // places, counted from the first one
  logic [ClassW-1:0] lowest;
  word_t lowest_word;
  logic [LogBits-1:0] lowest_bit;
  wire [Words-1:0] words = later_q != '0 ? later_q : words_2_q;
  always_comb begin
    lowest = '0;
    for (int i = Classes - 1; i >= 0; i--) if (class_some_q[i]) lowest = ClassW'(i);
    lowest_word = '0;
    for (int i = Words - 1; i >= 0; i--) if (words[i]) lowest_word = word_t'(i);
    lowest_bit = '0;
    for (int i = Bits - 1; i >= 0; i--) if (word_bits[i]) lowest_bit = LogBits'(i);
  end
  ram_sdp #(
      .Width(Bits),
      .Depth(Classes * Words)
  ) i_bits_copy (
      .clk_i,
      .we_i   (op_q[2].op != Nothing),
      .waddr_i({op_q[2].rank.cls, op_q[2].rank.word}),
      .wdata_i(bits_next),
      .re_i   (search_q[3]),
      .raddr_i({class_q[3], word_q}),
      .rdata_o(word_bits)
  );

  // ---- A list is taken when there is none, or one of a smaller rank than that: found, or just pushed. One of those, a clock before.
  // What was taken last is found for some clocks yet, and hides what comes behind it.
  logic busy_q, taking_q, new_valid_q, better_q;
  logic [$clog2(Effect+1)-1:0] effect_q, new_age_q;
  logic [$clog2(Steady+1)-1:0] steady_q;
  wire rank_t pushed = {push_class_i, push_place_i};
  wire [PlaceW-1:0] push_order = {pushed.word - first_i[push_class_i], pushed.bit_};
  wire hidden = effect_q != '0 && (!search_q[5] || found_q == taken_q);
  wire found = search_q[5] && !hidden;
  wire known = steady_q <= 1;  // order_q
  wire found_better = found && (!some_q || (known && {found_q.cls, found_order_q} < {active_q.cls, order_q}));
  wire new_better = new_valid_q && (some_q ? known && {new_q.cls, new_order_q} < {active_q.cls, order_q} : !hidden);
  wire new_first = new_valid_q && {new_q.cls, new_order_q} <= {found_q.cls, found_order_q};
  wire choose = better_q && !busy_q && !moving_q && !(some_q && push_i);
  assign some_o = some_q && !moving_q && !busy_q && steady_q == '0 && !better_q;
  assign head_o = head_q;
  assign {class_o, place_o} = active_q;
  assign back = choose && some_q;
  assign take = taking_q && !push_i;
  wire last = pop_i && head_q == tail_q;

  always_ff @(posedge clk_i) begin
    op_q[1] <= op;
    op_q[2] <= op_q[1];

    if (op_q[2].op != Nothing) word_some_q[op_q[2].rank.cls][op_q[2].rank.word] <= bits_next != '0;
    for (int i = 0; i < Classes; i++) class_some_q[i] <= word_some_q[i] != '0;
    search_q <= {
      search_q[4] && word_bits != '0,
      search_q[3],
      search_q[2],
      search_q[1] && words_q != '0,
      class_some_q != '0
    };
    class_q <= {class_q[3:1], lowest};
    first_q <= {first_q[2:1], first_i[lowest]};
    words_q <= word_some_q[lowest];
    words_2_q <= words_q;
    later_q <= words_q & ('1 << first_q[1]);
    word_q <= lowest_word;
    word_4_q <= word_q;
    after_q <= word_q - first_q[3];
    found_q <= {class_q[4], word_4_q, lowest_bit};
    found_order_q <= {after_q, lowest_bit};
    order_q <= {active_q.word - first_i[active_q.cls], active_q.bit_};
    // A new one is found later than this: the smallest of these.
    new_age_q <= new_age_q - 1'b1;
    if (new_age_q == '0 || (choose && new_q == choice_q)) new_valid_q <= 1'b0;
    if (push_i && (!new_valid_q || {push_class_i, push_order} < {new_q.cls, new_order_q})) begin
      new_valid_q <= 1'b1;
      new_age_q <= ($bits(new_age_q))'(Effect);
      new_q <= pushed;
      new_order_q <= push_order;
    end
    if (effect_q != '0) effect_q <= effect_q - 1'b1;
    if (steady_q != '0) steady_q <= steady_q - 1'b1;
    better_q <= (found_better || new_better) && !busy_q;
    if (!busy_q && !choose)
      choice_q <= found_better && !(new_better && new_first) ? found_q : new_q;
    if (choose) begin
      busy_q   <= 1'b1;
      taking_q <= 1'b1;
      taken_q  <= choice_q;
    end
    if (take) begin
      taking_q <= 1'b0;
      effect_q <= ($bits(effect_q))'(Effect);
    end

    moving_q <= pop_i && !last;
    if (moving_q) head_q <= next_head;
    if (last) some_q <= 1'b0;
    if (op_q[2].op == Take) begin
      busy_q   <= 1'b0;
      some_q   <= list.some;
      head_q   <= list.head;
      tail_q   <= list.tail;
      active_q <= op_q[2].rank;
      steady_q <= ($bits(steady_q))'(Steady);
    end
    if (rst_i) begin
      op_q[1] <= '0;
      op_q[2] <= '0;
      word_some_q <= '0;
      search_q <= '0;
      some_q <= 1'b0;
      moving_q <= 1'b0;
      busy_q <= 1'b0;
      better_q <= 1'b0;
      new_valid_q <= 1'b0;
      taking_q <= 1'b0;
      effect_q <= '0;
      steady_q <= '0;
    end
  end

  `ASSERT(TakesWhatIs, pop_i |-> some_o)
  `ASSERT(Stays, some_o && !pop_i |=> some_o || better_q)
  `ASSERT(PushedWhenReady, push_i |-> ready_o)
endmodule
