// SPDX-License-Identifier: Apache-2.0
`include "parts_tb.svh"
`include "tb.svh"
`include "stream.svh"
/// rx_pack: every byte of every piece reaches its place in host memory once, nothing else is written, and no request brings a
/// record before the frame it belongs to; one piece a clock, at once while nothing waits, together while something does.
module rx_pack_tb;
  import dma_pkg::*, queue_pkg::*, engine_pkg::*;
  `TB_BEGIN
  `TB_TIMEOUT(400_000)
  localparam ram_sel_t Sel = 6'd33;
  localparam int Rows = 1024, MostQueues = 600, Ring = 2048;

  `STREAM_ON(rx_piece_t, piece, clk, rst)
  `STREAM_ON(dma_req_t, dma, clk, rst)
  logic moved, row_valid, row_ready = 0;
  row_addr_t row_addr;
  ram_row_t row, read_q, out;
  dma_status_t status;
  ram_read_t   ram_read;
  rx_pack #(
      .Lines(64),
      .Hints(128),
      .Sel  (Sel)
  ) dut (
      .clk_i(clk),
      .rst_i(rst),
      .piece,
      .moved_o(moved),
      .row_valid_o(row_valid),
      .row_addr_o(row_addr),
      .row_ready_i(row_ready),
      .row_i(row),
      .dma,
      .status_i(status),
      .ram_i(ram_read),
      .ram_o(out)
  );

  int unsigned
      queues = 1,
      percent = 100,
      row_percent = 100,
      dma_percent = 100,
      min_dws = 19,
      max_dws = 19,
      latency = 10,
      to_send = 0,
      sent = 0,
      moves = 0,
      requests = 0,
      longest = 0,
      now = 0,
      fullest = 0;

  // The packet RAM: rows of words that tell their piece, overwritten when the piece has moved.
  ram_row_t memory[Rows];
  function automatic logic [31:0] word_of(int unsigned id, int unsigned i);
    return id * 32'h9e3779b1 + i * 32'h01000193;
  endfunction

  // What host memory is to hold, by Dword: the word, and the piece. Removed as it is written.
  typedef struct {
    logic [31:0] word;
    int unsigned id;
  } owed_t;
  owed_t owed[longint unsigned];
  bit loose[longint unsigned];  // Dwords of a piece's granules that are nobody's
  int unsigned left[int unsigned];  // Dwords of a piece not yet written
  int unsigned place[MostQueues];  // granules used of a queue's ring

  `STREAM_SOURCE(rx_piece_t, i_piece, piece, percent)
  `STREAM_SINK(dma_req_t, i_dma, dma, dma_percent)

  function automatic void make();
    rx_piece_t p;
    int unsigned q, granules;
    longint unsigned base;
    q = $urandom_range(queues - 1);
    p.queue = 16'(q);
    p.row = row_addr_t'(sent % Rows);
    p.dws = 6'($urandom_range(max_dws, min_dws));
    granules = (32'(p.dws) + 3) / 4;
    // Downwards in a ring; what begins in it runs on below it, where another lies.
    base = (64'd1 << 40) + 64'(q) * (Ring + 8);
    p.place = 60'(base) + 60'(Ring - 1 - place[q]);
    place[q] = (place[q] + granules) % Ring;
    for (int unsigned i = 0; i < RowBytes / 4; i++)
    memory[p.row][i/4][32*(i%4)+:32] = word_of(sent, i);
    for (int unsigned i = 0; i < 4 * granules; i++) begin
      longint unsigned at;
      at = (64'(p.place) + 1) * 4 - 64'(4 * granules) + 64'(i);
      if (i < 4 * granules - 32'(p.dws)) loose[at] = 1;
      else begin
        loose.delete(at);
        owed[at] = '{word_of(sent, i - (4 * granules - 32'(p.dws))), sent};
      end
    end
    left[sent] = 32'(p.dws);
    i_piece.queue.push_back(p);
    sent++;
  endfunction

  // The DMA engine: a request's rows are read one a clock, then its bytes are there, and later the status.
  dma_req_t jobs[$];
  int unsigned done_at[$];
  dma_req_t reading[4];
  bit reads[4] = '{default: 0}, ends[4];
  int unsigned touched[$];  // pieces of the request, once a Dword
  int unsigned unit[4] = '{default: 0};
  always @(posedge clk) begin
    now++;
    if (dma.valid && dma.ready && !rst) begin
      `CHECK(dma.data.sel == Sel && !dma.data.relaxed, "not the own kind of request")
      `CHECK(32'(dma.data.ram_addr[7:0]) + 32'(dma.data.len) <= 256, "beyond the line")
      jobs.push_back(dma.data);
      requests++;
      if (32'(dma.data.len) > longest) longest = 32'(dma.data.len);
    end
    // Row by row; the first read comes in the clock of the request.
    ram_read <= '0;
    reads[0] = 0;
    if (jobs.size() != 0 && !rst) begin
      ram_read.sel   <= Sel;
      ram_read.valid <= '1;
      ram_read.row   <= {Segs{jobs[0].ram_addr[RamAddrW-1:7] + row_addr_t'(unit[0])}};
      reads[0]   = 1;
      reading[0] = jobs[0];
      ends[0]    = (unit[0] + 1) * 128 >= 32'(jobs[0].ram_addr[6:0]) + 32'(jobs[0].len);
    end
    if (reads[3]) begin
      for (int unsigned i = 0; i < 32; i++) begin
        int unsigned at;
        longint unsigned host;
        at = unit[3] * 128 + 4 * i;
        if (at >= 32'(reading[3].ram_addr[6:0]) && at < 32'(reading[3].ram_addr[6:0]) + 32'(reading[3].len)) begin
          host = (reading[3].host_addr + 64'(at) - 64'(reading[3].ram_addr[6:0])) / 4;
          if (loose.exists(host)) loose.delete(host);
          else begin
            `CHECK(owed.exists(host), $sformatf("Dword %h is nobody's, or was written before", host
                   ))
            `CHECK(out[i/4][32*(i%4)+:32] == owed[host].word, $sformatf(
                   "piece %0d: %h, not %h", owed[host].id, out[i/4][32*(i%4)+:32], owed[host].word))
            left[owed[host].id]--;
            touched.push_back(owed[host].id);
            owed.delete(host);
          end
        end
      end
      // A request has whole pieces: none has its record and not its frame.
      if (ends[3]) begin
        foreach (touched[i]) `CHECK(left[touched[i]] == 0, "a piece came in parts")
        touched.delete();
      end
    end
    for (int i = 3; i > 0; i--) begin
      reads[i] = reads[i-1];
      reading[i] = reading[i-1];
      ends[i] = ends[i-1];
      unit[i] = unit[i-1];
    end
    if (reads[0]) begin
      unit[0] = ends[0] ? 0 : unit[0] + 1;
      if (ends[0]) begin
        void'(jobs.pop_front());
        done_at.push_back(now + latency);
      end
    end
    status <= '{valid: $urandom_range(3) == 0, sel: Sel ^ 6'd1, result: DmaOk};
    if (done_at.size() != 0 && done_at[0] <= now) begin
      status <= '{1'b1, Sel, DmaOk};
      void'(done_at.pop_front());
    end
    // The packet RAM.
    row_ready <= !rst && $urandom_range(99) < row_percent;
    row <= read_q;
    read_q <= '0;
    if (row_valid && row_ready && !rst) read_q <= memory[row_addr[9:0]];
    if (moved && !rst) begin
      memory[moves%Rows] = '0;
      moves++;
    end
    while (to_send != 0 && i_piece.queue.size() == 0 && sent - moves < Rows - 8) begin
      make();
      to_send--;
    end
    if (!rst && 32'(dut.used) > fullest) fullest = 32'(dut.used);
  end

  task automatic settle();
    while (to_send != 0 || i_piece.queue.size() != 0 || piece.valid) @(posedge clk);
    {row_percent, dma_percent} = {32'd100, 32'd100};
    repeat (600 + 4 * latency) @(posedge clk);
    `CHECK(owed.size() == 0 && moves == sent,
           $sformatf("%0d Dwords are missing, %0d of %0d pieces moved", owed.size(), moves, sent))
    `CHECK(dut.used == 0, "lines are lost")
    loose.delete();
    left.delete();
  endtask

  initial begin
    int unsigned start, at, asked;
    @(negedge rst);
    repeat (3) @(posedge clk);
    // Alone: at once.
    repeat (20) begin
      start   = requests;
      to_send = 1;
      while (!piece.valid) @(posedge clk);
      at = now;
      while (requests == start) @(posedge clk);
      `CHECK(now - at <= 9, $sformatf("%0d clocks until a piece alone goes", now - at))
      settle();
    end
    // One piece a clock, of one queue and of many.
    for (int unsigned n = 1; n <= 64; n *= 8) begin
      queues  = n;
      to_send = 1500;
      repeat (100) @(posedge clk);
      start = moves;
      repeat (1000) @(posedge clk);
      `CHECK(moves - start >= 990, $sformatf(
             "%0d pieces in 1000 clocks of %0d queues", moves - start, n))
      settle();
    end
    // A link that takes a request every four clocks, half of what comes: three pieces of 76 bytes go together.
    queues = 16;
    percent = 50;
    dma_percent = 25;
    to_send = 3000;
    repeat (500) @(posedge clk);
    start = moves;
    asked = requests;
    repeat (2000) @(posedge clk);
    `CHECK(moves - start >= 900, $sformatf(
           "%0d pieces in 2000 clocks while requests wait", moves - start))
    `CHECK(requests - asked <= 540 && longest == 236, $sformatf(
           "%0d requests, the longest of %0d bytes", requests - asked, longest))
    settle();
    // Everything at random.
    for (int round = 0; round < 40; round++) begin
      queues = round % 4 == 0 ? MostQueues : $urandom_range(80, 1);
      percent = $urandom_range(100, 20);
      row_percent = $urandom_range(100, 20);
      dma_percent = round % 4 == 0 ? 10 : $urandom_range(100, 10);
      latency = $urandom_range(200, 1);
      min_dws = $urandom_range(32, 5);
      max_dws = $urandom_range(32, min_dws);
      to_send = 300;
      settle();
    end
    `CHECK(fullest == 64, $sformatf("no more than %0d lines in use", fullest))
    `TB_PASS
  end
endmodule
