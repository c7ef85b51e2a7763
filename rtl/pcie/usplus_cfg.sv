// SPDX-License-Identifier: Apache-2.0
/// What the host has set in the UltraScale+ block's configuration space, for the logic behind it.
///
/// Extended tags, relaxed ordering and where the host may cut completions have no pins of their own: Device Control and Link Control are
/// read in turn, again and again, through the block's management interface, `Pause` clocks apart; all are off (64 bytes) until the
/// first answer. With `Functions` (in all) what virtual functions may comes from their pins. The rest is a clock late and not reset.
module usplus_cfg
  import pcie_pkg::*;
  import usplus_pkg::*;
#(
    parameter logic [9:0] DeviceControl = 10'h1e,  // its Dword: PCI Express Capability at 70h
    parameter logic [9:0] LinkControl = DeviceControl + 10'd2,
    parameter int Pause = 64,
    parameter int Functions = 1
) (
    input logic clk_i,
    input logic rst_i,

    input  logic [ 15:0] function_status_i,
    input  logic [  7:0] bus_number_i,
    input  logic [  1:0] max_payload_i,
    input  logic [  2:0] max_read_req_i,
    input  logic         msix_enable_i,
    input  logic         msix_mask_i,
    input  logic [125:0] vf_status_i,
    input  logic [ 62:0] vf_flr_i,
    input  logic [ 62:0] vf_msix_enable_i,
    input  logic [ 62:0] vf_msix_mask_i,
    output logic [  9:0] mgmt_addr_o,
    output logic         mgmt_read_o,
    input  logic         mgmt_done_i,
    input  logic [ 31:0] mgmt_data_i,

    output pcie_cfg_t cfg_o,
    output logic      rcb_128_o  // the Read Completion Boundary is 128 bytes
);
  wire unused = &{1'b0, function_status_i, mgmt_data_i};
  logic [$clog2(Pause)-1:0] pause_q;
  logic link_q;
  assign mgmt_addr_o = link_q ? LinkControl : DeviceControl;
  pcie_cfg_t own_q;  // of the physical function
  function_state_t functions_q;
  if (Functions > 1) begin : g_functions
    always_ff @(posedge clk_i) begin
      functions_q <= '0;
      for (int f = 1; f < Functions; f++) begin
        functions_q.master[f] <= vf_status_i[2*f-1] && !vf_flr_i[f-1];
        functions_q.msix_enable[f] <= vf_msix_enable_i[f-1];
        functions_q.msix_mask[f] <= vf_msix_mask_i[f-1];
        functions_q.in_reset[f] <= vf_flr_i[f-1];
      end
      functions_q.master[0] <= function_status_i[2];
      functions_q.msix_enable[0] <= msix_enable_i;
      functions_q.msix_mask[0] <= msix_mask_i;
    end
  end else begin : g_one_function
    assign functions_q = '0;
  end
  wire unused_functions = &{1'b0, vf_status_i, vf_flr_i, vf_msix_enable_i, vf_msix_mask_i};
  always_comb begin
    cfg_o = own_q;
    cfg_o.functions = functions_q;
  end

  always_ff @(posedge clk_i) begin
    own_q.wide_tag <= 1'b0;  // the block has none
    own_q.functions <= '0;
    own_q.requester_id <= {bus_number_i, 8'd0};
    own_q.max_payload <= {1'b0, max_payload_i};
    own_q.max_read_request <= max_read_req_i;
    own_q.bus_master <= function_status_i[2];
    own_q.msix_enable <= msix_enable_i;
    own_q.msix_mask <= msix_mask_i;
    pause_q <= pause_q + 1'b1;
    // A read stays until it is answered.
    if (pause_q == '1) mgmt_read_o <= 1'b1;
    if (mgmt_read_o && mgmt_done_i) begin
      mgmt_read_o <= 1'b0;
      pause_q <= '0;
      link_q <= !link_q;
      if (link_q) begin
        rcb_128_o <= mgmt_data_i[3];
      end else begin
        own_q.extended_tag <= mgmt_data_i[8];
        own_q.relaxed_ordering <= mgmt_data_i[4];
      end
    end
    if (rst_i) begin
      {mgmt_read_o, link_q, rcb_128_o} <= '0;
      pause_q <= '0;
      own_q.extended_tag <= 1'b0;
      own_q.relaxed_ordering <= 1'b0;
    end
  end
endmodule
