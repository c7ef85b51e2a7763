// SPDX-License-Identifier: Apache-2.0
`include "tb.svh"
`include "core_rig.svh"
/// core: the self-checking programs of tests/isa, one for each instruction, on fast and on contested memory.
///
/// A program ends with an ecall: gp is 1, or tells which of its tests failed. +programs=FILE runs others in the same format,
/// each for +limit=CLOCKS at most. What the clocks went to in which tp is 1 is printed (tests/isa/public.py).
module core_isa_tb
  import core_pkg::*;
;
  `TB_BEGIN
  `TB_TIMEOUT(5_000_000)
  `CORE_RIG((.CacheBytes(8192), .ImemBytes(131072)), 1'b0)

  logic [31:0] gp;
  int unsigned clocks, retired, limit = 100_000;
  int unsigned timed[ClockUses];
  logic timing;
  always @(posedge clk) begin
    if (rvfi.valid && rvfi.rd_addr == 3) gp <= rvfi.rd_wdata;
    if (rvfi.valid && rvfi.rd_addr == 4) timing <= rvfi.rd_wdata == 1;
    if (timing) timed[clock_use]++;
    clocks  <= run ? clocks + 1 : 0;
    retired <= run ? retired + int'(clock_use == Retire) : 0;
  end

  /// Runs what was loaded to its end.
  task automatic finish(input string name);
    if (name == "") return;
    we <= 0;
    timing <= 0;
    timed = '{default: 0};
    @(posedge clk);
    run <= 1;
    @(posedge clk);
    while (trap == NoTrap && clocks < limit) @(posedge clk);
    @(negedge clk);
    `CHECK(trap == TrapCall && gp == 1 && retired > 2,
           $sformatf("%s: %s at %h, gp %0d (test %0d)", name, trap.name(), trap_pc, gp, gp / 2))
    if (timed[Retire] != 0)
      $display(
          "timed %s: %0d clocks, %0d instructions; fetch %0d, load %0d, bank %0d, store %0d, pipeline %0d",
          name,
          timed.sum(),
          timed[Retire],
          timed[StallFetch],
          timed[StallLoad],
          timed[StallBank],
          timed[StallStore],
          timed[StallPipe]
      );
    run <= 0;
    repeat (10) @(posedge clk);
  endtask

  initial begin
    automatic string file = "tests/isa/programs.hex", line, name, program_name = "";
    automatic logic [31:0] address, words[8];
    automatic int fd, count, number = 0;
    void'($value$plusargs("programs=%s", file));
    void'($value$plusargs("limit=%d", limit));
    @(negedge rst);
    for (int pass = 0; pass < 2; pass++) begin
      wait_percent = pass * 40;
      program_name = "";
      fd = $fopen(file, "r");
      if (fd == 0) $fatal(1, "FAIL: no file %s", file);
      while ($fgets(
          line, fd
      ) != 0) begin
        if ($sscanf(line, "program %s", name) == 1) begin
          finish(program_name);
          program_name = name;
          number++;
        end else begin
          count = $sscanf(
              line,
              "%h %h %h %h %h %h %h %h %h",
              address,
              words[0],
              words[1],
              words[2],
              words[3],
              words[4],
              words[5],
              words[6],
              words[7]
          );
          `CHECK(count == 9, {"line: ", line})
          for (int i = 0; i < 8; i++) begin
            we <= 1;
            waddr <= address + 4 * i;
            wdata <= words[i];
            @(posedge clk);
          end
        end
      end
      finish(program_name);
      $fclose(fd);
    end
    `CHECK(number >= 2, "no programs")
    $display("%0d programs", number);
    `TB_PASS
  end
endmodule
