// SPDX-License-Identifier: Apache-2.0
`include "assert.svh"
`include "stream.svh"
/// Takes TLPs of the UltraScale+ block apart: descriptor beside the payload, which begins in lane 0.
///
/// TLPs begin where `sop_at` says, at any multiple of 16 bytes. Descriptors are those of requests, or with `Requests` clear of
/// completions. What goes out has 64 bytes of payload a beat, or 128. A TLP takes a clock at least. With beats of 64 it takes one
/// for each: slower than `in` where 65 or a few bytes more take two, 1.3 beats of the block. With 128 as many as beats it has on
/// `in`, two of which may be half of its own: never slower than the block while TLPs have 36 bytes on the average. Latency 2
/// clocks, or until the beat is there in which the payload goes on. Full back-pressure. Reset drops what is held.
module usplus_unpack
  import pcie_pkg::*;
  import usplus_pkg::*;
#(
    parameter bit  Requests = 1'b0,
    parameter type Unpacked = usplus_rx_t  // or with twice the data
) (
    input logic clk_i,
    input logic rst_i,

    stream_if.snk in,  // usplus_beat_t
    stream_if.src out  // Unpacked
);
  localparam int DescDws = Requests ? $bits(cq_desc_t) / 32 : $bits(rc_desc_t) / 32;
  localparam int DataDws = ($bits(Unpacked) - $bits(usplus_rx_t)) / 32 + UsPlusDws;
  localparam bit Wide = DataDws > UsPlusDws;
  if (TlpDws != UsPlusDws || (DataDws != UsPlusDws && DataDws != 2 * UsPlusDws)) begin : g_bad_parameter
    $fatal(1, "usplus_unpack: beats of %0d Dwords out of %0d", DataDws, TlpDws);
  end

  // A TLP that begins at place p of 16 bytes has 16 - A Dwords of its payload in that beat, and goes on behind it: A = 4p + DescDws.
  // Where 128 bytes need three beats of the block, the first 64 of them are put by while the third comes: in a clock of their own,
  // or in that in which the TLP before ends in the same beat.
  function automatic logic [10:0] first_of(input logic [1:0] place);
    return 11'({place, 2'd0}) + 11'(DescDws);
  endfunction

  // What is known of a TLP at each place of a beat before it is its turn.
  typedef struct packed {
    logic [10:0] count;         // Dwords of payload
    logic        last;          // all of it goes in one clock
    logic        crosses;       // its last one is in the next beat
    logic        then_last;     // the same of what follows, in the next beat
    logic        then_crosses;
  } place_t;
  usplus_beat_t in_beat;
  place_t [3:0] in_place;
  assign in_beat = in.data;
  for (genvar p = 0; p < 4; p++) begin : g_place
    localparam logic [10:0] Room = 11'd16 - first_of(2'(p));
    logic [10:0] count;
    if (Requests) begin : g_request
      wire cq_desc_t request = in_beat.data[128*p+:128];
      wire unused = &{1'b0, request};
      assign count = request.req_type == UsMemWrite ? request.dword_count : '0;
    end else begin : g_completion
      wire rc_desc_t completion = in_beat.data[128*p+:96];
      wire unused = &{1'b0, completion};
      assign count = completion.dword_count;
    end
    `WHILE(in.valid, in_place[p],
           '{
               count: count,
               last: count <= (Wide ? 11'd16 + Room : 11'd16),
               crosses: count > Room,
               then_last: count <= 11'd32,
               then_crosses: count > 11'd16 + Room
           })
  end

  // The beat at hand; what follows it is on `in`.
  usplus_beat_t now_q;
  logic [3:0] sop_at_q;  // of those whose turn is yet to come
  place_t [3:0] place_q;
  wire unused_at = &{1'b0, now_q.sop_at};

  // ---------------------------------------------------------------- whose turn it is, known a clock ahead
  typedef struct packed {
    logic       some;
    logic       goes_on;  // it goes on from the beat before
    logic [1:0] at;       // where it began
    logic       last;
    logic       crosses;
    logic       goes;     // a beat goes out
    logic       more;     // another begins in this beat
    logic       long;     // and it takes more than one clock, so that it is the only one
  } turn_t;
  turn_t turn_q, fresh, next_here, on;
  logic [10:0] left_q;  // Dwords of it that have not been moved, when it is inside
  logic second_q;  // with Wide: half of what goes out next has been put by
  logic begins_q;  // and none has gone out

  function automatic logic one_long(input logic [3:0] sop_at, input place_t [3:0] place);
    logic some_long = 1'b0;
    for (int i = 0; i < 4; i++) some_long |= sop_at[i] && !place[i].last;
    return Wide && some_long && (sop_at & (sop_at - 4'd1)) == '0;
  endfunction
  function automatic turn_t first_turn(input logic [3:0] sop_at, input place_t [3:0] place);
    turn_t turn;
    turn.some = sop_at != '0;
    turn.goes_on = 1'b0;
    turn.at = 2'd0;
    for (int i = 3; i >= 0; i--) if (sop_at[i]) turn.at = 2'(i);
    turn.last = place[turn.at].last;
    turn.crosses = place[turn.at].crosses;
    turn.goes = !Wide || turn.last;
    turn.more = (sop_at & (sop_at - 4'd1)) != '0;
    turn.long = one_long(sop_at & (sop_at - 4'd1), place);
    return turn;
  endfunction
  `WHILE(in.valid, fresh, first_turn(in_beat.sop_at, in_place))
  `WHILE(turn_q.some, next_here, first_turn(sop_at_q, place_q))

  wire puts_by = turn_q.last && !turn_q.crosses && turn_q.long && in.valid;  // of what follows
  wire ends = turn_q.last && !puts_by;
  wire starts = turn_q.last || !turn_q.goes_on;  // what goes on after this turn began in this beat, at `begun`
  wire [1:0] begun = Wide && turn_q.last ? next_here.at : turn_q.at;
  wire [10:0] room = 11'd16 - first_of(begun);  // Dwords of it in the beat it begins in
  always_comb begin
    on = turn_q;
    on.goes_on = 1'b1;
    on.at = begun;
    if (starts) begin
      on.last = place_q[begun].then_last;
      on.crosses = place_q[begun].then_crosses;
    end else begin
      on.last = left_q <= (second_q ? 11'd48 : 11'd32);
      on.crosses = left_q > (second_q ? 11'd32 : 11'd16 + room);
    end
    on.goes = !Wide || on.last || turn_q.last || !turn_q.goes;
    on.more = in_beat.sop_at != '0;
    on.long = one_long(in_beat.sop_at, in_place);
  end

  // ---------------------------------------------------------------- its data
  logic [511:0] next, here, after;  // from its place on; where one beat is all of it: what follows
  `WHILE(turn_q.some, next, turn_q.crosses ? in_beat.data : '0)
  always_comb begin
    if (`WORTH(turn_q.some)) begin
      here  = '0;
      after = '0;
      for (int p = 0; p < 4; p++) begin
        if (turn_q.some && turn_q.at == 2'(p)) begin
          here  = 512'({next, now_q.data} >> 32 * (4 * p + DescDws));
          after = next >> 32 * (4 * p + DescDws);
        end
      end
    end
  end
  logic [128+8-1:0] head, head_q;
  function automatic logic [128+8-1:0] head_at(input logic [1:0] place);
    return {now_q.last_be, now_q.first_be, 128'(now_q.data >> {place, 7'd0})};
  endfunction
  `WHILE(turn_q.some, head, turn_q.goes_on ? head_q : head_at(turn_q.at))
  logic [32*DataDws-1:0] data;
  `STREAM(Unpacked, taken)
  `SPILL(Unpacked, i_out, taken, out)
  wire move = turn_q.some && (turn_q.goes ? taken.valid && taken.ready : in.valid);
  if (Wide) begin : g_wide
    logic [511:0] first, first_q;
    always_comb begin
      if (`WORTH(move)) begin
        first = '0;
        for (int p = 0; p < 4; p++) begin
          if (begun == 2'(p)) first = 512'({in_beat.data, now_q.data} >> 32 * (4 * p + DescDws));
        end
      end
    end
    always_ff @(posedge clk_i) if (move) first_q <= first;
    assign data = turn_q.goes_on && second_q ? {here, first_q} : {after, here};
  end else begin : g_narrow
    assign data = here;
    wire unused = &{1'b0, after};
  end
  assign taken.valid = turn_q.some && turn_q.goes && (!turn_q.crosses || in.valid);
  `STREAM_DATA(taken, '{sop: !turn_q.goes_on || begins_q, eop: turn_q.last, desc: head[127:0],
                      last_be: head[135:132], first_be: head[131:128], data: data})

  // ---------------------------------------------------------------- on
  // The next beat when nothing more begins in this one.
  wire step = !turn_q.some || (move && !(ends && !turn_q.crosses && turn_q.more));
  assign in.ready = step;
  always_ff @(posedge clk_i) begin
    if (move) begin
      if (starts) head_q <= head_at(begun);
      second_q <= Wide && (turn_q.last || !turn_q.goes);
      begins_q <= turn_q.last || (!turn_q.goes && !turn_q.goes_on);
      left_q <= starts ? place_q[begun].count - (Wide ? room : 11'd16) :
          left_q - (!Wide ? 11'd16 : second_q ? 11'd32 - room : room);
    end
    if (step) begin
      if (`WORTH(in.valid)) now_q <= in_beat;
      sop_at_q <= in_beat.sop_at & (move && !ends ? 4'hf : in_beat.sop_at - 4'd1);
      if (`WORTH(in.valid)) place_q <= in_place;
      turn_q <= move && !ends ? on : fresh;
      turn_q.some <= in.valid && (fresh.some || (move && !ends));
    end else if (move) begin
      turn_q   <= next_here;
      sop_at_q <= sop_at_q & (sop_at_q - 4'd1);
    end
    if (rst_i) turn_q.some <= 1'b0;
  end

  `ASSERT(GoesOn, move && !ends |-> step && in.valid)
endmodule
