// SPDX-License-Identifier: Apache-2.0
`include "assert.svh"
`include "stream.svh"
/// One DMA channel: commands become PCI-X transactions.
///
/// A command is cut into transactions of up to 4096 bytes, sent one after the other. A write is offered when its next word is
/// there; from then on `wdata` must give one word a clock. A word sent but not taken is kept for the next try. A read has one
/// transaction outstanding, and is offered only when its words have room in the buffer of 512 words behind `rdata`; its
/// Split Completions may come in pieces. `done` answers each command in order: of a write when the target has taken the last
/// word, of a read when the last word is in the buffer. A command that fails takes its words from `wdata`, or gives zeros to
/// `rdata`, before it is done. A read not completed within `timeout_i` clocks is given up, and the tag's upper bits move on:
/// what comes late counts as unexpected. Reset forgets everything.
module pcix_channel
  import pcix_pkg::*, channel_pkg::*;
#(
    parameter int Index = 0,    // lower bits of the tag
    parameter bit Reads = 1'b1
) (
    input logic clk_i,
    input logic rst_i,
    // Client.
    stream_if.snk cmd,
    stream_if.snk wdata,
    stream_if.src rdata,
    stream_if.src done,
    // Master: see pcix_master.
    input logic enable_i,
    input logic [7:0] bus_i,
    input logic [4:0] device_i,
    output logic want_o,
    output logic need_o,
    output offer_t offer_o,
    output logic [63:0] data_o,
    input logic start_i,
    input logic pop_i,
    input logic taken_i,
    input logic end_i,
    input end_e how_i,
    // Split Completions to this card; `accept_o` belongs to the words of the one that `split_i` began.
    input logic split_i,
    input split_start_t split_start_i,
    input logic word_i,
    input logic word_last_i,
    input logic [63:0] word_data_i,
    output logic accept_o,
    // Setting and events.
    input logic [31:0] timeout_i,
    output logic split_timeout_o,
    output logic split_error_o
);
  localparam int ReadWords = BurstBytes / 8;
  typedef enum logic [2:0] {
    Empty,
    Ready,
    Running,
    Waiting,  // for a Split Completion
    Flush,    // the words of a command that failed
    Finish    // waits to say `done`
  } state_e;

  state_e state_q;
  channel_cmd_t cmd_q;  // addr: of the piece; bytes: left of the command
  logic [12:0] piece_q;  // bytes left of the piece
  logic [12:0] offset_q;  // from the beginning of the piece
  logic [63:0] hold_q;
  logic hold_valid_q, fresh_q, accept_q, message_q, done_valid_q;
  channel_result_e result_q, done_q;
  logic [2:0] turn_q;  // upper bits of the tag
  logic [31:0] timer_q;

  channel_cmd_t cmd_in;
  assign cmd_in = cmd.data;

  function automatic logic [12:0] piece_of(logic [15:0] bytes);
    return bytes > 16'(BurstBytes) ? 13'(BurstBytes) : bytes[12:0];
  endfunction

  // Read buffer.
  `STREAM(channel_word_t, fill)
  logic room;
  if (Reads) begin : g_reads
    logic [9:0] count;
    fifo #(
        .T(channel_word_t),
        .Depth(ReadWords)
    ) i_buffer (
        .clk_i,
        .rst_i,
        .in(fill),
        .out(rdata),
        .count_o(count)
    );
    assign room = count + piece_q[12:3] <= 10'(ReadWords);
  end else begin : g_no_reads
    assign fill.ready = 1'b1;
    assign rdata.valid = 1'b0;
    assign rdata.data = '0;
    assign room = 1'b0;
  end

  // One word of the command is done with, whatever became of it.
  wire flush_write = state_q == Flush && !cmd_q.read && (hold_valid_q || wdata.valid);
  wire flush_read = state_q == Flush && cmd_q.read && fill.ready;
  wire split_word = word_i && accept_q && state_q == Waiting && !message_q;
  wire word = taken_i || split_word || flush_write || flush_read;
  wire last_word = word && cmd_q.bytes == 16'd8;
  wire last_of_piece = word && piece_q == 13'd8;

  assign fill.valid = split_word || (state_q == Flush && cmd_q.read);
  assign fill.data  = '{data: state_q == Waiting ? word_data_i : '0, last: cmd_q.bytes == 16'd8};

  // The first word of a transaction may be one that was sent before.
  wire replay = hold_valid_q && !fresh_q;
  assign data_o = replay ? hold_q : wdata.data;
  assign wdata.ready = (pop_i && !replay) || (state_q == Flush && !cmd_q.read && !hold_valid_q);

  assign want_o = state_q == Ready && enable_i &&
      (cmd_q.read ? room : (wdata.valid || hold_valid_q));
  // While a transaction runs: another is wanted if this one is not the last of the command, or a command waits.
  assign need_o = (want_o && !start_i) || ((state_q == Running || start_i) && enable_i && !cmd_q.read &&
      (cmd_q.bytes != 16'(piece_q) || cmd.valid));

  assign offer_o.command = cmd_q.read ? MemReadBlock : MemWriteBlock;
  assign offer_o.read = cmd_q.read;
  assign offer_o.addr = cmd_q.addr + 64'(offset_q);
  assign offer_o.words = piece_q[12:3];
  assign offer_o.attr = '{
          byte_count: piece_q[11:0],
          message: 1'b0,
          unused: 1'b0,
          tag: {turn_q, 2'(Index)},
          bus: bus_i,
          device: device_i,
          func: 3'd0
      };

  // A command leaves when its result has a place; the next may come in the same clock.
  wire place = !done_valid_q || done.ready;
  wire leave = place && ((last_word && state_q != Flush) || state_q == Finish);
  assign cmd.ready  = state_q == Empty || leave;
  assign done.valid = done_valid_q;
  assign done.data  = done_q;

  // A Split Completion is ours if it goes on exactly where the last one stopped.
  wire expected = state_q == Waiting && split_start_i.tag == {turn_q, 2'(Index)} &&
      (split_start_i.message || (split_start_i.byte_count == piece_q[11:0] &&
                                 split_start_i.lower_addr == offer_o.addr[6:3]));
  assign accept_o = accept_q;
  wire timeout = state_q == Waiting && timeout_i != '0 && timer_q >= timeout_i && !accept_q;
  assign split_timeout_o = timeout;
  assign split_error_o   = word_i && accept_q && message_q;

  always_ff @(posedge clk_i) begin
    timer_q <= timer_q + 1'b1;
    if (done.ready) done_valid_q <= 1'b0;

    if (split_i) begin
      accept_q  <= expected && !timeout;
      message_q <= split_start_i.message;
    end else if (word_i && word_last_i) accept_q <= 1'b0;

    if (pop_i) begin
      hold_q <= data_o;
      hold_valid_q <= 1'b1;
      fresh_q <= 1'b1;
    end else if (taken_i || flush_write) hold_valid_q <= 1'b0;

    if (word) begin
      cmd_q.bytes <= cmd_q.bytes - 16'd8;
      piece_q <= piece_q - 13'd8;
      offset_q <= offset_q + 13'd8;
      if (last_of_piece) begin
        piece_q  <= piece_of(cmd_q.bytes - 16'd8);
        offset_q <= '0;
        if (!cmd_q.fixed) cmd_q.addr <= offer_o.addr + 64'd8;
      end
    end

    unique case (state_q)
      Ready:
      if (start_i) begin
        state_q <= Running;
        fresh_q <= 1'b0;
      end
      Running: begin
        timer_q <= '0;
        if (end_i) begin
          state_q <= Ready;
          fresh_q <= 1'b0;
          if (how_i == EndSplit) state_q <= Waiting;
          if (how_i == EndAbort) begin
            state_q  <= Flush;
            result_q <= ChannelAbort;
          end
        end
      end
      Waiting: begin
        if (last_of_piece) state_q <= Ready;
        if (timeout || split_error_o) begin
          state_q  <= Flush;
          result_q <= timeout ? ChannelTimeout : ChannelSplitError;
          if (timeout) turn_q <= turn_q + 1'b1;
        end
      end
      default: ;
    endcase
    if (last_word) state_q <= Finish;
    if (leave) begin
      state_q <= Empty;
      done_valid_q <= 1'b1;
      done_q <= result_q;
    end
    if (cmd.valid && cmd.ready) begin
      state_q <= Ready;
      cmd_q <= cmd_in;
      piece_q <= piece_of(cmd_in.bytes);
      offset_q <= '0;
      result_q <= ChannelOk;
    end
    if (rst_i) begin
      state_q <= Empty;
      hold_valid_q <= 1'b0;
      accept_q <= 1'b0;
      done_valid_q <= 1'b0;
      turn_q <= '0;
    end
  end

  `ASSERT(WholeWords,
          cmd.valid |-> cmd_in.bytes != '0 && cmd_in.bytes[2:0] == '0 && cmd_in.addr[2:0] == '0)
  `ASSERT(ThisChannelReads, cmd.valid |-> !cmd_in.read || Reads)
  `ASSERT(WriteWordsComeWithoutGap, pop_i |-> replay || wdata.valid)
  `ASSERT(ReadBufferHasRoom, split_word |-> fill.ready)
  `ASSERT(StartsOnlyWhenWanted, start_i |-> want_o)
endmodule
