// SPDX-License-Identifier: Apache-2.0
`include "assert.svh"
`include "stream.svh"
/// A 64-bit PCI-X device: `Channels` DMA channels as a master, registers and windows as a target.
///
/// Master: see pcix_channel for what a client must keep to, and pcix_master for the timing: a write of N words takes N + 4
/// clocks, and transactions follow each other without a clock between them, also those of different cards. The channels take
/// turns, a transaction each; answers to the host's reads go first. `enable` of the channels is the bus master bit.
/// Target: configuration space, registers (`regs`, 32 bits, lower half of BAR0), windows (upper half: 16 of 8 kB, each of a
/// half for bursts and one for messages). What is written to a window comes out at `recv` one word a clock and cannot be
/// refused: `recv.ready` must be high. Reads are split. All outputs to the bus are registers. Reset forgets everything.
module pcix_core
  import pcix_pkg::*;
#(
    parameter int Channels = 4,
    parameter logic [Channels-1:0] Reads = '1,  // channels that may read: 4 kB of buffer each
    parameter logic [15:0] VendorId = 16'h1234,
    parameter logic [15:0] DeviceId = 16'hd1ec
) (
    input logic clk_i,
    input logic rst_i,
    // The bus.
    input pins_in_t pins_i,
    output pins_out_t pins_o,
    // Channels.
    stream_if.snk cmd[Channels],  // channel_cmd_t
    stream_if.snk wdata[Channels],  // logic [63:0]
    stream_if.src rdata[Channels],  // channel_word_t
    stream_if.src done[Channels],  // channel_result_e
    // Registers and windows of BAR0.
    reg_if.master regs,  // AddrW 17
    stream_if.src recv,  // window_word_t
    // Setting and events.
    input logic [31:0] timeout_i,  // clocks a read may take; 0: any
    output bus_event_t event_o
);
  if (Channels < 1 || Channels > 4) begin : g_bad_parameter
    $fatal(1, "pcix_core: %0d channels, can have 1 to 4", Channels);
  end
  localparam int Sources = Channels + 1;  // 0 is the completer

  // Own numbers and address.
  logic memory, enable, numbered, config_write;
  logic [63:18] base;
  logic [7:0] bus, config_bus;
  logic [4:0] device, config_device;
  logic [5:0] config_windex, config_rindex;
  logic [31:0] config_wdata, config_rdata;
  logic [3:0] config_strobe;
  bus_event_t events;
  pcix_config #(
      .VendorId(VendorId),
      .DeviceId(DeviceId)
  ) i_config (
      .clk_i,
      .rst_i,
      .write_i(config_write),
      .windex_i(config_windex),
      .wdata_i(config_wdata),
      .wstrobe_i(config_strobe),
      .bus_i(config_bus),
      .device_i(config_device),
      .rindex_i(config_rindex),
      .rdata_o(config_rdata),
      .memory_o(memory),
      .master_o(enable),
      .base_o(base),
      .bus_o(bus),
      .device_o(device),
      .numbered_o(numbered),
      .unexpected_split_i(events.unexpected_split),
      .split_error_i(events.split_error)
  );

  // Master.
  logic [Sources-1:0] want, need, start, pop, taken, ended;
  offer_t offer[Sources];
  logic [63:0] data[Sources];
  end_e how;
  pcix_master #(
      .Sources(Sources)
  ) i_master (
      .clk_i,
      .rst_i,
      .pins_i,
      .req_n_o(pins_o.req_n),
      .frame_n_o(pins_o.frame_n),
      .irdy_n_o(pins_o.irdy_n),
      .master_oe_o(pins_o.master_oe),
      .ad_o(pins_o.ad),
      .cbe_n_o(pins_o.cbe_n),
      .ad_oe_o(pins_o.ad_oe),
      .want_i(want),
      .need_i(need),
      .offer_i(offer),
      .data_i(data),
      .start_o(start),
      .pop_o(pop),
      .taken_o(taken),
      .end_o(ended),
      .how_o(how),
      .master_abort_o(events.master_abort),
      .target_abort_o(events.target_abort),
      .disconnect_o(events.disconnect)
  );

  // Target.
  `STREAM(access_t, access)
  logic reading, split, word, word_last;
  split_start_t split_start;
  logic [63:0] word_data;
  pcix_target i_target (
      .clk_i,
      .rst_i,
      .pins_i,
      .devsel_n_o(pins_o.devsel_n),
      .trdy_n_o(pins_o.trdy_n),
      .stop_n_o(pins_o.stop_n),
      .target_oe_o(pins_o.target_oe),
      .memory_i(memory),
      .base_i(base),
      .numbered_i(numbered),
      .bus_i(bus),
      .device_i(device),
      .config_write_o(config_write),
      .config_index_o(config_windex),
      .config_data_o(config_wdata),
      .config_strobe_o(config_strobe),
      .config_bus_o(config_bus),
      .config_device_o(config_device),
      .recv_valid_o(recv.valid),
      .recv_o(recv.data),
      .access_valid_o(access.valid),
      .access_o(access.data),
      .access_ready_i(access.ready),
      .reading_i(reading),
      .split_o(split),
      .split_start_o(split_start),
      .word_o(word),
      .word_last_o(word_last),
      .word_data_o(word_data),
      .word_in_o(events.word_in),
      .retry_given_o(events.retry_given)
  );

  pcix_completer i_completer (
      .clk_i,
      .rst_i,
      .access,
      .reading_o(reading),
      .regs,
      .config_index_o(config_rindex),
      .config_data_i(config_rdata),
      .bus_i(bus),
      .device_i(device),
      .want_o(want[0]),
      .offer_o(offer[0]),
      .data_o(data[0]),
      .end_i(ended[0]),
      .how_i(how),
      .start_i(start[0]),
      .bad_read_o(events.bad_read)
  );
  assign need[0] = want[0] && !start[0];

  // Channels.
  logic [Channels-1:0] accept, timeout, split_error;
  for (genvar i = 0; i < Channels; i++) begin : g_channel
    pcix_channel #(
        .Index(i),
        .Reads(Reads[i])
    ) i_channel (
        .clk_i,
        .rst_i,
        .cmd(cmd[i]),
        .wdata(wdata[i]),
        .rdata(rdata[i]),
        .done(done[i]),
        .enable_i(enable),
        .bus_i(bus),
        .device_i(device),
        .want_o(want[i+1]),
        .need_o(need[i+1]),
        .offer_o(offer[i+1]),
        .data_o(data[i+1]),
        .start_i(start[i+1]),
        .pop_i(pop[i+1]),
        .taken_i(taken[i+1]),
        .end_i(ended[i+1]),
        .how_i(how),
        .split_i(split),
        .split_start_i(split_start),
        .word_i(word),
        .word_last_i(word_last),
        .word_data_i(word_data),
        .accept_o(accept[i]),
        .timeout_i,
        .split_timeout_o(timeout[i]),
        .split_error_o(split_error[i])
    );
  end

  assign events.transaction = |start;
  assign events.word_out = |taken;
  assign events.retry = |ended && how == EndRetry;
  assign events.split_timeout = |timeout;
  assign events.split_error = |split_error;
  assign events.bad_write = 1'b0;
  assign events.unexpected_split = word && word_last && accept == '0;

  always_ff @(posedge clk_i) event_o <= rst_i ? '0 : events;

  `ASSERT(WindowsAreNeverRefused, recv.valid |-> recv.ready)
endmodule
