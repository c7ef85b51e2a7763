// SPDX-License-Identifier: Apache-2.0
`include "assert.svh"
/// Places of queues in virtual time: start-time fair queueing (Goyal and others, SIGCOMM 1996) over queues in RAM.
///
/// A queue's tag is the virtual time at which it has had what it was granted: each packet moves it on by its bytes, FCS counted, over the queue's
/// weight, when its length is known (`charge_i`, one a clock), exact to 2^-12 of a byte a packet and to 0.012 % of the weight. Packets granted before that count as
/// many bytes as the queue's packets on average had (the last 16 or so count).
/// A question (`ask_i`, in a clock without a charge) is answered 9 clocks later (`answer_o`) with the place of the queue's next packet: its tag in units of 2^`LogPlace`
/// bytes of weight 1. `virtual_i` are the virtual times of the classes, in that unit. A place further than `Lag` behind its class's is moved up to that, and the tag
/// with it: so a queue that has had no work for long keeps as much credit and no more. One further than `Far` ahead, as after a change of class, is moved down to that.
/// A queue's weight (0 is taken for 1), class and packets ever granted are told with each of its turns (`turn_i`) before it is asked about; `granted_o` repeats the last a clock
/// after the question. Every 256 clocks without charge or question the next queue is looked at, so that none lies too far back.
/// After reset all tags are 0; this takes `Queues` clocks, until `ready_o`: no charge or question before.
module fair_tags
  import queue_pkg::*;
#(
    parameter  int Queues   = 256,
    parameter  int Classes  = 8,
    parameter  int LogPlace = 8,
    parameter  int Lag      = 32,                                 // places
    parameter  int Far      = 448,
    localparam int IndexW   = $clog2(Queues),
    localparam int ClassW   = Classes > 1 ? $clog2(Classes) : 1,
    localparam int PlaceW   = 32 - LogPlace
) (
    input  logic                            clk_i,
    input  logic                            rst_i,
    output logic                            ready_o,
    input  logic  [Classes-1:0][PlaceW-1:0] virtual_i,
    input  logic                            turn_i,
    input  logic  [ IndexW-1:0]             turn_queue_i,
    input  logic  [       15:0]             turn_granted_i,
    input  logic  [        7:0]             turn_weight_i,
    input  logic  [ ClassW-1:0]             turn_class_i,
    input  logic                            charge_i,
    input  sent_t                           charged_i,
    input  logic                            ask_i,
    input  logic  [ IndexW-1:0]             ask_queue_i,
    output logic  [       15:0]             granted_o,
    output logic                            answer_o,
    output logic  [ ClassW-1:0]             class_o,
    output logic  [ PlaceW-1:0]             place_o
);
  localparam int FractionW = 12, PeriodFractionW = 20, FcsBytes = 4, AverageW = 18, LogLook = 8;
  typedef logic [IndexW-1:0] index_t;
  typedef logic [ClassW-1:0] class_t;
  typedef logic [15:0] packets_t;
  typedef logic signed [23:0] bytes_t;
  typedef logic signed [PlaceW+LogPlace+FractionW-1:0] tag_t;
  typedef struct packed {
    packets_t   granted;
    logic [7:0] weight;
    class_t     cls;
  } turn_t;
  typedef struct packed {
    packets_t            packets;  // ever charged
    logic [AverageW-1:0] bytes;    // of a packet on average, in 2^-4
  } counts_t;
  typedef struct packed {
    logic valid;
    logic charge;
    logic ask;
    index_t queue;
    logic [13:0] bytes;
    class_t cls;
  } op_t;

  // 2^20 over each weight.
  localparam int PeriodW = PeriodFractionW + 1;
  typedef logic [255:0][PeriodW-1:0] periods_t;
  function automatic periods_t periods();
    periods[0] = PeriodW'(2 ** PeriodFractionW);
    for (int w = 1; w < 256; w++) periods[w] = PeriodW'((2 ** PeriodFractionW + w / 2) / w);
  endfunction
  localparam periods_t Periods = periods();

  // ---- Clock 0: a charge, a question or a look.
  logic counts_ready, tags_ready, look_q;
  index_t look_queue_q;
  logic [LogLook-1:0] look_in_q;
  assign ready_o = counts_ready && tags_ready;
  wire charge = charge_i && 32'(charged_i.queue) < Queues;
  wire look = look_q && ready_o && !charge_i && !ask_i;
  op_t op, op_q[1:8];
  always_comb begin
    op = '0;
    op.valid = charge || ask_i || look;
    op.charge = charge;
    op.ask = ask_i;
    op.queue = charge_i ? index_t'(charged_i.queue) : ask_i ? ask_queue_i : look_queue_q;
    op.bytes = charged_i.bytes;
  end

  // ---- Clock 1: the turn. Clock 2: counts. Clocks 3 ... 7: what the packet costs, or those that are not known.
  turn_t turn, turn_q;
  ram_sdp #(
      .Width($bits(turn_t)),
      .Depth(Queues)
  ) i_turn (
      .clk_i,
      .we_i   (turn_i),
      .waddr_i(turn_queue_i),
      .wdata_i({turn_granted_i, turn_weight_i, turn_class_i}),
      .re_i   (op.valid),
      .raddr_i(op.queue),
      .rdata_o(turn)
  );
  assign granted_o = turn.granted;
  counts_t counts, counts_next;
  rmw_ram #(
      .T(counts_t),
      .Depth(Queues)
  ) i_counts (
      .clk_i,
      .rst_i,
      .ready_o(counts_ready),
      .start_i(op.valid),
      .index_i(op.queue),
      .now_o  (counts),
      .next_i (counts_next)
  );
  wire signed [AverageW:0] more = $signed(
      {1'b0, op_q[2].bytes, 4'd0}
  ) - $signed(
      {1'b0, counts.bytes}
  );
  always_comb begin
    counts_next = counts;
    if (op_q[2].charge) begin
      counts_next.packets = counts.packets + 1'b1;
      counts_next.bytes = counts.bytes == '0 ? {op_q[2].bytes, 4'd0} :
          AverageW'($signed({1'b0, counts.bytes}) + (more >>> 4));
    end
  end
  packets_t unknown_q;
  logic [7:0] few_q;
  logic [13:0] average_q, average_4_q;
  logic [PeriodW-1:0] period_q[3:5];
  bytes_t bytes_q;
  logic signed [47:0] cost;
  rate_cost i_cost (
      .clk_i,
      .bytes_i (bytes_q),
      .period_i(32'(period_q[5])),
      .cost_o  (cost)
  );

  // ---- Clock 8: the tag, within bounds that what is not known leaves of `Lag` and `Far`.
  function automatic tag_t tag_of(logic [PlaceW-1:0] place);
    tag_of = {place, (LogPlace + FractionW)'(0)};
  endfunction
  tag_t tag, tag_next, place_next, least_q, least_8_q, most_q, most_8_q, floor_q, roof_q, cost_q;
  wire tag_t above = tag - floor_q;
  wire tag_t beyond = tag - roof_q;
  always_comb begin
    tag_next   = tag;
    place_next = tag + cost_q;
    if (op_q[8].charge) tag_next = tag + cost_q;
    else if (above < 0) begin
      tag_next   = floor_q;
      place_next = least_8_q;
    end else if (beyond > 0) begin
      tag_next   = roof_q;
      place_next = most_8_q;
    end
  end
  rmw_ram #(
      .T(tag_t),
      .Depth(Queues)
  ) i_tags (
      .clk_i,
      .rst_i,
      .ready_o(tags_ready),
      .start_i(op_q[6].valid),
      .index_i(op_q[6].queue),
      .now_o  (tag),
      .next_i (tag_next)
  );
  always_ff @(posedge clk_i) begin
    look_in_q <= look_in_q + 1'b1;
    look_q <= (look_q && !look) || look_in_q == '0;
    if (look) look_queue_q <= look_queue_q == index_t'(Queues - 1) ? '0 : look_queue_q + 1'b1;
    op_q[1] <= op;
    for (int i = 2; i <= 8; i++) op_q[i] <= op_q[i-1];
    turn_q <= turn;
    op_q[3].cls <= turn_q.cls;
    // 3
    unknown_q <= turn_q.granted - counts.packets;
    average_q <= counts.bytes[AverageW-1:4];
    period_q[3] <= Periods[turn_q.weight];
    // 4
    few_q <= unknown_q[15:8] != '0 ? '1 : unknown_q[7:0];
    average_4_q <= average_q;
    period_q[4] <= period_q[3];
    // 5
    bytes_q <= op_q[4].charge ? bytes_t'({1'b0, op_q[4].bytes}) + bytes_t'(FcsBytes) : bytes_t'({1'b0, few_q}) * bytes_t'({1'b0, average_4_q});
    period_q[5] <= period_q[4];
    // 7, 8
    least_8_q <= least_q;
    least_q <= tag_of(virtual_i[op_q[6].cls] - PlaceW'(Lag));
    least_8_q <= least_q;
    most_8_q <= most_q;
    most_q <= tag_of(virtual_i[op_q[6].cls] + PlaceW'(Far));
    floor_q <= least_q - tag_t'(cost);
    roof_q <= most_q - tag_t'(cost);
    cost_q <= tag_t'(cost);
    // 9
    place_o <= place_next[LogPlace+FractionW+:PlaceW];
    class_o <= op_q[8].cls;
    answer_o <= op_q[8].ask;
    if (rst_i) begin
      for (int i = 1; i <= 8; i++) op_q[i] <= '0;
      {look_q, look_in_q, look_queue_q} <= '0;
      answer_o <= 1'b0;
    end
  end

  `ASSERT(OneAtATime, !(charge_i && ask_i))
  `ASSERT(WhenReady, charge_i || ask_i |-> ready_o)
endmodule
