// SPDX-License-Identifier: Apache-2.0
`include "parts_tb.svh"
`include "tb.svh"
`include "stream.svh"
/// rx_parse with `Steered`: each frame's queue is what its stamp says, whatever its flow and the flow table; nothing else changes.
module rx_parse_steered_tb;
  import eth_pkg::*;
  `TB_BEGIN
  `TB_TIMEOUT(100_000)
  int unsigned percent = 100;
  `STREAM_ON(wide_beat_t, in, clk, rst)
  `STREAM_ON(wide_beat_t, out, clk, rst)
  `STREAM_ON(ptp_time_t, stamp, clk, rst)
  `STREAM_ON(rx_info_t, info, clk, rst)
  reg_if flow_regs ();
  assign flow_regs.req   = 1'b0;
  assign flow_regs.write = 1'b0;
  assign flow_regs.addr  = '0;
  assign flow_regs.wdata = '0;
  assign flow_regs.wstrb = '0;
  logic refused;
  wire  unused = &{1'b0, flow_regs.ack, flow_regs.rdata};
  rx_parse #(
      .Steered(1)
  ) dut (
      .clk_i(clk),
      .rst_i(rst),
      .strip_i(2'b11),
      .key_i('1),
      .lost_i('0),
      .flow_refused_o(refused),
      .source_o(),
      .frame_in(in),
      .frame_out(out),
      .*
  );
  `FRAME_SOURCE(wide_beat_t, i_frames, in, percent, percent)
  `STREAM_SOURCE(ptp_time_t, i_stamps, stamp, percent)
  `STREAM_SINK(wide_beat_t, i_out, out, percent)
  ptp_time_t wanted[$];
  rx_info_t  got;
  always @(posedge clk) begin
    info.ready <= !rst && $urandom_range(99) < percent;
    if (info.valid && info.ready && !rst) begin
      got = info.data;
      `CHECK(wanted.size() != 0 && got.stamp == wanted[0], "a stamp of another frame")
      `CHECK(got.steered.hit && got.steered.queue == wanted[0][15:0],
             "a queue that the stamp does not say")
      void'(wanted.pop_front());
    end
  end
  initial begin
    bytes_t bytes;
    wanted = {};
    i_frames.queue = {};
    i_stamps.queue = {};
    @(negedge rst);
    repeat (2) @(posedge clk);
    for (int round = 0; round < 10; round++) begin
      percent = $urandom_range(100, 30);
      for (int n = 0; n < 40; n++) begin
        automatic ptp_time_t when_ = {16'($urandom()), 32'($urandom())};
        bytes = {};
        for (int i = 0; i < $urandom_range(300, 60); i++) bytes.push_back(8'($urandom()));
        while (bytes.size() < 60) bytes.push_back(8'd0);
        i_frames.send(bytes, 0);
        i_stamps.queue.push_back(when_);
        wanted.push_back(when_);
      end
      while (wanted.size() != 0) @(posedge clk);
    end
    `CHECK(!refused, "the flow table was written")
    `TB_PASS
  end
endmodule
