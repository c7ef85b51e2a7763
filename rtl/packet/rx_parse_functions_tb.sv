// SPDX-License-Identifier: Apache-2.0
`include "parts_tb.svh"
`include "tb.svh"
`include "stream.svh"
/// rx_parse with `Functions` and `Follow`: whose each segment is, and whether it may be joined: where its function takes what is joined, and
/// its flow is not steered to a queue of another one. With one function all of them may.
module rx_parse_functions_tb #(
    parameter int Functions = 4
);
  import eth_pkg::*;
  `TB_BEGIN
  `TB_TIMEOUT(200_000)
  localparam int Queues = 16, Entries = 8, Payload = 32, L3 = 14, L4 = 34;

  `STREAM_ON(wide_beat_t, in, clk, rst)
  `STREAM_ON(wide_beat_t, out, clk, rst)
  `STREAM_ON(ptp_time_t, stamp, clk, rst)
  `STREAM_ON(rx_info_t, info, clk, rst)
  reg_if flow_regs ();
  logic refused;
  // Without a key all flows have one hash, and so the same two entries of the flow table.
  rx_parse #(
      .Depth(16),
      .FlowEntries(Entries),
      .Queues(Queues),
      .Headers(1),
      .Follow(1),
      .Functions(Functions)
  ) dut (
      .clk_i(clk),
      .rst_i(rst),
      .strip_i('0),
      .key_i('0),
      .flow_regs,
      .flow_refused_o(refused),
      .source_o(),
      .lost_i('0),
      .frame_in(in),
      .stamp,
      .frame_out(out),
      .info
  );
  `REG_MASTER(24, i_regs, flow_regs)
  int unsigned percent = 100;
  `FRAME_SOURCE(wide_beat_t, i_frames, in, percent, percent)
  `STREAM_SOURCE(ptp_time_t, i_stamps, stamp, 100)
  `STREAM_SINK(wide_beat_t, i_out, out, percent)
  `STREAM_SINK(rx_info_t, i_info, info, percent)

  typedef struct {
    int unsigned owner;
    bit steered;
    bit able;
    bit follows;
  } want_t;
  want_t due[$];
  int unsigned seen[4];  // by {steered, able}

  always @(posedge clk)
    if (!rst && info.valid && info.ready) begin
      want_t want;
      `CHECK(due.size() != 0, "info without a frame")
      want = due.pop_front();
      `CHECK(32'(info.data.owner) == want.owner, "another function's")
      `CHECK(info.data.steered.hit == want.steered,
             "steered, or not, where the other was asked for")
      `CHECK({info.data.follow.able, info.data.follow.follows} == {want.able, want.follows},
             $sformatf("able, follows: %b %b instead of %b %b", info.data.follow.able,
                       info.data.follow.follows, want.able, want.follows))
      seen[{want.steered, want.able}]++;
    end

  /// Two segments of a flow, the second behind the first, to a function's address.
  task automatic train(int unsigned owner, logic [15:0] port, bit steered, bit able);
    bytes_t f;
    logic [31:0] seq = $urandom();
    logic [15:0] id = 16'($urandom());
    for (int n = 0; n < 2; n++) begin
      f = {};
      repeat (L4 + 20 + Payload) f.push_back(8'd0);
      {f[0], f[5]} = {8'h02, 8'(owner)};
      {f[12], f[13], f[L3]} = 24'h080045;
      {f[L3+2], f[L3+3]} = 16'(40 + Payload);
      {f[L3+4], f[L3+5]} = id + 16'(n);
      {f[L3+6], f[L3+8], f[L3+9]} = 24'h404006;
      {f[L3+12], f[L3+16], f[L4], f[L4+1]} = {8'd10, 8'd11, port};
      {f[L4+4], f[L4+5], f[L4+6], f[L4+7]} = seq + Payload * n;
      {f[L4+12], f[L4+13]} = 16'h5010;
      for (int i = 0; i < Payload; i++) f[L4+20+i] = 8'($urandom());
      {f[L3+10], f[L3+11]} = ~sum_of(f, L3, L4);
      {f[L4+16], f[L4+17]} =
          ~sum_of(f, L4, f.size(), 6 + 20 + Payload + 32'(sum_of(f, L3 + 12, L4)));
      i_frames.send(f, 0);
      i_stamps.queue.push_back(48'($urandom()));
      due.push_back('{owner: owner, steered: steered, able: able, follows: able && n == 1});
    end
  endtask

  initial begin
    logic [15:0] queue;
    logic [Functions-1:0] coalesce;
    seen = '{default: 0};
    due = {};
    i_frames.queue = {};
    i_stamps.queue = {};
    @(negedge rst);
    for (int round = 0; round < 40; round++) begin
      // The physical function has no entry.
      coalesce = Functions'($urandom()) | 1'b1;
      for (int n = 1; n < Functions; n++) begin
        i_regs.access(1, 24'(16'h408 + 16 * n), 0, '1);
        i_regs.access(1, 24'(16'h400 + 16 * n), 32'h0000_0002, '1);
        i_regs.access(1, 24'(16'h404 + 16 * n), {1'b1, 1'b0, coalesce[n], 13'd0, 8'(n), 8'd0}, '1);
      end
      queue = 16'($urandom_range(Queues - 1));
      i_regs.access(1, 24'h0, 32'h0a00_0000, '1);
      i_regs.access(1, 24'h4, 32'h0b00_0000, '1);
      i_regs.access(1, 24'h8, {16'd7, 16'd0}, '1);
      for (int i = 3; i < 9; i++) i_regs.access(1, 24'(4 * i), 0, '1);
      i_regs.access(1, 24'h24, {1'b1, 11'd0, 4'd5, queue}, '1);
      i_regs.access(1, 24'h28, 0, '1);
      i_regs.access(0, 24'h28, 0, '1);  // writes are posted
      percent = $urandom_range(1) == 0 ? 100 : $urandom_range(90, 20);
      repeat (20) begin
        automatic int unsigned owner = $urandom_range(Functions - 1);
        automatic bit steered = $urandom_range(1) == 0;
        train(owner, steered ? 16'd7 : 16'($urandom_range(65535, 8)), steered,
              coalesce[owner] && !(steered && 32'(queue) / (Queues / Functions) != owner));
      end
      while (due.size() != 0) @(posedge clk);
      repeat (20) @(posedge clk);
    end
    `CHECK(!refused, "a setting was refused")
    foreach (seen[i])
    if (Functions > 1 || i % 2 == 1) `CHECK(seen[i] > 20, $sformatf("kind %0d is missing", i))
    `TB_PASS
  end
endmodule
