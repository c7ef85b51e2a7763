// SPDX-License-Identifier: Apache-2.0
// suite: once
// compile: quickly
// of: pcie_pins usplus_unpack
`include "tb.svh"
`include "pins_logic_tb.svh"
`include "stream.svh"
/// usplus_pcie, as pcie_pins has it with straddle and without, for both widths of the logic's beats, each against a model of the block's four interfaces: random TLPs of every size
/// both ways, every field of every descriptor, what the block forbids (a gap inside a TLP, a place where none may begin, more
/// reads than it has room for), that neither writes nor reads take the other's part, how many TLPs go in a clock when nothing holds them up, and completions while no request is taken.
module usplus_pcie_tb;
  `TB_BEGIN
  `TB_TIMEOUT(400_000)
  logic [3:0] done;
  int unsigned made[4];
  for (genvar s = 0; s < 4; s++) begin : g_side
    usplus_side_tb #(
        .Straddle (s % 2 == 1),
        .BeatBytes(s / 2 == 1 ? pcie_pkg::WideTlpBytes : pcie_pkg::TlpBeatBytes)
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
module usplus_side_tb
  import pcie_pkg::*;
  import usplus_pkg::*;
  import pins_pkg::*;
#(
    parameter bit Straddle  = 1,
    parameter int BeatBytes = TlpBeatBytes  // of the logic
) (
    input logic clk,
    input logic rst,
    output logic done_o,
    output int unsigned checks_o
);
  localparam int Lines = 96;
  localparam int BeatDws = BeatBytes / 4;
  typedef struct packed {
    logic sop;
    logic eop;
    logic [127:0] hdr;
    logic [8*BeatBytes-1:0] data;
  } sent_t;
  localparam int Rounds = 1500;
  typedef logic [31:0] words_t[$];
  int unsigned checks = 0, ready_percent = 60;
  assign checks_o = checks;

  usplus_in_t block_in = '{default: '0};
  usplus_out_t block_out;
  block_state_t state;
  logic reset_done = 0;
  function_done_t virtual_done = '0;
  pcie_pins_out_t all_out;
  assign block_out = all_out.usplus;
  `STREAM_ON(tlp_beat_t, req, clk, rst)
  `STREAM_ON(sent_t, rx, clk, rst)
  `STREAM_ON(sent_t, tx, clk, rst)
  `STREAM_ON(mem4_hdr_t, read, clk, rst)
  pcie_pins #(
      .Sent(sent_t),
      .Received(sent_t),
      .Interface(Straddle ? PinsUsPlus : PinsUsPlusPlain),
      .Lines(Lines)
  ) i_pins (
      .clk_i(clk),
      .rst_i(rst),
      .pins_i('{ideal: '{default: '0}, usplus: block_in, ptile: '{default: '0}}),
      .pins_o(all_out),
      .state_o(state),
      .function_reset_done_i(reset_done),
      .virtual_done_i(virtual_done),
      .rx,
      .req,
      .tx,
      .read
  );

  // ---- what the logic sends
  int unsigned write_percent = 40, read_percent = 20;
  logic rx_ready = 0, req_ready = 0;
  assign rx.ready = rx_ready;
  int unsigned req_percent = 60;
  assign req.ready = req_ready;
  pins_logic #(
      .Beat(sent_t)
  ) i_logic (
      .clk,
      .rst,
      .write_percent,
      .read_percent,
      .tx,
      .read
  );

  mem4_hdr_t want_write[$], want_read[$];
  cpl_hdr_t want_answer[$];
  words_t want_write_data, want_answer_data;

  function automatic words_t random_words(int n);
    words_t w;
    repeat (n) w.push_back($urandom());
    return w;
  endfunction
  function automatic tlp_dw0_t random_dw0(logic [7:0] fmt_type, int dws);
    tlp_dw0_t d = $urandom();
    d.fmt_type = fmt_type;
    d.length = 10'(dws);
    {d.tag9, d.tag8, d.ln, d.th, d.td} = '0;
    return d;
  endfunction
  function automatic mem4_hdr_t request(bit write, int dws);
    mem4_hdr_t h;
    bit wide = 1'($urandom());
    h.dw0 = random_dw0({1'b0, write, wide, 5'd0}, dws);
    h.requester_id = 16'($urandom());
    h.tag = 8'($urandom());
    h.first_be = 4'($urandom());
    h.last_be = 4'($urandom());
    h.addr = wide ? {$urandom(), $urandom()} & ~64'd3 | 64'h1_0000_0000 : {$urandom() & ~32'd3, 32'd0};
    return h;
  endfunction
  function automatic void send_write(int dws);
    mem4_hdr_t h = request(1, dws);
    words_t w = random_words(dws);
    i_logic.queue_beats(h, w);
    want_write.push_back(h);
    foreach (w[i]) want_write_data.push_back(w[i]);
  endfunction
  function automatic void send_answer(int dws);
    cpl_hdr_t h;
    words_t   w = random_words(dws);
    h = {4{$urandom()}};
    h.dw0 = random_dw0(dws > 0 ? CplD : Cpl, dws);
    i_logic.queue_beats(h, w);
    want_answer.push_back(h);
    foreach (w[i]) want_answer_data.push_back(w[i]);
  endfunction

  // Tags in use, as dma_read has them.
  bit tag_open[256] = '{default: 0};
  int unsigned tags_open = 0;
  logic [7:0] next_tag = 0;
  function automatic void send_read(int dws);
    mem4_hdr_t h = request(0, dws);
    if (tag_open[next_tag]) return;
    h.tag = next_tag;
    h.addr[45:34] = h.dw0.fmt_type[5] ? h.addr[45:34] : 12'($urandom_range(1023 - (dws - 1)));
    tag_open[next_tag] = 1;
    tags_open++;
    next_tag++;
    want_read.push_back(h);
    i_logic.queue_read(h);
  endfunction

  // ---- RQ and CC
  bit in_tlp[2] = '{default: 0};
  words_t words[2];
  logic [3:0] first_be, last_be;
  int unsigned lines_out = 0, dws_out = 0, most_lines = 0, most_dws = 0, writes = 0, reads = 0;
  int unsigned dws_by_tag[256];
  // Requests of one kind after each other while the other one waits, too.
  bit of_writes = 0;
  int unsigned turn = 0, longest_turn = 0;
  // Credits for reads: each is back some clocks after it was used, up to `most`. Known two clocks after its read was taken.
  int unsigned credits = 15, most = 15, back_percent = 100;
  logic [3:0] known[2] = '{default: 0};
  mem4_hdr_t to_serve[$];

  int line_dws = 16;  // the host cuts completions there
  function automatic int lines_of(mem4_hdr_t h);
    int low = int'(h.dw0.fmt_type[5] ? h.addr[6:2] : h.addr[38:34]) % line_dws;
    return (low + int'(dword_count(h.dw0.length)) + line_dws - 1) / line_dws;
  endfunction

  task automatic check_rq();
    rq_desc_t d = {words[0][3], words[0][2], words[0][1], words[0][0]};
    mem4_hdr_t h;
    bit write = d.req_type == UsMemWrite;
    `CHECK(d.req_type inside {UsMemWrite, UsMemRead}, "a request of another kind")
    `CHECK(write ? want_write.size() > 0 : want_read.size() > 0, "a request that was not sent")
    if (write) h = want_write.pop_front();
    else h = want_read.pop_front();
    turn = write == of_writes ? turn + 1 : 1;
    of_writes = write;
    if (want_write.size() != 0 && want_read.size() != 0)
      longest_turn = turn > longest_turn ? turn : longest_turn;
    `CHECK(d.addr == (h.dw0.fmt_type[5] ? h.addr[63:2] : 62'(h.addr[63:34])), "address")
    `CHECK(d.dword_count == dword_count(h.dw0.length), "length")
    `CHECK(
        d.attr == {h.dw0.attr_ido, h.dw0.attr_ro, h.dw0.attr_ns} && d.tc == h.dw0.tc && d.at == h.dw0.at,
        "attributes")
    `CHECK(d.tag == h.tag && d.requester_id == h.requester_id && d.poisoned == h.dw0.ep,
           "tag, requester, poisoned")
    `CHECK({d.force_ecrc, d.requester_id_enable, d.completer_id} == '0, "fields without use")
    `CHECK(first_be == h.first_be && last_be == h.last_be, "byte enables")
    `CHECK(words[0].size() == 4 + (write ? int'(d.dword_count) : 0), "payload's length")
    for (int i = 4; i < words[0].size(); i++)
      `CHECK(words[0][i] == want_write_data.pop_front(), "payload")
    if (write) begin
      writes++;
    end else begin
      reads++;
      lines_out += lines_of(h);
      most_lines = lines_out > most_lines ? lines_out : most_lines;
      dws_by_tag[h.tag] = int'(dword_count(h.dw0.length));
      dws_out += dws_by_tag[h.tag];
      most_dws = dws_out > most_dws ? dws_out : most_dws;
      `CHECK(lines_out <= Lines, "more reads than the block has room for")
      to_serve.push_back(h);
      `CHECK(credits > 0, "a read without credit")
      credits--;
    end
  endtask

  task automatic check_cc();
    cc_desc_t d = {words[1][2], words[1][1], words[1][0]};
    cpl_hdr_t h;
    int dws;
    `CHECK(want_answer.size() > 0, "a completion that was not sent")
    h   = want_answer.pop_front();
    dws = h.dw0.fmt_type == CplD ? int'(dword_count(h.dw0.length)) : 0;
    `CHECK(d.dword_count == 11'(dws) && words[1].size() == 3 + dws, "length")
    `CHECK(d.byte_count == {h.byte_count == 0, h.byte_count} && d.lower_addr == h.lower_addr,
           "byte count")
    `CHECK(d.status == h.status && d.poisoned == h.dw0.ep && d.at == h.dw0.at, "status")
    `CHECK(d.attr == {h.dw0.attr_ido, h.dw0.attr_ro, h.dw0.attr_ns} && d.tc == h.dw0.tc,
           "attributes")
    `CHECK(d.tag == h.tag && d.requester_id == h.requester_id && d.completer_id == h.completer_id,
           "who")
    `CHECK({d.force_ecrc, d.completer_id_enable, d.locked} == '0, "fields without use")
    for (int i = 3; i < words[1].size(); i++)
      `CHECK(words[1][i] == want_answer_data.pop_front(), "payload")
  endtask

  /// A beat of one of the two. Places of starts count 16 bytes.
  task automatic take(int w, logic [511:0] data, logic [1:0] sop, logic [1:0][1:0] sop_ptr,
                      logic [1:0] eop, logic [1:0][3:0] eop_ptr, bit straddle, logic [15:0] keep,
                      logic last);
    int s = 0, e = 0, used = 0;
    `CHECK(!(sop[1] && !sop[0]) && !(eop[1] && !eop[0]), "the second without the first")
    for (int d = 0; d < 16; d++) begin
      if (s < $countones(sop) && d == 4 * int'(sop_ptr[s])) begin
        `CHECK(!in_tlp[w] && (d == 0 || (straddle && d == 8 && e == 1)),
               "a TLP begins where none may")
        in_tlp[w] = 1;
        words[w].delete();
        if (w == 0)
          {first_be, last_be} = {block_out.rq_tuser.first_be[s], block_out.rq_tuser.last_be[s]};
        s++;
      end
      if (in_tlp[w]) words[w].push_back(data[32*d+:32]);
      if (in_tlp[w]) used = d + 1;
      if (e < $countones(eop) && d == int'(eop_ptr[e])) begin
        `CHECK(in_tlp[w], "an end without a TLP")
        in_tlp[w] = 0;
        e++;
        if (w == 0) check_rq();
        else check_cc();
      end
    end
    `CHECK(s == $countones(sop) && e == $countones(eop), "a start or an end at no place")
    `CHECK(keep == (straddle ? 16'hffff : 16'((32'd1 << used) - 1)), "tkeep")
    `CHECK(last == (!straddle && e == 1), "tlast")
  endtask
  always @(posedge clk)
    if (!rst) begin
      if (block_out.rq_tvalid && block_in.rq_tready) begin
        take(0, block_out.rq_tdata, block_out.rq_tuser.sop, block_out.rq_tuser.sop_ptr,
             block_out.rq_tuser.eop, block_out.rq_tuser.eop_ptr, Straddle, block_out.rq_tkeep,
             block_out.rq_tlast);
      end else begin
        `CHECK(block_out.rq_tvalid || !in_tlp[0], "a gap inside a request")
      end
      if (block_out.cc_tvalid && block_in.cc_tready) begin
        take(1, block_out.cc_tdata, block_out.cc_tuser.sop, block_out.cc_tuser.sop_ptr,
             block_out.cc_tuser.eop, block_out.cc_tuser.eop_ptr, 0, block_out.cc_tkeep,
             block_out.cc_tlast);
      end else begin
        `CHECK(block_out.cc_tvalid || !in_tlp[1], "a gap inside a completion")
      end
      `CHECK(block_out.cq_np_req == '1, "requests are always taken")
      if (credits < most && $urandom_range(99) < back_percent)
        credits = back_percent == 100 ? most : credits + 1;
      block_in.tfc_nph_av <= known[1];
      known <= '{4'(credits), known[0]};
    end

  // ---- RC and CQ
  cpl_hdr_t  want_cpl[$];
  mem4_hdr_t want_req[$];
  words_t want_cpl_data, want_req_data, rc_words[$], cq_words[$];
  logic [7:0] cq_enables[$];

  function automatic void complete(mem4_hdr_t h, bit fails);
    int dws = int'(dword_count(h.dw0.length));
    int low = h.dw0.fmt_type[5] ? int'(h.addr[11:0]) : int'(h.addr[43:32]);
    int bytes_left = 4 * dws;
    while (bytes_left > 0) begin
      rc_desc_t d = '0;
      cpl_hdr_t c = '0;
      words_t w;
      int most = 64 * $urandom_range(4, 1) - low % 64;
      int now = fails ? 0 : (bytes_left < most ? bytes_left : most) / 4;
      d.attr = 3'($urandom());
      d.tc = 3'($urandom());
      d.completer_id = 16'($urandom());
      d.requester_id = 16'($urandom());
      d.tag = h.tag;
      d.poisoned = $urandom_range(9) == 0;
      d.status = fails && $urandom_range(1) == 0 ? StatusUR : StatusSC;
      d.dword_count = 11'(now);
      d.byte_count = 13'(bytes_left);
      d.error = fails ? (d.status == StatusSC ? 4'd9 : 4'd2) : d.poisoned ? 4'd1 : 4'd0;
      d.lower_addr = 12'(low);
      d.request_completed = fails || 4 * now == bytes_left;
      w = random_words(now);
      c.dw0 = '{
          fmt_type: now > 0 ? CplD : Cpl,
          length: 10'(now),
          tc: d.tc,
          attr_ido: d.attr[2],
          attr_ro: d.attr[1],
          attr_ns: d.attr[0],
          ep: d.poisoned,
          default: '0
      };
      c.completer_id = d.completer_id;
      c.requester_id = d.requester_id;
      c.status = fails && d.status == StatusSC ? StatusCA : d.status;
      c.byte_count = 12'(bytes_left);
      c.tag = d.tag;
      c.lower_addr = 7'(low);
      want_cpl.push_back(c);
      foreach (w[i]) want_cpl_data.push_back(w[i]);
      w.push_front(d[95:64]);
      w.push_front(d[63:32]);
      w.push_front(d[31:0]);
      rc_words.push_back(w);
      low = (low + 4 * now) % 4096;
      bytes_left = fails ? 0 : bytes_left - 4 * now;
    end
  endfunction

  /// One that is not its read's last.
  function automatic void complete_part(int dws);
    rc_desc_t d = '0;
    cpl_hdr_t c = '0;
    words_t   w = random_words(dws);
    foreach (w[i]) want_cpl_data.push_back(w[i]);
    d.dword_count  = 11'(dws);
    d.byte_count   = 13'(4 * dws + 4);
    c.dw0.fmt_type = CplD;
    c.dw0.length   = 10'(dws);
    c.byte_count   = 12'(4 * dws + 4);
    want_cpl.push_back(c);
    for (int i = 2; i >= 0; i--) w.push_front(d[32*i+:32]);
    rc_words.push_back(w);
  endfunction

  function automatic void receive(bit write, int dws);
    mem4_hdr_t h = request(write, dws);
    cq_desc_t  d = '0;
    words_t    w = random_words(write ? dws : 0);
    h.dw0.ep = 0;
    foreach (w[i]) want_req_data.push_back(w[i]);
    d.attr = {h.dw0.attr_ido, h.dw0.attr_ro, h.dw0.attr_ns};
    d.tc = h.dw0.tc;
    d.at = h.dw0.at;
    d.bar_aperture = 6'd24;
    d.tag = h.tag;
    d.requester_id = h.requester_id;
    d.req_type = write ? UsMemWrite : UsMemRead;
    d.dword_count = 11'(dws);
    d.addr = h.dw0.fmt_type[5] ? h.addr[63:2] : 62'(h.addr[63:34]);
    if ($urandom_range(9) == 0 && !write) begin
      d.req_type = 4'b0111;
      h.dw0.fmt_type = 8'h02;
      if (d.addr[63:32] != 0) d.addr = 62'(h.addr[31:2]);
      h.addr = {d.addr[31:2], 34'd0};
    end
    want_req.push_back(h);
    for (int i = 3; i >= 0; i--) w.push_front(d[32*i+:32]);
    cq_words.push_back(w);
    cq_enables.push_back({h.last_be, h.first_be});
  endfunction

  // What is being sent, and how much of it has been.
  int unsigned sent[2] = '{default: 0};
  int unsigned rc_percent = 70;
  task automatic drive_rc();
    int s = 0, e = 0;
    bit ended = 0;
    logic [511:0] data = {16{$urandom()}};
    rc_user_t u = '0;
    for (int g = 0; g < 4; g++) begin
      if (sent[0] == 0 && !(rc_words.size() > 0 && (g == 0 || (Straddle && ended)) && $urandom_range(
              99
          ) < rc_percent))
        break;
      if (sent[0] == 0) begin
        u.sop[s] = 1;
        u.sop_ptr[s] = 2'(g);
        s++;
      end
      ended = 0;
      for (int d = 4 * g; d < 4 * g + 4; d++) begin
        if (ended) continue;
        data[32*d+:32] = rc_words[0][sent[0]];
        sent[0]++;
        if (sent[0] == rc_words[0].size()) begin
          u.eop[e] = 1;
          u.eop_ptr[e] = 4'(d);
          e++;
          sent[0] = 0;
          void'(rc_words.pop_front());
          ended = 1;
        end
      end
    end
    block_in.rc_tvalid <= s > 0 || e > 0 || sent[0] != 0;
    block_in.rc_tdata  <= data;
    block_in.rc_tuser  <= u;
  endtask
  task automatic drive_cq();
    cq_user_t u = '0;
    logic [511:0] data = {16{$urandom()}};
    bit go = sent[1] != 0 || (cq_words.size() > 0 && $urandom_range(3) != 0);
    block_in.cq_tvalid <= go;
    if (!go) return;
    if (sent[1] == 0) begin
      u.sop[0] = 1;
      {u.last_be[0], u.first_be[0]} = cq_enables.pop_front();
    end
    for (int d = 0; d < 16; d++) begin
      if (u.eop[0]) continue;
      data[32*d+:32] = cq_words[0][sent[1]];
      sent[1]++;
      if (sent[1] == cq_words[0].size()) begin
        u.eop[0] = 1;
        u.eop_ptr[0] = 4'(d);
        sent[1] = 0;
        void'(cq_words.pop_front());
      end
    end
    block_in.cq_tdata <= data;
    block_in.cq_tuser <= u;
  endtask
  always @(posedge clk) begin
    block_in.rq_tready <= $urandom_range(99) < ready_percent;
    block_in.cc_tready <= $urandom_range(99) < ready_percent;
    rx_ready <= $urandom_range(99) < ready_percent;
    req_ready <= $urandom_range(99) < req_percent;
    if (rst) begin
      block_in.rc_tvalid <= 0;
      block_in.cq_tvalid <= 0;
    end else begin
      if (!block_in.rc_tvalid || block_out.rc_tready) drive_rc();
      if (!block_in.cq_tvalid || block_out.cq_tready) drive_cq();
    end
  end

  // Lines come back when the last completion of a read has been taken by the logic.
  cpl_hdr_t  rx_cpl;
  mem4_hdr_t rx_req;
  bit rx_inside = 0, req_inside = 0;
  int unsigned rx_left, req_left, completions = 0;
  int unsigned lines_by_tag[256];
  always @(posedge clk)
    if (!rst && rx.valid && rx_ready) begin
      `CHECK(rx.data.sop == !rx_inside, "first beat")
      if (rx.data.sop) begin
        rx_cpl = rx.data.hdr;
        `CHECK(want_cpl.size() > 0 && rx_cpl == want_cpl[0], "completion's header")
        void'(want_cpl.pop_front());
        completions++;
        rx_left = rx.data.hdr[126] ? 32'(dword_count(rx_cpl.dw0.length)) : 0;
      end
      for (int i = 0; i < BeatDws; i++) begin
        if (rx_left > 0) begin
          `CHECK(rx.data.data[32*i+:32] == want_cpl_data.pop_front(), "payload received")
          rx_left--;
        end
      end
      rx_inside = !rx.data.eop;
      `CHECK(rx.data.eop == (rx_left == 0), "last beat")
    end
  wire tlp_beat_t req_beat = req.data;
  always @(posedge clk)
    if (!rst && req.valid && req.ready) begin
      `CHECK(req_beat.sop == !req_inside, "request's first beat")
      if (req_beat.sop) begin
        rx_req = req_beat.hdr;
        `CHECK(want_req.size() > 0 && rx_req == want_req[0], "request's header")
        void'(want_req.pop_front());
        req_left = rx_req.dw0.fmt_type[6] ? 32'(dword_count(rx_req.dw0.length)) : 0;
      end
      for (int i = 0; i < TlpDws; i++) begin
        if (req_left > 0) begin
          `CHECK(req_beat.data[32*i+:32] == want_req_data.pop_front(), "request's payload")
          req_left--;
        end
      end
      req_inside = !req_beat.eop;
      `CHECK(req_beat.eop == (req_left == 0), "request's last beat")
    end

  /// The host answers reads, in any order.
  bit silent = 0;
  always @(posedge clk)
    if (!rst && to_serve.size() > 0 && rc_words.size() < 8 && $urandom_range(
            9
        ) != 0 && !silent) begin
      automatic int at = $urandom_range(to_serve.size() - 1);
      automatic mem4_hdr_t h = to_serve[at];
      to_serve.delete(at);
      complete(h, $urandom_range(19) == 0);
      lines_by_tag[h.tag] = lines_of(h);
    end
  // As the block sees it: when the last beat of it has been taken.
  always @(posedge clk)
    if (!rst && i_pins.g_usplus.i_usplus.i_rc.done_o) begin
      `CHECK(tag_open[i_pins.g_usplus.i_usplus.i_rc.done_tag_o], "a read that was not sent ends")
      tag_open[i_pins.g_usplus.i_usplus.i_rc.done_tag_o] = 0;
      tags_open--;
      lines_out -= lines_by_tag[i_pins.g_usplus.i_usplus.i_rc.done_tag_o];
      dws_out -= dws_by_tag[i_pins.g_usplus.i_usplus.i_rc.done_tag_o];
    end

  // ---- ends of function resets; virtual functions are 4 and up on the bus
  always @(posedge clk) begin
    reset_done   <= 1'($urandom());
    virtual_done <= '{valid: 1'($urandom()), which: 8'($urandom_range(63, 1))};
    `CHECK(block_out.cfg_flr_done == {3'd0, reset_done}, "end of another function's reset")
    `CHECK(
        block_out.cfg_vf_flr_done == virtual_done.valid && (!virtual_done.valid || block_out.cfg_vf_flr_func_num == virtual_done.which + 8'd3),
        "end of another virtual function's reset")
  end

  // ---- the management interface: Device Control and Link Control, a few clocks late
  logic [31:0] control = 32'h0000_0110, link = 32'h1043_0040;
  always @(posedge clk) begin
    block_in.cfg_mgmt_read_write_done <= !rst && block_out.cfg_mgmt_read && !block_in.cfg_mgmt_read_write_done &&
        $urandom_range(
        3
    ) == 0;
    block_in.cfg_mgmt_read_data <= block_out.cfg_mgmt_addr == 10'h1e ? control :
        block_out.cfg_mgmt_addr == 10'h20 ? link : 32'($urandom());
  end

  task automatic settle();
    int unsigned patience = 60000;
    while (i_logic.queued() + want_write.size() + want_read.size() + want_answer.size() +
        want_cpl.size() + want_req.size() + to_serve.size() + tags_open != 0) begin
      @(posedge clk);
      patience--;
      if (patience == 0)
        $fatal(
            1,
            "FAIL: not at rest: %0d %0d %0d, %0d %0d, %0d tags",
            want_write.size(),
            want_read.size(),
            want_answer.size(),
            want_cpl.size(),
            want_req.size(),
            tags_open
        );
    end
    repeat (10) @(posedge clk);
  endtask

  function automatic int size();
    return $urandom_range(3) == 0 ? $urandom_range(256, 1) : $urandom_range(40, 1);
  endfunction
  int unsigned from, took;
  /// 400 completions of so many Dwords: in how many clocks with straddle and beats of 128 bytes, in how many else.
  task automatic check_rate(int dws, int unsigned wide, int unsigned others);
    took = 0;
    from = completions;
    repeat (400) complete_part(dws);
    while (completions < from + 400) begin
      @(posedge clk);
      took++;
    end
    `CHECK(took <= (Straddle && BeatDws > 16 ? wide : others),
           $sformatf("400 completions of %0d Dwords in %0d clocks", dws, took))
  endtask
  /// Reads and writes of such lengths wait all the time: each asks for, or carries, as much as the other.
  task automatic check_share(int write_dws, int read_dws);
    int asked, wrote;
    for (int n = 0; n < 1200; n++) begin
      if (n == 400) {asked, wrote} = {-read_dws * int'(reads), -write_dws * int'(writes)};
      if (want_write.size() < 20) send_write(write_dws);
      repeat (2) if (want_read.size() < 20) send_read(read_dws);
      @(posedge clk);
    end
    asked += read_dws * int'(reads);
    wrote += write_dws * int'(writes);
    `CHECK(asked < wrote + 800 && wrote < asked + 800 && wrote > 3000,
           $sformatf("writes of %0d and reads of %0d Dwords: %0d and %0d", write_dws, read_dws,
                     wrote, asked))
    settle();
  endtask
  initial begin
    done_o = 0;
    block_in.lnk_up = 1;
    block_in.cfg_bus_number = 8'h35;
    block_in.cfg_max_payload = 2'd3;
    block_in.cfg_max_read_req = 3'd4;
    block_in.cfg_function_status = 16'h0004;
    block_in.cfg_interrupt_msix_enable = 1;
    @(negedge rst);
    for (int n = 0; n < Rounds; n++) begin
      case ($urandom_range(
          4
      ))
        0, 1: send_write(size());
        2: send_answer($urandom_range(64));
        3: repeat (3) send_read(size());
        default: receive(1'($urandom()), $urandom_range(20, 1));
      endcase
      repeat ($urandom_range(12)) @(posedge clk);
      if (n % 100 == 0) begin
        ready_percent = $urandom_range(100, 20);
        req_percent = $urandom_range(100, 20);
        write_percent = $urandom_range(100, 10);
        read_percent = $urandom_range(100, 10);
        most = $urandom_range(15, 1);
        back_percent = 10;
      end
    end
    settle();
    `CHECK(writes > 100 && reads > 100 && completions > 100, "there was traffic")
    `CHECK(
        state.cfg.requester_id == 16'h3500 && state.cfg.max_payload == 3 && state.cfg.max_read_request == 4,
        "settings")
    `CHECK(state.cfg.bus_master && state.cfg.msix_enable && !state.cfg.msix_mask && state.link_up,
           "settings")
    `CHECK(state.cfg.extended_tag && state.cfg.relaxed_ordering, "Device Control")
    control = '0;
    block_in.cfg_function_status = 16'h0003;
    repeat (400) @(posedge clk);
    `CHECK(!state.cfg.extended_tag && !state.cfg.relaxed_ordering && !state.cfg.bus_master,
           "settings follow")

    // Of a host that cuts at 128 bytes twice as much may be asked for.
    repeat (40) send_read(512);
    settle();
    `CHECK(most_lines <= Lines && most_lines > Lines - 34 && most_dws <= Lines * 16,
           "all room is used")
    link[3]  = 1;
    line_dws = 32;
    repeat (400) @(posedge clk);
    repeat (40) send_read(512);
    settle();
    `CHECK(most_lines <= Lines && most_dws > Lines * 20,
           "all room is used by completions of 128 bytes")

    // What waits for an answer when the function is reset gets none, and its lines are free when the host enables it again.
    silent = 1;
    repeat (3) begin
      repeat (5) send_read(512);
      repeat (300) @(posedge clk);
      `CHECK(want_read.size() == 0 && lines_out > Lines - 17, "room is left")
      block_in.cfg_function_status   = 16'h0003;
      block_in.cfg_flr_in_process[0] = 1;
      repeat (5) @(posedge clk);
      `CHECK(state.function_reset, "no reset of the function")
      to_serve.delete();
      {lines_out, dws_out, tags_open} = '0;
      foreach (tag_open[i]) tag_open[i] = 0;
      block_in.cfg_flr_in_process = 4'hE;
      repeat (300) @(posedge clk);
      `CHECK(!state.function_reset, "a reset of another function")
      block_in.cfg_function_status = 16'h0004;
    end
    block_in.cfg_flr_in_process = '0;
    silent = 0;
    repeat (5) send_read(512);
    settle();

    // Nothing goes without credit, and what waits goes when it is there.
    credits = 0;
    most = 0;
    repeat (20) @(posedge clk);
    took = reads;
    repeat (5) send_read(4);
    repeat (5) send_write(4);
    repeat (100) @(posedge clk);
    `CHECK(reads == took && want_write.size() == 0, "reads wait for credit, writes do not")
    most = 15;
    back_percent = 100;
    settle();
    `CHECK(reads == took + 5, "reads went")

    // Full rate: writes of 64 bytes take three halves, a read one.
    {ready_percent, write_percent, read_percent} = {32'd100, 32'd100, 32'd100};
    repeat (20) @(posedge clk);
    took = 0;
    from = writes;
    repeat (600) send_write(16);
    while (writes < from + 600) begin
      @(posedge clk);
      took++;
    end
    `CHECK(took <= (Straddle ? 914 : 1214), "writes of 64 bytes")
    settle();
    // Of 140 bytes five; in beats of 64 each half empty at the end.
    took = 0;
    from = writes;
    repeat (400) send_write(35);
    while (writes < from + 400) begin
      @(posedge clk);
      took++;
    end
    `CHECK(took <= (Straddle && BeatDws > 16 ? 1020 : 1220), $sformatf(
           "400 writes of 140 bytes in %0d clocks", took))
    settle();
    took = 0;
    from = writes + reads;
    repeat (80) begin
      send_write(16);
      send_read(1);
    end
    while (writes + reads < from + 160) begin
      @(posedge clk);
      took++;
    end
    `CHECK(took <= (Straddle ? 176 : 256), "writes and reads")
    settle();
    rc_percent = 100;
    check_share(16, 32);
    check_share(16, 8);
    // Reads that have asked for as much as writes have brought take turns with them.
    repeat (20) send_write(256);
    settle();
    repeat (4) send_read(512);
    settle();
    ready_percent = 0;
    repeat (40) begin
      send_write(4);
      send_read(4);
    end
    repeat (100) @(posedge clk);
    {turn, longest_turn} = '0;
    ready_percent = 100;
    settle();
    `CHECK(longest_turn == 1, $sformatf("%0d of one kind after each other", longest_turn))
    // Completions with a little more than 64 bytes: 1.25 beats of the block, in beats of 64 two. With a little more than 128: 2.25
    // and 2.5, in beats of 64 three. With 52 they fill a beat. No request is taken meanwhile.
    req_percent = 0;
    repeat (20) receive(1'b1, 20);
    repeat (200) @(posedge clk);
    check_rate(13, 420, 420);
    check_rate(17, 520, 820);
    check_rate(32, 920, 1220);
    check_rate(33, 920, 1220);
    check_rate(34, 1020, 1220);
    check_rate(36, 1020, 1220);
    `CHECK(want_req.size() == 20, "requests are held up")
    req_percent = 100;
    settle();
    `CHECK(i_pins.g_usplus.i_usplus.i_rq.i_meter.free_q == $bits(
           i_pins.g_usplus.i_usplus.i_rq.i_meter.free_q)'(Lines) && lines_out == 0,
           "lines are back")
    `CHECK(
        want_write_data.size() + want_answer_data.size() + want_cpl_data.size() + want_req_data.size() == 0,
        "payloads are used up")
    done_o = 1;
  end
endmodule
