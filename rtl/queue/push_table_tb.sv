// SPDX-License-Identifier: Apache-2.0
`include "tb.svh"
/// push_table beside a model that is told the same lines, dequeues and releases: pushes of every length of several queues at once, whole,
/// cut short, out of order, of other interfaces and of queues that there are not; dequeues of the slot that was pushed and of
/// others. What is stored, found and counted is compared in each clock, and at the end everything must have happened.
module push_table_tb
  import queue_pkg::*, pcie_pkg::*;
;
  `TB_BEGIN
  `TB_TIMEOUT(90_000)
  localparam int Queues = 6, Interface = 3, Expiry = 60;

  line_write_t line = '0;
  push_look_t look = '0;
  push_found_t found;
  push_store_t store;
  logic [PushEntries-1:0] release_bits = '0;
  logic dropped;
  push_table #(
      .Queues(Queues),
      .Interface(Interface),
      .Expiry(Expiry)
  ) dut (
      .clk_i(clk),
      .rst_i(rst),
      .line_i(line),
      .look_i(look),
      .found_o(found),
      .store_o(store),
      .release_i(release_bits),
      .dropped_o(dropped)
  );

  // ---- the model
  typedef enum {
    Empty,
    Partial,
    Whole,
    Taken,    // by a dequeue
    Sending
  } stage_e;
  stage_e stage[PushEntries];
  int owner[PushEntries], due[PushEntries], left[PushEntries];
  int unsigned born[PushEntries], now = 0;
  desc_t desc[PushEntries];
  int next_victim = 0;
  line_write_t first_clock, second_clock;
  bit   found_valid = 0;
  int   found_at = 0;
  logic drop_told = 0;
  int unsigned
      begun = 0,
      finds = 0,
      kept_for_engine = 0,
      late = 0,
      replaced = 0,
      refused = 0,
      wrong = 0,
      longest = 0;

  function automatic bit is_open(int e);
    return stage[e] == Partial || stage[e] == Whole;
  endfunction
  function automatic bit is_late(int e);
    return is_open(e) && now - born[e] == Expiry;
  endfunction
  function automatic int pieces_of(desc_t d);
    return d.inlined ? 1 + (int'(d.len) + 15) / 16 : 1;
  endfunction

  always @(posedge clk) begin
    automatic bit ours, takes, spoils, drop;
    automatic int q, number, place;
    automatic desc_t  d;
    automatic stage_e after[PushEntries];
    if (rst) begin
      foreach (stage[e]) stage[e] = Empty;
      {first_clock, second_clock} = '0;
      {found_valid, drop_told} = '0;
      next_victim = 0;
    end else begin
      now++;
      d = second_clock.data[$bits(desc_t)-1:0];
      q = int'(second_clock.line[16:2]);
      number = int'(second_clock.line[1:0]);
      ours = second_clock.valid && second_clock.line[25:17] == 9'(Interface) && q < Queues;
      // Its place: what the queue has, else a free one, else the one that has not been filled for longest, if nobody has found it.
      place = -1;
      foreach (stage[e]) if (place < 0 && is_open(e) && owner[e] == q) place = e;
      spoils = ours && place >= 0;
      if (number == 0) begin
        foreach (stage[e]) if (place < 0 && stage[e] == Empty) place = e;
        if (place < 0 && is_open(next_victim)) place = next_victim;
        takes = ours && place >= 0 && !d.vlan && !d.cut && (!d.inlined || d.len inside {[1:PushBytes]});
        takes = takes && (second_clock.pieces >= 4 || int'(second_clock.pieces) >= pieces_of(d));
      end else
        takes = spoils && stage[place] == Partial && due[place] == number && !is_late(
          place
        ) && (second_clock.pieces >= 4 || int'(second_clock.pieces) >= left[place]);
      spoils = spoils && !takes;

      `CHECK(store.valid == takes, "what is stored")
      if (takes)
        `CHECK(
            int'(store.entry) == place && int'(store.line) == number && store.data == second_clock.data,
            "where it is stored")
      `CHECK(found.valid == found_valid, "what is found")
      if (found_valid)
        `CHECK(int'(found.entry) == found_at && found.desc == desc[found_at], "the wrong push")
      `CHECK(dropped == drop_told, "what is counted")

      drop = ours && !takes;
      refused += 32'(drop);
      after = stage;
      foreach (stage[e]) begin
        if (is_late(e)) begin
          after[e] = Empty;
          drop = 1;
          late++;
        end
        if (release_bits[e]) after[e] = Empty;
      end
      if (look.step && found_valid) begin
        drop |= !look.used;
        after[found_at] = look.used && desc[found_at].inlined ? Sending : Empty;
        kept_for_engine += 32'(after[found_at] == Sending);
      end
      if (look.step) found_valid = 0;
      foreach (stage[e])
      if (look.step && look.valid && is_open(
              e
          ) && owner[e] == int'(look.queue) && !((takes || spoils) && e == place)) begin
        if (stage[e] == Whole && look.single && desc[e].slot == look.index) begin
          after[e] = Taken;
          found_valid = 1;
          found_at = e;
          finds++;
        end else begin
          if (!is_late(e)) after[e] = Empty;
          drop = 1;
          wrong++;
        end
      end
      if (spoils) after[place] = Empty;
      if (takes && number == 0) begin
        if (is_open(place)) begin
          drop = 1;
          replaced++;
        end
        owner[place] = q;
        desc[place]  = d;
        left[place]  = pieces_of(d);
        born[place]  = now + 1;
        next_victim  = (place + 1) % PushEntries;
        begun++;
      end
      if (takes) begin
        if (left[place] == 16) longest += 32'(number == 0);
        after[place] = left[place] <= 4 ? Whole : Partial;
        left[place] -= 4;
        due[place] = (number + 1) % 4;
      end
      stage = after;
      drop_told = drop;
      second_clock = first_clock;
      if (!first_clock.valid) second_clock.valid = 0;
      first_clock = line;
    end
  end

  // ---- what comes
  line_write_t coming[$];  // those of one push in order, between those of others
  logic [15:0] newest[Queues+2] = '{default: 0};
  int unsigned line_percent = 60, step_percent = 50;

  function automatic void push();
    automatic line_write_t l;
    automatic desc_t d = {$urandom, $urandom, $urandom, $urandom};
    automatic int q = $urandom_range(Queues + 1), total, at = $urandom_range(coming.size());
    {d.vlan, d.cut} = '0;
    d.len = 16'($urandom_range(PushBytes, 1));
    if ($urandom_range(9) == 0)
      d.len = $urandom_range(1) == 0 ? 16'(PushBytes) : 16'($urandom_range(PushBytes + 300));
    if ($urandom_range(19) == 0) d.vlan = 1;
    if ($urandom_range(19) == 0) d.cut = 1;
    d.slot = 16'($urandom);
    newest[q] = d.slot;
    total = d.inlined ? 1 + (int'(d.len) + 15) / 16 : 1;
    for (int n = 0; n < 4 && 4 * n < total; n++) begin
      l.valid  = 1;
      l.line   = {9'(Interface), 15'(q), 2'(n)};
      l.pieces = 3'(total - 4 * n > 4 ? 4 : total - 4 * n);
      for (int i = 0; i < 16; i++) l.data[32*i+:32] = $urandom;
      if (n == 0) l.data[$bits(desc_t)-1:0] = d;
      if ($urandom_range(39) == 0) l.line[25:17] = 9'($urandom_range(Interface + 1));
      if ($urandom_range(39) == 0) l.pieces = 3'($urandom_range(4, 1));
      repeat ($urandom_range(
          39
      ) == 0 ? 0 : $urandom_range(
          59
      ) == 0 ? 2 : 1) begin
        coming.insert(at, l);
        at = $urandom_range(coming.size(), at + 1);
      end
    end
  endfunction

  always @(negedge clk) begin
    automatic line_write_t next = '0;
    while (coming.size() < 6) push();
    if (!rst && $urandom_range(99) < line_percent) next = coming.pop_front();
    line = next;
    look.step = !rst && $urandom_range(99) < step_percent;
    look.valid = $urandom_range(9) != 0;
    look.single = $urandom_range(9) != 0;
    look.queue = 16'($urandom_range(Queues + 1));
    look.index = $urandom_range(9) == 0 ? 16'($urandom) : newest[look.queue];
    look.used = $urandom_range(5) != 0;
    foreach (release_bits[e])
    release_bits[e] = !rst && stage[e] == Sending && $urandom_range(9) == 0;
  end

  initial begin
    wait (!rst);
    for (int round = 0; round < 12; round++) begin
      line_percent = round % 3 == 0 ? 100 : round % 3 == 1 ? 40 : 5;
      step_percent = round % 4 == 0 ? 100 : round % 4 == 1 ? 2 : 30;
      repeat (4000) @(posedge clk);
    end
    `CHECK(begun > 1000 && finds > 200 && kept_for_engine > 50, "too few were found")
    `CHECK(late > 20 && replaced > 100 && refused > 500 && wrong > 100 && longest > 10,
           "too little went wrong")
    `TB_PASS
  end
endmodule
