// SPDX-License-Identifier: Apache-2.0
// What the proofs of direct_scheduler share: the scheduler between its queues, on a bus, connected to itself.
`ifndef EMERY_DIRECT_SCHEDULER_FORMAL_SVH
`define EMERY_DIRECT_SCHEDULER_FORMAL_SVH
`include "formal.svh"
`include "stream.svh"

/// direct_scheduler with peers that are all itself: what it sends to a peer comes back as from that peer, so it is input and output
/// of each exchange at once, over one bus that serves each transaction within 2 clocks. FIFOs of 4 words, frames of 1 word, no
/// timeout. Whatever arrives meanwhile and when: nothing is stale, malformed, discarded or aborted, no burst is taken for another
/// peer's, and the output FIFO does not overflow.
module direct_scheduler_rig
  import direct_pkg::*;
#(
    parameter  int Peers = 1,
    localparam int PeerW = Peers > 1 ? $clog2(Peers) : 1
) (
    input  logic                          clk_i,
    input  logic                          rst_i,
    input  logic                          arrive_i,  // a frame
    input  logic              [PeerW-1:0] peer_i,    // for this peer
    input  logic                          wait_i,    // the bus is busy with others
    output logic              [Peers-1:0] waits_o,   // a frame waits in the input FIFO of this peer
    output logic                          leaves_o,  // frames leave an input FIFO
    output scheduler_events_t             events_o
);
  `FORMAL_BEGIN
  localparam int WindowBit = 16;  // of an address: from here on the peer
  localparam int Words = 4;

  `STREAM(channel_pkg::channel_cmd_t, msg_cmd)
  `STREAM(channel_pkg::channel_cmd_t, burst_cmd)
  `STREAM(logic [63:0], msg_data)
  `STREAM(logic [63:0], burst_data)
  `STREAM(channel_pkg::channel_result_e, msg_done)
  `STREAM(channel_pkg::channel_result_e, burst_done)
  `STREAM(channel_pkg::window_word_t, recv)
  `STREAM(stored_word_t, out)
  frame_read_if #(.Queues(Peers)) fast ();
  frame_read_if #(.Queues(1)) read ();
  frame_write_t arrival, write;
  words_t room;
  logic [Peers-1:0][63:0] peer_base;
  logic [Peers-1:0] silent;
  logic accepted, dropped, out_accepted, out_dropped;

  assign arrival = '{valid: arrive_i, data: '0, last: 1'b1, bytes: 16'd8, abort: 1'b0};
  frame_queues #(
      .Queues(Peers),
      .Bytes(8 * Words),
      .MinBytes(8)
  ) i_input (
      .clk_i,
      .rst_i,
      .write_i(arrival),
      .write_queue_i(peer_i),
      .accepted_o(accepted),
      .dropped_o(dropped),
      .read(fast)
  );
  for (genvar p = 0; p < Peers; p++) begin : g_base
    assign peer_base[p] = 64'(p) << WindowBit;
  end
  direct_scheduler #(
      .Peers(Peers),
      .Classes(1),
      .FifoBytes(8 * Words)
  ) dut (
      .clk_i,
      .rst_i,
      .peer_base_i(peer_base),
      .enable_i(1'b1),
      .res_min_words_i('0),
      .timeout_i('0),
      .retry_i('0),
      .fast,
      .msg_cmd,
      .msg_data,
      .msg_done,
      .burst_cmd,
      .burst_data,
      .burst_done,
      .recv,
      .out_o(write),
      .out_room_i(room),
      .out_empty_i(1'b1),
      .out_lane_o(),
      .events_o(events_o),
      .silent_o(silent)
  );
  frame_queues #(
      .Queues(1),
      .Bytes(8 * Words),
      .MinBytes(8)
  ) i_output (
      .clk_i,
      .rst_i,
      .write_i(write),
      .write_queue_i(1'b0),
      .accepted_o(out_accepted),
      .dropped_o(out_dropped),
      .read
  );
  frame_reader i_reader (
      .clk_i,
      .rst_i,
      .read,
      .out
  );
  assign out.ready = 1'b1;
  assign room = words_t'(Words) - read.used[0];

  // The bus: one transaction at a time, in turn.
  typedef enum logic [1:0] {
    Idle,
    Message,
    Burst,
    Done
  } bus_e;
  bus_e bus_q;
  logic was_message_q;
  logic [PeerW-1:0] window_q;
  logic [1:0] waited_q;
  logic [3:0] left_q;
  wire go = bus_q == Idle && !(wait_i && waited_q != 2'd2);
  wire pick_message = go && msg_cmd.valid && !(burst_cmd.valid && burst_data.valid && was_message_q);
  wire pick_burst = go && burst_cmd.valid && burst_data.valid && !pick_message;
  assign msg_cmd.ready = pick_message;
  assign burst_cmd.ready = pick_burst;
  assign msg_data.ready = bus_q == Message;
  assign burst_data.ready = bus_q == Burst;
  assign msg_done.valid = bus_q == Done && was_message_q;
  assign burst_done.valid = bus_q == Done && !was_message_q;
  assign msg_done.data = channel_pkg::ChannelOk;
  assign burst_done.data = channel_pkg::ChannelOk;
  assign recv.valid = bus_q inside {Message, Burst};
  assign recv.data = '{
          window: 4'(window_q),
          message: bus_q == Message,
          first: 1'b1,
          data: bus_q == Message ? msg_data.data : burst_data.data
      };

  always_ff @(posedge clk_i) begin
    waited_q <= (bus_q == Idle && wait_i && waited_q != 2'd2) ? waited_q + 1'b1 : '0;
    unique case (bus_q)
      Idle: begin
        if (pick_message) begin
          bus_q <= Message;
          left_q <= msg_cmd.data.bytes[6:3];
          window_q <= msg_cmd.data.addr[WindowBit+:PeerW];
        end else if (pick_burst) begin
          bus_q <= Burst;
          left_q <= burst_cmd.data.bytes[6:3];
          window_q <= burst_cmd.data.addr[WindowBit+:PeerW];
        end
        was_message_q <= pick_message || (was_message_q && !pick_burst);
      end
      Done: if (was_message_q ? msg_done.ready : burst_done.ready) bus_q <= Idle;
      default: begin
        left_q <= left_q - 1'b1;
        if (left_q == 4'd1) bus_q <= Done;
      end
    endcase
    if (rst_i) {waited_q, bus_q, was_message_q, window_q} <= '0;
  end

  for (genvar p = 0; p < Peers; p++) begin : g_waits
    assign waits_o[p] = fast.used[p] != '0;
  end
  assign leaves_o = fast.free;

  always_comb begin
    if (started_q) begin
      if (bus_q == Message) assert (msg_data.valid);
      if (bus_q == Burst) assert (burst_data.valid);
      assert (!out_dropped);
      assert (!events_o.stale_res && !events_o.stale_burst && !events_o.malformed);
      assert (!events_o.packet_discarded && !events_o.aborted && silent == '0);
    end
  end
endmodule
`endif
