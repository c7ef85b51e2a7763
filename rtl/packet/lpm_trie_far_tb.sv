// SPDX-License-Identifier: Apache-2.0
`include "tb.svh"
`include "lpm_model.svh"
`include "stream.svh"
/// lpm_trie with a memory outside, of any latency and with pauses: random tables, clocks a level, changes under lookups, writes too many.
module lpm_trie_far_tb;
  import route_pkg::*;
  `TB_BEGIN
  `TB_TIMEOUT(4_000_000)
  localparam int Near = 8, Nodes = 300, Writes = 16;
  localparam logic [15:0] None = 16'h8000;
  `LPM_MODEL(Nodes)

  `STREAM_ON(ipv4_t, key, clk, rst)
  `STREAM_ON(lpm_result_t, result, clk, rst)
  table_pins_out_t far;
  table_pins_in_t  answer;
  logic we = 0, lost;
  logic [12:0] addr;
  logic [4:0] waiting;
  lpm_entry_t data;
  lpm_trie #(
      .Nodes(Near),
      .FarNodes(Nodes - Near),
      .Writes(Writes)
  ) dut (
      .clk_i(clk),
      .rst_i(rst),
      .key,
      .result,
      .we_i(we),
      .addr_i(addr),
      .data_i(data),
      .table_o(far),
      .table_i(answer),
      .waiting_o(waiting),
      .lost_o(lost)
  );

  // The memory: one access at a time, answered `latency` + 1 clocks later, and now and then it takes none.
  lpm_word_t memory[16 * Nodes];
  int latency = 1, left = 0, pause = 0;
  bit pauses = 0, reading = 0, closed = 0;
  int unsigned writes = 0, losses = 0, reads = 0;
  lpm_word_t found_word;
  always @(negedge clk) answer.ready = left <= 1 && pause == 0 && !closed;
  always @(posedge clk) begin
    answer.rvalid <= reading && left == 1;
    answer.rdata  <= found_word;
    if (left > 0) left <= left - 1;
    if (left == 1) reading <= 0;
    if (pause > 0) pause <= pause - 1;
    if (far.valid && answer.ready && !rst) begin
      `CHECK(int'(far.addr / 4) >= Near * 16 && int'(far.addr / 4) < Nodes * 16,
             "an entry that the memory has not")
      if (far.write) memory[int'(far.addr/4)] = far.wdata;
      if (far.write) writes++;
      else reads++;
      found_word <= memory[int'(far.addr/4)];
      reading <= !far.write;
      left <= latency;
      if (pauses && $urandom_range(20) == 0) pause <= $urandom_range(60);
    end
    losses += int'(lost);
  end

  // Everything here happens at falling edges: what is seen then holds at the next rising one.
  task automatic set(int at, lpm_entry_t entry);
    @(negedge clk);
    we   = 1;
    addr = 13'(at);
    data = entry;
    @(negedge clk);
    we = 0;
  endtask
  task automatic settle();
    @(negedge clk);
    while (waiting != 0) @(negedge clk);
  endtask
  task automatic load();
    for (int i = 0; i < lpm_nodes * 16; i++) begin
      set(i, lpm_image[i]);
      if (i % 8 == 7) settle();
    end
  endtask

  task automatic ask(ipv4_t address, output lpm_result_t found, output int unsigned taken);
    @(negedge clk);
    key.valid = 1;
    key.data = address;
    taken = 0;
    while (!key.ready) @(negedge clk);
    @(negedge clk);
    key.valid = 0;
    result.ready = 1;
    while (!result.valid) begin
      @(negedge clk);
      taken++;
    end
    found = result.data;
    @(negedge clk);
    result.ready = 0;
  endtask

  initial begin
    lpm_result_t found;
    int unsigned taken, earlier;
    ipv4_t address;
    key.valid = 0;
    result.ready = 0;
    @(negedge rst);
    for (int round = 0; round < 12; round++) begin
      lpm_clear();
      pauses  = round % 2 == 1;
      latency = round < 2 ? 1 : $urandom_range(9, 1);
      if (round % 3 != 0) lpm_add(0, 0, 16'd9);
      for (int i = 0; i < 60; i++) begin
        automatic int length = $urandom_range(3) == 0 ? 32 : $urandom_range(30, 1);
        automatic logic [15:0] value = 16'($urandom_range(32767));
        if (!lpm_fit($urandom(), length, value, None)) break;
      end
      `CHECK(lpm_build(None), "the table does not fit")
      load();
      for (int i = 0; i < 200; i++) begin
        address = i % 4 == 0 ? $urandom() :
            lpm_prefix[$urandom_range(lpm_prefix.size()-1)] ^ ($urandom() >> $urandom_range(31));
        ask(address, found, taken);
        `CHECK(found.hit && found.value == lpm_lookup(address, None), $sformatf(
               "%h gives %h, not %h", address, found.value, lpm_lookup(address, None)))
      end
    end
    // What a level costs: one path of eight nodes, none of which but the root is near.
    pauses = 0;
    for (int l = 0; l < 7; l++) begin
      for (int i = 0; i < 16; i++)
      set((l == 0 ? 0 : Near + l - 1) * 16 + i, '{node: 1, value: LpmNodeW'(Near + l)});
      settle();
    end
    for (int i = 0; i < 16; i++) set((Near + 6) * 16 + i, '{node: 0, value: 5});
    for (latency = 1; latency <= 9; latency += 4) begin
      settle();
      ask(32'h12345678, found, taken);
      `CHECK(found.hit && found.value == 5, "not the end of the path")
      $display("%0d clocks for 7 levels in a memory that answers after %0d", taken, latency + 1);
      `CHECK(taken <= 7 * (latency + 1 + 2) + 1, $sformatf("%0d clocks", taken))
    end
    // A path that does not end, and a node that is not there.
    set((Near + 6) * 16 + 8, '{node: 1, value: LpmNodeW'(Near)});
    settle();
    ask(32'h12345678, found, taken);
    `CHECK(!found.hit, "a path that goes on gave a result")
    set(1, '{node: 1, value: LpmNodeW'(Nodes)});
    ask(32'h12345678, found, taken);
    `CHECK(!found.hit, "a node that is not there gave a result")
    // A branch in the memory is built aside and entered by one write in the RAM, while lookups go on: old or new, never what was in
    // the branch before.
    latency = 6;
    pauses  = 1;
    for (int i = 0; i < 16; i++) set(i, '{node: 0, value: 1});
    for (int i = 0; i < 40; i++) begin
      automatic int node = Near + 10 + i % 2;
      fork
        begin
          repeat ($urandom_range(12)) @(negedge clk);
          for (int j = 0; j < 16; j++) begin
            set(node * 16 + j, '{node: 0, value: LpmNodeW'(100 + i)});
            if (j == 7) settle();
          end
          set(4, '{node: 1, value: LpmNodeW'(node)});
        end
        begin
          automatic bit turned = 0;
          for (int n = 0; n < 60; n++) begin
            automatic lpm_result_t seen;
            automatic int unsigned clocks;
            ask(32'h41234567, seen, clocks);
            `CHECK(
                seen.hit && (int'(seen.value) == (i == 0 ? 1 : 99 + i) || int'(seen.value) == 100 + i),
                $sformatf("%0d: neither old nor new", seen.value))
            `CHECK(!turned || int'(seen.value) == 100 + i, "old again after new")
            turned = int'(seen.value) == 100 + i;
          end
          `CHECK(turned, "not the new branch")
        end
      join
    end
    // More writes than the memory takes: those that find no room are lost and counted, the others are done.
    settle();
    pauses  = 0;
    earlier = writes;
    closed  = 1;
    for (int i = 0; i < Writes + 9; i++) set((Near + 20) * 16 + i, '{node: 0, value: 7});
    `CHECK(losses >= 6 && losses <= 9, $sformatf("%0d lost", losses))
    `CHECK(int'(waiting) >= Writes, $sformatf("%0d wait", waiting))
    closed = 0;
    settle();
    repeat (20) @(negedge clk);
    `CHECK(writes - earlier + losses == Writes + 9, $sformatf(
           "%0d writes, %0d lost", writes - earlier, losses))
    ask(32'h41234567, found, taken);
    `CHECK(found.hit && found.value == 139, "the trie is another")
    `TB_PASS
  end
endmodule
