// SPDX-License-Identifier: Apache-2.0
`include "stream.svh"
`include "pins.svh"
/// pcie_bench at the pins of a real hard block: what is read from host memory is written back.
module top
  import pcie_pkg::*;
  import usplus_pkg::*;
  import pins_pkg::*;
#(
    parameter int Interface = PinsUsPlus
) (
    `USPLUS_PORTS
    `PTILE_PORTS

    // Transfers that may be read.
    input logic [31:0] prepared  /*verilator public_flat_rw*/
);
  `USPLUS_WIRES
  `PTILE_WIRES
  typedef struct packed {
    logic [511:0] data;
    logic sop;
    logic eop;
  } beat_t;
  `STREAM(beat_t, read)
  `STREAM(beat_t, write)
  `FIFO(beat_t, 2048, i_back, read, write)
  logic unused_started;
  wire  unused = &{1'b0, read.ready};
  pcie_bench #(
      .PcieInterface(Interface)
  ) dut (
      .clk_i,
      .rst_i,
      .pcie_i(all_in),
      .pcie_o(all_out),
      .prepared_i(prepared),
      .started_o(unused_started),
      .read_valid_o(read.valid),
      .read_data_o(read.data.data),
      .read_sop_o(read.data.sop),
      .read_eop_o(read.data.eop),
      .write_valid_i(write.valid),
      .write_ready_o(write.ready),
      .write_data_i(write.data.data),
      .write_sop_i(write.data.sop),
      .write_eop_i(write.data.eop)
  );
endmodule
