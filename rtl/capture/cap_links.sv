// SPDX-License-Identifier: Apache-2.0
`include "assert.svh"
/// What the packer has on the links and asks of them before it acts, a clock ahead: which can take a record, and which is to
/// have the next block.
///
/// Of the record that is packed in the next clock: `next_record_i` if the packer goes on (`advance_i`), else `record_i`. A new
/// block goes to the link with the least work, in turns when it is the same. One is moved only to a link that is about to run out
/// of work: while both have enough, small blocks cost more than waiting.
module cap_links
  import cap_pkg::*;
#(
    parameter  int PageW = 9,
    localparam int LinkW = $clog2(MaxLinks)
) (
    input logic clk_i,
    input logic rst_i,
    input logic [QueuedW-1:0] switch_margin_i,  // its two upper bits are 0, for four times as many
    input logic advance_i,
    input logic [LenW-1:0] record_i,
    input logic [LenW-1:0] next_record_i,

    input logic [MaxLinks-1:0] ok_i,
    input logic [MaxLinks-1:0] space_i,
    input logic [MaxLinks-1:0][PageIdW:0] pages_i,
    input logic [MaxLinks-1:0][QueuedW-1:0] queued_i,

    output logic [MaxLinks-1:0] can_o,  // take the record
    output logic [MaxLinks-1:0] move_o,  // a block from this link to the other
    output logic [LinkW-1:0] choice_o,

    // A block is opened on `choice_o`, one on `link_i` is closed.
    input  logic                open_i,
    input  logic                close_i,
    input  logic [   LinkW-1:0] link_i,
    output logic [MaxLinks-1:0] opened_o,
    output logic [MaxLinks-1:0] using_o    // there are open blocks on it
);
  logic [MaxLinks-1:0][PageIdW:0] spare_q;  // pages but for 3: those of the ends of a record, and of two clocks
  logic [MaxLinks-1:0] can, low, less_q;  // on work; work than the other link
  logic [MaxLinks-1:0][RingW:0] blocks_q;
  logic [LinkW-1:0] last_q;

  function automatic logic enough(logic [PageIdW:0] spare, logic [LenW-1:0] record);
    return spare > (PageIdW + 1)'(record >> PageW);
  endfunction

  always_comb begin
    choice_o = ~last_q;
    if (less_q[0]) choice_o = 1'b0;
    if (less_q[1]) choice_o = 1'b1;
    if (!can_o[choice_o]) choice_o = ~choice_o;
    for (int l = 0; l < MaxLinks; l++) begin
      can[l] = ok_i[l] && space_i[l] &&
          (advance_i ? enough(spare_q[l], next_record_i) : enough(spare_q[l], record_i));
      low[l] = queued_i[l] < {switch_margin_i[QueuedW-3:0], 2'd0};
      using_o[l] = blocks_q[l] != '0;
    end
  end

  always_ff @(posedge clk_i) begin
    can_o <= can;
    if (open_i) last_q <= choice_o;
    for (int l = 0; l < MaxLinks; l++) begin
      spare_q[l] <= pages_i[l] > (PageIdW + 1)'(3) ? pages_i[l] - (PageIdW + 1)'(3) : '0;
      less_q[l] <= queued_i[l] < queued_i[1-l];
      move_o[l] <= can[1-l] && low[1-l] && queued_i[l] > queued_i[1-l] + switch_margin_i;
      opened_o[l] <= open_i && choice_o == LinkW'(l) && !rst_i;
      blocks_q[l] <= blocks_q[l] + (RingW + 1)'(open_i && choice_o == LinkW'(l)) - (RingW + 1)'(close_i && link_i == LinkW'(l));
    end
    if (rst_i) begin
      last_q   <= 1'b1;
      blocks_q <= '0;
    end
  end

  `ASSERT(MarginFits, switch_margin_i[QueuedW-1-:2] == '0)
endmodule
