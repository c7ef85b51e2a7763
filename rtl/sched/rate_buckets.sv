// SPDX-License-Identifier: Apache-2.0
`include "assert.svh"
/// Token buckets of queues: what each may send in bytes a second, and how much at once.
///
/// A bucket is kept as the clock at which it will be full, in 2^-12 clocks: a packet puts that off by its bytes, FCS counted, times the
/// queue's period, from now on if it is full already; so it never holds more than its burst, and what a long time adds up to is exact to
/// 2^-12 clocks a packet (0.02 % of 64 bytes at 100 Gb/s and 250 MHz, less elsewhere). A packet is charged when its length is known (`charge_i`, one a clock); a
/// packet granted before that counts as `longest_i` bytes, and of its queue's limit only.
/// A question a clock (`ask_i`; `ask_granted_i`, packets ever granted to the queue, a clock later) is answered 8 clocks later. `packets_o` are how many
/// it may be granted: 1 where its bucket holds what is not charged yet, 2, 4 or 8 where it holds so many of the longest besides, 8
/// without a limit; where that is 0, `wake_o` is when the bucket can hold enough at the earliest, as `now_o` counts clocks. So a queue is never more than one
/// packet beyond its burst.
/// `regs`: two words a queue: its period in 2^-20 clocks a byte, 0 being no limit; its burst in bytes, 20 bits. A new period holds from
/// then on and fills the bucket. A burst out of range is taken for the largest, a queue that does not exist is ignored and reads 0; both pulse `refused_o`.
/// Accesses and a look at the next queue every 256 clocks (so that no time lies too far back) take place between charges.
/// After reset no queue has a limit; this takes `Queues` clocks, until `ready_o`. Nothing may be charged or asked before.
module rate_buckets
  import queue_pkg::*;
#(
    parameter  int Queues = 256,
    parameter  int ClockW = 36,             // of `now_o`: times lie within half of what it counts
    localparam int IndexW = $clog2(Queues)
) (
    input  logic               clk_i,
    input  logic               rst_i,
    output logic               ready_o,
           reg_if.slave        regs,
    output logic               refused_o,
    input  logic        [13:0] longest_i,

    input logic  charge_i,
    input sent_t charged_i,

    input  logic              ask_i,
    input  logic [IndexW-1:0] ask_queue_i,
    input  logic [      15:0] ask_granted_i,
    output logic [       3:0] packets_o,
    output logic [ClockW-1:0] wake_o,
    output logic [ClockW-1:0] now_o
);
  localparam int FractionW = 12, PeriodW = 32, PeriodFractionW = 20, BurstW = 20;
  localparam int FcsBytes = 4, LeastBytes = 64, LogMany = 3, LogLook = 8;
  typedef logic [IndexW-1:0] index_t;
  typedef logic [ClockW-1:0] clocks_t;
  typedef logic signed [ClockW+FractionW-1:0] time_t;  // in 2^-FractionW clocks
  typedef logic [15:0] packets_t;
  typedef logic signed [23:0] bytes_t;
  typedef struct packed {
    logic [PeriodW-1:0] period;
    logic [BurstW-1:0]  burst;
  } limit_t;
  typedef struct packed {
    time_t    full;     // from then on
    packets_t packets;  // ever charged
  } bucket_t;

  clocks_t now_q;
  assign now_o = now_q;

  // ---- Clock 0: a charge, else a register access, else a look.
  typedef struct packed {
    logic         charge;
    logic access;
    logic         write;
    logic         burst;   // that word
    logic         known;
    index_t       queue;
    logic [13:0]  bytes;
    logic [31:0]  wdata;
  } op_t;
  logic waiting, write, answer_q, look_q, swept_q;
  logic [31:0] addr, wdata, rdata_q;
  index_t look_queue_q, sweep_q;
  op_t op, op_q[1:4];
  logic state_ready;
  assign ready_o = state_ready && swept_q;
  wire access = waiting && ready_o && !charge_i;
  wire look = look_q && ready_o && !charge_i && !waiting;
  reg_slot i_slot (
      .clk_i,
      .rst_i,
      .regs,
      .waiting_o(waiting),
      .write_o  (write),
      .addr_o   (addr),
      .wdata_o  (wdata),
      .take_i   (access),
      .answer_i (answer_q),
      .rdata_i  (rdata_q)
  );
  always_comb begin
    op = '0;
    op.charge = charge_i && 32'(charged_i.queue) < Queues;
    op.access = access;
    op.known = charge_i ? op.charge : access ? addr[31:3] < 29'(Queues) : look;
    op.write = access && write && op.known;
    op.burst = addr[2];
    op.queue = charge_i ? index_t'(charged_i.queue) : access ? index_t'(addr[31:3]) : look_queue_q;
    op.bytes = charged_i.bytes;
    op.wdata = wdata;
  end
  wire too_long = op.burst && wdata[31:BurstW] != '0;

  // ---- Clock 1: the limit is here, or written. One copy for charges, one for questions.
  limit_t limit, limit_next, ask_limit;
  always_comb begin
    limit_next = limit;
    if (op_q[1].burst)
      limit_next.burst = op_q[1].wdata[31:BurstW] != '0 ? '1 : op_q[1].wdata[BurstW-1:0];
    else limit_next.period = op_q[1].wdata;
  end
  wire limit_we = op_q[1].write || !swept_q;
  wire index_t limit_queue = swept_q ? op_q[1].queue : sweep_q;
  ram_sdp #(
      .Width($bits(limit_t)),
      .Depth(Queues)
  ) i_limit (
      .clk_i,
      .we_i   (limit_we),
      .waddr_i(limit_queue),
      .wdata_i(swept_q ? limit_next : '0),
      .re_i   (op.known),
      .raddr_i(op.queue),
      .rdata_o(limit)
  );
  ram_sdp #(
      .Width($bits(limit_t)),
      .Depth(Queues)
  ) i_ask_limit (
      .clk_i,
      .we_i   (limit_we),
      .waddr_i(limit_queue),
      .wdata_i(swept_q ? limit_next : '0),
      .re_i   (ask_i),
      .raddr_i(ask_queue_i),
      .rdata_o(ask_limit)
  );

  // ---- Clocks 2 ... 4: what the bytes cost. Clock 5: the bucket.
  bytes_t bytes_q;
  logic [PeriodW-1:0] period_q;
  logic signed [47:0] cost;
  time_t cost_q, floor_q, floor_cost_q;
  rate_cost i_cost (
      .clk_i,
      .bytes_i (bytes_q),
      .period_i(period_q),
      .cost_o  (cost)
  );
  bucket_t bucket, bucket_next, ask_bucket;
  op_t op_5_q;
  rmw_ram #(
      .T(bucket_t),
      .Depth(Queues)
  ) i_buckets (
      .clk_i,
      .rst_i,
      .ready_o(state_ready),
      .start_i(op_q[3].known && state_ready),
      .index_i(op_q[3].queue),
      .now_o  (bucket),
      .next_i (bucket_next)
  );
  wire time_t beyond = bucket.full - floor_q;
  always_comb begin
    bucket_next.full = beyond > 0 ? bucket.full + cost_q : floor_cost_q;
    if (op_5_q.write && !op_5_q.burst) bucket_next.full = floor_q;
    bucket_next.packets = bucket.packets + packets_t'(op_5_q.charge);
  end
  ram_sdp #(
      .Width($bits(bucket_t)),
      .Depth(Queues)
  ) i_ask_bucket (
      .clk_i,
      .we_i   (!swept_q || op_5_q.known),
      .waddr_i(swept_q ? op_5_q.queue : sweep_q),
      .wdata_i(swept_q ? bucket_next : '0),
      .re_i   (ask_i),
      .raddr_i(ask_queue_i),
      .rdata_o(ask_bucket)
  );

  always_ff @(posedge clk_i) begin
    now_q  <= now_q + 1'b1;
    look_q <= (look_q && !look) || now_q[LogLook-1:0] == '0;
    if (look) look_queue_q <= look_queue_q == index_t'(Queues - 1) ? '0 : look_queue_q + 1'b1;
    refused_o <= access && write && (too_long || !op.known);

    op_q[1] <= op;
    op_q[2] <= op_q[1];
    op_q[3] <= op_q[2];
    op_q[4] <= op_q[3];
    op_5_q <= op_q[4];
    answer_q <= op_q[1].access;
    rdata_q <= !op_q[1].known ? '0 : op_q[1].burst ? 32'(limit.burst) : limit.period;
    bytes_q <= op_q[1].charge ? bytes_t'({1'b0, op_q[1].bytes}) + bytes_t'(FcsBytes) : '0;
    period_q <= limit.period;
    cost_q <= time_t'(cost);
    floor_q <= time_t'({now_q, FractionW'(0)});
    floor_cost_q <= time_t'({now_q, FractionW'(0)}) + time_t'(cost);

    if (!swept_q) begin
      sweep_q <= sweep_q + 1'b1;
      swept_q <= sweep_q == index_t'(Queues - 1);
    end
    if (rst_i) begin
      for (int i = 1; i <= 4; i++) op_q[i] <= '0;
      op_5_q <= '0;
      now_q <= '0;
      look_q <= 1'b0;
      look_queue_q <= '0;
      refused_o <= 1'b0;
      answer_q <= 1'b0;
      sweep_q <= '0;
      swept_q <= 1'b0;
    end
  end

  // ---- Questions. Clock 1: what is not charged, and how far the bucket is from full. Copies may be some clocks old: then
  // more is not charged instead.
  typedef struct packed {
    time_t  ahead;  // the bucket is full so much later
    limit_t limit;
    logic   waits;  // something is not charged
  } ask_t;
  packets_t packets_q;
  bytes_t reserve_q, burst_q, rest_q;
  ask_t ask_q[2:7];
  time_t burst_cost, rest_cost, many_cost;
  time_t left_q, late_q, many_q;
  wire time_t ask_ahead = ask_bucket.full - time_t'({now_q, FractionW'(0)});
  wire [7:0] counted = packets_q[15:8] != '0 ? '1 : packets_q[7:0];
  for (genvar i = 0; i < 3; i++) begin : g_cost
    logic signed [47:0] cost_i;
    rate_cost i_cost (
        .clk_i,
        .bytes_i (i == 0 ? burst_q : i == 1 ? rest_q : bytes_t'({1'b0, longest_i, LogMany'(0)})),
        .period_i(ask_q[4].limit.period),
        .cost_o  (cost_i)
    );
  end
  assign burst_cost = time_t'(g_cost[0].cost_i);
  assign rest_cost  = time_t'(g_cost[1].cost_i);
  assign many_cost  = time_t'(g_cost[2].cost_i);
  always_ff @(posedge clk_i) begin
    // 2
    packets_q <= ask_granted_i - ask_bucket.packets;
    ask_q[2] <= '{ahead: ask_ahead, limit: ask_limit, waits: 1'b0};
    // 3
    reserve_q <= bytes_t'({1'b0, counted}) * bytes_t'({1'b0, longest_i});
    ask_q[3] <= ask_q[2];
    ask_q[3].ahead <= ask_q[2].ahead < 0 ? '0 : ask_q[2].ahead;
    ask_q[3].waits <= packets_q != '0;
    // 4
    burst_q <= bytes_t'({1'b0, ask_q[3].limit.burst});
    rest_q <= bytes_t'({1'b0, ask_q[3].limit.burst}) - reserve_q;
    for (int i = 4; i <= 7; i++) ask_q[i] <= ask_q[i-1];
    // 7
    left_q <= rest_cost - ask_q[6].ahead;
    late_q <= ask_q[6].ahead - burst_cost;
    many_q <= many_cost;
    // 8
    packets_o <= left_q < 0 ? 4'd0 : 4'd1;
    for (int i = 1; i <= LogMany; i++) if (left_q >= many_q >>> LogMany - i) packets_o <= 4'd1 << i;
    if (ask_q[7].limit.period == '0) packets_o <= 4'd1 << LogMany;
    wake_o <= now_q + (late_q > 0 ? late_q[FractionW+:ClockW] + 1'b1 : '0) +
        (ask_q[7].waits ? clocks_t'(ask_q[7].limit.period[PeriodW-1:PeriodFractionW-$clog2(
        LeastBytes
    )]) : '0);
  end

  `ASSERT(ChargedWhenReady, charge_i |-> ready_o)
endmodule
