// SPDX-License-Identifier: Apache-2.0
`include "assert.svh"
`include "stream.svh"
/// Counters of 64 bits in RAM: packets, bytes, errors and drops of each row (a queue, or a class of a port's frames).
///
/// `count` adds what it carries to its row's counters: one a clock, rows in any order, the same one back to back too; only a read stops
/// it, for a clock. The lower half of a counter lies in one RAM (`LowW` bits), the upper one in another that is touched by carries and reads only,
/// three clocks behind. `regs` is stat_regs of host_nic.rdl: a write of `select` keeps the counters of that row as they are at one moment,
/// about 10 clocks, to be read word by word. Of a row that there is not it keeps zeros and pulses `refused_o`. With fewer than four `Counters` the
/// last ones read 0. Up to 64 rows say which of them have counted anything. Counters start at 0 from reset and wrap modulo 2^64; after reset the RAMs are cleared, a row a clock, and all wait.
module stat_ram
  import queue_pkg::*;
#(
    parameter int Rows = 256,
    parameter int Counters = 4,  // 2: packets, bytes, 3: errors, 4: drops
    parameter int LowW = 32,
    localparam int RowW = Rows > 1 ? $clog2(Rows) : 1
) (
    input logic clk_i,
    input logic rst_i,
    stream_if.snk count,  // queue_count_t
    reg_if.slave regs,
    output logic refused_o
);
  localparam int HighW = 64 - LowW, Most = 4, AddW = $bits(queue_bytes_t);
  if (Rows < 1 || Rows > 65536 || Counters < 2 || Counters > Most || LowW <= AddW || LowW > 32) begin : g_bad_parameter
    $fatal(1, "stat_ram: Rows %0d, Counters %0d or LowW %0d is out of range", Rows, Counters, LowW);
  end
  typedef logic [Counters-1:0][LowW-1:0] low_t;
  typedef logic [Counters-1:0][HighW-1:0] high_t;
  typedef logic [Counters-1:0] bits_t;
  typedef logic [RowW-1:0] row_t;

  // ---- Registers: a read waits for nothing, a write of `select` for what it keeps.
  logic waiting, write, low_ready, high_ready, kept;
  logic [31:0] addr, wdata, rdata;
  logic [15:0] select_q;
  logic [2*Most-1:0][31:0] words;
  logic [63:0] busy;  // rows
  wire ready = low_ready && high_ready;
  wire take = waiting && ready;
  wire [3:0] word = addr[5:2];
  wire selects = take && write && word == StatRegSelect;
  wire known = 32'(wdata[15:0]) < Rows;
  wire keeps = selects && known;
  reg_slot i_slot (
      .clk_i,
      .rst_i,
      .regs,
      .waiting_o(waiting),
      .write_o(write),
      .addr_o(addr),
      .wdata_o(wdata),
      .take_i(take),
      .answer_i((take && !keeps) || kept),
      .rdata_i(rdata)
  );
  always_comb begin
    rdata = '0;
    if (word == StatRegSelect) rdata = 32'(select_q);
    if (word == StatRegNonzero) for (int i = 0; i < 2 * Most; i++) rdata[i] = words[i] != '0;
    if (word == StatRegBusyLo) rdata = busy[31:0];
    if (word == StatRegBusyHi) rdata = busy[63:32];
    if (word >= StatRegPacketsLo) rdata = words[3'(word-StatRegPacketsLo)];
  end
  always_ff @(posedge clk_i) begin
    refused_o <= selects && !known;
    if (selects) select_q <= wdata[15:0];
    if (rst_i) begin
      refused_o <= 1'b0;
      select_q  <= '0;
    end
  end

  // ---- Lower halves. An operation begins with its row; what it adds comes along.
  queue_count_t c;
  assign c = count.data;
  assign count.ready = ready && !keeps;
  wire counts = count.valid && count.ready;
  logic [2:0] runs_q, reads_q;
  row_t row_q[3];
  queue_count_t add_q[3];
  always_ff @(posedge clk_i) begin
    runs_q  <= {runs_q[1:0], counts || keeps};
    reads_q <= {reads_q[1:0], keeps};
    if (counts || keeps) begin
      row_q[0] <= keeps ? row_t'(wdata) : row_t'(c.queue);
      add_q[0] <= keeps ? '0 : c;
    end
    for (int i = 1; i < 3; i++) begin
      if (runs_q[i-1]) begin
        row_q[i] <= row_q[i-1];
        add_q[i] <= add_q[i-1];
      end
    end
    if (rst_i) begin
      runs_q  <= '0;
      reads_q <= '0;
    end
  end

  low_t now, next;
  bits_t carry;
  logic [Most-1:0][AddW-1:0] adds;
  assign adds = {
    AddW'(add_q[2].drop), AddW'(add_q[2].error), add_q[2].bytes, AddW'(add_q[2].packets)
  };
  always_comb begin
    if (`WORTH(runs_q[2])) begin
      for (int i = 0; i < Counters; i++)
      {carry[i], next[i]} = (LowW + 1)'(now[i]) + (LowW + 1)'(adds[i]);
    end
  end
  rmw_ram #(
      .T(low_t),
      .Depth(Rows)
  ) i_low (
      .clk_i,
      .rst_i,
      .ready_o(low_ready),
      .start_i(runs_q[0]),
      .index_i(row_q[0]),
      .now_o  (now),
      .next_i (next)
  );

  // ---- Rows that have counted.
  if (Rows <= 64) begin : g_busy
    always_ff @(posedge clk_i) begin
      if (runs_q[0] && !reads_q[0]) busy[6'(row_q[0])] <= 1'b1;
      if (rst_i) busy <= '0;
    end
  end else begin : g_many
    assign busy = '0;
  end

  // ---- Upper halves.
  logic [2:0] high_runs_q, high_reads_q;
  row_t high_row_q;
  bits_t carry_q[3];
  high_t high_now, high_next;
  low_t low_q;
  always_ff @(posedge clk_i) begin
    high_runs_q  <= {high_runs_q[1:0], runs_q[2] && (reads_q[2] || carry != '0)};
    high_reads_q <= {high_reads_q[1:0], reads_q[2]};
    if (runs_q[2]) begin
      high_row_q <= row_q[2];
      carry_q[0] <= carry;
    end
    if (high_runs_q[0]) carry_q[1] <= carry_q[0];
    if (high_runs_q[1]) carry_q[2] <= carry_q[1];
    if (reads_q[2]) low_q <= now;
    if (rst_i) begin
      high_runs_q  <= '0;
      high_reads_q <= '0;
    end
  end
  always_comb begin
    if (`WORTH(high_runs_q[2])) begin
      for (int i = 0; i < Counters; i++) high_next[i] = high_now[i] + HighW'(carry_q[2][i]);
    end
  end
  rmw_ram #(
      .T(high_t),
      .Depth(Rows)
  ) i_high (
      .clk_i,
      .rst_i,
      .ready_o(high_ready),
      .start_i(high_runs_q[0]),
      .index_i(high_row_q),
      .now_o  (high_now),
      .next_i (high_next)
  );

  // ---- What is kept.
  assign kept = high_reads_q[2];
  always_ff @(posedge clk_i) begin
    if (kept) begin
      for (int i = 0; i < Counters; i++) {words[2*i+1], words[2*i]} <= {high_now[i], low_q[i]};
    end
    if (rst_i || (selects && !known)) words <= '0;
  end
  wire unused = &{1'b0, wdata[31:16], addr[31:6], addr[1:0], c};

  `ASSERT(RowInRange, counts |-> 32'(c.queue) < Rows)
endmodule
