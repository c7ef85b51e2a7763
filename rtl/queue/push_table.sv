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
/// One line and one dequeue a clock. Reset forgets everything.
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
    // High a clock for each push that came to nothing.
    output logic                                    dropped_o
);
  localparam int AgeW = $clog2(Expiry + 1);

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
  logic [1:0] next_line_q[PushEntries];
  logic [AgeW-1:0] age_q[PushEntries];
  push_entry_t victim_q;

  // The line: whose it is, and whether it is the one that is due.
  pcie_pkg::line_write_t line_q;
  wire queue_t queue = {1'b0, line_q.line[16:2]};
  wire [1:0] number = line_q.line[1:0];
  wire mine = line_q.valid && line_q.line[25:17] == 9'(Interface) && 32'(queue) < Queues;
  desc_t head;
  assign head = line_q.data[$bits(desc_t)-1:0];
  wire begins = number == '0;
  wire fits = !head.vlan && !head.cut && (!head.inlined || (head.len != '0 && head.len <= 16'(PushBytes)));

  logic [PushEntries-1:0] own, idle, open, expired;
  for (genvar i = 0; i < PushEntries; i++) begin : g_entry
    assign open[i] = state_q[i] inside {Filling, Ready};
    assign idle[i] = state_q[i] == Free;
    assign own[i] = open[i] && queue_q[i] == queue;
    assign expired[i] = open[i] && age_q[i] == AgeW'(Expiry);
  end

  /// The lowest that is set.
  function automatic push_entry_t lowest(logic [PushEntries-1:0] bits);
    lowest = '0;
    for (int i = PushEntries - 1; i >= 0; i--) if (bits[i]) lowest = push_entry_t'(i);
  endfunction

  push_entry_t place;
  assign place = own != '0 ? lowest(own) : idle != '0 ? lowest(idle) : victim_q;
  wire desc_t desc = begins ? head : desc_q[place];
  // Pieces with the descriptor, and how many of them this line has to bring.
  wire [4:0] pieces = desc.inlined ? 5'((desc.len[8:0] + 9'd31) >> 4) : 5'd1;
  wire [4:0] pieces_left = pieces - {1'b0, number, 2'b00};
  wire last_line = pieces_left <= 5'd4;
  wire enough = 5'(line_q.pieces) >= (last_line ? pieces_left : 5'd4);
  wire due = begins ? fits : own != '0 && state_q[place] == Filling && next_line_q[place] == number && !expired[place];
  wire may = begins ? own != '0 || idle != '0 || open[victim_q] : own != '0;
  wire keep = mine && may && due && enough;
  wire lose = mine && own != '0 && !keep;  // what was there is no longer whole

  // The dequeue. An entry that a line changes in this clock is not found.
  logic [PushEntries-1:0] seen;
  always_comb begin
    for (int i = 0; i < PushEntries; i++)
    seen[i] = look_i.step && look_i.valid && open[i] && queue_q[i] == look_i.queue &&
        !((keep || lose) && place == push_entry_t'(i));
  end
  wire push_entry_t seen_at = lowest(seen);
  wire match = seen != '0 && state_q[seen_at] == Ready && look_i.single && desc_q[seen_at].slot == look_i.index;

  push_entry_t found_q;
  logic found_valid_q;
  assign found_o = '{valid: found_valid_q, entry: found_q, desc: desc_q[found_q]};

  always_ff @(posedge clk_i) begin
    line_q <= line_i;
    store_o <= '{valid: keep, entry: place, line: number, data: line_q.data};
    dropped_o <= (mine && !keep) || (keep && begins && open[place]) || (seen != '0 && !match) ||
        (look_i.step && found_valid_q && !look_i.used) || expired != '0;

    for (int i = 0; i < PushEntries; i++) begin
      age_q[i] <= age_q[i] + 1'b1;
      if (expired[i] || (seen[i] && !match)) state_q[i] <= Free;
      if (release_i[i]) state_q[i] <= Free;
    end
    if (look_i.step) begin
      found_valid_q <= match;
      found_q <= seen_at;
      if (found_valid_q) state_q[found_q] <= look_i.used && desc_q[found_q].inlined ? Held : Free;
      if (match) state_q[seen_at] <= Claimed;
    end
    if (lose) state_q[place] <= Free;
    if (keep) begin
      state_q[place] <= last_line ? Ready : Filling;
      next_line_q[place] <= number + 2'd1;
      if (begins) begin
        queue_q[place] <= queue;
        desc_q[place] <= head;
        age_q[place] <= '0;
        victim_q <= place + 1'b1;
      end
    end
    if (rst_i) begin
      for (int i = 0; i < PushEntries; i++) state_q[i] <= Free;
      line_q.valid <= 1'b0;
      store_o.valid <= 1'b0;
      found_valid_q <= 1'b0;
      dropped_o <= 1'b0;
      victim_q <= '0;
    end
  end

  for (genvar i = 0; i < PushEntries; i++) begin : g_assert
    `ASSERT(ReleasedWasHeld, release_i[i] |-> state_q[i] == Held)
  end
  `ASSERT(OneOfAQueue, $onehot0(own) && $onehot0(seen))
  `ASSERT(FoundIsClaimed, found_valid_q |-> state_q[found_q] == Claimed)
endmodule
