// SPDX-License-Identifier: Apache-2.0
`include "assert.svh"
/// The MAC clock's half of the MAC receive assist: 64-bit words of the wire in, whole good frames in a buffer out.
///
/// The buffer is a ring of 16-byte words, written here and read in the memory clock; a frame begins with a word of its own.
/// When its last word is in, `frame` gives its length; a frame that is bad, of a wrong length or finds no room is taken back,
/// and counted as one of its kinds: with MAC error, too short, too long, no room. Receive never waits. While `enable_i` is
/// low frames that begin are dropped, and counted as without room. `freed_i` is what the reader counts of the words that it is done with. Reset empties.
module mac_rx_take
  import eth_pkg::*;
#(
    parameter  int Words    = 256,
    parameter  int MaxFrame = 1514,
    localparam int WordW    = $clog2(Words)
) (
    input logic clk_i,
    input logic rst_i,
    input logic enable_i,

    // MAC.
    input logic       rx_valid_i,
    input word_beat_t rx_i,

    // Buffer and frames.
    output logic                     we_o,
    output logic         [WordW-1:0] waddr_o,
    output logic         [    127:0] wdata_o,
    input  logic         [     31:0] freed_i,
           stream_if.src             frame,    // logic [11:0]: length

    output mac_rx_count_t count_o
);
  localparam int LenW = 12;
  logic [WordW:0] write;  // of the next word
  logic inside_q, upper_q, keep;
  logic [LenW-1:0] len_q;
  logic [63:0] lower_q;
  wire unused = &{1'b0, freed_i[31:WordW+1]};

  wire first = rx_valid_i && rx_i.sop;
  wire take = first ? enable_i : rx_valid_i && inside_q;
  wire upper = !first && upper_q;
  wire [LenW-1:0] len = (first ? '0 : len_q) + LenW'(rx_i.len);
  wire too_long = len > LenW'(MaxFrame);
  wire word_ends = upper || rx_i.eop;
  wire [WordW:0] used = write - freed_i[WordW:0];
  frame_commit #(
      .UnitW(WordW + 1)
  ) i_commit (
      .clk_i,
      .rst_i,
      .take_i(take && word_ends && (!too_long || rx_i.eop)),
      .eop_i(rx_i.eop),
      .erase_i(rx_i.err || len < LenW'(MinFrame) || too_long),
      .room_i(used < (WordW + 1)'(Words)),
      .note_ready_i(frame.ready),
      .store_o(we_o),
      .write_o(write),
      .start_o(),
      .beats_o(),
      .keep_o(keep),
      .drop_o()
  );
  assign waddr_o = write[WordW-1:0];
  assign wdata_o = upper ? {rx_i.data, lower_q} : {64'h0, rx_i.data};

  mac_rx_count_t kind;
  always_comb begin
    kind = '0;
    if (take && rx_i.eop) begin
      if (rx_i.err) kind.bad_fcs = 1'b1;
      else if (len < LenW'(MinFrame)) kind.runt = 1'b1;
      else if (too_long) kind.oversize = 1'b1;
      else if (keep) kind.good = 1'b1;
      else kind.fifo_full = 1'b1;
    end else if (first && !enable_i) begin
      kind.fifo_full = 1'b1;
    end
  end
  assign frame.valid = keep;
  assign frame.data  = len;

  always_ff @(posedge clk_i) begin
    count_o <= kind;
    if (take) begin
      inside_q <= !rx_i.eop;
      upper_q  <= !word_ends;
      if (!upper) lower_q <= rx_i.data;
      // Long enough to be too long is long enough.
      len_q <= too_long ? LenW'(MaxFrame + 1) : len;
    end else if (first) begin
      inside_q <= 1'b0;
    end
    if (rst_i) begin
      inside_q <= 1'b0;
      count_o  <= '0;
    end
  end

  `ASSERT(LenFits, take |-> rx_i.len inside {[1 : 8]})
endmodule
