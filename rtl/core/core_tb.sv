// SPDX-License-Identifier: Apache-2.0
`include "tb.svh"
`include "core_rig.svh"
/// core: random programs against a reference that follows every retired instruction (registers, memory, order), with slow
/// and contested memory and a small cache; what each instruction costs; each trap, and that nothing younger has an effect;
/// the causes of lost clocks sum to all of them; stop and restart at any time, also of a core that sleeps.
module core_tb
  import core_pkg::*;
;
  `TB_BEGIN
  `TB_TIMEOUT(3_000_000)

  logic watchdog = 0;
  `CORE_RIG((), watchdog)

  // ---- Encodings
  typedef logic [31:0] word_t;
  typedef logic [4:0] reg_t;
  localparam reg_t Base = 30, Index = 29, Code = 28, Slow = 27, Last = 15;
  function automatic word_t r_type(logic [6:0] f7, reg_t rs2, reg_t rs1, logic [2:0] f3, reg_t rd,
                                   logic [6:0] opcode = 7'h33);
    return {f7, rs2, rs1, f3, rd, opcode};
  endfunction
  function automatic word_t i_type(int imm, reg_t rs1, logic [2:0] f3, reg_t rd,
                                   logic [6:0] opcode = 7'h13);
    return {12'(imm), rs1, f3, rd, opcode};
  endfunction
  function automatic word_t s_type(int imm, reg_t rs2, reg_t rs1, logic [2:0] f3);
    automatic logic [11:0] i = 12'(imm);
    return {i[11:5], rs2, rs1, f3, i[4:0], 7'h23};
  endfunction
  function automatic word_t b_type(int imm, reg_t rs2, reg_t rs1, logic [2:0] f3);
    automatic logic [12:0] i = 13'(imm);
    return {i[12], i[10:5], rs2, rs1, f3, i[4:1], i[11], 7'h63};
  endfunction
  function automatic word_t j_type(int imm, reg_t rd);
    automatic logic [20:0] i = 21'(imm);
    return {i[20], i[10:1], i[11], i[19:12], rd, 7'h6f};
  endfunction
  function automatic word_t lui(word_t value, reg_t rd);
    return {value[31:12], rd, 7'h37};
  endfunction
  function automatic word_t lw(int imm, reg_t rs1, reg_t rd);
    return i_type(imm, rs1, 2, rd, 7'h03);
  endfunction
  localparam word_t Nop = 32'h13, Ebreak = 32'h0010_0073, Wfi = 32'h1050_0073;

  // ---- Program
  word_t program_[$], preset[$], loaded[$];
  /// Stops the core, loads the program and the scratchpad, starts it; the reference starts with it.
  task automatic start();
    run <= 0;
    repeat ($urandom_range(20, 1)) @(posedge clk);
    while (rig.dut.mem_q.valid || rig.dut.i_data_port.full_q || rig.dut.i_data_port.waiting_q)
      @(posedge clk);
    @(posedge clk);
    foreach (program_[i]) write(4 * i, program_[i]);
    foreach (preset[i]) write(ScratchBase + 4 * i, preset[i]);
    we <= 0;
    @(posedge clk);
    for (int i = 0; i < 16384; i++) mem[i] = rig.mem[i];
    for (int i = 0; i < 32; i++) regs[i] = rig.dut.regs[i];
    loaded  = program_;
    next_pc = 0;
    count   = 0;
    foreach (first[i]) first[i] = 0;
    run <= 1;
    @(posedge clk);
  endtask
  task automatic write(input word_t addr, input word_t data);
    we <= 1;
    waddr <= addr;
    wdata <= data;
    @(posedge clk);
  endtask

  // ---- Reference: follows what retires
  word_t mem[16384], regs[32], next_pc = 0;
  int unsigned count, clocks = 0, uses[ClockUses], retired = 0;
  int unsigned first[4096];  // clock in which the instruction at this word retired first

  function automatic word_t alu(logic [2:0] f3, logic other, word_t a, word_t b);
    case (f3)
      0: return other ? a - b : a + b;
      1: return a << b[4:0];
      2: return word_t'($signed(a) < $signed(b));
      3: return word_t'(a < b);
      4: return a ^ b;
      5: return other ? word_t'($signed(a) >>> b[4:0]) : a >> b[4:0];
      6: return a | b;
      default: return a & b;
    endcase
  endfunction
  function automatic word_t muldiv(logic [2:0] f3, word_t a, word_t b);
    automatic longint sa = longint'($signed(a)), sb = longint'($signed(b));
    automatic longint unsigned ua = 64'(a), ub = 64'(b);
    case (f3)
      0: return word_t'(ua * ub);
      1: return word_t'((sa * sb) >>> 32);
      2: return word_t'((sa * longint'(ub)) >>> 32);
      3: return word_t'((ua * ub) >> 32);
      4: return b == 0 ? '1 : word_t'(sa / sb);
      5: return b == 0 ? '1 : word_t'(ua / ub);
      6: return b == 0 ? a : word_t'(sa % sb);
      default: return b == 0 ? a : word_t'(ua % ub);
    endcase
  endfunction

  task automatic follow();
    automatic word_t i = rvfi.insn, pc = rvfi.pc_rdata, after = pc + 4, result = 0, addr, w, old;
    automatic word_t a = regs[i[19:15]], b = regs[i[24:20]];
    automatic logic [2:0] f3 = i[14:12];
    automatic logic writes = 1, unknown = 0;
    automatic mem_req_t r = '{op: Load, addr: 0, wdata: b, be: '1};
    automatic logic access = 0;
    `CHECK(pc == next_pc, $sformatf("%h retired instead of %h", pc, next_pc))
    `CHECK(pc[31:2] < loaded.size() && i == loaded[pc[31:2]], "not what stands there")
    case (i[6:0])
      7'h37: result = {i[31:12], 12'd0};
      7'h17: result = pc + {i[31:12], 12'd0};
      7'h6f: begin
        result = after;
        after  = pc + {{12{i[31]}}, i[19:12], i[20], i[30:21], 1'b0};
      end
      7'h67: begin
        result = after;
        after  = (a + {{20{i[31]}}, i[31:20]}) & ~32'd1;
      end
      7'h63: begin
        writes = 0;
        case (f3)
          0: w = word_t'(a == b);
          1: w = word_t'(a != b);
          4: w = word_t'($signed(a) < $signed(b));
          5: w = word_t'($signed(a) >= $signed(b));
          6: w = word_t'(a < b);
          default: w = word_t'(a >= b);
        endcase
        if (w[0]) after = pc + {{20{i[31]}}, i[7], i[30:25], i[11:8], 1'b0};
      end
      7'h03: begin
        access = 1;
        addr   = a + {{20{i[31]}}, i[31:20]};
      end
      7'h23: begin
        access = 1;
        writes = 0;
        addr = a + {{20{i[31]}}, i[31:25], i[11:7]};
        r.op = Store;
        r.be = 4'((1 << (1 << f3)) - 1) << addr[1:0];
        r.wdata = f3 == 0 ? {4{b[7:0]}} : f3 == 1 ? {2{b[15:0]}} : b;
      end
      7'h13: result = alu(f3, f3 == 5 && i[30], a, {{20{i[31]}}, i[31:20]});
      7'h33: result = i[25] ? muldiv(f3, a, b) : alu(f3, i[30], a, b);
      7'h0f: writes = 0;
      7'h2f: begin
        access = 1;
        addr   = a;
        case (i[31:27])
          5'h00:   r.op = Add;
          5'h01:   r.op = Swap;
          5'h04:   r.op = Xor;
          5'h08:   r.op = Or;
          5'h0c:   r.op = And;
          5'h10:   r.op = Min;
          5'h14:   r.op = Max;
          5'h18:   r.op = MinU;
          default: r.op = MaxU;
        endcase
      end
      7'h0b: begin
        access = 1;
        addr = a + 4 * (b >> 5);
        r.op = f3 == 0 ? Or : Update;
        r.wdata = f3 == 0 ? 32'd1 << b[4:0] : {27'd0, b[4:0]};
        if (f3 == 0) writes = 0;
      end
      default: begin  // csrrs
        if (i == Wfi) writes = 0;
        else if (i[31:20] == 12'hf14) result = 9;
        else if (i[31:20] == 12'hb02) result = retired;
        else unknown = 1;
      end
    endcase
    if (access) begin
      r.addr = {addr[31:2], 2'd0};
      old = mem[addr[15:2]];
      mem[addr[15:2]] = rig.done(r.op, r.wdata, r.be, old);
      w = rig.answer(r.op, r.wdata[4:0], old);
      result = w;
      if (r.op == Load) begin
        w = w >> (8 * addr[1:0]);
        result = f3 == 0 ? {{24{w[7]}}, w[7:0]} : f3 == 4 ? {24'd0, w[7:0]} :
            f3 == 1 ? {{16{w[15]}}, w[15:0]} : f3 == 5 ? {16'd0, w[15:0]} : w;
        `CHECK(rvfi.mem_rdata == old, "loaded word")
      end
      `CHECK(rvfi.mem_addr == r.addr, "address")
      `CHECK(rvfi.mem_wmask == (r.op == Load ? 4'd0 : r.be), "write mask")
      `CHECK((rvfi.mem_rmask != 0) == (r.op != Store && writes && i[11:7] != 0) || r.op == Load,
             "read mask")
      if (r.op != Load) `CHECK(rvfi.mem_wdata == r.wdata, "what is written")
    end else begin
      `CHECK(rvfi.mem_rmask == 0 && rvfi.mem_wmask == 0, "an access")
    end
    if (i[11:7] == 0) writes = 0;
    `CHECK(rvfi.rd_addr == (writes ? i[11:7] : 5'd0), "register")
    if (writes) begin
      if (!unknown)
        `CHECK(rvfi.rd_wdata == result, $sformatf(
               "at %h %h: %h instead of %h", pc, i, rvfi.rd_wdata, result))
      regs[i[11:7]] = rvfi.rd_wdata;
    end
    `CHECK(rvfi.pc_wdata == after, "next pc")
    next_pc = after;
  endtask

  int unsigned sum;
  always @(negedge clk) begin
    if (rst) begin
      clocks = 0;
      foreach (uses[i]) uses[i] = 0;
    end else begin
      clocks++;
      uses[clock_use]++;
      `CHECK((clock_use == Retire) == (rvfi.valid && !rvfi.trap), "the clock was used otherwise")
      if (rvfi.valid && !rvfi.trap) begin
        follow();
        retired++;
        count++;
        if (first[rvfi.pc_rdata[13:2]] == 0) first[rvfi.pc_rdata[13:2]] = clocks;
      end
    end
  end

  // Wake-ups in some clocks.
  bit naps = 0;
  always @(posedge clk) if (naps) rig.wake <= $urandom_range(3) == 0;

  // ---- Tests
  /// Appends code that sets the registers that programs rely on.
  task automatic prologue();
    program_ = '{lui(ScratchBase, Base), lui(DeviceBase, Slow), i_type(40, 0, 0, Code)};
  endtask

  task automatic random_program();
    prologue();
    program_.push_back(i_type(0, 0, 0, Index));  // jumps may pass the instruction that sets it
    while (program_.size() < 400) begin
      automatic reg_t rd = reg_t'($urandom_range(Last)), rs1 = reg_t'($urandom_range(Last));
      automatic reg_t rs2 = reg_t'($urandom_range(Last));
      automatic logic [2:0] f3 = 3'($urandom);
      automatic reg_t base = $urandom_range(3) == 0 ? Slow : Base;
      automatic int offset = $urandom_range(31);  // few words: they meet again
      automatic int room = 400 - program_.size();
      case ($urandom_range(
          24
      ))
        0, 1, 2, 3:
        program_.push_back(i_type(
                           f3 == 1 ? $urandom_range(
                               31
                           ) : f3 == 5 ? $urandom_range(
                               31
                           ) + ($urandom_range(
                               1
                           ) << 10) : int'($urandom),
                           rs1,
                           f3,
                           rd
                           ));
        4, 5, 6:
        program_.push_back(r_type(
                           f3 inside {0, 5} ? 7'($urandom_range(1) << 5) : 7'd0, rs2, rs1, f3, rd));
        7: program_.push_back(r_type(1, rs2, rs1, f3 & 3'd3, rd));
        8: if ($urandom_range(3) == 0) program_.push_back(r_type(1, rs2, rs1, f3 | 3'd4, rd));
        9: program_.push_back(lui($urandom, rd));
        10: program_.push_back({20'($urandom), rd, 7'h17});
        11, 12, 13: begin
          if (f3 inside {3, 6, 7}) f3 = 2;
          if (f3[1:0] == 1) offset &= ~1;
          if (f3[1:0] == 2) offset &= ~3;
          program_.push_back(i_type(offset, base, f3, rd, 7'h03));
        end
        14, 15, 16: begin
          f3 = 3'($urandom_range(2));
          program_.push_back(s_type(offset & ~((1 << f3) - 1), rs2, base, f3));
        end
        17: begin
          automatic logic [4:0] codes[9] = '{0, 1, 4, 8, 12, 16, 20, 24, 28};
          program_.push_back(r_type(
                             {
                               codes[$urandom_range(8)], 2'd0
                             },
                             rs2,
                             base,
                             2,
                             $urandom_range(
                                 2
                             ) == 0 ? 5'd0 : rd,
                             7'h2f
                             ));
        end
        18: begin
          program_.push_back(i_type(255, rs1, 7, Index));
          repeat ($urandom_range(
              3, 1
          ))
          program_.push_back(r_type(0, Index, base, $urandom_range(2) == 0 ? 3'd1 : 3'd0, 0, 7'h0b
                             ));
          if ($urandom_range(1)) program_.push_back(r_type(0, Index, base, 1, rd, 7'h0b));
        end
        19, 20: begin
          if (f3[2:1] == 1) f3[2] = 1;
          program_.push_back(b_type(
                             4 * ($urandom_range(
                                 3
                             ) == 0 ? -$urandom_range(
                                 program_.size() < 12 ? 1 : 9, 1
                             ) : $urandom_range(
                                 room < 12 ? 1 : 9, 1
                             )),
                             rs2,
                             rs1,
                             f3
                             ));
        end
        21: program_.push_back(j_type(4 * $urandom_range(room < 12 ? 1 : 9, 1), rd));
        22: begin  // a jump to a computed place ahead
          automatic int target = 4 * (program_.size() + 2 + $urandom_range(room < 12 ? 0 : 7));
          program_.push_back(i_type(target - 8, 0, 0, Code));
          program_.push_back(i_type(8 + $urandom_range(1), Code, 0, rd, 7'h67));
        end
        23:
        program_.push_back(i_type(
                           int'($urandom_range(
                               1
                           ) ? 32'hb02 : $urandom_range(
                               1
                           ) ? 32'hf14 : 32'hb00),
                           0,
                           2,
                           rd,
                           7'h73
                           ));
        default: program_.push_back($urandom_range(1) == 0 ? Wfi : 32'h0000_000f);
      endcase
    end
    program_.push_back(j_type(-4 * (program_.size() - 3), 0));
  endtask

  /// Runs the code and gives the clocks from the retirement of its first instruction to that of what stands at `to`.
  task automatic cost(input string what, input word_t code[$], input int want, input int to = -1);
    automatic int start_at;
    wait_percent = 0;
    prologue();
    program_.push_back(i_type(0, 0, 0, 5));
    repeat (8) program_.push_back(Nop);
    repeat (8 - program_.size() % 8) program_.push_back(Nop);
    start_at = program_.size();
    program_ = {program_, code};
    repeat (2) program_.push_back(Nop);
    program_.push_back(j_type(-4 * (program_.size() - 4), 0));
    start();
    repeat (200) @(posedge clk);
    // The second time round all of it is in the cache.
    foreach (first[i]) first[i] = 0;
    while (first[start_at+code.size()] == 0) @(posedge clk);
    foreach (first[i]) first[i] = 0;
    while (first[start_at-1] == 0) @(posedge clk);
    while (first[start_at+code.size()] == 0) @(posedge clk);
    if (first[start_at+code.size()] - first[start_at-1] != want + 1)
      $display(
          "%s: %0d clocks instead of %0d",
          what,
          first[start_at+code.size()] - first[start_at-1] - 1,
          want
      );
    `CHECK(first[start_at+code.size()] - first[start_at-1] == want + 1, what)
  endtask

  /// The code ends in a trap at its instruction `at`; what follows it must have no effect.
  task automatic traps(input string what, input word_t code[$], input trap_e want, input int at);
    automatic int place;
    prologue();
    program_.push_back(i_type(0, 0, 0, 5));
    program_.push_back(i_type(0, 0, 0, 6));
    program_.push_back(s_type(0, 0, Base, 2));
    place = 4 * (program_.size() + at);
    program_ = {program_, code};
    program_.push_back(i_type(1, 0, 0, 5));
    program_.push_back(s_type(0, Base, Base, 2));
    repeat (8) program_.push_back(Nop);
    start();
    repeat (120) @(posedge clk);
    `CHECK(trap == want, $sformatf("%s: %s", what, trap.name()))
    `CHECK(trap_pc == 32'(place), {what, ": place"})
    if (want != TrapStoreAccess || at == 0) begin
      `CHECK(rig.dut.regs[5] == 0 || want == TrapStoreAccess, {what, ": a younger instruction"})
      `CHECK(rig.mem[0] == 0 || want == TrapStoreAccess, {what, ": a younger store"})
    end
    run <= 0;
    @(posedge clk);
    @(posedge clk);
    @(negedge clk);
    `CHECK(trap == NoTrap, "the trap stands after a stop")
  endtask

  initial begin
    automatic int unsigned longest = 0, stores = 0;
    @(negedge rst);
    @(posedge clk);
    for (int i = 0; i < 32; i++) preset.push_back($urandom);
    // Registers hold something known before they are first read.
    program_ = {};
    for (int i = 1; i < 32; i++) program_.push_back(i_type(int'($urandom), 0, 0, reg_t'(i)));
    program_.push_back(Ebreak);
    for (int i = 0; i < 32; i++) rig.dut.regs[i] = 0;
    for (int i = 0; i < 16384; i++) rig.mem[i] = $urandom;
    start();
    repeat (150) @(posedge clk);
    `CHECK(trap == TrapBreak && trap_pc == 4 * 31, "ebreak")

    cost("addition", '{i_type(1, 5, 0, 5), i_type(1, 5, 0, 5), i_type(1, 5, 0, 6)}, 3);
    cost("load", '{lw(0, Base, 5), Nop, Nop}, 3);
    cost("load, next needs it", '{lw(0, Base, 5), i_type(1, 5, 0, 6)}, 3);
    cost("load, one after next needs it", '{lw(0, Base, 5), Nop, i_type(1, 5, 0, 6)}, 3);
    cost("two loads", '{lw(0, Base, 5), lw(4, Base, 6)}, 2);
    cost("load of what a load gives",
         '{s_type(0, Base, Base, 2), Nop, lw(0, Base, 5), Nop, lw(0, 5, 6), Nop}, 6);
    cost("stores", '{s_type(0, 5, Base, 2), s_type(4, 5, Base, 2), s_type(8, 5, Base, 2)}, 3);
    cost("store, load", '{s_type(0, 5, Base, 2), lw(0, Base, 5)}, 3);
    cost("set", '{r_type(0, 0, Base, 0, 0, 7'h0b), r_type(0, 0, Base, 0, 0, 7'h0b)}, 2);
    cost("update", '{r_type(0, 0, Base, 1, 5, 7'h0b), i_type(1, 5, 0, 6)}, 5);
    cost("amo without result", '{r_type(0, 5, Base, 2, 0, 7'h2f), Nop}, 2);
    cost("product", '{r_type(1, 5, 5, 0, 6), r_type(1, 5, 5, 0, 7), Nop}, 3);
    cost("product, next needs it", '{r_type(1, 5, 5, 0, 6), i_type(1, 6, 0, 6)}, 3);
    cost("quotient", '{r_type(1, 5, 5, 4, 6), i_type(1, 6, 0, 6)}, 35);
    cost("jump", '{j_type(4, 0), j_type(4, 0)}, 2);
    cost("jump to a register", '{{20'd0, 5'd7, 7'h17}, i_type(8, 7, 0, 0, 7'h67)}, 4);
    cost("forward branch, not taken", '{b_type(8, 0, 0, 1), Nop}, 2);
    cost("forward branch, taken", '{b_type(8, 0, 0, 0), Nop, Nop}, 2);  // learned
    cost("backward branch, not taken", '{Nop, b_type(-4, 0, 0, 1)}, 2);
    // Three rounds: the branch costs one clock, two more when it ends.
    cost("wait, while woken", '{Wfi, Wfi}, 2);
    cost("loop", '{i_type(3, 0, 0, 5), i_type(-1, 5, 0, 5), b_type(-4, 0, 5, 1)}, 9);

    // A division that is through before the load in front of it.
    prologue();
    program_.push_back(i_type(100, 0, 0, 5));
    program_.push_back(i_type(7, 0, 0, 6));
    program_.push_back(lw(0, Base, 8));
    program_.push_back(r_type(1, 6, 5, 4, 9));
    program_.push_back(Ebreak);
    wait_percent = 100;
    start();
    repeat (200) @(posedge clk);
    `CHECK(trap == NoTrap, "nothing answers the load yet")
    wait_percent = 0;
    repeat (60) @(posedge clk);
    `CHECK(trap == TrapBreak && rig.dut.regs[9] == 14, "a quotient that waited for a load")

    wait_percent = 30;
    repeat (4) begin
      automatic word_t away = b_type(8, 0, 0, 0);
      traps("illegal", '{32'h0000_0000}, TrapIllegal, 0);
      // Out of one region into another by the offset: 0x2000_0004, 0x1000_0000.
      traps("load across regions",
            '{
                {20'h20000, 5'd7, 7'h37},
                i_type(-4, 7, 0, 8),
                lw(8, 8, 9),
                i_type(4, 9, 0, 9),
                lw(-4, 7, 9),
                Ebreak
            },
            TrapLoadAccess, 4);
      traps("load below a region", '{{20'h10000, 5'd7, 7'h37}, lw(-4, 7, 9), Ebreak},
            TrapLoadAccess, 1);
      traps("load into a region",
            '{{20'h10000, 5'd7, 7'h37}, i_type(-4, 7, 0, 8), lw(4, 8, 9), Ebreak}, TrapBreak, 3);
      traps("lr.w", '{{5'h02, 2'd0, 5'd0, Base, 3'd2, 5'd5, 7'h2f}}, TrapIllegal, 0);
      traps("csrrw", '{i_type(32'hb00, 5, 1, 5, 7'h73)}, TrapIllegal, 0);
      traps("ecall", '{Nop, 32'h0000_0073}, TrapCall, 1);
      traps("ebreak", '{lw(0, Slow, 6), Ebreak}, TrapBreak, 1);
      traps("misaligned load", '{lw(2, Base, 5)}, TrapLoadAlign, 0);
      traps("misaligned half", '{i_type(1, Base, 1, 5, 7'h03)}, TrapLoadAlign, 0);
      traps("misaligned store", '{s_type(1, 5, Base, 2)}, TrapStoreAlign, 0);
      traps("misaligned amo", '{i_type(2, Base, 0, 7), r_type(0, 5, 7, 2, 5, 7'h2f)},
            TrapStoreAlign, 1);
      traps("load from nowhere", '{lw(64, 0, 5)}, TrapLoadAccess, 0);
      traps("store to nowhere", '{lw(0, Slow, 6), s_type(64, 0, 0, 2)}, TrapStoreAccess, 1);
      traps("amo on nothing", '{r_type(0, 5, 0, 2, 0, 7'h2f)}, TrapStoreAccess, 0);
      traps("jump into an instruction", '{i_type(2, 0, 0, 0, 7'h67)}, TrapFetch, 0);
      traps("branch into an instruction", '{b_type(6, 0, 0, 0)}, TrapFetch, 0);
      traps("not taken, the same does nothing", '{b_type(6, 0, 0, 1), Ebreak}, TrapBreak, 1);
      traps("taken, an illegal one does nothing", '{away, 32'h0, Ebreak}, TrapBreak, 2);
    end
    // A jump away from the instruction memory: the trap is where there is nothing.
    program_ = '{lui(32'h1000_0000, 5), i_type(0, 5, 0, 0, 7'h67)};
    start();
    repeat (50) @(posedge clk);
    `CHECK(trap == TrapFetch && trap_pc == 32'h1000_0000, "fetch from nowhere")
    // The watchdog ends an endless loop.
    program_ = '{j_type(0, 0)};
    start();
    repeat (50) @(posedge clk);
    `CHECK(trap == NoTrap, "a loop is no trap")
    watchdog <= 1;
    @(posedge clk);
    watchdog <= 0;
    repeat (5) @(posedge clk);
    `CHECK(trap == TrapWatchdog && trap_pc == 0, "watchdog")

    // A core that sleeps does nothing until it is woken; then what stands behind it goes on, up to the next wait.
    rig.wake = 0;
    program_ = '{Wfi, i_type(1, 0, 0, 5), Wfi, j_type(0, 0)};
    start();
    repeat (50) @(posedge clk);
    for (int n = 0; n < 2; n++) begin
      sum = uses[Sleep];
      repeat (100) @(posedge clk);
      `CHECK(rig.sleeping && count == 2 * n && uses[Sleep] == sum + 100, "sleep")
      rig.wake <= 1;
      @(posedge clk);
      rig.wake <= 0;
      repeat (10) @(posedge clk);
    end
    `CHECK(!rig.sleeping && count > 3, "it was woken twice")
    // Stopped, and ended by the watchdog, while it sleeps.
    repeat (2) begin
      start();
      repeat (50) @(posedge clk);
      `CHECK(rig.sleeping && count == 0, "it sleeps from the start")
    end
    watchdog <= 1;
    @(posedge clk);
    watchdog <= 0;
    repeat (5) @(posedge clk);
    `CHECK(trap == TrapWatchdog && !rig.sleeping, "watchdog of a core that sleeps")
    naps = 1;

    for (int n = 0; n < 60; n++) begin
      automatic int unsigned usual = $urandom_range(2) == 0 ? 0 : $urandom_range(80), held = 0;
      wait_percent = usual;
      random_program();
      start();
      // Now and then the memory serves nobody, for longer than a division takes.
      repeat ($urandom_range(
          4000, 5
      )) begin
        if (held != 0) held--;
        else if ($urandom_range(300) == 0) held = $urandom_range(120, 30);
        wait_percent = held != 0 ? 100 : usual;
        @(posedge clk);
      end
      `CHECK(trap == NoTrap, $sformatf("%s at %h", trap.name(), trap_pc))
      if (count > longest) longest = count;
    end
    `CHECK(longest > 1000, "random programs did not get far")
    @(negedge clk);
    sum = 0;
    foreach (uses[i]) sum += uses[i];
    `CHECK(sum == clocks, "clocks without a use")
    $display("%0d retired in %0d clocks: fetch %0d load %0d bank %0d store %0d pipe %0d sleep %0d",
             uses[Retire], clocks, uses[StallFetch], uses[StallLoad], uses[StallBank],
             uses[StallStore], uses[StallPipe], uses[Sleep]);
    `TB_PASS
  end
endmodule
