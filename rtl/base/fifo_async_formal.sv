// SPDX-License-Identifier: Apache-2.0
`include "stream.svh"
// prove: mode=prove depth=30 clocks=async suite=24
/// fifo_async with two clocks that tick as they please (also together) and two resets that come and go as they please, alone and
/// together. Any beat comes out unharmed and exactly after those that went in before it, nothing else comes out. What is skipped
/// was in before the reader's reset ended; a beat that was in before one of three clocks never comes out. It skips a beat in each
/// clock until it is done. The pointers that cross change by one bit at a time, and `count_o` is never less than what the RAM holds.
module fifo_async_formal (
    input logic wclk_i,
    input logic rclk_i,
    input logic wrst_i,
    input logic rrst_i,
    input logic valid_i,
    input logic data_i,
    input logic ready_i,
    input logic pick_i    // the beat that goes in now is the one watched
);
  localparam int Depth = 4;
  // Inputs follow their clocks.
  logic wrst_q = 1'b1, rrst_q = 1'b1;
  `STREAM_ON(logic, in, wclk_i, wrst_q)
  `STREAM_ON(logic, out, rclk_i, rrst_q)
  logic [2:0] count;
  fifo_async #(
      .T(logic),
      .Depth(Depth)
  ) dut (
      .wclk_i,
      .wrst_i (wrst_q),
      .in,
      .count_o(count),
      .rclk_i,
      .rrst_i (rrst_q),
      .out
  );

  // Write side: its inputs, how many beats went in, which is watched.
  logic valid_q = 1'b0, data_q = 1'b0, pick_q = 1'b0, watched_q = 1'b0, watched_data_q = 1'b0;
  logic [2:0] ins_q = '0, watched_number_q = '0, last_write_gray_q = '0;
  always_ff @(posedge wclk_i) begin
    valid_q <= valid_i;
    data_q  <= data_i;
    pick_q  <= pick_i;
    wrst_q  <= wrst_i;
    if (!wrst_q && in.valid && in.ready) begin
      ins_q <= ins_q + 1'b1;
      if (pick_q && !watched_q) begin
        watched_q <= 1'b1;
        watched_data_q <= in.data;
        watched_number_q <= ins_q;
      end
    end
    last_write_gray_q <= dut.i_write.gray_o;
    assert ($onehot0(dut.i_write.gray_o ^ last_write_gray_q));
  end
  assign in.valid = valid_q;
  assign in.data  = data_q;

  // Read side: how many went in, as it was one and two clocks ago; the number of the next that is to come out.
  logic ready_q = 1'b0, done_q = 1'b0, done_skipping_q = 1'b0;
  logic [2:0] ins_at_r_q[2] = '{default: '0};
  logic [2:0] next_q = '0, before_q = '0, end_q = '0, to_skip_q = '0, last_read_gray_q = '0;
  wire skips = rrst_q || dut.skip_q;
  wire [2:0] next = skips ? dut.read + 3'(dut.pop) : next_q + 3'(out.valid && out.ready);
  wire [2:0] to_skip = end_q - next_q;
  always_ff @(posedge rclk_i) begin
    ready_q <= ready_i;
    rrst_q <= rrst_i;
    ins_at_r_q <= '{ins_q, ins_at_r_q[0]};
    next_q <= next;
    if (watched_q && watched_number_q - next_q < next - next_q) done_q <= 1'b1;
    // What was in two clocks before the reset's last, and in that.
    if (rrst_q) before_q <= ins_at_r_q[1];
    if (rrst_q) end_q <= ins_q;
    done_skipping_q <= skips;
    to_skip_q <= rrst_q ? '1 : to_skip;
    last_read_gray_q <= dut.i_read.gray_o;
    assert ($onehot0(dut.i_read.gray_o ^ last_read_gray_q));
  end
  assign out.ready = ready_q;

  wire [2:0] held = ins_q - next_q;
  always_comb begin
    // How the pointers stand to each other, for the induction.
    assert (dut.write == ins_q);
    assert (dut.write_gray_at_r == (ins_at_r_q[1] ^ (ins_at_r_q[1] >> 1)));
    assert (dut.i_write.i_sync.first_q == (ins_at_r_q[0] ^ (ins_at_r_q[0] >> 1)));
    if (!rrst_q) begin
      assert (dut.read == next_q + 3'(out.valid));
      // Depth in the RAM and one at its output.
      assert (held <= Depth + 1);
      if (out.valid) assert (held != 0);
      assert (count >= held - 3'(out.valid));
      if (watched_q && !done_q && next_q == watched_number_q && out.valid)
        assert (out.data == watched_data_q);
      if (dut.skip_q) begin
        assert (!out.valid);
        assert (to_skip <= 3'(Depth) && to_skip < to_skip_q);
      end else if (done_skipping_q) begin
        assert (next_q - before_q <= ins_q - before_q);
      end
    end
    cover (!rrst_q && held == Depth + 1 && watched_number_q == 3'd5 && next_q == watched_number_q);
    cover (dut.skip_q && !rrst_q && to_skip == 3'd3 && !wrst_q);
    cover (done_q && done_skipping_q && !rrst_q && held == 3'd2);
  end
endmodule
