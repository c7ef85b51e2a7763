// SPDX-License-Identifier: Apache-2.0
`include "parts_tb.svh"
`include "tb.svh"
`include "stream.svh"
/// rx_coalesce: every frame in order, and each entry that leaves has its reason, worked out from those that left before it; ages,
/// switching off, queues that share an aggregate, lost frames; one frame a clock. With functions none closes another's, and one that is reset has
/// none open any more.
module rx_coalesce_tb #(
    parameter int Functions = 1,
    parameter int Queues = 65536
);
  import engine_pkg::*, queue_pkg::*, eth_pkg::*;
  `TB_BEGIN
  `TB_TIMEOUT(400_000)
  localparam int Flows = 12, Least = 256, Each = Queues / Functions, Places = aggregates_of(
      Functions
  );

  `STREAM_ON(rx_meta_t, in, clk, rst)
  `STREAM_ON(rx_meta_t, out, clk, rst)
  rx_coalesce_t settings = '{bytes: 14'd16383, clocks: 16'hffff};
  logic hold = 0, joined;
  pcie_pkg::functions_t resets = '0;
  rx_slotless_t slotless = '0;
  rx_coalesce #(
      .Functions(Functions),
      .Queues(Queues),
      .LeastPayload(Least)
  ) dut (
      .clk_i(clk),
      .rst_i(rst),
      .settings_i(settings),
      .hold_i(hold),
      .reset_i(resets),
      .slotless_i(slotless),
      .in,
      .out,
      .joined_o(joined)
  );
  int unsigned in_percent = 100, out_percent = 100;
  `STREAM_SOURCE(rx_meta_t, i_in, in, in_percent)
  `STREAM_SINK(rx_meta_t, i_out, out, out_percent)

  // ---- Frames.
  logic [7:0] serial[Flows];
  int unsigned mss[Flows];
  queue_t queues[Flows];
  rx_meta_t sent[$];
  // `plain`: as the one before, so that they join one behind the other.
  task automatic frame(int unsigned flow, int unsigned loss, bit plain = 0);
    rx_meta_t m = '0;
    int unsigned payload = mss[flow];
    if (!plain && $urandom_range(9) == 0) payload = $urandom_range(mss[flow], 1);
    if (!plain && $urandom_range(40) == 0) payload = mss[flow] + 1;
    m.queue = queues[flow];
    m.addr = 20'($urandom());
    m.info.stamp = 48'({$urandom(), $urandom()});
    m.info.hash = !plain && $urandom_range(60) == 0 ? 32'($urandom()) : 32'(flow);
    m.info.stripped = !plain && $urandom_range(60) == 0 ? 2'd1 : 2'd0;
    m.info.hash_type = 4'd5;
    m.info.csum = 16'($urandom());
    m.info.header = 5'($urandom_range(20, 10));
    m.info.follow.able = plain || $urandom_range(30) != 0;
    m.info.follow.follows = m.info.follow.able && (plain || $urandom_range(20) != 0);
    m.info.follow.push = !plain && $urandom_range(20) == 0;
    if (m.info.follow.able) serial[flow]++;
    m.info.follow.serial = serial[flow];
    m.len = 14'(14 + 4 * m.info.header + payload);
    if ($urandom_range(99) < loss) return;
    i_in.queue.push_back(m);
    sent.push_back(m);
  endtask

  // Places, in the words of the contract: so many of each function, one function's behind the other's.
  function automatic int function_of(queue_t queue);
    return 32'(queue) / Each;
  endfunction
  function automatic int place_of(queue_t queue);
    return Places / Functions * function_of(queue) + 32'(queue) % Each % (Places / Functions);
  endfunction
  function automatic queue_t random_queue(int unsigned low);
    return 16'(($urandom_range(3) * Places + low) % Each + $urandom_range(Functions - 1) * Each);
  endfunction

  // ---- What leaves, against what left.
  typedef struct {
    bit open;
    bit ended;
    queue_t queue;
    rx_meta_t first;
    rx_follow_t last;
    int unsigned len;
    int unsigned mss;
    int unsigned frames;
    int unsigned since;
  } group_t;
  group_t groups[Places];
  int unsigned
      now = 0,
      opens = 0,
      follows = 0,
      closes = 0,
      lonely = 0,
      biggest = 0,
      joins = 0,
      frames_out = 0,
      reset_closes = 0,
      others_open = 0,
      doomed_closes = 0,
      reasons[4];
  bit aged = 0;  // aggregates may close unasked
  int unsigned doomed[Places];  // said to have no slot, then; 0: is not
  bit hinted[Places];  // or what was in its place a moment ago: any may close until the round ends
  int unsigned dooms = 0;  // one in so many clocks; 0: never
  int doom_at = -1;  // the place of which it is said in this clock
  int unsigned reset_since[Functions];  // 0: is not in reset
  int edge_at = -1;  // a function whose reset begins or ends with frames under way: they are judged either way
  int accused = -1;  // closed, and the frame behind has to say why
  int unsigned open_clocks = 0;
  rx_meta_t accused_first;

  function automatic int unsigned payload_of(rx_meta_t m);
    return 32'(m.len) - 14 - 4 * 32'(m.info.header);
  endfunction
  function automatic bit may_join(group_t g, rx_meta_t m);
    return g.queue == m.queue && m.info.follow.follows && m.info.hash == g.first.info.hash &&
        m.info.stripped == g.first.info.stripped && m.info.follow.serial == 8'(g.last.serial + 1) &&
        payload_of(m) <= g.mss && g.len + payload_of(m) <= 32'(settings.bytes);
  endfunction
  function automatic bit may_open(rx_meta_t m);
    return m.info.follow.able && !m.info.follow.push && payload_of(m) >= Least &&
        32'(m.len) + payload_of(m) <= 32'(settings.bytes);
  endfunction

  function automatic int open_of(int f);
    open_of = 0;
    foreach (groups[i]) open_of += 32'(groups[i].open && function_of(groups[i].queue) == f);
  endfunction

  group_t closed;
  always @(posedge clk) begin
    now++;
    if (!rst && joined) joins++;
    open_clocks = out_percent == 100 ? open_clocks + 1 : 0;
    for (int i = 0; i < Places; i++)
    if (!rst && open_clocks > 4 * Places && groups[i].open && settings.clocks < 16'd60000)
      `CHECK(now - groups[i].since <= 32'(settings.clocks) + 3 * Places + 10, "too old")
    slotless <= '{
        valid: doom_at >= 0 || (dooms != 0 && $urandom_range(dooms) == 0),
        aggregate: aggregate_t'(doom_at >= 0 ? doom_at : $urandom_range(Places - 1))
    };
    if (slotless.valid && !rst) begin
      hinted[slotless.aggregate] = 1;
      if (groups[slotless.aggregate].open && doomed[slotless.aggregate] == 0)
        doomed[slotless.aggregate] = now;
    end
    for (int i = 0; i < Places; i++)
    if (!rst && open_clocks > 6 * Places && groups[i].open && doomed[i] != 0)
      `CHECK(now - doomed[i] <= 6 * Places + 20, "an aggregate without a slot goes on")
    for (int f = 0; f < Functions; f++) begin
      reset_since[f] = !resets[f] ? 0 : reset_since[f] == 0 ? now : reset_since[f];
      if (!rst && reset_since[f] != 0 && now - reset_since[f] > 6 * Places + 20 && out_percent == 100)
        `CHECK(open_of(f) == 0, "an aggregate of a function in reset")
    end
    if (!rst && out.valid && out.ready) begin
      rx_meta_t m, want;
      int at;
      m  = out.data;
      at = place_of(m.queue);
      if (m.join_as == Closes) begin
        `CHECK(groups[at].open && groups[at].queue == m.queue && 32'(m.aggregate) == at,
               "closes what is not open")
        want = groups[at].first;
        want.addr = '0;
        want.join_as = Closes;
        want.len = 14'(groups[at].len);
        want.info.follow = m.info.follow;
        if (groups[at].frames > 1) begin
          want.info.hash_type |= 4'hc;
          want.info.csum = {groups[at].last.push, 1'b0, 14'(groups[at].mss)};
        end
        `CHECK(m == want, $sformatf("%p, not %p", m, want))
        `CHECK(accused < 0, "a close without a reason")
        closed = groups[at];
        if (groups[at].ended) reasons[0]++;
        else if (resets[function_of(m.queue)]) reset_closes++;
        else if (hinted[at]) doomed_closes++;
        else if (!aged) accused = at;
        else reasons[1]++;
        if (groups[at].frames > biggest) biggest = groups[at].frames;
        groups[at].open = 0;
        doomed[at] = 0;
        closes++;
      end else begin
        want = sent.pop_front();
        want.aggregate = aggregate_t'(at);
        want.join_as = m.join_as;
        `CHECK(m == want, $sformatf("%p, not %p", m, want))
        frames_out++;
        if (accused >= 0) begin
          `CHECK(function_of(m.queue) == function_of(closed.queue),
                     "closed by another function's frame")
          `CHECK(accused == at && !may_join(closed, m) && (m.queue == closed.queue || may_open(m)),
                     "an aggregate is closed without a reason")
          reasons[m.queue==closed.queue?2 : 3]++;
          accused = -1;
        end
        if (m.join_as == Follows) begin
          `CHECK(groups[at].open && !groups[at].ended && may_join(groups[at], m),
                     "joins what it may not")
          follows++;
          groups[at].frames++;
          groups[at].len += payload_of(m);
          groups[at].last = m.info.follow;
          groups[at].ended = m.info.follow.push || payload_of(m) != groups[at].mss ||
              groups[at].len + groups[at].mss > 32'(settings.bytes);
        end else begin
          `CHECK(!groups[at].open || (groups[at].queue != m.queue && m.join_as == Alone),
                 "a frame overtakes its queue's aggregate")
          `CHECK(aged || edge_at == function_of(m.queue) || (m.join_as == Opens) == (may_open(m
                 ) && !resets[function_of(m.queue)]), "opened or not")
          if (m.join_as == Opens) begin
            opens++;
            groups[at] = '{1, 0, m.queue, m, m.info.follow, 32'(m.len), payload_of(m), 1, now};
          end else lonely++;
        end
      end
    end
  end

  task automatic settle();
    while (i_in.queue.size() != 0 || in.valid) @(posedge clk);
    {in_percent, out_percent} = {32'd100, 32'd100};
    repeat (20) @(posedge clk);
    `CHECK(sent.size() == 0 && accused < 0, "a frame is missing")
  endtask
  task automatic shut();
    aged = 1;
    settings.bytes = '0;
    repeat (3 * Places + 10) @(posedge clk);
    foreach (groups[i]) `CHECK(!groups[i].open, "an aggregate stays open")
    aged = 0;
  endtask

  initial begin
    int unsigned from;
    foreach (groups[i]) {groups[i].open, doomed[i], hinted[i]} = '0;
    foreach (serial[i]) begin
      serial[i] = 0;
      mss[i] = $urandom_range(1460, Least);
      // Some in one queue, some in queues that share an aggregate.
      queues[i] = random_queue($urandom_range(3));
    end
    @(negedge rst);
    // Too small to be joined: one a clock.
    for (int i = 0; i < Flows; i++) mss[i] = 100;
    repeat (2200) frame($urandom_range(Flows - 1), 0);
    repeat (20) @(posedge clk);
    from = frames_out;
    repeat (2000) @(posedge clk);
    `CHECK(frames_out - from >= 1998 && follows == 0, $sformatf(
           "%0d frames in 2000 clocks", frames_out - from))
    settle();
    for (int round = 0; round < 120; round++) begin
      int unsigned flow = 0;
      settings.bytes = $urandom_range(3) == 0 ? 14'd16383 : 14'($urandom_range(16383, 300));
      settings.clocks = round % 3 == 2 ? 16'($urandom_range(300)) : 16'hffff;
      aged = settings.clocks != '1;
      foreach (mss[i]) mss[i] = $urandom_range(3) == 0 ? 1448 : $urandom_range(3000, 200);
      foreach (queues[i]) queues[i] = random_queue($urandom_range(round % 9));
      in_percent = $urandom_range(100, 20);
      out_percent = round % 2 == 0 ? 100 : $urandom_range(100, 20);
      dooms = round % 4 == 1 ? 20 : 0;
      repeat (300) begin
        if ($urandom_range(round % 12) == 0) flow = $urandom_range(Flows - 1);
        frame(flow, round % 5 == 4 ? 20 : 0);
      end
      settle();
      if (aged) begin
        repeat (32'(settings.clocks) + 3 * Places + 10) @(posedge clk);
        foreach (groups[i]) `CHECK(!groups[i].open, "an aggregate outlives its time")
      end
      dooms = 0;
      shut();
      foreach (hinted[i]) hinted[i] = 0;
    end
    `CHECK(doomed_closes > 100, $sformatf("%0d closed without a slot", doomed_closes))
    // So does one that others go on to join: it is said of it once.
    settings = '{bytes: 14'd16383, clocks: 16'hffff};
    from = doomed_closes;
    repeat (12) begin
      mss[0] = Least;
      in_percent = 10;
      repeat (50) frame(0, 0, 1);
      while (groups[place_of(queues[0])].frames < 3) @(posedge clk);
      doom_at = place_of(queues[0]);
      @(posedge clk);
      doom_at = -1;
      settle();
      shut();
      settings.bytes = '1;
      foreach (hinted[i]) hinted[i] = 0;
      groups[place_of(queues[0])].frames = 0;
    end
    `CHECK(doomed_closes - from >= 12, $sformatf("%0d of 12 closed", doomed_closes - from))
    // A function in reset has nothing open soon, and opens nothing; the others go on.
    settings = '{bytes: 14'd16383, clocks: 16'hffff};
    for (int round = 0; Functions > 1 && round < 60; round++) begin
      int f, others;
      in_percent = $urandom_range(100, 50);
      foreach (mss[i]) mss[i] = $urandom_range(600, Least);
      foreach (queues[i]) queues[i] = random_queue($urandom_range(8));
      f = function_of(queues[0]);
      edge_at = round % 3 == 2 ? f : -1;
      repeat (200) frame($urandom_range(Flows - 1), 0);
      if (edge_at < 0) settle();
      else repeat ($urandom_range(200)) @(posedge clk);
      others = 0;
      for (int g = 0; g < Functions; g++) if (g != f) others += open_of(g);
      others_open += others;
      resets[f] <= 1;
      repeat (6 * Places + 30) @(posedge clk);
      for (int g = 0; edge_at < 0 && g < Functions; g++) if (g != f) others -= open_of(g);
      `CHECK(edge_at >= 0 || others == 0, "a reset closes another function's aggregate")
      repeat (200) frame($urandom_range(Flows - 1), 0);
      if (edge_at < 0) settle();
      else repeat ($urandom_range(200)) @(posedge clk);
      resets[f] <= 0;
      repeat (3) @(posedge clk);
      repeat (200) frame($urandom_range(Flows - 1), 0);
      settle();
      shut();
      settings.bytes = '1;
    end
    edge_at = -1;
    `CHECK(Functions == 1 || (reset_closes > 20 && others_open > 60), $sformatf(
           "%0d closed by a reset, %0d of others open", reset_closes, others_open))
    // Nothing opens where queues are streams, and what is open closes.
    settings = '{bytes: 14'd16383, clocks: 16'hffff};
    mss[0]   = 1000;
    repeat (8) frame(0, 0);
    settle();
    aged = 1;
    hold = 1;
    from = opens;
    repeat (100) frame($urandom_range(Flows - 1), 0);
    settle();
    repeat (3 * Places + 10) @(posedge clk);
    foreach (groups[i]) `CHECK(!groups[i].open, "an aggregate stays open beside streams")
    `CHECK(opens - from <= 1, "an aggregate is opened beside streams")
    `CHECK(joins == follows && follows > 8000 && closes == opens && lonely > 3000 && biggest > 8,
           $sformatf(
           "%0d join, %0d follow, %0d open, %0d alone, at most %0d",
           joins,
           follows,
           opens,
           lonely,
           biggest
           ))
    foreach (reasons[i])
      `CHECK(reasons[i] > 50, $sformatf("reason %0d only %0d times", i, reasons[i]))
    `TB_PASS
  end
endmodule
