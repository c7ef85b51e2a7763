// SPDX-License-Identifier: Apache-2.0
`include "assert.svh"
`include "stream.svh"
/// Write bursts of a client that gives a word of 16 bytes a clock, for a bus that takes a row of four.
///
/// `req` and `wdata` are as frame_bus has them for a client; rows leave on `row_wdata`. A burst goes to the bus when three quarters of its words less two
/// are here: the bus, which takes a row a clock, finds the rest in time if the client then gives a word a clock, and waits if not.
/// Its last word is taken when the bus has taken the burst, so what the client does after its last word is behind it in
/// order. Up to four bursts are taken ahead of their words, and `Rows` rows are held (32 or more: those of the longest burst). Reset
/// forgets all.
module write_gearbox
  import dram_pkg::*;
#(
    parameter int Rows = 64
) (
    input logic         clk_i,
    input logic         rst_i,
          stream_if.snk req,       // bus_req_t
          stream_if.snk wdata,     // bus_wdata_t
          stream_if.src row_req,   // bus_req_t
          stream_if.src row_wdata  // bus_row_t
);
  if (Rows < 32) begin : g_bad_parameter
    $fatal(1, "write_gearbox: %0d rows do not hold a burst of 128 words", Rows);
  end
  `STREAM(bus_req_t, asked)
  `STREAM(bus_row_t, row)
  `FIFO(bus_req_t, 4, i_asked, req, asked)
  `FIFO(bus_row_t, Rows, i_rows, row, row_wdata)

  logic [7:0] word_q;  // of the burst, the next one
  logic sent_q;  // the bus has the burst
  logic [2:0][127:0] data_q;
  logic [2:0][15:0] strb_q;
  wire [1:0] lane = word_q[1:0];
  wire last = word_q + 1'b1 == asked.data.beats;
  wire ends_row = last || lane == 2'd3;
  wire enough = {word_q + 8'd2, 2'b00} >= 10'(asked.data.beats) * 10'd3;
  assign row_req.valid = asked.valid && !sent_q && (enough || (wdata.valid && last));
  assign row_req.data  = asked.data;
  assign wdata.ready   = asked.valid && (!last || sent_q) && (!ends_row || row.ready);
  wire go = wdata.valid && wdata.ready;
  assign asked.ready = go && last;
  assign row.valid   = wdata.valid && asked.valid && (!last || sent_q) && ends_row;
  always_comb begin
    row.data.data = {wdata.data.data, data_q};
    row.data.strb = {wdata.data.strb, strb_q};
    for (int l = 0; l < 3; l++) begin
      if (lane == 2'(l)) row.data.data[128*l+:128] = wdata.data.data;
      if (lane == 2'(l)) row.data.strb[16*l+:16] = wdata.data.strb;
    end
  end

  always_ff @(posedge clk_i) begin
    if (go) word_q <= last ? '0 : word_q + 1'b1;
    if (row_req.valid && row_req.ready) sent_q <= 1'b1;
    else if (go && last) sent_q <= 1'b0;
    for (int l = 0; l < 3; l++) begin
      if (go && lane == 2'(l)) begin
        data_q[l] <= wdata.data.data;
        strb_q[l] <= wdata.data.strb;
      end
    end
    if (rst_i) begin
      word_q <= '0;
      sent_q <= 1'b0;
    end
  end

  `ASSERT(OnlyWrites, asked.valid |-> asked.data.write && asked.data.beats inside {[1 : 128]})
endmodule
