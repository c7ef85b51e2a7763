// SPDX-License-Identifier: Apache-2.0
`include "tb.svh"
/// bank: random accesses of all kinds to few words, so that they often follow each other on the same one, clock by clock
/// and with gaps; against an array.
module bank_tb
  import core_pkg::*;
;
  `TB_BEGIN
  `TB_TIMEOUT(200_000)
  localparam int Words = 64;

  logic valid = 0;
  mem_req_t req;
  logic [31:0] rdata;
  bank #(
      .Words(Words)
  ) dut (
      .clk_i  (clk),
      .rst_i  (rst),
      .valid_i(valid),
      .req_i  (req),
      .rdata_o(rdata)
  );
  logic [31:0] early_rdata;
  bank #(
      .Words(Words),
      .Early(1)
  ) dut_early (
      .clk_i  (clk),
      .rst_i  (rst),
      .valid_i(valid),
      .req_i  (req),
      .rdata_o(early_rdata)
  );

  `include "bank_model.svh"
  int unsigned kinds[12];

  // Drives one access, or none; checks its answer, which is there in the clock after.
  logic [31:0] answer;
  task automatic step(logic v, mem_req_t r);
    logic [31:0] want;
    valid <= v;
    req   <= r;
    @(posedge clk);
    #1;
    if (v) begin
      answer = rdata;
      want   = bank_access(r);
      kinds[r.op]++;
      if (r.op != Store) begin
        `CHECK(answer == want, $sformatf("%s at %h: %h, not %h", r.op.name(), r.addr, answer, want))
        `CHECK(early_rdata == want, $sformatf("%s at %h, early: %h, not %h", r.op.name(), r.addr,
                                              early_rdata, want))
      end
    end
  endtask

  function automatic mem_req_t random_access(int unsigned range);
    mem_req_t r;
    r.op = mem_op_e'($urandom_range(11));
    r.addr = 4 * $urandom_range(range - 1);
    r.wdata = $urandom();
    if ($urandom_range(3) == 0) r.wdata = 32'(-32'sd1 << $urandom_range(31));
    r.be = 4'($urandom());
    return r;
  endfunction

  initial begin
    mem_req_t r;
    @(negedge rst);
    for (int i = 0; i < Words; i++)
    step(1, '{op: Store, addr: 4 * i, wdata: $urandom(), be: '1});
    for (int n = 0; n < 40; n++) begin
      int unsigned range, percent;
      range   = n % 4 == 0 ? Words : $urandom_range(4, 1);
      percent = n % 2 == 0 ? 100 : $urandom_range(100, 10);
      for (int i = 0; i < 500; i++) begin
        r = random_access(range);
        step($urandom_range(99) < percent, r);
      end
    end
    // Ordered completion with set and update: every bit is counted once, whatever the order they are set in.
    begin
      int unsigned order[64], counted, where;
      logic [31:0] n;
      for (int i = 0; i < 2; i++) step(1, '{op: Store, addr: 4 * i, wdata: 0, be: '1});
      foreach (order[i]) order[i] = i;
      order.shuffle();
      counted = 0;
      foreach (order[i]) begin
        step(1, '{op: Or, addr: 4 * (order[i] / 32), wdata: 1 << (order[i] % 32), be: '1});
        do begin
          where = counted;
          step(1, '{op: Update, addr: 4 * ((where / 32) % 2), wdata: where % 32, be: '1});
          for (n = 0; where % 32 + n < 32 && answer[5'(where+n)]; n++);
          counted += n;
        end while (n != 0 && counted % 32 == 0 && counted < 64);
      end
      `CHECK(counted == 64 && words[0] == 0 && words[1] == 0, "set and update lost bits")
    end
    foreach (kinds[i]) `CHECK(kinds[i] > 100, "an operation was hardly used")
    step(0, r);
    `TB_PASS
  end
endmodule
