// SPDX-License-Identifier: Apache-2.0
`include "parts_tb.svh"
`include "tb.svh"
`include "stream.svh"
/// mac_counters against a sum of its own: records as close as a MAC's come, reads among them at any time, both halves of a counter that
/// belong together, a carry into the upper half, writes that do nothing.
module mac_counters_tb
  import xgmii_pkg::*;
;
  `TB_BEGIN
  `TB_TIMEOUT(200_000)
  logic valid = 0;
  mac_record_t record;
  reg_if #(.AddrW(12)) regs ();
  `REG_MASTER(12, i_host, regs)
  mac_counters i_dut (
      .clk_i(clk),
      .rst_i(rst),
      .record_valid_i(valid),
      .record_i(record),
      .regs
  );
  longint unsigned sum[MacCounters];
  bit runs = 0;
  int unsigned wait_ = 0;
  always @(posedge clk) begin
    valid <= 0;
    if (wait_ != 0) wait_--;
    else if (runs && !rst) begin
      mac_record_t r;
      int unsigned hits;
      r = '{bytes: $urandom_range(3) == 0 ? 16'hffff : 16'($urandom()), hit: '0};
      hits = $urandom_range(6, 1);
      repeat (hits) r.hit[$urandom_range(MacCounters-1)] = 1'b1;
      // A clock for each hit, and now and then for a read, in the mean.
      wait_ = $countones(r.hit) + $urandom_range(2);
      if ($urandom_range(9) == 0) wait_ = wait_ / 2;
      valid  <= 1;
      record <= r;
      for (int i = 0; i < MacCounters; i++)
      if (r.hit[i]) sum[i] += i == int'(Octets) || i == int'(GoodOctets) ? 64'(r.bytes) : 64'd1;
    end
  end
  task automatic read(int unsigned number, output longint unsigned value);
    logic [31:0] lo, hi;
    i_host.read(12'(8 * number), lo);
    i_host.read(12'(8 * number + 4), hi);
    value = {hi, lo};
  endtask
  initial begin
    longint unsigned value, least, most;
    @(negedge rst);
    foreach (sum[i]) sum[i] = 0;
    for (int i = 0; i < MacCounters; i++) begin
      read(i, value);
      `CHECK(value == 0, "not 0 after reset")
    end
    for (int round = 0; round < 40; round++) begin
      runs = 1;
      for (int k = 0; k < 40; k++) begin
        int unsigned which;
        which = $urandom_range(MacCounters - 1);
        least = sum[which];
        if ($urandom_range(9) == 0) i_host.write(12'(8 * which), $urandom());
        read(which, value);
        most = sum[which];
        `CHECK(value + 20 * 65536 >= least && value <= most, $sformatf(
               "%s: %0d, not %0d to %0d", mac_counter_e'(which), value, least, most))
        repeat ($urandom_range(60)) @(posedge clk);
      end
      runs = 0;
      repeat (200) @(posedge clk);
      for (int i = 0; i < MacCounters; i++) begin
        read(i, value);
        `CHECK(value == sum[i], $sformatf("counter %0d: %0d, not %0d", i, value, sum[i]))
      end
    end
    `CHECK(sum[Octets] > 64'd20_000_000, "hardly anything was counted")
    `TB_PASS
  end
endmodule
