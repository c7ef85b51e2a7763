// SPDX-License-Identifier: Apache-2.0
/// The DRAM's turn: which word a memory port reads and writes in a clock.
///
/// Two readers take turns by word. One word a clock each way; half duplex: one of the two, in turns of a line when both have
/// words. Addresses leave through registers. `valid_o` marks the reader whose word is at `dram_rd_data_i`, `latency_i` clocks (1 ..
/// 63) after dram_rd_valid; a reader must have room for its words. Counts words. Reset drops reads under way.
module mem_dram
  import mesh_pkg::*;
(
    input logic       clk_i,
    input logic       rst_i,
    input logic       half_duplex_i,
    input logic [5:0] latency_i,

           stream_if.snk       read   [2],  // word_t: byte address
    output logic         [1:0] valid_o,
           stream_if.snk       write,       // dram_write_t

    output logic        dram_rd_valid_o,
    output word_t       dram_rd_addr_o,
    output logic        dram_wr_valid_o,
    output word_t       dram_wr_addr_o,
    output word_t       dram_wr_data_o,
    output logic  [3:0] dram_wr_be_o,

    output word_t reads_o,
    output word_t writes_o
);
  logic writing_q;  // half duplex: the side that has the turn
  logic [2:0] words_q;  // it has had
  wire to_read = read[0].valid || read[1].valid;
  wire may_read = !half_duplex_i || !write.valid || !writing_q;
  wire may_write = !half_duplex_i || !to_read || writing_q;
  always_ff @(posedge clk_i) begin
    if (to_read && write.valid) begin
      words_q <= words_q + 1'b1;
      if (words_q == '1) writing_q <= !writing_q;
    end else if (to_read || write.valid) begin
      words_q   <= '0;
      writing_q <= write.valid;
    end
    if (rst_i) begin
      words_q   <= '0;
      writing_q <= 1'b0;
    end
  end

  logic second_q;  // it is the second reader's turn
  assign read[1].ready = may_read && (second_q || !read[0].valid);
  assign read[0].ready = may_read && !(read[1].valid && read[1].ready);
  wire [1:0] go = {read[1].valid && read[1].ready, read[0].valid && read[0].ready};
  assign write.ready = may_write;

  // Under way in the DRAM.
  logic [1:0][63:0] way_q;
  assign valid_o = {way_q[1][latency_i], way_q[0][latency_i]};

  wire dram_write_t written = write.data;
  always_ff @(posedge clk_i) begin
    for (int i = 0; i < 2; i++) way_q[i] <= {way_q[i][62:0], go[i]};
    dram_rd_valid_o <= |go;
    if (to_read) begin
      dram_rd_addr_o <= go[1] ? read[1].data : read[0].data;
      second_q <= !go[1];
    end
    dram_wr_valid_o <= write.valid && may_write;
    if (write.valid) begin
      dram_wr_addr_o <= written.address;
      dram_wr_data_o <= written.data;
      dram_wr_be_o   <= written.enable;
    end
    if (|go) reads_o <= reads_o + 1'b1;
    if (write.valid && may_write) writes_o <= writes_o + 1'b1;
    if (rst_i) begin
      way_q <= '0;
      dram_rd_valid_o <= 1'b0;
      dram_wr_valid_o <= 1'b0;
      second_q <= 1'b0;
      reads_o <= '0;
      writes_o <= '0;
    end
  end
endmodule
