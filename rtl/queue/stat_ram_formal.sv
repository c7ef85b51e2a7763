// SPDX-License-Identifier: Apache-2.0
// prove: mode=prove depth=20
`include "reg_master_formal.svh"
`include "stream.svh"
/// stat_ram: the counters of any one row read as the sums of what was counted for it before they were asked for, all 64 bits of each, whatever is
/// counted meanwhile for this row or another; those of a row that there is not read 0. Relies on: counts of rows that there are.
module stat_ram_formal
  import queue_pkg::*;
(
    input logic                clk_i,
    input logic                rst_i,
    input logic                valid_i,
    input queue_count_t        count_i,
    input logic                req_i,
    input logic                write_i,
    input logic                whole_i,
    input logic         [11:0] addr_i,
    input logic         [31:0] wdata_i,
    input logic                watched_i,  // the row looked at
    input logic         [ 1:0] counter_i   // and the counter
);
  `FORMAL_BEGIN
  localparam int Rows = 2, LowW = 25, HighW = 64 - LowW;
  `STREAM_ON(queue_count_t, count, clk_i, rst_i)
  assign count.valid = valid_i;
  assign count.data  = count_i;
  reg_if #(.AddrW(12)) regs ();
  logic busy, write;
  logic [11:0] addr;
  logic [31:0] wdata;
  reg_master_formal #(
      .AddrW(12)
  ) i_master (
      .clk_i,
      .rst_i,
      .req_i,
      .write_i,
      .whole_i,
      .addr_i,
      .wdata_i,
      .regs,
      .busy_o (busy),
      .write_o(write),
      .addr_o (addr),
      .wdata_o(wdata)
  );
  logic refused;
  stat_ram #(
      .Rows(Rows),
      .LowW(LowW)
  ) dut (
      .clk_i,
      .rst_i,
      .count,
      .regs,
      .refused_o(refused)
  );
  logic watched_q;
  logic [1:0] counter_q;
  always_ff @(posedge clk_i) begin
    watched_q <= watched_i;
    counter_q <= counter_i;
  end

  // ---- The sum, three clocks behind what is counted and asked.
  typedef struct packed {
    logic count, read;
    logic [23:0] add;
  } op_t;
  function automatic logic [23:0] add_of(queue_count_t c);
    unique case (counter_i)
      2'd0: return 24'(c.packets);
      2'd1: return c.bytes;
      2'd2: return 24'(c.error);
      2'd3: return 24'(c.drop);
    endcase
  endfunction
  op_t op, op_q[3];
  wire selects = dut.take && write && addr[5:2] == '0;
  always_comb begin
    op.count = count.valid && count.ready && count_i.queue[0] == watched_i;
    op.read  = selects && wdata[15:0] == 16'(watched_i);
    op.add   = op.count ? add_of(count_i) : '0;
  end
  logic [63:0] sum_q[4], asked_q;  // the sum now, and one to three clocks ago; as it was asked for
  logic shown_q, none_q;  // what can be read is of the row looked at, of no row
  always_ff @(posedge clk_i) begin
    op_q <= '{op, op_q[0], op_q[1]};
    sum_q[0] <= sum_q[0] + 64'(op_q[2].add);
    for (int i = 1; i < 4; i++) sum_q[i] <= sum_q[i-1];
    if (op_q[2].read) asked_q <= sum_q[0];
    if (dut.kept) shown_q <= dut.i_high.update_index_q == watched_i;
    if (selects) none_q <= 32'(wdata[15:0]) >= Rows;
    if (rst_i) begin
      for (int i = 0; i < 3; i++) op_q[i] <= '0;
      for (int i = 0; i < 4; i++) sum_q[i] <= '0;
      shown_q <= 1'b0;
      none_q  <= 1'b1;
    end
  end

  // ---- Where the block holds it.
  logic [LowW-1:0] low_word, low_read, low_now, low_written;
  logic [HighW-1:0] high_word, high_read, high_now, high_written;
  wire [ 4*LowW-1:0] low_words = dut.i_low.i_ram.mem[watched_i];
  wire [4*HighW-1:0] high_words = dut.i_high.i_ram.mem[watched_i];
  assign low_word = low_words[counter_i*LowW+:LowW];
  assign high_word = high_words[counter_i*HighW+:HighW];
  assign low_read = dut.i_low.read_data[counter_i];
  assign low_now = dut.now[counter_i];
  assign low_written = dut.i_low.written_data_q[counter_i];
  assign high_read = dut.i_high.read_data[counter_i];
  assign high_now = dut.high_now[counter_i];
  assign high_written = dut.i_high.written_data_q[counter_i];
  logic [2:0] low_here, high_here;  // operations of the row, by stage
  assign low_here = {
    dut.i_low.update_q && dut.i_low.update_index_q == watched_i,
    dut.i_low.read_q && dut.i_low.read_index_q == watched_i,
    dut.runs_q[0] && dut.row_q[0] == watched_i
  };
  assign high_here = {
    dut.i_high.update_q && dut.i_high.update_index_q == watched_i,
    dut.i_high.read_q && dut.i_high.read_index_q == watched_i,
    dut.high_runs_q[0] && dut.high_row_q == watched_i
  };
  wire low_wrote = dut.i_low.written_q && dut.i_low.written_index_q == watched_i;
  wire high_wrote = dut.i_high.written_q && dut.i_high.written_index_q == watched_i;
  wire [63:0] words = {dut.words[{counter_i, 1'b1}], dut.words[{counter_i, 1'b0}]};

  always_comb begin
    assume (32'(count_i.queue) < Rows);
    if (started_q) begin
      assume (watched_i == watched_q && counter_i == counter_q);

      // What is promised.
      if (regs.ack && !write && addr[5] && addr[4:3] == counter_i) begin
        if (shown_q && !none_q) assert (regs.rdata == (addr[2] ? asked_q[63:32] : asked_q[31:0]));
        if (none_q) assert (regs.rdata == '0);
      end
      if (regs.ack && !write && addr[5:2] == '0) assert (regs.rdata == 32'(dut.select_q));

      // By which it is proved: operations are where they belong,
      assert (dut.low_ready == dut.high_ready && dut.i_low.sweep_q == dut.i_high.sweep_q);
      assert (dut.runs_q[2:1] == {dut.i_low.update_q, dut.i_low.read_q});
      assert (dut.high_runs_q[2:1] == {dut.i_high.update_q, dut.i_high.read_q});
      for (int i = 0; i < 3; i++) begin
        assert (low_here[i] == (op_q[i].count || op_q[i].read) && !(op_q[i].count && op_q[i].read));
        assert (dut.runs_q[i] || !dut.reads_q[i]);
        assert (dut.high_runs_q[i] || !dut.high_reads_q[i]);
        if (dut.runs_q[i] && dut.row_q[i] == watched_i) begin
          assert (low_here[i] && op_q[i].read == dut.reads_q[i] &&
                  op_q[i].add == add_of(dut.add_q[i]));
        end
        if (dut.reads_q[i]) assert (dut.add_q[i] == '0);
        if (dut.high_reads_q[i]) assert (dut.carry_q[i] == '0);
        if (!op_q[i].count) assert (op_q[i].add == '0);
      end
      if (dut.runs_q[1]) assert (dut.row_q[1] == dut.i_low.read_index_q);
      if (dut.runs_q[2]) assert (dut.row_q[2] == dut.i_low.update_index_q);
      // one access is somewhere,
      assert ($onehot0({dut.waiting, dut.reads_q, dut.high_reads_q, regs.ack}));
      assert (busy == |{dut.waiting, dut.reads_q, dut.high_reads_q, regs.ack});
      if (dut.waiting) assert (dut.write == write && dut.addr == 32'(addr) && dut.wdata == wdata);
      if (|{dut.reads_q, dut.high_reads_q})
        assert (write && addr[5:2] == '0 && !none_q && 32'(wdata[15:0]) < Rows);
      // both halves are those of the sum,
      if (!dut.ready) begin
        assert (dut.runs_q == '0 && dut.high_runs_q == '0 && !low_wrote && !high_wrote && !dut.i_low.written_q && !dut.i_high.written_q);
        for (int i = 0; i < 4; i++) assert (sum_q[i] == '0);
        if (dut.i_low.sweep_q > watched_i) assert (low_word == '0 && high_word == '0);
      end else begin
        assert (low_word == sum_q[0][LowW-1:0]);
        if (low_here[1] && !low_here[2])
          assert ((low_wrote ? low_written : low_read) == sum_q[0][LowW-1:0]);
        if (low_here[2]) assert (low_now == sum_q[0][LowW-1:0]);
        if (low_wrote) assert (low_written == sum_q[0][LowW-1:0]);
        assert (high_word == sum_q[3][63:LowW]);
        if (high_here[1] && !high_here[2])
          assert ((high_wrote ? high_written : high_read) == sum_q[3][63:LowW]);
        if (high_here[2]) assert (high_now == sum_q[3][63:LowW]);
        if (high_wrote) assert (high_written == sum_q[3][63:LowW]);
        for (int i = 0; i < 3; i++)
        assert (sum_q[i][63:LowW] == sum_q[i+1][63:LowW] + HighW'(high_here[i] && dut.carry_q[i][counter_i]));
      end
      // and what is kept is of the moment of the question.
      for (int i = 0; i < 3; i++) begin
        if (dut.high_reads_q[i] && high_here[i])
          assert (asked_q == sum_q[i+1] && dut.low_q[counter_i] == asked_q[LowW-1:0]);
      end
      if (none_q)
        assert (dut.words == '0);
        else if (shown_q && !(|{dut.reads_q, dut.high_reads_q})) assert (words == asked_q);

      cover (regs.ack && !write && addr[5:2] == {1'b1, counter_i, 1'b0} && shown_q && regs.rdata[31:LowW] != 0);
      cover (regs.ack && !write && addr[5] && none_q && sum_q[0] != 0);
      cover (low_here == 3'b111 && sum_q[0] != 0);
    end
  end
endmodule
