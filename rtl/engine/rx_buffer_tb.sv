// SPDX-License-Identifier: Apache-2.0
`include "parts_tb.svh"
`include "tb.svh"
`include "stream.svh"
/// rx_buffer: every frame whole and in order with its info, exact capacity, erased and dropped frames, one beat a clock; then with
/// records behind the frames.
module rx_buffer_tb;
  import eth_pkg::*, dma_pkg::*, engine_pkg::*;
  `TB_BEGIN
  `TB_TIMEOUT(500_000)
  localparam int RamBytes = 16384, Units = RamBytes / UnitBytes, MaxFrames = 100;
  localparam ram_sel_t Sel = 6'd9;

  `STREAM_ON(wide_beat_t, frame, clk, rst)
  `STREAM_ON(rx_info_t, info, clk, rst)
  `STREAM_ON(rx_meta_t, meta, clk, rst)
  rx_free_t  free;
  ram_read_t ram_read;
  ram_row_t ram_row, row;
  row_addr_t row_addr;
  logic dropped, records = 0, row_valid, row_ready;
  rx_buffer #(
      .RamBytes(RamBytes),
      .Sel(Sel),
      .Port(2'd2),
      .MaxFrames(MaxFrames)
  ) dut (
      .clk_i(clk),
      .rst_i(rst),
      .records_i(records),
      .frame,
      .info,
      .meta,
      .free_i(free),
      .ram_i(ram_read),
      .ram_o(ram_row),
      .row_valid_i(row_valid),
      .row_addr_i(row_addr),
      .row_ready_o(row_ready),
      .row_o(row),
      .dropped_o(dropped)
  );

  // Source. Frame `id` has its number in the first four bytes; its info is derived from it.
  int unsigned
      sent_len[$],
      valid_percent = 100,
      info_percent = 100,
      bad_percent = 0,
      min_len = 60,
      max_len = 60;
  bit sent_bad[$];
  int unsigned sent = 0, errors = 0, drops = 0, to_send = 0;
  function automatic byte unsigned content(int unsigned id, int unsigned i);
    return i < 4 ? 8'(id >> (8 * i)) : 8'(id * 5 + i * 11 + (i >> 6));
  endfunction
  function automatic rx_info_t info_of(int unsigned id);
    return
    '{
        stamp: 48'(id * 100),
        hash: id * 32'h9e3779b9,
        hash_type: 4'(id),
        stripped: 2'(id),
        csum: 16'(id * 3),
        steered: 17'(id * 5),
        owner: owner_t'(id * 13),
        header: 5'(id * 7),
        follow: 11'(id * 9)
    }
    ;
  endfunction
  `FRAME_SOURCE(wide_beat_t, i_frame, frame, valid_percent, valid_percent)
  `STREAM_SOURCE(rx_info_t, i_info, info, info_percent)
  always @(posedge clk) begin
    if (!rst && to_send != 0 && i_frame.queue.size() == 0) begin
      bytes_t bytes;
      bit bad;
      bytes.delete();
      repeat ($urandom_range(max_len, min_len)) bytes.push_back(content(sent, bytes.size()));
      bad = $urandom_range(99) < bad_percent;
      i_frame.send(bytes, bad);
      i_info.queue.push_back(info_of(sent));
      sent_len.push_back(bytes.size());
      sent_bad.push_back(bad);
      errors += 32'(bad);
      to_send--;
      sent++;
    end
    if (dropped && !rst) drops++;
  end

  // Sink: reads each frame back a unit a clock and gives its space back some time later.
  int unsigned meta_percent = 100, got = 0, next_id = 0, recorded = 0;
  function automatic int unsigned stored(rx_meta_t m);
    return m.recorded ? (32'(m.len) + 3) / 4 * 4 + 16 : 32'(m.len);
  endfunction
  function automatic logic [127:0] made_of(int unsigned id);
    queue_pkg::stream_cpl_t r;
    r = '0;
    r.timestamp = 40'(info_of(id).stamp);
    r.flags = {info_of(id).stripped, 2'd2, info_of(id).hash_type};
    r.csum = info_of(id).csum;
    r.hash = info_of(id).hash;
    r.phase = 1;
    r.len = 14'(sent_len[id]);
    return r;
  endfunction
  rx_meta_t frames[$];
  int unsigned unit = 0;
  int unsigned frees[$];
  typedef struct {
    bit valid;
    bit first;
    int unsigned left;
    bit last;
    rx_meta_t m;
  } read_t;
  read_t pipe[4];
  `STREAM_SINK(rx_meta_t, i_meta, meta, meta_percent)
  int unsigned id, free_percent = 100;
  always @(posedge clk) begin
    if (meta.valid && meta.ready && !rst) frames.push_back(meta.data);
    ram_read <= '0;
    pipe[0].valid = 0;
    if (frames.size() != 0) begin
      ram_addr_t a;
      a = frames[0].addr + ram_addr_t'(unit * UnitBytes);
      ram_read.sel   <= Sel;
      ram_read.valid <= '1;
      ram_read.row   <= {8{a[19:7]}};
      pipe[0] = '{
          1,
          unit == 0,
          stored(frames[0]) - unit * UnitBytes,
          (unit + 1) * UnitBytes >= stored(frames[0]),
          frames[0]
      };
      unit++;
      if (pipe[0].last) begin
        unit = 0;
        void'(frames.pop_front());
      end
    end
    if (pipe[3].valid) begin
      logic [8*UnitBytes-1:0] word;
      word = ram_row;
      if (pipe[3].first) begin
        id = word[31:0];
        `CHECK(id >= next_id && id < sent, "frames out of order")
        next_id = id + 1;
        `CHECK(!sent_bad[id], "a bad frame came out")
        `CHECK(32'(pipe[3].m.len) == sent_len[id], "wrong length")
        `CHECK(pipe[3].m.info == info_of(id), "wrong info")
        `CHECK(pipe[3].m.addr % UnitBytes == 0, "not on a boundary of a row")
      end
      for (int unsigned i = 0; i < UnitBytes && i < pipe[3].left; i++) begin
        int unsigned at, end_at;
        at = stored(pipe[3].m) - pipe[3].left + i;
        end_at = stored(pipe[3].m) - 16;
        if (at < sent_len[id]) `CHECK(word[8*i+:8] == content(id, at), "wrong byte")
        else if (at >= end_at)
          `CHECK(word[8*i+:8] == made_of(id) [8*(at-end_at)+:8], "wrong byte of the record")
      end
      if (pipe[3].last) begin
        got++;
        frees.push_back((stored(pipe[3].m) + UnitBytes - 1) / UnitBytes);
        recorded += 32'(pipe[3].m.recorded);
      end
    end
    for (int i = 3; i > 0; i--) pipe[i] = pipe[i-1];
    free <= '0;
    if (frees.size() != 0 && $urandom_range(99) < free_percent)
      free <= '{1'b1, 9'(frees.pop_front())};
  end

  // The other reader: any row, in clocks without a read; what it sees is what the RAM has, and ram_o is zero then.
  ram_row_t mirror[Units], want_row[2];
  bit written[Units] = '{default: 0};
  bit looked[2] = '{default: 0};
  int unsigned looks = 0;
  always @(posedge clk) begin
    if (looked[1]) begin
      `CHECK(row == want_row[1], "another row")
      `CHECK(ram_row == '0, "another's row is shown")
    end
    looked[1]   = looked[0];
    want_row[1] = want_row[0];
    `CHECK(rst || row_ready == !(|ram_read.valid), "ready beside a read, or not without")
    looked[0]   = row_valid && row_ready && !rst && written[32'(row_addr)];
    want_row[0] = mirror[32'(row_addr)];
    looks += 32'(looked[0]);
    if (dut.store) begin
      mirror[32'(dut.write)]  = dut.row;
      written[32'(dut.write)] = 1;
    end
    row_valid <= 1'($urandom());
    row_addr  <= row_addr_t'($urandom_range(Units - 1));
  end

  task automatic settle();
    while (to_send != 0 || frame.valid || i_frame.queue.size() != 0) @(posedge clk);
    free_percent = 100;
    meta_percent = 100;
    repeat (500) @(posedge clk);
    `CHECK(got + errors + drops == sent && i_info.taken == sent,
           $sformatf("%0d out, %0d bad, %0d dropped of %0d", got, errors, drops, sent))
    `CHECK(frees.size() == 0, "frees left over")
    `CHECK(dut.used_q == '0, $sformatf("%0d units are lost", dut.used_q))
  endtask

  // Anything, now and then a frame longer than the RAM.
  task automatic random();
    for (int round = 0; round < 40; round++) begin
      valid_percent = $urandom_range(100, 20);
      info_percent = $urandom_range(100, 20);
      bad_percent = $urandom_range(30);
      free_percent = $urandom_range(100, 5);
      meta_percent = $urandom_range(100, 5);
      min_len = $urandom_range(100, 20);
      max_len = round % 8 == 0 ? 20000 : $urandom_range(2000, 100);
      to_send = 100;
      settle();
    end
    {valid_percent, info_percent} = {32'd100, 32'd100};
    bad_percent = 0;
  endtask

  task automatic without_records();
    int unsigned start, base;
    // One 60-byte frame a clock.
    to_send = 1100;
    repeat (20) @(posedge clk);
    start = i_frame.taken;
    repeat (1000) @(posedge clk);
    `CHECK(i_frame.taken - start == 1000, $sformatf("%0d beats in 1000 clocks",
                                                    i_frame.taken - start))
    settle();
    `CHECK(drops == 0, "dropped although there was room")
    // Long frames.
    min_len = 700;
    max_len = 1500;
    to_send = 200;
    repeat (20) @(posedge clk);
    start = i_frame.taken;
    repeat (1000) @(posedge clk);
    `CHECK(i_frame.taken - start == 1000, $sformatf("%0d beats of long frames in 1000 clocks",
                                                    i_frame.taken - start))
    settle();
    `CHECK(drops == 0, "dropped although there was room")
    // Capacity: without frees exactly Units units of frames stay, the next is dropped.
    free_percent = 0;
    min_len = UnitBytes + 1;
    max_len = 2 * UnitBytes;
    to_send = 100;
    base = got;
    while (to_send != 0 || frame.valid || i_frame.queue.size() != 0) @(posedge clk);
    repeat (500) @(posedge clk);
    `CHECK(got - base == Units / 2, $sformatf("held %0d two-unit frames in %0d units", got - base,
                                              Units))
    `CHECK(drops == 100 - Units / 2, "dropped frames miscounted")
    settle();
    // A full list of notes drops frames as well.
    meta_percent = 0;
    min_len = 60;
    max_len = 64;
    to_send = 120;
    base = drops;
    while (to_send != 0 || frame.valid || i_frame.queue.size() != 0) @(posedge clk);
    repeat (10) @(posedge clk);
    `CHECK(drops - base == 120 - MaxFrames, $sformatf("%0d dropped with %0d notes", drops - base,
                                                      MaxFrames))
    settle();
    random();
    `CHECK(recorded == 0, "records nobody asked for")
  endtask

  initial begin
    int unsigned start;
    for (int i = 0; i < 4; i++) pipe[i].valid = 0;
    @(negedge rst);
    repeat (5) @(posedge clk);
    // With half of the seeds records are asked for from the first frame on, which takes two clocks.
    if (seed % 2 == 1) without_records();
    records = 1;
    {min_len, max_len} = {32'd120, 32'd120};
    to_send = 1;
    settle();
    // Small frames still one a clock, also the longest whose record fits; then every size.
    min_len = 112;
    max_len = 112;
    to_send = 1100;
    repeat (20) @(posedge clk);
    start = i_frame.taken;
    repeat (1000) @(posedge clk);
    `CHECK(i_frame.taken - start == 1000, $sformatf(
           "%0d beats with records in 1000 clocks", i_frame.taken - start))
    settle();
    min_len = 20;
    max_len = 300;
    to_send = 3000;
    settle();
    random();
    `CHECK(recorded > 1500, "no records")
    `CHECK(looks > 10_000, "the other reader did not read")
    `CHECK(drops > 50 && errors > 100 && got > 1000, "the random test did not reach every case")
    `TB_PASS
  end
endmodule
