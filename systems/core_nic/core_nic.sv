// SPDX-License-Identifier: Apache-2.0
`include "stream.svh"
/// core_nic: a NIC whose work is done by firmware on parallel cores, with assists that move the frames (core-nic paper,
/// figure 6).
///
/// Wiring only. Four clocks: core (100 ... 800 MHz: cores, caches, scratchpad, crossbar, registers), memory (500 MHz: 128-bit
/// bus and frame memory), host (125 MHz: one TLP beat a clock each way; at least a quarter of the memory clock) and MAC
/// (156.25 MHz: 64 bits a clock). Resets are synchronous, active high, and given together. Registers: BAR 0 as in
/// core_nic.rdl for the host, device_pkg for the cores. Receive is never held up: what finds no room is dropped whole and
/// counted. No output depends combinationally on an input.
module core_nic
  import pcie_pkg::*;
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
    parameter int CasLatency = 7,  // of the frame memory, in its clocks
    parameter int Tags = 64,  // PCIe reads in flight
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
    input  pcie_in_t  pcie_i,
    output pcie_out_t pcie_o,

    // Interrupt pin: status.interrupt.
    output logic irq_o,

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

    // Memory clock: frame memory (dram_pkg), all registered.
    output logic [  2:0] dram_cmd_o,
    output logic [  2:0] dram_bank_o,
    output logic [ 13:0] dram_addr_o,
    output logic         dram_dq_valid_o,  // drives the data pins
    output logic [127:0] dram_dq_o,
    output logic [ 15:0] dram_dm_o,
    input  logic [127:0] dram_dq_i,

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
  localparam int Masters = Cores + 5;  // cores, the four assists, the host's window
  localparam int MasterW = $clog2(Masters);
  localparam int HostMaster = Cores + 4;
  localparam int Clients = 5;  // of the frame bus: DMA read, MAC receive, DMA write, MAC transmit, crossbar
  localparam int ClientW = $clog2(Clients);
  localparam int FillW = $clog2(ImemBytes) - 4;

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

  core_nic_regs_pkg::core_nic_regs__in_t hw_in;
  core_nic_regs_pkg::core_nic_regs__out_t hw_out;

  // ---------------------------------------------------------------- host clock: hard block
  pcie_cfg_t cfg;
  reg_if #(.AddrW(AddrW)) host_regs ();
  `STREAM_ON(tlp_beat_t, request, host_clk_i, host_rst_i)
  `STREAM_ON(tlp_beat_t, completion, host_clk_i, host_rst_i)
  `STREAM_ON(tlp_beat_t, read_tlp, host_clk_i, host_rst_i)
  `STREAM_ON(tlp_beat_t, write_tlp[1], host_clk_i, host_rst_i)
  `STREAM_ON(dma_req_t, dma_read[1], host_clk_i, host_rst_i)
  `STREAM_ON(dma_req_t, dma_write[1], host_clk_i, host_rst_i)
  logic foreign, unsupported, dropped, read_error, write_interrupt;
  ram_write_t ram_write;
  ram_read_t  ram_read;
  ram_row_t   ram_row;
  dma_status_t read_status, write_status;
  dma_read_count_t unused_count;
  pcie_endpoint #(
      .AddrW(AddrW)
  ) i_endpoint (
      .clk_i(host_clk_i),
      .rst_i(host_rst_i),
      .pins_i(pcie_i),
      .pins_o(pcie_o),
      .cfg_o(cfg),
      .req(request),
      .access(request),
      .regs(host_regs),
      .cpl(completion),
      .read(read_tlp),
      .tx(write_tlp),
      .foreign_o(foreign),
      .unsupported_o(unsupported),
      .dropped_o(dropped)
  );
  dma_engines #(
      .Tags(Tags)
  ) i_dma (
      .clk_i(host_clk_i),
      .rst_i(host_rst_i),
      .cfg_i(cfg),
      .timeout_cycles_i(32'd6_250_000),  // 50 ms
      .read_tlp,
      .cpl(completion),
      .write_tlp(write_tlp[0]),
      .read(dma_read),
      .ram_write_o(ram_write),
      .read_status_o(read_status),
      .read_count_o(unused_count),
      .write(dma_write),
      .ram_read_o(ram_read),
      .ram_row_i(ram_row),
      .write_status_o(write_status)
  );

  // ---------------------------------------------------------------- registers: core clock, regions
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
  reg_if #(.AddrW(AddrW)) core_regs ();
  reg_if #(.AddrW(AddrW)) region[4] ();
  logic unused_unmapped, imem_we, imem_written;
  logic [FillW+1:0] imem_waddr;
  logic [31:0] imem_wdata;

  reg_cross #(
      .AddrW(AddrW)
  ) i_reg_cross (
      .in_clk_i(host_clk_i),
      .in_rst_i(host_rst_i),
      .in(host_regs),
      .out_clk_i(core_clk_i),
      .out_rst_i(core_rst_i),
      .out(core_regs)
  );
  reg_demux #(
      .N(4),
      .AddrW(AddrW),
      .Base(RegionBase),
      .Size(RegionSize)
  ) i_regs (
      .clk_i(core_clk_i),
      .rst_i(core_rst_i),
      .in(core_regs),
      .out(region),
      .unmapped_o(unused_unmapped)
  );
  imem_window #(
      .Bytes(ImemBytes)
  ) i_imem_window (
      .regs(region[2]),
      .we_o(imem_we),
      .waddr_o(imem_waddr),
      .wdata_o(imem_wdata)
  );
  pipe_reg i_imem_written (
      .clk_i(core_clk_i),
      .d_i  (imem_we || core_rst_i),
      .q_o  (imem_written)
  );

  // ---------------------------------------------------------------- cores
  logic [Masters-1:0] req_valid, req_ready, rsp_valid, store_error, waits;
  mem_req_t mem_req[Masters];
  mem_rsp_t mem_rsp[Masters];
  clock_use_e core_use[Cores];
  trap_e core_trap[Cores];
  logic [31:0] core_pc[Cores], core_trap_pc[Cores];
  rvfi_t core_rvfi[Cores];
  logic [Cores-1:0] run, watchdog, trapped, fill_valid, fill_ready, fill_rsp_valid;
  logic [Cores-1:0][FillW-1:0] fill_addr;
  logic [127:0] fill_data;
  assign run = hw_out.control.run.value[Cores-1:0];

  for (genvar c = 0; c < Cores; c++) begin : g_core
    logic fetch_en, fetch_valid, fetch_error;
    logic [31:0] fetch_addr, fetch_data;
    core #(
        .Rvfi(Rvfi),
        .Predict(Predict)
    ) i_core (
        .clk_i(core_clk_i),
        .rst_i(core_rst_i),
        .hart_id_i(5'(c)),
        .run_i(run[c]),
        .watchdog_i(watchdog[c]),
        .fetch_en_o(fetch_en),
        .fetch_addr_o(fetch_addr),
        .fetch_valid_i(fetch_valid),
        .fetch_data_i(fetch_data),
        .fetch_error_i(fetch_error),
        .req_valid_o(req_valid[c]),
        .req_o(mem_req[c]),
        .req_ready_i(req_ready[c]),
        .rsp_valid_i(rsp_valid[c]),
        .rsp_i(mem_rsp[c]),
        .store_error_i(store_error[c]),
        .net_in_ready_o(),
        .net_out_valid_o(),
        .net_out_data_o(),
        .use_o(core_use[c]),
        .pc_o(core_pc[c]),
        .rvfi_o(core_rvfi[c]),
        .trap_o(core_trap[c]),
        .trap_pc_o(core_trap_pc[c])
    );
    icache #(
        .ImemBytes(ImemBytes),
        .Bytes(ICacheBytes),
        .Ways(ICacheWays)
    ) i_icache (
        .clk_i(core_clk_i),
        .rst_i(core_rst_i),
        .clear_i(imem_written),
        .fetch_en_i(fetch_en),
        .fetch_addr_i(fetch_addr),
        .fetch_valid_o(fetch_valid),
        .fetch_data_o(fetch_data),
        .fetch_error_o(fetch_error),
        .fill_valid_o(fill_valid[c]),
        .fill_addr_o(fill_addr[c]),
        .fill_ready_i(fill_ready[c]),
        .fill_rsp_valid_i(fill_rsp_valid[c]),
        .fill_rsp_data_i(fill_data)
    );
    assign seen_o[c] = '{
            use_: core_use[c],
            pc: core_pc[c],
            trap: core_trap[c],
            trap_pc: core_trap_pc[c],
            rvfi: core_rvfi[c]
        };
  end
  imem #(
      .Bytes(ImemBytes),
      .Ports(Cores)
  ) i_imem (
      .clk_i(core_clk_i),
      .rst_i(core_rst_i),
      .req_valid_i(fill_valid),
      .req_addr_i(fill_addr),
      .req_ready_o(fill_ready),
      .rsp_valid_o(fill_rsp_valid),
      .rsp_data_o(fill_data),
      .we_i(imem_we),
      .waddr_i(imem_waddr),
      .wdata_i(imem_wdata)
  );
  core_counters #(
      .Cores(Cores)
  ) i_core_counters (
      .clk_i(core_clk_i),
      .rst_i(core_rst_i),
      .use_i(core_use),
      .trap_i(core_trap),
      .trap_pc_i(core_trap_pc),
      .wait_i(waits[Cores-1:0]),
      .trapped_o(trapped),
      .regs(region[1])
  );

  // ---------------------------------------------------------------- crossbar, scratchpad, device registers
  logic [Banks-1:0] bank_valid;
  mem_req_t bank_req[Banks];
  logic [31:0] bank_rdata[Banks];
  logic dev_valid, dev_rsp_valid, frame_valid, frame_ready, frame_rsp_valid;
  mem_req_t dev_req, frame_req;
  mem_rsp_t dev_rsp, frame_rsp;
  logic [MasterW-1:0] dev_master, print_master;
  wire unused_masters = &{1'b0, store_error[Masters-1:Cores], waits[Masters-1:Cores]};

  xbar #(
      .Masters(Masters),
      .Banks(Banks),
      .ScratchBytes(ScratchBytes),
      .DeviceBytes(2 ** device_pkg::AddrW),
      .FrameBytes(2 ** FrameAddrW)
  ) i_xbar (
      .clk_i(core_clk_i),
      .rst_i(core_rst_i),
      .req_valid_i(req_valid),
      .req_i(mem_req),
      .req_ready_o(req_ready),
      .rsp_valid_o(rsp_valid),
      .rsp_o(mem_rsp),
      .store_error_o(store_error),
      .wait_o(waits),
      .bank_valid_o(bank_valid),
      .bank_req_o(bank_req),
      .bank_rdata_i(bank_rdata),
      .dev_valid_o(dev_valid),
      .dev_req_o(dev_req),
      .dev_master_o(dev_master),
      .dev_ready_i(1'b1),
      .dev_rsp_valid_i(dev_rsp_valid),
      .dev_rsp_i(dev_rsp),
      .frame_valid_o(frame_valid),
      .frame_req_o(frame_req),
      .frame_ready_i(frame_ready),
      .frame_rsp_valid_i(frame_rsp_valid),
      .frame_rsp_i(frame_rsp)
  );
  for (genvar b = 0; b < Banks; b++) begin : g_bank
    bank #(
        .Words(ScratchBytes / 4 / Banks)
    ) i_bank (
        .clk_i  (core_clk_i),
        .rst_i  (core_rst_i),
        .valid_i(bank_valid[b]),
        .req_i  (bank_req[b]),
        .rdata_o(bank_rdata[b])
    );
  end
  host_window i_host_window (
      .clk_i(core_clk_i),
      .rst_i(core_rst_i),
      .regs(region[3]),
      .req_valid_o(req_valid[HostMaster]),
      .req_o(mem_req[HostMaster]),
      .req_ready_i(req_ready[HostMaster]),
      .rsp_valid_i(rsp_valid[HostMaster]),
      .rsp_i(mem_rsp[HostMaster])
  );

  logic [3:0][31:0] ring_base, producer, progress;
  logic [3:0][3:0] ring_log;
  logic [31:0] slot_base;
  logic [7:0][31:0] counter;
  logic [15:0][31:0] host_config;
  logic rx_enable, interrupt, exits;
  for (genvar i = 0; i < 16; i++) begin : g_config
    assign host_config[i] = hw_out.cfg[i].value.value;
  end
  assist_regs #(
      .Cores  (Cores),
      .Masters(Masters)
  ) i_assist_regs (
      .clk_i(core_clk_i),
      .rst_i(core_rst_i),
      .valid_i(dev_valid),
      .req_i(dev_req),
      .master_i(dev_master),
      .rsp_valid_o(dev_rsp_valid),
      .rsp_o(dev_rsp),
      .run_i(run),
      .watchdog_o(watchdog),
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
      .exit_o(exits),
      .exit_code_o,
      .counter_i(counter),
      .clock_o(hw_in.clock.value.next)
  );
  assign print_core_o = 5'(print_master);
  assign exit_valid_o = exits;

  // ---------------------------------------------------------------- assists
  mac_rx_count_t mac_count;
  logic no_buffer;
  word_beat_t mac_rx, mac_tx;
  logic [3:0] bad_command;
  assist_if assist[4] ();
  for (genvar a = 0; a < 4; a++) begin : g_assist
    assign assist[a].base = ring_base[a];
    assign assist[a].log = ring_log[a];
    assign assist[a].producer = producer[a];
    assign progress[a] = assist[a].progress;
    assign bad_command[a] = assist[a].bad;
    assign req_valid[Cores+a] = assist[a].mem_valid;
    assign mem_req[Cores+a] = assist[a].mem_req;
    assign assist[a].mem_ready = req_ready[Cores+a];
    assign assist[a].mem_rsp_valid = rsp_valid[Cores+a];
    assign assist[a].mem_rsp = mem_rsp[Cores+a];
  end
  `STREAM_ON(bus_req_t, bus_req[Clients], mem_clk_i, mem_rst_i)
  `STREAM_ON(bus_wdata_t, bus_wdata[Clients], mem_clk_i, mem_rst_i)
  `STREAM_ON(logic [127:0], bus_rdata[Clients], mem_clk_i, mem_rst_i)
  dma_read_assist #(
      .ScratchBytes(ScratchBytes)
  ) i_dma_read_assist (
      .core_clk_i,
      .core_rst_i,
      .cores(assist[0]),
      .host_clk_i,
      .host_rst_i,
      .dma(dma_read[0]),
      .ram_i(ram_write),
      .status_i(read_status),
      .error_o(read_error),
      .mem_clk_i,
      .mem_rst_i,
      .req(bus_req[0]),
      .wdata(bus_wdata[0])
  );
  dma_write_assist #(
      .ScratchBytes(ScratchBytes)
  ) i_dma_write_assist (
      .core_clk_i,
      .core_rst_i,
      .cores(assist[1]),
      .host_clk_i,
      .host_rst_i,
      .dma(dma_write[0]),
      .ram_i(ram_read),
      .ram_o(ram_row),
      .status_i(write_status),
      .interrupt_o(write_interrupt),
      .mem_clk_i,
      .mem_rst_i,
      .req(bus_req[2]),
      .rdata(bus_rdata[2])
  );
  mac_tx_assist i_mac_tx_assist (
      .core_clk_i,
      .core_rst_i,
      .cores(assist[2]),
      .mem_clk_i,
      .mem_rst_i,
      .req(bus_req[3]),
      .rdata(bus_rdata[3]),
      .mac_clk_i,
      .mac_rst_i,
      .tx_valid_o(mac_tx_valid_o),
      .tx_ready_i(mac_tx_ready_i),
      .tx_o(mac_tx)
  );
  mac_rx_assist i_mac_rx_assist (
      .core_clk_i,
      .core_rst_i,
      .cores(assist[3]),
      .slot_base_i(slot_base),
      .enable_i(rx_enable),
      .mem_clk_i,
      .mem_rst_i,
      .req(bus_req[1]),
      .wdata(bus_wdata[1]),
      .mac_clk_i,
      .mac_rst_i,
      .rx_valid_i(mac_rx_valid_i),
      .rx_i(mac_rx),
      .count_o(mac_count),
      .no_buffer_o(no_buffer)
  );
  assign mac_rx = '{
          data: mac_rx_data_i,
          len: mac_rx_len_i,
          sop: mac_rx_sop_i,
          eop: mac_rx_eop_i,
          err: mac_rx_err_i
      };
  assign mac_tx_data_o = mac_tx.data;
  assign mac_tx_len_o = mac_tx.len;
  assign mac_tx_sop_o = mac_tx.sop;
  assign mac_tx_eop_o = mac_tx.eop;
  assign mac_tx_err_o = mac_tx.err;
  for (genvar a = 0; a < 4; a++) begin : g_assist_access
    assign access_o[a] = '{
            taken: req_valid[Cores+a] && req_ready[Cores+a],
            op: mem_req[Cores+a].op,
            addr: mem_req[Cores+a].addr
        };
  end

  // ---------------------------------------------------------------- frame memory
  `STREAM_ON(bus_req_t, burst, mem_clk_i, mem_rst_i)
  `STREAM_ON(bus_wdata_t, burst_wdata, mem_clk_i, mem_rst_i)
  logic [ClientW-1:0] burst_client, wclient, rclient;
  logic rvalid, frame_word;
  logic [127:0] rdata;
  dram_ca_t dram_ca;
  dram_dq_t dram_dq;

  frame_access i_frame_access (
      .clk_i(core_clk_i),
      .rst_i(core_rst_i),
      .valid_i(frame_valid),
      .req_i(frame_req),
      .ready_o(frame_ready),
      .rsp_valid_o(frame_rsp_valid),
      .rsp_o(frame_rsp),
      .mem_clk_i,
      .mem_rst_i,
      .req(bus_req[4]),
      .wdata(bus_wdata[4]),
      .rdata(bus_rdata[4])
  );
  // Clients that only write, and those that only read.
  for (genvar i = 0; i < 2; i++) begin : g_one_way
    assign bus_rdata[i].ready   = 1'b1;
    assign bus_wdata[i+2].valid = 1'b0;
    assign bus_wdata[i+2].data  = '0;
    wire unused = &{1'b0, bus_rdata[i].valid, bus_rdata[i].data, bus_wdata[i+2].ready};
  end
  frame_bus #(
      .Clients(Clients)
  ) i_frame_bus (
      .clk_i(mem_clk_i),
      .rst_i(mem_rst_i),
      .req(bus_req),
      .wdata(bus_wdata),
      .rdata(bus_rdata),
      .burst,
      .burst_client_o(burst_client),
      .burst_wdata,
      .wclient_i(wclient),
      .rvalid_i(rvalid),
      .rclient_i(rclient),
      .rdata_i(rdata),
      .word_o(frame_word)
  );
  sdram_ctrl #(
      .Banks(DramBanks),
      .Clients(Clients),
      .CasLatency(CasLatency)
  ) i_sdram_ctrl (
      .clk_i(mem_clk_i),
      .rst_i(mem_rst_i),
      .burst,
      .burst_client_i(burst_client),
      .wdata(burst_wdata),
      .wclient_o(wclient),
      .rvalid_o(rvalid),
      .rclient_o(rclient),
      .rdata_o(rdata),
      .ca_o(dram_ca),
      .dq_valid_o(dram_dq_valid_o),
      .dq_o(dram_dq),
      .dq_i(dram_dq_i)
  );
  assign dram_cmd_o  = dram_ca.cmd;
  assign dram_bank_o = dram_ca.bank;
  assign dram_addr_o = dram_ca.addr;
  assign dram_dq_o   = dram_dq.data;
  assign dram_dm_o   = dram_dq.mask;

  // ---------------------------------------------------------------- counters and registers
  // Events of the other clocks: those of the MAC in the order of device_pkg, then the host's, then the memory's.
  logic [5:0] mac_event;
  logic [3:0] host_event;
  logic [10:0][31:0] event_counts;
  assign mac_event = {
    mac_count.good,
    mac_count.fifo_full,
    no_buffer,
    mac_count.runt,
    mac_count.oversize,
    mac_count.bad_fcs
  };
  assign host_event = {write_interrupt, unsupported || dropped, foreign, read_error};
  for (genvar i = 0; i < 6; i++) begin : g_mac_event
    count_cross i_count (
        .src_clk_i(mac_clk_i),
        .src_rst_i(mac_rst_i),
        .add_i(mac_event[i]),
        .dst_clk_i(core_clk_i),
        .dst_rst_i(core_rst_i),
        .count_o(event_counts[i])
    );
  end
  for (genvar i = 0; i < 4; i++) begin : g_host_event
    count_cross i_count (
        .src_clk_i(host_clk_i),
        .src_rst_i(host_rst_i),
        .add_i(host_event[i]),
        .dst_clk_i(core_clk_i),
        .dst_rst_i(core_rst_i),
        .count_o(event_counts[6+i])
    );
  end
  count_cross i_frame_words (
      .src_clk_i(mem_clk_i),
      .src_rst_i(mem_rst_i),
      .add_i(frame_word),
      .dst_clk_i(core_clk_i),
      .dst_rst_i(core_rst_i),
      .count_o(event_counts[10])
  );

  logic [31:0] bad_commands;
  logic interrupted;
  event_count #(
      .N(4)
  ) i_bad_commands (
      .clk_i  (core_clk_i),
      .rst_i  (core_rst_i),
      .add_i  (bad_command),
      .count_o(bad_commands)
  );
  event_count #(
      .N(Banks)
  ) i_scratch_accesses (
      .clk_i  (core_clk_i),
      .rst_i  (core_rst_i),
      .add_i  (bank_valid),
      .count_o(hw_in.scratch_accesses.value.next)
  );
  event_count i_imem_reads (
      .clk_i  (core_clk_i),
      .rst_i  (core_rst_i),
      .add_i  (|fill_ready),
      .count_o(hw_in.imem_reads.value.next)
  );
  change_detect #(
      .Width(32)
  ) i_interrupted (
      .clk_i(core_clk_i),
      .rst_i(core_rst_i),
      .d_i(event_counts[9]),
      .changed_o(interrupted),
      .rose_o()
  );
  assign counter = {bad_commands, event_counts[6:0]};

  assign hw_in.cores.value.next = 32'(Cores);
  assign hw_in.banks.value.next = 32'(Banks);
  assign hw_in.scratch_bytes.value.next = 32'(ScratchBytes);
  assign hw_in.imem_bytes.value.next = 32'(ImemBytes);
  assign hw_in.status.interrupt.hwset = interrupt || interrupted;
  assign hw_in.status.exited.hwset = exits;
  assign hw_in.status.trapped.next = 16'(trapped);
  assign hw_in.exit_code.value.next = exit_code_o;
  assign hw_in.watchdog.expired.next = 16'(watchdog);
  assign hw_in.rx_bad_fcs.value.next = event_counts[0];
  assign hw_in.rx_oversize.value.next = event_counts[1];
  assign hw_in.rx_runt.value.next = event_counts[2];
  assign hw_in.rx_no_buffer.value.next = event_counts[3];
  assign hw_in.rx_fifo_full.value.next = event_counts[4];
  assign hw_in.rx_good.value.next = event_counts[5];
  assign hw_in.dma_errors.value.next = event_counts[6];
  assign hw_in.tlp_foreign.value.next = event_counts[7];
  assign hw_in.tlp_refused.value.next = event_counts[8];
  assign hw_in.frame_words.value.next = event_counts[10];
  assign hw_in.dma_reads.value.next = progress[0];
  assign hw_in.dma_writes.value.next = progress[1];
  assign hw_in.tx_frames.value.next = progress[2];
  assign hw_in.rx_stored.value.next = progress[3];
  assign hw_in.bad_commands.value.next = bad_commands;
  sync_2ff i_irq (
      .clk_i(host_clk_i),
      .rst_i(host_rst_i),
      .d_i  (hw_out.status.interrupt.value),
      .q_o  (irq_o)
  );

  wire unused_run = &{1'b0, hw_out.control.run.value, hw_out.status.exited.value};
  core_nic_regs i_core_nic_regs (
      .clk(core_clk_i),
      .rst(core_rst_i),
      .regs(region[0]),
      .hwif_in(hw_in),
      .hwif_out(hw_out)
  );
endmodule
