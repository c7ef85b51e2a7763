// SPDX-License-Identifier: Apache-2.0
/// Makes DRAM writes of the words that a memory port gets from the static network.
///
/// `mode_i` (set at boot): StaticStream: the words that set-ups announce, one after the other; a word that is not announced
/// waits. StaticLines: an address and the 8 words of a line. StaticMasked: an address, a mask of the line's bytes, 8 words.
/// One word a clock, in the clock in which it is there; a set-up costs one clock. Reset drops the line or stream at hand.
module mem_static
  import mesh_pkg::*;
(
    input logic         clk_i,
    input logic         rst_i,
    input static_mode_e mode_i,

    stream_if.snk in,
    stream_if.snk set_up,  // stream_set_up_t, writes
    stream_if.src write    // dram_write_t
);
  logic [15:0] left_q;  // words to come
  word_t address_q;
  logic [LineBytes-1:0] mask_q;
  logic at_mask_q;

  wire stream = mode_i == StaticStream;
  wire idle = left_q == '0 && !at_mask_q;
  assign set_up.ready = stream && idle;
  assign write.valid = in.valid && left_q != '0;
  assign write.data = '{
          address: address_q,
          data: in.data,
          enable: {mask_q[0], mask_q[1], mask_q[2], mask_q[3]}
      };
  // Words of a line or stream go to the DRAM; in front of a line are an address and a mask.
  assign in.ready = left_q != '0 ? write.ready : !stream;

  always_ff @(posedge clk_i) begin
    if (left_q != '0) begin
      if (in.valid && write.ready) begin
        left_q <= left_q - 1'b1;
        address_q <= address_q + 32'd4;
        mask_q <= stream ? mask_q : mask_q >> 4;
      end
    end else if (stream) begin
      mask_q <= '1;
      if (set_up.valid) begin
        left_q <= set_up.data.words;
        address_q <= set_up.data.address;
      end
    end else if (in.valid) begin
      if (at_mask_q) begin
        mask_q <= in.data;
        at_mask_q <= 1'b0;
        left_q <= 16'(LineWords);
      end else begin
        address_q <= {in.data[31:5], 5'd0};
        mask_q <= '1;
        if (mode_i == StaticMasked) at_mask_q <= 1'b1;
        else left_q <= 16'(LineWords);
      end
    end
    if (rst_i) begin
      left_q <= '0;
      at_mask_q <= 1'b0;
    end
  end
endmodule
