// SPDX-License-Identifier: Apache-2.0
`include "assert.svh"
/// Sends REQs and RESs, one at a time, as commands of the message channel (direct-router paper, section III-C).
///
/// Picks in turn between a REQ and a RES that want to go: contents are decided in that clock (`take_req_o`, `take_res_o`), not
/// when they began to wait. The next message is picked when the bus has said how the last one ended (`sent_o`, one clock).
module message_port
  import direct_pkg::*, route_pkg::*;
#(
    parameter int Peers = 7,
    parameter int MessageWords = 1
) (
    input  logic                            clk_i,
    input  logic                            rst_i,
    input  logic          [Peers-1:0][63:0] peer_base_i,
    // REQ and RES: peer and contents
    input  logic                            req_want_i,
    input  peer_t                           req_peer_i,
    input  message_t                        req_message_i,
    output logic                            take_req_o,
    input  logic                            res_want_i,
    input  peer_t                           res_peer_i,
    input  message_t                        res_message_i,
    output logic                            take_res_o,
    // Channel
           stream_if.src                    cmd,            // channel_pkg::channel_cmd_t
           stream_if.src                    data,           // logic [63:0]
           stream_if.snk                    done,           // channel_pkg::channel_result_e
    // How it ended
    output logic                            sent_o,
    output logic                            aborted_o,      // with sent_o
    output message_kind_e                   kind_o,
    output logic          [      3:0]       tag_o,
    output peer_t                           peer_o
);
  typedef logic [(Peers > 1 ? $clog2(Peers) : 1)-1:0] index_t;
  localparam int Mailbox = WindowBytes / 2;

  logic busy_q, cmd_valid_q, last_was_req_q;
  logic [2:0] words_q;  // still to be handed over
  message_t message_q;
  peer_t peer_q;
  channel_pkg::channel_cmd_t cmd_q;

  assign take_req_o = !busy_q && req_want_i && !(res_want_i && last_was_req_q);
  assign take_res_o = !busy_q && res_want_i && !take_req_o;
  wire take = take_req_o || take_res_o;
  wire peer_t peer = take_req_o ? req_peer_i : res_peer_i;

  assign cmd.valid = cmd_valid_q;
  assign cmd.data = cmd_q;
  assign data.valid = words_q != '0;
  assign data.data = words_q == 3'(MessageWords) ? message_q : '0;
  assign done.ready = busy_q && !cmd_valid_q && words_q == '0;
  assign sent_o = done.valid && done.ready;
  assign aborted_o = sent_o && done.data != channel_pkg::ChannelOk;
  assign kind_o = message_q.kind;
  assign tag_o = message_q.tag;
  assign peer_o = peer_q;

  always_ff @(posedge clk_i) begin
    if (take) begin
      busy_q <= 1'b1;
      cmd_valid_q <= 1'b1;
      words_q <= 3'(MessageWords);
      last_was_req_q <= take_req_o;
      message_q <= take_req_o ? req_message_i : res_message_i;
      peer_q <= peer;
      cmd_q <= '{
          read: 1'b0,
          fixed: 1'b1,
          addr: peer_base_i[index_t'(peer)] + 64'(Mailbox),
          bytes: 16'(8 * MessageWords)
      };
    end
    if (cmd_valid_q && cmd.ready) cmd_valid_q <= 1'b0;
    if (data.valid && data.ready) words_q <= words_q - 1'b1;
    if (sent_o) busy_q <= 1'b0;
    if (rst_i) begin
      busy_q <= 1'b0;
      cmd_valid_q <= 1'b0;
      words_q <= '0;
      last_was_req_q <= 1'b0;
    end
  end

  `ASSERT(OneAtATime, !take || !busy_q)
endmodule
