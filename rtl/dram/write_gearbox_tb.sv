// SPDX-License-Identifier: Apache-2.0
`include "parts_tb.svh"
`include "tb.svh"
`include "stream.svh"
/// write_gearbox between a client and a bus, both with pauses: requests and rows are those of the bursts that went in, each once and in order; when a burst
/// goes to the bus, and its last word is taken; what is held while the bus takes nothing; a word a clock where nobody pauses, and rows as fast as the bus takes them.
module write_gearbox_tb
  import dram_pkg::*;
;
  `TB_BEGIN
  `TB_TIMEOUT(400_000)
  localparam int Rows = 32;
  localparam int Delay = 4;  // clocks from a burst on the bus to its first row: what two clocks of the row FIFO and the two words less leave

  `STREAM_ON(bus_req_t, req, clk, rst)
  `STREAM_ON(bus_wdata_t, wdata, clk, rst)
  `STREAM_ON(bus_req_t, row_req, clk, rst)
  `STREAM_ON(bus_row_t, row_wdata, clk, rst)
  write_gearbox #(
      .Rows(Rows)
  ) dut (
      .clk_i(clk),
      .rst_i(rst),
      .req,
      .wdata,
      .row_req,
      .row_wdata
  );

  int unsigned req_percent = 100, word_percent = 100, bus_percent = 100, row_percent = 100;
  `STREAM_SOURCE(bus_req_t, i_req, req, req_percent)
  `STREAM_SOURCE(bus_wdata_t, i_words, wdata, word_percent)
  `STREAM_CHECK(bus_req_t, i_bus, row_req, bus_percent)

  // Bursts and what they are on the bus. Behind a burst's last word a row has no lanes.
  typedef struct {
    bus_row_t row;
    int lanes;
    bit first;
  } expected_t;
  expected_t rows[$];
  int unsigned offered = 0, sizes[$];
  task automatic burst(int unsigned beats);
    expected_t  expected;
    bus_req_t   asked;
    bus_wdata_t word;
    asked = '{write: 1, addr: $bits(asked.addr)'($urandom()), beats: 8'(beats)};
    for (int unsigned i = 0; i < beats; i++) begin
      word = random_value#(bus_wdata_t)::bits();
      i_words.queue.push_back(word);
      expected.row.data[128*(i%4)+:128] = word.data;
      expected.row.strb[16*(i%4)+:16] = word.strb;
      expected.lanes = int'(i % 4) + 1;
      expected.first = i < 4;
      if (i % 4 == 3 || i == beats - 1) rows.push_back(expected);
    end
    i_bus.expected.push_back(asked);
    i_req.queue.push_back(asked);
    sizes.push_back(beats);
    offered++;
  endtask

  // The bus takes the rows of the bursts it has, a row a clock from Delay clocks on unless it pauses.
  int unsigned now = 0, held[$], owed = 0, taken = 0, full = 0, gaps = 0, words = 0, ended = 0;
  logic row_ready = 0;
  assign row_wdata.ready = row_ready;
  always @(posedge clk) begin
    now++;
    if (!rst) begin
      full += 32'(dut.row.valid && !dut.row.ready && wdata.valid);
      if (row_req.valid)
        `CHECK(words + 32'(wdata.valid) == sizes[0] || 4 * (words + 2) >= 3 * sizes[0],
               "a burst goes to the bus too early")
      if (wdata.valid && wdata.ready) begin
        words++;
        if (words == sizes[0]) begin
          `CHECK(taken > ended, "the last word was taken before the bus had the burst")
          words = 0;
          ended++;
          void'(sizes.pop_front());
        end
      end
      if (row_wdata.valid && row_ready) begin
        `CHECK(rows.size() != 0, "a row too many")
        for (int l = 0; l < rows[0].lanes; l++)
          `CHECK(
              row_wdata.data.data[128*l+:128] == rows[0].row.data[128*l+:128] &&
               row_wdata.data.strb[16*l+:16] == rows[0].row.strb[16*l+:16],
              "a wrong row")
        void'(rows.pop_front());
        owed--;
      end else if (row_ready) gaps++;
      if (row_req.valid && row_req.ready) begin
        taken++;
        for (int unsigned i = 0; i < row_req.data.beats; i += 4) held.push_back(now + Delay - 1);
      end
      while (held.size() != 0 && held[0] <= now) begin
        void'(held.pop_front());
        owed++;
      end
    end
    row_ready <= !rst && owed != 0 && $urandom_range(99) < row_percent;
  end

  task automatic drain();
    {req_percent, word_percent, bus_percent, row_percent} = {4{32'd100}};
    while (ended != offered || rows.size() != 0) @(posedge clk);
    repeat (20) @(posedge clk);
    `CHECK(i_bus.expected.size() == 0 && taken == offered && owed == 0 && i_bus.taken == offered,
           "a burst was lost")
    `CHECK(!row_req.valid && !row_wdata.valid, "something is left")
    `CHECK(i_words.queue.size() == 0 && !wdata.valid, "a word was not taken")
  endtask
  function automatic int unsigned pace();
    return $urandom_range(1) == 0 ? 100 : $urandom_range(99, 5);
  endfunction

  initial begin
    int unsigned from, kind;
    @(negedge rst);

    // Four bursts ahead of their words, and none of them goes to the bus.
    @(negedge clk) word_percent = 0;
    repeat (6) burst($urandom_range(128, 3));
    repeat (30) @(posedge clk);
    `CHECK(i_req.taken == 4 && taken == 0, "not four bursts are taken ahead of their words")
    drain();

    // Any bursts. Now and then the bus takes no rows for long, or no bursts.
    for (int round = 0; round < 60; round++) begin
      kind = $urandom_range(2);
      {req_percent, word_percent, bus_percent, row_percent} = {pace(), pace(), pace(), pace()};
      repeat (40)
      burst(kind == 0 ? 1 : kind == 1 ? $urandom_range(9, 1) : $urandom_range(5
            ) == 0 ? 128 : $urandom_range(128, 1));
      repeat ($urandom_range(200)) @(posedge clk);
      if (round % 2 == 0) row_percent = 0;
      else if (round % 4 == 1) bus_percent = 0;
      repeat (600) @(posedge clk);
      drain();
    end
    `CHECK(full > 1000, "the rows' place was never full")

    // A bus that takes no rows: of bursts of a word that it has, as many words are taken as there are rows, and no more.
    row_percent = 0;
    from = i_words.taken;
    repeat (Rows + 10) burst(1);
    repeat (300) @(posedge clk);
    `CHECK(i_words.taken == from + Rows, "not as many rows are held as there is room for")
    drain();

    // And one that takes no burst: all words but the last, which a row of its own waits for.
    bus_percent = 0;
    from = i_words.taken;
    burst(128);
    burst(1);
    repeat (300) @(posedge clk);
    `CHECK(i_words.taken == from + 127, "not all words but the last are taken")
    drain();

    // Nobody pauses: a word a clock, and each row is there when the bus takes it.
    for (int unsigned beats = 1; beats <= 128; beats++) begin
      gaps = 0;
      burst(beats);
      drain();
      `CHECK(gaps == 0, "the bus waits for a row")
    end
    gaps = 0;
    from = now;
    repeat (40) burst(100);
    while (ended != offered) @(posedge clk);
    $display("4000 words in %0d clocks, rows' place full for %0d", now - from, full);
    `CHECK(now - from < 4000 + 40 && gaps == 0, "less than a word a clock")
    drain();
    `TB_PASS
  end
endmodule
