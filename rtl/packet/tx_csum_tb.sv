// SPDX-License-Identifier: Apache-2.0
`include "parts_tb.svh"
`include "tb.svh"
`include "stream.svh"
/// tx_csum (with csum_sum): random frames with and without a command against a byte-by-byte reference, odd places and
/// fields behind the end included, under back-pressure; a frame with a checksum sums to zero at the receiver; one 64-byte
/// frame a clock and one beat a clock with long ones.
module tx_csum_tb;
  import eth_pkg::*;
  `TB_BEGIN
  `TB_TIMEOUT(500_000)

  `STREAM_ON(wide_beat_t, in, clk, rst)
  `STREAM_ON(wide_beat_t, out, clk, rst)
  tx_csum_t csum;
  tx_vlan_t vlan, vlans[$];
  tx_csum dut (
      .clk_i(clk),
      .rst_i(rst),
      .frame_in(in),
      .csum_i(csum),
      .frame_out(out),
      .vlan_o(vlan)
  );

  // A command with each beat; random but for the first beat of a frame.
  typedef struct packed {
    tx_csum_t   csum;
    wide_beat_t beat;
  } given_t;
  wide_beat_t expected[$];
  int unsigned in_percent = 100, out_percent = 100, beats_out = 0, zeros = 0;
  `STREAM_ON(given_t, given, clk, rst)
  `STREAM_SOURCE(given_t, i_source, given, in_percent)
  `STREAM_SINK(wide_beat_t, i_sink, out, out_percent)
  assign in.valid = given.valid;
  assign in.data = given.data.beat;
  assign csum = given.data.csum;
  assign given.ready = in.ready;
  logic [7:0] f[16384];

  function automatic int unsigned ones_sum(int unsigned from, int unsigned len);
    int unsigned sum = 0;
    for (int i = from; i < len; i += 2) sum += {16'd0, f[i], (i + 1 < len) ? f[i+1] : 8'd0};
    while (sum >> 16 != 0) sum = (sum & 'hffff) + (sum >> 16);
    return sum;
  endfunction

  task automatic queue_frame(int unsigned len, bit out_side, bit err, tx_csum_t c);
    wide_beat_t beat;
    for (int i = 0; i < len; i += WideBeatBytes) begin
      for (int b = 0; b < WideBeatBytes; b++) beat.data[8*b+:8] = (i + b < len) ? f[i+b] : 8'hxx;
      beat.len = (len - i > WideBeatBytes) ? 8'(WideBeatBytes) : 8'(len - i);
      beat.sop = i == 0;
      beat.eop = i + WideBeatBytes >= len;
      beat.err = beat.eop && err;
      if (out_side) expected.push_back(beat);
      else i_source.queue.push_back('{csum: i == 0 ? c : tx_csum_t'($urandom()), beat: beat});
    end
  endtask

  task automatic make(int unsigned len, int unsigned enable_percent);
    tx_csum_t c;
    int unsigned sum, place;
    bit err = $urandom_range(20) == 0;
    for (int i = 0; i < len; i++) f[i] = 8'($urandom());
    c.enable = $urandom_range(99) < enable_percent;
    c.start  = 8'($urandom_range((len > 255) ? 255 : len - 2));
    c.offset = 8'($urandom());
    if ($urandom_range(3) != 0) c.offset = 8'($urandom_range(30));
    if ($urandom_range(2) != 0) begin
      c.start  = (c.start & 8'hfe);
      c.offset = (c.offset & 8'hfe);
    end
    place = int'(c.start) + int'(c.offset);
    // Now and then a sum of zero, which must be sent as ffff.
    if ($urandom_range(4) == 0 && place + 1 < len && !c.offset[0]) begin
      {f[place], f[place+1]} = 16'd0;
      sum = ones_sum(c.start, len);
      {f[place], f[place+1]} = 16'hffff - 16'(sum);
    end
    c.vlan = tx_vlan_t'($urandom());
    repeat ((len + WideBeatBytes - 1) / WideBeatBytes) vlans.push_back(c.vlan);
    queue_frame(len, 0, err, c);
    if (c.enable) begin
      sum = 'hffff - ones_sum(c.start, len);
      if (sum == 0) begin
        sum = 'hffff;
        zeros++;
      end
      if (place < len) f[place] = 8'(sum >> 8);
      if (place + 1 < len) f[place+1] = 8'(sum);
    end
    queue_frame(len, 1, err, c);
  endtask

  /// With the field zero before, the sum of the frame as sent must be ffff.
  task automatic receiver_check();
    int unsigned sum;
    for (int i = 0; i < 200; i++) f[i] = 8'($urandom());
    {f[50], f[51]} = 16'd0;
    sum = 'hffff - ones_sum(34, 200);
    {f[50], f[51]} = 16'(sum);
    `CHECK(ones_sum(34, 200) == 'hffff, "reference sum")
  endtask

  localparam int Bits = 8 * WideBeatBytes;
  logic [Bits-1:0] mask;
  wide_beat_t want;
  always @(posedge clk) begin
    if (!rst && out.valid && out.ready) begin
      `CHECK(expected.size() != 0, "a beat nobody sent")
      want = expected[0];
      void'(expected.pop_front());
      `CHECK(vlan == vlans.pop_front(), "wrong tag")
      mask = (want.len == 8'(WideBeatBytes)) ? '1 : ~({Bits{1'b1}} << (8 * want.len));
      `CHECK(
          out.data.len == want.len && out.data.sop == want.sop && out.data.eop == want.eop && out.data.err == want.err,
          "wrong marks")
      `CHECK((out.data.data & mask) == (want.data & mask), $sformatf("wrong data at beat %0d",
                                                                     beats_out))
      beats_out++;
    end
  end

  task automatic drain();
    while (i_source.queue.size() != 0) @(posedge clk);
    {in_percent, out_percent} = {2{32'd100}};
    while (expected.size() != 0) @(posedge clk);
    repeat (20) @(posedge clk);
  endtask

  task automatic rate(string what, int unsigned len, int unsigned frames);
    int unsigned start;
    repeat (frames) make(len, 100);
    while (beats_out == 0 || !out.valid) @(posedge clk);
    repeat (100) @(posedge clk);
    start = beats_out;
    repeat (1000) @(posedge clk);
    $display("%s: %0d beats in 1000 clocks", what, beats_out - start);
    `CHECK(beats_out - start >= 995, "less than one beat a clock")
    drain();
  endtask

  initial begin
    @(negedge rst);
    make(64, 100);  // the first frame after the reset
    receiver_check();
    repeat (20) make(64, 50);
    drain();
    rate("64-byte frames", 60, 1500);
    rate("1514-byte frames", 1514, 160);
    rate("9014-byte frames", 9014, 40);
    for (int round = 0; round < 60; round++) begin
      for (int i = 0; i < 40; i++) begin
        make(($urandom_range(9) == 0) ? $urandom_range(3000, 60) : $urandom_range(600, 60),
             (round % 3) * 50);
      end
      in_percent  = $urandom_range(100, 20);
      out_percent = $urandom_range(100, 20);
      drain();
    end
    // The longest frame there is fills the buffer and still comes out.
    repeat (3) make(16383, 100);
    drain();
    `CHECK(zeros > 20, "too few sums of zero")
    `TB_PASS
  end
endmodule
