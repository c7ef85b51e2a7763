// SPDX-License-Identifier: Apache-2.0
`include "parts_tb.svh"
`include "tb.svh"
`include "stream.svh"
/// function_filter: frames to addresses of functions and near misses, group addresses, tags of all kinds, against a search through the
/// rules; rules put, taken out and put anew while frames go by are seen whole; what is not a rule is refused; registers read back; reset.
module function_filter_tb;
  import eth_pkg::*;
  `TB_BEGIN
  `TB_TIMEOUT(400_000)
  localparam int Functions = 32;
  bit  again = 0;
  wire reset = rst || again;
  `STREAM_ON(wide_beat_t, in, clk, reset)
  reg_if #(.AddrW(11)) regs ();
  logic refused, valid, coalesce;
  owner_t owner;
  source_rule_t set;
  function_filter #(
      .Functions(Functions)
  ) dut (
      .clk_i(clk),
      .rst_i(reset),
      .regs,
      .refused_o(refused),
      .set_o(set),
      .valid_i(in.valid && in.ready),
      .beat_i(in.data),
      .valid_o(valid),
      .owner_o(owner),
      .coalesce_o(coalesce)
  );
  int unsigned percent = 100, ready_percent = 100;
  `FRAME_SOURCE(wide_beat_t, i_frames, in, percent, percent)
  `STREAM_SINK(wide_beat_t, i_out, in, ready_percent)
  reg_master #(
      .AddrW(11)
  ) i_regs (
      .clk,
      .rst(reset),
      .on (regs)
  );

  typedef struct {
    bit valid, check, coalesce, vlan_on;
    logic [11:0] vlan;
    logic [47:0] address;  // first byte highest
  } rule_t;
  rule_t rules[Functions];
  int want[$];  // -1: 0 or `moving`
  int unsigned refusals = 0, sets = 0, results = 0, of_virtual = 0, of_joined = 0;
  int moving = 3;
  source_rule_t last_set;

  always @(posedge clk) begin
    if (!reset && refused) refusals++;
    if (!reset && set.valid) begin
      sets++;
      last_set = set;
    end
    if (!reset && valid) begin
      `CHECK(want.size() != 0, "a result without a frame")
      if (want[0] < 0) `CHECK(owner == 0 || int'(owner) == moving, "a rule that moves")
      else
        `CHECK(int'(owner) == want[0], $sformatf(
               "owner %0d, not %0d, of frame %0d", owner, want[0], results))
      if (want[0] >= 0)
        `CHECK(coalesce == (owner == 0 || rules[32'(owner)].coalesce),
               "joined or not, against its entry")
      of_virtual += 32'(owner != 0);
      of_joined += 32'(owner != 0 && coalesce);
      results++;
      void'(want.pop_front());
    end
  end

  function automatic logic [47:0] wire_order(logic [47:0] a);
    return {a[7:0], a[15:8], a[23:16], a[31:24], a[39:32], a[47:40]};
  endfunction
  task automatic put(int n, rule_t r);
    logic [47:0] a = wire_order(r.address);
    i_regs.write(11'(16 * n + 8), {r.vlan_on, 19'd0, r.vlan});
    i_regs.write(11'(16 * n), a[31:0]);
    i_regs.write(11'(16 * n + 4), {r.valid, r.check, r.coalesce, 13'd0, a[47:32]});
  endtask
  task automatic check_reads(int n);
    logic [31:0] lo, hi, vlan;
    logic [47:0] a = wire_order(rules[n].address);
    i_regs.read(11'(16 * n), lo);
    i_regs.read(11'(16 * n + 4), hi);
    i_regs.read(11'(16 * n + 8), vlan);
    if (!rules[n].valid) `CHECK({lo, hi, vlan} == '0, "an entry that is not valid")
    else
      `CHECK(
          lo == a[31:0] && hi == {1'b1, rules[n].check, rules[n].coalesce, 13'd0, a[47:32]} && vlan == {rules[n].vlan_on, 19'd0, rules[n].vlan},
          "an entry that reads back")
  endtask
  function automatic int model(logic [47:0] to, bit has_tag, logic [11:0] vlan);
    if (to[40]) return 0;
    for (int n = 1; n < Functions; n++)
    if (rules[n].valid && rules[n].address == to && (!rules[n].vlan_on || (has_tag && vlan == rules[n].vlan)))
      return n;
    return 0;
  endfunction
  task automatic frame(logic [47:0] to, logic [15:0] ether_type, logic [15:0] tci, int expected);
    bytes_t f = {};
    for (int i = 0; i < 6; i++) f.push_back(to[47-8*i-:8]);
    for (int i = 0; i < 6; i++) f.push_back(8'($urandom()));
    f.push_back(ether_type[15:8]);
    f.push_back(ether_type[7:0]);
    f.push_back(tci[15:8]);
    f.push_back(tci[7:0]);
    for (int i = 0; i < $urandom_range(300, 44); i++) f.push_back(8'($urandom()));
    i_frames.send(f, 0);
    want.push_back(expected);
  endtask
  function automatic logic [47:0] random_address();
    random_address = {16'($urandom()), 32'($urandom())};
    random_address[40] = 0;
  endfunction
  task automatic random_frames(int count);
    for (int i = 0; i < count; i++) begin
      automatic logic [47:0] to = rules[$urandom_range(Functions-1)].address;
      automatic logic [15:0] ether_type, tci = 16'($urandom());
      automatic int pick = $urandom_range(7), kind = $urandom_range(3);
      case (pick)
        0: to ^= 48'd1 << $urandom_range(47);
        1: to = random_address();
        2: to = '1;
        3: to[40] = 1;
        default: ;
      endcase
      case (kind)
        0: ether_type = 16'h8100;
        1: ether_type = 16'h88a8;
        2: ether_type = 16'h0800;
        default: ether_type = 16'h8100 ^ 16'(1 << $urandom_range(15));
      endcase
      tci[11:0] = $urandom_range(2) == 0 ? 12'($urandom()) :
          rules[$urandom_range(Functions-1)].vlan;
      frame(to, ether_type, tci, model(to, ether_type inside {16'h8100, 16'h88a8}, tci[11:0]));
    end
  endtask
  task automatic settle();
    while (want.size() != 0 || i_frames.queue.size() != 0 || in.valid) @(posedge clk);
    repeat (5) @(posedge clk);
  endtask

  initial begin
    rule_t a, b;
    logic [31:0] word;
    int unsigned start;
    foreach (rules[i]) rules[i] = '{default: '0};
    @(negedge rst);
    repeat (3) @(posedge clk);
    random_frames(50);
    settle();
    `CHECK(of_virtual == 0, "an empty filter has found something")
    for (int round = 0; round < 30; round++) begin
      // Some have the address of another, and are told apart by VLAN, or come behind it.
      for (int n = 0; n < Functions; n++) begin
        if ($urandom_range(3) == 0) continue;
        rules[n].valid = $urandom_range(4) != 0;
        rules[n].check = 1'($urandom());
        rules[n].coalesce = 1'($urandom());
        rules[n].vlan_on = 1'($urandom());
        rules[n].vlan = 12'($urandom_range(5));
        rules[n].address = $urandom_range(3) == 0 ? rules[$urandom_range(Functions-1)].address :
            random_address();
        rules[n].address[40] = 0;
        put(n, rules[n]);
        `CHECK(
            last_set.owner == owner_t'(n) && last_set.check == (rules[n].valid && rules[n].check) && last_set.address == wire_order(
            rules[n].address), "what is told of a rule")
      end
      for (int n = 0; n < Functions; n++) check_reads(n);
      percent = $urandom_range(1) == 0 ? 100 : $urandom_range(100, 20);
      ready_percent = $urandom_range(1) == 0 ? 100 : $urandom_range(100, 20);
      random_frames(300);
      settle();
    end
    `CHECK(of_virtual > 1000 && of_joined > 300 && of_virtual - of_joined > 300,
           "few frames were of a virtual function, or of one whose are joined")
    // What is not a rule.
    start = refusals;
    a = '{
        valid: 1,
        check: 1,
        coalesce: 0,
        vlan_on: 0,
        vlan: 0,
        address: 48'h01_00_5e_00_00_01
    };
    put(moving, a);
    put(Functions, rules[1]);
    i_regs.read(11'(16 * Functions), word);
    `CHECK(refusals == start + 4 && word == 0, "a group address, a function that there is not")
    check_reads(moving);
    // A rule that moves between two addresses, and the halves of both, which no one has.
    percent = 100;
    ready_percent = 100;
    a = '{
        valid: 1,
        check: 0,
        coalesce: 0,
        vlan_on: 0,
        vlan: 0,
        address: 48'h02_11_22_33_44_55
    };
    b = '{
        valid: 1,
        check: 0,
        coalesce: 0,
        vlan_on: 0,
        vlan: 0,
        address: 48'h06_77_88_99_aa_bb
    };
    put(moving, a);
    for (int i = 0; i < 50; i++) begin
      for (int j = 0; j < 3; j++) begin
        frame(a.address, 16'h0800, 0, -1);
        frame(b.address, 16'h0800, 0, -1);
        frame({a.address[47:16], b.address[15:0]}, 16'h0800, 0, 0);
        frame({b.address[47:16], a.address[15:0]}, 16'h0800, 0, 0);
      end
      put(moving, i % 2 == 0 ? b : a);
    end
    settle();
    // A frame a clock.
    foreach (rules[i]) rules[i].valid = 0;
    rules[1] = a;
    for (int n = 0; n < Functions; n++) put(n, rules[n]);
    start = results;
    for (int i = 0; i < 500; i++) begin
      i_frames.send(
          '{2, 'h11, 'h22, 'h33, 'h44, 'h55, 0, 0, 0, 0, 0, 0, 8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}, 0);
      want.push_back(1);
    end
    repeat (510) @(posedge clk);
    `CHECK(results - start >= 498, $sformatf("%0d results in 510 clocks", results - start))
    settle();
    // After a reset there are none, and no answer to an access of before.
    for (int k = 0; k < 5; k++) begin
      i_regs.post('0, '0);
      repeat (k) @(posedge clk);
      again <= 1;
      @(posedge clk);
      again <= 0;
      repeat (5) @(posedge clk);
    end
    foreach (rules[i]) rules[i].valid = 0;
    for (int n = 0; n < Functions; n++) check_reads(n);
    start = of_virtual;
    frame(a.address, 16'h0800, 0, 0);
    settle();
    `CHECK(of_virtual == start, "a rule that outlived a reset")
    `TB_PASS
  end
endmodule
