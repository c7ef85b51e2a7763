// SPDX-License-Identifier: Apache-2.0
`include "tb.svh"
`include "stream.svh"
/// window_writer and window_reader back to back: two channels and a stream of other requests through tlp_tx_mux, under random
/// back-pressure and payload limits. Each TLP is checked by itself (length, border, header, enables), the words that come out
/// against those that went in, window by window and in order; what is sent after a `done` must arrive after all before it;
/// broken writes are dropped, other requests pass unchanged; one word a clock both ways.
module window_tb;
  import pcie_pkg::*;
  import channel_pkg::channel_cmd_t;
  import channel_pkg::channel_result_e;
  import channel_pkg::ChannelOk;
  import channel_pkg::window_word_t;
  `TB_BEGIN
  `TB_TIMEOUT(400_000)
  localparam logic [63:0] Low = 64'hE004_0000, High = 64'h12_3404_0000;  // BARs below and above 4 GB

  pcie_cfg_t cfg = '0;
  fc_limit_t fc = '0;
  `STREAM_ON(channel_cmd_t, cmd[2], clk, rst)
  `STREAM_ON(logic [63:0], wdata[2], clk, rst)
  `STREAM_ON(channel_result_e, done[2], clk, rst)
  `STREAM_ON(tlp_beat_t, out[3], clk, rst)
  `STREAM_ON(tlp_beat_t, link, clk, rst)
  `STREAM_ON(tlp_beat_t, in, clk, rst)
  `STREAM_ON(tlp_beat_t, other, clk, rst)
  `STREAM_ON(window_word_t, recv, clk, rst)
  logic [1:0] sent;
  logic [1:0] cmd_valid = '0, cmd_ready, wdata_valid = '0, wdata_ready, done_valid;
  channel_cmd_t cmd_data[2];
  logic [63:0] wdata_data[2];
  channel_result_e done_data[2];
  logic [2:0] starved;
  logic unused_busy;
  logic dropped, word_in;
  for (genvar i = 0; i < 2; i++) begin : g_channel
    assign cmd[i].valid = cmd_valid[i];
    assign cmd[i].data = cmd_data[i];
    assign cmd_ready[i] = cmd[i].ready;
    assign wdata[i].valid = wdata_valid[i];
    assign wdata[i].data = wdata_data[i];
    assign wdata_ready[i] = wdata[i].ready;
    assign done_valid[i] = done[i].valid;
    assign done_data[i] = done[i].data;
    assign done[i].ready = 1'b1;
    window_writer #(
        .MaxPayload(512)
    ) i_writer (
        .clk_i(clk),
        .rst_i(rst),
        .cfg_i(cfg),
        .cmd(cmd[i]),
        .wdata(wdata[i]),
        .done(done[i]),
        .tlp(out[i]),
        .sent_o(sent[i])
    );
  end
  tlp_tx_mux #(
      .N(3),
      .Posted(3'b111)
  ) i_mux (
      .clk_i(clk),
      .rst_i(rst),
      .fc_i(fc),
      .starved_o(starved),
      .closed_i(1'b0),
      .busy_o(unused_busy),
      .in(out),
      .out(link)
  );
  window_reader i_reader (
      .clk_i(clk),
      .rst_i(rst),
      .in,
      .other,
      .recv,
      .dropped_o(dropped),
      .word_o(word_in)
  );

  logic req_valid = 0, recv_ready = 0, other_ready = 0;
  tlp_beat_t req_data;
  assign out[2].valid = req_valid;
  assign out[2].data  = req_data;
  wire req_ready = out[2].ready;
  assign recv.ready  = recv_ready;
  assign other.ready = other_ready;

  // The link: passes beats or holds them.
  int unsigned gap_percent = 0, link_percent = 100, recv_percent = 100;
  logic open = 0;
  assign in.valid   = link.valid && open;
  assign in.data    = link.data;
  assign link.ready = in.ready && open;
  always @(posedge clk) begin
    // A beat that was shown stays.
    if (!(in.valid && !in.ready)) open <= $urandom_range(99) < link_percent;
    recv_ready  <= $urandom_range(99) < recv_percent;
    other_ready <= $urandom_range(99) < recv_percent;
  end

  // What was sent: words by window and half, in order; how many words each channel had out at each `done`.
  logic [63:0] want[32][$];
  tlp_beat_t want_other[$];
  int unsigned arrived = 0, must_have[32][$], drops = 0, want_drops = 0, tlps = 0;

  // Checks a TLP as it crosses the link, and says where its words go.
  int unsigned beats_left = 0;
  always @(posedge clk) begin
    if (!rst && in.valid && in.ready) begin
      automatic mem4_hdr_t h = in.data.hdr;
      if (in.data.sop) begin
        automatic logic [63:0] a = h.dw0.fmt_type == MWr4 ? h.addr : {32'h0, h.addr[63:32]};
        automatic int unsigned n = 4 * (h.dw0.length == 0 ? 1024 : 32'(h.dw0.length));
        `CHECK(beats_left == 0, "a TLP inside a TLP")
        if (h.requester_id == 16'h1234) begin
          `CHECK(h.dw0.fmt_type == (a >> 32 == 0 ? MWr3 : MWr4), "header form")
          `CHECK(n <= 128 << cfg.max_payload && n <= 512, "longer than the maximum payload")
          `CHECK(32'(a[11:0]) + n <= 4096, "crosses 4 kB")
          `CHECK(h.first_be == 4'hf && h.last_be == 4'hf, "byte enables")
          tlps++;
        end
        beats_left = h.dw0.fmt_type[6] ? (n + 63) / 64 : 1;
      end
      `CHECK(beats_left != 0, "beat without a TLP")
      beats_left--;
      `CHECK(in.data.eop == (beats_left == 0), "end")
    end
    if (!rst && recv.valid && recv.ready) begin
      automatic int unsigned w = 2 * 32'(recv.data.window) + 32'(recv.data.message);
      `CHECK(want[w].size() != 0, $sformatf("a word too many in %0d", w))
      `CHECK(recv.data.data === want[w].pop_front(), $sformatf("wrong word in %0d", w))
      if (recv.data.message && must_have[w].size() != 0) begin
        `CHECK(recv.data.first, "a message begins its TLP")
        `CHECK(arrived >= must_have[w].pop_front(), "overtook what was done before it")
      end
      arrived++;
    end
    if (!rst && other.valid && other.ready) begin
      `CHECK(want_other.size() != 0 && other.data === want_other.pop_front(), "other requests")
    end
    if (dropped) drops++;
  end

  // Words that had left when the last command was done.
  int unsigned given = 0, settled = 0;

  // A beat is shown from the middle of a clock on; ends in the middle of the one after it moved.
  task automatic until_ready(int unsigned ch, int unsigned what);
    #1;
    while (!(what == 0 ? cmd_ready[ch[0]] : what == 1 ? wdata_ready[ch[0]] : req_ready)) begin
      @(negedge clk);
      #1;
    end
    @(negedge clk);
  endtask

  // Runs a write of the channel to its end.
  task automatic write(int unsigned ch, logic [63:0] addr, logic fixed, int unsigned words);
    automatic int unsigned w = 2 * 32'(addr[16:13]) + 32'(addr[12]);
    cmd_valid[ch] = 1'b1;
    cmd_data[ch]  = '{read: 1'b0, fixed: fixed, addr: addr, bytes: 16'(8 * words)};
    if (ch == 0) must_have[w].push_back(settled);
    until_ready(ch, 0);
    cmd_valid[ch] = 1'b0;
    for (int unsigned i = 0; i < words; i++) begin
      automatic logic [63:0] value = {$urandom, $urandom};
      automatic logic [63:0] at = addr + 64'(8 * i);
      while ($urandom_range(99) < gap_percent) @(negedge clk);
      wdata_valid[ch] = 1'b1;
      wdata_data[ch]  = value;
      // Without `fixed` the words run on into the next halves.
      if (fixed) want[w].push_back(value);
      else want[2*32'(at[16:13])+32'(at[12])].push_back(value);
      until_ready(ch, 1);
      wdata_valid[ch] = 1'b0;
    end
    given += words;
    do @(negedge clk); while (!done_valid[ch]);
    `CHECK(done_data[ch] == ChannelOk, "result")
  endtask

  // Bursts one after the other, and messages beside them; each burst is followed by a message that may not overtake it.
  task automatic traffic(int unsigned commands, logic [63:0] bar);
    for (int unsigned k = 0; k < commands; k++) begin
      automatic int unsigned words = $urandom_range(1, 700);
      automatic logic [63:0] window = bar + 64'h2_0000 + 64'($urandom_range(15)) * 64'h2000;
      automatic int unsigned already = given;
      fork
        write(1, window, 1'b1, words);
        // Of another window, at the same time.
        write(0, (window ^ 64'h2000) + 64'h1000, 1'b1, 1);
      join
      settled = already + words;
      write(0, window + 64'h1000, 1'b1, 1);
      settled = 0;
    end
  endtask

  task automatic request(tlp_beat_t b, logic passes);
    req_valid = 1'b1;
    req_data  = b;
    if (passes) want_other.push_back(b);
    else want_drops++;
    until_ready(2, 2);
    req_valid = 1'b0;
  endtask

  // Register accesses and nonsense, one beat each.
  task automatic others(int unsigned count);
    for (int unsigned k = 0; k < count; k++) begin
      automatic tlp_beat_t   b = '0;
      automatic mem3_hdr_t   h = '0;
      automatic int unsigned kind = $urandom_range(5);
      h.dw0.fmt_type = kind == 1 || kind == 2 ? MRd3 : MWr3;
      h.dw0.length = kind == 3 ? 10'd3 : 10'd2;
      h.first_be = kind == 4 ? 4'he : 4'hf;
      h.last_be = 4'hf;
      h.dw0.ep = kind == 5;
      h.addr = 32'(Low) + (kind inside {0, 1} ? 32'h120 : 32'h2_4000);
      h.tag = 8'(k);
      b.hdr = h;
      b.sop = 1'b1;
      b.eop = 1'b1;
      for (int i = 0; i < 16; i++) b.data[32*i+:32] = $urandom;
      request(b, kind < 3);
      repeat ($urandom_range(20)) @(negedge clk);
    end
  endtask

  function automatic int unsigned missing();
    missing = 0;
    for (int w = 0; w < 32; w++) missing += want[w].size();
  endfunction

  initial begin
    automatic int unsigned start, clocks;
    cfg.requester_id = 16'h1234;
    cfg.max_payload = 3'd1;
    fc = '{p_inf: 1'b1, np_inf: 1'b1, cpl_inf: 1'b1, default: '0};
    wait (!rst);
    @(negedge clk);

    // Nothing begins before the driver allows it.
    cmd_valid[0] = 1'b1;
    cmd_data[0]  = '{read: 1'b0, fixed: 1'b1, addr: Low + 64'h2_1000, bytes: 16'd8};
    repeat (20) begin
      @(negedge clk);
      `CHECK(!cmd_ready[0], "not bus master")
    end
    cfg.bus_master = 1'b1;
    write(0, Low + 64'h2_1000, 1'b1, 1);

    // One word a clock: a command of 4000 words to a window, from the first word given to the last one out.
    start = $time / 10;
    write(1, Low + 64'h2_0000, 1'b1, 4000);
    while (missing() != 0) @(negedge clk);
    clocks = $time / 10 - start;
    `CHECK(clocks < 4000 + 80, $sformatf("%0d clocks for 4000 words", clocks))
    // Memory rather than a window: addresses run on, across a 4 kB border and the windows.
    write(1, Low + 64'h2_0f48, 1'b0, 300);

    for (int unsigned round = 0; round < 12; round++) begin
      cfg.max_payload = 3'($urandom_range(3));
      gap_percent = round % 2 * 30;
      link_percent = round % 3 == 1 ? 40 : 100;
      recv_percent = round % 4 == 3 ? 50 : 100;
      @(negedge clk);
      fork
        traffic(6, round % 2 == 0 ? Low : High);
        others(60);
      join
    end
    while (missing() != 0 || want_other.size() != 0) @(negedge clk);
    repeat (100) @(negedge clk);
    `CHECK(drops == want_drops && drops > 0, "broken writes dropped")
    `CHECK(tlps > 100, "few TLPs")
    `TB_PASS
  end
endmodule
