// SPDX-License-Identifier: Apache-2.0
`include "assert.svh"
`include "stream.svh"
/// Descriptors, and short packets with them, that the CPU has written to the device itself: they spare an idle queue the reads.
///
/// Each queue has a window of four lines of 64 bytes (`line_i`; queue q of interface `Interface` has the lines 4 (q + 32768 Interface)
/// on). Piece 0 of line 0 is the descriptor, as it stands in the ring, with its `slot`; where that is `inlined` the packet
/// follows at once, its lines written in order. `PushEntries` are kept, a queue has one. When a dequeue hands out (`look_i`) that
/// very slot of that queue, alone, the entry is `found_o` a clock later; if it is used and has a packet it stays, for the engine, until
/// `release_i`. An entry is never found twice and never late: any other dequeue of its queue, a new push for it, the need of
/// its place, a descriptor that is there already, or `Expiry` clocks end it, and a push that does not fit in form or finds no place is not kept; all are counted
/// by `dropped_o`, and the descriptor is then read as ever. So what a window is given harms its own queue at the most. A queue that
/// is set up anew must not have been pushed to for `Expiry` clocks.
/// One line and one dequeue a clock; a line counts from the clock behind the one after it came. Reset forgets everything.
module push_table
  import queue_pkg::*;
#(
    parameter int Queues = 256,
    parameter int Interface = 0,
    parameter int Expiry = 255
) (
    input  logic                                    clk_i,
    input  logic                                    rst_i,
    input  pcie_pkg::line_write_t                   line_i,
    // Descriptor fetch.
    input  push_look_t                              look_i,
    output push_found_t                             found_o,
    // Engines: what to store, and which entries they are done with.
    output push_store_t                             store_o,
    input  logic                  [PushEntries-1:0] release_i,
    // High a clock for each push, and each line without one, that came to nothing.
    output logic                                    dropped_o
);
  localparam int AgeW = $clog2(Expiry + 1);
  localparam logic [AgeW:0] Young = (AgeW + 1)'(2 ** AgeW - Expiry);  // `Expiry` clocks before the first bit

  typedef enum logic [2:0] {
    Free,
    Filling,  // lines are still to come
    Ready,
    Claimed,  // found by descriptor fetch
    Held      // an engine has yet to send the packet
  } state_e;

  state_e state_q[PushEntries];
  queue_t queue_q[PushEntries];
  desc_t desc_q[PushEntries];
  logic [15:0] slot_q[PushEntries];  // of it
  logic [1:0] next_line_q[PushEntries];
  logic [4:0] left_q[PushEntries];  // pieces still to come
  logic [AgeW:0] age_q[PushEntries];
  push_entry_t victim_q;

  // A line's first clock: whose it is, and what a descriptor in it asks for: pieces with it.
  pcie_pkg::line_write_t line_q;
  wire queue_t line_queue = {1'b0, line_q.line[16:2]};
  desc_t head;
  assign head = line_q.data[$bits(desc_t)-1:0];
  wire fits = !head.vlan && !head.cut && (!head.inlined || (head.len != '0 && head.len <= 16'(PushBytes)));
  wire [4:0] pieces = head.inlined ? 5'((head.len[8:0] + 9'd31) >> 4) : 5'd1;

  /// Whether a line that has `got` pieces brings what it has to, of `left`.
  function automatic logic enough(logic [2:0] got, logic [4:0] left);
    return got[2] || 5'(got) >= left;
  endfunction

  // Its second clock: whether it is the one that is due. An entry's queue was compared before the line in front of this one was stored.
  logic mine, begins, whole_q, same_q;
  logic [1:0] number_q;
  queue_t queue_at_q;
  logic [2:0] got_q;
  logic [4:0] pieces_q;
  logic [511:0] data_q;
  logic [PushEntries-1:0] hit_q, begun_q;
  logic [PushEntries-1:0] own, idle, open, expired, due;
  for (genvar i = 0; i < PushEntries; i++) begin : g_entry
    assign open[i] = state_q[i] inside {Filling, Ready};
    assign idle[i] = state_q[i] == Free;
    assign own[i] = open[i] && (begun_q[i] ? same_q : hit_q[i]);
    assign expired[i] = open[i] && age_q[i][AgeW];
    assign due[i] = state_q[i] == Filling && next_line_q[i] == number_q && !expired[i] && enough(
        got_q, left_q[i]
    );
  end

  /// The lowest that is set.
  function automatic push_entry_t lowest(logic [PushEntries-1:0] bits);
    lowest = '0;
    for (int i = PushEntries - 1; i >= 0; i--) if (bits[i]) lowest = push_entry_t'(i);
  endfunction

  push_entry_t place;
  assign place = own != '0 ? lowest(own) : idle != '0 ? lowest(idle) : victim_q;
  wire [4:0] left = begins ? pieces_q : left_q[place];
  wire last_line = left <= 5'd4;
  wire may = own != '0 || idle != '0 || open[victim_q];
  wire keep = mine && (begins ? whole_q && may : (own & due) != '0);
  wire lose = mine && own != '0 && !keep;  // what was there is no longer whole
  assign store_o = '{valid: keep, entry: place, line: number_q, data: data_q};

  desc_t stored;
  assign stored = data_q[$bits(desc_t)-1:0];

  // The dequeue. An entry that a line changes in this clock is not found: its queue's, kept or lost, or the one that makes room.
  wire makes_room = mine && begins && whole_q && own == '0 && idle == '0;
  logic [PushEntries-1:0] looked, seen, right;
  always_comb begin
    for (int i = 0; i < PushEntries; i++) begin
      looked[i] = look_i.valid && open[i] && queue_q[i] == look_i.queue && !(mine && own[i]) &&
          !(makes_room && victim_q == push_entry_t'(i));
      right[i] = state_q[i] == Ready && look_i.single && slot_q[i] == look_i.index;
    end
    seen = look_i.step ? looked : '0;
  end
  wire match = (looked & right) != '0;

  push_entry_t found_q;
  logic found_valid_q;
  assign found_o = '{valid: found_valid_q, entry: found_q, desc: desc_q[found_q]};

  always_ff @(posedge clk_i) begin
    line_q.valid <= line_i.valid;
    if (line_i.valid) line_q <= line_i;
    mine <= line_q.valid && line_q.line[25:17] == 9'(Interface) && 32'(line_queue) < Queues;
    if (line_q.valid) begin
      begins <= line_q.line[1:0] == '0;
      number_q <= line_q.line[1:0];
      queue_at_q <= line_queue;
      got_q <= line_q.pieces;
      whole_q <= fits && enough(line_q.pieces, pieces);
      pieces_q <= pieces;
      data_q <= line_q.data;
      same_q <= line_queue == queue_at_q;
      for (int i = 0; i < PushEntries; i++) hit_q[i] <= queue_q[i] == line_queue;
    end
    for (int i = 0; i < PushEntries; i++) begun_q[i] <= keep && begins && place == push_entry_t'(i);

    dropped_o <= (mine && (begins ? !whole_q || own != '0 || idle == '0 : !keep)) || (seen & ~right) != '0 ||
        (look_i.step && found_valid_q && !look_i.used) || expired != '0;

    for (int i = 0; i < PushEntries; i++) begin
      age_q[i] <= age_q[i] + 1'b1;
      if (expired[i] || (seen[i] && !right[i])) state_q[i] <= Free;
      if (release_i[i]) state_q[i] <= Free;
      if (look_i.step && found_valid_q && found_q == push_entry_t'(i))
        state_q[i] <= look_i.used && found_o.desc.inlined ? Held : Free;
      if (seen[i] && right[i]) state_q[i] <= Claimed;
    end
    if (look_i.step) begin
      found_valid_q <= match;
      found_q <= lowest(looked);
    end
    if (lose) state_q[place] <= Free;
    if (keep) begin
      state_q[place] <= last_line ? Ready : Filling;
      next_line_q[place] <= number_q + 2'd1;
      left_q[place] <= left - 5'd4;
      if (begins) begin
        queue_q[place] <= queue_at_q;
        desc_q[place] <= stored;
        slot_q[place] <= stored.slot;
        age_q[place] <= Young;
        victim_q <= place + 1'b1;
      end
    end
    if (rst_i) begin
      for (int i = 0; i < PushEntries; i++) state_q[i] <= Free;
      line_q.valid <= 1'b0;
      mine <= 1'b0;
      begun_q <= '0;
      found_valid_q <= 1'b0;
      dropped_o <= 1'b0;
      victim_q <= '0;
    end
  end

  for (genvar i = 0; i < PushEntries; i++) begin : g_assert
    `ASSERT(ReleasedWasHeld, release_i[i] |-> state_q[i] == Held)
  end
  `ASSERT(OneOfAQueue, (!mine || $onehot0(own)) && $onehot0(seen))
  `ASSERT(FoundIsClaimed, found_valid_q |-> state_q[found_q] == Claimed)
endmodule
