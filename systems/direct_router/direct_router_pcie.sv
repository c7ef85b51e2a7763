// SPDX-License-Identifier: Apache-2.0
`include "stream.svh"
/// direct-router on PCI Express: the card of direct_router with a PCIe hard block in place of the PCI-X bus. Cards hand each
/// other packets by posted writes through whatever switches lie between them (the paper's scheduler, unchanged; not in the
/// paper).
///
/// Wiring only. `clk_i` is the PCIe user clock, `mac_clk_i` the 125 MHz of the 8-bit MAC streams; resets are synchronous,
/// active high, and given together; that of the function resets all, the MAC by `mac_rst_o` too. One stream of TLPs each way (pcie_pkg), configuration and credits from the hard block.
/// Registers and windows: BAR 0 as in direct_router.rdl. With `HostPath` frames that need the host go through a NIC of host-nic's blocks
/// (nic_core, host_port), whose registers are above those (direct_pkg::HostBase); else they are dropped and counted. Receive from the wire cannot wait; from PCIe it can. No output depends combinationally on an input.
module direct_router_pcie
  import eth_pkg::*;
  import route_pkg::table_pins_out_t;
  import route_pkg::table_pins_in_t;
  import pcie_pkg::*;
  import pins_pkg::*;
  import channel_pkg::channel_cmd_t;
  import channel_pkg::channel_word_t;
  import channel_pkg::channel_result_e;
  import channel_pkg::window_word_t;
#(
    parameter int PcieInterface = PinsIdeal,  // whose pins the hard block has: pins_pkg
    parameter int Cards = 8,  // this one included: 2 ... 16
    parameter int Classes = 2,  // 1 ... 4
    parameter int FifoBytes = 15360,  // of each input and output FIFO
    parameter int MessageWords = 1,  // of a message or header on the bus, 1 ... 4
    parameter int LpmNodes = 2048,  // of the longest-prefix table, in block RAM
    parameter int FibNodes = 0,  // and in the card's memory
    parameter bit HostPath = 1'b0,
    parameter int MaxFrame = 9216  // without FCS, of what takes that way
) (
    input logic clk_i,
    input logic rst_i,

    // PCIe hard block.
    input  pcie_pins_in_t  pcie_i,
    output pcie_pins_out_t pcie_o,

    // The card's memory, through its controller (route_pkg); unused without FibNodes.
    output table_pins_out_t table_o,
    input  table_pins_in_t  table_i,

    // MAC stream, one byte a beat.
    input  logic       mac_clk_i,
    input  logic       mac_rst_i,
    input  byte_pins_t mac_rx_i,
    output byte_pins_t mac_tx_o,
    input  logic       mac_tx_ready_i,
    output logic       mac_rst_o
);
  localparam int Channels = 4;
  localparam int Writers = 2;  // channels 2 (messages) and 3 (bursts)
  localparam int Posted = HostPath ? Writers + 2 : Writers;
  localparam int CardW = direct_router_map_pkg::MapW;
  localparam int BarW = HostPath ? direct_pkg::HostBarW : CardW;
  localparam int NicW = direct_pkg::HostBarW - 1;

  if (Cards < 2 || Cards > 16) begin : g_bad_cards
    $fatal(1, "direct_router_pcie: Cards %0d is not 2 ... 16", Cards);
  end

  // ---------------------------------------------------------------- resets
  logic device_rst, rst, mac_rst;
  logic [1:0] function_rst;
  reset_sequencer i_resets (
      .clk_i({mac_clk_i, clk_i}),
      .rst_i({1'b0, device_rst && !rst_i}),
      .rst_o(function_rst)
  );
  assign rst = rst_i || function_rst[0];
  assign mac_rst = mac_rst_i || function_rst[1];
  assign mac_rst_o = mac_rst;

  // ---------------------------------------------------------------- PCIe
  pcie_cfg_t cfg;
  `STREAM_ON(tlp_beat_t, request, clk_i, rst)
  `STREAM_ON(tlp_beat_t, access, clk_i, rst)
  `STREAM_ON(tlp_beat_t, completion, clk_i, rst)
  `STREAM_ON(tlp_beat_t, read_tlp, clk_i, rst)
  `STREAM_ON(tlp_beat_t, write_tlp[Posted], clk_i, rst)
  `STREAM_ON(window_word_t, recv, clk_i, rst)
  reg_if #(.AddrW(BarW)) bar ();
  reg_if #(.AddrW(BarW)) part[2] ();  // the card's registers; the NIC's
  reg_if #(.AddrW(CardW - 1)) regs ();
  pcix_pkg::bus_event_t bus_event;
  logic [Writers-1:0] tlp_sent;
  logic
      unused_up,
      foreign,
      write_dropped,
      access_dropped,
      word_in,
      bad_read,
      unexpected,
      unused_unmapped;

  pcie_endpoint #(
      .Interface(PcieInterface),
      .AddrW(BarW),
      .Posted(Posted),
      .Reads(HostPath)
  ) i_endpoint (
      .clk_i,
      .rst_i,
      .pins_i(pcie_i),
      .pins_o(pcie_o),
      .cfg_o(cfg),
      .up_o(unused_up),
      .rst_o(device_rst),
      .virtual_done_i('0),
      .req(request),
      .access,
      .regs(bar),
      .cpl(completion),
      .read(read_tlp),
      .tx(write_tlp),
      .foreign_o(foreign),
      .unsupported_o(bad_read),
      .dropped_o(access_dropped)
  );
  window_reader #(
      .AddrW(BarW)
  ) i_reader (
      .clk_i,
      .rst_i(rst),
      .in(request),
      .other(access),
      .recv,
      .dropped_o(write_dropped),
      .word_o(word_in)
  );
  // A window reads as zero.
  localparam int Parts = HostPath ? 2 : 1;
  typedef logic [1:0][BarW-1:0] places_t;
  localparam places_t PartBase = {BarW'(direct_pkg::HostBase), BarW'(0)};
  localparam places_t PartSize = {BarW'(2 ** NicW), BarW'(direct_router_map_pkg::WindowBase)};
  reg_demux #(
      .N(Parts),
      .AddrW(BarW),
      .Base(PartBase[Parts-1:0]),
      .Size(PartSize[Parts-1:0])
  ) i_parts (
      .clk_i,
      .rst_i(rst),
      .in(bar),
      .out(part[0:Parts-1]),
      .unmapped_o(unused_unmapped)
  );
  assign regs.req = part[0].req;
  assign regs.write = part[0].write;
  assign regs.addr = part[0].addr[CardW-2:0];
  assign regs.wdata = part[0].wdata;
  assign regs.wstrb = part[0].wstrb;
  assign part[0].ack = regs.ack;
  assign part[0].rdata = regs.rdata;
  wire unused_addr = &{1'b0, part[0].addr[BarW-1:CardW-1]};

  // ---------------------------------------------------------------- writes
  `STREAM_ON(channel_cmd_t, cmd[Channels], clk_i, rst)
  `STREAM_ON(logic [63:0], wdata[Channels], clk_i, rst)
  `STREAM_ON(channel_word_t, rdata[Channels], clk_i, rst)
  `STREAM_ON(channel_result_e, done[Channels], clk_i, rst)
  for (genvar i = 0; i < Channels; i++) begin : g_channel
    localparam int Writer = i - (Channels - Writers);
    assign rdata[i].valid = 1'b0;
    assign rdata[i].data  = '0;
    wire unused = &{1'b0, rdata[i].ready};
    if (Writer >= 0) begin : g_writer
      window_writer i_writer (
          .clk_i,
          .rst_i(rst),
          .cfg_i(cfg),
          .cmd(cmd[i]),
          .wdata(wdata[i]),
          .done(done[i]),
          .tlp(write_tlp[Writer]),
          .sent_o(tlp_sent[Writer])
      );
    end else begin : g_no_writer
      assign cmd[i].ready   = 1'b0;
      assign wdata[i].ready = 1'b0;
      assign done[i].valid  = 1'b0;
      assign done[i].data   = channel_pkg::ChannelOk;
      wire unused_channel = &{1'b0, cmd[i].valid, cmd[i].data, wdata[i].valid, wdata[i].data, done[i].ready};
    end
  end
  // What PCI-X alone has stays zero.
  assign bus_event = '{
          transaction: |tlp_sent,
          word_in: word_in,
          bad_read: bad_read,
          bad_write: write_dropped || access_dropped,
          unexpected_split: unexpected,
          default: 1'b0
      };

  // ---------------------------------------------------------------- the way through the host
  `STREAM_ON(direct_pkg::stored_word_t, to_host[Classes], clk_i, rst)
  `STREAM_ON(direct_pkg::stored_word_t, from_host, clk_i, rst)
  logic host_taken, host_sent;
  if (HostPath) begin : g_host_path
    direct_nic #(
        .Classes (Classes),
        .MaxFrame(MaxFrame)
    ) i_nic (
        .clk_i,
        .rst_i(rst),
        .link_rst_i(rst_i),
        .cfg_i(cfg),
        .regs(part[1]),
        .read_tlp,
        .cpl(completion),
        .write_tlp(write_tlp[Writers:Posted-1]),
        .foreign_i(foreign),
        .refused_i(access_dropped),
        .to_host,
        .from_host,
        .taken_o(host_taken),
        .sent_o(host_sent)
    );
    assign unexpected = 1'b0;  // the NIC counts them
  end else begin : g_no_host_path
    // The card reads nothing.
    assign read_tlp.valid = 1'b0;
    assign read_tlp.data = '0;
    assign completion.ready = 1'b1;
    assign unexpected = completion.valid;
    assign part[1].req = 1'b0;
    assign part[1].write = 1'b0;
    assign part[1].addr = '0;
    assign part[1].wdata = '0;
    assign part[1].wstrb = '0;
    assign part[1].ack = 1'b0;
    assign part[1].rdata = '0;
    for (genvar c = 0; c < Classes; c++) begin : g_class
      assign to_host[c].ready = 1'b1;
      wire unused = &{1'b0, to_host[c].valid, to_host[c].data};
    end
    assign from_host.valid = 1'b0;
    assign from_host.data = '0;
    assign host_taken = 1'b0;
    assign host_sent = 1'b0;
    wire unused = &{1'b0, read_tlp.ready, completion.data, from_host.ready, foreign};
  end

  // ---------------------------------------------------------------- the card
  logic [31:0] unused_read_timeout;
  logic unused_irq;
  direct_card #(
      .Peers(Cards - 1),
      .Classes(Classes),
      .FifoBytes(FifoBytes),
      .MessageWords(MessageWords),
      .LpmNodes(LpmNodes),
      .FibNodes(FibNodes),
      .SlowPath(1'b0),
      .Lanes(2),
      .HostPort(HostPath)
  ) i_card (
      .clk_i,
      .rst_i(rst),
      .cmd(cmd),
      .wdata(wdata),
      .rdata(rdata),
      .done(done),
      .recv(recv),
      .regs(regs),
      .read_timeout_o(unused_read_timeout),
      .bus_event_i(bus_event),
      .irq_o(unused_irq),
      .to_host,
      .from_host,
      .host_taken_i(host_taken),
      .host_sent_i(host_sent),
      .table_o,
      .table_i,
      .mac_clk_i,
      .mac_rst_i(mac_rst),
      .mac_rx_i,
      .mac_tx_o,
      .mac_tx_ready_i
  );
endmodule
