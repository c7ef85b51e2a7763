// SPDX-License-Identifier: Apache-2.0
// prove: mode=prove depth=16
`include "formal.svh"
`include "stream.svh"
/// tlp_tx_mux with one input of each class: no TLP begins without the header credit and all data credits that it needs, for
/// any lengths, any growth of the limits and at all times; the counts of what was used are those of what began, modulo their
/// fields; a TLP is never interleaved with another. A partner never grants more than half a field (PCIe 2.6.1).
module tlp_tx_mux_formal
  import pcie_pkg::*;
(
    input logic             clk_i,
    input logic             rst_i,
    input logic [2:0]       valid_i,
    input logic [2:0]       eop_i,
    input logic [2:0]       with_data_i,
    input logic [2:0][ 9:0] length_i,
    input logic             ready_i,
    // Credits given: headers of each class; data of posted ones and of completions.
    input logic [2:0][ 7:0] give_h_i,
    input logic [2:0][11:0] give_d_i
);
  `FORMAL_BEGIN
  localparam int N = 3;  // 0 posted, 1 non-posted, 2 completions

  `STREAM(tlp_beat_t, in[N])
  `STREAM(tlp_beat_t, out)
  fc_limit_t fc;
  logic [2:0] unused_starved, ready;
  logic unused_busy;
  tlp_tx_mux #(
      .N(N),
      .Posted(3'b001),
      .NonPosted(3'b010)
  ) dut (
      .clk_i,
      .rst_i,
      .fc_i(fc),
      .starved_o(unused_starved),
      .closed_i(1'b0),
      .busy_o(unused_busy),
      .in,
      .out
  );
  assign out.ready = ready_i;

  // What began, modulo the fields, and what is left of the limits.
  logic [2:0][7:0] sent_h_q;
  logic [2:0][11:0] sent_d_q, left_d_q;
  logic [2:0][7:0] left_h_q;
  logic [2:0] inside_q, begins;
  logic [2:0][8:0] need;
  always_comb begin
    fc = '0;
    fc.ph = sent_h_q[0] + left_h_q[0];
    fc.nph = sent_h_q[1] + left_h_q[1];
    fc.cplh = sent_h_q[2] + left_h_q[2];
    fc.pd = sent_d_q[0] + left_d_q[0];
    fc.cpld = sent_d_q[2] + left_d_q[2];
  end
  for (genvar i = 0; i < N; i++) begin : g_in
    wire data = with_data_i[i] && i != 1;
    tlp_dw0_t dw0;
    tlp_beat_t beat;
    always_comb begin
      dw0 = '0;
      dw0.length = length_i[i];
      dw0.fmt_type = data ? MWr3 : MRd3;
      beat = '{hdr: {dw0, 96'd0}, data: '0, sop: !inside_q[i], eop: eop_i[i]};
    end
    assign in[i].valid = valid_i[i];
    assign in[i].data = beat;
    assign ready[i] = in[i].ready;
    assign begins[i] = valid_i[i] && ready[i] && !inside_q[i];
    // A data credit is 16 bytes; no length means 1024 words.
    assign need[i] = !data ? '0 : length_i[i] == '0 ? 9'd256 : 9'((11'(length_i[i]) + 11'd3) >> 2);

    logic waiting_q = 1'b0;
    logic [11:0] held_q;
    always_ff @(posedge clk_i) begin
      waiting_q <= started_q && valid_i[i] && !ready[i];
      held_q <= {eop_i[i], with_data_i[i], length_i[i]};
      if (valid_i[i] && ready[i]) inside_q[i] <= !eop_i[i];
      sent_h_q[i] <= sent_h_q[i] + 8'(begins[i]);
      sent_d_q[i] <= sent_d_q[i] + (begins[i] ? 12'(need[i]) : '0);
      left_h_q[i] <= left_h_q[i] - 8'(begins[i]) + give_h_i[i];
      left_d_q[i] <= left_d_q[i] - (begins[i] ? 12'(need[i]) : '0) + give_d_i[i];
      if (rst_i) begin
        inside_q[i] <= 1'b0;
        sent_h_q[i] <= '0;
        sent_d_q[i] <= '0;
        left_h_q[i] <= '0;
        left_d_q[i] <= '0;
      end
    end
    always_comb begin
      if (waiting_q) assume (valid_i[i] && {eop_i[i], with_data_i[i], length_i[i]} == held_q);
      assume (9'(left_h_q[i]) + 9'(give_h_i[i]) <= 9'd128);
      assume (13'(left_d_q[i]) + 13'(give_d_i[i]) <= 13'd2048);
      if (started_q && begins[i]) begin
        assert (left_h_q[i] != '0);
        assert (i == 1 || 12'(need[i]) <= left_d_q[i]);
      end
      if (started_q) begin
        assert (inside_q[i] == (dut.inside_q && 32'(dut.current_q) == i));
        assert (left_h_q[i] <= 8'd128 && left_d_q[i] <= 12'd2048);
      end
    end
  end

  always_comb begin
    if (started_q) begin
      assert ($onehot0(valid_i & ready));
      assert (dut.used_ph_q == sent_h_q[0] && dut.used_pd_q == sent_d_q[0]);
      assert (dut.used_nph_q == sent_h_q[1]);
      assert (dut.used_cplh_q == sent_h_q[2] && dut.used_cpld_q == sent_d_q[2]);
      if (dut.known_q) begin
        assert (dut.left_ph_q <= left_h_q[0] && dut.left_pd_q <= left_d_q[0]);
        assert (dut.left_nph_q <= left_h_q[1]);
        assert (dut.left_cplh_q <= left_h_q[2] && dut.left_cpld_q <= left_d_q[2]);
        assert (!dut.p_inf_q && !dut.np_inf_q && !dut.cpl_inf_q);
      end else assert (!dut.inside_q);
      // A completion goes past a write that has no credits.
      cover (begins[2] && valid_i[0] && left_h_q[0] == '0);
      cover (begins[0] && need[0] == 9'd256);
      cover (begins[0] && valid_i[2] && need[2] > left_d_q[2]);
    end
  end
endmodule
