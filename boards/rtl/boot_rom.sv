// SPDX-License-Identifier: Apache-2.0
/// A program out of a ROM into the memories of the cores, in the host's place: after each reset, and then the cores run.
///
/// `Image` is a file of `Words` lines in hexadecimal, each a word's address as a core sees it and the word (`./emery board` writes it; none: the ROM is somebody else's to fill). They
/// are written one after the other to `regs`, whole words, each when the one before was answered. `done_o` rises behind the last.
module boot_rom #(
    parameter string Image = "",
    parameter int Words = 1,
    parameter int AddrW = 32,
    localparam int IndexW = $clog2(Words + 1)
) (
    input logic clk_i,
    input logic rst_i,
    reg_if.master regs,
    output logic done_o
);
  logic [63:0] rom[2**IndexW];
  initial if (Image != "") $readmemh(Image, rom, 0, Words - 1);

  logic [IndexW-1:0] next_q;
  logic [63:0] word_q;
  typedef enum logic [1:0] {
    Fetch,
    Write,
    Wait,
    Done
  } state_e;
  state_e state_q;
  assign done_o = state_q == Done;
  assign regs.req = state_q == Write;
  assign regs.write = 1'b1;
  assign regs.addr = word_q[32+:AddrW];
  assign regs.wdata = word_q[31:0];
  assign regs.wstrb = '1;
  wire unused = &{1'b0, regs.rdata, word_q};

  always_ff @(posedge clk_i) begin
    word_q <= rom[next_q];
    unique case (state_q)
      Fetch:   state_q <= next_q == IndexW'(Words) ? Done : Write;
      Write, Wait: begin
        if (regs.ack) begin
          next_q  <= next_q + 1'b1;
          state_q <= Fetch;
        end else begin
          state_q <= Wait;
        end
      end
      default: ;
    endcase
    if (rst_i) begin
      next_q  <= '0;
      state_q <= Fetch;
    end
  end
endmodule
