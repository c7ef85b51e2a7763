// SPDX-License-Identifier: Apache-2.0
`include "parts_tb.svh"
`include "tb.svh"
`include "stream.svh"
/// Two pcix_cores and a host (memory, configuration, register accesses) on one bus with a round-robin arbiter: configuration
/// and registers; windows; N + 4 clocks a write, back to back between two cards; random writes and reads of all channels
/// under retries, disconnects and Split Completions in pieces, against a reference memory; aborts, error messages, timeouts.
/// The bus is watched throughout: one driver, length of each transaction, disconnects only at 128-byte boundaries.
module pcix_core_tb;
  import pcix_pkg::*, channel_pkg::*;
  `TB_BEGIN
  `TB_TIMEOUT(600_000)
  localparam int Cards = 2, Channels = 4, Host = 2;
  localparam logic [63:0] Bar = 64'h10_0000_0000;

  // The bus.
  pins_out_t out[Cards+1];
  pins_in_t bus;
  logic [Cards:0] gnt_n = '1;
  logic [Cards-1:0] idsel;
  always_comb begin
    bus = '1;
    bus.ad = 'x;
    for (int i = 0; i <= Cards; i++) begin
      if (out[i].master_oe) {bus.frame_n, bus.irdy_n} = {out[i].frame_n, out[i].irdy_n};
      if (out[i].target_oe)
        {bus.devsel_n, bus.trdy_n, bus.stop_n} = {out[i].devsel_n, out[i].trdy_n, out[i].stop_n};
      if (out[i].ad_oe) {bus.ad, bus.cbe_n} = {out[i].ad, out[i].cbe_n};
    end
  end

  // Arbiter: the grant moves on when its owner has begun, or does not ask.
  int   owner = 0;
  logic frame_before = 1;
  always @(posedge clk) begin
    automatic int pick = owner;
    if (out[owner].req_n || (!bus.frame_n && frame_before)) begin
      for (int k = Cards + 1; k >= 1; k--)
      if (!out[(owner+k)%(Cards+1)].req_n) pick = (owner + k) % (Cards + 1);
    end
    owner <= pick;
    gnt_n <= ~((Cards + 1)'(1) << pick);
    frame_before <= bus.frame_n;
  end

  // Cards and their clients.
  channel_cmd_t cq[Cards][Channels][$];
  logic [63:0] wq[Cards][Channels][$];
  channel_word_t rq[Cards][Channels][$];  // expected
  channel_result_e dq[Cards][Channels][$];  // expected
  window_word_t vq[Cards][Cards*16][$];  // expected, by window
  int unsigned done_count[Cards], ready_percent = 100, gap_percent = 0, ack_percent = 100;
  bus_event_t event_now[Cards];
  int unsigned counts[Cards][string];
  int unsigned accesses[Cards] = '{default: 0};  // of registers
  logic [31:0] timeout = 0;

  for (genvar c = 0; c < Cards; c++) begin : g_card
    `STREAM_ON(channel_cmd_t, cmd[Channels], clk, rst)
    `STREAM_ON(logic [63:0], wdata[Channels], clk, rst)
    `STREAM_ON(channel_word_t, rdata[Channels], clk, rst)
    `STREAM_ON(channel_result_e, done[Channels], clk, rst)
    `STREAM_ON(window_word_t, recv, clk, rst)
    reg_if #(.AddrW(17)) regs ();
    pins_in_t pins;
    always_comb begin
      pins = bus;
      pins.gnt_n = gnt_n[c];
      pins.idsel = idsel[c];
    end
    pcix_core #(
        .Channels(Channels)
    ) dut (
        .clk_i(clk),
        .rst_i(rst),
        .pins_i(pins),
        .pins_o(out[c]),
        .cmd,
        .wdata,
        .rdata,
        .done,
        .regs,
        .recv,
        .timeout_i(timeout),
        .event_o(event_now[c])
    );
    for (genvar k = 0; k < Channels; k++) begin : g_client
      `STREAM_SOURCE(channel_cmd_t, i_cmd, cmd[k], 100 - gap_percent)
      `STREAM_SOURCE(logic [63:0], i_wdata, wdata[k], 100)  // without a gap
      `STREAM_SINK(channel_word_t, i_rdata, rdata[k], ready_percent)
      `STREAM_SINK(channel_result_e, i_done, done[k], ready_percent)
      always @(posedge clk) begin
        if (!rst) begin
          while (cq[c][k].size() != 0) i_cmd.queue.push_back(cq[c][k].pop_front());
          while (wq[c][k].size() != 0) i_wdata.queue.push_back(wq[c][k].pop_front());
          if (rdata[k].valid && rdata[k].ready && !rst) begin
            `CHECK(rq[c][k].size() != 0, "a word nobody reads")
            `CHECK(rdata[k].data == rq[c][k][0], $sformatf("card %0d channel %0d read %h, not %h",
                                                           c, k, rdata[k].data, rq[c][k][0]))
            void'(rq[c][k].pop_front());
          end
          if (done[k].valid && done[k].ready && !rst) begin
            `CHECK(dq[c][k].size() != 0, "a result nobody waits for")
            `CHECK(done[k].data == dq[c][k][0], $sformatf(
                                                    "card %0d channel %0d result %0d, not %0d", c,
                                                    k, done[k].data, dq[c][k][0]))
            void'(dq[c][k].pop_front());
            done_count[c]++;
          end
        end
      end
    end
    assign recv.ready = 1;
    always @(posedge clk) begin
      if (!rst && recv.valid) begin
        automatic int w = {recv.data.message, recv.data.window};
        `CHECK(vq[c][w].size() != 0, "a window word nobody sent")
        `CHECK(recv.data == vq[c][w][0], $sformatf("card %0d window %0d: %h, not %h", c, w,
                                                   recv.data, vq[c][w][0]))
        void'(vq[c][w].pop_front());
      end
    end
    reg_memory #(
        .Words(32768)
    ) i_registers (
        .clk,
        .rst,
        .on(regs),
        .percent(ack_percent)
    );
    always @(posedge clk)
      if (!rst) begin
        accesses[c] += 32'(regs.req);
        if (event_now[c].master_abort) counts[c]["master_abort"]++;
        if (event_now[c].target_abort) counts[c]["target_abort"]++;
        if (event_now[c].retry) counts[c]["retry"]++;
        if (event_now[c].disconnect) counts[c]["disconnect"]++;
        if (event_now[c].split_timeout) counts[c]["split_timeout"]++;
        if (event_now[c].split_error) counts[c]["split_error"]++;
        if (event_now[c].unexpected_split) counts[c]["unexpected_split"]++;
        if (event_now[c].retry_given) counts[c]["retry_given"]++;
        if (event_now[c].bad_read) counts[c]["bad_read"]++;
        if (event_now[c].transaction) counts[c]["transaction"]++;
        if (event_now[c].word_out) counts[c]["word_out"]++;
        if (event_now[c].word_in) counts[c]["word_in"]++;
      end
    assign idsel[c] = bus.ad[16+c];
  end

  `include "pcix_host.svh"

  // The bus is watched.
  int unsigned clock = 0, begun = 0, bus_words = 0, transactions = 0;
  int unsigned words_out[Cards] = '{default: 0}, words_in[Cards] = '{default: 0};
  logic open = 0, early = 0;
  always @(posedge clk) begin
    automatic int m = 0, t = 0, a = 0;
    clock <= clock + 1;
    for (int i = 0; i <= Cards; i++) begin
      m += int'(out[i].master_oe);
      t += int'(out[i].target_oe);
      a += int'(out[i].ad_oe);
    end
    `CHECK(m <= 1 && t <= 1 && a <= 1, "two drivers")
    if (rst) open <= 0;
    else if (!open && !bus.frame_n) begin
      open <= 1;
      begun <= clock;
      bus_words <= 0;
      early <= 0;
      transactions <= transactions + 1;
    end else if (open) begin
      if (!bus.irdy_n && !bus.trdy_n) begin
        bus_words <= bus_words + 1;
        for (int i = 0; i < Cards; i++) begin
          words_out[i] += 32'(out[i].master_oe && out[i].ad_oe);
          words_in[i] += 32'(out[i].target_oe && !bus.devsel_n);  // else a Split Response
        end
      end
      if (!bus.irdy_n && (bus.stop_n == 0 || bus.devsel_n)) early <= 1;
      if (bus.frame_n && bus.irdy_n) begin
        open <= 0;
        if (!early)
          `CHECK(clock - begun + 1 == bus_words + 4, $sformatf(
                 "%0d words took %0d clocks", bus_words, clock - begun + 1))
        else `CHECK(clock - begun <= bus_words + 9, "a transaction that failed was long")
      end
    end
  end

  // A command of a card: what must come of it is put down at once.
  logic [63:0] number = 0;
  task automatic order(int card, int channel, bit read, bit fixed, logic [63:0] addr, int words,
                       channel_result_e result = ChannelOk, int good_words = 0);
    logic [63:0] w;
    window_word_t v;
    for (int i = 0; i < words; i++) begin
      logic [63:0] at = addr + 64'(8 * (fixed ? i % 512 : i));
      if (read) begin
        w = (result == ChannelOk || i < good_words) ? (reference.exists(at) ? reference[at] : 0) :
            0;
        rq[card][channel].push_back('{data: w, last: i == words - 1});
      end else begin
        number++;
        w = {8'(card), 8'(channel), number[47:0]};
        wq[card][channel].push_back(w);
        if (result == ChannelOk) begin
          if (at < Bar) reference[at] = w;
          else begin
            v = '{window: at[16:13], message: at[12], first: i % 512 == 0, data: w};
            vq[(at-Bar)>>18][{v.message, v.window}].push_back(v);
          end
        end
      end
    end
    dq[card][channel].push_back(result);
    cq[card][channel].push_back('{read: read, fixed: fixed, addr: addr, bytes: 16'(8 * words)});
  endtask

  function automatic bit all_done();
    for (int c = 0; c < Cards; c++)
    for (int k = 0; k < Channels; k++) if (dq[c][k].size() != 0 || rq[c][k].size() != 0) return 0;
    return 1;
  endfunction
  task automatic settle(int clocks = 100_000);
    int n = 0;
    while (!all_done() || host_busy()) begin
      @(posedge clk);
      n++;
      `CHECK(n < clocks, "commands are not done")
    end
    repeat (12) @(posedge clk);
    for (int c = 0; c < Cards; c++) begin
      for (int k = 0; k < Channels; k++) `CHECK(wq[c][k].size() == 0, "words left over")
      for (int w = 0; w < 32; w++) `CHECK(vq[c][w].size() == 0, "window words lost")
    end
    foreach (reference[a])
      `CHECK(memory.exists(a) && memory[a] == reference[a], $sformatf("memory at %h", a))
  endtask

  // Cards write to each other as fast as they can: the bus gives a transaction of N words every N + 4 clocks, no matter
  // whether it is one card that writes (`cards` 1) or all of them.
  task automatic throughput(int cards, int words, int many);
    int unsigned start, first;
    for (int i = 0; i < many; i++)
      for (int c = 0; c < cards; c++)
        order(c, 3, 0, 1, Bar + 64'((1 - c) << 18) + 64'h2_0000 + 64'(c << 13), words);
    first = transactions + 3;
    while (transactions < first) @(posedge clk);
    start = begun;
    while (transactions < first + cards * many - 6) @(posedge clk);
    $display("%0d card(s), %0d words: %0.3f clocks a transaction", cards, words,
             real'(begun - start) / (cards * many - 6));
    `CHECK(begun - start == (cards * many - 6) * (words + 4),
           "not a transaction every N + 4 clocks")
    settle();
  endtask

  initial begin
    logic [63:0] d;
    logic bad;
    @(negedge rst);
    repeat (5) @(posedge clk);

    // Configuration.
    for (int c = 0; c < Cards; c++) begin
      config_read(c, 6'h00, d[31:0]);
      `CHECK(d[31:0] == 32'hd1ec1234, "identification")
      config_write(c, 6'h04, '1);
      config_read(c, 6'h04, d[31:0]);
      `CHECK(d[31:0] == 32'hfffc0004, "size of BAR0")
      config_write(c, 6'h04, Bar[31:0] + 32'(c << 18));
      config_write(c, 6'h05, Bar[63:32]);
      config_read(c, 6'h05, d[31:0]);
      `CHECK(d[31:0] == Bar[63:32], "BAR1")
      config_read(c, 6'h11, d[31:0]);
      `CHECK(d[15:0] == {HostBus, 5'(c + 1), 3'd0}, "number learnt")
      config_read(c, 6'h0d, d[31:0]);
      `CHECK(d[7:0] == 8'h40, "capability pointer")
    end
    host_read(Bar + 8, 4, MemReadDword, d, bad);
    `CHECK(bad && host_aborted, "memory space is not yet enabled")
    for (int c = 0; c < Cards; c++) config_write(c, 6'h01, 32'h6);
    config_read(1, 6'h01, d[31:0]);
    `CHECK(d[2:1] == 2'b11, "command")

    // Registers.
    for (int i = 0; i < 60; i++) begin
      automatic logic [63:0] value = {$urandom(), $urandom()};
      automatic logic [63:0] at = Bar + 64'((i & 1) << 18) + 64'($urandom_range(16383) * 8);
      automatic logic [7:0] left_out = i % 8 == 0 ? '1 : 8'($urandom());
      automatic int unsigned accessed = accesses[i&1];
      ack_percent = $urandom_range(100, 10);
      host_write(at, value, 8'h00, 8);
      host_read(at, 8, MemReadBlock, d, bad);
      `CHECK(d == value && !bad, "64 bits of registers")
      host_write(at, ~value, left_out, 8);
      for (int k = 0; k < 8; k++) if (!left_out[k]) value[8*k+:8] = ~value[8*k+:8];
      host_read(at, 8, MemReadBlock, d, bad);
      `CHECK(d == value && !bad, "some bytes of registers")
      host_write(at + 4, ~value, 8'h0f, 4);
      host_read(at, 4, MemReadDword, d, bad);
      `CHECK(d == {value[31:0], value[31:0]} && !bad, "lower register")
      host_read(at + 4, 4, i[0] ? MemReadDword : MemReadBlock, d, bad);
      `CHECK(d == {2{~value[63:32]}} && !bad, "upper register")
      `CHECK(accesses[i&1] - accessed == 9 + 32'(left_out[3:0] != '1) + 32'(left_out[7:4] != '1),
             "accesses to registers that are not meant, or too few")
    end
    host_read(Bar + 16, 16, MemReadBlock, d, bad);
    `CHECK(bad && !host_aborted, "a long read of registers")
    host_read(Bar + 64'h2_0028, 4, MemReadDword, d, bad);
    `CHECK(bad, "a read of a window")
    `CHECK(counts[0]["bad_read"] == 2, "bad reads counted")
    // More writes than are held: the card puts the host off, and loses none; a read comes after them.
    ack_percent = 4;
    for (int i = 0; i < 40; i++) host_post(Bar + 64'(i * 8), {32'(i), ~32'(i)}, 8'h00, 8);
    host_read(Bar + 39 * 8, 8, MemReadBlock, d, bad);
    `CHECK(d == {32'd39, ~32'd39}, "a read after the writes")
    for (int i = 0; i < 40; i++)
      `CHECK(
          g_card[0].i_registers.words[15'(i*2)] == ~32'(i) && g_card[0].i_registers.words[15'(i*2+1)] == 32'(i),
          "lost")
    `CHECK(counts[0]["retry_given"] != 0, "the card never said retry")
    ack_percent = 100;

    // Windows; a command longer than a transaction starts again at the window.
    order(0, 3, 0, 1, Bar + 64'h6_0000, 1);
    order(0, 2, 0, 1, Bar + 64'h6_1000, 4);
    order(1, 3, 0, 1, Bar + 64'h3_e000, 1200);
    settle();
    foreach (WordsOf[i]) begin
      throughput(1, WordsOf[i], ManyOf[i]);
      throughput(2, WordsOf[i], ManyOf[i]);
    end

    // Everything at once.
    for (int round = 0; round < 8; round++) begin
      ready_percent = $urandom_range(100, 20);
      gap_percent = $urandom_range(80);
      retry_percent = round < 2 ? 0 : $urandom_range(60);
      disconnect_percent = round < 2 ? 0 : $urandom_range(30);
      piece_percent = round < 2 ? 0 : $urandom_range(100);
      latency = $urandom_range(100);
      for (int i = 0; i < 60; i++) begin
        automatic int c = $urandom_range(1), k = $urandom_range(3);
        automatic int words = $urandom_range(80, 1);
        automatic logic [63:0] at = 64'((c * 4 + k) << 20) + 64'(8 * $urandom_range(4000));
        if ($urandom_range(9) == 0) words = $urandom_range(1300, 1);
        if ($urandom_range(3) == 0 && k >= 2) begin
          at = Bar + 64'((1 - c) << 18) + 64'h2_0000 + 64'((c * 4 + k) << 13) + 64'(k[0] << 12);
          order(c, k, 0, 1, at, words);
        end else order(c, k, $urandom_range(1), $urandom_range(3) == 0, at, words);
      end
      settle();
    end
    `CHECK(
        counts[0]["retry"] + counts[1]["retry"] <= retries + counts[0]["retry_given"] + counts[1]["retry_given"],
        "more retries than were given")
    for (int c = 0; c < Cards; c++) begin
      `CHECK(counts[c]["retry"] != 0 && counts[c]["disconnect"] != 0, "faults did not come")
      `CHECK(counts[c]["unexpected_split"] == 0 && counts[c]["master_abort"] == 0, "false alarm")
    end

    // What fails, between what works.
    retry_percent = 0;
    disconnect_percent = 0;
    for (int i = 0; i < 3; i++) begin
      order(0, i, 0, 0, 64'h0_1000, 3);
      order(0, i, 0, 0, 64'he000_0000, 20, ChannelAbort);
      order(0, i, 1, 0, 64'h0_1000, 3);
      order(0, i, 1, 0, 64'he000_0000, 20, ChannelAbort);
      order(0, i, 0, 0, 64'ha000_0000, 700, ChannelAbort);
      order(0, i, 1, 0, 64'ha000_0000, 1, ChannelAbort);
      order(0, i, 1, 0, 64'hd000_0000, 600, ChannelSplitError);
      order(0, i, 1, 0, 64'h0_1000, 3);
      settle();
    end
    `CHECK(counts[0]["master_abort"] == 6 && counts[0]["target_abort"] == 6, "aborts counted")
    `CHECK(counts[0]["split_error"] == 3, "error messages counted")
    timeout = 300;
    latency = 2000;
    order(1, 0, 1, 0, 64'h0_1000, 5, ChannelTimeout);
    settle();
    `CHECK(counts[1]["split_timeout"] == 1 && counts[1]["unexpected_split"] == 1, "late data")
    latency = 20;
    order(1, 0, 1, 0, 64'h0_1000, 3);
    settle();
    `CHECK(counts[0]["unexpected_split"] == 0, "all others in time")
    config_read(1, 6'h11, d[31:0]);
    `CHECK(d[19] && !d[29], "status remembers")
    repeat (8) @(posedge clk);
    for (int c = 0; c < Cards; c++) begin
      `CHECK(counts[c]["word_out"] == words_out[c] && words_out[c] > 1000, $sformatf(
             "card %0d: %0d words out are %0d", c, words_out[c], counts[c]["word_out"]))
      `CHECK(counts[c]["word_in"] == words_in[c] && words_in[c] > 1000, $sformatf(
             "card %0d: %0d words in are %0d", c, words_in[c], counts[c]["word_in"]))
    end
    `TB_PASS
  end

  localparam int WordsOf[4] = '{1, 9, 100, 512};
  localparam int ManyOf[4] = '{200, 150, 30, 8};
endmodule
