// SPDX-License-Identifier: Apache-2.0
`include "assert.svh"
`include "stream.svh"
/// The host clock's half of the DMA read assist: commands in, host memory read, rows of their bytes out.
///
/// A command gets room in the buffer, a ring of 64-byte rows for two maximum-size frames, and becomes a request to the
/// DMA read engine that puts the first byte at (local address mod 16) in its row: nothing is shifted later.
/// Several commands are under way, up to `Depth` and the buffer's size. Those that are done go on in order, a row a clock:
/// to the frame memory, or to the scratchpad. A read that failed is counted by `error_o`. Into the scratchpad its rows go on, as
/// `failed`; into the frame memory too, as they are, and before them `lost` says in which slot a frame is not whole.
/// Back-pressure from all sides; the row FIFOs behind must hold at least 8 rows. Reset forgets all.
module dma_read_host
  import dma_pkg::*;
  import assist_pkg::*, dram_pkg::*;
#(
    parameter int BufferBytes = 4096,  // two frames, a power of two
    parameter int Depth = 16,
    parameter int RowDepth = 16,  // of the row FIFOs behind
    parameter ram_sel_t Sel = '0,
    localparam int CountW = $clog2(RowDepth) + 1
) (
    input logic clk_i,
    input logic rst_i,

    // dma_command_t
    stream_if.snk command,

    // DMA read engine: dma_req_t; its data and statuses.
    stream_if.src dma,
    input ram_write_t ram_i,
    input dma_status_t status_i,

    // To the frame memory (local_part_t, row_t) and the scratchpad (row_t); how full the FIFOs are.
    stream_if.src frame_part,
    stream_if.src frame_row,
    input logic [CountW-1:0] frame_count_i,
    stream_if.src lost,  // slot_t
    stream_if.src scratch_part,  // read_part_t
    stream_if.src scratch_row,
    input logic [CountW-1:0] scratch_count_i,

    output logic error_o
);
  localparam int Rows = BufferBytes / 64;
  localparam int RowW = $clog2(Rows);
  if (BufferBytes < 4096 || RowDepth < 8 || 2 ** $clog2(Depth) != Depth) begin : g_bad_parameter
    $fatal(
        1,
        "dma_read_host: BufferBytes %0d or RowDepth %0d is too small, or Depth %0d no power of two",
        BufferBytes,
        RowDepth,
        Depth
    );
  end
  typedef struct packed {
    local_part_t part;
    logic        scratch;
  } pending_t;
  `STREAM(pending_t, pending_in)
  `STREAM(pending_t, pending)

  // Commands in: room in the buffer, then the request.
  dma_command_t now;
  assign now = command.data;
  wire [11:0] now_last = now.part.len - 1'b1 + 12'(now.part.addr[3:0]);
  wire [6:0] now_rows = 7'(now_last[11:6]) + 1'b1;
  logic [11:0] last_byte;  // of the command that is read out
  wire unused = &{1'b0, now.irq, now_last[5:0], last_byte[5:0]};
  logic [RowW:0] free_q;
  logic [RowW-1:0] tail_q, head_q;
  wire room = 7'(free_q) >= now_rows;
  wire take = command.valid && room && dma.ready && pending_in.ready;
  assign command.ready = take;
  assign dma.valid = command.valid && room && pending_in.ready;
  assign dma.data = '{
          host_addr: now.host_addr,
          sel: Sel,
          ram_addr: ram_addr_t'({tail_q, 2'b00, now.part.addr[3:0]}),
          len: 16'(now.part.len),
          relaxed: !now.scratch
      };
  assign pending_in.valid = take;
  assign pending_in.data = '{part: now.part, scratch: now.scratch};

  `FIFO(pending_t, Depth, i_pending, pending_in, pending)

  // Commands whose bytes have come, less those whose rows have all been read.
  logic [$clog2(Depth+1)-1:0] done_q;
  wire ours = status_i.valid && status_i.sel == Sel;

  // Rows out of the buffer, two clocks after the read. At most two are on their way to the FIFO.
  logic [5:0] row_q;
  assign last_byte = pending.data.part.len - 1'b1 + 12'(pending.data.part.addr[3:0]);
  wire last = row_q == last_byte[11:6];
  wire to_scratch = pending.data.scratch;
  wire space = (to_scratch ? scratch_count_i : frame_count_i) < CountW'(RowDepth - 3);
  // Of those, in order, which have failed.
  logic [Depth-1:0] failed_q;
  logic [$clog2(Depth)-1:0] status_q, oldest_q;
  wire failed = failed_q[oldest_q];
  wire tells = failed && !to_scratch && row_q == '0;
  wire due = pending.valid && done_q != '0 && space;
  assign lost.valid = due && tells;
  assign lost.data  = pending.data.part.addr[FrameAddrW-1-:SlotW];
  wire read = due && (!tells || lost.ready);
  assign pending.ready = read && last;
  wire [511:0] rdata;
  seg_ram_dma_wr #(
      .Bytes(BufferBytes),
      .Sel  (Sel)
  ) i_buffer (
      .clk_i,
      .rst_i,
      .ram_i,
      .re_i(read),
      .raddr_i(head_q),
      .rdata_o(rdata)
  );

  logic [1:0] valid_q, first_q, scratch_q;
  read_part_t part1_q, part2_q;
  always_ff @(posedge clk_i) begin
    if (read) begin
      row_q  <= last ? '0 : row_q + 1'b1;
      head_q <= head_q + 1'b1;
    end
    if (take) tail_q <= tail_q + RowW'(now_rows);
    free_q <= free_q + (RowW + 1)'(read) - (take ? (RowW + 1)'(now_rows) : '0);
    done_q <= done_q + ($bits(done_q))'(ours) - ($bits(done_q))'(read && last);
    valid_q <= {valid_q[0], read};
    first_q <= {first_q[0], row_q == '0};
    scratch_q <= {scratch_q[0], to_scratch};
    if (read && row_q == '0) part1_q <= '{failed: failed, part: pending.data.part};
    if (ours) begin
      failed_q[status_q] <= status_i.result != DmaOk;
      status_q <= status_q + 1'b1;
    end
    if (read && last) oldest_q <= oldest_q + 1'b1;
    if (valid_q[0] && first_q[0]) part2_q <= part1_q;
    error_o <= ours && status_i.result != DmaOk;
    if (rst_i) begin
      row_q <= '0;
      head_q <= '0;
      tail_q <= '0;
      free_q <= (RowW + 1)'(Rows);
      done_q <= '0;
      status_q <= '0;
      oldest_q <= '0;
      valid_q <= '0;
      error_o <= 1'b0;
    end
  end
  assign frame_row.valid = valid_q[1] && !scratch_q[1];
  assign frame_row.data = rdata;
  assign frame_part.valid = frame_row.valid && first_q[1];
  assign frame_part.data = part2_q.part;
  assign scratch_row.valid = valid_q[1] && scratch_q[1];
  assign scratch_row.data = rdata;
  assign scratch_part.valid = scratch_row.valid && first_q[1];
  assign scratch_part.data = part2_q;

  `ASSERT(FrameRowPlaceKept, frame_row.valid |-> frame_row.ready)
  `ASSERT(FramePartPlaceKept, frame_part.valid |-> frame_part.ready)
  `ASSERT(ScratchRowPlaceKept, scratch_row.valid |-> scratch_row.ready)
  `ASSERT(ScratchPartPlaceKept, scratch_part.valid |-> scratch_part.ready)
  `ASSERT(BufferNotOverfull, free_q <= (RowW + 1)'(Rows))
  `ASSERT(PartOfGoodSize, command.valid |-> now.part.len inside {[1 : MaxPart]})
endmodule
