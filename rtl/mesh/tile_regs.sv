// SPDX-License-Identifier: Apache-2.0
/// Boot port of a tile: its memories, what runs, what it waits for, and its counters.
///
/// Byte offset: 0x00000 instruction memory (write only), 0x10000 switch program (write only: low half of an instruction, then
/// the high one), 0x20000 data RAM, 0x30000 registers, by word (`Reg*` of boot_pkg). Answers 2 clocks later. Core and switch
/// run while `go_i` and their bit of RegControl are set; neither memory of a running one may be written, nor what is set for the GDN.
module tile_regs
  import boot_pkg::*, core_pkg::clock_use_e, core_pkg::ClockUses, core_pkg::trap_e;
  import mesh_pkg::word_t, mesh_pkg::switch_status_t, mesh_pkg::RouterPorts;
#(
    parameter int ImemAddrW   = 13,
    parameter int SwitchAddrW = 10
) (
    input logic clk_i,
    input logic rst_i,
    input logic go_i,
    reg_if.slave boot,  // offset in the tile's region

    // Memories.
    output logic                    imem_we_o,
    output logic  [  ImemAddrW-1:0] imem_addr_o,
    output logic                    switch_we_o,
    output logic  [SwitchAddrW-1:0] switch_addr_o,
    output logic                    ram_valid_o,
    output logic                    ram_write_o,
    output logic  [           15:0] ram_addr_o,
    input  word_t                   ram_rdata_i,
    output logic                    map_we_o,
    output logic  [            3:0] map_addr_o,
    output word_t                   wdata_o,

    // What runs, what it does.
    output logic core_run_o,
    output logic switch_run_o,
    output logic deep_o,  // the GDN has a deep FIFO before the core
    output logic [RouterPorts-1:0][3:0] turns_o,  // of the GDN's router
    input clock_use_e use_i,
    input trap_e trap_i,
    input word_t trap_pc_i,
    input switch_status_t switch_i,
    input word_t cache_i[3],
    input word_t static_i[2*RouterPorts],
    input word_t gdn_i[RouterPorts],
    input word_t mdn_i[RouterPorts]
);
  localparam logic [5:0] LastUse = RegUses + 6'(ClockUses - 1);
  wire unused = &{1'b0, boot.wstrb};
  logic req_q, done_q, write_q;
  logic ram_q;  // an access of the RAM: known early, the core's wait for it
  logic [17:0] addr_q;
  word_t wdata_q, rdata, rdata_q;
  logic [2:0] control_q;
  word_t uses_q[ClockUses];

  // The access waits a clock, so that the memories are written from registers.
  wire [5:0] register = addr_q[7:2];
  wire in_regs = addr_q[17:16] == 2'd3;
  assign imem_we_o = req_q && write_q && addr_q[17:16] == 2'd0;
  assign imem_addr_o = addr_q[2+:ImemAddrW];
  assign switch_we_o = req_q && write_q && addr_q[17:16] == 2'd1;
  assign switch_addr_o = addr_q[2+:SwitchAddrW];
  assign ram_valid_o = ram_q;
  assign ram_write_o = write_q;
  assign ram_addr_o = addr_q[15:0];
  assign map_we_o = req_q && write_q && in_regs && register[5:4] == RegMap[5:4];
  assign map_addr_o = register[3:0];
  assign wdata_o = wdata_q;
  assign core_run_o = go_i && control_q[0];
  assign switch_run_o = go_i && control_q[1];
  assign deep_o = control_q[2];

  always_comb begin
    rdata = '0;
    if (req_q && in_regs) begin
      unique case (register)
        RegControl: rdata = 32'(control_q);
        RegTrap: rdata = 32'(trap_i);
        RegTrapPc: rdata = trap_pc_i;
        RegTurns: rdata = 32'(turns_o);
        RegSwitch: rdata = {14'd0, switch_i.halted, switch_i.waiting, switch_i.pc};
        RegSwitchNeeds:
        rdata = {8'd0, switch_i.no_room2, switch_i.no_room1, switch_i.no_word2, switch_i.no_word1};
        default: begin
          if (register inside {[RegCache : RegCache + 6'd2]})
            rdata = cache_i[2'(register-RegCache)];
          if (register inside {[RegUses : LastUse]}) rdata = uses_q[4'(register-RegUses)];
          if (register inside {[RegStatic : RegStatic + 6'd9]})
            rdata = static_i[4'(register-RegStatic)];
          if (register inside {[RegGdn : RegGdn + 6'd4]}) rdata = gdn_i[3'(register-RegGdn)];
          if (register inside {[RegMdn : RegMdn + 6'd4]}) rdata = mdn_i[3'(register-RegMdn)];
        end
      endcase
    end
  end

  assign boot.ack   = done_q;
  assign boot.rdata = addr_q[17:16] == 2'd2 ? ram_rdata_i : rdata_q;
  always_ff @(posedge clk_i) begin
    req_q  <= boot.req;
    ram_q  <= boot.req && boot.addr[17:16] == 2'd2 && !rst_i;
    done_q <= req_q;
    if (boot.req) begin
      write_q <= boot.write;
      addr_q  <= boot.addr;
      wdata_q <= boot.wdata;
    end
    if (req_q) begin
      rdata_q <= rdata;
      if (write_q && in_regs && register == RegControl) control_q <= wdata_q[2:0];
      if (write_q && in_regs && register == RegTurns) turns_o <= wdata_q[4*RouterPorts-1:0];
    end
    if (core_run_o) uses_q[use_i] <= uses_q[use_i] + 1'b1;
    if (rst_i) begin
      req_q <= 1'b0;
      done_q <= 1'b0;
      control_q <= '0;
      turns_o <= '0;
      for (int i = 0; i < ClockUses; i++) uses_q[i] <= '0;
    end
  end
endmodule
