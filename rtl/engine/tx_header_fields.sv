// SPDX-License-Identifier: Apache-2.0
/// Headers of one TCP segment (tx_segment): those of its packet with the fields that are the segment's own.
///
/// Given `size_i` (bytes of payload), identification, sequence number, and whether it is its packet's last one or first; two steps later
/// (`step_i`), not from a register but for what takes sums, `head_o` has the headers, the first byte in the lowest lane. One a step. No reset: what is
/// in it is nobody's until a step.
module tx_header_fields
  import engine_pkg::*;
(
    input  logic                          clk_i,
    input  logic                          step_i,
    input  tx_headers_t                   headers_i,
    input  logic        [           13:0] size_i,
    input  logic        [           15:0] id_i,
    input  logic        [           31:0] seq_i,
    input  logic                          final_i,
    input  logic                          opening_i,
    output logic        [8*UnitBytes-1:0] head_o
);
  localparam int Words = HeaderWords;

  // First step: lengths and sums.
  logic [15:0] length_q, tcp_length_q, id_q, check_q;
  logic [31:0] seq_q;
  logic final_q, opening_q;
  wire [15:0] length = 16'(size_i) + 16'(headers_i.ip_bytes);
  wire [17:0] check = 18'(headers_i.ip_sum) + 18'(length) + 18'(id_i);
  wire [16:0] pseudo = 17'(headers_i.pseudo) + 17'(size_i) + 17'(headers_i.tcp_bytes);
  // A carry may bring another one.
  function automatic logic [15:0] fold(logic [17:0] sum);
    logic [16:0] once;
    once = 17'(sum[15:0]) + 17'(sum[17:16]);
    return once[15:0] + 16'(once[16]);
  endfunction
  always_ff @(posedge clk_i) begin
    if (step_i) begin
      length_q <= length;
      id_q <= id_i;
      seq_q <= seq_i;
      check_q <= ~fold(check);
      tcp_length_q <= fold(18'(pseudo));
      final_q <= final_i;
      opening_q <= opening_i;
    end
  end

  // Then each word of the headers is the packet's or has a field in it.
  logic [Words-1:0][31:0] word;
  always_comb begin
    head_o = headers_i.data;
    for (int i = 0; i < Words; i++) begin
      for (int b = 0; b < 4; b++) word[i][31-8*b-:8] = headers_i.data[8*(14+4*i+b)+:8];
      if (i < 5) begin
        if (headers_i.v4) begin
          if (i == 32'(headers_i.ip)) word[i][15:0] = length_q;
          if (i == 32'(headers_i.ip) + 1) word[i][31:16] = id_q;
          if (i == 32'(headers_i.ip) + 2) word[i][15:0] = check_q;
        end else if (i == 32'(headers_i.ip) + 1) word[i][31:16] = length_q;
      end else begin
        if (i == 32'(headers_i.tcp) + 1) word[i] = seq_q;
        if (i == 32'(headers_i.tcp) + 3) begin
          word[i][23] &= opening_q;  // CWR
          word[i][19] &= final_q;  // PSH
          word[i][16] &= final_q;  // FIN
        end
        if (i == 32'(headers_i.tcp) + 4) word[i][31:16] = tcp_length_q;
      end
      for (int b = 0; b < 4; b++) head_o[8*(14+4*i+b)+:8] = word[i][31-8*b-:8];
    end
  end
endmodule
