// SPDX-License-Identifier: Apache-2.0
`include "parts_tb.svh"
`include "tb.svh"
/// cap_links against what its contract says, with all that it is asked by chance and queues that are often equal: which link can take
/// the record, which gets the next block, which block is moved, and who has one.
module cap_links_tb;
  import cap_pkg::*;
  `TB_BEGIN
  `TB_TIMEOUT(100_000)
  localparam int PageW = 8;
  localparam int Spare = 3;  // pages that are kept

  typedef struct packed {
    logic [QueuedW-1:0] margin;
    logic advance;
    logic [LenW-1:0] record;
    logic [LenW-1:0] next_record;
    logic [MaxLinks-1:0] ok;
    logic [MaxLinks-1:0] space;
    logic [MaxLinks-1:0][PageIdW:0] pages;
    logic [MaxLinks-1:0][QueuedW-1:0] queued;
  } asked_t;
  asked_t now = '0, was = '0, first = '0;  // in this clock, in the one before, and before that
  logic open = 0, close = 0, link = 0, choice;
  logic [MaxLinks-1:0] can, move, opened, using;
  cap_links #(
      .PageW(PageW)
  ) dut (
      .clk_i(clk),
      .rst_i(rst),
      .switch_margin_i(now.margin),
      .advance_i(now.advance),
      .record_i(now.record),
      .next_record_i(now.next_record),
      .ok_i(now.ok),
      .space_i(now.space),
      .pages_i(now.pages),
      .queued_i(now.queued),
      .can_o(can),
      .move_o(move),
      .choice_o(choice),
      .open_i(open),
      .close_i(close),
      .link_i(link),
      .opened_o(opened),
      .using_o(using)
  );

  // A link takes a record when it has the pages that this one may fill, and some to spare.
  function automatic bit takes(int l, asked_t a, asked_t earlier);
    int record = int'(a.advance ? a.next_record : a.record);
    return a.ok[l] && a.space[l] && int'(earlier.pages[l]) > Spare + (record >> PageW);
  endfunction
  int blocks[2] = '{0, 0}, last = 1, turns = 0, moves = 0;
  bit opened_before = 0;
  int least;
  bit much;
  task automatic clock();
    int record = $urandom_range((Spare + 5) << PageW, 64);
    @(posedge clk);
    #1;
    // The clock that has passed.
    opened_before = open;
    if (open) last = least;
    if (open) blocks[least]++;
    if (close) blocks[link]--;
    {first, was} = {was, now};
    now = random_value#(asked_t)::bits();
    now.record = LenW'($urandom_range((Spare + 5) << PageW, 64));
    now.next_record = LenW'(record);
    much = $urandom_range(3) == 0;
    now.margin = QueuedW'($urandom_range(much ? 16383 : 3));
    if ($urandom_range(3) != 0) {now.ok, now.space} = '1;
    for (int l = 0; l < MaxLinks; l++) begin
      now.pages[l]  = (PageIdW + 1)'($urandom_range(much ? 2 ** PageIdW : Spare + 8));
      now.queued[l] = QueuedW'($urandom_range(much ? 30_000 : 9));
    end
    if ($urandom_range(1) == 1) now.queued[1] = now.queued[0];
    #1;
    for (int l = 0; l < MaxLinks; l++) begin
      `CHECK(can[l] == takes(l, was, first), "can take the record")
      `CHECK(move[l] == (takes(1 - l, was, first
             ) && int'(was.queued[1-l]) < 4 * int'(was.margin) &&
                 int'(was.queued[l]) > int'(was.queued[1-l]) + int'(was.margin)),
             "a block is to move")
      `CHECK(using[l] == (blocks[l] != 0), "who has a block")
      `CHECK(opened[l] == (opened_before && last == l), "who got a block")
      moves += int'(move[l]);
    end
    // The one with less work, in turns where it is the same; the other one where it cannot.
    least = was.queued[0] < was.queued[1] ? 0 : was.queued[0] > was.queued[1] ? 1 : 1 - last;
    if (was.queued[0] == was.queued[1]) turns++;
    if (!can[least]) least = 1 - least;
    `CHECK(int'(choice) == least, "whose the next block is")
    open  = can[choice] && blocks[least] < 2 ** RingW && $urandom_range(1) == 0;
    link  = 1'($urandom());
    close = blocks[link] != 0 && $urandom_range(1) == 0;
  endtask

  initial begin
    @(negedge rst);
    @(posedge clk);
    #1;
    was = now;
    repeat (20_000) clock();
    `CHECK(turns > 1000 && moves > 500, "there were turns and moves")
    `TB_PASS
  end
endmodule
