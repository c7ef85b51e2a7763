// SPDX-License-Identifier: Apache-2.0
`include "stream.svh"
/// core_nic: a NIC whose work is done by firmware on parallel cores, with assists that move the frames (core-nic paper,
/// figure 6).
///
/// Wiring only. Four clocks: core (100 ... 800 MHz: cores, caches, scratchpad, crossbar, registers), memory (125 MHz, a quarter of the
/// frame memory's 500: four of its words and commands a clock), host (125 MHz: one TLP beat a clock each way; at least the
/// memory clock) and MAC (156.25 MHz: 64 bits a clock). Resets are synchronous, active high, and given together; that of the function
/// resets all, the MAC by `mac_rst_o` too. Registers: BAR 0 as in
/// core_nic.rdl for the host, device_pkg for the cores. Receive is never held up: what finds no room is dropped whole and
/// counted. No output depends combinationally on an input.
module core_nic
  import pins_pkg::*;
  import dma_pkg::*;
  import eth_pkg::*;
  import core_pkg::*;
  import dram_pkg::*;
  import core_nic_map_pkg::*;
#(
    parameter int Cores = 6,  // 1 ... 16
    parameter int Banks = 4,  // of the scratchpad: 1, 2, 4 or 8
    parameter int ScratchBytes = 262144,  // at most the window of 256 kB
    parameter int ImemBytes = 131072,  // at most the window of 128 kB
    parameter int ICacheBytes = 8192,  // of each core
    parameter int ICacheWays = 2,
    parameter bit Predict = 1'b1,  // static branch prediction
    parameter int DramBanks = 8,
    parameter int CasLatency = 7,  // of the frame memory, in clocks of its own
    parameter int Tags = 64,  // PCIe reads in flight
    parameter int PcieInterface = PinsIdeal,  // whose pins the hard block has: pins_pkg
    parameter bit Rvfi = 1'b0  // seen_o shows retired instructions
) (
    input logic core_clk_i,
    input logic core_rst_i,
    input logic mem_clk_i,
    input logic mem_rst_i,
    input logic host_clk_i,
    input logic host_rst_i,
    input logic mac_clk_i,
    input logic mac_rst_i,

    // Host clock: PCIe hard block.
    input  pcie_pins_in_t  pcie_i,
    output pcie_pins_out_t pcie_o,

    // MAC clock: MAC streams.
    output logic        mac_tx_valid_o,
    input  logic        mac_tx_ready_i,
    output logic [63:0] mac_tx_data_o,
    output logic [ 3:0] mac_tx_len_o,
    output logic        mac_tx_sop_o,
    output logic        mac_tx_eop_o,
    output logic        mac_tx_err_o,
    input  logic        mac_rx_valid_i,
    input  logic [63:0] mac_rx_data_i,
    input  logic [ 3:0] mac_rx_len_i,
    input  logic        mac_rx_sop_i,
    input  logic        mac_rx_eop_i,
    input  logic        mac_rx_err_i,
    output logic        mac_rst_o,

    // Memory clock: the serializers of the frame memory's pins (dram_pkg), four slots, all registered.
    output logic [3:0][  2:0] dram_cmd_o,
    output logic [3:0][  2:0] dram_bank_o,
    output logic [3:0][ 13:0] dram_addr_o,
    output logic [3:0]        dram_dq_valid_o,  // drives the data pins
    output logic [3:0][127:0] dram_dq_o,
    output logic [3:0][ 15:0] dram_dm_o,
    input  logic [3:0][127:0] dram_dq_i,

    // Core clock, for observers: what the cores do, what the firmware prints, its exit code.
    output core_seen_t        seen_o       [Cores],
    output logic              print_valid_o,
    output logic       [ 7:0] print_char_o,
    output logic       [ 4:0] print_core_o,
    output logic              exit_valid_o,
    output logic       [31:0] exit_code_o,

    // Scratchpad accesses taken of the assists: 0 DMA read, 1 DMA write, 2 MAC transmit, 3 MAC receive.
    output access_seen_t access_o[4]
);
  localparam int AddrW = MapW;
  localparam int Masters = Cores + 5;  // as core_nic_cluster has them

  if (Cores < 1 || Cores > 16 || !(Banks inside {1, 2, 4, 8})) begin : g_bad_machine
    $fatal(1, "core_nic: Cores %0d must be 1 ... 16, Banks %0d 1, 2, 4 or 8", Cores, Banks);
  end
  if (ScratchBytes > 262144 || ImemBytes > 131072) begin : g_bad_memory
    $fatal(
        1,
        "core_nic: ScratchBytes %0d or ImemBytes %0d does not fit its window",
        ScratchBytes,
        ImemBytes
    );
  end

  // ---------------------------------------------------------------- resets
  logic device_rst, core_rst, mem_rst, host_rst;
  logic [3:0] function_rst;
  reset_sequencer #(
      .Domains(4)
  ) i_resets (
      .clk_i({mac_clk_i, mem_clk_i, core_clk_i, host_clk_i}),
      .rst_i({3'b0, device_rst && !host_rst_i}),
      .rst_o(function_rst)
  );
  assign host_rst  = host_rst_i || function_rst[0];
  assign core_rst  = core_rst_i || function_rst[1];
  assign mem_rst   = mem_rst_i || function_rst[2];
  assign mac_rst_o = mac_rst_i || function_rst[3];

  core_nic_regs_pkg::core_nic_regs__in_t  hw_in;
  core_nic_regs_pkg::core_nic_regs__out_t hw_out;

  // ---------------------------------------------------------------- the host's side
  reg_if #(.AddrW(AddrW)) core_regs ();
  `STREAM_ON(dma_req_t, dma_read[1], host_clk_i, host_rst)
  `STREAM_ON(dma_req_t, dma_write[1], host_clk_i, host_rst)
  ram_write_t ram_write;
  ram_read_t  ram_read;
  ram_row_t   ram_row;
  dma_status_t read_status, write_status;
  logic read_error, write_interrupt, interrupt;
  logic [1:0] limit_refused;
  logic [5:0][31:0] host_count;
  core_nic_host #(
      .PcieInterface(PcieInterface),
      .AddrW(AddrW),
      .Tags(Tags)
  ) i_host (
      .host_clk_i,
      .host_rst_i(host_rst),
      .link_rst_i(host_rst_i),
      .device_rst_o(device_rst),
      .pcie_i,
      .pcie_o,
      .dma_read,
      .ram_write_o(ram_write),
      .read_status_o(read_status),
      .read_error_i(read_error),
      .dma_write,
      .ram_read_o(ram_read),
      .ram_row_i(ram_row),
      .write_status_o(write_status),
      .write_interrupt_i(write_interrupt),
      .core_clk_i,
      .core_rst_i(core_rst),
      .regs(core_regs),
      .interrupt_i(interrupt),
      .limit_i({hw_out.dma_timeout.value.value, hw_out.dma_overtaken.value.value}),
      .limit_o({hw_in.dma_timeout.value.next, hw_in.dma_overtaken.value.next}),
      .limit_refused_o(limit_refused),
      .count_o(host_count)
  );

  // ---------------------------------------------------------------- cores
  reg_if #(.AddrW(AddrW)) region[4] ();
  assist_if assist[4] ();
  logic [Cores-1:0] run, watchdog, trapped, sleeping;
  logic come;
  logic [15:0] wake_gap;
  logic dev_valid, dev_rsp_valid, frame_valid, frame_ready, frame_rsp_valid;
  mem_req_t dev_req, frame_req;
  mem_rsp_t dev_rsp, frame_rsp;
  logic [$clog2(Masters)-1:0] dev_master, print_master;
  assign run = hw_out.control.run.value[Cores-1:0];
  core_nic_cluster #(
      .Cores(Cores),
      .Banks(Banks),
      .ScratchBytes(ScratchBytes),
      .ImemBytes(ImemBytes),
      .ICacheBytes(ICacheBytes),
      .ICacheWays(ICacheWays),
      .Predict(Predict),
      .Rvfi(Rvfi)
  ) i_cluster (
      .clk_i(core_clk_i),
      .rst_i(core_rst),
      .run_i(run),
      .watchdog_i(watchdog),
      .trapped_o(trapped),
      .come_i(come),
      .wake_gap_i(wake_gap),
      .sleeping_o(sleeping),
      .imem_regs(region[2]),
      .core_regs(region[1]),
      .window_regs(region[3]),
      .assist,
      .dev_valid_o(dev_valid),
      .dev_req_o(dev_req),
      .dev_master_o(dev_master),
      .dev_rsp_valid_i(dev_rsp_valid),
      .dev_rsp_i(dev_rsp),
      .frame_valid_o(frame_valid),
      .frame_req_o(frame_req),
      .frame_ready_i(frame_ready),
      .frame_rsp_valid_i(frame_rsp_valid),
      .frame_rsp_i(frame_rsp),
      .scratch_accesses_o(hw_in.scratch_accesses.value.next),
      .imem_reads_o(hw_in.imem_reads.value.next),
      .imem_refused_o(hw_in.imem_refused.value.incr),
      .seen_o,
      .access_o
  );

  // ---------------------------------------------------------------- assists, frame memory, MAC
  word_beat_t mac_rx, mac_tx;
  dram_ca_t [DramSlots-1:0] dram_ca;
  dram_dq_t [DramSlots-1:0] dram_dq;
  logic [31:0] slot_base;
  logic rx_enable;
  logic [3:0][31:0] fill;
  assist_pkg::mac_skipped_t skipped;
  logic [5:0][31:0] mac_count;
  assign mac_rx = '{
          data: mac_rx_data_i,
          len: mac_rx_len_i,
          sop: mac_rx_sop_i,
          eop: mac_rx_eop_i,
          err: mac_rx_err_i
      };
  assign {mac_tx_data_o, mac_tx_len_o} = {mac_tx.data, mac_tx.len};
  assign {mac_tx_sop_o, mac_tx_eop_o, mac_tx_err_o} = {mac_tx.sop, mac_tx.eop, mac_tx.err};
  for (genvar s = 0; s < DramSlots; s++) begin : g_slot
    assign dram_cmd_o[s]  = dram_ca[s].cmd;
    assign dram_bank_o[s] = dram_ca[s].bank;
    assign dram_addr_o[s] = dram_ca[s].addr;
    assign dram_dq_o[s]   = dram_dq[s].data;
    assign dram_dm_o[s]   = dram_dq[s].mask;
  end
  core_nic_assists #(
      .ScratchBytes(ScratchBytes),
      .DramBanks(DramBanks),
      .CasLatency(CasLatency)
  ) i_assists (
      .core_clk_i,
      .core_rst_i(core_rst),
      .assist,
      .slot_base_i(slot_base),
      .rx_enable_i(rx_enable),
      .fill_i(fill),
      .skipped_o(skipped),
      .frame_valid_i(frame_valid),
      .frame_req_i(frame_req),
      .frame_ready_o(frame_ready),
      .frame_rsp_valid_o(frame_rsp_valid),
      .frame_rsp_o(frame_rsp),
      .mac_count_o(mac_count),
      .frame_rows_o(hw_in.frame_rows.value.next),
      .host_clk_i,
      .host_rst_i(host_rst),
      .dma_read(dma_read[0]),
      .ram_write_i(ram_write),
      .read_status_i(read_status),
      .read_error_o(read_error),
      .dma_write(dma_write[0]),
      .ram_read_i(ram_read),
      .ram_row_o(ram_row),
      .write_status_i(write_status),
      .write_interrupt_o(write_interrupt),
      .mac_clk_i,
      .mac_rst_i(mac_rst_o),
      .mac_tx_valid_o,
      .mac_tx_ready_i,
      .mac_tx_o(mac_tx),
      .mac_rx_valid_i,
      .mac_rx_i(mac_rx),
      .mem_clk_i,
      .mem_rst_i(mem_rst),
      .dram_ca_o(dram_ca),
      .dram_dq_valid_o,
      .dram_dq_o(dram_dq),
      .dram_dq_i
  );

  // ---------------------------------------------------------------- registers: of the host, and of the cores
  typedef logic [3:0][AddrW-1:0] region_t;
  localparam region_t RegionBase = {
    AddrW'(core_nic_map_pkg::ScratchBase),  // core_pkg has such names too, as the cores see them
    AddrW'(ImemBase),
    AddrW'(CoreBase),
    AddrW'(core_nic_map_pkg::DeviceBase)
  };
  localparam region_t RegionSize = {
    AddrW'(ScratchSize), AddrW'(ImemSize), AddrW'(CoreSize), AddrW'(DeviceSize)
  };
  logic unused_unmapped;
  reg_demux #(
      .N(4),
      .AddrW(AddrW),
      .Base(RegionBase),
      .Size(RegionSize)
  ) i_regs (
      .clk_i(core_clk_i),
      .rst_i(core_rst),
      .in(core_regs),
      .out(region),
      .unmapped_o(unused_unmapped)
  );
  logic [3:0][31:0] ring_base, producer, progress;
  logic [3:0][3:0] ring_log;
  logic [7:0][31:0] counter;
  logic [15:0][31:0] host_config;
  logic [31:0] bad_commands;
  logic [3:0] bad_command;
  for (genvar a = 0; a < 4; a++) begin : g_assist
    assign assist[a].base = ring_base[a];
    assign assist[a].log = ring_log[a];
    assign assist[a].producer = producer[a];
    assign progress[a] = assist[a].progress;
    assign bad_command[a] = assist[a].bad;
  end
  for (genvar i = 0; i < 16; i++) begin : g_config
    assign host_config[i] = hw_out.cfg[i].value.value;
  end
  assign fill[1:0] = {hw_out.fill_1.value.value, hw_out.fill_0.value.value};
  assign fill[3:2] = {hw_out.fill_3.value.value, hw_out.fill_2.value.value};
  assist_regs #(
      .Cores  (Cores),
      .Masters(Masters)
  ) i_assist_regs (
      .clk_i(core_clk_i),
      .rst_i(core_rst),
      .valid_i(dev_valid),
      .req_i(dev_req),
      .master_i(dev_master),
      .rsp_valid_o(dev_rsp_valid),
      .rsp_o(dev_rsp),
      .run_i(run),
      .watchdog_o(watchdog),
      .sleeping_i(sleeping),
      .come_o(come),
      .wake_gap_o(wake_gap),
      .base_o(ring_base),
      .log_o(ring_log),
      .producer_o(producer),
      .progress_i(progress),
      .slot_base_o(slot_base),
      .rx_enable_o(rx_enable),
      .mailbox_i({hw_out.receive_producer.value.value, hw_out.send_producer.value.value}),
      .config_i(host_config),
      .interrupt_o(interrupt),
      .print_o(print_valid_o),
      .print_char_o,
      .print_master_o(print_master),
      .exit_o(exit_valid_o),
      .exit_code_o,
      .dropped_o({hw_in.tx_firmware.value.next, hw_in.rx_firmware.value.next}),
      .counter_i(counter),
      .clock_o(hw_in.clock.value.next)
  );
  assign print_core_o = 5'(print_master);
  event_count #(
      .N(4)
  ) i_bad_commands (
      .clk_i  (core_clk_i),
      .rst_i  (core_rst),
      .add_i  (bad_command),
      .count_o(bad_commands)
  );
  assign hw_in.tx_bad_commands.value.incr = bad_command[2];
  assign counter = {bad_commands, host_count[0], mac_count};

  assign hw_in.cores.value.next = 32'(Cores);
  assign hw_in.banks.value.next = 32'(Banks);
  assign hw_in.scratch_bytes.value.next = 32'(ScratchBytes);
  assign hw_in.imem_bytes.value.next = 32'(ImemBytes);
  assign hw_in.status.exited.hwset = exit_valid_o;
  assign hw_in.status.trapped.next = 16'(trapped);
  assign hw_in.exit_code.value.next = exit_code_o;
  assign hw_in.watchdog.expired.next = 16'(watchdog);
  assign hw_in.rx_bad_fcs.value.next = mac_count[0];
  assign hw_in.rx_oversize.value.next = mac_count[1];
  assign hw_in.rx_runt.value.next = mac_count[2];
  assign hw_in.rx_no_buffer.value.next = mac_count[3];
  assign hw_in.rx_fifo_full.value.next = mac_count[4];
  assign hw_in.rx_good.value.next = mac_count[5];
  assign hw_in.dma_errors.value.next = host_count[0];
  assign hw_in.tlp_foreign.value.next = host_count[1];
  assign hw_in.tlp_refused.value.next = host_count[2];
  assign hw_in.dma_timeouts.value.next = host_count[3];
  assign {hw_in.dma_unexpected.value.next, hw_in.dma_late.value.next} = host_count[5:4];
  assign {hw_in.tx_lost.value.incr, hw_in.tx_empty.value.incr} = skipped;
  assign {hw_in.dma_timeout.value.we, hw_in.dma_overtaken.value.we} = limit_refused;
  assign hw_in.settings_refused.value.incr = |limit_refused;
  assign hw_in.dma_reads.value.next = progress[0];
  assign hw_in.dma_writes.value.next = progress[1];
  assign hw_in.tx_frames.value.next = progress[2];
  assign hw_in.rx_stored.value.next = progress[3];
  assign hw_in.bad_commands.value.next = bad_commands;
  wire unused_run = &{1'b0, hw_out.control.run.value, hw_out.status.exited.value};
  core_nic_regs i_core_nic_regs (
      .clk(core_clk_i),
      .rst(core_rst),
      .regs(region[0]),
      .hwif_in(hw_in),
      .hwif_out(hw_out)
  );
endmodule
