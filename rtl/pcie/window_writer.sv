// SPDX-License-Identifier: Apache-2.0
`include "assert.svh"
`include "stream.svh"
/// One DMA channel of direct_scheduler over PCI Express: write commands become posted writes to a peer's window.
///
/// A command is cut at the maximum payload (`cfg_i`, at most `MaxPayload`) and at 4 kB; with `fixed` every piece starts at
/// `addr` again. The words of a TLP are gathered whole before its first beat is shown, so that a slow channel never holds up
/// those behind the same tlp_tx_mux: latency 2 clocks and one a word. One word a clock, also from TLP to TLP. `done` says ChannelOk
/// when the last TLP of the command was taken by `tlp`: what any channel sends after that arrives after it, as posted writes
/// keep their order. There is no answer to a posted write, so a command never fails. Nothing begins while bus
/// mastering is off. `sent_o` is high a clock for each TLP that has gone. Reset drops the command.
module window_writer
  import pcie_pkg::*;
  import channel_pkg::channel_cmd_t;
  import channel_pkg::channel_result_e;
  import channel_pkg::ChannelOk;
#(
    parameter int MaxPayload = 512  // 128, 256, 512, 1024
) (
    input  logic         clk_i,
    input  logic         rst_i,
    input  pcie_cfg_t    cfg_i,
    // Client.
           stream_if.snk cmd,    // channel_cmd_t, writes only
           stream_if.snk wdata,  // logic [63:0]
           stream_if.src done,   // channel_result_e
    // To tlp_tx_mux: tlp_beat_t
           stream_if.src tlp,
    // Events.
    output logic         sent_o
);
  if (!(MaxPayload inside {128, 256, 512, 1024})) begin : g_bad_parameter
    $fatal(1, "window_writer: MaxPayload %0d is not 128, 256, 512 or 1024", MaxPayload);
  end
  localparam int BeatWords = TlpBeatBytes / 8;
  localparam int Depth = 2 * MaxPayload / TlpBeatBytes;
  localparam int CountW = $clog2(Depth + 1);
  localparam logic [2:0] LastLane = 3'(BeatWords - 1);
  localparam logic [2:0] TopPayload = 3'($clog2(MaxPayload / 128));

  typedef enum logic [1:0] {
    Idle,
    Cut,     // decides how long the next TLP is
    Gather,
    Finish   // until the last TLP has gone
  } state_e;
  state_e state_q;
  channel_cmd_t cmd_in;
  assign cmd_in = cmd.data;

  logic fixed_q, done_valid_q, sop_q;
  logic [63:0] addr_q;  // of the next TLP
  logic [12:0] left_q;  // words of the command, without the TLP under way
  logic [9:0] words_q;  // of the TLP, still to come
  logic [2:0] lane_q;
  logic [63:0] lanes_q[BeatWords-1];
  mem4_hdr_t hdr4;
  mem3_hdr_t hdr3;
  logic [127:0] hdr_q;
  wire unused = &{1'b0, cfg_i, cmd_in};

  // How many words the next TLP has.
  wire [2:0] payload = cfg_i.max_payload < TopPayload ? cfg_i.max_payload : TopPayload;
  wire [9:0] to_border = 10'd512 - 10'(addr_q[11:3]);
  logic [9:0] piece;
  always_comb begin
    piece = 10'd16 << payload;
    if (to_border < piece) piece = to_border;
    if (left_q < 13'(piece)) piece = left_q[9:0];
  end
  always_comb begin
    hdr4 = '0;
    hdr4.dw0.fmt_type = MWr4;
    hdr4.dw0.length = 10'({piece, 1'b0});
    hdr4.requester_id = cfg_i.requester_id;
    hdr4.last_be = 4'hf;
    hdr4.first_be = 4'hf;
    hdr4.addr = addr_q;
    hdr3 = hdr4;
    hdr3.dw0.fmt_type = MWr3;
    hdr3.addr = addr_q[31:0];
    hdr3.unused = '0;
  end

  // Beats of whole and of growing TLPs.
  `STREAM(tlp_beat_t, made)
  `STREAM(tlp_beat_t, held)
  `FIFO(tlp_beat_t, Depth, i_beats, made, held)
  wire last_word = words_q == 10'd1;
  wire beat_full = last_word || lane_q == LastLane;
  wire word = wdata.valid && wdata.ready;
  tlp_beat_t beat;
  always_comb begin
    beat.hdr  = sop_q ? hdr_q : '0;
    beat.sop  = sop_q;
    beat.eop  = last_word;
    beat.data = '0;
    for (int i = 0; i < BeatWords - 1; i++) beat.data[64*i+:64] = lanes_q[i];
    beat.data[64*32'(lane_q)+:64] = wdata.data;
  end
  assign wdata.ready = state_q == Gather && (!beat_full || made.ready);
  assign made.valid  = state_q == Gather && wdata.valid && beat_full;
  assign made.data   = beat;

  logic [CountW-1:0] whole_q;  // TLPs
  assign tlp.valid  = held.valid && whole_q != '0;
  assign tlp.data   = held.data;
  assign held.ready = tlp.ready && whole_q != '0;
  wire leaves = tlp.valid && tlp.ready && held.data.eop;
  wire whole = made.valid && made.ready && last_word;

  assign cmd.ready = state_q == Idle && cfg_i.bus_master && !done_valid_q;
  assign done.valid = done_valid_q;
  assign done.data = ChannelOk;
  assign sent_o = leaves;

  always_ff @(posedge clk_i) begin
    whole_q <= whole_q + CountW'(whole) - CountW'(leaves);
    if (done.ready) done_valid_q <= 1'b0;
    if (word) begin
      if (lane_q != LastLane) lanes_q[lane_q] <= wdata.data;
      lane_q  <= beat_full ? '0 : lane_q + 1'b1;
      words_q <= words_q - 1'b1;
      if (beat_full) sop_q <= 1'b0;
    end
    unique case (state_q)
      Idle:
      if (cmd.valid && cmd.ready) begin
        fixed_q <= cmd_in.fixed;
        addr_q  <= cmd_in.addr;
        left_q  <= cmd_in.bytes[15:3];
        state_q <= Cut;
      end
      Cut, Gather:
      if (state_q == Cut || (word && last_word)) begin
        // The next TLP begins, in the clock of the last word of the one before.
        if (left_q == '0) begin
          state_q <= Finish;
        end else begin
          state_q <= Gather;
          hdr_q   <= |addr_q[63:32] ? hdr4 : hdr3;
          sop_q   <= 1'b1;
          words_q <= piece;
          left_q  <= left_q - 13'(piece);
          if (!fixed_q) addr_q <= addr_q + 64'({piece, 3'd0});
        end
      end
      default:
      if (whole_q == '0) begin
        state_q <= Idle;
        done_valid_q <= 1'b1;
      end
    endcase
    if (rst_i) begin
      state_q <= Idle;
      done_valid_q <= 1'b0;
      whole_q <= '0;
      lane_q <= '0;
    end
  end

  `ASSERT(WholeWords,
          cmd.valid |-> cmd_in.bytes != '0 && cmd_in.bytes[2:0] == '0 && cmd_in.addr[2:0] == '0)
  `ASSERT(WritesOnly, cmd.valid |-> !cmd_in.read)
endmodule
