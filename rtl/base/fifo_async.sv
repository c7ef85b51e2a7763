// SPDX-License-Identifier: Apache-2.0
`include "assert.svh"
/// First-in first-out buffer between two clocks, with Gray-coded pointers.
///
/// `in` belongs to `wclk_i`, `out` to `rclk_i`. Holds `Depth` beats (a power of two). One beat a clock on each side, full
/// back-pressure, latency 1 write clock and about 3 read clocks. `count_o` (write domain) is at least the number of beats
/// held. Drops nothing, but for a reset.
///
/// Each side may be reset alone, by its own clock. The writer's reset takes nothing in and leaves what is held. The reader's drops what
/// is held: what went in before it began if it lasts four of its clocks, and nothing that goes in after its end; a beat a clock,
/// and nothing comes out before that is done. Both resets leave it empty if the reader's goes on four of its clocks into the writer's.
/// The pointers begin with the configuration, no reset touches them.
module fifo_async #(
    parameter type T = logic,
    parameter int Depth = 16,
    localparam int PtrW = $clog2(Depth)
) (
    input  logic                  wclk_i,
    input  logic                  wrst_i,
           stream_if.snk          in,
    output logic         [PtrW:0] count_o,
    input  logic                  rclk_i,
    input  logic                  rrst_i,
           stream_if.src          out
);
  if (Depth < 4 || 2 ** PtrW != Depth) begin : g_bad_parameter
    $fatal(1, "fifo_async: Depth %0d is not a power of two from 4", Depth);
  end

  // The pointers, each in both domains.
  logic [PtrW:0] write, write_gray_at_r, read, read_gray, read_at_w;
  wire  push = in.valid && in.ready && !wrst_i;
  logic pop;
  gray_cross #(
      .Width(PtrW + 1)
  ) i_write (
      .src_clk_i(wclk_i),
      .add_i(push),
      .count_o(write),
      .gray_o(),
      .dst_clk_i(rclk_i),
      .dst_count_o(),
      .dst_gray_o(write_gray_at_r)
  );
  gray_cross #(
      .Width(PtrW + 1)
  ) i_read (
      .src_clk_i(rclk_i),
      .add_i(pop),
      .count_o(read),
      .gray_o(read_gray),
      .dst_clk_i(wclk_i),
      .dst_count_o(read_at_w),
      .dst_gray_o()
  );
  ram_2clk #(
      .Width($bits(T)),
      .Depth(Depth)
  ) i_ram (
      .wclk_i,
      .we_i(push),
      .waddr_i(write[PtrW-1:0]),
      .wdata_i(in.data),
      .rclk_i,
      .re_i(pop),
      .raddr_i(read[PtrW-1:0]),
      .rdata_o(out.data)
  );

  assign count_o  = write - read_at_w;
  assign in.ready = count_o < (PtrW + 1)'(Depth);

  // The RAM's output is refilled in the clock in which it is empty or taken; and of what is skipped in each.
  logic head_full_q = 1'b0;
  logic skip_q = 1'b0;  // to `until_q`: what the reader saw in the last clock of its reset
  logic [PtrW:0] until_q;  // Gray
  wire seen = write_gray_at_r != read_gray;
  wire behind = until_q != read_gray;
  assign pop = skip_q ? behind : seen && (!head_full_q || out.ready);
  assign out.valid = head_full_q;
  always_ff @(posedge rclk_i) begin
    if (pop) head_full_q <= !skip_q;
    else if (out.ready) head_full_q <= 1'b0;
    if (!behind) skip_q <= 1'b0;
    if (rrst_i) begin
      head_full_q <= 1'b0;
      skip_q <= seen;
      until_q <= write_gray_at_r;
    end
  end

  `ASSERT(NeverOverfull, count_o <= (PtrW + 1)'(Depth), wclk_i, wrst_i)
endmodule
