// SPDX-License-Identifier: Apache-2.0
`include "parts_tb.svh"
`include "tb.svh"
`include "stream.svh"
/// rx_follow, in rx_parse: flows of TCP of all shapes whose segments go on, or do not in one way or another, against a reading byte by
/// byte of each frame and the one before it; losses; one frame a clock.
module rx_follow_tb;
  import eth_pkg::*;
  `TB_BEGIN
  `TB_TIMEOUT(500_000)
  localparam int Entries = 32, Flows = 12, Ways = 24;

  `STREAM_ON(wide_beat_t, in, clk, rst)
  `STREAM_ON(wide_beat_t, out, clk, rst)
  `STREAM_ON(ptp_time_t, stamp, clk, rst)
  `STREAM_ON(rx_info_t, info, clk, rst)
  reg_if flow_regs ();
  logic lost = 0, refused;
  rx_parse #(
      .Headers(1),
      .Follow (1)
  ) dut (
      .clk_i(clk),
      .rst_i(rst),
      .strip_i('0),
      .key_i(320'h6d5a56da255b0ec24167253d43a38fb0d0ca2bcbae7b30b477cb2da38030f20c6a42b73bbeac01fa),
      .flow_regs,
      .lost_i(lost),
      .flow_refused_o(refused),
      .source_o(),
      .frame_in(in),
      .stamp,
      .frame_out(out),
      .info
  );
  `REG_MASTER(24, i_flows, flow_regs)
  int unsigned in_percent = 100, out_percent = 100, info_percent = 100;
  `FRAME_SOURCE(wide_beat_t, i_frames, in, in_percent, in_percent)
  `STREAM_SOURCE(ptp_time_t, i_stamps, stamp, 100)
  `STREAM_SINK(wide_beat_t, i_out, out, out_percent)
  `STREAM_SINK(rx_info_t, i_info, info, info_percent)

  // ---- Flows.
  typedef struct {
    bit v4;
    int unsigned tags;
    int unsigned options;  // words
    bytes_t head;  // up to the end of TCP's header
    logic [31:0] seq;
    logic [15:0] id;
    int unsigned mss;
  } tcp_t;
  tcp_t flows[Flows];
  int unsigned seen[Ways], joined[Ways], ables = 0;
  bit uniform = 0;

  function automatic int unsigned l3_of(tcp_t t);
    return 14 + 4 * t.tags;
  endfunction
  function automatic int unsigned l4_of(tcp_t t);
    return l3_of(t) + (t.v4 ? 20 : 40);
  endfunction

  function automatic void start(int unsigned n);
    tcp_t t;
    int unsigned l3, l4;
    t.v4 = $urandom_range(2) != 0;
    t.tags = $urandom_range(t.v4 ? 2 : 1);
    t.options = $urandom_range(10);
    if ($urandom_range(1) == 0) t.options = 3;
    t.seq = $urandom();
    if ($urandom_range(2) == 0) t.seq = 32'hfffff000;
    t.id  = $urandom_range(3) == 0 ? 16'hfff8 : 16'($urandom());
    t.mss = $urandom_range(900, 1);
    if (uniform) begin
      t.v4 = 1;
      {t.tags, t.options, t.mss} = {32'd0, 32'd0, 32'd10};
    end
    l3 = l3_of(t);
    l4 = l4_of(t);
    for (int i = 0; i < l4 + 20 + 4 * t.options; i++) t.head.push_back(8'($urandom()));
    for (int i = 0; i < t.tags; i++)
    {t.head[12+4*i], t.head[13+4*i]} = $urandom_range(1) == 0 ? 16'h8100 : 16'h88a8;
    {t.head[l3-2], t.head[l3-1]} = t.v4 ? 16'h0800 : 16'h86dd;
    t.head[l3] = t.v4 ? 8'h45 : 8'h60;
    if (t.v4) {t.head[l3+6], t.head[l3+7], t.head[l3+9]} = 24'h400006;
    else t.head[l3+6] = 6;
    {t.head[l4+12], t.head[l4+13]} = {4'(5 + t.options), 4'd0, 8'h10};
    flows[n] = t;
  endfunction

  /// Sum of TCP with its pseudo header; 'hffff where its checksum is right.
  function automatic logic [15:0] tcp_sum(bytes_t f, bit v4, int unsigned l3, int unsigned l4);
    return sum_of(f, l4, f.size(), 6 + f.size() - l4 + 32'(sum_of(f, v4 ? l3 + 12 : l3 + 8, l4)));
  endfunction

  task automatic segment(int unsigned n, int unsigned way);
    bytes_t f;
    ptp_time_t when = 48'($urandom());
    int unsigned l3, l4, payload;
    bit   err = 0;
    tcp_t t = flows[n];
    l3 = l3_of(t);
    l4 = l4_of(t);
    f = t.head;
    payload = $urandom_range(3) == 0 ? $urandom_range(t.mss, 1) : t.mss;
    if (way == 1) payload = 0;
    if (way == 2) f[l4+13] = 8'h11;  // FIN
    if (way == 3) f[l4+13] = 8'($urandom());
    if (way == 4 || $urandom_range(9) == 0) f[l4+13] |= 8'h08;
    if (way == 5) t.seq += 1;
    if (way == 6) t.id += 1;
    if (way == 7) f[l4+8+$urandom_range(3)] ^= 8'(1 << $urandom_range(7));  // acknowledgement
    if (way == 8) f[l4+14] ^= 1;  // window
    if (way == 9) f[l4+18] ^= 1;  // urgent pointer
    if (way == 10) f[$urandom_range(11)] ^= 4;
    if (way == 11 && t.tags != 0) f[14] ^= 8;
    if (way == 12) f[l3+1] ^= 8'h20;  // DSCP
    if (way == 13) f[t.v4?l3+8 : l3+7] ^= 1;  // TTL
    if (way == 14 && t.options != 0) f[l4+20+$urandom_range(4*t.options-1)] ^= 1;
    if (way == 15) f[l4+12] ^= 1;
    if (way == 16 && t.v4) f[l3+6] ^= 8'h40;  // DF
    if (way == 17 && t.v4) f[l3+6] ^= 8'h20;  // MF
    repeat (payload) f.push_back(8'($urandom()));
    if (way == 18 || (payload < 6 && $urandom_range(1) == 0)) f.push_back(0);  // padded
    {f[l4+4], f[l4+5], f[l4+6], f[l4+7]} = t.seq;
    if (t.v4) begin
      {f[l3+2], f[l3+3]}   = 16'(l4 - l3 + 20 + 4 * t.options + payload);
      {f[l3+4], f[l3+5]}   = t.id;
      {f[l3+10], f[l3+11]} = 16'd0;
      {f[l3+10], f[l3+11]} = ~sum_of(f, l3, l3 + 20);
      if (way == 19) f[l3+10+$urandom_range(1)] ^= 8'(1 << $urandom_range(7));
    end else {f[l3+4], f[l3+5]} = 16'(20 + 4 * t.options + payload);
    if (way == 20) f[l3+(t.v4?3 : 5)] ^= 1;
    {f[l4+16], f[l4+17]} = 16'd0;
    {f[l4+16], f[l4+17]} = ~tcp_sum(f, t.v4, l3, l4);
    if (way == 21) f[l4+16+$urandom_range(1)] ^= 8'(1 << $urandom_range(7));
    if (way == 22) f[f.size()-1] ^= 1;
    if (way == 23) err = 1;
    i_frames.send(f, err);
    i_stamps.queue.push_back(when);
    sent.push_back('{f: f, err: err, way: way});
    if (payload != 0) begin
      t.seq += payload;
      t.id += 1;
    end
    flows[n].seq = t.seq;
    flows[n].id  = t.id;
  endtask

  // ---- The reading.
  typedef struct {
    bytes_t f;
    bit err;
    int unsigned way;
  } sent_t;
  sent_t sent[$];
  bytes_t last[Entries];
  logic [7:0] serials[Entries];
  bit known[Entries], counted[Entries];
  int unsigned frames_out = 0;

  typedef struct {
    bit able;
    bit v4;
    int unsigned l3;
    int unsigned l4;
    int unsigned head;
    int unsigned payload;
  } read_t;
  function automatic read_t reading(bytes_t f);
    read_t r;
    r.able = 0;
    r.l3   = 14;
    for (int i = 0; i < 2; i++) if ({f[r.l3-2], f[r.l3-1]} inside {16'h8100, 16'h88a8}) r.l3 += 4;
    r.v4   = {f[r.l3-2], f[r.l3-1]} == 16'h0800;
    r.l4   = r.l3 + (r.v4 ? 20 : 40);
    r.head = r.l4 + 4 * int'(8'(f[r.l4+12]) >> 4);
    if (f.size() <= r.head || r.head > 94) return r;
    r.payload = f.size() - r.head;
    if (r.v4 && {f[r.l3+6], f[r.l3+7]} != 16'h4000 && {f[r.l3+6], f[r.l3+7]} != 16'hc000) return r;
    if (32'({f[r.l3+(r.v4?2 : 4)], f[r.l3+(r.v4?3 : 5)]}) != f.size() - (r.v4 ? r.l3 : r.l4))
      return r;
    if (8'(f[r.l4+13] & 8'hf7) != 8'h10) return r;
    if (r.v4 && (sum_of(f, r.l3, r.l4) != '1 || {f[r.l3+10], f[r.l3+11]} == '1)) return r;
    if (tcp_sum(f, r.v4, r.l3, r.l4) != '1 || {f[r.l4+16], f[r.l4+17]} == '1) return r;
    r.able = 1;
    return r;
  endfunction
  /// `f` with those fields of its header which `like` is to have.
  function automatic bit goes_on(bytes_t f, bytes_t like);
    read_t r = reading(f), s = reading(like);
    if (r.head != s.head || r.l3 != s.l3 || r.v4 != s.v4) return 0;
    {f[r.l4+4], f[r.l4+5], f[r.l4+6], f[r.l4+7]} += r.payload;
    f[r.l4+13][3] = like[r.l4+13][3];
    for (int i = 16; i < 18; i++) f[r.l4+i] = like[r.l4+i];
    if (r.v4) {f[r.l3+4], f[r.l3+5]} += 16'd1;
    for (int i = 2; i < 4; i++) f[r.l3+(r.v4?i : i+2)] = like[r.l3+(r.v4?i : i+2)];
    if (r.v4) for (int i = 10; i < 12; i++) f[r.l3+i] = like[r.l3+i];
    for (int i = 0; i < r.head; i++) if (f[i] != like[i]) return 0;
    return 1;
  endfunction

  always @(posedge clk)
    if (!rst && info.valid && info.ready) begin
      rx_follow_t got, want;
      sent_t s;
      read_t r;
      int at;
      s = sent.pop_front();
      r = reading(s.f);
      got = info.data.follow;
      at = 32'(info.data.hash) % Entries;
      r.able = r.able && !s.err;
      want = '0;
      want.able = r.able;
      if (!r.able) got = '{able: got.able, follows: got.follows, default: '0};
      else begin
        want.follows = known[at] && goes_on(last[at], s.f);
        want.push = s.f[r.l4+13][3];
        // Serials begin anywhere.
        serials[at] = counted[at] ? serials[at] + 1'b1 : got.serial;
        counted[at] = 1;
        want.serial = serials[at];
        known[at] = 1;
        last[at] = s.f;
        ables++;
      end
      `CHECK(got == want, $sformatf("way %0d: %p, not %p", s.way, got, want))
      seen[s.way]++;
      joined[s.way] += 32'(want.follows);
      frames_out++;
    end

  task automatic drain();
    while (i_frames.queue.size() != 0) @(posedge clk);
    {in_percent, out_percent, info_percent} = {3{32'd100}};
    repeat (100) @(posedge clk);
    `CHECK(sent.size() == 0, "a frame was lost")
  endtask

  initial begin
    int unsigned from, n;
    foreach (known[i]) {known[i], counted[i]} = '0;
    @(negedge rst);
    // One frame a clock, of flows in turn and of one.
    uniform = 1;
    for (int i = 0; i < Flows; i++) start(i);
    for (int i = 0; i < 3000; i++) segment(i < 1500 ? i % Flows : 0, 0);
    repeat (50) @(posedge clk);
    from = frames_out;
    repeat (2500) @(posedge clk);
    `CHECK(frames_out - from >= 2495, $sformatf("%0d frames in 2500 clocks", frames_out - from))
    drain();
    `CHECK(joined[0] > 1480, "few follow")
    uniform = 0;
    for (int round = 0; round < 60; round++) begin
      for (int i = 0; i < Flows; i++) start(i);
      for (int i = 0; i < 150; i++) begin
        if ($urandom_range(2) == 0) n = $urandom_range(Flows - 1);
        segment(n, $urandom_range(1) == 0 ? 0 : $urandom_range(Ways - 1));
      end
      in_percent   = $urandom_range(100, 30);
      out_percent  = $urandom_range(100, 30);
      info_percent = $urandom_range(100, 10);
      drain();
      if (round % 3 == 0) begin
        lost <= 1;
        @(posedge clk) lost <= 0;
        foreach (known[i]) known[i] = 0;
      end
    end
    for (int i = 0; i < Ways; i++)
      `CHECK(
          seen[i] > 50 && (8 * joined[i] < seen[i] || i inside {0, 4, 6, 11, 14, 16, 17, 19}) && (joined[i] > 30 || !(i inside {0, 4})),
          $sformatf("way %0d: %0d frames, %0d follow", i, seen[i], joined[i]))
    `CHECK(ables > 6000 && !refused, "few are able")
    `TB_PASS
  end
endmodule
