// SPDX-License-Identifier: Apache-2.0
`include "assert.svh"
/// Frames from the core clock domain to a CMAC hard block, with a time stamp back for each.
///
/// mac_tx, whose contract holds, and its stream as the block has it: a frame has no gap. `mac_clk_i` is the block's transmit clock. The time of a
/// frame is that of its first beat's handshake with the block, in the core's time (ptp_cdc). No latency of its own. Each side may
/// be reset alone, the MAC's with the block: a frame that it cuts is cut at the pins.
module cmac_tx
  import eth_pkg::*;
  import cmac_pkg::*;
#(
    parameter type Wide = wide_beat_t  // or frame_beat_t
) (
    // Core clock domain.
    input logic         clk_i,
    input logic         rst_i,
    input ptp_time_t    time_i,
          stream_if.snk frame,   // Wide
          stream_if.src stamp,   // ptp_time_t

    // The block's transmit clock.
    input  logic       mac_clk_i,
    input  logic       mac_rst_i,
    input  logic       tx_tready_i,
    output cmac_axis_t tx_o
);
  ptp_time_t mac_time;
  ptp_cdc i_time (
      .clk_i,
      .time_i,
      .mac_clk_i,
      .mac_rst_i,
      .time_o(mac_time)
  );

  logic valid;
  frame_beat_t beat;
  mac_tx #(
      .Wide(Wide)
  ) i_mac_tx (
      .clk_i,
      .rst_i,
      .frame,
      .stamp,
      .mac_clk_i,
      .mac_rst_i,
      .time_i(mac_time),
      .tx_valid_o(valid),
      .tx_ready_i(tx_tready_i),
      .tx_o(beat)
  );
  logic [FrameBeatBytes-1:0] keep;
  always_comb begin
    for (int i = 0; i < FrameBeatBytes; i++) keep[i] = beat.len > 7'(i);
  end
  assign tx_o = '{
          tvalid: valid,
          tdata: beat.data,
          tkeep: keep,
          tlast: beat.eop,
          tuser: beat.eop && beat.err
      };
  wire unused = &{1'b0, beat.sop};

  `ASSERT(OfferIsStill, valid && !tx_tready_i |=> $stable(beat), mac_clk_i, mac_rst_i)
endmodule
