// SPDX-License-Identifier: Apache-2.0
/// What Intel P-tile tells the logic by turns: the host's settings of function 0, and the credits that it has given.
///
/// Settings are 0 after reset until their turn has come, at the latest a few hundred clocks later. A limit of 0 when the link has
/// come up means that there is none (a kind of TLP has limits for headers and data, or for neither); later ones are sums, and may
/// be 0 as any other. No credits are told before.
module ptile_cfg
  import pcie_pkg::*;
  import ptile_pkg::*;
(
    input logic clk_i,
    input logic rst_i,

    input logic        dl_up_i,
    input logic [15:0] limit_i,
    input logic [ 2:0] limit_of_i,  // ptile_credit_e
    input logic [ 4:0] cfg_add_i,
    input logic [ 2:0] cfg_func_i,
    input logic [15:0] cfg_ctl_i,
    input logic        wide_tag_i,

    output pcie_cfg_t cfg_o,
    output fc_limit_t fc_o
);
  logic [7:0] known_q, none_q;
  logic [7:0][15:0] limit_q;
  assign fc_o = '{
          ph: limit_q[PTilePh][7:0],
          pd: limit_q[PTilePd][11:0],
          p_inf: none_q[PTilePh],
          nph: limit_q[PTileNph][7:0],
          np_inf: none_q[PTileNph],
          cplh: limit_q[PTileCplh][7:0],
          cpld: limit_q[PTileCpld][11:0],
          cpl_inf: none_q[PTileCplh]
      };
  wire unused = &{1'b0, limit_q, none_q, cfg_ctl_i};

  always_ff @(posedge clk_i) begin
    cfg_o.wide_tag <= wide_tag_i;
    if (cfg_func_i == '0) begin
      unique case (cfg_add_i)
        PTileCfgControl: begin
          cfg_o.bus_master <= cfg_ctl_i[7];
          cfg_o.extended_tag <= cfg_ctl_i[6];
          cfg_o.max_read_request <= cfg_ctl_i[5:3];
          cfg_o.max_payload <= cfg_ctl_i[2:0];
        end
        PTileCfgNumber: begin
          cfg_o.relaxed_ordering <= cfg_ctl_i[13];
          cfg_o.requester_id <= {cfg_ctl_i[7:0], cfg_ctl_i[12:8], 3'd0};
        end
        PTileCfgMsix: begin
          cfg_o.msix_mask   <= cfg_ctl_i[6];
          cfg_o.msix_enable <= cfg_ctl_i[5];
        end
        default: ;
      endcase
    end
    if (dl_up_i) begin
      limit_q[limit_of_i] <= limit_i;
      known_q[limit_of_i] <= 1'b1;
      if (!known_q[limit_of_i]) none_q[limit_of_i] <= limit_i == '0;
    end
    if (rst_i) begin
      cfg_o   <= '0;
      limit_q <= '0;
      known_q <= '0;
      none_q  <= '0;
    end
  end
endmodule
