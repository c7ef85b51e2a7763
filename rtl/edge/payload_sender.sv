// SPDX-License-Identifier: Apache-2.0
/// Sends the payload of a frame of an input linecard, in the form of `payload_form_t`: as it is, in lines with an address (and
/// mask) in front, or each line in a WriteLine message.
///
/// Its turn is `turn_i`, until `done_o`; the frame (`*_i`) stays as it is during the turn, and words after its end are zeros. One
/// word a clock, none lost. The last line of messages is a WriteLast: the turn ends when the memory has it (`written_i`).
module payload_sender
  import mesh_pkg::*;
#(
    parameter int IndexW = 9
) (
    input logic          clk_i,
    input logic          rst_i,
    input place_t        place_i,
    input place_t        memory_i,
    input payload_form_t form_i,

    input logic turn_i,
    output logic done_o,
    input  logic  [IndexW:0] first_i,   // word of the frame with which payloads begin, a multiple of a line
    input logic [IndexW:0] words_i,  // of the frame
    input logic [IndexW:0] end_i,  // and with zeros
    input word_t address_i,
    input logic written_i,

    stream_if.src out  // line_word_t
);
  typedef logic [IndexW:0] count_t;
  typedef enum logic [2:0] {
    Begin,    // of a line, or of the payload: what its form begins with
    Header,
    Address,
    Mask,
    Words,
    Written
  } step_e;
  step_e step_q, step, next;
  count_t index_q;  // of the next word
  logic   written_q;
  wire    last = index_q + 1'b1 >= end_i;  // zeros fill the last line
  wire    last_of_line = index_q[2:0] == 3'd7;
  wire    last_line = index_q + count_t'(LineWords) >= end_i;

  always_comb begin
    step = step_q;
    if (step_q == Begin) step = form_i.by_mdn ? Header : form_i.address ? Address : Words;
    out.data.to = form_i.by_mdn ? ToMdn : ToStatic;
    out.data.stored = 1'b0;
    out.data.word = '0;
    case (step)
      Header: begin
        out.data.word = {last_line ? WriteLast : WriteLine, place_i, 5'(LineWords + 1), memory_i};
        next = Address;
      end
      Address: begin
        out.data.word = address_i + word_t'({index_q[IndexW:3] - first_i[IndexW:3], 5'd0});
        next = form_i.mask ? Mask : Words;
      end
      Mask: begin
        for (int i = 0; i < LineWords; i++)
        if (index_q + count_t'(i) < words_i) out.data.word[4*i+:4] = 4'hf;
        next = Words;
      end
      Words: begin
        out.data.stored = index_q < words_i;
        if (out.data.stored) out.data.word = word_t'(index_q);
        next = Words;
        if (form_i.lines ? last_of_line : last) next = form_i.by_mdn && last ? Written : Begin;
      end
      default: next = written_q ? Begin : Written;
    endcase
  end
  assign out.valid = turn_i && step != Written;
  wire moves = turn_i && (out.ready || step == Written);
  assign done_o = moves && next == Begin && (step == Written || (last && !form_i.by_mdn));

  always_ff @(posedge clk_i) begin
    if (moves) step_q <= next;
    if (!turn_i) index_q <= first_i;
    else if (moves && step == Words) index_q <= index_q + 1'b1;
    written_q <= written_i || (written_q && step != Written);
    if (rst_i) begin
      step_q <= Begin;
      written_q <= 1'b0;
    end
  end
endmodule
