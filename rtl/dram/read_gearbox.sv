// SPDX-License-Identifier: Apache-2.0
`include "assert.svh"
`include "stream.svh"
/// Read bursts of a client that takes a word of 16 bytes a clock, from a bus that gives a row of four.
///
/// `req` and `rdata` are as frame_bus has them for a client. Rows come without back-pressure, so a burst goes to the bus when there is room for all
/// its rows, of `Rows` (32 or more: those of the longest burst) and up to 32 bursts. Its first word goes out two clocks after its first row came,
/// then one a clock. Reset forgets all.
module read_gearbox
  import dram_pkg::*;
#(
    parameter int Rows = 64
) (
    input logic         clk_i,
    input logic         rst_i,
          stream_if.snk req,       // bus_req_t
          stream_if.src rdata,     // logic [127:0]
          stream_if.src row_req,   // bus_req_t
          stream_if.snk row_rdata  // row_t
);
  localparam int RowW = $clog2(Rows + 1);
  if (Rows < 32) begin : g_bad_parameter
    $fatal(1, "read_gearbox: %0d rows do not hold a burst of 128 words", Rows);
  end
  typedef logic [7:0] beats_t;
  `STREAM(beats_t, asked_in)
  `STREAM(beats_t, asked)
  `STREAM(row_t, row)
  `FIFO(beats_t, 32, i_asked, asked_in, asked)
  `FIFO(row_t, Rows, i_rows, row_rdata, row)

  logic [RowW-1:0] free_q;
  logic [7:0] word_q;  // of the burst, the next one
  wire [8:0] up = 9'(req.data.beats) + 9'd3;
  wire [RowW-1:0] needs = RowW'(up[8:2]);
  wire unused = &{1'b0, up[1:0], rdata.ready};
  wire room = free_q >= needs && asked_in.ready;
  wire asks = row_req.valid && row_req.ready;
  assign row_req.valid = req.valid && room;
  assign row_req.data = req.data;
  assign req.ready = row_req.ready && room;
  assign asked_in.valid = asks;
  assign asked_in.data = req.data.beats;

  wire last = word_q + 1'b1 == asked.data;
  assign rdata.valid = row.valid && asked.valid;
  assign rdata.data  = row.data[128*word_q[1:0]+:128];
  assign row.ready   = rdata.valid && (last || word_q[1:0] == 2'd3);
  assign asked.ready = rdata.valid && last;

  always_ff @(posedge clk_i) begin
    if (rdata.valid) word_q <= last ? '0 : word_q + 1'b1;
    free_q <= free_q + RowW'(row.valid && row.ready) - (asks ? needs : '0);
    if (rst_i) begin
      word_q <= '0;
      free_q <= RowW'(Rows);
    end
  end

  `ASSERT(OnlyReads, req.valid |-> !req.data.write && req.data.beats inside {[1 : 128]})
  `ASSERT(RowPlaceKept, row_rdata.valid |-> row_rdata.ready)
endmodule
