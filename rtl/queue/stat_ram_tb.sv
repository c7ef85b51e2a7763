// SPDX-License-Identifier: Apache-2.0
`include "parts_tb.svh"
`include "tb.svh"
`include "stream.svh"
/// stat_ram against sums of its own: counts of few and of many rows, one a clock and with gaps, reads among them whose words belong together, carries into
/// the upper halves back to back, rows that there are not, words that are 0, writes that do nothing; a count a clock but for reads.
module stat_ram_tb;
  import queue_pkg::*;
  `TB_BEGIN
  `TB_TIMEOUT(400_000)
  localparam int Rows = 24;
  `STREAM_ON(queue_count_t, count, clk, rst)
  `STREAM_ON(queue_count_t, few, clk, rst)
  reg_if #(.AddrW(12)) regs ();
  reg_if #(.AddrW(12)) few_regs ();
  `REG_MASTER(12, i_host, regs)
  `REG_MASTER(12, i_few_host, few_regs)
  logic refused, few_refused;
  stat_ram #(
      .Rows(Rows),
      .LowW(26)
  ) dut (
      .clk_i(clk),
      .rst_i(rst),
      .count,
      .regs,
      .refused_o(refused)
  );
  // The same counts into one row of packets and bytes.
  stat_ram #(
      .Rows(1),
      .Counters(2)
  ) i_few (
      .clk_i(clk),
      .rst_i(rst),
      .count(few),
      .regs(few_regs),
      .refused_o(few_refused)
  );
  // One of more rows than it tells the busy ones of, whose counters all carry at once.
  `STREAM_ON(queue_count_t, many, clk, rst)
  reg_if #(.AddrW(12)) many_regs ();
  `REG_MASTER(12, i_many_host, many_regs)
  stat_ram #(
      .Rows(65),
      .Counters(2),
      .LowW(25)
  ) i_many (
      .clk_i(clk),
      .rst_i(rst),
      .count(many),
      .regs(many_regs),
      .refused_o()
  );
  `STREAM_SOURCE(queue_count_t, i_many_count, many, 100)
  int unsigned percent = 100, rows = Rows, taken = 0, held = 0, refusals = 0;
  int unsigned most = 'hffffff;
  bit runs = 0;
  longint unsigned sum[Rows][4], all[2];
  logic [Rows-1:0] counted = '0;
  `STREAM_SOURCE(queue_count_t, i_count, count, percent)
  `STREAM_SOURCE(queue_count_t, i_few_count, few, 100)
  always @(posedge clk) begin
    if (!rst) begin
      if (count.valid && count.ready) begin
        counted[count.data.queue] = 1;
        sum[count.data.queue][0] += 64'(count.data.packets);
        sum[count.data.queue][1] += 64'(count.data.bytes);
        sum[count.data.queue][2] += 64'(count.data.error);
        sum[count.data.queue][3] += 64'(count.data.drop);
        all[0] += 64'(count.data.packets);
        all[1] += 64'(count.data.bytes);
        i_few_count.queue.push_back('{queue: 0, packets: count.data.packets,
                                    bytes: count.data.bytes, default: 0});
        taken++;
      end
      if (count.valid && !count.ready) held++;
      refusals += 32'(refused) + 32'(few_refused);
    end
    if (runs && i_count.queue.size() < 4) begin
      queue_count_t c;
      c.queue = 16'($urandom_range(rows - 1));
      c.packets = $urandom_range(3) == 0 ? 16'($urandom()) : 16'd1;
      c.bytes = 24'($urandom_range(most));
      {c.error, c.drop} = 2'($urandom());
      i_count.queue.push_back(c);
    end
  end

  typedef longint unsigned row_t[4];
  /// What the words say, and that the register that says which are not 0 is right.
  task automatic words(output row_t value);
    logic [31:0] nonzero, word;
    i_host.read(12'd4, nonzero);
    for (int i = 0; i < 8; i++) begin
      i_host.read(12'(32 + 4 * i), word);
      value[i/2] = i % 2 == 0 ? 64'(word) : value[i/2] | 64'(word) << 32;
      `CHECK(nonzero[i] == (word != 0), $sformatf("word %0d is %08x, told %08x", i, word, nonzero))
    end
  endtask

  // As a driver does, which reads what is not 0.
  task automatic all_the_same();
    logic [31:0] lo, hi;
    row_t value;
    for (int unsigned r = 0; r < Rows; r++) begin
      i_host.write(12'd0, r);
      words(value);
      `CHECK(value == sum[r], $sformatf("row %0d: %p, not %p", r, value, sum[r]))
    end
    // Rows that have counted anything, if only nothing.
    for (int i = 0; i < 2; i++) begin
      i_host.read(12'(8 + 4 * i), lo);
      `CHECK(lo == (i == 0 ? 32'(counted) : 0), $sformatf(
             "rows %08x are busy, not %06x", lo, counted))
      i_few_host.read(12'(8 + 4 * i), lo);
      `CHECK(lo == 32'(i == 0 && counted != 0), "the only row is busy or not")
      i_many_host.read(12'(8 + 4 * i), lo);
      `CHECK(lo == 0, "rows beyond 64 are told")
    end
    for (int i = 4; i < 8; i++) begin
      i_host.read(12'(4 * i), lo);
      `CHECK(lo == 0, "a word that there is not")
    end
    i_few_host.write(12'd0, 0);
    for (int i = 0; i < 4; i++) begin
      i_few_host.read(12'(32 + 8 * i), lo);
      i_few_host.read(12'(36 + 8 * i), hi);
      `CHECK({hi, lo} == (i < 2 ? all[i] : 0), $sformatf("counter %0d of all is %0d", i, {hi, lo}))
    end
  endtask

  initial begin
    logic [31:0] word;
    int unsigned from, earlier;
    row_t value, least;
    @(negedge rst);
    foreach (sum[i, k]) sum[i][k] = 0;
    all = '{default: 0};
    all_the_same();
    for (int round = 0; round < 30; round++) begin
      rows = round % 3 == 0 ? 1 : round % 3 == 1 ? 2 : Rows;
      percent = round % 2 == 0 ? 100 : $urandom_range(100, 20);
      most = round % 5 == 0 ? 1500 : 'hffffff;
      runs = 1;
      repeat (20) @(posedge clk);
      for (int k = 0; k < 20; k++) begin
        int unsigned row;
        row   = $urandom_range(rows - 1);
        least = sum[row];
        i_host.write(12'd0, row);
        words(value);
        for (int i = 0; i < 4; i++)
          `CHECK(value[i] >= least[i] && value[i] <= sum[row][i], $sformatf(
                 "row %0d: %p, not %p to %p", row, value, least, sum[row]))
        // All words are of one moment: they stay, and each packet's bytes are there with it.
        words(least);
        `CHECK(value == least, "the words that were kept have changed")
        if ($urandom_range(4) == 0) i_host.write(12'($urandom_range(15, 1) * 4), $urandom());
        repeat ($urandom_range(60)) @(posedge clk);
      end
      // One a clock, and nothing but the choice of a row holds one up.
      if (percent == 100) begin
        from = taken;
        earlier = held;
        repeat (500) @(posedge clk);
        `CHECK(taken - from >= 499 && held == earlier, $sformatf("%0d counts in 500 clocks",
                                                                 taken - from))
      end
      runs = 0;
      repeat (80) @(posedge clk);
      all_the_same();
    end
    i_host.write(12'd0, Rows);
    i_few_host.write(12'd0, 1);
    repeat (2) @(posedge clk);
    words(value);
    `CHECK(value == '{default: 0} && refusals == 2, "a row that there is not")
    i_host.read(12'd0, word);
    `CHECK(word == Rows, "select does not read as written")
    all_the_same();
    repeat (600)
    i_many_count.queue.push_back('{queue: 64, packets: '1, bytes: 'hffff, default: 0});
    repeat (620) @(posedge clk);
    i_many_host.write(12'd0, 64);
    for (int i = 0; i < 4; i++) begin
      i_many_host.read(12'(32 + 4 * i), word);
      `CHECK(word == (i % 2 == 0 ? 600 * 'hffff : 0), "carries of all counters at once")
    end
    `CHECK(all[1] > 64'h1_0000_0000 * 8 && held > 100, $sformatf(
           "%0d bytes, held up %0d times", all[1], held))
    `TB_PASS
  end
endmodule
