// SPDX-License-Identifier: Apache-2.0
`include "dma_host_tb.svh"
`include "parts_tb.svh"
`include "tb.svh"
`include "stream.svh"
/// desc_queues as a driver and two ports use it: rings set up through registers, doorbells, descriptors asked for, given back
/// by commits. Every descriptor once, in order and at the port that asked; a stop is an error and ends its queue. With `Room`
/// (desc_queues_room_tb) slots have one or two descriptors, and port 1 takes none while port 0 gets all of its own. With `Push`
/// (desc_queues_push_tb) the driver writes descriptors of idle queues to the device, at times with a packet behind: it is told of
/// pushes that they served or were in vain, and of a packet what place it is in, which is used again once it is given back.
module desc_queues_tb
  import queue_pkg::*, dma_pkg::*;
#(
    parameter int Room = 0,
    parameter bit Push = 1'b0
);
  `TB_BEGIN
  `TB_TIMEOUT(400_000)
  localparam int Queues = 4;
  localparam int Ports = 2;  // port p has the queues p and p + 2
  localparam int LogSize = 4;
  localparam int Ring = 1 << LogSize;
  localparam int LogBlock = Room == 0 ? 0 : 1;
  localparam int Slots = 600;  // of each queue
  localparam ram_sel_t Sel = 6'd3;

  reg_if regs ();
  `STREAM_ON(fetch_req_t, request[Ports], clk, rst)
  `STREAM_ON(fetch_granted_t, granted[Ports], clk, rst)
  `STREAM_ON(fetch_desc_t, desc[Ports], clk, rst)
  `STREAM_ON(commit_t, commit[Ports], clk, rst)
  `STREAM_ON(queue_error_t, stop[Ports], clk, rst)
  `STREAM_ON(queue_t, doorbell, clk, rst)
  `STREAM_ON(queue_error_t, error, clk, rst)
  `STREAM_ON(port_t, order, clk, rst)
  `STREAM_ON(dma_req_t, dma, clk, rst)
  dma_status_t status;
  ram_write_t ram;
  pcie_pkg::line_write_t line = '0;
  push_store_t store;
  logic [Ports-1:0][PushEntries-1:0] release_push = '0;
  port_tells_t [Ports-1:0] ports;
  logic [1:0] pushes;
  logic [31:0] slots;
  desc_queues #(
      .Queues(Queues),
      .Ports(Ports),
      .Slots(32),
      .Jobs(64),
      .Room(Room),
      .Push(Push),
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
      .order,
      .doorbell,
      .error,
      .slots_o(slots),
      .line_i(line),
      .push_store_o(store),
      .ports_i(ports),
      .pushes_o(pushes),
      .dma,
      .status_i(status),
      .ram_i(ram)
  );

  int unsigned made[Queues], asked[Queues], seen[Queues], freed[Queues];
  int unsigned part[Queues];  // descriptors seen of the next slot
  int unsigned
      pushed = 0,
      lines = 0,
      served = 0,
      in_vain = 0,
      packets = 0;  // packets that were pushed and came
  desc_t was_pushed[Queues];  // the last one
  bit [PushEntries-1:0] held = '0;  // by a packet that has not been given back
  bit holder[PushEntries];  // the port that has it
  int unsigned doorbells = 0, errors = 0, most_slots = 0;
  queue_error_t last_error;
  bit running = 0;
  assign doorbell.ready = 1'b1;
  assign error.ready = 1'b1;
  assign order.ready = 1'b1;
  always @(posedge clk)
    if (!rst) begin
      if (doorbell.valid) doorbells++;
      if (slots > most_slots) most_slots = slots;
      served += 32'(pushes[0]);
      in_vain += 32'(pushes[1]);
      `CHECK(served <= pushed && served + in_vain <= lines, "a push that nobody made")
      `CHECK(Push || !store.valid, "stored without a push")
      `CHECK(!store.valid || !held[store.entry], "stored over a packet that has not been sent")
      `CHECK(!order.valid, "an order of queues that are not shared")
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

  // Descriptors of a slot; a packet that has only one is ended by one of length 0.
  function automatic int unsigned parts(int unsigned n);
    return LogBlock == 0 || n % 3 == 0 ? 1 : 2;
  endfunction

  // Port 1 stands still from its 100th slot on until port 0 has got all.
  wire still = Room != 0 && seen[1] + seen[3] >= 100 && seen[0] + seen[2] < 2 * Slots;

  `DMA_HOST_READ(i_host, Sel, dma, 80, 1, 40, 0)

  // The ports: each asks for one of its queues, and commits each descriptor a while after it came.
  for (genvar p = 0; p < Ports; p++) begin : g_port
    bit waiting = 0;  // for a grant
    assign granted[p].ready = 1'b1;
    `STREAM_SOURCE(fetch_req_t, i_request, request[p], 25)
    `STREAM_SINK(fetch_desc_t, i_desc, desc[p], p == 1 && still ? 0 : 75)
    `STREAM_SOURCE(commit_t, i_commit, commit[p], 50)
    `STREAM_SOURCE(queue_error_t, i_stop, stop[p], 100)
    always @(posedge clk) begin
      int unsigned q;
      if (!rst) begin
        if (!waiting && running) begin
          q = 32'(p) + 2 * $urandom_range(1);
          i_request.queue.push_back(
              '{port: port_t'(p),
              req: '{queue: queue_t'(q), max: 4'($urandom_range(8, 1)), granules: '0}});
          waiting = 1;
        end
        if (granted[p].valid) begin
          `CHECK(granted[p].data.port == port_t'(p) && waiting, "a grant of another port")
          waiting = 0;
          asked[granted[p].data.granted.queue[1:0]] += int'(granted[p].data.granted.count);
        end
        if (desc[p].valid && desc[p].ready && desc[p].data.beat.status == DeqOk) begin
          q = int'(desc[p].data.beat.queue);
          `CHECK(q % 2 == p, "a descriptor of another port")
          `CHECK(desc[p].data.beat.last == (part[q] + 1 == parts(seen[q])), "not a whole slot")
          `CHECK(desc[p].data.beat.result == DmaOk, "an error")
          `CHECK(desc[p].data.beat.cq == queue_t'(20 + q), "of another completion queue")
          if (desc[p].data.beat.desc.slot != '0 || desc[p].data.beat.inlined) begin
            `CHECK(desc[p].data.beat.desc == was_pushed[q] && was_pushed[q].slot == 16'(seen[q]),
                   "not what was pushed for this slot")
            `CHECK(desc[p].data.beat.inlined == was_pushed[q].inlined, "a packet, or none")
            if (was_pushed[q].inlined) begin
              held[desc[p].data.beat.entry] = 1;
              packets++;
              holder[desc[p].data.beat.entry] = 1'(p);
            end
          end else
            `CHECK(desc[p].data.beat.desc == made_of(q, seen[q] + 1000 * part[q]),
                   "lost, doubled or reordered")
          part[q]++;
          if (desc[p].data.beat.last) begin
            seen[q]++;
            part[q] = 0;
            i_commit.queue.push_back('{queue: queue_t'(q), count: 4'd1});
          end
        end
      end
    end
  end

  // A packet is sent a while after it came.
  always @(posedge clk) begin
    release_push <= '0;
    for (int e = 0; e < PushEntries; e++)
    if (held[e] && $urandom_range(19) == 0) begin
      release_push[holder[e]][e] <= 1;
      held[e] = 0;
    end
  end
  always_comb begin
    ports = '0;
    for (int p = 0; p < Ports; p++) ports[p].release_push = release_push[p];
  end

  // Of the places for descriptors all that are not in use.
  logic [Ports-1:0] back;
  for (genvar p = 0; p < Ports; p++) begin : g_back
    if (Room != 0) begin : g_room
      assign back[p] = 32'(dut.g_room.i_room.g_port[p].free_q) == Room;
    end else begin : g_none
      assign back[p] = 1'b1;
    end
  end

  logic [31:0] rdata;  // of the last access
  `REG_MASTER(24, i_regs, regs)
  task automatic access (bit writes, int unsigned q, logic [2:0] word, logic [31:0] value);
    i_regs.access(writes, 24'(q * 32 + 32'(word) * 4), value, '1);
    rdata = i_regs.rdata;
  endtask

  task automatic consumer(int unsigned q);
    access (0, q, QRegConsumer, '0);
    freed[q] = int'(rdata[15:0]);
  endtask

  // The descriptor of slot `n`, which is the only one of its queue.
  task automatic push(int unsigned q, int unsigned n);
    desc_t d;
    d = made_of(q, n);
    d.slot = 16'(n);
    d.inlined = $urandom_range(1) == 0;
    if (d.inlined) d.len = 16'($urandom_range(PushBytes, 1));
    was_pushed[q] = d;
    pushed++;
    for (int unsigned l = 0, left = d.inlined ? (32'(d.len) + 31) / 16 : 1; left != 0; l++) begin
      lines++;
      line <= '{
          valid: 1,
          line: 26'(4 * q + l),
          pieces: left > 4 ? 3'd4 : 3'(left),
          data: l == 0 ? 512'(d) : '0
      };
      left -= left > 4 ? 4 : left;
      @(posedge clk);
      line <= '0;
      repeat ($urandom_range(3)) @(posedge clk);
    end
  endtask

  // The driver.
  initial begin
    @(negedge rst);
    `CHECK(slots == 0, "slots after a reset")
    repeat (Queues + 4) @(posedge clk);
    for (int unsigned q = 0; q < Queues; q++) begin
      logic [63:0] at;
      at = base(q);
      access (1, q, QRegBaseLo, at[31:0]);
      access (1, q, QRegBaseHi, at[63:32]);
      access (1, q, QRegCq, 32'(20 + q));
      access (1, q, QRegControl, 32'(LogBlock << 8) | 32'(LogSize << 4) | 32'd1);
    end
    running = 1;
    while (freed.sum() < Queues * Slots) begin
      int unsigned q, n;
      q = $urandom_range(Queues - 1);
      n = $urandom_range(6);
      if (Push && $urandom_range(1) == 0) begin  // one, of an idle queue
        n = 1;
        while (freed[q] < made[q]) consumer(q);
      end
      for (int unsigned i = 0; i < n && made[q] - freed[q] < Ring && made[q] < Slots; i++) begin
        for (int unsigned s = 0; s < 1 << LogBlock; s++)
        i_host.memory[base(q)/16+64'((made[q]%Ring)<<LogBlock)+64'(s)] = s < parts(made[q]) ?
            made_of(q, made[q] + 1000 * s) : '0;
        made[q]++;
        if (Push && n == 1 && freed[q] == made[q] - 1) push(q, freed[q]);
      end
      access (1, q, QRegProducer, made[q]);
      consumer(q);
      `CHECK(freed[q] <= seen[q] && seen[q] <= asked[q] && asked[q] <= made[q],
             "more than there are")
    end
    for (int q = 0; q < Queues; q++) `CHECK(seen[q] == Slots, "not every descriptor")
    repeat (200) @(posedge clk);
    if (Push) begin
      repeat (300) @(posedge clk);  // until the last one is too old
      `CHECK(10 * (served + in_vain) > 9 * pushed,
             "pushes of which nothing is told")  // of two in a clock once
      `CHECK(held == '0, "packets are not back")
      `CHECK(served > 100 && in_vain > 0 && packets > 50, "too few pushes")
    end
    `CHECK(slots == 0 && most_slots > (Push ? 1 : 4) && most_slots <= Queues * Ring,
           "slots handed out")
    `CHECK(doorbells > 100 && errors == 0, "doorbells or errors")
    running = 0;
    repeat (500) @(posedge clk);
    `CHECK(back == '1, "places for descriptors are not back")
    g_port[1].i_stop.queue.push_back('{queue: queue_t'(3), code: ErrNullAddress});
    repeat (50) @(posedge clk);
    `CHECK(errors == 1 && last_error == '{queue: 16'd3, code: ErrNullAddress}, "no error")
    access (0, 3, QRegControl, '0);
    `CHECK(rdata[1] && rdata[23:16] == ErrNullAddress, "not stopped")
    `TB_PASS
  end
endmodule
