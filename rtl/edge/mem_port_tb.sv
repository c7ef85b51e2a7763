// SPDX-License-Identifier: Apache-2.0
`include "slot_dram_tb.svh"
`include "parts_tb.svh"
`include "tb.svh"
`include "stream.svh"
/// mem_port before a DRAM model: lines, masked lines, DMA reads, streams in all static modes against a model of the memory;
/// set-ups confirmed; malformed messages answered and counted; order and tags of answers; latency; words a clock with one and
/// with four reads at a time, full and half duplex; requests are taken while answers stand still.
module mem_port_tb;
  import mesh_pkg::*;
  `TB_BEGIN
  `TB_TIMEOUT(300_000)
  localparam int Latency = 9;
  localparam int Words = 4096;  // of the DRAM
  localparam place_t Here = '{exit: 3'd4, y: 4'd2, x: 4'd0};
  localparam place_t Client = '{exit: 3'd0, y: 4'd1, x: 4'd3};

  `STREAM_ON(word_t, mdn_in, clk, rst)
  `STREAM_ON(word_t, mdn_out, clk, rst)
  `STREAM_ON(word_t, gdn_in, clk, rst)
  `STREAM_ON(word_t, gdn_out, clk, rst)
  `STREAM_ON(word_t, st_in, clk, rst)
  `STREAM_ON(word_t, st_out, clk, rst)
  mem_settings_t settings = '{
      reserved: '0,
      confirm: 1'b0,
      static_in: StaticStream,
      max_reads: 4'd4,
      half_duplex: 1'b0
  };
  logic rd_valid, wr_valid;
  logic [3:0] wr_be;
  word_t rd_addr, wr_addr, wr_data, rd_data, reads, writes, bad;
  mem_port dut (
      .clk_i(clk),
      .rst_i(rst),
      .place_i(Here),
      .settings_i(settings),
      .mdn_in,
      .mdn_out,
      .gdn_in,
      .gdn_out,
      .st_in,
      .st_out,
      .dram_latency_i(6'(Latency)),
      .dram_rd_valid_o(rd_valid),
      .dram_rd_addr_o(rd_addr),
      .dram_rd_data_i(rd_data),
      .dram_wr_valid_o(wr_valid),
      .dram_wr_addr_o(wr_addr),
      .dram_wr_data_o(wr_data),
      .dram_wr_be_o(wr_be),
      .reads_o(reads),
      .writes_o(writes),
      .bad_o(bad)
  );

  slot_dram #(
      .Words  (Words),
      .Latency(Latency)
  ) i_dram (
      .*
  );
  always @(posedge clk)
    if (!rst)
      `CHECK(!(rd_valid && wr_valid && settings.half_duplex), "both ways at once in half duplex")

  // What is sent, what has to come, what the memory should hold.
  word_t model[Words];
  int in_percent = 100, out_percent = 100, confirms_due = 0, now = 0, last_out = 0, last_in = 0;
  `STREAM_SOURCE(word_t, i_mdn_in, mdn_in, in_percent)
  `STREAM_SOURCE(word_t, i_gdn_in, gdn_in, in_percent)
  `STREAM_SOURCE(word_t, i_st_in, st_in, in_percent)
  `STREAM_CHECK(word_t, i_mdn_out, mdn_out, out_percent)
  `STREAM_SINK(word_t, i_gdn_out, gdn_out, 50)  // confirmations are always taken
  `STREAM_CHECK(word_t, i_st_out, st_out, out_percent)
  always @(posedge clk) begin
    now++;
    if (!rst && mdn_out.valid && mdn_out.ready) last_out = now;
    if (!rst && gdn_out.valid && gdn_out.ready) begin
      `CHECK(gdn_out.data == {Interrupt, Here, 5'd0, Client}, "a wrong confirmation")
      confirms_due--;
    end
    if (mdn_in.valid && mdn_in.ready && !rst) last_in = now;
  end

  function automatic word_t header(int user, int len);
    return {5'(user), Client, 5'(len), Here};
  endfunction
  function automatic word_t answer(int user, int len);
    return {5'(user), Here, 5'(len), Client};
  endfunction

  function automatic void write_model(int line, int word, word_t value, word_t mask);
    for (int b = 0; b < 4; b++) begin
      // Byte 0 of a word is the uppermost.
      if (mask[5'(4*word+b)]) model[12'(line*8+word)][31-8*b-:8] = value[31-8*b-:8];
    end
  endfunction

  /// A line, whole or masked, by the MDN or the static network.
  task automatic write_line(int line, bit masked, bit by_static);
    word_t mask, value;
    bit last;
    mask = masked ? $urandom() : '1;
    last = !masked && !by_static && 1'($urandom());
    if (last) confirms_due++;
    if (!by_static)
      i_mdn_in.queue.push_back(
          header(masked ? WriteMasked : last ? WriteLast : WriteLine, masked ? 10 : 9));
    if (by_static) i_st_in.queue.push_back(32 * line);
    else i_mdn_in.queue.push_back(32 * line);
    if (masked && by_static) i_st_in.queue.push_back(mask);
    if (masked && !by_static) i_mdn_in.queue.push_back(mask);
    for (int i = 0; i < 8; i++) begin
      value = $urandom();
      if (by_static) i_st_in.queue.push_back(value);
      else i_mdn_in.queue.push_back(value);
      write_model(line, i, value, mask);
    end
  endtask

  task automatic read_line(int line);
    int tag;
    tag = $urandom_range(7);
    i_mdn_in.queue.push_back(header(ReadLine, 1));
    i_mdn_in.queue.push_back(32 * line + tag);
    i_mdn_out.expected.push_back(answer(8 + tag, 8));
    for (int i = 0; i < 8; i++) i_mdn_out.expected.push_back(model[12'(8*line+i)]);
  endtask

  task automatic read_dma(int word, int words);
    int tag;
    tag = $urandom_range(7);
    i_mdn_in.queue.push_back(header(ReadDma, 2));
    i_mdn_in.queue.push_back(4 * word);
    i_mdn_in.queue.push_back(32 * tag + words);
    i_mdn_out.expected.push_back(answer(words == 0 ? 16 + tag : 8 + tag, words));
    for (int i = 0; i < words; i++) i_mdn_out.expected.push_back(model[12'(word+i)]);
  endtask

  task automatic stream_in(int word, int words, bit by_gdn);
    if (settings.confirm) confirms_due++;
    if (by_gdn) begin
      i_gdn_in.queue.push_back(header(StreamWrite, 2));
      i_gdn_in.queue.push_back(4 * word);
      i_gdn_in.queue.push_back(words);
    end else begin
      i_mdn_in.queue.push_back(header(StreamWrite, 2));
      i_mdn_in.queue.push_back(4 * word);
      i_mdn_in.queue.push_back(words);
    end
    for (int i = 0; i < words; i++) begin
      word_t value;
      value = $urandom();
      i_st_in.queue.push_back(value);
      model[12'(word+i)] = value;
    end
  endtask

  task automatic stream_out(int word, int words);
    i_gdn_in.queue.push_back(header(StreamRead, 2));
    i_gdn_in.queue.push_back(4 * word);
    i_gdn_in.queue.push_back(words);
    for (int i = 0; i < words; i++) i_st_out.expected.push_back(model[12'(word+i)]);
  endtask

  /// Until everything is sent, answered and in the memory.
  task automatic settle();
    for (int i = 0; i < 60000; i++) begin
      @(posedge clk);
      if (i_mdn_in.queue.size() == 0 && i_gdn_in.queue.size() == 0 && i_st_in.queue.size() == 0 && i_mdn_out.expected.size() == 0 &&
          i_st_out.expected.size() == 0)
        break;
    end
    `CHECK(
        i_mdn_out.expected.size() == 0 && i_st_out.expected.size() == 0 && i_mdn_in.queue.size() == 0 && i_st_in.queue.size() == 0,
        $sformatf("%0d words of answers, %0d of streams missing", i_mdn_out.expected.size(),
                  i_st_out.expected.size()))
    repeat (100) @(posedge clk);
    `CHECK(confirms_due == 0, $sformatf("%0d set-ups not confirmed", confirms_due))
  endtask

  task automatic compare(string what);
    foreach (model[i]) `CHECK(i_dram.mem[i] == model[i], $sformatf("%s: word %0d", what, i))
  endtask

  initial begin
    int start;
    foreach (model[i]) begin
      i_dram.mem[i] = $urandom();
      model[i] = i_dram.mem[i];
    end
    @(negedge rst);
    `CHECK({reads, writes, bad} == '0, "counts after a reset")

    // Latency of one read.
    read_line(5);
    settle();
    $display("an answer begins %0d clocks after the last word of its request, DRAM latency %0d",
             last_out - 8 - last_in, Latency);
    `CHECK(last_out - 8 - last_in <= Latency + 8, $sformatf(
           "answer after %0d", last_out - 8 - last_in))

    // Rates: one read at a time, four at a time.
    for (int at_a_time = 1; at_a_time <= 4; at_a_time += 3) begin
      settings.max_reads = 4'(at_a_time);
      start = now;
      for (int i = 0; i < 100; i++) read_line($urandom_range(Words / 8 - 1));
      settle();
      $display("%0d at a time: 800 words read in %0d clocks", at_a_time, last_out - start);
      `CHECK(last_out - start < (at_a_time == 1 ? 3000 : 950), "reads are too slow")
    end
    for (int i = 0; i < 60; i++) read_dma($urandom_range(Words - 32), 31);
    start = now;
    settle();
    `CHECK(last_out - start < 60 * 32 + 40, "DMA reads are too slow")

    // Both ways at once, full and half duplex.
    for (int half = 0; half < 2; half++) begin
      settings.half_duplex = 1'(half);
      for (int i = 0; i < 4; i++) stream_in(2048 + 250 * i, 250, i[0]);
      for (int i = 0; i < 120; i++) read_line($urandom_range(255));
      start = now;
      while (i_st_in.queue.size() != 0 || i_mdn_out.expected.size() != 0) @(posedge clk);
      $display("%s duplex: 1000 words in, 960 out in %0d clocks", half == 0 ? "full" : "half",
               now - start);
      `CHECK(now - start < (half == 0 ? 1150 : 2050), "reads and writes together are too slow")
      settle();
      compare("streams");
    end

    // Requests are taken, writes done, while no answer is taken.
    out_percent = 0;
    repeat (3) @(posedge clk);
    for (int i = 0; i < 50; i++) begin
      read_line(i);
      write_line(300 + i, 0, 0);
    end
    repeat (1200) @(posedge clk);
    `CHECK(i_mdn_in.queue.size() == 0, "requests stand still behind answers")
    out_percent = 100;
    settle();
    compare("writes past reads");

    // Random: reads of the lower half, writes to the upper half, in each static mode.
    for (int round = 0; round < 24; round++) begin
      settings.half_duplex = 1'(round);
      settings.max_reads = 4'($urandom_range(8));
      settings.static_in = static_mode_e'(round % 3);
      settings.confirm = 1'(round / 3);
      in_percent = round % 4 == 0 ? 100 : $urandom_range(100, 10);
      out_percent = round % 5 == 0 ? 100 : $urandom_range(100, 10);
      for (int i = 0; i < 40; i++) begin
        // The sides that write have their own parts: their order among each other is not defined.
        case ($urandom_range(
            5
        ))
          0: read_line($urandom_range(127));
          1: read_dma($urandom_range(1000), $urandom_range(31));
          2: write_line($urandom_range(319, 256), 1'($urandom()), 0);
          3: stream_out($urandom_range(500), $urandom_range(90));
          default:
          if (settings.static_in == StaticStream)
            stream_in($urandom_range(3500, 2600), $urandom_range(80), 1);
          else write_line($urandom_range(500, 330), settings.static_in == StaticMasked, 1);
        endcase
      end
      settle();
      compare($sformatf("round %0d", round));
    end

    // Malformed: each is read to its end, reads are answered by an error.
    settings.max_reads = 4;
    start = int'(bad);
    for (int i = 0; i < 200; i++) begin
      int user, len, right;
      user = $urandom_range(31);
      len = $urandom_range(31);
      right = user == ReadLine ? 1 : user inside {WriteLine, WriteLast} ? 9 : user == WriteMasked ? 10 :
          user inside {ReadDma, StreamWrite, StreamRead} ? 2 : -1;
      if (len == right) continue;
      i_mdn_in.queue.push_back(header(user, len));
      for (int j = 0; j < len; j++) i_mdn_in.queue.push_back(32'h40 + 5);
      if (user inside {ReadLine, ReadDma})
        i_mdn_out.expected.push_back(answer(16 + (len == 0 ? 0 : 5), 0));
      start++;
      // A read over the GDN has no way back.
      i_gdn_in.queue.push_back(header(ReadLine, 1));
      i_gdn_in.queue.push_back(0);
      start++;
      read_line($urandom_range(127));
    end
    settle();
    `CHECK(int'(bad) == start, $sformatf("%0d bad messages counted, not %0d", bad, start))
    compare("after malformed messages");
    `TB_PASS
  end
endmodule
