// SPDX-License-Identifier: Apache-2.0
`include "assert.svh"
/// Device registers: how cores and assists talk to each other (core-nic paper, sections 3.2 and 4; map in device_pkg).
///
/// A slave of the crossbar that takes an access every clock and answers a Load in the next one, as a scratchpad bank does.
/// Stores write whole words whatever their byte enables. Bit i of the event register is up while hardware's count i is not the
/// count that firmware has seen. A core that did not kick for `watchdog limit` clocks since it was started, or since its
/// last kick, and while it does not sleep, raises `watchdog_o` until it is stopped. `come_o` says that one of hardware's counts
/// has moved, in the clock in which it is seen to, or that firmware wakes a core (core_wake). Unknown offsets read 0, and are ignored when written.
module assist_regs
  import core_pkg::*;
#(
    parameter  int Cores   = 6,
    parameter  int Masters = 11,
    localparam int MasterW = $clog2(Masters)
) (
    input logic clk_i,
    input logic rst_i,

    // Crossbar.
    input  logic                   valid_i,
    input  mem_req_t               req_i,
    input  logic     [MasterW-1:0] master_i,
    output logic                   rsp_valid_o,
    output mem_rsp_t               rsp_o,

    // Cores.
    input  logic [Cores-1:0] run_i,
    output logic [Cores-1:0] watchdog_o,
    input  logic [Cores-1:0] sleeping_i,
    output logic             come_o,
    output logic [     15:0] wake_gap_o,

    // Assists: 0 DMA read, 1 DMA write, 2 MAC transmit, 3 MAC receive (whose producer is `freed`).
    output logic [ 3:0][31:0] base_o,
    output logic [ 3:0][ 3:0] log_o,
    output logic [ 3:0][31:0] producer_o,
    input  logic [ 3:0][31:0] progress_i,
    output logic [31:0]       slot_base_o,
    output logic              rx_enable_o,

    // From the host: buffer descriptors (0 send, 1 receive), configuration; to it.
    input logic [1:0][31:0] mailbox_i,
    input logic [15:0][31:0] config_i,
    output logic interrupt_o,
    output logic print_o,
    output logic [7:0] print_char_o,
    output logic [MasterW-1:0] print_master_o,
    output logic exit_o,
    output logic [31:0] exit_code_o,
    output logic [1:0][31:0] dropped_o,  // frames, by firmware: 0 received, 1 to be sent

    // Counters, in the order of device_pkg from RxBadFcs on, and the clock.
    input  logic [ 7:0][31:0] counter_i,
    output logic [31:0]       clock_o
);
  import device_pkg::Events;
  wire [11:0] addr = req_i.addr[11:0];
  wire write = valid_i && req_i.op == Store;
  wire [31:0] data = req_i.wdata;
  wire unused = &{1'b0, req_i.addr[31:12], req_i.be};

  // The address of assist i's registers.
  function automatic logic [11:0] at(int i, logic [11:0] offset);
    return device_pkg::DmaRead + 12'(32 * i) + offset;
  endfunction

  logic [31:0] limit_q;
  logic [Events-1:0][31:0] seen_q, count;
  logic [Events-1:0] event_bits;
  assign count = {mailbox_i, progress_i};
  logic moved;
  assign come_o = moved || (write && addr == device_pkg::Wake);
  change_detect #(
      .Width($bits(count))
  ) i_moved (
      .clk_i,
      .rst_i,
      .d_i(count),
      .changed_o(moved),
      .rose_o()
  );
  always_comb begin
    for (int i = 0; i < Events; i++) event_bits[i] = count[i] != seen_q[i];
  end

  logic [31:0] value;
  always_comb begin
    value = '0;
    if (valid_i) begin
      unique case (addr) inside
        device_pkg::Cores: value = 32'(Cores);
        device_pkg::Clock: value = clock_o;
        device_pkg::WatchdogLimit: value = limit_q;
        device_pkg::WakeGap: value = 32'(wake_gap_o);
        device_pkg::RxDropped: value = dropped_o[0];
        device_pkg::TxDropped: value = dropped_o[1];
        device_pkg::SendProducer: value = mailbox_i[0];
        device_pkg::ReceiveProducer: value = mailbox_i[1];
        device_pkg::Event: value = 32'(event_bits);
        [device_pkg::Config : device_pkg::Config + 12'h03f]: value = config_i[addr[5:2]];
        [device_pkg::RxBadFcs : device_pkg::RxBadFcs + 12'h01f]: value = counter_i[addr[4:2]];
        [device_pkg::DmaRead : device_pkg::DmaRead + 12'h07f]: begin
          // Their blocks follow each other 32 bytes apart: 0x40, 0x60, 0x80, 0xa0.
          unique case (addr[4:2])
            3'd0: value = base_o[2'(addr[7:5]-3'd2)];
            3'd1: value = 32'(log_o[2'(addr[7:5]-3'd2)]);
            3'd2: value = addr[7:5] == 3'd5 ? progress_i[3] : producer_o[2'(addr[7:5]-3'd2)];
            3'd3: value = addr[7:5] == 3'd5 ? producer_o[3] : progress_i[2'(addr[7:5]-3'd2)];
            3'd4: value = addr[7:5] == 3'd5 ? slot_base_o : '0;
            3'd5: value = addr[7:5] == 3'd5 ? 32'(rx_enable_o) : '0;
            default: value = '0;
          endcase
        end
        default: begin
          for (int i = 0; i < Events; i++)
          if (addr == device_pkg::Seen + 12'(4 * i)) value = seen_q[i];
        end
      endcase
    end
  end

  always_ff @(posedge clk_i) begin
    clock_o <= clock_o + 1'b1;
    rsp_valid_o <= valid_i && req_i.op != Store;
    if (valid_i) rsp_o <= '{rdata: value, error: req_i.op != Load};
    interrupt_o <= write && addr == device_pkg::HostInterrupt;
    print_o <= write && addr == device_pkg::Print;
    exit_o <= write && addr == device_pkg::Exit;
    if (write) begin
      print_char_o   <= data[7:0];
      print_master_o <= master_i;
      if (addr == device_pkg::Exit) exit_code_o <= data;
      if (addr == device_pkg::WatchdogLimit) limit_q <= data;
      if (addr == device_pkg::WakeGap) wake_gap_o <= data[15:0];
      if (addr == device_pkg::RxDropped) dropped_o[0] <= dropped_o[0] + data;
      if (addr == device_pkg::TxDropped) dropped_o[1] <= dropped_o[1] + data;
      for (int i = 0; i < 4; i++) begin
        if (addr == at(i, device_pkg::RingBase)) base_o[i] <= data;
        if (addr == at(i, device_pkg::RingLog)) log_o[i] <= data[3:0];
        if (addr == at(i, i == 3 ? device_pkg::Freed : device_pkg::Producer)) producer_o[i] <= data;
      end
      if (addr == device_pkg::MacRx + device_pkg::SlotBase) slot_base_o <= data;
      if (addr == device_pkg::MacRx + device_pkg::Enable) rx_enable_o <= data[0];
      for (int i = 0; i < Events; i++) if (addr == device_pkg::Seen + 12'(4 * i)) seen_q[i] <= data;
    end
    if (rst_i) begin
      clock_o <= '0;
      exit_code_o <= '0;
      rsp_valid_o <= 1'b0;
      interrupt_o <= 1'b0;
      print_o <= 1'b0;
      exit_o <= 1'b0;
      limit_q <= '0;
      wake_gap_o <= '0;
      dropped_o <= '0;
      base_o <= '0;
      log_o <= '0;
      producer_o <= '0;
      slot_base_o <= '0;
      rx_enable_o <= 1'b0;
      seen_q <= '0;
    end
  end

  // Watchdogs: the clock of the last sign of life.
  logic [Cores-1:0][31:0] alive_q;
  wire kick = write && addr == device_pkg::WatchdogKick;
  always_ff @(posedge clk_i) begin
    for (int c = 0; c < Cores; c++) begin
      if (!run_i[c] || sleeping_i[c] || limit_q == '0 || (kick && master_i == MasterW'(c)))
        alive_q[c] <= clock_o;
      if (!run_i[c]) watchdog_o[c] <= 1'b0;
      else if (limit_q != '0 && clock_o - alive_q[c] > limit_q) watchdog_o[c] <= 1'b1;
    end
    if (rst_i) watchdog_o <= '0;
  end
endmodule
