// SPDX-License-Identifier: Apache-2.0
`include "tb.svh"
`include "stream.svh"
/// static_switch: random programs against a model that runs them one instruction after the other (what comes out of each
/// output, and in which order, does not depend on time); 3 clocks from core to neighbour's core; one word a clock through a
/// counted loop; an instruction that lacks an operand moves nothing and says what it waits for; halt, stop and restart.
module static_switch_tb;
  import mesh_pkg::*;
  `TB_BEGIN
  `TB_TIMEOUT(400_000)
  localparam int Size = 32;  // instructions
  localparam int N = SwitchPorts;
  localparam int Links = 2 * RouterPorts;  // in1[0 .. 4], in2[0 .. 4]

  // Switch 0 is the one tested; switch 1 is its neighbour in the east, on network 1.
  logic run = 0;
  logic [1:0] we = 0;
  logic [$clog2(Size):0] addr;
  word_t data;
  switch_status_t status[2];
  word_t words[2][Links];

  logic [15:0] in_valid, in_ready, out_valid, out_ready;  // by link
  word_t in_data[16], out_data[16];
  logic  neighbour = 0;  // switch 1 is connected
  logic  far_valid;
  word_t far_data;

  for (genvar s = 0; s < 2; s++) begin : g_switch
    `STREAM_ON(word_t, in1[RouterPorts], clk, rst)
    `STREAM_ON(word_t, in2[RouterPorts], clk, rst)
    `STREAM_ON(word_t, out1[RouterPorts], clk, rst)
    `STREAM_ON(word_t, out2[RouterPorts], clk, rst)
    static_switch #(
        .Instructions(Size)
    ) dut (
        .clk_i(clk),
        .rst_i(rst),
        .run_i(run),
        .prog_we_i(we[s]),
        .prog_addr_i(addr),
        .prog_data_i(data),
        .in1,
        .in2,
        .out1,
        .out2,
        .status_o(status[s]),
        .words_o(words[s])
    );
  end
  for (genvar i = 0; i < RouterPorts; i++) begin : g_link
    assign g_switch[0].in1[i].valid = in_valid[i];
    assign g_switch[0].in1[i].data = in_data[i];
    assign in_ready[i] = g_switch[0].in1[i].ready;
    assign g_switch[0].in2[i].valid = in_valid[RouterPorts+i];
    assign g_switch[0].in2[i].data = in_data[RouterPorts+i];
    assign in_ready[RouterPorts+i] = g_switch[0].in2[i].ready;
    assign out_valid[i] = g_switch[0].out1[i].valid;
    assign out_data[i] = g_switch[0].out1[i].data;
    assign g_switch[0].out1[i].ready = i == East && neighbour ? g_switch[1].in1[West].ready : out_ready[i];
    assign out_valid[RouterPorts+i] = g_switch[0].out2[i].valid;
    assign out_data[RouterPorts+i] = g_switch[0].out2[i].data;
    assign g_switch[0].out2[i].ready = out_ready[RouterPorts+i];
    assign g_switch[1].in1[i].valid = i == West && neighbour && out_valid[East];
    assign g_switch[1].in1[i].data = out_data[East];
    assign g_switch[1].in2[i].valid = 0;
    assign g_switch[1].in2[i].data = '0;
    if (i != Core) begin : g_open
      assign g_switch[1].out1[i].ready = 1;
    end
    assign g_switch[1].out2[i].ready = 1;
  end
  // The input FIFO of the neighbour's core.
  `STREAM_ON(word_t, near, clk, rst)
  `STREAM_ON(word_t, far, clk, rst)
  assign near.valid = g_switch[1].out1[Core].valid;
  assign near.data = g_switch[1].out1[Core].data;
  assign g_switch[1].out1[Core].ready = near.ready;
  link_fifo i_core_fifo (
      .clk_i(clk),
      .rst_i(rst),
      .in(near),
      .out(far)
  );
  assign far.ready = 1;
  assign far_valid = far.valid;
  assign far_data  = far.data;

  // Words that go in: made from the link and their number, the lower half often a small count.
  function automatic word_t made(int link, int index);
    int unsigned x;
    x = (index + 1) * 32'h9e3779b1 ^ (link + 1) * 32'h85ebca6b;
    x = (x ^ (x >> 15)) * 32'h2c1b3c6d;
    x = x ^ (x >> 13);
    return x[20] ? x : {x[31:16], 13'd0, x[2:0]};
  endfunction

  // The model.
  switch_instr_t memory[Size];
  int pc;
  logic [15:0] counter[4];
  int taken[16];  // words, by link
  word_t to_other1[$], to_other2[$];  // into network 1, 2
  word_t due[16][$];  // by output link
  bit halted;

  /// Runs one instruction; false if it can never fire.
  function automatic bit step();
    switch_instr_t now;
    logic [2*N-1:0] takes, sends;
    word_t word[16];
    int next;
    now   = memory[pc];
    takes = '0;
    sends = '0;
    if (halted) return 0;
    for (int o = 0; o < N; o++) begin
      if (now.route1[o] != NoPort) begin
        sends[o] = 1;
        takes[now.route1[o]] = 1;
      end
      if (now.route2[o] != NoPort) begin
        sends[N+o] = 1;
        takes[N+int'(now.route2[o])] = 1;
      end
    end
    if (now.op == OpMovew) takes[(now.source_net?N : 0)+int'(now.source)] = 1;
    if (takes[Other] && to_other1.size() == 0 || takes[N+Other] && to_other2.size() == 0) return 0;
    if (sends[Other] && to_other2.size() == 4 || sends[N+Other] && to_other1.size() == 4) return 0;
    for (int i = 0; i < 2 * N; i++) begin
      word[4'(i)] = '0;
      if (takes[i]) begin
        if (i == Other) word[4'(i)] = to_other1.pop_front();
        else if (i == N + Other) word[4'(i)] = to_other2.pop_front();
        else begin
          int link;
          link = i < N ? i : i - N + RouterPorts;
          word[4'(i)] = made(link, taken[4'(link)]);
          taken[4'(link)]++;
        end
      end
    end
    for (int o = 0; o < N; o++) begin
      if (sends[o]) begin
        if (o == Other) to_other2.push_back(word[4'(now.route1[o])]);
        else due[4'(o)].push_back(word[4'(now.route1[o])]);
      end
      if (sends[N+o]) begin
        if (o == Other) to_other1.push_back(word[4'(N+int'(now.route2[o]))]);
        else due[4'(RouterPorts+o)].push_back(word[4'(N+int'(now.route2[o]))]);
      end
    end
    next = pc + 1;
    case (now.op)
      OpJump: next = int'(now.imm);
      OpBnez, OpBnezd: if (counter[now.counter] != 0) next = int'(now.imm);
      OpBeqz, OpBeqzd: if (counter[now.counter] == 0) next = int'(now.imm);
      OpJr: next = int'(counter[now.counter]) % Size;
      OpMovei: counter[now.counter] = now.imm;
      OpAddi: counter[now.counter] += now.imm;
      OpMovew: counter[now.counter] = word[(now.source_net?4'(N) : 4'd0)+4'(now.source)][15:0];
      OpHalt: halted = 1;
      default: ;
    endcase
    if (now.op inside {OpBnezd, OpBeqzd} && counter[now.counter] != 0) counter[now.counter]--;
    pc = next % Size;
    return 1;
  endfunction

  // The links of switch 0.
  int in_percent = 0, out_percent = 0, given[16], checked = 0;
  always @(posedge clk) begin
    for (int i = 0; i < Links; i++) begin
      if (out_valid[i] && out_ready[i] && run && !neighbour && !rst) begin
        bit can;
        can = 1;
        while (due[4'(i)].size() == 0 && can) can = step();
        `CHECK(due[4'(i)].size() != 0, $sformatf("output %0d: a word that is not due", i))
        `CHECK(out_data[i] == due[4'(i)][0], $sformatf("output %0d: wrong word", i))
        void'(due[4'(i)].pop_front());
        checked++;
      end
      if (rst) begin
        in_valid[i]  <= 0;
        out_ready[i] <= 0;
        given[i]     <= 0;
      end else begin
        // Room stays until it is taken, as in a FIFO.
        if (!out_ready[i] || out_valid[i]) out_ready[i] <= $urandom_range(99) < out_percent;
        if (!in_valid[i] || in_ready[i]) begin
          in_valid[i] <= 0;
          if ($urandom_range(99) < in_percent) begin
            in_valid[i] <= 1;
            in_data[i]  <= made(i, given[i]);
            given[i]    <= given[i] + 1;
          end
        end
      end
    end
  end

  function automatic switch_instr_t nothing();
    switch_instr_t instr;
    instr = '0;
    instr.source = NoPort;
    instr.route1 = '1;
    instr.route2 = '1;
    return instr;
  endfunction

  task automatic reset();
    in_percent = 0;
    run <= 0;
    rst <= 1;
    @(posedge clk);
    @(posedge clk);
    rst <= 0;
    pc = 0;
    halted = 0;
    to_other1.delete();
    to_other2.delete();
    for (int i = 0; i < 4; i++) counter[i] = '0;
    for (int i = 0; i < 16; i++) begin
      taken[i] = 0;
      due[4'(i)].delete();
    end
    @(posedge clk);
  endtask

  task automatic load(int s);
    for (int i = 0; i < 2 * Size; i++) begin
      we   <= 2'(1 << s);
      addr <= ($clog2(Size) + 1)'(i);
      data <= i % 2 == 0 ? memory[i/2][31:0] : memory[i/2][63:32];
      @(posedge clk);
    end
    we <= 0;
    repeat (2) @(posedge clk);
  endtask

  task automatic make_random();
    for (int i = 0; i < Size; i++) begin
      switch_instr_t instr;
      instr = nothing();
      instr.op = switch_op_e'($urandom_range(9));
      if (instr.op == OpJr && $urandom_range(3) != 0) instr.op = OpNop;
      if ($urandom_range(100) == 0) instr.op = OpHalt;
      instr.counter = 2'($urandom());
      instr.imm = 16'($urandom_range(Size - 1));
      if (instr.op == OpMovei) instr.imm = 16'($urandom_range(5));
      if (instr.op == OpMovew) begin
        instr.source_net = 1'($urandom());
        instr.source = 3'($urandom_range(4));
      end
      for (int o = 0; o < RouterPorts; o++) begin
        if ($urandom_range(3) == 0) instr.route1[o] = 3'($urandom_range(4));
        if ($urandom_range(3) == 0) instr.route2[o] = 3'($urandom_range(4));
      end
      memory[i] = instr;
    end
    // Words that change the network: sent in one instruction, taken in the next.
    for (int i = 0; i < Size - 1; i += 3) begin
      if ($urandom_range(3) == 0) begin
        memory[i].op = OpNop;
        memory[i].route1[Other] = 3'($urandom_range(4));
        memory[i+1].route2[$urandom_range(4)] = Other;
        if ($urandom_range(1) == 0) begin
          memory[i].route2[Other] = 3'($urandom_range(4));
          memory[i+1].route1[$urandom_range(4)] = Other;
        end
      end
    end
  endtask

  initial begin
    int start, idle, runs_on, total;
    @(negedge rst);

    // Random programs.
    runs_on = 0;
    total   = 0;
    for (int round = 0; round < 80; round++) begin
      reset();
      make_random();
      load(0);
      in_percent  = round % 4 == 0 ? 100 : $urandom_range(100, 10);
      out_percent = round % 3 == 0 ? 100 : $urandom_range(100, 10);
      run <= 1;
      idle = 0;
      for (int i = 0; i < 600 && idle < 300; i++) begin
        @(posedge clk);
        idle = status[0].waiting || status[0].halted ? idle + 1 : 0;
      end
      total += checked;
      if (status[0].halted || idle >= 300) begin
        bit can;
        can = 1;
        for (int i = 0; i < 5000 && can; i++) begin
          can = step();
          for (int o = 0; o < Links; o++)
            `CHECK(!can || due[4'(o)].size() == 0, $sformatf(
                   "round %0d: stands still too early", round))
        end
        if (!can) `CHECK(int'(status[0].pc) % Size == pc, "stands still at the wrong place")
        `CHECK(status[0].halted == halted, "halted or not")
      end else begin
        runs_on++;
      end
    end
    $display("%0d words checked, %0d of 80 programs ran to the end of their time", checked,
             runs_on);
    `CHECK(runs_on > 20 && checked > 20_000, "programs that do too little to test anything")

    // From core to the neighbour's core.
    reset();
    for (int i = 0; i < Size; i++) begin
      memory[i] = nothing();
      memory[i].op = OpJump;
    end
    memory[0].route1[Core] = West;
    load(1);
    memory[0].route1[Core] = NoPort;
    memory[0].route1[East] = Core;
    load(0);
    neighbour   = 1;
    out_percent = 100;
    run <= 1;
    repeat (5) @(posedge clk);
    in_percent = 100;
    @(posedge clk);
    start = 0;
    while (!far_valid) begin
      @(posedge clk);
      start++;
    end
    `CHECK(far_data == made(Core, 0), "wrong word at the neighbour")
    `CHECK(start == 3, $sformatf("%0d clocks to the neighbour's core", start))
    start = int'(words[1][Core]);
    repeat (100) @(posedge clk);
    `CHECK(int'(words[1][Core]) - start == 100, $sformatf(
           "%0d words in 100 clocks", int'(words[1][Core]) - start))
    neighbour = 0;

    // A loop that counts: length, head to core and east, body to the east; a branch between frames costs one clock.
    reset();
    for (int i = 0; i < Size; i++) memory[i] = nothing();
    memory[0].op = OpMovei;
    memory[0].imm = 99;
    memory[1].op = OpBnezd;
    memory[1].imm = 1;
    memory[1].route1[East] = West;
    memory[1].route1[Core] = West;
    memory[1].route2[South] = North;
    memory[2].op = OpJump;
    load(0);
    run <= 1;
    in_percent = 100;
    repeat (10) @(posedge clk);
    start = int'(words[0][East]);
    repeat (1020) @(posedge clk);
    `CHECK(int'(words[0][East]) - start == 1000, $sformatf(
           "%0d words in 1020 clocks", int'(words[0][East]) - start))
    $display("loops of 100 words: %0d words in 1020 clocks", int'(words[0][East]) - start);

    // Both the west and the south are needed; the core has no room later.
    reset();
    for (int i = 0; i < Size; i++) memory[i] = nothing();
    memory[0].route1[Core] = West;
    memory[0].route2[East] = South;
    memory[1].op = OpHalt;
    load(0);
    out_percent = 100;
    run <= 1;
    repeat (5) @(posedge clk);
    `CHECK(
        status[0].waiting && status[0].no_word1 == 6'b010000 && status[0].no_word2 == 6'b001000 &&
           status[0].no_room1 == '0 && status[0].no_room2 == '0,
        "status does not name the word it waits for")
    `CHECK(out_valid[Links-1:0] == '0, "moves without its operands")
    force out_ready = '0;
    in_percent = 100;
    repeat (10) @(posedge clk);
    `CHECK(
        status[0].waiting && status[0].no_word1 == '0 && status[0].no_word2 == '0 &&
           status[0].no_room1 == 6'b000001 && status[0].no_room2 == 6'b000100,
        "status does not name the port without room")
    `CHECK(out_valid[Links-1:0] == '0, "moves without room")
    release out_ready;
    repeat (10) @(posedge clk);
    `CHECK(status[0].halted && !status[0].waiting && words[0][Core] == 1, "does not halt")
    run <= 0;
    repeat (3) @(posedge clk);
    pc = 0;
    halted = 0;
    run <= 1;
    repeat (10) @(posedge clk);
    `CHECK(status[0].halted && words[0][Core] == 2, "does not start again")
    `TB_PASS
  end
endmodule
