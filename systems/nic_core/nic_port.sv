// SPDX-License-Identifier: Apache-2.0
`include "stream.svh"
/// One Ethernet port of a NIC: scheduler, transmit and receive engine, packet RAMs, MAC side (paper, section II-D, II-E).
///
/// Wiring only. Transmit: scheduler, engine, checksum, VLAN tag, MAC. Receive: MAC, VLAN tag, flow hash, steering and checksum, packet buffer, queue by flow or hash, joining of segments, engine, packer.
module nic_port
  import queue_pkg::*, dma_pkg::*, eth_pkg::*, cmac_pkg::*, engine_pkg::*;
#(
    parameter int Index = 0,
    parameter int Scheduler = SchedRr,
    parameter int AddrW = 26,
    parameter int TxQueues = 256,
    parameter int RxQueues = 256,
    parameter int RssEntries = 128,
    parameter int FlowEntries = 1024,
    parameter int Functions = 1,
    parameter built_t Built = '0,
    parameter bit Steered = 0,
    parameter int MaxPackets = 512,
    parameter int TxRamBytes = 131072,
    parameter int ReadBytes = 32768,
    parameter int RxRamBytes = 131072,
    parameter int MaxFrame = 16256,  // without FCS
    parameter ram_sel_t ReadSel = '0,
    parameter ram_sel_t WriteSel = '0,
    parameter ram_sel_t PackSel = '0
) (
    input logic clk_i,
    input logic rst_i,
    // Registers: nic_port_regs, sched_regs[], nic_sched_map, sched_limit_regs[], rss_regs and flow_regs, stat_regs of each way (host_nic.rdl).
    reg_if.slave regs,
    reg_if.slave sched_regs,
    reg_if.slave sched_own,
    reg_if.slave sched_limits,
    reg_if.slave steer_regs[2],
    reg_if.slave stat_regs[2],
    input queues_tell_t queues_i,

    // Transmit: queue_t, fetch_req_t, fetch_granted_t, fetch_desc_t, commit_t, queue_error_t, record_t, queue_count_t, dma_req_t.
    stream_if.snk doorbell,
    stream_if.src tx_request,
    stream_if.snk tx_granted,
    stream_if.snk tx_desc,
    stream_if.src tx_commit,
    stream_if.src tx_stop,
    stream_if.src tx_record,
    stream_if.src tx_counted,
    stream_if.src tx_dma,
    input dma_status_t read_status_i,
    input ram_write_t ram_write_i,
    input push_store_t push_i,
    output port_tells_t tells_o,

    // Receive: fetch_req_t, fetch_desc_t, commit_t, queue_error_t, record_t, queue_count_t, dma_req_t; dma_req_t of packed frames.
    stream_if.src rx_request,
    stream_if.snk rx_desc,
    stream_if.src rx_commit,
    stream_if.src rx_stop,
    stream_if.src rx_record,
    stream_if.src rx_counted,
    stream_if.src rx_dma,
    stream_if.src pack_dma,
    input dma_status_t write_status_i,
    input ram_read_t ram_read_i,
    output ram_row_t ram_row_o,

    // MAC side.
    input  ptp_time_t time_i,
    input  logic      mac_tx_clk_i,
    input  logic      mac_tx_rst_i,
    input  logic      mac_rx_clk_i,
    input  logic      mac_rx_rst_i,
    input  cmac_in_t  mac_i,
    output cmac_out_t mac_o
);
  if (Built.segments && Scheduler != int'(SchedRr)) begin : g_bad_scheduler
    $fatal(1, "nic_port: the other schedulers than round robin count packets of one frame");
  end
  mac_rx_count_t mac_rx_count;
  rx_engine_count_t rx_count;
  tx_engine_count_t tx_count;
  logic rx_buffer_full, rx_hook_dropped, rx_joined, tx_spoofed;
  source_rule_t source;
  rx_coalesce_t coalesce;
  logic [13:0] max_frame;
  logic rss_refused, flow_refused, limit_refused, tx_stat_refused, rx_stat_refused;
  logic [15:0] tx_units, rx_units;
  logic [  1:0] strip;
  logic [319:0] rss_key;
  nic_port_settings #(
      .MaxFrame(MaxFrame),
      .Coalesce(Built.coalesce)
  ) i_settings (
      .clk_i,
      .rst_i,
      .regs,
      .max_frame_o(max_frame),
      .strip_o(strip),
      .rss_key_o(rss_key),
      .coalesce_o(coalesce),
      .refused_i({rss_refused, flow_refused, limit_refused, tx_stat_refused, rx_stat_refused}),
      .mac_rx_count_i(mac_rx_count),
      .rx_buffer_full_i(rx_buffer_full),
      .rx_hook_dropped_i(rx_hook_dropped),
      .rx_joined_i(rx_joined),
      .tx_spoofed_i(tx_spoofed),
      .rx_count_i(rx_count),
      .tx_count_i(tx_count),
      .tx_units_i(tx_units),
      .rx_units_i(rx_units)
  );

  // ---------------------------------------------------------------- transmit
  `STREAM(grant_t, grant)
  `STREAM(granted_t, granted)
  `STREAM(sent_t, sent)
  `STREAM(desc_beat_t, tx_beat)
  `STREAM(wide_beat_t, tx_read)
  `STREAM(wide_beat_t, tx_frame)
  `STREAM(ptp_time_t, tx_mac_stamp)
  `STREAM(ptp_time_t, tx_stamp)
  tx_csum_t tx_read_csum;
  nic_scheduler #(
      .Kind  (Scheduler),
      .Queues(TxQueues),
      .AddrW (AddrW),
      .Window(Built.segments ? 0 : 98304 + ReadBytes)
  ) i_sched (
      .clk_i,
      .rst_i,
      .regs(sched_regs),
      .control(sched_own),
      .limits(sched_limits),
      .refused_o(limit_refused),
      .max_burst_i(queues_i.burst),
      .max_inflight_i(queues_i.in_flight),
      .time_i,
      .doorbell,
      .grant,
      .granted,
      .sent,
      .beat_valid_i(tx_beat.valid),
      .beat_ready_i(tx_beat.ready),
      .beat_i(tx_beat.data)
  );
  `RELAY(grant, tx_request, '{port: port_t'(Index), req: grant.data})
  `RELAY(tx_granted, granted, tx_granted.data.granted)
  `RELAY(tx_desc, tx_beat, tx_desc.data.beat)

  tx_engine #(
      .RamBytes(TxRamBytes),
      .ReadBytes(ReadBytes),
      .Sel(ReadSel),
      .MaxPackets(MaxPackets),
      .Vlan(Built.vlan),
      .Segment(Built.segments),
      .Shared(Built.shared),
      .Port(2'(Index)),
      .Functions(Built.filter ? Functions : 1),
      .Queues(TxQueues)
  ) i_tx_engine (
      .clk_i,
      .rst_i,
      .max_frame_i(max_frame),
      .desc(tx_beat),
      .dma(tx_dma),
      .status_i(read_status_i),
      .ram_i(ram_write_i),
      .push_i,
      .push_release_o(tells_o.release_push),
      .frame(tx_read),
      .csum_o(tx_read_csum),
      .stamp(tx_stamp),
      .record(tx_record),
      .commit(tx_commit),
      .sent(sent),
      .stop(tx_stop),
      .counted(tx_counted),
      .count_o(tx_count),
      .units_o(tx_units)
  );
  nic_port_tx #(
      .Functions(Built.filter ? Functions : 1),
      .Depth(MaxPackets),
      .Vlan(Built.vlan)
  ) i_tx_frames (
      .clk_i,
      .rst_i,
      .source_i(source),
      .frame_in(tx_read),
      .csum_i(tx_read_csum),
      .frame_out(tx_frame),
      .mac_stamp(tx_mac_stamp),
      .stamp(tx_stamp),
      .spoofed_o(tx_spoofed)
  );
  cmac_tx i_mac_tx (
      .clk_i,
      .rst_i,
      .time_i,
      .frame(tx_frame),
      .stamp(tx_mac_stamp),
      .mac_clk_i(mac_tx_clk_i),
      .mac_rst_i(mac_tx_rst_i),
      .tx_tready_i(mac_i.tx_tready),
      .tstamp_valid_i(mac_i.tx_ptp_tstamp_valid),
      .tstamp_tag_i(mac_i.tx_ptp_tstamp_tag),
      .tstamp_i(mac_i.tx_ptp_tstamp),
      .tx_o(mac_o.tx),
      .op_o(mac_o.tx_ptp_1588op),
      .tag_o(mac_o.tx_ptp_tag_field),
      .timer_o(mac_o.tx_systemtimer)
  );
  port_counts #(
      .Receive(0)
  ) i_tx_counts (
      .clk_i,
      .rst_i,
      .valid_i(tx_frame.valid),
      .ready_i(tx_frame.ready),
      .beat_i(tx_frame.data),
      .fate_i('0),
      .lost_i('0),
      .regs(stat_regs[0]),
      .refused_o(tx_stat_refused)
  );
  assign mac_o.tx_pause_req = '0;
  assign {mac_o.tx_reset, mac_o.rx_reset} = {mac_tx_rst_i, mac_rx_rst_i};

  // ---------------------------------------------------------------- receive
  `STREAM(wide_beat_t, rx_raw)
  `STREAM(wide_beat_t, rx_parsed)
  `STREAM(wide_beat_t, rx_frame)
  `STREAM(ptp_time_t, rx_stamp)
  `STREAM(rx_info_t, rx_found)
  `STREAM(rx_info_t, rx_info)
  `STREAM(rx_meta_t, rx_stored)
  `STREAM(rx_meta_t, rx_queued)
  `STREAM(rx_meta_t, rx_meta)
  `STREAM(deq_req_t, rx_deq)
  `STREAM(desc_beat_t, rx_beat)
  `STREAM(rx_piece_t, rx_piece)
  rx_free_t rx_free;
  rx_slotless_t slotless;
  logic moved, row_valid, row_ready;
  row_addr_t row_addr;
  ram_row_t row, ram_row[2];
  cmac_rx i_mac_rx (
      .mac_clk_i(mac_rx_clk_i),
      .mac_rst_i(mac_rx_rst_i),
      .rx_i(mac_i.rx),
      .rx_stamp_i(mac_i.rx_ptp_tstamp),
      .timer_o(mac_o.rx_systemtimer),
      .clk_i,
      .rst_i,
      .time_i,
      .max_frame_i(max_frame),
      .frame(rx_raw),
      .stamp(rx_stamp),
      .count_o(mac_rx_count)
  );
  port_counts #(
      .Losses(3)
  ) i_rx_counts (
      .clk_i,
      .rst_i,
      .valid_i(rx_raw.valid),
      .ready_i(rx_raw.ready),
      .beat_i(rx_raw.data),
      .fate_i(mac_rx_count),
      .lost_i({rx_hook_dropped, rx_buffer_full, mac_rx_count.fifo_full}),
      .regs(stat_regs[1]),
      .refused_o(rx_stat_refused)
  );
  rx_parse #(
      .FlowEntries(FlowEntries),
      .Queues(RxQueues),
      .Vlan(Built.vlan),
      .Headers(Built.split || Built.coalesce),
      .Follow(Built.coalesce),
      .Functions(Built.filter ? Functions : 1),
      .Steered(Steered)
  ) i_rx_parse (
      .clk_i,
      .rst_i,
      .strip_i(strip),
      .key_i(rss_key),
      .flow_regs(steer_regs[1]),
      .flow_refused_o(flow_refused),
      .source_o(source),
      .lost_i(rx_buffer_full || rx_hook_dropped),
      .frame_in(rx_raw),
      .stamp(rx_stamp),
      .frame_out(rx_parsed),
      .info(rx_found)
  );
  rx_hook i_rx_hook (
      .clk_i,
      .rst_i,
      .frame_in (rx_parsed),
      .info_in  (rx_found),
      .frame_out(rx_frame),
      .info_out (rx_info),
      .dropped_o(rx_hook_dropped)
  );
  rx_buffer #(
      .RamBytes(RxRamBytes),
      .Sel(WriteSel),
      .Port(2'(Index)),
      .MaxFrames(MaxPackets)
  ) i_rx_buffer (
      .clk_i,
      .rst_i,
      .records_i(queues_i.rx_streams),
      .frame(rx_frame),
      .info(rx_info),
      .meta(rx_stored),
      .free_i(rx_free),
      .ram_i(ram_read_i),
      .ram_o(ram_row[0]),
      .row_valid_i(row_valid),
      .row_addr_i(row_addr),
      .row_ready_o(row_ready),
      .row_o(row),
      .dropped_o(rx_buffer_full),
      .units_o(rx_units),
      .pressed_o({tells_o.crowded, tells_o.pressed})
  );
  rss_table #(
      .Entries(RssEntries),
      .Queues(Built.filter ? RxQueues / Functions : RxQueues),
      .Functions(Built.filter ? Functions : 1)
  ) i_rss (
      .clk_i,
      .rst_i,
      .regs(steer_regs[0]),
      .refused_o(rss_refused),
      .in(rx_stored),
      .out(rx_queued)
  );
  rx_coalesce #(
      .On(Built.coalesce),
      .Functions(Functions),
      .Queues(RxQueues)
  ) i_coalesce (
      .clk_i,
      .rst_i,
      .settings_i(coalesce),
      .hold_i(queues_i.rx_streams),
      .reset_i(queues_i.in_reset),
      .slotless_i(slotless),
      .in(rx_queued),
      .out(rx_meta),
      .joined_o(rx_joined)
  );
  rx_engine #(
      .Sel(WriteSel),
      .Port(2'(Index)),
      .Split(Built.split),
      .Coalesce(Built.coalesce),
      .Functions(Functions),
      .MaxFrames(MaxPackets)
  ) i_rx_engine (
      .clk_i,
      .rst_i,
      .meta(rx_meta),
      .free_o(rx_free),
      .slotless_o(slotless),
      .req(rx_deq),
      .desc(rx_beat),
      .dma(rx_dma),
      .status_i(write_status_i),
      .part(rx_piece),
      .moved_i(moved),
      .record(rx_record),
      .commit(rx_commit),
      .stop(rx_stop),
      .counted(rx_counted),
      .count_o(rx_count)
  );
  rx_pack #(
      .Sel(PackSel)
  ) i_rx_pack (
      .clk_i,
      .rst_i,
      .piece(rx_piece),
      .moved_o(moved),
      .row_valid_o(row_valid),
      .row_addr_o(row_addr),
      .row_ready_i(row_ready),
      .row_i(row),
      .dma(pack_dma),
      .status_i(write_status_i),
      .ram_i(ram_read_i),
      .ram_o(ram_row[1])
  );
  assign ram_row_o = ram_row[0] | ram_row[1];
  `RELAY(rx_deq, rx_request, '{port: port_t'(Index), req: rx_deq.data})
  `RELAY(rx_desc, rx_beat, rx_desc.data.beat)
endmodule
