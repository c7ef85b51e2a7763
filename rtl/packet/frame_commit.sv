// SPDX-License-Identifier: Apache-2.0
/// Write side of a store-and-forward buffer: where each beat of a frame goes, and whether the frame stays.
///
/// The buffer is a ring of 2^UnitW beats, written in order. A frame stays (`keep_o`, with its last beat) when it found room for
/// all its beats (`room_i`, of the beat offered) and for a note about it (`note_ready_i`), unless `erase_i`; else the write
/// place goes back to its start. `drop_o`: it was to stay and found no room. Combinational; state follows in the next clock.
/// One beat a clock. Reset starts at 0, with a new frame.
module frame_commit #(
    parameter int UnitW = 10
) (
    input  logic             clk_i,
    input  logic             rst_i,
    input  logic             take_i,        // a beat is taken
    input  logic             eop_i,
    input  logic             erase_i,       // with eop_i: the frame is erased in any case
    input  logic             room_i,
    input  logic             note_ready_i,
    output logic             store_o,       // write the beat at write_o
    output logic [UnitW-1:0] write_o,
    output logic [UnitW-1:0] start_o,       // of the frame
    output logic [      8:0] beats_o,       // of it stored before this one
    output logic             keep_o,
    output logic             drop_o
);
  logic drop_q;
  wire  last = take_i && eop_i;
  wire  lost = drop_q || !room_i || !note_ready_i;
  assign store_o = take_i && !drop_q && room_i;
  assign keep_o  = last && !lost && !erase_i;
  assign drop_o  = last && lost && !erase_i;

  always_ff @(posedge clk_i) begin
    if (last && !keep_o) write_o <= start_o;
    else if (store_o) write_o <= write_o + 1'b1;
    if (keep_o) start_o <= write_o + 1'b1;
    if (last) begin
      beats_o <= '0;
      drop_q  <= 1'b0;
    end else if (take_i) begin
      if (store_o) beats_o <= beats_o + 1'b1;
      drop_q <= drop_q || !room_i;
    end
    if (rst_i) begin
      start_o <= '0;
      write_o <= '0;
      beats_o <= '0;
      drop_q  <= 1'b0;
    end
  end
endmodule
