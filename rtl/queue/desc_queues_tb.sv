// SPDX-License-Identifier: Apache-2.0
`include "parts_tb.svh"
`include "tb.svh"
`include "stream.svh"
/// desc_queues as a driver and two ports use it: rings set up through registers, doorbells, descriptors asked for, given back
/// by commits. Every descriptor once, in order and at the port that asked; a stop is an error and ends its queue.
module desc_queues_tb;
  import queue_pkg::*;
  import dma_pkg::*;
  `TB_BEGIN
  `TB_TIMEOUT(400_000)
  localparam int Queues = 4;
  localparam int Ports = 2;  // port p has the queues p and p + 2
  localparam int LogSize = 4;
  localparam int Ring = 1 << LogSize;
  localparam int Slots = 600;  // of each queue
  localparam ram_sel_t Sel = 5'd3;

  reg_if regs ();
  `STREAM_ON(fetch_req_t, request[Ports], clk, rst)
  `STREAM_ON(fetch_granted_t, granted[Ports], clk, rst)
  `STREAM_ON(fetch_desc_t, desc[Ports], clk, rst)
  `STREAM_ON(commit_t, commit[Ports], clk, rst)
  `STREAM_ON(queue_error_t, stop[Ports], clk, rst)
  `STREAM_ON(queue_t, doorbell, clk, rst)
  `STREAM_ON(queue_error_t, error, clk, rst)
  `STREAM_ON(dma_req_t, dma, clk, rst)
  dma_status_t status = '0;
  ram_write_t  ram = '0;
  desc_queues #(
      .Queues(Queues),
      .Ports(Ports),
      .Slots(32),
      .Jobs(64),
      .Sel(Sel)
  ) dut (
      .clk_i(clk),
      .rst_i(rst),
      .regs,
      .request,
      .granted,
      .desc,
      .commit,
      .stop,
      .doorbell,
      .error,
      .dma,
      .status_i(status),
      .ram_i(ram)
  );

  int unsigned made[Queues], asked[Queues], seen[Queues], freed[Queues];
  int unsigned doorbells = 0, errors = 0;
  queue_error_t last_error;
  bit running = 0;
  assign doorbell.ready = 1'b1;
  assign error.ready = 1'b1;
  always @(posedge clk)
    if (!rst) begin
      if (doorbell.valid) doorbells++;
      if (error.valid) begin
        errors++;
        last_error = error.data;
      end
    end

  function automatic logic [63:0] base(int unsigned q);
    return 64'h1_0000_0000 * 64'(q + 1) + 64'(q * 4096);
  endfunction

  function automatic desc_t made_of(int unsigned q, int unsigned n);
    desc_t d;
    d = '0;
    d.len = 16'(n % 1500 + 1);
    d.addr = 64'(q) << 32 | 64'(n);
    return d;
  endfunction

  // Host memory.
  logic [127:0] host[longint unsigned];

  // The DMA read engine: one read at a time.
  logic dma_ready = 0;
  assign dma.ready = dma_ready;
  initial begin
    dma_req_t  r;
    ram_addr_t a;
    forever begin
      @(negedge clk);
      dma_ready = 1;
      #1;
      if (!dma.valid || rst) continue;
      r = dma.data;
      @(negedge clk);
      dma_ready = 0;
      repeat ($urandom_range(10)) @(negedge clk);
      for (int i = 0; i < int'(r.len >> 4); i++) begin
        a = r.ram_addr + ram_addr_t'(16 * i);
        ram.sel = Sel;
        ram.valid = '0;
        ram.valid[a[6:4]] = 1'b1;
        ram.strb = '1;
        ram.row[a[6:4]] = a[RamAddrW-1:7];
        ram.data[a[6:4]] = host[r.host_addr+64'(16*i)];
        @(negedge clk);
      end
      ram = '0;
      @(negedge clk);
      status = '{valid: 1'b1, sel: Sel, result: DmaOk};
      @(negedge clk);
      status = '0;
    end
  end

  // The ports: each asks for one of its queues, and commits each descriptor a while after it came.
  bit stop_now = 0;
  for (genvar p = 0; p < Ports; p++) begin : g_port
    queue_t to_commit[$];
    bit waiting = 0;  // for a grant
    assign granted[p].ready = 1'b1;
    always @(posedge clk) begin
      int unsigned q;
      if (rst) begin
        request[p].valid <= 0;
        desc[p].ready <= 0;
        commit[p].valid <= 0;
        stop[p].valid <= 0;
      end else begin
        if (request[p].valid && request[p].ready) request[p].valid <= 0;
        if (!waiting && running && $urandom_range(3) == 0) begin
          q = 32'(p) + 2 * $urandom_range(1);
          request[p].valid <= 1;
          request[p].data <= '{
              port: port_t'(p),
              req: '{queue: queue_t'(q), max: 4'($urandom_range(8, 1))}
          };
          waiting = 1;
        end
        if (granted[p].valid) begin
          `CHECK(granted[p].data.port == port_t'(p) && waiting, "a grant of another port")
          waiting = 0;
          asked[granted[p].data.granted.queue[1:0]] += int'(granted[p].data.granted.count);
        end
        desc[p].ready <= $urandom_range(3) != 0;
        if (desc[p].valid && desc[p].ready && desc[p].data.beat.status == DeqOk) begin
          q = int'(desc[p].data.beat.queue);
          `CHECK(q % 2 == p, "a descriptor of another port")
          `CHECK(desc[p].data.beat.last && desc[p].data.beat.result == DmaOk, "not a whole slot")
          `CHECK(desc[p].data.beat.cq == queue_t'(20 + q), "of another completion queue")
          `CHECK(desc[p].data.beat.desc == made_of(q, seen[q]), "lost, doubled or reordered")
          seen[q]++;
          to_commit.push_back(queue_t'(q));
        end
        if (commit[p].valid && commit[p].ready) commit[p].valid <= 0;
        if ((!commit[p].valid || commit[p].ready) && to_commit.size() > 0 && $urandom_range(
                1
            ) == 0) begin
          commit[p].valid <= 1;
          commit[p].data  <= '{queue: to_commit.pop_front(), count: 4'd1};
        end
        if (stop[p].valid && stop[p].ready) stop[p].valid <= 0;
        if (p == 1 && stop_now) begin
          stop[p].valid <= 1;
          stop[p].data  <= '{queue: queue_t'(3), code: ErrNullAddress};
          stop_now = 0;
        end
      end
    end
  end

  logic [31:0] rdata;  // of the last access
  `REG_MASTER(24, i_regs, regs)
  task automatic access (bit writes, int unsigned q, logic [2:0] word, logic [31:0] value);
    i_regs.access(writes, 24'(q * 32 + 32'(word) * 4), value, '1);
    rdata = i_regs.rdata;
  endtask

  // The driver.
  initial begin
    @(negedge rst);
    repeat (Queues + 4) @(posedge clk);
    for (int unsigned q = 0; q < Queues; q++) begin
      logic [63:0] at;
      at = base(q);
      access (1, q, QRegBaseLo, at[31:0]);
      access (1, q, QRegBaseHi, at[63:32]);
      access (1, q, QRegCq, 32'(20 + q));
      access (1, q, QRegControl, 32'(LogSize << 4) | 32'd1);
    end
    running = 1;
    while (freed.sum() < Queues * Slots) begin
      int unsigned q, n;
      q = $urandom_range(Queues - 1);
      n = $urandom_range(6);
      for (int unsigned i = 0; i < n && made[q] - freed[q] < Ring && made[q] < Slots; i++) begin
        host[base(q)+64'(16*(made[q]%Ring))] = made_of(q, made[q]);
        made[q]++;
      end
      access (1, q, QRegProducer, made[q]);
      access (0, q, QRegConsumer, '0);
      freed[q] = int'(rdata[15:0]);
      `CHECK(freed[q] <= seen[q] && seen[q] <= asked[q] && asked[q] <= made[q],
             "more than there are")
    end
    for (int q = 0; q < Queues; q++) `CHECK(seen[q] == Slots, "not every descriptor")
    `CHECK(doorbells > 100 && errors == 0, "doorbells or errors")
    stop_now = 1;
    repeat (50) @(posedge clk);
    `CHECK(errors == 1 && last_error == '{queue: 16'd3, code: ErrNullAddress}, "no error")
    access (0, 3, QRegControl, '0);
    `CHECK(rdata[1] && rdata[23:16] == ErrNullAddress, "not stopped")
    `TB_PASS
  end
endmodule
