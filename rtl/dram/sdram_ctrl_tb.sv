// SPDX-License-Identifier: Apache-2.0
`include "parts_tb.svh"
`include "tb.svh"
`include "stream.svh"
/// frame_memory (frame_bus, sdram_ctrl) with the two gearboxes and a memory that checks its timing: random bursts of all clients against an array
/// (order, content, masks, whose data they are), every command checked against the device's times in memory clocks, refreshes
/// counted; the rates that four streams of 1518-byte frames and random single words reach; resets in the middle of it.
module sdram_ctrl_tb
  import dram_pkg::*;
;
  `TB_BEGIN
  `TB_TIMEOUT(1_000_000)
  localparam int Clients = 7;
  localparam int Writes = 5, Reads = 6;  // the clients behind gearboxes, of a word a clock
  localparam int Banks = 8;
  localparam int TRcd = 7, TRp = 7, TRas = 15, TRrd = 5, TWr = 7, TWtr = 4, TRtp = 2, Cl = 7, Wl = 3, TRfc = 36, TRefi = 3900;

  `STREAM_ON(bus_req_t, req[Clients], clk, rst)
  `STREAM_ON(bus_row_t, wdata[Clients], clk, rst)
  `STREAM_ON(row_t, rdata[Clients], clk, rst)
  `STREAM_ON(bus_req_t, word_req[Clients], clk, rst)
  `STREAM_ON(bus_wdata_t, word_wdata, clk, rst)
  `STREAM_ON(logic [127:0], word_rdata, clk, rst)
  logic [DramSlots-1:0][127:0] dq_in;
  logic [DramSlots-1:0] dq_valid;
  dram_ca_t [DramSlots-1:0] cas;
  dram_dq_t [DramSlots-1:0] dqs;
  write_gearbox i_write_gearbox (
      .clk_i(clk),
      .rst_i(rst),
      .req(word_req[Writes]),
      .wdata(word_wdata),
      .row_req(req[Writes]),
      .row_wdata(wdata[Writes])
  );
  read_gearbox i_read_gearbox (
      .clk_i(clk),
      .rst_i(rst),
      .req(word_req[Reads]),
      .rdata(word_rdata),
      .row_req(req[Reads]),
      .row_rdata(rdata[Reads])
  );
  assign rdata[Writes].ready = 1'b1;
  assign word_rdata.ready = 1'b1;
  assign wdata[Reads].valid = 1'b0;
  assign wdata[Reads].data = '0;
  frame_memory #(
      .Clients(Clients),
      .Banks  (Banks)
  ) dut (
      .clk_i(clk),
      .rst_i(rst),
      .req,
      .wdata,
      .rdata,
      .moves_o(),
      .ca_o(cas),
      .dq_valid_o(dq_valid),
      .dq_o(dqs),
      .dq_i(dq_in)
  );

  // The memory. Times of the last command of each kind, a bank each; -1000: long ago.
  int unsigned t = 0, refreshes = 0, activations = 0;
  logic [127:0] cells[int unsigned];
  logic [Banks-1:0] open = '0;
  int row[Banks];
  int activated[Banks], precharged[Banks], read[Banks], written[Banks];
  int any_activated = -1000, any_read = -1000, any_written = -1000, refreshed = -1000;
  typedef struct {
    int at;
    int unsigned cell_no;
  } move_t;
  move_t reads[$], writes[$];
  initial begin
    foreach (row[b]) begin
      activated[b] = -1000;
      precharged[b] = -1000;
      read[b] = -1000;
      written[b] = -1000;
    end
  end
  int b, now;
  // Clocks between two commands: never fewer than the device needs, and at least once in the first of the controller's that may be.
  int least[string];
  function automatic void apart(string what, int clocks, int needed);
    if (!least.exists(what) || least[what] > clocks - needed) least[what] = clocks - needed;
    `CHECK(clocks >= needed, {what, " too early"})
  endfunction
  function automatic void closes(int b);
    apart("precharge", now - activated[b], TRas);
    apart("precharge after a read", now - read[b], TRtp);
    apart("precharge after a write", now - written[b], Wl + 1 + TWr);
  endfunction
  int unsigned c;
  logic [127:0] old;
  dram_ca_t ca;
  logic [DramSlots-1:0][127:0] comes;
  function automatic void clock(int slot);
    dram_dq_t dq = dqs[slot];
    t++;
    now = int'(t);
    // What is sampled at the end of these four clocks.
    comes[slot] = {4{$urandom()}};
    if (reads.size() != 0 && reads[0].at == now) begin
      comes[slot] = cells[reads[0].cell_no];
      void'(reads.pop_front());
    end
    ca = cas[slot];
    b  = int'(ca.bank);
    if (!rst && ca.cmd != Nop) begin
      `CHECK(now - refreshed >= TRfc, "a command during a refresh")
      c = {row[b], 3'(b ^ row[b]), ca.addr[6:0]};
      case (ca.cmd)
        Activate: begin
          `CHECK(!open[b], "activate of an open bank")
          apart("activate", now - precharged[b], TRp);
          apart("activate after another", now - any_activated, TRrd);
          `CHECK(ca.addr < 2048, "no such row")
          open[b] = 1;
          row[b] = int'(ca.addr);
          activated[b] = now;
          any_activated = now;
          activations++;
        end
        Read: begin
          `CHECK(open[b], "read of a bank that is not open")
          apart("read", now - activated[b], TRcd);
          apart("read after a write", now - any_written, Wl + 1 + TWtr);
          reads.push_back('{at: now + Cl, cell_no: c});
          read[b]  = now;
          any_read = now;
        end
        Write: begin
          `CHECK(open[b], "write of a bank that is not open")
          apart("write", now - activated[b], TRcd);
          // The pins change hands with a clock between.
          apart("write after a read", now + Wl - (any_read + Cl), 2);
          writes.push_back('{at: now + Wl, cell_no: c});
          written[b]  = now;
          any_written = now;
        end
        Precharge: begin
          `CHECK(open[b], "precharge of a closed bank")
          closes(b);
          open[b] = 0;
          precharged[b] = now;
        end
        PrechargeAll:
        for (int i = 0; i < Banks; i++) begin
          if (open[i]) closes(i);
          open[i] = 0;
          precharged[i] = now;
        end
        Refresh: begin
          for (int i = 0; i < Banks; i++) begin
            `CHECK(!open[i], "refresh with an open bank")
            apart("refresh", now - precharged[i], TRp);
          end
          refreshed = now;
          refreshes++;
        end
        default: `CHECK(0, "no such command")
      endcase
    end
    `CHECK(rst || dq_valid[slot] == (writes.size() != 0 && writes[0].at == now),
           "write data at the wrong time")
    if (dq_valid[slot] && !rst) begin
      old = cells.exists(writes[0].cell_no) ? cells[writes[0].cell_no] : 'x;
      for (int i = 0; i < 16; i++) if (!dq.mask[i]) old[8*i+:8] = dq.data[8*i+:8];
      cells[writes[0].cell_no] = old;
      void'(writes.pop_front());
    end
  endfunction
  always @(posedge clk) begin
    for (int s = 0; s < DramSlots; s++) clock(s);
    dq_in <= comes;
    if (rst) begin
      reads.delete();
      writes.delete();
    end
  end

  // Clients. What memory must hold after the bursts taken so far; what each client is to read.
  logic [127:0] words[int unsigned];
  localparam int Places = 8;  // a queue each: a power of two, for Verilator loses what is popped of others by a variable index
  logic [127:0] expected[Places][$];
  typedef enum {
    Stopped,
    Random,   // any bursts near to each other, in a small piece of memory
    Frames,   // 1518 bytes in slots of 2 kB one after the other; 0 and 1 write, 2 and 3 read
    Single    // one word anywhere
  } kind_e;
  kind_e kind = Stopped;
  int unsigned percent = 100, wdata_percent = 100, slots_apart = 1;
  int unsigned bursts = 0, beats = 0, slot[Clients];

  function automatic bus_req_t next_request(int unsigned client);
    bus_req_t r;
    r.write = $urandom_range(1) == 0;
    r.beats = 8'($urandom_range(1) == 0 ? $urandom_range(128, 1) : $urandom_range(6, 1));
    // 16 places in 2 banks and 2 rows of them.
    r.addr  = 21'($urandom_range(1) << 10 | $urandom_range(1) << 7 | $urandom_range(127));
    if (kind == Frames) begin
      r.write = client < 2;
      r.beats = 95;
      r.addr  = 21'((client % 2 * 512 + slot[client] % 512) * 128);
      slot[client] += slots_apart;
    end
    if (kind == Single) begin
      r.beats = 1;
      r.addr  = 21'($urandom_range(1023) * 128 + $urandom_range(94));
    end
    return r;
  endfunction

  int unsigned unwritten[Places];
  int unsigned lengths[Places][$];  // of the bursts that are read
  int unsigned seen[Places];  // words of the first of them
  // A word of a burst is taken.
  function automatic void takes(int client, logic [127:0] word);
    `CHECK(expected[client].size() != 0, $sformatf("client %0d did not ask for this", client))
    `CHECK(word === expected[client][0], $sformatf(
           "client %0d, word %0d: %h, not %h", client, seen[client], word, expected[client][0]))
    void'(expected[client].pop_front());
    beats++;
    seen[client]++;
    if (seen[client] == lengths[client][0]) begin
      seen[client] = 0;
      void'(lengths[client].pop_front());
    end
  endfunction
  function automatic void put(int unsigned a, logic [127:0] data, logic [15:0] strb);
    for (int n = 0; n < 16; n++) if (strb[n]) words[a][8*n+:8] = data[8*n+:8];
  endfunction
  // When a burst is taken its effect is settled: data of a write in rows, the last one's rest of any kind; what a read is to see.
  bus_row_t rows[$];
  function automatic void settle(int client, bus_req_t r);
    bus_row_t row;
    int unsigned a;
    rows.delete();
    if (!r.write) lengths[client].push_back(int'(r.beats));
    for (int k = 0; k < int'(r.beats); k++) begin
      a = 32'(r.addr) + k;
      if (!r.write) begin
        expected[client].push_back(words[a]);
        continue;
      end
      if (k % 4 == 0) row = {18{$urandom()}};
      row.data[128*(k%4)+:128] = {$urandom(), $urandom(), $urandom(), $urandom()};
      row.strb[16*(k%4)+:16]   = kind == Random ? 16'($urandom() | $urandom()) : '1;
      put(a, row.data[128*(k%4)+:128], row.strb[16*(k%4)+:16]);
      unwritten[client]++;
      if (k % 4 == 3 || k == int'(r.beats) - 1) rows.push_back(row);
    end
  endfunction

  // At the falling edge: one burst a clock, so no race.
  for (genvar i = 0; i < Clients; i++) begin : g_client
    if (i < Writes) begin : g_rows
      assign rdata[i].ready = 1'b1;
      `STREAM_SOURCE(bus_req_t, i_req, req[i], 100)
      `STREAM_SOURCE(bus_row_t, i_wdata, wdata[i], wdata_percent)
      assign word_req[i].valid = 1'b0;
      int unsigned left[$];  // words of the rows to come
      int unsigned here;  // words of the row that comes
      always @(posedge clk) begin
        if (rdata[i].valid && !rst) begin
          here = lengths[i].size() == 0 ? 1 : lengths[i][0] - seen[i];
          for (int l = 0; l < 4; l++) if (l < int'(here)) takes(i, rdata[i].data[128*l+:128]);
        end
        if (wdata[i].valid && wdata[i].ready && !rst) begin
          beats += left[0];
          unwritten[i] -= left.pop_front();
        end
        if (req[i].valid && req[i].ready && !rst) bursts++;
        if (kind != Stopped && (kind != Frames || i < 4) && i_req.queue.size() == 0 && $urandom_range(
                99
            ) < percent)
          i_req.queue.push_back(next_request(i));
        if (rst) begin
          i_req.queue.delete();
          i_wdata.queue.delete();
          left.delete();
        end
      end
      always @(negedge clk)
        if (req[i].valid && req[i].ready && !rst) begin
          settle(i, req[i].data);
          foreach (rows[k]) begin
            i_wdata.queue.push_back(rows[k]);
            left.push_back(k == rows.size() - 1 ? (int'(req[i].data.beats) - 1) % 4 + 1 : 4);
          end
        end
    end else begin : g_words
      `STREAM_SOURCE(bus_req_t, i_req, word_req[i], 100)
      always @(posedge clk) begin
        if (kind != Stopped && kind != Frames && i_req.queue.size() == 0 && $urandom_range(
                99
            ) < percent) begin
          automatic bus_req_t r = next_request(i);
          r.write = i == Writes;
          i_req.queue.push_back(r);
        end
        if (rst) i_req.queue.delete();
        if (req[i].valid && req[i].ready && !rst) bursts++;
      end
      // The order is that in which the bus takes the bursts, here as there.
      always @(negedge clk)
        if (req[i].valid && req[i].ready && !rst && i == Reads)
          settle(i, req[i].data);
      if (i == Writes) begin : g_write
        `STREAM_SOURCE(bus_wdata_t, i_wdata, word_wdata, wdata_percent)
        // Data go ahead of the burst: it is settled with what was sent.
        bus_wdata_t sent[$];
        always @(posedge clk) begin
          if (word_req[i].valid && word_req[i].ready && !rst)
            for (int k = 0; k < int'(word_req[i].data.beats); k++) begin
              automatic bus_wdata_t w;
              w.data = {$urandom(), $urandom(), $urandom(), $urandom()};
              w.strb = kind == Random ? 16'($urandom() | $urandom()) : '1;
              i_wdata.queue.push_back(w);
              sent.push_back(w);
              unwritten[i]++;
            end
          if (word_wdata.valid && word_wdata.ready && !rst) begin
            beats++;
            unwritten[i]--;
          end
          if (rst) begin
            i_wdata.queue.delete();
            sent.delete();
          end
        end
        always @(negedge clk)
          if (req[i].valid && req[i].ready && !rst)
            for (int k = 0; k < int'(req[i].data.beats); k++) begin
              put(32'(req[i].data.addr) + k, sent[0].data, sent[0].strb);
              void'(sent.pop_front());
            end
      end else begin : g_read
        always @(posedge clk) if (word_rdata.valid && !rst) takes(i, word_rdata.data);
      end
    end
  end

  task automatic drain();
    kind = Stopped;
    wdata_percent = 100;
    repeat (1500) @(posedge clk);
    foreach (expected[i])
      `CHECK(expected[i].size() == 0 && unwritten[i] == 0, "a burst was not finished")
  endtask

  // Bursts and data under way are lost; what is in the memory is what counts.
  task automatic reset();
    rst <= 1;
    repeat ($urandom_range(6, 1)) @(posedge clk);
    @(negedge clk);
    foreach (expected[i]) begin
      expected[i].delete();
      lengths[i].delete();
      seen[i] = 0;
      unwritten[i] = 0;
    end
    foreach (words[a]) words[a] = cells[a];
    rst <= 0;
  endtask

  // Bytes that matter, in Gb/s with a memory clock of 500 MHz: 8 ns a clock.
  task automatic measure_frames(string what, real least);
    int unsigned start, clocks;
    real rate;
    kind = Frames;
    percent = 100;
    wdata_percent = 100;
    repeat (1000) @(posedge clk);
    start  = beats;
    clocks = 25_000;
    repeat (clocks) @(posedge clk);
    rate = real'(beats - start) / 95.0 * 1518.0 * 8.0 / (real'(clocks) * 8.0);
    $display("four streams of 1518 bytes, %s: %.2f Gb/s (%.1f %%)", what, rate, rate / 0.64);
    `CHECK(rate >= least * 0.64, $sformatf("only %.1f %% of the peak", rate / 0.64))
    drain();
  endtask

  initial begin
    int unsigned start, clocks;
    // Memory is known where it is read: the first 4 MB.
    for (int unsigned a = 0; a < 1024 * 128 + 128; a++) begin
      words[a] = {4{a}};
      cells[a] = {4{a}};
    end
    @(negedge rst);
    for (int n = 0; n < 30; n++) begin
      if (n % 3 == 1) reset();
      kind = Random;
      percent = $urandom_range(1) == 0 ? 100 : $urandom_range(100, 1);
      wdata_percent = $urandom_range(1) == 0 ? 100 : $urandom_range(100, 5);
      repeat (4000) @(posedge clk);
      if (n % 5 == 0) drain();
    end
    drain();
    // Streams whose slots follow each other; then such that they meet in their banks.
    foreach (slot[i]) slot[i] = 2 * i;
    measure_frames("in step", 91.0);
    foreach (slot[i]) slot[i] = 0;
    measure_frames("in the same banks", 75.0);
    slots_apart = 5;
    foreach (slot[i]) slot[i] = $urandom_range(511);
    measure_frames("apart", 75.0);
    kind = Single;
    repeat (1000) @(posedge clk);
    start  = bursts;
    clocks = 15_000;
    repeat (clocks) @(posedge clk);
    $display("bursts of one word anywhere: %.1f clocks each",
             real'(clocks) / real'(bursts - start));
    `CHECK((bursts - start) * 6 > clocks, "a small burst takes too long")
    drain();
    `CHECK(refreshes + 8 >= t / TRefi && refreshes <= t / (TRefi - 300) + 2, $sformatf(
           "%0d refreshes in %0d clocks", refreshes, t))
    `CHECK(activations > 1000, "rows were hardly opened")
    foreach (least[what])
      `CHECK(least[what] < (what == "refresh" ? DramSlots : 1), {
             what, " always later than it may be"})
    `TB_PASS
  end
endmodule
