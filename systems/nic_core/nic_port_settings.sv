// SPDX-License-Identifier: Apache-2.0
/// Registers of one Ethernet port of a NIC: settings, counters of what became of its frames, levels.
///
/// Wiring only. The longest frame and what is joined are kept within their ranges (reg_range).
module nic_port_settings
  import eth_pkg::*;
  import engine_pkg::*;
#(
    parameter int MaxFrame = 16256,  // without FCS
    parameter bit Coalesce = 0
) (
    input logic clk_i,
    input logic rst_i,

    // nic_port_regs of host_nic.rdl.
    reg_if.slave regs,

    // Settings.
    output logic         [ 13:0] max_frame_o,
    output logic         [  1:0] strip_o,      // tags of 802.1ad, 802.1Q
    output logic         [319:0] rss_key_o,
    output rx_coalesce_t         coalesce_o,

    // For one clock each: settings of the tables, the scheduler and the counters refused, frames by their fate.
    input logic             [4:0] refused_i,
    input mac_rx_count_t          mac_rx_count_i,
    input logic                   rx_buffer_full_i,
    input logic                   rx_hook_dropped_i,
    input logic                   rx_joined_i,
    input logic                   tx_spoofed_i,
    input rx_engine_count_t       rx_count_i,
    input tx_engine_count_t       tx_count_i,

    // Of the packet RAMs in use.
    input logic [15:0] tx_units_i,
    input logic [15:0] rx_units_i
);
  nic_port_regs_pkg::nic_port_regs__in_t  hw_in;
  nic_port_regs_pkg::nic_port_regs__out_t hw_out;
  logic [31:0] max_frame_setting, coalesce_bytes, coalesce_clocks;
  logic [2:0] refused;

  reg_range #(
      .N(3),
      .Least({32'd60, 32'd0, 32'd0}),
      .Most({
        32'(MaxFrame),
        Coalesce ? 32'(queue_pkg::CoalesceMostBytes) : 32'd0,
        32'(queue_pkg::CoalesceMostClocks)
      })
  ) i_range (
      .clk_i,
      .value_i({
        hw_out.max_frame.value.value,
        hw_out.coalesce_bytes.value.value,
        hw_out.coalesce_clocks.value.value
      }),
      .hold_i('0),
      .next_o({
        hw_in.max_frame.value.next,
        hw_in.coalesce_bytes.value.next,
        hw_in.coalesce_clocks.value.next
      }),
      .refused_o(refused),
      .setting_o({max_frame_setting, coalesce_bytes, coalesce_clocks})
  );
  assign max_frame_o = max_frame_setting[13:0];
  assign coalesce_o = '{bytes: coalesce_bytes[13:0], clocks: coalesce_clocks[15:0]};
  assign hw_in.max_frame.value.we = refused[2];
  assign hw_in.coalesce_bytes.value.we = refused[1];
  assign hw_in.coalesce_clocks.value.we = refused[0];
  assign hw_in.settings_refused.value.incr = |{refused, refused_i};
  assign hw_in.tx_units.value.next = 32'(tx_units_i);
  assign hw_in.rx_units.value.next = 32'(rx_units_i);
  assign strip_o = {hw_out.strip.service.value, hw_out.strip.customer.value};
  for (genvar i = 0; i < 10; i++) begin : g_key
    assign rss_key_o[319-32*i-:32] = hw_out.rss_key[i].value.value;
  end
  assign hw_in.rx_bad_fcs.value.incr = mac_rx_count_i.bad_fcs;
  assign hw_in.rx_runt.value.incr = mac_rx_count_i.runt;
  assign hw_in.rx_oversize.value.incr = mac_rx_count_i.oversize;
  assign hw_in.rx_fifo_full.value.incr = mac_rx_count_i.fifo_full;
  assign hw_in.rx_buffer_full.value.incr = rx_buffer_full_i;
  assign hw_in.rx_no_descriptor.value.incr = rx_count_i.no_descriptor;
  assign hw_in.rx_queue_stopped.value.incr = rx_count_i.queue_stopped;
  assign hw_in.rx_descriptor_error.value.incr = rx_count_i.descriptor_error;
  assign hw_in.rx_dma_error.value.incr = rx_count_i.dma_error;
  assign hw_in.rx_truncated.value.incr = rx_count_i.truncated;
  assign hw_in.rx_hook.value.incr = rx_hook_dropped_i;
  assign hw_in.rx_joined.value.incr = rx_joined_i;
  assign hw_in.tx_spoofed.value.incr = tx_spoofed_i;
  assign hw_in.tx_errors.value.incr = tx_count_i.error;

  nic_port_regs i_regs (
      .clk(clk_i),
      .rst(rst_i),
      .regs,
      .hwif_in(hw_in),
      .hwif_out(hw_out)
  );
endmodule
