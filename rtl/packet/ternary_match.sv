// SPDX-License-Identifier: Apache-2.0
/// Which of a few ternary rules matches a key first.
///
/// A rule matches when it is valid and all key bits equal those of its value where its mask is set; the lowest index wins.
/// Combinational, no state. `hit_o` is low while `valid_i` is low.
module ternary_match #(
    parameter  int Rules  = 4,
    parameter  int Width  = 32,
    localparam int IndexW = Rules > 1 ? $clog2(Rules) : 1
) (
    input  logic                         valid_i,
    input  logic [ Width-1:0]            key_i,
    input  logic [ Rules-1:0]            rule_valid_i,
    input  logic [ Rules-1:0][Width-1:0] value_i,
    input  logic [ Rules-1:0][Width-1:0] mask_i,
    output logic                         hit_o,
    output logic [IndexW-1:0]            index_o
);
  if (Rules < 1) begin : g_bad_parameter
    $fatal(1, "ternary_match: no rules");
  end

  always_comb begin
    hit_o   = 1'b0;
    index_o = '0;
    if (valid_i) begin
      for (int i = Rules - 1; i >= 0; i--) begin
        if (rule_valid_i[i] && ((key_i ^ value_i[i]) & mask_i[i]) == '0) begin
          hit_o   = 1'b1;
          index_o = IndexW'(i);
        end
      end
    end
  end
endmodule
