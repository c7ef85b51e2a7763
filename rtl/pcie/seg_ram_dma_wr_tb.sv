// SPDX-License-Identifier: Apache-2.0
`include "tb.svh"
/// seg_ram_dma_wr: random byte ranges written as the DMA read engine does, of its own and of another RAM's `Sel`, while the
/// datapath reads in every clock, at the stated latency.
module seg_ram_dma_wr_tb
  import dma_pkg::*;
#(
    parameter int DataBytes = 64
);
  `TB_BEGIN
  `TB_TIMEOUT(50_000)
  localparam int Bytes = 2048;
  localparam ram_sel_t Sel = 6'd9;

  ram_write_t write;
  logic re = 0;
  logic [$clog2(Bytes/DataBytes)-1:0] raddr;
  logic [8*DataBytes-1:0] rdata;
  seg_ram_dma_wr #(
      .Bytes(Bytes),
      .Sel(Sel),
      .DataBytes(DataBytes)
  ) dut (
      .clk_i(clk),
      .rst_i(rst),
      .ram_i(write),
      .re_i(re),
      .raddr_i(raddr),
      .rdata_o(rdata)
  );

  logic [7:0] model[Bytes];
  logic [8*DataBytes-1:0] expect_q[3], held;
  logic [2:0] read_q = '0;
  int unsigned reads = 0;

  function automatic logic [8*DataBytes-1:0] model_read(int unsigned n);
    for (int i = 0; i < DataBytes; i++) model_read[i*8+:8] = model[n*DataBytes+i];
  endfunction

  function automatic ram_write_t make_write(bit fill, int unsigned n);
    int unsigned from, count;
    make_write = '0;
    make_write.sel = fill || $urandom_range(3) != 0 ? Sel : ram_sel_t'($urandom());
    from = fill ? n * 64 : $urandom_range(2 ** RamAddrW - 1);
    count = fill || $urandom_range(1) != 0 ? 64 : $urandom_range(64, 1);
    for (int s = 0; s < Segs; s++)
    make_write.data[s] = {$urandom(), $urandom(), $urandom(), $urandom()};
    for (int unsigned b = from; b < from + count; b++) begin
      make_write.valid[b[6:4]] = 1;
      make_write.row[b[6:4]] = row_addr_t'(b >> 7);
      make_write.strb[b[6:4]][b[3:0]] = 1;
    end
    if (!fill && $urandom_range(7) == 0)
      make_write.valid &= 8'($urandom());  // strobes without valid write nothing
  endfunction

  always @(posedge clk) begin
    // The read of this clock sees the writes of the clocks before.
    if (re) expect_q[0] = model_read(32'(raddr));
    if (write.sel == Sel) begin
      for (int s = 0; s < Segs; s++) begin
        for (int b = 0; b < SegBytes; b++) begin
          if (write.valid[s] && write.strb[s][b])
            model[(32'(write.row[s])*RowBytes+s*SegBytes+b)%Bytes] = write.data[s][b*8+:8];
        end
      end
    end
    if (read_q[1]) begin
      held = expect_q[2];
      reads++;
    end
    `CHECK(reads == 0 || rdata === held, "wrong data read, or not held")
    expect_q[2] = expect_q[1];
    expect_q[1] = expect_q[0];
    read_q = {read_q[1:0], re};
  end

  initial begin
    write = '0;
    @(negedge rst);
    for (int n = 0; n < Bytes / 64; n++) begin
      write <= make_write(1, n);
      @(posedge clk);
    end
    for (int i = 0; i < 10000; i++) begin
      write <= make_write(0, 0);
      re <= $urandom_range(9) != 0;
      raddr <= $bits(raddr)'($urandom());
      @(posedge clk);
    end
    re <= 0;
    repeat (5) @(posedge clk);
    `CHECK(reads > 8000, "too few reads")
    `TB_PASS
  end
endmodule
