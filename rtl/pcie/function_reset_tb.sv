// SPDX-License-Identifier: Apache-2.0
`include "tb.svh"
`include "completion_tb.svh"
`include "stream.svh"
/// function_reset in a pcie_endpoint with DMA behind it: the host resets the function again and again in the middle of reads and writes.
///
/// Each TLP sent is whole, none but those on their way begins until the host is told that all is over; it is told soon. What is asked for
/// afterwards comes whole, from memory as it is then: answers to what was asked before are each counted as late and written nowhere,
/// and no read has the tag of one that may still be answered. Some answers come long after the reset, some never, some reads are
/// dropped at the pins as a block does whose bus mastering has just been cleared; in the end all tags are in use again.
module function_reset_tb;
  import pcie_pkg::*;
  import pins_pkg::*;
  import dma_pkg::*;
  localparam int Tags = 32, Resets = 12, MostBytes = 1000;
  `TB_BEGIN
  `TB_TIMEOUT(600_000)

  pcie_in_t pins_in = '{default: '0};
  pcie_out_t pins_out;
  pcie_pins_out_t all_out;
  pcie_cfg_t cfg;
  assign pins_out = all_out.ideal;
  logic device_rst, unused_up, foreign, unsupported, dropped;
  reg_if #(.AddrW(12)) regs ();
  `STREAM_ON(tlp_beat_t, request, clk, device_rst)
  `STREAM_ON(tlp_beat_t, completion, clk, device_rst)
  `STREAM_ON(tlp_beat_t, read_tlp, clk, device_rst)
  `STREAM_ON(tlp_beat_t, tx[1], clk, device_rst)
  `STREAM_ON(dma_req_t, dma_read[1], clk, device_rst)
  `STREAM_ON(dma_req_t, dma_write[1], clk, device_rst)
  ram_write_t ram_write;
  ram_read_t  unused_ram_read;
  dma_status_t read_status, unused_write_status;
  dma_read_count_t count;
  pcie_endpoint #(
      .AddrW(12)
  ) i_endpoint (
      .clk_i(clk),
      .rst_i(rst),
      .pins_i('{ideal: pins_in, usplus: '{default: '0}, ptile: '{default: '0}}),
      .pins_o(all_out),
      .cfg_o(cfg),
      .up_o(unused_up),
      .rst_o(device_rst),
      .virtual_done_i('0),
      .req(request),
      .access(request),
      .regs,
      .cpl(completion),
      .read(read_tlp),
      .tx,
      .foreign_o(foreign),
      .unsupported_o(unsupported),
      .dropped_o(dropped)
  );
  dma_engines #(
      .Tags(Tags)
  ) i_dma (
      .clk_i(clk),
      .rst_i(device_rst),
      .forget_i(rst),
      .cfg_i(cfg),
      .timeout_cycles_i(32'd16384),
      .overtaken_cycles_i('0),
      .read_tlp,
      .cpl(completion),
      .write_tlp(tx[0]),
      .read(dma_read),
      .ram_write_o(ram_write),
      .read_status_o(read_status),
      .read_count_o(count),
      .write(dma_write),
      .ram_read_o(unused_ram_read),
      .ram_row_i('0),
      .write_status_o(unused_write_status)
  );
  assign regs.ack   = regs.req;
  assign regs.rdata = '0;
  wire unused = &{1'b0, foreign, unsupported, dropped, count, regs.write, regs.addr, regs.wdata, regs.wstrb};

  // ---- The device's requests, one after the other, each to the next place of the RAM.
  typedef struct {int unsigned len, at, from;} asked_t;
  asked_t asked[$];
  logic [7:0] ram[8192];
  int unsigned life = 0, reads_ended = 0, place = 0;
  bit asks = 1;
  dma_req_t read_req, write_req;
  logic read_valid = 0, write_valid = 0;
  assign dma_read[0].valid  = read_valid;
  assign dma_read[0].data   = read_req;
  assign dma_write[0].valid = write_valid;
  assign dma_write[0].data  = write_req;

  // What memory holds, in each life of the device something else.
  function automatic logic [7:0] content(int unsigned addr, int unsigned in_life);
    return 8'(addr * 7 + addr / 256 * 13 + in_life * 101 + 3);
  endfunction

  always @(posedge clk) begin
    for (int s = 0; s < Segs; s++)
    for (int b = 0; b < SegBytes; b++)
    if (ram_write.valid[s] && ram_write.strb[s][b])
      ram[13'(int'(ram_write.row[s])*RowBytes+s*SegBytes+b)] = ram_write.data[s][8*b+:8];
    if (device_rst) begin
      asked.delete();
      read_valid  <= 0;
      write_valid <= 0;
    end else begin
      if (read_status.valid) begin
        automatic asked_t a;
        `CHECK(asked.size() > 0, "a status that nobody waits for")
        a = asked.pop_front();
        if (read_status.result == DmaOk) begin
          for (int unsigned i = 0; i < a.len; i++)
            `CHECK(ram[13'(a.at+i)] == content(a.from + i, life), $sformatf(
                   "byte %0d of a read of life %0d is %h", i, life, ram[13'(a.at+i)]))
          reads_ended++;
        end else `CHECK(read_status.result == DmaTimeout, "a read failed")
      end
      if (!read_valid || dma_read[0].ready) begin
        if (read_valid) begin
          asked.push_back('{len: int'(read_req.len), at: place, from : int'(read_req.host_addr)});
          place = (place + MostBytes) % 6144;
        end
        read_valid <= asks && asked.size() < 5 && $urandom_range(2) != 0;
        read_req <= '{
            host_addr: 64'($urandom_range(60000)),
            ram_addr: 20'(place),
            len: 16'($urandom_range(MostBytes, 1)),
            default: '0
        };
      end
      if (!write_valid || dma_write[0].ready) begin
        write_valid <= asks && $urandom_range(8) == 0;
        write_req   <= '{host_addr: 64'h1_0000_0000, len: 16'($urandom_range(600, 1)), default: '0};
      end
    end
  end

  // ---- The host.
  typedef struct {
    mem4_hdr_t   hdr;
    int unsigned life, due;
  } pending_t;
  pending_t pending[$];
  tlp_beat_t to_device[$];
  int unsigned beat_life[$];  // of which life each is the answer
  int unsigned now = 0, late_given = 0, stale_given = 0, lates = 0, lost = 0, whole = 0;
  int unsigned begun = 0;
  int left = 0, deaf = 0;  // Dwords of a TLP to come; clocks in which the block drops what is asked
  bit told = 1, in_reset = 0, slow = 0;
  int lower = 0, held = 0;  // clocks until the request for the reset falls; of the reset

  task automatic answer(pending_t p);
    int        addr = int'(p.hdr.addr[47:32]) & 'hfffc;
    cpl_hdr_t  c = whole_answer(p.hdr, addr);
    tlp_beat_t b;
    int        dws = int'(p.hdr.dw0.length);
    for (int at = 0; at < dws; at += 16) begin
      b = '{sop: at == 0, eop: at + 16 >= dws, hdr: c, data: '0};
      for (int i = 0; i < 64; i++) b.data[8*i+:8] = content(addr + 4 * at + i, p.life);
      to_device.push_back(b);
      beat_life.push_back(p.life);
    end
  endtask

  always @(negedge clk) begin
    pins_in.tx_ready   = $urandom_range(3) != 0;
    pins_in.read_ready = $urandom_range(3) != 0;
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
      now++;
      if (deaf > 0) deaf--;
      if (pins_out.tx_valid && pins_in.tx_ready) begin
        `CHECK(pins_out.tx_sop == (left == 0), "a TLP was cut off")
        begun += int'(pins_out.tx_sop && in_reset);
        if (pins_out.tx_sop) begin
          automatic tlp_dw0_t dw0 = pins_out.tx_hdr[127:96];
          left = int'(dw0.length);
        end
        left = left > 16 ? left - 16 : 0;
        `CHECK(pins_out.tx_eop == (left == 0), "a TLP ends elsewhere")
        whole += int'(left == 0);
      end
      if (pins_out.read_valid && pins_in.read_ready) begin
        automatic mem4_hdr_t h = pins_out.read_hdr;
        begun += int'(in_reset);
        foreach (pending[i])
          `CHECK(pending[i].hdr.tag != h.tag, "a tag that may still be answered is used again")
        if (deaf > 0 || (slow && $urandom_range(40) == 0)) lost++;
        else
          pending.push_back('{hdr: h, life: life,
                            due: now + $urandom_range(slow ? 3000 : 300, 20)});
      end
      foreach (pending[i])
      if (pending[i].due <= now) begin
        answer(pending[i]);
        pending.delete(i);
        break;
      end
      if (pins_in.rx_valid && pins_out.rx_ready) begin
        automatic int unsigned of = beat_life.pop_front();
        if (to_device[0].eop && of != life) late_given++;
        if (to_device[0].eop && (of != life || pins_in.function_reset)) stale_given++;
        void'(to_device.pop_front());
        pins_in.rx_valid <= 0;
      end
      `CHECK(begun <= 4,
             "something begins in reset")  // but for what was in the two registers before the pins
      if (count.late) lates++;
      `CHECK(!count.unexpected && !count.malformed, "a completion is taken for another's")
      if (pins_out.function_reset_done) begin
        `CHECK(!told, "it is told twice")
        told  = 1;
        lower = $urandom_range(6);
      end
      // A block lets go of it some clocks later.
      if (told && lower == 0) pins_in.function_reset <= 0;
      lower--;
    end
  // The life ends when nothing of it can be sent any more.
  logic was_rst = 1;
  always @(posedge clk) begin
    was_rst <= device_rst;
    held = rst ? 0 : device_rst ? held + 1 : held;
    if (!device_rst && held != 0) begin
      `CHECK(held == 64, $sformatf("the device was in reset for %0d clocks", held))
      held = 0;
    end
    if (device_rst && !was_rst) begin
      in_reset = 1;
      begun = 0;
      if (!rst) life++;
    end
    if (!device_rst && was_rst) in_reset = 0;
  end

  initial begin
    int unsigned since;
    pins_in.bus_master = 1;
    pins_in.requester_id = 16'h0100;
    pins_in.max_read_request = 3'd1;
    pins_in.p_inf = 1;
    pins_in.np_inf = 1;
    pins_in.cpl_inf = 1;
    @(negedge rst);
    for (int n = 0; n < Resets; n++) begin
      slow = n % 3 == 2;
      repeat ($urandom_range(2000, 200)) @(posedge clk);
      if (n % 2 != 0) begin
        deaf = 100;
        repeat (40) @(posedge clk);
      end
      since = now;
      told  = 0;
      pins_in.function_reset <= 1;
      while (!told) @(posedge clk);
      `CHECK(now - since < 400, $sformatf("it took %0d clocks", now - since))
    end
    slow = 0;
    repeat (4 * 65536 + 5000) @(posedge clk);
    since = reads_ended;
    repeat (2000) @(posedge clk);
    `CHECK(reads_ended - since > 20, $sformatf("%0d reads in 2000 clocks", reads_ended - since))
    asks = 0;
    repeat (2000) @(posedge clk);
    `CHECK(asked.size() == 0 && pending.size() == 0, "a read was forgotten")
    `CHECK(life == Resets, "not all resets were done")
    `CHECK(lates >= late_given && lates <= stale_given && late_given > Resets, $sformatf(
           "%0d late, of %0d to %0d", lates, late_given, stale_given))
    `CHECK(lost > 1 && whole > 100, $sformatf("%0d reads lost, %0d TLPs sent", lost, whole))
    for (int i = 0; i < Tags; i++)
      `CHECK(!i_dma.i_read.i_cpl.lost[i].lost, "a tag is still out of use")
    `TB_PASS
  end
endmodule
