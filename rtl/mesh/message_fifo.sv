// SPDX-License-Identifier: Apache-2.0
`include "assert.svh"
`include "stream.svh"
/// The FIFO at an input of a dynamic_router: the word at its head and what the router must know of it are in flip-flops.
///
/// Holds `Depth` words (a power of two), the one at the head included. Latency 1 clock, one word a clock; `in.ready` and `room_o`
/// (for a link_out, as of link_fifo) come from registers. With each word comes the port by which a message leaves that has it as its
/// header (`way_i`): so nothing need be worked out once it is here. Reset empties it. Drops nothing.
module message_fifo
  import mesh_pkg::*;
#(
    parameter int Depth = 4
) (
    input logic clk_i,
    input logic rst_i,
    stream_if.snk in,
    input logic [2:0] way_i,
    output logic room_o,

    // The head. `asks_o`: one bit, while a header is there: the port by which its message leaves.
    output logic                    valid_o,
    output word_t                   data_o,
    output logic  [RouterPorts-1:0] asks_o,
    output logic                    last_o,   // of its message
    input  logic                    pop_i
);
  if (Depth < 2 || (Depth & (Depth - 1)) != 0) begin : g_bad_parameter
    $fatal(1, "message_fifo: Depth %0d is not a power of two", Depth);
  end
  localparam int PtrW = $clog2(Depth);
  typedef struct packed {
    logic [2:0] way;
    word_t      word;
  } entry_t;

  entry_t mem[Depth];  // the words behind the head
  logic [PtrW-1:0] write_q, read_q;
  logic [PtrW:0] count_q;  // the head included
  assign in.ready = count_q < (PtrW + 1)'(Depth);
  assign room_o   = count_q < (PtrW + 1)'(Depth - 1);

  wire push = in.valid && in.ready;
  wire more = count_q > (PtrW + 1)'(1);
  wire free = pop_i || !valid_o;  // the head's place, in the next clock
  wire load = free && (more || push);
  entry_t next;
  `WHILE(load, next, more ? mem[read_q] : '{way: way_i, word: in.data})

  // Words of its message behind the head; with no word there, those that are still to come.
  logic [4:0] left_q;
  header_t header;
  assign header = next.word;
  assign last_o = left_q == '0;

  always_ff @(posedge clk_i) begin
    if (`WORTH(push || pop_i || rst_i)) begin
      if (push) mem[write_q] <= '{way: way_i, word: in.data};
      if (push && !(free && !more)) write_q <= write_q + 1'b1;
      if (free && more) read_q <= read_q + 1'b1;
      if (push != pop_i) count_q <= push ? count_q + 1'b1 : count_q - 1'b1;
      if (free) begin
        valid_o <= load;
        data_o  <= next.word;
        asks_o  <= load && last_o ? RouterPorts'(1) << next.way : '0;
      end
      if (load) left_q <= last_o ? header.len : left_q - 1'b1;
      if (rst_i) begin
        write_q <= '0;
        read_q  <= '0;
        count_q <= '0;
        valid_o <= 1'b0;
        asks_o  <= '0;
        left_q  <= '0;
      end
    end
  end

  `ASSERT(NeverOverfull, count_q <= (PtrW + 1)'(Depth))
  `ASSERT(HeadFirst, valid_o == (count_q != '0))
  `ASSERT(PopsAWord, pop_i |-> valid_o)
endmodule
