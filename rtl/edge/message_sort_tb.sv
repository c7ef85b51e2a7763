// SPDX-License-Identifier: Apache-2.0
`include "parts_tb.svh"
`include "tb.svh"
`include "stream.svh"
/// message_sort as each kind of slot: messages of every kind come out whole and in order where they belong, whatever is ready; what is
/// dropped is told word by word, interrupts as pulses; payload that looks like a header is payload.
module message_sort_tb;
  import mesh_pkg::*;
  `TB_BEGIN
  `TB_TIMEOUT(100_000)

  place_t place = '0;
  logic memory_slot = 0, linecard = 0, drop, written, credit;
  int unsigned in_percent = 100, memory_percent = 100, buffer_percent = 100, line_percent = 100;
  `STREAM_ON(word_t, in, clk, rst)
  `STREAM_ON(word_t, memory, clk, rst)
  `STREAM_ON(word_t, buffer, clk, rst)
  `STREAM_ON(word_t, line, clk, rst)
  message_sort dut (
      .clk_i(clk),
      .rst_i(rst),
      .place_i(place),
      .memory_i(memory_slot),
      .linecard_i(linecard),
      .in,
      .memory,
      .buffer,
      .line,
      .drop_o(drop),
      .written_o(written),
      .credit_o(credit)
  );
  `STREAM_SOURCE(word_t, i_in, in, in_percent)
  `STREAM_CHECK(word_t, i_memory, memory, memory_percent)
  `STREAM_CHECK(word_t, i_buffer, buffer, buffer_percent)
  `STREAM_CHECK(word_t, i_line, line, line_percent)

  // What is left to come of these.
  int drops = 0, writes = 0, credits = 0;
  always @(posedge clk)
    if (!rst) begin
      drops -= int'(drop);
      writes -= int'(written);
      credits -= int'(credit);
    end

  function automatic header_t some_header();
    message_e often[4] = '{ReadLine, ReadDma, FreeBuffer, Interrupt};
    header_t h = header_t'($urandom());
    if ($urandom_range(9) != 0) h.dest = place;
    if ($urandom_range(2) != 0) h.user = often[$urandom_range(3)];
    if ($urandom_range(1) == 0) h.src.exit = Core;
    if ($urandom_range(2) == 0) h.len = '0;
    return h;
  endfunction

  task automatic send();
    header_t h = some_header();
    bit here = h.dest == place && (memory_slot || linecard);
    bit pulse = here && !memory_slot && h.user == Interrupt && h.len == '0;
    bit to_buffer = h.user == ReadLine || h.user == ReadDma || h.user == FreeBuffer;
    for (int i = 0; i <= int'(h.len); i++) begin
      word_t w = i == 0 ? word_t'(h) : word_t'(some_header());
      i_in.queue.push_back(w);
      if (!here) drops++;
      else if (memory_slot) i_memory.expected.push_back(w);
      else if (pulse && h.src.exit == Core) credits++;
      else if (pulse) writes++;
      else if (to_buffer) i_buffer.expected.push_back(w);
      else i_line.expected.push_back(w);
    end
  endtask

  initial begin
    @(negedge rst);
    for (int round = 0; round < 60; round++) begin
      place = place_t'($urandom());
      {memory_slot, linecard} = 2'(round % 3);
      in_percent = $urandom_range(100, 30);
      memory_percent = $urandom_range(100, 10);
      buffer_percent = $urandom_range(100, 10);
      line_percent = $urandom_range(100, 10);
      repeat (40) begin
        send();
        while (i_in.queue.size() > 40) @(posedge clk);
      end
      while (i_in.queue.size() != 0 || in.valid) @(posedge clk);
      @(posedge clk);
      `CHECK(i_memory.expected.size() + i_buffer.expected.size() + i_line.expected.size() == 0,
             "words of messages are lost")
      `CHECK(
          drops == 0 && writes == 0 && credits == 0, $sformatf(
          "%0d drops, %0d interrupts of memories and %0d of tiles too few", drops, writes, credits))
    end
    `TB_PASS
  end
endmodule
