// SPDX-License-Identifier: Apache-2.0
`include "assert.svh"
`include "stream.svh"
/// RV32IM processor with atomics, `set` and `update`: single issue, in order, five stages (core_decode lists the instructions).
///
/// IF: the cache's answer; jal and branches are followed at once as predicted: backward ones taken, others not, unless
/// `History` pairs of bits, found by the branch's address, say that this was wrong lately. ID: decode, registers, all
/// operands: forwarded from EX, MEM and WB. EX: arithmetic, branches (two clocks lost when predicted wrong, and for jalr),
/// addresses, products of halves; division (34 clocks). With `Ahead` a load from the scratchpad leaves in EX, if it is from the
/// 64 kB its base register points into. MEM: data port (core_mem), products. WB: registers, retirement.
/// Clocks an instruction: 1; a load that left in EX and is answered in the next clock, too, and 1 more if the next instruction
/// needs the result; another load, or an atomic whose result is read, 2 and more as the memory takes, and 1 more in the same
/// case; a product needed by the next instruction 1 more; an `update` that is read 1 more; a store never waits while the one-entry buffer is free.
/// While `run_i` is low the core stands at `ResetPc` (registers keep what they hold); accesses begun are finished. A trap
/// ends the program: `trap_o`, `trap_pc_o` stand until `run_i` falls, nothing younger has any effect. Traps are precise but
/// for those of stores, which come later.
/// With `Networks`, reading x26, x27 or x28 takes the next word of static network 1, 2 or the general dynamic network and
/// waits for it in ID; it is gone when the instruction passes MEM (core_net): one that is flushed has taken nothing. Writing
/// to them sends, in MEM, and waits there for room. An instruction that names one network twice reads one word. An
/// interrupt takes the place of the instruction in ID, also of one that waits for a word (core_csr).
/// wfi waits in MEM until `wake_i`, in any clock of which it goes on (core_wake); a core that is stopped or trapped leaves it.
/// `use_o` says what each clock went to; a bubble is charged to what made it, when it reaches WB.
/// Paper: section 4 (core-nic), 6.1 (where the clocks go); section 1, 3 (tile-router: networks in the register file).
module core
  import core_pkg::*, core_pipe_pkg::*;
#(
    parameter logic [31:0] ResetPc = 32'h0,
    parameter bit Rvfi = 1'b0,  // rvfi_o is driven
    parameter bit Predict = 1'b1,  // 0: every jump and taken branch costs two clocks
    parameter int History = 64,  // pairs of bits, a power of two; 0: only static prediction
    parameter bit Ahead = 1'b1,  // loads leave in EX; the pipeline goes on without regard to grants
    parameter bit Networks = 1'b0,  // x26 to x28 are networks, interrupts
    parameter int ScratchBytes = 262144,  // the regions, for `req_region_o`
    parameter int DeviceBytes = 4096,
    parameter int FrameBytes = 32 * 1024 * 1024,
    parameter int LoadUse = 0,  // clocks more until a load's result can be used: a longer pipeline
    parameter int Mispredict = 0  // clocks more that a redirect costs
) (
    input logic clk_i,
    input logic rst_i,
    input logic [5:0] hart_id_i,
    input logic run_i,
    input logic watchdog_i,  // trap: the program does not come back
    input logic wake_i = 1'b1,
    output logic sleeping_o,
    // instruction cache: an address with fetch_en_o, its word in the next clock or later, kept until the next fetch_en_o;
    // no fill while fetch_early_o is high: it is not known yet whether the word of the address given last is wanted
    output logic fetch_en_o,
    output logic fetch_early_o,
    output logic [31:0] fetch_addr_o,
    input logic fetch_valid_i,
    input logic [31:0] fetch_data_i,
    input logic fetch_error_i,  // with valid: no instruction memory there
    // data port: a request stays until ready, but for a Load offered ahead, which may change or end (core_mem); an answer to all but Store, one clock later at the earliest
    output logic req_valid_o,
    output mem_req_t req_o,
    output region_t req_region_o,  // where `req_o` goes; with Ahead 0 when there is none
    output logic [31:0] next_addr_o,  // of the request in the next clock, if there is one then; without Ahead
    input logic req_ready_i,
    input logic rsp_valid_i,
    input mem_rsp_t rsp_i,
    input logic store_error_i,  // the Store taken in the clock before went nowhere
    // networks: what arrives for x26 (0), x27, x28, and what was written to them; only room lets `net_out_valid_o` end
    input logic [NetCount-1:0] net_in_valid_i = '0,
    input logic [NetCount-1:0][31:0] net_in_data_i = '0,
    output logic [NetCount-1:0] net_in_ready_o,
    output logic [NetCount-1:0] net_out_valid_o,
    output logic [31:0] net_out_data_o,
    input logic [NetCount-1:0] net_out_ready_i = '0,
    input logic [IrqCount-1:0] irq_i = '0,  // one clock: sets the flag
    // what it does
    output clock_use_e use_o,
    output logic [31:0] pc_o,  // of the instruction that left the pipeline last
    output rvfi_t rvfi_o,
    output trap_e trap_o,
    output logic [31:0] trap_pc_o
);
  // One copy of the code for all cores stays in the simulating machine's cache.
  /*verilator no_inline_module*/
  typedef struct packed {
    logic valid;
    clock_use_e use_;  // of a bubble
    logic [31:0] pc, insn;
    logic taken;  // predicted
    logic [1:0] wrong;  // how wrong static prediction was here
    logic error;
  } id_t;
  typedef struct packed {
    logic valid;
    clock_use_e use_;
    logic [31:0] pc, insn;
    logic taken;
    logic [1:0] wrong;
    decoded_t op;
    csr_select_t csr;
    logic ahead;  // a Load
    logic [31:0] a, b;  // operands
    logic [31:0] rs1, rs2;
    logic [NetCount-1:0] takes;  // words read from networks
  } ex_t;
  typedef struct packed {
    logic valid;
    clock_use_e use_;
    logic [31:0] pc, insn, next_pc;
    trap_e trap;
    unit_e unit;
    logic [4:0] rd;
    logic [2:0] funct3;
    logic [1:0] shift, sign;  // of a load: its first byte; the byte whose sign those above are
    logic [1:0] own;  // the second byte is not the sign, the two above are not
    logic signed_;
    logic [31:0] result;
    logic access;  // of the data port
    logic stays;  // may stay when nothing of it is at the data port
    mem_req_t req;
    region_t region;  // of it
    logic [31:0] rs1, rs2;  // for Rvfi
    logic [NetCount-1:0] takes, sends;
  } mem_t;
  typedef struct packed {
    logic valid;
    clock_use_e use_;
    logic [31:0] pc;
    trap_e trap;
    logic trapped;  // valid, and a trap
    logic [4:0] rd;
    logic [31:0] result;
  } wb_t;

  id_t id_q  /*verilator split_var*/;
  ex_t ex_q  /*verilator split_var*/;
  mem_t mem_q  /*verilator split_var*/;
  wb_t wb_q  /*verilator split_var*/;
  logic [31:0] regs[32];
  logic [63:0] cycles_q, retired_q;

  // Nothing younger than what is in MEM goes on.
  logic  stop;
  trap_e trap_d;
  logic id_go, ex_go, mem_go, mem_live, counting_q;
  // Whether the one in MEM is through with the data port decides in the same clock which stages go on, and comes last: for each
  // stage stands beside it what follows from either answer.
  logic port_through;
  logic [1:0] mem_goes, ex_goes, id_goes, if_goes;
  logic mispredicted, redirect;
  logic [31:0] redirect_pc;

  // ---- IF
  // The next address leaves whether or not ID takes the word that is there now: that one then waits in `held_q`, and no
  // address leaves behind it until it is taken, so that what the other stages do decides nothing at the cache in its clock.
  logic fetching_q;  // an address was given
  logic late;  // a redirect still costs clocks
  logic [31:0] pc_q;
  id_t held_q, word;
  wire if_valid = fetching_q && fetch_valid_i && !late;
  assign if_goes = {2{held_q.valid || if_valid}} & ({2{!id_q.valid}} | id_goes);
  wire if_go = if_goes[port_through];
  wire word_valid = held_q.valid || if_valid;
  logic if_taken;
  logic [31:0] if_offset;
  logic [1:0] if_wrong;
  // Where it leads, if it is taken, by one bit of the word: that it is a jump or a branch is known later.
  assign if_offset = fetch_data_i[2] ?
      {{12{fetch_data_i[31]}}, fetch_data_i[19:12], fetch_data_i[20], fetch_data_i[30:21], 1'b0} :
      {{20{fetch_data_i[31]}}, fetch_data_i[7], fetch_data_i[30:25], fetch_data_i[11:8], 1'b0};
  assign if_taken = Predict && if_valid && !fetch_error_i && (fetch_data_i[6:0] == 7'h6f ||
      (fetch_data_i[6:0] == 7'h63 && fetch_data_i[31] != if_wrong[1]));
  wire [31:0] if_target = pc_q + if_offset;
  wire [31:0] if_next = if_taken ? if_target : pc_q + 32'd4;
  // In a clock of `stop` it does not matter what is fetched.
  assign fetch_en_o = mispredicted || (if_valid && !held_q.valid) || !fetching_q;
  assign fetch_early_o = held_q.valid || !fetching_q;
  assign fetch_addr_o = mispredicted ? redirect_pc : fetching_q ? if_next : ResetPc;
  always_comb begin
    if (`WORTH(word_valid)) begin
      word = '{
          valid: if_valid,
          use_: StallFetch,
          pc: pc_q,
          insn: fetch_data_i,
          taken: if_taken,
          wrong: if_wrong,
          error: fetch_error_i
      };
      if (held_q.valid) word = held_q;
    end
  end

  always_ff @(posedge clk_i) begin
    if (fetch_en_o) pc_q <= fetch_addr_o;
    fetching_q <= !stop && !rst_i;
    if (!held_q.valid && `WORTH(word_valid)) held_q <= word;
    held_q.valid <= word_valid && !if_go && !redirect && !stop && !rst_i;
    if (if_go) begin
      id_q.pc <= word.pc;
      id_q.insn <= word.insn;
      id_q.taken <= word.taken;
      id_q.wrong <= word.wrong;
      id_q.error <= word.error;
    end
    if (if_go || !id_q.valid || id_go) id_q.valid <= if_go;
    if (!id_q.valid || id_go) id_q.use_ <= late ? StallPipe : StallFetch;
    if (redirect) begin
      id_q.valid <= 1'b0;
      id_q.use_  <= StallPipe;
    end
    if (stop || rst_i) begin
      id_q.valid <= 1'b0;
      id_q.use_  <= Halted;
    end
  end

  if (Mispredict > 0) begin : g_late
    logic [$clog2(Mispredict+1)-1:0] left_q;
    assign late = left_q != 0;
    always_ff @(posedge clk_i) begin
      if (redirect) left_q <= ($bits(left_q))'(Mispredict);
      else if (late) left_q <= left_q - 1'b1;
      if (rst_i) left_q <= '0;
    end
  end else begin : g_not_late
    assign late = 1'b0;
  end

  // ---- ID
  decoded_t decoded, op;
  core_decode #(
      .Networks(Networks)
  ) i_decode (
      .insn_i(id_q.insn),
      .op_o  (decoded)
  );
  // An interrupt is not taken behind an instruction that may change whether there is one.
  logic irq, load_late;
  wire ex_changes_irq = ex_q.valid && ex_q.op.unit inside {UnitCsr, UnitMret, UnitIrq};
  wire id_irq = Networks && irq && !ex_changes_irq;
  always_comb begin
    op = decoded;
    if (id_irq) begin
      op.unit = UnitIrq;
      op.reads_rs1 = 1'b0;
      op.reads_rs2 = 1'b0;
      op.rd = '0;
      op.sends = '0;
      op.trap = NoTrap;
    end
  end
  wire [4:0] rs1_addr = id_q.insn[19:15];
  wire [4:0] rs2_addr = id_q.insn[24:20];
  logic [31:0] ex_result, mem_result, rs1, rs2, operand_a, operand_b;
  logic hazard, load_hazard, waits;
  // What may read registers, by the opcode alone: whether the instruction is legal is known later.
  wire may_read_rs1 = !id_irq && !(id_q.insn[6:0] inside {7'h37, 7'h17, 7'h6f, 7'h0f}) &&
      (Networks || id_q.insn[6:0] != 7'h73) && !(id_q.insn[6:0] == 7'h73 && id_q.insn[14]);
  wire may_read_rs2 = !id_irq && id_q.insn[6:0] inside {7'h33, 7'h63, 7'h23, 7'h2f, 7'h0b};
  logic [NetCount-1:0] id_takes, net_some;
  logic [NetCount-1:0][31:0] net_word;

  // Whether an instruction is legal is known too late to decide whether it waits for a word: one that is not waits no longer
  // than the clock in which that is found. What it took is given back.
  logic illegal_q;
  always_ff @(posedge clk_i) illegal_q <= id_q.valid && (op.trap != NoTrap || id_q.error);
  // The one place where registers are read. A result that is not there yet holds the instruction up. Those of EX and MEM come
  // late in the clock: what else there is has been chosen by then, and is 0 where they are wanted. (Nothing writes x26 to x28 in a
  // core with networks.)
  wire [1:0][4:0] rs_addr = {rs2_addr, rs1_addr};
  wire [1:0] may_read = {may_read_rs2, may_read_rs1};
  logic [1:0] of_ex, of_mem;
  logic [1:0][31:0] early;
  always_comb begin
    for (int r = 0; r < 2; r++) begin
      of_ex[r]  = ex_q.valid && ex_q.op.rd != 0 && ex_q.op.rd == rs_addr[r];
      of_mem[r] = mem_q.valid && mem_q.rd != 0 && mem_q.rd == rs_addr[r];
    end
    hazard = load_late;
    load_hazard = mem_q.unit == UnitLoad && (may_read & of_mem) != 0;  // unless it leaves
    if (ex_q.op.unit inside {UnitLoad, UnitMul}) hazard |= (may_read & of_ex) != 0;
    id_takes = '0;
    waits = 1'b0;
    if (Networks) begin
      for (int n = 0; n < NetCount; n++)
      id_takes[n] = !illegal_q && ((may_read_rs1 && rs1_addr == FirstNet + 5'(n)) ||
                                   (may_read_rs2 && rs2_addr == FirstNet + 5'(n)));
      waits = (id_takes & ~net_some) != 0;
    end
  end
  wire [1:0] late_ex = of_ex;
  wire [1:0] late_mem = of_mem & ~of_ex;
  wire pc_a = op.a == FromPc;
  always_comb begin
    if (`WORTH(id_go)) begin
      for (int r = 0; r < 2; r++) begin
        early[r] = regs[rs_addr[r]];
        if (wb_q.valid && wb_q.rd != 0 && wb_q.rd == rs_addr[r]) early[r] = wb_q.result;
        for (int n = 0; Networks && n < NetCount; n++)
        if (rs_addr[r] == FirstNet + 5'(n)) early[r] = net_word[n];
        if (of_ex[r] || of_mem[r]) early[r] = '0;
      end
      rs1 = early[0] | ({32{late_mem[0]}} & mem_result) | ({32{late_ex[0]}} & ex_result);
      rs2 = early[1] | ({32{late_mem[1]}} & mem_result) | ({32{late_ex[1]}} & ex_result);
      operand_a = (pc_a ? id_q.pc : early[0]) |
          ({32{late_mem[0] && !pc_a}} & mem_result) | ({32{late_ex[0] && !pc_a}} & ex_result);
      operand_b = (op.b inside {FromReg, FromBit} ? '0 : op.imm) | ({32{op.b == FromReg}} & rs2) |
          ({32{op.b == FromBit}} & {3'd0, rs2[31:5], 2'd0});
    end
  end
  assign id_goes = {2{id_q.valid && !hazard && !waits}} & ({2{!load_hazard}} | mem_goes) & ({2{!ex_q.valid}} | ex_goes);
  assign id_go = id_goes[port_through];

  if (LoadUse > 0) begin : g_load_late
    // Loads that are through MEM, the last one first.
    logic [LoadUse-1:0][4:0] rd_q;
    always_ff @(posedge clk_i) begin
      rd_q[0] <= mem_go && mem_q.unit == UnitLoad ? mem_q.rd : '0;
      for (int i = 1; i < LoadUse; i++) rd_q[i] <= rd_q[i-1];
    end
    always_comb begin
      load_late = mem_q.valid && mem_q.unit == UnitLoad && mem_q.rd != 0 &&
          ((may_read_rs1 && mem_q.rd == rs1_addr) || (may_read_rs2 && mem_q.rd == rs2_addr));
      for (int i = 0; i + 1 < LoadUse; i++) begin
        if (rd_q[i] != 0)
          load_late |= (may_read_rs1 && rd_q[i] == rs1_addr) || (may_read_rs2 && rd_q[i] == rs2_addr);
      end
    end
  end else begin : g_load_not_late
    assign load_late = 1'b0;
  end

  always_ff @(posedge clk_i) begin
    if (id_go) begin
      ex_q.pc <= id_q.pc;
      ex_q.insn <= id_q.insn;
      ex_q.taken <= id_q.taken && !id_irq;
      ex_q.wrong <= id_q.wrong;
      ex_q.op <= op;
      ex_q.csr <= csr_select(id_q.insn[31:20]);
      ex_q.ahead <= op.unit == UnitLoad && op.mem_op == Load;
      ex_q.takes <= id_takes;
      if (id_q.error && !id_irq) begin
        ex_q.ahead <= 1'b0;
        ex_q.op.unit <= UnitTrap;
        ex_q.op.trap <= TrapFetch;
        ex_q.op.rd <= '0;
        ex_q.op.sends <= '0;
      end
      ex_q.a   <= operand_a;
      ex_q.b   <= operand_b;
      ex_q.rs1 <= rs1;
      ex_q.rs2 <= rs2;
    end
    if (!ex_q.valid || ex_go) begin
      ex_q.valid <= id_go && !redirect;
      ex_q.use_  <= redirect ? StallPipe : !id_q.valid ? id_q.use_ : waits && !hazard && !(load_hazard && !mem_go) ? StallReceive : StallPipe;
    end
    if (stop || rst_i) begin
      ex_q.valid <= 1'b0;
      ex_q.use_  <= Halted;
    end
  end

  // ---- EX
  logic ex_taken, redirected_q, div_started_q, div_done;
  logic [31:0] div_result, alu_result, csr, net_csr, mtvec, mepc;
  trap_e ex_trap;
  mem_req_t ex_req;
  logic [31:0] ex_target;
  logic [31:0] sum;
  `WHILE(ex_q.valid, sum, ex_q.a + ex_q.b)
  always_comb begin
    if (`WORTH(ex_q.valid)) begin
      unique case (ex_q.op.unit)
        UnitJalr: ex_target = {sum[31:1], 1'b0};
        UnitIrq:  ex_target = mtvec;
        UnitMret: ex_target = mepc;
        default:  ex_target = ex_q.pc + ex_q.op.imm;
      endcase
    end
  end
  wire [31:0] ex_next = ex_taken ? ex_target : ex_q.pc + 32'd4;
  wire ex_div = ex_q.valid && ex_q.op.unit == UnitDiv;
  wire ex_done = !ex_div || (div_started_q && div_done);

  // The comparator serves branches and slt alike.
  logic less_unsigned, less_signed;
  `WHILE(ex_q.valid, less_unsigned, ex_q.a < ex_q.b)
  `WHILE(ex_q.valid, less_signed, (ex_q.a[31] != ex_q.b[31]) ? ex_q.a[31] : less_unsigned)

  always_comb begin
    if (`WORTH(ex_q.valid)) begin
      unique case (ex_q.op.alu)
        AluAdd:  alu_result = sum;
        AluSub:  alu_result = ex_q.a - ex_q.b;
        AluSll:  alu_result = ex_q.a << ex_q.b[4:0];
        AluSlt:  alu_result = {31'd0, less_signed};
        AluSltu: alu_result = {31'd0, less_unsigned};
        AluXor:  alu_result = ex_q.a ^ ex_q.b;
        AluSrl:  alu_result = ex_q.a >> ex_q.b[4:0];
        AluSra:  alu_result = 32'($signed(ex_q.a) >>> ex_q.b[4:0]);
        AluOr:   alu_result = ex_q.a | ex_q.b;
        AluAnd:  alu_result = ex_q.a & ex_q.b;
        default: alu_result = ex_q.b;
      endcase
      unique case (ex_q.op.unit)
        UnitJal, UnitJalr: ex_result = ex_q.pc + 32'd4;
        UnitDiv: ex_result = div_result;
        UnitCsr: ex_result = csr;
        default: ex_result = alu_result;
      endcase
    end
  end

  always_comb begin
    ex_taken = ex_q.op.unit inside {UnitJal, UnitJalr, UnitIrq, UnitMret};
    if (ex_q.op.unit == UnitBranch) begin
      unique case (ex_q.op.funct3)
        3'd0: ex_taken = ex_q.a == ex_q.b;
        3'd1: ex_taken = ex_q.a != ex_q.b;
        3'd4: ex_taken = less_signed;
        3'd5: ex_taken = !less_signed;
        3'd6: ex_taken = less_unsigned;
        default: ex_taken = !less_unsigned;
      endcase
    end
  end
  assign mispredicted = ex_q.valid && !redirected_q && ex_taken != ex_q.taken;
  assign redirect = mispredicted && !stop;
  assign redirect_pc = ex_next;

  // Counts up to 3 when static prediction was wrong, down to 0 when it was right.
  if (Predict && History > 0) begin : g_history
    localparam int IndexW = $clog2(History);
    logic [1:0] wrong[History];
    wire ex_wrong = ex_taken != ex_q.op.imm[31];
    initial for (int i = 0; i < History; i++) wrong[i] = '0;
    assign if_wrong = wrong[pc_q[2+:IndexW]];
    always_ff @(posedge clk_i) begin
      if (ex_go && ex_q.op.unit == UnitBranch && ex_q.wrong != {2{ex_wrong}})
        wrong[ex_q.pc[2+:IndexW]] <= ex_wrong ? ex_q.wrong + 1'b1 : ex_q.wrong - 1'b1;
    end
    if (2 ** IndexW != History) begin : g_bad_parameter
      $fatal(1, "core: History %0d is not a power of two", History);
    end
  end else begin : g_no_history
    assign if_wrong = '0;
  end

  // Counters as they will be when all that is older has retired.
  logic [63:0] retired;
  always_comb begin
    if (`WORTH(ex_q.op.unit == UnitCsr)) begin
      retired = retired_q + 64'(mem_q.valid) + 64'(wb_q.valid);
      csr = net_csr;
      if (ex_q.csr.cycle) csr |= cycles_q[31:0];
      if (ex_q.csr.cycle_high) csr |= cycles_q[63:32];
      if (ex_q.csr.retired) csr |= retired[31:0];
      if (ex_q.csr.retired_high) csr |= retired[63:32];
      if (ex_q.csr.hart) csr |= 32'(hart_id_i);
    end
  end

  // A store's bytes on the word's lanes; an access across a word's end is a trap, and so is a jump into an instruction.
  wire [1:0] ex_size = ex_q.op.funct3[1:0];
  wire ex_word = ex_q.op.mem_op != Load && ex_q.op.mem_op != Store;
  wire ex_misaligned = ex_word || ex_size[1] ? sum[1:0] != 0 : ex_size[0] && sum[0];
  always_comb begin
    if (`WORTH(ex_q.valid)) begin
      ex_req = '{op: ex_q.op.mem_op, addr: {sum[31:2], 2'd0}, wdata: ex_q.rs2, be: '1};
      if (ex_q.op.mem_op == Store) begin
        if (ex_size == 2'd0) begin
          ex_req.be = 4'b0001 << sum[1:0];
          ex_req.wdata = {4{ex_q.rs2[7:0]}};
        end else if (ex_size == 2'd1) begin
          ex_req.be = sum[1] ? 4'b1100 : 4'b0011;
          ex_req.wdata = {2{ex_q.rs2[15:0]}};
        end
      end else if (ex_q.op.bit_index) begin
        ex_req.wdata = ex_q.op.mem_op == Or ? 32'd1 << ex_q.rs2[4:0] : {27'd0, ex_q.rs2[4:0]};
      end
      ex_trap = ex_q.op.trap;
      if (ex_q.op.unit == UnitLoad && ex_misaligned)
        ex_trap = ex_q.op.mem_op == Load ? TrapLoadAlign : TrapStoreAlign;
      if (ex_q.op.unit == UnitStore && ex_misaligned) ex_trap = TrapStoreAlign;
      if (ex_taken && ex_target[1]) ex_trap = TrapFetch;
    end
  end

  core_div i_divider (
      .clk_i,
      .rst_i,
      .start_i    (ex_div && !div_started_q),
      .abort_i    (stop),
      .signed_i   (!ex_q.op.funct3[0]),
      .remainder_i(ex_q.op.funct3[1]),
      .a_i        (ex_q.a),
      .b_i        (ex_q.b),
      .done_o     (div_done),
      .result_o   (div_result)
  );

  // Products of the factors' halves, whose sum MEM gives.
  wire multiplies = ex_q.op.unit == UnitMul;
  logic signed [17:0] low_a, low_b, high_a, high_b;
  `WHILE(multiplies, low_a, {1'b0, ex_q.rs1[16:0]})
  `WHILE(multiplies, low_b, {1'b0, ex_q.rs2[16:0]})
  `WHILE(multiplies, high_a, {{3{ex_q.rs1[31] && ex_q.op.funct3[1:0] != 2'd3}}, ex_q.rs1[31:17]})
  `WHILE(multiplies, high_b, {{3{ex_q.rs2[31] && !ex_q.op.funct3[1]}}, ex_q.rs2[31:17]})
  logic signed [35:0] low_q, mixed_ab_q, mixed_ba_q, high_q;
  always_ff @(posedge clk_i) begin
    if (ex_go && multiplies) begin
      low_q <= low_a * low_b;
      mixed_ab_q <= low_a * high_b;
      mixed_ba_q <= high_a * low_b;
      high_q <= high_a * high_b;
    end
  end
  // One sum of three, not two sums.
  logic [63:0] product;
  `WHILE(
      mem_q.unit == UnitMul, product,
      {high_q[29:0], low_q[33:0]} + {{11{mixed_ab_q[35]}}, mixed_ab_q, 17'd0} + {{11{mixed_ba_q[35]}}, mixed_ba_q, 17'd0})

  assign ex_goes = {2{ex_q.valid && ex_done && !stop}} & ({2{!mem_q.valid}} | mem_goes);
  assign ex_go   = ex_goes[port_through];

  always_ff @(posedge clk_i) begin
    div_started_q <= ex_div && !ex_go && !stop && !rst_i;
    redirected_q  <= (redirected_q || redirect) && !ex_go && !stop && !rst_i;
    if (ex_go) begin
      mem_q.pc <= ex_q.pc;
      mem_q.insn <= ex_q.insn;
      mem_q.next_pc <= ex_trap != NoTrap ? ex_q.pc : ex_next;
      mem_q.trap <= ex_trap;
      mem_q.unit <= ex_trap != NoTrap ? UnitTrap : ex_q.op.unit;
      mem_q.rd <= ex_trap != NoTrap ? '0 : ex_q.op.rd;
      mem_q.funct3 <= ex_q.op.funct3;
      mem_q.shift <= sum[1:0];
      mem_q.sign <= {sum[1], sum[0] || ex_size[0]};
      mem_q.own <= {ex_word || ex_size[1], ex_word || ex_size != 2'd0};
      mem_q.signed_ <= !ex_q.op.funct3[2];
      mem_q.result <= ex_result;
      mem_q.access <= ex_trap == NoTrap && ex_q.op.unit inside {UnitLoad, UnitStore};
      mem_q.stays <= ex_q.op.unit == UnitWait || ex_q.op.sends != 0 || (ex_q.op.unit == UnitLoad && ex_q.op.mem_op == Update);
      mem_q.req <= ex_req;
      mem_q.region <= region_of(ex_req.op, ex_req.addr, ScratchBytes, DeviceBytes, FrameBytes);
      mem_q.rs1 <= ex_q.rs1;
      mem_q.rs2 <= ex_q.rs2;
      mem_q.takes <= ex_q.takes;
      mem_q.sends <= ex_trap != NoTrap ? '0 : ex_q.op.sends;
    end
    if (!mem_live || mem_go) begin
      mem_q.valid <= ex_go && ex_q.op.unit != UnitIrq;
      mem_q.use_  <= stop ? Halted : ex_q.valid ? StallPipe : ex_q.use_;
    end
    if (rst_i) begin
      mem_q.valid <= 1'b0;
      mem_q.use_  <= Halted;
    end
  end

  // ---- MEM
  logic port_done, port_answered, port_conflict, port_behind, port_error, port_idle, posted_error;
  logic [31:0] rdata, posted_pc, loaded;
  // What is to be sent and finds no room; a load whose result is sent begins when there is.
  wire mem_blocked = Networks && (mem_q.sends & ~net_out_ready_i) != 0;
  // A load before it met an error: known too late to keep what is in EX from MEM, so it has no effect from there.
  wire wb_trapped = wb_q.trapped;
  assign mem_live = mem_q.valid && !wb_trapped;
  // The ones that an Update cleared are counted in the clock after its answer, up to the first zero from the bit it began at.
  logic [31:0] first_zero_q;
  logic ends_q;  // there is none
  wire mem_access = mem_live && mem_q.access && !mem_blocked && !counting_q;
  wire counts = mem_q.unit == UnitLoad && mem_q.req.op == Update && !port_error;
  wire to_count = mem_access && counts;
  // An access of the 64 kB that the base register points into: what is late of its address chooses no slave but the bank.
  wire ex_ahead = ex_q.valid && ex_q.ahead && ex_q.a[31:28] == ScratchBase[31:28] && !(mem_q.valid && mem_q.stays && !counting_q);
  wire [31:0] ahead_addr = {ex_q.a[31:16], sum[15:0]};
  core_mem #(
      .Ahead(Ahead)
  ) i_data_port (
      .clk_i,
      .rst_i,
      .present_i      (mem_q.valid && mem_q.access && !counting_q),
      .access_i       (mem_access),
      .held_i         (mem_blocked),
      .posted_i       (mem_q.unit == UnitStore),
      .access_req_i   (mem_q.req),
      .access_region_i(mem_q.region),
      .access_pc_i    (mem_q.pc),
      .done_o         (port_done),
      .answered_o     (port_answered),
      .conflict_o     (port_conflict),
      .behind_o       (port_behind),
      .rdata_o        (rdata),
      .error_o        (port_error),
      .posted_error_o (posted_error),
      .posted_pc_o    (posted_pc),
      .idle_o         (port_idle),
      .ahead_i        (ex_ahead),
      .ahead_addr_i   (ahead_addr),
      .ahead_region_i (region_of(Load, ahead_addr, ScratchBytes, DeviceBytes, FrameBytes)),
      .ahead_kept_i   (ex_go && !ex_misaligned && sum[31:16] == ex_q.a[31:16]),
      .ex_addr_i      (ex_req.addr),
      .next_addr_o,
      .req_valid_o,
      .req_o,
      .req_region_o,
      .req_ready_i,
      .rsp_valid_i,
      .rsp_i,
      .store_error_i
  );
  assign sleeping_o = mem_live && mem_q.unit == UnitWait && !stop;
  wire mem_sleeps = sleeping_o && !wake_i;
  assign mem_goes = {2{mem_live && !mem_blocked && !mem_sleeps}} & {1'b1, !mem_q.access || counting_q};
  assign port_through = port_done && !counts;
  assign mem_go = mem_goes[port_through];
  logic [32:0] past;
  `WHILE(to_count, past, {1'b0, rdata} + (33'd1 << mem_q.req.wdata[4:0]))
  always_ff @(posedge clk_i) begin
    counting_q <= to_count && port_done && !rst_i;
    if (to_count) begin
      first_zero_q <= past[31:0] & ~rdata;
      ends_q <= past[32];
    end
  end
  logic [4:0] end_index;
  logic [5:0] count;
  always_comb begin
    if (`WORTH(counting_q)) begin
      end_index = '0;
      for (int i = 0; i < 32; i++) if (first_zero_q[i]) end_index |= 5'(i);
      count = {ends_q, end_index} - {1'b0, mem_q.req.wdata[4:0]};
    end
  end

  // What is read comes last: all else has been chosen by then, and is 0 where it is wanted.
  logic [31:0] unread;
  logic sign;
  always_comb begin
    if (`WORTH(mem_q.valid && mem_q.unit == UnitLoad)) begin
      sign = rdata[{mem_q.sign, 3'd7}] && mem_q.signed_;
      loaded[7:0] = rdata[{mem_q.shift, 3'd0}+:8];
      loaded[15:8] = mem_q.own[0] ? (mem_q.shift[1] ? rdata[31:24] : rdata[15:8]) : {8{sign}};
      loaded[31:16] = mem_q.own[1] ? rdata[31:16] : {16{sign}};
    end
  end
  always_comb begin
    if (`WORTH(mem_q.valid)) begin
      unread = mem_q.unit == UnitLoad ? '0 : mem_q.result;
      if (mem_q.unit == UnitMul) unread = mem_q.funct3[1:0] == 0 ? product[31:0] : product[63:32];
      if (counting_q) unread = 32'(count);
      mem_result = unread | ({32{mem_q.unit == UnitLoad && !counting_q}} & loaded);
    end
  end
  wire trap_e mem_trap = port_error ? (mem_q.req.op == Load ? TrapLoadAccess : TrapStoreAccess) : mem_q.trap;

  always_ff @(posedge clk_i) begin
    if (mem_go) begin
      wb_q.pc <= mem_q.pc;
      wb_q.trap <= mem_trap;
      wb_q.rd <= mem_trap != NoTrap ? '0 : mem_q.rd;
      wb_q.result <= mem_result;
    end
    wb_q.valid   <= mem_go && !rst_i;
    wb_q.trapped <= mem_go && mem_trap != NoTrap && !rst_i;
    if (!mem_live) wb_q.use_ <= wb_trapped ? Halted : mem_q.use_;
    else if (mem_sleeps) wb_q.use_ <= Sleep;
    else if (mem_blocked) wb_q.use_ <= StallSend;
    else if (port_conflict) wb_q.use_ <= StallBank;
    else if (port_behind) wb_q.use_ <= StallStore;
    else wb_q.use_ <= StallLoad;
    if (rst_i) wb_q.use_ <= Halted;
  end

  // ---- networks, interrupts
  if (Networks) begin : g_networks
    wire mem_fine = mem_live && mem_trap == NoTrap;
    logic [NetCount-1:0][NetCountW-1:0] net_count;
    core_net i_net (
        .clk_i,
        .rst_i,
        .in_valid_i(net_in_valid_i),
        .in_data_i (net_in_data_i),
        .in_ready_o(net_in_ready_o),
        .some_o    (net_some),
        .word_o    (net_word),
        .count_o   (net_count),
        .take_i    (id_go && !redirect ? id_takes : '0),
        .done_i    (mem_go && mem_fine ? mem_q.takes : '0),
        .undo_i    (stop),
        .keep_i    (mem_fine ? mem_q.takes : '0)
    );
    // A load's result is there when it is answered, all else at once.
    wire load_goes = counting_q || (port_answered && !counts && !mem_blocked);
    assign net_out_valid_o = mem_fine && (mem_q.unit != UnitLoad || load_goes) ? mem_q.sends : '0;
    assign net_out_data_o  = mem_result;

    wire [NetCount-1:0] room = net_out_ready_i & ~(mem_q.valid ? mem_q.sends : '0);
    core_csr i_csrs (
        .clk_i,
        .rst_i,
        .run_i,
        .select_i(ex_q.csr),
        .write_i(ex_go && ex_q.op.unit == UnitCsr),
        .op_i   (ex_q.op.funct3[1:0]),
        .wdata_i(ex_q.op.funct3[2] ? {27'd0, ex_q.insn[19:15]} : ex_q.rs1),
        .rdata_o(net_csr),
        .some_i (net_some),
        .count_i(net_count),
        .room_i (room),
        .flag_i (irq_i),
        .irq_o  (irq),
        .enter_i(ex_go && ex_q.op.unit == UnitIrq),
        .pc_i   (ex_q.pc),
        .leave_i(ex_go && ex_q.op.unit == UnitMret),
        .mtvec_o(mtvec),
        .mepc_o (mepc)
    );
  end else begin : g_no_networks
    wire unused = &{1'b0, net_in_valid_i, net_in_data_i, irq_i, port_answered};
    assign net_in_ready_o = '0;
    assign net_out_valid_o = '0;
    assign net_out_data_o = '0;
    assign net_some = '0;
    assign net_word = '0;
    assign net_csr = '0;
    assign irq = 1'b0;
    assign mtvec = '0;
    assign mepc = '0;
  end

  // ---- WB
  wire  retire = wb_q.valid && !wb_q.trapped;
  // No new program before the accesses of the old one are through.
  logic drained_q;
  assign stop = !run_i || !drained_q || trap_o != NoTrap || wb_trapped || posted_error || watchdog_i ||
      (mem_q.valid && (Networks ? mem_trap : mem_q.trap) != NoTrap);

  always_comb begin
    trap_d = wb_q.valid ? wb_q.trap : NoTrap;
    if (trap_d == NoTrap && posted_error) trap_d = TrapStoreAccess;
    if (trap_d == NoTrap && watchdog_i && run_i) trap_d = TrapWatchdog;
  end

  always_ff @(posedge clk_i) begin
    if (retire && wb_q.rd != 0) regs[wb_q.rd] <= wb_q.result;
    cycles_q <= cycles_q + 64'd1;
    if (retire) retired_q <= retired_q + 64'd1;
    if (trap_o == NoTrap && trap_d != NoTrap) begin
      trap_o <= trap_d;
      trap_pc_o <= posted_error && !(wb_q.valid && wb_q.trap != NoTrap) ? posted_pc : wb_q.pc;
    end
    drained_q <= run_i && (drained_q || (!mem_q.valid && !wb_q.valid && port_idle));
    if (!run_i) trap_o <= NoTrap;
    if (rst_i) begin
      trap_o <= NoTrap;
      drained_q <= 1'b0;
      cycles_q <= '0;
      retired_q <= '0;
    end
  end
  initial regs[0] = '0;  // never written

  assign use_o = retire ? Retire : wb_q.valid ? Halted : wb_q.use_;
  assign pc_o  = wb_q.pc;

  if (Rvfi) begin : g_rvfi
    rvfi_t retired_insn_q;
    logic  writes;
    assign writes = mem_q.unit == UnitStore || mem_q.req.op != Load;
    always_ff @(posedge clk_i) begin
      if (mem_go)
        retired_insn_q <= '{
            valid: 1'b1,
            trap: mem_trap != NoTrap,
            insn: mem_q.insn,
            rs1_addr: mem_q.insn[19:15],
            rs2_addr: mem_q.insn[24:20],
            rs1_rdata: mem_q.rs1,
            rs2_rdata: mem_q.rs2,
            rd_addr: mem_trap != NoTrap ? '0 : mem_q.rd,
            rd_wdata: mem_trap != NoTrap || mem_q.rd == 0 ? '0 : mem_result,
            pc_rdata: mem_q.pc,
            pc_wdata: mem_trap != NoTrap ? mem_q.pc : mem_q.next_pc,
            mem_addr: mem_q.access ? mem_q.req.addr : '0,
            mem_rmask: mem_q.access && mem_q.unit == UnitLoad ? 4'hf : 4'h0,
            mem_wmask: mem_q.access && writes ? mem_q.req.be : 4'h0,
            mem_rdata: counting_q ? 32'(count) : rdata,
            mem_wdata: mem_q.req.wdata
        };
    end
    always_comb begin
      rvfi_o = retired_insn_q;
      rvfi_o.valid = wb_q.valid;
    end
  end else begin : g_no_rvfi
    assign rvfi_o = '{default: '0};
  end

  `ASSERT(KeepsRequest, req_valid_o && !req_ready_i && req_o.op != Load |=> req_valid_o && $stable
                        (req_o))
  `ASSERT(RegisterZero, regs[0] == 0)
  `ASSERT(RoomStays, Networks && (net_out_ready_i & ~net_out_valid_o) != 0 |=> ($past
                     (net_out_ready_i & ~net_out_valid_o) & ~net_out_ready_i) == 0)
  `ASSERT(SendsOne, $onehot0(net_out_valid_o))
endmodule
