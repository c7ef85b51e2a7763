// SPDX-License-Identifier: Apache-2.0
`include "parts_tb.svh"
`include "tb.svh"
`include "stream.svh"
/// tx_source: frames of all functions with sources that are theirs or not, rules that change between them, stamps late; what comes out is
/// byte for byte what may leave, stamps are the MAC's or 0, in order; one frame a clock; reset. And the wire that it is with one function.
module tx_source_tb;
  import eth_pkg::*;
  `TB_BEGIN
  `TB_TIMEOUT(600_000)
  localparam int Functions = 8, Depth = 32;
  typedef struct packed {
    tx_csum_t   csum;
    wide_beat_t beat;
  } given_t;
  bit  again = 0;
  wire reset = rst || again;
  `STREAM_ON(given_t, given, clk, reset)
  `STREAM_ON(wide_beat_t, in, clk, reset)
  `STREAM_ON(wide_beat_t, out, clk, reset)
  `STREAM_ON(ptp_time_t, mac_stamp, clk, reset)
  `STREAM_ON(ptp_time_t, stamp, clk, reset)
  source_rule_t set = '0;
  tx_csum_t csum;
  logic dropped;
  assign in.valid = given.valid;
  assign in.data = given.data.beat;
  assign given.ready = in.ready;
  tx_source #(
      .Functions(Functions),
      .Depth(Depth)
  ) dut (
      .clk_i(clk),
      .rst_i(reset),
      .set_i(set),
      .frame_in(in),
      .csum_i(given.data.csum),
      .frame_out(out),
      .csum_o(csum),
      .dropped_o(dropped),
      .mac_stamp,
      .stamp
  );
  int unsigned in_percent = 100, out_percent = 100, stamp_percent = 100;
  `STREAM_SOURCE(given_t, i_given, given, in_percent)
  `STREAM_SINK(wide_beat_t, i_out, out, out_percent)
  `STREAM_SOURCE(ptp_time_t, i_mac, mac_stamp, stamp_percent)
  `STREAM_SINK(ptp_time_t, i_stamp, stamp, stamp_percent)

  wide_beat_t beats[$];
  tx_csum_t commands[$];
  bit fates[$];  // of frames, in order: dropped
  ptp_time_t stamps[$];  // that the MAC gives
  int unsigned drops = 0, want_drops = 0, frames_out = 0, stamped = 0;
  always @(posedge clk) begin
    if (!reset && dropped) drops++;
    if (!reset && out.valid && out.ready) begin
      `CHECK(beats.size() != 0 && out.data === beats[0], "a beat that may leave")
      if (out.data.sop) begin
        `CHECK(csum === commands.pop_front(), "a command")
        frames_out++;
        i_mac.send_in(48'({$urandom(), $urandom()}) | 48'd1, $urandom_range(60));
        stamps.push_back(i_mac.queue[$]);
      end
      void'(beats.pop_front());
    end
    if (!reset && stamp.valid && stamp.ready) begin
      `CHECK(fates.size() != 0, "a stamp without a frame")
      if (fates.pop_front()) `CHECK(stamp.data == '0, "a stamp of a frame that was dropped")
      else `CHECK(stamp.data == stamps.pop_front(), "a stamp of the MAC")
      stamped++;
    end
  end

  bit checked[Functions] = '{default: 0};
  logic [47:0] address[Functions];
  task automatic rule(int n, bit check, logic [47:0] a);
    checked[n] = check;
    address[n] = a;
    set <= '{valid: 1, owner: owner_t'(n), check: check, address: a};
    @(posedge clk);
    set <= '0;
    @(posedge clk);
  endtask
  function automatic void send(int n, logic [47:0] source, int unsigned len);
    given_t g;
    bit bad = checked[n] && source != address[n];
    for (int unsigned at = 0; at < len; at += WideBeatBytes) begin
      for (int i = 0; i < WideBeatBytes / 4; i++) g.beat.data[32*i+:32] = $urandom();
      g.beat.sop = at == 0;
      g.beat.eop = at + WideBeatBytes >= len;
      g.beat.err = g.beat.eop && $urandom_range(9) == 0;
      g.beat.len = 8'(g.beat.eop ? len - at : WideBeatBytes);
      g.csum = tx_csum_t'({$urandom(), $urandom()});
      g.csum.owner = at == 0 ? owner_t'(n) : owner_t'($urandom_range(Functions - 1));
      if (at == 0) g.beat.data[95:48] = source;
      if (at == 0 && !bad) commands.push_back(g.csum);
      if (!bad) beats.push_back(g.beat);
      i_given.queue.push_back(g);
    end
    fates.push_back(bad);
    want_drops += 32'(bad);
  endfunction
  task automatic settle();
    while (fates.size() != 0 || beats.size() != 0) @(posedge clk);
    repeat (3) @(posedge clk);
    `CHECK(drops == want_drops, $sformatf("%0d dropped, not %0d", drops, want_drops))
  endtask

  initial begin
    int unsigned start, n;
    foreach (address[i]) address[i] = 48'({$urandom(), $urandom()});
    @(negedge rst);
    repeat (3) @(posedge clk);
    for (int round = 0; round < 60; round++) begin
      for (int i = 0; i < 3; i++)
      rule($urandom_range(Functions - 1), $urandom_range(3) != 0, 48'({$urandom(), $urandom()}));
      in_percent = $urandom_range(100, 30);
      out_percent = $urandom_range(100, 30);
      stamp_percent = $urandom_range(100, 10);
      for (int i = 0; i < 80; i++) begin
        n = $urandom_range(Functions - 1);
        send(n, $urandom_range(2) == 0 ? address[n] ^ 48'd1 << $urandom_range(47) : address[n],
             $urandom_range(2) == 0 ? $urandom_range(1000, 60) : 60);
      end
      settle();
    end
    `CHECK(drops > 500 && frames_out > 2000, "few were dropped, or few were not")
    // A frame a clock, when stamps come as fast; more than `Depth` of them without a stamp wait.
    in_percent = 100;
    out_percent = 100;
    stamp_percent = 100;
    rule(1, 1, 48'h5);
    start = frames_out;
    for (int i = 0; i < 10; i++) send(1, 48'h5, 60);
    settle();
    for (int i = 0; i < 600; i++) send(1, i % 4 == 0 ? 48'h6 : 48'h5, 60);
    stamp_percent = 0;
    repeat (200) @(posedge clk);
    `CHECK(fates.size() > 500, "frames without a place for their stamps")
    stamp_percent = 100;
    settle();
    // After a reset nobody is looked at.
    again <= 1;
    repeat (2) @(posedge clk);
    again <= 0;
    repeat (2) @(posedge clk);
    foreach (checked[i]) checked[i] = 0;
    for (int i = 0; i < 20; i++) send($urandom_range(Functions - 1), 48'($urandom()), 60);
    settle();
    `TB_PASS
  end
endmodule
