// SPDX-License-Identifier: Apache-2.0
`include "stream.svh"
/// Receive coalescing: which received frames go to the host as one, in one slot under one record (large receive offload).
///
/// Each frame leaves with what it is (`join_as`): alone, or of an aggregate the first, or one that follows it there. Where an aggregate
/// ends, an entry without a frame is put in (Closes): `len` bytes in all, `info` of the first frame. If others have joined, the type of
/// the hash there says TCP and UDP both, and the checksum is {PSH of the last, 0, payload of the first}.
/// A frame opens one when it is `able` (rx_follow), without PSH, has `LeastPayload` or more, and another like it would fit. Others join while they
/// follow what joined last, and have no more payload than the first; one with PSH, with less payload, or behind which there is no
/// room for another ends it. So does any other frame of the queue, for records of a queue come in the order of its slots; one that
/// opens an aggregate of a queue with the same low bits; and its age, up to 3 * `Aggregates` clocks late. While `hold_i` is high nothing joins.
/// One entry a clock, latency 1 clock, full back-pressure; drops nothing. `joined_o`: a frame follows. Reset closes all, unsaid.
/// Where `On` is 0 it is nothing but wire.
module rx_coalesce
  import engine_pkg::*, queue_pkg::*, eth_pkg::*;
#(
    parameter bit On = 1,
    parameter int LeastPayload = 256  // so that the entries put in cost no clocks that frames need
) (
    input logic clk_i,
    input logic rst_i,
    input rx_coalesce_t settings_i,
    input logic hold_i,  // queues are streams
    stream_if.snk in,  // rx_meta_t
    stream_if.src out,  // rx_meta_t
    output logic joined_o
);
  if (On) begin : g_on
    typedef struct packed {
      queue_t queue;
      rx_info_t info;  // of the first frame, but for `follow`: of the last
      logic [13:0] len;  // bytes in all
      logic [13:0] mss;  // payload of the first
      logic several;
    } group_t;
    group_t groups[Aggregates];
    logic [15:0] opened[Aggregates];  // when
    logic [Aggregates-1:0] open_q;

    // An aggregate to close before anything else: it is full, or old.
    logic closing_q;
    aggregate_t closing_at_q, scan_q;
    logic [15:0] now_q;

    `STREAM(rx_meta_t, made)
    `SPILL(rx_meta_t, i_out, made, out)
    rx_meta_t m;
    assign m = in.data;
    wire aggregate_t at = closing_q ? closing_at_q : aggregate_t'(m.queue);
    group_t group, next;
    assign group = groups[at];
    wire open = open_q[at];
    wire on = settings_i.bytes != '0 && !hold_i;
    wire [13:0] payload = m.len - 14'd14 - {7'd0, m.info.header, 2'b00};
    // Sums may leave 14 bits.
    wire [14:0] with_it = 15'(group.len) + 15'(payload);
    wire same = group.queue == m.queue;
    wire like = m.info.hash == group.info.hash && m.info.stripped == group.info.stripped &&
        m.info.follow.serial == group.info.follow.serial + 1'b1;
    wire joins = on && open && same && like && m.info.follow.follows && payload <= group.mss &&
        with_it <= 15'(settings_i.bytes);
    wire opens = on && m.info.follow.able && !m.info.follow.push && payload >= 14'(LeastPayload) &&
        15'(m.len) + 15'(payload) <= 15'(settings_i.bytes);
    wire closes = open && (closing_q || (in.valid && !joins && (same || opens)));
    wire takes = !closing_q && in.valid && !closes;
    wire last = joins && (m.info.follow.push || payload != group.mss ||
                          16'(with_it) + 16'(group.mss) > 16'(settings_i.bytes));
    // What is offered may change while nothing can be taken.
    wire moves = made.ready && (closes || takes);
    assign made.valid = moves;
    assign in.ready   = made.ready && !closing_q && !closes;
    assign joined_o   = moves && takes && joins;

    always_comb begin
      next = group;
      if (!joins)
        next = '{queue: m.queue, info: m.info, len: m.len, mss: payload, several: 1'b0};
      else begin
        next.several = 1'b1;
        next.len = with_it[13:0];
        next.info.follow = m.info.follow;
      end
      made.data = m;
      made.data.aggregate = at;
      if (closes) begin
        made.data.join_as = Closes;
        made.data.addr = '0;
        made.data.recorded = 1'b0;
        made.data.queue = group.queue;
        made.data.len = group.len;
        made.data.info = group.info;
        if (group.several) begin
          made.data.info.hash_type |= 4'b1100;
          made.data.info.csum = {group.info.follow.push, 1'b0, group.mss};
        end
      end else made.data.join_as = joins ? Follows : opens ? Opens : Alone;
    end

    wire old = open_q[scan_q] && (!on || now_q - opened[scan_q] >= settings_i.clocks);
    always_ff @(posedge clk_i) begin
      now_q <= now_q + 1'b1;
      if (!old || !closing_q) scan_q <= scan_q + 1'b1;
      if (moves && takes && (joins || opens)) groups[at] <= next;
      if (moves && takes && opens && !joins) opened[at] <= now_q;
      if (moves && (closes || opens)) open_q[at] <= !closes;
      if (!closing_q || moves || !open) begin
        closing_q <= 1'b0;
        if (moves && takes && last) begin
          closing_q <= 1'b1;
          closing_at_q <= at;
        end else if (old) begin
          closing_q <= 1'b1;
          closing_at_q <= scan_q;
        end
      end
      if (rst_i) begin
        open_q <= '0;
        closing_q <= 1'b0;
        {now_q, scan_q} <= '0;
      end
    end
  end else begin : g_off
    assign out.valid = in.valid;
    assign out.data  = in.data;
    assign in.ready  = out.ready;
    assign joined_o  = 1'b0;
    wire unused = &{1'b0, clk_i, rst_i, settings_i, hold_i};
  end
endmodule
