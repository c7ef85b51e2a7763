// SPDX-License-Identifier: Apache-2.0
`include "assert.svh"
`include "stream.svh"
/// Transmit scheduler by bytes and weights: deficit round robin.
///
/// In each round a queue with work may send `Quantum` bytes times its weight (its share, 1 ... 255; 0 is taken for 1); what it has not
/// used, or used too much, counts in its next rounds, to the byte. It is served, turn by turn with the others, while it has bytes left, and
/// else waits for the next round, which begins when none has any. What a packet had is known when it is `sent`; one that is under way counts
/// as many bytes as the queue's last one, rounded up to a power of two. So over any time queues that always have work send bytes as
/// their weights are, give or take what is under way, a round and a grant; no queue with work starves.
/// A queue that has none keeps what it has left, a round's bytes at the most. A grant is of up to `max_burst_i` and `room_i` packets; with
/// `room_i` 0 there are none. A visit of a queue takes 6 clocks: so many for a grant, and for each round without. Ports and registers
/// otherwise as sched_queues has them. After reset as sched_queues.
module sched_drr
  import queue_pkg::*;
#(
    parameter int Queues  = 256,
    parameter int Quantum = 2048  // bytes, a power of two
) (
    input logic               clk_i,
    input logic               rst_i,
    input logic         [3:0] max_burst_i,  // 1 ... 8
    input logic         [3:0] room_i,       // packets that may be granted: 0 ... 8
          reg_if.slave        regs,
          stream_if.snk       doorbell,     // queue_t
          stream_if.src       grant,        // grant_t
          stream_if.snk       granted,      // granted_t
          stream_if.snk       sent          // sent_t
);
  localparam int IndexW = $clog2(Queues);
  localparam int LogQuantum = $clog2(Quantum);
  localparam int BytesW = 24;  // of differences: -8 MB ... 8 MB
  if (Quantum != 2 ** LogQuantum || LogQuantum > 14) begin : g_bad_parameter
    $fatal(1, "sched_drr: Quantum %0d is no power of two up to 16384", Quantum);
  end
  typedef logic [IndexW-1:0] index_t;
  typedef logic [15:0] packets_t;
  typedef logic [7:0] weight_t;
  typedef logic signed [BytesW-1:0] bytes_t;

  typedef struct packed {
    packets_t   packets;  // ever sent
    bytes_t     bytes;
    logic [3:0] log;      // of the last one, rounded up
  } sent_state_t;
  typedef struct packed {
    packets_t granted;
    weight_t  weight;
  } turn_t;

  /// The least power of two that is not below.
  function automatic logic [3:0] log_up(logic [13:0] bytes);
    logic [13:0] less = bytes - 14'd1;
    log_up = '0;
    for (int i = 0; i < 14; i++) if (less[i]) log_up = 4'(i + 1);
  endfunction

  // ---- Queues, and what they have sent.
  logic ready, access, access_known, take_turn, counted, sent_ready;
  index_t access_queue, queue;
  packets_t granted_now, granted_next;
  weight_t weight;
  sent_state_t sent_now, sent_next;
  sched_queues #(
      .Queues(Queues),
      .ShareW($bits(weight_t))
  ) i_queues (
      .clk_i,
      .rst_i,
      .regs,
      .doorbell,
      .granted,
      .ready_i(sent_ready),
      .ready_o(ready),
      .access_o(access),
      .access_known_o(access_known),
      .access_queue_o(access_queue),
      .in_flight_i(granted_now - sent_now.packets),
      .turn_o(take_turn),
      .counted_o(counted),
      .queue_o(queue),
      .granted_o(granted_next),
      .before_o(granted_now),
      .share_o(weight)
  );
  assign sent.ready = ready && !access;

  sent_t [1:0] sent_q;
  logic [1:0] sending_q;
  wire sending = sent.valid && sent.ready && 32'(sent.data.queue) < Queues;
  rmw_ram #(
      .T(sent_state_t),
      .Depth(Queues)
  ) i_sent (
      .clk_i,
      .rst_i,
      .ready_o(sent_ready),
      .start_i(access ? access_known : sending),
      .index_i(access ? access_queue : index_t'(sent.data.queue)),
      .now_o  (sent_now),
      .next_i (sent_next)
  );
  always_comb begin
    sent_next = sent_now;
    if (sending_q[1]) begin
      sent_next.packets = sent_now.packets + 1'b1;
      sent_next.bytes = sent_now.bytes + bytes_t'({1'b0, sent_q[1].bytes});
      sent_next.log = log_up(sent_q[1].bytes);
    end
  end

  // ---- Turns: of this round (list `round_q`) and of the next one.
  logic round_q, turn_q, pop, back;
  index_t turn_queue_q, head, visited_q;
  logic [1:0] some;
  queue_lists #(
      .Queues(Queues),
      .Lists (2)
  ) i_lists (
      .clk_i,
      .rst_i,
      .push_i(turn_q || back),
      .push_list_i(turn_q ? round_q : !round_q),
      .push_queue_i(turn_q ? turn_queue_q : visited_q),
      .some_o(some),
      .pop_i(pop),
      .pop_list_i(round_q),
      .head_o(head)
  );

  // ---- What a visited queue has: copies for it, and what it was ever given. A queue with a turn is granted nothing beside it; an
  // old count of what it has sent has more under way instead.
  logic sweep_q;
  index_t sweep_index_q;
  turn_t head_turn;
  sent_state_t head_sent;
  bytes_t head_given, given_q;
  ram_sdp #(
      .Width($bits(turn_t)),
      .Depth(Queues)
  ) i_turn (
      .clk_i,
      .we_i(take_turn),
      .waddr_i(queue),
      .wdata_i({granted_next, weight}),
      .re_i(pop),
      .raddr_i(head),
      .rdata_o(head_turn)
  );
  ram_sdp #(
      .Width($bits(sent_state_t)),
      .Depth(Queues)
  ) i_sent_copy (
      .clk_i,
      .we_i(sweep_q || sending_q[1]),
      .waddr_i(sweep_q ? sweep_index_q : index_t'(sent_q[1].queue)),
      .wdata_i(sweep_q ? '0 : sent_next),
      .re_i(pop),
      .raddr_i(head),
      .rdata_o(head_sent)
  );
  ram_sdp #(
      .Width(BytesW),
      .Depth(Queues)
  ) i_given (
      .clk_i,
      .we_i(sweep_q || back),
      .waddr_i(sweep_q ? sweep_index_q : visited_q),
      .wdata_i(sweep_q ? '0 : given_q),
      .re_i(pop),
      .raddr_i(head),
      .rdata_o(head_given)
  );

  // ---- The visit, a step a clock.
  typedef enum logic [2:0] {
    Pick,
    Read,
    Owe,
    Net,
    Fit,
    Decide
  } step_e;
  step_e step_q;
  bytes_t base_q, owed_q, net_q;
  packets_t flight_q;
  weight_t  weight_q;
  logic [3:0] log_q, fit_q, most_q;
  logic enough_q, offer_q;
  logic [IndexW:0] out_q;  // grants without an answer
  grant_t grant_q;
  wire [29:0] owed = 30'(flight_q) << log_q;
  wire bytes_t fits = net_q >>> log_q;
  wire weight_t least_weight = weight_q == '0 ? 8'd1 : weight_q;

  assign pop  = step_q == Pick && some[round_q] && room_i != '0 && !(offer_q && !grant.ready);
  assign back = step_q == Decide && !enough_q && !turn_q;
  wire granting = step_q == Decide && enough_q;
  wire over = step_q == Pick && !some[round_q] && some[!round_q] && out_q == '0 && !turn_q;
  assign grant.valid = offer_q;
  assign grant.data  = grant_q;

  always_ff @(posedge clk_i) begin
    sending_q <= {sending_q[0], sending};
    sent_q <= {sent_q[0], sent.data};
    turn_q <= take_turn;
    turn_queue_q <= queue;
    out_q <= out_q + (IndexW + 1)'(granting) - (IndexW + 1)'(counted);

    if (grant.ready) offer_q <= 1'b0;
    unique case (step_q)
      Pick: begin
        visited_q <= head;
        most_q <= room_i < max_burst_i ? room_i : max_burst_i;
        if (pop) step_q <= Read;
        if (over) round_q <= !round_q;
      end
      Read: begin
        base_q   <= head_given - head_sent.bytes;
        flight_q <= head_turn.granted - head_sent.packets;
        log_q    <= head_sent.log;
        weight_q <= head_turn.weight;
        given_q  <= head_given;
        step_q   <= Owe;
      end
      Owe: begin
        owed_q  <= owed[29:22] != '0 ? 24'h400000 : owed[23:0];
        given_q <= given_q + (bytes_t'({1'b0, least_weight}) <<< LogQuantum);
        step_q  <= Net;
      end
      Net: begin
        net_q  <= base_q - owed_q;
        step_q <= Fit;
      end
      Fit: begin
        enough_q <= net_q > 0;
        fit_q <= fits > 8 ? 4'd8 : fits == 0 ? 4'd1 : fits[3:0];
        step_q <= Decide;
      end
      default: begin
        if (granting) begin
          offer_q <= 1'b1;
          grant_q <= '{queue: 16'(visited_q), max: fit_q < most_q ? fit_q : most_q, granules: '0};
        end
        if (granting || back) step_q <= Pick;
      end
    endcase

    sweep_index_q <= sweep_q ? sweep_index_q + 1'b1 : '0;
    if (sweep_index_q == index_t'(Queues - 1)) sweep_q <= 1'b0;

    if (rst_i) begin
      sending_q <= '0;
      turn_q <= 1'b0;
      out_q <= '0;
      offer_q <= 1'b0;
      round_q <= 1'b0;
      step_q <= Pick;
      sweep_q <= 1'b1;
      sweep_index_q <= '0;
    end
  end

  `ASSERT(OneTurnEach, granting |-> !(offer_q && !grant.ready))
endmodule
