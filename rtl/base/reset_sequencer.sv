// SPDX-License-Identifier: Apache-2.0
/// Resets of clock domains that have crossings between them: all together, for any of them, and away one after another.
///
/// Each of `rst_i` asks for the reset of all domains: at any time, for however short, with its clock or without. `rst_o` of every
/// domain comes at once. None falls before every domain has had `Stages` of its clocks in reset: one whose clock stands keeps
/// all in reset. Then they fall in order, domain 0 first, each `Stages` of its clocks after the one before, synchronous to
/// the domain's clock. For what has state on both sides of a crossing and cannot have one side reset alone.
module reset_sequencer #(
    parameter int Domains = 2,
    parameter int Stages  = 3
) (
    input  logic [Domains-1:0] clk_i,
    input  logic [Domains-1:0] rst_i,
    output logic [Domains-1:0] rst_o
);
  logic [Domains-1:0] here;  // domains that are not yet through with it
  for (genvar i = 0; i < Domains; i++) begin : g_domain
    reset_sync #(
        .Stages(Stages)
    ) i_here (
        .clk_i(clk_i[i]),
        .rst_i(|rst_i),
        .rst_o(here[i])
    );
    reset_sync #(
        .Stages(Stages)
    ) i_out (
        .clk_i(clk_i[i]),
        .rst_i(|here || (i > 0 && rst_o[i==0?0 : i-1])),
        .rst_o(rst_o[i])
    );
  end
endmodule
