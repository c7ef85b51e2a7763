// SPDX-License-Identifier: Apache-2.0
`include "formal.svh"
`include "seg_ram_dma_wr_formal.svh"
`include "stream.svh"

/// What a descriptor, the host and those behind tx_engine do in a clock.
typedef struct packed {
  logic       desc_valid;
  logic       found;
  logic       read;         // the descriptor could be read
  logic       null_addr;
  logic       last;
  logic [3:0] kilobytes;
  logic       half;         // and half a unit
  logic       inlined;      // pushed with its descriptor
  logic       dma_ready;
  logic       status;
  logic       failed;
  logic       frame_ready;
  logic       stamp_valid;
  logic [3:0] ready;
} tx_engine_does_t;

/// tx_engine with a packet RAM of 128 units and frames of up to 9 kB, for its proofs: segments of whole kilobytes, or half a
/// unit more.
module tx_engine_rig
  import eth_pkg::*, dma_pkg::*, queue_pkg::*, engine_pkg::*;
#(
    parameter int Units = 128,
    parameter logic [13:0] MaxFrame = 14'd9216
) (
    input logic clk_i,
    input logic rst_i,
    input tx_engine_does_t does_i
);
  `STREAM(desc_beat_t, desc)
  `STREAM(dma_req_t, dma)
  `STREAM(wide_beat_t, frame)
  `STREAM(ptp_time_t, stamp)
  `STREAM(record_t, record)
  `STREAM(commit_t, commit)
  `STREAM(sent_t, sent)
  `STREAM(queue_error_t, stop)
  `STREAM(queue_count_t, counted)
  desc_beat_t d;
  always_comb begin
    d = '0;
    d.status = does_i.found ? DeqOk : DeqEmpty;
    d.result = does_i.read ? DmaOk : DmaAborted;
    d.last = does_i.last;
    d.inlined = does_i.inlined;
    d.desc.addr = does_i.null_addr ? '0 : 64'h1000;
    d.desc.len = {2'b00, does_i.kilobytes, 3'd0, does_i.half, 6'd0};
  end
  assign desc.valid = does_i.desc_valid;
  assign desc.data = d;
  assign dma.ready = does_i.dma_ready;
  assign frame.ready = does_i.frame_ready;
  assign stamp.valid = does_i.stamp_valid;
  assign stamp.data = '0;
  assign {record.ready, commit.ready, sent.ready, stop.ready} = does_i.ready;
  assign counted.ready = 1'b1;
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
      .status_i('{valid: does_i.status, sel: '0, result: does_i.failed ? DmaAborted : DmaOk}),
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
      .counted,
      .count_o(count),
      .units_o(in_use)
  );
endmodule
