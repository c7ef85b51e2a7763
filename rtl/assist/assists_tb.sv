// SPDX-License-Identifier: Apache-2.0
`include "parts_tb.svh"
`include "tb.svh"
`include "stream.svh"
/// The four assists with crossbar, scratchpad, DMA engines, frame bus and controller, between a host that answers at once and
/// a memory: each assist against arrays of what every byte must be (all of scratchpad, host and the frame memory in use, so
/// that neighbours are checked too), with random lengths, alignments, refused commands, bad frames; what is promised at the
/// moment `progress` moves; then rates: small commands, 10G both ways with 1518-byte and with 64-byte frames.
module assists_tb
  import core_pkg::*, dma_pkg::*, pcie_pkg::*, eth_pkg::*, dram_pkg::*;
;
  `TB_BEGIN
  `TB_TIMEOUT(400_000)

  // Core 166.7, memory 500, host 125, MAC 156.25 MHz.
  logic cclk = 0, mclk = 0, hclk = 0, xclk = 0;
  always #3 cclk = !cclk;
  always #4 mclk = !mclk;
  always #4 hclk = !hclk;
  always #3.2 xclk = !xclk;

  localparam int ScratchBytes = 262144;
  localparam int Masters = 4;
  localparam int Clients = 5;
  localparam int RingLog = 8;
  localparam int Ring = 2 ** RingLog;

  logic [Masters-1:0] req_valid, req_ready, rsp_valid, store_error, waits;
  mem_req_t mem_req[Masters];
  mem_rsp_t mem_rsp[Masters];
  logic [3:0] bank_valid;
  mem_req_t bank_req[4];
  logic [31:0] bank_rdata[4];
  logic dev_valid, frame_valid;
  mem_req_t dev_req, frame_req;
  logic [1:0] dev_master;
  xbar #(
      .Masters(Masters),
      .Banks(4),
      .ScratchBytes(ScratchBytes)
  ) i_xbar (
      .clk_i(cclk),
      .rst_i(rst),
      .req_valid_i(req_valid),
      .req_i(mem_req),
      .req_ready_o(req_ready),
      .rsp_valid_o(rsp_valid),
      .rsp_o(mem_rsp),
      .store_error_o(store_error),
      .wait_o(waits),
      .bank_valid_o(bank_valid),
      .bank_req_o(bank_req),
      .bank_rdata_i(bank_rdata),
      .dev_valid_o(dev_valid),
      .dev_req_o(dev_req),
      .dev_master_o(dev_master),
      .dev_ready_i(1'b1),
      .dev_rsp_valid_i(1'b0),
      .dev_rsp_i('0),
      .frame_valid_o(frame_valid),
      .frame_req_o(frame_req),
      .frame_ready_i(1'b1),
      .frame_rsp_valid_i(1'b0),
      .frame_rsp_i('0)
  );
  for (genvar b = 0; b < 4; b++) begin : g_bank
    bank #(
        .Words(ScratchBytes / 16)
    ) i_bank (
        .clk_i  (cclk),
        .rst_i  (rst),
        .valid_i(bank_valid[b]),
        .req_i  (bank_req[b]),
        .rdata_o(bank_rdata[b])
    );
  end
  always @(posedge cclk)
    if (!rst)
      `CHECK(!dev_valid && !frame_valid && store_error == '0, "access outside the scratchpad")

  // A word of the scratchpad, by byte offset.
  function automatic logic [31:0] get_word(int unsigned at);
    case (at[3:2])
      0: return g_bank[0].i_bank.i_ram.mem[at>>4];
      1: return g_bank[1].i_bank.i_ram.mem[at>>4];
      2: return g_bank[2].i_bank.i_ram.mem[at>>4];
      default: return g_bank[3].i_bank.i_ram.mem[at>>4];
    endcase
  endfunction
  function automatic void put_word(int unsigned at, logic [31:0] value);
    case (at[3:2])
      0: g_bank[0].i_bank.i_ram.mem[at>>4] = value;
      1: g_bank[1].i_bank.i_ram.mem[at>>4] = value;
      2: g_bank[2].i_bank.i_ram.mem[at>>4] = value;
      default: g_bank[3].i_bank.i_ram.mem[at>>4] = value;
    endcase
  endfunction

  // ---------------------------------------------------------------- frame memory
  `STREAM_ON(bus_req_t, bus_req[Clients], mclk, rst)
  `STREAM_ON(bus_row_t, bus_wdata[Clients], mclk, rst)
  `STREAM_ON(row_t, bus_rdata[Clients], mclk, rst)
  `STREAM_ON(bus_req_t, rx_req, mclk, rst)
  `STREAM_ON(bus_wdata_t, rx_wdata, mclk, rst)
  `STREAM_ON(bus_req_t, tx_req, mclk, rst)
  `STREAM_ON(logic [127:0], tx_rdata, mclk, rst)
  logic [DramSlots-1:0] dq_valid;
  logic [DramSlots-1:0][127:0] dq_in;
  dram_ca_t [DramSlots-1:0] ca;
  dram_dq_t [DramSlots-1:0] dq;
  write_gearbox i_rx_gearbox (
      .clk_i(mclk),
      .rst_i(rst),
      .req(rx_req),
      .wdata(rx_wdata),
      .row_req(bus_req[1]),
      .row_wdata(bus_wdata[1])
  );
  read_gearbox i_tx_gearbox (
      .clk_i(mclk),
      .rst_i(rst),
      .req(tx_req),
      .rdata(tx_rdata),
      .row_req(bus_req[3]),
      .row_rdata(bus_rdata[3])
  );
  frame_memory #(
      .Clients(Clients)
  ) i_frame_memory (
      .clk_i(mclk),
      .rst_i(rst),
      .req(bus_req),
      .wdata(bus_wdata),
      .rdata(bus_rdata),
      .moves_o(),
      .ca_o(ca),
      .dq_valid_o(dq_valid),
      .dq_o(dq),
      .dq_i(dq_in)
  );
  // Its times are checked in sdram_ctrl_tb.
  logic [127:0] cells[2**21];
  int row[8];
  int unsigned write_cell[4], read_cell[8];
  always @(posedge mclk)
    for (int s = 0; s < DramSlots; s++) begin
      if (dq_valid[s] && !rst)
        for (int i = 0; i < 16; i++)
        if (!dq[s].mask[i]) cells[write_cell[2]][8*i+:8] = dq[s].data[8*i+:8];
      for (int i = 3; i > 0; i--) write_cell[i] = write_cell[i-1];
      for (int i = 7; i > 0; i--) read_cell[i] = read_cell[i-1];
      if (ca[s].cmd == Activate) row[ca[s].bank] = int'(ca[s].addr);
      write_cell[0] = {row[ca[s].bank], ca[s].bank ^ 3'(row[ca[s].bank]), ca[s].addr[6:0]};
      read_cell[0]  = write_cell[0];
      dq_in[s] <= cells[read_cell[7][20:0]];
    end
  for (genvar i = 0; i < 2; i++) begin : g_one_way
    assign bus_rdata[i].ready   = 1'b1;
    assign bus_wdata[i+2].valid = 1'b0;
    assign bus_wdata[i+2].data  = '0;
  end
  assign bus_req[4].valid = 1'b0;
  assign bus_req[4].data = '0;
  assign bus_wdata[4].valid = 1'b0;
  assign bus_wdata[4].data = '0;
  assign bus_rdata[4].ready = 1'b1;

  // ---------------------------------------------------------------- DMA engines and host
  pcie_cfg_t cfg;
  assign cfg = '{
          requester_id: 16'h100,
          max_payload: 3'd1,
          max_read_request: 3'd2,
          bus_master: 1'b1,
          extended_tag: 1'b1,
          wide_tag: 1'b0,
          relaxed_ordering: 1'b1,
          msix_enable: 1'b0,
          msix_mask: 1'b0,
          functions: '0
      };
  `STREAM_ON(dma_req_t, read_request, hclk, rst)
  `STREAM_ON(dma_req_t, write_request, hclk, rst)
  `STREAM_ON(tlp_beat_t, read_tlp, hclk, rst)
  `STREAM_ON(tlp_beat_t, write_tlp, hclk, rst)
  `STREAM_ON(tlp_beat_t, cpl, hclk, rst)
  ram_write_t ram_write;
  ram_read_t  ram_read;
  ram_row_t   ram_row;
  dma_status_t read_status, write_status;
  dma_read_count_t read_count;
  dma_read #(
      .Tags(64)
  ) i_dma_read (
      .clk_i(hclk),
      .rst_i(rst),
      .forget_i(1'b1),
      .cfg_i(cfg),
      .timeout_cycles_i('0),
      .overtaken_cycles_i('0),
      .req(read_request),
      .tlp(read_tlp),
      .cpl,
      .ram_o(ram_write),
      .status_o(read_status),
      .count_o(read_count)
  );
  dma_write i_dma_write (
      .clk_i(hclk),
      .rst_i(rst),
      .cfg_i(cfg),
      .req(write_request),
      .status_o(write_status),
      .ram_o(ram_read),
      .ram_i(ram_row),
      .tlp(write_tlp)
  );

  localparam int HostBytes = 2 ** 20;
  localparam logic [63:0] HostBase = 64'h0000_0012_3450_0000;
  logic [7:0] host[HostBytes];
  typedef struct {
    mem4_hdr_t   hdr;
    int unsigned at;   // when it may be answered
  } read_t;
  read_t reads[$];
  bit refused_at[int unsigned];  // by the place in host memory
  int unsigned
      hnow = 0,
      latency = 60,
      write_percent = 100,
      refused = 0,
      refuse_percent = 0,
      read_percent = 100;
  `STREAM_SINK(tlp_beat_t, i_reads, read_tlp, read_percent)
  `STREAM_SOURCE(tlp_beat_t, i_cpl, cpl, 100)
  `STREAM_SINK(tlp_beat_t, i_writes, write_tlp, write_percent)
  logic [31:0] write_at;
  int write_left;
  logic [3:0] write_first, write_last;
  function automatic void complete(mem4_hdr_t h);
    logic [31:0]
        at = 32'(h.addr - HostBase), last = at + 4 * (h.dw0.length == 0 ? 1024 : 32'(h.dw0.length));
    cpl_hdr_t  hdr = '0;
    tlp_beat_t beat;
    hdr.dw0.fmt_type = CplD;
    hdr.dw0.length = h.dw0.length;
    hdr.requester_id = h.requester_id;
    hdr.tag = h.tag;
    hdr.lower_addr = {
      h.addr[6:2], h.first_be[0] ? 2'd0 : h.first_be[1] ? 2'd1 : h.first_be[2] ? 2'd2 : 2'd3
    };
    hdr.byte_count = 12'(last - at - 32'(hdr.lower_addr[1:0]));
    if (h.last_be != 0)
      hdr.byte_count -= h.last_be[3] ? 0 : h.last_be[2] ? 1 : h.last_be[1] ? 2 : 3;
    else hdr.byte_count -= h.first_be[3] ? 0 : h.first_be[2] ? 1 : h.first_be[1] ? 2 : 3;
    if ($urandom_range(99) < refuse_percent) begin
      hdr.dw0.fmt_type = Cpl;
      hdr.dw0.length = '0;
      hdr.status = StatusUR;
      last = at;
      refused++;
      refused_at[at] = 1;
    end
    beat = '{hdr: hdr, sop: 1'b1, default: '0};
    do begin
      for (int i = 0; i < 64; i++) beat.data[8*i+:8] = host[(at+32'(i))%HostBytes];
      at += 64;
      beat.eop = at >= last;
      i_cpl.queue.push_back(beat);
      beat.hdr = '0;
      beat.sop = 0;
    end while (!beat.eop);
  endfunction
  always @(posedge hclk) begin
    mem4_hdr_t h;
    hnow++;
    // Reads: one completion each.
    read_percent = reads.size() < 60 ? 100 : 0;
    if (read_tlp.valid && read_tlp.ready && !rst) begin
      `CHECK(read_tlp.data.hdr[127:120] == MRd4, "not a read request")
      reads.push_back('{hdr: read_tlp.data.hdr, at: hnow + latency});
    end
    if (i_cpl.queue.size() == 0 && reads.size() != 0 && reads[0].at <= hnow) begin
      h = reads[0].hdr;
      void'(reads.pop_front());
      complete(h);
    end
    // Writes.
    if (write_tlp.valid && write_tlp.ready && !rst) begin
      if (write_tlp.data.sop) begin
        h = write_tlp.data.hdr;
        `CHECK(h.dw0.fmt_type == MWr4, "not a memory write")
        write_at = 32'(h.addr - HostBase);
        write_left = int'(h.dw0.length);
        write_first = h.first_be;
        write_last = h.last_be;
      end
      for (int d = 0; d < 16 && write_left > 0; d++) begin
        logic [3:0] be;
        be = 4'hf;
        if (write_tlp.data.sop && d == 0) be = write_first;
        else if (write_left == 1) be = write_last;
        for (int i = 0; i < 4; i++)
        if (be[i]) host[write_at+32'(i)] = write_tlp.data.data[32*d+8*i+:8];
        write_at += 4;
        write_left--;
      end
      `CHECK(write_tlp.data.eop == (write_left == 0), "length of a write")
    end
  end

  // ---------------------------------------------------------------- assists
  localparam logic [31:0] RingAt[4] = '{32'h3_0000, 32'h3_1000, 32'h3_2000, 32'h3_3000};
  logic [31:0] producer[4], progress[4], freed;
  logic [3:0] bad;
  localparam logic [3:0][31:0] Fill = {32'hf111_0003, 32'hf111_0002, 32'hf111_0001, 32'hf111_0000};
  `STREAM_ON(assist_pkg::slot_t, lost, cclk, rst)
  assist_pkg::mac_skipped_t skipped;
  logic read_error, write_interrupt, rx_enable = 0, no_buffer;
  logic tx_valid, tx_ready = 0, rx_valid = 0;
  word_beat_t tx, rx;
  mac_rx_count_t rx_count;
  logic [3:0] rx_log = 4'd4;
  localparam logic [31:0] SlotBase = FrameBase + 32'h180_0000;
  assist_if assist[4] ();
  for (genvar a = 0; a < 4; a++) begin : g_assist
    assign assist[a].base = ScratchBase + RingAt[a];
    assign assist[a].log = a == 3 ? rx_log : 4'(RingLog);
    assign assist[a].producer = a == 3 ? freed : producer[a];
    assign progress[a] = assist[a].progress;
    assign bad[a] = assist[a].bad;
    assign req_valid[a] = assist[a].mem_valid;
    assign mem_req[a] = assist[a].mem_req;
    assign assist[a].mem_ready = req_ready[a];
    assign assist[a].mem_rsp_valid = rsp_valid[a];
    assign assist[a].mem_rsp = mem_rsp[a];
  end
  dma_read_assist i_read (
      .core_clk_i(cclk),
      .core_rst_i(rst),
      .cores(assist[0]),
      .fill_i(Fill),
      .lost,
      .host_clk_i(hclk),
      .host_rst_i(rst),
      .dma(read_request),
      .ram_i(ram_write),
      .status_i(read_status),
      .error_o(read_error),
      .mem_clk_i(mclk),
      .mem_rst_i(rst),
      .req(bus_req[0]),
      .wdata(bus_wdata[0])
  );
  dma_write_assist i_write (
      .core_clk_i(cclk),
      .core_rst_i(rst),
      .cores(assist[1]),
      .host_clk_i(hclk),
      .host_rst_i(rst),
      .dma(write_request),
      .ram_i(ram_read),
      .ram_o(ram_row),
      .status_i(write_status),
      .interrupt_o(write_interrupt),
      .mem_clk_i(mclk),
      .mem_rst_i(rst),
      .req(bus_req[2]),
      .rdata(bus_rdata[2])
  );
  mac_tx_assist i_tx (
      .core_clk_i(cclk),
      .core_rst_i(rst),
      .cores(assist[2]),
      .lost,
      .skipped_o(skipped),
      .mem_clk_i(mclk),
      .mem_rst_i(rst),
      .req(tx_req),
      .rdata(tx_rdata),
      .mac_clk_i(xclk),
      .mac_rst_i(rst),
      .tx_valid_o(tx_valid),
      .tx_ready_i(tx_ready),
      .tx_o(tx)
  );
  mac_rx_assist i_rx (
      .core_clk_i(cclk),
      .core_rst_i(rst),
      .cores(assist[3]),
      .slot_base_i(SlotBase),
      .enable_i(rx_enable),
      .mem_clk_i(mclk),
      .mem_rst_i(rst),
      .req(rx_req),
      .wdata(rx_wdata),
      .mac_clk_i(xclk),
      .mac_rst_i(rst),
      .rx_valid_i(rx_valid),
      .rx_i(rx),
      .count_o(rx_count),
      .no_buffer_o(no_buffer)
  );

  // ---------------------------------------------------------------- what memories must hold
  logic [7:0] want_scratch[ScratchBytes], want_host[HostBytes];
  localparam int FrameBytes = 2 ** 20;  // that commands use, from 0 on
  logic [7:0] want_frame[FrameBytes];
  function automatic logic [7:0] get_scratch(int unsigned at);
    return get_word(at & ~3) [8*(at%4)+:8];
  endfunction
  function automatic logic [7:0] get_frame(int unsigned at);
    return cells[at/16][8*(at%16)+:8];
  endfunction
  task automatic fill();
    for (int unsigned i = 0; i < 'h30000; i += 4) put_word(i, $urandom());
    for (int unsigned i = 0; i < FrameBytes / 16; i++)
      cells[i] = {$urandom(), $urandom(), $urandom(), $urandom()};
    for (int unsigned i = 0; i < HostBytes; i++) host[i] = 8'($urandom());
    for (int unsigned i = 0; i < 'h30000; i++) want_scratch[i] = get_scratch(i);
    for (int unsigned i = 0; i < FrameBytes; i++) want_frame[i] = get_frame(i);
    for (int unsigned i = 0; i < HostBytes; i++) want_host[i] = host[i];
  endtask
  task automatic compare();
    repeat (100) @(posedge cclk);
    for (int unsigned i = 0; i < 'h30000; i++)
      `CHECK(want_scratch[i] == get_scratch(i), $sformatf(
             "scratchpad %h: %h, not %h", i, get_scratch(i), want_scratch[i]))
    for (int unsigned i = 0; i < FrameBytes; i++)
      `CHECK(want_frame[i] == get_frame(i), $sformatf(
             "frame memory %h: %h, not %h", i, get_frame(i), want_frame[i]))
    for (int unsigned i = 0; i < HostBytes; i++)
      `CHECK(want_host[i] == host[i], $sformatf("host %h: %h, not %h", i, host[i], want_host[i]))
  endtask

  // An address that is refused with this length: in neither memory, or over the end of one.
  function automatic logic [31:0] wrong_address(int unsigned len);
    case ($urandom_range(
        5
    ))
      0: return ScratchBase + 32'(ScratchBytes) - len + 1;
      1: return ScratchBase + 32'(ScratchBytes);
      2: return FrameBase + 2 ** FrameAddrW - len + 1;
      3: return FrameBase + 2 ** FrameAddrW;
      4: return ($urandom_range(1) == 0 ? ScratchBase : FrameBase) - 1;
      default: return 32'h7000_0000;
    endcase
  endfunction

  // Commands. `kind` 0 frame memory, 1 scratchpad, 2 refused.
  typedef struct {
    int kind;
    int unsigned host_at, local_at, len;
    bit irq;
  } command_t;
  command_t given[2][$];  // not yet done
  int unsigned bad_given = 0, bad_seen = 0, irq_given = 0, irq_seen = 0, errors_seen = 0;
  function automatic void give(int unsigned a, command_t c);
    int unsigned at;
    logic [31:0] local_addr;
    at = RingAt[a] + (producer[a] % Ring) * 16;
    local_addr = c.kind == 1 ? ScratchBase + c.local_at : c.kind == 0 ? FrameBase + c.local_at : wrong_address(
        c.len);
    put_word(at, 32'(HostBase) + c.host_at);
    put_word(at + 4, HostBase[63:32]);
    put_word(at + 8, local_addr);
    put_word(at + 12, {15'd0, c.irq, 16'(c.len)});
    producer[a] = producer[a] + 1;
    given[a].push_back(c);
    if (c.kind == 2) bad_given++;
    else if (c.irq && a == 1) irq_given++;
  endfunction

  int unsigned done[4];
  bit checking = 1;
  always @(posedge cclk) begin
    command_t c;
    for (int a = 0; a < 2; a++) begin
      while (!rst && done[a] != progress[a]) begin
        c = given[a].pop_front();
        done[a]++;
        // What has been promised: scratchpad and host are as they must be; the frame memory as seen through its bus.
        if (c.kind == 1 && a == 0 && checking)
          for (int unsigned i = 0; i < c.len; i++)
            `CHECK(get_scratch(c.local_at + i) == want_scratch[c.local_at+i],
                   "read into the scratchpad is not done")
        if (c.kind != 2 && a == 1 && checking)
          for (int unsigned i = 0; i < c.len; i++)
            `CHECK(host[c.host_at+i] == want_host[c.host_at+i], "write to the host is not done")
      end
    end
    if (!rst) bad_seen += $countones(bad);
  end
  always @(posedge hclk) begin
    if (!rst) begin
      irq_seen += 32'(write_interrupt);
      errors_seen += 32'(read_error);
    end
  end

  // A random command whose destination is new: read or write moves on by its length and a gap.
  int unsigned next_host, next_frame, next_scratch;
  function automatic command_t random_command(int unsigned a);
    command_t c;
    int unsigned gap;
    c.kind = $urandom_range(9) == 0 ? 2 : $urandom_range(2) == 0 ? 1 : 0;
    c.irq  = $urandom_range(3) == 0;
    case ($urandom_range(
        5
    ))
      0: c.len = $urandom_range(2048, 1);
      1: c.len = $urandom_range(2048, 2030);
      2: c.len = 42;
      default: c.len = $urandom_range(140, 1);
    endcase
    gap = $urandom_range(20);
    c.host_at = $urandom_range(HostBytes - 4096);
    if (c.kind == 1) begin
      if (c.len > 500) c.len = $urandom_range(500, 1);
      c.local_at = $urandom_range('h30000 - 4096);
    end else c.local_at = $urandom_range(FrameBytes - 4096);
    if (a == 0) begin
      if (c.kind == 1) begin
        c.local_at = next_scratch + gap;
        next_scratch += gap + c.len;
        if (next_scratch > 'h2f000) c.kind = 2;
      end else if (c.kind == 0) begin
        c.local_at = next_frame + gap;
        next_frame += gap + c.len;
      end
    end else if (c.kind != 2) begin
      c.host_at = next_host + gap;
      next_host += gap + c.len;
    end
    for (int unsigned i = 0; i < c.len; i++) begin
      if (a == 0 && c.kind == 1) want_scratch[c.local_at+i] = want_host[c.host_at+i];
      if (a == 0 && c.kind == 0) want_frame[c.local_at+i] = want_host[c.host_at+i];
      if (a == 1 && c.kind != 2)
        want_host[c.host_at+i] = c.kind == 1 ? want_scratch[c.local_at+i] : want_frame[c.local_at+i];
    end
    if (c.kind == 2 && $urandom_range(1) == 0) c.len = $urandom_range(1) == 0 ? 0 : 2049;
    return c;
  endfunction
  task automatic random_dma(int unsigned a, int unsigned n);
    next_host = 0;
    next_frame = 0;
    next_scratch = 0;
    for (int unsigned i = 0; i < n; i++) begin
      while (producer[a] - progress[a] >= Ring - 4) @(posedge cclk);
      repeat ($urandom_range(3) == 0 ? $urandom_range(60) : 0) @(posedge cclk);
      give(a, random_command(a));
    end
    while (progress[a] != producer[a]) @(posedge cclk);
    compare();
  endtask

  // ---------------------------------------------------------------- MAC transmit
  typedef struct {int unsigned at, len;} frame_t;
  frame_t tx_given[$];
  int unsigned tx_pos = 0, tx_gap = 0, tx_frames = 0, tx_percent = 100;
  bit tx_inside = 0, tx_check = 1;
  function automatic void give_tx(int unsigned frame_at, int unsigned len);
    int unsigned at;
    at = RingAt[2] + (producer[2] % Ring) * 8;
    put_word(at, FrameBase + frame_at);
    put_word(at + 4, len);
    producer[2] = producer[2] + 1;
    if (len != 0 && len <= 1514) tx_given.push_back('{at: frame_at, len: len});
    else bad_given++;
  endfunction
  always @(posedge xclk) begin
    if (tx_gap != 0) tx_gap--;
    `CHECK(rst || tx_valid || !tx_inside, "a gap inside a frame")
    if (!rst && tx_valid && tx_ready) begin
      `CHECK(tx_given.size() != 0 && tx.sop == !tx_inside && !tx.err, "a frame nobody gave")
      if (tx.sop) tx_pos = 0;
      for (int unsigned i = 0; i < tx.len; i++) begin
        if (tx_check)
          `CHECK(
              tx.data[8*i+:8] == (tx_pos + i < tx_given[0].len ? want_frame[tx_given[0].at+tx_pos+i] : 8'h0),
              $sformatf("byte %0d of a frame of %0d", tx_pos + i, tx_given[0].len))
      end
      tx_pos += 32'(tx.len);
      `CHECK(tx.eop || tx.len == 8, "a short word inside a frame")
      tx_inside = !tx.eop;
      if (tx.eop) begin
        `CHECK(tx_pos == (tx_given[0].len < 60 ? 60 : tx_given[0].len), "length of a frame")
        void'(tx_given.pop_front());
        tx_frames++;
        // 1538 or 84 bytes a frame on the wire, in words of 8.
        tx_gap = 2 + 32'(tx_pos == 60 ? tx_frames % 2 == 0 : tx_frames % 4 == 0);
      end
    end
    tx_ready <= tx_gap == 0 && $urandom_range(99) < tx_percent;
  end
  // Progress never runs ahead of the wire.
  int unsigned tx_lost = 0, tx_empty = 0;
  always @(posedge cclk)
    if (!rst) begin
      tx_lost += 32'(skipped.lost);
      tx_empty += 32'(skipped.empty);
      `CHECK(progress[2] <= tx_frames + bad_given + tx_lost, "progress before the frame")
    end

  // ---------------------------------------------------------------- MAC receive
  typedef struct {
    logic [7:0] data[$];
    bit err;
  } rx_frame_t;
  logic [7:0] rx_want[$][$];
  int unsigned rx_lens[$];
  int unsigned rx_sent = 0, rx_good = 0, rx_dropped[5], rx_next = 0;
  bit rx_hold = 0;  // firmware does not give slots back
  always @(posedge xclk) begin
    if (!rst) begin
      rx_dropped[0] += 32'(rx_count.bad_fcs);
      rx_dropped[1] += 32'(rx_count.runt);
      rx_dropped[2] += 32'(rx_count.oversize);
      rx_dropped[3] += 32'(rx_count.fifo_full);
      rx_dropped[4] += 32'(no_buffer);
      rx_good += 32'(rx_count.good);
    end
  end
  logic [31:0] mix_q = 32'h1234_5678;
  // Byte i of frame n.
  function automatic logic [7:0] rx_byte(int unsigned n, int unsigned i);
    return 8'((n * 32'd2654435761) >> 13) ^ 8'((i * 32'd40503) >> 7) ^ 8'(i);
  endfunction
  task automatic send_rx(int unsigned n, int unsigned len, bit err, int unsigned gap);
    for (int unsigned i = 0; i < len; i += 8) begin
      rx_valid <= 1;
      for (int unsigned j = 0; j < 8; j++) rx.data[8*j+:8] <= rx_byte(n, i + j);
      rx.len <= 4'(len - i < 8 ? len - i : 8);
      rx.sop <= i == 0;
      rx.eop <= i + 8 >= len;
      rx.err <= err && i + 8 >= len;
      @(posedge xclk);
    end
    rx_valid <= 0;
    repeat (gap) @(posedge xclk);
  endtask
  // Firmware: what a descriptor names must be a frame that was sent, in order; those between were lost.
  typedef struct {int unsigned n, len;} sent_t;
  sent_t rx_list[$];
  int unsigned rx_lost = 0;
  bit rx_check = 1;
  localparam logic [7:0] Behind = 8'ha5;  // what is in a slot before a frame comes
  function automatic void mark(int unsigned slot);
    for (int i = 0; i < 128; i++) cells['h18_0000+slot*128+i] = {16{Behind}};
  endfunction
  task automatic take_rx();
    int unsigned at, slot, len;
    int unsigned until_count = progress[3];
    sent_t s;
    if (rx_check)
      repeat (100) @(posedge mclk);  // the way to the cells, behind the bursts taken before
    while (rx_next != until_count) begin
      slot = rx_next % (1 << rx_log);
      at   = RingAt[3] + slot * 8;
      repeat (2) @(posedge cclk);  // a bank writes its RAM a clock after it took the access
      `CHECK(get_word(at) == SlotBase + slot * 2048 && get_word(at + 4) >> 16 == 1, "descriptor")
      len = get_word(at + 4) & 'hffff;
      if (rx_check) begin
        do begin
          `CHECK(rx_list.size() != 0, "a frame that was not sent")
          s = rx_list.pop_front();
          rx_lost++;
        end while (s.len != len || get_frame(
            'h180_0000 + slot * 2048
        ) != rx_byte(
            s.n, 0
        ) || get_frame(
            'h180_0000 + slot * 2048 + 1
        ) != rx_byte(
            s.n, 1
        ) || get_frame(
            'h180_0000 + slot * 2048 + 9
        ) != rx_byte(
            s.n, 9
        ));
        rx_lost--;
        for (int unsigned i = 0; i < len; i++)
          `CHECK(get_frame('h180_0000 + slot * 2048 + i) == rx_byte(s.n, i), $sformatf(
                 "byte %0d of received frame %0d", i, s.n))
        for (int unsigned i = len; i < len + 32; i++)
          `CHECK(get_frame('h180_0000 + slot * 2048 + i) == Behind, "written behind a frame")
        mark(slot);
      end
      rx_next++;
    end
    if (!rx_hold) freed = rx_next;
  endtask
  always @(posedge cclk) if (!rst && (rx_next != progress[3] || freed != rx_next)) take_rx();

  // ---------------------------------------------------------------- rates
  real rate[4], started;
  int unsigned from[4];
  task automatic begin_rates();
    started = $realtime;
    for (int i = 0; i < 4; i++) from[i] = progress[i];
  endtask
  task automatic end_rates(string what);
    for (int i = 0; i < 4; i++)
      rate[i] = real'(progress[i] - from[i]) * 1000.0 / ($realtime - started);
    $display("%s: DMA read %.3f, DMA write %.3f, MAC transmit %.3f, MAC receive %.3f M/s", what,
             rate[0], rate[1], rate[2], rate[3]);
  endtask
  // Keeps the rings of chosen assists full of equal commands: kind, length of the two that take turns.
  int fill_kind[2];
  int unsigned fill_len[3][2];
  bit filling = 0;
  bit [2:0] fill_on = '0;
  always @(posedge cclk) begin
    if (filling) begin
      for (int a = 0; a < 2; a++) begin
        if (fill_on[a] && producer[a] - progress[a] < 200) begin
          command_t c;
          c.len = fill_len[a][producer[a]%2];
          c.kind = a == 1 && c.len == 16 ? 1 : fill_kind[a];
          c.irq = 0;
          c.host_at = (producer[a] % 256) * 2048;
          c.local_at = c.kind == 1 ? (producer[a] % 64) * 2048 : (producer[a] % 200) * 2048 + 32'(a) * 'h80000 % 'h80000;
          give(a, c);
        end
      end
      if (fill_on[2] && producer[2] - progress[2] < 200)
        give_tx((producer[2] % 300) * 2048 + 2, fill_len[2][0]);
    end
  end
  bit rx_stream = 0;
  int unsigned rx_stream_len = 1514;
  initial
    forever begin
      @(posedge xclk);
      while (rx_stream) begin
        // 1538 bytes of wire are 192.25 words.
        send_rx(rx_sent, rx_stream_len, 0,
                rx_stream_len == 60 ? (rx_sent % 2 == 0 ? 2 : 3) : (rx_sent % 4 == 0 ? 3 : 2));
        rx_sent++;
      end
    end

  initial begin
    int unsigned len, errors;
    for (int i = 0; i < 4; i++) begin
      producer[i] = 0;
      done[i] = 0;
    end
    for (int i = 0; i < 5; i++) rx_dropped[i] = 0;
    freed = 0;
    repeat (3) @(posedge cclk);  // a write that was under way before the reset is done
    fill();
    @(negedge rst);
    repeat (100) @(posedge cclk);

    // DMA, either way.
    random_dma(0, 500);
    `CHECK(bad_seen == bad_given && bad_given > 10, "refused commands")
    random_dma(1, 500);
    write_percent = 50;
    latency = 5;
    random_dma(1, 300);
    random_dma(0, 300);
    write_percent = 100;
    latency = 60;
    `CHECK(bad_seen == bad_given && irq_seen == irq_given && irq_given > 50,
           "refused commands, interrupts")

    // The last bytes of the scratchpad, from a host that holds what was random, and back to another place.
    checking = 0;
    give(0, '{kind: 1, host_at: 3, local_at: ScratchBytes - 61, len: 61, irq: 0});
    while (progress[0] != producer[0]) @(posedge cclk);
    give(1, '{kind: 1, host_at: HostBytes - 61, local_at: ScratchBytes - 61, len: 61, irq: 0});
    while (progress[1] != producer[1]) @(posedge cclk);
    for (int i = 0; i < 61; i++)
      `CHECK(get_scratch(ScratchBytes - 61 + i) == host[3+i] && host[HostBytes-61+i] == host[3+i],
             "the end of the scratchpad")
    repeat (2) @(posedge cclk);
    checking = 1;

    // MAC transmit.
    for (int i = 0; i < 400; i++) begin
      while (producer[2] - progress[2] >= Ring - 4) @(posedge cclk);
      repeat ($urandom_range(5) == 0 ? $urandom_range(400) : 0) @(posedge cclk);
      tx_percent = $urandom_range(20) == 0 ? $urandom_range(100, 20) : tx_percent;
      len = $urandom_range(2) == 0 ? $urandom_range(1514, 1) : $urandom_range(130, 1);
      if ($urandom_range(30) == 0) len = $urandom_range(1) == 0 ? 0 : 1515;
      give_tx($urandom_range(FrameBytes - 2048), len);
    end
    while (progress[2] != producer[2]) @(posedge cclk);
    `CHECK(tx_given.size() == 0 && bad_seen == bad_given, "frames not sent")
    tx_percent = 100;

    // MAC receive: good ones, bad ones, then no slots.
    for (int i = 0; i < 1 << rx_log; i++) mark(i);
    // While it is off each frame counts as one without room.
    @(posedge xclk);
    for (int i = 0; i < 5; i++) send_rx(0, 60 + i, 0, 3);
    repeat (20) @(posedge xclk);
    `CHECK(rx_dropped[3] + rx_dropped[4] == 5 && rx_good == 0 && progress[3] == 0,
           "frames while receive is off")
    rx_dropped[3] = 0;
    rx_dropped[4] = 0;
    rx_enable <= 1;
    repeat (50) @(posedge xclk);
    errors = 0;
    for (int i = 0; i < 400; i++) begin
      bit err;
      err = $urandom_range(9) == 0;
      len = $urandom_range(2) == 0 ? $urandom_range(1514, 60) : $urandom_range(130, 60);
      if ($urandom_range(9) == 0)
        len = $urandom_range(1) == 0 ? $urandom_range(59, 1) : $urandom_range(3000, 1515);
      if (!err && len >= 60 && len <= 1514) rx_list.push_back('{n: rx_sent, len: len});
      else errors++;
      send_rx(rx_sent, len, err, $urandom_range(20, 1));
      rx_sent++;
    end
    repeat (3000) @(posedge xclk);
    `CHECK(rx_list.size() == 0 && rx_lost == 0 && rx_good == 32'(rx_sent) - errors,
           "good frames were lost")
    `CHECK(
        rx_dropped[0] + rx_dropped[1] + rx_dropped[2] == errors && rx_dropped[3] == 0 && rx_dropped[4] == 0 &&
           rx_dropped[0] > 10 && rx_dropped[1] > 3 && rx_dropped[2] > 3,
        "bad frames miscounted")
    rx_hold = 1;
    for (int i = 0; i < 100; i++) begin
      rx_list.push_back('{n: rx_sent, len: 200});
      send_rx(rx_sent, 200, 0, 3);
      rx_sent++;
    end
    repeat (500) @(posedge xclk);
    `CHECK(rx_dropped[4] > 40 && rx_dropped[3] == 0, "no slots, but frames were not dropped for it")
    rx_hold = 0;
    repeat (3000) @(posedge xclk);
    `CHECK(rx_lost + rx_list.size() == rx_dropped[4] && progress[3] == rx_good,
           "frames lost without being counted")
    rx_list.delete();
    rx_check = 0;
    tx_check = 0;
    checking = 0;

    // Rates. What the memories hold does not matter any more.
    for (int k = 0; k < 2; k++) begin
      for (int a = 0; a < 2; a++) begin
        fill_kind = '{k, k};
        fill_len  = '{default: 64};
        fill_on   = 3'(1 << a);
        filling   = 1;
        #4us;
        begin_rates();
        #20us;
        end_rates(
            $sformatf(
            "64 bytes, %s, %s", a == 0 ? "read" : "write", k == 0 ? "frame memory" : "scratchpad"));
        filling = 0;
        `CHECK(rate[a] > 5.0, "small commands are too slow")
        #10us;
      end
    end
    rx_log = 4'd7;
    fill_kind = '{0, 0};
    fill_len = '{'{42, 1472}, '{1514, 16}, '{1514, 1514}};
    fill_on = '1;
    filling = 1;
    rx_stream = 1;
    #20us;
    begin_rates();
    #300us;
    end_rates("1518-byte frames, everything at once");
    `CHECK(
        rate[0] > 2 * 0.8127 && rate[1] > 2 * 0.8127 && rate[2] > 0.809 && rate[3] > 0.809 && rx_dropped[3] == 0,
        "below 10G line rate")
    rx_stream = 0;
    filling   = 0;
    while (progress[0] != producer[0] || progress[1] != producer[1] || progress[2] != producer[2])
    @(posedge cclk);
    errors = rx_dropped[3] + rx_dropped[4];
    fill_len[2] = '{60, 60};
    fill_on = 3'b100;
    rx_stream_len = 60;
    filling = 1;
    rx_stream = 1;
    #5us;
    begin_rates();
    #40us;
    end_rates("64-byte frames, MAC only");
    $display("lost %0d", rx_dropped[3] + rx_dropped[4] - errors);
    // Where slots and frames to send meet in the same banks of the memory, up to 4 % below the line.
    `CHECK(rate[2] > 14.1 && rate[3] > 14.1 && rx_dropped[3] + rx_dropped[4] == errors,
           "small frames are too slow")
    rx_stream = 0;
    filling   = 0;
    while (progress[2] != producer[2]) @(posedge cclk);

    // Reads that the host refuses are counted, and progress goes on: the scratchpad has the fill in place of their bytes, frames with a
    // part of them are not sent, all others are, and the same places are good for the next frame.
    fill();
    tx_check = 1;
    for (int round = 0; round < 3; round++) begin
      int unsigned lost_before, skipped_frames;
      errors  = errors_seen;
      refused = 0;
      refused_at.delete();
      refuse_percent = round == 2 ? 0 : 30;
      for (int unsigned i = 0; i < 100; i++) begin
        give(0,
             '{kind: 1, host_at: i * 256, local_at: i * 256 + 4 * (i % 5), len: 64, irq: 0});
        give(0, '{kind: 0, host_at: i * 256 + 64, local_at: i * 2048, len: 64, irq: 0});
        give(0, '{kind: 0, host_at: i * 256 + 128, local_at: i * 2048 + 64, len: 100, irq: 0});
        while (producer[0] - progress[0] > 200) @(posedge cclk);
      end
      while (progress[0] != producer[0]) @(posedge cclk);
      `CHECK(errors_seen - errors == refused && (refused > 20) == (round < 2),
             "refused reads miscounted")
      skipped_frames = 0;
      for (int unsigned i = 0; i < 100; i++) begin
        for (int unsigned j = 0; j < 64; j++) begin
          logic [31:0] at;
          at = i * 256 + 4 * (i % 5) + j;
          want_scratch[at] = refused_at.exists(i * 256) ? Fill[at[3:2]][8*at[1:0]+:8] :
              host[i*256+j];
        end
        for (int unsigned j = 0; j < 164; j++) want_frame[i*2048+j] = host[i*256+64+j];
        if (refused_at.exists(i * 256 + 64) || refused_at.exists(i * 256 + 128)) begin
          skipped_frames++;
          put_word(RingAt[2] + (producer[2] % Ring) * 8, FrameBase + i * 2048);
          put_word(RingAt[2] + (producer[2] % Ring) * 8 + 4, 164);
          producer[2] = producer[2] + 1;
          for (int unsigned j = 0; j < 164; j++) want_frame[i*2048+j] = get_frame(i * 2048 + j);
        end else give_tx(i * 2048, 164);
      end
      lost_before = tx_lost;
      give_tx(0, 0);
      while (progress[2] != producer[2]) @(posedge cclk);
      `CHECK(tx_lost - lost_before == skipped_frames && tx_given.size() == 0,
             "frames lost miscounted")
      compare();
    end
    `CHECK(tx_empty > 0, "empty frames miscounted")
    repeat (200) @(posedge cclk);
    `CHECK(32'(i_read.i_host.free_q) == i_read.i_host.Rows, "rows of the read buffer are lost")
    `CHECK(32'(i_write.i_host.free_q) == i_write.i_host.Rows, "rows of the write buffer are lost")
    `TB_PASS
  end
endmodule
