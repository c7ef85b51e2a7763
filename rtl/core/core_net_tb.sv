// SPDX-License-Identifier: Apache-2.0
`include "tb.svh"
`include "core_rig.svh"
/// core with networks: random programs that read and write networks among branches, loads, stores, products and quotients, with
/// interrupts and stops at any time, words that come and room that appears when they like. A reference follows what retires:
/// each word is read once and in order, each result sent once and in order, whatever was flushed between; an interrupt is
/// taken with its flag up, and its mret goes on where it was taken. Also one word a clock through the core, and what a
/// longer pipeline (LoadUse, Mispredict) costs.
module core_net_tb
  import core_pkg::*;
;
  `TB_BEGIN
  `TB_TIMEOUT(400_000)
  logic done[2];
  core_net_check #(
      .LoadUse(0),
      .Mispredict(0)
  ) short_pipe (
      .clk,
      .rst,
      .done_o(done[0])
  );
  core_net_check #(
      .LoadUse(2),
      .Mispredict(1)
  ) long_pipe (
      .clk,
      .rst,
      .done_o(done[1])
  );
  initial begin
    @(negedge rst);
    wait (done[0] && done[1]);
    checks = short_pipe.checks + long_pipe.checks;
    `TB_PASS
  end
endmodule

module core_net_check
  import core_pkg::*;
#(
    parameter int LoadUse = 0,
    parameter int Mispredict = 0
) (
    input  logic clk,
    input  logic rst,
    output logic done_o
);
  typedef logic [31:0] word_t;
  int unsigned checks = 0;
  `CORE_RIG(
      (.CacheBytes(8192), .History(0), .Ahead(0), .Networks(1), .LoadUse(LoadUse), .Mispredict(Mispredict)),
      1'b0)

  // ---- Words in and out: word k of network n is mixed from both
  int unsigned in_percent = 100, out_percent = 100, irq_percent = 0;
  int unsigned given[NetCount], taken[NetCount], sent[NetCount];
  word_t expected[NetCount][$];
  // Flags that may be up: one that rose while the instruction that clears it was on its way may have stayed.
  bit raised[IrqCount];
  int unsigned raised_at[IrqCount];
  function automatic word_t word(int n, int unsigned k);
    return (k + 1) * 32'h9e37_79b9 + 32'(n) * 32'h1234_5677;
  endfunction
  always @(posedge clk) begin
    for (int n = 0; n < NetCount; n++) begin
      automatic int unsigned k = given[n];
      if (rig.net_in_valid[n] && rig.net_in_ready[n]) begin
        given[n] <= k + 1;
        k++;
      end
      if (!rig.net_in_valid[n] || rig.net_in_ready[n]) begin
        rig.net_in_valid[n] <= !rst && $urandom_range(99) < in_percent;
        rig.net_in_data[n]  <= word(n, k);
      end
      if (rig.net_out_valid[n] && rig.net_out_ready[n] && !rst) begin
        arrived[n].push_back(rig.net_out_data);
      end
      // Room stays until it is used.
      if (!rig.net_out_ready[n] || rig.net_out_valid[n])
        rig.net_out_ready[n] <= $urandom_range(99) < out_percent;
    end
    rig.irq <= '0;
    if ($urandom_range(999) < irq_percent) begin
      automatic int f = $urandom_range(IrqCount - 1);
      rig.irq[f] <= 1;
      raised[f] = 1;
      raised_at[f] = clocks;
    end
  end
  word_t arrived[NetCount][$];

  // ---- Encodings
  localparam word_t Nop = 32'h13, Mret = 32'h3020_0073, Call = 32'h73;
  localparam int Handler = 4 * 600;
  function automatic word_t r_type(int f7, int rs2, int rs1, int f3, int rd);
    return {7'(f7), 5'(rs2), 5'(rs1), 3'(f3), 5'(rd), 7'h33};
  endfunction
  function automatic word_t i_type(int imm, int rs1, int f3, int rd, int opcode = 'h13);
    return {12'(imm), 5'(rs1), 3'(f3), 5'(rd), 7'(opcode)};
  endfunction
  function automatic word_t s_type(int imm, int rs2, int rs1);
    automatic logic [11:0] i = 12'(imm);
    return {i[11:5], 5'(rs2), 5'(rs1), 3'd2, i[4:0], 7'h23};
  endfunction
  function automatic word_t b_type(int imm, int rs2, int rs1, int f3);
    automatic logic [12:0] i = 13'(imm);
    return {i[12], i[10:5], 5'(rs2), 5'(rs1), 3'(f3), i[4:1], i[11], 7'h63};
  endfunction
  function automatic word_t j_type(int imm, int rd);
    automatic logic [20:0] i = 21'(imm);
    return {i[20], i[10:1], i[11], i[19:12], 5'(rd), 7'h6f};
  endfunction
  function automatic word_t csr(int address, int rs1, int f3, int rd);
    return i_type(address, rs1, f3, rd, 'h73);
  endfunction

  /// A register to read or to write: often a network.
  function automatic int any_reg();
    automatic int other = $urandom_range(17);  // x0 to x15, and the two before the networks
    return $urandom_range(
        2
    ) == 0 ? 26 + $urandom_range(
        NetCount - 1
    ) : other > 15 ? other + 8 : other;
  endfunction

  // ---- Reference
  word_t program_[1024], loaded[1024], regs[32], next_pc, mepc;
  bit known[32];
  bit in_handler = 0;
  int unsigned retired = 0, interrupts = 0, reads = 0, sends = 0;
  int unsigned clocks = 0, at[1024];

  task automatic follow();
    automatic word_t i = rvfi.insn, pc = rvfi.pc_rdata, after = pc + 4, a, b, result = 0;
    automatic bit reads1 = 0, reads2 = 0, gives = 1;
    automatic logic [2:0] f3 = i[14:12];
    automatic int rd = int'(i[11:7]);
    retired++;
    at[pc[11:2]] = clocks;
    if (pc != next_pc) begin
      `CHECK(pc == Handler && !in_handler && raised.or() != 0,
             $sformatf("%h retired instead of %h", pc, next_pc))
      mepc = next_pc;
      in_handler = 1;
      interrupts++;
    end
    `CHECK(i == loaded[pc[11:2]], "not what stands there")
    case (i[6:0])
      7'h33: {reads1, reads2} = 2'b11;
      7'h13, 7'h03: reads1 = 1;
      7'h23, 7'h63: begin
        {reads1, reads2} = 2'b11;
        gives = 0;
      end
      7'h73: begin
        reads1 = !f3[2] && f3 != 0;
        gives  = f3 != 0;
      end
      default: ;
    endcase
    a = operand(reads1, int'(i[19:15]), rvfi.rs1_rdata);
    if (reads2 && i[24:20] == i[19:15]) b = a;
    else b = operand(reads2, int'(i[24:20]), rvfi.rs2_rdata);
    case (i[6:0])
      7'h37: result = {i[31:12], 12'd0};
      7'h33:
      if (i[25]) result = f3 == 0 ? a * b : b == 0 ? '1 : a / b;
      else if (f3 == 0) result = i[30] ? a - b : a + b;
      else result = a ^ b;
      7'h13: result = f3 == 0 ? a + {{20{i[31]}}, i[31:20]} : a ^ {{20{i[31]}}, i[31:20]};
      7'h03: result = rvfi.mem_rdata;
      7'h23: `CHECK(rvfi.mem_wdata == b && rvfi.mem_wmask == '1, "store")
      7'h63: if ((a == b) != f3[0]) after = pc + {{20{i[31]}}, i[7], i[30:25], i[11:8], 1'b0};
      7'h6f: begin
        result = after;
        after  = pc + {{12{i[31]}}, i[19:12], i[20], i[30:21], 1'b0};
      end
      7'h73: begin
        result = rvfi.rd_wdata;
        if (i == Mret) begin
          `CHECK(in_handler, "mret")
          in_handler = 0;
          after = mepc;
        end else if (i[31:20] == CsrMepc) `CHECK(!in_handler || result == mepc, "mepc")
        else if (i[31:20] == CsrMcause)
          `CHECK(
              !in_handler || (result[31] && raised[result[2:0]] && result[30:0] inside {[16 : 23]}),
              "mcause")
        else if (i[31:20] == CsrIrqFlags && f3 == 3) begin
          for (int f = 0; f < IrqCount; f++) if (a[f] && clocks - raised_at[f] > 300) raised[f] = 0;
        end else if (i[31:20] == CsrNetStatus) begin
          // What the status promises was given and not read by anything older.
          for (int n = 0; n < NetCount; n++)
            `CHECK(
                result[n] == (result[8+4*n+:4] != 0) && taken[n] + 32'(result[8+4*n+:4]) <= given[n],
                "network status")
        end
      end
      default: ;
    endcase
    if (gives && rd inside {[26 : 25 + NetCount]}) begin
      expected[rd-26].push_back(result);
      sends++;
    end else if (gives && rd != 0) begin
      `CHECK(rvfi.rd_addr == 5'(rd) && rvfi.rd_wdata == result, $sformatf("%h gives %h", i,
                                                                          rvfi.rd_wdata))
      regs[rd]  = result;
      known[rd] = 1;
    end
    next_pc = after;
  endtask
  function automatic word_t operand(input bit used, input int r, input word_t value);
    if (!used) return 0;
    if (r inside {[26 : 25 + NetCount]}) begin
      reads++;
      taken[r-26]++;
      `CHECK(value == word(r - 26, taken[r-26] - 1), $sformatf("x%0d read %h, not word %0d", r,
                                                               value, taken[r-26] - 1))
    end else begin
      if (known[r]) `CHECK(value == regs[r], $sformatf("x%0d is %h", r, value))
    end
    return value;
  endfunction

  always @(posedge clk) begin
    clocks <= clocks + 1;
    if (rvfi.valid && !rvfi.trap && !rst) follow();
    for (int n = 0; n < NetCount; n++)
    while (arrived[n].size() != 0 && expected[n].size() != 0) begin
      automatic word_t x = arrived[n].pop_front(), y = expected[n].pop_front();
      `CHECK(x == y, $sformatf("network %0d got %h, not %h", n, x, y))
      sent[n]++;
    end
  end

  task automatic start(input bit reload = 1);
    run <= 0;
    repeat ($urandom_range(20, 1)) @(posedge clk);
    while (rig.dut.mem_q.valid || rig.dut.i_data_port.full_q || rig.dut.i_data_port.waiting_q)
      @(posedge clk);
    repeat (4) @(posedge clk);
    if (reload)
      foreach (program_[i]) begin
        we <= 1;
        waddr <= 4 * i;
        wdata <= program_[i];
        @(posedge clk);
      end
    we <= 0;
    @(posedge clk);
    for (int n = 0; n < NetCount; n++)
      `CHECK(arrived[n].size() == 0 && expected[n].size() == 0, "sent and not written, or not sent")
    loaded = program_;
    next_pc = 0;
    in_handler = 0;
    run <= 1;
    @(posedge clk);
  endtask

  /// The beginning of each program: interrupts on, a base for loads and stores.
  task automatic prologue();
    foreach (program_[i]) program_[i] = Call;
    program_[0]   = {20'(ScratchBase >> 12), 5'd20, 7'h37};
    program_[1]   = i_type(Handler / 2, 0, 0, 21);
    program_[2]   = r_type(0, 21, 21, 0, 21);
    program_[3]   = csr(int'(CsrMtvec), 21, 1, 0);
    program_[4]   = i_type(-1, 0, 0, 21);
    program_[5]   = csr(int'(CsrMie), 21, 2, 0);
    program_[6]   = csr(int'(CsrMstatus), 8, 6, 0);  // csrsi
    // Handler: what it is, where it was, clear it, and a word of a network to make it worse.
    program_[600] = csr(int'(CsrMscratch), 22, 1, 22);
    program_[601] = csr(int'(CsrMepc), 0, 2, 23);
    program_[602] = csr(int'(CsrMcause), 0, 2, 23);
    program_[603] = csr(int'(CsrIrqFlags), 0, 2, 22);
    program_[604] = csr(int'(CsrIrqFlags), 22, 3, 0);
    program_[605] = i_type(5, 27, 0, 23);
    program_[606] = csr(int'(CsrMscratch), 22, 1, 22);
    program_[607] = Mret;
  endtask

  task automatic random_program();
    automatic int n = 400;
    prologue();
    for (int i = 7; i < n; i++) begin
      automatic int skip = $urandom_range(6, 1);
      if (i + skip > n) skip = n - i;
      case ($urandom_range(
          11
      ))
        0, 1, 2: program_[i] = r_type(0, any_reg(), any_reg(), 0, any_reg());
        3: program_[i] = r_type('h20, any_reg(), any_reg(), 0, any_reg());
        4: program_[i] = r_type(0, any_reg(), any_reg(), 4, any_reg());
        5: program_[i] = r_type(1, any_reg(), any_reg(), $urandom_range(3) == 0 ? 5 : 0, any_reg());
        6: program_[i] = i_type($urandom_range(4095), any_reg(), 0, any_reg());
        7: program_[i] = i_type(4 * $urandom_range(63), 20, 2, any_reg(), 'h03);
        8: program_[i] = s_type(4 * $urandom_range(63), any_reg(), 20);
        9, 10: program_[i] = b_type(4 * skip, any_reg(), any_reg(), $urandom_range(1));
        default:
        program_[i] = $urandom_range(1) == 0 ? csr(int'(CsrNetStatus), 0, 2, $urandom_range(15)) :
            csr(int'(CsrMscratch), any_reg(), 1, $urandom_range(15));
      endcase
    end
    program_[n] = j_type(-4 * (n - 7), 0);
  endtask

  /// Clocks between the retirements of two words of the program.
  function automatic int apart(int first, int second);
    return int'(at[second]) - int'(at[first]);
  endfunction

  initial begin
    automatic int unsigned earlier;
    done_o = 0;
    foreach (given[n]) {given[n], taken[n], sent[n]} = '0;
    foreach (known[i]) known[i] = i == 0;
    foreach (regs[i]) regs[i] = 0;
    @(negedge rst);

    // One word a clock in and out, each way of it.
    prologue();
    for (int i = 7; i < 400; i++) program_[i] = r_type(0, 27, 26, 0, 26 + i % NetCount);
    program_[400] = j_type(-4 * (400 - 7), 0);
    start();
    repeat (4000) @(posedge clk);
    while (apart(10, 390) < 0) @(posedge clk);
    `CHECK(apart(10, 390) == 380, $sformatf("%0d clocks for 380 words", apart(10, 390)))

    // What loads and wrong predictions cost.
    prologue();
    program_[7]  = i_type(0, 20, 2, 5, 'h03);
    program_[8]  = Nop;
    program_[9]  = i_type(0, 20, 2, 5, 'h03);
    program_[10] = i_type(1, 5, 0, 6);
    program_[11] = b_type(8, 0, 0, 0);
    program_[13] = Nop;
    program_[14] = j_type(-4 * 7, 0);
    start();
    repeat (300) @(posedge clk);
    while (apart(7, 13) < 0) @(posedge clk);
    `CHECK(apart(9, 10) == 2 + LoadUse && apart(7, 8) == 1, $sformatf(
           "load and use %0d, load %0d", apart(9, 10), apart(7, 8)))
    `CHECK(apart(11, 13) == 3 + Mispredict, $sformatf("%0d for a taken branch", apart(11, 13)))

    // Random.
    for (int pass = 0; pass < 12; pass++) begin
      automatic int unsigned in = $urandom_range(100, 20), out = $urandom_range(100, 20), held = 0;
      random_program();
      in_percent   = in;
      out_percent  = out;
      irq_percent  = pass < 2 ? 0 : $urandom_range(20);
      wait_percent = pass[0] ? 40 : 0;
      start();
      // Now and then nothing comes, or nothing can be sent, for longer than a division takes.
      repeat ($urandom_range(
          9000, 3000
      )) begin
        if (held != 0) held--;
        else begin
          in_percent  = in;
          out_percent = out;
          if ($urandom_range(400) == 0) begin
            held = $urandom_range(120, 30);
            if ($urandom_range(1)) in_percent = 0;
            else out_percent = 0;
          end
        end
        @(posedge clk);
      end
      in_percent  = in;
      out_percent = out;
      `CHECK(trap == NoTrap, $sformatf("%s at %h", trap.name(), trap_pc))
      earlier = retired;
      repeat (400) @(posedge clk);
      `CHECK(retired > earlier, $sformatf("stands at %h", next_pc))
      // Stops in the middle of it, many times.
      for (int i = 0; i < 40; i++) begin
        start(0);
        repeat ($urandom_range(200, 1)) @(posedge clk);
      end
    end
    irq_percent = 0;

    // An interrupt gets the core out of a read for which no word comes; then the word is still read.
    foreach (program_[i]) program_[i] = Nop;
    prologue();
    program_[605] = Nop;
    program_[7] = i_type(0, 28, 0, 5);
    program_[8] = j_type(-4, 0);
    in_percent = 0;
    start();
    repeat (200) @(posedge clk);
    earlier = interrupts;
    `CHECK(next_pc == 28, "does not wait")
    raised[4] = 1;
    rig.irq <= 8'h10;
    @(posedge clk);
    repeat (60) @(posedge clk);
    `CHECK(interrupts == earlier + 1 && next_pc == 28, "no interrupt while waiting")
    in_percent = 100;
    earlier = reads;
    repeat (60) @(posedge clk);
    `CHECK(reads > earlier + 5, "read nothing after the interrupt")
    `CHECK(interrupts > 100 && reads > 10_000 && sends > 5_000, "too little was tried")
    $display("%0d retired, %0d words read, %0d sent, %0d interrupts", retired, reads, sends,
             interrupts);
    done_o = 1;
  end
endmodule
