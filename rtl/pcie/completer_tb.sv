// SPDX-License-Identifier: Apache-2.0
`include "parts_tb.svh"
`include "tb.svh"
`include "stream.svh"
/// completer: random reads and writes with any byte enables against registers that answer after random delays; every
/// access and every completion field is checked; refused reads get UR, refused writes and poisoned ones touch nothing.
module completer_tb;
  import pcie_pkg::*;
  `TB_BEGIN
  `TB_TIMEOUT(400_000)

  pcie_cfg_t cfg;
  `STREAM_ON(tlp_beat_t, req, clk, rst)
  `STREAM_ON(tlp_beat_t, cpl, clk, rst)
  reg_if #(.AddrW(20)) regs ();
  logic unsupported, dropped;
  completer #(
      .AddrW(20)
  ) dut (
      .clk_i(clk),
      .rst_i(rst),
      .cfg_i(cfg),
      .req,
      .regs,
      .cpl,
      .unsupported_o(unsupported),
      .dropped_o(dropped)
  );

  // Registers: an answer after 0 ... max_delay clocks.
  int unsigned delay = 0, max_delay = 0;
  logic waiting = 0;
  logic [31:0] rdata = 0;
  assign regs.ack   = (regs.req && delay == 0) || (waiting && delay == 1);
  assign regs.rdata = regs.ack ? rdata : 32'hdeaddead;

  typedef struct {
    logic write;
    logic [19:0] addr;
    logic [31:0] wdata;
    logic [3:0] be;
  } access_t;
  typedef struct {
    logic ur;
    logic flush;
    tlp_dw0_t dw0;
    logic [15:0] requester;
    logic [7:0] tag;
    int unsigned count;
    logic [6:0] lower;
  } answer_t;
  access_t accesses[$];
  answer_t answers[$];
  logic [31:0] read_data[$];
  access_t now;
  int unsigned urs = 0, drops = 0, want_urs = 0, want_drops = 0, reads = 0, writes = 0;

  // What a request must lead to, from the bytes it enables.
  function automatic void expect_request(tlp_beat_t b);
    tlp_dw0_t dw0;
    logic [3:0] be, first_be, last_be;
    logic [63:0] addr;
    int unsigned dws, first, last;
    logic write, bad;
    answer_t a;
    dw0 = b.hdr[127:96];
    {last_be, first_be} = b.hdr[71:64];
    addr = dw0.fmt_type inside {MRd4, MWr4} ? b.hdr[63:0] : {32'h0, b.hdr[63:32]};
    write = dw0.fmt_type inside {MWr3, MWr4};
    dws = dw0.length == 0 ? 1024 : 32'(dw0.length);
    bad = dws > 16 || (dws == 1 && last_be != 0) || (dws > 1 && (first_be == 0 || last_be == 0)) ||
        (write && dw0.ep);
    first = 0;
    last = 0;
    for (int unsigned i = 0; i < dws * 4; i++) begin
      be = i < 4 ? first_be : i / 4 == dws - 1 ? last_be : 4'hf;
      if (be[i%4]) begin
        last = i;
        if (first == 0) first = i + 1;  // 0: none yet
      end
    end
    if (!bad) begin
      for (int unsigned i = 0; i < dws; i++) begin
        be = i == 0 ? first_be : i == dws - 1 ? last_be : 4'hf;
        if (be != 0) accesses.push_back('{write, 20'(addr) + 20'(4 * i), b.data[32*i+:32], be});
      end
    end
    if (write && bad) want_drops++;
    if (!write && bad) want_urs++;
    if (!write) begin
      a.ur = bad;
      a.flush = first == 0;
      a.dw0 = dw0;
      a.requester = b.hdr[95:80];
      a.tag = b.hdr[79:72];
      if (first == 0) first = 1;
      a.count = last + 1 - (first - 1);
      a.lower = 7'(addr + 64'(first - 1));
      // Byte count of enables that are not allowed is anybody's guess.
      if (bad && dws > 1 && (first_be == 0 || last_be == 0)) a.count = 9999;
      if (bad && dws == 1) a.count = 9999;
      answers.push_back(a);
    end
  endfunction

  function automatic void check_completion(tlp_beat_t b);
    cpl_hdr_t h;
    answer_t a;
    int unsigned dws;
    `CHECK(answers.size() != 0, "completion without a read")
    a   = answers.pop_front();
    h   = b.hdr;
    dws = a.ur ? 0 : 32'(a.dw0.length);
    `CHECK(b.sop && b.eop, "completion is not one beat")
    `CHECK(h.dw0.fmt_type == (a.ur ? Cpl : CplD) && h.status == (a.ur ? StatusUR : StatusSC),
           "wrong status")
    `CHECK(32'(h.dw0.length) == dws, "length")
    `CHECK({h.dw0.tag9, h.dw0.tag8, h.tag} == {a.dw0.tag9, a.dw0.tag8, a.tag}, "tag")
    `CHECK(h.requester_id == a.requester && h.completer_id == cfg.requester_id, "IDs")
    `CHECK(
        {h.dw0.tc, h.dw0.attr_ido, h.dw0.attr_ro, h.dw0.attr_ns} ==
           {a.dw0.tc, a.dw0.attr_ido, a.dw0.attr_ro, a.dw0.attr_ns},
        "class or attributes")
    `CHECK({h.dw0.ln, h.dw0.th, h.dw0.td, h.dw0.ep, h.dw0.at, h.bcm, h.reserved} == 0,
           "bits that must be zero")
    `CHECK(a.count == 9999 || (h.byte_count == 12'(a.count) && h.lower_addr == a.lower),
           "byte count or lower address")
    if (!a.ur && !a.flush) begin
      for (int unsigned i = 0; i < dws; i++)
        `CHECK(b.data[32*i+:32] == read_data.pop_front(), "read data")
    end
    reads++;
  endfunction

  // Requests.
  int unsigned in_percent = 100, out_percent = 100, more_beats = 0;
  logic easy = 0, easy_write = 0;
  function automatic tlp_beat_t make_request();
    tlp_dw0_t dw0;
    logic write, wide;
    int unsigned dws;
    make_request = '0;
    for (int i = 0; i < 16; i++) make_request.data[32*i+:32] = $urandom();
    if (more_beats != 0) begin  // the rest of a long write
      more_beats--;
      make_request.eop = more_beats == 0;
      return make_request;
    end
    write = easy ? easy_write : 1'($urandom());
    wide = 1'($urandom());
    dws = easy ? 1 : $urandom_range(9) == 0 ? $urandom_range(1024, 17) :
        $urandom_range(2) == 0 ? 1 : $urandom_range(16, 1);
    dw0 = '0;
    dw0.fmt_type = write ? (wide ? MWr4 : MWr3) : (wide ? MRd4 : MRd3);
    {dw0.tag9, dw0.tag8, dw0.tc, dw0.attr_ido, dw0.attr_ro, dw0.attr_ns} = 8'($urandom());
    dw0.ep = !easy && write && $urandom_range(7) == 0;
    dw0.length = 10'(dws);
    make_request.hdr = {dw0, $urandom(), $urandom(), $urandom()};
    if (wide) make_request.hdr[1:0] = 0;
    else make_request.hdr[33:32] = 0;
    if (!wide) make_request.hdr[31:0] = 0;
    // Mostly proper byte enables.
    if (dws == 1 && (easy || $urandom_range(7) != 0)) make_request.hdr[71:68] = 0;
    if (dws > 1 && $urandom_range(7) != 0) begin
      make_request.hdr[71:68] = 4'($urandom_range(15, 1));
      make_request.hdr[67:64] = 4'($urandom_range(15, 1));
    end
    if (easy) make_request.hdr[67:64] = 4'hf;
    make_request.sop = 1;
    if (write && dws > 16) more_beats = (dws + 15) / 16 - 1;
    make_request.eop = more_beats == 0;
  endfunction

  `STREAM_SOURCE(tlp_beat_t, i_req, req, 100)
  `STREAM_SINK(tlp_beat_t, i_cpl, cpl, out_percent)
  always @(posedge clk) begin
    if (!rst) begin
      if (unsupported) urs++;
      if (dropped) drops++;
      if (req.valid && req.ready && req.data.sop) expect_request(req.data);
      if (regs.req) begin
        `CHECK(!waiting, "second access start the answer to the first")
        `CHECK(accesses.size() != 0, "access that nobody asked for")
        now = accesses.pop_front();
        `CHECK(regs.write == now.write && regs.addr == now.addr && regs.wstrb == now.be,
               "wrong access")
        `CHECK(!now.write || regs.wdata == now.wdata, "wrong data written")
        writes += 32'(now.write);
        waiting = 1;
      end
      if (waiting) begin
        if (regs.ack) begin
          if (!now.write) read_data.push_back(rdata);
          waiting = 0;
        end
      end
      if (cpl.valid && cpl.ready) check_completion(cpl.data);
    end
    if (waiting) delay <= regs.req ? delay : delay - 1;
    else delay <= $urandom_range(max_delay);
    rdata <= $urandom();
    if (i_req.queue.size() == 0 && $urandom_range(99) < in_percent) begin
      i_req.queue.push_back(make_request());
      while (more_beats != 0) i_req.queue.push_back(make_request());
    end
  end

  initial begin
    int unsigned start;
    cfg = '0;
    cfg.requester_id = 16'h4300;
    @(negedge rst);
    for (int i = 0; i < 20; i++) begin
      in_percent  = $urandom_range(100, 20);
      out_percent = $urandom_range(100, 20);
      max_delay   = i % 4;
      repeat (2000) @(posedge clk);
    end
    in_percent = 0;
    repeat (500) @(posedge clk);
    `CHECK(accesses.size() == 0 && answers.size() == 0 && read_data.size() == 0,
           "something was not answered")
    `CHECK(urs == want_urs && drops == want_drops && urs > 100 && drops > 100, "miscounted")

    // Speed with registers that answer at once.
    in_percent = 100;
    out_percent = 100;
    max_delay = 0;
    easy = 1;
    easy_write = 1;
    repeat (100) @(posedge clk);
    start = writes;
    repeat (1000) @(posedge clk);
    $display("%0d writes in 1000 clocks", writes - start);
    `CHECK(writes - start >= 999, "writes are too slow")
    easy_write = 0;
    repeat (100) @(posedge clk);
    start = reads;
    repeat (1000) @(posedge clk);
    $display("%0d reads in 1000 clocks", reads - start);
    `CHECK(reads - start >= 333, "reads are too slow")
    `TB_PASS
  end
endmodule
