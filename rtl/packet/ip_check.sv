// SPDX-License-Identifier: Apache-2.0
/// The header checks of an IPv4 router that need nothing but the header (RFC 1812, sections 5.2.2, 5.3.4, 5.3.7), and what it
/// may forward without software.
///
/// Version 4, five or more words of header, a total length that holds the header, and a checksum that is right; the
/// checksum of a header with options is left to software. That the frame is as long as the header says is checked by
/// `ip_rewrite`, at its end. Not forwardable: options, group addresses of Ethernet, and a source or destination that is none of
/// a host: groups, networks 0 and 127, addresses from 240.0.0.0 on. Combinational, no state; all zero while `valid_i` is low.
module ip_check
  import eth_pkg::EtherIpv4, route_pkg::*;
(
    input  logic        valid_i,
    input  ip_header_t  header_i,
    output ip_verdict_t verdict_o
);
  localparam logic [7:0] ThisNetwork = 8'd0;
  localparam logic [7:0] Loopback = 8'd127;
  localparam logic [7:0] FirstGroup = 8'd224;

  wire unused = &{1'b0, header_i};
  function automatic logic of_host(logic [7:0] network);
    return network != ThisNetwork && network != Loopback && network < FirstGroup;
  endfunction
  wire addressed = of_host(header_i.src[31:24]) && of_host(header_i.dst[31:24]);
  wire plain = header_i.ihl == 4'd5;
  // Ten half words carry at most 9, and adding that carries at most once more.
  wire [16:0] once = 17'(header_i.half_sum[15:0]) + 17'(header_i.half_sum[19:16]);
  wire [15:0] folded = once[15:0] + 16'(once[16]);

  always_comb begin
    verdict_o = '0;
    if (valid_i) begin
      verdict_o.ip = header_i.typed && header_i.ethertype == EtherIpv4;
      verdict_o.bad_header = !header_i.complete || header_i.version != 4'd4
          || header_i.ihl < 4'd5 || header_i.total_length < 16'({header_i.ihl, 2'd0});
      verdict_o.bad_checksum = plain && folded != '1;
      verdict_o.forwardable = plain && !header_i.dst_mac[40] && addressed;
    end
  end
endmodule
