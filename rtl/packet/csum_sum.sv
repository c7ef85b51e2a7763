// SPDX-License-Identifier: Apache-2.0
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
  localparam int Groups = Words / 4;
  localparam int SumW = 16 + $clog2(Words);

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

  // Stage 1: four words together. The sum is independent of the byte order: words are taken as they lie.
  logic [Groups-1:0][17:0] group_d, group_q;
  logic [2*Words-1:0] mask;
  always_comb begin
    mask = '0;
    group_d = '0;
    if (valid_i) begin
      mask = ~({2 * Words{1'b1}} << to_i) & ({2 * Words{1'b1}} << from_i);
      for (int i = 0; i < Words; i++) begin
        group_d[i/4] += 18'(data_i[16*i+:16] & {{8{mask[2*i+1]}}, {8{mask[2*i]}}});
      end
    end
  end
  always_ff @(posedge clk_i) if (valid_i) group_q <= group_d;

  // Stage 2: the beat.
  logic [SumW-1:0] beat_d, beat_q;
  always_comb begin
    beat_d = '0;
    for (int i = 0; i < Groups; i++) beat_d += SumW'(group_q[i]);
  end
  always_ff @(posedge clk_i) if (valid_q[1]) beat_q <= beat_d;

  // Stage 3: the frame.
  logic [31:0] total_q;
  always_ff @(posedge clk_i) begin
    if (valid_q[2]) total_q <= (first_q[2] ? 32'd0 : total_q) + 32'(beat_q);
  end

  // Stage 4: carries back in at the bottom, then the byte order.
  wire [16:0] once = {1'b0, total_q[31:16]} + {1'b0, total_q[15:0]};
  wire [15:0] twice = once[15:0] + 16'(once[16]);
  always_ff @(posedge clk_i) if (valid_q[3]) sum_o <= {twice[7:0], twice[15:8]};

  wire unused = &{1'b0, first_q[3]};
endmodule
