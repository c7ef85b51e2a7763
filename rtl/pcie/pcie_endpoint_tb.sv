// SPDX-License-Identifier: Apache-2.0
`include "tb.svh"
`include "completion_tb.svh"
`include "stream.svh"
/// pcie_endpoint with dma_engines behind it, as a NIC has them: register accesses, reads and writes of two DMA clients and a
/// second posted source at once, against a host that is ready at random. What each block does in detail its own test says.
module pcie_endpoint_tb;
  import pcie_pkg::*;
  import pins_pkg::*;
  import dma_pkg::*;
  `TB_BEGIN
  `TB_TIMEOUT(400_000)
  localparam int Clients = 2;
  localparam int Rounds = 300;
  localparam int PostedBase = 'hf000;  // of what the second posted source writes

  pcie_in_t pins_in = '{default: '0};
  pcie_out_t pins_out;
  pcie_cfg_t cfg;
  pcie_pins_out_t all_out;
  assign pins_out = all_out.ideal;
  logic unused_up, unused_rst, foreign, unsupported, dropped;
  reg_if #(.AddrW(12)) regs ();
  `STREAM_ON(tlp_beat_t, request, clk, rst)
  `STREAM_ON(tlp_beat_t, completion, clk, rst)
  `STREAM_ON(tlp_beat_t, read_tlp, clk, rst)
  `STREAM_ON(tlp_beat_t, tx[2], clk, rst)
  `STREAM_ON(dma_req_t, dma_read[Clients], clk, rst)
  `STREAM_ON(dma_req_t, dma_write[Clients], clk, rst)
  ram_write_t ram_write;
  ram_read_t ram_read, ram_read_q;
  ram_row_t ram_row;
  dma_status_t read_status, write_status;
  dma_read_count_t read_count;
  pcie_endpoint #(
      .AddrW (12),
      .Posted(2)
  ) i_endpoint (
      .clk_i(clk),
      .rst_i(rst),
      .pins_i('{ideal: pins_in, usplus: '{default: '0}, ptile: '{default: '0}}),
      .pins_o(all_out),
      .cfg_o(cfg),
      .up_o(unused_up),
      .rst_o(unused_rst),
      .virtual_done_i('0),
      .req(request),
      .access(request),
      .regs(regs),
      .cpl(completion),
      .read(read_tlp),
      .tx(tx),
      .foreign_o(foreign),
      .unsupported_o(unsupported),
      .dropped_o(dropped)
  );
  dma_engines #(
      .Reads (Clients),
      .Writes(Clients),
      .Tags  (32)
  ) i_dma (
      .clk_i(clk),
      .rst_i(rst),
      .forget_i(1'b1),
      .cfg_i(cfg),
      .timeout_cycles_i('0),
      .overtaken_cycles_i('0),
      .read_tlp(read_tlp),
      .cpl(completion),
      .write_tlp(tx[0]),
      .read(dma_read),
      .ram_write_o(ram_write),
      .read_status_o(read_status),
      .read_count_o(read_count),
      .write(dma_write),
      .ram_read_o(ram_read),
      .ram_row_i(ram_row),
      .write_status_o(write_status)
  );

  // ---- The device: registers, the RAM of each client, a source of posted words.
  logic [31:0] register[1024];
  logic [7:0] ram[Clients][4096];
  always @(posedge clk) begin
    regs.ack   <= regs.req && !rst;
    regs.rdata <= register[regs.addr[11:2]];
    if (regs.req && regs.write && regs.wstrb == '1) register[regs.addr[11:2]] <= regs.wdata;
    for (int s = 0; s < Segs; s++)
    for (int b = 0; b < SegBytes; b++)
    if (ram_write.valid[s] && ram_write.strb[s][b])
      ram[ram_write.sel[0]][12'(ram_write.row[s])*RowBytes+s*SegBytes+b] <= ram_write.data[s][8*b+:8];
    ram_read_q <= ram_read;
    for (int s = 0; s < Segs; s++)
    for (int b = 0; b < SegBytes; b++)
    ram_row[s][8*b+:8] <= ram[ram_read_q.sel[0]][12'(ram_read_q.row[s])*RowBytes+s*SegBytes+b];
  end

  logic read_valid[Clients] = '{default: 0}, write_valid[Clients] = '{default: 0};
  logic read_ready[Clients], write_ready[Clients], posted_valid = 0;
  dma_req_t read_req[Clients], write_req[Clients];
  tlp_beat_t posted = '0;
  for (genvar c = 0; c < Clients; c++) begin : g_client
    assign dma_read[c].valid = read_valid[c];
    assign dma_read[c].data = read_req[c];
    assign read_ready[c] = dma_read[c].ready;
    assign dma_write[c].valid = write_valid[c];
    assign dma_write[c].data = write_req[c];
    assign write_ready[c] = dma_write[c].ready;
  end
  assign tx[1].valid = posted_valid;
  assign tx[1].data  = posted;

  int unsigned reads_done[Clients] = '{default: 0}, writes_done[Clients] = '{default: 0};
  int unsigned foreigns = 0, refused = 0;
  always @(posedge clk)
    if (!rst) begin
      if (read_status.valid) begin
        `CHECK(read_status.result == DmaOk, "a read failed")
        reads_done[read_status.sel[0]]++;
      end
      if (write_status.valid) writes_done[write_status.sel[0]]++;
      `CHECK(cfg.functions == '0, "virtual functions of a card that has none")
      foreigns += int'(foreign);
      refused += int'(unsupported) + int'(dropped);
    end

  // ---- The host: memory, what is on its way to the device, the answers it waits for.
  logic [7:0] memory[65536];
  tlp_beat_t to_device[$];
  logic [31:0] want_word[$];
  int unsigned refusals = 0, beat_at = 0;
  mem4_hdr_t hdr;

  function automatic int address(mem4_hdr_t h);
    return int'(h.dw0.fmt_type[5] ? h.addr[15:0] : h.addr[47:32]) & 'hfffc;
  endfunction

  /// A beat from the device.
  task automatic take(tlp_beat_t beat);
    cpl_hdr_t c;
    logic [3:0] be;
    if (beat.sop) hdr = beat.hdr;
    if (beat.sop) beat_at = 0;
    c = hdr;
    if (hdr.dw0.fmt_type == CplD) begin
      `CHECK(want_word.size() > 0 && beat.data[31:0] == want_word.pop_front(), "wrong register")
    end else if (hdr.dw0.fmt_type == Cpl) begin
      `CHECK(c.status == StatusUR, "wrong status")
      refusals++;
    end else begin
      `CHECK(hdr.dw0.fmt_type inside {MWr3, MWr4}, "a packet of another kind")
      for (int i = 0; i < 64; i++) begin
        if (beat_at + i / 4 < int'(hdr.dw0.length)) begin
          be = beat_at + i / 4 == 0 ? hdr.first_be :
              beat_at + i / 4 == int'(hdr.dw0.length) - 1 ? hdr.last_be : '1;
          if (be[i%4]) memory[16'(address(hdr)+4*beat_at+i)] = beat.data[8*i+:8];
        end
      end
    end
    beat_at += 16;
  endtask

  /// A read request from the device is answered by one completion.
  task automatic answer(mem4_hdr_t h);
    cpl_hdr_t  c = whole_answer(h, address(h));
    tlp_beat_t b;
    int        dws = int'(h.dw0.length);
    for (int at = 0; at < dws; at += 16) begin
      b = '{sop: at == 0, eop: at + 16 >= dws, hdr: c, data: '0};
      for (int i = 0; i < 64; i++) b.data[8*i+:8] = memory[16'(address(h)+4*at+i)];
      to_device.push_back(b);
    end
  endtask

  always @(negedge clk) begin
    pins_in.tx_ready   = $urandom_range(3) != 0;
    pins_in.read_ready = $urandom_range(1) != 0;
    if (!rst && !pins_in.rx_valid && to_device.size() > 0 && $urandom_range(3) != 0) begin
      pins_in.rx_valid = 1;
      pins_in.rx_hdr   = to_device[0].hdr;
      pins_in.rx_data  = 1024'(to_device[0].data);
      pins_in.rx_sop   = to_device[0].sop;
      pins_in.rx_eop   = to_device[0].eop;
    end
  end
  always @(posedge clk)
    if (!rst) begin
      if (pins_out.tx_valid && pins_in.tx_ready)
        take('{sop: pins_out.tx_sop, eop: pins_out.tx_eop, hdr: pins_out.tx_hdr,
             data: pins_out.tx_data[511:0]});
      if (pins_out.read_valid && pins_in.read_ready) answer(pins_out.read_hdr);
      if (pins_in.rx_valid && pins_out.rx_ready) begin
        void'(to_device.pop_front());
        pins_in.rx_valid <= 0;
      end
    end

  /// A request of the host for registers.
  task automatic access (logic [7:0] fmt_type, logic [11:0] addr, int dws, logic [31:0] value);
    mem3_hdr_t h;
    h = '0;
    h.dw0.fmt_type = fmt_type;
    h.dw0.length = 10'(dws);
    h.first_be = '1;
    h.last_be = dws > 1 ? '1 : '0;
    h.addr = 32'(addr);
    to_device.push_back('{sop: 1, eop: 1, hdr: h, data: 512'(value)});
  endtask

  /// Reads host memory into the RAM, compares, writes it elsewhere, compares.
  task automatic client(int c);
    int from, to, at, len;
    for (int n = 0; n < Rounds; n++) begin
      len  = $urandom_range(400, 1);
      from = $urandom_range('h3000);
      to   = 'h4000 + c * 'h4000 + $urandom_range('h3000);
      at   = $urandom_range(3000);
      @(negedge clk);
      read_req[c]   = '{host_addr: 64'(from), ram_addr: 20'(at), len: 16'(len), default: '0};
      read_valid[c] = 1;
      do @(posedge clk); while (!read_ready[c]);
      @(negedge clk);
      read_valid[c] = 0;
      while (reads_done[c] <= n) @(negedge clk);
      for (int i = 0; i < len; i++) `CHECK(ram[c][at+i] == memory[from+i], "a byte read is wrong")
      write_req[c]   = '{host_addr: 64'(to), ram_addr: 20'(at), len: 16'(len), default: '0};
      write_valid[c] = 1;
      do @(posedge clk); while (!write_ready[c]);
      @(negedge clk);
      write_valid[c] = 0;
      while (writes_done[c] <= n) @(negedge clk);
      repeat (60) @(negedge clk);  // for what is between the engine and the host
      for (int i = 0; i < len; i++)
        `CHECK(memory[to+i] == memory[from+i], "a byte written is wrong")
    end
  endtask

  task automatic accesses();
    logic [31:0] value;
    for (int n = 0; n < Rounds; n++) begin
      value = $urandom;
      access (MWr3, 12'(4 * (n % 1024)), 1, value);
      access (MRd3, 12'(4 * (n % 1024)), 1, '0);
      want_word.push_back(value);
      if (n % 50 == 0) access (MRd3, '0, 20, '0);  // more than the registers answer
      if (n % 30 == 0) access (8'h02, '0, 1, '0);  // an I/O read
      repeat ($urandom_range(60)) @(negedge clk);
    end
    while (want_word.size() > 0) @(negedge clk);
  endtask

  task automatic posts();
    mem3_hdr_t h;
    for (int n = 0; n < Rounds; n++) begin
      repeat ($urandom_range(40)) @(negedge clk);
      h = '0;
      h.dw0.fmt_type = MWr3;
      h.dw0.length = 10'd1;
      h.first_be = '1;
      h.addr = 32'(PostedBase + 4 * n);
      posted = '{sop: 1, eop: 1, hdr: h, data: 512'(n + 1)};
      posted_valid = 1;
      do @(posedge clk); while (!i_endpoint.tx[1].ready);
      @(negedge clk);
      posted_valid = 0;
    end
  endtask

  int unsigned ended = 0;
  for (genvar c = 0; c < Clients; c++) begin : g_run
    initial begin
      @(negedge rst);
      client(c);
      ended++;
    end
  end
  initial begin
    @(negedge rst);
    accesses();
    ended++;
  end
  initial begin
    @(negedge rst);
    posts();
    ended++;
  end
  initial begin
    for (int i = 0; i < 65536; i++) memory[i] = 8'($urandom);
    pins_in.bus_master = 1;
    pins_in.requester_id = 16'h0100;
    pins_in.extended_tag = 1;
    pins_in.p_inf = 1;
    pins_in.np_inf = 1;
    pins_in.cpl_inf = 1;
    while (ended != 4) @(negedge clk);
    repeat (100) @(negedge clk);
    for (int n = 0; n < Rounds; n++)
      `CHECK({memory[PostedBase+4*n+1], memory[PostedBase+4*n]} == 16'(n + 1),
             "a posted word is lost")
    `CHECK(foreigns == 10, "packets of other kinds are counted")
    `CHECK(refused == 6 && refusals == 6, "requests refused are counted and answered")
    `TB_PASS
  end
endmodule
