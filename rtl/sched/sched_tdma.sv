// SPDX-License-Identifier: Apache-2.0
`include "assert.svh"
`include "stream.svh"
/// Transmit scheduler by time slots of the PTP clock (TDMA; host-nic paper, section IV): in each slot some classes of queues may send.
///
/// A queue's share is its class, 0 ... 15; the classes that are open have their turns, and so have the queues in each (sched_classes). The
/// schedule has up to `Slots` slots, each with a length in ns and a bit for each class, and begins with slot 0 at `start_i`, again and
/// again, while `run_i`. An edge opens and closes classes, whatever the number of their queues: nothing is walked through. What the old slot
/// has and the new one has not is closed `close_lead_i` ns before the edge, so that what was granted is out by then; what the
/// new one has is open from `open_lead_i` ns before it on: no frame is on the wire sooner than that after their grant.
/// Without `run_i` all are open; from its rising until the first slot none is, and what lies in the past is passed over. A grant on offer is not taken back: a frame may be
/// granted 3 clocks after its class was closed.
/// `slots`: two words a slot, first its length in ns (5 clocks or more), then its classes; to be written whole, read as 0, taken when
/// the slot is next looked up. Reset as sched_queues; the slots keep what they are.
module sched_tdma
  import eth_pkg::*;
  import queue_pkg::*;
#(
    parameter  int Queues = 256,
    parameter  int Slots  = 256,
    localparam int SlotW  = $clog2(Slots)
) (
    input logic               clk_i,
    input logic               rst_i,
    input logic         [3:0] max_burst_i,  // 1 ... 8
    input logic         [3:0] room_i,       // packets that may be granted: 0 ... 8
          reg_if.slave        regs,
          stream_if.snk       doorbell,     // queue_t
          stream_if.src       grant,        // grant_t
          stream_if.snk       granted,      // granted_t

    // The schedule.
    input  ptp_time_t               time_i,
    input  logic                    run_i,
    input  ptp_time_t               start_i,
    input  logic        [SlotW-1:0] last_i,        // slot
    input  logic        [     19:0] open_lead_i,
    input  logic        [     19:0] close_lead_i,
           reg_if.slave             slots,
    output logic        [SlotW-1:0] slot_o         // that is opened next
);
  localparam int Classes = 16;
  typedef logic [Classes-1:0] classes_t;

  // ---- The table, once for the edges that open and once for those that close.
  localparam int Open = 0, Close = 1, Edges = 2;
  logic [SlotW-1:0] slot[Edges];
  logic [31:0] slot_ns[Edges];
  classes_t classes[Edges], passed_q[Edges];
  logic edges[Edges], newest[Edges];
  wire  writes = slots.req && slots.write && &slots.wstrb;
  logic ack_q;
  assign slots.ack = ack_q;
  assign slots.rdata = '0;
  assign slot_o = slot[Open];
  wire [31:0] at = 32'(slots.addr);
  for (genvar i = 0; i < Edges; i++) begin : g_edge
    ram_sdp #(
        .Width(32),
        .Depth(Slots)
    ) i_ns (
        .clk_i,
        .we_i   (writes && !at[2]),
        .waddr_i(at[3+:SlotW]),
        .wdata_i(slots.wdata),
        .re_i   (1'b1),
        .raddr_i(slot[i]),
        .rdata_o(slot_ns[i])
    );
    ram_sdp #(
        .Width(Classes),
        .Depth(Slots)
    ) i_classes (
        .clk_i,
        .we_i   (writes && at[2]),
        .waddr_i(at[3+:SlotW]),
        .wdata_i(slots.wdata[Classes-1:0]),
        .re_i   (1'b1),
        .raddr_i(slot[i]),
        .rdata_o(classes[i])
    );
    tdma_edges #(
        .SlotW(SlotW)
    ) i_edges (
        .clk_i,
        .rst_i,
        .run_i,
        .time_i,
        .start_i,
        .lead_i(i == Open ? open_lead_i : close_lead_i),
        .last_i,
        .slot_o(slot[i]),
        .slot_ns_i(slot_ns[i]),
        .edge_o(edges[i]),
        .newest_o(newest[i])
    );
    always_ff @(posedge clk_i) if (edges[i]) passed_q[i] <= classes[i];
  end

  // What was closed for the slot after the one that opens stays closed.
  classes_t open_q, opens, stay;
  assign stay  = edges[Close] ? classes[Close] : slot[Close] == slot[Open] ? '1 : passed_q[Close];
  assign opens = newest[Open] ? passed_q[Open] & stay : '0;
  always_ff @(posedge clk_i) begin
    ack_q  <= slots.req;
    open_q <= (edges[Close] ? open_q & classes[Close] : open_q) | opens;
    if (!run_i) open_q <= '0;
    if (rst_i) ack_q <= 1'b0;
  end

  // ---- Queues, and turns of the open classes.
  classes_t some;
  logic [$clog2(Classes)-1:0] chosen;
  logic served;
  logic [$clog2(Classes)-1:0] next_q;
  // The first at or after the one behind the last that was served, or else the first.
  always_comb begin
    chosen = '0;
    for (int i = Classes - 1; i >= 0; i--) if (some[i]) chosen = 4'(i);
    for (int i = Classes - 1; i >= 0; i--) if (some[i] && 4'(i) >= next_q) chosen = 4'(i);
  end
  always_ff @(posedge clk_i) begin
    if (served) next_q <= chosen + 1'b1;
    if (rst_i) next_q <= '0;
  end
  sched_classes #(
      .Queues (Queues),
      .Classes(Classes)
  ) i_classes (
      .clk_i,
      .rst_i,
      .max_burst_i,
      .room_i,
      .regs,
      .doorbell,
      .grant,
      .granted,
      .open_i  (run_i ? open_q : '1),
      .some_o  (some),
      .chosen_i(chosen),
      .served_o(served)
  );
endmodule
