// SPDX-License-Identifier: Apache-2.0
`include "assert.svh"
/// Frames out of XGMII as words, without preamble and FCS (IEEE 802.3 clause 46).
///
/// A frame begins with a Start in lane 0 or 4 and an SFD as the eighth byte, no control character between (what the preamble's other bytes are is
/// not looked at); else it is dropped and counted. It ends with Terminate, with another control character, which spoils it, or
/// with the word in which it has passed `max_frame_i` bytes, FCS counted (the rest is dropped). `err` comes with the last word: bad FCS, below 64 bytes, too long, spoilt. One of less than five bytes has no word.
/// Takes a word in each clock; of a frame the words come out in successive clocks, 10 clocks behind the pins, as word_beat_t, `time_o`
/// beside the first: `time_i` of the clock in which the first byte after the SFD is at the pins, and `LaneNs` more when that is in
/// lane 4. `record` says what each frame was, within two clocks of its last word, before the next one's first. `fault_o` follows ordered sets (46.3.4): four alike,
/// never 128 columns apart, make a fault, 128 columns without end it. Two frames must be five bytes apart. Reset cuts what is under way, without a record.
module xgmii_rx
  import eth_pkg::*;
  import xgmii_pkg::*;
#(
    parameter int LaneNs = 3  // that four lanes take: 3 at 10 Gb/s, 1 at 25 Gb/s
) (
    input  logic               clk_i,
    input  logic               rst_i,
    input  logic        [15:0] max_frame_i,
    input  xgmii_t             rx_i,
    input  ptp_time_t          time_i,
    output logic               valid_o,
    output word_beat_t         word_o,
    output ptp_time_t          time_o,
    output logic               record_valid_o,
    output mac_record_t        record_o,
    output link_fault_t        fault_o
);
  // ---------------------------------------------------------------- frames from lane 0 on
  function automatic logic is_start(xgmii_t word, int lane);
    return word.ctl[lane] && word.data[8*lane+:8] == Start;
  endfunction
  xgmii_t pins_q, aligned_q;
  logic [35:0] high_q;  // the upper half of the word before
  logic late_q;  // frames are four lanes on
  logic start_q;  // in aligned_q there is a Start in lane 0
  logic start0, start4, start4_q;
  always_ff @(posedge clk_i) begin
    pins_q   <= rx_i;
    start0   <= is_start(rx_i, 0);
    start4   <= is_start(rx_i, 4);
    high_q   <= {pins_q.ctl[7:4], pins_q.data[63:32]};
    start4_q <= start4;
    if (start0 || start4) late_q <= start4;
    start_q <= start0 || start4_q;
    // A Start in lane 0 ends the shift at once: nothing of the frame before is in its word.
    aligned_q <= !start0 && late_q ?
    '{ctl: {pins_q.ctl[3:0], high_q[35:32]}, data: {pins_q.data[31:0], high_q[31:0]}}
    : pins_q;
    if (rst_i) begin
      {start0, start4, start4_q, start_q} <= '0;
      late_q <= 1'b0;
    end
  end

  xgmii_fault i_fault (
      .clk_i,
      .rst_i,
      .rx_i(pins_q),
      .fault_o
  );

  // ---------------------------------------------------------------- what the words are
  // The first lane with a control character, and whether that is Terminate.
  logic [3:0] len, len_q;
  logic terminates, terminate_q, start_1_q, sfd_q;  // start_1_q, sfd_q: of a frame's preamble
  logic [63:0] data_q;
  always_comb begin
    len = 4'd8;
    terminates = 1'b0;
    for (int i = 7; i >= 0; i--) begin
      if (aligned_q.ctl[i]) begin
        len = 4'(i);
        terminates = aligned_q.data[8*i+:8] == Terminate;
      end
    end
  end
  logic inside_q, fresh_q;  // the word is of a frame; it is its first
  logic [15:0] bytes_q;
  wire ends = inside_q && len_q != 4'd8;
  wire [15:0] bytes = (fresh_q ? 16'd0 : bytes_q) + 16'(len_q);
  wire long_ = inside_q && bytes > max_frame_i;
  wire finishes = ends || long_;
  wire in_fcs = ends && len_q <= 4'd4;  // nothing of the word is the frame's but its FCS
  always_ff @(posedge clk_i) begin
    len_q <= len;
    terminate_q <= terminates;
    data_q <= aligned_q.data;
    start_1_q <= start_q;
    sfd_q <= aligned_q.ctl == 8'h01 && aligned_q.data[63:56] == Sfd;
    if (inside_q) begin
      bytes_q  <= bytes;
      fresh_q  <= 1'b0;
      inside_q <= !finishes;
    end
    if (start_1_q) begin
      inside_q <= sfd_q;
      fresh_q  <= 1'b1;
    end
    if (rst_i) begin
      inside_q <= 1'b0;
      {start_1_q, sfd_q} <= '0;
    end
  end

  // ---------------------------------------------------------------- a word behind: the next one says where its FCS begins
  typedef struct packed {
    logic valid;
    word_beat_t word;
  } beat_t;
  localparam int Latency = 6;  // of crc32_words; its sum is compared a clock later
  beat_t hold_q;
  beat_t [Latency+1:1] pipe_q;
  ptp_time_t pins_time_q[4];
  ptp_time_t [Latency+2:1] time_q;
  always_ff @(posedge clk_i) begin
    hold_q.valid <= inside_q && !in_fcs;
    hold_q.word <= '{
        data: data_q,
        len: ends ? len_q - 4'd4 : 4'd8,
        sop: fresh_q,
        eop: finishes,
        err: 1'b0
    };
    pipe_q <= {pipe_q[Latency:1], hold_q};
    if (in_fcs && !hold_q.word.eop) begin
      pipe_q[1].word.eop <= 1'b1;
      pipe_q[1].word.len <= len_q + 4'd4;
    end
    // With a frame's first word the first clock of its bytes at the pins: three before, or with one in lane 4 four.
    pins_time_q[0] <= time_i;
    for (int i = 1; i < 4; i++) pins_time_q[i] <= pins_time_q[i-1];
    time_q <= {time_q[Latency+1:1], late_q ? pins_time_q[3] + TimeW'(LaneNs) : pins_time_q[2]};
    if (rst_i) begin
      hold_q.valid <= 1'b0;
      for (int i = 1; i <= Latency + 1; i++) pipe_q[i].valid <= 1'b0;
    end
  end

  // ---------------------------------------------------------------- what the frames are
  typedef struct packed {
    logic bad_start;
    logic spoilt;
    logic long_;
    logic broadcast;
    logic multicast;
    logic [15:0] bytes;
  } fate_t;
  fate_t [Latency:1] fates_q;
  fate_t fate_q;
  logic multicast_q, broadcast_q, done, ended_q, bad_crc_q, bad_start_q;
  logic [31:0] crc;
  localparam logic [31:0] Residue = 32'hdebb20e3;
  crc32_words i_crc (
      .clk_i,
      .rst_i,
      .valid_i(inside_q),
      .sop_i  (fresh_q),
      .eop_i  (finishes),
      .data_i (data_q),
      .len_i  (len_q),
      .done_o (done),
      .crc_o  (crc)
  );
  wire multicast = fresh_q ? data_q[0] : multicast_q;
  wire broadcast = fresh_q ? &data_q[47:0] : broadcast_q;
  always_ff @(posedge clk_i) begin
    multicast_q <= multicast;
    broadcast_q <= broadcast;
    fates_q <= {
      fates_q[Latency-1:1],
      fate_t
'{
          bad_start: start_1_q && !sfd_q,
          spoilt: ends && !terminate_q,
          long_: long_,
          broadcast: broadcast,
          multicast: multicast,
          bytes: bytes
      }
    };
    // Stands until the next frame's end.
    ended_q <= done;
    bad_start_q <= fates_q[Latency].bad_start;
    if (done) begin
      fate_q <= fates_q[Latency];
      bad_crc_q <= crc != Residue;
    end
    if (rst_i) {ended_q, bad_start_q} <= '0;
    if (rst_i) for (int i = 1; i <= Latency; i++) fates_q[i].bad_start <= 1'b0;
  end
  wire short_ = fate_q.bytes < 16'd64;
  wire spoilt = fate_q.spoilt && !fate_q.long_;
  wire bad = bad_crc_q || short_ || fate_q.spoilt || fate_q.long_;
  mac_record_t record;
  always_comb begin
    record = '{bytes: fate_q.bytes, hit: short_ ? '0 : size_hit(fate_q.bytes)};
    record.hit[Octets] = fate_q.bytes >= 16'd8;
    record.hit[Good] = !bad;
    record.hit[GoodOctets] = !bad;
    record.hit[Broadcast] = !bad && fate_q.broadcast;
    record.hit[Multicast] = !bad && fate_q.multicast && !fate_q.broadcast;
    record.hit[Oversize] = fate_q.long_;
    record.hit[SymbolError] = spoilt && !short_;
    record.hit[Undersize] = short_ && !spoilt && !bad_crc_q;
    record.hit[Fragment] = short_ && (spoilt || bad_crc_q);
    record.hit[FcsError] = !spoilt && !short_ && !fate_q.long_ && bad_crc_q;
    if (!ended_q) record.hit = '0;
    record.hit[BadStart] = bad_start_q;
  end
  always_ff @(posedge clk_i) begin
    record_valid_o <= (ended_q || bad_start_q) && !rst_i;
    record_o <= record;
  end

  assign valid_o = pipe_q[Latency+1].valid;
  always_comb begin
    word_o = pipe_q[Latency+1].word;
    word_o.err = word_o.eop && bad;
  end
  assign time_o = time_q[Latency+2];

  `ASSERT(WordsFollow, hold_q.valid && !hold_q.word.eop |-> inside_q)
endmodule
