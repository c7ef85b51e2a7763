// SPDX-License-Identifier: Apache-2.0
`include "tb.svh"
/// reg_cross with each side reset at random, alone and with the other: every access is answered, a read by what the slave says or,
/// when that was reset meanwhile, by all ones; none is done twice or out of order, and no posted write is lost but to the
/// slave's reset.
module reg_cross_reset_tb;
  `TB_BEGIN
  `TB_TIMEOUT(400_000)
  localparam int AddrW = 20;
  int unsigned core_half = 3, slave_percent = 50, write_percent = 50, percent = 50;
  logic core_clk = 0;
  initial #0.25 forever #(core_half) core_clk = !core_clk;  // edges never coincide
  logic in_rst_now = 0, out_rst = 1;
  wire in_rst = rst || in_rst_now;

  reg_if #(.AddrW(AddrW)) host ();
  reg_if #(.AddrW(AddrW)) core ();
  reg_cross #(
      .AddrW(AddrW)
  ) dut (
      .in_clk_i(clk),
      .in_rst_i(in_rst),
      .in(host),
      .out_clk_i(core_clk),
      .out_rst_i(out_rst),
      .out(core)
  );
  function automatic logic [31:0] content(logic [AddrW-1:0] addr);
    return 32'(addr) * 32'd40503 + 32'd1;
  endfunction

  // Accesses are numbered, by their address. Those that resets may have cost.
  int unsigned made = 0, answered = 0, waited = 0, ones = 0;
  bit may_be_lost[int unsigned];
  bit open = 0, is_write;
  bit slave_reset;  // since the access was made
  always @(posedge clk) begin
    host.req <= 0;
    if (host.ack && !in_rst) begin
      `CHECK(open, "an answer without an access")
      if (!is_write) begin
        `CHECK(host.rdata == content(AddrW'(4 * made)) || (slave_reset && host.rdata == '1),
                   $sformatf("%h in answer to %0d", host.rdata, made))
        if (host.rdata == '1) ones++;
      end
      open = 0;
      answered++;
    end
    waited = open && !in_rst ? waited + 1 : 0;
    `CHECK(waited < 2000, "no answer")
    if (in_rst) begin
      if (open) may_be_lost[made] = 1;
      open = 0;
    end else if (!open && $urandom_range(99) < percent) begin
      open = 1;
      slave_reset = out_rst;
      made++;
      if (out_rst) may_be_lost[made] = 1;
      is_write = $urandom_range(99) < write_percent;
      host.req   <= 1;
      host.write <= is_write;
      host.addr  <= AddrW'(4 * made);
      host.wdata <= ~content(AddrW'(4 * made));
      host.wstrb <= '1;
    end
  end

  // The slave.
  int unsigned done = 0, at;
  bit busy = 0;
  always @(posedge core_clk) begin
    core.ack <= 0;
    if (core.req && !out_rst) begin
      `CHECK(!busy, "an access before the last was answered")
      at = 32'(core.addr) / 4;
      `CHECK(at > done && at <= made, $sformatf("access %0d after %0d", at, done))
      while (++done < at) `CHECK(may_be_lost.exists(done), $sformatf("%0d was lost", done))
      `CHECK(!core.write || core.wdata == ~content(core.addr), "other data")
      busy = 1;
    end
    if (busy && $urandom_range(99) < slave_percent) begin
      core.ack   <= 1;
      core.rdata <= content(core.addr);
      busy = 0;
    end
    if (out_rst) begin
      busy = 0;
      core.ack <= 0;
      slave_reset = 1;
      for (int unsigned i = done + 1; i <= made; i++) may_be_lost[i] = 1;
    end
  end

  initial begin
    @(negedge rst);
    repeat (4) @(negedge core_clk);
    out_rst = 0;
    for (int i = 0; i < 600; i++) begin
      automatic bit in_side = 1'($urandom()), out_side = !in_side || $urandom_range(3) == 0;
      slave_percent = $urandom_range(100, 3);
      core_half = $urandom_range(11, 1);
      percent = $urandom_range(100, 5);
      write_percent = $urandom_range(100);
      repeat ($urandom_range(100)) @(posedge clk);
      fork
        if (in_side) begin
          @(negedge clk) in_rst_now = 1;
          repeat ($urandom_range(8, 1)) @(negedge clk);
          in_rst_now = 0;
        end
        if (out_side) begin
          @(negedge core_clk) out_rst = 1;
          repeat ($urandom_range(
              3
          ) == 0 ? $urandom_range(
              100, 50
          ) : $urandom_range(
              8, 1
          ))
          @(negedge core_clk);
          out_rst = 0;
        end
      join
    end
    percent = 0;
    slave_percent = 100;
    repeat (1000) @(posedge clk);
    while (++done <= made) `CHECK(may_be_lost.exists(done), $sformatf("%0d was lost", done))
    `CHECK(!open && answered > 2000 && ones > 20, $sformatf(
           "%0d answers, %0d of a reset", answered, ones))
    `TB_PASS
  end
endmodule
