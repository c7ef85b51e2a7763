// SPDX-License-Identifier: Apache-2.0
`include "stream.svh"
/// Ones' complement sum over some of the bytes of a frame, a beat a clock.
///
/// Of each beat, bytes from_i <= i < to_i count; even bytes are the high halves of 16-bit words. `sum_o` (not inverted, in
/// network order: first byte high) is valid 4 clocks after the beat with `last_i`. One beat a clock, never refused;
/// frames of up to 2048 beats. Reset drops the frames inside.
module csum_sum #(
    parameter  int Bytes = 128,               // of a beat
    localparam int LenW  = $clog2(Bytes + 1)
) (
    input logic               clk_i,
    input logic               rst_i,
    input logic               valid_i,
    input logic               first_i,
    input logic               last_i,
    input logic [8*Bytes-1:0] data_i,
    input logic [   LenW-1:0] from_i,   // 0 ... Bytes
    input logic [   LenW-1:0] to_i,     // 0 ... Bytes

    output logic        valid_o,
    output logic [15:0] sum_o
);
  localparam int Words = Bytes / 2;
  localparam int GroupWords = Words > 16 ? 16 : Words;
  localparam int Groups = Words / GroupWords;
  localparam int SumW = 16 + $clog2(Words);
  if (2 ** $clog2(Bytes) != Bytes || Bytes < 4) begin : g_bad_parameter
    $fatal(1, "csum_sum: Bytes %0d is not a power of two from 4 on", Bytes);
  end

  /// a + b. Synthesis makes one sum of sums that it sees through, out of compressors: two LUTs a bit. This is a carry chain for
  /// each: one.
  function automatic logic [SumW-1:0] plus(logic [SumW-1:0] a, logic [SumW-1:0] b);
`ifdef SYNTHESIS
    logic carry;
    logic [SumW-1:0] upper;
    carry = a[0] & b[0];
    upper = {a[SumW-1:1], carry} + {b[SumW-1:1], carry};
    return {upper[SumW-1:1], a[0] ^ b[0]};
`else
    return a + b;
`endif
  endfunction

  logic [3:1] valid_q, first_q, last_q;
  always_ff @(posedge clk_i) begin
    valid_q <= {valid_q[2:1], valid_i};
    first_q <= {first_q[2:1], first_i};
    last_q  <= {last_q[2:1], last_i};
    valid_o <= valid_q[3] && last_q[3];
    if (rst_i) begin
      valid_q <= '0;
      valid_o <= 1'b0;
    end
  end

  // Stage 1: the bytes that count. The sum is independent of the byte order: words are taken as they lie.
  logic [15:0] words_q[Words];
  logic [Bytes-1:0] mask;
  `WHILE(valid_i, mask, ~({Bytes{1'b1}} << to_i) & ({Bytes{1'b1}} << from_i))
  always_ff @(posedge clk_i) begin
    if (valid_i) begin
      for (int i = 0; i < Words; i++) begin
        words_q[i][7:0]  <= mask[2*i] ? data_i[16*i+:8] : 8'd0;
        words_q[i][15:8] <= mask[2*i+1] ? data_i[16*i+8+:8] : 8'd0;
      end
    end
  end

  // Stage 2: groups of words, as a tree.
  logic [SumW-1:0] group_d[Groups], group_q[Groups];
  always_comb begin
    logic [SumW-1:0] tree[GroupWords];
    tree = '{default: 'x};
    for (int g = 0; g < Groups; g++) begin
      group_d[g] = 'x;
      if (valid_q[1]) begin
        for (int i = 0; i < GroupWords; i++) tree[i] = SumW'(words_q[GroupWords*g+i]);
        for (int n = GroupWords / 2; n > 0; n /= 2) begin
          for (int i = 0; i < n; i++) tree[i] = plus(tree[2*i], tree[2*i+1]);
        end
        group_d[g] = tree[0];
      end
    end
  end
  always_ff @(posedge clk_i) if (valid_q[1]) group_q <= group_d;

  // Stage 3: the beat, and the frame.
  logic [SumW-1:0] beat;
  logic [31:0] total_q;
  always_comb begin
    logic [SumW-1:0] tree[Groups];
    tree = '{default: 'x};
    beat = 'x;
    if (valid_q[2]) begin
      tree = group_q;
      for (int n = Groups / 2; n > 0; n /= 2) begin
        for (int i = 0; i < n; i++) tree[i] = plus(tree[2*i], tree[2*i+1]);
      end
      beat = tree[0];
    end
  end
  always_ff @(posedge clk_i) begin
    if (valid_q[2]) total_q <= (first_q[2] ? 32'd0 : total_q) + 32'(beat);
  end

  // Stage 4: carries back in at the bottom, then the byte order.
  wire [16:0] once = {1'b0, total_q[31:16]} + {1'b0, total_q[15:0]};
  wire [15:0] twice = once[15:0] + 16'(once[16]);
  always_ff @(posedge clk_i) if (valid_q[3]) sum_o <= {twice[7:0], twice[15:8]};

  wire unused = &{1'b0, first_q[3]};
endmodule
