// SPDX-License-Identifier: Apache-2.0
`include "tb.svh"
`include "lpm_model.svh"
`include "stream.svh"
/// lpm_trie: random tables against a search of all prefixes, clocks a lookup, broken tables, entries changed meanwhile.
module lpm_trie_tb;
  import route_pkg::*;
  `TB_BEGIN
  `TB_TIMEOUT(2_000_000)
  localparam int Nodes = 300;
  localparam logic [15:0] None = 16'h8000;
  `LPM_MODEL(Nodes)

  `STREAM_ON(ipv4_t, key, clk, rst)
  `STREAM_ON(lpm_result_t, result, clk, rst)
  logic we = 0;
  logic [12:0] addr;
  lpm_entry_t data;
  table_pins_out_t far;
  logic [7:0] waiting;
  logic lost;
  lpm_trie #(
      .Nodes(Nodes)
  ) dut (
      .clk_i(clk),
      .rst_i(rst),
      .key,
      .result,
      .we_i(we),
      .addr_i(addr),
      .data_i(data),
      .table_o(far),
      .table_i('{1'b0, 1'b0, 32'd0}),
      .waiting_o(waiting),
      .lost_o(lost)
  );

  always @(negedge clk) `CHECK(!far.valid && !lost && waiting == '0, "without a memory one is used")

  // Everything here happens at falling edges: what is seen then holds at the next rising one.
  task automatic set(int at, lpm_entry_t entry);
    @(negedge clk);
    we   = 1;
    addr = 13'(at);
    data = entry;
    @(negedge clk);
    we = 0;
  endtask
  task automatic load();
    for (int i = 0; i < lpm_nodes * 16; i++) set(i, lpm_image[i]);
  endtask

  task automatic ask(ipv4_t address, output lpm_result_t found);
    @(negedge clk);
    key.valid = 1;
    key.data  = address;
    while (!key.ready) @(negedge clk);
    @(negedge clk);
    key.valid = 0;
    repeat ($urandom_range(1) * $urandom_range(14)) @(negedge clk);
    result.ready = 1;
    while (!result.valid) @(negedge clk);
    found = result.data;
    @(negedge clk);
    result.ready = 0;
  endtask

  // Clocks that so many lookups take back to back.
  task automatic race(ipv4_t address, int lookups, output int unsigned taken);
    int done = 0;
    taken = 0;
    @(negedge clk);
    key.valid = 1;
    key.data = address;
    result.ready = 1;
    while (done < lookups) begin
      @(negedge clk);
      taken++;
      if (result.valid) done++;
    end
    while (!key.ready) @(negedge clk);
    @(negedge clk);
    key.valid = 0;
    repeat (20) @(negedge clk);
    result.ready = 0;
  endtask

  initial begin
    lpm_result_t found;
    int unsigned taken;
    ipv4_t address;
    key.valid = 0;
    result.ready = 0;
    @(negedge rst);
    for (int round = 0; round < 25; round++) begin
      automatic ipv4_t base = $urandom();
      automatic int wanted = $urandom_range(80, 1);
      lpm_clear();
      if (round % 3 != 0) lpm_add(0, 0, 16'd9);
      // Prefixes inside each other and apart.
      for (int i = 0; i < wanted; i++) begin
        automatic
        ipv4_t
        prefix = $urandom_range(
            1
        ) ? $urandom() : base ^ ($urandom() >> $urandom_range(
            31
        ));
        automatic int length = $urandom_range(3) == 0 ? 32 : $urandom_range(30, 1);
        automatic logic [15:0] value = 16'($urandom_range(32767));
        if (!lpm_fit(prefix, length, value, None)) break;
      end
      `CHECK(lpm_build(None), "the table does not fit")
      load();
      for (int i = 0; i < 300; i++) begin
        address = $urandom();
        if (i % 4 != 0) begin
          automatic int near = $urandom_range(lpm_prefix.size() - 1);
          address = lpm_prefix[near] ^ ($urandom() >> $urandom_range(31));
          if (i % 4 == 1) address = lpm_prefix[near] - 32'(i % 8 == 1);
        end
        ask(address, found);
        `CHECK(found.hit && found.value == lpm_lookup(address, None), $sformatf(
               "%h gives %h, not %h", address, found.value, lpm_lookup(address, None)))
      end
    end
    // A lookup takes its levels + 2 clocks.
    for (int length = 4; length <= 32; length += 4) begin
      lpm_clear();
      lpm_add(32'h12345678, length, 16'd3);
      `CHECK(lpm_build(None), "the table does not fit")
      load();
      race(32'h12345678, 50, taken);
      `CHECK(taken <= 50 * (length / 4 + 2), $sformatf(
             "%0d clocks for %0d levels", taken / 50, length / 4))
    end
    $display("%0d clocks for a lookup of 8 levels", (taken + 49) / 50);
    // A path that does not end, and one out of the table.
    set(7 * 16 + 8, '{node: 1, value: LpmNodeW'(2)});
    ask(32'h12345678, found);
    `CHECK(!found.hit, "a path that goes on gave a result")
    set(1, '{node: 1, value: LpmNodeW'(Nodes)});
    ask(32'h12345678, found);
    `CHECK(!found.hit, "a node that is not there gave a result")
    // A new branch is built, then entered by one write: each lookup is of the old table or of the new one.
    lpm_clear();
    lpm_add(32'h40000000, 4, 16'd1);
    `CHECK(lpm_build(None), "the table does not fit")
    load();
    for (int i = 16; i < 32; i++) set(i, '{node: 0, value: LpmNodeW'(2)});
    for (int i = 0; i < 40; i++) begin
      automatic int delay = $urandom_range(12);
      fork
        begin
          repeat (delay) @(negedge clk);
          set(4, i % 2 == 0 ? '{node: 1, value: LpmNodeW'(1)} :
              '{node: 0, value: LpmNodeW'(1)});
        end
        repeat (5) begin
          ask(32'h41234567, found);
          `CHECK(found.hit && found.value inside {16'd1, 16'd2}, "neither old nor new")
        end
      join
      ask(32'h41234567, found);
      `CHECK(found.value == (i % 2 == 0 ? 16'd2 : 16'd1), "not the new entry")
    end
    `TB_PASS
  end
endmodule
