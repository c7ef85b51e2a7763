// SPDX-License-Identifier: Apache-2.0
`include "stream.svh"
/// What both DMA assists do with their commands: from the ring in the scratchpad to the host's clock.
///
/// Fetches commands (ring_fetch), refuses those that cannot be (dma_check: `kind`, `bad_o`) and hands the others over through
/// a FIFO of `Depth`; one in four core clocks at the most. The assist's own accesses to the scratchpad share the crossbar
/// port with the fetching (port_merge). Two clocks meet here; both resets must be given together, and forget all.
module dma_commands
  import core_pkg::*;
  import assist_pkg::*;
#(
    parameter int ScratchBytes = 262144,
    parameter int Depth = 8
) (
    // Core clock: ring, what became of each command.
    input  logic                core_clk_i,
    input  logic                core_rst_i,
    input  logic         [31:0] base_i,
    input  logic         [ 3:0] log_i,
    input  logic         [31:0] producer_i,
    output logic                bad_o,
           stream_if.src        kind,        // logic [1:0], as dma_check says it

    // Core clock: crossbar port.
    output logic     mem_valid_o,
    output mem_req_t mem_req_o,
    input  logic     mem_ready_i,
    input  logic     mem_rsp_valid_i,
    input  mem_rsp_t mem_rsp_i,

    // Core clock: the assist's own accesses.
    input  logic     req_valid_i,
    input  mem_req_t req_i,
    output logic     req_ready_o,
    output logic     rsp_valid_o,
    output mem_rsp_t rsp_o,

    // Host clock.
    input logic         host_clk_i,
    input logic         host_rst_i,
          stream_if.src command      // dma_command_t
);
  `STREAM_ON(logic [3:0][31:0], words, core_clk_i, core_rst_i)
  `STREAM_ON(dma_command_t, good, core_clk_i, core_rst_i)
  logic fetch_valid, fetch_ready, fetch_rsp_valid;
  mem_req_t fetch_req;
  logic [$clog2(Depth):0] unused_count;

  port_merge i_port (
      .clk_i(core_clk_i),
      .rst_i(core_rst_i),
      .req_valid_i({req_valid_i, fetch_valid}),
      .req_i({req_i, fetch_req}),
      .req_ready_o({req_ready_o, fetch_ready}),
      .rsp_valid_o({rsp_valid_o, fetch_rsp_valid}),
      .rsp_o,
      .req_valid_o(mem_valid_o),
      .req_o(mem_req_o),
      .req_ready_i(mem_ready_i),
      .rsp_valid_i(mem_rsp_valid_i),
      .rsp_i(mem_rsp_i)
  );
  ring_fetch #(
      .Words(4)
  ) i_fetch (
      .clk_i(core_clk_i),
      .rst_i(core_rst_i),
      .base_i,
      .log_i,
      .producer_i,
      .req_valid_o(fetch_valid),
      .req_o(fetch_req),
      .req_ready_i(fetch_ready),
      .rsp_valid_i(fetch_rsp_valid),
      .rsp_i(rsp_o),
      .command(words)
  );
  dma_check #(
      .ScratchBytes(ScratchBytes)
  ) i_check (
      .clk_i  (core_clk_i),
      .rst_i  (core_rst_i),
      .words,
      .command(good),
      .kind,
      .bad_o
  );
  fifo_async #(
      .T(dma_command_t),
      .Depth(Depth)
  ) i_commands (
      .wclk_i(core_clk_i),
      .wrst_i(core_rst_i),
      .in(good),
      .count_o(unused_count),
      .rclk_i(host_clk_i),
      .rrst_i(host_rst_i),
      .out(command)
  );
endmodule
