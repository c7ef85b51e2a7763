// SPDX-License-Identifier: Apache-2.0
`include "assert.svh"
`include "stream.svh"
/// Takes the outermost VLAN tag out of received frames, and joins it with what is found out about the frame behind this block.
///
/// `strip_i`: bit 0 tags of 802.1Q, bit 1 of 802.1ad; it holds for frames that begin after it. Frames without such a tag pass as they are. `info_in`
/// brings one entry for each frame that has left, in order, and leaves with the tag: in the upper half of the hash, and `stripped` says
/// which. One beat a clock, latency 2 clocks; a beat that is short of four bytes waits for the next one. A frame that is a beat shorter
/// without its tag takes a clock less. Full back-pressure; drops nothing; up to `Depth` frames wait for their info. Reset empties it.
/// Where `On` is 0 it is nothing but wire.
module rx_vlan
  import eth_pkg::*;
#(
    parameter bit On = 1,
    parameter int Depth = 32  // frames out of here whose info has not come: more than the block behind holds
) (
    input logic               clk_i,
    input logic               rst_i,
    input logic         [1:0] strip_i,
          stream_if.snk       frame_in,   // wide_beat_t
          stream_if.src       frame_out,  // wide_beat_t
          stream_if.snk       info_in,    // rx_info_t
          stream_if.src       info_out    // rx_info_t
);
  localparam int TagBits = 8 * TagBytes;
  localparam int AddrBits = 8 * AddrBytes;
  localparam int Bits = 8 * WideBeatBytes;

  if (On) begin : g_on
    typedef struct packed {
      logic [1:0]  stripped;
      logic [15:0] tci;
    } tag_t;

    // The beat at hand, and of its frame what is taken out; then the beat that leaves.
    wide_beat_t next, held_q, made, out_q;
    tag_t tag, tag_q;
    logic held_valid_q, out_valid_q;
    assign next = frame_in.data;
    wire [15:0] ether_type = {next.data[AddrBits+:8], next.data[AddrBits+8+:8]};
    wire [ 1:0] kind = {ether_type == STagType, ether_type == CTagType};
    always_comb begin
      tag = tag_q;
      if (next.sop) begin
        tag = '{
            stripped: kind & strip_i,
            tci: {next.data[AddrBits+16+:8], next.data[AddrBits+24+:8]}
        };
        if (next.len < 8'(AddrBytes + TagBytes + 2)) tag.stripped = '0;
      end
    end

    wire strips = tag_q.stripped != '0;
    wire borrows = strips && !held_q.eop;  // four bytes of the next beat,
    wire swallows = borrows && next.eop && next.len <= 8'(TagBytes);  // which has no more
    wire step = !out_valid_q || frame_out.ready;
    `STREAM(tag_t, tag_in)
    `STREAM(tag_t, tag_out)
    wire leaves = held_valid_q && step && (!borrows || frame_in.valid);
    assign frame_in.ready = !held_valid_q || (step && (!borrows || frame_in.valid));

    wire [Bits-1:0] shifted = {next.data[TagBits-1:0], held_q.data[Bits-1:TagBits]};
    always_comb begin
      made = held_q;
      if (held_valid_q && strips) begin
        made.data = shifted;
        if (held_q.sop) made.data[AddrBits-1:0] = held_q.data[AddrBits-1:0];
        made.len = held_q.eop ? held_q.len - 8'(TagBytes) :
            swallows ? 8'(WideBeatBytes - TagBytes) + next.len : 8'(WideBeatBytes);
        made.eop = held_q.eop || swallows;
        made.err = held_q.err || (swallows && next.err);
      end
    end

    always_ff @(posedge clk_i) begin
      if (frame_in.ready) begin
        held_valid_q <= frame_in.valid && !(held_valid_q && swallows);
        if (frame_in.valid) begin
          held_q <= next;
          tag_q  <= tag;
        end
      end
      if (step) begin
        out_valid_q <= leaves;
        if (leaves) out_q <= made;
      end
      if (rst_i) begin
        held_valid_q <= 1'b0;
        out_valid_q  <= 1'b0;
      end
    end
    assign frame_out.valid = out_valid_q;
    assign frame_out.data = out_q;

    // A tag for each frame that leaves.
    assign tag_in.valid = leaves && held_q.sop;
    assign tag_in.data = tag_q;
    `FIFO(tag_t, Depth, i_tags, tag_in, tag_out)
    assign info_out.valid = info_in.valid && tag_out.valid;
    assign info_in.ready  = info_out.ready && tag_out.valid;
    assign tag_out.ready  = info_out.ready && info_in.valid;
    always_comb begin
      rx_info_t info;
      info = info_in.data;
      info.stripped = tag_out.data.stripped;
      if (info.stripped != '0) info.hash[31:16] = tag_out.data.tci;
      info_out.data = info;
    end

    `ASSERT(TagHasRoom, tag_in.valid |-> tag_in.ready)
    `ASSERT(TagIsThere, info_in.valid |-> tag_out.valid)
  end else begin : g_off
    assign frame_out.valid = frame_in.valid;
    assign frame_out.data  = frame_in.data;
    assign frame_in.ready  = frame_out.ready;
    assign info_out.valid  = info_in.valid;
    assign info_out.data   = info_in.data;
    assign info_in.ready   = info_out.ready;
    wire unused = &{1'b0, clk_i, rst_i, strip_i};
  end
endmodule
