// SPDX-License-Identifier: Apache-2.0
`include "stream.svh"
/// Everything of a direct-router card that does not depend on the bus (direct-router paper, figure 2).
///
/// Wiring only. The way of a frame: byte_pack, mac_rx, ip_route, direct_input, then either direct_scheduler and the bus to the peer's
/// direct_output, or slow_rx to the host; what the host sends comes by slow_tx; direct_output, mac_tx, byte_unpack. DMA channels: 0 frames
/// from the host, 1 frames to it, 2 messages, 3 bursts (the paper's assignment); `recv` brings what peers wrote into the
/// windows and is always ready. Registers as in direct_router.rdl. All in the clock of the bus but the MAC streams.
module direct_card
  import direct_pkg::*;
  import eth_pkg::*;
  import pcix_pkg::*;
  import route_pkg::*;
  import direct_router_map_pkg::*;
#(
    parameter int Peers = 7,
    parameter int Classes = 2,
    parameter int FifoBytes = 15360,
    parameter int MessageWords = 1,
    parameter int LpmNodes = 2048,
    parameter int FibNodes = 0,  // more of them, in the card's memory
    parameter int Lanes = 1,  // of direct_scheduler: 1 as in the paper, or 2
    parameter bit SlowPath = 1'b1,  // else channels 0 and 1 are silent, and frames for the host are dropped,
    parameter bit HostPort = 1'b0  // or leave at `to_host`, and what the host sends comes at `from_host`
) (
    input  logic                   clk_i,
    input  logic                   rst_i,
    // Bus side.
           stream_if.src           cmd           [      4],  // channel_cmd_t
           stream_if.src           wdata         [      4],  // logic [63:0]
           stream_if.snk           rdata         [      4],  // channel_word_t
           stream_if.snk           done          [      4],  // channel_result_e
           stream_if.snk           recv,                     // window_word_t
           reg_if.slave            regs,                     // the lower half of BAR 0
    output logic            [31:0] read_timeout_o,
    input  bus_event_t             bus_event_i,
    output logic                   irq_o,
    // The way through a NIC (host_port): frames in stored form, and a clock for each to the host and from it.
           stream_if.src           to_host       [Classes],
           stream_if.snk           from_host,
    input  logic                   host_taken_i,
    input  logic                   host_sent_i,
    // The card's memory.
    output table_pins_out_t        table_o,
    input  table_pins_in_t         table_i,
    // MAC side.
    input  logic                   mac_clk_i,
    input  logic                   mac_rst_i,
    input  byte_pins_t             mac_rx_i,
    output byte_pins_t             mac_tx_o,
    input  logic                   mac_tx_ready_i
);
  localparam int RegsW = MapW - 1;  // the lower half of BAR 0
  localparam int Masks = Classes > 1 ? Classes - 1 : 1;
  localparam int AllNodes = LpmNodes + FibNodes;
  localparam int LpmAddrW = $clog2(AllNodes < 2 ? 2 : AllNodes) + 4;  // as ip_route has it

  card_regs_pkg::card_regs__in_t  hw_in;
  card_regs_pkg::card_regs__out_t hw_out;
  reg_if #(.AddrW(RegsW)) region[2] ();

  // ---------------------------------------------------------------- frames in
  `STREAM(word_beat_t, wire_frame)
  `STREAM(word_beat_t, out_frame)
  `STREAM(word_beat_t, taken_frame)
  `STREAM(routed_beat_t, routed_frame)
  `STREAM(stored_word_t, slow_in[Classes])
  frame_read_if #(.Queues(Peers * Classes)) fast_in ();
  mac_rx_count_t mac_count;
  route_drop_t route_drop;
  route_rule_t [Peers-1:0] routes;
  logic [Peers-1:0][63:0] windows;
  class_rule_t [Peers:0][Masks-1:0] class_rules;
  logic [Peers:0][Classes-1:0] accepted, dropped;
  words_t [Peers:0][Classes-1:0] in_used;
  logic lpm_write, window_refused, max_refused;
  lpm_word_t lpm_word;
  logic [7:0] lpm_waiting;

  direct_mac i_mac (
      .clk_i,
      .rst_i,
      .max_frame_i(hw_out.max_frame.value.value),
      .max_frame_o(hw_in.max_frame.value.next),
      .max_frame_refused_o(max_refused),
      .rx(wire_frame),
      .count_o(mac_count),
      .tx(out_frame),
      .mac_clk_i,
      .mac_rst_i,
      .mac_rx_i,
      .mac_tx_o,
      .mac_tx_ready_i
  );
  stream_gate #(
      .T(word_beat_t)
  ) i_gate (
      .clk_i,
      .rst_i,
      .closed_i(!hw_out.control.enable.value),
      .in(wire_frame),
      .out(taken_frame),
      .dropped_o(hw_in.rx_disabled.value.incr)
  );
  // The registers hold the entry one clock after the write.
  pipe_reg i_lpm_write (
      .clk_i,
      .d_i(hw_out.lpm_data.value.swmod && !rst_i),
      .q_o(lpm_write)
  );
  assign lpm_word = hw_out.lpm_data.value.value;
  wire unused_zero = &{1'b0, lpm_word.zero};
  ip_route #(
      .Peers(Peers),
      .Classes(Classes),
      .LpmNodes(LpmNodes),
      .FarNodes(FibNodes)
  ) i_route (
      .clk_i,
      .rst_i,
      .mode_i(
      '{
          fast: hw_out.control.fast_path.value,
          lpm: hw_out.control.lpm.value,
          qos: hw_out.control.qos.value,
          rewrite_source: hw_out.control.rewrite_source.value,
          promiscuous: hw_out.control.promiscuous.value,
          expired_to_host: hw_out.control.expired_to_host.value,
          mac: {hw_out.mac_lo.value.value, hw_out.mac_hi.value.value[15:0]}
      }
      ),
      .routes_i(routes),
      .classes_i(class_rules),
      .lpm_we_i(lpm_write),
      .lpm_addr_i(hw_out.lpm_addr.value.value[LpmAddrW-1:0]),
      .lpm_data_i('{node: lpm_word.node, value: lpm_word.value}),
      .table_o,
      .table_i,
      .lpm_waiting_o(lpm_waiting),
      .lpm_lost_o(hw_in.lpm_lost.value.incr),
      .in(taken_frame),
      .out(routed_frame),
      .drop_o(route_drop)
  );
  direct_input #(
      .Peers(Peers),
      .Classes(Classes),
      .FifoBytes(FifoBytes)
  ) i_input (
      .clk_i,
      .rst_i,
      .in(routed_frame),
      .fast(fast_in),
      .slow(slow_in),
      .accepted_o(accepted),
      .dropped_o(dropped),
      .used_o(in_used)
  );

  // ---------------------------------------------------------------- fast path
  frame_write_t [Lanes-1:0] fast_out;
  words_t [Lanes-1:0] fast_room;
  logic [Lanes-1:0] fast_empty;
  words_t unused_slow_room, fast_used, slow_used;
  words_t [1:0] out_max;
  scheduler_events_t sched;
  logic [Peers-1:0] silent;
  logic fast_lane;
  direct_scheduler #(
      .Peers(Peers),
      .Classes(Classes),
      .FifoBytes(FifoBytes),
      .MessageWords(MessageWords),
      .Lanes(Lanes)
  ) i_scheduler (
      .clk_i,
      .rst_i,
      .enable_i(hw_out.control.enable.value),
      .peer_base_i(windows),
      .res_min_words_i(hw_out.res_min.value.value),
      .timeout_i(hw_out.timeout.value.value),
      .retry_i(hw_out.retry.value.value),
      .fast(fast_in),
      .msg_cmd(cmd[2]),
      .msg_data(wdata[2]),
      .msg_done(done[2]),
      .burst_cmd(cmd[3]),
      .burst_data(wdata[3]),
      .burst_done(done[3]),
      .recv,
      .out_o(fast_out),
      .out_room_i(fast_room),
      .out_empty_i(fast_empty),
      .out_lane_o(fast_lane),
      .events_o(sched),
      .silent_o(silent)
  );
  // Messages and bursts are only written.
  assign rdata[2].ready = 1'b1;
  assign rdata[3].ready = 1'b1;
  wire unused_rdata = &{1'b0, rdata[2].valid, rdata[2].data, rdata[3].valid, rdata[3].data};

  // ---------------------------------------------------------------- slow path
  logic slow_rx_frame, slow_tx_frame, slow_rx_bus_error, slow_tx_bus_error, slow_tx_written;
  `STREAM(stored_word_t, slow_out)
  `STREAM(stored_word_t, ring_in[Classes])
  `STREAM(stored_word_t, ring_out)
  if (HostPort) begin : g_host_port
    for (genvar c = 0; c < Classes; c++) begin : g_class
      assign to_host[c].valid = slow_in[c].valid;
      assign to_host[c].data  = slow_in[c].data;
      assign slow_in[c].ready = to_host[c].ready;
      assign ring_in[c].valid = 1'b0;
      assign ring_in[c].data  = '0;
      wire unused = &{1'b0, ring_in[c].ready};
    end
    assign slow_out.valid = from_host.valid;
    assign slow_out.data = from_host.data;
    assign from_host.ready = slow_out.ready;
    assign ring_out.ready = 1'b1;
    assign hw_in.slow_rx_frames.value.incr = host_taken_i;
    assign hw_in.slow_tx_frames.value.incr = host_sent_i;
    wire unused = &{1'b0, ring_out.valid, ring_out.data, slow_tx_frame};
  end else begin : g_rings
    for (genvar c = 0; c < Classes; c++) begin : g_class
      assign to_host[c].valid = 1'b0;
      assign to_host[c].data  = '0;
      assign ring_in[c].valid = slow_in[c].valid;
      assign ring_in[c].data  = slow_in[c].data;
      assign slow_in[c].ready = ring_in[c].ready;
      wire unused = &{1'b0, to_host[c].ready};
    end
    assign slow_out.valid = ring_out.valid;
    assign slow_out.data = ring_out.data;
    assign ring_out.ready = slow_out.ready;
    assign from_host.ready = 1'b1;
    assign hw_in.slow_rx_frames.value.incr = slow_rx_frame;
    assign hw_in.slow_tx_frames.value.incr = slow_tx_frame;
    wire unused = &{1'b0, from_host.valid, from_host.data, host_taken_i, host_sent_i};
  end

  direct_slow_path #(
      .Classes (Classes),
      .SlowPath(SlowPath)
  ) i_slow_path (
      .clk_i,
      .rst_i,
      .in(ring_in),
      .out(ring_out),
      .cmd(cmd[0:1]),
      .wdata(wdata[0:1]),
      .rdata(rdata[0:1]),
      .done(done[0:1]),
      .rx_ring_i(hw_out.rx_ring),
      .tx_ring_i(hw_out.tx_ring),
      .rx_ring_o(hw_in.rx_ring),
      .tx_ring_o(hw_in.tx_ring),
      .rx_frame_o(slow_rx_frame),
      .rx_too_long_o(hw_in.slow_rx_too_long.value.incr),
      .rx_bus_error_o(slow_rx_bus_error),
      .tx_frame_o(slow_tx_frame),
      .tx_bad_o(hw_in.slow_tx_bad.value.incr),
      .tx_bus_error_o(slow_tx_bus_error),
      .tx_written_o(slow_tx_written),
      .none_o(hw_in.slow_none.value.incr)
  );

  // ---------------------------------------------------------------- frames out
  direct_output #(
      .FifoBytes(FifoBytes),
      .Lanes(Lanes)
  ) i_output (
      .clk_i,
      .rst_i,
      .round_robin_i(hw_out.control.output_round_robin.value),
      .fast_i(fast_out),
      .fast_lane_i(fast_lane),
      .fast_room_o(fast_room),
      .fast_empty_o(fast_empty),
      .slow(slow_out),
      .slow_room_o(unused_slow_room),
      .out(out_frame),
      .fast_used_o(fast_used),
      .slow_used_o(slow_used),
      .sent_fast_o(hw_in.tx_fast_frames.value.incr),
      .sent_slow_o(hw_in.tx_slow_frames.value.incr),
      .overflow_o(hw_in.tx_overflow.value.incrvalue)
  );

  // ---------------------------------------------------------------- registers
  assign hw_in.tx_overflow.value.incr = 1'b1;
  localparam logic [1:0][RegsW-1:0] RegionBase = {RegsW'(TablesBase), RegsW'(CardBase)};
  localparam logic [1:0][RegsW-1:0] RegionSize = {RegsW'(TablesSize), RegsW'(CardSize)};
  reg_demux #(
      .N(2),
      .AddrW(RegsW),
      .Base(RegionBase),
      .Size(RegionSize)
  ) i_regs (
      .clk_i,
      .rst_i,
      .in(regs),
      .out(region),
      .unmapped_o()
  );
  card_tables #(
      .Peers  (Peers),
      .Classes(Classes)
  ) i_tables (
      .clk_i,
      .rst_i,
      .regs(region[1]),
      .routes_o(routes),
      .windows_o(windows),
      .classes_o(class_rules),
      .refused_o(window_refused),
      .accepted_i(accepted),
      .dropped_i(dropped),
      .used_i(in_used),
      .out_used_i({slow_used, fast_used}),
      .out_max_o(out_max)
  );

  assign hw_in.max_frame.value.we = max_refused;
  assign hw_in.settings_refused.value.incr = max_refused || window_refused;
  assign read_timeout_o = hw_out.read_timeout.value.value;
  assign hw_in.peers.value.next = 32'(Peers);
  assign hw_in.classes.value.next = 32'(Classes);
  assign hw_in.fifo_bytes.value.next = 32'(FifoBytes);
  assign hw_in.message_words.value.next = 32'(MessageWords);
  assign hw_in.lpm_nodes.value.next = 32'(LpmNodes);
  assign hw_in.lpm_addr.value.incr = lpm_write;
  assign hw_in.fib_nodes.value.next = 32'(FibNodes);
  assign hw_in.lpm_waiting.value.next = 32'(lpm_waiting);
  assign hw_in.irq_cause.rx.hwset = slow_rx_frame;
  assign hw_in.irq_cause.tx.hwset = slow_tx_written;
  assign hw_in.irq_cause.error.hwset = slow_rx_bus_error || slow_tx_bus_error;
  pipe_reg i_irq (
      .clk_i,
      .d_i((hw_out.irq_cause.rx.value && hw_out.irq_enable.rx.value) ||
           (hw_out.irq_cause.tx.value && hw_out.irq_enable.tx.value) ||
           (hw_out.irq_cause.error.value && hw_out.irq_enable.error.value)),
      .q_o(irq_o)
  );

  assign hw_in.rx_frames.value.incr = mac_count.good;
  assign hw_in.rx_bad_fcs.value.incr = mac_count.bad_fcs;
  assign hw_in.rx_runt.value.incr = mac_count.runt;
  assign hw_in.rx_oversize.value.incr = mac_count.oversize;
  assign hw_in.rx_fifo_full.value.incr = mac_count.fifo_full;
  assign hw_in.drop_header.value.incr = route_drop.header;
  assign hw_in.drop_checksum.value.incr = route_drop.checksum;
  assign hw_in.drop_ttl.value.incr = route_drop.ttl;
  assign hw_in.drop_no_route.value.incr = route_drop.no_route;
  assign hw_in.drop_not_ours.value.incr = route_drop.not_ours;
  assign hw_in.drop_full.value.incr = |dropped;
  assign hw_in.sched_requests.value.incr = sched.req_sent;
  assign hw_in.sched_responses.value.incr = sched.res_sent;
  assign hw_in.sched_bursts.value.incr = sched.burst_sent;
  assign hw_in.sched_empty.value.incr = sched.empty_burst;
  assign hw_in.sched_null.value.incr = sched.null_req;
  assign hw_in.sched_packets.value.incr = sched.packet_sent;
  assign hw_in.sched_bursts_received.value.incr = sched.burst_received;
  assign hw_in.sched_packets_received.value.incr = sched.packet_received;
  assign hw_in.sched_discarded.value.incr = sched.packet_discarded;
  assign hw_in.sched_request_timeout.value.incr = sched.request_timeout;
  assign hw_in.sched_burst_timeout.value.incr = sched.burst_timeout;
  assign hw_in.sched_aborted.value.incr = sched.aborted;
  assign hw_in.sched_stale_res.value.incr = sched.stale_res;
  assign hw_in.sched_stale_burst.value.incr = sched.stale_burst;
  assign hw_in.sched_malformed.value.incr = sched.malformed;
  assign hw_in.sched_silent.value.next = 32'(silent);
  assign hw_in.slow_rx_bus_error.value.incr = slow_rx_bus_error;
  assign hw_in.slow_tx_bus_error.value.incr = slow_tx_bus_error;
  assign hw_in.bus_master_abort.value.incr = bus_event_i.master_abort;
  assign hw_in.bus_target_abort.value.incr = bus_event_i.target_abort;
  assign hw_in.bus_retry.value.incr = bus_event_i.retry;
  assign hw_in.bus_disconnect.value.incr = bus_event_i.disconnect;
  assign hw_in.bus_split_timeout.value.incr = bus_event_i.split_timeout;
  assign hw_in.bus_split_error.value.incr = bus_event_i.split_error;
  assign hw_in.bus_unexpected.value.incr = bus_event_i.unexpected_split;
  assign hw_in.bus_put_off.value.incr = bus_event_i.retry_given;
  assign hw_in.bus_bad_read.value.incr = bus_event_i.bad_read;
  assign hw_in.bus_bad_write.value.incr = bus_event_i.bad_write;
  assign hw_in.bus_transactions.value.incr = bus_event_i.transaction;
  assign hw_in.bus_words_out.value.incr = bus_event_i.word_out;
  assign hw_in.bus_words_in.value.incr = bus_event_i.word_in;
  assign hw_in.out_fast_words.value.next = 32'(fast_used);
  assign hw_in.out_slow_words.value.next = 32'(slow_used);
  assign hw_in.out_fast_max.value.next = 32'(out_max[0]);
  assign hw_in.out_slow_max.value.next = 32'(out_max[1]);

  card_regs i_card_regs (
      .clk(clk_i),
      .rst(rst_i),
      .regs(region[0]),
      .hwif_in(hw_in),
      .hwif_out(hw_out)
  );
endmodule
