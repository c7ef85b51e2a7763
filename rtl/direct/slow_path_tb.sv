// SPDX-License-Identifier: Apache-2.0
`include "parts_tb.svh"
`include "tb.svh"
`include "stream.svh"
/// Host memory behind one DMA channel: any latency, results before or after the last word; addresses from Broken on fail.
module slow_path_tb_memory
  import channel_pkg::*;
#(
    parameter logic [63:0] Broken = 64'h1_0000_0000
) (
    input logic clk_i,
    input logic rst_i,
    input int unsigned latency_i,  // clocks at most
    stream_if cmd,
    stream_if wdata,
    stream_if rdata,
    stream_if done
);
  logic [63:0] mem[longint unsigned];  // by address / 8
  int unsigned reads = 0, writes = 0;
  channel_cmd_t now;
  logic [63:0] word;

  logic cmd_ready = 0, wdata_ready = 0;
  assign cmd.ready   = cmd_ready;
  assign wdata.ready = wdata_ready;
  `STREAM_SOURCE(channel_word_t, i_rdata, rdata, 75)
  `STREAM_SOURCE(channel_result_e, i_done, done, 100)

  typedef enum {
    Free,
    Reads,
    Writes,
    Ends
  } state_e;
  state_e state = Free;
  int unsigned
      words = 0, results = 0, place, wait_q;  // words read and results given since the start
  bit early;
  function automatic void give_result(int unsigned clocks);
    i_done.send_in(now.addr < Broken ? ChannelOk : ChannelAbort, clocks);
    results++;
  endfunction
  function automatic void begin_command();
    int unsigned count = 32'(now.bytes) / 8, delay = $urandom_range(latency_i);
    if (now.bytes == 0 || now.bytes[2:0] != 0 || now.addr[2:0] != 0)
      $fatal(1, "FAIL: transfer of %0d bytes at %h", now.bytes, now.addr);
    state  = now.read ? Reads : Writes;
    early  = now.read && $urandom_range(1) == 0;
    place  = 0;
    wait_q = delay;
    if (early) give_result(delay);
    if (now.read) begin
      reads++;
      for (int unsigned i = 0; i < count; i++) begin
        word = '0;
        if (now.addr < Broken && mem.exists(now.addr / 8 + 64'(i))) word = mem[now.addr/8+64'(i)];
        i_rdata.send_in('{data: word, last: i == count - 1}, delay);
        words++;
      end
    end else writes++;
  endfunction

  always @(posedge clk_i) begin
    cmd_ready   <= 0;
    wdata_ready <= 0;
    if (wait_q != 0) wait_q--;
    case (state)
      Free:
      if (cmd.valid && cmd_ready && !rst_i) begin
        now = cmd.data;
        begin_command();
      end else cmd_ready <= 1;
      Reads:
      if (i_rdata.taken == words) begin
        if (!early) give_result(0);
        state = Ends;
      end
      Writes: begin
        // The first word may be late; the others may not.
        if (wdata_ready && wdata.valid) begin
          if (now.addr < Broken) mem[now.addr/8+64'(place)] = wdata.data;
          place++;
        end else if (place != 0) $fatal(1, "FAIL: a gap before word %0d of a write", place);
        wdata_ready <= wait_q == 0;
        if (place == 32'(now.bytes) / 8) begin
          wdata_ready <= 0;
          give_result($urandom_range(latency_i));
          state = Ends;
        end
      end
      default: if (i_done.taken == results) state = Free;
    endcase
  end
endmodule

/// slow_rx and slow_tx with a driver between them: every frame that goes in comes out once, whole, in the order of its
/// class; what cannot be transferred is counted and leaves the others alone.
module slow_path_tb;
  import direct_pkg::*, route_pkg::*;
  import channel_pkg::*;
  `TB_BEGIN
  `TB_TIMEOUT(2_000_000)
  localparam int Classes = 2;
  localparam longint unsigned Buffers = 'h100000, TxRing = 'h80000, Status = 'h90000;
  localparam int LogRx = 4, LogTx = 3;

  int unsigned latency = 5;
  ring_t rx_ring[Classes], tx_ring;
  logic [15:0] rx_consumer[Classes], tx_consumer;
  logic rx_error[Classes], tx_error;
  logic [3:0] prefetch = 1;
  logic rx_frame, rx_too_long, rx_bus_error, tx_frame, tx_bad, tx_bus_error, tx_written;

  `STREAM_ON(stored_word_t, frame[Classes], clk, rst)
  `STREAM_ON(stored_word_t, out, clk, rst)
  `STREAM_ON(channel_cmd_t, cmd[2], clk, rst)
  `STREAM_ON(logic [63:0], wdata[2], clk, rst)
  `STREAM_ON(channel_word_t, rdata[2], clk, rst)
  `STREAM_ON(channel_result_e, done[2], clk, rst)

  slow_tx dut_tx (
      .clk_i(clk),
      .rst_i(rst),
      .ring_i(tx_ring),
      .prefetch_i(prefetch),
      .writeback_i(8'd4),
      .status_addr_i(Status),
      .consumer_o(tx_consumer),
      .error_o(tx_error),
      .cmd(cmd[0]),
      .wdata(wdata[0]),
      .rdata(rdata[0]),
      .done(done[0]),
      .out(out),
      .frame_o(tx_frame),
      .bad_o(tx_bad),
      .bus_error_o(tx_bus_error),
      .written_o(tx_written)
  );
  slow_rx #(
      .Classes(Classes)
  ) dut_rx (
      .clk_i(clk),
      .rst_i(rst),
      .ring_i(rx_ring),
      .consumer_o(rx_consumer),
      .error_o(rx_error),
      .frame(frame),
      .cmd(cmd[1]),
      .wdata(wdata[1]),
      .rdata(rdata[1]),
      .done(done[1]),
      .frame_o(rx_frame),
      .too_long_o(rx_too_long),
      .bus_error_o(rx_bus_error)
  );
  slow_path_tb_memory tx_memory (
      .clk_i(clk),
      .rst_i(rst),
      .latency_i(latency),
      .cmd(cmd[0]),
      .wdata(wdata[0]),
      .rdata(rdata[0]),
      .done(done[0])
  );
  slow_path_tb_memory rx_memory (
      .clk_i(clk),
      .rst_i(rst),
      .latency_i(latency),
      .cmd(cmd[1]),
      .wdata(wdata[1]),
      .rdata(rdata[1]),
      .done(done[1])
  );

  int unsigned rx_frames = 0, rx_long = 0, rx_errors = 0, tx_frames = 0, tx_bads = 0, tx_errors = 0;
  always @(posedge clk)
    if (!rst) begin
      rx_frames += 32'(rx_frame);
      rx_long += 32'(rx_too_long);
      rx_errors += 32'(rx_bus_error);
      tx_frames += 32'(tx_frame);
      tx_bads += 32'(tx_bad);
      tx_errors += 32'(tx_bus_error);
    end

  // ---------------------------------------------------------------- frames in: number n of class c has these words
  function automatic logic [63:0] word_of(int c, int unsigned n, int i);
    return {16'(c), 24'(n), 24'(i)} ^ 64'h9e37_79b9_7f4a_7c15 * 64'(n * 977 + i);
  endfunction
  int unsigned offered[Classes], lengths[Classes][$];
  int unsigned todo[Classes];  // frames to offer
  for (genvar c = 0; c < Classes; c++) begin : g_source
    `STREAM_SOURCE(stored_word_t, i_source, frame[c], 100)
    always @(posedge clk)
      if (!rst && todo[c] != 0 && i_source.queue.size() == 0) begin
        int unsigned bytes;
        packet_header_t header;
        bytes  = ($urandom_range(9) == 0) ? $urandom_range(1514, 1) : $urandom_range(200, 1);
        header = '{kind: Packet, unused: '0, cls: class_t'(c), bytes: 16'(bytes)};
        lengths[c].push_back(bytes);
        i_source.queue.push_back('{data: header, last: 0});
        for (int i = 0; i < (int'(bytes) + 7) / 8; i++)
        i_source.queue.push_back('{data: word_of(c, offered[c], i),
                                 last: i == (int'(bytes) + 7) / 8 - 1});
        offered[c]++;
        todo[c]--;
      end
  end

  // ---------------------------------------------------------------- the driver
  function automatic longint unsigned rx_slot(int c, logic [15:0] i);
    return rx_ring[c].base + 16 * 64'(i % 16'(1 << LogRx));
  endfunction
  function automatic longint unsigned buffer(int c, logic [15:0] i);
    return Buffers + 'h10000 * 64'(c) + 2048 * 64'(i % 16'(1 << LogRx));
  endfunction
  int unsigned capacity = 1520;
  task automatic give(int c);
    rx_memory.mem[rx_slot(c, rx_ring[c].producer)/8]   = buffer(c, rx_ring[c].producer);
    rx_memory.mem[rx_slot(c, rx_ring[c].producer)/8+1] = 64'(capacity);
    rx_ring[c].producer <= rx_ring[c].producer + 1;
    @(negedge clk);
  endtask
  task automatic send(longint unsigned addr, int unsigned bytes);
    tx_memory.mem[(TxRing+16*64'(tx_ring.producer%16'(1<<LogTx)))/8]   = addr;
    tx_memory.mem[(TxRing+16*64'(tx_ring.producer%16'(1<<LogTx)))/8+1] = 64'(bytes);
    tx_ring.producer <= tx_ring.producer + 1;
    @(negedge clk);
  endtask

  // Frame `i` of those that lie ready for the stopped output.
  task automatic send_long(int i, int unsigned bytes);
    expect_bytes.push_back(bytes);
    expect_class.push_back(0);
    expect_number.push_back(i);
    send('h400000 + 'h4000 * 64'(i), bytes);
  endtask

  // Takes the next frame of class c if there is one, checks it, and sends it out again.
  logic [15:0] taken[Classes];
  int unsigned seen[Classes], expect_bytes[$], expect_class[$], expect_number[$];
  task automatic poll(int c, output logic some);
    logic [63:0] status;
    some = 0;
    if (taken[c] == rx_ring[c].producer) return;
    status = rx_memory.mem[rx_slot(c, taken[c])/8+1];
    if (!status[31]) return;
    some = 1;
    `CHECK(status[15:0] == 16'(lengths[c][seen[c]]), "length in the descriptor")
    `CHECK(status[30:16] == 15'(c) && status[63:32] == 0, "rest of the descriptor")
    for (int i = 0; i < (int'(status[15:0]) + 7) / 8; i++) begin
      `CHECK(rx_memory.mem[buffer(c, taken[c])/8+64'(i)] == word_of(c, seen[c], i),
             "word in memory")
      tx_memory.mem[buffer(c, taken[c])/8+64'(i)] = word_of(c, seen[c], i);
    end
    while (tx_ring.producer - 16'(tx_memory.mem[Status/8]) == 16'(1 << LogTx)) @(negedge clk);
    expect_bytes.push_back(32'(status[15:0]));
    expect_class.push_back(c);
    expect_number.push_back(seen[c]);
    // The buffer is sent from, so it may only be given back when the ring has moved on; copies are in tx_memory.
    send(buffer(c, taken[c]), 32'(status[15:0]));
    while (tx_ring.producer != tx_consumer) @(negedge clk);
    taken[c]++;
    seen[c]++;
    give(c);
  endtask

  // ---------------------------------------------------------------- frames out
  int unsigned came = 0, out_percent = 50, place = 0;
  `STREAM_SINK(stored_word_t, i_out, out, out_percent)
  always @(posedge clk)
    if (out.valid && out.ready && !rst) begin
      automatic packet_header_t header = out.data.data;
      `CHECK(expect_bytes.size() > 0, "a frame too many")
      if (place == 0)
        `CHECK(header.kind == Packet && header.cls == 0 && 32'(header.bytes) == expect_bytes[0],
               "header")
      else
        `CHECK(out.data.data == word_of(int'(expect_class[0]), expect_number[0], int'(place) - 1),
               "word out")
      `CHECK(out.data.last == (place == (expect_bytes[0] + 7) / 8), "last")
      place++;
      if (out.data.last) begin
        void'(expect_bytes.pop_front());
        void'(expect_class.pop_front());
        void'(expect_number.pop_front());
        place = 0;
        came++;
      end
    end

  task automatic run(int unsigned n0, int unsigned n1);
    logic some;
    int unsigned goal;
    goal = came + n0 + n1;
    todo[0] += n0;
    todo[1] += n1;
    while (came != goal) begin
      poll(0, some);
      if (!some) poll(1, some);
      if (!some) @(negedge clk);
    end
  endtask

  initial begin
    for (int c = 0; c < Classes; c++) begin
      rx_ring[c] = '{enable: 0, base: 64'h10000 * 64'(c + 1), log_size: 4'(LogRx), producer: 0};
      todo[c] = 0;
      taken[c] = 0;
      seen[c] = 0;
    end
    tx_ring = '{enable: 0, base: TxRing, log_size: 4'(LogTx), producer: 0};
    tx_memory.mem[Status/8] = 0;
    @(negedge rst);
    @(negedge clk);
    rx_ring[0].enable <= 1;
    rx_ring[1].enable <= 1;
    tx_ring.enable <= 1;

    // A frame waits while there are no descriptors; another class goes on.
    todo[0] = 1;
    repeat (100) @(negedge clk);
    `CHECK(rx_memory.reads == 0 && rx_memory.writes == 0, "used a descriptor that is not there")
    repeat (3) give(1);
    run(0, 3);
    `CHECK(rx_frames == 3, "class 1 did not go on")
    repeat (16) give(0);
    run(0, 0);
    while (seen[0] == 0) begin
      logic some;
      poll(0, some);
      @(negedge clk);
    end
    repeat (12) give(1);
    while (came != 4) @(negedge clk);

    // Random traffic, short and long latencies, one and several descriptors a read.
    run(300, 300);
    latency  = 60;
    prefetch = 4;
    run(100, 100);
    latency = 0;
    prefetch = 8;
    out_percent = 100;
    run(200, 200);
    while (16'(tx_memory.mem[Status/8]) != tx_ring.producer) @(negedge clk);
    `CHECK(rx_frames == 1204 && tx_frames == 1204, "frames miscounted")
    `CHECK(rx_long == 0 && rx_errors == 0 && tx_bads == 0 && tx_errors == 0, "errors without cause")

    // Back to back: several descriptors at once.
    begin
      int unsigned goal;
      goal = came + 8;
      for (int i = 0; i < 8; i++) begin
        expect_bytes.push_back(64);
        expect_class.push_back(0);
        expect_number.push_back(i);
        for (int w = 0; w < 8; w++) tx_memory.mem['h200000/8+64'(64*i+w)] = word_of(0, i, w);
      end
      for (int i = 0; i < 8; i++) send('h200000 + 512 * 64'(i), 64);
      while (came != goal) @(negedge clk);
    end

    // The output stops: a frame is read when the buffer has room for its header and all its words, and one that waits for room goes when its ring is
    // turned off. Of 2048 words, with the first header on the output, the longest frame leaves 896.
    begin
      int unsigned goal, there;
      for (int i = 0; i < 4; i++)
      for (int w = 0; w < 1152; w++) tx_memory.mem['h400000/8+64'('h800*i+w)] = word_of(0, i, w);
      out_percent = 0;
      repeat (3) @(negedge clk);
      goal  = came + 3;
      there = tx_frames;
      send_long(0, 9216);
      send_long(1, 895 * 8);
      send_long(2, 1);
      while (tx_frames != there + 2) @(negedge clk);
      repeat (100) @(negedge clk);
      `CHECK(tx_frames == there + 2 && tx_consumer == tx_ring.producer - 1,
             "a frame was read into a full buffer")
      out_percent = 50;
      while (came != goal) @(negedge clk);
      while (16'(tx_memory.mem[Status/8]) != tx_ring.producer) @(negedge clk);

      out_percent = 0;
      repeat (3) @(negedge clk);
      send_long(3, 9216);
      send('h404000, 895 * 8 + 1);
      while (tx_frames != there + 4) @(negedge clk);
      there = tx_memory.reads;
      repeat (100) @(negedge clk);
      `CHECK(tx_memory.reads <= there + 1 && tx_consumer == tx_ring.producer - 1,
             "a frame was read into a buffer without room for all of it")
      tx_ring.enable   <= 0;
      tx_ring.producer <= 0;
      repeat (3) @(negedge clk);
      `CHECK(tx_consumer == 0, "a frame that waits for room keeps its ring on")
      tx_memory.mem[Status/8] = 0;
      tx_ring.enable <= 1;
      out_percent = 100;
      while (came != goal + 1) @(negedge clk);
    end

    // Bad descriptors are skipped, between good ones.
    expect_bytes.push_back(64);
    expect_class.push_back(0);
    expect_number.push_back(1);
    send('h200000, 0);
    send('h200004, 64);
    send('h200000 + 512, 64);
    send('h200000, 9217);
    send(64'h1_0000_0000, 64);  // no target there
    expect_bytes.push_back(60);
    expect_class.push_back(0);
    expect_number.push_back(2);
    send('h200000 + 1024, 60);
    while (16'(tx_memory.mem[Status/8]) != tx_ring.producer) @(negedge clk);
    repeat (200) @(negedge clk);
    `CHECK(expect_bytes.size() == 0, "a good frame among bad ones was lost")
    `CHECK(tx_bads == 3 && tx_errors == 1 && !tx_error, "bad transmit descriptors miscounted")

    // A descriptor that cannot be read stops the ring until it is turned on again.
    tx_ring.base <= 64'h1_0000_0000;
    tx_ring.producer <= tx_ring.producer + 1;
    repeat (100) @(negedge clk);
    `CHECK(tx_error && tx_errors == 2, "transmit ring not stopped")
    tx_ring.enable <= 0;
    tx_ring.producer <= 0;
    tx_ring.base <= TxRing;
    tx_memory.mem[Status/8] = 0;
    repeat (3) @(negedge clk);
    `CHECK(!tx_error && tx_consumer == 0, "transmit ring not cleared")
    tx_ring.enable <= 1;
    run(5, 5);

    // A buffer too small: the frame goes, the descriptor stays.
    capacity = 0;
    begin
      int unsigned frames_before;
      frames_before = rx_frames;
      rx_ring[1].enable   <= 0;
      rx_ring[1].producer <= 0;
      repeat (3) @(negedge clk);
      rx_ring[1].enable <= 1;
      give(1);
      todo[1] = 2;
      repeat (3000) @(negedge clk);
      `CHECK(rx_long == 2 && rx_frames == frames_before && rx_consumer[1] == 0, "frames too long")
      seen[1] += 2;
      capacity = 1520;
    end

    // A buffer at an address without a target stops its ring, not the other.
    rx_ring[1].enable   <= 0;
    rx_ring[1].producer <= 0;
    repeat (3) @(negedge clk);
    rx_ring[1].enable <= 1;
    rx_memory.mem[rx_slot(1, 0)/8]   = 64'h1_0000_0000;
    rx_memory.mem[rx_slot(1, 0)/8+1] = 64'd2048;
    rx_ring[1].producer <= 1;
    todo[1] = 1;
    repeat (3000) @(negedge clk);
    `CHECK(rx_errors == 1 && rx_error[1] && !rx_error[0], "receive bus error")
    run(20, 0);
    `TB_PASS
  end
endmodule
