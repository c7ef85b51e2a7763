// SPDX-License-Identifier: Apache-2.0
`include "stream.svh"
/// DMA requests of a probe, one a transfer: the n-th is for the n-th place of the window (offset 0, then `step` further each
/// time, around at its end) and for slot n of the RAM, modulo ProbeSlots.
///
/// A request is offered while `want_i` is high (it stays until `asked_o` has counted), two at least `cost.apart` from each
/// other. `asked_o` counts them modulo 2^32. The walk starts anew while `enable` is low.
module probe_ask
  import dma_pkg::*;
  import probe_pkg::*;
#(
    parameter ram_sel_t Sel = '0
) (
    input logic       clk_i,
    input logic       rst_i,
    input probe_cfg_t cfg_i,

    input  logic        want_i,
    output logic [31:0] asked_o,

    stream_if.src req  // dma_req_t
);
  logic [31:0] offset_q;
  logic apart;
  wire ask = req.valid && req.ready;
  wire [32:0] next = {1'b0, offset_q} + {1'b0, cfg_i.step};

  assign req.valid = want_i && apart;
  always_comb begin
    dma_req_t request;
    request.host_addr = cfg_i.base + 64'(offset_q);
    request.sel = Sel;
    request.ram_addr = RamAddrW'(asked_o[$clog2(ProbeSlots)-1:0]) << $clog2(ProbeMost);
    request.len = 16'(cfg_i.len);
    request.relaxed = 1'b1;
    req.data = request;
  end
  probe_pace i_apart (
      .clk_i,
      .rst_i,
      .take_i (ask),
      .cost_i (14'(cfg_i.cost.apart)),
      .ready_o(apart)
  );

  always_ff @(posedge clk_i) begin
    if (ask) begin
      asked_o  <= asked_o + 32'd1;
      offset_q <= next >= {1'b0, cfg_i.window} ? 32'(next - {1'b0, cfg_i.window}) : next[31:0];
    end
    if (rst_i) asked_o <= '0;
    if (rst_i || !cfg_i.enable) offset_q <= '0;
  end

  wire unused = &{1'b0, cfg_i.in_flight, cfg_i.delay, cfg_i.cost.beat, cfg_i.cost.piece, cfg_i.cost.setup};
endmodule
