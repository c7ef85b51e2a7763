// SPDX-License-Identifier: Apache-2.0
`include "parts_tb.svh"
`include "tb.svh"
/// tile_regs: each register reads what it names, writes reach the memory of their region and no other, what runs is what
/// RegControl and `go_i` say, clocks of the core are counted by use and only while it runs, a reset stops all.
module tile_regs_tb;
  import boot_pkg::*;
  import mesh_pkg::*;
  import core_pkg::clock_use_e, core_pkg::ClockUses, core_pkg::trap_e;
  `TB_BEGIN
  `TB_TIMEOUT(100_000)
  localparam int ImemAddrW = 13, SwitchAddrW = 10;

  reg_if #(.AddrW(UnitW)) boot ();
  reg_master #(
      .AddrW(UnitW)
  ) i_boot (
      .clk,
      .rst,
      .on(boot)
  );

  logic go = 0, imem_we, switch_we, ram_valid, ram_write, map_we, core_run, switch_run, deep;
  logic [ImemAddrW-1:0] imem_addr;
  logic [SwitchAddrW-1:0] switch_addr;
  logic [15:0] ram_addr;
  logic [3:0] map_addr;
  word_t
      wdata,
      ram_rdata,
      trap_pc = 0,
      cache[3],
      by_static[2*RouterPorts],
      gdn[RouterPorts],
      mdn[RouterPorts];
  logic [RouterPorts-1:0][3:0] turns;
  clock_use_e use_now = clock_use_e'(0);
  trap_e trap = trap_e'(0);
  switch_status_t status = '0;
  tile_regs #(
      .ImemAddrW  (ImemAddrW),
      .SwitchAddrW(SwitchAddrW)
  ) dut (
      .clk_i(clk),
      .rst_i(rst),
      .go_i(go),
      .boot,
      .imem_we_o(imem_we),
      .imem_addr_o(imem_addr),
      .switch_we_o(switch_we),
      .switch_addr_o(switch_addr),
      .ram_valid_o(ram_valid),
      .ram_write_o(ram_write),
      .ram_addr_o(ram_addr),
      .ram_rdata_i(ram_rdata),
      .map_we_o(map_we),
      .map_addr_o(map_addr),
      .wdata_o(wdata),
      .core_run_o(core_run),
      .switch_run_o(switch_run),
      .deep_o(deep),
      .turns_o(turns),
      .use_i(use_now),
      .trap_i(trap),
      .trap_pc_i(trap_pc),
      .switch_i(status),
      .cache_i(cache),
      .static_i(by_static),
      .gdn_i(gdn),
      .mdn_i(mdn)
  );

  // The memories: what was written last, by region, and how often. The RAM answers a clock later.
  word_t imem[2**ImemAddrW], program_[2**SwitchAddrW], ram[2**14], map[16];
  int writes[4];
  word_t uses[ClockUses];
  always @(posedge clk) begin
    if (imem_we) begin
      imem[imem_addr] = wdata;
      writes[0]++;
    end
    if (switch_we) begin
      program_[switch_addr] = wdata;
      writes[1]++;
    end
    ram_rdata <= $urandom();
    if (ram_valid) begin
      if (ram_write) begin
        ram[ram_addr[15:2]] = wdata;
        writes[2]++;
      end else ram_rdata <= ram[ram_addr[15:2]];
    end
    if (map_we) begin
      map[map_addr] = wdata;
      writes[3]++;
    end
    if (rst) uses = '{default: '0};
    else if (core_run) uses[use_now]++;
    use_now <= clock_use_e'($urandom_range(ClockUses - 1));
  end

  function automatic logic [UnitW-1:0] at(logic [5:0] register);
    return TileRegs + UnitW'({register, 2'b00});
  endfunction
  task automatic reads(logic [5:0] register, word_t want);
    word_t got;
    i_boot.read(at(register), got);
    `CHECK(got == want, $sformatf("register %0d reads %h, not %h", register, got, want))
  endtask
  task automatic draw();
    trap = trap_e'($urandom_range(9));
    trap_pc = $urandom();
    status = $bits(status)'({$urandom(), $urandom()});
    foreach (cache[i]) cache[i] = $urandom();
    foreach (by_static[i]) by_static[i] = $urandom();
    foreach (gdn[i]) gdn[i] = $urandom();
    foreach (mdn[i]) mdn[i] = $urandom();
  endtask
  task automatic read_all(logic [2:0] control, word_t turns_set);
    reads(RegControl, 32'(control));
    reads(RegTrap, 32'(trap));
    reads(RegTrapPc, trap_pc);
    reads(RegSwitch, {14'd0, status.halted, status.waiting, status.pc});
    reads(RegSwitchNeeds, {8'd0, status.no_room2, status.no_room1, status.no_word2, status.no_word1
          });
    foreach (cache[i]) reads(RegCache + 6'(i), cache[i]);
    foreach (uses[i]) reads(RegUses + 6'(i), uses[i]);
    // The last uses read where the first of the map, which cannot be read, are written.
    for (int i = int'(RegUses) + ClockUses; i < int'(RegMap) + 16; i++) reads(6'(i), 0);
    foreach (by_static[i]) reads(RegStatic + 6'(i), by_static[i]);
    foreach (gdn[i]) reads(RegGdn + 6'(i), gdn[i]);
    foreach (mdn[i]) reads(RegMdn + 6'(i), mdn[i]);
    reads(RegTurns, turns_set);
    for (int i = int'(RegTurns) + 1; i < 64; i++) reads(6'(i), 0);
  endtask

  /// Instruction memories cannot be read, and what is written there is no register, wherever it lies.
  task automatic read_nothing();
    automatic logic [UnitW-1:0] where = {1'b0, 17'($urandom()) & 17'h1fffc};
    word_t got;
    if ($urandom_range(1) == 0) where[15:8] = '0;
    i_boot.read(where, got);
    `CHECK(got == '0, $sformatf("%h reads %h", where, got))
  endtask

  /// A write of a random place of a region arrives there alone.
  task automatic write_somewhere();
    automatic logic [UnitW-1:0] where = {2'($urandom()), 14'($urandom()), 2'b00};
    automatic word_t data = $urandom(), got;
    automatic int had[4] = writes, region = int'(where[17:16]);
    if (region == 3) where = {2'd3, 8'd0, RegMap + 6'(where[5:2]), 2'b00};
    i_boot.write(where, data);
    @(posedge clk);
    foreach (writes[i])
      `CHECK(writes[i] == had[i] + int'(i == region), $sformatf(
             "%h: memory %0d was written", where, i))
    case (region)
      0: `CHECK(imem[where[2+:ImemAddrW]] == data, "instruction memory")
      1: `CHECK(program_[where[2+:SwitchAddrW]] == data, "switch program")
      2: begin
        `CHECK(ram[where[15:2]] == data, "data RAM")
        i_boot.read(where, got);
        `CHECK(got == data, "the RAM's word is read")
      end
      3: `CHECK(map[where[5:2]] == data, "memory of a region")
    endcase
    `CHECK(writes[2] == had[2] + int'(region == 2), "a read writes nothing")
  endtask

  initial begin
    foreach (writes[i]) writes[i] = 0;
    draw();
    @(negedge rst);
    for (int round = 0; round < 12; round++) begin
      automatic logic [2:0] control = 3'(round);
      automatic word_t order = $urandom() & 32'h000fffff;
      draw();
      i_boot.write(at(RegControl), {29'($urandom()), control});
      i_boot.write(at(RegTurns), {12'($urandom()), order[19:0]});
      `CHECK(turns == order[19:0] && deep == control[2], "turns and depth as set")
      `CHECK(!core_run && !switch_run, "nothing runs without the whole")
      go <= 1;
      repeat (20 + $urandom_range(50)) @(posedge clk);
      `CHECK(core_run == control[0] && switch_run == control[1], "what is to run does")
      go <= 0;
      repeat (2) @(posedge clk);
      read_all(control, order);
      repeat (20) write_somewhere();
      repeat (20) read_nothing();
      for (int region = 0; region < 3; region++) begin
        i_boot.write(UnitW'({2'(region), 16'(RegControl) << 2}), ~{29'd0, control});
        i_boot.write(UnitW'({2'(region), 16'(RegTurns) << 2}), ~order);
      end
      reads(RegControl, 32'(control));
      reads(RegTurns, order);
    end
    // Resets while it runs, in each clock of an access.
    for (int clocks = 0; clocks < 5; clocks++) begin
      i_boot.write(at(RegControl), 7);
      go <= 1;
      repeat (9) @(posedge clk);
      i_boot.post(at(RegTrapPc), $urandom());
      repeat (clocks) @(posedge clk);
      rst <= 1;
      repeat (1 + $urandom_range(2)) @(posedge clk);
      rst <= 0;
      go  <= 0;
      @(posedge clk);
      `CHECK(!core_run && !switch_run && !deep && turns == '0, "a reset stops all")
      repeat (3) @(posedge clk);
      read_all('0, '0);
    end
    `TB_PASS
  end
endmodule
