// SPDX-License-Identifier: Apache-2.0
`include "stream.svh"
/// The way of a PCI Express card's frames through the host: a small NIC of host-nic's blocks whose one port is the card (not in the paper).
///
/// Wiring only: nic_core with a receive queue a class, which the class picks, and host_port in place of a MAC. All in the clock of
/// the PCIe block, which is a hard block's of a narrow link: 125 MHz. Registers as in host_nic.rdl, without `push`. Throughput and
/// drops are those of nic_core's parts: frames that find no descriptor are dropped there, and counted.
module direct_nic
  import pcie_pkg::*;
  import cmac_pkg::*;
#(
    parameter int Classes  = 2,
    parameter int MaxFrame = 9216  // without FCS
) (
    input logic clk_i,
    input logic rst_i,
    input logic link_rst_i, // the link is reset too: no completion will come

    // PCIe, as in nic_core; tlp_beat_t.
    input pcie_cfg_t    cfg_i,
          reg_if.slave  regs,
          stream_if.src read_tlp,
          stream_if.snk cpl,
          stream_if.src write_tlp[2],
    input logic         foreign_i,
    input logic         refused_i,

    // Frames in stored form (stored_word_t); a clock for each.
    stream_if.snk to_host[Classes],
    stream_if.src from_host,
    output logic taken_o,
    output logic sent_o
);
  localparam int Queues = Classes > 2 ? 4 : 2;
  logic port_clk[1], port_rst[1], unused_ptp;
  cmac_in_t  to_port  [1];
  cmac_out_t from_port[1];
  reg_if #(.AddrW(direct_pkg::HostBarW - 1)) mac_regs[1] ();
  assign port_clk[0] = clk_i;
  assign port_rst[0] = rst_i;
  assign mac_regs[0].ack = 1'b0;
  assign mac_regs[0].rdata = '0;
  wire unused = &{1'b0, mac_regs[0].req, mac_regs[0].write, mac_regs[0].addr, mac_regs[0].wdata, mac_regs[0].wstrb, unused_ptp};

  // The upper half of BAR 0.
  reg_if #(.AddrW(direct_pkg::HostBarW - 1)) nic_regs ();
  assign nic_regs.req = regs.req;
  assign nic_regs.write = regs.write;
  assign nic_regs.addr = regs.addr[direct_pkg::HostBarW-2:0];
  assign nic_regs.wdata = regs.wdata;
  assign nic_regs.wstrb = regs.wstrb;
  assign regs.ack = nic_regs.ack;
  assign regs.rdata = nic_regs.rdata;
  wire unused_addr = &{1'b0, regs.addr[direct_pkg::HostBarW-1]};

  nic_core #(
      .TxQueues(2),
      .RxQueues(Queues),
      .EventQueues(4),
      .FlowEntries(0),
      .Steered(1'b1),
      .DescSlots(16),
      .CplLines(8),
      .MaxPackets(32),
      .TxRamBytes(32768),
      .RxRamBytes(32768),
      .MaxFrame(MaxFrame),
      .Tags(32),
      .ReadBytes(16384),
      .CoreKhz(125000),
      .AddrW(direct_pkg::HostBarW - 1),
      .Sent(tlp_beat_t),
      .Received(tlp_beat_t)
  ) i_core (
      .clk_i,
      .rst_i,
      .forget_i(link_rst_i),
      .function_done_o(),
      .cfg_i,
      .regs(nic_regs),
      .line_i('0),
      .read_tlp,
      .cpl,
      .write_tlp,
      .foreign_i,
      .refused_i,
      .mac_tx_clk_i(port_clk),
      .mac_tx_rst_i(port_rst),
      .mac_rx_clk_i(port_clk),
      .mac_rx_rst_i(port_rst),
      .mac_i(to_port),
      .mac_o(from_port),
      .mac_regs,
      .ptp_out_o(unused_ptp)
  );
  host_port #(
      .Classes(Classes),
      .Longest(MaxFrame)
  ) i_port (
      .clk_i,
      .rst_i,
      .in(to_host),
      .out(from_host),
      .port_i(from_port[0]),
      .port_o(to_port[0]),
      .to_host_o(taken_o),
      .from_host_o(sent_o)
  );
endmodule
