// SPDX-License-Identifier: Apache-2.0
// prove: mode=prove depth=12
`include "formal.svh"
/// cap_flush: rings are looked at one after the other; what is due is the ring that was looked at two clocks before, for one of the
/// reasons in the header of the block, judged by the clock in between, and it stays due until it is taken. Then the scan begins with that ring.
module cap_flush_formal
  import cap_pkg::*;
(
    input logic clk_i,
    input logic rst_i,
    input pack_cfg_t cfg_i,
    input logic [MaxLinks-1:0] ok_i,
    input logic [MaxLinks-1:0][QueuedW-1:0] queued_i,
    input logic waits_i,
    input logic [23:0] time_i,
    input logic open_i,
    input logic link_i,
    input logic untold_i,
    input logic [23:0] since_i,
    input logic taken_i
);
  `FORMAL_BEGIN
  localparam int Rings = 3;
  localparam int Many = 5;
  logic [1:0] scan, ring;
  logic due;
  cap_flush #(
      .Rings(Rings),
      .FlushQueued(Many)
  ) dut (
      .clk_i,
      .rst_i,
      .cfg_i,
      .ok_i,
      .queued_i,
      .waits_i,
      .time_i,
      .scan_o (scan),
      .open_i,
      .link_i,
      .untold_i,
      .since_i,
      .due_o  (due),
      .ring_o (ring),
      .taken_i(taken_i && due)
  );

  // The block that was looked at a clock ago, and what the clock after says of it.
  logic seen_q, open_q, link_q, untold_q;
  logic [ 1:0] seen_ring_q;
  logic [23:0] since_q;
  logic [26:0] patience, age;
  always_comb begin
    age = {3'd0, time_i - since_q};
    patience = 27'(cfg_i.flush_clocks);
    if (32'(queued_i[link_q]) > Many) patience = 27'(cfg_i.flush_clocks) * 27'd8;
  end
  wire for_age = untold_q && age >= patience;
  wire for_link = ok_i[link_q] == 1'b0;
  wire for_end = cfg_i.enable == 1'b0 && waits_i == 1'b0;

  logic was_due_q, was_taken_q, want_q, aged_q;
  logic [1:0] was_ring_q, was_scan_q;
  always_ff @(posedge clk_i) begin
    was_due_q   <= due;
    was_taken_q <= due && taken_i;
    was_ring_q  <= ring;
    was_scan_q  <= scan;
    aged_q      <= !for_link && !for_end;
    want_q      <= !due && seen_q && open_q && (for_age || for_link || for_end);
    seen_q      <= due ? seen_q && !taken_i : 1'b1;
    if (!due) begin
      {open_q, link_q, untold_q, since_q} <= {open_i, link_i, untold_i, since_i};
      seen_ring_q <= scan;
    end
    if (rst_i) {was_due_q, was_taken_q, want_q, seen_q} <= '0;
  end
  logic [1:0] judged_q;
  always_ff @(posedge clk_i) if (!due) judged_q <= seen_ring_q;
  logic after_q = 1'b0;  // the clock after that of the reset
  always_ff @(posedge clk_i) after_q <= !started_q;

  always_comb begin
    if (started_q) begin
      assert (int'(scan) < Rings);
      if (after_q)
        assert (!due && scan == '0);
        else if (was_due_q && !was_taken_q)
          assert (due && ring == was_ring_q);
          else if (was_taken_q)
            assert (!due && scan == seen_ring_q);
            else begin
              assert (due == want_q);
              assert (int'(scan) == (int'(was_scan_q) + 1) % Rings);
              if (due) assert (ring == judged_q);
            end
      cover (due && ring == 2'd2 && !was_due_q);
      cover (want_q && aged_q);
    end
  end
endmodule
