// SPDX-License-Identifier: Apache-2.0
`include "assert.svh"
/// Interrupt moderation: at least an interval between two interrupts of a vector.
///
/// Takes vector numbers (queue_t) and passes each on at once (3 clocks) if the vector's last one is at least its interval
/// ago; otherwise, or when `out` is not ready, the vector is marked and passed on once, later: after its interval, at most
/// `Vectors` scans late. So several become one, and the last one is never lost. One vector a clock while none is marked,
/// one in two clocks otherwise; `in` is never held up by `out`. `regs` has one word a vector: the interval in clocks
/// (reset: 0). Vectors that do not exist are dropped. Time is 32 bits: after 17 s of silence an interrupt may be held
/// back for one interval. After reset, `Vectors` clocks in which nothing is accepted.
module irq_moderate
  import queue_pkg::*;
#(
    parameter int Vectors = 32
) (
    input logic         clk_i,
    input logic         rst_i,
          reg_if.slave  regs,
    // Vector numbers, queue_t.
          stream_if.snk in,
          stream_if.src out
);
  if (Vectors < 1 || Vectors > 65536) begin : g_bad_parameter
    $fatal(1, "irq_moderate: Vectors %0d is not 1 ... 65536", Vectors);
  end

  localparam int IndexW = Vectors > 1 ? $clog2(Vectors) : 1;
  typedef logic [IndexW-1:0] index_t;

  typedef struct packed {
    logic [31:0] interval;
    logic [31:0] last;      // when the last one left
    logic        marked;    // one is held back
  } state_t;

  typedef struct packed {
    logic arrival;
    logic scan;
    logic access;
    logic known;
    queue_t vector;
  } op_t;

  // The register access under way.
  logic waiting, write, access;
  logic [31:0] addr, wdata, rdata;
  wire [31:0] access_vector = 32'(addr[31:2]);

  // Vectors held back are looked for one after the other, as long as there are any.
  logic [IndexW:0] marked_q;
  index_t scan_q;
  logic ready;
  op_t op, read_q, update_q;
  reg_slot i_slot (
      .clk_i,
      .rst_i,
      .regs,
      .waiting_o(waiting),
      .write_o(write),
      .addr_o(addr),
      .wdata_o(wdata),
      .take_i(access),
      .answer_i(update_q.access),
      .rdata_i(rdata)
  );
  assign access = waiting && ready;
  // Arrivals and scans take turns.
  wire scan = ready && !access && marked_q != '0 && (!in.valid || !read_q.scan);
  assign in.ready = ready && !access && !scan;

  always_comb begin
    op = '0;
    op.access = access;
    op.scan = scan;
    op.arrival = in.valid && in.ready;
    op.vector = access ? access_vector[15:0] : scan ? 16'(scan_q) : in.data;
    op.known = access ? access_vector < Vectors : 32'(op.vector) < Vectors;
  end

  state_t now, next;
  rmw_ram #(
      .T(state_t),
      .Depth(Vectors)
  ) i_state (
      .clk_i,
      .rst_i,
      .ready_o(ready),
      .start_i((op.access || op.scan || op.arrival) && op.known),
      .index_i(index_t'(op.vector)),
      .now_o  (now),
      .next_i (next)
  );

  logic [31:0] time_q;
  logic out_valid_q;
  queue_t out_q;
  logic wanted, leaves;
  always_comb begin
    next   = now;
    wanted = update_q.known && (update_q.arrival || (update_q.scan && now.marked));
    leaves = wanted && time_q - now.last >= now.interval && (!out_valid_q || out.ready);
    if (wanted) next.marked = !leaves;
    if (leaves) next.last = time_q;
    if (update_q.access && write) next.interval = wdata;
  end

  assign out.valid = out_valid_q;
  assign out.data = out_q;

  assign rdata = update_q.known ? now.interval : '0;

  always_ff @(posedge clk_i) begin
    time_q <= time_q + 1'b1;
    if (scan) scan_q <= scan_q == index_t'(Vectors - 1) ? '0 : scan_q + 1'b1;
    read_q   <= op;
    update_q <= read_q;
    if (wanted && next.marked != now.marked)
      marked_q <= next.marked ? marked_q + 1'b1 : marked_q - 1'b1;

    if (leaves) begin
      out_valid_q <= 1'b1;
      out_q <= update_q.vector;
    end else if (out.ready) out_valid_q <= 1'b0;

    if (rst_i) begin
      read_q <= '0;
      update_q <= '0;
      out_valid_q <= 1'b0;
      marked_q <= '0;
      scan_q <= '0;
      time_q <= '0;
    end
  end

  `ASSERT(MarksAreCounted, update_q.known && now.marked && update_q.scan |-> marked_q != '0)
endmodule
