// SPDX-License-Identifier: Apache-2.0
`include "stream.svh"
/// The transmit scheduler of a port of host-nic, one of rtl/sched (host-nic paper, section II-E, IV).
///
/// Wiring only: the streams, `regs` and `max_burst_i` of every kind have the names they have here (`.*`). Those other than round robin have registers of their own, and sched_window beside them; behind round robin is a
/// grant_gate of `Window` bytes (0: none). `beat` is looked at as it goes from descriptor fetch to engine.
module nic_scheduler
  import queue_pkg::*;
  import nic_sched_map_pkg::*;
#(
    parameter int Kind   = SchedRr,
    parameter int Queues = 256,
    parameter int AddrW  = 26,
    parameter int Window = 0
) (
    input logic clk_i,
    input logic rst_i,

    // Registers: sched_regs[], nic_sched_map, sched_limit_regs[] of host_nic.rdl.
    reg_if.slave regs,
    reg_if.slave control,
    reg_if.slave limits,
    output logic refused_o,
    input logic [3:0] max_burst_i,
    input logic [15:0] max_inflight_i,
    input eth_pkg::ptp_time_t time_i,

    // queue_t, grant_t, granted_t, sent_t.
    stream_if.snk doorbell,
    stream_if.src grant,
    stream_if.snk granted,
    stream_if.snk sent,

    input logic beat_valid_i,
    input logic beat_ready_i,
    input desc_beat_t beat_i
);
  behind_grant_t behind;
  assign behind = '{
          granted_valid: granted.valid,
          granted_ready: granted.ready,
          granted: granted.data,
          sent_valid: sent.valid,
          sent_ready: sent.ready,
          sent: sent.data,
          beat_valid: beat_valid_i,
          beat_ready: beat_ready_i,
          beat: beat_i
      };
  if (!SchedLimited[Kind]) begin : g_no_limits
    assign limits.ack = limits.req;
    assign limits.rdata = '0;
    assign refused_o = 1'b0;
  end
  if (Kind == int'(SchedRr)) begin : g_rr
    `STREAM(grant_t, turn)
    wire unused = &{1'b0, time_i, behind};
    sched_rr #(
        .Queues(Queues)
    ) i_sched (
        .grant(turn),
        .*
    );
    if (Window == 0) begin : g_open
      `RELAY(turn, grant, turn.data)
    end else begin : g_gate
      grant_gate #(
          .Window(20'(Window))
      ) i_gate (
          .clk_i,
          .rst_i,
          .in(turn),
          .out(grant),
          .behind_i(behind)
      );
    end
  end else begin : g_windowed
    localparam int RegOwn = 0, RegSlots = 1;
    reg_if #(.AddrW(AddrW)) region[2] ();
    nic_sched_regs_pkg::nic_sched_regs__in_t hw_in;
    nic_sched_regs_pkg::nic_sched_regs__out_t hw_out;
    logic [3:0] room;
    logic begun, unused_unmapped;
    sent_t begun_packet;
    wire   unused = &{1'b0, max_inflight_i, begun, begun_packet, hw_out.longest.value.value};
    reg_demux #(
        .N(2),
        .AddrW(AddrW),
        .Base({AddrW'(SlotBase), AddrW'(RegsBase)}),
        .Size({AddrW'(SlotCount * SlotStride), AddrW'(RegsSize)})
    ) i_demux (
        .clk_i,
        .rst_i,
        .in(control),
        .out(region),
        .unmapped_o(unused_unmapped)
    );
    assign hw_in.kind.value.next = 32'(Kind);
    nic_sched_regs i_regs (
        .clk(clk_i),
        .rst(rst_i),
        .regs(region[RegOwn]),
        .hwif_in(hw_in),
        .hwif_out(hw_out)
    );
    sched_window #(
        .Single(SchedLimited[Kind])
    ) i_window (
        .clk_i,
        .rst_i,
        .window_i(hw_out.window.value.value),
        .grant_valid_i(grant.valid),
        .grant_ready_i(grant.ready),
        .grant_max_i(grant.data.max),
        .behind_i(behind),
        .room_o(room),
        .begun_o(begun),
        .begun_packet_o(begun_packet)
    );
    if (Kind == SchedTdma) begin : g_tdma
      assign sent.ready = 1'b1;
      sched_tdma #(
          .Queues(Queues),
          .Slots (SlotCount)
      ) i_sched (
          .room_i(room),
          .run_i(hw_out.tdma.run.value),
          .start_i({hw_out.start_hi.value.value, hw_out.start_lo.value.value}),
          .last_i(hw_out.tdma.last.value),
          .open_lead_i(hw_out.open_lead.value.value),
          .close_lead_i(hw_out.close_lead.value.value),
          .slots(region[RegSlots]),
          .slot_o(hw_in.tdma.slot.next),
          .*
      );
    end else begin : g_untimed
      wire unused_time = &{1'b0, time_i};
      assign hw_in.tdma.slot.next   = '0;
      assign region[RegSlots].ack   = region[RegSlots].req;
      assign region[RegSlots].rdata = '0;
      if (Kind == SchedDrr) begin : g_drr
        sched_drr #(
            .Queues(Queues)
        ) i_sched (
            .room_i(room),
            .*
        );
      end else if (Kind == SchedRate) begin : g_rate
        assign sent.ready = 1'b1;
        sched_rate #(
            .Queues(Queues)
        ) i_sched (
            .room_i(room),
            .longest_i(hw_out.longest.value.value),
            .begun_i(begun),
            .begun_packet_i(begun_packet),
            .*
        );
      end else if (Kind == SchedPieo) begin : g_pieo
        assign sent.ready = 1'b1;
        sched_pieo #(
            .Queues(Queues)
        ) i_sched (
            .room_i(room),
            .longest_i(hw_out.longest.value.value),
            .begun_i(begun),
            .begun_packet_i(begun_packet),
            .*
        );
      end else begin : g_strict
        assign sent.ready = 1'b1;
        sched_strict #(
            .Queues(Queues)
        ) i_sched (
            .room_i(room),
            .*
        );
      end
    end
  end
endmodule
