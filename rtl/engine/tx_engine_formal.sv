// SPDX-License-Identifier: Apache-2.0
// prove: mode=prove depth=7 timeout=200
`include "tx_engine_rig.svh"
/// tx_engine's room, at all times: no read of host memory is asked for into a unit of the packet RAM that was not given back, nor
/// beside the segment before it, whatever descriptors are bad; each packet says truly where it begins and how many units it took;
/// no unit is lost. Relies on what tx_engine_read_formal proves: units
/// come back only of packets that were handed on.
module tx_engine_formal
  import eth_pkg::*, dma_pkg::*, queue_pkg::*, engine_pkg::*;
(
    input logic clk_i,
    input logic rst_i,
    input tx_engine_does_t does_i
);
  `FORMAL_BEGIN
  localparam int Units = 128;
  localparam logic [13:0] MaxFrame = 14'd9216;
  tx_engine_rig #(
      .Units(Units),
      .MaxFrame(MaxFrame)
  ) rig (
      .clk_i,
      .rst_i,
      .does_i
  );

  function automatic logic [8:0] of_bytes(logic [14:0] bytes);
    return 9'((16'(bytes) + 16'd127) >> 7);
  endfunction

  // Units are counted on and on. `base_q`: where the packet that is being asked for begins; `bytes_q` of it were asked for.
  logic [8:0] base_q, freed_q;
  logic [14:0] bytes_q;
  dma_req_t asked;
  assign asked = rig.dut.dma_in.data;
  wire ask = rig.dut.dma_in.valid;
  wire [14:0] bytes = bytes_q + (ask ? asked.len[14:0] : '0);
  wire [8:0] taken = base_q + of_bytes(bytes_q) - freed_q;
  always_ff @(posedge clk_i) begin
    bytes_q <= rig.dut.packet_in.valid ? '0 : bytes;
    if (rig.dut.packet_in.valid) base_q <= base_q + of_bytes(bytes);
    freed_q <= freed_q + rig.dut.freed;
    if (rst_i) {bytes_q, base_q, freed_q} <= '0;
  end

  always_comb begin
    if (started_q) begin
      assume (!does_i.inlined || (does_i.last && rig.dut.first_q && does_i.kilobytes == '0));
      if (ask) begin
        assert (asked.ram_addr[13:0] == {base_q[6:0], 7'd0} + bytes_q[13:0]);
        assert (taken - of_bytes(bytes_q) + of_bytes(bytes) <= 9'(Units));
      end
      if (rig.dut.packet_in.valid) begin
        assert (rig.dut.packet_in.data.start == base_q[6:0]);
        assert (rig.dut.packet_in.data.taken == of_bytes(bytes));
        assert (rig.dut.packet_in.data.code != ErrNone || rig.dut.packet_in.data.inlined || bytes != '0);
        assert (!rig.dut.packet_in.data.inlined || bytes == '0);
      end
      assume (rig.dut.freed <= base_q - freed_q);
      assert (taken <= 9'(Units) && 9'(rig.dut.free_q) == 9'(Units) - taken);
      cover (ask && rig.dut.seg_q.at != '0);
      cover (rig.dut.packet_in.valid && !ask && bytes_q != '0);
    end
  end

  // Named for the induction. What the three clocks in front hold of a packet follows on what was asked for.
  wire [14:0] behind_seg = rig.dut.seg_full_q ? (rig.dut.seg_q.last ? '0 : rig.dut.seg_q.total[14:0]) : bytes_q;
  wire [14:0] behind_sum = rig.dut.sum_full_q ? (rig.dut.sum_q.last ? '0 : rig.dut.sum_q.total[14:0]) : behind_seg;
  wire sum_good = rig.dut.sum_q.code == ErrNone, seg_good = rig.dut.seg_q.code == ErrNone;
  always_comb begin
    if (started_q) begin
      assert (bytes_q <= 15'(MaxFrame) && rig.dut.start_q == base_q[6:0] && base_q - freed_q <= 9'(Units));
      assert (bytes_q[5:0] == '0 && rig.dut.total_q[5:0] == '0);
      if (rig.dut.seg_full_q)
        assert ({rig.dut.seg_q.at[5:0], rig.dut.seg_q.len[5:0], rig.dut.seg_q.total[5:0]} == '0);
      if (rig.dut.sum_full_q)
        assert ({rig.dut.sum_q.at[5:0], rig.dut.sum_q.len[5:0], rig.dut.sum_q.total[5:0]} == '0);
      if (rig.dut.seg_full_q) begin
        assert (rig.dut.seg_q.issue == (seg_good && rig.dut.seg_q.len != '0 && !rig.dut.seg_q.inlined));
        assert (!rig.dut.seg_q.inlined || (rig.dut.seg_q.last && bytes_q == '0));
        if (seg_good) begin
          assert (rig.dut.seg_q.total <= 19'(MaxFrame) && bytes_q == 15'(rig.dut.seg_q.at));
          assert (rig.dut.seg_q.total == 19'(rig.dut.seg_q.at) + 19'(rig.dut.seg_q.len));
          assert (rig.dut.seg_units_q == (rig.dut.seg_q.inlined ? '0 : of_bytes(
              rig.dut.seg_q.total[14:0]
          )));
          assert (!rig.dut.seg_q.last || rig.dut.seg_q.total != '0);
        end else assert (rig.dut.seg_units_q == of_bytes(bytes_q));
        assert (rig.dut.more_q == rig.dut.seg_units_q - of_bytes(bytes_q));
        assert (rig.dut.units_q == (rig.dut.seg_q.last ? '0 : rig.dut.seg_units_q));
      end else assert (rig.dut.units_q == of_bytes(bytes_q));
      if (rig.dut.sum_full_q) begin
        assert (rig.dut.sum_q.issue == (sum_good && rig.dut.sum_q.len != '0 && !rig.dut.sum_q.inlined));
        assert (!rig.dut.sum_q.inlined || (rig.dut.sum_q.last && (rig.dut.seg_full_q ? rig.dut.seg_q.last : bytes_q == '0)));
        if (sum_good) begin
          assert (rig.dut.sum_q.total <= 19'(MaxFrame) && behind_seg == 15'(rig.dut.sum_q.at));
          assert (rig.dut.sum_q.total == 19'(rig.dut.sum_q.at) + 19'(rig.dut.sum_q.len));
          assert (!rig.dut.sum_q.last || rig.dut.sum_q.total != '0);
          if (rig.dut.seg_full_q && !rig.dut.seg_q.last) assert (seg_good);
        end
      end
      if (rig.dut.first_q) begin
        assert (rig.dut.code_q == ErrNone && rig.dut.total_q == '0);
        assert (rig.dut.sum_full_q ? rig.dut.sum_q.last : rig.dut.seg_full_q ? rig.dut.seg_q.last : bytes_q == '0);
      end
      if (rig.dut.code_q == ErrNone) begin
        assert (rig.dut.total_q == 19'(behind_sum));
        if (rig.dut.sum_full_q && !rig.dut.sum_q.last)
          assert (sum_good);
          else if (!rig.dut.sum_full_q && rig.dut.seg_full_q && !rig.dut.seg_q.last)
            assert (seg_good);
      end
    end
  end
endmodule
