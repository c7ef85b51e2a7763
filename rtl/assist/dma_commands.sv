// SPDX-License-Identifier: Apache-2.0
`include "stream.svh"
/// What both DMA assists do with their commands: from the ring in the scratchpad to the host's clock, and their progress.
///
/// Fetches commands (ring_fetch), refuses those that cannot be (dma_check) and hands the others over through a FIFO of `Depth`;
/// one in four core clocks at the most. `done_i` counts those that ended in each place; `cores.progress` counts all in their
/// order (progress_order). The assist's own accesses to the scratchpad share the crossbar port with the fetching
/// (port_merge). Two clocks meet here; both resets must be given together, and forget all.
module dma_commands
  import core_pkg::*;
  import assist_pkg::*;
#(
    parameter int ScratchBytes = 262144,
    parameter int Depth = 8,
    parameter bit Writes = 1'b0,  // to the host
    parameter int Places = 1  // 1: all commands end in one; 2: in that of the frame memory or of the scratchpad
) (
    // Core clock.
    input logic core_clk_i,
    input logic core_rst_i,
    assist_if.assist cores,
    input logic [Places-1:0][31:0] done_i,

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
  typedef logic [$clog2(Places+1)-1:0] kind_t;
  `STREAM_ON(logic [1:0], kind, core_clk_i, core_rst_i)
  `STREAM_ON(kind_t, place, core_clk_i, core_rst_i)
  logic fetch_valid, fetch_ready, fetch_rsp_valid;
  mem_req_t fetch_req;

  port_merge i_port (
      .clk_i(core_clk_i),
      .rst_i(core_rst_i),
      .req_valid_i({req_valid_i, fetch_valid}),
      .req_i({req_i, fetch_req}),
      .req_ready_o({req_ready_o, fetch_ready}),
      .rsp_valid_o({rsp_valid_o, fetch_rsp_valid}),
      .rsp_o,
      .req_valid_o(cores.mem_valid),
      .req_o(cores.mem_req),
      .req_ready_i(cores.mem_ready),
      .rsp_valid_i(cores.mem_rsp_valid),
      .rsp_i(cores.mem_rsp)
  );
  ring_fetch #(
      .Words(4)
  ) i_fetch (
      .clk_i(core_clk_i),
      .rst_i(core_rst_i),
      .base_i(cores.base),
      .log_i(cores.log),
      .producer_i(cores.producer),
      .req_valid_o(fetch_valid),
      .req_o(fetch_req),
      .req_ready_i(fetch_ready),
      .rsp_valid_i(fetch_rsp_valid),
      .rsp_i(rsp_o),
      .command(words)
  );
  dma_check #(
      .ScratchBytes(ScratchBytes),
      .Writes(Writes)
  ) i_check (
      .clk_i  (core_clk_i),
      .rst_i  (core_rst_i),
      .words,
      .command(good),
      .kind,
      .bad_o  (cores.bad)
  );

  // In one place end all that are not refused.
  assign place.valid = kind.valid;
  assign place.data  = Places == 1 ? kind_t'(kind.data == 2'd2) : kind_t'(kind.data);
  assign kind.ready  = place.ready;
  progress_order #(
      .Places(Places)
  ) i_progress (
      .clk_i(core_clk_i),
      .rst_i(core_rst_i),
      .kind(place),
      .done_i,
      .progress_o(cores.progress)
  );

  `FIFO_CROSS(dma_command_t, Depth, i_commands, core, good, host, command)
endmodule
