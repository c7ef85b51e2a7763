// SPDX-License-Identifier: Apache-2.0
`include "assert.svh"
/// Input FIFOs of a card: one a destination and class (direct-router paper, section III-A).
///
/// Routed frames go into the FIFO of their destination and class; a frame that does not fit is dropped whole, here, and
/// counted (`dropped_o`); the input is always ready. Fast-path frames are read by the burst scheduler through `fast` (queue =
/// peer * Classes + class), slow-path frames (dest == Peers) leave in stored form, a stream a class. Both sides have RAMs of
/// their own. One word a clock in; 5 clocks from the last word to `slow`. Reset empties everything.
module direct_input
  import direct_pkg::*, route_pkg::*;
#(
    parameter int Peers = 7,
    parameter int Classes = 2,
    parameter int FifoBytes = 15360  // of each FIFO
) (
    input logic clk_i,
    input logic rst_i,
    // Frames after routing
    stream_if.snk in,  // routed_beat_t, always ready
    // To the burst scheduler, and to the slow path (stored_word_t)
    frame_read_if.store fast,  // Queues = Peers * Classes
    stream_if.src slow[Classes],
    // One clock for each frame; words held
    output logic [Peers:0][Classes-1:0] accepted_o,
    output logic [Peers:0][Classes-1:0] dropped_o,
    output words_t [Peers:0][Classes-1:0] used_o
);
  if (Peers < 1 || Peers > MaxPeers || Classes < 1 || Classes > MaxClasses) begin : g_bad_parameter
    $fatal(1, "direct_input: Peers %0d or Classes %0d is out of range", Peers, Classes);
  end
  localparam int Queues = Peers * Classes;
  localparam int QueueW = Queues > 1 ? $clog2(Queues) : 1;

  wire routed_beat_t beat = in.data;
  assign in.ready = 1'b1;

  // What does not exist goes the slow way, in the lowest class.
  wire peer_t dest = beat.dest > peer_t'(Peers) ? peer_t'(Peers) : beat.dest;
  wire class_t cls = 32'(beat.cls) >= Classes ? class_t'(Classes - 1) : beat.cls;

  frame_write_t write_q;
  peer_t dest_q;
  class_t cls_q;
  logic [QueueW-1:0] queue_q;
  logic [12:0] words_q;  // of the open frame before this beat
  wire [12:0] words = beat.sop ? '0 : words_q;

  always_ff @(posedge clk_i) begin
    write_q.valid <= in.valid && !(beat.eop && beat.drop);
    // A new frame takes the place of one that never ended.
    write_q.abort <= in.valid && (beat.sop || (beat.eop && beat.drop));
    if (in.valid) begin
      write_q.data <= beat.data;
      write_q.last <= beat.eop;
      write_q.bytes <= {words, 3'd0} + 16'(beat.len);
      words_q <= words + 1'b1;
      dest_q <= dest;
      cls_q <= cls;
      queue_q <= QueueW'(dest) * QueueW'(Classes) + QueueW'(cls);
    end
    if (rst_i) begin
      write_q.valid <= 1'b0;
      write_q.abort <= 1'b0;
    end
  end

  // Fast path.
  wire to_slow = dest_q == peer_t'(Peers);
  frame_write_t fast_write;
  logic fast_accepted, fast_dropped;
  always_comb begin
    fast_write = write_q;
    fast_write.valid = write_q.valid && !to_slow;
  end
  frame_queues #(
      .Queues(Queues),
      .Bytes (FifoBytes)
  ) i_fast (
      .clk_i,
      .rst_i,
      .write_i(fast_write),
      .write_queue_i(to_slow ? '0 : queue_q),
      .accepted_o(fast_accepted),
      .dropped_o(fast_dropped),
      .read(fast)
  );
  assign used_o[Peers-1:0] = fast.used;

  // Slow path.
  logic [Classes-1:0] slow_accepted, slow_dropped;
  for (genvar c = 0; c < Classes; c++) begin : g_slow
    frame_write_t slow_write;
    always_comb begin
      slow_write = write_q;
      slow_write.valid = write_q.valid && to_slow && cls_q == class_t'(c);
    end
    frame_read_if #(.Queues(1)) read ();
    frame_queues #(
        .Queues(1),
        .Bytes (FifoBytes)
    ) i_queue (
        .clk_i,
        .rst_i,
        .write_i(slow_write),
        .write_queue_i(1'b0),
        .accepted_o(slow_accepted[c]),
        .dropped_o(slow_dropped[c]),
        .read
    );
    frame_reader #(
        .Class(class_t'(c))
    ) i_reader (
        .clk_i,
        .rst_i,
        .read,
        .out(slow[c])
    );
    assign used_o[Peers][c] = read.used[0];
  end

  always_ff @(posedge clk_i) begin
    accepted_o <= '0;
    dropped_o  <= '0;
    for (int p = 0; p < Peers; p++) begin
      for (int c = 0; c < Classes; c++) begin
        if (dest_q == peer_t'(p) && cls_q == class_t'(c)) begin
          accepted_o[p][c] <= fast_accepted;
          dropped_o[p][c]  <= fast_dropped;
        end
      end
    end
    accepted_o[Peers] <= slow_accepted;
    dropped_o[Peers]  <= slow_dropped;
    if (rst_i) begin
      accepted_o <= '0;
      dropped_o  <= '0;
    end
  end
endmodule
