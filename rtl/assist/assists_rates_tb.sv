// SPDX-License-Identifier: Apache-2.0
`include "assists_rig_tb.svh"
/// The assists at their rates in core-nic's surroundings (assists_rig): small commands, 10G both ways with 1518-byte and with 64-byte frames.
module assists_rates_tb;
  `TB_BEGIN
  `TB_TIMEOUT(200_000)
  assists_rig rig (.rst);

  real rate[4], started;
  int unsigned from[4];
  task automatic begin_rates();
    started = $realtime;
    for (int i = 0; i < 4; i++) from[i] = rig.progress[i];
  endtask
  task automatic end_rates(string what);
    for (int i = 0; i < 4; i++)
      rate[i] = real'(rig.progress[i] - from[i]) * 1000.0 / ($realtime - started);
    $display("%s: DMA read %.3f, DMA write %.3f, MAC transmit %.3f, MAC receive %.3f M/s", what,
             rate[0], rate[1], rate[2], rate[3]);
  endtask
  // Keeps the rings of chosen assists full of equal commands: kind, length of the two that take turns.
  int fill_kind[2];
  int unsigned fill_len[3][2];
  bit filling = 0;
  bit [2:0] fill_on = '0;
  always @(posedge rig.cclk) begin
    if (filling) begin
      for (int a = 0; a < 2; a++) begin
        if (fill_on[a] && rig.producer[a] - rig.progress[a] < 200) begin
          dma_command_t c;
          c.len = fill_len[a][rig.producer[a]%2];
          c.kind = a == 1 && c.len == 16 ? 1 : fill_kind[a];
          c.irq = 0;
          c.host_at = (rig.producer[a] % 256) * 2048;
          c.local_at = c.kind == 1 ? (rig.producer[a] % 64) * 2048 : (rig.producer[a] % 200) * 2048 + 32'(a) * 'h80000 % 'h80000;
          rig.give(a, c);
        end
      end
      if (fill_on[2] && rig.producer[2] - rig.progress[2] < 200)
        rig.give_tx((rig.producer[2] % 300) * 2048 + 2, fill_len[2][0]);
    end
  end
  bit rx_stream = 0;
  int unsigned rx_stream_len = 1514;
  initial
    forever begin
      @(posedge rig.xclk);
      while (rx_stream) begin
        // 1538 bytes of wire are 192.25 words.
        rig.hw.i_source.send(
            rig.rx_sent, rx_stream_len, 0,
            rx_stream_len == 60 ? (rig.rx_sent % 2 == 0 ? 2 : 3) : (rig.rx_sent % 4 == 0 ? 3 : 2));
        rig.rx_sent++;
      end
    end

  initial begin
    int unsigned errors;
    // What the memories hold does not matter.
    rig.rx_check = 0;
    rig.tx_check = 0;
    rig.checking = 0;
    @(negedge rst);
    repeat (100) @(posedge rig.cclk);
    for (int k = 0; k < 2; k++) begin
      for (int a = 0; a < 2; a++) begin
        fill_kind = '{k, k};
        fill_len  = '{default: 64};
        fill_on   = 3'(1 << a);
        filling   = 1;
        #4us;
        begin_rates();
        #20us;
        end_rates(
            $sformatf(
            "64 bytes, %s, %s", a == 0 ? "read" : "write", k == 0 ? "frame memory" : "scratchpad"));
        filling = 0;
        `CHECK(rate[a] > 5.0, "small commands are too slow")
        #10us;
      end
    end
    rig.rx_log = 4'd7;
    rig.rx_enable <= 1;
    repeat (50) @(posedge rig.xclk);
    fill_kind = '{0, 0};
    fill_len  = '{'{42, 1472}, '{1514, 16}, '{1514, 1514}};
    fill_on   = '1;
    filling   = 1;
    rx_stream = 1;
    #20us;
    begin_rates();
    #300us;
    end_rates("1518-byte frames, everything at once");
    `CHECK(
        rate[0] > 2 * 0.8127 && rate[1] > 2 * 0.8127 && rate[2] > 0.809 && rate[3] > 0.809 && rig.rx_dropped[3] == 0,
        "below 10G line rate")
    rx_stream = 0;
    filling   = 0;
    while (rig.progress[0] != rig.producer[0] || rig.progress[1] != rig.producer[1] || rig.progress[2] != rig.producer[2])
    @(posedge rig.cclk);
    errors = rig.rx_dropped[3] + rig.rx_dropped[4];
    fill_len[2] = '{60, 60};
    fill_on = 3'b100;
    rx_stream_len = 60;
    filling = 1;
    rx_stream = 1;
    #5us;
    begin_rates();
    #40us;
    end_rates("64-byte frames, MAC only");
    $display("lost %0d", rig.rx_dropped[3] + rig.rx_dropped[4] - errors);
    // Where slots and frames to send meet in the same banks of the memory, up to 4 % below the line.
    `CHECK(rate[2] > 14.1 && rate[3] > 14.1 && rig.rx_dropped[3] + rig.rx_dropped[4] == errors,
           "small frames are too slow")
    rx_stream = 0;
    filling   = 0;
    while (rig.progress[2] != rig.producer[2]) @(posedge rig.cclk);

    rig.all_back();
    checks += rig.all_checks();
    `TB_PASS
  end
endmodule
