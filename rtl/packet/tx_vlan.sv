// SPDX-License-Identifier: Apache-2.0
`include "assert.svh"
/// Puts a VLAN tag into frames to be sent, behind their addresses (802.1Q, clause 9; 802.1ad's by its own EtherType).
///
/// `vlan_i` belongs to the frame on offer, while it is. Frames have AddrBytes bytes or more. One beat a clock; a frame that the tag makes
/// a beat longer takes a clock more. Latency a clock, also for frames without a tag. Full back-pressure; drops nothing. Reset empties it.
/// Where `On` is 0 it is nothing but wire.
module tx_vlan
  import eth_pkg::*;
#(
    parameter bit On = 1
) (
    input logic         clk_i,
    input logic         rst_i,
          stream_if.snk frame_in,  // wide_beat_t
    input tx_vlan_t     vlan_i,
          stream_if.src frame_out  // wide_beat_t
);
  localparam int TagBits = 8 * TagBytes;
  localparam int AddrBits = 8 * AddrBytes;
  localparam int Bits = 8 * WideBeatBytes;

  if (On) begin : g_on
    wide_beat_t in, made, over, out_q;
    logic out_valid_q, over_q, over_err_q;
    logic [2:0] over_len_q;
    logic [TagBits-1:0] carry_q;  // what found no place in the beat before
    wire step = !out_valid_q || frame_out.ready;
    wire moves = frame_in.valid && frame_in.ready;
    wire [8:0] len = 9'(in.len) + 9'(TagBytes);
    wire grows = vlan_i.valid && in.eop && len > 9'(WideBeatBytes);
    assign in = frame_in.data;
    assign frame_in.ready = step && !over_q;

    // In the order of the wire; the first byte is in the lowest lane.
    wire [15:0] ether_type = vlan_i.service ? STagType : CTagType;
    wire [TagBits-1:0] tag = {vlan_i.tci[7:0], vlan_i.tci[15:8], ether_type[7:0], ether_type[15:8]};
    always_comb begin
      made = in;
      if (frame_in.valid && vlan_i.valid) begin
        made.data = in.sop ? {in.data[Bits-TagBits-1:AddrBits], tag, in.data[AddrBits-1:0]} :
            {in.data[Bits-TagBits-1:0], carry_q};
        made.len = grows || !in.eop ? 8'(WideBeatBytes) : len[7:0];
        made.eop = in.eop && !grows;
        made.err = in.err && !grows;
      end
    end
    always_comb begin
      over = '0;
      over.data[TagBits-1:0] = carry_q;
      over.len = 8'(over_len_q);
      over.eop = 1'b1;
      over.err = over_err_q;
    end

    always_ff @(posedge clk_i) begin
      if (step) begin
        out_valid_q <= moves || over_q;
        if (over_q) out_q <= over;
        else if (frame_in.valid) out_q <= made;
        over_q <= moves && grows;
      end
      if (moves) begin
        carry_q <= in.data[Bits-1-:TagBits];
        over_len_q <= len[2:0];  // less 128
        over_err_q <= in.err;
      end
      if (rst_i) begin
        out_valid_q <= 1'b0;
        over_q <= 1'b0;
      end
    end
    assign frame_out.valid = out_valid_q;
    assign frame_out.data  = out_q;

    `ASSERT(PlaceForATag, moves && in.sop && vlan_i.valid |-> in.len >= 8'(AddrBytes))
  end else begin : g_off
    assign frame_out.valid = frame_in.valid;
    assign frame_out.data  = frame_in.data;
    assign frame_in.ready  = frame_out.ready;
    wire unused = &{1'b0, clk_i, rst_i, vlan_i};
  end
endmodule
