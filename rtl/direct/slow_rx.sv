// SPDX-License-Identifier: Apache-2.0
`include "assert.svh"
/// Frames from the input FIFOs of the slow path to host memory: a receive ring for each class (direct-router paper, III-A
/// slow path, III-C channel ii).
///
/// One thing after the other on the DMA channel: read descriptors (up to 8 at once, when few are left), write the frame,
/// then bytes 8-15 of its descriptor (see systems/direct_router/direct_router.rdl). Class 0 goes first at each frame. A
/// frame waits in its FIFO while its ring has no descriptor; other classes go on. A frame longer than the buffer at hand is
/// dropped (`too_long_o`), the descriptor kept. A transfer that fails (`bus_error_o`) stops its ring (`error_o`) until it is
/// turned off and on; its frame is lost. The words of a frame must come without a gap once the first is there. Turning a
/// ring off takes effect after the transfer under way.
module slow_rx
  import direct_pkg::*, route_pkg::*;
  import channel_pkg::*;
#(
    parameter int Classes = 2
) (
    input logic clk_i,
    input logic rst_i,

    // Settings and state of the rings: descriptors done, and stopped.
    input  ring_t        ring_i    [Classes],
    output logic  [15:0] consumer_o[Classes],
    output logic         error_o   [Classes],

    // Frames in stored form (stored_word_t).
    stream_if.snk frame[Classes],

    // DMA channel.
    stream_if.src cmd,
    stream_if.src wdata,
    stream_if.snk rdata,
    stream_if.snk done,

    // One clock each time: frame in memory, frame dropped, transfer failed.
    output logic frame_o,
    output logic too_long_o,
    output logic bus_error_o
);
  localparam int Cached = 8;  // descriptors held of each ring
  localparam int ClassW = Classes > 1 ? $clog2(Classes) : 1;

  if (Classes < 1 || Classes > MaxClasses) begin : g_bad_classes
    $fatal(1, "slow_rx: Classes %0d is not 1 ... 4", Classes);
  end

  typedef struct packed {
    logic [63:0] addr;
    logic [12:0] words;
  } descriptor_t;

  typedef enum logic [2:0] {
    Idle,
    ReadDescriptors,
    Look,  // at the frame's header
    WriteFrame,
    WriteDone,
    Drain
  } state_e;

  state_e state_q;
  logic [ClassW-1:0] cls_q;
  channel_cmd_t cmd_q;
  logic cmd_valid_q, word_valid_q;
  logic [63:0] word_q;
  logic [3:0] fill_q;  // descriptor words received
  logic [3:0] count_q;  // descriptors asked for
  descriptor_t descriptors[2**ClassW*Cached];
  logic [15:0] consumer_q[Classes], fetched_q[Classes];
  logic [Classes-1:0] error_q;
  logic frame_q, too_long_q, bus_error_q;

  // ---------------------------------------------------------------- what to do next
  logic [Classes-1:0] frame_valid, take;
  stored_word_t frame_data[Classes];
  for (genvar c = 0; c < Classes; c++) begin : g_class
    assign frame_valid[c] = frame[c].valid;
    assign frame_data[c] = frame[c].data;
    assign frame[c].ready = take[c];
    assign consumer_o[c] = consumer_q[c];
    assign error_o[c] = error_q[c];
  end

  logic serve, fetch;
  logic [ClassW-1:0] choice;
  always_comb begin
    serve  = 1'b0;
    fetch  = 1'b0;
    choice = '0;
    // Descriptors for later, when nothing else is to do.
    for (int c = Classes - 1; c >= 0; c--) begin
      if (ring_i[c].enable && !error_q[c] && fetched_q[c] - consumer_q[c] <= 16'(Cached / 2) &&
          ring_i[c].producer != fetched_q[c]) begin
        fetch  = 1'b1;
        choice = ClassW'(c);
      end
    end
    for (int c = Classes - 1; c >= 0; c--) begin
      if (frame_valid[c] && ring_i[c].enable && !error_q[c] && ring_i[c].producer != consumer_q[c]) begin
        choice = ClassW'(c);
        serve  = fetched_q[c] != consumer_q[c];
        fetch  = !serve;
      end
    end
  end

  // Descriptors to read: as many as there are, fit here, and lie before the ring's end.
  ring_t ring;
  logic [15:0] todo, free, to_end, fetch_slot;
  logic [3:0] count;
  assign ring = ring_i[choice];
  assign todo = ring.producer - fetched_q[choice];
  assign free = 16'(Cached) - (fetched_q[choice] - consumer_q[choice]);
  assign fetch_slot = fetched_q[choice] & ((16'd1 << ring.log_size) - 16'd1);
  assign to_end = (16'd1 << ring.log_size) - fetch_slot;
  always_comb begin
    count = free[3:0];
    if (todo < 16'(count)) count = todo[3:0];
    if (to_end < 16'(count)) count = to_end[3:0];
  end

  // ---------------------------------------------------------------- the frame at hand
  packet_header_t header;
  assign header = frame_data[cls_q].data;
  wire [12:0] words = 13'((17'(header.bytes) + 17'd7) >> 3);
  logic [15:0] bytes_q;
  wire [ClassW+2:0] fetch_place = {cls_q, 3'(fetched_q[cls_q][2:0] + fill_q[3:1])};
  wire [15:0] consumer = consumer_q[cls_q];
  descriptor_t now;
  assign now = descriptors[{cls_q, consumer[2:0]}];
  wire [15:0] now_slot = consumer & ((16'd1 << ring_i[cls_q].log_size) - 16'd1);
  wire [63:0] now_addr = ring_i[cls_q].base + 64'({now_slot, 4'd0});
  wire fits = words <= now.words;

  // ---------------------------------------------------------------- transfers: over when all words and the result came
  logic moved, over, failed;
  assign rdata.ready = 1'b1;
  wire writing = state_q == WriteFrame && !moved;
  wire take_last = frame_valid[cls_q] && take[cls_q] && frame_data[cls_q].last;
  wire last = (rdata.valid && rdata.data.last) || (writing && take_last) || state_q == WriteDone;
  wire busy = state_q == ReadDescriptors || state_q == WriteFrame || state_q == WriteDone;
  transfer_end i_end (
      .clk_i,
      .rst_i,
      .busy_i  (busy),
      .last_i  (last),
      .done,
      .moved_o (moved),
      .over_o  (over),
      .failed_o(failed)
  );

  always_comb begin
    take = '0;
    take[cls_q] = state_q == Look || (writing && wdata.ready) || state_q == Drain;
  end
  assign cmd.valid   = cmd_valid_q;
  assign cmd.data    = cmd_q;
  assign wdata.valid = word_valid_q || (writing && frame_valid[cls_q]);
  assign wdata.data  = word_valid_q ? word_q : frame_data[cls_q].data;

  // ---------------------------------------------------------------- the sequence
  always_ff @(posedge clk_i) begin
    frame_q <= 1'b0;
    too_long_q <= 1'b0;
    bus_error_q <= over && failed;
    if (cmd.ready) cmd_valid_q <= 1'b0;
    if (wdata.ready) word_valid_q <= 1'b0;
    if (over && failed) error_q[cls_q] <= 1'b1;

    case (state_q)
      Idle: begin
        cls_q  <= choice;
        fill_q <= '0;
        for (int c = 0; c < Classes; c++) begin
          if (!ring_i[c].enable) begin
            consumer_q[c] <= '0;
            fetched_q[c] <= '0;
            error_q[c] <= 1'b0;
          end
        end
        if (serve) state_q <= Look;
        else if (fetch) begin
          cmd_q <= '{
              read: 1'b1,
              fixed: 1'b0,
              addr: ring.base + 64'({fetch_slot, 4'd0}),
              bytes: {8'd0, count, 4'd0}
          };
          cmd_valid_q <= 1'b1;
          count_q <= count;
          state_q <= ReadDescriptors;
        end
      end
      ReadDescriptors: begin
        if (rdata.valid) begin
          fill_q <= fill_q + 1'b1;
          if (fill_q[0]) descriptors[fetch_place].words <= rdata.data.data[15:3];
          else descriptors[fetch_place].addr <= rdata.data.data;
        end
        if (over) begin
          if (!failed) fetched_q[cls_q] <= fetched_q[cls_q] + 16'(count_q);
          state_q <= Idle;
        end
      end
      Look: begin
        bytes_q <= header.bytes;
        if (fits) begin
          cmd_q <= '{read: 1'b0, fixed: 1'b0, addr: now.addr, bytes: {words, 3'd0}};
          cmd_valid_q <= 1'b1;
          state_q <= WriteFrame;
        end else begin
          too_long_q <= 1'b1;
          state_q <= Drain;
        end
      end
      WriteFrame:
      if (over) begin
        cmd_q <= '{read: 1'b0, fixed: 1'b0, addr: now_addr + 64'd8, bytes: 16'd8};
        word_q <= slow_info_t'{done: 1'b1, cls: class_t'(cls_q), bytes: bytes_q, default: '0};
        cmd_valid_q <= !failed;
        word_valid_q <= !failed;
        state_q <= failed ? Idle : WriteDone;
      end
      WriteDone:
      if (over) begin
        consumer_q[cls_q] <= consumer_q[cls_q] + 16'd1;
        frame_q <= !failed;
        state_q <= Idle;
      end
      Drain:   if (take_last) state_q <= Idle;
      default: state_q <= Idle;
    endcase

    if (rst_i) begin
      state_q <= Idle;
      cmd_valid_q <= 1'b0;
      word_valid_q <= 1'b0;
      for (int c = 0; c < Classes; c++) begin
        consumer_q[c] <= '0;
        fetched_q[c]  <= '0;
      end
      error_q <= '0;
    end
  end

  assign frame_o = frame_q;
  assign too_long_o = too_long_q;
  assign bus_error_o = bus_error_q;

  `ASSERT(WordsAreWanted, rdata.valid |-> state_q == ReadDescriptors)
  `ASSERT(ResultIsWanted, done.valid |-> busy)
  `ASSERT(HeaderFirst, state_q == Look |-> header.kind == Packet && !frame_data[cls_q].last)
endmodule
