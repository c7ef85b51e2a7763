// SPDX-License-Identifier: Apache-2.0
/// xgmii_mac with pins that cocotb sees by name: the word stream of its line, and of the logic's side the AXI streams of a CMAC.
module top
  import cmac_pkg::*;
  import xgmii_pkg::*;
(
    input  logic         clk_i  /*verilator public_flat_rw*/,
    input  logic         rst_i  /*verilator public_flat_rw*/,
    input  logic [ 63:0] xgmii_rxd  /*verilator public_flat_rw*/,
    input  logic [  7:0] xgmii_rxc  /*verilator public_flat_rw*/,
    output logic [ 63:0] xgmii_txd  /*verilator public_flat_rw*/,
    output logic [  7:0] xgmii_txc  /*verilator public_flat_rw*/,
    input  logic         pause_i  /*verilator public_flat_rw*/,
    input  logic [  8:0] stop_i  /*verilator public_flat_rw*/,
    input  logic [ 15:0] max_frame_i  /*verilator public_flat_rw*/,
    output logic [  8:0] paused_o  /*verilator public_flat_rw*/,
    output logic [  1:0] fault_o  /*verilator public_flat_rw*/,
    input  logic         s_tvalid  /*verilator public_flat_rw*/,
    output logic         s_tready  /*verilator public_flat_rw*/,
    input  logic [511:0] s_tdata  /*verilator public_flat_rw*/,
    input  logic [ 63:0] s_tkeep  /*verilator public_flat_rw*/,
    input  logic         s_tlast  /*verilator public_flat_rw*/,
    input  logic         s_tuser  /*verilator public_flat_rw*/,
    output logic         m_tvalid  /*verilator public_flat_rw*/,
    output logic [511:0] m_tdata  /*verilator public_flat_rw*/,
    output logic [ 63:0] m_tkeep  /*verilator public_flat_rw*/,
    output logic         m_tlast  /*verilator public_flat_rw*/,
    output logic         m_tuser  /*verilator public_flat_rw*/,
    output logic         unused_o                                    /*verilator public_flat_rw*/
);
  cmac_out_t logic_side;
  cmac_in_t  block_side;
  xgmii_pins_t rx, tx;
  link_fault_t fault;
  reg_if #(.AddrW(12)) tx_regs ();
  reg_if #(.AddrW(12)) rx_regs ();
  assign {tx_regs.req, rx_regs.req} = '0;
  assign rx = '{data: xgmii_rxd, ctl: xgmii_rxc};
  assign {xgmii_txd, xgmii_txc} = {tx.data, tx.ctl};
  assign logic_side = '{
          tx: '{
              tvalid: s_tvalid,
              tdata: s_tdata,
              tkeep: s_tkeep,
              tlast: s_tlast,
              tuser: s_tuser
          },
          tx_ptp_1588op: TxNoStamp,
          tx_ptp_tag_field: '0,
          tx_systemtimer: '0,
          tx_pause_req: stop_i,
          tx_reset: rst_i,
          rx_systemtimer: '0,
          rx_reset: rst_i
      };
  assign s_tready = block_side.tx_tready;
  assign {m_tvalid, m_tdata, m_tkeep, m_tlast, m_tuser} = {
    block_side.rx.tvalid,
    block_side.rx.tdata,
    block_side.rx.tkeep,
    block_side.rx.tlast,
    block_side.rx.tuser
  };
  assign fault_o = fault;
  assign unused_o = ^{tx_regs.ack, rx_regs.ack, block_side.tx_ptp_tstamp_valid};
  xgmii_mac i_mac (
      .tx_clk_i(clk_i),
      .tx_rst_i(rst_i),
      .rx_clk_i(clk_i),
      .rx_rst_i(rst_i),
      .tx_cfg_i(
      '{
          pause: pause_i,
          pfc: 1'b0,
          untagged: 3'd0,
          gap: 8'd12,
          quanta: 16'd100,
          station: 48'h060504030202
      }
      ),
      .tx_regs,
      .tx_fault_o(fault),
      .tx_paused_o(paused_o),
      .rx_cfg_i('{keep_control: 1'b0, max_frame: max_frame_i}),
      .loop_i(1'b0),
      .rx_regs,
      .mac_i(logic_side),
      .mac_o(block_side),
      .xgmii_i(rx),
      .xgmii_o(tx)
  );
endmodule
