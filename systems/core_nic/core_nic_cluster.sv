// SPDX-License-Identifier: Apache-2.0
/// core_nic_cluster: the cores of core-nic and the memories they share, all in one clock.
///
/// Wiring only. Cores with their instruction caches, what wakes those that sleep, the instruction memory, the crossbar and the banks of the scratchpad. The
/// assists and the host's window are masters of the crossbar like the cores; device registers and frame memory lie outside.
module core_nic_cluster
  import core_pkg::*;
#(
    parameter int Cores = 6,
    parameter int Banks = 4,
    parameter int ScratchBytes = 262144,
    parameter int ImemBytes = 131072,
    parameter int ICacheBytes = 8192,
    parameter int ICacheWays = 2,
    parameter bit Predict = 1'b1,
    parameter bit Rvfi = 1'b0,
    localparam int Masters = Cores + 5,  // cores, the four assists, the host's window
    localparam int MasterW = $clog2(Masters)
) (
    input logic clk_i,
    input logic rst_i,
    input logic [Cores-1:0] run_i,
    input logic [Cores-1:0] watchdog_i,
    output logic [Cores-1:0] trapped_o,

    // Work for cores that sleep (core_wake).
    input logic come_i,
    input logic [15:0] wake_gap_i,
    output logic [Cores-1:0] sleeping_o,

    // The host's way to instruction memory, counters and scratchpad.
    reg_if.slave imem_regs,
    reg_if.slave core_regs,
    reg_if.slave window_regs,

    // Masters beside the cores.
    assist_if.crossbar assist[4],

    // Device registers: always taken.
    output logic                   dev_valid_o,
    output mem_req_t               dev_req_o,
    output logic     [MasterW-1:0] dev_master_o,
    input  logic                   dev_rsp_valid_i,
    input  mem_rsp_t               dev_rsp_i,

    // Frame memory.
    output logic     frame_valid_o,
    output mem_req_t frame_req_o,
    input  logic     frame_ready_i,
    input  logic     frame_rsp_valid_i,
    input  mem_rsp_t frame_rsp_i,

    // Counts, and observers.
    output logic [31:0] scratch_accesses_o,
    output logic [31:0] imem_reads_o,
    output logic imem_refused_o,
    output core_seen_t seen_o[Cores],
    output access_seen_t access_o[4]
);
  localparam int HostMaster = Cores + 4;
  localparam int DeviceBytes = 2 ** device_pkg::AddrW;
  localparam int FrameBytes = 2 ** dram_pkg::FrameAddrW;
  localparam int FillW = $clog2(ImemBytes) - 4;

  logic imem_write, imem_we, imem_written;
  logic [FillW+1:0] imem_waddr;
  logic [31:0] imem_wdata;
  logic [Masters-1:0] req_valid, req_ready, rsp_valid, store_error, waits;
  mem_req_t mem_req[Masters];
  region_t [Masters-1:0] mem_region;
  mem_rsp_t mem_rsp[Masters];
  clock_use_e core_use[Cores];
  trap_e core_trap[Cores];
  logic [31:0] core_pc[Cores], core_trap_pc[Cores];
  rvfi_t core_rvfi[Cores];
  logic [Cores-1:0] wake, fill_valid, fill_ready, fill_rsp_valid;
  logic [Cores-1:0][FillW-1:0] fill_addr;
  logic [127:0] fill_data;
  logic [Banks-1:0] bank_valid;
  mem_req_t bank_req[Banks];
  logic [31:0] bank_rdata[Banks];
  wire unused_masters = &{1'b0, store_error[Masters-1:Cores], waits[Masters-1:Cores]};

  // ---------------------------------------------------------------- cores and what they execute
  imem_window #(
      .Bytes(ImemBytes)
  ) i_imem_window (
      .regs(imem_regs),
      .we_o(imem_write),
      .waddr_o(imem_waddr),
      .wdata_o(imem_wdata)
  );
  // What cores execute does not change under them.
  assign imem_we = imem_write && !(|run_i);
  assign imem_refused_o = imem_write && |run_i;
  pipe_reg i_imem_written (
      .clk_i,
      .d_i(imem_we || rst_i),
      .q_o(imem_written)
  );
  for (genvar c = 0; c < Cores; c++) begin : g_core
    logic fetch_en, fetch_early, fetch_valid, fetch_error;
    logic [31:0] fetch_addr, fetch_data;
    core #(
        .Rvfi(Rvfi),
        .Predict(Predict),
        .ScratchBytes(ScratchBytes),
        .DeviceBytes(DeviceBytes),
        .FrameBytes(FrameBytes)
    ) i_core (
        .clk_i,
        .rst_i,
        .hart_id_i(6'(c)),
        .run_i(run_i[c]),
        .watchdog_i(watchdog_i[c]),
        .wake_i(wake[c]),
        .sleeping_o(sleeping_o[c]),
        .fetch_en_o(fetch_en),
        .fetch_early_o(fetch_early),
        .fetch_addr_o(fetch_addr),
        .fetch_valid_i(fetch_valid),
        .fetch_data_i(fetch_data),
        .fetch_error_i(fetch_error),
        .req_valid_o(req_valid[c]),
        .req_o(mem_req[c]),
        .req_region_o(mem_region[c]),
        .next_addr_o(),
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
        .clk_i,
        .rst_i,
        .clear_i(imem_written),
        .fetch_en_i(fetch_en),
        .fetch_early_i(fetch_early),
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
  core_wake #(
      .Cores(Cores)
  ) i_wake (
      .clk_i,
      .rst_i,
      .come_i,
      .gap_i(wake_gap_i),
      .sleeping_i(sleeping_o),
      .wake_o(wake)
  );
  imem #(
      .Bytes(ImemBytes),
      .Ports(Cores)
  ) i_imem (
      .clk_i,
      .rst_i,
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
      .clk_i,
      .rst_i,
      .use_i(core_use),
      .trap_i(core_trap),
      .trap_pc_i(core_trap_pc),
      .wait_i(waits[Cores-1:0]),
      .trapped_o,
      .regs(core_regs)
  );

  // ---------------------------------------------------------------- crossbar and scratchpad
  assign mem_region[Masters-1:Cores] = '0;  // found in the crossbar
  for (genvar a = 0; a < 4; a++) begin : g_assist
    assign req_valid[Cores+a] = assist[a].mem_valid;
    assign mem_req[Cores+a] = assist[a].mem_req;
    assign assist[a].mem_ready = req_ready[Cores+a];
    assign assist[a].mem_rsp_valid = rsp_valid[Cores+a];
    assign assist[a].mem_rsp = mem_rsp[Cores+a];
    assign access_o[a] = '{
            taken: req_valid[Cores+a] && req_ready[Cores+a],
            op: mem_req[Cores+a].op,
            addr: mem_req[Cores+a].addr
        };
  end
  xbar #(
      .Masters(Masters),
      .Decoded(Cores),
      .Banks(Banks),
      .ScratchBytes(ScratchBytes),
      .DeviceBytes(DeviceBytes),
      .FrameBytes(FrameBytes)
  ) i_xbar (
      .clk_i,
      .rst_i,
      .req_valid_i(req_valid),
      .req_i(mem_req),
      .region_i(mem_region),
      .req_ready_o(req_ready),
      .rsp_valid_o(rsp_valid),
      .rsp_o(mem_rsp),
      .store_error_o(store_error),
      .wait_o(waits),
      .bank_valid_o(bank_valid),
      .bank_req_o(bank_req),
      .bank_rdata_i(bank_rdata),
      .dev_valid_o,
      .dev_req_o,
      .dev_master_o,
      .dev_ready_i(1'b1),
      .dev_rsp_valid_i,
      .dev_rsp_i,
      .frame_valid_o,
      .frame_req_o,
      .frame_ready_i,
      .frame_rsp_valid_i,
      .frame_rsp_i
  );
  for (genvar b = 0; b < Banks; b++) begin : g_bank
    bank #(
        .Words(ScratchBytes / 4 / Banks)
    ) i_bank (
        .clk_i,
        .rst_i,
        .valid_i(bank_valid[b]),
        .req_i  (bank_req[b]),
        .rdata_o(bank_rdata[b])
    );
  end
  host_window i_host_window (
      .clk_i,
      .rst_i,
      .regs(window_regs),
      .req_valid_o(req_valid[HostMaster]),
      .req_o(mem_req[HostMaster]),
      .req_ready_i(req_ready[HostMaster]),
      .rsp_valid_i(rsp_valid[HostMaster]),
      .rsp_i(mem_rsp[HostMaster])
  );
  event_count #(
      .N(Banks)
  ) i_scratch_accesses (
      .clk_i,
      .rst_i,
      .add_i  (bank_valid),
      .count_o(scratch_accesses_o)
  );
  event_count i_imem_reads (
      .clk_i,
      .rst_i,
      .add_i  (|fill_ready),
      .count_o(imem_reads_o)
  );
endmodule
