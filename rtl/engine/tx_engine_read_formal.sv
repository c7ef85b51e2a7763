// SPDX-License-Identifier: Apache-2.0
// prove: mode=prove depth=7 timeout=300
`include "fifo_two_formal.svh"
`include "formal.svh"
`include "seg_ram_dma_wr_formal.svh"
`include "stream.svh"
/// tx_engine's way out of the packet RAM, at all times, with FIFOs of two: what is read out is the oldest unit taken, unit by unit
/// of one packet after the other; units come back only of packets that were handed on, of failed ones all at once, whatever
/// reads fail. Relies on what tx_engine_formal proves: packets say where they begin, one behind the other, and how many units
/// they took.
module tx_engine_read_formal
  import eth_pkg::*, dma_pkg::*, queue_pkg::*, engine_pkg::*;
(
    input logic       clk_i,
    input logic       rst_i,
    input logic       desc_valid_i,
    input logic       found_i,
    input logic       read_i,         // the descriptor could be read
    input logic       null_i,
    input logic       last_i,
    input logic [3:0] kilobytes_i,
    input logic       half_i,         // and half a unit
    input logic       inlined_i,      // pushed with its descriptor
    input logic       dma_ready_i,
    input logic       status_i,
    input logic       failed_i,
    input logic       frame_ready_i,
    input logic       stamp_valid_i,
    input logic [3:0] ready_i
);
  `FORMAL_BEGIN
  localparam int Units = 128;
  localparam logic [13:0] MaxFrame = 14'd9216;
  `STREAM(desc_beat_t, desc)
  `STREAM(dma_req_t, dma)
  `STREAM(wide_beat_t, frame)
  `STREAM(ptp_time_t, stamp)
  `STREAM(record_t, record)
  `STREAM(commit_t, commit)
  `STREAM(sent_t, sent)
  `STREAM(queue_error_t, stop)
  desc_beat_t d;
  always_comb begin
    d = '0;
    d.status = found_i ? DeqOk : DeqEmpty;
    d.result = read_i ? DmaOk : DmaAborted;
    d.last = last_i;
    d.inlined = inlined_i;
    d.desc.addr = null_i ? '0 : 64'h1000;
    d.desc.len = {2'b00, kilobytes_i, 3'd0, half_i, 6'd0};
  end
  assign desc.valid = desc_valid_i;
  assign desc.data = d;
  assign dma.ready = dma_ready_i;
  assign frame.ready = frame_ready_i;
  assign stamp.valid = stamp_valid_i;
  assign stamp.data = '0;
  assign {record.ready, commit.ready, sent.ready, stop.ready} = ready_i;
  tx_csum_t csum;
  tx_engine_count_t count;
  logic [15:0] in_use;
  logic [PushEntries-1:0] released;
  tx_engine #(
      .RamBytes  (Units * UnitBytes),
      .MaxPackets(16),
      .ReadBytes (Units * UnitBytes)
  ) dut (
      .clk_i,
      .rst_i,
      .max_frame_i(MaxFrame),
      .desc,
      .dma,
      .status_i('{valid: status_i, sel: '0, result: failed_i ? DmaAborted : DmaOk}),
      .ram_i('0),
      .push_i('0),
      .push_release_o(released),
      .frame,
      .csum_o(csum),
      .stamp,
      .record,
      .commit,
      .sent,
      .stop,
      .count_o(count),
      .units_o(in_use)
  );

  // Units are counted on and on: handed on, fetched, given back.
  logic [8:0] base_q, fetched_q, freed_q;
  always_ff @(posedge clk_i) begin
    if (dut.packet_in.valid) base_q <= base_q + dut.packet_in.data.taken;
    if (dut.fetched) fetched_q <= fetched_q + dut.p.taken;
    freed_q <= freed_q + dut.freed;
    if (rst_i) {base_q, fetched_q, freed_q} <= '0;
  end
  always_comb begin
    if (started_q) begin
      if (dut.packet_in.valid) begin
        assume (dut.packet_in.data.start == base_q[6:0] && dut.packet_in.data.taken <= 9'd72);
        assume (dut.packet_in.data.code != ErrNone || dut.packet_in.data.inlined || dut.packet_in.data.taken != '0);
        assume (!dut.packet_in.data.inlined || dut.packet_in.data.taken == '0);
      end
      if (dut.read && !dut.r.inlined) assert (7'(dut.r.start + 7'(dut.unit_q)) == freed_q[6:0]);
      if (dut.fetched) assert (dut.p.taken <= base_q - fetched_q);
      assert (dut.freed <= fetched_q - freed_q && fetched_q - freed_q <= base_q - freed_q);
      cover (dut.freed > 9'd1);
      cover (dut.read && dut.unit_q == 9'd1);
    end
  end

  // The packets on their way lie one behind the other: those being fetched, those fetched, of which the first is being read out.
  logic [8:0] at;
  always_comb begin
    at = fetched_q;
    if (started_q) begin
      assert (dut.i_packets.held_q <= 3'd2);
      for (int i = 0; i < 2; i++) begin
        if (3'(i) < dut.i_packets.held_q) begin
          assert (dut.i_packets.beat_q[i].start == at[6:0] && dut.i_packets.beat_q[i].taken <= 9'd72);
          if (dut.i_packets.beat_q[i].inlined)
            assert (dut.i_packets.beat_q[i].taken == '0);
            else if (dut.i_packets.beat_q[i].code == ErrNone)
              assert (dut.i_packets.beat_q[i].taken != '0);
          at = at + dut.i_packets.beat_q[i].taken;
        end
      end
      assert (at == base_q);
      at = freed_q - (dut.r.inlined ? 9'd0 : dut.unit_q);
      assert (!dut.i_fetched.spare_full_q || dut.i_fetched.head_full_q);
      if (dut.i_fetched.head_full_q) begin
        assert (dut.r.start == at[6:0] && dut.r.taken <= 9'd72);
        assert (dut.r.code == ErrNone || dut.unit_q == '0);
        if (dut.r.inlined)
          assert (dut.r.taken == '0);
          else assert (dut.r.code != ErrNone || dut.unit_q < dut.r.taken);
        at = at + dut.r.taken;
      end else assert (dut.unit_q == '0);
      if (dut.i_fetched.spare_full_q) begin
        assert (dut.i_fetched.spare_q.start == at[6:0] && dut.i_fetched.spare_q.taken <= 9'd72);
        if (dut.i_fetched.spare_q.inlined)
          assert (dut.i_fetched.spare_q.taken == '0);
          else if (dut.i_fetched.spare_q.code == ErrNone)
            assert (dut.i_fetched.spare_q.taken != '0);
        at = at + dut.i_fetched.spare_q.taken;
      end
      assert (at == fetched_q);
    end
  end
endmodule
