// SPDX-License-Identifier: Apache-2.0
/// Looks at the headers of a packet that is to be cut into TCP segments (tx_segment).
///
/// `start_i` for a clock while `unit_i` is the packet's first row, which stays until `done_o`, some 5 clocks later: `ok_o` says
/// whether it can be cut, `headers_o` what was found; they stay until the next start. Everything behind the MAC addresses and
/// EtherTypes lies on words of four bytes from byte 14 on. Reset forgets a packet under way.
module tx_headers
  import eth_pkg::*, engine_pkg::*;
(
    input  logic               clk_i,
    input  logic               rst_i,
    input  logic        [13:0] max_frame_i,
    input  logic               start_i,
    input  tx_unit_t           unit_i,
    output logic               done_o,
    output logic               ok_o,
    output tx_headers_t        headers_o
);
  localparam int Words = HeaderWords;  // from byte 14 on
  localparam logic [7:0] Tcp = 8'd6;

  logic [3:0] step_q;
  logic v4_q, v6_q, place_q, plain_q;
  logic [3:0] doff_q;
  logic [15:0] parts_q[4];
  tx_headers_t h_q;
  assign headers_o = h_q;
  assign done_o = step_q[3];

  // In network order.
  logic [Words-1:0][31:0] word;
  logic [15:0] ether_type;
  always_comb begin
    for (int i = 0; i < Words; i++)
    word[i] = {
      unit_i.beat.data[8*(14+4*i)+:8],
      unit_i.beat.data[8*(15+4*i)+:8],
      unit_i.beat.data[8*(16+4*i)+:8],
      unit_i.beat.data[8*(17+4*i)+:8]
    };
  end
  wire  [15:0] first_type = {unit_i.beat.data[8*12+:8], unit_i.beat.data[8*13+:8]};
  logic [ 1:0] tags;
  always_comb begin
    tags = !is_tag(first_type) ? 2'd0 : !is_tag(word[0][15:0]) ? 2'd1 : 2'd2;
    ether_type = tags == 0 ? first_type : tags == 1 ? word[0][15:0] : word[1][15:0];
  end

  // The IP header, which begins at one of three words.
  logic [14:0][31:0] ip;
  always_comb begin
    for (int i = 0; i < 15; i++)
    ip[i] = h_q.ip == 0 ? word[i] : h_q.ip == 1 ? word[i+1] : word[i+2];
  end
  wire [3:0] ihl = ip[0][27:24];
  wire [4:0] tcp_at = 5'(h_q.ip) + (v4_q ? 5'(ihl) : 5'd10);
  wire [7:0] start = unit_i.csum.start - 8'd14;

  // What its checksum is over, but for lengths, identification and the sum itself; two words to a part, four parts at a time.
  function automatic logic [15:0] plus(logic [15:0] x, logic [15:0] y);
    logic [16:0] sum;
    sum = 17'(x) + 17'(y);
    return sum[15:0] + 16'(sum[16]);
  endfunction
  logic [14:0][15:0] by_word;
  always_comb begin
    for (int i = 0; i < 15; i++) by_word[i] = 4'(i) < ihl ? plus(ip[i][31:16], ip[i][15:0]) : '0;
    by_word[0] = ip[0][31:16];
    by_word[1] = ip[1][15:0];
    by_word[2] = ip[2][31:16];
  end
  logic [14:0][15:0] by_word_q;

  wire [7:0] bytes = 8'd14 + {1'b0, 5'(h_q.tcp) + 5'(doff_q), 2'b00};
  wire [14:0] longest = 15'(bytes) + 15'(h_q.mss) + (h_q.csum.vlan.valid ? 15'(TagBytes) : '0);

  always_ff @(posedge clk_i) begin
    step_q <= {step_q[2:0], start_i};
    if (start_i) begin
      h_q.ip <= tags;
      v4_q <= ether_type == EtherIpv4;
      v6_q <= ether_type == EtherIpv6;
      h_q.tcp <= start[6:2];
      place_q <= start[1:0] == '0 && !start[7];
      h_q.mss <= unit_i.mss;
      h_q.csum <= unit_i.csum;
      h_q.csum.enable <= 1'b1;
      h_q.csum.offset <= 8'd16;
      h_q.data <= unit_i.beat.data;
      h_q.payload <= unit_i.total;
    end
    if (step_q[0]) begin
      h_q.v4 <= v4_q;
      plain_q <= place_q && h_q.tcp == tcp_at && h_q.tcp < 5'(Words - 4) &&
          (v4_q ? ip[0][31:28] == 4'd4 && ihl >= 4'd5 && ip[2][23:16] == Tcp && ip[1][13:0] == '0 :
           v6_q && ip[0][31:28] == 4'd6 && ip[1][15:8] == Tcp);
      h_q.id <= ip[1][31:16];
      by_word_q <= by_word;
      doff_q <= '0;
      h_q.seq <= '0;
      h_q.pseudo <= '0;
      for (int i = 5; i < Words - 4; i++) begin
        if (h_q.tcp == 5'(i)) begin
          doff_q <= word[i+3][31:28];
          h_q.seq <= word[i+1];
          h_q.pseudo <= word[i+4][31:16];
        end
      end
    end
    if (step_q[1]) begin
      h_q.bytes <= 7'(bytes);
      h_q.payload <= h_q.payload - 16'(bytes);
      ok_o <= plain_q && doff_q >= 4'd5 && 6'(h_q.tcp) + 6'(doff_q) <= 6'(Words) && 16'(bytes) < h_q.payload &&
          h_q.mss != '0 && longest <= 15'(max_frame_i);
      for (int i = 0; i < 4; i++)
      parts_q[i] <= plus(
          plus(by_word_q[i], by_word_q[i+4]), plus(by_word_q[i+8], i < 3 ? by_word_q[i+12] : '0)
      );
      h_q.tcp_bytes <= {doff_q, 2'b00};
    end
    if (step_q[2]) begin
      h_q.ip_sum   <= plus(plus(parts_q[0], parts_q[1]), plus(parts_q[2], parts_q[3]));
      h_q.ip_bytes <= h_q.bytes - 7'd14 - {3'd0, h_q.ip, 2'b00} - (h_q.v4 ? 7'd0 : 7'd40);
    end
    if (rst_i) step_q <= '0;
  end
endmodule
