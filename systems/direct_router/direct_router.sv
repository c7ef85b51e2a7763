// SPDX-License-Identifier: Apache-2.0
`include "stream.svh"
/// direct-router: one card of a software router on a PCI-X bus, which routes IP packets itself and hands them to the other
/// cards directly (direct-router paper, figure 2).
///
/// Wiring only. `clk_i` is the bus clock (66.67, 100 or 133.33 MHz), `mac_clk_i` the 125 MHz of the 8-bit MAC streams; each
/// reset is active high, may come and go at any time, as that of the bus does, and resets both domains (reset_sequencer). A bus
/// signal counts only while its `_oe_o` is high. Registers: BAR 0 as in direct_router.rdl. Receive cannot wait. Every bus
/// output comes from a register.
module direct_router
  import eth_pkg::*;
  import route_pkg::table_pins_out_t;
  import route_pkg::table_pins_in_t;
  import pcix_pkg::*, channel_pkg::*;
#(
    parameter int Cards = 8,  // on the bus, this one included: 2 ... 16
    parameter int Classes = 2,  // 1 ... 4
    parameter int FifoBytes = 15360,  // of each input and output FIFO
    parameter int MessageWords = 1,  // of a message or header on the bus, 1 ... 4
    parameter int LpmNodes = 2048,  // of the longest-prefix table, in block RAM
    parameter int FibNodes = 0  // and in the card's memory
) (
    input logic clk_i,
    input logic rst_i,

    // PCI-X, 64 bits.
    output logic        req_n_o,
    input  logic        gnt_n_i,
    input  logic        idsel_i,
    input  logic        frame_n_i,
    output logic        frame_n_o,
    input  logic        irdy_n_i,
    output logic        irdy_n_o,
    output logic        master_oe_o,  // frame_n_o, irdy_n_o
    input  logic        devsel_n_i,
    output logic        devsel_n_o,
    input  logic        trdy_n_i,
    output logic        trdy_n_o,
    input  logic        stop_n_i,
    output logic        stop_n_o,
    output logic        target_oe_o,  // devsel_n_o, trdy_n_o, stop_n_o
    input  logic [63:0] ad_i,
    output logic [63:0] ad_o,
    input  logic [ 7:0] cbe_n_i,
    output logic [ 7:0] cbe_n_o,
    output logic        ad_oe_o,      // ad_o, cbe_n_o
    output logic        irq_o,

    // The card's memory, through its controller (route_pkg); unused without FibNodes.
    output table_pins_out_t table_o,
    input  table_pins_in_t  table_i,

    // MAC stream, one byte a beat.
    input  logic       mac_clk_i,
    input  logic       mac_rst_i,
    input  byte_pins_t mac_rx_i,
    output byte_pins_t mac_tx_o,
    input  logic       mac_tx_ready_i
);
  localparam int Channels = 4;

  if (Cards < 2 || Cards > 16) begin : g_bad_cards
    $fatal(1, "direct_router: Cards %0d is not 2 ... 16", Cards);
  end

  logic rst, mac_rst;
  reset_sequencer i_reset (
      .clk_i({mac_clk_i, clk_i}),
      .rst_i({mac_rst_i, rst_i}),
      .rst_o({mac_rst, rst})
  );

  `STREAM_ON(channel_cmd_t, cmd[Channels], clk_i, rst)
  `STREAM_ON(logic [63:0], wdata[Channels], clk_i, rst)
  `STREAM_ON(channel_word_t, rdata[Channels], clk_i, rst)
  `STREAM_ON(channel_result_e, done[Channels], clk_i, rst)
  `STREAM_ON(window_word_t, recv, clk_i, rst)
  reg_if #(.AddrW(direct_router_map_pkg::MapW - 1)) regs ();
  pins_in_t pins_in;
  pins_out_t pins_out;
  bus_event_t bus_event;
  logic [31:0] read_timeout;

  assign pins_in = '{
          gnt_n: gnt_n_i,
          idsel: idsel_i,
          frame_n: frame_n_i,
          irdy_n: irdy_n_i,
          devsel_n: devsel_n_i,
          trdy_n: trdy_n_i,
          stop_n: stop_n_i,
          ad: ad_i,
          cbe_n: cbe_n_i
      };
  assign req_n_o = pins_out.req_n;
  assign frame_n_o = pins_out.frame_n;
  assign irdy_n_o = pins_out.irdy_n;
  assign master_oe_o = pins_out.master_oe;
  assign devsel_n_o = pins_out.devsel_n;
  assign trdy_n_o = pins_out.trdy_n;
  assign stop_n_o = pins_out.stop_n;
  assign target_oe_o = pins_out.target_oe;
  assign ad_o = pins_out.ad;
  assign cbe_n_o = pins_out.cbe_n;
  assign ad_oe_o = pins_out.ad_oe;

  // Only the slow path reads.
  pcix_core #(
      .Channels(Channels),
      .Reads(4'b0011)
  ) i_pcix (
      .clk_i,
      .rst_i(rst),
      .pins_i(pins_in),
      .pins_o(pins_out),
      .cmd(cmd),
      .wdata(wdata),
      .rdata(rdata),
      .done(done),
      .regs(regs),
      .recv(recv),
      .timeout_i(read_timeout),
      .event_o(bus_event)
  );
  // Frames for the host go through rings here.
  `STREAM_ON(direct_pkg::stored_word_t, to_host[Classes], clk_i, rst)
  `STREAM_ON(direct_pkg::stored_word_t, from_host, clk_i, rst)
  for (genvar c = 0; c < Classes; c++) begin : g_no_port
    assign to_host[c].ready = 1'b1;
    wire unused = &{1'b0, to_host[c].valid, to_host[c].data};
  end
  assign from_host.valid = 1'b0;
  assign from_host.data  = '0;
  wire unused_from_host = &{1'b0, from_host.ready};
  direct_card #(
      .Peers(Cards - 1),
      .Classes(Classes),
      .FifoBytes(FifoBytes),
      .MessageWords(MessageWords),
      .LpmNodes(LpmNodes),
      .FibNodes(FibNodes)
  ) i_card (
      .clk_i,
      .rst_i(rst),
      .cmd(cmd),
      .wdata(wdata),
      .rdata(rdata),
      .done(done),
      .recv(recv),
      .regs(regs),
      .read_timeout_o(read_timeout),
      .bus_event_i(bus_event),
      .irq_o,
      .to_host,
      .from_host,
      .host_taken_i(1'b0),
      .host_sent_i(1'b0),
      .table_o,
      .table_i,
      .mac_clk_i,
      .mac_rst_i(mac_rst),
      .mac_rx_i,
      .mac_tx_o,
      .mac_tx_ready_i
  );
endmodule
