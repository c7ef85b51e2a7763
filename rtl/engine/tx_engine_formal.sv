// SPDX-License-Identifier: Apache-2.0
// prove: mode=prove depth=7 timeout=200
`include "formal.svh"
`include "seg_ram_dma_wr_formal.svh"
`include "stream.svh"
/// tx_engine's room, at all times: no read of host memory is asked for into a unit of the packet RAM that was not given back, nor
/// beside the segment before it, whatever descriptors are bad; each packet says truly where it begins and how many units it took;
/// no unit is lost. Relies on what tx_engine_read_formal proves: units
/// come back only of packets that were handed on. Segments of whole kilobytes, or half a unit more.
module tx_engine_formal
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

  function automatic logic [8:0] of_bytes(logic [14:0] bytes);
    return 9'((16'(bytes) + 16'd127) >> 7);
  endfunction

  // Units are counted on and on. `base_q`: where the packet that is being asked for begins; `bytes_q` of it were asked for.
  logic [8:0] base_q, freed_q;
  logic [14:0] bytes_q;
  dma_req_t asked;
  assign asked = dut.dma_in.data;
  wire ask = dut.dma_in.valid;
  wire [14:0] bytes = bytes_q + (ask ? asked.len[14:0] : '0);
  wire [8:0] taken = base_q + of_bytes(bytes_q) - freed_q;
  always_ff @(posedge clk_i) begin
    bytes_q <= dut.packet_in.valid ? '0 : bytes;
    if (dut.packet_in.valid) base_q <= base_q + of_bytes(bytes);
    freed_q <= freed_q + dut.freed;
    if (rst_i) {bytes_q, base_q, freed_q} <= '0;
  end

  always_comb begin
    if (started_q) begin
      assume (!inlined_i || (last_i && dut.first_q && kilobytes_i == '0));
      if (ask) begin
        assert (asked.ram_addr[13:0] == {base_q[6:0], 7'd0} + bytes_q[13:0]);
        assert (taken - of_bytes(bytes_q) + of_bytes(bytes) <= 9'(Units));
      end
      if (dut.packet_in.valid) begin
        assert (dut.packet_in.data.start == base_q[6:0]);
        assert (dut.packet_in.data.taken == of_bytes(bytes));
        assert (dut.packet_in.data.code != ErrNone || dut.packet_in.data.inlined || bytes != '0);
        assert (!dut.packet_in.data.inlined || bytes == '0);
      end
      assume (dut.freed <= base_q - freed_q);
      assert (taken <= 9'(Units) && 9'(dut.free_q) == 9'(Units) - taken);
      cover (ask && dut.seg_q.at != '0);
      cover (dut.packet_in.valid && !ask && bytes_q != '0);
    end
  end

  // Named for the induction. What the three clocks in front hold of a packet follows on what was asked for.
  wire [14:0] behind_seg = dut.seg_full_q ? (dut.seg_q.last ? '0 : dut.seg_q.total[14:0]) : bytes_q;
  wire [14:0] behind_sum = dut.sum_full_q ? (dut.sum_q.last ? '0 : dut.sum_q.total[14:0]) : behind_seg;
  wire sum_good = dut.sum_q.code == ErrNone, seg_good = dut.seg_q.code == ErrNone;
  always_comb begin
    if (started_q) begin
      assert (bytes_q <= 15'(MaxFrame) && dut.start_q == base_q[6:0] && base_q - freed_q <= 9'(Units));
      assert (bytes_q[5:0] == '0 && dut.total_q[5:0] == '0);
      if (dut.seg_full_q)
        assert ({dut.seg_q.at[5:0], dut.seg_q.len[5:0], dut.seg_q.total[5:0]} == '0);
      if (dut.sum_full_q)
        assert ({dut.sum_q.at[5:0], dut.sum_q.len[5:0], dut.sum_q.total[5:0]} == '0);
      if (dut.seg_full_q) begin
        assert (dut.seg_q.issue == (seg_good && dut.seg_q.len != '0 && !dut.seg_q.inlined));
        assert (!dut.seg_q.inlined || (dut.seg_q.last && bytes_q == '0));
        if (seg_good) begin
          assert (dut.seg_q.total <= 19'(MaxFrame) && bytes_q == 15'(dut.seg_q.at));
          assert (dut.seg_q.total == 19'(dut.seg_q.at) + 19'(dut.seg_q.len));
          assert (dut.seg_units_q == (dut.seg_q.inlined ? '0 : of_bytes(dut.seg_q.total[14:0])));
          assert (!dut.seg_q.last || dut.seg_q.total != '0);
        end else assert (dut.seg_units_q == of_bytes(bytes_q));
        assert (dut.more_q == dut.seg_units_q - of_bytes(bytes_q));
        assert (dut.units_q == (dut.seg_q.last ? '0 : dut.seg_units_q));
      end else assert (dut.units_q == of_bytes(bytes_q));
      if (dut.sum_full_q) begin
        assert (dut.sum_q.issue == (sum_good && dut.sum_q.len != '0 && !dut.sum_q.inlined));
        assert (!dut.sum_q.inlined || (dut.sum_q.last && (dut.seg_full_q ? dut.seg_q.last : bytes_q == '0)));
        if (sum_good) begin
          assert (dut.sum_q.total <= 19'(MaxFrame) && behind_seg == 15'(dut.sum_q.at));
          assert (dut.sum_q.total == 19'(dut.sum_q.at) + 19'(dut.sum_q.len));
          assert (!dut.sum_q.last || dut.sum_q.total != '0);
          if (dut.seg_full_q && !dut.seg_q.last) assert (seg_good);
        end
      end
      if (dut.first_q) begin
        assert (dut.code_q == ErrNone && dut.total_q == '0);
        assert (dut.sum_full_q ? dut.sum_q.last : dut.seg_full_q ? dut.seg_q.last : bytes_q == '0);
      end
      if (dut.code_q == ErrNone) begin
        assert (dut.total_q == 19'(behind_sum));
        if (dut.sum_full_q && !dut.sum_q.last)
          assert (sum_good);
          else if (!dut.sum_full_q && dut.seg_full_q && !dut.seg_q.last) assert (seg_good);
      end
    end
  end
endmodule
