// SPDX-License-Identifier: Apache-2.0
`include "parts_tb.svh"
`include "tb.svh"
/// boot_whole: what is started and stopped is what was written last, at once; how large the grid is; other registers read 0 and change nothing;
/// a reset stops everything.
module boot_whole_tb
  import boot_pkg::*;
;
  `TB_BEGIN
  `TB_TIMEOUT(20_000)
  localparam int Cols = 5, Rows = 3;
  logic again = 0;
  reg_if #(.AddrW(UnitW)) boot ();
  wire unused = &{1'b0, boot.wstrb};
  logic tiles_go, slots_go;
  boot_whole #(
      .Cols(Cols),
      .Rows(Rows)
  ) dut (
      .clk_i(clk),
      .rst_i(rst || again),
      .boot,
      .tiles_go_o(tiles_go),
      .slots_go_o(slots_go)
  );
  reg_master #(
      .AddrW(UnitW)
  ) i_master (
      .clk,
      .rst(rst || again),
      .on (boot)
  );

  logic [ 1:0] go = '0;
  logic [31:0] value;
  task automatic expect_go();
    `CHECK({slots_go, tiles_go} == go, "started or stopped, and nobody asked for it")
    i_master.read(UnitW'(WholeGo) << 2, value);
    `CHECK(value == 32'(go), "what was written last does not read back")
  endtask

  initial begin
    @(negedge rst);
    expect_go();
    for (int n = 0; n < 600; n++) begin
      logic [5:0] register;
      register = $urandom_range(1) == 0 ? 6'(WholeGo) : 6'($urandom());
      i_master.write(UnitW'(register) << 2, {30'($urandom()), 2'(n)});
      if (register == 6'(WholeGo)) go = 2'(n);
      expect_go();
      if (register != 6'(WholeGo)) begin
        i_master.read(UnitW'(register) << 2, value);
        `CHECK(value == (register == 6'(WholeSize) ? {16'd0, 8'(Rows), 8'(Cols)} : '0),
               "a register")
      end
      if ($urandom_range(9) == 0) begin
        again <= 1;
        repeat ($urandom_range(3, 1)) @(posedge clk);
        again <= 0;
        @(posedge clk);
        go = '0;
        expect_go();
      end
    end
    `TB_PASS
  end
endmodule
