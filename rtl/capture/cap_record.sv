// SPDX-License-Identifier: Apache-2.0
/// Records out of packets: header, with `timestamps_i` the time, the packet, padding to a multiple of 8 bytes.
///
/// One beat a clock, full back-pressure, no latency. What the header pushes over the end of a beat begins the next one: a record
/// of n bytes takes n / 128 clocks, rounded up. Reset forgets the rest of a record.
module cap_record
  import cap_pkg::*;
(
    input logic         clk_i,
    input logic         rst_i,
    input logic         timestamps_i,
          stream_if.snk in,            // beat_t
          stream_if.src out            // record_beat_t
);
  localparam int Words = BeatBytes / 8;
  localparam int HeadW = 8 * StampBytes + $bits(cap_record_t);

  beat_t beat;
  assign beat = in.data;
  cap_record_t header;
  assign header = '{
          hash: beat.hash,
          unused: '0,
          stamped: timestamps_i,
          bytes: 16'(beat.bytes),
          stored: 16'(beat.bytes)
      };

  logic tail_q;  // the packet is taken, the end of its record is still to go
  logic [HeadW-1:0] carry_q;  // pushed out of the beat before
  logic [4:0] carry_words_q;
  wire [HeadW-1:0] low = beat.sop ? {16'd0, beat.stamp, header} : carry_q;
  wire [5:0] words = 6'(beat.len[7:3]) + 6'(|beat.len[2:0]) + (timestamps_i ? 6'd2 : 6'd1);
  wire more = words > 6'(Words);

  assign out.valid = tail_q || in.valid;
  assign in.ready  = out.ready && !tail_q;
  record_beat_t record;
  assign out.data = record;
  always_comb begin
    record = '{
        data: {beat.data[8*BeatBytes-65:0], low[63:0]},
        words: more ? 5'(Words) : 5'(words),
        sop: beat.sop,
        eop: beat.eop && !more,
        record: beat.record,
        ring: beat.ring
    };
    if (timestamps_i) record.data = {beat.data[8*BeatBytes-HeadW-1:0], low};
    // The next packet may come any time now: nothing of it is shown.
    if (tail_q)
      record = '{data: (8 * BeatBytes)'(carry_q), words: carry_words_q, eop: 1'b1, default: '0};
  end

  always_ff @(posedge clk_i) begin
    if (out.valid && out.ready) begin
      tail_q <= !tail_q && beat.eop && more;
      carry_words_q <= 5'(words - 6'(Words));
      carry_q <= timestamps_i ? beat.data[8*BeatBytes-1-:HeadW] : HeadW'(beat.data[8*BeatBytes-1-:64]);
    end
    if (rst_i) tail_q <= 1'b0;
  end
endmodule
