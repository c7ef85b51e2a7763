// SPDX-License-Identifier: Apache-2.0
// prove: mode=bmc depth=12 timeout=500 suite=8
`include "formal.svh"
/// core: whatever instructions come, whenever cache and memory answer, what retires follows one another without a gap, its
/// operands are what was last written, and results, next pc and accesses are those of the instruction, for the arithmetic,
/// branches, jumps, loads, stores, amo*.w, `set` and `update`; a request but for Loads stays as it is until it is taken; after a trap
/// nothing retires and nothing goes to memory; a core that sleeps does nothing until it is woken.
///
/// Products and quotients are left out (core_tb and tests/isa have them); traps of stores are not raised here.
module core_formal
  import core_pkg::*;
(
    input logic            clk_i,
    input logic            rst_i,
    input logic            fetch_valid_i,
    input logic     [31:0] fetch_data_i,
    input logic            fetch_error_i,
    input logic            req_ready_i,
    input logic            rsp_valid_i,
    input mem_rsp_t        rsp_i,
    input logic            wake_i,
    input logic     [ 4:0] pick_i          // a register: any, but always the same
);
  `FORMAL_BEGIN
  logic fetch_en, req_valid, sleeping;
  logic [31:0] fetch_addr, trap_pc;
  mem_req_t req;
  region_t region;
  clock_use_e clock_use;
  rvfi_t rvfi;
  trap_e trap;
  core #(
      .Rvfi(1)
  ) dut (
      .clk_i,
      .rst_i,
      .hart_id_i      (6'd3),
      .run_i          (1'b1),
      .watchdog_i     (1'b0),
      .wake_i,
      .sleeping_o     (sleeping),
      .fetch_en_o     (fetch_en),
      .fetch_early_o  (),
      .fetch_addr_o   (fetch_addr),
      .fetch_valid_i,
      .fetch_data_i,
      .fetch_error_i,
      .req_valid_o    (req_valid),
      .req_o          (req),
      .req_region_o   (region),
      .next_addr_o    (),
      .req_ready_i,
      .rsp_valid_i,
      .rsp_i,
      .store_error_i  (1'b0),
      .net_in_ready_o (),
      .net_out_valid_o(),
      .net_out_data_o (),
      .use_o          (clock_use),
      .pc_o           (),
      .rvfi_o         (rvfi),
      .trap_o         (trap),
      .trap_pc_o      (trap_pc)
  );

  // ---- What the surroundings keep to
  logic asked_q, kept_q, waiting_q, offered_q, picked_q;
  logic [31:0] word_q;
  logic error_q;
  logic [4:0] pick_q;
  mem_req_t req_q;
  always_ff @(posedge clk_i) begin
    asked_q <= started_q && (fetch_en || asked_q);
    kept_q <= started_q && fetch_valid_i && !fetch_en;
    word_q <= fetch_data_i;
    error_q <= fetch_error_i;
    waiting_q <= started_q && (req_valid && req_ready_i ? req.op != Store : waiting_q && !rsp_valid_i);
    offered_q <= started_q && req_valid && !req_ready_i;
    req_q <= req;
    pick_q <= pick_i;
    picked_q <= 1'b1;
  end
  initial picked_q = 1'b0;
  always_comb begin
    assume (!fetch_valid_i || asked_q);
    if (started_q && kept_q)
      assume (fetch_valid_i && fetch_data_i == word_q && fetch_error_i == error_q);
    assume (!(fetch_data_i[6:0] == 7'h33 && fetch_data_i[25]));
    assume (!rsp_valid_i || waiting_q);
    if (picked_q) assume (pick_i == pick_q);
  end

  // ---- One after the other
  wire done = started_q && rvfi.valid && !rvfi.trap;
  logic before_q, trapped_q, written_q, slept_q, woke_q;
  logic [31:0] next_q, value_q;
  always_ff @(posedge clk_i) begin
    if (started_q && rvfi.valid) next_q <= rvfi.pc_wdata;
    before_q  <= started_q && (before_q || rvfi.valid);
    trapped_q <= started_q && (trapped_q || (rvfi.valid && rvfi.trap));
    if (done && rvfi.rd_addr == pick_i) value_q <= rvfi.rd_wdata;
    slept_q   <= started_q && sleeping && !wake_i;
    woke_q    <= started_q && sleeping && wake_i;
    written_q <= started_q && (written_q || (done && rvfi.rd_addr == pick_i));
  end

  // ---- What an instruction must do
  wire [31:0] i = rvfi.insn;
  wire [31:0] a = rvfi.rs1_rdata, b = rvfi.rs2_rdata;
  wire reads_rs2 = i[6:0] inside {7'h33, 7'h63, 7'h23, 7'h2f, 7'h0b};
  wire reads_rs1 = reads_rs2 || i[6:0] inside {7'h13, 7'h03, 7'h67};
  wire [2:0] f3 = i[14:12];
  wire [31:0] imm_i = {{20{i[31]}}, i[31:20]};
  wire [31:0] second = i[5] ? b : imm_i;
  wire other = i[30] && (i[5] || f3 == 3'd5);
  wire [31:0] after = rvfi.pc_rdata + 32'd4;
  logic [31:0] sum, next_pc, loaded;
  logic less, taken;
  always_comb begin
    unique case (f3)
      3'd0: sum = other ? a - second : a + second;
      3'd1: sum = a << second[4:0];
      3'd2: sum = {31'd0, $signed(a) < $signed(second)};
      3'd3: sum = {31'd0, a < second};
      3'd4: sum = a ^ second;
      3'd5: sum = other ? 32'($signed(a) >>> second[4:0]) : a >> second[4:0];
      3'd6: sum = a | second;
      default: sum = a & second;
    endcase
    less = f3[1] ? a < b : $signed(a) < $signed(b);
    taken = (f3[2] ? less : a == b) != f3[0];
    next_pc = after;
    if (i[6:0] == 7'h6f) next_pc = rvfi.pc_rdata + {{12{i[31]}}, i[19:12], i[20], i[30:21], 1'b0};
    if (i[6:0] == 7'h67) next_pc = (a + imm_i) & ~32'd1;
    if (i[6:0] == 7'h63 && taken)
      next_pc = rvfi.pc_rdata + {{20{i[31]}}, i[7], i[30:25], i[11:8], 1'b0};
  end

  wire [31:0] load_at = a + imm_i;
  wire [31:0] store_at = a + {{20{i[31]}}, i[31:25], i[11:7]};
  wire [31:0] bit_at = a + {3'd0, b[31:5], 2'd0};
  always_comb begin
    loaded = rvfi.mem_rdata >> {load_at[1:0], 3'd0};
    if (f3 == 3'd0) loaded = {{24{loaded[7]}}, loaded[7:0]};
    if (f3 == 3'd1) loaded = {{16{loaded[15]}}, loaded[15:0]};
    if (f3 == 3'd4) loaded = {24'd0, loaded[7:0]};
    if (f3 == 3'd5) loaded = {16'd0, loaded[15:0]};
  end
  wire [31:0] stored = b << {store_at[1:0], 3'd0};
  wire [31:0] lanes = {
    {8{rvfi.mem_wmask[3]}}, {8{rvfi.mem_wmask[2]}}, {8{rvfi.mem_wmask[1]}}, {8{rvfi.mem_wmask[0]}}
  };
  wire [31:0] result = rvfi.rd_wdata;
  wire gives = rvfi.rd_addr != 0;

  always_comb begin
    if (started_q) begin
      stays : assert (!offered_q || req_q.op == Load || (req_valid && req == req_q));
      where :
      assert (region == (req_valid ? region_of(
          req.op, req.addr, 262144, 4096, 32 * 1024 * 1024
      ) : '0));
      is_counted : assert (done == (clock_use == Retire));
      if (slept_q)
        nothing_meanwhile :
        assert (!rvfi.valid && clock_use == Sleep);
        else not_asleep : assert (clock_use != Sleep);
      if (done && rvfi.insn == 32'h1050_0073) woken : assert (woke_q || trap != NoTrap);
      if (trapped_q) nothing_after : assert (!rvfi.valid);
      if (rvfi.valid && before_q) no_gap : assert (rvfi.pc_rdata == next_q);
      if (rvfi.valid && !before_q) from_reset : assert (rvfi.pc_rdata == 0);
      if (done && written_q && pick_i != 0) begin
        if (reads_rs1 && rvfi.rs1_addr == pick_i) rs1_is_last : assert (a == value_q);
        if (reads_rs2 && rvfi.rs2_addr == pick_i) rs2_is_last : assert (b == value_q);
      end
      if (done) begin
        next_is : assert (rvfi.pc_wdata == next_pc);
        x0 : assert (gives || result == 0);
        unique case (i[6:0])
          7'h13, 7'h33: arithmetic : assert (!gives || result == sum);
          7'h37: lui_is : assert (!gives || result == {i[31:12], 12'd0});
          7'h17: auipc : assert (!gives || result == rvfi.pc_rdata + {i[31:12], 12'd0});
          7'h6f, 7'h67: link : assert (!gives || result == after);
          7'h63, 7'h0f: no_result : assert (!gives);
          7'h03: begin
            load_address : assert (rvfi.mem_addr == (load_at & ~32'd3) && rvfi.mem_rmask == '1);
            load_result : assert (!gives || result == loaded);
          end
          7'h23: begin
            store_address : assert (rvfi.mem_addr == (store_at & ~32'd3) && rvfi.mem_rmask == 0);
            store_bytes :
            assert (rvfi.mem_wmask == (4'((5'd1 << (5'd1 << f3[1:0])) - 5'd1) << store_at[1:0]));
            store_data : assert (((rvfi.mem_wdata ^ stored) & lanes) == 0);
          end
          7'h2f: begin
            amo : assert (rvfi.mem_addr == a && rvfi.mem_wmask == '1 && rvfi.mem_wdata == b);
            amo_result : assert (!gives || result == rvfi.mem_rdata);
          end
          7'h0b: begin
            bits : assert (rvfi.mem_addr == bit_at && rvfi.mem_wmask == '1);
            set_bit : assert (f3 != 0 || (!gives && rvfi.mem_wdata == 32'd1 << b[4:0]));
            update_bits :
            assert (f3 == 0 || (rvfi.mem_wdata == 32'(b[4:0]) && (!gives || result == rvfi.mem_rdata)));
          end
          default: ;
        endcase
      end
      two : cover (done && before_q && i[6:0] == 7'h03 && gives);
      branch : cover (done && before_q && i[6:0] == 7'h63 && taken);
      sleep_seen : cover (done && before_q && woke_q);
      trap_seen : cover (trapped_q && trap == TrapIllegal);
    end
  end
endmodule
