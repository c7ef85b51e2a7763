// SPDX-License-Identifier: Apache-2.0
`include "parts_tb.svh"
`include "tb.svh"
/// The register windows of a device with cores, behind one reg_demux as in the device: host_window against a scratchpad model
/// that answers late, imem_window (whole words only), and core_counters against counts kept here.
module core_windows_tb;
  import core_pkg::*;
  `TB_BEGIN
  `TB_TIMEOUT(400_000)
  localparam int Cores = 3;
  localparam int Words = 64;  // of the instruction memory

  reg_if #(.AddrW(16)) scratch ();
  reg_if #(.AddrW(16)) imem ();
  reg_if #(.AddrW(16)) counters ();

  logic req_valid, req_ready = 0, rsp_valid = 0;
  mem_req_t req;
  mem_rsp_t rsp;
  host_window i_host (
      .clk_i(clk),
      .rst_i(rst),
      .regs(scratch),
      .req_valid_o(req_valid),
      .req_o(req),
      .req_ready_i(req_ready),
      .rsp_valid_i(rsp_valid),
      .rsp_i(rsp)
  );

  logic we;
  logic [5:0] waddr;
  logic [31:0] wdata;
  imem_window #(
      .Bytes(4 * Words)
  ) i_imem (
      .regs(imem),
      .we_o(we),
      .waddr_o(waddr),
      .wdata_o(wdata)
  );

  clock_use_e use_of[Cores];
  trap_e trap[Cores];
  logic [31:0] trap_pc[Cores];
  logic [Cores-1:0] waits = '0;
  core_counters #(
      .Cores(Cores)
  ) i_counters (
      .clk_i(clk),
      .rst_i(rst),
      .use_i(use_of),
      .trap_i(trap),
      .trap_pc_i(trap_pc),
      .wait_i(waits),
      .trapped_o(),
      .regs(counters)
  );

  // The scratchpad as its users see it: stores are taken after any time, loads are answered some clocks later.
  logic [31:0] memory[16];
  always begin
    @(negedge clk);
    rsp_valid = 0;
    req_ready = 0;
    if (req_valid && $urandom_range(3) == 0) begin
      mem_req_t now;
      int unsigned word;
      now = req;
      word = int'((now.addr - ScratchBase) >> 2);
      req_ready = 1;
      `CHECK(word < 16 && now.addr[1:0] == 0, "outside of the scratchpad")
      `CHECK(now.op inside {Load, Store}, "neither load nor store")
      @(negedge clk);
      req_ready = 0;
      if (now.op == Store) begin
        for (int b = 0; b < 4; b++) if (now.be[b]) memory[word][8*b+:8] = now.wdata[8*b+:8];
      end else begin
        repeat ($urandom_range(5)) @(negedge clk);
        rsp = '0;
        rsp.rdata = memory[word];
        rsp_valid = 1;
      end
    end
  end

  logic [31:0] program_word[Words];
  always @(posedge clk) if (we && !rst) program_word[waddr] <= wdata;

  // Counts as they are to be.
  int unsigned count[Cores][8], waited[Cores];
  always @(posedge clk) begin
    for (int c = 0; c < Cores; c++) begin
      if (!rst) begin
        count[c][int'(use_of[c])]++;
        if (waits[c]) waited[c]++;
      end
    end
    for (int c = 0; c < Cores; c++) begin
      use_of[c] <= clock_use_e'($urandom_range(7));
      waits[c]  <= 1'($urandom());
    end
  end

  `REG_MASTER(16, i_scratch, scratch)
  `REG_MASTER(16, i_words, imem)
  `REG_MASTER(16, i_reader, counters)
  // What was counted when an answer was given.
  int unsigned count_then[Cores][8], waited_then[Cores];
  always @(posedge clk)
    if (counters.ack) begin
      count_then  = count;
      waited_then = waited;
    end

  logic [31:0] wanted[16], got;
  logic [31:0] wanted_word[Words];
  initial begin
    for (int c = 0; c < Cores; c++) begin
      use_of[c] = clock_use_e'(0);
      trap[c] = trap_e'(c);
      trap_pc[c] = 32'(4 * c + 256);
    end
    foreach (memory[i]) memory[i] = '0;
    foreach (wanted[i]) wanted[i] = '0;
    foreach (program_word[i]) program_word[i] = '0;
    foreach (wanted_word[i]) wanted_word[i] = '0;
    @(negedge rst);
    for (int i = 0; i < 1000; i++) begin
      int unsigned word;
      logic [31:0] value;
      logic [3:0] strobe;
      word   = $urandom_range(15);
      value  = $urandom();
      strobe = 4'($urandom());
      if ($urandom_range(1) == 0) begin
        i_scratch.access(1, 16'(4 * word), value, strobe);
        for (int b = 0; b < 4; b++) if (strobe[b]) wanted[word][8*b+:8] = value[8*b+:8];
      end else begin
        i_scratch.read(16'(4 * word), got);
        `CHECK(got == wanted[word], "scratchpad read back wrong")
      end
    end
    for (int i = 0; i < 500; i++) begin
      int unsigned word;
      logic [31:0] value;
      logic [3:0] strobe;
      word   = $urandom_range(Words - 1);
      value  = $urandom();
      strobe = $urandom_range(1) == 0 ? 4'hf : 4'($urandom());
      i_words.access(1, 16'(4 * word), value, strobe);
      if (strobe == '1) wanted_word[word] = value;
      i_words.read(16'(4 * word), got);
      `CHECK(got == '0, "instructions can be read")
      `CHECK(program_word == wanted_word,
             "a word that was not written whole, or at the wrong place")
    end
    for (int i = 0; i < 500; i++) begin
      int unsigned c, word;
      c = $urandom_range(Cores);  // core 3 does not exist
      word = $urandom_range(15);
      i_reader.read(16'(64 * c + 4 * word), got);
      if (c == Cores || word > 10) `CHECK(got == '0, "something where there is nothing")
      else if (word == 8) `CHECK(got == 32'(trap[c]), "wrong trap")
      else if (word == 9) `CHECK(got == trap_pc[c], "wrong address of a trap")
      // The answer is of the clock before, and the count goes on.
      else if (word == 10) `CHECK(waited_then[c] - got <= 3, "wrong count of waits")
      else `CHECK(count_then[c][word] - got <= 3, "wrong count")
    end
    `TB_PASS
  end
endmodule
