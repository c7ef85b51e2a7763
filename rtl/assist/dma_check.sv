// SPDX-License-Identifier: Apache-2.0
/// Sorts the DMA commands that firmware wrote: to the host's clock, or refused.
///
/// A command has 1 ... 2048 bytes that all lie in the scratchpad or all in the frame memory (assist_pkg). `kind` gets
/// one word each, in order: 0 it uses the frame memory, 1 the scratchpad, 2 it was refused, which `bad_o` counts. With `Writes` a
/// command for host address 0 is refused too: nobody has given that memory. Combinational.
module dma_check
  import core_pkg::*;
  import assist_pkg::*;
  import dram_pkg::*;
#(
    parameter int ScratchBytes = 262144,
    parameter bit Writes = 1'b0
) (
    input logic clk_i,
    input logic rst_i,
    stream_if.snk words,    // dma_ring_command_t
    stream_if.src command,  // dma_command_t
    stream_if.src kind,     // logic [1:0]
    output logic bad_o
);
  dma_ring_command_t word;
  assign word = words.data;
  wire [15:0] len = word.info.len;
  wire len_ok = len >= 16'd1 && len <= 16'(MaxPart);
  wire [31:0] in_frame = word.local_addr - FrameBase;
  wire [31:0] in_scratch = word.local_addr - ScratchBase;
  wire frame = in_frame < 2 ** FrameAddrW && in_frame + 32'(len) <= 2 ** FrameAddrW;
  wire scratch = in_scratch < ScratchBytes && in_scratch + 32'(len) <= ScratchBytes;
  wire nowhere = Writes && {word.host_high, word.host_low} == '0;
  wire good = len_ok && (frame || scratch) && !nowhere;
  wire unused = &{1'b0, word.info.note, clk_i, rst_i};

  assign kind.valid = words.valid && (!good || command.ready);
  assign kind.data = !good ? 2'd2 : {1'b0, scratch};
  assign command.valid = words.valid && good && kind.ready;
  assign command.data = '{
          host_addr: {word.host_high, word.host_low},
          part: '{addr: word.local_addr, len: len[11:0]},
          scratch: scratch,
          irq: word.info.irq
      };
  assign words.ready = kind.ready && (!good || command.ready);
  assign bad_o = words.valid && words.ready && !good;
endmodule
