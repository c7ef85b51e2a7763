// SPDX-License-Identifier: Apache-2.0
`include "stream.svh"
// prove: mode=prove depth=30 clocks=async
/// fifo_async with two clocks that tick as they please (also together): any beat comes out unharmed and exactly after those
/// that went in before it, nothing else comes out, the pointers that cross change by one bit at a time, and `count_o` is
/// never less than what the RAM holds.
module fifo_async_formal (
    input logic wclk_i,
    input logic rclk_i,
    input logic rst_i,
    input logic valid_i,
    input logic data_i,
    input logic ready_i,
    input logic pick_i    // the beat that goes in now is the one watched
);
  localparam int Depth = 4;
  `STREAM_ON(logic, in, wclk_i, rst_i)
  `STREAM_ON(logic, out, rclk_i, rst_i)
  logic [2:0] count;
  fifo_async #(
      .T(logic),
      .Depth(Depth)
  ) dut (
      .wclk_i,
      .wrst_i (rst_i),
      .in,
      .count_o(count),
      .rclk_i,
      .rrst_i (rst_i),
      .out
  );

  // Write side: its inputs, how many beats went in, which is watched.
  logic
      valid_q = 1'b0,
      data_q = 1'b0,
      pick_q = 1'b0,
      written_to_q = 1'b0,
      write_settled_q = 1'b0,
      watched_q = 1'b0;
  logic watched_data_q = 1'b0;
  logic [2:0] ins_q = '0, watched_number_q = '0, last_write_gray_q;
  always_ff @(posedge wclk_i) begin
    valid_q <= valid_i;
    data_q <= data_i;
    pick_q <= pick_i;
    written_to_q <= 1'b1;
    if (!rst_i && in.valid && in.ready) begin
      ins_q <= ins_q + 1'b1;
      if (pick_q && !watched_q) begin
        watched_q <= 1'b1;
        watched_data_q <= in.data;
        watched_number_q <= ins_q;
      end
    end
    last_write_gray_q <= dut.i_write.gray_o;
    write_settled_q   <= !rst_i;
    if (write_settled_q)
      assert (dut.i_write.gray_o == last_write_gray_q || $onehot(
          dut.i_write.gray_o ^ last_write_gray_q
      ));
  end
  assign in.valid = valid_q;
  assign in.data  = data_q;

  // Read side.
  logic ready_q = 1'b0, read_from_q = 1'b0, read_settled_q = 1'b0, done_q = 1'b0;
  logic [2:0] outs_q = '0, last_read_gray_q;
  always_ff @(posedge rclk_i) begin
    ready_q <= ready_i;
    read_from_q <= 1'b1;
    if (!rst_i && out.valid && out.ready) begin
      outs_q <= outs_q + 1'b1;
      if (watched_q && outs_q == watched_number_q) done_q <= 1'b1;
    end
    last_read_gray_q <= dut.i_read.gray_o;
    read_settled_q   <= !rst_i;
    if (read_settled_q)
      assert (dut.i_read.gray_o == last_read_gray_q || $onehot(
          dut.i_read.gray_o ^ last_read_gray_q
      ));
  end
  assign out.ready = ready_q;

  wire [2:0] held = ins_q - outs_q;
  always_comb begin
    // Reset lasts until both sides have seen it.
    assume (rst_i == !(written_to_q && read_from_q));
    if (!rst_i) begin
      // Depth in the RAM and one at its output.
      assert (held <= Depth + 1);
      if (out.valid) assert (held != 0);
      assert (count >= held - 3'(out.valid));
      if (watched_q && !done_q && outs_q == watched_number_q && out.valid)
        assert (out.data == watched_data_q);
      cover (held == Depth + 1 && watched_q && watched_number_q == 3'd5 && outs_q == watched_number_q);
    end
  end
endmodule
