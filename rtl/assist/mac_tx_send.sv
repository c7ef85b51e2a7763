// SPDX-License-Identifier: Apache-2.0
/// The MAC clock's half of the MAC transmit assist: words of 16 bytes in, a frame of 64-bit words out.
///
/// `frame` says that all words of a frame are in the buffer behind `word`, so a frame never has a gap. Its first byte may be
/// anywhere in the first word. Frames shorter than 60 bytes are padded with zeros. One 64-bit word a clock; a frame that
/// does not begin on 8 bytes costs one clock before it, which is less than the gap between frames on the wire.
/// `done_o` is high for a clock when the MAC took a frame's last word. Outputs are registered. Reset drops what is there.
module mac_tx_send
  import eth_pkg::*;
(
    input logic clk_i,
    input logic rst_i,

    stream_if.snk frame,  // {byte in the first word [3:0], length [11:0]}
    stream_if.snk word,   // logic [127:0]

    // MAC.
    output logic       tx_valid_o,
    input  logic       tx_ready_i,
    output word_beat_t tx_o,

    output logic done_o
);
  logic [15:0] now;
  assign now = frame.data;
  wire [11:0] len = now[11:0];
  wire [11:0] sent_len = len < 12'(MinFrame) ? 12'(MinFrame) : len;
  wire [ 2:0] skew = now[14:12];

  // Halves of words, 8 bytes each; `upper` is the one to be taken next, `before_q` the one taken last.
  logic begun_q, upper_q, out_full_q;
  logic [11:0] at_q;  // first byte of the next word out, in the frame
  logic [63:0] before_q;
  wire upper = begun_q ? upper_q : now[15];
  wire [63:0] half = upper ? word.data[127:64] : word.data[63:0];
  wire primed = begun_q || skew == '0;

  // Bytes of the frame that are in the half before.
  wire [3:0] have = skew == '0 ? 4'd0 : 4'd8 - 4'(skew);
  wire [11:0] left = at_q < len ? len - at_q : '0;
  wire need = left > 12'(have);  // this word takes bytes of the next half
  wire can = frame.valid && (!out_full_q || tx_ready_i);
  wire prime = frame.valid && !primed;
  wire send = can && primed && (!need || word.valid);
  wire last = at_q + 12'd8 >= sent_len;
  wire take_half = (prime || (send && need)) && word.valid;
  // What is left of the last word of the frame goes with it.
  wire over = send && last;
  logic held_q;  // a word of this frame of which the lower half was taken is at the head of the FIFO
  wire held = take_half ? !upper : begun_q && held_q;
  assign word.ready  = take_half ? upper || over : over && begun_q && held_q;
  assign frame.ready = over;

  wire  [63:0] joined = skew == '0 ? half : 64'({half, before_q} >> {skew, 3'd0});
  wire  [ 3:0] valid_bytes = left >= 12'd8 ? 4'd8 : left[3:0];
  logic [63:0] masked;
  always_comb begin
    for (int i = 0; i < 8; i++) masked[8*i+:8] = 4'(i) < valid_bytes ? joined[8*i+:8] : 8'h0;
  end

  always_ff @(posedge clk_i) begin
    if (take_half) begin
      before_q <= half;
      upper_q  <= !upper;
      held_q   <= held;
    end
    if (send || (prime && word.valid)) begin
      begun_q <= !over;
      at_q <= over || prime ? '0 : at_q + 12'd8;
    end
    if (send) begin
      out_full_q <= 1'b1;
      tx_o <= '{
          data: masked,
          len: last ? 4'(sent_len - at_q) : 4'd8,
          sop: at_q == '0,
          eop: last,
          err: 1'b0
      };
    end else if (tx_ready_i) begin
      out_full_q <= 1'b0;
    end
    done_o <= tx_valid_o && tx_ready_i && tx_o.eop;
    if (rst_i) begin
      begun_q <= 1'b0;
      upper_q <= 1'b0;
      held_q <= 1'b0;
      at_q <= '0;
      out_full_q <= 1'b0;
      done_o <= 1'b0;
    end
  end
  assign tx_valid_o = out_full_q;
endmodule
