// SPDX-License-Identifier: Apache-2.0
`include "parts_tb.svh"
`include "tb.svh"
`include "stream.svh"
/// cap_generator: every byte of every packet as the formula in capture.rdl says, worked out here anew; count, restart, rate,
/// back-pressure; one beat a clock.
module cap_generator_tb;
  import eth_pkg::*;
  import cap_pkg::*;
  `TB_BEGIN
  `TB_TIMEOUT(200_000)
  logic enable = 0;
  logic [31:0] gen_seed = 0, count = 0, sent;
  logic [LenW-1:0] len_min = 60, len_max = 60;
  logic [15:0] flow_mask = 16'h3f;
  logic [23:0] rate = 0;
  `STREAM_ON(wide_beat_t, frame, clk, rst)
  cap_generator dut (
      .clk_i(clk),
      .rst_i(rst),
      .enable_i(enable),
      .seed_i(gen_seed),
      .len_min_i(len_min),
      .len_max_i(len_max),
      .flow_mask_i(flow_mask),
      .rate_i(rate),
      .count_i(count),
      .sent_o(sent),
      .frame
  );

  function automatic int unsigned mix(int unsigned x);
    x ^= x << 13;
    x ^= x >> 17;
    x ^= x << 5;
    return x;
  endfunction

  byte unsigned got[$];
  int unsigned number = 0, bytes = 0, percent = 100;
  `STREAM_SINK(wide_beat_t, i_sink, frame, percent)
  int shortest = 100000, longest = 0;

  task automatic check_packet();
    int unsigned m, flow, len, sum;
    byte unsigned want[$];
    m = mix(number ^ gen_seed ^ 32'h9e3779b9);
    len = int'(len_min) + (((m & 'hffff) * (int'(len_max) - int'(len_min) + 1)) >> 16);
    flow = mix(m) & int'(flow_mask);
    want = {
      8'h02,
      8'h00,
      8'h00,
      8'h00,
      8'h00,
      8'h01,
      8'h02,
      8'h00,
      8'h00,
      8'h00,
      8'h00,
      8'h02,
      8'h08,
      8'h00,
      8'h45,
      8'h00,
      8'((len - 14) >> 8),
      8'(len - 14),
      8'h00,
      8'h00,
      8'h40,
      8'h00,
      8'h40,
      8'h11,
      8'h00,
      8'h00,
      8'd10,
      8'd1,
      8'(flow >> 8),
      8'(flow),
      8'd10,
      8'd2,
      8'd0,
      8'd1,
      8'(flow >> 8),
      8'(flow),
      8'd0,
      8'd9,
      8'((len - 34) >> 8),
      8'(len - 34),
      8'd0,
      8'd0,
      8'(number),
      8'(number >> 8),
      8'(number >> 16),
      8'(number >> 24),
      8'd0,
      8'd0
    };
    sum = 0;
    for (int i = 14; i < 34; i += 2) sum += {want[i], want[i+1]};
    sum = (sum & 'hffff) + (sum >> 16);
    sum = (sum & 'hffff) + (sum >> 16);
    want[24] = 8'(~sum >> 8);
    want[25] = 8'(~sum);
    for (int unsigned i = 48; i < len; i++) begin
      int unsigned k = i / 4;
      want.push_back(8'((m ^ ((k << 16) | (~k & 'hffff))) >> (8 * (i % 4))));
    end
    `CHECK(got.size() == len, $sformatf("packet %0d has %0d bytes, not %0d", number, got.size(),
                                        len))
    `CHECK(got == want, $sformatf("packet %0d has wrong bytes", number))
    if (int'(len) < shortest) shortest = len;
    if (int'(len) > longest) longest = len;
    got.delete();
    number++;
  endtask

  always @(posedge clk) begin
    if (frame.valid && frame.ready && !rst) begin
      `CHECK(frame.data.sop == (got.size() == 0), "sop")
      `CHECK(frame.data.eop || frame.data.len == 128, "full beats before the last")
      `CHECK(!frame.data.err, "a frame that is marked as bad")
      for (int i = 0; i < int'(frame.data.len); i++) got.push_back(frame.data.data[8*i+:8]);
      bytes += 32'(frame.data.len);
      if (frame.data.eop) check_packet();
    end
  end

  task automatic restart(int unsigned packets, int shortest_len, int longest_len);
    enable  = 0;
    percent = 100;
    repeat (400) @(posedge clk);
    restart_now(packets, shortest_len, longest_len);
  endtask
  task automatic restart_now(int unsigned packets, int shortest_len, int longest_len);
    len_min = LenW'(shortest_len);
    len_max = LenW'(longest_len);
    number = 0;
    gen_seed = $urandom();
    count = packets;
    enable = 1;
  endtask

  int unsigned start;
  initial begin
    @(negedge rst);
    `CHECK(sent == 0, "packets sent before any")
    // Packets of one beat: one a clock.
    for (int len = 60; len <= 128; len += len == 60 ? 5 : 63) begin
      restart(0, len, len);
      repeat (20) @(posedge clk);
      start = i_sink.taken;
      repeat (2000) @(posedge clk);
      `CHECK(i_sink.taken - start >= 1990 && number > 1990, $sformatf(
             "only %0d packets of %0d bytes in 2000 clocks", i_sink.taken - start, len))
    end
    // Every length.
    for (int len = 60; len <= 400; len++) begin
      enable = 0;
      repeat (12) @(posedge clk);
      restart_now(4, len, len);
      repeat (30) @(posedge clk);
      `CHECK(number == 4, $sformatf("%0d packets of %0d bytes", number, len))
    end
    restart(0, 60, 1514);
    repeat (20) @(posedge clk);
    start = i_sink.taken;
    repeat (4000) @(posedge clk);
    `CHECK(i_sink.taken - start >= 3980, $sformatf(
           "only %0d beats in 4000 clocks", i_sink.taken - start))
    percent = 40;
    repeat (4000) @(posedge clk);
    `CHECK(shortest < 200 && longest > 1300, "lengths over the whole range")
    restart(3, 16384, 16384);
    repeat (2000) @(posedge clk);
    `CHECK(number == 3 && sent == 3, "stops at its count")
    flow_mask = 16'hffff;
    restart(100, 60, 1000);
    repeat (3000) @(posedge clk);
    `CHECK(number == 100 && sent == 100, "stops at its count, started again from 0")
    rate = 24'd2560;  // 10 bytes a clock
    restart(0, 60, 1000);
    repeat (1000) @(posedge clk);
    start = bytes;
    repeat (20000) @(posedge clk);
    `CHECK(bytes - start > 196000 && bytes - start < 204000, $sformatf(
           "%0d bytes in 20000 clocks", bytes - start))
    `TB_PASS
  end
endmodule
