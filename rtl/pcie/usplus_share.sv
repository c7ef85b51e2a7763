// SPDX-License-Identifier: Apache-2.0
`include "assert.svh"
/// Which kind of request goes first at the UltraScale+ block's RQ where writes and reads both wait: the one that has carried less.
///
/// A read takes one place of RQ for up to 4 kB that come to the card, a write one for each 32 bytes that leave it. So TLP by TLP,
/// and place by place even more, one way of a link takes the other's part. The difference of what reads have asked for and
/// writes have brought, in Dwords, is kept between plus and minus `Most`; above `Slack` reads are to give way (`reads_yield_o`), below
/// minus `Slack` writes (`writes_yield_o`). Who has nothing that waits takes nothing from the other: they only yield to what is
/// there, which then makes up the difference, so nothing stands still. Latency 4 clocks. Reset begins anew at 0.
module usplus_share #(
    parameter int Most  = 2047,
    parameter int Slack = 256
) (
    input logic clk_i,
    input logic rst_i,

    // What goes in this clock, and its length in Dwords.
    input logic asked_i,
    input logic [10:0] asked_dws_i,
    input logic wrote_i,
    input logic [10:0] wrote_dws_i,

    output logic reads_yield_o,
    output logic writes_yield_o
);
  localparam int LeadW = $clog2(Most + 1) + 1;  // signed
  if (Slack < 0 || Most < Slack + 1024 || 2 ** (LeadW - 1) != Most + 1) begin : g_bad_parameter
    $fatal(1, "usplus_share: Most %0d, Slack %0d", Most, Slack);
  end

  logic signed [LeadW-1:0] lead_q;  // of the reads
  logic asked_q, wrote_q;
  logic [10:0] asked_dws_q, wrote_dws_q;
  logic signed [11:0] step_q;
  wire signed [LeadW:0] next = (LeadW + 1)'(lead_q) + (LeadW + 1)'(step_q);
  wire over = next[LeadW] != next[LeadW-1];
  always_ff @(posedge clk_i) begin
    {asked_q, wrote_q} <= {asked_i, wrote_i};
    asked_dws_q <= asked_dws_i;
    wrote_dws_q <= wrote_dws_i;
    step_q <= $signed(
        {1'b0, asked_q ? asked_dws_q : 11'd0}
    ) - $signed(
        {1'b0, wrote_q ? wrote_dws_q : 11'd0}
    );
    lead_q <= over ? {next[LeadW], {(LeadW - 1) {!next[LeadW]}}} : next[LeadW-1:0];
    reads_yield_o <= lead_q > LeadW'(Slack);
    writes_yield_o <= lead_q < -LeadW'(Slack);
    if (rst_i) begin
      {asked_q, wrote_q} <= '0;
      step_q <= '0;
      lead_q <= '0;
      {reads_yield_o, writes_yield_o} <= '0;
    end
  end

  `ASSERT(NotBoth, !(reads_yield_o && writes_yield_o))
endmodule
