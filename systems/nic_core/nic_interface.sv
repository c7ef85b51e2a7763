// SPDX-License-Identifier: Apache-2.0
`include "stream.svh"
/// One network interface of a NIC: its queues, their completions and events, and its ports (paper, sections II-A to II-E).
///
/// Wiring only. Transmit and receive have a queue manager, a descriptor fetch, a completion queue manager and a completion
/// write each; events have a completion queue manager and a completion write of their own (nic_completions). All ports share the queues.
/// DMA clients, in order: reads: transmit descriptors, receive descriptors, then transmit data of each port; writes:
/// transmit completions, receive completions, events, then receive data of each port, and packed receive data of each port.
module nic_interface
  import queue_pkg::*;
  import dma_pkg::*;
  import eth_pkg::*;
  import nic_interface_map_pkg::*;
#(
    parameter int Index = 0,
    parameter int Scheduler = SchedRr,
    parameter int Ports = 1,
    parameter int TxQueues = 256,
    parameter int RxQueues = 256,
    parameter int EventQueues = 32,
    parameter int FlowEntries = 1024,
    parameter int Functions = 1,  // each has its share of all queues
    parameter engine_pkg::built_t Built = '0,
    parameter bit Steered = 0,
    parameter int DescSlots = 128,
    parameter int CplLines = 64,
    parameter int MaxPackets = 512,
    parameter int TxRamBytes = 131072,
    parameter int ReadBytes = 32768,
    parameter int RxRamBytes = 131072,
    parameter int MaxFrame = 16256,
    parameter int AddrW = 26,
    localparam int ReadClients = 2 + Ports,
    localparam int WriteClients = 3 + 2 * Ports
) (
    input logic clk_i,
    input logic rst_i,
    // Registers: nic_interface_map of host_nic.rdl.
    reg_if.slave regs,

    // DMA: dma_req_t in the order above; status, RAM write and RAM read of all clients.
           stream_if.src dma_read      [ ReadClients],
    input  dma_status_t  read_status_i,
    input  ram_write_t   ram_write_i,
           stream_if.src dma_write     [WriteClients],
    input  dma_status_t  write_status_i,
    input  ram_read_t    ram_read_i,
    output ram_row_t     ram_row_o,

    // What the host writes to its windows; virtual functions that it resets.
    input pcie_pkg::line_write_t line_i,
    input pcie_pkg::functions_t  reset_i,

    // Interrupts: vector numbers, queue_t.
    stream_if.src vector,

    // MAC side of each port.
    input  ptp_time_t           time_i,
    input  logic                mac_tx_clk_i[Ports],
    input  logic                mac_tx_rst_i[Ports],
    input  logic                mac_rx_clk_i[Ports],
    input  logic                mac_rx_rst_i[Ports],
    input  cmac_pkg::cmac_in_t  mac_i       [Ports],
    output cmac_pkg::cmac_out_t mac_o       [Ports]
);
  localparam int ReadBase = Index * ReadClients;
  localparam int WriteBase = Index * WriteClients;
  localparam int RssLeast = Built.filter ? 128 * Functions : 128;
  localparam int RssEntries = RxQueues > RssLeast ? 2 ** $clog2(RxQueues) : RssLeast;

  // ---------------------------------------------------------------- registers
  localparam int RegTxq = 0, RegRxq = 1, RegTxcq = 2, RegRxcq = 3, RegEq = 4, RegOwn = 5, RegTxStat = 6, RegRxStat = 7, RegPorts = 8;
  // Of each port: registers, scheduler, RSS table, flow table, counters each way, and of other schedulers than round robin their own. Then limits.
  localparam int PortRegions = Scheduler == int'(SchedRr) ? 6 : 7;
  localparam int RegLimits = RegPorts + PortRegions * Ports, RegRegions = RegLimits + (SchedLimited[Scheduler] ? Ports : 0);
  localparam int Own[RegPorts][2] = '{  // base, size
      '{TxqBase, TxqSize},
      '{RxqBase, RxqSize},
      '{TxcqBase, TxcqSize},
      '{RxcqBase, RxcqSize},
      '{EqBase, EqSize},
      '{RegsBase, RegsSize},
      '{TxStatBase, TxStatSize},
      '{RxStatBase, RxStatSize}
  };
  localparam int OfPort[7][2] = '{  // of the first, stride
      '{PortBase, PortStride},
      '{SchedBase, SchedStride},
      '{RssBase, RssStride},
      '{FlowBase, FlowStride},
      '{PortTxStatBase, PortTxStatStride},
      '{PortRxStatBase, PortRxStatStride},
      '{SchedOwnBase, SchedOwnStride}
  };
  typedef logic [RegRegions-1:0][AddrW-1:0] region_t;

  function automatic region_t regions(bit sizes);
    for (int i = 0; i < RegPorts; i++) regions[i] = AddrW'(Own[i][sizes]);
    for (int i = 0; i < PortRegions * Ports; i++)
    regions[RegPorts+i] = AddrW'(OfPort[i%PortRegions][sizes] + (sizes ? 0 : i / PortRegions * OfPort[i%PortRegions][1]));
    for (int i = RegLimits; i < RegRegions; i++)
    regions[i] = AddrW'(sizes ? LimitStride : LimitBase + (i - RegLimits) * LimitStride);
  endfunction
  reg_if #(.AddrW(AddrW)) region[RegRegions+2*Ports] ();  // last: where there is none
  reg_demux #(
      .N(RegRegions),
      .AddrW(AddrW),
      .AtOnce(1),
      .Base(regions(0)),
      .Size(regions(1))
  ) i_regs (
      .clk_i,
      .rst_i,
      .in(regs),
      .out(region[0:RegRegions-1]),
      .unmapped_o()
  );
  logic error_valid, rx_streams;
  queue_error_t error;
  event_e error_kind;
  logic [2:0] cpl_lost;
  logic [31:0] cpl_delay, tx_burst, tx_max_inflight, tx_slots, rx_slots;
  logic [6:0] queues_refused;
  logic [1:0] tx_pushes;
  nic_interface_settings #(
      .Ports(Ports),
      .TxQueues(TxQueues),
      .RxQueues(RxQueues),
      .EventQueues(EventQueues),
      .RssEntries(RssEntries),
      .MaxFrame(MaxFrame),
      .Built(Built)
  ) i_own_regs (
      .clk_i,
      .rst_i,
      .regs(region[RegOwn]),
      .cpl_delay_o(cpl_delay),
      .tx_burst_o(tx_burst),
      .tx_max_inflight_o(tx_max_inflight),
      .error_valid_i(error_valid),
      .error_i(error),
      .error_kind_i(error_kind),
      .lost_i(cpl_lost),
      .queues_refused_i(queues_refused),
      .tx_pushes_i(tx_pushes),
      .tx_slots_i(tx_slots),
      .rx_slots_i(rx_slots)
  );

  // ---- transmit queues
  `STREAM(fetch_req_t, tx_request[Ports])
  `STREAM(fetch_granted_t, tx_granted[Ports])
  `STREAM(fetch_desc_t, tx_desc[Ports])
  `STREAM(commit_t, tx_commit[Ports])
  `STREAM(queue_error_t, tx_stop[Ports])
  `STREAM(queue_t, tx_doorbell)
  `STREAM(queue_t, port_doorbell[Ports])
  `STREAM(queue_error_t, queue_error[2])
  `STREAM(port_t, no_order)
  assign no_order.ready = 1'b1;
  push_store_t push_store;
  port_tells_t [Ports-1:0] port_tells;
  desc_queues #(
      .Queues(TxQueues),
      .Slots(DescSlots),
      .Ports(Ports),
      .Jobs(MaxPackets),
      .Room(Ports > 1 ? MaxPackets : 0),  // one whose line is paused takes none
      .Sel(ram_sel_t'(ReadBase)),
      .Push(1'b1),
      .Streams(StreamsEmptied),
      .Shared(Built.shared),
      .Functions(Functions),
      .Interface(Index)
  ) i_tx_queues (
      .clk_i,
      .rst_i,
      .regs(region[RegTxq]),
      .request(tx_request),
      .granted(tx_granted),
      .desc(tx_desc),
      .commit(tx_commit),
      .stop(tx_stop),
      .order(no_order),
      .doorbell(tx_doorbell),
      .error(queue_error[0]),
      .refused_o(queues_refused[0]),
      .streams_o(),
      .slots_o(tx_slots),
      .line_i,
      .push_store_o(push_store),
      .ports_i(port_tells),
      .pushes_o(tx_pushes),
      .dma(dma_read[0]),
      .status_i(read_status_i),
      .ram_i(ram_write_i)
  );
  // The scheduler of every port is given every doorbell; its enable bits say which queues may leave by it.
  stream_fork #(
      .T(queue_t),
      .N(Ports)
  ) i_doorbell (
      .clk_i,
      .rst_i,
      .in (tx_doorbell),
      .out(port_doorbell)
  );

  // ---------------------------------------------------------------- receive queues
  `STREAM(fetch_req_t, rx_request[Ports])
  `STREAM(fetch_granted_t, rx_granted[Ports])
  `STREAM(fetch_desc_t, rx_desc[Ports])
  `STREAM(commit_t, rx_commit[Ports])
  `STREAM(queue_error_t, rx_stop[Ports])
  `STREAM(queue_t, rx_doorbell)
  `STREAM(port_t, rx_order)
  desc_queues #(
      .Queues(RxQueues),
      .Slots(DescSlots),
      .Ports(Ports),
      .Jobs(MaxPackets),
      .Streams(StreamsFilled),
      .Shared(Built.shared),
      .Functions(Functions),
      .Sel(ram_sel_t'(ReadBase + 1))
  ) i_rx_queues (
      .clk_i,
      .rst_i,
      .regs(region[RegRxq]),
      .request(rx_request),
      .granted(rx_granted),
      .desc(rx_desc),
      .commit(rx_commit),
      .stop(rx_stop),
      .order(rx_order),
      .doorbell(rx_doorbell),
      .error(queue_error[1]),
      .refused_o(queues_refused[1]),
      .streams_o(rx_streams),
      .slots_o(rx_slots),
      .line_i,
      .push_store_o(),
      .ports_i('0),
      .pushes_o(),
      .dma(dma_read[1]),
      .status_i(read_status_i),
      .ram_i(ram_write_i)
  );
  // Descriptors are asked for when a frame is there: neither doorbells nor grants are waited for.
  assign rx_doorbell.ready = 1'b1;
  for (genvar p = 0; p < Ports; p++) begin : g_rx_granted
    assign rx_granted[p].ready = 1'b1;
  end

  // ---------------------------------------------------------------- completions and events
  `STREAM(record_t, tx_port_record[Ports])
  `STREAM(record_t, rx_port_record[Ports])
  ram_row_t cpl_row;
  nic_completions #(
      .Ports(Ports),
      .TxQueues(TxQueues),
      .RxQueues(RxQueues),
      .EventQueues(EventQueues),
      .CplLines(CplLines),
      .Functions(Functions),
      .Shared(Built.shared),
      .Sel(ram_sel_t'(WriteBase))
  ) i_completions (
      .clk_i,
      .rst_i,
      .tx_regs(region[RegTxcq]),
      .rx_regs(region[RegRxcq]),
      .event_regs(region[RegEq]),
      .max_delay_i(cpl_delay[15:0]),
      .tx_record(tx_port_record),
      .rx_record(rx_port_record),
      .error(queue_error),
      .rx_order,
      .dma(dma_write[0:2]),
      .status_i(write_status_i),
      .ram_i(ram_read_i),
      .ram_o(cpl_row),
      .vector,
      .error_valid_o(error_valid),
      .error_o(error),
      .error_kind_o(error_kind),
      .lost_o(cpl_lost),
      .refused_o(queues_refused[4:2])
  );

  // ---------------------------------------------------------------- counters by queue
  `STREAM(queue_count_t, tx_counted[Ports])
  `STREAM(queue_count_t, rx_counted[Ports])
  nic_queue_stats #(
      .Ports(Ports),
      .TxQueues(TxQueues),
      .RxQueues(RxQueues)
  ) i_stats (
      .clk_i,
      .rst_i,
      .tx_regs  (region[RegTxStat]),
      .rx_regs  (region[RegRxStat]),
      .tx_count (tx_counted),
      .rx_count (rx_counted),
      .refused_o(queues_refused[6:5])
  );

  // ---- ports
  ram_row_t [Ports-1:0] port_row;
  queues_tell_t queues_tell;
  assign queues_tell = '{
          rx_streams: rx_streams,
          burst: tx_burst[3:0],
          in_flight: tx_max_inflight[15:0],
          in_reset: reset_i
      };
  for (genvar p = 0; p < Ports; p++) begin : g_port
    nic_port #(
        .Index(p),
        .Scheduler(Scheduler),
        .AddrW(AddrW),
        .TxQueues(TxQueues),
        .RxQueues(RxQueues),
        .RssEntries(RssEntries),
        .FlowEntries(FlowEntries),
        .Functions(Functions),
        .Built(Built),
        .Steered(Steered),
        .MaxPackets(MaxPackets),
        .TxRamBytes(TxRamBytes),
        .ReadBytes(ReadBytes),
        .RxRamBytes(RxRamBytes),
        .MaxFrame(MaxFrame),
        .ReadSel(ram_sel_t'(ReadBase + 2 + p)),
        .WriteSel(ram_sel_t'(WriteBase + 3 + p)),
        .PackSel(ram_sel_t'(WriteBase + 3 + Ports + p))
    ) i_port (
        .clk_i,
        .rst_i,
        .regs(region[RegPorts+PortRegions*p]),
        .sched_regs(region[RegPorts+PortRegions*p+1]),
        .sched_own(region[PortRegions>6?RegPorts+PortRegions*p+6 : RegRegions+Ports+p]),
        .sched_limits(region[RegLimits+p]),
        .steer_regs(region[RegPorts+PortRegions*p+2:RegPorts+PortRegions*p+3]),
        .stat_regs(region[RegPorts+PortRegions*p+4:RegPorts+PortRegions*p+5]),
        .queues_i(queues_tell),
        .doorbell(port_doorbell[p]),
        .tx_request(tx_request[p]),
        .tx_granted(tx_granted[p]),
        .tx_desc(tx_desc[p]),
        .tx_commit(tx_commit[p]),
        .tx_stop(tx_stop[p]),
        .tx_record(tx_port_record[p]),
        .tx_counted(tx_counted[p]),
        .tx_dma(dma_read[2+p]),
        .read_status_i,
        .ram_write_i,
        .push_i(push_store),
        .tells_o(port_tells[p]),
        .rx_request(rx_request[p]),
        .rx_desc(rx_desc[p]),
        .rx_commit(rx_commit[p]),
        .rx_stop(rx_stop[p]),
        .rx_record(rx_port_record[p]),
        .rx_counted(rx_counted[p]),
        .rx_dma(dma_write[3+p]),
        .pack_dma(dma_write[3+Ports+p]),
        .write_status_i,
        .ram_read_i,
        .ram_row_o(port_row[p]),
        .time_i,
        .mac_tx_clk_i(mac_tx_clk_i[p]),
        .mac_tx_rst_i(mac_tx_rst_i[p]),
        .mac_rx_clk_i(mac_rx_clk_i[p]),
        .mac_rx_rst_i(mac_rx_rst_i[p]),
        .mac_i(mac_i[p]),
        .mac_o(mac_o[p])
    );
  end

  ram_row_or #(
      .N(1 + Ports)
  ) i_ram_row (
      .row_i({port_row, cpl_row}),
      .row_o(ram_row_o)
  );
endmodule
