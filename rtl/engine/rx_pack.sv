// SPDX-License-Identifier: Apache-2.0
`include "assert.svh"
`include "stream.svh"
/// Gathers small frames of stream queues, so that those next to each other in a ring leave as one DMA write.
///
/// A `piece` is a frame with its record, in one row of the packet RAM (rx_buffer). It is moved into a line of up to 256 bytes: that in which
/// its queue's last one lies, if it comes right below that in the ring and there is room, else a new one. Lines leave in the order
/// in which they were begun, as soon as `dma` takes them: nothing waits for company, but what the link keeps waiting finds it. What is
/// not a frame's own of the last granule it begins in is filled with anything of that frame.
/// One piece and one request a clock, whatever the queues; latency 8 clocks. Full back-pressure, also from other reads of
/// the packet RAM (`row_ready_i`). `moved_o` tells, in order, that a piece is no longer needed there. Up to `Lines` lines wait
/// or are being written; of queues that agree in all bits of a hint the one served last has it. Reset forgets everything.
module rx_pack
  import dma_pkg::*, queue_pkg::*, engine_pkg::*;
#(
    parameter int Lines = 128,  // a power of two
    parameter int Hints = 256,  // queues whose last line is known, a power of two
    parameter ram_sel_t Sel = '0
) (
    input logic clk_i,
    input logic rst_i,

    // Pieces from rx_engine.
           stream_if.snk piece,   // rx_piece_t
    output logic         moved_o,

    // Rows of the packet RAM, RamReadLatency clocks after they were asked for.
    output logic      row_valid_o,
    output row_addr_t row_addr_o,
    input  logic      row_ready_i,
    input  ram_row_t  row_i,

    // DMA write engine; only statuses with the own `Sel` count.
           stream_if.src dma,       // dma_req_t
    input  dma_status_t  status_i,
    input  ram_read_t    ram_i,
    output ram_row_t     ram_o
);
  localparam int LineRows = 2;
  localparam int LineGranules = LineRows * RowBytes / GranuleBytes;
  localparam int LineW = $clog2(Lines);
  localparam int HintW = $clog2(Hints);
  localparam int SendDepth = 4;
  if (Lines < 4 || 2 ** LineW != Lines || Lines * LineRows * RowBytes > 2 ** RamAddrW ||
      2 ** HintW != Hints) begin : g_bad_parameter
    $fatal(1, "rx_pack: Lines %0d (from 4) and Hints %0d are powers of two", Lines, Hints);
  end
  if (RamReadLatency != 2) begin : g_bad_latency
    $fatal(1, "rx_pack: a row comes two clocks after it was asked for, not %0d", RamReadLatency);
  end

  typedef logic [LineW-1:0] line_t;
  typedef logic [LineW:0] turn_t;  // of a line, modulo twice their number
  typedef logic [HintW-1:0] hint_t;
  typedef logic [4:0] fill_t;  // granules of a line

  // ---- Two stages: look up the line the queue used last, then choose the line.
  rx_piece_t look_q, pick_q;
  logic look_valid_q, pick_valid_q, fresh_q, go, opens;
  logic [59:0] below_q;  // where the ring goes on behind the piece
  fill_t granules_q;
  line_t hint_ram, hint_known, hint_q, written_line_q, line;
  fill_t filled_q, filling;  // of the line in hint_q
  logic meets_q;  // that line still takes pieces, and this one comes right below what it has
  logic send;  // the oldest of them leaves
  turn_t head_q, tail_q, next_q;
  wire line_t head = head_q[LineW-1:0];
  logic changes;  // a next piece looks at the line that this one moves into
  logic [59:0] below[Lines];
  fill_t filled[Lines];
  logic [Lines-1:0] live_q;  // takes pieces
  wire step = !pick_valid_q || go;
  wire fill_t granules = fill_t'((look_q.dws + 6'd3) >> 2);
  assign piece.ready = step;

  ram_sdp #(
      .Width(LineW),
      .Depth(Hints)
  ) i_hint (
      .clk_i,
      .we_i(go && opens),
      .waddr_i(hint_t'(pick_q.queue)),
      .wdata_i(line),
      .re_i(step && piece.valid),
      .raddr_i(hint_t'(piece.data.queue)),
      .rdata_o(hint_ram)
  );

  // The RAM does not show the write of this clock, nor that of the clock in which it was read.
  assign hint_known = fresh_q ? written_line_q : hint_ram;
  wire follows = pick_valid_q && hint_t'(pick_q.queue) == hint_t'(look_q.queue);

  always_ff @(posedge clk_i) begin
    if (step) begin
      look_valid_q <= piece.valid;
      fresh_q <= pick_valid_q && opens && hint_t'(pick_q.queue) == hint_t'(piece.data.queue);
      written_line_q <= line;
      look_q <= piece.data;
      pick_valid_q <= look_valid_q;
      pick_q <= look_q;
      below_q <= look_q.place - 60'(granules);
      granules_q <= granules;
      hint_q <= follows ? line : hint_known;
      meets_q <= changes ? below_q == look_q.place :
          below[hint_known] == look_q.place && live_q[hint_known] && !(send && hint_known == head);
      filled_q <= changes ? filling : filled[hint_known];
    end else if (send && hint_q == head) meets_q <= 1'b0;
    if (rst_i) begin
      look_valid_q <= 1'b0;
      pick_valid_q <= 1'b0;
    end
  end

  // ---- Lines, used in turn: from head_q on they take pieces, from tail_q on they are being written.
  logic [1:0] skip[Lines];  // Dwords of the lowest granule that belong to no frame
  wire turn_t span = next_q - head_q;
  wire turn_t used = next_q - tail_q;
  wire fill_t together = filled_q + granules_q;

  wire fill_t most = fill_t'(LineGranules);
  wire joins = meets_q && together <= most && !(send && hint_q == head);
  wire may_open = used != turn_t'(Lines);
  assign opens = !joins;
  assign line = opens ? next_q[LineW-1:0] : hint_q;
  assign row_valid_o = pick_valid_q && (may_open || joins);
  assign row_addr_o = pick_q.row;
  assign go = row_valid_o && row_ready_i;
  assign filling = opens ? granules_q : together;
  wire known_opens = hint_known == next_q[LineW-1:0], known_joins = hint_known == hint_q;
  assign changes = pick_valid_q && (follows || (opens ? known_opens : known_joins));
  wire ended = status_i.valid && status_i.sel == Sel;

  always_ff @(posedge clk_i) begin
    moved_o <= go && !rst_i;
    if (go) begin
      below[line]  <= below_q;
      filled[line] <= filling;
      skip[line]   <= -pick_q.dws[1:0];
    end
    next_q <= next_q + turn_t'(go && opens);
    head_q <= head_q + turn_t'(send);
    tail_q <= tail_q + turn_t'(ended);
    if (send) live_q[head] <= 1'b0;
    if (go && opens) live_q[line] <= 1'b1;
    if (rst_i) {live_q, next_q, head_q, tail_q} <= '0;
  end

  // ---- Moving: a row is read, turned so that the record ends where the piece above begins, and stored by granules.
  typedef struct packed {
    logic       valid;
    line_t      line;
    logic [3:0] low;    // granules of the line from here
    fill_t      high;   // to below here
    logic [4:0] turn;   // Dwords
  } move_t;
  typedef struct packed {
    logic       valid;
    line_t      line;
    fill_t      filling;
    fill_t      granules;
    logic [4:0] dws;
  } begun_t;
  begun_t begun_q;
  move_t placed, arrived_q, stored_q;
  logic [4:0] turn_n_q;
  logic [RowBytes/4-1:0][31:0] turned, turned_q;
  wire fill_t low = most - begun_q.filling;
  assign placed = '{
          valid: begun_q.valid,
          line: begun_q.line,
          low: low[3:0],
          high: low + begun_q.granules,
          turn: {low[2:0] + begun_q.granules[2:0], 2'b00} - begun_q.dws
      };
  rotate #(
      .Lanes(RowBytes / 4),
      .LaneBits(32)
  ) i_turn (
      .valid_i (arrived_q.valid),
      .turn_i  (arrived_q.turn),
      .turn_n_i(turn_n_q),
      .data_i  (row_i),
      .data_o  (turned)
  );
  always_ff @(posedge clk_i) begin
    begun_q   <= '{go, line, filling, granules_q, pick_q.dws[4:0]};
    arrived_q <= placed;
    turn_n_q  <= ~placed.turn;
    stored_q  <= arrived_q;
    if (arrived_q.valid) turned_q <= turned;
    if (rst_i) begin
      begun_q.valid   <= 1'b0;
      arrived_q.valid <= 1'b0;
      stored_q.valid  <= 1'b0;
    end
  end

  logic [Segs-1:0] we;
  logic [Segs-1:0][LineW:0] waddr;
  always_comb begin
    for (int s = 0; s < Segs; s++) begin
      // Of the two granules of the line that lie in the segment the one that is meant, if any.
      automatic logic  second = 4'(s) < stored_q.low;
      automatic fill_t at = {1'b0, second, 3'(s)};
      we[s] = stored_q.valid && at >= {1'b0, stored_q.low} && at < stored_q.high;
      waddr[s] = {stored_q.line, second};
    end
  end
  seg_ram_read #(
      .Rows(Lines * LineRows),
      .Sel (Sel)
  ) i_ram (
      .clk_i,
      .rst_i,
      .we_i(we),
      .waddr_i(waddr),
      .wdata_i(turned_q),
      .ram_i,
      .ram_o
  );

  // ---- Sending: the pieces are in the RAM before the request is out of the FIFO, two clocks behind this register.
  `STREAM(dma_req_t, send_in)
  logic send_valid_q;
  logic [59:0] send_below_q;
  fill_t send_fill_q;
  line_t send_line_q;
  logic [1:0] send_skip_q;
  logic [$clog2(SendDepth+1)-1:0] sends;
  wire [59:0] send_place = send_below_q + 60'd1;
  wire fill_t send_low = most - send_fill_q;
  logic send_room_q;
  assign send = next_q != head_q && send_room_q;
  always_ff @(posedge clk_i) begin
    send_valid_q <= send && !rst_i;
    send_room_q <= 32'(sends) + 32'(send_valid_q) + 32'(send) - 32'(dma.valid && dma.ready) < SendDepth;
    send_line_q <= head;
    send_below_q <= below[head];
    send_fill_q <= filled[head];
    send_skip_q <= skip[head];
  end
  assign send_in.valid = send_valid_q;
  assign send_in.data = '{
          host_addr: {send_place, send_skip_q, 2'b00},
          sel: Sel,
          ram_addr: ram_addr_t'({send_line_q, send_low[3:0], send_skip_q, 2'b00}),
          len: 16'({send_fill_q, 4'd0}) - 16'({send_skip_q, 2'b00}),
          relaxed: 1'b0
      };
  fifo #(
      .T(dma_req_t),
      .Depth(SendDepth)
  ) i_send (
      .clk_i,
      .rst_i,
      .in(send_in),
      .out(dma),
      .count_o(sends)
  );

  `ASSERT(FitsARow, piece.valid |-> piece.data.dws > 6'd4 && 32'(piece.data.dws) <= RowBytes / 4)
  `ASSERT(SendHasRoom, send_valid_q |-> send_in.ready)
  `ASSERT(StatusExpected, ended |-> tail_q != head_q)
  `ASSERT(LinesInOrder, used <= turn_t'(Lines) && span <= used)
endmodule
