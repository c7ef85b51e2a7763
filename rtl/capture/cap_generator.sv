// SPDX-License-Identifier: Apache-2.0
`include "assert.svh"
/// Internal packet generator: UDP packets whose bytes follow from a seed and the packet's number (formula at the top of
/// systems/capture/capture.rdl), faster than 100 Gb/s (capture paper, "Demonstration").
///
/// One beat a clock without gaps, so packets of up to 128 bytes come one a clock; full back-pressure. `rate_i` (bytes * 256 a clock)
/// slows it down packet by packet, 0 does not. After `count_i` packets (0: no end) it rests. Turning `enable_i` off stops
/// it at the end of a packet, turning it on starts again with number 0. `sent_o` counts packets since then.
module cap_generator
  import eth_pkg::*, cap_pkg::*;
(
    input logic clk_i,
    input logic rst_i,

    input  logic            enable_i,
    input  logic [    31:0] seed_i,
    input  logic [LenW-1:0] len_min_i,    // 60 ... 16384
    input  logic [LenW-1:0] len_max_i,    // up to 16384; below len_min_i it counts as that
    input  logic [    15:0] flow_mask_i,
    input  logic [    23:0] rate_i,
    input  logic [    31:0] count_i,
    output logic [    31:0] sent_o,

    stream_if.src frame  // wide_beat_t
);
  function automatic logic [31:0] mix(logic [31:0] x);
    x = x ^ x << 13;
    x = x ^ x >> 17;
    return x ^ x << 5;
  endfunction

  localparam int Words = BeatBytes / 4;
  localparam int WordW = $clog2(Words);
  localparam int BeatIndexW = $clog2(16384 / BeatBytes);

  // A packet's numbers are worked out in three steps, ahead of the beats.
  typedef struct packed {
    logic [31:0]       number;
    logic [31:0]       m;
    logic [LenW-1:0]   len;
    logic [15:0] flow;
    logic [15:0]       csum;
  } plan_t;

  logic [31:0] number_q;
  logic full1_q, full2_q, full3_q;
  plan_t plan1_q, plan2_q, plan3_q;
  logic take;  // plan3 is used up
  wire move3 = !full3_q || take;
  wire move2 = !full2_q || move3;
  wire move1 = !full1_q || move2;
  wire more = count_i == '0 || number_q < count_i;
  wire [LenW-1:0] span = len_max_i < len_min_i ? LenW'(1) : len_max_i - len_min_i + 1'b1;
  wire [LenW-1:0] scaled = LenW'(((LenW + 16)'(plan1_q.m[15:0]) * (LenW + 16)'(span)) >> 16);

  // IPv4 header sum; constants: 4500 + 4000 + 4011 + 0a01 + 0a02 + 0001 = d915.
  wire [17:0] sum = 18'h0d915 + 18'(plan2_q.len - LenW'(14)) + 18'(plan2_q.flow);
  wire [16:0] folded = 17'(sum[15:0]) + 17'(sum[17:16]);
  wire [15:0] csum = ~(folded[15:0] + 16'(folded[16]));

  always_ff @(posedge clk_i) begin
    if (move1) begin
      full1_q <= more;
      plan1_q <= '{number: number_q, m: mix(number_q ^ seed_i ^ 32'h9e3779b9), default: '0};
      if (more) number_q <= number_q + 1'b1;
    end
    if (move2) begin
      full2_q <= full1_q;
      plan2_q <= plan1_q;
      plan2_q.len <= len_min_i + scaled;
      plan2_q.flow <= 16'(mix(plan1_q.m)) & flow_mask_i;
    end
    if (move3) begin
      full3_q <= full2_q;
      plan3_q <= plan2_q;
      plan3_q.csum <= csum;
    end
    if (rst_i || !enable_i) begin
      number_q <= '0;
      full1_q  <= 1'b0;
      full2_q  <= 1'b0;
      full3_q  <= 1'b0;
    end
  end

  // Credit in bytes / 256; a packet may start when there is no debt, and 64 bytes may be saved up.
  logic signed [31:0] credit_q, credit_d;
  wire start;
  always_comb begin
    credit_d = credit_q + 32'(rate_i);
    if (start) credit_d -= 32'({plan3_q.len, 8'd0});
    if (credit_d > 32'sd16384 || rate_i == '0) credit_d = 32'sd16384;
  end

  // Beats.
  logic inside_q, valid_q, enabled_q;
  plan_t                  plan_q;
  logic  [BeatIndexW-1:0] beat_q;  // next beat of the packet under way
  logic  [      LenW-1:0] left_q;  // bytes from there on
  wide_beat_t beat_d, out_q;
  wire advance = !valid_q || frame.ready;
  assign start = advance && !inside_q && full3_q && enable_i && !credit_q[31];
  assign take  = start;
  wire   go = advance && (inside_q || start);

  plan_t plan;
  assign plan = inside_q ? plan_q : plan3_q;
  wire [BeatIndexW-1:0] beat = inside_q ? beat_q : '0;
  wire [LenW-1:0] left = inside_q ? left_q : plan3_q.len;
  wire last = left <= LenW'(BeatBytes);
  wire [15:0] ip_len = 16'(plan.len) - 16'd14;
  wire [15:0] udp_len = 16'(plan.len) - 16'd34;

  always_comb begin
    beat_d = '0;
    if (go) begin
      for (int w = 0; w < Words; w++) begin
        beat_d.data[32*w+:32] = plan.m ^ {16'({beat, WordW'(w)}), ~16'({beat, WordW'(w)})};
      end
      // First byte in the lowest lane.
      if (!inside_q) begin
        beat_d.data[8*48-1:0] = {<<8{
            112'h02_00_00_00_00_01_02_00_00_00_00_02_08_00,
            16'h4500, ip_len, 32'h0000_4000, 16'h4011, plan.csum, 16'h0a01, plan.flow, 32'h0a02_0001,
            plan.flow, 16'd9, udp_len, 16'd0,
            plan.number[7:0], plan.number[15:8], plan.number[23:16], plan.number[31:24], 16'd0}};
      end
      beat_d.sop = !inside_q;
      beat_d.eop = last;
      beat_d.len = last ? 8'(left) : 8'(BeatBytes);
    end
  end

  assign frame.valid = valid_q;
  assign frame.data  = out_q;
  always_ff @(posedge clk_i) begin
    credit_q <= credit_d;
    if (advance) begin
      valid_q <= go;
      out_q   <= beat_d;
    end
    if (go) begin
      inside_q <= !last;
      beat_q   <= beat + 1'b1;
      left_q   <= left - LenW'(BeatBytes);
      if (start) begin
        plan_q <= plan3_q;
        sent_o <= sent_o + 1'b1;
      end
    end
    enabled_q <= enable_i;
    if (enable_i && !enabled_q) sent_o <= '0;
    if (rst_i) begin
      valid_q   <= 1'b0;
      inside_q  <= 1'b0;
      credit_q  <= '0;
      sent_o    <= '0;
      enabled_q <= 1'b0;
    end
  end

  `ASSERT(LengthInRange, start |-> plan3_q.len >= 60 && plan3_q.len <= 16384)
endmodule
