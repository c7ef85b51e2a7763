// SPDX-License-Identifier: Apache-2.0
// prove: mode=bmc depth=8
`include "formal.svh"
`include "stream.svh"
/// dma_read_cpl: whatever completions arrive, in whatever order and how ever wrong, the bytes of a request are written at its
/// place, each once and in order, and nothing beside them; and when its tag reports that all is well, all have been written.
/// A lost tag is free again as soon as its last completion has come late. Reset without `forget_i` may come at any time, and
/// nothing is written for what was asked before it. Two tags, one of them watched; all that can happen in 8 clocks, the states
/// that assertions name in them included.
module dma_read_cpl_formal
  import dma_pkg::*, pcie_pkg::*;
(
    input logic              clk_i,
    input logic              rst_i,
    input logic              again_i,
    input logic              start_i,
    input logic              start_tag_i,
    input dma_chunk_t        chunk_i,
    input logic              head_tag_i,
    input logic              expire_i,
    input logic              cpl_valid_i,
    input tlp_beat_t         cpl_i,
    input logic       [15:0] requester_id_i,
    input logic              wide_i
);
  `FORMAL_BEGIN
  `STREAM(tlp_beat_t, cpl)
  assign cpl.valid = cpl_valid_i;
  assign cpl.data  = cpl_i;
  logic quarantined, ready, waits, kept, done, beat, error, poisoned, malformed, late, unexpected;
  dma_result_e result;
  ram_write_t  ram;
  dma_read_cpl #(
      .Tags(2),
      .QuarantineCycles(8)
  ) dut (
      .clk_i,
      .rst_i(rst_i || again_i),
      .forget_i(rst_i),
      .requester_id_i,
      .wide_i,
      .timeout_cycles_i(32'd1),
      .ready_o(ready),
      .start_i,
      .start_tag_i,
      .chunk_i,
      .next_tag_i(1'b0),
      .quarantined_o(quarantined),
      .head_tag_i,
      .head_waits_o(waits),
      .head_kept_o(kept),
      .head_result_o(result),
      .done_o(done),
      .expire_i,
      .cpl,
      .ram_o(ram),
      .beat_o(beat),
      .error_o(error),
      .poisoned_o(poisoned),
      .malformed_o(malformed),
      .late_o(late),
      .unexpected_o(unexpected)
  );

  // Beats of a TLP follow each other; a tag that waits or is quarantined is not used; what receives is not given up.
  logic inside_q;
  logic [16:0] id_q;
  always_ff @(posedge clk_i) begin
    id_q <= {wide_i, requester_id_i};
    if (cpl.valid && cpl.ready) inside_q <= !cpl_i.eop;
    if (rst_i) inside_q <= 1'b0;
  end
  always_comb begin
    if (started_q) begin
      assume ({wide_i, requester_id_i} == id_q);
      assume (cpl_i.sop == !inside_q);
      assume (!start_i || (ready && dut.started[start_tag_i] == dut.ended[start_tag_i] && !dut.lost[start_tag_i].lost));
      assume (chunk_i.len inside {[13'd1 : 13'd4096]});
      assume (!expire_i || (waits && !kept));
    end
  end

  // The latest request of tag 0: its place, and how much of it has been written; what came poisoned counts, and is not written.
  dma_chunk_t request_q;
  logic [12:0] written_q;
  logic gone_q;  // by a reset
  wire ours = dut.tag == 1'b0;
  wire [6:0] from = dut.sop_q ? 7'(dut.said_q.skip) : 7'd0;
  wire passes = dut.valid_q && dut.known && dut.success && dut.fits && dut.left != '0;
  wire [12:0] bytes = passes && ours ? 13'(dut.stop - from) : '0;
  wire [12:0] payload_end = dut.said_q.last ? dut.said_q.wanted : dut.said_q.payload;
  always_ff @(posedge clk_i) begin
    written_q <= written_q + bytes;
    if (again_i || rst_i) gone_q <= 1'b1;
    else if (start_i && start_tag_i == 1'b0) gone_q <= 1'b0;
    if (start_i && start_tag_i == 1'b0) begin
      request_q <= chunk_i;
      written_q <= '0;
    end
  end
  // A lost tag whose last completion has come late is free at once, not only when the next sweep has been there.
  logic freed_q, freed_tag_q, told_q;
  always_ff @(posedge clk_i) begin
    freed_q <= late && (!dut.success || dut.said_q.last);
    freed_tag_q <= dut.tag;
    told_q <= freed_q && freed_tag_q == 1'b0;
    if (rst_i) {freed_q, told_q} <= '0;
  end
  // What the tables say of it, and the TLP that has begun and is to it.
  wire waiting = ready && dut.started[0] != dut.ended[0];
  wire [12:0] left = dut.begun[0] ? dut.i_progress.mem[0][12:0] : request_q.len;
  wire [SelW+RamAddrW+19:0] place = {
    request_q.sel,
    request_q.ram_addr + ram_addr_t'(request_q.len),
    request_q.host_addr[6:0] + request_q.len[6:0],
    request_q.len
  };
  wire first = dut.valid_q && dut.sop_q && ours;
  wire inside_ours = dut.inside_q && dut.known_q && ours;
  always_comb begin
    if (started_q && ours && beat) begin
      assert (!gone_q);
      assert (dut.entry.sel == request_q.sel);
      assert (dut.dest + ram_addr_t'(from) == request_q.ram_addr + ram_addr_t'(written_q));
      assert (written_q + bytes <= request_q.len);
    end
    if (started_q && ours && done && dut.progress_d.result == DmaOk)
      assert (written_q + bytes == request_q.len);
    if (started_q) begin
      // What tables and registers hold. A beat in the block is the first of its TLP, or one of a TLP that has begun.
      assert (inside_q == (dut.valid_q ? !dut.eop_q : dut.inside_q));
      if (dut.valid_q) assert (dut.sop_q == !dut.inside_q);
      if (waiting) begin
        assert (dut.i_entries.mem[0] == place && left != '0 && left <= request_q.len);
        if (first && !dut.early_q) begin
          assert (dut.entry == place);
          if (dut.begun[0]) assert (dut.progress.left == left);
        end
        if (!inside_ours) assert (written_q == request_q.len - left);
      end
      if (inside_ours) begin
        assert (waiting && dut.entry == place && dut.progress.left == left);
        assert (dut.left_q <= payload_end);
        assert (written_q == request_q.len - left + (dut.success && dut.fits ?
            payload_end - dut.left_q - 13'(dut.said_q.skip) : 13'd0));
        if (dut.success && dut.fits && dut.left_q != '0)
          assert (dut.dest_q == request_q.ram_addr + ram_addr_t'(written_q));
      end
      if (freed_q) assert (!dut.lost[freed_tag_q].lost);
      if (told_q) assert (!quarantined);
      cover (late && !ready);
      cover (told_q);
      cover (malformed && written_q != '0);
      cover (ours && done && dut.progress_d.result == DmaOk && dut.begun[0] && written_q > 13'd32);
    end
  end
endmodule
