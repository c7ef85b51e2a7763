// SPDX-License-Identifier: Apache-2.0
`include "assert.svh"
`include "stream.svh"
/// Frames as words to XGMII: preamble, FCS, the gap between frames (IEEE 802.3 clause 46).
///
/// Takes frames of 60 bytes or more; once begun, a frame's words must follow each other in each clock, or it ends with Error characters
/// in the place of its FCS, as one with `err` does, the rest of it is dropped, and `underrun` is counted. A frame starts in lane 0 or 4,
/// so that the gap is `gap_i` bytes in the mean (deficit idle count, 46.3.1.4: none is over 3 bytes short), and 0 to 7 more after
/// silence. So at 64 bits a clock frames leave at line rate. From a word at `in` to it at the pins 10 clocks, the preamble before it.
///
/// `fault_i`: what the line's receive side sees. While it is local, Remote Fault goes out, while it is remote, Idle; a frame that is sent
/// then is lost, and counted. Who has no faults' frames to lose begins none. `sfd_o` is high in the clock in which a frame's first byte after the SFD
/// is at the pins, `sfd_late_o` with it when that is in lane 4; `sfd_control_o`: of a frame with `control_i`. `record` says what each frame was,
/// when it has left. Reset: the line is idle at once, frames under way are lost without record.
module xgmii_tx
  import eth_pkg::*;
  import xgmii_pkg::*;
(
    input  logic               clk_i,
    input  logic               rst_i,
    input  logic         [7:0] gap_i,
    input  link_fault_t        fault_i,
           stream_if.snk       in,              // word_beat_t
    input  logic               control_i,       // with its first word: a MAC control frame
    input  logic               pfc_i,           // which is one of priority flow control
    output xgmii_t             tx_o,
    output logic               sfd_o,
    output logic               sfd_late_o,
    output logic               sfd_control_o,
    output logic               record_valid_o,
    output mac_record_t        record_o
);
  // ---------------------------------------------------------------- which slot holds what: all of a frame's places follow from its start
  typedef enum logic [1:0] {
    Gap,
    Preamble_,
    Data
  } kind_e;
  typedef struct packed {
    kind_e kind;
    logic late;  // four lanes on: until the next start
    logic control;  // likewise
    logic pfc;
    logic sop;
    logic eop;
    logic err;
    logic underrun;
    logic [3:0] len;
    logic [63:0] data;
  } slot_t;
  typedef enum logic [1:0] {
    Between,
    Inside,
    Drain
  } state_e;
  state_e state_q;
  slot_t  slot;
  logic late_q, control_q, pfc_q;  // of the frame that began last
  logic first_q;  // the next word is its first
  logic next_late_q;  // of a start in the first slot that it may be in
  logic [6:0] wait_q;  // slots until a start may be
  logic on_time_q;  // this is that slot
  logic [1:0] deficit_q;  // bytes by which gaps were short
  word_beat_t word;
  assign word = in.data;
  assign in.ready = state_q != Between || (in.valid && !word.sop);  // the rest of a frame whose start a reset took
  wire starts = state_q == Between && in.valid && word.sop && wait_q == '0;
  wire start_late = on_time_q && next_late_q;
  wire underrun = state_q == Inside && !in.valid;

  always_comb begin
    slot = '{
        kind: Gap,
        late: late_q,
        control: control_q,
        pfc: pfc_q,
        sop: first_q,
        eop: 1'b0,
        err: 1'b0,
        underrun: underrun,
        len: word.len,
        data: word.data
    };
    if (starts) begin
      slot.kind = Preamble_;
      slot.late = start_late;
      slot.control = control_i;
      slot.pfc = pfc_i;
    end else if (state_q == Inside) begin
      slot.kind = Data;
      slot.eop  = underrun || word.eop;
      slot.err  = underrun || word.err;
      if (underrun) slot.len = 4'd8;
    end
  end

  // The gap in columns of four bytes, and what of the mean is owed or kept; from the last word's length, a clock later.
  logic ended_q;
  logic [3:0] last_len_q;
  wire [1:0] odd = last_len_q[1:0];  // lanes before the Terminate in its column
  wire short_ = {1'b0, deficit_q} + {1'b0, odd} <= 3'd3;
  wire [1:0] deficit = odd == '0 ? deficit_q : short_ ? deficit_q + odd : deficit_q - (2'd0 - odd);
  // Columns from the last word's first to the next start. From its slot it is half as many slots.
  wire [7:0] columns = 8'(late_q) + 8'd1 + 8'(last_len_q[3:2]) + 8'(gap_i[7:2]) + 8'(odd != '0 && !short_);

  always_ff @(posedge clk_i) begin
    late_q <= slot.late;
    control_q <= slot.control;
    pfc_q <= slot.pfc;
    ended_q <= state_q == Inside && slot.eop;
    last_len_q <= slot.len;
    on_time_q <= 1'b0;
    if (ended_q) begin
      deficit_q <= deficit;
      next_late_q <= columns[0];
      // This slot is the one after the last word's.
      wait_q <= columns[7:1] - 7'd2;
      on_time_q <= columns[7:1] == 7'd2;
    end else if (wait_q != '0) begin
      wait_q <= wait_q - 1'b1;
      on_time_q <= wait_q == 7'd1;
    end else if (!starts && state_q == Between) begin
      deficit_q <= '0;
    end
    unique case (state_q)
      Between: begin
        first_q <= starts;
        if (starts) state_q <= Inside;
      end
      Inside: begin
        first_q <= 1'b0;
        if (underrun) state_q <= Drain;
        else if (word.eop) state_q <= Between;
      end
      default: if (in.valid && word.eop) state_q <= Between;
    endcase
    if (slot.eop) wait_q <= '1;  // until it is known
    if (rst_i) begin
      state_q <= Between;
      wait_q <= '0;
      ended_q <= 1'b0;
      deficit_q <= '0;
      next_late_q <= 1'b0;
    end
  end

  // ---------------------------------------------------------------- the FCS, and the words as they would be from lane 0 on
  localparam int Latency = 6;  // of crc32_words
  slot_t slot_q;
  slot_t [Latency:1] pipe_q;
  slot_t at;
  logic [7:0] keep_q;  // lanes of its bytes
  logic [8:1] last_q;  // one of them: of a frame's last word how many there are
  logic [31:0] crc;
  crc32_words i_crc (
      .clk_i,
      .rst_i,
      .valid_i(slot_q.kind == Data),
      .sop_i  (slot_q.sop),
      .eop_i  (slot_q.eop),
      .data_i (slot_q.data),
      .len_i  (slot_q.len),
      .done_o (),
      .crc_o  (crc)
  );
  assign at = pipe_q[Latency];
  always_ff @(posedge clk_i) begin
    slot_q <= slot;
    pipe_q <= {pipe_q[Latency-1:1], slot_q};
    for (int i = 0; i < 8; i++)
    keep_q[i] <= !pipe_q[Latency-1].eop || 4'(i) < pipe_q[Latency-1].len;
    for (int i = 1; i < 9; i++)
    last_q[i] <= pipe_q[Latency-1].eop && 4'(i) == pipe_q[Latency-1].len;
    if (rst_i) slot_q.kind <= Gap;
    if (rst_i) for (int i = 1; i <= Latency; i++) pipe_q[i].kind <= Gap;
  end

  // Terminate and FCS, or Error characters, behind the last byte: up to lane 12.
  logic [ 4:0] tail_ctl;
  logic [39:0] tail;
  assign tail_ctl = {1'b1, {4{at.err}}};
  assign tail = {Terminate, at.err ? {4{Error}} : ~crc};
  xgmii_t whole, rest, word_q, rest_q, shown;
  logic ends;
  assign ends = at.kind == Data && at.eop;
  always_comb begin
    for (int i = 0; i < 8; i++) begin
      // The first lane of nothing is the one behind Terminate.
      logic idle_whole, idle_rest;
      {idle_whole, idle_rest} = {!keep_q[i], 1'b1};
      {whole.ctl[i], rest.ctl[i]} = '0;
      whole.data[8*i+:8] = keep_q[i] ? at.data[8*i+:8] : '0;
      rest.data[8*i+:8] = '0;
      for (int k = 0; k < 5; k++) begin
        if (i - k >= 1) begin
          idle_whole &= !last_q[i-k];
          whole.ctl[i] |= last_q[i-k] && tail_ctl[k];
          whole.data[8*i+:8] |= last_q[i-k] ? tail[8*k+:8] : '0;
        end
        if (i + 8 - k <= 8) begin
          idle_rest &= !last_q[i+8-k];
          rest.ctl[i] |= last_q[i+8-k] && tail_ctl[k];
          rest.data[8*i+:8] |= last_q[i+8-k] ? tail[8*k+:8] : '0;
        end
      end
      whole.ctl[i] |= idle_whole;
      whole.data[8*i+:8] |= idle_whole ? Idle : '0;
      rest.ctl[i] |= idle_rest;
      rest.data[8*i+:8] |= idle_rest ? Idle : '0;
    end
  end

  // Four lanes on, where the frame began in lane 4; then the pins.
  logic late_word_q, late_before_q, starts_q, sfd_q, sfd_late_q, control_word_q, sfd_control_q;
  logic [35:0] high_q;  // the upper half of the word before
  xgmii_t next;
  always_comb begin
    shown = word_q;
    if (late_word_q) begin
      {shown.ctl[7:4], shown.data[63:32]} = {word_q.ctl[3:0], word_q.data[31:0]};
      {shown.ctl[3:0], shown.data[31:0]}  = late_before_q ? high_q : {4'hf, {4{Idle}}};
    end
    next = fault_i.local_ ? RemoteFaultWord : fault_i.remote ? IdleWord : shown;
  end
  always_ff @(posedge clk_i) begin
    word_q <= at.kind == Preamble_ ? StartWord : at.kind == Data ? whole : rest_q;
    rest_q <= ends ? rest : IdleWord;
    late_word_q <= at.late;
    late_before_q <= late_word_q;
    high_q <= {word_q.ctl[7:4], word_q.data[63:32]};
    tx_o <= next;
    // The SFD is in the word's lane 7, or in the next one's lane 3.
    starts_q <= at.kind == Preamble_;
    sfd_q <= starts_q;
    sfd_late_q <= late_word_q;
    sfd_o <= sfd_q;
    sfd_late_o <= sfd_late_q;
    control_word_q <= at.control;
    sfd_control_q <= control_word_q;
    sfd_control_o <= sfd_control_q;
    if (rst_i) begin
      {word_q, rest_q, tx_o}   <= {3{IdleWord}};
      {starts_q, sfd_q, sfd_o} <= '0;
    end
  end

  // ---------------------------------------------------------------- what is counted
  slot_t end_q;
  logic [15:0] bytes_q, size_q;
  logic multicast_q, broadcast_q, fault_q, over_q;
  mac_record_t record;
  always_comb begin
    record = '{bytes: size_q, hit: size_hit(size_q)};
    record.hit[Octets] = 1'b1;
    record.hit[Underrun] = end_q.underrun;
    record.hit[SymbolError] = end_q.err && !end_q.underrun;
    record.hit[FaultLost] = fault_q;
    if (!end_q.err && !fault_q) begin
      record.hit[Good] = 1'b1;
      record.hit[GoodOctets] = 1'b1;
      record.hit[Broadcast] = broadcast_q;
      record.hit[Multicast] = multicast_q && !broadcast_q;
      record.hit[Pause] = end_q.control && !end_q.pfc;
      record.hit[Pfc] = end_q.control && end_q.pfc;
    end
  end
  always_ff @(posedge clk_i) begin
    if (at.kind == Preamble_) begin
      bytes_q <= 16'd4;
      fault_q <= 1'b0;
    end else if (at.kind == Data) begin
      bytes_q <= bytes_q + 16'(at.len);
    end
    if (fault_i != '0) fault_q <= 1'b1;
    if (at.kind == Data && at.sop) begin
      multicast_q <= at.data[0];
      broadcast_q <= &at.data[47:0];
    end
    end_q <= at;
    size_q <= bytes_q + 16'(at.len);
    over_q <= ends;
    record_valid_o <= over_q;
    record_o <= record;
    if (rst_i) {over_q, record_valid_o} <= '0;
  end

  `ASSERT(GapKept, starts |-> !ended_q && wait_q == '0)
endmodule
