// SPDX-License-Identifier: Apache-2.0
`include "assists_rig_tb.svh"
/// mac_tx_assist and mac_rx_assist in core-nic's surroundings (assists_rig): frames of all lengths and alignments sent, empty and long ones refused;
/// received ones, good, bad, too short, too long, while receive is off and without slots.
module assists_mac_tb;
  `TB_BEGIN
  `TB_TIMEOUT(200_000)
  assists_rig rig (.rst);

  initial begin
    int unsigned len, errors;
    @(negedge rst);
    repeat (100) @(posedge rig.cclk);
    // MAC transmit.
    for (int i = 0; i < 400; i++) begin
      while (rig.producer[2] - rig.progress[2] >= rig.Ring - 4) @(posedge rig.cclk);
      repeat ($urandom_range(5) == 0 ? $urandom_range(400) : 0) @(posedge rig.cclk);
      rig.hw.i_sink.percent = $urandom_range(20) == 0 ? $urandom_range(100, 20) :
          rig.hw.i_sink.percent;
      len = $urandom_range(2) == 0 ? $urandom_range(1514, 1) : $urandom_range(130, 1);
      if ($urandom_range(30) == 0) len = $urandom_range(1) == 0 ? 0 : 1515;
      rig.give_tx($urandom_range(rig.FrameBytes - 2048), len);
    end
    while (rig.progress[2] != rig.producer[2]) @(posedge rig.cclk);
    `CHECK(rig.hw.i_sink.expected.size() == 0 && rig.bad_seen == rig.bad_given, "frames not sent")
    rig.hw.i_sink.percent = 100;

    // MAC receive: good ones, bad ones, then no slots.
    for (int i = 0; i < 1 << rig.rx_log; i++) rig.mark(i);
    // While it is off each frame counts as one without room.
    @(posedge rig.xclk);
    for (int i = 0; i < 5; i++) rig.hw.i_source.send(0, 60 + i, 0, 3);
    repeat (20) @(posedge rig.xclk);
    `CHECK(rig.rx_dropped[3] + rig.rx_dropped[4] == 5 && rig.rx_good == 0 && rig.progress[3] == 0,
           "frames while receive is off")
    rig.rx_dropped[3] = 0;
    rig.rx_dropped[4] = 0;
    rig.rx_enable <= 1;
    repeat (50) @(posedge rig.xclk);
    errors = 0;
    for (int i = 0; i < 400; i++) begin
      bit err;
      err = $urandom_range(9) == 0;
      len = $urandom_range(2) == 0 ? $urandom_range(1514, 60) : $urandom_range(130, 60);
      if ($urandom_range(9) == 0)
        len = $urandom_range(1) == 0 ? $urandom_range(59, 1) : $urandom_range(3000, 1515);
      if (!err && len >= 60 && len <= 1514) rig.rx_list.push_back('{n: rig.rx_sent, len: len});
      else errors++;
      rig.hw.i_source.send(rig.rx_sent, len, err, $urandom_range(20, 1));
      rig.rx_sent++;
    end
    repeat (3000) @(posedge rig.xclk);
    `CHECK(rig.rx_list.size() == 0 && rig.rx_lost == 0 && rig.rx_good == 32'(rig.rx_sent) - errors,
           "good frames were lost")
    `CHECK(
        rig.rx_dropped[0] + rig.rx_dropped[1] + rig.rx_dropped[2] == errors && rig.rx_dropped[3] == 0 && rig.rx_dropped[4] == 0 &&
           rig.rx_dropped[0] > 10 && rig.rx_dropped[1] > 3 && rig.rx_dropped[2] > 3,
        "bad frames miscounted")
    rig.rx_hold = 1;
    for (int i = 0; i < 100; i++) begin
      rig.rx_list.push_back('{n: rig.rx_sent, len: 200});
      rig.hw.i_source.send(rig.rx_sent, 200, 0, 3);
      rig.rx_sent++;
    end
    repeat (500) @(posedge rig.xclk);
    `CHECK(rig.rx_dropped[4] > 40 && rig.rx_dropped[3] == 0,
           "no slots, but frames were not dropped for it")
    rig.rx_hold = 0;
    repeat (3000) @(posedge rig.xclk);
    `CHECK(rig.rx_lost + rig.rx_list.size() == rig.rx_dropped[4] && rig.progress[3] == rig.rx_good,
           "frames lost without being counted")
    rig.compare();  // all of it went where it should
    rig.all_back();
    checks += rig.all_checks();
    `TB_PASS
  end
endmodule
