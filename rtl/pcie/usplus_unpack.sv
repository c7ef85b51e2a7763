// SPDX-License-Identifier: Apache-2.0
`include "assert.svh"
`include "stream.svh"
/// Takes TLPs of the UltraScale+ block apart: descriptor beside the payload, which begins in lane 0.
///
/// TLPs begin where `sop_at` says, at any multiple of 16 bytes. Descriptors are those of requests, or with `Requests` clear of
/// completions. What goes out has 64 bytes of payload a beat, or 128. A TLP takes a clock at least. With beats of 64 it takes one
/// for each: slower than `in` where 65 or a few bytes more take two, 1.3 beats of the block. With 128 as many as beats it has on
/// `in`: never slower than that while TLPs have 36 bytes on the average. Latency 2 clocks, or until the beat is there in which the
/// payload goes on. Full back-pressure. Reset drops what is held.
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
  // Where 128 bytes need three beats of the block, the first 64 of them are put by while the third comes.
  function automatic logic [10:0] first_of(input logic [1:0] place);
    return 11'({place, 2'd0}) + 11'(DescDws);
  endfunction

  // What is known of a TLP at each place of a beat before it is its turn.
  typedef struct packed {
    logic [10:0] count;    // Dwords of payload
    logic        last;     // all of it goes in one clock
    logic        crosses;  // its last one is in the next beat
  } place_t;
  usplus_beat_t in_beat;
  place_t [3:0] in_place;
  assign in_beat = in.data;
  for (genvar p = 0; p < 4; p++) begin : g_place
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
    assign in_place[p] = '{
            count: count,
            last: count <= (Wide ? 11'd32 - first_of(2'(p)) : 11'd16),
            crosses: count > 11'd16 - first_of(2'(p))
        };
  end

  // The beat at hand; what follows it is on `in`.
  usplus_beat_t now_q;  // sop_at: of those that have not begun
  place_t [3:0] place_q;
  logic full_q;
  // The TLP that goes on in it.
  logic inside_q;
  logic [1:0] at_q;
  logic [10:0] left_q;
  logic second_q;  // with Wide: half of what goes out next has been put by
  logic begins_q;  // and none has gone out

  // ---------------------------------------------------------------- which TLP, and how much of it
  logic [1:0] at;
  always_comb begin
    at = 2'd3;
    for (int i = 2; i >= 0; i--) if (now_q.sop_at[i]) at = 2'(i);
    if (inside_q) at = at_q;
  end
  wire [10:0] room = 11'd16 - first_of(at_q);  // Dwords of it in the first beat
  wire [10:0] most = !Wide ? 11'd16 : second_q ? 11'd32 - room : 11'd16 + room;
  wire inside_last = left_q <= most;
  wire inside_crosses = left_q > (second_q ? 11'd16 : room);
  wire last = inside_q ? inside_last : place_q[at].last;
  wire goes = !Wide || last || (inside_q && second_q);  // a beat goes out
  wire crosses = inside_q ? inside_crosses : place_q[at].crosses;
  wire more = |(now_q.sop_at & (inside_q ? 4'hf : now_q.sop_at - 4'd1));  // another begins in this beat

  // ---------------------------------------------------------------- its data
  wire some = full_q && (inside_q || |now_q.sop_at);
  wire [511:0] next = crosses ? in_beat.data : '0;
  logic [511:0] here, after;  // from its place on; where one beat is all of it: what follows
  always_comb begin
    here  = '0;
    after = '0;
    for (int p = 0; p < 4; p++) begin
      if (some && at == 2'(p)) begin
        here  = 512'({next, now_q.data} >> 32 * (4 * p + DescDws));
        after = next >> 32 * (4 * p + DescDws);
      end
    end
  end
  logic [128+8-1:0] head, head_q;
  assign head = inside_q ? head_q : {now_q.last_be, now_q.first_be, 128'(now_q.data >> {at, 7'd0})};
  logic [32*DataDws-1:0] data;
  if (Wide) begin : g_wide
    logic [511:0] first_q;
    always_ff @(posedge clk_i) if (move) first_q <= here;
    assign data = inside_q && second_q ? {here, first_q} : {after, here};
  end else begin : g_narrow
    assign data = here;
    wire unused = &{1'b0, after};
  end
  `STREAM(Unpacked, taken)
  `SPILL(Unpacked, i_out, taken, out)
  assign taken.valid = some && goes && (!crosses || in.valid);
  assign taken.data = '{
          sop: !inside_q || begins_q,
          eop: last,
          desc: head[127:0],
          last_be: head[135:132],
          first_be: head[131:128],
          data: data
      };

  // ---------------------------------------------------------------- on
  wire move = some && (goes ? taken.valid && taken.ready : in.valid);
  // The next beat when nothing more begins in this one.
  wire step = !full_q || !some || (move && !(last && !crosses && more));
  assign in.ready = step;
  always_ff @(posedge clk_i) begin
    if (move) begin
      inside_q <= !last;
      at_q <= at;
      head_q <= head;
      second_q <= Wide && !goes;
      begins_q <= !goes && !inside_q;
      left_q <= inside_q ? left_q - (!Wide ? 11'd16 : second_q ? 11'd32 - room : room) :
          place_q[at].count - (Wide ? 11'd16 - first_of(
          at
      ) : 11'd16);
      if (!inside_q) now_q.sop_at <= now_q.sop_at & (now_q.sop_at - 4'd1);
    end
    if (step) begin
      now_q   <= in_beat;
      place_q <= in_place;
      full_q  <= in.valid;
    end
    if (rst_i) begin
      full_q   <= 1'b0;
      inside_q <= 1'b0;
    end
  end

  `ASSERT(NeverWithout, taken.valid |-> inside_q || |now_q.sop_at)
endmodule
