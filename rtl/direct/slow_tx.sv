// SPDX-License-Identifier: Apache-2.0
`include "assert.svh"
/// Frames from host memory to the output FIFO: one transmit ring (direct-router paper, III-A slow path, III-C channel i).
///
/// Reads up to `prefetch_i` descriptors, then the frame of each, one read after the other, so a frame costs two read
/// latencies when that is 1 (the paper). A frame is kept in a buffer of its own until all of it has come without error,
/// then handed on in stored form, one word a clock, under back-pressure; a read waits until the buffer has room. Class 0 in
/// its header. Descriptors of no or more than 9216 bytes or at an address that is no multiple of 8 are skipped
/// (`bad_o`). A frame whose read failed is dropped (`bus_error_o`); a failed descriptor read stops the ring
/// (`error_o`) until it is turned off and on. The consumer count is written to `status_addr_i` every `writeback_i`
/// descriptors and when the ring is empty. Turning the ring off takes effect after the transfer under way.
module slow_tx
  import direct_pkg::*;
  import channel_pkg::*;
#(
    parameter int BufferWords = 2048  // at least 1153: header and words of the longest frame
) (
    input logic clk_i,
    input logic rst_i,

    // Settings.
    input ring_t        ring_i,
    input logic  [ 3:0] prefetch_i,    // 1 ... 8
    input logic  [ 7:0] writeback_i,
    input logic  [63:0] status_addr_i,

    // State: descriptors done, and stopped.
    output logic [15:0] consumer_o,
    output logic        error_o,

    // DMA channel.
    stream_if.src cmd,
    stream_if.src wdata,
    stream_if.snk rdata,
    stream_if.snk done,

    // Frames in stored form.
    stream_if.src out,

    // One clock each time: frame whole, descriptor skipped, transfer failed, consumer written.
    output logic frame_o,
    output logic bad_o,
    output logic bus_error_o,
    output logic written_o
);
  localparam int PtrW = $clog2(BufferWords);
  localparam int MaxBytes = 9216;
  localparam int MaxPrefetch = 8;

  if (BufferWords < MaxBytes / 8 + 1 || BufferWords != 2 ** PtrW) begin : g_bad_buffer
    $fatal(1, "slow_tx: BufferWords %0d is no power of two from 1153 on", BufferWords);
  end

  typedef struct packed {
    logic [63:0] addr;
    logic [15:0] bytes;
  } descriptor_t;

  typedef enum logic [2:0] {
    Idle,
    ReadDescriptors,
    Check,
    ReadFrame,
    WriteStatus
  } state_e;

  state_e state_q;
  channel_cmd_t cmd_q;
  logic cmd_valid_q, word_valid_q;
  descriptor_t descriptors[MaxPrefetch];
  logic [3:0] held_q;  // descriptors held; the next one is number next_q
  logic [2:0] next_q;
  logic [3:0] fill_q;  // descriptor words received
  logic [15:0] consumer_q, written_q;
  logic error_q, frame_q, bad_q, bus_error_q, status_q;

  // ---------------------------------------------------------------- what to do next
  wire  [15:0] todo = ring_i.producer - consumer_q;
  wire  [15:0] size = 16'd1 << ring_i.log_size;
  wire  [15:0] slot = consumer_q & (size - 16'd1);
  wire  [15:0] to_end = size - slot;
  logic [ 3:0] fetch;
  always_comb begin
    fetch = (prefetch_i == '0) ? 4'd1 : (prefetch_i > 4'd8) ? 4'd8 : prefetch_i;
    if (todo < 16'(fetch)) fetch = todo[3:0];
    if (to_end < 16'(fetch)) fetch = to_end[3:0];
  end
  wire work = !error_q && todo != '0;
  wire [15:0] unwritten = consumer_q - written_q;
  wire write_due = unwritten != '0 && (!work || unwritten >= 16'(writeback_i));

  descriptor_t now;
  assign now = descriptors[next_q];
  wire [12:0] words = 13'((17'(now.bytes) + 17'd7) >> 3);
  wire bad = now.bytes == '0 || now.bytes > 16'(MaxBytes) || now.addr[2:0] != '0;

  // ---------------------------------------------------------------- transfers: over when all words and the result came
  logic over, failed;
  assign rdata.ready = 1'b1;
  wire busy = state_q == ReadDescriptors || state_q == ReadFrame || state_q == WriteStatus;
  transfer_end i_end (
      .clk_i,
      .rst_i,
      .busy_i  (busy),
      .last_i  ((rdata.valid && rdata.data.last) || state_q == WriteStatus),
      .done,
      .moved_o (),
      .over_o  (over),
      .failed_o(failed)
  );

  assign cmd.valid = cmd_valid_q;
  assign cmd.data = cmd_q;
  assign wdata.valid = word_valid_q;
  assign wdata.data = 64'(consumer_q);

  // ---------------------------------------------------------------- buffer: what lies before commit_q is whole
  logic [63:0] mem[BufferWords];
  logic [PtrW:0] write_q, commit_q, read_q;
  packet_header_t header;
  assign header = '{kind: Packet, unused: '0, cls: '0, bytes: now.bytes};
  wire room = (PtrW + 1)'(words) < (PtrW + 1)'(BufferWords) - (commit_q - read_q);
  wire put_header = state_q == Check && held_q != '0 && ring_i.enable && !bad && room;
  wire put_word = state_q == ReadFrame && rdata.valid;
  wire whole = state_q == ReadFrame && over && !failed;

  logic [63:0] head_q;
  logic head_full_q, head_is_header_q;
  logic [12:0] left_q;  // words of the frame after the head; counts from the header when that is the head
  wire packet_header_t head_header = head_q;
  wire [12:0] left = head_is_header_q ? 13'((17'(head_header.bytes) + 17'd7) >> 3) : left_q;
  wire pop = commit_q != read_q && (!head_full_q || out.ready);
  wire between = !head_full_q || left == '0;  // the next word is a header
  assign out.valid = head_full_q;
  assign out.data  = '{data: head_q, last: !head_is_header_q && left_q == '0};

  always_ff @(posedge clk_i) begin
    if (put_header || put_word) mem[write_q[PtrW-1:0]] <= put_header ? header : rdata.data.data;
    if (put_header || put_word) write_q <= write_q + 1'b1;
    if (whole) commit_q <= write_q + (PtrW + 1)'(put_word);
    else if (state_q == ReadFrame && over) write_q <= commit_q;

    if (pop) begin
      head_q <= mem[read_q[PtrW-1:0]];
      read_q <= read_q + 1'b1;
      head_is_header_q <= between;
      left_q <= left - 13'd1;
    end
    head_full_q <= pop || (head_full_q && !out.ready);

    if (rst_i) begin
      write_q <= '0;
      commit_q <= '0;
      read_q <= '0;
      head_full_q <= 1'b0;
      head_is_header_q <= 1'b0;
      left_q <= '0;
    end
  end

  // ---------------------------------------------------------------- the sequence
  always_ff @(posedge clk_i) begin
    frame_q <= whole;
    bad_q <= 1'b0;
    bus_error_q <= over && failed;
    status_q <= 1'b0;
    if (cmd.ready) cmd_valid_q <= 1'b0;
    if (wdata.ready) word_valid_q <= 1'b0;

    case (state_q)
      Idle: begin
        next_q <= '0;
        fill_q <= '0;
        if (!ring_i.enable) begin
          consumer_q <= '0;
          written_q <= '0;
          error_q <= 1'b0;
        end else if (write_due) begin
          cmd_q <= '{read: 1'b0, fixed: 1'b0, addr: status_addr_i, bytes: 16'd8};
          cmd_valid_q <= 1'b1;
          word_valid_q <= 1'b1;
          state_q <= WriteStatus;
        end else if (work) begin
          cmd_q <= '{
              read: 1'b1,
              fixed: 1'b0,
              addr: ring_i.base + 64'({slot, 4'd0}),
              bytes: {8'd0, fetch, 4'd0}
          };
          cmd_valid_q <= 1'b1;
          held_q <= fetch;
          state_q <= ReadDescriptors;
        end
      end
      ReadDescriptors: begin
        if (rdata.valid) begin
          fill_q <= fill_q + 1'b1;
          if (fill_q[0]) descriptors[fill_q[3:1]].bytes <= rdata.data.data[15:0];
          else descriptors[fill_q[3:1]].addr <= rdata.data.data;
        end
        if (over) begin
          if (failed) error_q <= 1'b1;
          state_q <= failed ? Idle : Check;
        end
      end
      Check: begin
        if (held_q == '0 || !ring_i.enable) state_q <= Idle;
        else if (bad) begin
          bad_q <= 1'b1;
          consumer_q <= consumer_q + 1'b1;
          next_q <= next_q + 1'b1;
          held_q <= held_q - 1'b1;
        end else if (room) begin
          cmd_q <= '{read: 1'b1, fixed: 1'b0, addr: now.addr, bytes: {words, 3'd0}};
          cmd_valid_q <= 1'b1;
          state_q <= ReadFrame;
        end
      end
      ReadFrame:
      if (over) begin
        consumer_q <= consumer_q + 1'b1;
        next_q <= next_q + 1'b1;
        held_q <= held_q - 1'b1;
        state_q <= (held_q == 4'd1) ? Idle : Check;
      end
      WriteStatus:
      if (over) begin
        written_q <= consumer_q;
        status_q  <= 1'b1;
        state_q   <= Idle;
      end
      default: state_q <= Idle;
    endcase

    if (rst_i) begin
      state_q <= Idle;
      cmd_valid_q <= 1'b0;
      word_valid_q <= 1'b0;
      consumer_q <= '0;
      written_q <= '0;
      error_q <= 1'b0;
      held_q <= '0;
    end
  end

  assign consumer_o = consumer_q;
  assign error_o = error_q;
  assign frame_o = frame_q;
  assign bad_o = bad_q;
  assign bus_error_o = bus_error_q;
  assign written_o = status_q;

  `ASSERT(WordsAreWanted, rdata.valid |-> state_q == ReadDescriptors || state_q == ReadFrame)
  `ASSERT(ResultIsWanted, done.valid |-> busy)
  `ASSERT(NeverOverfull, write_q - read_q <= (PtrW + 1)'(BufferWords))
endmodule
