// SPDX-License-Identifier: Apache-2.0
`include "assert.svh"
/// Reads what peers write into this card's windows: messages in the mailbox halves, bursts in the others.
///
/// Bursts of several peers may come mixed, transaction by transaction; each window has a state of its own. Packets of the burst
/// that was granted go to the output FIFO (`out_o`), those of any other are discarded and counted, one event each; the REQ
/// at a burst's end counts either way. When the grant is cancelled, a packet that is not complete is taken back and the rest
/// of the burst is discarded. After a word that cannot stand where it came, a window is read again only after a REQ from the
/// mailbox, which a peer sends only when it has no burst under way: that REQ always starts a window afresh. One word a clock,
/// always ready, 1 clock of latency to the events and 2 to `out_o`. With two `Lanes` there may be a grant in each, to different peers;
/// the packets of a lane's burst go to its output FIFO.
module burst_receiver
  import direct_pkg::*, route_pkg::*;
#(
    parameter int Peers = 7,
    parameter int Classes = 2,
    parameter int MessageWords = 1,
    parameter int Lanes = 1
) (
    input  logic                          clk_i,
    input  logic                          rst_i,
           stream_if.snk                  recv,            // window_word_t
    // The open grant of a lane, and its end without a burst
    input  logic         [Lanes-1:0]      open_i,
    input  peer_t        [Lanes-1:0]      open_peer_i,
    input  logic         [Lanes-1:0][3:0] open_tag_i,
    input  logic         [Lanes-1:0]      cancel_i,
    // Messages: a REQ (own: not at the end of a burst), a RES
    output logic                          req_o,
    output logic                          req_own_o,
    output logic                          res_o,
    output peer_t                         peer_o,
    output message_t                      message_o,
    // The granted burst: a word of it, its trailing REQ, nonsense
    output logic         [Lanes-1:0]      burst_word_o,
    output logic         [Lanes-1:0]      burst_done_o,
    output logic         [Lanes-1:0]      burst_broken_o,
    // Packets
    output frame_write_t [Lanes-1:0]      out_o,
    output logic                          received_o,
    output logic                          discarded_o,
    output logic                          stale_burst_o,
    output logic                          malformed_o
);
  typedef logic [(Peers > 1 ? $clog2(Peers) : 1)-1:0] index_t;
  typedef enum logic [2:0] {
    Head,
    PacketHead,
    Data,
    Trailer,
    Lost
  } state_e;
  typedef struct packed {
    state_e      state;
    logic [1:0]  pad;      // words to pass over
    words_t      packets;  // still to come
    logic [13:0] words;    // of the packet
  } window_t;
  localparam logic [1:0] Pad = 2'(MessageWords - 1);

  assign recv.ready = 1'b1;
  logic valid_q;
  channel_pkg::window_word_t word_q;
  always_ff @(posedge clk_i) begin
    valid_q <= recv.valid;
    if (recv.valid) word_q <= recv.data;
    if (rst_i) valid_q <= 1'b0;
  end

  window_t window_q[Peers];
  logic [Lanes-1:0] accepts_q;  // the granted burst is under way
  logic [Lanes-1:0][15:0] bytes_q;  // of its packet

  wire known = valid_q && word_q.window < peer_t'(Peers);
  wire peer_t peer = known ? word_q.window : '0;
  wire window_t now = window_q[index_t'(peer)];
  wire message_t message = word_q.data;
  wire packet_header_t header = word_q.data;
  wire is_message = known && word_q.message && word_q.first;
  wire is_burst = known && !word_q.message;
  logic [Lanes-1:0] granted, named;  // by a lane's grant: the peer, the burst's tag
  always_comb begin
    for (int l = 0; l < Lanes; l++) begin
      granted[l] = open_i[l] && open_peer_i[l] == peer;
      named[l]   = granted[l] && open_tag_i[l] == message.tag;
    end
  end
  wire  [ Lanes-1:0] accepted = granted & accepts_q;

  logic [UnitsW+1:0] sum;
  always_comb begin
    sum = '0;
    for (int c = 0; c < Classes; c++) sum += (UnitsW + 2)'(message.count[c]);
  end

  window_t then;
  logic [Lanes-1:0] start;
  logic broken;
  logic data_word;  // of a packet
  always_comb begin
    then = now;
    start = '0;
    data_word = 1'b0;
    broken = 1'b0;
    req_o = 1'b0;
    req_own_o = 1'b0;
    res_o = 1'b0;
    burst_done_o = '0;
    stale_burst_o = 1'b0;
    if (is_message) begin
      req_o = message.kind == Request;
      req_own_o = message.kind == Request;
      res_o = message.kind == Respond;
      if (message.kind == Request) begin
        then.state = Head;
        then.pad   = '0;
      end
    end else if (is_burst && now.state != Lost) begin
      if (now.pad != '0) begin
        then.pad = now.pad - 1'b1;
      end else begin
        unique case (now.state)
          Head: begin
            broken = message.kind != Burst || sum >= (UnitsW + 2)'(2 ** UnitsW);
            start = named;
            stale_burst_o = start == '0 && !broken;
            then = '{
                state: sum == '0 ? Trailer : PacketHead,
                pad: Pad,
                packets: words_t'(sum),
                words: '0
            };
          end
          PacketHead: begin
            broken = header.kind != Packet || header.bytes == '0;
            then.state = Data;
            then.pad = Pad;
            then.words = 14'((17'(header.bytes) + 17'd7) >> 3);
          end
          Data: begin
            data_word  = 1'b1;
            then.words = now.words - 1'b1;
            if (now.words == 14'd1) begin
              then.packets = now.packets - 1'b1;
              then.state   = now.packets == words_t'(1) ? Trailer : PacketHead;
            end
          end
          default: begin
            broken = message.kind != Request;
            req_o  = !broken;
            if (!broken) burst_done_o = accepted;
            then.state = Head;
            then.pad   = Pad;
          end
        endcase
        if (broken) then = '{state: Lost, pad: '0, packets: '0, words: '0};
      end
    end
  end
  // A grant that ends in this clock takes nothing more.
  wire [Lanes-1:0] store = {Lanes{data_word}} & accepted & ~cancel_i;
  wire last = now.words == 14'd1;
  assign discarded_o = data_word && last && store == '0;
  assign peer_o = peer;
  assign message_o = message;
  assign burst_word_o = {Lanes{is_burst}} & (accepted | start);
  assign burst_broken_o = {Lanes{broken}} & accepted;
  assign malformed_o = broken || (is_message && message.kind != Request && message.kind != Respond);
  always_comb begin
    received_o = 1'b0;
    for (int l = 0; l < Lanes; l++) if (out_o[l].valid && out_o[l].last) received_o = 1'b1;
  end

  always_ff @(posedge clk_i) begin
    if (known) window_q[index_t'(peer)] <= then;
    for (int l = 0; l < Lanes; l++) begin
      if (is_burst && now.pad == '0 && now.state == PacketHead && accepted[l])
        bytes_q[l] <= header.bytes;
      if (start[l] && !broken) accepts_q[l] <= 1'b1;
      if (burst_done_o[l] || cancel_i[l]) accepts_q[l] <= 1'b0;

      out_o[l].valid <= store[l];
      out_o[l].abort <= cancel_i[l];
      if (store[l]) begin
        out_o[l].data  <= word_q.data;
        out_o[l].last  <= last;
        out_o[l].bytes <= bytes_q[l];
      end
    end
    if (rst_i) begin
      for (int p = 0; p < Peers; p++) window_q[p] <= '{state: Head, default: '0};
      accepts_q <= '0;
      for (int l = 0; l < Lanes; l++) begin
        out_o[l].valid <= 1'b0;
        out_o[l].abort <= 1'b0;
      end
    end
  end

  `ASSERT(AcceptsOnlyGranted, (accepts_q & ~open_i) == '0)
endmodule
