// SPDX-License-Identifier: Apache-2.0
`include "stream.svh"
/// What a port does to a frame to send between its transmit engine and its MAC: hook, source address, checksum, VLAN tag.
///
/// Wiring only.
module nic_port_tx
  import eth_pkg::*;
#(
    parameter int Functions = 1,  // of tx_source
    parameter int Depth = 512,
    parameter bit Vlan = 0  // of tx_vlan
) (
    input logic         clk_i,
    input logic         rst_i,
    input source_rule_t source_i,

          stream_if.snk frame_in,  // wide_beat_t
    input tx_csum_t     csum_i,
          stream_if.src frame_out, // wide_beat_t

    stream_if.snk mac_stamp,  // ptp_time_t
    stream_if.src stamp,  // ptp_time_t
    output logic spoofed_o  // a frame was dropped
);
  `STREAM(wide_beat_t, hooked)
  `STREAM(wide_beat_t, raw)
  `STREAM(wide_beat_t, summed)
  tx_csum_t hooked_csum, raw_csum;
  tx_vlan_t vlan;
  tx_hook i_tx_hook (
      .clk_i,
      .rst_i,
      .frame_in,
      .csum_i,
      .frame_out(hooked),
      .csum_o(hooked_csum)
  );
  tx_source #(
      .Functions(Functions),
      .Depth(Depth)
  ) i_tx_source (
      .clk_i,
      .rst_i,
      .set_i(source_i),
      .frame_in(hooked),
      .csum_i(hooked_csum),
      .frame_out(raw),
      .csum_o(raw_csum),
      .dropped_o(spoofed_o),
      .mac_stamp,
      .stamp
  );
  tx_csum i_tx_csum (
      .clk_i,
      .rst_i,
      .frame_in(raw),
      .csum_i(raw_csum),
      .frame_out(summed),
      .vlan_o(vlan)
  );
  tx_vlan #(
      .On(Vlan)
  ) i_tx_vlan (
      .clk_i,
      .rst_i,
      .frame_in(summed),
      .vlan_i  (vlan),
      .frame_out
  );
endmodule
