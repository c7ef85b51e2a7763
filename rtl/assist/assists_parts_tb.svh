// SPDX-License-Identifier: Apache-2.0
// What stands round the assists in their benches: memories, a host, both sides of a MAC.
`ifndef EMERY_ASSISTS_PARTS_TB_SVH
`define EMERY_ASSISTS_PARTS_TB_SVH
`include "parts_tb.svh"
`include "tb.svh"
`include "stream.svh"

/// Crossbar and scratchpad of four banks; an access to anywhere else fails. `get` and `put` are of a word, `get_byte` of a byte, by offset.
module scratchpad_model
  import core_pkg::*;
#(
    parameter int Masters = 4,
    parameter int Bytes   = 262144
) (
    input  logic                   clk_i,
    input  logic                   rst_i,
    input  logic     [Masters-1:0] req_valid_i,
    input  mem_req_t               req_i      [Masters],
    output logic     [Masters-1:0] req_ready_o,
    output logic     [Masters-1:0] rsp_valid_o,
    output mem_rsp_t               rsp_o      [Masters]
);
  int unsigned checks = 0;
  logic [Masters-1:0] store_error, waits;
  logic [3:0] bank_valid;
  mem_req_t bank_req[4];
  logic [31:0] bank_rdata[4];
  logic dev_valid, frame_valid;
  mem_req_t dev_req, frame_req;
  logic [1:0] dev_master;
  xbar #(
      .Masters(Masters),
      .Banks(4),
      .ScratchBytes(Bytes)
  ) i_xbar (
      .clk_i,
      .rst_i,
      .req_valid_i,
      .req_i,
      .req_ready_o,
      .rsp_valid_o,
      .rsp_o,
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
        .Words(Bytes / 16)
    ) i_bank (
        .clk_i,
        .rst_i,
        .valid_i(bank_valid[b]),
        .req_i  (bank_req[b]),
        .rdata_o(bank_rdata[b])
    );
  end
  always @(posedge clk_i)
    if (!rst_i)
      `CHECK(!dev_valid && !frame_valid && store_error == '0, "access outside the scratchpad")

  function automatic logic [31:0] get(int unsigned at);
    case (at[3:2])
      0: return g_bank[0].i_bank.i_ram.mem[at>>4];
      1: return g_bank[1].i_bank.i_ram.mem[at>>4];
      2: return g_bank[2].i_bank.i_ram.mem[at>>4];
      default: return g_bank[3].i_bank.i_ram.mem[at>>4];
    endcase
  endfunction
  function automatic void put(int unsigned at, logic [31:0] value);
    case (at[3:2])
      0: g_bank[0].i_bank.i_ram.mem[at>>4] = value;
      1: g_bank[1].i_bank.i_ram.mem[at>>4] = value;
      2: g_bank[2].i_bank.i_ram.mem[at>>4] = value;
      default: g_bank[3].i_bank.i_ram.mem[at>>4] = value;
    endcase
  endfunction
  function automatic logic [7:0] get_byte(int unsigned at);
    return get(at & ~3) [8*(at%4)+:8];
  endfunction
endmodule

/// The memory at the pins of sdram_ctrl, of 32 MB: `cells`, by address / 16. Its times are checked in sdram_ctrl_tb.
module dram_cells
  import dram_pkg::*;
(
    input  logic                            clk_i,
    input  logic                            rst_i,
    input  dram_ca_t [DramSlots-1:0]        ca_i,
    input  logic     [DramSlots-1:0]        dq_valid_i,
    input  dram_dq_t [DramSlots-1:0]        dq_i,
    output logic     [DramSlots-1:0][127:0] dq_o
);
  logic [127:0] cells[2**21];
  int row[8];
  int unsigned write_cell[4], read_cell[8];
  always @(posedge clk_i)
    for (int s = 0; s < DramSlots; s++) begin
      if (dq_valid_i[s] && !rst_i)
        for (int i = 0; i < 16; i++)
        if (!dq_i[s].mask[i]) cells[write_cell[2]][8*i+:8] = dq_i[s].data[8*i+:8];
      for (int i = 3; i > 0; i--) write_cell[i] = write_cell[i-1];
      for (int i = 7; i > 0; i--) read_cell[i] = read_cell[i-1];
      if (ca_i[s].cmd == Activate) row[ca_i[s].bank] = int'(ca_i[s].addr);
      write_cell[0] = {row[ca_i[s].bank], ca_i[s].bank ^ 3'(row[ca_i[s].bank]), ca_i[s].addr[6:0]};
      read_cell[0]  = write_cell[0];
      dq_o[s] <= cells[read_cell[7][20:0]];
    end
  function automatic logic [7:0] get_byte(int unsigned at);
    return cells[at/16][8*(at%16)+:8];
  endfunction
endmodule

/// A host of `Bytes` of memory from `Base` on, behind TLPs. A read is answered by one completion, `latency` clocks later, or refused in
/// `refuse_percent`: `refused` counts those, `refused_at` has their places. Writes are taken in `write_percent` of the clocks.
module tlp_host
  import pcie_pkg::*;
#(
    parameter int Bytes = 2 ** 20,
    parameter logic [63:0] Base = '0
) (
    input logic clk_i,
    input logic rst_i,
    stream_if read_tlp,
    stream_if write_tlp,
    stream_if cpl
);
  int unsigned checks = 0;
  logic [7:0] memory[Bytes];
  typedef struct {
    mem4_hdr_t   hdr;
    int unsigned at;   // when it may be answered
  } read_t;
  read_t reads[$];
  bit refused_at[int unsigned];  // by the place in host memory
  int unsigned
      now = 0,
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
        at = 32'(h.addr - Base), last = at + 4 * (h.dw0.length == 0 ? 1024 : 32'(h.dw0.length));
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
      for (int i = 0; i < 64; i++) beat.data[8*i+:8] = memory[(at+32'(i))%Bytes];
      at += 64;
      beat.eop = at >= last;
      i_cpl.queue.push_back(beat);
      beat.hdr = '0;
      beat.sop = 0;
    end while (!beat.eop);
  endfunction
  always @(posedge clk_i) begin
    mem4_hdr_t h;
    now++;
    // Reads: one completion each.
    read_percent = reads.size() < 60 ? 100 : 0;
    if (read_tlp.valid && read_tlp.ready && !rst_i) begin
      `CHECK(read_tlp.data.hdr[127:120] == MRd4, "not a read request")
      reads.push_back('{hdr: read_tlp.data.hdr, at: now + latency});
    end
    if (i_cpl.queue.size() == 0 && reads.size() != 0 && reads[0].at <= now) begin
      h = reads[0].hdr;
      void'(reads.pop_front());
      complete(h);
    end
    // Writes.
    if (write_tlp.valid && write_tlp.ready && !rst_i) begin
      if (write_tlp.data.sop) begin
        h = write_tlp.data.hdr;
        `CHECK(h.dw0.fmt_type == MWr4, "not a memory write")
        write_at = 32'(h.addr - Base);
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
        if (be[i]) memory[write_at+32'(i)] = write_tlp.data.data[32*d+8*i+:8];
        write_at += 4;
        write_left--;
      end
      `CHECK(write_tlp.data.eop == (write_left == 0), "length of a write")
    end
  end
endmodule

typedef struct {
  bytes_t bytes;  // none: any
  int unsigned len;
} mac_frame_t;

/// The line of a MAC at 10 Gb/s: takes the words of frames in `percent` of the clocks that the gaps leave. They must be the next of `expected`,
/// padded to 60 bytes, without a gap inside. `frames` counts them.
module mac_sink
  import eth_pkg::*;
(
    input  logic       clk_i,
    input  logic       rst_i,
    input  logic       valid_i,
    input  word_beat_t beat_i,
    output logic       ready_o
);
  mac_frame_t expected[$];
  int unsigned checks = 0, pos = 0, gap = 0, frames = 0, percent = 100;
  bit in_frame = 0;
  initial ready_o = 0;
  always @(posedge clk_i) begin
    if (gap != 0) gap--;
    `CHECK(rst_i || valid_i || !in_frame, "a gap inside a frame")
    if (!rst_i && valid_i && ready_o) begin
      `CHECK(expected.size() != 0 && beat_i.sop == !in_frame && !beat_i.err, "a frame nobody gave")
      if (beat_i.sop) pos = 0;
      for (int unsigned i = 0; i < beat_i.len; i++) begin
        if (expected[0].bytes.size() != 0)
          `CHECK(
              beat_i.data[8*i+:8] == (pos + i < expected[0].len ? expected[0].bytes[pos+i] : 8'h0),
              $sformatf("byte %0d of a frame of %0d", pos + i, expected[0].len))
      end
      pos += 32'(beat_i.len);
      `CHECK(beat_i.eop || beat_i.len == 8, "a short word inside a frame")
      in_frame = !beat_i.eop;
      if (beat_i.eop) begin
        `CHECK(pos == (expected[0].len < 60 ? 60 : expected[0].len), "length of a frame")
        void'(expected.pop_front());
        frames++;
        // 1538 or 84 bytes a frame on the wire, in words of 8.
        gap = 2 + 32'(pos == 60 ? frames % 2 == 0 : frames % 4 == 0);
      end
    end
    ready_o <= gap == 0 && $urandom_range(99) < percent;
  end
endmodule

/// Sends frame `n` of `len` bytes, `frame_byte` each, as a MAC receives it, and `gap` clocks of nothing.
module mac_source
  import eth_pkg::*;
(
    input  logic       clk_i,
    output logic       valid_o,
    output word_beat_t beat_o
);
  initial valid_o = 0;
  // Byte i of frame n.
  function automatic logic [7:0] frame_byte(int unsigned n, int unsigned i);
    return 8'((n * 32'd2654435761) >> 13) ^ 8'((i * 32'd40503) >> 7) ^ 8'(i);
  endfunction
  task automatic send(int unsigned n, int unsigned len, bit err, int unsigned gap);
    for (int unsigned i = 0; i < len; i += 8) begin
      valid_o <= 1;
      for (int unsigned j = 0; j < 8; j++) beat_o.data[8*j+:8] <= frame_byte(n, i + j);
      beat_o.len <= 4'(len - i < 8 ? len - i : 8);
      beat_o.sop <= i == 0;
      beat_o.eop <= i + 8 >= len;
      beat_o.err <= err && i + 8 >= len;
      @(posedge clk_i);
    end
    valid_o <= 0;
    repeat (gap) @(posedge clk_i);
  endtask
endmodule

`endif
