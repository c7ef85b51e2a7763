// SPDX-License-Identifier: Apache-2.0
`include "parts_tb.svh"
`include "tb.svh"
`include "stream.svh"
/// tx_vlan and rx_vlan, side by side: random frames, most of lengths about a beat's border, byte by byte against what 802.1Q says, with
/// and without tags, any of them to be stripped or not, with infos late and under back-pressure; reset in mid-traffic; beats a clock.
module vlan_tb;
  import eth_pkg::*;
  `TB_BEGIN
  `TB_TIMEOUT(500_000)

  typedef struct packed {
    tx_vlan_t   vlan;
    wide_beat_t beat;
  } given_t;
  bit  again = 0;  // a reset in mid-traffic
  wire reset = rst || again;
  `STREAM_ON(given_t, given, clk, reset)
  `STREAM_ON(wide_beat_t, tx_in, clk, reset)
  `STREAM_ON(wide_beat_t, tx_out, clk, reset)
  `STREAM_ON(wide_beat_t, rx_in, clk, reset)
  `STREAM_ON(wide_beat_t, rx_out, clk, reset)
  `STREAM_ON(rx_info_t, info_in, clk, reset)
  `STREAM_ON(rx_info_t, info_out, clk, reset)
  logic [1:0] strip = 2'b11;
  assign tx_in.valid = given.valid;
  assign tx_in.data  = given.data.beat;
  assign given.ready = tx_in.ready;
  tx_vlan i_tx (
      .clk_i(clk),
      .rst_i(reset),
      .frame_in(tx_in),
      .vlan_i(given.data.vlan),
      .frame_out(tx_out)
  );
  rx_vlan i_rx (
      .clk_i(clk),
      .rst_i(reset),
      .strip_i(strip),
      .frame_in(rx_in),
      .frame_out(rx_out),
      .info_in,
      .info_out
  );

  int unsigned in_percent = 100, out_percent = 100;
  `STREAM_SOURCE(given_t, i_given, given, in_percent)
  `FRAME_SOURCE(wide_beat_t, i_frames, rx_in, in_percent, in_percent)
  `STREAM_SINK(wide_beat_t, i_tx_out, tx_out, out_percent)
  `STREAM_SINK(wide_beat_t, i_rx_out, rx_out, out_percent)
  `STREAM_SOURCE(rx_info_t, i_infos, info_in, in_percent)
  `STREAM_CHECK(rx_info_t, i_info, info_out, out_percent)

  bytes_t tx_want[$], rx_want[$];
  bit tx_err[$], rx_err[$];
  rx_info_t info_next[$];
  int unsigned tx_seen = 0, rx_seen = 0, with_tag = 0, stripped = 0, kept = 0;

  function automatic bytes_t random_bytes(int unsigned len);
    for (int i = 0; i < len; i++) random_bytes.push_back(8'($urandom()));
  endfunction
  function automatic int unsigned length();
    case ($urandom_range(
        3
    ))
      0: return 128 * $urandom_range(4, 1) + $urandom_range(6) - 3;
      1: return 128 * $urandom_range(4, 1) + $urandom_range(4);
      2: return $urandom_range(70, 18);
      default: return $urandom_range(2000, 14);
    endcase
  endfunction

  task automatic send_tx(int unsigned len, int unsigned percent);
    bytes_t f = random_bytes(len), want;
    given_t g;
    tx_vlan_t v = tx_vlan_t'($urandom());
    bit err = $urandom_range(9) == 0;
    v.valid = $urandom_range(99) < percent;
    for (int at = 0; at < len; at += WideBeatBytes) begin
      g.vlan = v;
      for (int i = 0; i < WideBeatBytes; i++)
      g.beat.data[8*i+:8] = at + i < len ? f[at+i] : 8'($urandom());
      g.beat.sop = at == 0;
      g.beat.eop = at + WideBeatBytes >= len;
      g.beat.err = g.beat.eop && err;
      g.beat.len = 8'(g.beat.eop ? len - at : WideBeatBytes);
      i_given.queue.push_back(g);
    end
    foreach (f[i]) begin
      if (i == 12 && v.valid) begin
        want.push_back(v.service ? 8'h88 : 8'h81);
        want.push_back(v.service ? 8'ha8 : 8'h00);
        want.push_back(v.tci[15:8]);
        want.push_back(v.tci[7:0]);
      end
      want.push_back(f[i]);
    end
    with_tag += 32'(v.valid);
    tx_want.push_back(want);
    tx_err.push_back(err);
  endtask

  task automatic send_rx(int unsigned len, int unsigned percent);
    bytes_t f = random_bytes(len), want;
    rx_info_t info = rx_info_t'({$urandom(), $urandom(), $urandom(), $urandom()});
    bit err = $urandom_range(9) == 0;
    int unsigned kind = 0;
    info.stripped = '0;
    if ($urandom_range(99) < percent && len >= 18) begin
      kind = $urandom_range(2, 1);
      {f[12], f[13]} = kind == 1 ? 16'h8100 : 16'h88a8;
    end else if (len >= 14) {f[12], f[13]} = 16'h0800;
    if ((kind & 32'(strip)) == 0) begin
      kept += 32'(kind != 0);
      kind = 0;
    end
    i_frames.send(f, err);
    foreach (f[i]) if (kind == 0 || i < 12 || i >= 16) want.push_back(f[i]);
    rx_want.push_back(want);
    rx_err.push_back(err);
    info_next.push_back(info);
    if (kind != 0) begin
      info.stripped = 2'(kind);
      info.hash[31:16] = {f[14], f[15]};
      stripped++;
    end
    i_info.expected.push_back(info);
  endtask

  // What comes out, byte by byte.
  bytes_t tx_got, rx_got;
  task automatic look(wide_beat_t b, ref bytes_t got, ref bytes_t want[$], ref bit err[$],
                      input string way);
    bytes_t w;
    `CHECK(b.sop == (got.size() == 0) && b.len != 0 && (b.eop || b.len == 8'(WideBeatBytes)), {
           way, ": wrong marks"})
    for (int i = 0; i < b.len; i++) got.push_back(b.data[8*i+:8]);
    if (!b.eop) return;
    `CHECK(want.size() != 0, {way, ": a frame too many"})
    w = want.pop_front();
    `CHECK(got.size() == w.size() && b.err == err.pop_front(),
           $sformatf("%s: %0d bytes, not %0d", way, got.size(), w.size()))
    foreach (w[i]) `CHECK(got[i] == w[i], $sformatf("%s: wrong byte %0d of %0d", way, i, w.size()))
    got = {};
  endtask
  always @(posedge clk) begin
    if (tx_out.valid && tx_out.ready && !reset) begin
      look(tx_out.data, tx_got, tx_want, tx_err, "sent");
      tx_seen++;
    end
    if (rx_out.valid && rx_out.ready && !reset) begin
      look(rx_out.data, rx_got, rx_want, rx_err, "received");
      rx_seen++;
      // What is found out comes some clocks after the last beat.
      if (rx_out.data.eop) i_infos.send_in(info_next.pop_front(), 6);
    end
  end

  task automatic drain();
    int unsigned patience = 20000;
    while (tx_want.size() != 0 || rx_want.size() != 0 || i_info.expected.size() != 0) begin
      @(posedge clk);
      patience--;
      `CHECK(patience != 0, "a frame or an info is stuck")
    end
    {in_percent, out_percent} = {2{32'd100}};
    repeat (10) @(posedge clk);
  endtask

  task automatic rate(int unsigned len, int unsigned frames, int unsigned tx_least,
                      int unsigned rx_least);
    int unsigned tx_from, rx_from;
    repeat (frames) begin
      send_tx(len, 100);
      send_rx(len, 100);
    end
    repeat (50) @(posedge clk);
    {tx_from, rx_from} = {tx_seen, rx_seen};
    repeat (500) @(posedge clk);
    $display("%0d bytes: %0d and %0d beats in 500 clocks", len, tx_seen - tx_from,
             rx_seen - rx_from);
    `CHECK(tx_seen - tx_from >= tx_least && rx_seen - rx_from >= rx_least, "too slow")
    drain();
  endtask

  initial begin
    @(negedge rst);
    repeat (3) @(posedge clk);
    send_rx(18, 100);  // the shortest that has a tag
    send_tx(13, 100);
    drain();
    rate(64, 900, 499, 499);
    rate(124, 900, 499, 499);
    rate(128, 700, 499, 499);  // sent: two beats each
    rate(132, 700, 499, 249);  // received: one beat of two
    rate(1518, 90, 499, 498);
    for (int round = 0; round < 60; round++) begin
      strip = 2'(round);
      in_percent = $urandom_range(100, 20);
      out_percent = $urandom_range(100, 20);
      repeat (60) begin
        send_tx(length(), 60);
        send_rx(length(), 60);
      end
      drain();
    end
    `CHECK(with_tag > 500 && stripped > 300 && kept > 300, "too few of a kind")
    // A reset in the midst of it leaves nothing behind.
    strip = '1;
    repeat (20) begin
      send_tx(length(), 60);
      send_rx(length(), 60);
    end
    repeat (30) @(posedge clk);
    again = 1;
    i_given.queue = {};
    i_frames.queue = {};
    i_infos.queue = {};
    i_infos.due = {};
    i_info.expected = {};
    info_next = {};
    tx_want = {};
    rx_want = {};
    tx_err = {};
    rx_err = {};
    tx_got = {};
    rx_got = {};
    repeat (3) @(posedge clk);
    again = 0;
    repeat (40) begin
      send_tx(length(), 60);
      send_rx(length(), 60);
    end
    drain();
    `TB_PASS
  end
endmodule
