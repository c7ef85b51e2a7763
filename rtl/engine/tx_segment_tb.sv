// SPDX-License-Identifier: Apache-2.0
`include "parts_tb.svh"
`include "tb.svh"
`include "stream.svh"
/// tx_segment (with tx_headers, tx_header_fields): packets of random headers, tags, options and sizes against a byte-by-byte cut, the
/// header checksum summed anew; packets that cannot be cut, each kind, count and leave no frame; other units pass as they are between
/// them; under back-pressure; beats a clock with large segments, a frame in two clocks with small ones.
module tx_segment_tb;
  import eth_pkg::*, engine_pkg::*, queue_pkg::*;
  `TB_BEGIN
  `TB_TIMEOUT(4_000_000)
  localparam int MaxFrame = 9018;

  `STREAM_ON(tx_unit_t, in, clk, rst)
  `STREAM_ON(tx_unit_t, out, clk, rst)
  `STREAM_ON(tx_segments_t, token, clk, rst)
  tx_segment dut (
      .clk_i(clk),
      .rst_i(rst),
      .max_frame_i(14'(MaxFrame)),
      .in,
      .out,
      .token
  );
  int unsigned in_percent = 100, out_percent = 100, token_percent = 100;
  `STREAM_SOURCE(tx_unit_t, i_in, in, in_percent)
  `STREAM_SINK(tx_unit_t, i_out, out, out_percent)
  `STREAM_CHECK(tx_segments_t, i_token, token, token_percent)

  // What is to come out: units of others as they are; frames byte by byte, with their command.
  typedef struct {
    bit       pass;
    tx_unit_t unit;
    bytes_t   bytes;
    tx_csum_t csum;
  } want_t;
  want_t  want [$];
  bytes_t none;
  int unsigned units_out = 0, frames = 0, bad[8], cuts = 0, passed = 0;

  function automatic bit one_in(int unsigned n);
    return $urandom_range(n - 1) == 0;
  endfunction

  /// Units of a packet; the marks of segmentation are random where they do not count.
  function automatic void give(bytes_t f, bit cut, int unsigned mss, tx_csum_t csum);
    tx_unit_t u;
    for (int at = 0; at < f.size(); at += 128) begin
      u = '0;
      for (int i = 0; i < 128; i++)
      u.beat.data[8*i+:8] = at + i < f.size() ? f[at+i] : 8'($urandom());
      u.beat.sop = at == 0;
      u.beat.eop = at + 128 >= f.size();
      u.beat.len = 8'(u.beat.eop ? f.size() - at : 128);
      u.csum = csum;
      u.cut = cut;
      u.mss = 14'(mss);
      u.total = 16'(f.size());
      i_in.queue.push_back(u);
      if (!cut) want.push_back('{pass: 1, unit: u, bytes: none, csum: csum});
    end
  endfunction

  function automatic void pass();
    bytes_t   f;
    tx_unit_t u = '0;
    if (one_in(2)) begin
      repeat ($urandom_range(400, 1)) f.push_back(8'($urandom()));
      give(f, 0, $urandom(), tx_csum_t'({$urandom(), $urandom()}));
      return;
    end
    for (int k = 0; k < 32; k++) u.beat.data[32*k+:32] = $urandom();  // of a stream
    u.stream = 1;
    u.beat.len = 8'($urandom_range(8, 1) * 16);
    u.beat.eop = 1;
    u.beat.sop = 1'($urandom());
    u.from = 3'($urandom());
    u.ends = 1'($urandom());
    u.fail = one_in(4);
    i_in.queue.push_back(u);
    want.push_back('{pass: 1, unit: u, bytes: none, csum: '0});
  endfunction

  function automatic logic [15:0] ones_sum(bytes_t f, int unsigned from, int unsigned to);
    int unsigned sum = 0;
    for (int unsigned i = from; i < to; i += 2) sum += {16'd0, f[i], f[i+1]};
    while (sum >> 16 != 0) sum = (sum & 'hffff) + (sum >> 16);
    return 16'(sum);
  endfunction
  function automatic void put(ref bytes_t f, input int unsigned at, input int unsigned bytes,
                              input logic [31:0] value);
    for (int unsigned i = 0; i < bytes; i++) f[at+i] = 8'(value >> (8 * (bytes - 1 - i)));
  endfunction

  /// A packet to be cut; `fault` 0: none, 1 MSS 0, 2 no payload, 3 not TCP, 4 a fragment, or another IP version, 5 checksum elsewhere, 6 a TCP
  /// header too short, 7 a frame too long.
  function automatic void cut(int unsigned mss, int unsigned payload, int unsigned fault,
                              bit plain);
    bytes_t f, g;
    int unsigned tags = plain ? 0 : $urandom_range(2), ip = 14 + 4 * tags, tcp, bytes, at, n, opts;
    bit v4 = plain || one_in(2);
    bit [7:0] flags = 8'($urandom());
    bit [31:0] seq = one_in(4) ? 32'hffff_fff0 : $urandom();
    bit [15:0]
        id = one_in(4) ? 16'hfffe : 16'($urandom()),
        pseudo = one_in(4) ? 16'hffff : 16'($urandom());
    tx_csum_t csum = tx_csum_t'({$urandom(), $urandom()}), told;
    repeat (12) f.push_back(8'($urandom()));
    for (int unsigned t = 0; t < tags; t++) begin
      f.push_back(one_in(2) ? 8'h81 : 8'h88);
      f.push_back(f[$] == 8'h81 ? 8'h00 : 8'ha8);
      repeat (2) f.push_back(8'($urandom()));
    end
    f.push_back(v4 ? 8'h08 : 8'h86);
    f.push_back(v4 ? 8'h00 : 8'hdd);
    opts = v4 && !plain && one_in(3) ? $urandom_range(10) : 0;
    tcp  = ip + (v4 ? 20 + 4 * opts : 40);
    while (f.size() < tcp) f.push_back(8'($urandom()));
    f[ip] = v4 ? 8'(8'h45 + opts) : 8'h60;
    if (v4) begin
      put(f, ip + 4, 2, 32'(id));
      put(f, ip + 6, 2, one_in(2) ? 32'h4000 : 32'h0);
    end
    f[ip+(v4?9 : 6)] = 8'd6;
    opts = plain ? 3 : $urandom_range(10);
    while (tcp + 20 + 4 * opts > 126) opts--;
    bytes = tcp + 20 + 4 * opts;
    while (f.size() < bytes + payload) f.push_back(8'($urandom()));
    put(f, tcp + 4, 4, seq);
    f[tcp+12] = {4'(5 + opts), f[tcp+12][3:0]};
    f[tcp+13] = flags;
    put(f, tcp + 16, 2, 32'(pseudo));
    csum.start = 8'(tcp);
    case (fault)
      1: mss = 0;
      2: while (f.size() > bytes - $urandom_range(3)) f.pop_back();
      3: f[ip+(v4?9 : 6)] = one_in(2) ? 8'd17 : 8'd44;
      4:
      if (v4 && one_in(2)) put(f, ip + 6, 2, 32'h2000);
      else f[ip] = f[ip] ^ 8'h10;
      5: csum.start = csum.start + 8'($urandom_range(9, 1));
      6: f[tcp+12][7:4] = 4'($urandom_range(4));
      7: mss = MaxFrame - bytes + 1;
      default: ;
    endcase
    give(f, 1, mss, csum);
    if (fault != 0) begin
      i_token.expected.push_back('{bad: 1, frames: '0, bytes: '0});
      bad[fault]++;
      return;
    end
    cuts++;
    told = csum;
    told.enable = 1;
    told.offset = 8'd16;
    n = 0;
    for (at = 0; at < payload; at += mss) begin
      int unsigned size = payload - at < mss ? payload - at : mss;
      g = f[0:bytes-1];
      for (int unsigned i = 0; i < size; i++) g.push_back(f[bytes+at+i]);
      if (v4) begin
        put(g, ip + 2, 2, g.size() - ip);
        put(g, ip + 4, 2, 32'(id) + n);
        put(g, ip + 10, 2, 0);
        put(g, ip + 10, 2, 32'(~ones_sum(g, ip, tcp)));
      end else put(g, ip + 4, 2, g.size() - tcp);
      put(g, tcp + 4, 4, seq + at);
      if (n != 0) g[tcp+13] &= 8'h7f;
      if (at + size < payload) g[tcp+13] &= 8'hf6;
      begin
        int unsigned sum = 32'(pseudo) + g.size() - tcp;
        put(g, tcp + 16, 2, sum > 'hffff ? sum - 'hffff : sum);
      end
      want.push_back('{pass: 0, unit: '0, bytes: g, csum: told});
      n++;
    end
    i_token.expected.push_back('{bad: 0, frames: 16'(n), bytes: 24'(payload + n * bytes)});
  endfunction

  int unsigned at = 0;
  tx_unit_t u, w;
  always @(posedge clk) begin
    if (out.valid && out.ready && !rst) begin
      units_out++;
      u = out.data;
      `CHECK(want.size() != 0, "a unit too many")
      if (want[0].pass) begin
        w = want[0].unit;
        passed++;
        `CHECK(
            u.beat.len == w.beat.len && u.beat.sop == w.beat.sop && u.beat.eop == w.beat.eop && u.beat.err == w.beat.err && u.csum == w.csum && u.stream == w.stream && u.from == w.from && u.ends == w.ends && u.fail == w.fail,
            "wrong marks of a unit that passes")
        for (int i = 0; i < u.beat.len; i++)
          `CHECK(u.beat.data[8*i+:8] == w.beat.data[8*i+:8], "wrong byte of a unit that passes")
        void'(want.pop_front());
      end else begin
        automatic
        int unsigned
        n = want[0].bytes.size() - at > 128 ? 128 : want[0].bytes.size() - at;
        `CHECK(
            32'(u.beat.len) == n && u.beat.sop == (at == 0) && u.beat.eop == (at + n == want[0].bytes.size()) && !u.beat.err,
            $sformatf("wrong marks: %0d bytes, not %0d, at %0d", u.beat.len, n, at))
        `CHECK(u.csum == want[0].csum && !u.stream, "wrong command")
        for (int unsigned i = 0; i < n; i++)
          `CHECK(u.beat.data[8*i+:8] == want[0].bytes[at+i], $sformatf(
                 "byte %0d of %0d: %h, not %h",
                 at + i,
                 want[0].bytes.size(),
                 u.beat.data[8*i+:8],
                 want[0].bytes[at+i]
                 ))
        at += n;
        if (u.beat.eop) begin
          at = 0;
          frames++;
          void'(want.pop_front());
        end
      end
    end
  end

  task automatic settle();
    int unsigned patience = 400000;
    while (want.size() != 0 || i_in.queue.size() != 0 || in.valid || i_token.expected.size() != 0) begin
      @(posedge clk);
      patience--;
      `CHECK(patience != 0, "a packet is stuck")
    end
    {in_percent, out_percent, token_percent} = {3{32'd100}};
    repeat (20) @(posedge clk);
  endtask

  /// Clocks that so many packets take.
  task automatic rate(int unsigned mss, int unsigned payload, int unsigned packets,
                      int unsigned most);
    int unsigned clocks = 0, from = frames;
    repeat (packets) cut(mss, payload, 0, 1);
    while (want.size() != 0) begin
      @(posedge clk);
      clocks++;
    end
    $display("MSS %0d: %0d frames in %0d clocks", mss, frames - from, clocks);
    `CHECK(clocks <= most, "too slow")
    settle();
  endtask

  initial begin
    @(negedge rst);
    repeat (3) @(posedge clk);
    cut(1448, 4000, 0, 1);
    settle();
    // 66 bytes of headers: of 1448 bytes 12 beats a frame and a clock to begin one; 11 frames a packet, 7 clocks or so to begin that.
    rate(1448, 11 * 1448, 10, 10 * (11 * 13 + 12) + 20);
    rate(1448, 65469, 5, 5 * (46 * 13 + 12) + 20);
    rate(60, 100 * 60, 5, 5 * (100 * 2 + 12) + 20);
    rate(8900, 8900, 10, 10 * (71 + 14) + 20);
    for (int round = 0; round < 40; round++) begin
      in_percent = $urandom_range(100, 20);
      out_percent = $urandom_range(100, 20);
      token_percent = $urandom_range(100, 3);
      repeat (25) begin
        automatic
        int unsigned
        mss = one_in(
            3
        ) ? $urandom_range(
            70, 1
        ) : one_in(
            2
        ) ? $urandom_range(
            300, 50
        ) : $urandom_range(
            8800, 500
        );
        automatic
        int unsigned
        payload = one_in(
            4
        ) ? mss * $urandom_range(
            4, 1
        ) : $urandom_range(
            mss < 100 ? 700 : 4 * mss, 1
        );
        if (one_in(8)) payload = 65535 - 126 - $urandom_range(3000);
        if (payload / mss > 3000) payload = 3000 * mss;
        if (one_in(3)) pass();
        else cut(mss, payload, one_in(4) ? $urandom_range(7, 1) : 0, 0);
      end
      settle();
    end
    for (int i = 1; i < 8; i++) `CHECK(bad[i] > 10, $sformatf("too few of fault %0d", i))
    `CHECK(cuts > 300 && passed > 250, "too few of a kind")
    // Tokens pile up, bad ones in a row.
    token_percent = 0;
    repeat (100) cut(100, 100, $urandom_range(1), 1);
    repeat (3000) @(posedge clk);
    token_percent = 100;
    settle();
    `TB_PASS
  end
endmodule
