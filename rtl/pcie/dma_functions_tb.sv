// SPDX-License-Identifier: Apache-2.0
// of: dma_engines dma_read dma_write
`include "parts_tb.svh"
`include "tb.svh"
`include "stream.svh"
/// dma_engines with several functions: each request leaves as that of the function its address names, with the address as the host has
/// it; what a function may not do is not sent, a read then ends with DmaAborted and a write with its status; statuses keep their order. Sums that
/// carry beyond an address, or borrow, stay the function's own.
module dma_functions_tb;
  import pcie_pkg::*;
  import dma_pkg::*;
  `TB_BEGIN
  `TB_TIMEOUT(200_000)
  localparam int Functions = 8, Rounds = 3000;
  pcie_cfg_t  cfg;
  functions_t master = '1;
  assign cfg = '{
          requester_id: 16'h0500,
          max_payload: 3'd1,
          max_read_request: 3'd2,
          bus_master: 1'b1,
          extended_tag: 1'b1,
          functions: '{master: master, default: '0},
          default: '0
      };
  `STREAM_ON(tlp_beat_t, read_tlp, clk, rst)
  `STREAM_ON(tlp_beat_t, cpl, clk, rst)
  `STREAM_ON(tlp_beat_t, write_tlp, clk, rst)
  `STREAM_ON(dma_req_t, dma_read[1], clk, rst)
  `STREAM_ON(dma_req_t, dma_write[1], clk, rst)
  dma_status_t read_status, write_status;
  dma_engines #(
      .Tags(32),
      .Functions(Functions)
  ) dut (
      .clk_i(clk),
      .rst_i(rst),
      .forget_i(1'b1),
      .cfg_i(cfg),
      .timeout_cycles_i('0),
      .overtaken_cycles_i('0),
      .read_tlp,
      .cpl,
      .write_tlp,
      .read(dma_read),
      .ram_write_o(),
      .read_status_o(read_status),
      .read_count_o(),
      .write(dma_write),
      .ram_read_o(),
      .ram_row_i('0),
      .write_status_o(write_status)
  );
  `STREAM_SOURCE(dma_req_t, i_read, dma_read[0], 50)
  `STREAM_SOURCE(dma_req_t, i_write, dma_write[0], 50)
  `STREAM_SOURCE(tlp_beat_t, i_cpl, cpl, 80)
  `STREAM_SINK(tlp_beat_t, i_read_tlp, read_tlp, 70)
  `STREAM_SINK(tlp_beat_t, i_write_tlp, write_tlp, 70)

  typedef struct {
    int fn;
    logic [55:0] addr;
  } request_t;
  request_t reads[$], writes[$];  // that are to leave
  bit allowed[$];  // of all reads
  int unsigned statuses = 0, written = 0;

  function automatic void check_request(mem4_hdr_t h, request_t r, string what);
    logic [63:0] addr;
    addr = h.dw0.fmt_type[5] ? h.addr : {32'd0, h.addr[63:32]};
    `CHECK(h.requester_id == {8'h05, r.fn == 0 ? 8'd0 : 8'(r.fn + 3)}, {what, ": whose it is"})
    `CHECK(addr == {8'd0, r.addr[55:2], 2'd0}, {what, ": where"})
  endfunction

  always @(posedge clk)
    if (!rst) begin
      if (read_tlp.valid && read_tlp.ready) begin
        tlp_beat_t answer;
        cpl_hdr_t  hdr;
        mem4_hdr_t asked;
        asked = read_tlp.data.hdr;
        `CHECK(reads.size() != 0, "a read that may not be")
        check_request(asked, reads.pop_front(), "read");
        hdr = '0;
        hdr.dw0.fmt_type = CplD;
        hdr.dw0.length = asked.dw0.length;
        hdr.byte_count = 12'd4;
        hdr.requester_id = asked.requester_id;
        hdr.tag = asked.tag;
        hdr.lower_addr = 7'(asked.dw0.fmt_type[5] ? asked.addr[6:0] : asked.addr[38:32]);
        answer = '{sop: 1'b1, eop: 1'b1, hdr: hdr, data: '0};
        i_cpl.queue.push_back(answer);
      end
      if (write_tlp.valid && write_tlp.ready) begin
        `CHECK(writes.size() != 0, "a write that may not be")
        `CHECK(!write_tlp.data.hdr[110], "never poisoned")
        check_request(write_tlp.data.hdr, writes.pop_front(), "write");
      end
      if (read_status.valid) begin
        `CHECK(read_status.result == (allowed.pop_front() ? DmaOk : DmaAborted),
               "what a read ends with")
        statuses++;
      end
      written += 32'(write_status.valid);
    end

  initial begin
    @(negedge rst);
    repeat (100) @(posedge clk);
    for (int part = 0; part < 6; part++) begin
      master = part == 0 ? '1 : {$urandom(), $urandom()};
      repeat (4) @(posedge clk);
      for (int i = 0; i < Rounds / 6; i++) begin
        dma_req_t r;
        int fn;
        logic [55:0] addr;
        fn   = $urandom_range(Functions - 1);
        addr = {4'd0, $urandom_range(3) == 0 ? 20'd0 : 20'($urandom()), $urandom() & ~32'd3};
        // A sum that has carried or borrowed: in the bits between.
        if ($urandom_range(7) == 0) addr[55:52] = $urandom_range(1) == 0 ? 4'hf : 4'h1;
        r = '{host_addr: {8'(fn), addr}, sel: '0, ram_addr: '0, len: 16'd4, relaxed: 1'b0};
        if (addr[55]) r.host_addr[63:56] = 8'(fn - 1);
        if ($urandom_range(1) == 0) begin
          i_read.queue.push_back(r);
          allowed.push_back(master[fn]);
          if (master[fn]) reads.push_back('{fn, addr});
        end else begin
          i_write.queue.push_back(r);
          if (master[fn]) writes.push_back('{fn, addr});
        end
      end
      while (i_read.queue.size() + i_write.queue.size() + allowed.size() + writes.size() != 0)
      @(posedge clk);
      repeat (40) @(posedge clk);
    end
    `CHECK(reads.size() == 0 && statuses + written == Rounds, "all have ended")
    `TB_PASS
  end
endmodule
