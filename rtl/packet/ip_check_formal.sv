// SPDX-License-Identifier: Apache-2.0
// prove: mode=prove depth=2
`include "formal.svh"
/// ip_check: of any header the verdict that RFC 1812 (5.2.2, 5.3.7) asks for, the sum of ones' complement told by its remainder; none
/// where no header is shown.
module ip_check_formal
  import eth_pkg::EtherIpv4, route_pkg::*;
(
    input logic       clk_i,
    input logic       rst_i,
    input logic       valid_i,
    input ip_header_t header_i
);
  `FORMAL_BEGIN
  ip_verdict_t verdict;
  ip_check dut (
      .valid_i,
      .header_i,
      .verdict_o(verdict)
  );
  wire options = header_i.ihl != 4'd5;
  wire [7:0] src = header_i.src[31:24];
  wire [7:0] dst = header_i.dst[31:24];
  wire bad_sum = header_i.half_sum == '0 || header_i.half_sum % 20'd65535 != '0;
  wire hosts = src != 8'd0 && src != 8'd127 && src < 8'd224 && dst != 8'd0 && dst != 8'd127 && dst < 8'd224;
  wire group = header_i.dst_mac[40];
  always_comb begin
    assume (header_i.half_sum <= 20'd10 * 20'd65535);
    if (started_q) begin
      if (!valid_i) begin
        assert (verdict == '0);
      end else begin
        assert (verdict.ip == (header_i.typed && header_i.ethertype == EtherIpv4));
        assert (verdict.bad_header == !(header_i.complete && header_i.version == 4'd4 && header_i.ihl > 4'd4 &&
                                        header_i.total_length >= 16'(header_i.ihl) * 16'd4));
        assert (verdict.bad_checksum == (!options && bad_sum));
        assert (verdict.forwardable == (!options && !group && hosts));
      end
      cover (valid_i && verdict.ip && verdict.forwardable && !verdict.bad_header && !verdict.bad_checksum &&
             header_i.half_sum > 20'd65535);
      cover (valid_i && !options && !bad_sum && header_i.half_sum[15:0] == 16'hfffe);
    end
  end
  wire unused = &{1'b0, rst_i};
endmodule
