// SPDX-License-Identifier: Apache-2.0
`include "tb.svh"
/// seg_ram_read with one lane a segment and with two: random writes of any lanes, and reads of any segments in every clock,
/// of its own and of another RAM's `Sel`: what was asked for is there 2 clocks later, zero if nothing was, and after a reset.
module seg_ram_read_tb;
  `TB_BEGIN
  `TB_TIMEOUT(50_000)
  logic [1:0] done;
  int unsigned made[2];
  for (genvar s = 0; s < 2; s++) begin : g_side
    seg_ram_read_side_tb #(
        .Lanes(s + 1)
    ) i_side (
        .clk,
        .done_o  (done[s]),
        .checks_o(made[s])
    );
  end
  `TB_PASS_WITH(done, made)
endmodule

/// One of them.
module seg_ram_read_side_tb
  import dma_pkg::*;
#(
    parameter int Lanes = 1
) (
    input logic clk,
    output logic done_o,
    output int unsigned checks_o
);
  localparam int Rows = 16, RowW = $clog2(Rows), LaneBits = SegW / Lanes;
  localparam ram_sel_t Sel = 6'd9;
  int unsigned checks = 0, reads = 0;
  assign checks_o = checks;

  logic rst = 1;
  logic [Segs-1:0][Lanes-1:0] we = '0;
  logic [Segs-1:0][Lanes-1:0][RowW-1:0] waddr = '0;
  logic [Segs-1:0][SegW-1:0] wdata = '0;
  ram_read_t read = '0;
  ram_row_t row;
  seg_ram_read #(
      .Rows (Rows),
      .Lanes(Lanes),
      .Sel  (Sel)
  ) dut (
      .clk_i(clk),
      .rst_i(rst),
      .we_i(we),
      .waddr_i(waddr),
      .wdata_i(wdata),
      .ram_i(read),
      .ram_o(row)
  );

  logic [LaneBits-1:0] model[Segs][Rows][Lanes];
  // The row that is read in this clock and the one before; which segments of it were asked for, none: all are zero.
  ram_row_t rows[2];
  logic [Segs-1:0] asked[2];

  task automatic step();
    rows[1]  = rows[0];
    asked[1] = asked[0];
    if (rst) asked = '{default: '0};
    else begin
      asked[0] = read.sel == Sel ? read.valid : '0;
      reads += 32'(asked[0] != '0);
      // The read of this clock sees the writes of the clocks before.
      for (int s = 0; s < Segs; s++)
      for (int l = 0; l < Lanes; l++)
      rows[0][s][LaneBits*l+:LaneBits] = model[s][RowW'(read.row[s])][l];
    end
    for (int s = 0; s < Segs; s++)
      for (int l = 0; l < Lanes; l++)
        if (we[s][l]) model[s][waddr[s][l]][l] = wdata[s][LaneBits*l+:LaneBits];
  endtask

  task automatic drive(int unsigned n);
    bit fill = n < Rows;
    for (int s = 0; s < Segs; s++) begin
      wdata[s] <= {$urandom(), $urandom(), $urandom(), $urandom()};
      read.row[s] <= row_addr_t'($urandom());
      for (int l = 0; l < Lanes; l++) begin
        we[s][l] <= fill || 1'($urandom());
        waddr[s][l] <= fill ? RowW'(n) : RowW'($urandom());
      end
    end
    read.sel <= $urandom_range(3) != 0 ? Sel : ram_sel_t'($urandom());
    case ($urandom_range(
        3
    ))
      0: read.valid <= '0;
      1: read.valid <= '1;
      default: read.valid <= Segs'($urandom());
    endcase
    rst <= n < 20 || $urandom_range(49) == 0;
  endtask

  int unsigned clocks = 0;
  initial begin
    done_o = 0;
    while (clocks < 10_000) @(posedge clk);
    `CHECK(reads > 3000, "too few reads")
    done_o = 1;
  end
  always @(posedge clk) begin
    if (clocks > 3) begin
      if (asked[1] == '0) `CHECK(row == '0, "not zero though nothing was asked for")
      for (int s = 0; s < Segs; s++)
      if (asked[1][s]) `CHECK(row[s] == rows[1][s], $sformatf("segment %0d of a row", s))
    end
    step();
    drive(clocks);
    clocks++;
  end
endmodule
