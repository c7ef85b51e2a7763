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
/// opens an aggregate of a queue with the same place (engine_pkg: aggregate_of), which is always the same function's; and its age, up to 3 clocks
/// a place late. One without a slot (`slotless_i`; or what is open in its place by then) closes as if it were old: the next frame may
/// find one. While `hold_i` is high nothing joins. Of a function in `reset_i` (function-level reset) nothing opens, and what is open closes
/// as if it were old: long before function_clear, which waits for its slot, loses patience.
/// One frame a clock where nothing is open; one that opens an aggregate, or finds one open in its place, takes 2 clocks, one that joins 4,
/// and what closes it 2. Latency 2 clocks, full back-pressure; drops nothing. `joined_o`: a frame follows. Reset closes all, unsaid.
/// Where `On` is 0 it is nothing but wire.
module rx_coalesce
  import engine_pkg::*, queue_pkg::*, eth_pkg::*;
#(
    parameter bit On = 1,
    parameter int Functions = 1,  // a power of two: each has its share of the queues,
    parameter int Queues = 65536,  // of which there are so many in all
    parameter int Places = aggregates_of(Functions),  // a power of two, one a function at the least
    parameter int LeastPayload = 256  // so that the entries put in cost no clocks that frames need
) (
    input logic clk_i,
    input logic rst_i,
    input rx_coalesce_t settings_i,
    input logic hold_i,  // queues are streams
    input pcie_pkg::functions_t reset_i,
    input rx_slotless_t slotless_i,
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
      logic ended;  // nothing more joins
    } group_t;
    localparam int PlaceW = $clog2(Places);
    typedef logic [PlaceW-1:0] place_t;
    group_t groups[Places];
    logic [15:0] opened[Places];  // when
    logic [Places-1:0] open_q, slotless_q;
    pcie_pkg::functions_t reset_q;
    function automatic logic gone(place_t place, pcie_pkg::functions_t resets);
      return Functions > 1 && resets[6'(place>>$clog2(Places/Functions))];
    endfunction

    // An old aggregate, and the frame or aggregate at hand with what is known of its place; `fresh_q`: nothing has changed there since.
    logic closing_q;
    place_t closing_at_q, scan_q, at_q, next_at, coming_at;
    logic [15:0] now_q;
    logic valid_q, close_q, aged_q, fresh_q, opens_q, open;
    rx_meta_t m, coming;
    group_t group, next;
    logic [13:0] payload_q;
    assign coming = in.data;

    `STREAM(rx_meta_t, made)
    `SPILL(rx_meta_t, i_out, made, out)
    wire on = settings_i.bytes != '0 && !hold_i;
    wire [13:0] payload = coming.len - 14'd14 - {7'd0, coming.info.header, 2'b00};
    assign coming_at = place_t'(aggregate_of(coming.queue, Functions, Queues / Functions, Places));
    wire opens = on && !gone(
        coming_at, reset_q
    ) && coming.info.follow.able && !coming.info.follow.push && payload >= 14'(LeastPayload) &&
        15'(coming.len) + 15'(payload) <= 15'(settings_i.bytes);
    wire same = group.queue == m.queue;
    wire like = m.info.hash == group.info.hash && m.info.stripped == group.info.stripped &&
        m.info.follow.serial == group.info.follow.serial + 1'b1;
    wire joins = on && open && same && like && m.info.follow.follows && payload_q <= group.mss;
    wire closes = open && (close_q ? aged_q || group.ended : !joins && (same || opens_q));
    wire takes = !close_q && !closes;
    // What is offered may change while nothing can be taken.
    wire step = valid_q && fresh_q && made.ready;
    wire moves = step && (closes || takes);
    wire changes = moves && (closes || joins || opens_q);
    // A frame alone where nothing is open makes place at once.
    wire loads = !valid_q || (step && !open && !opens_q && !close_q);
    assign next_at = !loads ? at_q : closing_q ? closing_at_q : coming_at;
    assign made.valid = moves;
    assign in.ready = loads && !closing_q;
    assign joined_o = moves && takes && joins;

    always_comb begin
      next = group;
      if (!joins)
        next = '{
            queue: m.queue,
            info: m.info,
            len: m.len,
            mss: payload_q,
            several: 1'b0,
            ended: 1'b0
        };
      else begin
        next.several = 1'b1;
        next.len = group.len + payload_q;
        next.info.follow = m.info.follow;
        next.ended = m.info.follow.push || payload_q != group.mss ||
            16'(next.len) + 16'(group.mss) > 16'(settings_i.bytes);
      end
      made.data = m;
      made.data.aggregate = aggregate_t'(at_q);
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
      end else made.data.join_as = joins ? Follows : opens_q ? Opens : Alone;
    end

    wire old = open_q[scan_q] && (!on || slotless_q[scan_q] || gone(
        scan_q, reset_q
    ) || now_q - opened[scan_q] >= settings_i.clocks);
    always_ff @(posedge clk_i) begin
      now_q   <= now_q + 1'b1;
      reset_q <= reset_i;
      if (!old || !closing_q) scan_q <= scan_q + 1'b1;
      if (loads) begin
        valid_q <= closing_q || in.valid;
        close_q <= closing_q;
        aged_q  <= closing_q;
        opens_q <= opens && !closing_q;
        if (!closing_q) {m, payload_q} <= {coming, payload};
      end else if (step) begin
        // Behind one that joins its aggregate is looked at again: it may have ended.
        valid_q <= !close_q && (closes || joins);
        close_q <= joins && !close_q;
      end
      at_q <= next_at;
      group <= groups[next_at];
      open <= open_q[next_at];
      fresh_q <= !changes;
      if (moves && takes && (joins || opens_q)) groups[at_q] <= next;
      if (moves && takes && opens_q && !joins) opened[at_q] <= now_q;
      if (moves && (closes || opens_q)) open_q[at_q] <= !closes;
      if (moves && (closes || (opens_q && !joins))) slotless_q[at_q] <= 1'b0;
      if (slotless_i.valid) slotless_q[place_t'(slotless_i.aggregate)] <= 1'b1;
      if (closing_q) closing_q <= !loads;
      else if (old) begin
        closing_q <= 1'b1;
        closing_at_q <= scan_q;
      end
      if (rst_i) begin
        open_q <= '0;
        {closing_q, valid_q} <= '0;
        {now_q, scan_q} <= '0;
      end
    end
  end else begin : g_off
    assign out.valid = in.valid;
    assign out.data  = in.data;
    assign in.ready  = out.ready;
    assign joined_o  = 1'b0;
    wire unused = &{1'b0, clk_i, rst_i, settings_i, hold_i, reset_i, slotless_i};
  end
endmodule
