// SPDX-License-Identifier: Apache-2.0
`include "parts_tb.svh"
`include "tb.svh"
`include "stream.svh"
/// doorbell_port: doorbells and other accesses come out in the order in which they went in, each once and as it was; doorbells
/// are taken one a clock while there is room, and as fast as they leave when there is none.
module doorbell_port_tb;
  import queue_pkg::*;
  `TB_BEGIN
  `TB_TIMEOUT(200_000)
  localparam int Depth = 6;
  localparam int AddrW = 23;

  // What an access is stands on the wires in its own clock only.
  reg_if #(.AddrW(AddrW)) master ();
  reg_if #(.AddrW(AddrW)) regs ();
  logic [AddrW+36:0] noise;
  always @(posedge clk) noise <= (AddrW + 37)'({$urandom(), $urandom()});
  assign regs.req = master.req;
  assign {regs.write, regs.addr, regs.wdata, regs.wstrb} =
      master.req ? {master.write, master.addr, master.wdata, master.wstrb} : noise;
  assign master.ack = regs.ack;
  assign master.rdata = regs.rdata;
  reg_if #(.AddrW(AddrW)) rest ();
  `STREAM_ON(rung_t, rung, clk, rst)
  doorbell_port #(
      .Depth(Depth)
  ) dut (
      .clk_i(clk),
      .rst_i(rst),
      .regs,
      .rest,
      .rung
  );
  `REG_MASTER(AddrW, i_master, master)

  // What must come out: {is a doorbell, address, data, strobes}.
  typedef logic [AddrW+36:0] item_t;
  item_t expected[$];
  int unsigned bells = 0, others = 0;
  function automatic logic is_bell(logic [AddrW-1:0] addr, logic write, logic [3:0] strb);
    return write && strb == '1 && addr[4:2] == QRegProducer && addr < 23'h200000;
  endfunction
  task automatic came(item_t item);
    `CHECK(expected.size() != 0 && expected[0] == item, $sformatf("%h came", item))
    void'(expected.pop_front());
  endtask

  int unsigned percent = 50;
  `STREAM_SINK(rung_t, i_rung, rung, percent)
  logic ack = 0;
  logic [31:0] rdata = '0;
  assign rest.ack   = ack;
  assign rest.rdata = rdata;
  bit open = 0;
  always @(posedge clk) begin
    ack <= 0;
    if (rst) open = 0;
    else begin
      if (regs.req)
        expected.push_back(is_bell(regs.addr, regs.write, regs.wstrb
                           ) ? {1'b1, AddrW'(regs.addr[20:5]), 32'(regs.wdata[15:0]), 4'hf} :
                               {1'b0, regs.addr, regs.write ? regs.wdata : 32'd0, regs.wstrb});
      if (rung.valid && rung.ready) begin
        bells++;
        came({1'b1, AddrW'(rung.data.queue), 32'(rung.data.producer), 4'hf});
      end
      if (rest.req) begin
        `CHECK(!open, "a second access")
        open = 1;
        others++;
        came({1'b0, rest.addr, rest.write ? rest.wdata : 32'd0, rest.wstrb});
      end
      if (open && $urandom_range(1) == 0) begin
        open = 0;
        ack   <= 1;
        rdata <= 32'(rest.addr) ^ 32'h5a5a5a5a;
      end
    end
  end

  initial begin
    logic [31:0] got;
    logic [AddrW-1:0] addr;
    int unsigned start, first;
    @(negedge rst);
    for (int i = 0; i < 3000; i++) begin
      percent = i / 300 * 10 + 5;
      addr = AddrW'($urandom()) & 23'h7ffffc;
      if ($urandom_range(3) != 0) addr[4:2] = QRegProducer;
      if ($urandom_range(3) != 0) addr[22:21] = '0;
      case ($urandom_range(
          7
      ))
        0: begin
          i_master.read(addr, got);
          `CHECK(got == (32'(addr) ^ 32'h5a5a5a5a), "what was read is not the answer")
        end
        1: i_master.access(1, addr, $urandom(), 4'($urandom()));
        default: i_master.post(addr, $urandom());
      endcase
    end
    percent = 100;
    while (i_master.posts.size() != 0) @(posedge clk);
    repeat (50) @(posedge clk);
    `CHECK(expected.size() == 0 && bells > 500 && others > 500, "not all came out")

    // One a clock when they leave; when they do not, as many as there are places, and then no more.
    for (int p = 100; p >= 0; p -= 50) begin
      percent = p;
      for (int i = 0; i < 2000; i++) i_master.post(23'(i % 1000 * 32 + 16), i);
      if (p == 0) begin
        automatic int unsigned clocks = 0;
        for (; expected.size() < Depth; clocks++) @(posedge clk);
        `CHECK(clocks <= Depth + 1, $sformatf("%0d places are full after %0d clocks", Depth,
                                              clocks))
      end
      repeat (20) @(posedge clk);
      start = bells;
      first = i_master.posted;
      repeat (500) @(posedge clk);
      $display("%0d doorbells in 500 clocks at %0d %%", bells - start, p);
      if (p == 100) `CHECK(bells - start == 500, "less than one a clock")
      if (p == 50) `CHECK(bells - start > 200, "less than what leaves")
      if (p == 0)
        `CHECK(i_master.posted == first && expected.size() == Depth, "places are not used")
      percent = 100;
      while (i_master.posts.size() != 0) @(posedge clk);
      repeat (50) @(posedge clk);
      `CHECK(expected.size() == 0, "not all came out")
    end
    `TB_PASS
  end
endmodule
