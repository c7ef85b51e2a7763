// SPDX-License-Identifier: Apache-2.0
`include "parts_tb.svh"
`include "tb.svh"
`include "stream.svh"
/// The block and its model, with shared queues or without.
module tx_finish_beside #(
    parameter bit Shared = 0
) (
    input logic clk,
    input logic rst,
    output logic done_o,
    output int unsigned checks_o
);
  import queue_pkg::*;
  import engine_pkg::*;
  import eth_pkg::*;
  int unsigned checks = 0;
  assign checks_o = checks;
  localparam logic [1:0] Port = 2'd2;
  `STREAM_ON(tx_done_t, done, clk, rst)
  `STREAM_ON(tx_token_t, token, clk, rst)
  `STREAM_ON(tx_segments_t, segments, clk, rst)
  `STREAM_ON(ptp_time_t, stamp, clk, rst)
  `STREAM_ON(record_t, record, clk, rst)
  `STREAM_ON(commit_t, commit, clk, rst)
  `STREAM_ON(sent_t, sent, clk, rst)
  `STREAM_ON(queue_error_t, stop, clk, rst)
  `STREAM_ON(queue_count_t, counted, clk, rst)
  tx_engine_count_t count;
  tx_finish #(
      .Depth(8),
      .Segment(1),
      .Shared(Shared),
      .Port(Port)
  ) dut (
      .clk_i  (clk),
      .rst_i  (rst),
      .done,
      .token,
      .segments,
      .stamp,
      .record,
      .commit,
      .sent,
      .stop,
      .counted,
      .count_o(count)
  );
  int unsigned percent[4] = '{4{100}}, out_percent = 100;
  `STREAM_SOURCE(tx_done_t, i_done, done, percent[0])
  `STREAM_SOURCE(tx_token_t, i_token, token, percent[1])
  `STREAM_SOURCE(tx_segments_t, i_segments, segments, percent[2])
  `STREAM_SOURCE(ptp_time_t, i_stamp, stamp, percent[3])
  `STREAM_CHECK(record_t, i_record, record, out_percent)
  `STREAM_CHECK(commit_t, i_commit, commit, out_percent)
  `STREAM_CHECK(sent_t, i_sent, sent, out_percent)
  `STREAM_CHECK(queue_error_t, i_stop, stop, out_percent)
  `STREAM_CHECK(queue_count_t, i_counted, counted, out_percent)

  int unsigned want_sent = 0, want_errors = 0, got_sent = 0, got_errors = 0;
  always @(posedge clk)
    if (!rst) begin
      got_sent += 32'(count.sent);
      got_errors += 32'(count.error);
    end

  logic [ 7:0] frames_so_far = '0;
  logic [13:0] bytes_so_far = '0;
  // A frame's stamp comes after the tokens and segments of all before it were told.
  typedef struct {
    ptp_time_t   at;
    int unsigned tokens, segments;
  } later_t;
  later_t later[$];
  int unsigned tokens = 0, cuts = 0;
  function automatic ptp_time_t next_stamp();
    later_t l;
    l.at = ptp_time_t'({16'($urandom()), $urandom()});
    l.tokens = tokens;
    l.segments = cuts;
    later.push_back(l);
    want_sent++;
    return l.at;
  endfunction
  always @(posedge clk)
    while (later.size() != 0 && later[0].tokens <= tokens - i_token.queue.size() && later[0].segments <= cuts - i_segments.queue.size())
      i_stamp.queue.push_back(later.pop_front().at);

  /// One of `kind`: 0 a packet, 1 a failed one, 2 a piece of a turn, 3 a packet that was cut.
  function automatic void add(int unsigned kind);
    tx_done_t d;
    cpl_t r;
    queue_count_t c;
    ptp_time_t newest = '0;
    bit bad;
    d = tx_done_t'({4{$urandom()}});
    d.stream = kind == 2;
    d.cut = kind == 3;
    d.error = kind == 1;
    bad = d.error;
    r = '0;
    c = '0;
    if (kind == 0) newest = next_stamp();
    if (kind == 0) c.packets = 16'd1;
    if (kind == 0) c.bytes = queue_bytes_t'(d.len);
    if (kind == 2) begin
      tx_token_t t;
      int unsigned frames = $urandom_range(3);
      logic [13:0] bytes;
      bytes = 14'($urandom());
      repeat (frames) newest = next_stamp();
      frames_so_far += 8'(frames);
      bytes_so_far += bytes;
      t.frames  = frames_so_far;
      t.bytes   = bytes_so_far;
      t.aborted = frames != 0 && $urandom_range(3) == 0;
      t.broken  = $urandom_range(3) == 0;
      i_token.queue.push_back(t);
      tokens++;
      if (t.broken && $urandom_range(1) == 0) d.error = 1;
      bad = t.broken;
      c.packets = 16'(frames) - 16'(t.aborted);
      c.bytes = queue_bytes_t'(bytes);
      r.hash = 32'(c.packets);
    end
    if (kind == 3) begin
      tx_segments_t s;
      s = tx_segments_t'({3{$urandom()}});
      s.frames = 16'($urandom_range(4, s.bad ? 0 : 1));
      repeat (s.frames) newest = next_stamp();
      i_segments.queue.push_back(s);
      cuts++;
      bad = s.bad;
      c.packets = s.frames;
      c.bytes = s.bytes;
      r.hash = 32'(s.frames);
    end
    i_done.queue.push_back(d);
    r.queue = d.queue;
    r.len   = d.len;
    r.error = bad;
    if (!bad || kind == 2) r.timestamp = newest[39:0];
    if (kind == 2 || Shared) r.csum = d.index;
    if (Shared) r.flags = {2'd0, Port, 4'd0};
    c.queue = d.queue;
    c.error = bad;
    want_errors += 32'(bad);
    i_record.expected.push_back('{cq: d.cq, record: r});
    i_counted.expected.push_back(c);
    i_commit.expected.push_back('{queue: d.queue, count: kind == 2 ? d.granules : 9'd1});
    if (kind != 2 || d.ends)
      i_sent.expected.push_back('{queue: d.queue, bytes: kind == 2 ? '0 : d.len});
    if (bad && kind >= 2 && !d.error)
      i_stop.expected.push_back('{queue: d.queue, code: kind == 3 ? ErrSegments : ErrLength});
  endfunction

  task automatic settle();
    while (i_done.queue.size() != 0) @(posedge clk);
    out_percent = 100;
    percent = '{4{100}};
    repeat (200) @(posedge clk);
    `CHECK(
        i_record.expected.size() + i_commit.expected.size() + i_sent.expected.size() + i_stop.expected.size() + i_counted.expected.size() == 0,
        "something is missing")
    `CHECK(
        later.size() == 0 && i_stamp.queue.size() == 0 && i_token.queue.size() == 0 && i_segments.queue.size() == 0 && !stamp.valid && !token.valid && !segments.valid,
        "not all that was told was taken")
    `CHECK(got_sent == want_sent && got_errors == want_errors,
           $sformatf("%0d of %0d frames, %0d of %0d errors", got_sent, want_sent, got_errors,
                     want_errors))
  endtask

  initial begin
    int unsigned start;
    done_o = 0;
    @(negedge rst);
    repeat (1000) add(0);
    repeat (20) @(posedge clk);
    start = i_record.taken;
    repeat (500) @(posedge clk);
    `CHECK(i_record.taken - start >= 499, "not a packet a clock")
    settle();
    for (int kind = 0; kind < 4; kind++) begin
      repeat (100) add(kind);
      settle();
    end
    for (int round = 0; round < 20; round++) begin
      repeat (100) add($urandom_range(3));
      foreach (percent[i]) percent[i] = $urandom_range(100, 10);
      out_percent = $urandom_range(100, 20);
      settle();
    end
    done_o = 1;
  end
endmodule

/// tx_finish beside a model that is told the same: packets, failed ones, pieces of turns and packets that were cut, in any order, whose stamps,
/// tokens and segments come when they like. Every record, commit, note, stop and count; as many stamps taken as there were frames.
module tx_finish_tb;
  `TB_BEGIN
  `TB_TIMEOUT(400_000)
  logic [1:0] done;
  int unsigned made[2];
  for (genvar shared = 0; shared < 2; shared++) begin : g_shared
    tx_finish_beside #(
        .Shared(shared == 1)
    ) i_beside (
        .clk,
        .rst,
        .done_o  (done[shared]),
        .checks_o(made[shared])
    );
  end
  `TB_PASS_WITH(done, made)
endmodule
