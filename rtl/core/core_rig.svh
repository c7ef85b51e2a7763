// SPDX-License-Identifier: Apache-2.0
// What the tests of the core put around it: cache, instruction memory, and a scratchpad with slow and contested accesses.
`ifndef EMERY_CORE_RIG_SVH
`define EMERY_CORE_RIG_SVH

/// The rig `rig`, with its module's parameters in brackets, and what a test drives it with.
`define CORE_RIG(parameters, watchdog) \
  logic run = 0, we = 0; \
  int unsigned wait_percent = 0; \
  logic [31:0] waddr, wdata, trap_pc; \
  core_pkg::clock_use_e clock_use; \
  core_pkg::rvfi_t rvfi; \
  core_pkg::trap_e trap; \
  core_rig #parameters rig ( \
      .clk_i         (clk), \
      .rst_i         (rst), \
      .run_i         (run), \
      .watchdog_i    (watchdog), \
      .wait_percent_i(wait_percent), \
      .we_i          (we), \
      .waddr_i       (waddr), \
      .wdata_i       (wdata), \
      .use_o         (clock_use), \
      .rvfi_o        (rvfi), \
      .trap_o        (trap), \
      .trap_pc_o     (trap_pc) \
  );

/// 64 kB at 0x1000_0000 that answer in the next clock, and the same at 0x2000_0000 that take their time; all else is an error.
module core_rig
  import core_pkg::*;
#(
    parameter int CacheBytes = 1024,
    parameter int ImemBytes  = 32768,
    parameter int History    = 64,
    parameter bit Ahead      = 1,
    parameter bit Networks   = 0,
    parameter int LoadUse    = 0,
    parameter int Mispredict = 0
) (
    input  logic               clk_i,
    input  logic               rst_i,
    input  logic               run_i,
    input  logic               watchdog_i,
    input  int unsigned        wait_percent_i,  // clocks in which another master is served
    input  logic               we_i,
    input  logic        [31:0] waddr_i,         // instruction memory or scratchpad
    input  logic        [31:0] wdata_i,
    output clock_use_e         use_o,
    output rvfi_t              rvfi_o,
    output trap_e              trap_o,
    output logic        [31:0] trap_pc_o
);
  localparam int FillW = $clog2(ImemBytes) - 4;
  logic fetch_en, fetch_early, fetch_valid, fetch_error, fill_valid, fill_ready, fill_rsp_valid;
  logic [31:0] fetch_addr, fetch_data;
  logic [FillW-1:0] fill_addr;
  logic [127:0] fill_rsp_data;
  logic req_valid, req_ready, rsp_valid, store_error;
  logic [31:0] pc, next_addr, announced;
  mem_req_t req;
  region_t  region;
  mem_rsp_t rsp;

  // Networks, interrupts and wake-ups are driven and watched by the test that has them.
  logic [NetCount-1:0] net_in_valid, net_in_ready, net_out_valid, net_out_ready;
  logic [NetCount-1:0][31:0] net_in_data;
  logic [31:0] net_out_data;
  logic [IrqCount-1:0] irq;
  logic wake, sleeping;
  initial begin
    {net_in_valid, net_in_data, net_out_ready, irq} = '0;
    wake = 1'b1;
  end
  wire unused_networks = &{1'b0, sleeping, net_in_ready, net_out_valid, net_out_data};

  core #(
      .Rvfi(1),
      .History(History),
      .Ahead(Ahead),
      .Networks(Networks),
      .LoadUse(LoadUse),
      .Mispredict(Mispredict)
  ) dut (
      .clk_i,
      .rst_i,
      .hart_id_i      (6'd9),
      .run_i,
      .watchdog_i,
      .wake_i         (wake),
      .sleeping_o     (sleeping),
      .fetch_en_o     (fetch_en),
      .fetch_early_o  (fetch_early),
      .fetch_addr_o   (fetch_addr),
      .fetch_valid_i  (fetch_valid),
      .fetch_data_i   (fetch_data),
      .fetch_error_i  (fetch_error),
      .req_valid_o    (req_valid),
      .req_o          (req),
      .req_region_o   (region),
      .next_addr_o    (next_addr),
      .req_ready_i    (req_ready),
      .rsp_valid_i    (rsp_valid),
      .rsp_i          (rsp),
      .store_error_i  (store_error),
      .net_in_valid_i (net_in_valid),
      .net_in_data_i  (net_in_data),
      .net_in_ready_o (net_in_ready),
      .net_out_valid_o(net_out_valid),
      .net_out_data_o (net_out_data),
      .net_out_ready_i(net_out_ready),
      .irq_i          (irq),
      .use_o,
      .pc_o           (pc),
      .rvfi_o,
      .trap_o,
      .trap_pc_o
  );
  icache #(
      .ImemBytes(ImemBytes),
      .Bytes(CacheBytes)
  ) i_cache (
      .clk_i,
      .rst_i,
      .clear_i         (!run_i),
      .fetch_en_i      (fetch_en),
      .fetch_early_i   (fetch_early),
      .fetch_addr_i    (fetch_addr),
      .fetch_valid_o   (fetch_valid),
      .fetch_data_o    (fetch_data),
      .fetch_error_o   (fetch_error),
      .fill_valid_o    (fill_valid),
      .fill_addr_o     (fill_addr),
      .fill_ready_i    (fill_ready),
      .fill_rsp_valid_i(fill_rsp_valid),
      .fill_rsp_data_i (fill_rsp_data)
  );
  imem #(
      .Bytes(ImemBytes),
      .Ports(1)
  ) i_instructions (
      .clk_i,
      .rst_i,
      .req_valid_i(fill_valid),
      .req_addr_i (fill_addr),
      .req_ready_o(fill_ready),
      .rsp_valid_o(fill_rsp_valid),
      .rsp_data_o (fill_rsp_data),
      .we_i       (we_i && waddr_i < 32'(ImemBytes)),
      .waddr_i    (waddr_i[FillW+3:2]),
      .wdata_i
  );

  logic [31:0] mem[16384];
  logic others, pending;
  logic [31:0] asked, answered;  // where the last request, and the last answer, went
  int unsigned delay;
  wire known = req.addr[31:16] == ScratchBase[31:16] || req.addr[31:16] == DeviceBase[31:16];
  wire slow = req.addr[31:16] == DeviceBase[31:16];
  assign req_ready = req_valid && !others;

  /// How many ones follow one another from bit `at`.
  function automatic logic [31:0] ones(input logic [31:0] word, input logic [4:0] at);
    ones = 0;
    for (int i = 0; i < 32; i++) if (i == 32'(at) + ones && word[i]) ones++;
  endfunction

  /// What the instruction's result is made of: the old word, or what was counted.
  function automatic logic [31:0] answer(input mem_op_e op, input logic [4:0] first,
                                         input logic [31:0] old);
    return op == Update ? ones(old, first) : old;
  endfunction

  /// What the word becomes.
  function automatic logic [31:0] done(input mem_op_e op, input logic [31:0] wdata,
                                       input logic [3:0] be, input logic [31:0] old);
    case (op)
      Load: return old;
      Store: begin
        for (int i = 0; i < 4; i++) old[i*8+:8] = be[i] ? wdata[i*8+:8] : old[i*8+:8];
        return old;
      end
      Swap: return wdata;
      Add:  return old + wdata;
      And:  return old & wdata;
      Or:   return old | wdata;
      Xor:  return old ^ wdata;
      Min:  return $signed(old) < $signed(wdata) ? old : wdata;
      Max:  return $signed(old) > $signed(wdata) ? old : wdata;
      MinU: return old < wdata ? old : wdata;
      MaxU: return old > wdata ? old : wdata;
      default: begin
        for (int i = 0; i < 32; i++)
        done[i] = old[i] && !(i >= 32'(wdata[4:0]) && i < 32'(wdata[4:0]) + ones(old, wdata[4:0]));
      end
    endcase
  endfunction

  always @(posedge clk_i) begin
    others <= $urandom_range(99) < wait_percent_i;
    store_error <= req_ready && req.op == Store && !known;
    rsp_valid <= 0;
    if (pending && delay != 0) delay <= delay - 1;
    if (pending && delay == 0) begin
      rsp_valid <= 1;
      pending   <= 0;
    end
    if (req_valid && req_ready && !rst_i) begin
      if (pending) $fatal(1, "FAIL: a request before the answer");
      if (req.addr[1:0] != 0) $fatal(1, "FAIL: not a word");
      if (region != region_of(req.op, req.addr, 262144, 4096, 32 * 1024 * 1024))
        $fatal(1, "FAIL: another region than that of %h", req.addr);
      rsp.error <= !known;
      if (known) mem[req.addr[15:2]] <= done(req.op, req.wdata, req.be, mem[req.addr[15:2]]);
      rsp.rdata <= mem[req.addr[15:2]];
      if (req.op != Store) begin
        rsp_valid <= !slow;
        pending   <= slow;
        delay     <= $urandom_range(4);
      end
    end
    announced <= next_addr;
    if (!rst_i) begin
      if (!Ahead && req_valid && req.addr != announced)
        $fatal(1, "FAIL: a request of %h, not of %h as it was said", req.addr, announced);
      if (Ahead && !req_valid && region != '0) $fatal(1, "FAIL: a region without a request");
      if (rvfi_o.valid && !rvfi_o.trap && rvfi_o.mem_rmask != 0 && answered != rvfi_o.mem_addr)
        $fatal(1, "FAIL: a load of %h got the word of %h", rvfi_o.mem_addr, answered);
      if (rvfi_o.valid && pc != rvfi_o.pc_rdata) $fatal(1, "FAIL: pc_o is not what retires");
    end
    if (rsp_valid) answered <= asked;
    if (req_valid && req_ready) asked <= req.addr;
    if (we_i && waddr_i[31:16] == ScratchBase[31:16]) mem[waddr_i[15:2]] <= wdata_i;
    if (rst_i) begin
      rsp_valid <= 0;
      pending   <= 0;
    end
  end
endmodule
`endif
