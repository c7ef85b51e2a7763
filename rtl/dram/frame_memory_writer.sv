// SPDX-License-Identifier: Apache-2.0
`include "assert.svh"
`include "stream.svh"
/// Writes parts into the frame memory: rows of 64 bytes in, bursts on the bus out (core-nic paper, section 4).
///
/// `part` says where the bytes go, `row` brings them: byte i of the part in byte (address mod 16) + i of its rows, the last
/// row's rest unused. Only the part's bytes are written. The request goes out as soon as the part is known, up to four
/// parts ahead of their data, so rows must come at the bus's rate (one a clock) or all ports wait. A part of more
/// than 128 words is two bursts. `done_o` is high for a clock when the bus took a part's last row. One row a clock, no
/// clock lost between parts. Reset forgets all.
module frame_memory_writer
  import dram_pkg::*;
(
    input  logic         clk_i,
    input  logic         rst_i,
           stream_if.snk part,   // local_part_t
           stream_if.snk row,    // row_t
           stream_if.src req,    // bus_req_t
           stream_if.src wdata,  // bus_row_t
    output logic         done_o
);
  typedef struct packed {
    logic [3:0] first;  // byte in the first word
    logic [3:0] last;   // and in the last
    logic [7:0] words;  // less one
  } shape_t;
  `STREAM(shape_t, shape_in)
  `STREAM(shape_t, shape)

  // Requests. `begun_q`: the first 128 words of this part have been asked for.
  logic begun_q;
  local_part_t now;
  assign now = part.data;
  wire [11:0] last_byte = now.len - 1'b1 + 12'(now.addr[3:0]);
  wire [7:0] words = last_byte[11:4];  // less one
  wire two = words[7];
  wire unused = &{1'b0, now.addr[31:FrameAddrW]};

  // Its data may be asked for as soon as its first request is taken; the part goes with its last one.
  assign req.valid = part.valid && shape_in.ready;
  assign req.data = '{
          write: 1'b1,
          addr: now.addr[FrameAddrW-1:4] + (begun_q ? (FrameAddrW - 4)'(128) : '0),
          beats: begun_q ? 8'(words[6:0]) + 8'd1 : two ? 8'd128 : words + 8'd1
      };
  assign part.ready = shape_in.ready && req.ready && (!two || begun_q);
  assign shape_in.valid = part.valid && req.ready && !begun_q;
  assign shape_in.data = '{first: now.addr[3:0], last: last_byte[3:0], words: words};

  always_ff @(posedge clk_i) begin
    if (req.valid && req.ready) begun_q <= two && !begun_q;
    if (rst_i) begun_q <= 1'b0;
  end

  `FIFO(shape_t, 4, i_shapes, shape_in, shape)

  // Data.
  logic [5:0] row_q;
  wire first = row_q == '0;
  wire last = row_q == shape.data.words[7:2];
  wire go = wdata.valid && wdata.ready;
  wire [5:0] last_in_row = {shape.data.words[1:0], shape.data.last};
  assign wdata.valid = shape.valid && row.valid;
  assign wdata.data = '{
          data: row.data,
          strb: (first ? '1 << shape.data.first : '1) & (last ? '1 >> (6'd63 - last_in_row) : '1)
      };
  assign row.ready = go;
  assign shape.ready = go && last;

  always_ff @(posedge clk_i) begin
    if (go) row_q <= last ? '0 : row_q + 1'b1;
    done_o <= go && last;
    if (rst_i) begin
      row_q  <= '0;
      done_o <= 1'b0;
    end
  end

  `ASSERT(PartOfGoodSize, part.valid |-> now.len inside {[1 : MaxPart]})
endmodule
