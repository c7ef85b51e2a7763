// SPDX-License-Identifier: Apache-2.0
`include "stream.svh"
/// direct_slow_path: a direct-router card's way through the host: its rings and their registers, and what serves them.
///
/// Wiring only. With `SlowPath` slow_rx and slow_tx on two DMA channels (0 frames from the host, 1 frames to it), else slow_none:
/// the channels are silent and frames for the host are dropped. `status_o` is what the registers show and count of it.
module direct_slow_path
  import direct_pkg::*;
  import route_pkg::*;
  import card_regs_pkg::*;
#(
    parameter int Classes  = 2,
    parameter bit SlowPath = 1'b1
) (
    input logic clk_i,
    input logic rst_i,

    // Frames in stored form (stored_word_t).
    stream_if.snk in [Classes],
    stream_if.src out,

    // DMA channels.
    stream_if.src cmd  [2],  // channel_cmd_t
    stream_if.src wdata[2],  // logic [63:0]
    stream_if.snk rdata[2],  // channel_word_t
    stream_if.snk done [2],  // channel_result_e

    // Registers.
    input  card_regs__rx_ring__out_t rx_ring_i[MaxClasses],
    input  card_regs__tx_ring__out_t tx_ring_i,
    output card_regs__rx_ring__in_t  rx_ring_o[MaxClasses],
    output card_regs__tx_ring__in_t  tx_ring_o,

    // High a clock for each.
    output logic rx_frame_o,
    output logic rx_too_long_o,
    output logic rx_bus_error_o,
    output logic tx_frame_o,
    output logic tx_bad_o,
    output logic tx_bus_error_o,
    output logic tx_written_o,
    output logic none_o
);
  ring_t rx_ring[Classes], tx_ring;
  logic [15:0] rx_consumer[Classes];
  logic rx_error[Classes];

  for (genvar c = 0; c < MaxClasses; c++) begin : g_ring
    if (c < Classes) begin : g_used
      assign rx_ring[c] = '{
              enable: rx_ring_i[c].control.enable.value,
              base: {rx_ring_i[c].base_hi.value.value, rx_ring_i[c].base_lo.value.value},
              log_size: rx_ring_i[c].control.log_size.value,
              producer: rx_ring_i[c].producer.value.value[15:0]
          };
      assign rx_ring_o[c].consumer.count.next = rx_consumer[c];
      assign rx_ring_o[c].consumer.error.next = rx_error[c];
    end else begin : g_unused
      assign rx_ring_o[c] = '{default: '0};
      wire unused = &{1'b0, rx_ring_i[c].control.enable.value};
    end
  end
  assign tx_ring = '{
          enable: tx_ring_i.control.enable.value,
          base: {tx_ring_i.base_hi.value.value, tx_ring_i.base_lo.value.value},
          log_size: tx_ring_i.control.log_size.value,
          producer: tx_ring_i.producer.value.value[15:0]
      };
  if (SlowPath) begin : g_slow_path
    slow_rx #(
        .Classes(Classes)
    ) i_slow_rx (
        .clk_i,
        .rst_i,
        .ring_i(rx_ring),
        .consumer_o(rx_consumer),
        .error_o(rx_error),
        .frame(in),
        .cmd(cmd[1]),
        .wdata(wdata[1]),
        .rdata(rdata[1]),
        .done(done[1]),
        .frame_o(rx_frame_o),
        .too_long_o(rx_too_long_o),
        .bus_error_o(rx_bus_error_o)
    );
    slow_tx i_slow_tx (
        .clk_i,
        .rst_i,
        .ring_i(tx_ring),
        .prefetch_i(tx_ring_i.control.prefetch.value),
        .writeback_i(tx_ring_i.control.writeback.value),
        .status_addr_i({tx_ring_i.status_hi.value.value, tx_ring_i.status_lo.value.value}),
        .consumer_o(tx_ring_o.consumer.count.next),
        .error_o(tx_ring_o.consumer.error.next),
        .cmd(cmd[0]),
        .wdata(wdata[0]),
        .rdata(rdata[0]),
        .done(done[0]),
        .out,
        .frame_o(tx_frame_o),
        .bad_o(tx_bad_o),
        .bus_error_o(tx_bus_error_o),
        .written_o(tx_written_o)
    );
    assign none_o = 1'b0;
  end else begin : g_no_slow_path
    slow_none #(
        .Classes(Classes)
    ) i_none (
        .frame(in),
        .out,
        .cmd,
        .wdata,
        .rdata,
        .done,
        .dropped_o(none_o)
    );
    for (genvar c = 0; c < Classes; c++) begin : g_ring
      assign rx_consumer[c] = '0;
      assign rx_error[c] = 1'b0;
      wire unused = &{1'b0, rx_ring[c]};
    end
    wire unused = &{1'b0, clk_i, rst_i, tx_ring, tx_ring_i.control.enable.value};
    assign tx_ring_o.consumer = '{default: '0};
    assign {rx_too_long_o, tx_frame_o, tx_bad_o} = '0;
    assign {rx_frame_o, rx_bus_error_o, tx_bus_error_o, tx_written_o} = '0;
  end
endmodule
