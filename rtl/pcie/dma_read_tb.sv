// SPDX-License-Identifier: Apache-2.0
`include "tb.svh"
`include "stream.svh"
/// dma_read against a root complex that checks every request TLP, splits completions at the read completion boundary,
/// reorders tags and injects faults. Every RAM byte is checked as it is written: it must belong to a request whose status
/// is still to come, hold the byte of its host address and not have been written before. Throughput: request TLPs a clock
/// with small reads, completion beats a clock with 4 kB reads.
module dma_read_tb
  import dma_pkg::*;
  import pcie_pkg::*;
#(
    parameter int  Tags = 256,
    parameter type Beat = tlp_beat_t
);
  localparam int BeatBytes = TlpBeatBytes + ($bits(Beat) - $bits(tlp_beat_t)) / 8;
  localparam int BeatDws = BeatBytes / 4;
  `TB_BEGIN
  `TB_TIMEOUT(1_000_000)

  pcie_cfg_t cfg;
  logic [31:0] timeout = 0;
  logic [15:0] overtaken = 0;
  ram_write_t ram;
  dma_status_t status;
  dma_read_count_t count;
  `STREAM_ON(dma_req_t, req, clk, rst)
  `STREAM_ON(tlp_beat_t, tlp, clk, rst)
  `STREAM_ON(Beat, cpl, clk, rst)
  dma_read #(
      .Tags(Tags),
      .Received(Beat),
      .QuarantineCycles(4)  // so that tags come back within the test
  ) dut (
      .clk_i(clk),
      .rst_i(rst),
      .forget_i(1'b1),
      .cfg_i(cfg),
      .timeout_cycles_i(timeout),
      .overtaken_cycles_i(overtaken),
      .req,
      .tlp,
      .cpl,
      .ram_o(ram),
      .status_o(status),
      .count_o(count)
  );
  // What synthesis turns by (rotate); a simulation does not look at it.
  always @(posedge clk)
    if (!rst) begin
      `CHECK(
          !dut.i_cpl.i_place.i_rotate.valid_i || dut.i_cpl.i_place.i_rotate.turn_n_i == ~dut.i_cpl.i_place.i_rotate.turn_i,
          "turn_n_i is no complement")
    end

  // Knobs of the traffic and of the root complex.
  typedef enum {
    Line,
    Page,
    Mixed
  } shape_e;
  shape_e shape = Mixed;
  int unsigned req_percent = 0, tlp_percent = 100, cpl_percent = 100, fault_permille = 0;
  int unsigned latency = 100, mps = 256, max_bytes = 600_000;
  bit reorder = 0, small_pieces = 0, aligned = 0;

  typedef enum {
    None,
    Unsupported,
    Aborted,
    Poison,
    Missing,
    Late,
    BadCount,
    BadAddress,
    Excess,
    NoData,
    Short,
    Duplicate
  } fault_e;
  int unsigned faults[fault_e];
  bit only_missing = 0;
  int unsigned now = 0;

  function automatic logic [7:0] host_byte(logic [63:0] addr);
    logic [63:0] h = (addr + 64'd77) * 64'h9e37_79b9_7f4a_7c15;
    return h[63:56] ^ h[31:24];
  endfunction

  int unsigned seen[string];

  // ---- Requests.
  typedef struct {
    dma_req_t    req;
    int unsigned cut;      // bytes already asked for by TLPs
    int unsigned written;
    dma_result_e result;   // expected
  } request_t;
  request_t requests[int unsigned];
  int unsigned
      made = 1, cutting = 1, ended = 1;  // numbers of the next request to be taken, cut and ended
  int unsigned owner[4][2**RamAddrW];  // number of the request that has yet to write this byte
  int unsigned free_addr[4], in_flight_bytes = 0;

  function automatic dma_req_t new_request();
    dma_req_t r;
    r.sel = ram_sel_t'($urandom_range(3));
    r.relaxed = 1'($urandom());
    r.host_addr = {$urandom(), $urandom()};
    if ($urandom_range(1) == 0) r.host_addr[63:32] = '0;
    case (shape)
      Line: begin
        r.host_addr[5:0] = 6'($urandom_range(63));
        if ($urandom_range(3) != 0) r.host_addr[5:0] = '0;
        r.len = 16'(64 - int'(r.host_addr[5:0]));
      end
      Page: begin
        r.host_addr[11:0] = '0;
        r.len = 16'd4096;
      end
      default: begin
        case ($urandom_range(
            9
        ))
          0: r.len = 16'($urandom_range(20000));  // zero bytes now and then
          1, 2: r.len = 16'($urandom_range(5));
          3, 4, 5: r.len = 16'($urandom_range(64, 1));
          default: r.len = 16'($urandom_range(2000, 1));
        endcase
        if ($urandom_range(3) == 0) r.host_addr[11:0] = 12'(4096 - $urandom_range(80, 1));
        // A first read up to the page's end that is as long as one may be.
        if ($urandom_range(7) == 0)
          r.host_addr[11:0] = 12'(4096 - (128 << cfg.max_read_request) + $urandom_range(127));
      end
    endcase
    free_addr[r.sel[1:0]] += $urandom_range(130);
    if (aligned) free_addr[r.sel[1:0]] = (free_addr[r.sel[1:0]] + 15) / 16 * 16;
    r.ram_addr = ram_addr_t'(free_addr[r.sel[1:0]]);
    free_addr[r.sel[1:0]] += int'(r.len);
    return r;
  endfunction

  task automatic take_request(dma_req_t r);
    requests[made] = '{req: r, cut: 0, written: 0, result: DmaOk};
    for (int unsigned i = 0; i < int'(r.len); i++) begin
      owner[r.sel[1:0]][ram_addr_t'(int'(r.ram_addr)+i)] = made;
    end
    in_flight_bytes += int'(r.len);
    made++;
  endtask

  task automatic take_status(dma_status_t s);
    request_t r;
    `CHECK(ended < made, "status without a request")
    while (cutting < made && requests[cutting].req.len == 0) cutting++;
    r = requests[ended];
    `CHECK(s.sel == r.req.sel, "status of the wrong client")
    `CHECK(r.cut == int'(r.req.len), "status before all was asked for")
    `CHECK(s.result == r.result, $sformatf("result %0d instead of %0d", s.result, r.result))
    if (s.result == DmaOk) begin
      `CHECK(r.written == int'(r.req.len), $sformatf("status after %0d of %0d bytes", r.written,
                                                     r.req.len))
    end
    for (int unsigned i = 0; i < int'(r.req.len); i++) begin
      owner[r.req.sel[1:0]][ram_addr_t'(int'(r.req.ram_addr)+i)] = 0;
    end
    in_flight_bytes -= int'(r.req.len);
    requests.delete(ended);
    ended++;
  endtask

  task automatic take_write();
    for (int s = 0; s < Segs; s++) begin
      if (ram.valid[s]) begin
        `CHECK(ram.strb[s] != '0, "segment written without a strobe")
        for (int b = 0; b < SegBytes; b++) begin
          if (ram.strb[s][b]) begin
            ram_addr_t   addr = {ram.row[s], 3'(s), 4'(b)};
            int unsigned who = owner[ram.sel[1:0]][addr];
            ram_addr_t   offset;
            `CHECK(who != 0, $sformatf("write outside a request or a second time at %h", addr))
            offset = addr - requests[who].req.ram_addr;
            `CHECK(ram.data[s][8*b+:8] == host_byte(requests[who].req.host_addr + 64'(offset)),
                       $sformatf("wrong byte at %h", addr))
            requests[who].written++;
            seen["byte"]++;
            owner[ram.sel[1:0]][addr] = 0;
          end
        end
      end
    end
  endtask

  // ---- Root complex: requests.
  typedef struct {
    logic [9:0]  tag;
    logic [63:0] addr;
    int unsigned len,   pos, ready_at, asked;
    fault_e      fault;
    bit          dead;                         // the engine has given this tag up
  } pending_t;
  pending_t pending[$];
  bit tag_busy[1024], tag_seen[1024];
  int unsigned kept_until[1024];  // of a tag given up of which nothing more comes: when it may be used again
  int unsigned tlps = 0, beats = 0, dropped = 0, expect_dropped = 0, tag_max = 0;

  task automatic take_tlp(tlp_beat_t beat);
    mem4_hdr_t h = beat.hdr;
    pending_t p;
    logic [63:0] want;
    int unsigned dws, first, last, left;
    bit low = h.dw0.fmt_type == MRd3;
    while (cutting < made && requests[cutting].req.len == 0) cutting++;
    `CHECK(cutting < made, "TLP without a request")
    want = requests[cutting].req.host_addr + 64'(requests[cutting].cut);
    left = int'(requests[cutting].req.len) - requests[cutting].cut;
    `CHECK(beat.sop && beat.eop, "a read request is one beat")
    `CHECK(h.dw0.fmt_type == (want[63:32] == 0 ? MRd3 : MRd4), "wrong header format")
    `CHECK((low ? {32'd0, h.addr[63:32]} : h.addr) == {want[63:2], 2'b00}, "wrong address")
    `CHECK(!low || h.addr[31:0] == 0, "3DW header has four words")
    `CHECK(h.requester_id == cfg.requester_id, "wrong requester")
    `CHECK(h.dw0.attr_ro == (requests[cutting].req.relaxed && cfg.relaxed_ordering),
           "wrong relaxed ordering")
    dws = (h.dw0.length == 0) ? 1024 : int'(h.dw0.length);
    `CHECK(dws * 4 <= (128 << cfg.max_read_request), "above the maximum read request size")
    // Byte enables: from the wanted first byte on, without a hole.
    first = int'(want[1:0]);
    last  = 0;
    for (int i = 0; i < 4; i++) if (dws == 1 ? h.first_be[i] : h.last_be[i]) last = i;
    `CHECK(h.first_be == ((4'hf << first) & (dws == 1 ? (4'hf >> (3 - last)) : 4'hf)),
           "wrong first byte enables")
    `CHECK(h.last_be == (dws == 1 ? 4'h0 : 4'hf >> (3 - last)), "wrong last byte enables")
    p.len = 4 * (dws - 1) + last + 1 - first;
    `CHECK(p.len <= left, "asks for more than the request")
    `CHECK(int'(want[11:0]) + p.len <= 4096, "crosses a 4 kB boundary")
    `CHECK(p.len == left || 7'(want + 64'(p.len)) == 0, "inner cut off the 128-byte boundary")
    `CHECK(
        p.len == left || p.len + 127 >= (128 << cfg.max_read_request) || 12'(want + 64'(p.len)) == 0,
        "cut too short")
    p.tag = {h.dw0.tag9, h.dw0.tag8, h.tag};
    `CHECK(!tag_busy[p.tag], "tag used twice")
    `CHECK(now >= kept_until[p.tag], "a tag given up is used before four timeouts have passed")
    tag_seen[p.tag] = 1;
    `CHECK(cfg.wide_tag ? p.tag[9:8] inside {2'b01, 2'b10} : p.tag < (cfg.extended_tag ? 256 : 32),
           "tag of too many bits, or of too few")
    if (int'(p.tag) > tag_max) tag_max = int'(p.tag);
    p.addr = want;
    p.pos = 0;
    p.dead = 0;
    p.asked = now;
    p.ready_at = now + latency;
    p.fault = None;
    if ($urandom_range(999) < fault_permille) begin
      p.fault = only_missing ? Missing : fault_e'($urandom_range(int'(Duplicate), 1));
      if (requests[cutting].result == DmaOk) begin
        case (p.fault)
          Unsupported: requests[cutting].result = DmaUnsupported;
          Poison: requests[cutting].result = DmaPoisoned;
          Missing, Late: requests[cutting].result = DmaTimeout;
          Duplicate: ;
          default: requests[cutting].result = DmaAborted;
        endcase
      end
      faults[p.fault]++;
    end
    pending.push_back(p);
    tag_busy[p.tag] = 1;
    requests[cutting].cut += p.len;
    if (requests[cutting].cut == int'(requests[cutting].req.len)) cutting++;
    tlps++;
  endtask

  // ---- Root complex: completions. One TLP at a time is sent beat by beat.
  cpl_hdr_t out_hdr;
  logic [63:0] out_addr, out_from, out_to;  // of the payload's first byte; of the bytes asked for
  int unsigned out_beats, out_sent, out_copies = 0, alien_percent = 0;

  task automatic header(pending_t p, int unsigned n);
    out_from = p.addr + 64'(p.pos);
    out_to = out_from + 64'(n);
    out_addr = {out_from[63:2], 2'b00};
    out_hdr = '0;
    out_hdr.dw0.fmt_type = CplD;
    out_hdr.dw0.length = 10'((int'(out_from[1:0]) + n + 3) / 4);
    out_hdr.completer_id = 16'hbeef;
    out_hdr.byte_count = 12'(p.len - p.pos);
    out_hdr.requester_id = cfg.requester_id;
    {out_hdr.dw0.tag9, out_hdr.dw0.tag8, out_hdr.tag} = p.tag;
    out_hdr.lower_addr = out_from[6:0];
    out_sent = 0;
    out_copies = 1;
  endtask

  task automatic no_payload(cpl_status_e code);
    out_hdr.dw0.fmt_type = Cpl;
    out_hdr.dw0.length = '0;
    out_hdr.status = code;
  endtask

  /// Nothing more comes of a tag that is given up, at this time at the earliest.
  task automatic keep_from(logic [9:0] tag, int unsigned given_up);
    kept_until[tag] = timeout == 0 ? '1 : given_up + 4 * timeout;
  endtask

  /// Chooses what to send next, if anything is ready.
  task automatic choose();
    int unsigned start, k, n;
    logic [63:0] from, stop;
    pending_t p;
    bit keep;
    if (pending.size() == 0) return;
    start = (reorder && pending[0].ready_at + 300 > now) ? $urandom_range(pending.size() - 1) : 0;
    k = start;
    while (pending[k].ready_at > now) begin
      k = (k + 1) % pending.size();
      if (k == start) return;
      if (!reorder) return;
    end
    p = pending[k];
    from = p.addr + 64'(p.pos);
    stop = (from & ~64'(mps - 1)) + 64'(mps);
    if (small_pieces) stop = (from & ~64'd63) + 64'd64 * 64'($urandom_range(mps / 64, 1));
    if (stop - from > 64'(mps)) stop -= 64;
    n = int'(stop - from);
    if (p.pos + n > p.len) n = p.len - p.pos;
    keep = p.pos + n < p.len;
    header(p, n);
    if ($urandom_range(99) < alien_percent) begin
      // The same for another device, or by a tag of another length: it is not the answer.
      if (Tags > 256 && !out_hdr.dw0.tag9 && !p.dead && $urandom_range(1) == 0)
        out_hdr.dw0.tag8 = !out_hdr.dw0.tag8;
      else out_hdr.requester_id ^= 16'(1 << $urandom_range(15));
      expect_dropped++;
      return;
    end
    pending.delete(k);
    if (p.dead) expect_dropped++;
    p.pos += n;
    if (p.fault != None && p.fault != Duplicate && (!keep || $urandom_range(1) == 0)) begin
      fault_e f = p.fault;
      p.fault = None;
      p.dead  = f != Poison;
      if (f == Excess && (keep || out_hdr.dw0.length == 0 || out_hdr.dw0.length > 1000))
        f = BadAddress;
      if (f == Short && int'(out_hdr.dw0.length) <= BeatDws) f = BadAddress;
      case (f)
        Unsupported: no_payload(StatusUR);
        Aborted: no_payload(StatusCA);
        Poison: out_hdr.dw0.ep = 1;
        Missing: out_copies = 0;
        Late: begin
          out_copies = 0;
          p.pos -= n;
          p.ready_at = now + timeout + 400 + $urandom_range(2 * timeout);
          keep = 1;
        end
        BadCount: out_hdr.byte_count += 12'($urandom_range(4095, 1));
        BadAddress: out_hdr.lower_addr += 7'($urandom_range(127, 1));
        Excess: out_hdr.dw0.length += 10'($urandom_range(20, 1));
        NoData: no_payload(StatusSC);
        default: ;
      endcase
      if (f inside {Unsupported, Aborted, Missing, NoData} || (f inside {BadCount, BadAddress, Excess} && $urandom_range(
              1
          ) == 0))
        keep = 0;
      if (f == Missing) keep_from(p.tag, p.asked + (overtaken != 0 ? 32'(overtaken) : timeout));
      if (!keep && f inside {BadCount, BadAddress, Excess, NoData, Short}) keep_from(p.tag, now);
      if (f == Short) begin
        out_beats = (int'(out_hdr.dw0.length) - 1) / BeatDws;
        tag_busy[p.tag] = keep;
        if (keep) pending.push_back(p);
        return;
      end
    end else if (p.fault == Duplicate && !keep) begin
      out_copies = 2;
      expect_dropped++;
    end
    out_beats = (out_hdr.dw0.fmt_type == Cpl) ? 1 : (int'(out_hdr.dw0.length == 0 ? 1024 : int'(out_hdr.dw0.length)) + BeatDws - 1) / BeatDws;
    tag_busy[p.tag] = keep;
    if (keep) pending.push_front(p);
  endtask

  task automatic send_beat();
    Beat beat;
    beat.hdr = (out_sent == 0) ? out_hdr : {4{$urandom()}};
    beat.sop = out_sent == 0;
    for (int i = 0; i < BeatBytes; i++) begin
      logic [63:0] addr = out_addr + 64'(BeatBytes * out_sent + i);
      beat.data[8*i+:8] = host_byte(addr) ^ ((addr < out_from || addr >= out_to) ? 8'h55 : 8'h00);
    end
    out_sent++;
    beat.eop = out_sent == out_beats;
    if (beat.eop) begin
      out_sent = 0;
      out_copies--;
    end
    cpl.valid <= 1;
    cpl.data  <= beat;
    beats++;
  endtask

  always @(posedge clk) begin
    now++;
    if (!rst) begin
      `CHECK(cpl.ready || BeatBytes > TlpBeatBytes, "completions were refused")
      // A status is only right if the data was written in earlier clocks.
      if (status.valid) take_status(status);
      if (ram.valid != '0) take_write();
      if (tlp.valid && tlp.ready) take_tlp(tlp.data);
      if (req.valid && req.ready) take_request(req.data);
      dropped += int'(count.late) + int'(count.unexpected);
      seen["tlp"] += int'(count.tlp);
      seen["error"] += int'(count.error);
      seen["poisoned"] += int'(count.poisoned);
      seen["malformed"] += int'(count.malformed);
      seen["timeout"] += int'(count.timeout);
      seen["beat"] += int'(count.beat);
    end
    if (rst) begin
      req.valid <= 0;
      tlp.ready <= 0;
      cpl.valid <= 0;
    end else begin
      tlp.ready <= $urandom_range(99) < tlp_percent;
      if (!req.valid || req.ready) begin
        req.valid <= 0;
        if ($urandom_range(99) < req_percent && in_flight_bytes < max_bytes) begin
          req.valid <= 1;
          req.data  <= new_request();
        end
      end
      if (!cpl.valid || cpl.ready) begin
        cpl.valid <= 0;
        if ($urandom_range(99) < cpl_percent) begin
          if (out_copies == 0) choose();
          if (out_copies != 0) send_beat();
        end
      end
    end
  end

  /// Lets everything end.
  task automatic drain();
    req_percent = 0;
    tlp_percent = 100;
    cpl_percent = 100;
    while (made != ended || pending.size() != 0 || out_copies != 0 || req.valid) @(posedge clk);
    repeat (20) @(posedge clk);
    `CHECK(dropped == expect_dropped, $sformatf("%0d completions dropped instead of %0d", dropped,
                                                expect_dropped))
  endtask

  task automatic tlp_rate(string what, int unsigned trip);
    int unsigned start;
    {shape, reorder, small_pieces, latency} = {Line, 1'b0, 1'b0, trip};
    req_percent = 100;
    repeat (600) @(posedge clk);
    start = tlps;
    repeat (5000) @(posedge clk);
    $display("%s: %0.3f request TLPs a clock", what, real'(tlps - start) / 5000);
    `CHECK(tlps - start >= 4900, "too few request TLPs a clock")
    drain();
  endtask

  task automatic beat_rate(string what, bit pieces, bit any_order);
    int unsigned start, tlps_start, bytes;
    {shape, reorder, small_pieces, latency} = {Page, any_order, pieces, 32'd200};
    req_percent = 100;
    repeat (1000) @(posedge clk);
    start = seen["beat"];
    repeat (5000) @(posedge clk);
    $display("%s: %0.3f completion beats a clock", what, real'(seen["beat"] - start) / 5000);
    `CHECK(seen["beat"] - start >= 4900, "too few completion beats a clock")
    drain();
  endtask

  /// What goes to a multiple of 16 is taken at the width of the beats.
  task automatic byte_rate();
    int unsigned start;
    {shape, reorder, small_pieces, latency, aligned} = {Page, 1'b0, 1'b0, 32'd200, 1'b1};
    req_percent = 100;
    repeat (1000) @(posedge clk);
    start = seen["byte"];
    repeat (5000) @(posedge clk);
    $display("4 kB reads, aligned: %0.1f bytes a clock", real'(seen["byte"] - start) / 5000);
    `CHECK(seen["byte"] - start >= 4900 * BeatBytes, "too few bytes a clock")
    drain();
    aligned = 0;
  endtask

  task automatic inject(cpl_hdr_t h);
    @(negedge clk);
    out_hdr = h;
    {out_addr, out_from, out_to} = '0;
    out_beats = 1;
    out_sent = 0;
    out_copies = 1;
    expect_dropped++;
    @(negedge clk);
  endtask

  initial begin
    int unsigned start;
    cpl_hdr_t stray;
    cfg = '{
        requester_id: 16'h0300,
        max_payload: 3'd1,
        max_read_request: 3'd2,
        bus_master: 1,
        extended_tag: 1,
        wide_tag: Tags > 256,
        relaxed_ordering: 1,
        default: '0
    };
    foreach (faults[i]) faults[i] = 0;
    @(negedge rst);
    repeat (Tags + 10) @(posedge clk);  // it forgets a tag a clock

    tlp_rate("64-byte reads", Tags - 56);
    beat_rate("4 kB reads, 256-byte completions", 0, 0);
    beat_rate("4 kB reads, completions of any size and order", 1, 1);
    byte_rate();

    // Without bus mastering nothing is sent.
    cfg.bus_master = 0;
    start = tlps;
    req_percent = 50;
    repeat (100) @(posedge clk);
    `CHECK(tlps == start, "sent without bus mastering")
    cfg.bus_master = 1;
    drain();

    // Completions nobody asked for.
    stray = '0;
    stray.dw0.fmt_type = CplD;
    stray.dw0.length = 10'd16;
    stray.requester_id = cfg.requester_id;
    stray.byte_count = 12'd64;
    for (int tag = 0; tag < 1024; tag++) begin
      {stray.dw0.tag9, stray.dw0.tag8, stray.tag} = 10'(tag);
      inject(stray);
    end
    drain();

    // Any alignment, size, order and back-pressure; answers that are another device's between them.
    alien_percent = 3;
    for (int round = 0; round < 40; round++) begin
      shape = ($urandom_range(5) == 0) ? Line : Mixed;
      reorder = 1'($urandom());
      small_pieces = $urandom_range(3) != 0;
      latency = $urandom_range(400);
      mps = 128 << $urandom_range(2);
      tlp_percent = ($urandom_range(1) == 0) ? 100 : $urandom_range(100, 5);
      cpl_percent = ($urandom_range(1) == 0) ? 100 : $urandom_range(100, 30);
      cfg.max_read_request = 3'($urandom_range(5));
      cfg.extended_tag = $urandom_range(3) != 0;
      cfg.wide_tag = Tags > 256 && cfg.extended_tag && $urandom_range(2) != 0;
      cfg.relaxed_ordering = 1'($urandom());
      tag_max = 0;
      req_percent = $urandom_range(100, 1);
      repeat (1000) @(posedge clk);
      if (tlp_percent == 100 && req_percent > 90 && latency > 300)
        `CHECK(tag_max >= (cfg.wide_tag ? 456 : cfg.extended_tag ? 200 : 31),
               "does not use its tags")
      // The engine must cope with a change of the number of tags, but header settings only change when idle.
      drain();
    end

    // Faults. The root complex never holds a good completion back for as long as the timeout.
    cfg.extended_tag = 1;
    cfg.wide_tag = Tags > 256;
    mps = 256;
    timeout = 3000;
    fault_permille = 40;
    max_bytes = 40_000;
    shape = Mixed;
    reorder = 1;
    small_pieces = 1;
    for (int round = 0; round < 40; round++) begin
      latency = $urandom_range(200);
      cfg.max_read_request = 3'($urandom_range(5));
      req_percent = $urandom_range(60, 1);
      cpl_percent = 100;
      overtaken = (round % 2 == 0) ? '0 : 16'd1500;
      repeat (1500) @(posedge clk);
      drain();
    end
    $display("faults: %p", faults);
    {fault_permille, alien_percent} = '0;
    overtaken = 0;
    max_bytes = 600_000;
    for (fault_e f = Unsupported; f != Duplicate; f = f.next())
      `CHECK(faults[f] > 10, {"too few of ", f.name()})
    `CHECK(seen["error"] == faults[Unsupported] + faults[Aborted], "error count")
    `CHECK(seen["poisoned"] == faults[Poison], "poisoned count")
    `CHECK(seen["timeout"] == faults[Missing] + faults[Late], "timeout count")
    `CHECK(
        seen["malformed"] == faults[BadCount] + faults[BadAddress] + faults[Excess] + faults[NoData] + faults[Short],
        "malformed count")
    `CHECK(dropped > 50, "nothing was dropped")

    // Lost tags come back.
    repeat (8 * 3000 + 2 * Tags + 100) @(posedge clk);
    cfg.max_read_request = 3'd2;
    tag_seen = '{default: 0};
    tlp_rate("64-byte reads that need every tag, after the faults", Tags - 20);
    start = 0;
    foreach (tag_seen[i]) start += 32'(tag_seen[i]);
    `CHECK(start == Tags, "a tag given up does not come back")
    // Lost reads are given up because later ones are done, also where time alone gives up none.
    timeout = 0;
    overtaken = 1500;
    only_missing = 1;
    max_bytes = 40_000;
    reorder = 1;
    start = seen["timeout"];
    shape = Mixed;
    for (int round = 0; round < 10 || seen["timeout"] <= start + 3; round++) begin
      fault_permille = 2;  // each takes a tag for good
      req_percent = 20;
      repeat (3000) @(posedge clk);
      fault_permille = 0;
      repeat (2000) @(posedge clk);
      drain();
    end
    `CHECK(seen["timeout"] == faults[Missing] + faults[Late], "lost reads given up")
    // A read that nothing overtakes is waited for.
    overtaken = 100;
    latency = 1000;
    shape = Line;
    max_bytes = 1;  // one at a time
    start = tlps;
    req_percent = 100;
    repeat (10_000) @(posedge clk);
    drain();
    `CHECK(seen["timeout"] == faults[Missing] + faults[Late] && tlps > start + 5,
           "a slow read was given up")
    `CHECK(seen["tlp"] == tlps, "TLP count")
    `CHECK(dut.used_q == '0, $sformatf("%0d tags are lost", dut.used_q))
    $display("%0d TLPs, %0d completion beats, %0d dropped, %0d timeouts", tlps, beats, dropped,
             seen["timeout"]);
    `TB_PASS
  end
endmodule
