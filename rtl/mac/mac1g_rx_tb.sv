// SPDX-License-Identifier: Apache-2.0
`include "tb.svh"
`include "stream.svh"
/// mac1g_rx: contents and the fate of every frame, at line rate, with gaps, and with a sink that stalls.
module mac1g_rx_tb;
  import eth_pkg::*;
  `TB_BEGIN
  `TB_TIMEOUT(2_000_000)
  localparam int MaxFrame = 500;

  logic mac_clk = 0, mac_rst = 1;
  real mac_half = 2.667;  // against 5 of the bus: 125 to 66.67 MHz
  initial #0.003 forever #(mac_half) mac_clk = !mac_clk;
  initial begin
    repeat (4) @(posedge mac_clk);
    mac_rst <= 0;
  end

  logic rx_valid = 0, next_valid = 0;  // what the MAC drives in this and in the next clock
  byte_beat_t rx, next;
  `STREAM_ON(word_beat_t, frame, clk, rst)
  mac_rx_count_t count;
  mac1g_rx dut (
      .mac_clk_i(mac_clk),
      .mac_rst_i(mac_rst),
      .rx_valid_i(rx_valid),
      .rx_i(rx),
      .clk_i(clk),
      .rst_i(rst),
      .max_frame_i(14'(MaxFrame)),
      .frame,
      .count_o(count)
  );

  // What was sent, by the number in the frame's first four bytes.
  typedef enum int {
    Good,
    BadFcs,
    Runt,
    Oversize
  } fate_e;
  int unsigned sent_len[$];
  fate_e sent_fate[$];
  int unsigned sent_of[4];

  function automatic byte unsigned content(int unsigned id, int unsigned i);
    return i < 4 ? 8'(id >> (8 * i)) : 8'(id * 7 + i * 13 + (i >> 6));
  endfunction

  task automatic send(int unsigned len, bit bad, int unsigned gap, int unsigned hole_percent = 0);
    int unsigned id = sent_len.size();
    fate_e fate = len < MinFrame ? Runt : len > MaxFrame ? Oversize : bad ? BadFcs : Good;
    sent_len.push_back(len);
    sent_fate.push_back(fate);
    sent_of[fate]++;
    for (int unsigned at = 0; at < len; at++) begin
      while ($urandom_range(
          99
      ) < hole_percent) begin
        next_valid = 0;
        @(posedge mac_clk);
      end
      next_valid = 1;
      next = '{
          data: content(id, at),
          sop: at == 0,
          eop: at + 1 == len,
          err: at + 1 == len && bad
      };
      @(posedge mac_clk);
    end
    next_valid = 0;
    repeat (gap) @(posedge mac_clk);
  endtask
  always @(posedge mac_clk) begin
    rx_valid <= next_valid;
    rx <= next;
  end

  int unsigned counted[5];
  int unsigned ready_percent = 100, delivered = 0, marked = 0;
  int last_id = -1;
  byte unsigned bytes[$];
  always @(posedge clk) begin
    if (frame.valid && frame.ready) begin
      `CHECK(frame.data.sop == (bytes.size() == 0), "sop in the wrong place")
      `CHECK(frame.data.len inside {[1 : 8]} && (frame.data.eop || frame.data.len == 8),
             "a short word inside a frame")
      `CHECK(frame.data.eop || !frame.data.err, "err without eop")
      for (int i = 0; i < int'(frame.data.len); i++) bytes.push_back(frame.data.data[8*i+:8]);
      if (frame.data.eop) begin
        int unsigned id;
        if (frame.data.err) marked++;
        else begin
          delivered++;
          id = {bytes[3], bytes[2], bytes[1], bytes[0]};
          `CHECK(int'(id) > last_id && id < sent_len.size(), "frames out of order")
          last_id = int'(id);
          `CHECK(sent_fate[id] == Good, "a bad frame came out as good")
          `CHECK(bytes.size() == sent_len[id], "wrong length")
          foreach (bytes[i]) `CHECK(bytes[i] == content(id, i), "wrong byte")
        end
        bytes.delete();
      end
    end
    if (!rst) begin
      counted[0] += 32'(count.good);
      counted[1] += 32'(count.bad_fcs);
      counted[2] += 32'(count.runt);
      counted[3] += 32'(count.oversize);
      counted[4] += 32'(count.fifo_full);
    end
    frame.ready <= !rst && $urandom_range(99) < ready_percent;
  end

  task automatic settle();
    ready_percent = 100;
    repeat (300) @(posedge clk);
    @(posedge mac_clk);
    `CHECK(counted[0] == delivered, "good frames miscounted")
    `CHECK(counted[0] + counted[1] + counted[2] + counted[3] + counted[4] == sent_len.size(),
           "a frame has no fate")
    `CHECK(bytes.size() == 0, "something is left over")
  endtask

  initial begin
    @(negedge rst);
    repeat (10) @(posedge mac_clk);
    // 60-byte frames as dense as the MAC can give them, then long ones: all must pass.
    for (int i = 0; i < 300; i++) send(60, 0, 0);
    for (int i = 0; i < 50; i++) send(MaxFrame, 0, 0);
    settle();
    `CHECK(delivered == 350, "lost a frame at line rate")
    // Every kind of frame, without overflow, slow and fast clocks: each count is exact.
    for (int round = 0; round < 4; round++) begin
      mac_half = round == 3 ? 7.31 : 2.667 + 0.41 * round;
      for (int i = 0; i < 400; i++) begin
        int unsigned len, kind;
        kind = $urandom_range(9);
        unique case (kind)
          0: len = $urandom_range(59, 1);
          1: len = $urandom_range(MaxFrame + 200, MaxFrame - 2);
          2: len = 8 * $urandom_range(50, 1);
          3: len = $urandom_range(65, 55);
          default: len = $urandom_range(200, 60);
        endcase
        send(len, $urandom_range(9) == 0, $urandom_range(3), $urandom_range(1) * 30);
      end
      settle();
    end
    `CHECK(counted[4] == 0, "overflow without cause")
    `CHECK(counted[0] == sent_of[Good] && counted[1] == sent_of[BadFcs],
           "good or bad frames miscounted")
    `CHECK(counted[2] == sent_of[Runt] && counted[3] == sent_of[Oversize],
           "runt or oversize frames miscounted")
    // A sink that is too slow: frames are lost whole or marked, the sum still holds.
    mac_half = 2.667;
    for (int round = 0; round < 12; round++) begin
      ready_percent = $urandom_range(15);
      for (int i = 0; i < 100; i++) begin
        send($urandom_range(9) < 3 ? $urandom_range(MaxFrame + 300, 1) : $urandom_range(200, 50),
             $urandom_range(9) == 0, $urandom_range(3));
      end
      settle();
    end
    `CHECK(counted[4] > 100, "the overflow test did not overflow")
    `CHECK(marked > 0, "no frame was marked")
    `TB_PASS
  end
endmodule
