// SPDX-License-Identifier: Apache-2.0
`include "parts_tb.svh"
`include "tb.svh"
`include "stream.svh"
/// usplus_cq with virtual functions: the address of a request says whose it is, by the function that the block names, and where in
/// that one's aperture; with one function it is the bus's. Other fields and payload are as they came. (usplus_pcie_tb: every size.)
module usplus_cq_tb #(
    parameter int Functions = 8
);
  import pcie_pkg::*;
  import usplus_pkg::*;
  `TB_BEGIN
  `TB_TIMEOUT(100_000)
  localparam int ApertureW = 20;
  typedef struct packed {
    cq_user_t user;
    logic [511:0] data;
  } pins_t;
  typedef struct packed {
    mem4_hdr_t hdr;
    logic [11:0][31:0] payload;  // as many words as its length says; 0 behind them
  } request_t;

  `STREAM_ON(pins_t, pins, clk, rst)
  `STREAM_ON(tlp_beat_t, req, clk, rst)
  `STREAM_ON(request_t, got, clk, rst)
  int unsigned out_percent = 100;
  `STREAM_SOURCE(pins_t, i_pins, pins, 80)
  `STREAM_CHECK(request_t, i_got, got, out_percent)
  wire pins_t beat = pins.data;
  usplus_cq #(
      .Functions(Functions),
      .ApertureW(ApertureW)
  ) dut (
      .clk_i(clk),
      .rst_i(rst),
      .tvalid_i(pins.valid),
      .tdata_i(beat.data),
      .tuser_i(beat.user),
      .tready_o(pins.ready),
      .req
  );
  wire tlp_beat_t tlp = req.data;
  wire [11:0][31:0] kept = {32'd12{32'hffffffff}} >> (32 * (12 - (tlp.hdr[126] ? 32'(tlp.hdr[105:96]) : 0)));
  assign got.valid = req.valid;
  assign got.data  = '{hdr: tlp.hdr, payload: tlp.data[383:0] & kept};
  assign req.ready = got.ready;
  always @(posedge clk) if (req.valid && !rst) `CHECK(tlp.sop && tlp.eop, "a TLP is one beat")

  task automatic send(bit write, logic [7:0] number, int unsigned words);
    automatic cq_desc_t d = cq_desc_t'({4{$urandom()}});
    automatic cq_user_t u = '0;
    automatic logic [511:0] data = {16{$urandom()}};
    automatic request_t want = '0;
    automatic logic [63:0] addr;
    d.target_function = number;
    d.req_type = write ? UsMemWrite : UsMemRead;
    d.dword_count = 11'(words);
    {d.reserved, d.reserved_79} = '0;
    u.sop[0] = 1;
    u.eop[0] = 1;
    u.eop_ptr[0] = 4'(write ? 3 + words : 3);
    {u.last_be[0], u.first_be[0]} = 8'($urandom());
    // The physical function is 0, virtual ones are 4 and up on the bus and 1 and up here.
    addr = 64'({number < 4 ? 8'd0 : number - 8'd3, d.addr[ApertureW-1:2], 2'd0});
    if (Functions == 1) addr = {d.addr[63:32] & {32{number[0]}}, d.addr[31:2], 2'd0};
    if (Functions == 1) d.addr = addr[63:2];
    data[127:0] = d;
    want.hdr.dw0.fmt_type = {1'b0, write, addr[63:32] != 0, 5'd0};
    want.hdr.dw0.length = 10'(words);
    want.hdr.dw0.tc = d.tc;
    want.hdr.dw0.at = d.at;
    {want.hdr.dw0.attr_ido, want.hdr.dw0.attr_ro, want.hdr.dw0.attr_ns} = d.attr;
    want.hdr.requester_id = d.requester_id;
    want.hdr.tag = d.tag;
    {want.hdr.last_be, want.hdr.first_be} = {u.last_be[0], u.first_be[0]};
    want.hdr.addr = addr[63:32] != 0 ? addr : {addr[31:0], 32'd0};
    for (int i = 0; write && i < int'(words); i++) want.payload[i] = data[128+32*i+:32];
    i_got.expected.push_back(want);
    i_pins.queue.push_back('{user: u, data: data});
  endtask

  initial begin
    @(negedge rst);
    for (int round = 0; round < 20; round++) begin
      out_percent = $urandom_range(100, 20);
      repeat (100) begin
        automatic int unsigned number = $urandom_range(10);
        send(1'($urandom()), 8'(number == 0 ? 0 : number + 3), $urandom_range(12, 1));
      end
      while (i_got.expected.size() != 0) @(posedge clk);
    end
    `CHECK(i_got.taken == 2000, "requests")
    `TB_PASS
  end
endmodule
