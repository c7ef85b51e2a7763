// SPDX-License-Identifier: Apache-2.0
`include "stream.svh"
/// DMA read assist: moves bytes of host memory into the frame memory or the scratchpad (core-nic paper, section 4).
///
/// Commands (assist_pkg, four words) come from a ring in the scratchpad; `cores.progress` counts those whose bytes are where they
/// belong, in order, so that a later access finds them. Any alignment on both sides. Commands overlap: up to 16 are
/// with the host, within a buffer of two maximum-size frames. One 64-byte row moves in a host clock and in a
/// memory clock, a word of 4 bytes in a core clock. Commands that cannot be are skipped (`cores.bad`); reads that the host
/// refused, or did not answer, are counted (`error_o`, host clock): in the scratchpad there is `fill_i` in their place, and of a frame
/// `lost` names the slot. Four clocks meet here; all resets must be given together.
module dma_read_assist
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
    input logic [3:0][31:0] fill_i,
    stream_if.src lost,  // slot_t

    // Host clock: DMA read engine.
    input  logic         host_clk_i,
    input  logic         host_rst_i,
           stream_if.src dma,         // dma_req_t
    input  ram_write_t   ram_i,
    input  dma_status_t  status_i,
    output logic         error_o,

    // Memory clock: frame bus.
    input logic         mem_clk_i,
    input logic         mem_rst_i,
          stream_if.src req,        // bus_req_t
          stream_if.src wdata       // bus_row_t
);
  localparam int RowDepth = 16;
  localparam int CommandDepth = 8;
  localparam int LostDepth = 4;

  // ---------------------------------------------------------------- core clock: commands and progress
  `STREAM_ON(dma_command_t, host_command, host_clk_i, host_rst_i)
  logic own_valid, own_ready;
  mem_req_t own_req;
  logic [31:0] frame_done, scratch_done_q;
  logic scratch_done, frame_done_pulse;

  dma_commands #(
      .ScratchBytes(ScratchBytes),
      .Depth(CommandDepth),
      .Places(2)
  ) i_commands (
      .core_clk_i,
      .core_rst_i,
      .cores,
      .done_i({scratch_done_q, frame_done}),
      .req_valid_i(own_valid),
      .req_i(own_req),
      .req_ready_o(own_ready),
      .rsp_valid_o(),
      .rsp_o(),
      .host_clk_i,
      .host_rst_i,
      .command(host_command)
  );

  always_ff @(posedge core_clk_i) begin
    if (scratch_done) scratch_done_q <= scratch_done_q + 1'b1;
    if (core_rst_i) scratch_done_q <= '0;
  end

  // ---------------------------------------------------------------- host clock
  `STREAM_ON(local_part_t, frame_part, host_clk_i, host_rst_i)
  `STREAM_ON(row_t, frame_row, host_clk_i, host_rst_i)
  `STREAM_ON(slot_t, host_lost, host_clk_i, host_rst_i)
  `STREAM_ON(read_part_t, scratch_part, host_clk_i, host_rst_i)
  `STREAM_ON(row_t, scratch_row, host_clk_i, host_rst_i)
  logic [$clog2(RowDepth):0] frame_rows, scratch_rows;

  dma_read_host #(
      .BufferBytes(BufferBytes),
      .RowDepth(RowDepth),
      .Sel(Sel)
  ) i_host (
      .clk_i(host_clk_i),
      .rst_i(host_rst_i),
      .command(host_command),
      .dma,
      .ram_i,
      .status_i,
      .frame_part,
      .frame_row,
      .frame_count_i(frame_rows),
      .lost(host_lost),
      .scratch_part,
      .scratch_row,
      .scratch_count_i(scratch_rows),
      .error_o
  );

  // ---------------------------------------------------------------- memory clock
  `STREAM_ON(local_part_t, mem_part, mem_clk_i, mem_rst_i)
  `STREAM_ON(row_t, mem_row, mem_clk_i, mem_rst_i)
  `FIFO_CROSS(local_part_t, RowDepth, i_frame_parts, host, frame_part, mem, mem_part)
  fifo_async #(
      .T(row_t),
      .Depth(RowDepth)
  ) i_frame_rows (
      .wclk_i(host_clk_i),
      .wrst_i(host_rst_i),
      .in(frame_row),
      .count_o(frame_rows),
      .rclk_i(mem_clk_i),
      .rrst_i(mem_rst_i),
      .out(mem_row)
  );
  frame_memory_writer i_frame_writer (
      .clk_i(mem_clk_i),
      .rst_i(mem_rst_i),
      .part(mem_part),
      .row(mem_row),
      .req,
      .wdata,
      .done_o(frame_done_pulse)
  );
  count_cross i_frame_done (
      .src_clk_i(mem_clk_i),
      .src_rst_i(mem_rst_i),
      .add_i(frame_done_pulse),
      .dst_clk_i(core_clk_i),
      .dst_rst_i(core_rst_i),
      .count_o(frame_done)
  );

  // ---------------------------------------------------------------- core clock: into the scratchpad
  `STREAM_ON(read_part_t, core_part, core_clk_i, core_rst_i)
  `STREAM_ON(row_t, core_row, core_clk_i, core_rst_i)
  `FIFO_CROSS(slot_t, LostDepth, i_lost, host, host_lost, core, lost)
  `FIFO_CROSS(read_part_t, RowDepth, i_scratch_parts, host, scratch_part, core, core_part)
  fifo_async #(
      .T(row_t),
      .Depth(RowDepth)
  ) i_scratch_rows (
      .wclk_i(host_clk_i),
      .wrst_i(host_rst_i),
      .in(scratch_row),
      .count_o(scratch_rows),
      .rclk_i(core_clk_i),
      .rrst_i(core_rst_i),
      .out(core_row)
  );
  scratch_writer i_scratch_writer (
      .clk_i(core_clk_i),
      .rst_i(core_rst_i),
      .fill_i,
      .part(core_part),
      .row(core_row),
      .req_valid_o(own_valid),
      .req_o(own_req),
      .req_ready_i(own_ready),
      .done_o(scratch_done)
  );
endmodule
