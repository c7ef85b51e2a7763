// SPDX-License-Identifier: Apache-2.0
`include "tb.svh"
`include "pins_logic_tb.svh"
`include "stream.svh"
/// ptile_pcie for both widths of the logic's beats against a model of the block: random TLPs of every size both ways, headers and
/// payloads to the bit, the clocks in which the block may be driven and drives, no gap inside a TLP, reads within the block's
/// room, settings and credits by turns, resets of function 0 alone, after which reads have
/// all of that room, and how many segments go in a clock when
/// nothing holds them up.
module ptile_pcie_tb;
  `TB_BEGIN
  `TB_TIMEOUT(100_000)
  logic [1:0] done;
  int unsigned made[2];
  for (genvar s = 0; s < 2; s++) begin : g_side
    ptile_side_tb #(
        .BeatBytes((s + 1) * pcie_pkg::TlpBeatBytes)
    ) i_side (
        .clk,
        .rst,
        .done_o  (done[s]),
        .checks_o(made[s])
    );
  end
  `TB_PASS_WITH(done, made)
endmodule

/// One of them.
module ptile_side_tb
  import pcie_pkg::*;
  import ptile_pkg::*;
#(
    parameter int BeatBytes = TlpBeatBytes  // of the logic
) (
    input logic clk,
    input logic rst,
    output logic done_o,
    output int unsigned checks_o
);
  localparam int Lines = 96, BeatDws = BeatBytes / 4, SegDws = PTileSegBytes / 4;
  typedef struct packed {
    logic sop;
    logic eop;
    logic [127:0] hdr;
    logic [8*BeatBytes-1:0] data;
  } beat_t;
  typedef logic [31:0] words_t[$];
  typedef struct {
    logic [127:0] hdr;
    words_t words;
  } tlp_t;
  int unsigned checks = 0;
  assign checks_o = checks;

  ptile_in_t block = '{default: '0};
  ptile_out_t logic_pins;
  block_state_t state;
  logic reset_done = 0;
  `STREAM_ON(beat_t, rx, clk, rst)
  `STREAM_ON(beat_t, tx, clk, rst)
  `STREAM_ON(mem4_hdr_t, read, clk, rst)
  ptile_pcie #(
      .Sent(beat_t),
      .Received(beat_t),
      .Lines(Lines)
  ) dut (
      .clk_i(clk),
      .rst_i(rst),
      .ptile_i(block),
      .ptile_o(logic_pins),
      .state_o(state),
      .function_reset_done_i(reset_done),
      .rx,
      .tx,
      .read
  );

  // ---------------------------------------------------------------- what the logic sends
  int unsigned
      write_percent = 40, read_percent = 30, ready_percent = 60, rx_percent = 60, take_percent = 60;
  logic rx_ready = 0;
  assign rx.ready = rx_ready;
  pins_logic #(
      .Beat(beat_t)
  ) i_logic (
      .clk,
      .rst,
      .write_percent,
      .read_percent,
      .tx,
      .read
  );

  tlp_t want_tx[$], want_rx[$];
  mem4_hdr_t want_read[$], to_serve[$];
  bit open[512] = '{default: 0};
  int unsigned held[512] = '{default: 0};  // lines: back when the logic has seen a request's end
  int unsigned next_tag = 0, lines_open = 0;

  function automatic tlp_t random_tlp(logic [7:0] fmt_type, int dws);
    tlp_t t;
    t.hdr = {4{$urandom()}};
    t.hdr[127:120] = fmt_type;
    t.hdr[105:96] = 10'(dws);
    repeat (fmt_type[6] ? dws : 0) t.words.push_back($urandom());
    return t;
  endfunction
  function automatic void send(tlp_t t);
    i_logic.queue_beats(t.hdr, t.words);
    want_tx.push_back(t);
  endfunction
  function automatic int lines_of(mem4_hdr_t h);
    return (int'(h.addr[5:2]) + (h.dw0.length == 0 ? 1024 : int'(h.dw0.length)) + 15) / 16;
  endfunction
  function automatic int tag_of(tlp_t t);
    cpl_hdr_t c = t.hdr;
    return int'({c.dw0.tag9, c.tag});
  endfunction
  function automatic bit ends(tlp_t t);
    cpl_hdr_t c = t.hdr;
    return c.status != StatusSC || (c.byte_count != 0 && int'(c.byte_count) <= 4 * t.words.size());
  endfunction
  function automatic void answered(tlp_t t);
    int tag = tag_of(t);
    if (ends(t)) open[tag] = 0;
  endfunction
  function automatic void ask(int dws);
    mem4_hdr_t h;
    if (open[next_tag]) return;
    h = {4{$urandom()}};
    h.dw0.fmt_type = MRd4;
    h.dw0.length = 10'(dws);
    {h.dw0.tag9, h.dw0.tag8, h.tag} = wide_tag_of(9'(next_tag));
    h.addr[11:0] = 12'($urandom_range(1024 - dws) * 4);
    open[next_tag] = 1;
    next_tag = (next_tag + 1) % 512;
    i_logic.queue_read(h);
    want_read.push_back(h);
  endfunction

  // ---------------------------------------------------------------- the block's transmit side
  bit [PTileTxLatency:0] tx_ready = '0;
  bit in_tlp = 0;
  tlp_t taking;
  int unsigned segs_out = 0, went = 0;
  task automatic took();
    if (taking.hdr[127:120] == MRd4) begin
      mem4_hdr_t h;
      h = taking.hdr;
      `CHECK(want_read.size() != 0 && h == want_read.pop_front(), "not the read that was asked for")
      lines_open += lines_of(h);
      held[{h.dw0.tag9, h.tag}] = lines_of(h);
      `CHECK(lines_open <= Lines, "more was asked for than there is room")
      to_serve.push_back(h);
    end else begin
      tlp_t want;
      `CHECK(want_tx.size() != 0, "a TLP that was not sent")
      want = want_tx.pop_front();
      `CHECK(taking.hdr == want.hdr && taking.words.size() == want.words.size(), "header or length")
      foreach (want.words[i]) `CHECK(taking.words[i] == want.words[i], "payload")
      went++;
    end
  endtask
  always @(posedge clk) begin
    if (!rst) begin
      bit allowed;
      allowed = tx_ready[PTileTxLatency-1];  // ready was so many clocks ago
      `CHECK(allowed || logic_pins.tx_st_valid == '0, "valid outside of a ready clock")
      for (int s = 0; s < PTileSegs; s++) begin
        if (in_tlp && allowed) `CHECK(logic_pins.tx_st_valid[s], "a gap inside a TLP")
        if (logic_pins.tx_st_valid[s]) begin
          int left;
          segs_out++;
          `CHECK(logic_pins.tx_st_sop[s] == !in_tlp, "sop")
          if (!in_tlp) begin
            taking.hdr = logic_pins.tx_st_hdr[128*s+:128];
            taking.words.delete();
          end
          left = taking.hdr[126] ? (taking.hdr[105:96] == 0 ? 1024 : int'(taking.hdr[105:96])) : 0;
          left -= taking.words.size();
          for (int i = 0; i < SegDws && i < left; i++)
          taking.words.push_back(logic_pins.tx_st_data[256*s+32*i+:32]);
          `CHECK(logic_pins.tx_st_eop[s] == (left <= SegDws), "eop")
          in_tlp = left > SegDws;
          if (!in_tlp) took();
        end
      end
    end
    tx_ready = {tx_ready[PTileTxLatency-1:0], block.tx_st_ready};
    block.tx_st_ready <= !rst && $urandom_range(99) < ready_percent;
  end

  // ---------------------------------------------------------------- its receive side
  bit [PTileRxLatency:0] rx_allowed = '0;
  tlp_t to_logic[$], giving;
  int unsigned given = 0;
  bit busy = 0, silent = 0;
  // Answers in pieces, those of several reads mixed.
  function automatic void answer();
    int which = $urandom_range(to_serve.size() - 1);
    mem4_hdr_t h = to_serve[which];
    int dws = h.dw0.length == 0 ? 1024 : int'(h.dw0.length), piece;
    bit fails = $urandom_range(9) == 0;
    tlp_t t;
    cpl_hdr_t c;
    to_serve.delete(which);
    for (int at = 0; at < dws; at += piece) begin
      // To the next 64 bytes at least.
      piece = 16 * $urandom_range(4, 1) - (at == 0 ? int'(h.addr[5:2]) : 0);
      if (piece > dws - at) piece = dws - at;
      t = random_tlp(fails ? Cpl : CplD, piece);
      c = t.hdr;
      c.status = fails ? StatusUR : StatusSC;
      c.byte_count = 12'(4 * (dws - at));
      {c.dw0.tag9, c.dw0.tag8, c.tag} = {h.dw0.tag9, h.dw0.tag8, h.tag};
      c.lower_addr = 7'(h.addr[6:0]) + 7'(4 * at);
      t.hdr = c;
      to_logic.push_back(t);
      if (fails) break;
    end
  endfunction
  always @(posedge clk) begin
    bit allowed;
    if (to_serve.size() != 0 && to_logic.size() < 20 && !silent) answer();
    allowed = rx_allowed[PTileRxLatency-1];
    rx_allowed = {rx_allowed[PTileRxLatency-1:0], logic_pins.rx_st_ready && !rst};
    block.rx_st_valid <= '0;
    block.rx_st_data  <= {16{$urandom()}};
    block.rx_st_hdr   <= {8{$urandom()}};
    block.rx_st_sop   <= '0;
    block.rx_st_eop   <= '0;
    if (!rst && allowed && $urandom_range(99) < rx_percent) begin
      for (int s = 0; s < PTileSegs; s++) begin
        if (!busy && to_logic.size() == 0) break;
        if (!busy && s == 0 && rx_percent < 100 && $urandom_range(3) == 0) continue;
        if (!busy) begin
          giving = to_logic.pop_front();
          want_rx.push_back(giving);
          block.rx_st_hdr[128*s+:128] <= giving.hdr;
          block.rx_st_sop[s] <= 1;
          if (giving.hdr[127:120] inside {Cpl, CplD}) answered(giving);
        end
        block.rx_st_valid[s] <= 1;
        for (int i = 0; i < SegDws && giving.words.size() != 0; i++)
        block.rx_st_data[256*s+32*i+:32] <= giving.words.pop_front();
        block.rx_st_eop[s] <= giving.words.size() == 0;
        busy = giving.words.size() != 0;
        if (!busy) given++;
      end
    end
  end

  // ---------------------------------------------------------------- what the logic receives
  int unsigned got = 0, at = 0;
  task automatic receive();
    tlp_t   want;
    words_t words;
    int dws, tag;
    `CHECK(want_rx.size() != 0 && rx.data.sop == (at == 0), "a beat too many, or sop")
    want  = want_rx[0];
    words = want.words;
    dws   = words.size();
    tag   = tag_of(want);
    `CHECK(!rx.data.sop || rx.data.hdr == want.hdr, "header")
    for (int i = int'(at); i < dws && i < int'(at) + BeatDws; i++)
      `CHECK(rx.data.data[32*(i-int'(at))+:32] == words[i], "payload")
    `CHECK(rx.data.eop == (int'(at) + BeatDws >= dws), "eop")
    if (rx.data.sop && want.hdr[127:120] inside {Cpl, CplD} && ends(want)) begin
      lines_open -= held[tag];
      held[tag] = 0;
    end
    at = rx.data.eop ? 0 : at + BeatDws;
    if (rx.data.eop) begin
      got++;
      void'(want_rx.pop_front());
    end
  endtask
  always @(posedge clk) begin
    if (!rst && rx.valid && rx_ready) receive();
    rx_ready <= !rst && $urandom_range(99) < take_percent;
  end

  // ---------------------------------------------------------------- function resets: function 0 is the only one there is
  always @(posedge clk) begin
    `CHECK(logic_pins.flr_completed_pf == {7'd0, reset_done}, "end of another function's reset")
    `CHECK(state.function_reset == block.flr_rcvd_pf[0], "reset of another function")
    reset_done <= 1'($urandom());
    block.flr_rcvd_pf[7:1] <= 7'($urandom());
  end

  // ---------------------------------------------------------------- settings and credits
  logic [15:0] setting[32], limit[8];
  logic [4:0] add = 0;
  always @(posedge clk) begin
    add <= add + 1'b1;
    block.tl_cfg_add <= add;
    block.tl_cfg_ctl <= setting[add];
    block.tl_cfg_func <= 3'($urandom_range(3) == 0);
    if ($urandom_range(3) == 0) block.tl_cfg_func <= 0;
    block.tx_cdts_limit_tdm_idx <= add[2:0];
    block.tx_cdts_limit <= limit[add[2:0]];
  end
  task automatic settings();
    foreach (setting[i]) setting[i] = 16'($urandom());
    foreach (limit[i]) limit[i] = 16'($urandom());
    block.wide_tag_en = 1'($urandom());
    repeat (400) @(posedge clk);
    `CHECK(state.cfg.requester_id == {setting[1][7:0], setting[1][12:8], 3'd0}, "number")
    `CHECK(
        {state.cfg.bus_master, state.cfg.extended_tag, state.cfg.max_read_request, state.cfg.max_payload} == setting[0][7:0] && state.cfg.relaxed_ordering == setting[1][13],
        "control")
    `CHECK(state.cfg.msix_enable == setting[12][5] && state.cfg.msix_mask == setting[12][6],
           "MSI-X")
    `CHECK(state.cfg.wide_tag == block.wide_tag_en, "tags of 10 bits")
    `CHECK(
        state.fc.ph == limit[0][7:0] && state.fc.nph == limit[1][7:0] && state.fc.cplh == limit[2][7:0] && state.fc.pd == limit[4][11:0] && state.fc.cpld == limit[6][11:0],
        "limits")
    `CHECK(!state.fc.p_inf && !state.fc.np_inf && state.fc.cpl_inf,
           "no limit for completions alone")
  endtask

  task automatic settle();
    for (
        int patience = 0;
        want_tx.size() + want_read.size() + want_rx.size() + to_serve.size() +
         to_logic.size() != 0 || busy;
        patience++
    ) begin
      @(posedge clk);
      `CHECK(patience < 30_000, "TLPs are stuck")
    end
    repeat (5) @(posedge clk);
    `CHECK(lines_open == 0, "lines are not back")
  endtask

  initial begin
    int unsigned start;
    done_o = 0;
    foreach (setting[i]) setting[i] = '0;
    foreach (limit[i]) limit[i] = i == 2 || i == 6 ? '0 : 16'd64;
    @(negedge rst);
    repeat (30) @(posedge clk);
    `CHECK({state.fc.ph, state.fc.nph, state.fc.p_inf, state.fc.np_inf, state.fc.cpl_inf} == '0,
           "credits before the link is up")
    block.dl_up = 1;
    repeat (30) @(posedge clk);
    repeat (3) settings();
    for (int round = 0; round < 40; round++) begin
      write_percent = $urandom_range(100, 20);
      read_percent = $urandom_range(100, 20);
      ready_percent = round % 4 == 0 ? 100 : $urandom_range(100, 20);
      rx_percent = round % 4 == 1 ? 100 : $urandom_range(100, 20);
      take_percent = round % 4 == 2 ? 5 : $urandom_range(100, 20);
      for (int n = 0; n < 40; n++) begin
        case ($urandom_range(
            4
        ))
          0: send(random_tlp(MWr4, $urandom_range(round[0] ? 20 : 256, 1)));
          1: send(random_tlp(CplD, $urandom_range(20, 1)));
          2: send(random_tlp(Cpl, $urandom_range(20)));
          3: to_logic.push_back(random_tlp(round[1] ? MWr3 : MRd4, $urandom_range(40, 1)));
          default: ask($urandom_range(round[2] ? 1024 : 40, 1));
        endcase
      end
      settle();
    end
    // Frames of 60 bytes and reads beside them: three segments for two, two of them in every clock.
    {write_percent, read_percent, ready_percent, rx_percent, take_percent} = {5{32'd100}};
    repeat (600) send(random_tlp(MWr4, 15));
    repeat (50) @(posedge clk);
    start = segs_out;
    repeat (200) @(posedge clk);
    `CHECK(segs_out - start >= 398, $sformatf(
           "%0d segments of writes in 200 clocks", segs_out - start))
    settle();
    // Answers of 64 bytes, one in every clock.
    repeat (600) to_logic.push_back(random_tlp(MWr3, 16));
    repeat (50) @(posedge clk);
    start = got;
    repeat (200) @(posedge clk);
    `CHECK(got - start >= 199, $sformatf("%0d TLPs of 64 bytes in 200 clocks", got - start))
    settle();
    // What waits for an answer when the function is reset gets none, and its lines are free when the host enables it again.
    silent = 1;
    repeat (3) begin
      repeat (3) ask(400);
      repeat (200) @(posedge clk);
      `CHECK(want_read.size() == 0 && lines_open > Lines - 25, "room is left")
      setting[0][7] = 0;
      repeat (70) @(posedge clk);
      block.flr_rcvd_pf[0] <= 1;
      repeat (5) @(posedge clk);
      block.flr_rcvd_pf[0] <= 0;
      repeat (70) @(posedge clk);
      `CHECK(!state.cfg.bus_master, "the function is enabled")
      setting[0][7] = 1;
      repeat (70) @(posedge clk);
      to_serve.delete();
      lines_open = 0;
      foreach (open[i]) {open[i], held[i]} = '0;
    end
    silent = 0;
    repeat (3) ask(1024);
    settle();
    done_o = 1;
  end
endmodule
