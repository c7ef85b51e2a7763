// SPDX-License-Identifier: Apache-2.0
`include "assert.svh"
`include "stream.svh"
/// Cuts frames out of what was read from the rings of stream queues (transmit engine); packets of other queues pass.
///
/// `in` brings units with their marks. A turn of a stream queue is pieces of one DMA read each, one behind the other: from 16 bytes
/// `from` of its first unit on heads (desc_t) and frames, each frame behind its head and padded to 16 bytes. A head of length 0
/// says that the rest of the turn is empty. A frame leaves in beats of 128 bytes with the checksum command of its head: one of
/// up to 128 bytes a clock (with rare bubbles), longer ones 128 bytes a clock; latency 3 clocks. A head of more than `max_frame_i` (with its tag)
/// or StreamFrame bytes, a frame that goes beyond its turn and a piece that could not be read (`fail`) break the turn: a frame
/// already begun ends with `err`, the rest is passed over. When the last unit of a piece is done `token` tells how many frames
/// have left since reset, modulo 256, and how many bytes, modulo 2^14; whether the turn is broken, and whether the last of the frames ended so; up to TokenDepth wait.
/// Other packets pass without a clock of delay when no turn is under way. Full back-pressure. Reset forgets everything.
module tx_cut
  import eth_pkg::*, dma_pkg::*, queue_pkg::*, engine_pkg::*;
#(
    parameter bit Vlan = 0,  // heads may ask for tags
    parameter int TokenDepth = 32
) (
    input  logic                clk_i,
    input  logic                rst_i,
    input  logic         [13:0] max_frame_i,
           stream_if.snk        in,           // tx_unit_t
           stream_if.src        frame,        // wide_beat_t
    output tx_csum_t            csum_o,       // of the frame on offer
           stream_if.src        token         // tx_token_t
);
  localparam int Full = Segs;  // places of 16 bytes in a row
  typedef logic [$clog2(2*Segs+1)-1:0] place_t;  // up to the end of the row after
  typedef logic [$clog2(Segs+1)-1:0] here_t;  // up to the end of a row

  /// What a row is, beside its data.
  typedef struct packed {
    here_t            end_;  // behind what is valid
    logic [2:0] from;
    logic             eop;   // of its piece
    logic             ends;  // its turn
    logic             fail;
  } mark_t;

  typedef enum logic [2:0] {
    Done,   // nothing more in this row
    Empty,  // nor in this turn
    Bad,
    Stay,   // the beat ends in front of the row's end,
    Pop,    // with it,
    Cross   // in the next row
  } act_e;

  /// What to do if a head lies at some place of a row. `after` is where the frame's first beat ends, in the row in which it ends.
  typedef struct packed {
    act_e   act;
    here_t  after;
    logic   one;     // the frame is one beat
    logic   two;     // or two
    place_t second;  // where the second one ends, in this row or the next
  } plan_t;

  function automatic here_t tail(logic [6:0] bytes);  // places that a frame's last beat takes
    return bytes == '0 ? here_t'(Full) : here_t'((8'(bytes) + 8'd15) >> 4);
  endfunction

  /// A beat that ends at `stop`.
  function automatic act_e act_of(place_t stop, here_t end_, logic ends);
    if (ends && stop > place_t'(end_)) return Bad;
    return stop > place_t'(Full) ? Cross : stop < place_t'(end_) ? Stay : Pop;
  endfunction

  function automatic plan_t plan_of(int place, logic [15:0] len, here_t end_, logic ends,
                                    logic fail, logic has_tag, logic [13:0] max_frame);
    logic [13:0] longest;
    plan_t plan;
    place_t first;
    longest = has_tag ? max_frame - 14'(TagBytes) : max_frame;
    plan.one = len <= 16'(UnitBytes);
    plan.two = len <= 16'(2 * UnitBytes);
    first = place_t'(place + 1) + (plan.one ? place_t'(tail(len[6:0])) : place_t'(Full));
    plan.after = {first[4], first[2:0]};
    plan.second = place_t'(place + 1) + (plan.two ? place_t'(tail(len[6:0])) : place_t'(Full));
    plan.act = act_of(first, end_, ends);
    if (len == '0) plan.act = Empty;
    if (len > {2'b00, longest} || len > 16'(StreamFrame) || (has_tag && len < 16'(AddrBytes) && len != '0))
      plan.act = Bad;
    if (here_t'(place) >= end_) plan.act = Done;
    if (fail) plan.act = Bad;
    return plan;
  endfunction

  tx_unit_t unit;
  assign unit = in.data;

  // ---- The row at hand (a), with the plans for its places, and the next (b).
  ram_row_t a_data_q, b_data_q;
  mark_t a_q, b_q;
  plan_t [Segs-1:0] plans_q;
  logic a_valid_q, b_valid_q, pop;
  logic out_valid_q, out_ready;
  wire shift = b_valid_q && (!a_valid_q || pop);
  wire idle = !a_valid_q && !b_valid_q && !out_valid_q;
  wire accept = in.valid && unit.stream && (!b_valid_q || shift);
  assign in.ready = unit.stream ? !b_valid_q || shift : idle && frame.ready;

  always_ff @(posedge clk_i) begin
    if (shift) begin
      a_data_q <= b_data_q;
      a_q <= b_q;
      for (int i = 0; i < Segs; i++) begin
        desc_t head;
        head = b_data_q[i];
        plans_q[i] <= plan_of(
            i, head.len, b_q.end_, b_q.ends, b_q.fail, Vlan && head.vlan, max_frame_i
        );
      end
    end
    if (accept) begin
      b_data_q <= unit.beat.data;
      b_q <= '{
          end_: here_t'((unit.beat.len + 8'd15) >> 4),
          from : unit.from,
          eop: unit.beat.eop,
          ends: unit.ends,
          fail: unit.fail
      };
    end
    a_valid_q <= shift || (a_valid_q && !pop);
    b_valid_q <= accept || (b_valid_q && !shift);
    if (rst_i) begin
      a_valid_q <= 1'b0;
      b_valid_q <= 1'b0;
    end
  end

  // ---- What is done with it.
  typedef enum logic [1:0] {
    Head,
    Body,
    Skip   // to the end of the turn
  } state_e;
  state_e state_q;
  logic begins_q;  // the next row begins a turn
  here_t at_q;  // Head: the head's place; Body: the next byte's, Full where that is in the next row
  logic [12:0] left_q;  // Body: bytes still to come,
  place_t stop_q;  // where those of the next beat end,
  logic last_q;  // and whether they are all
  // A beat went into the last row of its turn, or one that failed: whether it is whole is seen a clock later.
  logic check_q;
  logic broken_q, aborted_q;
  logic [7:0] frames_q;
  logic [13:0] bytes_q;
  logic [12:0] length_q;  // of the frame at hand
  wide_beat_t out_q;
  tx_csum_t csum_q;

  plan_t plan;
  desc_t head;
  assign plan = plans_q[at_q[2:0]];
  assign head = a_data_q[at_q[2:0]];
  wire  in_body = state_q == Body;
  act_e act;
  always_comb begin
    act = in_body ? act_of(stop_q, a_q.end_, a_q.ends) : at_q[3] ? Done : plan.act;
    if (state_q == Skip) act = Done;
  end
  wire last = in_body ? last_q : plan.one;
  wire here_t start = in_body ? at_q : at_q + 1'b1;
  logic token_room_q;
  wire may_pop = !a_q.eop || token_room_q;
  wire active = a_valid_q && !check_q;
  assign pop = active && may_pop &&
      (act == Done || (out_ready && (act == Pop || (act == Cross && b_valid_q))));
  wire cut_off = active && in_body && act == Bad && out_ready;  // it ends here, with an error
  wire whole = active && out_ready &&
      (act == Stay || (may_pop && (act == Pop || (act == Cross && b_valid_q))));
  wire emit = whole || cut_off;
  wire ends_frame = last || cut_off;
  wire turn_begins = a_valid_q ? pop && a_q.ends : begins_q;
  wire over = check_q && (a_q.fail || at_q > a_q.end_);
  wire breaks = over || cut_off || (active && !in_body && act == Bad);

  always_ff @(posedge clk_i) begin
    if (whole) begin
      state_q <= last ? Head : Body;
      at_q <= !last ? start : in_body ? {stop_q[4], stop_q[2:0]} : plan.after;
      left_q <= {
        (in_body ? left_q[12:7] : head.len[12:7]) - 6'd1, in_body ? left_q[6:0] : head.len[6:0]
      };
      last_q <= in_body ? left_q <= 13'(2 * UnitBytes) : plan.two;
      stop_q <= !in_body ? plan.second :
          place_t'(at_q) + (left_q <= 13'(2 * UnitBytes) ? place_t'(tail(
          left_q[6:0]
      )) : place_t'(Full));
    end else if (pop) at_q <= '0;
    if (breaks || (active && act == Empty)) state_q <= Skip;
    if (breaks) broken_q <= 1'b1;
    if (pop && a_q.ends) begin
      state_q  <= Head;
      broken_q <= 1'b0;
    end
    if (shift && turn_begins) at_q <= here_t'(b_q.from);
    begins_q <= turn_begins && !shift;
    check_q  <= whole && act == Cross && (b_q.ends || b_q.fail);
    if (rst_i) begin
      state_q  <= Head;
      begins_q <= 1'b1;
      check_q  <= 1'b0;
      broken_q <= 1'b0;
    end
  end

  // ---- The beat: from place `start` on, of this row and the next.
  ram_row_t turned;
  logic [2*Segs-1:0][SegW-1:0] both;
  always_comb begin
    if (`WORTH(emit)) begin
      both = {b_data_q, a_data_q};
      for (int i = 0; i < Segs; i++) begin
        turned[i] = both[i+Full];
        for (int s = 1; s < Full; s++) if (start[2:0] == 3'(s)) turned[i] = both[i+s];
      end
    end
  end
  assign out_ready = !out_valid_q || frame.ready;

  always_ff @(posedge clk_i) begin
    if (check_q) begin
      if (over) begin
        out_valid_q <= !out_q.sop;
        out_q.eop   <= 1'b1;
        out_q.err   <= 1'b1;
      end
    end else if (out_ready) begin
      out_valid_q <= emit;
      if (`WORTH(emit)) begin
        out_q <= '{
            data: turned,
            len: !last ? 8'(UnitBytes) : in_body ? left_q[7:0] : head.len[7:0],
            sop: !in_body,
            eop: ends_frame,
            err: cut_off
        };
      end
      if (emit && !in_body) csum_q <= command_of(head, Vlan);
    end
    if (rst_i) out_valid_q <= 1'b0;
  end

  assign frame.valid = (out_valid_q && !check_q) || (idle && in.valid && !unit.stream);
  `STREAM_DATA(frame, out_valid_q ? out_q : unit.beat)
  assign csum_o = out_valid_q ? csum_q : unit.csum;

  // ---- Tokens, a clock after the row's last beat, when that was seen to be whole.
  `STREAM(tx_token_t, told)
  logic due_q, due_broken_q;
  logic [$clog2(TokenDepth+1)-1:0] waiting;
  wire [7:0] frames = over ? frames_q + 8'(!out_q.sop) - 8'(out_q.eop) : frames_q;
  wire [12:0] length = in_body ? length_q : head.len[12:0];
  // What was told of a frame that turned out not to be whole is taken back.
  wire [13:0] bytes = over && out_q.eop ? bytes_q - 14'(length_q) : bytes_q;
  assign told.valid = due_q;
  assign told.data = '{
          frames: frames,
          bytes: bytes,
          aborted: aborted_q || (over && !out_q.sop),
          broken: due_broken_q
      };
  fifo #(
      .T(tx_token_t),
      .Depth(TokenDepth)
  ) i_token (
      .clk_i,
      .rst_i,
      .in(told),
      .out(token),
      .count_o(waiting)
  );

  always_ff @(posedge clk_i) begin
    if (emit) length_q <= length;
    bytes_q <= bytes + (whole && last ? 14'(length) : '0);
    due_q <= pop && a_q.eop;
    due_broken_q <= broken_q || a_q.fail;
    token_room_q <= 32'(waiting) + 3 < TokenDepth;
    frames_q <= over ? frames : frames_q + 8'(emit && ends_frame);
    if (cut_off || (over && !out_q.sop && !due_q)) aborted_q <= 1'b1;
    else if (due_q) aborted_q <= 1'b0;
    if (rst_i) begin
      due_q <= 1'b0;
      token_room_q <= 1'b0;
      aborted_q <= 1'b0;
      frames_q <= '0;
      bytes_q <= '0;
    end
  end
  wire unused = &{1'b0, head};

  `ASSERT(RowsAreFull, a_valid_q && !a_q.ends && !a_q.fail |-> a_q.end_ == here_t'(Full))
  `ASSERT(TurnEndsPiece, a_valid_q && a_q.ends |-> a_q.eop)
  `ASSERT(TokenHasRoom, told.valid |-> told.ready)
endmodule
