// SPDX-License-Identifier: Apache-2.0
`include "assert.svh"
`include "stream.svh"
/// DMA write assist: moves bytes of the frame memory or the scratchpad into host memory (core-nic paper, section 4).
///
/// Commands (assist_pkg, four words) come from a ring in the scratchpad; `cores.progress` counts those whose last write has been
/// sent, in order: the host sees the writes of one command before those of the next. Any alignment on both sides. Commands
/// overlap: up to 16, within a buffer of two maximum-size frames. `interrupt_o` (host clock) is high for a clock for
/// each command that asks for an interrupt, after its last write was sent. Commands that cannot be are skipped (`cores.bad`).
/// One 64-byte row in a memory clock (not more than one in a host clock: the memory clock is at most the host clock), a
/// word of 4 bytes in a core clock. Four clocks meet here; all resets must be given together.
module dma_write_assist
  import core_pkg::*;
  import dma_pkg::*;
  import assist_pkg::*, dram_pkg::*;
#(
    parameter int ScratchBytes = 262144,
    parameter int BufferBytes = 4096,
    parameter ram_sel_t Sel = '0
) (
    // Core clock.
    input logic core_clk_i,
    input logic core_rst_i,
    assist_if.assist cores,

    // Host clock: DMA write engine.
    input  logic         host_clk_i,
    input  logic         host_rst_i,
           stream_if.src dma,         // dma_req_t
    input  ram_read_t    ram_i,
    output ram_row_t     ram_o,
    input  dma_status_t  status_i,
    output logic         interrupt_o,

    // Memory clock: frame bus.
    input logic         mem_clk_i,
    input logic         mem_rst_i,
          stream_if.src req,        // bus_req_t
          stream_if.snk rdata       // row_t
);
  localparam int RowDepth = 16;
  localparam int CommandDepth = 8;

  // ---------------------------------------------------------------- core clock: commands and progress
  `STREAM_ON(dma_command_t, host_command, host_clk_i, host_rst_i)
  logic own_valid, own_ready, own_rsp_valid;
  mem_req_t own_req;
  logic [31:0] done;
  logic done_pulse;
  mem_rsp_t own_rsp;

  dma_commands #(
      .ScratchBytes(ScratchBytes),
      .Depth(CommandDepth),
      .Writes(1'b1),
      .Places(1)
  ) i_commands (
      .core_clk_i,
      .core_rst_i,
      .cores,
      .done_i(done),
      .req_valid_i(own_valid),
      .req_i(own_req),
      .req_ready_o(own_ready),
      .rsp_valid_o(own_rsp_valid),
      .rsp_o(own_rsp),
      .host_clk_i,
      .host_rst_i,
      .command(host_command)
  );
  count_cross i_done (
      .src_clk_i(host_clk_i),
      .src_rst_i(host_rst_i),
      .add_i(done_pulse),
      .dst_clk_i(core_clk_i),
      .dst_rst_i(core_rst_i),
      .count_o(done)
  );

  // ---------------------------------------------------------------- host clock
  `STREAM_ON(local_part_t, frame_part, host_clk_i, host_rst_i)
  `STREAM_ON(row_t, frame_row, host_clk_i, host_rst_i)
  `STREAM_ON(local_part_t, scratch_part, host_clk_i, host_rst_i)
  `STREAM_ON(row_t, scratch_row, host_clk_i, host_rst_i)

  dma_write_host #(
      .BufferBytes(BufferBytes),
      .Sel(Sel)
  ) i_host (
      .clk_i  (host_clk_i),
      .rst_i  (host_rst_i),
      .command(host_command),
      .frame_part,
      .scratch_part,
      .frame_row,
      .scratch_row,
      .dma,
      .ram_i,
      .ram_o,
      .status_i,
      .done_o (done_pulse),
      .interrupt_o
  );

  // ---------------------------------------------------------------- memory clock: from the frame memory
  `STREAM_ON(local_part_t, mem_part, mem_clk_i, mem_rst_i)
  `STREAM_ON(row_t, mem_row, mem_clk_i, mem_rst_i)
  `FIFO_CROSS(local_part_t, CommandDepth, i_frame_parts, host, frame_part, mem, mem_part)
  assign rdata.ready = 1'b1;  // all was reserved before
  frame_memory_reader #(
      .Words(DramSlots)
  ) i_frame_reader (
      .clk_i(mem_clk_i),
      .rst_i(mem_rst_i),
      .part(mem_part),
      .req,
      .rvalid_i(rdata.valid),
      .last_o()
  );
  assign mem_row.valid = rdata.valid;
  assign mem_row.data  = rdata.data;
  `FIFO_CROSS(row_t, RowDepth, i_frame_rows, mem, mem_row, host, frame_row)
  `ASSERT(RowPlaceKept, mem_row.valid |-> mem_row.ready, mem_clk_i, mem_rst_i)

  // ---------------------------------------------------------------- core clock: from the scratchpad
  `STREAM_ON(local_part_t, core_part, core_clk_i, core_rst_i)
  `STREAM_ON(row_t, core_row, core_clk_i, core_rst_i)
  `FIFO_CROSS(local_part_t, CommandDepth, i_scratch_parts, host, scratch_part, core, core_part)
  scratch_reader i_scratch_reader (
      .clk_i(core_clk_i),
      .rst_i(core_rst_i),
      .part(core_part),
      .row(core_row),
      .req_valid_o(own_valid),
      .req_o(own_req),
      .req_ready_i(own_ready),
      .rsp_valid_i(own_rsp_valid),
      .rsp_i(own_rsp)
  );
  `FIFO_CROSS(row_t, 4, i_scratch_rows, core, core_row, host, scratch_row)
endmodule
