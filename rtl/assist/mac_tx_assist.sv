// SPDX-License-Identifier: Apache-2.0
`include "assert.svh"
`include "stream.svh"
/// MAC transmit assist: frames from the frame memory to the MAC (core-nic paper, section 4).
///
/// Commands (assist_pkg, two words) come from a ring in the scratchpad; `cores.progress` counts the frames whose last word the MAC
/// took, in order. A frame is read in one burst into a buffer of two maximum-size frames and starts when it is there to
/// its end, so it has no gaps; the next ones are read meanwhile, as many as fit. Frames begin at any byte; those below 60
/// bytes are padded. Commands with a length of 0 or above 1514, or not in the frame memory, are skipped (`cores.bad`), and those
/// of frames a part of which could not be read: in a slot that came by `lost` before (lost_frames). `skipped_o` tells two kinds apart. One
/// word of 16 bytes in a memory clock, one of 8 bytes in a MAC clock. All resets must be given together.
module mac_tx_assist
  import core_pkg::*;
  import eth_pkg::*;
  import assist_pkg::*;
  import dram_pkg::*;
#(
    parameter int MaxFrame = 1514,  // without FCS
    parameter int BufferWords = 256  // of 16 bytes: two frames and more, a power of two
) (
    // Core clock.
    input logic core_clk_i,
    input logic core_rst_i,
    assist_if.assist cores,
    stream_if.snk lost,  // slot_t
    output mac_skipped_t skipped_o,

    // Memory clock: frame bus.
    input logic mem_clk_i,
    input logic mem_rst_i,
    stream_if.src req,  // bus_req_t
    stream_if.snk rdata,  // logic [127:0]

    // MAC clock.
    input  logic       mac_clk_i,
    input  logic       mac_rst_i,
    output logic       tx_valid_o,
    input  logic       tx_ready_i,
    output word_beat_t tx_o
);
  localparam int CommandDepth = 8;
  localparam int Frames = 32;  // in the buffer
  if (BufferWords * BusBytes < 2 * (MaxFrame + 2 * BusBytes) || MaxFrame > MaxPart) begin : g_bad_parameter
    $fatal(1, "mac_tx_assist: %0d words do not hold two frames", BufferWords);
  end

  // ---------------------------------------------------------------- core clock: commands and progress
  `STREAM_ON(mac_ring_command_t, fetched, core_clk_i, core_rst_i)
  `STREAM_ON(mac_ring_command_t, words, core_clk_i, core_rst_i)
  `STREAM_ON(local_part_t, part, core_clk_i, core_rst_i)
  `STREAM_ON(logic, kind, core_clk_i, core_rst_i)
  ring_fetch #(
      .Words(2)
  ) i_fetch (
      .clk_i(core_clk_i),
      .rst_i(core_rst_i),
      .base_i(cores.base),
      .log_i(cores.log),
      .producer_i(cores.producer),
      .req_valid_o(cores.mem_valid),
      .req_o(cores.mem_req),
      .req_ready_i(cores.mem_ready),
      .rsp_valid_i(cores.mem_rsp_valid),
      .rsp_i(cores.mem_rsp),
      .command(fetched)
  );
  logic is_lost;
  lost_frames i_lost (
      .clk_i(core_clk_i),
      .rst_i(core_rst_i),
      .lost,
      .in(fetched),
      .out(words),
      .is_lost_o(is_lost)
  );
  mac_ring_command_t command;
  assign command = words.data;
  wire [15:0] len = command.info.len;
  wire [31:0] offset = command.address - FrameBase;
  wire possible = len != '0 && len <= 16'(MaxFrame) && offset < 2 ** FrameAddrW && offset + 32'(len) <= 2 ** FrameAddrW;
  wire good = possible && !is_lost;
  wire unused_flags = &{1'b0, command.info};
  assign kind.valid  = words.valid && (!good || part.ready);
  assign kind.data   = !good;
  assign part.valid  = words.valid && good && kind.ready;
  assign part.data   = '{addr: command.address, len: len[11:0]};
  assign words.ready = kind.ready && (!good || part.ready);
  wire taken = words.valid && words.ready;
  assign cores.bad = taken && !possible;
  assign skipped_o = '{lost: taken && possible && is_lost, empty: taken && len == '0};

  logic [31:0] done;
  logic done_pulse;
  progress_order #(
      .Places(1),
      .Depth (128)
  ) i_progress (
      .clk_i(core_clk_i),
      .rst_i(core_rst_i),
      .kind,
      .done_i(done),
      .progress_o(cores.progress)
  );
  count_cross i_done (
      .src_clk_i(mac_clk_i),
      .src_rst_i(mac_rst_i),
      .add_i(done_pulse),
      .dst_clk_i(core_clk_i),
      .dst_rst_i(core_rst_i),
      .count_o(done)
  );

  // ---------------------------------------------------------------- memory clock: into the buffer
  typedef logic [15:0] shape_t;  // byte in the first word, length
  `STREAM_ON(local_part_t, mem_part, mem_clk_i, mem_rst_i)
  `STREAM_ON(local_part_t, ask, mem_clk_i, mem_rst_i)
  `STREAM_ON(shape_t, asked_in, mem_clk_i, mem_rst_i)
  `STREAM_ON(shape_t, asked, mem_clk_i, mem_rst_i)
  `STREAM_ON(shape_t, frame_in, mem_clk_i, mem_rst_i)
  `STREAM_ON(logic [127:0], word_in, mem_clk_i, mem_rst_i)
  logic [$clog2(BufferWords):0] words_held, asked_words_q;
  logic [$clog2(Frames):0] frames_held, asked_frames_q;
  logic [$clog2(Frames+1)-1:0] unused_asked;
  logic last, whole_q;

  `FIFO_CROSS(local_part_t, CommandDepth, i_commands, core, part, mem, mem_part)

  // A frame is requested when there is room for all of it behind those that are there or on their way.
  local_part_t now;
  assign now = mem_part.data;
  wire [11:0] last_byte = now.len - 1'b1 + 12'(now.addr[3:0]);
  wire [8:0] now_words = 9'(last_byte[11:4]) + 1'b1;
  wire unused_last = &{1'b0, last_byte[3:0], now.addr[31:4]};
  wire room = 12'(words_held) + 12'(asked_words_q) + 12'(now_words) <= 12'(BufferWords) &&
      8'(frames_held) + 8'(asked_frames_q) < 8'(Frames) && asked_in.ready;
  assign ask.valid = mem_part.valid && room;
  assign ask.data = now;
  assign mem_part.ready = ask.ready && room;
  wire asks = ask.valid && ask.ready;
  assign asked_in.valid = asks;
  assign asked_in.data = {now.addr[3:0], now.len};

  assign rdata.ready = 1'b1;  // all was reserved before
  frame_memory_reader i_frame_reader (
      .clk_i(mem_clk_i),
      .rst_i(mem_rst_i),
      .part(ask),
      .req,
      .rvalid_i(rdata.valid),
      .last_o(last)
  );
  fifo #(
      .T(shape_t),
      .Depth(Frames)
  ) i_asked (
      .clk_i(mem_clk_i),
      .rst_i(mem_rst_i),
      .in(asked_in),
      .out(asked),
      .count_o(unused_asked)
  );

  // The frame is announced in the clock after its last word went in.
  always_ff @(posedge mem_clk_i) begin
    if (asks || rdata.valid)
      asked_words_q <= asked_words_q + (asks ? ($bits(
          asked_words_q
      ))'(now_words) : '0) - ($bits(
          asked_words_q
      ))'(rdata.valid);
    if (asks || whole_q)
      asked_frames_q <= asked_frames_q + ($bits(
          asked_frames_q
      ))'(asks) - ($bits(
          asked_frames_q
      ))'(whole_q);
    whole_q <= rdata.valid && last;
    if (mem_rst_i) begin
      asked_words_q <= '0;
      asked_frames_q <= '0;
      whole_q <= 1'b0;
    end
  end
  assign word_in.valid = rdata.valid;
  assign word_in.data = rdata.data;
  assign frame_in.valid = whole_q;
  assign frame_in.data = asked.data;
  assign asked.ready = whole_q;

  // ---------------------------------------------------------------- MAC clock: out of the buffer
  `STREAM_ON(shape_t, frame, mac_clk_i, mac_rst_i)
  `STREAM_ON(logic [127:0], word, mac_clk_i, mac_rst_i)
  fifo_async #(
      .T(shape_t),
      .Depth(Frames)
  ) i_frames (
      .wclk_i(mem_clk_i),
      .wrst_i(mem_rst_i),
      .in(frame_in),
      .count_o(frames_held),
      .rclk_i(mac_clk_i),
      .rrst_i(mac_rst_i),
      .out(frame)
  );
  fifo_async #(
      .T(logic [127:0]),
      .Depth(BufferWords)
  ) i_words (
      .wclk_i(mem_clk_i),
      .wrst_i(mem_rst_i),
      .in(word_in),
      .count_o(words_held),
      .rclk_i(mac_clk_i),
      .rrst_i(mac_rst_i),
      .out(word)
  );
  mac_tx_send i_send (
      .clk_i (mac_clk_i),
      .rst_i (mac_rst_i),
      .frame,
      .word,
      .tx_valid_o,
      .tx_ready_i,
      .tx_o,
      .done_o(done_pulse)
  );

  `ASSERT(WordPlaceKept, rdata.valid |-> word_in.ready, mem_clk_i, mem_rst_i)
  `ASSERT(FramePlaceKept, whole_q |-> frame_in.ready && asked.valid, mem_clk_i, mem_rst_i)
endmodule
