// SPDX-License-Identifier: Apache-2.0
`include "stream.svh"
/// The filter hook before the DMA: ternary match of a packet's IPv4 addresses, protocol and ports (capture paper,
/// "offloading time-critical parts of the application").
///
/// Watches the first 64 bytes of each packet, behind at most one VLAN tag. The first enabled entry whose masked fields are
/// equal decides: drop or keep; without one, and for all that is not IPv4, the packet is kept. Ports count as zero without
/// any (fragments, IPv4 options, other protocols than TCP and UDP): such a packet only matches an entry whose ports mask is
/// zero. `valid_o` comes 3 clocks after a first beat, one packet a clock, never refused: in step with rx_hash.
module cap_filter
  import eth_pkg::*, cap_pkg::*;
(
    input logic clk_i,
    input logic rst_i,
    input filter_t [FilterEntries-1:0] filter_i,

    input logic       valid_i,
    input wide_beat_t beat_i,

    output logic valid_o,
    output logic drop_o
);
  logic first;
  assign first = valid_i && beat_i.sop;

  // Stage 1: fields.
  logic v4, with_ports, v4_q, with_ports_q, valid_q;
  logic [31:0] src, dst, ports, src_q, dst_q, ports_q;
  logic [7:0] protocol, protocol_q;
  logic [511:0] frame;
  logic [207:0] l3;  // 20 bytes of header, 4 of ports, 2 to spare
  always_comb begin
    frame = '0;
    l3 = '0;
    v4 = 1'b0;
    if (`WORTH(first)) begin
      frame = network_order(beat_i.data[511:0]);
      if (is_tag(frame[415-:16])) begin
        l3 = frame[367-:208];
        v4 = frame[383-:16] == EtherIpv4;
      end else begin
        l3 = frame[399-:208];
        v4 = frame[415-:16] == EtherIpv4;
      end
    end
    v4 = v4 && l3[207-:4] == 4'd4;
    protocol = l3[207-72-:8];
    src = l3[207-96-:32];
    dst = l3[207-128-:32];
    ports = l3[207-160-:32];
    with_ports = l3[203-:4] == 4'd5 && l3[207-50-:14] == '0 && (protocol == 8'd6 || protocol == 8'd17);
  end

  // Stage 2: compare. Stage 3: the first that matches.
  logic compared_q;
  logic [FilterEntries-1:0] match_q;
  always_ff @(posedge clk_i) begin
    valid_q <= first && !rst_i;
    if (first) begin
      v4_q <= v4;
      with_ports_q <= with_ports;
      src_q <= src;
      dst_q <= dst;
      ports_q <= ports;
      protocol_q <= protocol;
    end
    compared_q <= valid_q && !rst_i;
    if (valid_q) begin
      for (int i = 0; i < FilterEntries; i++) begin
        match_q[i] <= filter_i[i].enable && v4_q
            && ((src_q ^ filter_i[i].src_ip) & filter_i[i].src_mask) == '0
            && ((dst_q ^ filter_i[i].dst_ip) & filter_i[i].dst_mask) == '0
            && ((protocol_q ^ filter_i[i].protocol) & filter_i[i].protocol_mask) == '0
            && (filter_i[i].ports_mask == '0
                || (with_ports_q && ((ports_q ^ filter_i[i].ports) & filter_i[i].ports_mask) == '0));
      end
    end
    valid_o <= compared_q && !rst_i;
    drop_o  <= 1'b0;
    for (int i = FilterEntries - 1; i >= 0; i--) if (match_q[i]) drop_o <= filter_i[i].drop;
  end
  wire unused = &{1'b0, beat_i.len, beat_i.eop, beat_i.err, beat_i.data, frame, l3};
endmodule
