// SPDX-License-Identifier: Apache-2.0
/// Registers of one interface of host-nic itself: what it has and where, its settings, its error report and levels.
///
/// Wiring only. Settings are kept within their ranges (reg_range).
module nic_interface_settings
  import queue_pkg::*;
  import nic_interface_map_pkg::*;
#(
    parameter int Ports = 1,
    parameter int TxQueues = 256,
    parameter int RxQueues = 256,
    parameter int EventQueues = 32,
    parameter int RssEntries = 128,
    parameter int MaxFrame = 16256,
    parameter engine_pkg::built_t Built = '0
) (
    input logic clk_i,
    input logic rst_i,

    // nic_interface_regs of host_nic.rdl.
    reg_if.slave regs,

    // Settings.
    output logic [31:0] cpl_delay_o,
    output logic [31:0] tx_burst_o,
    output logic [31:0] tx_max_inflight_o,

    // The error just reported; for one clock each: records lost (events, receive, transmit), queue registers refused, descriptors taken from a push,
    // pushes that came to nothing.
    input logic               error_valid_i,
    input queue_error_t       error_i,
    input event_e             error_kind_i,
    input logic         [2:0] lost_i,
    input logic         [6:0] queues_refused_i,
    input logic         [1:0] tx_pushes_i,

    // Slots handed out and not yet finished.
    input logic [31:0] tx_slots_i,
    input logic [31:0] rx_slots_i
);
  nic_interface_regs_pkg::nic_interface_regs__in_t  hw_in;
  nic_interface_regs_pkg::nic_interface_regs__out_t hw_out;

  assign hw_in.ports.value.next = 32'(Ports);
  assign hw_in.tx_queues.value.next = 32'(TxQueues);
  assign hw_in.rx_queues.value.next = 32'(RxQueues);
  assign hw_in.event_queues.value.next = 32'(EventQueues);
  assign hw_in.max_frame.value.next = 32'(MaxFrame);
  assign hw_in.features.rx_hash.next = 1'b1;
  assign hw_in.features.rx_csum.next = 1'b1;
  assign hw_in.features.tx_csum.next = 1'b1;
  assign hw_in.features.ptp.next = 1'b1;
  assign hw_in.features.vlan.next = Built.vlan;
  assign hw_in.features.segments.next = Built.segments;
  assign hw_in.features.shared.next = Built.shared;
  assign hw_in.features.split.next = Built.split;
  assign hw_in.features.is_function.next = 1'b0;  // function_regs tells a virtual function with it
  assign hw_in.features.coalesce.next = Built.coalesce;
  assign hw_in.features.filter.next = Built.filter;
  assign hw_in.txq_offset.value.next = 32'(TxqBase);
  assign hw_in.rxq_offset.value.next = 32'(RxqBase);
  assign hw_in.txcq_offset.value.next = 32'(TxcqBase);
  assign hw_in.rxcq_offset.value.next = 32'(RxcqBase);
  assign hw_in.eq_offset.value.next = 32'(EqBase);
  assign hw_in.sched_offset.value.next = 32'(SchedBase);
  assign hw_in.sched_stride.value.next = 32'(SchedStride);
  assign hw_in.port_offset.value.next = 32'(PortBase);
  assign hw_in.port_stride.value.next = 32'(PortStride);
  assign hw_in.rss_offset.value.next = 32'(RssBase);
  assign hw_in.rss_stride.value.next = 32'(RssStride);
  assign hw_in.flow_offset.value.next = 32'(FlowBase);
  assign hw_in.flow_stride.value.next = 32'(FlowStride);
  assign hw_in.tx_stat_offset.value.next = 32'(TxStatBase);
  assign hw_in.rx_stat_offset.value.next = 32'(RxStatBase);
  assign hw_in.port_tx_stat_offset.value.next = 32'(PortTxStatBase);
  assign hw_in.port_rx_stat_offset.value.next = 32'(PortRxStatBase);
  assign hw_in.port_stat_stride.value.next = 32'(PortTxStatStride);
  assign hw_in.rss_entries.value.next = 32'(RssEntries);
  assign hw_in.last_error.queue.we = error_valid_i;
  assign hw_in.last_error.queue.next = error_i.queue;
  assign hw_in.last_error.code.we = error_valid_i;
  assign hw_in.last_error.code.next = error_i.code;
  assign hw_in.last_error.kind.we = error_valid_i;
  assign hw_in.last_error.kind.next = error_kind_i;
  assign hw_in.errors.value.incr = error_valid_i;
  assign hw_in.tx_cpl_lost.value.incr = lost_i[0];
  assign hw_in.rx_cpl_lost.value.incr = lost_i[1];
  assign hw_in.event_lost.value.incr = lost_i[2];
  assign hw_in.tx_pushed.value.incr = tx_pushes_i[0];
  assign hw_in.tx_push_dropped.value.incr = tx_pushes_i[1];
  assign hw_in.tx_slots.value.next = tx_slots_i;
  assign hw_in.rx_slots.value.next = rx_slots_i;

  logic [2:0] refused;
  reg_range #(
      .N(3),
      .Least({32'd0, 32'd1, 32'd1}),
      .Most({32'd65535, 32'(BlockSlots), 32'd32767})
  ) i_range (
      .clk_i,
      .value_i({
        hw_out.cpl_delay.value.value,
        hw_out.tx_burst.value.value,
        hw_out.tx_max_inflight.value.value
      }),
      .hold_i('0),
      .next_o({
        hw_in.cpl_delay.value.next, hw_in.tx_burst.value.next, hw_in.tx_max_inflight.value.next
      }),
      .refused_o(refused),
      .setting_o({cpl_delay_o, tx_burst_o, tx_max_inflight_o})
  );
  assign hw_in.cpl_delay.value.we = refused[2];
  assign hw_in.tx_burst.value.we = refused[1];
  assign hw_in.tx_max_inflight.value.we = refused[0];
  assign hw_in.settings_refused.value.incr = |{queues_refused_i, refused};

  nic_interface_regs i_regs (
      .clk(clk_i),
      .rst(rst_i),
      .regs,
      .hwif_in(hw_in),
      .hwif_out(hw_out)
  );
endmodule
