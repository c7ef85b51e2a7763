// SPDX-License-Identifier: Apache-2.0
`include "parts_tb.svh"
`include "tb.svh"
`include "stream.svh"
/// frame_access: random words stored and loaded from the core's clock, at several ratios of the clocks, with a bus that is
/// busy now and then; loads see all stores before them, bytes not stored stay.
module frame_access_tb
  import core_pkg::*, dram_pkg::*;
;
  `TB_BEGIN
  `TB_TIMEOUT(200_000)
  logic mem_clk = 0, mem_rst = 1;
  int unsigned half = 2;  // ns
  always #(half * 1ns) mem_clk = !mem_clk;
  initial begin
    repeat (20) @(posedge mem_clk);
    mem_rst <= 0;
  end

  logic valid = 0, ready, rsp_valid;
  mem_req_t r;
  mem_rsp_t rsp;
  `STREAM_ON(bus_req_t, req, mem_clk, mem_rst)
  `STREAM_ON(bus_wdata_t, wdata, mem_clk, mem_rst)
  `STREAM_ON(logic [127:0], rdata, mem_clk, mem_rst)
  frame_access dut (
      .clk_i      (clk),
      .rst_i      (rst),
      .valid_i    (valid),
      .req_i      (r),
      .ready_o    (ready),
      .rsp_valid_o(rsp_valid),
      .rsp_o      (rsp),
      .mem_clk_i  (mem_clk),
      .mem_rst_i  (mem_rst),
      .req,
      .wdata,
      .rdata
  );

  // The bus: requests in order, data before or after them.
  logic [127:0] cells[16];
  bus_req_t requests[$];
  bus_wdata_t data[$];
  int unsigned bus_percent = 50, store_percent = 50, stores = 0, loads = 0;
  `STREAM_SINK(bus_req_t, i_req, req, bus_percent)
  `STREAM_SINK(bus_wdata_t, i_wdata, wdata, bus_percent)
  always @(posedge mem_clk) begin
    if (req.valid && req.ready) begin
      `CHECK(req.data.beats == 1 && req.data.addr[20:4] == '0, "wrong burst")
      requests.push_back(req.data);
    end
    if (wdata.valid && wdata.ready) data.push_back(wdata.data);
    rdata.valid <= 0;
    if (requests.size() != 0 && $urandom_range(99) < bus_percent) begin
      if (!requests[0].write) begin
        rdata.valid <= 1;
        rdata.data  <= cells[requests[0].addr[3:0]];
        void'(requests.pop_front());
      end else if (data.size() != 0) begin
        for (int i = 0; i < 16; i++)
        if (data[0].strb[i]) cells[requests[0].addr[3:0]][8*i+:8] = data[0].data[8*i+:8];
        void'(data.pop_front());
        void'(requests.pop_front());
      end
    end
  end

  logic [31:0] words[64];
  logic open = 0;
  int unsigned waits = 0;  // clocks of the load that is open
  logic [31:0] want;
  always @(posedge clk) begin
    waits = open ? waits + 1 : 0;
    `CHECK(waits < 1000, "a load without an answer")
    if (rsp_valid && !rst) begin
      `CHECK(open, "an answer to nothing")
      `CHECK(rsp.rdata === want && !rsp.error, $sformatf("%h, not %h", rsp.rdata, want))
      open = 0;
    end
    if (valid && ready) begin
      if (r.op == Store) begin
        for (int i = 0; i < 4; i++) if (r.be[i]) words[r.addr[7:2]][8*i+:8] = r.wdata[8*i+:8];
        stores++;
      end else begin
        want = words[r.addr[7:2]];
        open = 1;
        loads++;
      end
    end
    // As with the crossbar, what is offered may change.
    valid <= !rst && !open && $urandom_range(99) < 80;
    r <= '{
        op: $urandom_range(99) < store_percent ? Store : Load,
        addr: FrameBase + 4 * $urandom_range(63),
        wdata: $urandom(),
        be: 4'($urandom())
    };
  end

  // A reset of both sides in the middle of it: what was under way is forgotten, and the next access is whole.
  task automatic reset();
    rst <= 1;
    mem_rst <= 1;
    repeat (20) @(posedge clk);
    requests.delete();
    data.delete();
    open = 0;
    foreach (cells[i]) {words[4*i+3], words[4*i+2], words[4*i+1], words[4*i]} = cells[i];
    rst <= 0;
    mem_rst <= 0;
  endtask

  initial begin
    foreach (words[i]) words[i] = i * 32'h1020304;
    foreach (cells[i]) cells[i] = {words[4*i+3], words[4*i+2], words[4*i+1], words[4*i]};
    @(negedge rst);
    store_percent = 100;  // the first access has data that must come
    repeat (20) @(posedge clk);
    for (int i = 0; i < 40; i++) begin
      bus_percent   = $urandom_range(1) == 0 ? 100 : $urandom_range(100, 5);
      store_percent = $urandom_range(100);
      half          = $urandom_range(9, 1);
      repeat (1000) @(posedge clk);
    end
    half = 3;
    for (int i = 0; i < 40; i++) begin
      bus_percent   = $urandom_range(60, 20);
      store_percent = 100;
      repeat ($urandom_range(12, 1)) @(posedge clk);
      reset();
      repeat (8) @(posedge clk);
      store_percent = 50;
      repeat (1100) @(posedge clk);
    end
    `CHECK(stores > 3000 && loads > 1000, $sformatf("only %0d stores, %0d loads", stores, loads))
    `TB_PASS
  end
endmodule
