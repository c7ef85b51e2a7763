// SPDX-License-Identifier: Apache-2.0
`include "parts_tb.svh"
`include "tb.svh"
/// flow_table against a list of its entries: flows that are in it, that lie at the wrong place, that differ in one bit, that were taken
/// out or moved; a flow a clock, also in a full table and while entries change; registers read back; entries and queues that do not
/// exist are nobody's, any word to any address is harmless.
module flow_table_tb;
  import eth_pkg::*;
  `TB_BEGIN
  `TB_TIMEOUT(200_000)
  localparam int Entries = 64;
  localparam int Places = Entries / 2;
  localparam int Queues = 50_000;
  localparam int Latency = 2;

  reg_if regs ();
  logic refused, answered;
  flow_found_t found;
  flow_queue_t queue;
  flow_table #(
      .Entries(Entries),
      .Queues (Queues)
  ) dut (
      .clk_i(clk),
      .rst_i(rst),
      .regs,
      .refused_o(refused),
      .found_i(found),
      .valid_o(answered),
      .queue_o(queue)
  );

  typedef struct {
    bit valid;
    flow_t flow;
    logic [15:0] queue;
  } entry_t;
  entry_t model[Entries];
  flow_queue_t expected[$];
  int unsigned hits = 0, second = 0, misses = 0, near = 0, refusals = 0, now = 0, asked[$];
  int unsigned percent = 100;

  // Few flows, with few hashes, so that they meet; a hash is the flow's own.
  function automatic flow_t flow_of(int unsigned id);
    flow_t f;
    for (int i = 0; i < 9; i++) f.fields[32*i+:32] = 32'(id * 2654435761) ^ 32'(i * 40503 * id);
    f.kind = 4'(id % 15 + 1);
    return f;
  endfunction
  function automatic logic [31:0] hash_of(int unsigned id);
    return {16'(id * 7 % 41), 16'(id * 5 % 37)};
  endfunction
  function automatic int unsigned place(int unsigned id, int unsigned way);
    logic [31:0] h = hash_of(id);
    return way * Places + int'(h[16*way+:16]) % Places;
  endfunction

  `REG_MASTER(24, i_regs, regs)
  always @(posedge clk) begin
    now <= now + 1;
    if (rst) begin
      expected.delete();
      asked.delete();
    end
    found.valid <= 0;
    if (!rst && percent > $urandom_range(99)) begin
      int unsigned id;
      id = $urandom_range(199);
      found.valid <= 1;
      found.flow  <= flow_of(id);
      if ($urandom_range(3) == 0) begin
        found.flow <= flow_of(id) ^ (292'd1 << $urandom_range(291));
        near++;
      end
      found.hash <= hash_of(id);
    end
    if (found.valid && !rst) begin
      flow_queue_t e;
      int unsigned at[2];
      e = '0;
      for (int w = 0; w < 2; w++) begin
        at[w] = w * Places + int'(found.hash[16*w+:16]) % Places;
        if (!e.hit && model[at[w]].valid && model[at[w]].flow == found.flow) begin
          e = '{hit: 1, queue: model[at[w]].queue};
          if (w == 1) second++;
        end
      end
      if (e.hit) hits++;
      else misses++;
      expected.push_back(e);
      asked.push_back(now);
    end
    // An entry counts for the flows that come behind its write.
    if (dut.put && !rst) begin
      bit there, known;
      flow_t f;
      for (int i = 0; i < 9; i++) f.fields[287-32*i-:32] = words[i];
      f.kind = words[9][19:16];
      there  = words[9][31];
      known  = words[10] < Entries && (!there || words[9][15:0] < Queues);
      `CHECK(refused == !known, "refused what there is, or took what there is not")
      if (known) model[words[10]] = '{valid: there, flow : f, queue: words[9][15:0]};
      else refusals++;
      puts++;
    end else `CHECK(rst || !refused, "refused without a write")
    if (answered && !rst) begin
      flow_queue_t e;
      e = expected.pop_front();
      `CHECK(queue.hit == e.hit && (!e.hit || queue == e), $sformatf("queue %p, not %p", queue, e))
      `CHECK(now - asked.pop_front() == Latency, "late")
    end
  end

  // What has been written to the registers.
  logic [31:0] words[16];
  int unsigned puts = 0;
  task automatic write(int unsigned word, logic [31:0] value, logic [3:0] strb = '1);
    if (strb == '1) words[word] = value;
    i_regs.access(1, 24'(4 * word), value, strb);
  endtask
  task automatic put(int unsigned id, int unsigned at, bit there, logic [15:0] to);
    flow_t f = flow_of(id);
    for (int i = 0; i < 9; i++) write(i, f.fields[287-32*i-:32]);
    write(9, {there, 11'd0, f.kind, to});
    write(10, 32'(at));
  endtask

  initial begin
    foreach (model[i]) model[i].valid = 0;
    {hits, second, misses, near, refusals, puts} = '0;
    percent = 100;
    @(negedge rst);
    i_regs.access(0, 0, 0, '1);
    `CHECK(i_regs.rdata == 0, "a flow from before the reset")
    put(1, place(1, 0), 1, 16'h1234);  // waits for the table to be cleared
    for (int i = 0; i < 12; i++) begin
      i_regs.access(0, 24'(4 * i), 0, '1);
      `CHECK(i_regs.rdata == (i < 10 ? words[i] : i == 10 ? 0 : Entries), "wrong word is read")
    end
    for (int i = 0; i < Entries; i++) put(i, i, 1, 16'(i));
    for (int i = 0; i < 600; i++) begin
      int unsigned id;
      id = $urandom_range(199);
      percent = ($urandom_range(1) == 0) ? 100 : $urandom_range(100);
      case ($urandom_range(
          5
      ))
        0: put(id, $urandom_range(Entries - 1), 1, 16'($urandom_range(Queues - 1)));
        1: put(id, place(id, $urandom_range(1)), 0, 16'($urandom()));
        default: put(id, place(id, $urandom_range(1)), 1, 16'($urandom_range(Queues - 1)));
      endcase
    end
    `CHECK(refusals == 0 && puts == 601 + Entries, "refused what there is")
    put(3, Entries, 1, 5);
    put(3, 32'hffff_ffff, 1, 5);
    put(3, place(3, 0), 1, 16'(Queues));
    `CHECK(refusals == 3, "an entry or a queue that there is not")
    // Any value at any address, in part, too.
    for (int i = 0; i < 500; i++)
    write($urandom_range(15), $urandom_range(1) == 0 ? $urandom() : $urandom_range(2 * Entries),
          $urandom_range(3) == 0 ? 4'($urandom()) : '1);
    `CHECK(refusals > 10, "nothing was refused")
    percent = 0;
    repeat (20) @(posedge clk);
    `CHECK(expected.size() == 0, "an answer is missing")
    `CHECK(hits > 500 && second > 100 && misses > 500 && near > 500, $sformatf(
           "%0d hits, %0d of them in way 1, %0d misses, %0d near", hits, second, misses, near))
    $display("%0d hits, %0d of them in way 1, %0d misses", hits, second, misses);
    `TB_PASS
  end
endmodule
