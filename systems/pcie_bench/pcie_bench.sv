// SPDX-License-Identifier: Apache-2.0
`include "stream.svh"
/// pcie-bench: an instrument that reads and writes host memory over PCI Express and does nothing else.
///
/// Wiring only. Reads: probe_read, dma_read, the hard block; what has come leaves by `rx_*`. Writes: what comes in by `tx_*`
/// goes through probe_write, dma_write, the hard block. Registers: pcie_bench.rdl. One clock of 250 MHz, a TLP beat a clock each
/// way. No output depends combinationally on an input.
module pcie_bench
  import pcie_pkg::*;
  import pins_pkg::*;
  import dma_pkg::*;
  import probe_pkg::*;
  import pcie_bench_map_pkg::*;
#(
    parameter int PcieInterface = PinsIdeal,  // whose pins the hard block has: pins_pkg
    parameter int Tags          = 256         // reads under way, a power of two from 4 to 256
) (
    input logic clk_i,
    input logic rst_i,

    // PCIe hard block.
    input  pcie_pins_in_t  pcie_i,
    output pcie_pins_out_t pcie_o,

    // Transfers read: how many the host has prepared; asked for; what came, never refused.
    input  logic [ 31:0] prepared_i,
    output logic         started_o,
    output logic         read_valid_o,
    output logic [511:0] read_data_o,
    output logic         read_sop_o,
    output logic         read_eop_o,

    // Transfers to write.
    input  logic         write_valid_i,
    output logic         write_ready_o,
    input  logic [511:0] write_data_i,
    input  logic         write_sop_i,
    input  logic         write_eop_i
);
  localparam int AddrW = MapW;
  logic rst;  // the device's, with the link or of the function alone

  probe_regs_pkg::probe_regs__in_t hw_in;
  probe_regs_pkg::probe_regs__out_t hw_out;
  probe_cfg_t cfg[2];
  for (genvar i = 0; i < 2; i++) begin : g_cfg
    assign cfg[i] = '{
            enable: hw_out.way[i].control.enable.value,
            len: hw_out.way[i].length.value.value[12:0],
            base: {hw_out.way[i].base_hi.value.value, hw_out.way[i].base_lo.value.value},
            window: hw_out.way[i].window.value.value,
            step: hw_out.way[i].step.value.value,
            in_flight: hw_out.way[i].in_flight.value.value[6:0],
            delay: hw_out.way[i].delay.value.value[5:0],
            cost: '{
                beat: hw_out.way[i].beat.value.value[11:0],
                piece: hw_out.way[i].piece.value.value[11:0],
                setup: hw_out.way[i].setup.value.value[11:0],
                apart: hw_out.way[i].apart.value.value[11:0]
            }
        };
  end

  // ---------------------------------------------------------------- the link
  `STREAM_ON(tlp_beat_t, request, clk_i, rst)
  `STREAM_ON(tlp_beat_t, completion, clk_i, rst)
  `STREAM_ON(tlp_beat_t, read_tlp, clk_i, rst)
  `STREAM_ON(tlp_beat_t, write_tlp[1], clk_i, rst)
  reg_if #(.AddrW(AddrW)) regs ();
  pcie_cfg_t pcie_cfg;
  logic unused_up, foreign, unsupported, dropped;
  pcie_endpoint #(
      .Interface(PcieInterface),
      .AddrW(AddrW)
  ) i_endpoint (
      .clk_i,
      .rst_i,
      .pins_i(pcie_i),
      .pins_o(pcie_o),
      .cfg_o(pcie_cfg),
      .up_o(unused_up),
      .rst_o(rst),
      .virtual_done_i('0),
      .req(request),
      .access(request),
      .regs,
      .cpl(completion),
      .read(read_tlp),
      .tx(write_tlp),
      .foreign_o(foreign),
      .unsupported_o(unsupported),
      .dropped_o(dropped)
  );

  // ---------------------------------------------------------------- DMA
  `STREAM_ON(dma_req_t, read_req[1], clk_i, rst)
  `STREAM_ON(dma_req_t, write_req[1], clk_i, rst)
  `STREAM_ON(probe_beat_t, write_in, clk_i, rst)
  ram_write_t ram_write;
  ram_read_t  ram_read;
  ram_row_t   ram_row;
  dma_status_t read_status, write_status;
  dma_read_count_t read_count;
  probe_beat_t read_beat;
  logic failed;
  dma_engines #(
      .Tags(Tags)
  ) i_dma (
      .clk_i,
      .rst_i(rst),
      .forget_i(rst_i),
      .cfg_i(pcie_cfg),
      .timeout_cycles_i(32'd12_500_000),  // 50 ms, as the specification advises
      .overtaken_cycles_i('0),  // a host's tail is measured here, not cut off
      .read_tlp,
      .cpl(completion),
      .write_tlp(write_tlp[0]),
      .read(read_req),
      .ram_write_o(ram_write),
      .read_status_o(read_status),
      .read_count_o(read_count),
      .write(write_req),
      .ram_read_o(ram_read),
      .ram_row_i(ram_row),
      .write_status_o(write_status)
  );
  probe_read i_read (
      .clk_i,
      .rst_i(rst),
      .cfg_i(cfg[0]),
      .prepared_i,
      .started_o,
      .req(read_req[0]),
      .status_i(read_status),
      .ram_i(ram_write),
      .valid_o(read_valid_o),
      .beat_o(read_beat),
      .failed_o(failed)
  );
  probe_write i_write (
      .clk_i,
      .rst_i(rst),
      .cfg_i(cfg[1]),
      .in(write_in),
      .req(write_req[0]),
      .status_i(write_status),
      .ram_i(ram_read),
      .ram_o(ram_row)
  );
  assign read_data_o = read_beat.data;
  assign read_sop_o = read_beat.sop;
  assign read_eop_o = read_beat.eop;
  assign write_in.valid = write_valid_i;
  assign write_in.data = '{data: write_data_i, sop: write_sop_i, eop: write_eop_i};
  assign write_ready_o = write_in.ready;
  wire unused = &{1'b0, read_count};

  // ---------------------------------------------------------------- registers
  assign hw_in.failed.value.incr = failed;
  assign hw_in.amiss.value.incr = read_count.malformed || read_count.late || read_count.unexpected;
  assign hw_in.foreign.value.incr = foreign || unsupported || dropped;
  probe_regs i_regs (
      .clk(clk_i),
      .rst(rst),
      .regs,
      .hwif_in(hw_in),
      .hwif_out(hw_out)
  );
endmodule
