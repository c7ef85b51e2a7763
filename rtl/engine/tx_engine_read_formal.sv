// SPDX-License-Identifier: Apache-2.0
// prove: mode=prove depth=7 timeout=300
`include "fifo_two_formal.svh"
`include "tx_engine_rig.svh"
/// tx_engine's way out of the packet RAM, at all times, with FIFOs of two: what is read out is the oldest unit taken, unit by unit
/// of one packet after the other; units come back only of packets that were handed on, of failed ones all at once, whatever
/// reads fail. Relies on what tx_engine_formal proves: packets say where they begin, one behind the other, and how many units
/// they took.
module tx_engine_read_formal
  import eth_pkg::*, dma_pkg::*, queue_pkg::*, engine_pkg::*;
(
    input logic clk_i,
    input logic rst_i,
    input tx_engine_does_t does_i
);
  `FORMAL_BEGIN
  tx_engine_rig rig (
      .clk_i,
      .rst_i,
      .does_i
  );

  // Units are counted on and on: handed on, fetched, given back.
  logic [8:0] base_q, fetched_q, freed_q;
  always_ff @(posedge clk_i) begin
    if (rig.dut.packet_in.valid) base_q <= base_q + rig.dut.packet_in.data.taken;
    if (rig.dut.fetched) fetched_q <= fetched_q + rig.dut.p.taken;
    freed_q <= freed_q + rig.dut.freed;
    if (rst_i) {base_q, fetched_q, freed_q} <= '0;
  end
  always_comb begin
    if (started_q) begin
      if (rig.dut.packet_in.valid) begin
        assume (rig.dut.packet_in.data.start == base_q[6:0] && rig.dut.packet_in.data.taken <= 9'd72);
        assume (rig.dut.packet_in.data.code != ErrNone || rig.dut.packet_in.data.inlined || rig.dut.packet_in.data.taken != '0);
        assume (!rig.dut.packet_in.data.inlined || rig.dut.packet_in.data.taken == '0);
      end
      if (rig.dut.read && !rig.dut.r.inlined)
        assert (7'(rig.dut.r.start + 7'(rig.dut.unit_q)) == freed_q[6:0]);
      if (rig.dut.fetched) assert (rig.dut.p.taken <= base_q - fetched_q);
      assert (rig.dut.freed <= fetched_q - freed_q && fetched_q - freed_q <= base_q - freed_q);
      cover (rig.dut.freed > 9'd1);
      cover (rig.dut.read && rig.dut.unit_q == 9'd1);
    end
  end

  // The packets on their way lie one behind the other: those being fetched, those fetched, of which the first is being read out.
  logic [8:0] at;
  always_comb begin
    at = fetched_q;
    if (started_q) begin
      assert (rig.dut.i_packets.held_q <= 3'd2);
      for (int i = 0; i < 2; i++) begin
        if (3'(i) < rig.dut.i_packets.held_q) begin
          assert (rig.dut.i_packets.beat_q[i].start == at[6:0] && rig.dut.i_packets.beat_q[i].taken <= 9'd72);
          if (rig.dut.i_packets.beat_q[i].inlined)
            assert (rig.dut.i_packets.beat_q[i].taken == '0);
            else if (rig.dut.i_packets.beat_q[i].code == ErrNone)
              assert (rig.dut.i_packets.beat_q[i].taken != '0);
          at = at + rig.dut.i_packets.beat_q[i].taken;
        end
      end
      assert (at == base_q);
      at = freed_q - (rig.dut.r.inlined ? 9'd0 : rig.dut.unit_q);
      assert (!rig.dut.i_fetched.spare_full_q || rig.dut.i_fetched.head_full_q);
      if (rig.dut.i_fetched.head_full_q) begin
        assert (rig.dut.r.start == at[6:0] && rig.dut.r.taken <= 9'd72);
        assert (rig.dut.r.code == ErrNone || rig.dut.unit_q == '0);
        if (rig.dut.r.inlined)
          assert (rig.dut.r.taken == '0);
          else assert (rig.dut.r.code != ErrNone || rig.dut.unit_q < rig.dut.r.taken);
        at = at + rig.dut.r.taken;
      end else assert (rig.dut.unit_q == '0);
      if (rig.dut.i_fetched.spare_full_q) begin
        assert (rig.dut.i_fetched.spare_q.start == at[6:0] && rig.dut.i_fetched.spare_q.taken <= 9'd72);
        if (rig.dut.i_fetched.spare_q.inlined)
          assert (rig.dut.i_fetched.spare_q.taken == '0);
          else if (rig.dut.i_fetched.spare_q.code == ErrNone)
            assert (rig.dut.i_fetched.spare_q.taken != '0);
        at = at + rig.dut.i_fetched.spare_q.taken;
      end
      assert (at == fetched_q);
    end
  end
endmodule
