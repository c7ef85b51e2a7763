// SPDX-License-Identifier: Apache-2.0
`include "assert.svh"
`include "stream.svh"
/// The host clock's half of the DMA write assist: commands in, rows of their bytes in, host memory written.
///
/// A command gets room in the buffer, a ring of 64-byte rows for two maximum-size frames; then its bytes are asked for, from
/// the frame memory or the scratchpad, as a part. Several are under way, up to `Depth` and the buffer's size. Rows go to
/// their command's place as they come, one a clock: those of the frame memory at once, for they cannot wait, those of the
/// scratchpad when there are none. Requests to the DMA write engine are in the order of the commands. `done_o` is high for a
/// clock when the last write of a command was sent, in order, with `interrupt_o` if its flag is set. Reset forgets all.
module dma_write_host
  import dma_pkg::*;
  import assist_pkg::*, dram_pkg::*;
#(
    parameter int BufferBytes = 4096,  // two frames, a power of two
    parameter int Depth = 16,
    parameter ram_sel_t Sel = '0
) (
    input logic clk_i,
    input logic rst_i,

    // dma_command_t
    stream_if.snk command,

    // What to read: local_part_t.
    stream_if.src frame_part,
    stream_if.src scratch_part,
    // What was read: row_t.
    stream_if.snk frame_row,
    stream_if.snk scratch_row,

    // DMA write engine: dma_req_t; its reads and statuses.
    stream_if.src dma,
    input ram_read_t ram_i,
    output ram_row_t ram_o,
    input dma_status_t status_i,

    output logic done_o,
    output logic interrupt_o
);
  localparam int Rows = BufferBytes / 64;
  localparam int RowW = $clog2(Rows);
  if (BufferBytes < 4096) begin : g_bad_parameter
    $fatal(1, "dma_write_host: BufferBytes %0d is too small", BufferBytes);
  end

  typedef logic [5:0] rows_t;  // less one
  /// A command that waits for its bytes, and what is left to do when its write was sent.
  typedef struct packed {
    dma_command_t    command;
    logic [RowW-1:0] start;
  } pending_t;
  typedef struct packed {
    rows_t rows;
    logic  irq;
  } sent_t;
  `STREAM(pending_t, pending_in)
  `STREAM(pending_t, pending)
  `STREAM(sent_t, sent_in)
  `STREAM(sent_t, sent)
  `STREAM(dma_req_t, dma_in)

  localparam int CountW = $clog2(Depth + 1);

  // Commands in: room in the buffer, then the request for the part.
  dma_command_t now;
  assign now = command.data;
  wire [11:0] now_last = now.part.len - 1'b1 + 12'(now.part.addr[3:0]);
  wire [6:0] now_rows = 7'(now_last[11:6]) + 1'b1;
  wire unused_last = &{1'b0, now_last[5:0]};
  logic [RowW:0] free_q;
  logic [RowW-1:0] tail_q;
  logic [1:0] place_ready, place_valid, filled, row_valid, row_last;
  logic [1:0][RowW-1:0] row_at;
  wire ok = 7'(free_q) >= now_rows && pending_in.ready && place_ready[now.scratch];
  assign frame_part.valid = command.valid && ok && !now.scratch;
  assign frame_part.data = now.part;
  assign scratch_part.valid = command.valid && ok && now.scratch;
  assign scratch_part.data = now.part;
  assign command.ready = ok && (now.scratch ? scratch_part.ready : frame_part.ready);
  wire take = command.valid && command.ready;
  assign pending_in.valid = take;
  assign pending_in.data = '{command: now, start: tail_q};
  assign place_valid = {take && now.scratch, take && !now.scratch};
  `FIFO(pending_t, Depth, i_pending, pending_in, pending)

  // Where the rows of each memory go: 0 frame memory, 1 scratchpad.
  typedef struct packed {
    logic [RowW-1:0] start;
    rows_t           rows;
  } place_t;
  for (genvar p = 0; p < 2; p++) begin : g_place
    `STREAM(place_t, place_in)
    `STREAM(place_t, place)
    rows_t row_q;
    assign place_in.valid = place_valid[p];
    assign place_in.data  = '{start: tail_q, rows: now_last[11:6]};
    assign place_ready[p] = place_in.ready;
    `FIFO(place_t, Depth, i_places, place_in, place)
    assign row_last[p] = row_q == place.data.rows;
    assign row_at[p]   = place.data.start + RowW'(row_q);
    assign place.ready = row_valid[p] && row_last[p];
    assign filled[p]   = row_valid[p] && row_last[p];
    always_ff @(posedge clk_i) begin
      if (row_valid[p]) row_q <= row_last[p] ? '0 : row_q + 1'b1;
      if (rst_i) row_q <= '0;
    end
    `ASSERT(RowHasPlace, row_valid[p] |-> place.valid)
  end

  assign frame_row.ready = 1'b1;
  assign scratch_row.ready = !frame_row.valid;
  assign row_valid = {scratch_row.valid && scratch_row.ready, frame_row.valid};
  seg_ram_dma_rd #(
      .Bytes(BufferBytes),
      .Sel  (Sel)
  ) i_buffer (
      .clk_i,
      .rst_i,
      .we_i(|row_valid),
      .waddr_i(row_at[!frame_row.valid]),
      .wdata_i(frame_row.valid ? frame_row.data : scratch_row.data),
      .ram_i,
      .ram_o
  );

  // The oldest command's request, once its last row is in the RAM.
  logic [1:0][CountW-1:0] filled_q;
  dma_command_t oldest;
  assign oldest = pending.data.command;
  wire [11:0] last_byte = oldest.part.len - 1'b1 + 12'(oldest.part.addr[3:0]);
  wire unused = &{1'b0, oldest.part.addr[31:4], last_byte[5:0]};
  wire issue = pending.valid && filled_q[oldest.scratch] != '0 && dma_in.ready && sent_in.ready;
  assign pending.ready = issue;
  assign dma_in.valid = issue;
  assign dma_in.data = '{
          host_addr: oldest.host_addr,
          sel: Sel,
          ram_addr: ram_addr_t'({pending.data.start, 2'b00, oldest.part.addr[3:0]}),
          len: 16'(oldest.part.len),
          relaxed: !oldest.scratch
      };
  assign sent_in.valid = issue;
  assign sent_in.data = '{rows: last_byte[11:6], irq: oldest.irq};
  spill_reg #(
      .T(dma_req_t)
  ) i_dma (
      .clk_i,
      .rst_i,
      .in (dma_in),
      .out(dma)
  );
  `FIFO(sent_t, Depth, i_sent, sent_in, sent)

  // Statuses.
  wire over = status_i.valid && status_i.sel == Sel;
  assign sent.ready = over;
  wire unused_result = &{1'b0, status_i.result};
  always_ff @(posedge clk_i) begin
    if (take) tail_q <= tail_q + RowW'(now_rows);
    for (int p = 0; p < 2; p++) begin
      filled_q[p] <= filled_q[p] + CountW'(filled[p]) - CountW'(issue && oldest.scratch == 1'(p));
    end
    free_q <= free_q + (over ? (RowW + 1)'(sent.data.rows) + 1'b1 : '0) - (take ? (RowW + 1)'(now_rows) : '0);
    done_o <= over;
    interrupt_o <= over && sent.data.irq;
    if (rst_i) begin
      tail_q <= '0;
      filled_q <= '0;
      free_q <= (RowW + 1)'(Rows);
      done_o <= 1'b0;
      interrupt_o <= 1'b0;
    end
  end

  `ASSERT(StatusIsExpected, over |-> sent.valid)
  `ASSERT(BufferNotOverfull, free_q <= (RowW + 1)'(Rows))
  `ASSERT(PartOfGoodSize, command.valid |-> now.part.len inside {[1 : MaxPart]})
endmodule
