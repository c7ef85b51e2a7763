// SPDX-License-Identifier: Apache-2.0
// suite: once
`include "parts_tb.svh"
`include "slot_dram_tb.svh"
`include "tb.svh"
/// tile_router: 2 x 2 tiles run a compiled program (tests/mesh/smoke.c) that uses all networks, interrupts, caches and two
/// memories, loaded and judged through the boot port, twice over; a word takes 3 clocks from core to core, one a clock;
/// what the cores did sums to all clocks; an access to no unit is reported.
module tile_router_tb
  import boot_pkg::*;
  import mesh_pkg::*;
;
  `TB_BEGIN
  `TB_TIMEOUT(2_000_000)
  localparam int Cols = 2, Rows = 2, Tiles = 4, Slots = 8, DramLatency = 16;

  reg_if #(.AddrW(BootAddrW)) boot ();
  `REG_MASTER(BootAddrW, host, boot)
  logic [2:0] no_bytes[Slots];
  logic nothing[Slots];  // comes in by the wires
  logic rd_valid[Slots], wr_valid[Slots], unmapped;
  word_t rd_addr[Slots], rd_data[Slots], wr_addr[Slots], wr_data[Slots];
  logic [3:0] wr_be[Slots];
  core_pkg::clock_use_e core_use[Tiles];
  core_pkg::trap_e trap[Tiles];
  tile_router #(
      .Cols        (Cols),
      .Rows        (Rows),
      .CacheBytes  (2048),
      .Instructions(64),
      .DramLatency (DramLatency)
  ) dut (
      .clk_i           (clk),
      .rst_i           (rst),
      .boot_req_i      (boot.req),
      .boot_write_i    (boot.write),
      .boot_addr_i     (boot.addr),
      .boot_wdata_i    (boot.wdata),
      .boot_ack_o      (boot.ack),
      .boot_rdata_o    (boot.rdata),
      .boot_unmapped_o (unmapped),
      .dram_rd_valid_o (rd_valid),
      .dram_rd_addr_o  (rd_addr),
      .dram_rd_data_i  (rd_data),
      .dram_wr_valid_o (wr_valid),
      .dram_wr_addr_o  (wr_addr),
      .dram_wr_data_o  (wr_data),
      .dram_wr_be_o    (wr_be),
      .wire_in_valid_i (nothing),
      .wire_in_ready_o (),
      .wire_in_data_i  (rd_data),
      .wire_in_sop_i   (nothing),
      .wire_in_eop_i   (nothing),
      .wire_in_bytes_i (no_bytes),
      .wire_out_valid_o(),
      .wire_out_ready_i(nothing),
      .wire_out_data_o (),
      .wire_out_sop_o  (),
      .wire_out_eop_o  (),
      .wire_out_bytes_o(),
      .use_o           (core_use),
      .trap_o          (trap)
  );

  for (genvar s = 0; s < Slots; s++) begin : g_slot
    assign nothing[s]  = 1'b0;
    assign no_bytes[s] = '0;
    slot_dram #(
        .Words  (131072),
        .Latency(DramLatency)
    ) i_dram (
        .clk,
        .rst,
        .rd_valid(rd_valid[s]),
        .rd_addr (rd_addr[s]),
        .rd_data (rd_data[s]),
        .wr_valid(wr_valid[s]),
        .wr_addr (wr_addr[s]),
        .wr_data (wr_data[s]),
        .wr_be   (wr_be[s])
    );
  end

  // ---- Boot port
  task automatic write(input int unit, input int offset, input word_t data);
    host.write(BootAddrW'(unit << UnitW) + BootAddrW'(offset), data);
  endtask
  task automatic read(input int unit, input int offset, output word_t data);
    host.read(BootAddrW'(unit << UnitW) + BootAddrW'(offset), data);
  endtask
  task automatic write_register(input int unit, input logic [5:0] register, input word_t data);
    write(unit, int'(TileRegs) + 4 * int'(register), data);
  endtask
  task automatic read_register(input int unit, input logic [5:0] register, output word_t data);
    read(unit, int'(TileRegs) + 4 * int'(register), data);
  endtask

  /// An instruction of the switch: on each network one more route.
  function automatic switch_instr_t route(switch_op_e op, logic [15:0] imm, port_e from1,
                                          port_e to1, port_e from2, port_e to2);
    route = '{
        op: op,
        counter: 0,
        source_net: 0,
        source: NoPort,
        reserved: 0,
        imm: imm,
        route2: '1,
        route1: '1
    };
    route.route1[to1] = from1;
    route.route2[to2] = from2;
  endfunction
  task automatic load_switch(input int t, input int at, input switch_instr_t instr);
    write(t, int'(TileSwitch) + 8 * at, instr[31:0]);
    write(t, int'(TileSwitch) + 8 * at + 4, instr[63:32]);
  endtask

  // ---- Observer: from the core of tile 0 to that of tile 2, on static network 2 (ports 5 .. 9)
  int unsigned clocks = 0, sent_at[$], words_seen = 0, least = 1000;
  always @(posedge clk) begin
    clocks <= clocks + 1;
    if (!rst && dut.g_tile[0].i_tile.from[5].valid && dut.g_tile[0].i_tile.from[5].ready)
      sent_at.push_back(clocks);
    // In the FIFO of the other core a clock later.
    if (!rst && dut.g_tile[2].i_tile.to[5].valid && dut.g_tile[2].i_tile.to[5].ready) begin
      automatic int unsigned took = clocks - sent_at.pop_front() + 1;
      words_seen++;
      if (took < least) least = took;
    end
  end

  function automatic place_t memory_place(int region);
    return region == 4 ? '{exit: North, y: 0, x: 0} : '{exit: East, y: 1, x: 1};
  endfunction

  initial begin
    automatic word_t data, words[8], address, sum;
    automatic string line;
    automatic int fd;
    automatic port_e next[4] = '{East, South, North, West}, prev[4] = '{South, West, East, North};
    @(negedge rst);
    repeat (80) @(posedge clk);
    read(WholeUnit, 4 * int'(WholeSize), data);
    `CHECK(data == {16'd0, 8'(Rows), 8'(Cols)}, "size")
    fork
      write(100, 0, 0);
      begin
        repeat (20) begin
          @(posedge clk);
          if (unmapped) sum = 1;
        end
        `CHECK(sum == 1, "an access to no unit is not reported")
      end
    join

    for (int pass = 0; pass < 2; pass++) begin
      for (int t = 0; t < Tiles; t++) begin
        fd = $fopen("tests/mesh/program.hex", "r");
        if (fd == 0) $fatal(1, "FAIL: no file tests/mesh/program.hex");
        while ($fgets(
            line, fd
        ) != 0) begin
          void'($sscanf(
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
          ));
          for (int i = 0; i < 8; i++)
          write(t, (address[28] ? int'(TileRam) : int'(TileImem)) + int'(address[15:0]) + 4 * i,
                words[i]);
        end
        $fclose(fd);
        write(t, int'(TileRam), 32'hdead_beef);
        read(t, int'(TileRam), data);
        `CHECK(data == 32'hdead_beef, "data RAM")
        // Network 1 round the grid with the clock, network 2 against it.
        load_switch(t, 0, route(OpNop, 0, Core, next[t], Core, prev[t]));
        load_switch(t, 1, route(OpJump, 0, prev[t], Core, next[t], Core));
        for (int r = 4; r < 6; r++)
        write_register(t, RegMap + 6'(r), {1'b1, 20'd0, memory_place(r)});
        write_register(t, RegControl, t % 2 == 0 ? 3 : 7);  // every other one with a deep FIFO
      end
      write(FirstSlot + 0, 4 * int'(SlotKind), 32'(SlotMemory));
      write(FirstSlot + Cols + 1, 4 * int'(SlotKind), 32'(SlotMemory));
      for (int s = 0; s < Slots; s++) write(FirstSlot + s, 4 * int'(SlotMem), 32'h8);
      write(WholeUnit, 4 * int'(WholeGo), 3);
      repeat (100_000) begin
        @(negedge clk);
        if (trap[0] != 0 && trap[1] != 0 && trap[2] != 0 && trap[3] != 0) break;
      end
      for (int t = 0; t < Tiles; t++) begin
        read_register(t, RegTrap, data);
        read_register(t, RegTrapPc, address);
        read_register(t, RegSwitch, words[0]);
        read_register(t, RegSwitchNeeds, words[1]);
        `CHECK(data == 32'(core_pkg::TrapCall), $sformatf(
               "tile %0d: %0d at %h, switch %h needs %h", t, data, address, words[0], words[1]))
        read(t, int'(TileRam), data);
        `CHECK(data == 0, $sformatf("tile %0d ends with %h", t, data))
        `CHECK(words[0][16] && words[0][15:0] == 0 && words[1][5:0] == 6'd1,
               "a switch that waits for its core's word says so")
      end
      write(WholeUnit, 4 * int'(WholeGo), 0);
      sum = 0;
      for (int t = 0; t < Tiles; t++) begin
        read_register(t, RegCache + 1, data);
        `CHECK(data >= 2 * 75 * (pass + 1), "cache misses")
        read_register(t, RegStatic + 6'(next[t]), data);
        `CHECK(data == 400 * (pass + 1), $sformatf("%0d words on a static link", data))
        read_register(t, RegGdn, data);
        sum += data;
        if (t == 0)
          for (int u = 0; u < core_pkg::ClockUses; u++) begin
            read_register(t, RegUses + 6'(u), data);
            $write("%0d ", data);
          end
      end
      // 32 rounds of one message to each, 0 .. 7 words, header and interrupts.
      `CHECK(sum == (pass + 1) * (4 * 32 * 4 + 16 * 4 * 28 + 4), $sformatf(
             "%0d words came by GDN", sum))
      $display("retired, fetch, load, bank, store, pipe, halted, sleep, receive, send");
    end
    `CHECK(words_seen == 2 * 400 && least == 3, $sformatf("%0d clocks from core to core", least))

    `TB_PASS
  end
endmodule
