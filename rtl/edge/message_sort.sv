// SPDX-License-Identifier: Apache-2.0
/// Demultiplexer of the dynamic messages that come to an edge slot.
///
/// `memory_i` and `linecard_i` say what the slot is. To a memory everything goes to `memory`; of a linecard reads of its buffer
/// go to `buffer`, interrupts become pulses, the rest goes to `line`. A message for another place (its destination is outside
/// the grid) and any message to a slot that is nothing is dropped; `drop_o` is high for each of its words.
/// Combinational, one word a clock, whole messages.
module message_sort
  import mesh_pkg::*;
(
    input logic   clk_i,
    input logic   rst_i,
    input place_t place_i,
    input logic   memory_i,
    input logic   linecard_i,

    stream_if.snk in,
    stream_if.src memory,
    stream_if.src buffer,
    stream_if.src line,

    output logic drop_o,
    output logic written_o,  // an interrupt to a linecard, of a memory
    output logic credit_o    // and of a tile
);
  typedef enum logic [2:0] {
    Drop,
    Memory,
    Buffer,
    Line,
    Pulse
  } to_e;
  logic [4:0] left_q;  // words to come after the header
  to_e to_q, to_now, to;

  wire header_t header = header_t'(in.data);
  always_comb begin
    to_now = Drop;
    if (header.dest == place_i) begin
      if (memory_i) to_now = Memory;
      else if (linecard_i)
        to_now = header.user inside {ReadLine, ReadDma, FreeBuffer} ? Buffer :
            header.user == Interrupt && header.len == '0 ? Pulse : Line;
    end
    to = left_q != '0 ? to_q : to_now;
  end
  assign memory.valid = in.valid && to == Memory;
  assign buffer.valid = in.valid && to == Buffer;
  assign line.valid = in.valid && to == Line;
  assign memory.data = in.data;
  assign buffer.data = in.data;
  assign line.data = in.data;
  assign drop_o = in.valid && to == Drop;
  assign written_o = in.valid && to == Pulse && header.src.exit != Core;
  assign credit_o = in.valid && to == Pulse && header.src.exit == Core;
  always_comb begin
    case (to)
      Memory:  in.ready = memory.ready;
      Buffer:  in.ready = buffer.ready;
      Line:    in.ready = line.ready;
      default: in.ready = 1'b1;
    endcase
  end

  always_ff @(posedge clk_i) begin
    if (in.valid && in.ready) begin
      to_q   <= to;
      left_q <= left_q != '0 ? left_q - 1'b1 : header.len;
    end
    if (rst_i) left_q <= '0;
  end
endmodule
