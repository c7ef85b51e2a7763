// SPDX-License-Identifier: Apache-2.0
// suite: once
`include "parts_tb.svh"
`include "tb.svh"
`include "stream.svh"
/// direct_input, direct_scheduler and direct_output of several cards on a model of the bus with random latencies: each frame
/// arrives once, in order within its class, unharmed, at its destination or is dropped at its input FIFO, counted; exchanges
/// end with null REQs; bursts grow under load and never have a gap; outputs share their line fairly among inputs and classes
/// by priority; hysteresis saves bursts; a card that stalls, or dies and comes back empty, does not hold up the others.
/// +any_policy: any shares will do (a scheduler of the user's own).
module direct_scheduler_tb #(
    parameter int Cards = 4,
    parameter int Classes = 2,
    parameter int MessageWords = 1,
    parameter int FifoBytes = 4096,
    parameter int Lanes = 1
);
  import direct_pkg::*, route_pkg::*;
  `TB_BEGIN
  `TB_TIMEOUT(1_500_000)
  localparam int Peers = Cards - 1;
  localparam int Channels = 2 * Cards;  // 2 * card: messages, 2 * card + 1: bursts

  // Settings of the phases.
  words_t res_min = '0;
  logic [31:0] timeout = '0, retry = 32'd400;
  logic round_robin = 0;
  int unsigned
      in_percent = 0, out_percent = 100, slow_percent = 5, high_percent = 30, max_bytes = 200;
  int hot = -1;  // all frames to this card
  bit shared = 0;  // one transaction at a time on the whole bus
  bit stalled[Cards], dead[Cards], faulty[Cards];  // may lose what it had
  logic [Cards-1:0] enable = '1;
  logic [Cards-1:0] card_rst = '1;
  int unsigned max_latency = 20;

  function automatic int card_of(int card, int peer);
    return peer < card ? peer : peer + 1;
  endfunction
  function automatic int peer_of(int card, int other);
    return other < card ? other : other - 1;
  endfunction

  // Scoreboard: accepted frames by input, output (own card: slow path) and class.
  typedef struct {
    int unsigned id;
    int bytes;
    int to;
    int cls;
  } frame_t;
  localparam int Flows = 2 ** $clog2(Cards * Cards * Classes);
  frame_t expected[Flows][$];
  frame_t undecided[16][$];
  int unsigned next_id = 1, last_id[Flows], doubled = 0;
  bit reborn = 0;
  int unsigned delivered[Cards][Cards], input_drops[Classes], skipped, discarded;
  int unsigned
      bursts,
      packets,
      empties,
      nulls,
      timeouts,
      aborts,
      stale_res,
      stale_burst,
      commands,
      words_moved,
      messages,
      told_messages;
  function automatic int flow (int from, int to, int cls);
    return (from * Cards + to) * Classes + cls;
  endfunction
  function automatic logic [63:0] content(int unsigned id, int from, int to, int cls, int bytes,
                                          int word);
    return word == 0 ? {id, 8'(from), 4'(to), 4'(cls), 16'(bytes)} : {id, 32'(word * 'h9E37)} ^ 64'(bytes);
  endfunction

  // The cards, and their channels as arrays.
  logic [Channels-1:0] cmd_valid, cmd_ready, data_valid, data_ready, done_valid, done_ready;
  channel_pkg::channel_cmd_t cmd_data[Channels];
  logic [63:0] data_data[Channels];
  channel_pkg::channel_result_e done_data[Channels];
  logic [Cards-1:0] recv_valid;
  channel_pkg::window_word_t recv_data[Cards];
  scheduler_events_t events[Cards];
  logic [Cards-1:0] idle;

  for (genvar i = 0; i < Cards; i++) begin : g_card
    `STREAM_ON(routed_beat_t, in, clk, card_rst[i])
    `STREAM_ON(stored_word_t, slow[Classes], clk, card_rst[i])
    `STREAM_ON(channel_pkg::channel_cmd_t, msg_cmd, clk, card_rst[i])
    `STREAM_ON(channel_pkg::channel_cmd_t, burst_cmd, clk, card_rst[i])
    `STREAM_ON(logic [63:0], msg_data, clk, card_rst[i])
    `STREAM_ON(logic [63:0], burst_data, clk, card_rst[i])
    `STREAM_ON(channel_pkg::channel_result_e, msg_done, clk, card_rst[i])
    `STREAM_ON(channel_pkg::channel_result_e, burst_done, clk, card_rst[i])
    `STREAM_ON(channel_pkg::window_word_t, recv, clk, card_rst[i])
    `STREAM_ON(eth_pkg::word_beat_t, out, clk, card_rst[i])
    frame_read_if #(.Queues(Peers * Classes)) fast ();
    logic [Peers-1:0][63:0] base;
    logic [Peers:0][Classes-1:0] accepted, dropped;
    words_t [Peers:0][Classes-1:0] used;
    frame_write_t [Lanes-1:0] write;
    words_t [Lanes-1:0] room;
    logic [Lanes-1:0] empty;
    words_t slow_room, fast_used, slow_used;
    logic lane, sent_fast, sent_slow;
    logic [1:0] overflow;
    logic [Peers-1:0] silent;
    always_comb begin
      for (int p = 0; p < Peers; p++)
      base[p] = 64'((card_of(i, p) << 20) | (peer_of(card_of(i, p), i) << 13));
    end
    direct_input #(
        .Peers(Peers),
        .Classes(Classes),
        .FifoBytes(FifoBytes)
    ) i_input (
        .clk_i(clk),
        .rst_i(card_rst[i]),
        .in,
        .fast,
        .slow,
        .accepted_o(accepted),
        .dropped_o(dropped),
        .used_o(used)
    );
    direct_scheduler #(
        .Peers(Peers),
        .Classes(Classes),
        .FifoBytes(FifoBytes),
        .MessageWords(MessageWords),
        .Lanes(Lanes)
    ) i_scheduler (
        .clk_i(clk),
        .rst_i(card_rst[i]),
        .peer_base_i(base),
        .enable_i(enable[i]),
        .res_min_words_i(res_min),
        .timeout_i(timeout),
        .retry_i(retry),
        .fast,
        .msg_cmd,
        .msg_data,
        .msg_done,
        .burst_cmd,
        .burst_data,
        .burst_done,
        .recv,
        .out_o(write),
        .out_room_i(room),
        .out_empty_i(empty),
        .out_lane_o(lane),
        .events_o(events[i]),
        .silent_o(silent)
    );
    direct_output #(
        .FifoBytes(FifoBytes),
        .Lanes(Lanes)
    ) i_output (
        .clk_i(clk),
        .rst_i(card_rst[i]),
        .round_robin_i(round_robin),
        .fast_i(write),
        .fast_lane_i(lane),
        .fast_room_o(room),
        .fast_empty_o(empty),
        .slow(slow[0]),
        .slow_room_o(slow_room),
        .out,
        .fast_used_o(fast_used),
        .slow_used_o(slow_used),
        .sent_fast_o(sent_fast),
        .sent_slow_o(sent_slow),
        .overflow_o(overflow)
    );
    assign cmd_valid[2*i] = msg_cmd.valid;
    assign cmd_valid[2*i+1] = burst_cmd.valid;
    assign cmd_data[2*i] = msg_cmd.data;
    assign cmd_data[2*i+1] = burst_cmd.data;
    assign msg_cmd.ready = cmd_ready[2*i];
    assign burst_cmd.ready = cmd_ready[2*i+1];
    assign data_valid[2*i] = msg_data.valid;
    assign data_valid[2*i+1] = burst_data.valid;
    assign data_data[2*i] = msg_data.data;
    assign data_data[2*i+1] = burst_data.data;
    assign msg_data.ready = data_ready[2*i];
    assign burst_data.ready = data_ready[2*i+1];
    assign msg_done.valid = done_valid[2*i];
    assign burst_done.valid = done_valid[2*i+1];
    assign msg_done.data = done_data[2*i];
    assign burst_done.data = done_data[2*i+1];
    assign done_ready[2*i] = msg_done.ready;
    assign done_ready[2*i+1] = burst_done.ready;
    assign recv.valid = recv_valid[i];
    assign recv.data = recv_data[i];

    // Frames in.
    frame_t now;
    int word = -1;
    bit erase;
    always @(posedge clk) begin
      bit more;
      in.valid <= 0;
      if (card_rst[i]) word = -1;
      else if (!dead[i]) begin
        if (word < 0 && $urandom_range(99) < in_percent) begin
          int to;
          to = hot >= 0 ? hot : $urandom_range(Cards - 1);
          if (to == i || $urandom_range(99) < slow_percent)
            to = $urandom_range(99) < slow_percent ? i : (hot >= 0 ? hot : (i + 1) % Cards);
          if (to != i || hot != i) begin
            now.to = to;
            now.id = next_id++;
            now.bytes = $urandom_range(9) < 5 ? 60 : $urandom_range(max_bytes, 60);
            now.cls = $urandom_range(99) < high_percent ? 0 :
                $urandom_range(Classes - 1, Classes > 1 ? 1 : 0);
            erase = $urandom_range(19) == 0;
            word = 0;
          end
        end
        if (word >= 0) begin
          // What does not exist goes the slow way, in the lowest class.
          automatic int dest = now.to == i ? $urandom_range(15, Peers) : peer_of(i, now.to);
          automatic int cls = now.cls == Classes - 1 ? $urandom_range(3, Classes - 1) : now.cls;
          more = (word + 1) * 8 < now.bytes;
          in.valid <= 1;
          in.data <= '{
              data: content(now.id, i, now.to, now.cls, now.bytes, word),
              len: more ? 4'd8 : 4'(now.bytes - word * 8),
              sop: word == 0,
              eop: !more,
              drop: !more && erase,
              dest: peer_t'(dest),
              cls: class_t'(cls)
          };
          if (!more && !erase) undecided[i].push_back(now);
          word = more ? word + 1 : -1;
        end
      end
      if (!card_rst[i] && (accepted != '0 || dropped != '0)) begin
        frame_t f;
        f = undecided[i].pop_front();
        `CHECK($onehot({accepted, dropped}), "one frame, one fate")
        if (accepted[f.to==i?Peers : peer_of(i, f.to)][f.cls])
          expected[flow (i, f.to, f.cls)].push_back(f);
        else begin
          `CHECK(dropped[f.to==i?Peers : peer_of(i, f.to)][f.cls], "another frame's fate")
          input_drops[f.cls]++;
        end
      end
    end

    // Frames out.
    `STREAM_SINK(eth_pkg::word_beat_t, i_out, out, dead[i] ? 0 : out_percent)
    // What a message has no use for is 0.
    int unsigned words = 0;
    always @(posedge clk)
      if (card_rst[i]) words = 0;
      else if (msg_data.valid && msg_data.ready) begin
        automatic message_t m = msg_data.data;
        `CHECK(words % MessageWords == 0 || msg_data.data == '0, "more than a word of a message")
        if (words % MessageWords == 0) begin
          `CHECK(m.kind inside {Request, Respond} && m.unused == '0, "another message")
          for (int c = Classes; c < route_pkg::MaxClasses; c++)
            `CHECK(m.count[c] == '0, "words of a class that there is not")
        end
        words++;
      end
    int got = 0;
    frame_t f;
    int from;
    bit again;
    always @(posedge clk) begin
      if (card_rst[i]) got = 0;
      else if (out.valid && out.ready) begin
        eth_pkg::word_beat_t b;
        b = out.data;
        `CHECK(b.sop == (got == 0) && !b.err, "start of frame")
        if (got == 0) begin
          f = '{
              id: b.data[63:32],
              bytes: int'(b.data[15:0]),
              to: int'(b.data[23:20]),
              cls: int'(b.data[19:16])
          };
          from = int'(b.data[31:24]);
          `CHECK(f.to == i && from < Cards && f.cls < Classes, "frame at the wrong card")
          // What a faulty card lost may be missing, and what another discarded because of it.
          // What had arrived of a burst that a dying card cut comes again when the card is back.
          again = faulty[i] && reborn && f.id <= last_id[flow (from, i, f.cls)];
          if (again) doubled++;
          while (!again && expected[flow (
              from, i, f.cls
          )].size() != 0 && expected[flow (
              from, i, f.cls
          )][0].id != f.id && (faulty[i] || faulty[from])) begin
            void'(expected[flow (from, i, f.cls)].pop_front());
            skipped++;
          end
          `CHECK(again || (expected[flow (from, i, f.cls)].size() != 0 && expected[flow (
                     from, i, f.cls)][0].id == f.id),
                     $sformatf("frame %0d from %0d to %0d class %0d lost, doubled or out of order",
                               f.id, from, i, f.cls))
        end
        `CHECK(b.data == content(f.id, from, i, f.cls, f.bytes, got), "content")
        `CHECK(b.eop == ((got + 1) * 8 >= f.bytes), "end of frame")
        `CHECK(int'(b.len) == (b.eop ? f.bytes - got * 8 : 8), "length")
        got++;
        if (b.eop) begin
          if (!again) begin
            void'(expected[flow (from, i, f.cls)].pop_front());
            last_id[flow (from, i, f.cls)] = f.id;
            delivered[from][i]++;
          end
          got = 0;
        end
      end
      if (!card_rst[i]) begin
        `CHECK(overflow == '0, "output FIFO overflow")
        `CHECK(!events[i].malformed || faulty[i], "malformed")
        told_messages += int'(events[i].req_sent) + int'(events[i].res_sent);
        bursts += int'(events[i].burst_sent);
        packets += int'(events[i].packet_sent);
        empties += int'(events[i].empty_burst);
        nulls += int'(events[i].null_req);
        timeouts += int'(events[i].request_timeout) + int'(events[i].burst_timeout);
        aborts += int'(events[i].aborted);
        `CHECK(enable[i] || !events[i].res_sent, "a card answers that is being set up")
        stale_res += int'(events[i].stale_res);
        stale_burst += int'(events[i].stale_burst);
        discarded += int'(events[i].packet_discarded);
      end
    end
    // Lower classes of the slow path end here.
    for (genvar c = 1; c < Classes; c++) begin : g_slow
      `STREAM_SINK(stored_word_t, i_slow, slow[c], 50)
      int place = -1;
      frame_t s;
      always @(posedge clk) begin
        if (card_rst[i]) place = -1;
        else if (slow[c].valid && slow[c].ready) begin
          stored_word_t   w;
          packet_header_t h;
          w = slow[c].data;
          h = w.data;
          if (place < 0) begin
            `CHECK(expected[flow (i, i, c)].size() != 0, "a frame that did not go in")
            s = expected[flow (i, i, c)].pop_front();
            `CHECK(h.kind == Packet && h.cls == class_t'(c) && int'(h.bytes) == s.bytes && !w.last,
                   "slow header")
          end else begin
            `CHECK(w.data == content(s.id, i, i, c, s.bytes, place), "slow content")
            `CHECK(w.last == ((place + 1) * 8 >= s.bytes), "slow end")
          end
          place = w.last ? -1 : place + 1;
        end
      end
    end
    assign idle[i] = used == '0 && fast_used == '0 && slow_used == '0 && !out.valid && !msg_cmd.valid && !burst_cmd.valid;
  end

  // The bus: commands are carried out in pieces that end at 128-byte boundaries; a lock a destination, or one for all.
  typedef enum {
    Free,
    Latency,
    Lock,
    Move,
    Answer
  } bus_e;
  bus_e bus[Channels];
  int left[Channels], piece[Channels], wait_q[Channels], moved[Channels];
  bit owned[Cards], first[Channels], failed[Channels];
  channel_pkg::channel_cmd_t cmd[Channels];
  for (genvar c = 0; c < Channels; c++) begin : g_ready
    assign cmd_ready[c]  = bus[c] == Free && !stalled[c/2] && !dead[c/2];
    assign data_ready[c] = bus[c] == Move;
    assign done_valid[c] = bus[c] == Answer && wait_q[c] == 0;
    assign done_data[c]  = failed[c] ? channel_pkg::ChannelAbort : channel_pkg::ChannelOk;
  end
  int turn = 0;
  always @(posedge clk) begin
    recv_valid <= '0;
    turn = (turn + 1) % Channels;
    for (int k = 0; k < Channels; k++) begin
      int c, to;
      c  = (k + turn) % Channels;
      to = int'(cmd[c].addr[23:20]);
      if (card_rst[c/2]) begin
        if (bus[c] == Move) owned[shared?0 : to] = 0;
        bus[c] <= Free;
      end else begin
        case (bus[c])
          Free:
          if (cmd_valid[c] && cmd_ready[c]) begin
            cmd[c] <= cmd_data[c];
            `CHECK(
                !cmd_data[c].read && cmd_data[c].fixed && cmd_data[c].bytes[2:0] == 0 && cmd_data[c].bytes != 0,
                "command")
            `CHECK(cmd_data[c].addr[12] == (c % 2 == 0), "mailbox or burst half")
            left[c] <= int'(cmd_data[c].bytes) / 8;
            moved[c] <= 0;
            failed[c] <= 0;
            wait_q[c] <= $urandom_range(max_latency);
            bus[c] <= Latency;
            commands++;
          end
          Latency:
          if (wait_q[c] != 0) wait_q[c] <= wait_q[c] - 1;
          else if (data_valid[c] && !stalled[c/2] && !dead[c/2]) bus[c] <= Lock;
          Lock:
          if (!owned[shared?0 : to]) begin
            owned[shared?0 : to] = 1;
            piece[c] <= 16 * $urandom_range(4, 1);
            first[c] <= 1;
            bus[c]   <= Move;
          end
          Move: begin
            `CHECK(data_valid[c], "a gap in a transaction")
            if (dead[to]) failed[c] <= 1;
            else if (!failed[c]) begin
              recv_valid[to] <= 1;
              recv_data[to] <= '{
                  window: cmd[c].addr[16:13],
                  message: cmd[c].addr[12],
                  first: first[c],
                  data: data_data[c]
              };
              words_moved++;
            end
            first[c] <= 0;
            left[c]  <= left[c] - 1;
            piece[c] <= piece[c] - 1;
            if (left[c] == 1 || (piece[c] == 1 && !failed[c] && !dead[to])) begin
              owned[shared?0 : to] = 0;
              wait_q[c] <= $urandom_range(max_latency);
              bus[c] <= left[c] == 1 ? Answer : Latency;
            end
          end
          default:
          if (wait_q[c] != 0) wait_q[c] <= wait_q[c] - 1;
          else if (done_ready[c]) begin
            if (cmd[c].addr[12]) messages++;
            bus[c] <= Free;
          end
        endcase
      end
    end
  end

  // Lets everything drain; nothing may be left, nor any card go on sending.
  task automatic drain(string what);
    int unsigned at;
    in_percent  = 0;
    out_percent = 100;
    for (int n = 0; n < 1000 && !(&idle); n++) repeat (100) @(posedge clk);
    repeat (500) @(posedge clk);
    `CHECK(&idle, {what, ": frames are stuck"})
    foreach (expected[k]) begin
      int from, to;
      from = k / (Cards * Classes);
      to   = (k / Classes) % Cards;
      if (from >= Cards) break;
      while (expected[k].size() != 0 && (faulty[from] || faulty[to])) begin
        void'(expected[k].pop_front());
        skipped++;
      end
      `CHECK(expected[k].size() == 0, $sformatf(
             "%s: %0d frames of flow %0d never came", what, expected[k].size(), k))
    end
    at = commands;
    repeat (2000) @(posedge clk);
    `CHECK(commands == at, {what, ": the exchange goes on with nothing to send"})
    $display(
        "%s: %0d bursts, %0d packets, %0d empty, %0d null, %0d timeouts, %0d aborts, %0d + %0d stale, %0d discarded",
        what, bursts, packets, empties, nulls, timeouts, aborts, stale_res, stale_burst, discarded);
    `CHECK(nulls != 0, {what, ": no exchange ended"})
    if (!faulty[2]) `CHECK(messages == told_messages, {what, ": messages that went out"})
  endtask
  task automatic clear();
    {bursts, packets, empties, nulls, timeouts, aborts, stale_res, stale_burst, discarded, skipped} = '0;
    foreach (input_drops[c]) input_drops[c] = 0;
    foreach (delivered[a, b]) delivered[a][b] = 0;
  endtask

  initial begin
    real light, heavy, paper;
    int unsigned least, most, sum;
    @(negedge rst);
    card_rst <= '0;
    repeat (10) @(posedge clk);

    // Little to do.
    in_percent = 1;
    repeat (8000) @(posedge clk);
    drain("light");
    light = real'(packets) / real'(bursts);
    `CHECK(input_drops.sum() == 0, "drops under light load")
    clear();

    // Random everything.
    for (int n = 0; n < 6; n++) begin
      in_percent = $urandom_range(60, 3);
      out_percent = $urandom_range(100, 30);
      max_bytes = $urandom_range(1514, 60);
      round_robin = $urandom_range(1) == 0;
      max_latency = $urandom_range(60);
      shared = 0;
      repeat (4000) @(posedge clk);
    end
    drain("random");
    `CHECK(timeouts == 0 && aborts == 0 && stale_res + stale_burst == 0 && discarded == 0,
           "faults that are none")
    clear();

    // All share one bus that is too small.
    shared = 1;
    max_latency = 4;
    max_bytes = 60;
    slow_percent = 0;
    in_percent = 60;
    repeat (20000) @(posedge clk);
    heavy = real'(packets) / real'(bursts);
    $display("packets a burst: %0.2f light, %0.2f saturated", light, heavy);
    `CHECK(heavy > 4 * light, "bursts do not grow under load")
    drain("saturated");
    clear();

    // All to card 0, whose line is the bottleneck: equal shares, high priority without loss.
    shared = 0;
    hot = 0;
    high_percent = 20 / Cards;
    in_percent = 40;
    out_percent = 30;
    repeat (60000) @(posedge clk);
    paper = real'(bursts);
    least = '1;
    most  = 0;
    sum   = 0;
    for (int i = 1; i < Cards; i++) begin
      sum += delivered[i][0];
      if (delivered[i][0] < least) least = delivered[i][0];
      if (delivered[i][0] > most) most = delivered[i][0];
    end
    $display("hot spot: %0d to %0d frames from each, %0d high and %0d low dropped", least, most,
             input_drops[0], input_drops[1]);
    if ($test$plusargs("any_policy") == 0) begin
      `CHECK(least * 100 >= most * 90, "unfair")
      `CHECK(input_drops[0] == 0 && input_drops[Classes-1] != 0, "priority")
    end
    // 8 words in 30 % of the clocks and 5 clocks between frames: 6.3 clocks of 20 are the most.
    `CHECK(sum * 8 > 60000 * 25 / 100, "the line is not full")
    drain("hot spot");
    clear();

    // Large frames and a slow line: there is room for less than one frame, the exchange goes on with empty bursts.
    max_bytes   = 1514;
    out_percent = 10;
    in_percent  = 40;
    repeat (10000) @(posedge clk);
    `CHECK(empties != 0, "no burst was empty")
    drain("large frames");
    clear();
    max_bytes = 60;

    // The same with hysteresis: fewer bursts.
    res_min = words_t'(FifoBytes / 16);
    in_percent = 40;
    out_percent = 30;
    repeat (60000) @(posedge clk);
    $display("bursts: %0.0f paper, %0d with hysteresis", paper, bursts);
    `CHECK(real'(bursts) < 0.6 * paper, "hysteresis saves nothing")
    drain("hysteresis");
    clear();
    res_min = '0;
    hot = -1;
    high_percent = 30;

    // A card stalls for longer than any timeout, then goes on: until both kinds of what it sends too late have come.
    timeout = 32'd2500;
    retry = 32'd20000;
    max_bytes = 300;
    faulty[2] = 1;
    for (int n = 0; n < 4 || (n < 24 && (stale_res == 0 || stale_burst == 0)); n++) begin
      int unsigned earlier;
      in_percent  = 20;
      out_percent = 60;
      repeat ($urandom_range(1500, 1000)) @(posedge clk);
      stalled[2] = 1;
      repeat (14000) @(posedge clk);
      earlier = delivered[0][1];
      repeat (5000) @(posedge clk);
      `CHECK(delivered[0][1] > earlier + 20, "a stalled card holds up others")
      stalled[2] = 0;
    end
    drain("stall");
    `CHECK(timeouts != 0 && skipped == discarded, $sformatf(
           "%0d missing, %0d discarded", skipped, discarded))
    `CHECK(stale_res != 0 && stale_burst != 0, "what a stalled card sent too late is not told of")
    clear();

    // A card dies in the middle of things and comes back empty.
    reborn = 1;
    for (int n = 0; n < 4; n++) begin
      int unsigned earlier;
      in_percent  = 20;
      out_percent = 60;
      repeat ($urandom_range(1500, 1000)) @(posedge clk);
      dead[2] = 1;
      repeat (14000) @(posedge clk);
      earlier = delivered[0][1];
      repeat (5000) @(posedge clk);
      `CHECK(delivered[0][1] > earlier + 20, "a dead card holds up others")
      card_rst[2] <= 1;
      enable[2]   <= 0;
      undecided[2].delete();
      repeat (10) @(posedge clk);
      card_rst[2] <= 0;
      dead[2] = 0;
      repeat ($urandom_range(4000)) @(posedge clk);
      enable[2] <= 1;
      repeat (25000) @(posedge clk);
      earlier = delivered[2][0];
      repeat (6000) @(posedge clk);
      `CHECK(delivered[2][0] > earlier + 10, "a card does not come back")
    end
    drain("death");
    $display("%0d frames came twice, %0d never", doubled, skipped);
    `CHECK(aborts != 0, "nobody noticed")
    `TB_PASS
  end
endmodule
