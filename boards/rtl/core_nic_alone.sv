// SPDX-License-Identifier: Apache-2.0
`include "assert.svh"
`include "stream.svh"
/// core-nic without a host: its cores, scratchpad, MAC assists and device registers, a frame memory in block RAM and a 1G MAC.
///
/// Wiring only. Two clocks: core (cores, memories, assists) and MAC (a byte a clock each way). Both resets have to come together
/// (reset_sequencer). The program comes out of a ROM (boot_rom) and finds the device's addresses in its configuration words
/// (echo_pkg); there are no DMA assists: their progress stays 0. Receive is never held up: what finds no room is dropped whole
/// and counted in the device registers.
module core_nic_alone
  import core_pkg::*;
  import dram_pkg::*;
  import eth_pkg::*;
#(
    parameter int Cores = 2,
    parameter int Banks = 2,
    parameter int ScratchBytes = 32768,
    parameter int ImemBytes = 32768,
    parameter int ICacheBytes = 2048,
    parameter int FrameBytes = 65536,
    parameter string Image = "",  // boot_rom
    parameter int ImageWords = 1,
    parameter logic [47:0] Mac = 48'h02_00_00_00_00_01,
    parameter logic [31:0] Ip = 32'hc0a80132
) (
    input  logic core_clk_i,
    input  logic core_rst_i,
    output logic running_o,   // the cores have their program
    output logic trapped_o,

    // Frames without preamble and FCS, a byte a clock.
    input  logic       mac_clk_i,
    input  logic       mac_rst_i,
    input  logic       mac_rx_valid_i,
    input  byte_beat_t mac_rx_i,
    output logic       mac_tx_valid_o,
    output byte_beat_t mac_tx_o,
    input  logic       mac_tx_ready_i
);
  localparam int Masters = Cores + 5;  // as core_nic_cluster has them
  localparam int Clients = 3;  // of the frame bus: MAC receive, MAC transmit, cores
  localparam int RegsW = 29;
  wire clk_i = core_clk_i;
  wire rst_i = core_rst_i;

  // ---------------------------------------------------------------- the program
  localparam logic [1:0][RegsW-1:0] MemoryBase = {RegsW'(ScratchBase), RegsW'(0)};
  localparam logic [1:0][RegsW-1:0] MemorySize = {RegsW'(ScratchBytes), RegsW'(ImemBytes)};
  reg_if #(.AddrW(RegsW)) boot_regs ();
  reg_if #(.AddrW(RegsW)) memory[2] ();
  reg_if #(.AddrW(RegsW)) no_regs ();
  logic booted, unused_unmapped;
  boot_rom #(
      .Image(Image),
      .Words(ImageWords),
      .AddrW(RegsW)
  ) i_boot_rom (
      .clk_i,
      .rst_i,
      .regs  (boot_regs),
      .done_o(booted)
  );
  reg_demux #(
      .N(2),
      .AddrW(RegsW),
      .Base(MemoryBase),
      .Size(MemorySize)
  ) i_memories (
      .clk_i,
      .rst_i,
      .in(boot_regs),
      .out(memory),
      .unmapped_o(unused_unmapped)
  );
  assign no_regs.req   = 1'b0;
  assign no_regs.write = 1'b0;
  assign no_regs.addr  = '0;
  assign no_regs.wdata = '0;
  assign no_regs.wstrb = '0;
  wire unused_regs = &{1'b0, no_regs.ack, no_regs.rdata};

  // ---------------------------------------------------------------- cores
  assist_if assist[4] ();
  logic [Cores-1:0] run, watchdog, trapped, sleeping;
  logic come, dev_valid, dev_rsp_valid, frame_valid, frame_ready, frame_rsp_valid;
  logic [15:0] wake_gap;
  mem_req_t dev_req, frame_req;
  mem_rsp_t dev_rsp, frame_rsp;
  logic [$clog2(Masters)-1:0] dev_master;
  assign run = {Cores{booted}};
  assign running_o = booted;
  assign trapped_o = |trapped;
  core_nic_cluster #(
      .Cores(Cores),
      .Banks(Banks),
      .ScratchBytes(ScratchBytes),
      .ImemBytes(ImemBytes),
      .ICacheBytes(ICacheBytes)
  ) i_cluster (
      .clk_i,
      .rst_i,
      .run_i(run),
      .watchdog_i(watchdog),
      .trapped_o(trapped),
      .come_i(come),
      .wake_gap_i(wake_gap),
      .sleeping_o(sleeping),
      .imem_regs(memory[0]),
      .core_regs(no_regs),
      .window_regs(memory[1]),
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
      .scratch_accesses_o(),
      .imem_reads_o(),
      .imem_refused_o(),
      .seen_o(),
      .access_o()
  );

  // ---------------------------------------------------------------- MAC and its assists
  // A byte a clock of the MAC is a word in eight: the core clock takes and gives more than that, so no FIFO between them is ever full
  // or, inside a frame, empty (rates above an eighth of the MAC's clock).
  `STREAM(word_beat_t, rx)
  `STREAM(word_beat_t, tx)
  `STREAM_ON(word_beat_t, mac_rx, mac_clk_i, mac_rst_i)
  `STREAM_ON(word_beat_t, mac_tx, mac_clk_i, mac_rst_i)
  `STREAM(bus_req_t, req[Clients])
  `STREAM(bus_wdata_t, wdata[Clients])
  `STREAM(logic [127:0], rdata[Clients])
  mac_rx_count_t mac_count;
  logic no_buffer, rx_enable;
  logic [31:0] slot_base;
  byte_pack i_pack (
      .clk_i(mac_clk_i),
      .rst_i(mac_rst_i),
      .byte_valid_i(mac_rx_valid_i),
      .byte_i(mac_rx_i),
      .word_valid_o(mac_rx.valid),
      .word_o(mac_rx.data)
  );
  `FIFO_CROSS(word_beat_t, 8, i_rx_cross, mac, mac_rx, core, rx)
  `FIFO_CROSS(word_beat_t, 8, i_tx_cross, core, tx, mac, mac_tx)
  byte_unpack i_unpack (
      .clk_i(mac_clk_i),
      .rst_i(mac_rst_i),
      .word_valid_i(mac_tx.valid),
      .word_ready_o(mac_tx.ready),
      .word_i(mac_tx.data),
      .byte_valid_o(mac_tx_valid_o),
      .byte_ready_i(mac_tx_ready_i),
      .byte_o(mac_tx_o)
  );
  assign rx.ready = 1'b1;
  `ASSERT(RoomForWord, mac_rx.valid |-> mac_rx.ready, mac_clk_i, mac_rst_i)
  mac_rx_assist i_mac_rx_assist (
      .core_clk_i,
      .core_rst_i,
      .cores(assist[3]),
      .slot_base_i(slot_base),
      .enable_i(rx_enable),
      .mem_clk_i(clk_i),
      .mem_rst_i(rst_i),
      .req(req[0]),
      .wdata(wdata[0]),
      .mac_clk_i(clk_i),
      .mac_rst_i(rst_i),
      .rx_valid_i(rx.valid),
      .rx_i(rx.data),
      .count_o(mac_count),
      .no_buffer_o(no_buffer)
  );
  // Frames come from the wire alone.
  `STREAM(assist_pkg::slot_t, lost)
  assign lost.valid = 1'b0;
  assign lost.data  = '0;
  wire unused_lost = &{1'b0, lost.ready};
  assist_pkg::mac_skipped_t unused_skipped;
  mac_tx_assist i_mac_tx_assist (
      .core_clk_i,
      .core_rst_i,
      .cores(assist[2]),
      .lost,
      .skipped_o(unused_skipped),
      .mem_clk_i(clk_i),
      .mem_rst_i(rst_i),
      .req(req[1]),
      .rdata(rdata[1]),
      .mac_clk_i(clk_i),
      .mac_rst_i(rst_i),
      .tx_valid_o(tx.valid),
      .tx_ready_i(tx.ready),
      .tx_o(tx.data)
  );
  for (genvar a = 0; a < 2; a++) begin : g_no_dma
    assign assist[a].progress = '0;
    assign assist[a].bad = 1'b0;
    assign assist[a].mem_valid = 1'b0;
    assign assist[a].mem_req = '{op: Load, default: '0};
    wire unused = &{1'b0, assist[a].mem_ready, assist[a].mem_rsp_valid, assist[a].mem_rsp};
  end

  // ---------------------------------------------------------------- frame memory
  `STREAM(bus_req_t, burst)
  `STREAM(bus_wdata_t, burst_wdata)
  logic [$clog2(Clients)-1:0] burst_client, wclient, rclient;
  logic write, rvalid;
  logic [127:0] word;
  frame_access i_frame_access (
      .clk_i,
      .rst_i,
      .valid_i(frame_valid),
      .req_i(frame_req),
      .ready_o(frame_ready),
      .rsp_valid_o(frame_rsp_valid),
      .rsp_o(frame_rsp),
      .mem_clk_i(clk_i),
      .mem_rst_i(rst_i),
      .req(req[2]),
      .wdata(wdata[2]),
      .rdata(rdata[2])
  );
  assign rdata[0].ready = 1'b1;
  assign wdata[1].valid = 1'b0;
  assign wdata[1].data  = '0;
  wire unused_one_way = &{1'b0, rdata[0].valid, rdata[0].data, wdata[1].ready};
  frame_bus #(
      .Clients(Clients)
  ) i_frame_bus (
      .clk_i,
      .rst_i,
      .req,
      .wdata,
      .rdata,
      .burst,
      .burst_wdata,
      .burst_client_o(burst_client),
      .write_i(write),
      .wclient_i(wclient),
      .rvalid_i(rvalid),
      .rclient_i(rclient),
      .rdata_i(word)
  );
  frame_ram #(
      .Bytes  (FrameBytes),
      .Clients(Clients)
  ) i_frame_ram (
      .clk_i,
      .rst_i,
      .burst,
      .burst_client_i(burst_client),
      .wdata(burst_wdata),
      .wclient_o(wclient),
      .write_o(write),
      .rvalid_o(rvalid),
      .rclient_o(rclient),
      .rdata_o(word)
  );

  // ---------------------------------------------------------------- device registers
  logic [3:0][31:0] ring_base, producer, progress;
  logic [3:0][3:0] ring_log;
  logic [7:0][31:0] counter;
  logic [15:0][31:0] host_config;
  logic [6:0] event_now;
  for (genvar a = 0; a < 4; a++) begin : g_assist
    assign assist[a].base = ring_base[a];
    assign assist[a].log = ring_log[a];
    assign assist[a].producer = producer[a];
    assign progress[a] = assist[a].progress;
  end
  assign host_config[echo_pkg::ConfigMacLow] = {<<8{Mac[47:16]}};
  assign host_config[echo_pkg::ConfigMacHigh] = {16'd0, Mac[7:0], Mac[15:8]};
  assign host_config[echo_pkg::ConfigIp] = {<<8{Ip}};
  for (genvar i = echo_pkg::ConfigWords; i < 16; i++) begin : g_no_config
    assign host_config[i] = '0;
  end
  assign event_now = {
    assist[2].bad,
    mac_count.good,
    mac_count.fifo_full,
    no_buffer,
    mac_count.runt,
    mac_count.oversize,
    mac_count.bad_fcs
  };
  for (genvar i = 0; i < 8; i++) begin : g_counter
    if (i == 6) begin : g_no_dma
      assign counter[i] = '0;
    end else begin : g_count
      event_count i_count (
          .clk_i,
          .rst_i,
          .add_i  (event_now[i==7?6 : i]),
          .count_o(counter[i])
      );
    end
  end
  assist_regs #(
      .Cores  (Cores),
      .Masters(Masters)
  ) i_assist_regs (
      .clk_i,
      .rst_i,
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
      .mailbox_i('0),
      .config_i(host_config),
      .base_o(ring_base),
      .log_o(ring_log),
      .producer_o(producer),
      .progress_i(progress),
      .slot_base_o(slot_base),
      .rx_enable_o(rx_enable),
      .interrupt_o(),
      .print_o(),
      .print_char_o(),
      .print_master_o(),
      .exit_o(),
      .exit_code_o(),
      .dropped_o(),
      .counter_i(counter),
      .clock_o()
  );
endmodule
