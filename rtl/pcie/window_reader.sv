// SPDX-License-Identifier: Apache-2.0
`include "assert.svh"
/// Sorts what the host and peers send to a card over PCI Express: posted writes to its windows become words, the rest goes on.
///
/// BAR 0 begins as on PCI-X: from address bit 17 on it holds 16 windows of 8 kB, each of a half for bursts and one
/// for messages; what lies above them is not a window. The words of a write to a window come out at `recv` one a clock, `first` with the first word of each TLP; a
/// beat of eight words is taken every eight clocks, with no gap between them. `in` waits meanwhile: credits are given back as
/// beats are taken, so nothing is lost however fast the link is. Other requests, and reads of a window, pass to
/// `other` (for completer) at once; order is kept. A write to a window that is not of whole aligned words with all their
/// bytes, or is poisoned, is dropped: `dropped_o` is high a clock. `word_o` counts words. Reset drops the TLP under way.
module window_reader
  import pcie_pkg::*;
  import channel_pkg::window_word_t;
#(
    parameter int AddrW = 18  // of BAR 0
) (
    input logic clk_i,
    input logic rst_i,
    // From tlp_rx_demux, and to completer: tlp_beat_t
    stream_if.snk in,
    stream_if.src other,
    // window_word_t
    stream_if.src recv,
    // Events.
    output logic dropped_o,
    output logic word_o
);
  typedef enum logic [1:0] {
    Pass,
    Words,
    Drop
  } route_e;

  tlp_beat_t beat;
  assign beat = in.data;
  wire mem4_hdr_t hdr = beat.hdr;
  wire is_write = hdr.dw0.fmt_type[6];
  wire [31:0] addr = hdr.dw0.fmt_type[5] ? hdr.addr[31:0] : hdr.addr[63:32];
  wire whole = !hdr.dw0.length[0] && !addr[2] && hdr.first_be == 4'hf && hdr.last_be == 4'hf && !hdr.dw0.ep;
  wire unused = &{1'b0, hdr, addr};

  // The first beat says where all beats of its TLP go.
  route_e first_route, route, route_q;
  always_comb begin
    first_route = Pass;
    if (is_write && addr[AddrW-1:17] == (AddrW - 17)'(1)) first_route = whole ? Words : Drop;
  end
  assign route = beat.sop ? first_route : route_q;

  // Where the words of the TLP go, and how many are left.
  logic [3:0] window_q;
  logic message_q;
  logic [8:0] left_q;  // as of the beat after this one; 0 means 512
  logic [2:0] lane_q;
  wire [8:0] left = beat.sop ? hdr.dw0.length[9:1] : left_q;  // with this beat
  wire last_lane = lane_q == 3'd7 || (left != '0 && left <= 9'd8 && 4'(lane_q) + 4'd1 == left[3:0]);

  assign other.valid = in.valid && route == Pass;
  assign other.data = beat;
  assign recv.valid = in.valid && route == Words;
  assign recv.data = '{
          window: beat.sop ? addr[16:13] : window_q,
          message: beat.sop ? addr[12] : message_q,
          first: beat.sop && lane_q == '0,
          data: beat.data[64*32'(lane_q)+:64]
      };
  always_comb begin
    unique case (route)
      Pass: in.ready = other.ready;
      Words: in.ready = recv.ready && last_lane;
      default: in.ready = 1'b1;
    endcase
  end
  wire word = recv.valid && recv.ready;
  assign word_o = word;
  assign dropped_o = in.valid && beat.eop && route == Drop;

  always_ff @(posedge clk_i) begin
    if (in.valid && in.ready) begin
      route_q <= route;
      window_q <= recv.data.window;
      message_q <= recv.data.message;
      left_q <= left - 9'd8;
    end
    if (word) lane_q <= last_lane ? '0 : lane_q + 1'b1;
    if (rst_i) begin
      route_q <= Drop;
      lane_q  <= '0;
    end
  end

  `ASSERT(EndsWithItsLength, word && last_lane |-> beat.eop == (left != '0 && left <= 9'd8))
endmodule
