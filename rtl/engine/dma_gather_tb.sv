// SPDX-License-Identifier: Apache-2.0
`include "tb.svh"
/// dma_gather against a list of jobs: each is done when the last of its statuses is there, not before, with the first failure
/// among them; statuses of other clients do not count, and no more requests are let through than have places.
module dma_gather_tb;
  import dma_pkg::*, queue_pkg::*, engine_pkg::*;
  `TB_BEGIN
  `TB_TIMEOUT(200_000)
  localparam int Depth = 12;
  localparam ram_sel_t Sel = 6'd6;
  dma_status_t status = '0;
  logic room, request = 0, valid = 0, done, take = 0;
  logic   [3:0] requests = '0;
  error_e       error;
  dma_gather #(
      .Sel  (Sel),
      .Depth(Depth)
  ) dut (
      .clk_i(clk),
      .rst_i(rst),
      .status_i(status),
      .room_o(room),
      .request_i(request),
      .valid_i(valid),
      .requests_i(requests),
      .done_o(done),
      .error_o(error),
      .take_i(take)
  );

  int unsigned jobs [$];  // requests of each, those made by now
  dma_result_e given[$];  // statuses not used up
  int unsigned making = 0, made = 0, unanswered = 0, taken = 0, full = 0, failed = 0;
  error_e first;
  int unsigned waited = 0;
  int settled = 0;  // statuses not used up that were there a clock ago
  logic fresh, whole = 0;  // all statuses of the oldest job were there when it came

  initial begin
    @(negedge rst);
    making = 3;
    while (taken < 3000) begin
      @(negedge clk);
      // A request of the newest job, or the job is whole.
      request = 0;
      if (!room) full++;
      if (made == making) begin
        jobs.push_back(making);
        making = $urandom_range(3) == 0 ? 0 : $urandom_range(8);
        made   = 0;
      end else if (room && $urandom_range(3) != 0) begin
        request = 1;
        made++;
        unanswered++;
      end
      // A status, now and then of another client.
      status = '0;
      if (unanswered > 32'(request) && $urandom_range(3) != 0) begin
        status = '{
            valid: 1'b1,
            sel: Sel,
            result: $urandom_range(5) == 0 ? dma_result_e'($urandom_range(4, 1)) : DmaOk
        };
      end else if ($urandom_range(3) == 0) begin
        status = '{valid: 1'b1, sel: Sel + 6'd1, result: DmaAborted};
      end
      // The oldest job.
      fresh = !valid || take;
      valid = jobs.size() > 0 && ((valid && !take) || $urandom_range(1) == 0);
      requests = valid ? 4'(jobs[0]) : 4'($urandom);
      #1;
      if (valid && fresh) begin
        whole  = settled >= int'(jobs[0]);
        waited = 0;
      end
      if (valid && whole && !done) waited++;
      `CHECK(!valid || waited == 0 || waited < jobs[0], "a clock more than a job has requests")
      take = valid && done && $urandom_range(2) != 0;
      if (valid && done) begin
        `CHECK(given.size() >= int'(jobs[0]), "done before its statuses are there")
        first = ErrNone;
        for (int i = int'(jobs[0]) - 1; i >= 0; i--)
        if (given[i] != DmaOk) first = error_of(given[i]);
        `CHECK(error == first, "not the first failure")
      end
      #1;
      if (take) begin
        if (first != ErrNone) failed++;
        repeat (int'(jobs[0])) void'(given.pop_front());
        void'(jobs.pop_front());
        taken++;
      end
      settled = given.size();
      @(posedge clk);
      if (status.valid && status.sel == Sel) begin
        given.push_back(status.result);
        unanswered--;
      end
    end
    `CHECK(full > 100 && failed > 100, "never full or never failed")
    `TB_PASS
  end
endmodule
