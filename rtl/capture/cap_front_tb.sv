// SPDX-License-Identifier: Apache-2.0
`include "parts_tb.svh"
`include "tb.svh"
`include "stream.svh"
/// cap_front with cap_filter, and cap_buffer behind it: frames from the wire come out whole and in order with length,
/// record size, stamp, hash and ring; bad and filtered ones are erased, those without room dropped whole and counted; the
/// generator is held up instead. Stamps come at once or late. Hash and filter are checked against a model of their own.
module cap_front_tb;
  import eth_pkg::*;
  import cap_pkg::*;
  `TB_BEGIN
  `TB_TIMEOUT(600_000)
  localparam logic [319:0] Key =
      320'h6d5a56da255b0ec24167253d43a38fb0d0ca2bcbae7b30b477cb2da38030f20c6a42b73bbeac01fa;
  typedef struct {
    byte unsigned bytes[$];
    logic bad;
    longint stamp;
  } packet_t;

  logic enable = 1, use_generator = 0, timestamps = 0, dropped, filtered;
  logic [2:0] log_rings = 3;
  ptp_time_t now = '0;
  filter_t [FilterEntries-1:0] filter;
  `STREAM_ON(wide_beat_t, source[2], clk, rst)  // wire, generator
  `STREAM_ON(ptp_time_t, stamp, clk, rst)
  `STREAM_ON(wide_beat_t, frame, clk, rst)
  `STREAM_ON(info_t, info, clk, rst)
  `STREAM_ON(wide_beat_t, kept_frame, clk, rst)
  `STREAM_ON(info_t, kept_info, clk, rst)
  `STREAM_ON(beat_t, out, clk, rst)
  cap_front dut (
      .clk_i(clk),
      .rst_i(rst),
      .enable_i(enable),
      .use_generator_i(use_generator),
      .time_i(now),
      .filter_i(filter),
      .generated(source[1]),
      .wire_frame(source[0]),
      .wire_stamp(stamp),
      .frame,
      .info
  );
  cap_buffer #(
      .Bytes(32768),
      .MaxPackets(64)
  ) i_buffer (
      .clk_i(clk),
      .rst_i(rst),
      .wait_i(use_generator),
      .timestamps_i(timestamps),
      .log_rings_i(32'(log_rings)),
      .frame(kept_frame),
      .info(kept_info),
      .out,
      .dropped_o(dropped),
      .filtered_o(filtered)
  );
  always @(posedge clk) now <= now + 48'd4;

  // To the buffer; or frames are taken at once, what is known about them when the test likes.
  logic alone = 0, take_info = 0;
  assign kept_frame.valid = frame.valid && !alone;
  assign kept_frame.data = frame.data;
  assign frame.ready = alone || kept_frame.ready;
  assign kept_info.valid = info.valid && !alone;
  assign kept_info.data = info.data;
  assign info.ready = alone ? take_info : kept_info.ready;
  int unsigned alone_frames = 0, alone_infos = 0;
  always @(posedge clk) begin
    if (alone && frame.valid && frame.data.eop) alone_frames++;
    if (alone && info.valid && info.ready) alone_infos++;
  end

  // Sources: as many beats as there are; a stamp follows the first beat of its frame.
  ptp_time_t stamps_ahead[$];
  int unsigned percent = 100, out_percent = 100, stamp_percent = 100;
  `FRAME_SOURCE(wide_beat_t, i_wire, source[0], percent, percent)
  `FRAME_SOURCE(wide_beat_t, i_generator, source[1], percent, percent)
  `STREAM_SOURCE(ptp_time_t, i_stamps, stamp, stamp_percent)
  `STREAM_SINK(beat_t, i_out, out, out_percent)
  always @(posedge clk)
    if (source[0].valid && source[0].ready && !rst && source[0].data.sop)
      i_stamps.queue.push_back(stamps_ahead.pop_front());

  // Models.
  function automatic logic [31:0] toeplitz(logic [95:0] fields, int bits);
    logic [31:0] hash = '0;
    for (int i = 0; i < bits; i++) if (fields[95-i]) hash ^= Key[319-i-:32];
    return hash;
  endfunction

  function automatic logic [95:0] fields(packet_t p, output int bits, output logic v4,
                                         output logic [7:0] protocol);
    int at = 14;
    logic [95:0] f = '0;
    if ({p.bytes[12], p.bytes[13]} == 16'h8100) at = 18;
    v4 = {p.bytes[at-2], p.bytes[at-1]} == 16'h0800;
    protocol = p.bytes[at+9];
    bits = 0;
    if (v4) begin
      for (int i = 0; i < 12; i++) f[95-8*i-:8] = p.bytes[at+(i<8?12 : 12)+i];
      bits = protocol == 6 || protocol == 17 ? 96 : 64;
      if (bits == 64) f[31:0] = '0;
    end
    return f;
  endfunction

  packet_t expected[$];
  int sent = 0, bad = 0, drops = 0, filtereds = 0, received = 0, want_filtered = 0;
  byte unsigned got[$];
  beat_t first;
  always @(posedge clk) begin
    drops += int'(dropped && !rst);
    filtereds += int'(filtered && !rst);
    if (out.valid && out.ready && !rst) begin
      `CHECK(out.data.sop == (got.size() == 0), "sop")
      if (out.data.sop) first = out.data;
      for (int i = 0; i < int'(out.data.len); i++) got.push_back(out.data.data[8*i+:8]);
      if (out.data.eop) begin
        int bits, skipped;
        logic v4;
        logic [7:0] protocol;
        logic [95:0] f;
        logic [31:0] hash;
        // Dropped ones are missing, in order.
        skipped = 0;
        while (expected.size() != 0 && expected[0].bytes != got) begin
          void'(expected.pop_front());
          skipped++;
        end
        missing += skipped;
        `CHECK(expected.size() != 0, "a packet that was not sent, or not wanted")
        f = fields(expected[0], bits, v4, protocol);
        hash = toeplitz(f, bits);
        `CHECK(int'(first.bytes) == got.size(), "length")
        `CHECK(int'(first.record) == (got.size() + 7) / 8 * 8 + (timestamps ? 16 : 8), "record")
        `CHECK(first.hash == hash[23:0] && first.ring == (hash[4:0] & ~(5'h1f << log_rings)),
               "hash and ring")
        if (!use_generator) `CHECK(longint'(first.stamp) == expected[0].stamp, "stamp")
        void'(expected.pop_front());
        got.delete();
        received++;
      end
    end
  end
  int missing = 0;

  task automatic send(int len);
    packet_t p;
    int bits, at, way;
    logic v4, drop;
    logic [ 7:0] protocol;
    logic [95:0] f;
    for (int i = 0; i < len; i++) p.bytes.push_back(8'($urandom()));
    at = 14;
    {p.bytes[12], p.bytes[13]} = $urandom_range(9) == 0 ? 16'h86d0 : 16'h0800;
    if ($urandom_range(4) == 0) begin
      {p.bytes[12], p.bytes[13]} = 16'h8100;
      {p.bytes[16], p.bytes[17]} = 16'h0800;
      at = 18;
    end
    p.bytes[at] = 8'h45;
    p.bytes[at+6] = 8'h40;
    p.bytes[at+7] = 8'h00;
    p.bytes[at+9] = $urandom_range(2) == 0 ? 8'd6 : $urandom_range(1) == 0 ? 8'd17 : 8'd1;
    p.bytes[at+12] = 8'd10;
    p.bytes[at+15] = 8'($urandom_range(7));
    {p.bytes[at+22], p.bytes[at+23]} = 16'($urandom_range(3));
    way = int'(use_generator);
    p.bad = !use_generator && $urandom_range(19) == 0;
    p.stamp = 1000 + sent;
    // The same rules as in the entries that the test sets, said in another way.
    f = fields(p, bits, v4, protocol);
    drop = 0;
    if (v4 && filter[0].enable) begin
      if (protocol == 17 && f[15:0] == 16'd2) drop = 0;  // entry 0 keeps UDP port 2
      else if (f[71:64] == 8'd5) drop = 1;  // entry 1 drops sources that end with 5
      else if (bits == 96 && f[15:0] == 16'd3) drop = 1;  // entry 2 drops ports 3
      else if (f[39:32] % 8 == 8'd6)
        drop = 1;  // entry 3 drops destinations that end with 6, modulo 8
    end
    if (!enable) begin
    end else if (p.bad) begin
      bad++;
    end else if (drop) begin
      want_filtered++;
    end else begin
      expected.push_back(p);
    end
    if (enable) sent++;
    if (way == 0) stamps_ahead.push_back(48'(p.stamp));
    if (way == 0) i_wire.send(p.bytes, p.bad);
    else i_generator.send(p.bytes, 0);
    while (i_wire.queue.size() > 8 || i_generator.queue.size() > 8) @(posedge clk);
  endtask

  task automatic settle();
    int still = 0, last = -1;
    while (still < 300) begin
      @(posedge clk);
      still = received == last && i_wire.queue.size() == 0 && i_generator.queue.size() == 0 && !out.valid ? still + 1 : 0;
      last = received;
    end
    `CHECK(received + bad + filtereds + drops == sent,
           "every frame is received, bad, filtered or dropped")
    `CHECK(filtereds == want_filtered, $sformatf("%0d filtered, not %0d", filtereds, want_filtered))
    missing += expected.size();
    expected.delete();
    `CHECK(missing == drops, "only what was counted is missing")
    `CHECK(dut.count_q == '0, "a place is lost")
  endtask

  int start;
  initial begin
    filter = '0;
    @(negedge rst);
    repeat (4) @(posedge clk);
    // One frame a clock; then one beat a clock.
    for (int len = 60; len <= 129; len += len == 60 ? 5 : len == 65 ? 63 : 1) begin
      start = int'($time / 10);
      for (int i = 0; i < 2000; i++) send(len);
      settle();
      $display("%0d B: %0d clocks for 2000 frames", len, int'($time / 10) - start - 300);
      `CHECK(int'($time / 10) - start - 300 < 2000 * ((len + 127) / 128) + 60 && drops == 0,
             "one frame of up to 128 bytes a clock")
    end
    // Every length.
    for (int len = 60; len <= 400; len++) send(len);
    settle();
    // Filter, stamps, all lengths, stalls on both sides.
    filter[0] = '{
        enable: 1,
        protocol: 17,
        protocol_mask: 8'hff,
        ports: 32'd2,
        ports_mask: 32'hffff,
        default: '0
    };
    filter[1] = '{enable: 1, drop: 1, src_ip: 32'd5, src_mask: 32'hff, default: '0};
    filter[2] = '{enable: 1, drop: 1, ports: 32'd3, ports_mask: 32'hffff, default: '0};
    filter[3] = '{enable: 1, drop: 1, dst_ip: 32'd6, dst_mask: 32'h7, default: '0};
    for (int round = 0; round < 8; round++) begin
      percent = $urandom_range(100, 50);
      out_percent = $urandom_range(100, 60);
      timestamps = round[0];
      log_rings = 3'($urandom_range(5));
      for (int i = 0; i < 200; i++)
      send($urandom_range(4) == 0 ? $urandom_range(1514, 60) : $urandom_range(200, 60));
      settle();
    end
    `CHECK(want_filtered > 50 && bad > 20, "filter and bad frames were met")
    // No room: whole frames are dropped.
    percent = 100;
    out_percent = 20;
    for (int i = 0; i < 200; i++) send($urandom_range(9000, 60));
    for (int i = 0; i < 500; i++) send(60);
    settle();
    `CHECK(drops > 20, "some found no room")
    // Off: thrown away without a trace.
    out_percent = 100;
    enable = 0;
    start = sent;
    for (int i = 0; i < 50; i++) send(300);
    repeat (500) @(posedge clk);
    `CHECK(sent == start, "not counted")
    settle();
    // Off and on again, while stamps come late: each goes with its frame.
    for (int round = 0; round < 20; round++) begin
      enable = round[0];
      stamp_percent = round % 4 < 2 ? 5 : 100;
      repeat ($urandom_range(40)) send($urandom_range(300, 60));
      while (source[0].valid || i_wire.queue.size() != 0) @(posedge clk);
    end
    stamp_percent = 100;
    settle();
    // As many frames inside as there are places for what is known about them.
    alone = 1;
    for (int i = 0; i < 40; i++) begin
      bytes_t bytes;
      bytes.delete();
      repeat (60) bytes.push_back(8'($urandom()));
      stamps_ahead.push_back('0);
      i_wire.send(bytes, 0);
    end
    repeat (200) @(posedge clk);
    `CHECK(alone_frames == 16 && alone_infos == 0, "frames inside beyond the places for them")
    take_info = 1;
    repeat (200) @(posedge clk);
    `CHECK(alone_frames == 40 && alone_infos == 40, "a frame is missing, or what is known about it")
    alone = 0;
    // The generator waits instead.
    enable = 1;
    use_generator = 1;
    out_percent = 30;
    start = drops;
    for (int i = 0; i < 30; i++) send(16384);
    for (int i = 0; i < 300; i++) send(64);
    settle();
    `CHECK(drops == start, "the generator is held up, nothing is dropped")
    `TB_PASS
  end
endmodule
