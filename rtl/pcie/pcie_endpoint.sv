// SPDX-License-Identifier: Apache-2.0
`include "stream.svh"
/// The PCIe side of a device: between the hard block's pins and what serves, reads and writes behind them.
///
/// Wiring only. The pins are those that `Interface` names (pcie_pins); `up_o` says that the link is trained. What is received
/// goes through a spill register (latency 1 clock, one beat a clock) and is sorted, where the block has not done so: completions to
/// `cpl`, memory requests to `req`, which goes on to `access` and from there to the registers (completer); a device with
/// windows puts its reader between the two, others connect both to one stream. Sent are the `Posted` streams `tx` and the
/// completer's answers, within the credits (tlp_tx_mux, latency 1 clock); requests of `read` on pins of their own, or with
/// `Reads` clear none: then `read` is never taken. Configuration, credit limits and `up_o` are a clock late, and not reset. `foreign_o`,
/// `unsupported_o` and `dropped_o` are high a clock for each packet that tlp_rx_demux and completer count. Reset with the link:
/// it drops what is under way, and credits count from it. When the host resets the function (function_reset) TLPs that have begun are
/// sent to their end, then `rst_o` is high, the reset of all that is behind the endpoint; requests are dropped in it, and
/// completions pass. Without rst_i `rst_o` is registered. No output depends combinationally on a pin.
module pcie_endpoint
  import pcie_pkg::*;
  import pins_pkg::*;
#(
    parameter int Interface = PinsIdeal,  // whose pins: pcie_pins
    parameter int Lines = 256,  // of pcie_pins
    parameter int AddrW = 24,  // of the registers
    parameter int Posted = 1,  // streams of posted packets
    parameter bit Reads = 1'b1,
    parameter int  Functions = 1,           // with virtual ones, a power of two; of a request the highest bits of `regs.addr` say which
    parameter type Sent = tlp_beat_t,  // or wide_tlp_beat_t
    parameter type Received = tlp_beat_t  // or wide_tlp_beat_t
) (
    input logic clk_i,
    input logic rst_i,

    // Pins of the hard block.
    input pcie_pins_in_t pins_i,
    output pcie_pins_out_t pins_o,
    output pcie_cfg_t cfg_o,
    output logic up_o,
    output logic rst_o,
    input  function_done_t virtual_done_i,  // their resets (cfg_o.functions.in_reset) are the logic's to do

    // tlp_beat_t: requests received, and those left for the registers.
    stream_if.src req,
    stream_if.snk access,
    reg_if.master regs,

    // Completions received (Received), read requests (tlp_beat_t), posted packets to send (Sent).
    stream_if.src cpl,
    stream_if.snk read,
    stream_if.snk tx  [Posted],

    // Events.
    output logic foreign_o,
    output logic unsupported_o,
    output logic dropped_o
);
  `STREAM(Received, rx_pins)
  `STREAM(tlp_beat_t, sorted)
  `STREAM(Sent, tx_pins)
  `STREAM(mem4_hdr_t, read_pins)
  block_state_t state;
  logic reset_done, closed, sending;
  pcie_pins #(
      .Sent(Sent),
      .Received(Received),
      .Interface(Interface),
      .Lines(Lines),
      .Functions(Functions),
      .ApertureW(AddrW - $clog2(Functions))
  ) i_pins (
      .clk_i,
      .rst_i,
      .pins_i,
      .pins_o,
      .state_o(state),
      .function_reset_done_i(reset_done),
      .virtual_done_i,
      .rx(rx_pins),
      .req(sorted),
      .tx(tx_pins),
      .read(read_pins)
  );
  function_reset i_function (
      .clk_i,
      .rst_i,
      .flr_i(state.function_reset),
      .done_o(reset_done),
      .closed_o(closed),
      .busy_i(sending),
      .rst_o
  );
  fc_limit_t fc_now;
  pipe_reg #(
      .T(pcie_cfg_t)
  ) i_cfg (
      .clk_i,
      .d_i(state.cfg),
      .q_o(cfg_o)
  );
  pipe_reg #(
      .T(fc_limit_t)
  ) i_fc (
      .clk_i,
      .d_i(state.fc),
      .q_o(fc_now)
  );
  pipe_reg i_up (
      .clk_i,
      .d_i(state.link_up),
      .q_o(up_o)
  );

  // ---------------------------------------------------------------- in
  `STREAM(Received, rx)
  `SPILL(Received, i_rx, rx_pins, rx)
  if (Interface inside {PinsUsPlus, PinsUsPlusPlain}) begin : g_sorted
    `STREAM(tlp_beat_t, none)
    tlp_rx_demux i_rx_demux (
        .clk_i,
        .rst_i,
        .device_rst_i(rst_o),
        .in(sorted),
        .cpl(none),
        .req,
        .dropped_o(foreign_o)
    );
    assign none.ready = 1'b1;
    assign cpl.valid  = rx.valid;
    assign cpl.data   = rx.data;
    assign rx.ready   = cpl.ready;
    wire unused = &{1'b0, none.valid, none.data};
  end else begin : g_mixed
    tlp_rx_demux #(
        .Beat(Received)
    ) i_rx_demux (
        .clk_i,
        .rst_i,
        .device_rst_i(rst_o),
        .in(rx),
        .cpl,
        .req,
        .dropped_o(foreign_o)
    );
    assign sorted.ready = 1'b1;
    wire unused = &{1'b0, sorted.valid, sorted.data};
  end

  // ---------------------------------------------------------------- out: posted packets, then completions
  `STREAM_ON(Sent, tx_source[Posted+1], clk_i, rst_o)
  `STREAM_ON(tlp_beat_t, answer, clk_i, rst_o)
  logic [2:0] unused_starved;
  for (genvar i = 0; i < Posted; i++) begin : g_posted
    assign tx_source[i].valid = tx[i].valid;
    assign tx_source[i].data  = tx[i].data;
    assign tx[i].ready        = tx_source[i].ready;
  end
  completer #(
      .AddrW(AddrW),
      .Functions(Functions)
  ) i_completer (
      .clk_i,
      .rst_i(rst_o),
      .cfg_i(cfg_o),
      .req  (access),
      .regs,
      .cpl  (answer),
      .unsupported_o,
      .dropped_o
  );
  tlp_extend #(
      .Beat(Sent)
  ) i_answer (
      .clk_i,
      .rst_i(rst_o),
      .in(answer),
      .out(tx_source[Posted])
  );
  tlp_tx_mux #(
      .Beat(Sent),
      .N(Posted + 1),
      .Posted({1'b0, {Posted{1'b1}}})
  ) i_tx (
      .clk_i,
      .rst_i,
      .fc_i(fc_now),
      .starved_o(unused_starved),
      .closed_i(closed),
      .busy_o(sending),
      .in(tx_source),
      .out(tx_pins)
  );

  `STREAM_ON(tlp_beat_t, read_source[1], clk_i, rst_o)
  `STREAM(tlp_beat_t, read_out)
  assign read_source[0].valid = read.valid && Reads;
  assign read_source[0].data = read.data;
  assign read.ready = read_source[0].ready && Reads;
  assign read_pins.valid = read_out.valid;
  assign read_pins.data = read_out.data.hdr;
  assign read_out.ready = read_pins.ready;
  if (Reads) begin : g_reads
    logic [2:0] unused_read_starved;
    logic unused_reading;
    tlp_tx_mux #(
        .N(1),
        .Posted(1'b0),
        .NonPosted(1'b1)
    ) i_read (
        .clk_i,
        .rst_i,
        .fc_i(fc_now),
        .starved_o(unused_read_starved),
        .closed_i(closed),
        .busy_o(unused_reading),
        .in(read_source),
        .out(read_out)
    );
  end else begin : g_no_reads
    assign read_source[0].ready = 1'b0;
    assign read_out.valid = 1'b0;
    assign read_out.data = '0;
    wire unused = &{1'b0, read_source[0].valid, read_source[0].data, read_out.ready};
  end
endmodule
