// SPDX-License-Identifier: Apache-2.0
`include "tb.svh"
/// tile_imem against an array: the word of each fetch a clock later and until the next one, an error for addresses outside, and no
/// word between a reset and the first fetch behind it.
module tile_imem_tb;
  `TB_BEGIN
  `TB_TIMEOUT(50_000)
  localparam int Bytes = 256, Words = Bytes / 4;
  logic reset = 1, fetch = 0, we = 0, valid, error;
  logic [31:0] addr = 0, data, word = 0, words[Words];
  logic [$clog2(Words)-1:0] waddr = 0;
  tile_imem #(
      .Bytes(Bytes)
  ) dut (
      .clk_i(clk),
      .rst_i(rst || reset),
      .fetch_en_i(fetch),
      .fetch_addr_i(addr),
      .fetch_valid_o(valid),
      .fetch_data_o(data),
      .fetch_error_o(error),
      .we_i(we),
      .waddr_i(waddr),
      .wdata_i(word)
  );

  int unsigned errors = 0;
  initial begin
    logic [31:0] shown;
    bit some;
    @(negedge rst);
    for (int round = 0; round < 40; round++) begin
      // While the core stands.
      @(posedge clk) #1 reset = 1;
      for (int i = 0; i < Words; i++) begin
        if (round != 0 && $urandom_range(1) == 0) continue;
        {we, waddr, word} = {1'b1, ($clog2(Words))'(i), $urandom()};
        words[i] = word;
        @(posedge clk) #1 we = 0;
      end
      word  = $urandom();
      reset = 0;
      some  = 0;
      repeat (200) begin
        fetch = $urandom_range(1) == 1;
        addr  = $urandom() >> ($urandom_range(2) == 0 ? $urandom_range(24) : 24);
        if (fetch) {some, shown} = {1'b1, addr};
        @(posedge clk) #1;
        `CHECK(valid == some, "a word that was not asked for, or none")
        if (some) begin
          `CHECK(error == (shown >= Bytes), "whether there is such a word")
          `CHECK(error || data == words[shown/4], "another word")
          errors += 32'(error);
        end
      end
      fetch = 0;
    end
    `CHECK(errors > 500, "few addresses outside")
    `TB_PASS
  end
endmodule
