// SPDX-License-Identifier: Apache-2.0
// prove: mode=prove depth=30
`include "formal.svh"
`include "stream.svh"
/// burst_receiver, response_scheduler and the fast output FIFO with two peers: the output FIFO never overflows, whatever
/// the peers write and whenever they fall silent, as long as the packets of a granted burst are together no larger than the
/// grant (that is what burst_scheduler plans by). Bursts without a grant, stale ones, cut ones, nonsense, and grants that end
/// early are all included; so is any way in which the line takes frames out. FIFO of 7 words, packets of 2 and more.
module burst_receiver_formal
  import direct_pkg::*, route_pkg::*;
(
    input logic        clk_i,
    input logic        rst_i,
    input logic        valid_i,
    input logic        window_i,
    input logic        message_i,
    input logic [63:0] data_i,
    input logic        take_i,
    input logic        sent_i,
    input logic        aborted_i,
    input logic        sent_peer_i,
    input logic [ 3:0] sent_tag_i,
    input logic        free_i,
    input logic [ 2:0] free_packets_i,
    input logic [ 2:0] free_words_i
);
  `FORMAL_BEGIN
  localparam int Words = 7;

  `STREAM(channel_pkg::window_word_t, recv)
  frame_read_if #(.Queues(1)) read ();
  logic open, cancel, req, req_own, res, word, done, broken, want, timeout;
  logic received, discarded, stale, malformed, accepted, dropped;
  peer_t open_peer, from, peer;
  logic [3:0] open_tag;
  message_t got, grant;
  frame_write_t write;
  words_t room;
  burst_receiver #(
      .Peers  (2),
      .Classes(1)
  ) dut (
      .clk_i,
      .rst_i,
      .recv,
      .open_i(open),
      .open_peer_i(open_peer),
      .open_tag_i(open_tag),
      .cancel_i(cancel),
      .req_o(req),
      .req_own_o(req_own),
      .res_o(res),
      .peer_o(from),
      .message_o(got),
      .burst_word_o(word),
      .burst_done_o(done),
      .burst_broken_o(broken),
      .out_o(write),
      .received_o(received),
      .discarded_o(discarded),
      .stale_burst_o(stale),
      .malformed_o(malformed)
  );
  response_scheduler #(
      .Peers(2),
      .Classes(1),
      .FifoBytes(8 * Words)
  ) i_response (
      .clk_i,
      .rst_i,
      .min_words_i('0),
      .timeout_i(32'd8),
      .room_i(room),
      .empty_i(1'b1),
      .lane_o(),
      .req_i(req),
      .req_own_i(req_own),
      .req_peer_i(from),
      .req_message_i(got),
      .want_o(want),
      .peer_o(peer),
      .message_o(grant),
      .take_i(take_i && want),
      .sent_i,
      .sent_aborted_i(sent_i && aborted_i),
      .sent_peer_i(4'(sent_peer_i)),
      .sent_tag_i,
      .open_o(open),
      .open_peer_o(open_peer),
      .open_tag_o(open_tag),
      .burst_word_i(word),
      .burst_done_i(done),
      .burst_broken_i(broken),
      .cancel_o(cancel),
      .timeout_o(timeout)
  );
  frame_queues #(
      .Queues(1),
      .Bytes(8 * Words),
      .MinBytes(8)
  ) i_queue (
      .clk_i,
      .rst_i,
      .write_i(write),
      .write_queue_i(1'b0),
      .accepted_o(accepted),
      .dropped_o(dropped),
      .read
  );
  assign room = words_t'(Words) - read.used[0];
  assign recv.valid = valid_i;
  assign recv.data = '{window: 4'(window_i), message: message_i, first: 1'b1, data: data_i};
  assign read.queue = '0;
  assign read.load = 1'b0;
  assign read.next_bytes = 1'b0;
  assign read.next_word = 1'b0;
  assign read.free = free_i;
  assign read.free_packets = words_t'(free_packets_i);
  assign read.free_words = words_t'(free_words_i);

  // What may still come under the grant; the packet on its way into the FIFO; packets inside.
  logic [2:0] budget_q, coming_q, packets_q;
  wire header = dut.is_burst && dut.now.pad == 0 && dut.now.state == 3'd1 && dut.accepted && !broken;
  wire [13:0] needs = 14'((17'(dut.header.bytes) + 17'd7) >> 3) + 1'b1;
  wire take = take_i && want;
  wire [2:0] used = read.used[0][2:0];
  always_ff @(posedge clk_i) begin
    packets_q <= packets_q + 3'(accepted) - (free_i ? free_packets_i : 3'd0);
    if (accepted || write.abort) coming_q <= '0;
    if (header) begin
      budget_q <= budget_q - needs[2:0];
      coming_q <= needs[2:0];
    end
    if (take) budget_q <= grant.count[0][2:0];
    if (cancel || done) budget_q <= '0;
    if (rst_i) {budget_q, coming_q, packets_q} <= '0;
  end

  // A burst that the open grant did not name when it began is passed over: that of a peer without one, and what comes late of an
  // earlier one, though the peer has been granted again.
  logic [1:0] late_q;
  logic open_q;
  logic [3:0] tag_q;
  peer_t open_peer_q;
  wire late_window = dut.peer[0];
  wire same = open && open_q && open_peer == open_peer_q && open_tag == tag_q;
  wire head = dut.is_burst && dut.now.pad == 0 && dut.now.state == 3'd0;
  wire foreign = late_q[late_window] || !same;
  always_ff @(posedge clk_i) begin
    {open_q, open_peer_q, tag_q} <= {open, open_peer, open_tag};
    if (!same) late_q <= '1;
    if (head)
      late_q[late_window] <= !(open && open_peer == dut.peer && open_tag == dut.message.tag);
    if (rst_i) {late_q, open_q} <= {2'b11, 1'b0};
  end

  always_comb begin
    // The sender keeps to its grant.
    if (header) assume (needs <= 14'(budget_q));
    // Frames leave with their words, each has two at least.
    if (free_i) begin
      assume (free_packets_i <= packets_q && free_words_i <= used);
      assume (4'(used) - 4'(free_words_i) >= {packets_q - free_packets_i, 1'b0});
    end
    if (started_q) begin
      assert (!dropped);
      if (write.valid) assert (i_queue.fits);
      assert (read.used[0] <= words_t'(Words));
      assert (5'(used) + 5'(coming_q) + 5'(budget_q) <= 5'(Words));
      assert (used >= {packets_q, 1'b0} || packets_q >= 4);
      if (!open) assert (budget_q == 0);
      if (dut.data_word && foreign) assert (dut.store == '0);
      if (same && dut.accepts_q[0] && !head) assert (!late_q[open_peer[0]]);
      cover (read.used[0] == words_t'(Words));
      cover (accepted && packets_q == 2);
      cover (cancel && coming_q != 0);
      cover (discarded);
      cover (timeout);
      cover (dut.data_word && foreign && open && open_peer == dut.peer);
    end
  end
endmodule
