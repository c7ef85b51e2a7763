// SPDX-License-Identifier: Apache-2.0
`include "tb.svh"
/// assist_regs against a table of what each register must read: random accesses back to back, the event register, counters,
/// mailbox, watchdogs that are kicked and that are not, outputs to assists and host. Throughput: an access every clock.
module assist_regs_tb
  import core_pkg::*;
;
  `TB_BEGIN
  `TB_TIMEOUT(200_000)
  localparam int Cores = 3, Masters = 8;

  logic valid = 0, rsp_valid, irq, prints, exits, rx_enable;
  mem_req_t req;
  logic [2:0] master = 0, print_master;
  mem_rsp_t rsp;
  logic [Cores-1:0] run = '0, watchdog, sleeping = '0;
  logic come;
  logic [15:0] wake_gap;
  logic [1:0][31:0] dropped;
  logic [3:0][31:0] base, producer, progress = '0;
  logic [3:0][3:0] ring_log;
  logic [31:0] slot_base, exit_code, clock;
  logic [1:0][31:0] mail = '0;
  logic [15:0][31:0] host_config = '0;
  logic [7:0][31:0] counter = '0;
  logic [7:0] print_char;
  assist_regs #(
      .Cores  (Cores),
      .Masters(Masters)
  ) dut (
      .clk_i(clk),
      .rst_i(rst),
      .valid_i(valid),
      .req_i(req),
      .master_i(master),
      .rsp_valid_o(rsp_valid),
      .rsp_o(rsp),
      .run_i(run),
      .watchdog_o(watchdog),
      .sleeping_i(sleeping),
      .come_o(come),
      .wake_gap_o(wake_gap),
      .base_o(base),
      .log_o(ring_log),
      .producer_o(producer),
      .progress_i(progress),
      .slot_base_o(slot_base),
      .rx_enable_o(rx_enable),
      .mailbox_i(mail),
      .config_i(host_config),
      .interrupt_o(irq),
      .print_o(prints),
      .print_char_o(print_char),
      .print_master_o(print_master),
      .exit_o(exits),
      .exit_code_o(exit_code),
      .dropped_o(dropped),
      .counter_i(counter),
      .clock_o(clock)
  );

  // What firmware may write, and how much of it stays: written out from the map, not computed.
  localparam int Registers = 28;
  localparam logic [Registers-1:0][11:0] At = {
    12'h008,
    12'h040,
    12'h044,
    12'h048,
    12'h060,
    12'h064,
    12'h068,
    12'h080,
    12'h084,
    12'h088,
    12'h0a0,
    12'h0a4,
    12'h0ac,
    12'h0b0,
    12'h0b4,
    12'h104,
    12'h108,
    12'h10c,
    12'h110,
    12'h114,
    12'h118,
    12'h018,
    12'h144,
    12'h148,
    12'h01c,
    12'h00c,
    12'h140,
    12'h0a8
  };
  localparam logic [Registers-1:0][31:0] Mask = {
    32'hffff_ffff,
    32'hffff_ffff,
    32'hf,
    32'hffff_ffff,
    32'hffff_ffff,
    32'hf,
    32'hffff_ffff,
    32'hffff_ffff,
    32'hf,
    32'hffff_ffff,
    32'hffff_ffff,
    32'hf,
    32'hffff_ffff,
    32'hffff_ffff,
    32'h1,
    32'hffff_ffff,
    32'hffff_ffff,
    32'hffff_ffff,
    32'hffff_ffff,
    32'hffff_ffff,
    32'hffff_ffff,
    32'hffff,
    32'hffff_ffff,
    32'hffff_ffff,
    32'h0,
    32'h0,
    32'h0,
    32'h0
  };
  logic [31:0] want[4096];

  // What a load in this clock must give.
  function automatic logic [31:0] expected(logic [11:0] at);
    if (at == 12'h000) return Cores;
    if (at == 12'h004) return clock;
    if (at == 12'h04c) return progress[0];
    if (at == 12'h06c) return progress[1];
    if (at == 12'h08c) return progress[2];
    if (at == 12'h0a8) return progress[3];
    if (at == 12'h0c0) return mail[0];
    if (at == 12'h0c4) return mail[1];
    if (at == 12'h100)
      return {
        26'd0,
        mail[1] != want[12'h118],
        mail[0] != want[12'h114],
        progress[3] != want[12'h110],
        progress[2] != want[12'h10c],
        progress[1] != want[12'h108],
        progress[0] != want[12'h104]
      };
    if (at >= 12'h120 && at < 12'h140) return counter[at[4:2]];
    if (at >= 12'h180 && at < 12'h1c0) return host_config[at[5:2]];
    return want[at];
  endfunction

  logic loaded = 0, error;
  logic [31:0] answer;
  logic [11:0] load_at;
  int unsigned answers = 0, stores = 0, percent = 100;
  always @(posedge clk) begin
    logic [11:0] at;
    `CHECK(rst || rsp_valid == loaded, "an answer that is not there, or that nobody wants")
    if (!rst && rsp_valid) begin
      `CHECK(rsp.error == error && (error || rsp.rdata == answer),
             $sformatf("%h reads %h, not %h", load_at, rsp.rdata, answer))
      answers++;
    end
    loaded = 0;
    if (!rst && valid) begin
      at = req.addr[11:0];
      if (req.op == Store) begin
        for (int i = 0; i < Registers; i++)
        if (At[i] == at)
          want[at] = (at inside {12'h144, 12'h148} ? want[at] + req.wdata : req.wdata) & Mask[i];
        stores++;
      end else begin
        loaded  = 1;
        error   = req.op != Load;
        load_at = at;
        answer  = expected(at);
      end
    end
    if ($urandom_range(3) == 0) begin
      progress[$urandom_range(3)] <= $urandom_range(3);
      mail[$urandom_range(1)] <= $urandom_range(3);
      counter[$urandom_range(7)] <= $urandom();
      host_config[$urandom_range(15)] <= $urandom();
    end
    valid <= $urandom_range(99) < percent;
    req.op <= $urandom_range(20) == 0 ? Swap : $urandom_range(1) == 0 ? Load : Store;
    req.addr <= DeviceBase + ($urandom_range(
        1
    ) == 0 ? 32'(At[$urandom_range(
        Registers-1
    )]) : $urandom_range(
        'h1ff
    ) & ~3);
    req.wdata <= $urandom_range(1) == 0 ? $urandom() : $urandom_range(3);
    req.be <= '1;
    master <= 3'($urandom_range(7));
    if (rst) begin  // a store in the last clock of the reset makes no pulse
      valid <= 1'b1;
      req.op <= Store;
      req.addr <= DeviceBase + (seed % 3 == 0 ? 32'h10 : seed % 3 == 1 ? 32'h140 : 32'h14);
    end
  end
  // Pulses, a clock after their store.
  logic irq_due = 0, print_due = 0, exit_due = 0;
  logic [5:0][31:0] counts_q = '0;
  logic [31:0] due_data;
  logic [2:0] due_master;
  always @(posedge clk)
    if (!rst) begin
      `CHECK(irq == irq_due && prints == print_due && exits == exit_due, "interrupt, print or exit")
      if (prints) `CHECK(print_char == due_data[7:0] && print_master == due_master, "character")
      if (exits) `CHECK(exit_code == due_data, "exit code")
      `CHECK(
          base == {want[12'h0a0], want[12'h080], want[12'h060], want[12'h040]} && slot_base == want[12'h0b0] && producer == {want[12'h0ac], want[12'h088], want[12'h068], want[12'h048]} && rx_enable == want[12'h0b4][0] && ring_log == {want[12'h0a4][3:0], want[12'h084][3:0], want[12'h064][3:0], want[12'h044][3:0]},
          "outputs to assists")
      `CHECK(wake_gap == want[12'h018][15:0] && dropped == {want[12'h148], want[12'h144]},
             "gap, drops")
      `CHECK(
          come == ({mail, progress} != counts_q || (valid && req.op == Store && req.addr[11:0] == 12'h01c)),
          "something to look for")
      counts_q = {mail, progress};
      irq_due = valid && req.op == Store && req.addr[11:0] == 12'h140;
      print_due = valid && req.op == Store && req.addr[11:0] == 12'h010;
      exit_due = valid && req.op == Store && req.addr[11:0] == 12'h014;
      due_data = req.wdata;
      due_master = master;
    end

  // Watchdogs: how long each core has been silent.
  int unsigned silent[Cores], expired = 0;
  bit steady = 0;
  always @(posedge clk)
    if (!rst) begin
      for (int c = 0; c < Cores; c++) begin
        if (steady) begin
          // The limit in force has not changed for longer than it is.
          if (silent[c] > want[12'h008] + 3 && run[c])
            `CHECK(watchdog[c], "a silent core was not ended")
          if (!run[c] && silent[c] > 2) `CHECK(!watchdog[c], "a core that stands was ended")
        end
        silent[c]++;
        if (valid && req.op == Store && req.addr[11:0] == 12'h00c && master == 3'(c) && !watchdog[c])
          silent[c] = 0;
      end
      expired += $countones(watchdog);
    end
  task automatic store(logic [11:0] at, logic [31:0] data, logic [2:0] who);
    // Between random accesses, which are off.
    @(negedge clk);
    valid = 1;
    req = '{op: Store, addr: DeviceBase + 32'(at), wdata: data, be: '1};
    master = who;
    @(posedge clk);
  endtask

  initial begin
    foreach (want[i]) want[i] = '0;
    for (int c = 0; c < Cores; c++) silent[c] = 0;
    @(negedge rst);
    repeat (20_000) @(posedge clk);
    `CHECK(answers + stores >= 19_990 && answers > 8000, "not an access every clock")
    // No random accesses any more: two cores that run, of which core 1 keeps kicking.
    percent = 0;
    run <= '0;
    repeat (4) @(posedge clk);
    store(12'h008, 32'd100, 3'd0);
    for (int c = 0; c < Cores; c++) silent[c] = 0;
    run <= 3'b011;
    steady = 1;
    for (int i = 0; i < 30; i++) begin
      store(12'h00c, 0, 3'd1);
      repeat (20) @(posedge clk);
      `CHECK(watchdog[1] == 0 && watchdog[2] == 0,
             "a core that kicks, or one that stands, was ended")
      `CHECK(watchdog[0] == (i >= 5) || i == 4, "the silent core")
    end
    steady = 0;
    run <= '0;
    repeat (4) @(posedge clk);
    `CHECK(watchdog == '0, "a watchdog stays when its core is stopped")
    // A core that sleeps needs no kicks; awake again it has the whole time.
    run <= 3'b001;
    sleeping <= 3'b001;
    repeat (300) @(posedge clk);
    sleeping <= '0;
    repeat (95) @(posedge clk);
    `CHECK(watchdog == '0, "a core was ended because it had slept")
    repeat (15) @(posedge clk);
    `CHECK(watchdog == 3'b001, "the watchdog of a core that has slept")
    // While there is no limit no time counts: a core has the whole of one that is set.
    run <= '0;
    store(12'h008, 32'd0, 3'd0);
    run <= 3'b001;
    repeat (300) @(posedge clk);
    `CHECK(watchdog == '0, "a core was ended without a limit")
    store(12'h008, 32'd100, 3'd0);
    repeat (95) @(posedge clk);
    `CHECK(watchdog == '0, "a core was ended for the time before there was a limit")
    repeat (15) @(posedge clk);
    `CHECK(watchdog == 3'b001, "the watchdog of a core that got a limit")
    `TB_PASS
  end
endmodule
