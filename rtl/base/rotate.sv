// SPDX-License-Identifier: Apache-2.0
/// Turns a word by whole lanes: lane i of `data_i` goes to lane i + `turn_i` (`Right`: i - `turn_i`), around the end.
///
/// Combinational, one LUT of six inputs a bit for each two bits of `turn_i`. `turn_n_i` is its complement, from registers of its
/// own: neighbours that share half of their multiplexer get it from either, or synthesis builds those halves first, of three
/// LUTs a bit. Nothing is worked out and `data_o` means nothing while `valid_i` is low.
module rotate #(
    parameter  int Lanes    = 128,
    parameter  int LaneBits = 8,
    parameter  int TurnW    = $clog2(Lanes),
    parameter  bit Right    = 1'b0,
`ifdef SYNTHESIS
    parameter  bit Split    = 1'b1,
`else
    parameter  bit Split    = 1'b0,             // a simulation has no use for it
`endif
    localparam int Bits     = Lanes * LaneBits
) (
    input  logic             valid_i,
    input  logic [TurnW-1:0] turn_i,
    input  logic [TurnW-1:0] turn_n_i,
    input  logic [ Bits-1:0] data_i,
    output logic [ Bits-1:0] data_o
);
  if (2 ** TurnW > 2 * Lanes - 1) begin : g_bad_parameter
    $fatal(1, "rotate: TurnW %0d turns further than %0d lanes", TurnW, Lanes);
  end

  localparam int Stages = (TurnW + 1) / 2;
  assign data_o = g_stage[Stages-1].to;

  for (genvar k = 0; k < Stages; k++) begin : g_stage
    localparam int Unit = LaneBits * 4 ** k;
    localparam int By1 = Right ? Bits - Unit : Unit;
    logic [Bits-1:0] by_0, to;
    if (k == 0) begin : g_first
      assign by_0 = data_i;
    end else begin : g_next
      assign by_0 = g_stage[k-1].to;
    end
    wire [Bits-1:0] by_1 = {by_0[Bits-By1-1:0], by_0[Bits-1:Bits-By1]};
    if (2 * k + 1 == TurnW) begin : g_two
      always_comb begin
        to = 'x;
        if (valid_i) to = turn_i[2*k] ? by_1 : by_0;
      end
    end else begin : g_four
      localparam int By2 = Right ? Bits - 2 * Unit : 2 * Unit;
      localparam int By3 = Right ? Bits - 3 * Unit : 3 * Unit;
      if (Split) begin : g_split
        // Lanes 2 * 4^k apart share a half: every other so many lanes take it from `turn_n_i`.
        wire [Bits-1:0] half = turn_i[2*k] ? by_1 : by_0;
        wire [Bits-1:0] half_n = turn_n_i[2*k] ? by_0 : by_1;
        wire [Bits-1:0] whole = turn_i[2*k+1] ? {half[Bits-By2-1:0], half[Bits-1:Bits-By2]} : half;
        wire [Bits-1:0] whole_n = turn_n_i[2*k+1] ? half_n : {half_n[Bits-By2-1:0], half_n[Bits-1:Bits-By2]};
        for (genvar b = 0; b < Bits; b++) begin : g_bit
          assign to[b] = (b / (2 * Unit)) % 2 == 1 ? whole_n[b] : whole[b];
        end
      end else begin : g_whole
        always_comb begin
          to = 'x;
          if (valid_i) begin
            unique case (turn_i[2*k+:2])
              2'd0: to = by_0;
              2'd1: to = by_1;
              2'd2: to = {by_0[Bits-By2-1:0], by_0[Bits-1:Bits-By2]};
              2'd3: to = {by_0[Bits-By3-1:0], by_0[Bits-1:Bits-By3]};
            endcase
          end
        end
      end
    end
  end

  wire unused = &{1'b0, turn_n_i};
endmodule
