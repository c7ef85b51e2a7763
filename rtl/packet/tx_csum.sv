// SPDX-License-Identifier: Apache-2.0
`include "assert.svh"
`include "stream.svh"
/// Transmit checksum: sums a frame from byte `start` to its end and stores the inverted sum `offset` bytes behind `start`
/// (Linux's CHECKSUM_PARTIAL: the field holds the sum of the pseudo header before; host-nic paper, section II-E).
///
/// `csum_i` is the command of the frame whose first beat is on offer. Frames with a checksum are stored and forwarded once
/// their sum is known, 6 clocks after their last beat; others pass after 6 clocks. A sum of 0 is sent as 0xffff, which is
/// right for UDP and the same for TCP. `vlan_o` is what the command says of a tag, while the frame is on offer. Any `start` and `offset`, odd ones included; a field behind the end is not written.
/// One beat a clock, full back-pressure; frames of up to `Depth` beats. Drops nothing. Reset empties it.
module tx_csum
  import eth_pkg::*;
#(
    parameter int Depth = 128  // beats, at least the longest frame
) (
    input  logic         clk_i,
    input  logic         rst_i,
           stream_if.snk frame_in,   // wide_beat_t
    input  tx_csum_t     csum_i,
           stream_if.src frame_out,  // wide_beat_t
    output tx_vlan_t     vlan_o      // of the frame on offer
);
  localparam int SumClocks = 4;
  localparam int LaneW = $clog2(WideBeatBytes);

  // Sent on: where the sum goes. One for each frame, in order.
  typedef struct packed {
    tx_vlan_t    vlan;
    logic        enable;
    logic [8:0]  place;   // of the first of its two bytes
    logic [15:0] value;
  } token_t;

  typedef struct packed {
    logic       valid;   // the frame may leave from here on
    logic       enable;
    logic       odd;     // the sum began at an odd byte
    tx_vlan_t   vlan;
    logic [8:0] place;
  } mark_t;

  wide_beat_t beat_in, beat_out;
  assign beat_in = frame_in.data;
  `STREAM(wide_beat_t, held)
  `FIFO(wide_beat_t, Depth, i_beats, frame_in, held)

  // The command stays for all beats of the frame; `start` is counted down to the beat it lies in.
  wire moves = frame_in.valid && frame_in.ready;
  tx_csum_t command_q;
  logic [8-LaneW:0] index_q;
  wire tx_csum_t command = beat_in.sop ? csum_i : command_q;
  wire [8-LaneW:0] index = beat_in.sop ? '0 : index_q;  // of the beat, Later for all that `start` cannot lie in
  localparam logic [8-LaneW:0] Later = (9 - LaneW)'(256 / WideBeatBytes);
  logic [LaneW:0] from;
  always_comb begin
    from = '0;
    if (index < {1'b0, command.start[7:LaneW]}) from = (LaneW + 1)'(WideBeatBytes);
    else if (index == {1'b0, command.start[7:LaneW]}) from = {1'b0, command.start[LaneW-1:0]};
  end

  always_ff @(posedge clk_i) begin
    if (moves) begin
      command_q <= command;
      index_q   <= (index == Later) ? Later : index + 1'b1;
    end
  end

  logic sum_valid;
  logic [15:0] sum;
  csum_sum #(
      .Bytes(WideBeatBytes)
  ) i_sum (
      .clk_i,
      .rst_i,
      .valid_i(moves && command.enable),
      .first_i(beat_in.sop),
      .last_i (beat_in.eop),
      .data_i (beat_in.data),
      .from_i (from),
      .to_i   (beat_in.len),
      .valid_o(sum_valid),
      .sum_o  (sum)
  );

  // Beside the sum: all frames take the same time, so tokens stay in order.
  mark_t [SumClocks-1:0] mark_q;
  mark_t mark;
  always_ff @(posedge clk_i) begin
    mark_q <= {
      mark_q[SumClocks-2:0],
      mark_t
'{
          valid: moves && (command.enable ? beat_in.eop : beat_in.sop),
          enable: command.enable,
          odd: command.start[0],
          vlan: command.vlan,
          place: 9'(command.start) + 9'(command.offset)
      }
    };
    if (rst_i) for (int i = 0; i < SumClocks; i++) mark_q[i].valid <= 1'b0;
  end
  assign mark = mark_q[SumClocks-1];

  `STREAM(token_t, token_in)
  `STREAM(token_t, token_out)
  token_t token;
  wire [15:0] in_order = mark.odd ? {sum[7:0], sum[15:8]} : sum;
  assign token_in.valid = mark.valid;
  assign token_in.data = '{
          vlan: mark.vlan,
          enable: mark.enable,
          place: mark.place,
          value: (in_order == 16'hffff) ? 16'hffff : ~in_order
      };
  // Each token has a beat in the other FIFO, so there is always room.
  `FIFO(token_t, Depth, i_tokens, token_in, token_out)

  // Out: the two bytes are put in where their beat comes by.
  logic [9-LaneW:0] out_index_q;  // OutLater for all beats after the last that can hold the field
  localparam logic [9-LaneW:0] OutLater = (10 - LaneW)'(512 / WideBeatBytes);
  wire [9:0] low_place = 10'(token.place) + 10'd1;
  assign token  = token_out.data;
  assign vlan_o = token.vlan;
  always_comb begin
    if (`WORTH(frame_out.valid)) begin
      beat_out = held.data;
      if (token.enable) begin
        if ({1'b0, token.place[8:LaneW]} == out_index_q && {1'b0, token.place[LaneW-1:0]} < beat_out.len) begin
          beat_out.data[8*token.place[LaneW-1:0]+:8] = token.value[15:8];
        end
        if (low_place[9:LaneW] == out_index_q && {1'b0, low_place[LaneW-1:0]} < beat_out.len) begin
          beat_out.data[8*low_place[LaneW-1:0]+:8] = token.value[7:0];
        end
      end
    end
  end

  assign frame_out.valid = held.valid && token_out.valid;
  assign frame_out.data  = beat_out;
  wire leaves = frame_out.valid && frame_out.ready;
  assign held.ready = leaves;
  assign token_out.ready = leaves && beat_out.eop;

  always_ff @(posedge clk_i) begin
    if (leaves) begin
      if (beat_out.eop) out_index_q <= '0;
      else if (out_index_q != OutLater) out_index_q <= out_index_q + 1'b1;
    end
    if (rst_i) out_index_q <= '0;
  end

  wire unused = &{1'b0, beat_in};

  `ASSERT(TokenHasRoom, token_in.valid |-> token_in.ready)
  `ASSERT(SumInTime, sum_valid == (mark.valid && mark.enable))
endmodule
