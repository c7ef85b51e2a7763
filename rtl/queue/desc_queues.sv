// SPDX-License-Identifier: Apache-2.0
`include "assert.svh"
`include "stream.svh"
/// Descriptor queues as one block, for the engines of `Ports` ports: the manager that keeps them and the fetch of descriptors.
///
/// Wiring only; see doorbell_port and queue_manager for registers, doorbells and errors, desc_fetch for throughput and delay. The ports take
/// turns with their requests, commits and stops; grants and descriptors go to the port that asked. With `Room` each has so many
/// places for descriptors of its own (desc_room), and one that stands still holds up no other; without, one that is not ready holds up those
/// behind it. With `Push` the CPU may hand over descriptors itself (push_table, for interface `Interface`). Queues that the device fills
/// have no scheduler: the first doorbell of a ring has its first descriptors read, and `doorbell` says nothing. While received frames of a
/// port wait for the link turns of streams that the device empties are spaced (turn_pace). `slots_o` tells how many slots are handed
/// out and not yet finished, all queues together. With `Shared` any port may ask for any queue: queues that the device empties are then
/// one port's at a time (queue_manager); of those that it fills `order` tells whose each slot of descriptors is, in their order, for
/// their records to be put into it.
module desc_queues
  import queue_pkg::*;
  import dma_pkg::*;
#(
    parameter int Queues = 256,
    parameter int Slots = 128,  // descriptor blocks kept on chip
    parameter int Ports = 1,
    parameter int Jobs = 512,  // packets in flight
    parameter int Room = 0,  // descriptors kept for each port, or as many as two requests bring; 0: none are
    parameter streams_t Streams = StreamsNone,
    parameter ram_sel_t Sel = '0,
    parameter bit Push = 1'b0,
    parameter bit Shared = 1'b0,
    parameter int Functions = 1,
    parameter int Interface = 0
) (
    input logic clk_i,
    input logic rst_i,
    reg_if.slave regs,

    // Engine of each port.
    stream_if.snk request[Ports],  // fetch_req_t
    stream_if.src granted[Ports],  // fetch_granted_t
    stream_if.src desc   [Ports],  // fetch_desc_t
    stream_if.snk commit [Ports],  // commit_t
    stream_if.snk stop   [Ports],  // queue_error_t
    stream_if.src order,           // port_t

    // Doorbells of the host (queue_t), errors (queue_error_t).
    stream_if.src doorbell,
    stream_if.src error,
    output logic refused_o,
    output logic streams_o,  // there was a stream since reset
    output logic [31:0] slots_o,

    // What the CPU pushes; to the engines, and back from each what it is done with.
    input pcie_pkg::line_write_t line_i,
    output push_store_t push_store_o,
    input port_tells_t [Ports-1:0] ports_i,
    output logic [1:0] pushes_o,  // for counters: one taken, one in vain

    // DMA read engine.
          stream_if.src dma,       // dma_req_t
    input dma_status_t  status_i,
    input ram_write_t   ram_i
);
  localparam bit Peeks = Streams == StreamsFilled;
  if (Peeks && Push) begin : g_bad_parameter
    $fatal(1, "desc_queues: Push is for queues that the device empties");
  end
  localparam int PortW = Ports > 1 ? $clog2(Ports) : 1;
  `STREAM(fetch_req_t, any_request)
  `STREAM(fetch_granted_t, any_granted)
  `STREAM(fetch_desc_t, any_desc)
  `STREAM(deq_req_t, deq_request)
  `STREAM(deq_rsp_t, deq_response)
  `STREAM(commit_t, any_commit)
  `STREAM(queue_error_t, any_stop)
  logic [PortW-1:0] unused_request, unused_commit, unused_stop;
  fetch_events_t events;
  push_look_t look;
  push_found_t found;
  port_tells_t any_port;
  always_comb begin
    any_port = '0;
    for (int p = 0; p < Ports; p++) any_port |= ports_i[p];
  end
  if (Push) begin : g_push
    push_table #(
        .Queues(Queues),
        .Interface(Interface)
    ) i_push (
        .clk_i,
        .rst_i,
        .line_i,
        .look_i(look),
        .found_o(found),
        .store_o(push_store_o),
        .release_i(any_port.release_push),
        .dropped_o(pushes_o[1])
    );
  end else begin : g_no_push
    wire unused = &{1'b0, line_i, look, any_port.release_push};
    assign found = '0;
    assign push_store_o = '0;
    assign pushes_o[1] = 1'b0;
  end
  assign pushes_o[0] = events.pushed;

  // With `Peeks` the manager's doorbells go to the fetch.
  `STREAM(queue_t, rang)
  `STREAM(queue_t, peek)
  assign peek.valid = Peeks && rang.valid;
  assign peek.data = rang.data;
  assign doorbell.valid = !Peeks && rang.valid;
  assign doorbell.data = rang.data;
  assign rang.ready = Peeks ? peek.ready : doorbell.ready;

  `STREAM(fetch_req_t, admitted[Ports])
  `STREAM(fetch_desc_t, sorted[Ports])
  wire taken = deq_response.valid && deq_response.ready;
  localparam int Most = Streams == StreamsEmptied ? TurnGranules / PageGranules : BlockSlots;
  if (Room != 0) begin : g_room
    desc_room #(
        .Ports(Ports),
        .Depth(Room < 2 * Most ? 2 * Most : Room),
        .Most(Most),
        .Requests(Jobs + 64)
    ) i_room (
        .clk_i,
        .rst_i,
        .request,
        .admitted,
        .asked_i(any_request.valid && any_request.ready),
        .asked_port_i(any_request.data.port),
        .answer_i(taken && !deq_response.data.peek),
        .answer_rsp_i(deq_response.data),
        .desc(sorted),
        .port_desc(desc)
    );
  end else begin : g_no_room
    for (genvar p = 0; p < Ports; p++) begin : g_port
      assign admitted[p].valid = request[p].valid;
      assign admitted[p].data = request[p].data;
      assign request[p].ready = admitted[p].ready;
      assign desc[p].valid = sorted[p].valid;
      assign desc[p].data = sorted[p].data;
      assign sorted[p].ready = desc[p].ready;
    end
  end

  arb_rr #(
      .T(fetch_req_t),
      .N(Ports)
  ) i_request (
      .clk_i,
      .rst_i,
      .in(admitted),
      .out(any_request),
      .index_o(unused_request)
  );
  `STREAM(fetch_req_t, paced)
  if (Streams == StreamsEmptied) begin : g_pace
    turn_pace #(
        .T(fetch_req_t)
    ) i_pace (
        .clk_i,
        .rst_i,
        .pressed_i({any_port.crowded, any_port.pressed}),
        .answer_i(taken),
        .turn_i(deq_response.data.granules != '0),
        .in(any_request),
        .out(paced)
    );
  end else begin : g_no_pace
    wire unused = &{1'b0, any_port};
    assign paced.valid = any_request.valid;
    assign paced.data = any_request.data;
    assign any_request.ready = paced.ready;
  end
  desc_fetch #(
      .Queues(Queues),
      .Slots(Slots),
      .Ports(Ports),
      .Jobs(Jobs),
      .Streams(Streams),
      .Peeks(Peeks),
      .Indexed(Shared && Streams == StreamsEmptied),
      .Functions(Functions),
      .Sel(Sel)
  ) i_fetch (
      .clk_i,
      .rst_i,
      .ring(peek),
      .req(paced),
      .granted(any_granted),
      .desc(any_desc),
      .deq_req(deq_request),
      .deq_rsp(deq_response),
      .look_o(look),
      .found_i(found),
      .dma,
      .status_i,
      .ram_i,
      .events_o(events)
  );
  stream_demux #(
      .T(fetch_granted_t),
      .N(Ports)
  ) i_granted (
      .clk_i,
      .rst_i,
      .in(any_granted),
      .select_i(any_granted.data.port[PortW-1:0]),
      .out(granted)
  );
  stream_demux #(
      .T(fetch_desc_t),
      .N(Ports)
  ) i_desc (
      .clk_i,
      .rst_i,
      .in(any_desc),
      .select_i(any_desc.data.port[PortW-1:0]),
      .out(sorted)
  );
  if (Shared && Streams == StreamsFilled) begin : g_order
    `STREAM(port_t, told)
    fetch_desc_t slot;
    assign slot = any_desc.data;
    assign told.valid = any_desc.valid && any_desc.ready && slot.beat.status == DeqOk && slot.beat.last && !slot.beat.stream;
    assign told.data = slot.port;
    // As many as the engines hold, and have on their way out.
    `DEEP_FIFO(port_t, Ports * (Jobs + 16), i_order, told, order)
    `ASSERT(OrderHasRoom, told.valid |-> told.ready)
  end else begin : g_no_order
    assign order.valid = 1'b0;
    assign order.data  = '0;
    wire unused = &{1'b0, order.ready};
  end
  arb_rr #(
      .T(commit_t),
      .N(Ports)
  ) i_commit (
      .clk_i,
      .rst_i,
      .in(commit),
      .out(any_commit),
      .index_o(unused_commit)
  );
  arb_rr #(
      .T(queue_error_t),
      .N(Ports)
  ) i_stop (
      .clk_i,
      .rst_i,
      .in(stop),
      .out(any_stop),
      .index_o(unused_stop)
  );
  reg_if #(.AddrW(regs.AddrW)) queue_regs ();
  `STREAM(rung_t, rung)
  doorbell_port i_port (
      .clk_i,
      .rst_i,
      .regs,
      .rest(queue_regs),
      .rung
  );
  queue_manager #(
      .Queues(Queues),
      .Streams(Streams),
      .Peeks(Peeks),
      .Shared(Shared && Streams != StreamsFilled),
      .Functions(Functions)
  ) i_manager (
      .clk_i,
      .rst_i,
      .regs(queue_regs),
      .rung,
      .deq_req(deq_request),
      .deq_port_i(paced.data.port),  // with Peeks alone there are others
      .deq_rsp(deq_response),
      .commit(any_commit),
      .stop(any_stop),
      .doorbell(rang),
      .error,
      .refused_o,
      .streams_o
  );

  wire turn_t handed = deq_response.data.granules != '0 ? deq_response.data.granules :
      turn_t'(deq_response.data.count);
  wire finished = any_commit.valid && any_commit.ready;
  always_ff @(posedge clk_i) begin
    slots_o <= slots_o + (taken ? 32'(handed) : '0) - (finished ? 32'(any_commit.data.count) : '0);
    if (rst_i) slots_o <= '0;
  end
endmodule
