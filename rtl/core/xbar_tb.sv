// SPDX-License-Identifier: Apache-2.0
`include "tb.svh"
/// xbar with its banks: several masters read, write and modify shared words; each answer against an array that follows the
/// order in which requests were taken. Slow slaves that are not ready and answer late, errors, fairness, what is counted as
/// waiting, and one access a bank a clock.
module xbar_tb
  import core_pkg::*;
;
  `TB_BEGIN
  `TB_TIMEOUT(400_000)
  localparam int Masters = 6;
  localparam int Banks = 4;
  localparam int ScratchBytes = 1024;
  localparam int Words = ScratchBytes / 4;

  logic [Masters-1:0] req_valid = '0, req_ready, rsp_valid, store_error, waits;
  mem_req_t req[Masters];
  mem_rsp_t rsp[Masters];
  logic [Banks-1:0] bank_valid;
  mem_req_t bank_req[Banks];
  logic [31:0] bank_rdata[Banks];
  logic
      dev_valid,
      dev_ready = 0,
      dev_rsp_valid = 0,
      frame_valid,
      frame_ready = 0,
      frame_rsp_valid = 0;
  mem_req_t dev_req, frame_req;
  mem_rsp_t dev_rsp, frame_rsp;
  logic [2:0] dev_master;
  xbar #(
      .Masters(Masters),
      .Banks(Banks),
      .ScratchBytes(ScratchBytes)
  ) dut (
      .clk_i            (clk),
      .rst_i            (rst),
      .req_valid_i      (req_valid),
      .req_i            (req),
      .req_ready_o      (req_ready),
      .rsp_valid_o      (rsp_valid),
      .rsp_o            (rsp),
      .store_error_o    (store_error),
      .wait_o           (waits),
      .bank_valid_o     (bank_valid),
      .bank_req_o       (bank_req),
      .bank_rdata_i     (bank_rdata),
      .dev_valid_o      (dev_valid),
      .dev_req_o        (dev_req),
      .dev_master_o     (dev_master),
      .dev_ready_i      (dev_ready),
      .dev_rsp_valid_i  (dev_rsp_valid),
      .dev_rsp_i        (dev_rsp),
      .frame_valid_o    (frame_valid),
      .frame_req_o      (frame_req),
      .frame_ready_i    (frame_ready),
      .frame_rsp_valid_i(frame_rsp_valid),
      .frame_rsp_i      (frame_rsp)
  );
  for (genvar b = 0; b < Banks; b++) begin : g_bank
    bank #(
        .Words(Words / Banks)
    ) i_bank (
        .clk_i  (clk),
        .rst_i  (rst),
        .valid_i(bank_valid[b]),
        .req_i  (bank_req[b]),
        .rdata_o(bank_rdata[b])
    );
  end

  // The two slow slaves: a word each, ready now and then, answering some clocks later (`dev_left`: in how many).
  int unsigned ready_percent = 50, latency = 3;
  logic [31:0] dev_word = 0, frame_word = 0;
  int dev_left = -1, frame_left = -1;
  always @(posedge clk) begin
    dev_ready <= $urandom_range(99) < ready_percent;
    frame_ready <= $urandom_range(99) < ready_percent;
    dev_rsp_valid <= dev_left == 0;
    if (dev_left >= 0) dev_left--;
    frame_rsp_valid <= frame_left == 0;
    if (frame_left >= 0) frame_left--;
    if (dev_valid && !rst) begin
      `CHECK(dev_ready && dev_left < 0 && req_ready[dev_master],
             "device: taken though busy, or unmapped")
      if (dev_req.op == Store) dev_word = dev_req.wdata;
      else begin
        dev_rsp <= '{rdata: dev_word, error: 1'b0};
        dev_left = int'($urandom_range(latency));
      end
    end
    if (frame_valid && !rst) begin
      `CHECK(frame_ready && frame_left < 0, "frame memory: taken though busy")
      if (frame_req.op == Store) frame_word = frame_req.wdata;
      else begin
        frame_rsp <= '{rdata: frame_word, error: frame_word[0]};
        frame_left = int'($urandom_range(latency));
      end
    end
  end

  // What answers must be: noted when a request is taken, in the order of the clocks; in a clock a word has one access.
  mem_rsp_t want[Masters];
  `include "bank_model.svh"
  logic [Masters-1:0] open = '0, quick = '0, store_bad = '0, failed = '0;
  int unsigned percent = 100, spread = Words, slow_percent = 0, taken = 0, errors = 0, waited = 0;
  int unsigned passed[Masters];
  logic only_bank_0 = 0;
  // 100 and 101 are the slow ones, negative: unmapped.
  function automatic int slave_of(mem_req_t a, int m);
    if (a.addr >= ScratchBase && a.addr < ScratchBase + ScratchBytes)
      return int'(a.addr / 4) % Banks;
    if (!(a.op inside {Load, Store})) return -1 - m;
    if (a.addr >= DeviceBase && a.addr < DeviceBase + 4096) return 100;
    if (a.addr >= FrameBase && a.addr < FrameBase + 32'h0200_0000) return 101;
    return -1 - m;
  endfunction
  function automatic mem_req_t random_request();
    mem_req_t r;
    r.op = mem_op_e'($urandom_range(11));
    r.wdata = $urandom();
    r.be = 4'($urandom());
    r.addr = ScratchBase + 4 * $urandom_range(spread - 1);
    if (only_bank_0) r.addr &= ~32'(4 * Banks - 1);
    if ($urandom_range(99) < slow_percent) begin
      case ($urandom_range(
          5
      ))
        0: r.addr = ScratchBase + ScratchBytes + 4 * $urandom_range(3);
        1: r.addr = FrameBase + 32'h0200_0000;
        2, 3: r.addr = DeviceBase + 4 * $urandom_range(1023);
        default: r.addr = FrameBase + 4 * $urandom_range(1023);
      endcase
      if ($urandom_range(9) != 0) r.op = $urandom_range(1) == 0 ? Load : Store;
    end
    return r;
  endfunction

  logic [Masters-1:0] busy;
  int s;
  mem_req_t r;
  always @(posedge clk) begin
    busy = req_valid & ~req_ready;
    // Answers.
    for (int m = 0; m < Masters && !rst; m++) begin
      `CHECK(!quick[m] || rsp_valid[m], "an answer that must come in the next clock did not")
      `CHECK(store_error[m] == store_bad[m], "store error missed or made up")
      if (rsp_valid[m]) begin
        `CHECK(open[m], "an answer to nothing")
        `CHECK(rsp[m].error == want[m].error && (rsp[m].rdata == want[m].rdata || failed[m]),
               $sformatf("master %0d: %h, not %h", m, rsp[m], want[m]))
        open[m] = 0;
      end
    end
    quick = '0;
    store_bad = '0;
    // Requests taken.
    for (int m = 0; m < Masters; m++) begin
      s = slave_of(req[m], m);
      if (req_valid[m] && !rst) begin
        logic other;
        other = 0;
        for (int k = 0; k < Masters; k++)
        if (k != m && req_valid[k] && req_ready[k] && slave_of(req[k], k) == s) other = 1;
        `CHECK(!other || !req_ready[m], "two masters at one slave")
        if (!req_ready[m]) begin
          `CHECK(waits[m] == other, "waiting for another is not what is counted")
          waited += 32'(waits[m]);
          if (other) passed[m]++;
          `CHECK(passed[m] < Masters, "a master starves")
          `CHECK(other || s >= 100, "a bank does nothing though it has requests")
        end else begin
          passed[m] = 0;
          `CHECK(!waits[m], "waits though it is served")
        end
      end
      if (req_valid[m] && req_ready[m] && !rst) begin
        r = req[m];
        taken++;
        open[m]   = r.op != Store;
        failed[m] = s < 0;
        if (s < 0) begin
          errors++;
          store_bad[m] = r.op == Store;
          quick[m] = r.op != Store;
          want[m] = '{rdata: '0, error: 1'b1};
        end else if (s == 100) want[m] = '{rdata: dev_word, error: 1'b0};
        else if (s == 101) want[m] = '{rdata: frame_word, error: frame_word[0]};
        else begin
          quick[m] = r.op != Store;
          want[m]  = '{rdata: bank_access(r), error: 1'b0};
        end
      end
    end
    // New requests.
    for (int m = 0; m < Masters; m++) begin
      if (rst) req_valid[m] <= 0;
      else if (!busy[m]) begin
        req_valid[m] <= $urandom_range(99) < percent && !(open[m] && !quick[m]);
        req[m] <= random_request();
      end
    end
  end

  for (genvar b = 0; b < Banks; b++) begin : g_clear
    initial begin
      repeat (2) @(posedge clk);  // a write that was under way before the reset is done
      for (int i = 0; i < Words / Banks; i++)
      g_bank[b].i_bank.i_ram.mem[i] = 32'(i * Banks + b) * 32'h01234567;
    end
  end
  initial begin
    int unsigned start;
    foreach (words[i]) words[i] = 32'(i) * 32'h01234567;
    @(negedge rst);
    // All at one bank: one access a clock, and the others wait.
    only_bank_0 = 1;
    repeat (10) @(posedge clk);
    start = taken;
    repeat (1000) @(posedge clk);
    `CHECK(taken - start == 1000, $sformatf("one bank: %0d accesses in 1000 clocks", taken - start))
    only_bank_0 = 0;
    start = taken;
    repeat (1000) @(posedge clk);
    `CHECK(taken - start > 2700, $sformatf(
           "four banks: only %0d accesses in 1000 clocks", taken - start))
    for (int i = 0; i < 60; i++) begin
      percent = $urandom_range(100, 5);
      spread = i % 3 == 0 ? Words : $urandom_range(8, 1);
      slow_percent = i % 2 == 0 ? 0 : $urandom_range(100);
      ready_percent = $urandom_range(100, 10);
      latency = $urandom_range(10);
      repeat (500) @(posedge clk);
    end
    `CHECK(errors > 500 && waited > 1000, "errors or conflicts were hardly tried")
    `TB_PASS
  end
endmodule
