// SPDX-License-Identifier: Apache-2.0
`include "assert.svh"
`include "stream.svh"
/// The statistics of one way of a MAC, 64 bits each, in RAM (xgmii_pkg::mac_counter_e).
///
/// A record adds 1 to each counter that it hits, to Octets and GoodOctets its bytes: one counter a clock. 16 records find room,
/// so that none is lost as long as there is a clock for each hit and one more in the mean; of a MAC's there is (records of a hit two clocks
/// apart, of two three, good frames of six ten). Counter n is read at 8n, its upper half at 8n + 4 as of the last read of the lower; about 6 clocks.
/// Writes do nothing. From reset on all are 0.
module mac_counters
  import xgmii_pkg::*;
(
    input logic        clk_i,
    input logic        rst_i,
    input logic        record_valid_i,
    input mac_record_t record_i,
          reg_if.slave regs
);
  localparam int Depth = 32, IndexW = $clog2(Depth);
  typedef logic [63:0] count_t;
  typedef logic [MacCounters-1:0] hits_t;
  `STREAM(mac_record_t, in)
  `STREAM(mac_record_t, record)
  `FIFO(mac_record_t, 16, i_records, in, record)
  assign in.valid = record_valid_i;
  assign in.data  = record_i;

  // One hit a clock; a read goes between.
  hits_t left_q, hit_q;
  logic [15:0] bytes_q, hit_bytes_q;
  logic ready, ready_q, reads_q;  // a read begins in this clock
  logic [IndexW-1:0] index, read_index;
  wire hits_t lowest = left_q & -left_q;
  assign record.ready = ready_q && left_q == '0 && !reads_q;
  always_comb begin
    index = '0;
    for (int i = 0; i < MacCounters; i++) if (hit_q[i]) index |= IndexW'(i);
  end

  // An operation with what it adds, and of a read that it is one, until the word is there.
  logic start_q;
  logic [IndexW-1:0] index_q;
  logic [15:0] add_q[3];
  logic [2:0] read_q;
  count_t now;
  wire hits_bytes = hit_q[Octets] || hit_q[GoodOctets];
  always_ff @(posedge clk_i) begin
    if (!reads_q) begin
      left_q <= record.ready ? (record.valid ? record.data.hit : '0) : left_q & ~lowest;
      if (record.ready) bytes_q <= record.data.bytes;
      hit_q <= lowest;
      hit_bytes_q <= bytes_q;
    end
    start_q <= hit_q != '0 || reads_q;
    index_q <= reads_q ? read_index : index;
    add_q   <= '{reads_q ? 16'd0 : hits_bytes ? hit_bytes_q : 16'd1, add_q[0], add_q[1]};
    read_q  <= {read_q[1:0], reads_q};
    ready_q <= ready && !rst_i;
    if (rst_i) begin
      {left_q, hit_q} <= '0;
      start_q <= 1'b0;
      read_q <= '0;
    end
  end
  rmw_ram #(
      .T(count_t),
      .Depth(Depth)
  ) i_counts (
      .clk_i,
      .rst_i,
      .ready_o(ready),
      .start_i(start_q),
      .index_i(index_q),
      .now_o  (now),
      .next_i (now + count_t'(add_q[2]))
  );

  // Registers: an access waits until the RAM has been cleared.
  logic [31:0] high_q, addr;
  logic waiting, write;
  wire take = waiting && ready && !reads_q && read_q == '0;
  wire at_once = write || addr[2];
  reg_slot i_slot (
      .clk_i,
      .rst_i,
      .regs,
      .waiting_o(waiting),
      .write_o(write),
      .addr_o(addr),
      .wdata_o(),
      .take_i(take),
      .answer_i((take && at_once) || read_q[2]),
      .rdata_i(read_q[2] ? now[31:0] : high_q)
  );
  wire unused = &{1'b0, addr[31:IndexW+3], addr[1:0]};
  assign read_index = addr[3+:IndexW];
  always_ff @(posedge clk_i) begin
    reads_q <= take && !at_once && !rst_i;
    if (read_q[2]) high_q <= now[63:32];
  end

  `ASSERT(RecordFits, in.valid |-> in.ready)
endmodule
