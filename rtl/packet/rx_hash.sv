// SPDX-License-Identifier: Apache-2.0
`include "stream.svh"
/// Receive flow hash: Toeplitz hash of Microsoft's RSS specification over the addresses and ports of a frame (host-nic
/// paper, sections II-A and II-E).
///
/// Watches the beats of a stream of frames; needs only the first 64 bytes of each, which hold all fields behind up to two VLAN
/// tags (but for the ports of double-tagged IPv6). `type_o`: bit 0 IPv4, bit 1 IPv6, bit 2 with TCP ports, bit 3 with UDP
/// ports, 0 no IP (the hash is then 0). Without ports are fragments, IPv4 with options, IPv6 with extension headers.
/// With `Headers` also how long the headers of a frame of `type_o` with ports are (`header_o`; 0: of any other, or when they are not
/// all in its first 128 bytes and in the frame).
/// `valid_o` comes 3 clocks after a first beat, one frame a clock, and is never refused; `ahead_o`, what it is over and the hash, a clock
/// sooner and not from a register. `key_i` should not change while
/// frames arrive; its first byte is the leftmost. Reset drops the frames inside.
module rx_hash
  import eth_pkg::*;
#(
    parameter type Beat = frame_beat_t,  // or wide_beat_t
    parameter bit Headers = 0  // of wide_beat_t
) (
    input logic         clk_i,
    input logic         rst_i,
    input logic [319:0] key_i,

    // A beat of a frame moves.
    input logic valid_i,
    input Beat  beat_i,

    output logic                 valid_o,
    output logic          [31:0] hash_o,
    output logic          [ 3:0] type_o,
    output header_words_t        header_o,
    output flow_found_t          ahead_o
);
  localparam int FieldBits = $bits(ahead_o.flow.fields);  // IPv6 addresses and ports
  localparam int Parts = 3;
  localparam int PartBits = FieldBits / Parts;

  // Stage 1: fields, in network order from the left.
  logic first;
  assign first = valid_i && beat_i.sop;

  logic valid_q;
  logic [FieldBits-1:0] fields, fields_q;
  logic [3:0] kind, kind_q;
  logic [511:0] frame;
  wire [6:0] len = beat_i.len > $bits(
      beat_i.len
  )'(FrameBeatBytes) ? 7'(FrameBeatBytes) : 7'(beat_i.len);
  logic [399:0] l3;  // from the IP header on
  logic [15:0] ether_type;
  logic [6:0] l3_start;
  logic v4, v6, ports;
  logic [7:0] protocol;

  always_comb begin
    frame = '0;
    l3 = '0;
    ether_type = '0;
    l3_start = 7'd14;
    v4 = 1'b0;
    v6 = 1'b0;
    ports = 1'b0;
    protocol = '0;
    kind = '0;
    fields = '0;
    if (`WORTH(first)) begin
      frame = network_order(beat_i.data[511:0]);
      if (!is_tag(frame[415-:16])) begin
        ether_type = frame[415-:16];
        l3 = frame[399-:400];
      end else if (!is_tag(frame[383-:16])) begin
        ether_type = frame[383-:16];
        l3 = {frame[367-:368], 32'd0};
        l3_start = 7'd18;
      end else begin
        ether_type = frame[351-:16];
        l3 = {frame[335-:336], 64'd0};
        l3_start = 7'd22;
      end
      v4 = ether_type == EtherIpv4 && l3[399-:4] == 4'd4;
      v6 = ether_type == EtherIpv6 && l3[399-:4] == 4'd6 && l3_start + 7'd40 <= len;
      protocol = v4 ? l3[399-8*9-:8] : l3[399-8*6-:8];
      // Not behind options and not in fragments; all in these bytes.
      if (v4) ports = l3[395-:4] == 4'd5 && l3[399-8*6-2-:14] == '0 && l3_start + 7'd24 <= len;
      if (v6) ports = l3_start + 7'd44 <= len;
      kind   = {ports && protocol == 8'd17, ports && protocol == 8'd6, v6, v4};
      fields = v4 ? {l3[399-8*12-:96], 192'd0} : l3[399-8*8-:288];
    end
  end

  always_ff @(posedge clk_i) begin
    valid_q <= first && !rst_i;
    if (first) begin
      kind_q   <= kind;
      fields_q <= fields;
    end
  end

  // Stage 2: each hash bit is the parity of the fields under a window of the key; in parts, for speed. What lies in the
  // place of ports, and of all where there is no IP, does not count.
  logic [FieldBits-1:0] known;
  always_comb begin
    known = fields_q;
    if (kind_q[3:2] == '0) begin
      if (kind_q[0]) known[223-:32] = '0;
      else known[31:0] = '0;
    end
  end

  logic part_valid_q;
  logic [Parts-1:0][31:0] part_q;
  flow_t part_flow_q;

  always_ff @(posedge clk_i) begin
    part_valid_q <= valid_q && !rst_i;
    if (valid_q) begin
      part_flow_q <= '{kind: kind_q, fields: known};
      for (int p = 0; p < Parts; p++) begin
        for (int b = 0; b < 32; b++) begin
          part_q[p][b] <= ^(known[PartBits*p+:PartBits] & key_i[PartBits*p+1+b+:PartBits]);
        end
      end
      if (kind_q[1:0] == '0) {part_flow_q.fields, part_q} <= '0;
    end
  end

  // Stage 3: the parts together.
  assign ahead_o = '{
          valid: part_valid_q,
          hash: part_q[0] ^ part_q[1] ^ part_q[2],
          flow : part_flow_q
      };
  always_ff @(posedge clk_i) begin
    valid_o <= part_valid_q && !rst_i;
    if (part_valid_q) begin
      hash_o <= ahead_o.hash;
      type_o <= part_flow_q.kind;
    end
  end

  // The headers, beside stages 1 and 2: the tags in front of IP, IP's own, and what TCP says of its own.
  if (Headers) begin : g_headers
    localparam int BeatBytes = $bits(beat_i.data) / 8;
    if (BeatBytes < WideBeatBytes) begin : g_bad_parameter
      $fatal(1, "rx_hash: headers need beats of %0d bytes", WideBeatBytes);
    end
    logic [1:0] tags_q;
    logic [3:0] tcp_words, tcp_words_q;
    logic [7:0] len_q;
    header_words_t words, words_q;
    always_comb begin
      tcp_words = '0;
      for (int t = 0; t < 3; t++) begin
        if (l3_start == 7'(14 + 4 * t))
          tcp_words = v4 ? beat_i.data[8*(46+4*t)+4+:4] : beat_i.data[8*(66+4*t)+4+:4];
      end
      words = '0;
      if (kind_q[3:2] != '0) begin
        words = 5'(tags_q) + (kind_q[0] ? 5'd5 : 5'd10) + (kind_q[2] ? 5'(tcp_words_q) : 5'd2);
        if (kind_q[2] && tcp_words_q < 4'd5) words = '0;
        if (8'd14 + {1'b0, words, 2'b00} > len_q) words = '0;
      end
    end
    always_ff @(posedge clk_i) begin
      if (first) begin
        tags_q <= 2'((l3_start - 7'd14) >> 2);
        tcp_words_q <= tcp_words;
        len_q <= 8'(beat_i.len);
      end
      if (valid_q) words_q <= words;
      if (part_valid_q) header_o <= words_q;
    end
  end else begin : g_no_headers
    assign header_o = '0;
  end

  wire unused = &{1'b0, beat_i.eop, beat_i.err, beat_i.data, frame, l3};
endmodule
