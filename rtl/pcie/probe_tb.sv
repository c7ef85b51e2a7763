// SPDX-License-Identifier: Apache-2.0
`include "tb.svh"
`include "stream.svh"
/// probe_read and probe_write (with probe_ask and probe_pace in them) against DMA engines of the test's own, which take their
/// time and end transfers in order: every place and slot, every byte, no more in flight than allowed, the notice as late as was
/// set, and as many clocks a transfer as its costs add up to, whichever of them is the largest.
module probe_tb;
  import dma_pkg::*;
  import probe_pkg::*;
  `TB_BEGIN
  `TB_TIMEOUT(300_000)

  probe_cfg_t cfg = '0;
  logic rst_probe = 1;
  logic [31:0] prepared = '0;
  logic started, valid, failed;
  probe_beat_t out;
  ram_write_t ram_write = '0;
  ram_read_t ram_read = '0;
  ram_row_t ram_row;
  dma_status_t read_status = '0, write_status = '0;
  `STREAM_ON(dma_req_t, read_req, clk, rst_probe)
  `STREAM_ON(dma_req_t, write_req, clk, rst_probe)
  `STREAM_ON(probe_beat_t, in, clk, rst_probe)
  localparam ram_sel_t Sel = 6'd3;

  probe_read #(
      .Sel(Sel)
  ) i_read (
      .clk_i(clk),
      .rst_i(rst_probe),
      .cfg_i(cfg),
      .prepared_i(prepared),
      .started_o(started),
      .req(read_req),
      .status_i(read_status),
      .ram_i(ram_write),
      .valid_o(valid),
      .beat_o(out),
      .failed_o(failed)
  );
  probe_write #(
      .Sel(Sel)
  ) i_write (
      .clk_i(clk),
      .rst_i(rst_probe),
      .cfg_i(cfg),
      .in,
      .req(write_req),
      .status_i(write_status),
      .ram_i(ram_read),
      .ram_o(ram_row)
  );

  function automatic logic [511:0] content(int unsigned n, int unsigned beat);
    for (int i = 0; i < 16; i++) content[i*32+:32] = (n * 64 + beat) * 32'h9e37_79b1 + 32'(i);
  endfunction
  function automatic logic [63:0] place(int unsigned n);
    return cfg.base + 64'((longint'(n) * longint'(cfg.step)) % longint'(cfg.window));
  endfunction
  function automatic bit right(dma_req_t r, int unsigned n);
    return r.host_addr == place(n) && r.sel == Sel && r.len == 16'(cfg.len) &&
        r.ram_addr == RamAddrW'((n % ProbeSlots) * ProbeMost);
  endfunction

  int unsigned
      beats, asked, ended, given, put, to_write, written, gap, fails, saw_failed, ended_at[$];
  int unsigned clocks;
  bit eager;
  always @(posedge clk) clocks <= clocks + 1;

  // ---------------------------------------------------------------- the engine that reads
  initial begin
    read_req.ready = 0;
    forever begin
      @(posedge clk);
      read_req.ready <= eager || $urandom_range(2) == 0;
    end
  end
  always @(posedge clk)
    if (!rst_probe) begin
      if (read_req.valid && read_req.ready) begin
        `CHECK(started, "a request that is not told")
        `CHECK(right(read_req.data, asked), "read request")
        asked++;
        // What leaves the RAM is seen here up to three clocks later.
        `CHECK(asked - given <= 32'(cfg.in_flight) + 3, "more in flight than allowed")
        `CHECK(asked <= prepared, "more than was prepared")
      end else `CHECK(!started, "told of no request")
    end
  int unsigned beat_in;
  always @(posedge clk) begin
    ram_write   <= '0;
    read_status <= '0;
    if (!rst_probe && ended != asked && (eager || $urandom_range(3) != 0)) begin
      // One half row: the slots begin at whole rows.
      for (int s = 0; s < 4; s++) begin
        int unsigned seg;
        seg = (beat_in % 2) * 4 + 32'(s);
        ram_write.valid[seg] <= 1;
        ram_write.row[seg]   <= row_addr_t'((ended % ProbeSlots) * (ProbeMost / RowBytes) + beat_in / 2);
        ram_write.strb[seg] <= '1;
        ram_write.data[seg] <= content(ended, beat_in) [s*128+:128];
      end
      ram_write.sel <= Sel;
      beat_in++;
      if (beat_in == beats) begin
        bit bad;
        bad = !eager && $urandom_range(9) == 0;
        read_status <= '{valid: 1'b1, sel: Sel, result: bad ? DmaTimeout : DmaOk};
        fails += 32'(bad);
        ended++;
        ended_at.push_back(clocks + 1);
        beat_in = 0;
      end
    end
  end

  // ---------------------------------------------------------------- what is given out
  int unsigned beat_out;
  always @(posedge clk)
    if (!rst_probe) begin
      saw_failed += 32'(failed);
      if (valid) begin
        `CHECK(out.sop == (beat_out == 0) && out.eop == (beat_out == beats - 1), "borders")
        `CHECK(out.data == content(given, beat_out), "data read")
        if (beat_out == 0)
          `CHECK(clocks - ended_at.pop_front() >= 32'(cfg.delay) + 3, "notice too early")
        beat_out = out.eop ? 0 : beat_out + 1;
        given += 32'(out.eop);
      end
    end

  // ---------------------------------------------------------------- what is put in, and the engine that writes
  bit offering;
  int unsigned beat_put;
  always @(posedge clk) begin
    if (!rst_probe && in.valid && in.ready) begin
      offering = 0;
      beat_put = beat_put == beats - 1 ? 0 : beat_put + 1;
      put += 32'(beat_put == 0);
      `CHECK(put - written <= 32'(cfg.in_flight) + 32'(beat_put == 0), "more inside than allowed")
    end
    if (!rst_probe && !offering && put < to_write && (eager || $urandom_range(2) != 0))
      offering = 1;
    in.valid <= offering && !rst_probe;
    in.data  <= '{data: content(put, beat_put), sop: beat_put == 0, eop: beat_put == beats - 1};
  end
  // The row of a beat asked for at a clock is there three clocks later, as this block sees it.
  typedef struct {
    bit valid;
    int unsigned n, beat;
  } look_t;
  int unsigned to_look, beat_look, looked;
  look_t look[4];
  always @(posedge clk) begin
    ram_read <= '0;
    write_status <= '0;
    if (!rst_probe && write_req.valid && write_req.ready) begin
      `CHECK(right(write_req.data, to_look), "write request")
      to_look++;
    end
    write_req.ready <= $urandom_range(1) != 0;
    for (int i = 3; i > 0; i--) look[i] = look[i-1];
    look[0] = '{
        valid: !rst_probe && looked != to_look && $urandom_range(3) != 0,
        n: looked,
        beat: beat_look
    };
    if (look[0].valid) begin
      ram_read.sel   <= Sel;
      ram_read.valid <= '1;
      for (int s = 0; s < Segs; s++)
      ram_read.row[s] <= row_addr_t'((looked % ProbeSlots) * (ProbeMost / RowBytes) + beat_look / 2);
      beat_look = beat_look == beats - 1 ? 0 : beat_look + 1;
      looked += 32'(beat_look == 0);
    end
    if (look[3].valid) begin
      `CHECK((look[3].beat % 2 != 0 ? ram_row[7:4] : ram_row[3:0]) == content(
                 look[3].n, look[3].beat), "data to be written")
      if (look[3].beat == beats - 1) begin
        write_status <= '{valid: 1'b1, sel: Sel, result: DmaOk};
        written++;
      end
    end
  end

  // ---------------------------------------------------------------- runs
  task automatic run(int unsigned bytes, int unsigned n, int unsigned in_flight, int unsigned delay,
                     probe_cost_t cost, bit quick);
    int unsigned from, first, most;
    rst_probe <= 1;
    eager = quick;
    prepared   <= '0;
    cfg.enable <= 0;
    repeat (5) @(posedge clk);
    asked = 0;
    ended = 0;
    given = 0;
    put = 0;
    to_write = 0;
    written = 0;
    to_look = 0;
    beat_look = 0;
    looked = 0;
    beat_in = 0;
    beat_out = 0;
    beat_put = 0;
    offering = 0;
    fails = 0;
    saw_failed = 0;
    ended_at.delete();
    beats = (bytes + 63) / 64;
    cfg.len <= 13'(bytes);
    cfg.base <= {32'($urandom()), 20'($urandom()), 12'd0};
    cfg.window <= 32'(beats * 64 * 37);
    cfg.step <= 32'(beats * 64 * $urandom_range(36, 1));
    cfg.in_flight <= 7'(in_flight);
    cfg.delay <= 6'(delay);
    cfg.cost <= cost;
    @(posedge clk);
    rst_probe <= 0;
    repeat (3) @(posedge clk);
    cfg.enable <= 1;
    to_write = quick ? 0 : n;
    while (given < n / 4) begin
      prepared <= quick ? n : (prepared + 32'($urandom_range(
          2
      )) > n ? n : prepared + 32'($urandom_range(
          1
      )));
      @(posedge clk);
    end
    prepared <= n;
    from  = clocks;
    first = given;
    wait (given == n - n / 4);
    if (quick) begin
      // Clocks a transfer: what copying costs, or how far apart they must be; never below a beat a clock.
      most = beats * 32'(cost.beat) + (beats + 3) / 4 * 32'(cost.piece) + 32'(cost.setup);
      if (most < 32'(cost.apart)) most = 32'(cost.apart);
      `CHECK((clocks - from) * 16 <= (given - first) * most + 16 * beats + 16,
             "slower than its costs")
      `CHECK((clocks - from) * 16 + 16 * beats + 16 >= (given - first) * most,
             "faster than its costs")
    end
    wait (given == n && written == to_write);
    repeat (80) @(posedge clk);
    `CHECK(given == n && asked == n && saw_failed == fails, "all and no more")
    `CHECK(!valid && !read_req.valid && !write_req.valid, "at rest")
  endtask

  initial begin
    in.valid = 0;
    repeat (10) @(posedge clk);
    run(64, 400, 64, 0, '{beat: 16, piece: 0, setup: 0, apart: 0}, 0);
    run(130, 300, 7, 9, '{beat: 20, piece: 5, setup: 3, apart: 0}, 0);
    run(4096, 90, 64, 63, '{beat: 16, piece: 0, setup: 0, apart: 0}, 0);
    run(1, 200, 1, 1, '{beat: 16, piece: 0, setup: 0, apart: 0}, 0);
    run(64, 800, 64, 0, '{beat: 16, piece: 0, setup: 0, apart: 0}, 1);
    run(64, 800, 64, 25, '{beat: 32, piece: 21, setup: 10, apart: 0}, 1);
    run(64, 800, 64, 25, '{beat: 16, piece: 0, setup: 0, apart: 85}, 1);
    run(512, 200, 64, 0, '{beat: 32, piece: 21, setup: 10, apart: 0}, 1);
    run(2048, 100, 64, 0, '{beat: 37, piece: 1, setup: 2, apart: 0}, 1);
    `TB_PASS
  end
endmodule
