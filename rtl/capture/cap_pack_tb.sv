// SPDX-License-Identifier: Apache-2.0
`include "parts_tb.svh"
`include "tb.svh"
`include "stream.svh"
/// cap_pack, cap_rings and two cap_link together: what lands in a model of host memory, walked as a consumer walks it, is
/// every packet given in, in order in its ring, whatever lengths, link speeds, ring-full drops, flushes and link failures.
module cap_pack_tb;
  import pcie_pkg::*;
  import cap_pkg::*;
  `TB_BEGIN
  `TB_TIMEOUT(400000)
  localparam int Rings = 4;
  localparam int PageBytes = 256;
  localparam int Pages = 128;
  localparam int LogBlock = 14;
  localparam int LogBlocks = 3;
  localparam longint Base = 64'h1_0000_0000, Progress = 64'h2_0000_0000;

  pack_cfg_t cfg;
  pcie_cfg_t pcie;
  `STREAM_ON(beat_t, in, clk, rst)
  cap_ring_t ring;
  logic open, close, packet, dropped, too_long, waits, refused;
  logic [Rings-1:0] room;
  logic [Rings-1:0][31:0] opened, packets;
  logic [1:0] ok, space, take, used, link_opened, work_valid, stage_valid;
  logic [1:0][PageIdW:0] pages;
  logic [1:0][PageIdW-1:0] page;
  logic [1:0][QueuedW-1:0] queued;
  work_t work;
  stage_write_t stage;
  reg_if #(.AddrW(12)) regs ();
  logic start = 0;
  logic [1:0] link_rst = '0, enable = '0, idle;
  logic [1:0][31:0] bytes, entries, lost_blocks, lost_packets, lost_bytes;

  cap_pack #(
      .Rings(Rings),
      .PageBytes(PageBytes)
  ) dut (
      .clk_i(clk),
      .rst_i(rst),
      .cfg_i(cfg),
      .in,
      .ring_o(ring),
      .open_o(open),
      .close_o(close),
      .packet_o(packet),
      .dropped_o(dropped),
      .too_long_o(too_long),
      .waits_o(waits),
      .room_i(room),
      .opened_i(opened),
      .packets_i(packets),
      .ok_i(ok),
      .space_i(space),
      .pages_i(pages),
      .page_i(page),
      .queued_i(queued),
      .take_o(take),
      .using_o(used),
      .opened_o(link_opened),
      .work_valid_o(work_valid),
      .work_o(work),
      .stage_valid_o(stage_valid),
      .stage_o(stage)
  );
  // What synthesis turns by (rotate); a simulation does not look at it.
  always @(posedge clk)
    if (!rst) begin
      `CHECK(
          !dut.i_place.i_rotate.valid_i || dut.i_place.i_rotate.turn_n_i == ~dut.i_place.i_rotate.turn_i,
          "turn_n_i is no complement")
    end
  cap_rings #(
      .Rings(Rings)
  ) i_rings (
      .clk_i(clk),
      .rst_i(rst),
      .start_i(start),
      .log_blocks_i(5'(LogBlocks)),
      .regs,
      .refused_o(refused),
      .ring_i(ring),
      .open_i(open),
      .close_i(close),
      .packet_i(packet),
      .dropped_i(dropped),
      .room_o(room),
      .opened_o(opened),
      .packets_o(packets)
  );

  // Host memory, and the links' speed in percent.
  byte memory[longint];
  int unsigned speed[2] = '{100, 100};
  longint beats[2] = '{0, 0};
  longint tlps[2] = '{0, 0};
  for (genvar l = 0; l < 2; l++) begin : g_link
    `STREAM_ON(tlp_beat_t, tlp, clk, rst || link_rst[l])
    cap_link #(
        .Pages(Pages),
        .PageBytes(PageBytes)
    ) i_link (
        .clk_i(clk),
        .rst_i(rst),
        .link_rst_i(link_rst[l]),
        .cfg_i(pcie),
        .enable_i(enable[l]),
        .ok_o(ok[l]),
        .space_o(space[l]),
        .pages_o(pages[l]),
        .page_o(page[l]),
        .queued_o(queued[l]),
        .take_i(take[l]),
        .using_i(used[l]),
        .work_valid_i(work_valid[l]),
        .work_i(work),
        .stage_valid_i(stage_valid[l]),
        .stage_i(stage),
        .idle_o(idle[l]),
        .bytes_o(bytes[l]),
        .entries_o(entries[l]),
        .lost_blocks_o(lost_blocks[l]),
        .lost_packets_o(lost_packets[l]),
        .lost_bytes_o(lost_bytes[l]),
        .tlp
    );
    `STREAM_SINK(tlp_beat_t, i_sink, tlp, speed[l])
    longint addr;
    int left;
    always @(posedge clk) begin
      if (tlp.valid && tlp.ready && !rst && !link_rst[l]) begin
        mem4_hdr_t hdr;
        hdr = tlp.data.hdr;
        beats[l]++;
        if (tlp.data.sop) begin
          tlps[l]++;
          `CHECK(hdr.dw0.fmt_type == MWr4, "a write with a 64-bit address")
          `CHECK(hdr.first_be == 4'hf && (hdr.last_be == 4'hf || hdr.dw0.length == 1),
                 "whole DWs only")
          addr = hdr.addr;
          left = int'(hdr.dw0.length) * 4;
          `CHECK(left <= 256, "not longer than the maximum payload")
        end
        for (int i = 0; i < 64 && i < left; i++) memory[addr+longint'(i)] = tlp.data.data[8*i+:8];
        addr += 64;
        left -= 64;
        `CHECK((left <= 0) == tlp.data.eop, "ends where its length says")
      end
    end
  end

  // A link is in use again when nothing of before is left on it; a packet that waits is not dealt with.
  logic [1:0] ok_before = '0, idle_before = '0;
  int waited = 0;
  always @(posedge clk) begin
    if (!rst) begin
      `CHECK((ok & ~ok_before & ~idle_before) == '0, "in use again before all is given up")
      `CHECK(!waits || !(packet || dropped || too_long || open), "waits, and does not")
      waited += int'(waits);
    end
    {ok_before, idle_before} = {ok, idle};
  end

  function automatic longint word(longint addr, int n);
    longint value = 0;
    for (int i = n - 1; i >= 0; i--)
    value = value << 8 | (memory.exists(addr + i) ? longint'(memory[addr+i] & 8'hff) : 0);
    return value;
  endfunction

  // Packets: number in bytes 0-3, the rest from it. The next number that a ring has got, and those sent to each.
  int sent_len[Rings][$], sent_number[Rings][$];
  int all_len[$], told = 0;
  int number = 0, dropped_count = 0, long_count = 0, captured = 0, link_blocks = 0;
  always @(posedge clk)
    if (!rst) begin
      dropped_count += int'(dropped);
      long_count += int'(too_long);
      captured += int'(packet);
      link_blocks += $countones(link_opened);
      // The packer tells what becomes of each packet, in order.
      if (packet || dropped || too_long) begin
        automatic int n = told++;
        if (packet) begin
          sent_len[ring].push_back(all_len[n]);
          sent_number[ring].push_back(n);
        end
      end
    end

  function automatic logic [7:0] content(int n, int i);
    return i < 4 ? 8'(n >> (8 * i)) : 8'(n * 7 + i * 13 + (i >> 8));
  endfunction

  beat_t beats_in[$];
  always @(posedge clk) begin
    if (rst) in.valid <= 0;
    else if (!in.valid || in.ready) begin
      in.valid <= beats_in.size() != 0;
      if (beats_in.size() != 0) in.data <= beats_in.pop_front();
    end
  end

  task automatic send(int len, int r);
    int at = 0;
    beat_t b;
    while (at < len) begin
      b = '0;
      b.len = len - at > BeatBytes ? 8'(BeatBytes) : 8'(len - at);
      for (int i = 0; i < BeatBytes; i++) b.data[8*i+:8] = content(number, at + i);
      b.sop = at == 0;
      at += int'(b.len);
      b.eop = at >= len;
      b.bytes = LenW'(len);
      b.record = LenW'((len + 7) / 8 * 8 + (cfg.timestamps ? 16 : 8));
      b.ring = cap_ring_t'(r);
      b.hash = 24'(number * 3);
      b.stamp = 48'(number) * 48'd1000;
      beats_in.push_back(b);
    end
    all_len.push_back(len);
    while (beats_in.size() > 4) @(posedge clk);
    number++;
  endtask

  // The consumer: next block to read, offset in it, packets taken, packets lost as the entries tell.
  int seq[Rings], off[Rings], taken[Rings], lost[Rings], holes[Rings];
  int unsigned lost_records = 0;  // bytes of the records of packets lost (without stamps)
  bit hold_returns = 0;
  bit may_lose = 0;

  int acks = 0, writes = 0, refusals = 0;
  always @(posedge clk) begin
    if (regs.ack && !rst) acks++;
    if (refused && !rst) refusals++;
  end

  task automatic write_returned(int r, int count);
    writes++;
    regs.req   <= 1;
    regs.write <= 1;
    regs.addr  <= 12'(r * 32);
    regs.wdata <= 32'(count);
    regs.wstrb <= '1;
    @(posedge clk);
    regs.req <= 0;
    repeat (2) @(posedge clk);
    `CHECK(acks == writes, "each access is answered in the next clock")
  endtask

  // A block after the next one to read has an entry.
  function automatic bit later(int r);
    if (may_lose) begin
      for (int s = seq[r] + 1; s < seq[r] + 2 ** LogBlocks; s++) begin
        longint e = Progress + longint'(((r << LogBlocks) + (s & (2 ** LogBlocks - 1))) * 16);
        if (int'(word(e + 4, 4) & 32'h7fff_ffff) == s + 1) return 1;
      end
    end
    return 0;
  endfunction

  task automatic walk(int r);
    longint entry, data;
    int valid, first;
    forever begin
      entry = Progress + longint'(((r << LogBlocks) + (seq[r] & (2 ** LogBlocks - 1))) * 16);
      data  = Base + (longint'((r << LogBlocks) + (seq[r] & (2 ** LogBlocks - 1))) << LogBlock);
      if (int'(word(entry + 4, 4) & 32'h7fff_ffff) != seq[r] + 1) begin
        // Lost if a later block is there while this one's link is down; here all is still.
        if (!later(r)) return;
        holes[r]++;
        seq[r]++;
        off[r] = 0;
        if (!hold_returns) write_returned(r, seq[r]);
        continue;
      end
      valid = int'(word(entry, 4));
      first = int'(word(entry + 8, 4));
      if (off[r] == 0) begin
        `CHECK(first >= taken[r] + lost[r] && (may_lose || first == taken[r] + lost[r]),
               "packets before the block")
        while (taken[r] + lost[r] < first) begin
          lost_records += (sent_len[r].pop_front() + 7) / 8 * 8 + 8;
          void'(sent_number[r].pop_front());
          lost[r]++;
        end
      end
      `CHECK(valid >= off[r] && valid <= 2 ** LogBlock, "valid bytes only grow")
      while (off[r] < valid) begin
        int len, n, record;
        len = int'(word(data + off[r], 2));
        `CHECK(sent_len[r].size() != 0, "no packet that was not sent")
        n = sent_number[r].pop_front();
        `CHECK(len == sent_len[r].pop_front(), "length")
        `CHECK(int'(word(data + off[r] + 2, 2)) == len, "length on the wire")
        `CHECK(int'(word(data + off[r] + 4, 4
               )) == (((n * 3) & 32'hffffff) << 8 | int'(cfg.timestamps)), "flags and hash")
        record = 8;
        if (cfg.timestamps) begin
          `CHECK(word(data + off[r] + 8, 8) == longint'(n) * 1000, "time stamp")
          record = 16;
        end
        for (int i = 0; i < len; i++)
        if (memory[data+longint'(off[r]+record+i)] !== content(n, i))
          $fatal(
              1,
              "FAIL ring %0d block %0d offset %0d packet %0d byte %0d: %h not %h",
              r,
              seq[r],
              off[r],
              n,
              i,
              memory[data+longint'(off[r]+record+i)],
              content(
                  n, i
              )
          );
        off[r] += (record + len + 7) / 8 * 8;
        taken[r]++;
      end
      `CHECK(off[r] == valid, "whole packets only")
      // The rest of a block is lost in the same way.
      if (word(entry + 4, 4) >> 31 == 0) begin
        if (!later(r)) return;
        holes[r]++;
      end
      `CHECK(int'(word(entry + 12, 3)) + first == taken[r] + lost[r] || may_lose,
             "packets in the block")
      seq[r]++;
      off[r] = 0;
      if (!hold_returns) write_returned(r, seq[r]);
    end
  endtask

  bit walking = 0;
  task automatic walk_all();
    while (walking) @(posedge clk);
    walking = 1;
    for (int r = 0; r < Rings; r++) walk(r);
    walking = 0;
  endtask

  int in_use_max = 0, done = 0;
  initial
    forever begin
      repeat (50) @(posedge clk);
      if (!rst && !done && !may_lose) walk_all();
    end

  function automatic int total(int a[Rings]);
    return a.sum();
  endfunction

  longint t0;
  int base_bytes[2];
  initial begin
    cfg = '0;
    cfg.enable = 1;
    cfg.log_block_bytes = LogBlock;
    cfg.log_blocks = LogBlocks;
    cfg.flush_clocks = 200;
    cfg.switch_bytes = 4096;
    cfg.switch_margin = 4;
    cfg.base = Base;
    cfg.progress = Progress;
    pcie = '0;
    pcie.max_payload = 3'd1;
    pcie.bus_master = 1;
    regs.req = 0;
    @(negedge rst);
    enable = 2'b11;
    repeat (Pages + 10) @(posedge clk);
    `CHECK(ok == 2'b11, "links in use")

    // One packet in each ring: an entry after the flush delay, with nothing behind it.
    for (int r = 0; r < Rings; r++) send(60 + r, r);
    repeat (250) @(posedge clk);
    walk_all();
    `CHECK(total(taken) == 4, "flushed in time")

    // One packet a clock, with both links at full speed.
    t0 = $time;
    for (int i = 0; i < 4000; i++) send(60, i % Rings);
    $display("60 B: %0d clocks for 4000 packets", ($time - t0) / 10);
    `CHECK(($time - t0) / 10 < 4240, "one packet a clock but for the blocks")
    // The links' engines carry 64 bytes a clock each, the packer 128: just above a beat both are asked for all they have.
    for (int len = 61; len <= 257; len += len < 121 ? 30 : len < 250 ? 64 : 1) begin
      automatic longint record = (len + 7) / 8 * 8 + 8;
      t0 = $time;
      for (int i = 0; i < 1000; i++) send(len, i % Rings);
      $display("%0d B: %0d clocks for 1000 packets", len, ($time - t0) / 10);
      `CHECK(($time - t0) / 10 < 1000 * ((record + 127) / 128) * 108 / 100, "a beat a clock")
      repeat (3000) @(posedge clk);
      walk_all();
    end
    t0 = $time;
    for (int i = 0; i < 400; i++) send(1514, $urandom_range(Rings - 1));
    $display("1514 B: %0d clocks for 400 packets", ($time - t0) / 10);
    `CHECK(($time - t0) / 10 < 4800 * 110 / 100, "one beat a clock but for blocks and flushes")
    repeat (3000) @(posedge clk);
    walk_all();
    `CHECK(total(taken) == number && dropped_count == 0, "all there")

    // Every length, with and without the time.
    for (int round = 0; round < 2; round++) begin
      cfg.timestamps = round[0];
      for (int len = 60; len <= 400; len++) send(len, len % Rings);
      repeat (1500) @(posedge clk);
      walk_all();
      `CHECK(total(taken) == number && dropped_count == 0, "all lengths")
    end

    // All lengths, one ring or many, slow and unequal links: equal shares of work in the proportion of the speeds.
    for (int round = 0; round < 4; round++) begin
      cfg.timestamps = round[0];
      speed = round < 2 ? '{30, 30} : '{40, 15};
      base_bytes = '{int'(bytes[0]), int'(bytes[1])};
      t0 = $time;
      for (int i = 0; i < 400; i++)
      send($urandom_range(9) == 0 ? $urandom_range(12000, 60) : $urandom_range(400, 60),
           round == 1 ? 0 : $urandom_range(Rings - 1));
      $display("round %0d: %0d and %0d bytes, %0d clocks", round, int'(bytes[0]) - base_bytes[0],
               int'(bytes[1]) - base_bytes[1], ($time - t0) / 10);
      if (round >= 2)
        `CHECK(int'(bytes[0]) - base_bytes[0] > int'(bytes[1]) - base_bytes[1],
               "the faster link does more")
      speed = '{100, 100};
      repeat (3000) @(posedge clk);
      walk_all();
      `CHECK(total(taken) + dropped_count == number, "all there")
    end
    cfg.timestamps = 0;

    // Links that stand still while each ring is flushed again and again: entries of many rings are on their way together.
    speed = '{0, 0};
    for (int i = 0; i < 12; i++) begin
      for (int r = 0; r < Rings; r++) send(60 + i + r, r);
      repeat (250) @(posedge clk);
    end
    speed = '{100, 100};
    repeat (1500) @(posedge clk);
    walk_all();
    `CHECK(total(taken) + dropped_count == number, "all there")

    // A consumer that does not return blocks: the ring fills, whole packets are dropped and counted; wrong returns refused.
    hold_returns = 1;
    for (int i = 0; i < 200; i++) send(1500, 1);
    repeat (1500) @(posedge clk);
    walk_all();
    `CHECK(dropped_count > 0 && total(taken) + dropped_count == number, "dropped whole and counted")
    write_returned(1, seq[1] + 2);
    `CHECK(refusals == 1, "a count beyond what is closed is refused")
    repeat (2) @(posedge clk);
    send(1500, 1);
    repeat (500) @(posedge clk);
    `CHECK(total(taken) + dropped_count == number, "a wrong return makes no room")
    hold_returns = 0;
    write_returned(1, seq[1]);
    send(16384, 1);
    `CHECK(long_count == 1, "longer than a block")
    send((1 << LogBlock) - 7, 1);
    send((1 << LogBlock) - 8, 1);  // its record fills a block
    repeat (1500) @(posedge clk);
    walk_all();
    `CHECK(long_count == 2 && captured == total(taken) && off[1] == 1 << LogBlock, $sformatf(
           "%0d longer than a block, %0d of %0d taken, %0d bytes into the block",
           long_count,
           total(
               taken
           ),
           captured,
           off[1]
           ))
    for (int i = 0; i < 50; i++) send(1500, 1);
    repeat (1500) @(posedge clk);
    walk_all();
    `CHECK(total(taken) + dropped_count + long_count == number && captured == total(taken),
           "goes on")

    // A link goes down in the middle: the rest goes over the other, nothing torn or twice, the loss is what the entries say.
    may_lose = 1;
    for (int round = 0; round < 6; round++) begin
      automatic int which = round & 1;
      if (round == 4) begin
        // Entries are in the engine when it goes.
        speed[which] = 0;
        for (int r = 0; r < Rings; r++) send(60 + r, r);
        repeat (250) @(posedge clk);
      end
      for (int i = 0; i < 20; i++) send($urandom_range(1500, 60), $urandom_range(Rings - 1));
      if (round < 2) link_rst[which] = 1;
      else enable[which] = 0;
      repeat ($urandom_range(20)) @(posedge clk);
      for (int i = 0; i < 30; i++) send($urandom_range(1500, 60), $urandom_range(Rings - 1));
      if (round == 4) begin
        `CHECK(!idle[which], "a TLP that was offered waits")
        link_rst[which] = 1;
      end
      repeat (1000) @(posedge clk);
      `CHECK(idle[which] && !ok[which] && ok[1-which], "the other link alone")
      speed[which] = 100;
      // Something in each ring after it, so that the consumer sees what is missing.
      for (int r = 0; r < Rings; r++) send(100, r);
      repeat (500) @(posedge clk);
      walk_all();
      `CHECK(total(taken) + total(lost) + dropped_count + long_count == number,
             "each packet delivered or lost")
      $display("link %0d off: %0d packets of %0d bytes lost, %0d blocks missing", which, total(lost
               ), lost_records, total(holes));
      `CHECK(lost_packets[0] + lost_packets[1] == 32'(total(lost
             )) && lost_bytes[0] + lost_bytes[1] == lost_records, $sformatf(
             "the device says %0d packets, %0d bytes",
             lost_packets[0] + lost_packets[1],
             lost_bytes[0] + lost_bytes[1]
             ))
      link_rst[which] = 0;
      enable = 2'b11;
      repeat (10) @(posedge clk);
      `CHECK(ok == 2'b11, "in use again")
      `CHECK(pages[0] + pages[1] + PageIdW'(Rings) >= 2 * Pages, "pages come back")
    end
    `CHECK(total(lost) > 0, "something was lost")
    // Off for some clocks only, with work queued.
    for (int round = 0; round < 12; round++) begin
      automatic int which = round & 1;
      speed[which] = 20;
      for (int i = 0; i < 20; i++) send($urandom_range(1500, 60), $urandom_range(Rings - 1));
      `CHECK(!idle[which], "there is work")
      enable[which] = 0;
      repeat ($urandom_range(4, 1)) @(posedge clk);
      enable[which] = 1;
      for (int i = 0; i < 20; i++) send($urandom_range(1500, 60), $urandom_range(Rings - 1));
      speed[which] = 100;
      for (int r = 0; r < Rings; r++) send(100, r);
      repeat (1000) @(posedge clk);
      walk_all();
      `CHECK(total(taken) + total(lost) + dropped_count + long_count == number,
             "each packet delivered or lost")
      `CHECK(ok == 2'b11, "in use again")
    end
    `CHECK(waited > 100, "few packets waited")
    may_lose = 0;
    for (int i = 0; i < 300; i++) send($urandom_range(1500, 60), $urandom_range(Rings - 1));

    // The end: all blocks are closed.
    cfg.enable = 0;
    repeat (2000) @(posedge clk);
    walk_all();
    `CHECK(total(taken) + total(lost) + dropped_count + long_count == number,
           "each packet delivered or lost, to the end")
    `CHECK(idle == 2'b11 && pages[0] == Pages && pages[1] == Pages, "nothing left behind")
    // What the registers say.
    begin
      automatic int sums[5] = '{default: 0};
      for (int r = 0; r < Rings; r++) begin
        for (int w = 0; w < 5; w++) begin
          regs.req   <= 1;
          regs.write <= 0;
          regs.addr  <= 12'(r * 32 + w * 4);
          writes++;
          @(posedge clk);
          regs.req <= 0;
          repeat (2) @(posedge clk);
          sums[w] += int'(regs.rdata);
        end
      end
      `CHECK(sums[0] == total(seq) && sums[1] == sums[0] && sums[2] == sums[0],
             "all blocks closed and returned")
      `CHECK(sums[0] == link_blocks, "each block opened on one link")
      `CHECK(sums[3] == captured && sums[4] == dropped_count, "packets and drops")
      for (int r = Rings - 1; r <= Rings; r++) begin
        regs.req  <= 1;
        regs.addr <= 12'(r * 32 + 4 * int'(RingRegPackets));
        @(posedge clk);
        regs.req <= 0;
        repeat (2) @(posedge clk);
        `CHECK((regs.rdata == '0) == (r == Rings), "a ring that is not there has packets")
      end
    end
    done = 1;
    // A reset of one clock in the middle of it all: nothing is left to be done.
    cfg.enable = 1;
    cfg.flush_clocks = 12;
    for (int round = 0; round < 150; round++) begin
      while (ok != 2'b11) @(posedge clk);
      repeat (8) send($urandom_range(200, 60), $urandom_range(Rings - 1));
      repeat ($urandom_range(30)) @(posedge clk);
      beats_in.delete();
      rst <= 1;
      @(posedge clk);
      rst <= 0;
      @(posedge clk);
      `CHECK(!work_valid && queued == '0, "work in reset")
      repeat (20) begin
        @(posedge clk);
        `CHECK(!work_valid && queued == '0 && lost_packets == '0, "work after a reset")
      end
    end
    `TB_PASS
  end
endmodule
