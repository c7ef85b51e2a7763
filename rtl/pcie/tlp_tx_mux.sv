// SPDX-License-Identifier: Apache-2.0
`include "assert.svh"
`include "stream.svh"
/// Merges `N` streams of TLPs into the one to the hard block, within its flow-control credits.
///
/// The class of each input is a parameter: posted, non-posted, or else completion. A TLP is chosen only when its class has
/// the header credit and all data credits it needs (PCIe Base Specification 2.6.1), so a class without credits never
/// blocks another; classes are independent, and the order inside an input is kept. Round robin between the inputs that
/// may go, TLP by TLP; TLPs are never interleaved. One beat a clock without a gap between TLPs, latency 1 clock, output
/// registered in both directions. Credits used are counted from reset, which is the start of the link. Drops nothing. While
/// `closed_i` is high no TLP begins; `busy_o` says that one is under way.
/// `starved_o` counts: a TLP of the class {completion, non-posted, posted} waited this clock for credits.
module tlp_tx_mux
  import pcie_pkg::*;
#(
    parameter type Beat = tlp_beat_t,  // or wide_tlp_beat_t
    parameter int N = 4,
    parameter logic [N-1:0] Posted = '1,
    parameter logic [N-1:0] NonPosted = '0
) (
    input logic clk_i,
    input logic rst_i,

    // Credit limits from the hard block.
    input fc_limit_t fc_i,
    output logic [2:0] starved_o,

    input  logic closed_i,
    output logic busy_o,

    // Beat in and out.
    stream_if.snk in [N],
    stream_if.src out
);
  if (N < 1 || (Posted & NonPosted) != '0) begin : g_bad_parameter
    $fatal(1, "tlp_tx_mux: an input is of two classes");
  end
  localparam int IndexW = N > 1 ? $clog2(N) : 1;
  localparam logic [N-1:0] Completion = ~(Posted | NonPosted);

  // Credits left, as of the clock before but with what was used since: limit and use count modulo the field.
  logic [7:0] used_ph_q, used_nph_q, used_cplh_q, used_ph_d, used_nph_d, used_cplh_d;
  logic [11:0] used_pd_q, used_cpld_q, used_pd_d, used_cpld_d;
  logic [7:0] left_ph_q, left_nph_q, left_cplh_q;
  logic [11:0] left_pd_q, left_cpld_q;
  wire unused_credits = &{1'b0, left_pd_q, left_cpld_q};  // no input of a class with data
  logic p_inf_q, np_inf_q, cpl_inf_q;
  logic known_q;  // the credits left have been computed
  wire unused_class = &{1'b0, left_ph_q, left_nph_q, left_cplh_q, p_inf_q, np_inf_q, cpl_inf_q};  // one may have no inputs

  logic [N-1:0] valid, affordable, wants;
  Beat beat[N];
  logic [N-1:0][8:0] need;

  for (genvar i = 0; i < N; i++) begin : g_in
    assign valid[i] = in[i].valid;
    `WHILE(in[i].ready, beat[i], in[i].data)  // the choice
    // A data credit is 16 bytes: four DW, or what is left of them. fmt_type[6] says that there is data.
    wire tlp_dw0_t dw0 = in[i].data.hdr[127:96];
    wire [8:0] quads = {dw0.length == '0, dw0.length[9:2]} + 9'(|dw0.length[1:0]);
    wire unused = &{1'b0, dw0};
    assign need[i] = dw0.fmt_type[6] ? quads : '0;
    if (Posted[i]) begin : g_posted
      assign affordable[i] = p_inf_q || (left_ph_q != '0 && 12'(need[i]) <= left_pd_q);
    end else if (NonPosted[i]) begin : g_non_posted
      assign affordable[i] = np_inf_q || left_nph_q != '0;
    end else begin : g_completion
      assign affordable[i] = cpl_inf_q || (left_cplh_q != '0 && 12'(need[i]) <= left_cpld_q);
    end
    assign wants[i] = valid[i] && affordable[i] && known_q && !closed_i;
  end

  // A TLP that has begun goes on; otherwise the first input at or after next_q that may go.
  logic inside_q;
  assign busy_o = inside_q;
  logic [IndexW-1:0] next_q, current_q, choice;
  always_comb begin
    choice = '0;
    for (int i = N - 1; i >= 0; i--) if (wants[i]) choice = IndexW'(i);
    for (int i = N - 1; i >= 0; i--) if (wants[i] && IndexW'(i) >= next_q) choice = IndexW'(i);
    if (inside_q) choice = current_q;
  end

  // The choice may change until the beat moves, so it is only shown when the register has room. Its ready is a flip-flop.
  `STREAM(Beat, chosen)
  wire move = chosen.ready && (inside_q ? valid[current_q] : |wants);
  for (genvar i = 0; i < N; i++) begin : g_ready
    assign in[i].ready = move && choice == IndexW'(i);
  end
  assign chosen.valid = move;
  `STREAM_DATA(chosen, beat[choice])
  spill_reg #(
      .T(Beat)
  ) i_out (
      .clk_i,
      .rst_i,
      .in(chosen),
      .out
  );

  wire begin_tlp = move && !inside_q;
  always_comb begin
    used_ph_d   = used_ph_q + 8'(begin_tlp && Posted[choice]);
    used_nph_d  = used_nph_q + 8'(begin_tlp && NonPosted[choice]);
    used_cplh_d = used_cplh_q + 8'(begin_tlp && Completion[choice]);
    used_pd_d   = used_pd_q;
    used_cpld_d = used_cpld_q;
    if (begin_tlp && Posted[choice]) used_pd_d = used_pd_q + 12'(need[choice]);
    if (begin_tlp && Completion[choice]) used_cpld_d = used_cpld_q + 12'(need[choice]);
  end

  always_ff @(posedge clk_i) begin
    left_ph_q    <= fc_i.ph - used_ph_d;
    left_pd_q    <= fc_i.pd - used_pd_d;
    left_nph_q   <= fc_i.nph - used_nph_d;
    left_cplh_q  <= fc_i.cplh - used_cplh_d;
    left_cpld_q  <= fc_i.cpld - used_cpld_d;
    p_inf_q      <= fc_i.p_inf;
    np_inf_q     <= fc_i.np_inf;
    cpl_inf_q    <= fc_i.cpl_inf;
    used_ph_q    <= used_ph_d;
    used_nph_q   <= used_nph_d;
    used_cplh_q  <= used_cplh_d;
    used_pd_q    <= used_pd_d;
    used_cpld_q  <= used_cpld_d;
    starved_o[0] <= |(valid & ~affordable & Posted) && !inside_q;
    starved_o[1] <= |(valid & ~affordable & NonPosted) && !inside_q;
    starved_o[2] <= |(valid & ~affordable & Completion) && !inside_q;
    known_q      <= 1'b1;
    if (move) begin
      inside_q  <= !chosen.data.eop;
      current_q <= choice;
      if (!inside_q) next_q <= choice == IndexW'(N - 1) ? '0 : choice + 1'b1;
    end
    if (rst_i) begin
      used_ph_q   <= '0;
      used_nph_q  <= '0;
      used_cplh_q <= '0;
      used_pd_q   <= '0;
      used_cpld_q <= '0;
      known_q     <= 1'b0;
      inside_q    <= 1'b0;
      next_q      <= '0;
      starved_o   <= '0;
    end
  end

  `ASSERT(BeginsWithSop, move |-> chosen.data.sop == !inside_q)
endmodule
