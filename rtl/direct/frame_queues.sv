// SPDX-License-Identifier: Apache-2.0
`include "assert.svh"
/// Queues of whole frames, each in its own part of one RAM.
///
/// Room is counted as frames are stored elsewhere: data words and one word of header each (a header's only content, the length,
/// lies in a second RAM). One word in and one word out a clock. A frame becomes visible one clock after its last word; one
/// that does not fit is dropped whole (`dropped_o`, with the last word), writing never waits; so is one above the number of
/// frames of `MinBytes` that a queue can hold. One frame is written at a time, `write_queue_i` stays the same throughout.
/// Reading: see frame_read_if. Reset empties all queues.
module frame_queues
  import direct_pkg::*;
#(
    parameter  int Queues   = 2,
    parameter  int Bytes    = 15360,                           // of a queue
    parameter  int MinBytes = 60,                              // shortest frame
    localparam int QueueW   = Queues > 1 ? $clog2(Queues) : 1
) (
    input  logic                            clk_i,
    input  logic                            rst_i,
    // Write side
    input  frame_write_t                    write_i,
    input  logic               [QueueW-1:0] write_queue_i,
    output logic                            accepted_o,     // in the clock of the last word
    output logic                            dropped_o,
    // Read side
           frame_read_if.store              read
);
  localparam int Words = Bytes / 8;
  localparam int MaxFrames = Words / (1 + (MinBytes + 7) / 8);
  localparam int LenW = $clog2(MaxFrames + 1);  // the ring of lengths has 2**LenW places
  localparam int PtrW = $clog2(Words);
  localparam int AddrW = $clog2(Queues * Words);
  if (Words < 4 || Words >= 2 ** UnitsW) begin : g_bad_parameter
    $fatal(1, "frame_queues: Bytes %0d is not within 32 and %0d", Bytes, 8 * (2 ** UnitsW - 1));
  end

  typedef logic [PtrW-1:0] ptr_t;
  typedef logic [LenW-1:0] len_ptr_t;

  // A place `n` words further; n is at most Words.
  function automatic ptr_t ahead(ptr_t from, words_t n);
    logic [UnitsW:0] sum;
    sum = (UnitsW + 1)'(from) + (UnitsW + 1)'(n);
    return ptr_t'(sum >= (UnitsW + 1)'(Words) ? sum - (UnitsW + 1)'(Words) : sum);
  endfunction

  // Of whole frames, by queue.
  ptr_t head_q[Queues];
  ptr_t tail_q[Queues];
  len_ptr_t len_head_q[Queues];
  len_ptr_t len_tail_q[Queues];
  words_t [Queues-1:0] used_q;

  // Write side: words of the open frame.
  logic open_q, lost_q;
  ptr_t place_q;
  words_t count_q;

  wire open = open_q && !write_i.abort;
  wire lost = lost_q && !write_i.abort;
  wire ptr_t place = open ? place_q : tail_q[write_queue_i];
  wire words_t count = (open ? count_q : '0) + 1'b1;  // with this word
  wire words_t used = used_q[write_queue_i];
  wire len_ptr_t len_tail = len_tail_q[write_queue_i];
  wire len_full = (len_tail + 1'b1) == len_head_q[write_queue_i];
  wire fits = !lost && !len_full && (UnitsW + 1)'(used) + (UnitsW + 1)'(count) < (UnitsW + 1)'(Words);
  wire commit = write_i.valid && write_i.last && fits;

  assign accepted_o = commit;
  assign dropped_o  = write_i.valid && write_i.last && !fits;

  always_ff @(posedge clk_i) begin
    if (write_i.abort) begin
      open_q <= 1'b0;
      lost_q <= 1'b0;
    end
    if (write_i.valid) begin
      open_q  <= !write_i.last;
      lost_q  <= !write_i.last && !fits;
      place_q <= ahead(place, words_t'(1));
      if (fits) count_q <= count;
    end
    if (rst_i) begin
      open_q <= 1'b0;
      lost_q <= 1'b0;
    end
  end

  // Pointers and room.
  wire same = read.free && read.queue == write_queue_i;
  always_ff @(posedge clk_i) begin
    if (commit) begin
      tail_q[write_queue_i] <= ahead(place, words_t'(1));
      len_tail_q[write_queue_i] <= len_tail + 1'b1;
      used_q[write_queue_i] <= used + count + 1'b1 - (same ? read.free_words : '0);
    end
    if (read.free) begin
      head_q[read.queue] <= ahead(head_q[read.queue], read.free_words - read.free_packets);
      len_head_q[read.queue] <= len_head_q[read.queue] + len_ptr_t'(read.free_packets);
      if (!(commit && same)) used_q[read.queue] <= used_q[read.queue] - read.free_words;
    end
    if (rst_i) begin
      for (int i = 0; i < Queues; i++) begin
        head_q[i] <= '0;
        tail_q[i] <= '0;
        len_head_q[i] <= '0;
        len_tail_q[i] <= '0;
      end
      used_q <= '0;
    end
  end
  assign read.used = used_q;

  // The scan.
  logic [QueueW-1:0] scan_queue_q;
  ptr_t scan_q;
  len_ptr_t scan_len_q;
  always_ff @(posedge clk_i) begin
    if (read.load) begin
      scan_queue_q <= read.queue;
      scan_q <= head_q[read.queue];
      scan_len_q <= len_head_q[read.queue];
    end else begin
      if (read.next_word) scan_q <= ahead(scan_q, words_t'(1));
      if (read.next_bytes) scan_len_q <= scan_len_q + 1'b1;
    end
  end

  ram_sdp #(
      .Width(64),
      .Depth(Queues * Words)
  ) i_words (
      .clk_i,
      .we_i(write_i.valid && fits),
      .waddr_i(AddrW'(write_queue_i) * AddrW'(Words) + AddrW'(place)),
      .wdata_i(write_i.data),
      .re_i(read.next_word),
      .raddr_i(AddrW'(scan_queue_q) * AddrW'(Words) + AddrW'(scan_q)),
      .rdata_o(read.word)
  );

  localparam int LenDepth = Queues * 2 ** LenW;
  localparam int LenAddrW = $clog2(LenDepth);
  ram_sdp #(
      .Width(16),
      .Depth(LenDepth)
  ) i_lengths (
      .clk_i,
      .we_i(commit),
      .waddr_i(LenAddrW'({write_queue_i, len_tail})),
      .wdata_i(write_i.bytes),
      .re_i(read.next_bytes),
      .raddr_i(LenAddrW'({scan_queue_q, scan_len_q})),
      .rdata_o(read.bytes)
  );

  `ASSERT(NeverOverfull, !write_i.valid || used_q[write_queue_i] <= words_t'(Words))
  `ASSERT(FreesWhatIsThere, !read.free || used_q[read.queue] >= read.free_words)
  `ASSERT(QueueIsThere, !write_i.valid || 32'(write_queue_i) < Queues)
endmodule
