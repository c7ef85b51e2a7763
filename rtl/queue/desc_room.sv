// SPDX-License-Identifier: Apache-2.0
`include "assert.svh"
`include "stream.svh"
/// Room for the descriptors of `Ports` ports that share one descriptor fetch: a port that stands still holds up no other.
///
/// Each port has a FIFO of `Depth` beats of its own. A request passes to desc_fetch only when all beats that it may bring (`Most`)
/// have their place there, so what desc_fetch delivers never waits. What the answer to a request (`answer_i`, in the order of
/// `asked_i`) and the packets' ends show that it will not bring is free again at once. One request, answer and beat a clock;
/// requests pass in their own clock, beats in 2. Full back-pressure towards `request` and from `port_desc`. Reset empties it;
/// drops nothing.
module desc_room
  import queue_pkg::*;
#(
    parameter int Ports = 2,
    parameter int Depth = 512,  // beats of each port: descriptors a second times the round trip of their read, and 16
    parameter int Most = BlockSlots,  // beats that a request may bring
    parameter int Requests = 576  // that desc_fetch holds at the most, without their answer 32
) (
    input logic clk_i,
    input logic rst_i,

    // Requests of the ports (fetch_req_t), and those with room.
    stream_if.snk request [Ports],
    stream_if.src admitted[Ports],

    // desc_fetch took a request of this port; the queue manager answered the oldest without an answer.
    input logic     asked_i,
    input port_t    asked_port_i,
    input logic     answer_i,
    input deq_rsp_t answer_rsp_i,

    // Beats from desc_fetch, sorted, and to the ports (fetch_desc_t).
    stream_if.snk desc     [Ports],
    stream_if.src port_desc[Ports]
);
  localparam int RoomW = $clog2(Depth + 1);
  typedef logic [RoomW-1:0] room_t;
  if (Depth < 2 * Most || Ports < 1 || Ports > 4) begin : g_bad_parameter
    $fatal(
        1, "desc_room: Depth %0d is below %0d, or Ports %0d not 1 ... 4", Depth, 2 * Most, Ports
    );
  end

  // What each request under way brings: packets, of so many descriptors at the most; or the pages of a stream's slot.
  typedef struct packed {
    logic       stream;
    logic [3:0] packets;
    logic [1:0] log_block;
  } brings_t;
  `STREAM(port_t, asked_in)
  `STREAM(port_t, asked)
  `STREAM(brings_t, order_in)
  `STREAM(brings_t, order)
  `FIFO(port_t, 32, i_asked, asked_in, asked)
  `FIFO(brings_t, Requests, i_order, order_in, order)
  assign asked_in.valid = asked_i;
  assign asked_in.data = asked_port_i;
  assign asked.ready = answer_i;
  wire found = answer_rsp_i.status == DeqOk && !answer_rsp_i.stream;
  assign order_in.valid = answer_i;
  assign order_in.data = found ?
      '{stream: 1'b0, packets: answer_rsp_i.count, log_block: answer_rsp_i.log_block} :
      '{stream: answer_rsp_i.status == DeqOk, packets: 4'd1, log_block: 2'd0};
  localparam int PageW = $clog2(PageGranules);
  wire [15:0] touched = 16'(answer_rsp_i.addr[4+:PageW]) + 16'(answer_rsp_i.granules) + 16'(2 ** PageW - 1);
  wire room_t promised = order_in.data.stream && answer_rsp_i.granules != '0 ? room_t'(touched >> PageW) :
      room_t'(order_in.data.packets) << order_in.data.log_block;
  wire unused = &{1'b0, answer_rsp_i, touched};

  // The beat that arrives, and where it is in its request.
  logic [Ports-1:0] arrives, is_last;
  logic [3:0] packet_q, beat_q;
  wire any = |arrives;
  wire last = |(arrives & is_last);
  wire [3:0] left_out = order.data.stream ? '0 : (4'd1 << order.data.log_block) - 4'd1 - beat_q;  // if this is the packet's last
  assign order.ready = last && packet_q + 4'd1 == order.data.packets;
  always_ff @(posedge clk_i) begin
    if (any) beat_q <= last ? '0 : beat_q + 1'b1;
    if (last) packet_q <= order.ready ? '0 : packet_q + 1'b1;
    if (rst_i) begin
      packet_q <= '0;
      beat_q   <= '0;
    end
  end

  for (genvar p = 0; p < Ports; p++) begin : g_port
    room_t free_q;  // places that are neither full nor promised
    wire may = free_q >= room_t'(Most);
    wire asks = admitted[p].valid && admitted[p].ready;
    wire answered = answer_i && asked.data == port_t'(p);
    wire leaves = port_desc[p].valid && port_desc[p].ready;
    fetch_desc_t in;
    assign in = desc[p].data;
    assign arrives[p] = desc[p].valid && desc[p].ready;
    assign is_last[p] = in.beat.stream ? in.beat.ends : in.beat.last;
    assign admitted[p].valid = request[p].valid && may;
    assign admitted[p].data = request[p].data;
    assign request[p].ready = admitted[p].ready && may;
    `DEEP_FIFO(fetch_desc_t, Depth, i_beats, desc[p], port_desc[p])

    always_ff @(posedge clk_i) begin
      free_q <= free_q - (asks ? room_t'(Most) : '0) + (answered ? room_t'(Most) - promised : '0) +
          (arrives[p] && is_last[p] ? room_t'(left_out) : '0) + room_t'(leaves);
      if (rst_i) free_q <= room_t'(Depth);
    end

    `ASSERT(HasPlace, desc[p].valid |-> desc[p].ready)
    `ASSERT(NoMoreThanThereIs, free_q <= room_t'(Depth))
  end

  `ASSERT(AnswerWasAsked, answer_i |-> asked.valid && order_in.ready)
  `ASSERT(AskedHasRoom, asked_i |-> asked_in.ready)
  `ASSERT(BeatIsOfRequest, any |-> order.valid && $onehot(arrives))
endmodule
