// SPDX-License-Identifier: Apache-2.0
`include "parts_tb.svh"
`include "tb.svh"
`include "lpm_model.svh"
`include "stream.svh"
/// ip_route: random frames of every kind against a model, the reason of each drop, clocks a frame, neighbours unharmed.
module ip_route_tb;
  import eth_pkg::*, route_pkg::*;
  `TB_BEGIN
  `TB_TIMEOUT(3_000_000)
  localparam int Peers = 3, Classes = 3, Nodes = 128;
  localparam logic [15:0] ToHost = 16'h8000, Nowhere = 16'hc000;
  localparam mac_t Own = 48'h02_01_02_03_04_05;
  `LPM_MODEL(Nodes)

  `STREAM_ON(word_beat_t, in, clk, rst)
  `STREAM_ON(routed_beat_t, out, clk, rst)
  logic
      fast = 1, lpm = 0, qos = 1, rewrite_source = 1, promiscuous = 0, expired_to_host = 0, we = 0;
  route_rule_t [Peers-1:0] routes = '0;
  class_rule_t [Peers:0][Classes-2:0] classes = '0;
  logic [10:0] addr;
  lpm_entry_t data;
  route_drop_t drop;
  ip_route #(
      .Peers(Peers),
      .Classes(Classes),
      .LpmNodes(Nodes)
  ) dut (
      .clk_i(clk),
      .rst_i(rst),
      .mode_i('{fast, lpm, qos, rewrite_source, promiscuous, expired_to_host, Own}),
      .routes_i(routes),
      .classes_i(classes),
      .lpm_we_i(we),
      .lpm_addr_i(addr),
      .lpm_data_i(data),
      .table_o(),
      .table_i('{1'b0, 1'b0, 32'd0}),
      .lpm_waiting_o(),
      .lpm_lost_o(),
      .in,
      .out,
      .drop_o(drop)
  );

  // What goes in, byte by byte, and what must come out of it.
  typedef byte unsigned frame_t[$];
  typedef struct {
    frame_t bytes;
    bit drop;  // comes out, to be erased
    bit any;  // its contents do not matter
    int dest;
    int cls;
  } expected_t;
  expected_t expected[$];
  int unsigned expired = 0;
  int unsigned wanted[5], counted[5];  // not_ours, header, checksum, no_route, ttl
  string reasons[5] = '{"not_ours", "header", "checksum", "no_route", "ttl"};

  function automatic logic [15:0] half_at(frame_t f, int i);
    // verilator no_inline_task
    return {f[i], f[i+1]};
  endfunction
  function automatic logic [31:0] word_at(frame_t f, int i);
    // verilator no_inline_task
    return {half_at(f, i), half_at(f, i + 2)};
  endfunction
  function automatic void put(ref frame_t f, input int at, int bytes, logic [47:0] value);
    // verilator no_inline_task
    for (int i = 0; i < bytes; i++) f[at+i] = 8'(value >> (8 * (bytes - 1 - i)));
  endfunction
  /// The checksum as it must be, from scratch.
  function automatic logic [15:0] checksum_of(frame_t f, int bytes);
    // verilator no_inline_task
    int unsigned sum = 0;
    for (int i = 0; i < bytes; i += 2) if (i != 10) sum += 32'(half_at(f, 14 + i));
    while (sum > 32'hffff) sum = (sum & 32'hffff) + (sum >> 16);
    return ~16'(sum);
  endfunction

  function automatic bit checksum_ok(frame_t f);
    // verilator no_inline_task
    logic [15:0] want = checksum_of(f, 20);
    return half_at(f, 24) == want || (half_at(f, 24) == '1 && want == 0);
  endfunction

  function automatic int class_of(frame_t f, bit ip, int dest);
    logic [79:0] key;
    if (!ip || !qos) return Classes - 1;
    key = {f[15], word_at(f, 26), word_at(f, 30), f[23]};
    for (int i = 0; i < Classes - 1; i++)
    if (classes[dest][i].valid && ((key ^ classes[dest][i].value) & classes[dest][i].mask) == 0)
      return i;
    return Classes - 1;
  endfunction

  /// What becomes of a frame: gone for a reason, or what comes out.
  function automatic void foresee(frame_t frame, bit err);
    expected_t e;
    bit ip, group, bad, found;
    int total, ihl, route;
    logic [31:0] dst;
    frame_t f;
    f = frame;
    while (f.size() < 64) f.push_back(0);  // so that all fields are there
    ip = frame.size() >= 14 && half_at(f, 12) == 16'h0800;
    group = f[0][0];
    total = int'(half_at(f, 16));
    ihl = int'(f[14][3:0]);
    dst = word_at(f, 30);
    e = '{bytes: frame, drop: err, any: err, dest: Peers, cls: 0};
    if (frame.size() >= 14 && !group && {word_at(f, 0), half_at(f, 4)} != Own && !promiscuous) begin
      if (!err) wanted[0]++;
      return;
    end
    if (ip) begin
      bad = frame.size() < 34 || f[14][7:4] != 4 || ihl < 5 || total < 4 * ihl;
      if (!bad && total > frame.size() - 14) begin
        if (!err) wanted[1]++;
        // Known at its end, but where another reason was known before.
        if (ihl == 5 && !checksum_ok(f)) return;
        e.drop = 1;
        e.any  = 1;
      end else if (bad) begin
        if (!err) wanted[1]++;
        return;
      end else if (ihl == 5 && !checksum_ok(f)) begin
        if (!err) wanted[2]++;
        return;
      end
      if (fast && ihl == 5 && !group && !(f[26] inside {0, 127, [224 : 255]})
          && !(f[30] inside {0, 127, [224 : 255]})) begin
        found = 0;
        for (int i = Peers - 1; i >= 0; i--)
        if (routes[i].valid && ((dst ^ routes[i].value) & routes[i].mask) == 0) begin
          found  = 1;
          e.dest = i;
        end
        if (!found && lpm) begin
          route = int'(lpm_lookup(dst, ToHost));
          if (route == int'(Nowhere)) begin
            if (!err && !e.drop) wanted[3]++;
            return;
          end
          found = route < Peers;
          if (found) e.dest = route;
        end
        if (found && f[22] <= 1 && expired_to_host) begin
          e.dest = Peers;
          expired++;
        end else if (found) begin
          if (f[22] <= 1) begin
            if (!err && !e.drop) wanted[4]++;
            return;
          end
          put(e.bytes, 0, 6, routes[e.dest].next_hop);
          if (rewrite_source) put(e.bytes, 6, 6, Own);
          e.bytes[22]--;
          put(e.bytes, 24, 2, 48'(checksum_of(e.bytes, 20)));
        end
      end
    end
    e.cls = class_of(f, ip, e.dest);
    expected.push_back(e);
  endfunction

  function automatic void offer(frame_t f, bit err);
    i_source.send(f, err);
    foresee(f, err);
  endfunction

  // A frame in good order to the given address.
  function automatic frame_t good_frame(int bytes, logic [31:0] dst);
    // verilator no_inline_task
    frame_t f;
    for (int i = 0; i < bytes; i++) f.push_back(8'($urandom()));
    put(f, 0, 6, Own);
    put(f, 12, 2, 48'h0800);
    f[14] = 8'h45;
    put(f, 16, 2, 48'($urandom_range(bytes - 14, 20)));
    f[22] = 8'($urandom_range(255, 2));
    f[23] = 8'($urandom_range(20));
    f[26] = 8'($urandom_range(223, 128));
    put(f, 30, 4, 48'(dst));
    put(f, 24, 2, 48'(checksum_of(f, 20)));
    return f;
  endfunction

  function automatic logic [31:0] some_address();
    int i = $urandom_range(Peers - 1);
    int kind = $urandom_range(3);
    unique case (kind)
      0: return $urandom();
      1:
      return lpm_prefix.size() == 0 ? $urandom() : lpm_prefix[$urandom_range(
          lpm_prefix.size()-1
      )] ^ ($urandom() >> $urandom_range(
          31
      ));
      default: return (routes[i].value & routes[i].mask) | ($urandom() & ~routes[i].mask);
    endcase
  endfunction

  function automatic void some_frame(bit short_ones);
    int bytes = $urandom_range(5) == 0 ? $urandom_range(1518, 60) : $urandom_range(100, 60);
    frame_t f = good_frame(bytes, some_address());
    bit err = $urandom_range(19) == 0;
    bit fix = 1;
    int kind = $urandom_range(26);
    int keep = $urandom_range(40, 1);
    unique case (kind)
      0: put(f, 0, 6, 48'({$urandom(), $urandom()}) & ~(48'd1 << 40));
      1: put(f, 0, 6, 48'hffffffffffff);
      2: f[12] = 8'($urandom());
      3: put(f, 12, 2, 48'h8100);
      4: f[14] = {4'($urandom()), 4'd5};
      5: f[14] = {4'd4, 4'($urandom())};
      6: put(f, 16, 2, 48'($urandom_range(24)));
      7: put(f, 16, 2, 48'(bytes - 14 + $urandom_range(2)));
      8: put(f, 16, 2, 48'($urandom_range(65535)));
      9, 10: fix = 0;
      11, 12, 13: f[22] = 8'($urandom_range(3));
      14: f[30] = 8'($urandom_range(255, 222));
      15: f[30] = $urandom_range(1) ? 8'd0 : 8'd127;
      16: f[15] = 8'($urandom_range(3));
      17: f[26] = 8'($urandom_range(255, 222));
      18: f[26] = $urandom_range(1) ? 8'd0 : 8'd127;
      default: ;
    endcase
    put(f, 24, 2, 48'(checksum_of(f, 20)));
    if (!fix) f[$urandom_range(33, 14)] ^= 8'(1 << $urandom_range(7));
    if (short_ones && $urandom_range(9) == 0) begin
      while (f.size() > keep) void'(f.pop_back());
      err = $urandom_range(3) != 0;
    end
    offer(f, err);
  endfunction

  // The way in.
  int unsigned in_percent = 100, out_percent = 100;
  `FRAME_SOURCE(word_beat_t, i_source, in, in_percent, in_percent)
  `STREAM_SINK(routed_beat_t, i_sink, out, out_percent)

  // The way out.
  frame_t got;
  int unsigned frames_out = 0;
  int unsigned rewritten = 0, to_host = 0, erased = 0;
  always @(posedge clk) begin
    if (out.valid && out.ready && !rst) begin
      `CHECK(out.data.sop == (got.size() == 0), "sop in the wrong place")
      `CHECK(out.data.eop || (out.data.len == 8 && !out.data.drop), "wrong word inside a frame")
      for (int i = 0; i < int'(out.data.len); i++) got.push_back(out.data.data[8*i+:8]);
      `CHECK(expected.size() != 0, "a frame too many")
      if (!expected[0].any) begin
        `CHECK(int'(out.data.dest) == expected[0].dest, $sformatf("to %0d, not to %0d",
                                                                  out.data.dest, expected[0].dest))
        `CHECK(int'(out.data.cls) == expected[0].cls, $sformatf("class %0d, not %0d", out.data.cls,
                                                                expected[0].cls))
      end
      if (out.data.eop) begin
        frames_out++;
        `CHECK(out.data.drop == expected[0].drop, "wrong drop mark")
        if (!expected[0].any) begin
          `CHECK(got.size() == expected[0].bytes.size(), "wrong length")
          foreach (got[i])
            `CHECK(got[i] == expected[0].bytes[i], $sformatf(
                   "byte %0d is %h, not %h", i, got[i], expected[0].bytes[i]))
          if (expected[0].dest == Peers) to_host++;
          else rewritten++;
        end else erased++;
        got.delete();
        void'(expected.pop_front());
      end
    end
    if (!rst) begin
      counted[0] += 32'(drop.not_ours);
      counted[1] += 32'(drop.header);
      counted[2] += 32'(drop.checksum);
      counted[3] += 32'(drop.no_route);
      counted[4] += 32'(drop.ttl);
      if (drop != 0)
        `CHECK($onehot(drop) && !drop.bad_fcs && !drop.runt && !drop.oversize && !drop.rx_fifo_full,
               "two reasons, or one of the MAC")
    end
  end

  task automatic settle();
    while (i_source.queue.size() != 0) @(posedge clk);
    out_percent = 100;
    repeat (1000) @(posedge clk);
    `CHECK(expected.size() == 0 && got.size() == 0, $sformatf("%0d frames missing",
                                                              expected.size()))
    foreach (counted[i])
      `CHECK(counted[i] == wanted[i], $sformatf(
             "%0d times %s, not %0d", counted[i], reasons[i], wanted[i]))
  endtask

  task automatic load_trie();
    for (int i = 0; i < lpm_nodes * 16; i++) begin
      @(negedge clk);
      we   = 1;
      addr = 11'(i);
      data = lpm_image[i];
    end
    @(negedge clk);
    we = 0;
  endtask

  function automatic void some_tables();
    int kind;
    lpm_clear();
    for (int i = 0; i < Peers; i++)
    routes[i] = '{
        valid: $urandom_range(3) != 0,
        value: {8'($urandom_range(223, 1)), 24'($urandom())},
        mask: $urandom_range(4) == 0 ? 32'hff00ff00 : 32'hffffffff << $urandom_range(24, 4),
        next_hop: {16'h0200, $urandom()}
    };
    for (int d = 0; d <= Peers; d++)
    for (int i = 0; i < Classes - 1; i++) begin
      classes[d][i] = '0;
      classes[d][i].valid = $urandom_range(4) != 0;
      classes[d][i].value = {8'($urandom()), $urandom(), $urandom(), 8'($urandom_range(20))};
      kind = $urandom_range(3);
      unique case (kind)
        0: classes[d][i].mask.tos = 8'h03;
        1: classes[d][i].mask.src = 32'h80000001;
        2: classes[d][i].mask.dst = 32'h00000003;
        default: classes[d][i].mask.protocol = 8'h05;
      endcase
    end
    for (int i = 0; i < 30; i++) begin
      int what = $urandom_range(4);
      lpm_add($urandom(), $urandom_range(32, 1),
              what == 4 ? Nowhere : what == 3 ? ToHost : 16'(what));
      if (!lpm_build(ToHost)) begin
        void'(lpm_prefix.pop_back());
        void'(lpm_length.pop_back());
        void'(lpm_value.pop_back());
      end
    end
    void'(lpm_build(ToHost));
  endfunction

  // Clocks a frame of 60 bytes, many of them back to back.
  task automatic race(logic [31:0] dst, string what, int unsigned limit);
    int unsigned clocks = 0, start;
    for (int i = 0; i < 220; i++) offer(good_frame(60, dst), 0);
    start = frames_out + 10;
    while (frames_out < start) @(posedge clk);
    while (frames_out < start + 200) begin
      @(posedge clk);
      clocks++;
    end
    $display("%0d.%02d clocks a frame of 60 bytes, %s", clocks / 200, clocks % 200 / 2, what);
    `CHECK(clocks <= limit * 200 + 2, "too many clocks a frame")
    settle();
  endtask

  initial begin
    @(negedge rst);
    // Speed: every word a clock; 8 levels of the trie.
    routes[1] = '{
        valid: 1,
        value: 32'h0a010000,
        mask: 32'hffff0000,
        next_hop: 48'h020000000001
    };
    lpm_add(32'hc0a80101, 32, 16'd2);
    `CHECK(lpm_build(ToHost), "the table does not fit")
    load_trie();
    race(32'h0a010203, "ternary route", 8);
    lpm = 1;
    race(32'hc0a80101, "trie of 8 levels", 13);
    // The old checksum at its corners.
    for (int i = 0; i < 4; i++) begin
      frame_t f;
      logic [15:0] want;
      f = good_frame(60, 32'h0a010203);
      unique case (i)
        0: want = 16'hfeff;
        1: want = 16'hff00;
        2: want = 16'h0000;
        default: want = 16'hfefe;
      endcase
      // The identification takes what makes the checksum come out as wanted.
      for (int id = 0; id < 65536 && checksum_of(f, 20) != want; id++) put(f, 18, 2, 48'(id));
      put(f, 24, 2, 48'(want));
      `CHECK(checksum_of(f, 20) == want, "no such header")
      offer(f, 0);
    end
    settle();
    for (int round = 0; round < 40; round++) begin
      some_tables();
      load_trie();
      fast = $urandom_range(7) != 0;
      lpm = 1'($urandom_range(1));
      qos = $urandom_range(3) != 0;
      rewrite_source = 1'($urandom_range(1));
      promiscuous = $urandom_range(2) == 0;
      expired_to_host = 1'($urandom_range(1));
      in_percent = round % 2 == 0 ? 100 : $urandom_range(100, 10);
      out_percent = round % 4 < 2 ? 100 : $urandom_range(100, 10);
      repeat (150) some_frame(round % 5 == 4);
      settle();
    end
    `CHECK(rewritten > 500 && to_host > 500 && erased > 50 && expired > 50,
           "too few frames of a kind")
    foreach (counted[i]) `CHECK(counted[i] > 10, {"too few drops for ", reasons[i]})
    $display("%0d rewritten, %0d to the host, %0d erased, %p dropped", rewritten, to_host, erased,
             counted);
    `TB_PASS
  end
endmodule
