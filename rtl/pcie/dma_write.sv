// SPDX-License-Identifier: Apache-2.0
`include "assert.svh"
`include "stream.svh"
/// DMA write engine: moves bytes from DMA RAMs to host memory as posted writes (host-nic paper, section II-F).
///
/// A request of 1 ... 65535 bytes becomes memory writes of at most the maximum payload that never cross 4 kB, with a 3DW
/// header below 4 GB, and byte enables for the odd bytes at both ends; both addresses may have any alignment. One TLP beat
/// a clock without a gap between TLPs or requests: a request that fits in one beat takes one clock. Latency 9 clocks.
/// A beat is one read at a byte address of the RAM, so beats do not depend on each other. (One of more than 112 bytes that
/// do not begin on a multiple of 16 lies in more segments than the RAM has: two reads, two clocks.) RAM reads are fixed in
/// time, so a beat is only begun when it has a place in the output FIFO; that is the back-pressure from `tlp`.
/// `status_o` (always DmaOk) comes in request order in the clock after `tlp` took the last beat of the request: whatever
/// is sent after that arrives after it. With `Functions` a request is that of the function its address names (pcie_pkg), and what one may
/// not write is left out. Requests wait while bus mastering is off. Reset empties it; drops nothing.
module dma_write
  import pcie_pkg::*;
  import dma_pkg::*;
#(
    parameter type Beat = tlp_beat_t,  // or wide_tlp_beat_t
    parameter int FifoBeats = 16,  // 8 are enough to hide the RAM latency
    parameter int Functions = 1
) (
    input logic clk_i,
    input logic rst_i,
    input pcie_cfg_t cfg_i,

    // dma_req_t in.
    stream_if.snk req,

    // One status each.
    output dma_status_t status_o,

    // Read port of all DMA RAMs, ORed.
    output ram_read_t ram_o,
    input  ram_row_t  ram_i,

    // Beat out, registered.
    stream_if.src tlp
);
  if (FifoBeats < 2) begin : g_bad_parameter
    $fatal(1, "dma_write: FifoBeats %0d is below 2", FifoBeats);
  end

  localparam int UsedW = $clog2(FifoBeats + 1);
  localparam int DataBits = $bits(Beat) - $bits(tlp_beat_t) + 8 * TlpBeatBytes;
  localparam int BeatBytes = DataBits / 8;
  localparam logic [10:0] BeatDws = 11'(BeatBytes / 4);
  localparam bit Wide = BeatBytes == RowBytes;
  localparam int BeatSegs = BeatBytes / SegBytes + 1;  // that a beat lies in, at most

  /// A TLP, or what is left of it.
  typedef struct packed {
    logic [127:0] hdr;
    ram_sel_t     sel;
    ram_addr_t    ram_addr;  // of the byte that goes to lane 0
    logic [10:0]  dws;       // left to send
    logic         last;      // of its request
  } part_t;

  /// What goes with a beat of data.
  typedef struct packed {
    logic [127:0] hdr;
    logic         sop;
    logic         eop;
    ram_sel_t     sel;
    logic         last;  // of its request
  } info_t;

  wire unused = &{1'b0, cfg_i};  // not all of it matters here

  // First stage: cut a TLP off the request under way.
  dma_req_t rest_q;
  logic rest_full_q;
  logic [12:0] mps_q;  // maximum payload in bytes
  wire [1:0] skew = rest_q.host_addr[1:0];
  // How far the next TLP may reach, known a clock before it is cut: bytes to the end of the page, and of those the ones that
  // one TLP takes.
  logic [12:0] to_page_q, room_q;
  logic page_cut_q;
  // Of a new request. The payload counts whole DWs: the bytes before the first one in its DW are part of it.
  wire [12:0] new_page = 13'h1000 - 13'(req.data.host_addr[11:0]);
  wire [12:0] new_mps = mps_q - 13'(req.data.host_addr[1:0]);
  wire new_cut = new_page <= new_mps;
  // Of what is left of the one under way.
  wire [12:0] next_page = page_cut_q ? 13'h1000 : to_page_q - room_q;
  wire next_cut = next_page <= mps_q;

  wire last_part = rest_q.len <= 16'(room_q);
  wire [12:0] whole_end = room_q + 13'(skew), rest_end = rest_q.len[12:0] + 13'(skew);
  wire [12:0] whole_up = room_q + 13'({1'b0, skew} + 3'd3), rest_up = rest_q.len[12:0] + 13'({1'b0, skew} + 3'd3);
  wire [1:0] part_end = last_part ? rest_end[1:0] : whole_end[1:0];
  wire [10:0] part_dws = last_part ? rest_up[12:2] : whole_up[12:2];

  part_t part_q, part_d;
  logic part_full_q, first_q;
  logic part_done, cut;
  assign cut = rest_full_q && cfg_i.bus_master && (!part_full_q || part_done);
  assign req.ready = !rest_full_q || (cut && last_part);

  // Bytes enabled in the first DW, and in the last.
  wire [3:0] low_be = 4'hf << skew;
  wire [3:0] high_be = 4'hf >> (2'd0 - part_end);

  bus_access_t access;
  assign access = access_of(rest_q.host_addr, cfg_i.functions.master, Functions);

  always_comb begin
    if (`WORTH(rest_full_q)) begin
      tlp_dw0_t dw0;
      logic [31:0] dw1;
      dw0 = '0;
      dw0.fmt_type = access.addr[63:32] == '0 ? MWr3 : MWr4;
      dw0.ep = !access.allowed;  // never leaves
      dw0.attr_ro = rest_q.relaxed && cfg_i.relaxed_ordering;
      dw0.length = part_dws[9:0];
      dw1 = {cfg_i.requester_id, 8'h0, high_be, low_be};
      if (Functions > 1) dw1[23:16] = routing_of(access.whose);
      if (part_dws == 11'd1) dw1[7:0] = {4'h0, low_be & high_be};
      part_d.hdr = {dw0, dw1, access.addr[63:2], 2'b00};
      if (access.addr[63:32] == '0) part_d.hdr[63:0] = {access.addr[31:2], 2'b00, 32'h0};
      part_d.sel = rest_q.sel;
      part_d.ram_addr = rest_q.ram_addr - ram_addr_t'(skew);
      part_d.dws = part_dws;
      part_d.last = last_part;
    end
  end

  always_ff @(posedge clk_i) begin
    mps_q <= cfg_i.max_payload > 3'd5 ? 13'd4096 : 13'd128 << cfg_i.max_payload;
    if (req.ready) begin
      to_page_q  <= new_page;
      page_cut_q <= new_cut;
      room_q     <= new_cut ? new_page : new_mps;
    end else if (cut) begin
      to_page_q  <= next_page;
      page_cut_q <= next_cut;
      room_q     <= next_cut ? next_page : mps_q;
    end
    if (req.ready) begin
      rest_full_q <= req.valid;
      if (req.valid) rest_q <= req.data;
    end else if (cut) begin
      if (page_cut_q) rest_q.host_addr <= {rest_q.host_addr[63:12] + 1'b1, 12'h0};
      else rest_q.host_addr[11:0] <= {rest_q.host_addr[11:2] + mps_q[11:2], 2'b00};
      rest_q.ram_addr <= rest_q.ram_addr + ram_addr_t'(room_q);
      rest_q.len <= rest_q.len - 16'(room_q);
    end
    if (rst_i) rest_full_q <= 1'b0;
  end

  // Second stage: one beat of the TLP a clock, as long as the output FIFO has a place for it.
  logic [UsedW-1:0] used_q;  // beats begun that `tlp` has not taken
  logic second_q;  // one read of the beat is done, the other is not
  wire two_reads = Wide && part_q.ram_addr[3:0] != '0 && part_q.dws > 11'(28);
  logic sent;  // a beat has left
  wire issue = part_full_q && (second_q || used_q < UsedW'(FifoBeats));
  wire begins = issue && !second_q;
  wire issued = issue && (second_q || !two_reads);
  wire beat_eop = part_q.dws <= BeatDws;
  assign part_done = issued && beat_eop;

  `STREAM(info_t, info_in)
  `STREAM(info_t, info_out)
  assign info_in.valid = begins;
  `STREAM_DATA(info_in, '{hdr: first_q ? part_q.hdr : '0, sop: first_q, eop: beat_eop,
                        sel: part_q.sel, last: beat_eop && part_q.last})

  always_ff @(posedge clk_i) begin
    if (cut) begin
      part_q  <= part_d;
      first_q <= 1'b1;
    end else if (issued) begin
      part_q.ram_addr <= part_q.ram_addr + ram_addr_t'(BeatBytes);
      part_q.dws <= part_q.dws - BeatDws;
      first_q <= 1'b0;
    end
    if (cut) part_full_q <= 1'b1;
    else if (part_done) part_full_q <= 1'b0;
    second_q <= issue && !issued;
    used_q   <= used_q + UsedW'(begins) - UsedW'(sent);
    if (rst_i) begin
      part_full_q <= 1'b0;
      second_q <= 1'b0;
      used_q <= '0;
    end
  end

  // RAM read: the segments from the one with the first byte on; those that wrap around lie in the next row, and so does the
  // one that a second read is for.
  ram_read_t ram_q;
  assign ram_o = ram_q;
  wire [2:0] first_seg = part_q.ram_addr[6:4];

  always_ff @(posedge clk_i) begin
    ram_q.valid <= '0;
    if (issue) begin
      ram_q.sel <= part_q.sel;
      for (int s = 0; s < Segs; s++) begin
        ram_q.valid[s] <= second_q ? 3'(s) == first_seg : 3'(s) - first_seg < 3'd4 ||
            (3'(s) - first_seg == 3'd4 && part_q.ram_addr[3:0] != '0) || (Wide && part_q.dws > 11'd16);
        ram_q.row[s] <= part_q.ram_addr[RamAddrW-1:7] + row_addr_t'(second_q || 3'(s) < first_seg);
      end
    end
    if (rst_i) ram_q.valid <= '0;
  end

  // The byte address modulo a row goes along with the read, then turns its data: first by segments, then by bytes.
  typedef struct packed {
    logic       first;  // read of a beat
    logic       last;
    logic [6:0] turn;
  } read_t;
  logic [RamReadLatency:0] wait_q;
  read_t [RamReadLatency:0] read_q;
  read_t arrived;
  logic segs_full_q;
  logic [2:0] seg_turn_n_q;
  logic [3:0] byte_turn_q, byte_turn_n_q;
  logic [BeatSegs*SegW-1:0] segs_q;
  ram_row_t turned;
  assign arrived = read_q[RamReadLatency];
  rotate #(
      .Lanes(Segs),
      .LaneBits(SegW),
      .Right(1'b1)
  ) i_segs (
      .valid_i (wait_q[RamReadLatency]),
      .turn_i  (arrived.turn[6:4]),
      .turn_n_i(seg_turn_n_q),
      .data_i  (ram_i),
      .data_o  (turned)
  );

  always_ff @(posedge clk_i) begin
    wait_q <= {wait_q[RamReadLatency-1:0], issue};
    read_q <= {
      read_q[RamReadLatency-1:0],
      read_t'{first: !second_q, last: issued, turn: part_q.ram_addr[6:0]}
    };
    seg_turn_n_q <= ~read_q[RamReadLatency-1].turn[6:4];
    segs_full_q <= wait_q[RamReadLatency] && arrived.last;
    if (wait_q[RamReadLatency]) begin
      if (arrived.first) segs_q <= (BeatSegs * SegW)'({turned[0], turned});
      else segs_q[(BeatSegs-1)*SegW+:SegW] <= turned[0];
      byte_turn_q   <= arrived.turn[3:0];
      byte_turn_n_q <= ~arrived.turn[3:0];
    end
    if (rst_i) begin
      wait_q <= '0;
      segs_full_q <= 1'b0;
    end
  end

  `STREAM(logic [DataBits-1:0], data_in)
  `STREAM(logic [DataBits-1:0], data_out)
  assign data_in.valid = segs_full_q;
  logic [BeatSegs*SegW-1:0] aligned;
  rotate #(
      .Lanes(BeatSegs * SegBytes),
      .TurnW(4),
      .Right(1'b1)
  ) i_bytes (
      .valid_i (segs_full_q),
      .turn_i  (byte_turn_q),
      .turn_n_i(byte_turn_n_q),
      .data_i  (segs_q),
      .data_o  (aligned)
  );
  assign data_in.data = aligned[DataBits-1:0];

  // Output: header and data of a beat meet again; the data comes later.
  logic [UsedW-1:0] info_count, data_count;
  fifo #(
      .T(info_t),
      .Depth(FifoBeats)
  ) i_info (
      .clk_i,
      .rst_i,
      .in(info_in),
      .out(info_out),
      .count_o(info_count)
  );
  fifo #(
      .T(logic [DataBits-1:0]),
      .Depth(FifoBeats)
  ) i_data (
      .clk_i,
      .rst_i,
      .in(data_in),
      .out(data_out),
      .count_o(data_count)
  );

  logic left_out;
  if (Functions > 1) begin : g_left_out
    logic left_out_q;
    tlp_dw0_t first;
    assign first = info_out.data.hdr[127:96];
    assign left_out = info_out.data.sop ? first.ep : left_out_q;
    always_ff @(posedge clk_i) if (data_out.valid && data_out.ready) left_out_q <= left_out;
    wire unused_first = &{1'b0, first};
  end else begin : g_all_sent
    assign left_out = 1'b0;
  end
  assign sent = data_out.valid && data_out.ready;
  assign tlp.valid = data_out.valid && !left_out;
  assign tlp.data = '{
          hdr: info_out.data.hdr,
          data: data_out.data,
          sop: info_out.data.sop,
          eop: info_out.data.eop
      };
  assign data_out.ready = tlp.ready || left_out;
  assign info_out.ready = sent;

  always_ff @(posedge clk_i) begin
    status_o.valid  <= sent && info_out.data.last && !rst_i;
    status_o.sel    <= info_out.data.sel;
    status_o.result <= DmaOk;
  end

  `ASSERT(LengthNotZero, req.valid |-> req.data.len != '0)
  `ASSERT(InfoPlaceReserved, begins |-> info_in.ready)
  `ASSERT(DataPlaceReserved, segs_full_q |-> data_in.ready)
  `ASSERT(HeaderBeforeData, data_out.valid |-> info_out.valid)
  `ASSERT(BeatsCounted, info_count == used_q && data_count <= used_q)
endmodule
