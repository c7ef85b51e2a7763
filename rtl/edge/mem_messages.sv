// SPDX-License-Identifier: Apache-2.0
/// Reads the messages of one dynamic network to a memory port or a linecard's buffer: makes reads, writes and stream set-ups of
/// them.
///
/// One word a clock; it waits only for room at the output that the message needs. A message of unknown kind or of wrong length
/// is read to its end and counted by a pulse on `bad_o`; if it was a read, an error is answered (a read of `len` 0 goes out).
/// `Understands` says which messages are good here; for streams alone nothing is ever answered. Reset drops the message at hand.
module mem_messages
  import mesh_pkg::*;
#(
    parameter mem_understands_e Understands = ForMemory
) (
    input logic   clk_i,
    input logic   rst_i,
    input place_t place_i, // of this memory

    stream_if.snk in,

    stream_if.src read,  // mem_read_t
    stream_if.src write,  // dram_write_t
    stream_if.src set_up,  // stream_set_up_t
    stream_if.src confirm, // place_t: where to say that the words of a WriteLast are on their way to the DRAM

    output logic bad_o
);
  typedef enum logic [2:0] {
    AtHeader,
    AtAddress,
    AtSecond,   // mask, length
    AtWords,
    Skipping,
    Failing,    // the error is answered
    Confirming
  } state_e;

  state_e state_q;
  header_t header_q;
  word_t address_q;
  logic [LineBytes-1:0] mask_q;
  logic [4:0] left_q;  // words of the message to come
  logic [2:0] tag_q;

  wire header_t header = header_t'(in.data);
  wire dma_length_t length = dma_length_t'(in.data);
  wire taken = in.valid && in.ready;
  wire is_dma = header_q.user == ReadDma;
  wire is_set_up = header_q.user inside {StreamWrite, StreamRead};
  wire is_free = header_q.user == FreeBuffer && state_q != Failing;
  wire no_words = length.words == '0;

  logic good;
  always_comb begin
    case (header.user)
      ReadLine: good = header.len == 5'd1 && Understands == ForMemory;
      ReadDma: good = header.len == 5'd2 && Understands != ForStreams;
      WriteLine, WriteLast: good = header.len == 5'(LineWords + 1) && Understands == ForMemory;
      WriteMasked: good = header.len == 5'(LineWords + 2) && Understands == ForMemory;
      StreamWrite, StreamRead: good = header.len == 5'd2 && Understands != ForBuffer;
      FreeBuffer: good = header.len == 5'd1 && Understands == ForBuffer;
      default: good = 1'b0;
    endcase
  end

  // What each word of the message causes.
  wire read_here = state_q == Failing || (in.valid &&
      (state_q == AtAddress && header_q.user inside {ReadLine, FreeBuffer} || state_q == AtSecond && is_dma));
  wire failed = state_q == Failing || (is_dma && no_words);
  assign read.valid = read_here;
  always_comb begin
    read.data.header = '{
        user: {2'b01, state_q == Failing ? tag_q : is_dma ? length.tag : in.data[2:0]},
        src: place_i,
        len: is_dma ? length.words : 5'(LineWords),
        dest: header_q.src
    };
    if (failed) begin
      read.data.header.user[4:3] = 2'b10;
      read.data.header.len = '0;
    end
    read.data.free   = is_free || (is_dma && length.free && !failed);
    read.data.silent = is_free;
    if (is_free) read.data.header.len = '0;
    // That of an error does not count, but must not change while it waits.
    read.data.address = is_dma || state_q == Failing ? {address_q[31:2], 2'b00} : {in.data[31:5], 5'd0};
  end
  assign write.valid = state_q == AtWords && in.valid;
  assign write.data = '{
          address: address_q,
          data: in.data,
          enable: {mask_q[0], mask_q[1], mask_q[2], mask_q[3]}
      };
  assign set_up.valid = state_q == AtSecond && is_set_up && in.valid;
  assign set_up.data = '{
          write: header_q.user == StreamWrite,
          from : header_q.src,
          address: {address_q[31:2], 2'b00},
          words: in.data[15:0]
      };

  assign confirm.valid = state_q == Confirming;
  assign confirm.data = header_q.src;

  always_comb begin
    in.ready = 1'b1;
    if (state_q inside {Failing, Confirming}) in.ready = 1'b0;
    else if (read_here) in.ready = read.ready;
    else if (write.valid) in.ready = write.ready;
    else if (set_up.valid) in.ready = set_up.ready;
  end
  assign bad_o = taken &&
      (state_q == AtHeader && !good || state_q == AtSecond && is_dma && no_words);

  wire to_fail = header_q.user inside {ReadLine, ReadDma} && Understands != ForStreams;
  always_ff @(posedge clk_i) begin
    if (taken) begin
      left_q <= left_q - 1'b1;
      case (state_q)
        AtHeader: begin
          header_q <= header;
          left_q <= header.len;
          tag_q <= '0;
          mask_q <= '1;
          if (good) state_q <= AtAddress;
          else if (header.len != '0) state_q <= Skipping;
          else if (header.user inside {ReadLine, ReadDma} && Understands != ForStreams)
            state_q <= Failing;
        end
        AtAddress: begin
          address_q <= header_q.user inside {WriteLine, WriteLast, WriteMasked} ? {in.data[31:5], 5'd0} : in.data;
          state_q <= header_q.user inside {ReadLine, FreeBuffer} ? AtHeader :
              header_q.user inside {WriteLine, WriteLast} ? AtWords : AtSecond;
        end
        AtSecond: begin
          mask_q  <= in.data;
          state_q <= header_q.user == WriteMasked ? AtWords : AtHeader;
        end
        AtWords: begin
          address_q <= address_q + 32'd4;
          mask_q <= mask_q >> 4;
          if (left_q == 5'd1) state_q <= header_q.user == WriteLast ? Confirming : AtHeader;
        end
        default: begin  // Skipping
          if (left_q == header_q.len) tag_q <= in.data[2:0];
          if (left_q == 5'd1) state_q <= to_fail ? Failing : AtHeader;
        end
      endcase
    end
    if (state_q == Failing && read.ready) state_q <= AtHeader;
    if (state_q == Confirming && confirm.ready) state_q <= AtHeader;
    if (rst_i) state_q <= AtHeader;
  end
endmodule
