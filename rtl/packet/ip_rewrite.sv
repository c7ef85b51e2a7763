// SPDX-License-Identifier: Apache-2.0
`include "assert.svh"
`include "stream.svh"
/// Carries out what was decided for a frame: new addresses, TTL - 1, new checksum, or the end of it.
///
/// `decision` brings one decision for each frame; a frame waits for its. A frame that is to be dropped is taken here and
/// leaves nothing; one that turns out bad at its end (`err`, or shorter than its IP total length) comes out with `drop`.
/// `drop_o` names the reason, once a frame, one clock after its last word; none for `err`. One word a clock, 1 clock
/// latency, full back-pressure.
module ip_rewrite
  import eth_pkg::*, route_pkg::*;
(
    input logic clk_i,
    input logic rst_i,

    stream_if.snk in,        // word_beat_t
    stream_if.snk decision,  // route_decision_t
    stream_if.src out,       // routed_beat_t

    output route_drop_t drop_o
);
  localparam logic [10:0] Ethernet = 11'd14;

  word_beat_t word;
  route_decision_t what;
  assign word = in.data;
  assign what = decision.data;

  // Words of the frame before this one; the header is in the first four. A frame has less than 2^11 words.
  logic [10:0] at_q;
  wire [15:0] bytes = {2'd0, at_q, 3'd0} + 16'(word.len);
  wire too_short = what.ip && 17'(bytes) < 17'(what.total_length) + 17'(Ethernet);
  wire hidden = what.not_ours || what.header || what.bad_checksum || what.no_route || what.ttl;

  `STREAM(routed_beat_t, done)
  spill_reg #(
      .T(routed_beat_t)
  ) i_out (
      .clk_i,
      .rst_i,
      .in (done),
      .out(out)
  );

  assign done.valid = in.valid && decision.valid && !hidden;
  assign in.ready   = decision.valid && (hidden || done.ready);
  wire moves = in.valid && in.ready;
  assign decision.ready = moves && word.eop;

  // The first byte of an address goes to the lowest lane.
  function automatic logic [47:0] lanes(mac_t mac);
    return {<<8{mac}};
  endfunction
  wire [47:0] next_hop = lanes(what.next_hop);
  wire [47:0] own = lanes(what.source);

  always_comb begin
    done.data = '{
        data: word.data,
        len: word.len,
        sop: word.sop,
        eop: word.eop,
        drop: word.eop && (word.err || too_short),
        dest: what.dest,
        cls: what.cls
    };
    if (in.valid && what.rewrite) begin
      unique case (at_q)
        11'd0: begin
          done.data.data[47:0] = next_hop;
          if (what.new_source) done.data.data[63:48] = own[15:0];
        end
        11'd1:   if (what.new_source) done.data.data[31:0] = own[47:16];
        11'd2:   done.data.data[55:48] = word.data[55:48] - 1'b1;
        11'd3:   done.data.data[15:0] = {what.checksum[7:0], what.checksum[15:8]};
        default: ;
      endcase
    end
  end

  always_ff @(posedge clk_i) begin
    if (moves) at_q <= word.eop ? '0 : at_q + 1'b1;
    drop_o <= '0;
    if (moves && word.eop && !word.err) begin
      if (what.not_ours) drop_o.not_ours <= 1'b1;
      else if (what.header || too_short) drop_o.header <= 1'b1;
      else if (what.bad_checksum) drop_o.checksum <= 1'b1;
      else if (what.no_route) drop_o.no_route <= 1'b1;
      else if (what.ttl) drop_o.ttl <= 1'b1;
    end
    if (rst_i) begin
      at_q   <= '0;
      drop_o <= '0;
    end
  end

  `ASSERT(StartMarked, moves |-> word.sop == (at_q == '0))
endmodule
