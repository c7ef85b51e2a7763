// SPDX-License-Identifier: Apache-2.0
/// Counts of all rings and their registers (ring_regs of systems/capture/capture.rdl; a ring each 32 bytes).
///
/// The packer opens and closes blocks and says what became of each packet; the consumer returns blocks by writing the
/// number it has returned so far. Wrong numbers are refused, with a pulse of `refused_o`. Registers answer in the next
/// clock; rings that are not there read 0. Everything counts from `start_i`.
module cap_rings
  import cap_pkg::*;
#(
    parameter int Rings = 8
) (
    input logic clk_i,
    input logic rst_i,
    input logic start_i,
    input logic [4:0] log_blocks_i,

    reg_if.slave regs,
    output logic refused_o,

    // Events of one ring in this clock.
    input cap_ring_t ring_i,
    input logic open_i,
    input logic close_i,
    input logic packet_i,
    input logic dropped_i,

    output logic [Rings-1:0]       room_o,
    output logic [Rings-1:0][31:0] opened_o,
    output logic [Rings-1:0][31:0] packets_o
);
  if (Rings < 1 || Rings > 2 ** RingW || 2 ** $clog2(Rings) != Rings) begin : g_bad_parameter
    $fatal(1, "cap_rings: Rings %0d is not a power of two from 1 to 32", Rings);
  end

  logic [Rings-1:0] refused;
  logic [Rings-1:0][31:0] closed, returned, dropped_q, packets_q;
  wire unused = &{1'b0, regs.wstrb, regs.addr};
  wire [31:0] which = 32'(regs.addr[RingW+4:5]);
  wire [2:0] word = regs.addr[4:2];
  assign packets_o = packets_q;
  assign refused_o = |refused;

  for (genvar r = 0; r < Rings; r++) begin : g_ring
    wire hit = ring_i == cap_ring_t'(r);
    cap_ring_count i_count (
        .clk_i,
        .rst_i,
        .start_i,
        .log_blocks_i,
        .open_i(open_i && hit),
        .close_i(close_i && hit),
        .room_o(room_o[r]),
        .return_i(regs.req && regs.write && word == RingRegReturned && which == r),
        .count_i(regs.wdata),
        .refused_o(refused[r]),
        .opened_o(opened_o[r]),
        .closed_o(closed[r]),
        .returned_o(returned[r])
    );
    always_ff @(posedge clk_i) begin
      if (packet_i && hit) packets_q[r] <= packets_q[r] + 1'b1;
      if (dropped_i && hit) dropped_q[r] <= dropped_q[r] + 1'b1;
      if (rst_i || start_i) begin
        packets_q[r] <= '0;
        dropped_q[r] <= '0;
      end
    end
  end

  logic ack_q;
  logic [31:0] rdata_q;
  assign regs.ack   = ack_q;
  assign regs.rdata = rdata_q;
  always_ff @(posedge clk_i) begin
    ack_q <= regs.req && !rst_i;
    if (regs.req) begin
      rdata_q <= '0;
      for (int r = 0; r < Rings; r++) begin
        if (which == r) begin
          unique case (word)
            RingRegReturned: rdata_q <= returned[r];
            RingRegClosed: rdata_q <= closed[r];
            RingRegOpened: rdata_q <= opened_o[r];
            RingRegPackets: rdata_q <= packets_q[r];
            RingRegDropped: rdata_q <= dropped_q[r];
            default: rdata_q <= '0;
          endcase
        end
      end
    end
  end
endmodule
