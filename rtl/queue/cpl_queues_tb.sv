// SPDX-License-Identifier: Apache-2.0
`include "dma_host_tb.svh"
`include "parts_tb.svh"
`include "tb.svh"
`include "stream.svh"
/// cpl_queues as a driver uses it: rings set up through registers, records found by their phase after a notification, the
/// consumer pointer written back with the queue armed again. Every record once and in order, none behind a notification that
/// does not come.
module cpl_queues_tb;
  import queue_pkg::*;
  import dma_pkg::*;
  `TB_BEGIN
  `TB_TIMEOUT(400_000)
  localparam int Queues = 4;
  localparam int LogSize = 4;
  localparam int Ring = 1 << LogSize;
  localparam int Records = 3000;
  localparam ram_sel_t Sel = 6'd3;

  reg_if regs ();
  `STREAM_ON(record_t, record, clk, rst)
  `STREAM_ON(dma_req_t, dma, clk, rst)
  `STREAM_ON(notify_t, notify, clk, rst)
  `STREAM_ON(queue_error_t, error, clk, rst)
  dma_status_t status;
  ram_read_t ram_read;
  ram_row_t ram_row;
  cpl_write_events_t events;
  cpl_queues #(
      .Queues(Queues),
      .Lines(8),
      .Sel(Sel)
  ) dut (
      .clk_i(clk),
      .rst_i(rst),
      .regs,
      .max_delay_i(16'd60),
      .record,
      .dma,
      .status_i(status),
      .ram_i(ram_read),
      .ram_o(ram_row),
      .notify,
      .error,
      .events_o(events)
  );

  logic notify_ready = 0;
  assign notify.ready = notify_ready;
  assign error.ready  = 1'b1;

  int unsigned sent[Queues], read[Queues], freed[Queues];
  int unsigned notified = 0;
  bit running = 0;

  // Records, as long as the queue's ring has room for them.
  `STREAM_SOURCE(record_t, i_record, record, 100)
  always @(posedge clk) begin
    automatic int unsigned q = $urandom_range(Queues - 1);
    if (running && i_record.queue.size() == 0 && sent[q] - freed[q] < Ring && sent[q] < Records &&
        $urandom_range(
            3
        ) != 0) begin
      i_record.queue.push_back('{cq: queue_t'(q), record: {32'(q), 32'hcafe, 32'h0, 32'(sent[q])}
                               });
      sent[q]++;
    end
  end

  `DMA_HOST_WRITE(i_host, Sel, dma, 80, 1, 40, 0)

  logic [31:0] rdata;  // of the last access
  `REG_MASTER(24, i_regs, regs)
  task automatic access (bit writes, int unsigned q, logic [2:0] word, logic [31:0] value);
    i_regs.access(writes, 24'(q * 32 + 32'(word) * 4), value, '1);
    rdata = i_regs.rdata;
  endtask

  function automatic logic [63:0] base(int unsigned q);
    return 64'h1_0000_0000 * 64'(q) + 64'(q * 4096);
  endfunction

  always @(posedge clk) begin
    `CHECK(!(error.valid && !rst), "an error where there is none")
    `CHECK(!events.lost || rst, "a record was lost")
  end

  // The driver.
  initial begin
    notify_ready = 0;
    @(negedge rst);
    repeat (Queues + 4) @(posedge clk);
    for (int unsigned q = 0; q < Queues; q++) begin
      logic [63:0] at;
      at = base(q);
      access (1, q, CqRegBaseLo, at[31:0]);
      access (1, q, CqRegBaseHi, at[63:32]);
      access (1, q, CqRegTarget, 32'(10 + q));
      access (1, q, CqRegControl, 32'(LogSize << 4) | 32'd1);
      access (1, q, CqRegConsumer, 32'h8000_0000);
      for (int i = 0; i < Ring; i++) i_host.memory[at/16+64'(i)] = '0;
    end
    running = 1;
    while (read.sum() < Queues * Records) begin
      int unsigned q;
      notify_t told;
      @(negedge clk);
      notify_ready = 1;
      #1;
      while (!notify.valid) begin
        @(negedge clk);
        #1;
      end
      told = notify.data;
      @(negedge clk);
      notify_ready = 0;
      q = int'(told.cq);
      `CHECK(q < Queues && told.target == queue_t'(10 + q), "notified of another queue")
      notified++;
      repeat ($urandom_range(100)) @(negedge clk);
      begin
        int unsigned found;
        logic [127:0] r;
        found = 0;
        forever begin
          r = i_host.memory[base(q)/16+64'(read[q]%Ring)];
          if (r[31] != (((read[q] / Ring) & 1) == 0)) break;
          `CHECK(r[30:0] == 31'(read[q]) && r[127:96] == 32'(q), "lost, doubled or reordered")
          read[q]++;
          found++;
        end
        `CHECK(found != 0, "notified of nothing")
      end
      // What has landed is told to the queue manager a few clocks later.
      repeat (40) @(negedge clk);
      access (1, q, CqRegConsumer, 32'h8000_0000 | 32'(16'(read[q])));
      freed[q] = read[q];
    end
    for (int unsigned q = 0; q < Queues; q++) begin
      access (0, q, CqRegProducer, '0);
      `CHECK(rdata == Records, "another count of records written")
    end
    `CHECK(notified > 100, "hardly ever notified")
    `TB_PASS
  end
endmodule
