// SPDX-License-Identifier: Apache-2.0
`include "tb.svh"
`include "stream.svh"
/// dma_write with two seg_ram_dma_rd: host memory rebuilt from the TLPs for any alignment and length, header rules, status
/// order, throughput of 60-byte, 128-byte and 4 kB requests.
module dma_write_tb
  import pcie_pkg::*;
  import dma_pkg::*;
#(
    parameter type Beat = tlp_beat_t
);
  `TB_BEGIN
  `TB_TIMEOUT(900_000)
  localparam int Bytes = 32768;
  localparam ram_sel_t SelA = 6'd3, SelB = 6'd17;

  pcie_cfg_t cfg;
  `STREAM_ON(dma_req_t, req, clk, rst)
  localparam int BeatDws = 16 + ($bits(Beat) - $bits(tlp_beat_t)) / 32;
  `STREAM_ON(Beat, tlp, clk, rst)
  dma_status_t status;
  ram_read_t   ram_read;
  ram_row_t row_a, row_b, row;
  dma_write #(
      .Beat(Beat)
  ) dut (
      .clk_i(clk),
      .rst_i(rst),
      .cfg_i(cfg),
      .req,
      .status_o(status),
      .ram_o(ram_read),
      .ram_i(row),
      .tlp
  );

  // What synthesis turns by (rotate); a simulation does not look at it.
  always @(posedge clk)
    if (!rst) begin
      `CHECK(!dut.i_segs.valid_i || dut.i_segs.turn_n_i == ~dut.i_segs.turn_i,
             "turn_n_i is no complement")
      `CHECK(!dut.i_bytes.valid_i || dut.i_bytes.turn_n_i == ~dut.i_bytes.turn_i,
             "turn_n_i is no complement")
    end

  ram_row_or #(
      .N(2)
  ) i_rows (
      .row_i({row_a, row_b}),
      .row_o(row)
  );

  logic we_a = 0, we_b = 0;
  logic [  8:0] waddr;
  logic [511:0] wdata;
  seg_ram_dma_rd #(
      .Bytes(Bytes),
      .Sel  (SelA)
  ) i_ram_a (
      .clk_i(clk),
      .rst_i(rst),
      .we_i(we_a),
      .waddr_i(waddr),
      .wdata_i(wdata),
      .ram_i(ram_read),
      .ram_o(row_a)
  );
  seg_ram_dma_rd #(
      .Bytes(Bytes),
      .Sel  (SelB)
  ) i_ram_b (
      .clk_i(clk),
      .rst_i(rst),
      .we_i(we_b),
      .waddr_i(waddr),
      .wdata_i(wdata),
      .ram_i(ram_read),
      .ram_o(row_b)
  );

  // Reference: what the RAMs hold, the requests in order, and host memory as the TLPs leave it.
  logic [7:0] model[2][Bytes];
  logic [7:0] host[longint unsigned];
  dma_req_t pending[$];
  int unsigned written = 0;  // bytes of the oldest pending request that arrived
  int unsigned statuses = 0, beats = 0, tlps = 0;

  function automatic void finish_request(dma_status_t got);
    dma_req_t want;
    `CHECK(pending.size() != 0, "status without a request")
    want = pending.pop_front();
    `CHECK(got.sel == want.sel && got.result == DmaOk, "wrong status")
    `CHECK(written == 32'(want.len), $sformatf("%0d bytes written of %0d", written, want.len))
    for (int i = 0; i < 32'(want.len); i++) begin
      if (!host.exists(
              want.host_addr + 64'(i)
          ) || host[want.host_addr+64'(i)] != model[want.sel==SelB][(32'(want.ram_addr)+i)%Bytes])
        $fatal(1, "FAIL: byte %0d of request to %h wrong or missing", i, want.host_addr);
    end
    host.delete();
    written = 0;
    statuses++;
  endfunction

  // TLP checker.
  logic in_tlp = 0;
  tlp_dw0_t dw0;
  logic [63:0] addr;
  int unsigned dws, dw;
  logic [3:0] first_be, last_be;

  function automatic void take_beat(Beat b);
    logic [3:0] be;
    int unsigned here;
    `CHECK(b.sop == !in_tlp, "sop in the wrong beat")
    `CHECK(pending.size() != 0, "TLP without a request")
    if (b.sop) begin
      dw0 = b.hdr[127:96];
      dws = dw0.length == 0 ? 1024 : 32'(dw0.length);
      {last_be, first_be} = b.hdr[71:64];
      `CHECK(dw0.fmt_type inside {MWr3, MWr4}, "not a memory write")
      addr = dw0.fmt_type == MWr4 ? b.hdr[63:0] : {32'h0, b.hdr[63:32]};
      `CHECK((dw0.fmt_type == MWr4) == (addr[63:32] != 0), "header size does not suit the address")
      `CHECK(dw0.fmt_type == MWr4 || b.hdr[31:0] == 0, "3DW header not padded with zero")
      `CHECK(addr[1:0] == 0, "address bits 1:0")
      `CHECK(b.hdr[95:80] == cfg.requester_id, "requester ID")
      `CHECK(dw0.attr_ro == (pending[0].relaxed && cfg.relaxed_ordering), "relaxed ordering")
      dw0.attr_ro  = 0;
      dw0.length   = 0;
      dw0.fmt_type = 0;
      `CHECK(dw0 == 0, "DW0 has other bits set")
      `CHECK(dws * 4 <= 128 << cfg.max_payload, "longer than the maximum payload")
      `CHECK(32'(addr[11:0]) + dws * 4 <= 4096, "crosses 4 kB")
      `CHECK(first_be != 0, "first byte enables empty")
      `CHECK((dws == 1) == (last_be == 0), "last byte enables")
      // Bytes of a write are contiguous, so only the low bits of the first DW and the high bits of the last may be off.
      if (dws > 1) begin
        `CHECK(first_be inside {4'hf, 4'he, 4'hc, 4'h8}, "hole in the first DW")
        `CHECK(last_be inside {4'hf, 4'h7, 4'h3, 4'h1}, "hole in the last DW")
      end
      dw = 0;
      tlps++;
    end
    here = dws - dw > BeatDws ? BeatDws : dws - dw;
    for (int unsigned i = 0; i < here; i++) begin
      be = dw + i == 0 ? first_be : dw + i == dws - 1 ? last_be : 4'hf;
      for (int unsigned j = 0; j < 4; j++) begin
        longint unsigned at;
        at = addr + 64'((dw + i) * 4 + j);
        if (be[j]) begin
          if (at < pending[0].host_addr || at >= pending[0].host_addr + 64'(pending[0].len))
            $fatal(1, "FAIL: byte at %h written outside the request", at);
          if (host.exists(at)) $fatal(1, "FAIL: byte at %h written twice", at);
          host[at] = b.data[(i*4+j)*8+:8];
          written++;
        end
      end
    end
    dw += here;
    `CHECK(b.eop == (dw == dws), "eop in the wrong beat")
    in_tlp = !b.eop;
    beats++;
  endfunction

  // Stimulus.
  int unsigned in_percent = 100, out_percent = 100, mode = 0, unaligned = 0;
  longint unsigned linear = 0;

  function automatic dma_req_t make_request();
    dma_req_t r;
    r = '0;
    r.sel = $urandom_range(1) ? SelA : SelB;
    r.relaxed = 1'($urandom());
    r.ram_addr = ram_addr_t'($urandom_range(Bytes - 1));
    unique case (mode)
      0: begin  // anything, often small, often near 4 kB and 4 GB boundaries
        r.len = $urandom_range(2) == 0 ? 16'($urandom_range(9216, 1)) : 16'($urandom_range(150, 1));
        r.host_addr = {
          $urandom_range(3) == 0 ? 32'($urandom_range(255, 1)) << 20 : 32'h0, 32'($urandom())
        };
        r.host_addr[63:48] = '0;
        if ($urandom_range(3) == 0) r.host_addr[11:6] = '1;
        if ($urandom_range(15) == 0) r.host_addr[31:8] = '1;
      end
      1, 2: begin  // 60-byte packets, DW aligned or two bytes off
        r.len = 16'd60;
        r.host_addr = 64'h1_0000_0000 + (linear * 64) % 65536 + (mode == 2 ? 64'd2 : 64'd0);
        if (mode == 1) r.host_addr += 64'(linear % 2) * 4;
      end
      3: begin  // pages
        r.len = 16'd4096;
        r.host_addr = 64'h1_0000_0000 + linear * 4096;
        r.ram_addr[3:0] = 4'(unaligned);
      end
      default: begin  // 128-byte packets that begin on 16 bytes
        r.len = 16'd128;
        r.host_addr = 64'h1_0000_0000 + (linear * 128) % 65536;
        r.ram_addr[3:0] = 4'(unaligned);
      end
    endcase
    linear++;
    return r;
  endfunction

  always @(posedge clk) begin
    if (!rst) begin
      if (status.valid) finish_request(status);
      if (req.valid && req.ready) pending.push_back(req.data);
      if (tlp.valid && tlp.ready) take_beat(tlp.data);
    end
    if (rst) begin
      req.valid <= 0;
      tlp.ready <= 0;
    end else begin
      tlp.ready <= $urandom_range(99) < out_percent;
      if (!req.valid || req.ready) begin
        req.valid <= $urandom_range(99) < in_percent;
        req.data  <= make_request();
      end
    end
  end

  task automatic drain();
    in_percent = 0;
    repeat (2) @(posedge clk);
    while (pending.size() != 0 || req.valid) @(posedge clk);
    repeat (20) @(posedge clk);
    `CHECK(!tlp.valid && !status.valid && !in_tlp, "something left over")
    `CHECK(dut.used_q == '0, $sformatf("%0d beats are lost", dut.used_q))
  endtask

  task automatic measure(int unsigned m, int unsigned payload, int unsigned clocks,
                         output int unsigned b, output int unsigned s);
    drain();
    cfg.max_payload = 3'(payload);
    repeat (2) @(posedge clk);
    mode = m;
    in_percent = 100;
    out_percent = 100;
    repeat (200) @(posedge clk);
    b = beats;
    s = statuses;
    repeat (clocks) @(posedge clk);
    b = beats - b;
    s = statuses - s;
  endtask

  initial begin
    int unsigned b, s;
    cfg = '0;
    cfg.requester_id = 16'h1234;
    cfg.bus_master = 1;
    in_percent = 0;
    @(negedge rst);
    for (int ram = 0; ram < 2; ram++) begin
      for (int i = 0; i < Bytes / 64; i++) begin
        for (int j = 0; j < 64; j++) begin
          model[ram][i*64+j] = 8'($urandom());
          wdata[j*8+:8] <= model[ram][i*64+j];
        end
        we_a  <= ram == 0;
        we_b  <= ram == 1;
        waddr <= 9'(i);
        @(posedge clk);
      end
    end
    we_a <= 0;
    we_b <= 0;
    @(posedge clk);

    for (int i = 0; i < 20; i++) begin
      drain();
      cfg.max_payload = 3'($urandom_range(5));
      cfg.relaxed_ordering = 1'($urandom());
      repeat (2) @(posedge clk);
      in_percent  = $urandom_range(100, 10);
      out_percent = i % 3 == 0 ? 100 : $urandom_range(100, 10);
      repeat (1500) @(posedge clk);
    end

    measure(1, 1, 2000, b, s);
    $display("60-byte requests, DW aligned: %0d requests in 2000 clocks", s);
    `CHECK(s >= 1960, "60-byte requests are too slow")
    measure(2, 1, 2000, b, s);
    $display("60-byte requests at offset 2: %0d requests in 2000 clocks", s);
    `CHECK(s >= 1960, "60-byte requests at offset 2 are too slow")
    // What begins on 16 bytes goes at the width of the beats, the rest at 64 bytes a clock.
    for (int off = 0; off < 2; off++) begin
      unaligned = off * 4;
      measure(3, 1, 6400, b, s);
      $display("4 kB requests, offset %0d: %0d beats, %0d requests in 6400 clocks", unaligned, b,
               s);
      `CHECK(s >= (off == 0 ? 98 * BeatDws / 16 : 98), "4 kB requests are too slow")
      measure(4, 1, 2000, b, s);
      $display("128-byte requests, offset %0d: %0d requests in 2000 clocks", unaligned, s);
      `CHECK(s >= (off == 0 ? 980 * BeatDws / 16 : 980), "128-byte requests are too slow")
    end

    // Without bus mastering nothing starts.
    drain();
    cfg.bus_master = 0;
    mode = 0;
    in_percent = 100;
    b = tlps;
    repeat (50) @(posedge clk);
    `CHECK(tlps == b && pending.size() != 0, "a TLP left without bus mastering")
    cfg.bus_master = 1;
    drain();
    `CHECK(tlps != b, "nothing came after bus mastering was enabled")
    repeat (20) begin
      @(posedge clk);
      `CHECK(ram_read.valid == '0, "the RAM is read for nothing")
    end
    $display("%0d requests, %0d TLPs, %0d beats", statuses, tlps, beats);
    `TB_PASS
  end
endmodule
