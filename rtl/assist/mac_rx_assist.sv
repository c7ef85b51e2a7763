// SPDX-License-Identifier: Apache-2.0
`include "assert.svh"
`include "stream.svh"
/// MAC receive assist: frames from the MAC into slots of the frame memory (core-nic paper, section 4).
///
/// There are 2^`cores.log` slots of 2 kB from `slot_base_i` on, used in turn, and as many descriptors of two words (assist_pkg) in
/// a ring in the scratchpad, one for each slot. A frame goes through a buffer of two maximum-size frames in one burst; then
/// its descriptor is written, and then `cores.progress` moves. `cores.producer` counts the slots that firmware gave back, in order. The
/// wire is never held up: a bad frame, or one that finds the buffer full, is dropped whole and counted; a frame waits in
/// the buffer for a slot, and `no_buffer_o` counts in place of count_o.fifo_full what is lost meanwhile. One word of 16 bytes
/// in a memory clock. Settings are fixed while `enable_i` is high. All resets must be given together.
module mac_rx_assist
  import core_pkg::*;
  import eth_pkg::*;
  import dram_pkg::*;
#(
    parameter int MaxFrame = 1514,  // without FCS
    parameter int BufferWords = 256  // of 16 bytes: two frames and more, a power of two
) (
    // Core clock.
    input logic core_clk_i,
    input logic core_rst_i,
    assist_if.assist cores,
    input logic [31:0] slot_base_i,
    input logic enable_i,

    // Memory clock: frame bus.
    input logic mem_clk_i,
    input logic mem_rst_i,
    stream_if.src req,  // bus_req_t
    stream_if.src wdata,  // bus_wdata_t

    // MAC clock; counts are high for a clock a frame.
    input  logic          mac_clk_i,
    input  logic          mac_rst_i,
    input  logic          rx_valid_i,
    input  word_beat_t    rx_i,
    output mac_rx_count_t count_o,
    output logic          no_buffer_o
);
  localparam int WordW = $clog2(BufferWords);
  localparam int Frames = 64;
  localparam int Slots = 16;  // known ahead
  localparam int SlotBytes = 2048;
  if (BufferWords * BusBytes < 2 * (MaxFrame + BusBytes) || BufferWords > 256) begin : g_bad_parameter
    $fatal(1, "mac_rx_assist: %0d words do not hold two frames, or are above 256", BufferWords);
  end
  typedef logic [11:0] len_t;

  // ---------------------------------------------------------------- MAC clock
  `STREAM_ON(len_t, mac_frame, mac_clk_i, mac_rst_i)
  logic enable_at_mac, starved, starved_at_mac, we, re, freed;
  logic [WordW-1:0] waddr, raddr;
  logic [127:0] buffer_in, buffer_out;
  logic [31:0] freed_words;
  mac_rx_count_t count;
  sync_2ff #(
      .Width(2)
  ) i_to_mac (
      .clk_i(mac_clk_i),
      .d_i  ({enable_i, starved}),
      .q_o  ({enable_at_mac, starved_at_mac})
  );
  mac_rx_take #(
      .Words(BufferWords),
      .MaxFrame(MaxFrame)
  ) i_take (
      .clk_i(mac_clk_i),
      .rst_i(mac_rst_i),
      .enable_i(enable_at_mac),
      .rx_valid_i,
      .rx_i,
      .we_o(we),
      .waddr_o(waddr),
      .wdata_o(buffer_in),
      .freed_i(freed_words),
      .frame(mac_frame),
      .count_o(count)
  );
  always_comb begin
    count_o = count;
    count_o.fifo_full = count.fifo_full && !starved_at_mac;
  end
  assign no_buffer_o = count.fifo_full && starved_at_mac;
  ram_2clk #(
      .Width(128),
      .Depth(BufferWords)
  ) i_buffer (
      .wclk_i (mac_clk_i),
      .we_i   (we),
      .waddr_i(waddr),
      .wdata_i(buffer_in),
      .rclk_i (mem_clk_i),
      .re_i   (re),
      .raddr_i(raddr),
      .rdata_o(buffer_out)
  );
  count_cross #(
      .Width(WordW + 1)
  ) i_freed (
      .src_clk_i(mem_clk_i),
      .src_rst_i(mem_rst_i),
      .add_i(freed),
      .dst_clk_i(mac_clk_i),
      .dst_rst_i(mac_rst_i),
      .count_o(freed_words)
  );

  // ---------------------------------------------------------------- memory clock
  `STREAM_ON(len_t, mem_frame, mem_clk_i, mem_rst_i)
  `STREAM_ON(logic [31:0], mem_slot, mem_clk_i, mem_rst_i)
  `STREAM_ON(len_t, mem_stored, mem_clk_i, mem_rst_i)
  logic starves;
  `FIFO_CROSS(len_t, Frames, i_frames, mac, mac_frame, mem, mem_frame)
  mac_rx_store #(
      .Words(BufferWords)
  ) i_store (
      .clk_i(mem_clk_i),
      .rst_i(mem_rst_i),
      .frame(mem_frame),
      .slot(mem_slot),
      .starved_o(starves),
      .re_o(re),
      .raddr_o(raddr),
      .rdata_i(buffer_out),
      .freed_o(freed),
      .req,
      .wdata,
      .stored(mem_stored)
  );
  pipe_reg i_starved (
      .clk_i(mem_clk_i),
      .d_i  (starves),
      .q_o  (starved)
  );

  // ---------------------------------------------------------------- core clock: slots out, descriptors in
  `STREAM_ON(logic [31:0], slot, core_clk_i, core_rst_i)
  `STREAM_ON(len_t, stored, core_clk_i, core_rst_i)
  `FIFO_CROSS(logic [31:0], Slots, i_slots, core, slot, mem, mem_slot)
  `FIFO_CROSS(len_t, Slots, i_stored, mem, mem_stored, core, stored)

  // Slots given to the memory side, which are not free until firmware says so.
  logic [31:0] given_q, produced_q;
  logic second_q;
  wire [31:0] ring = 32'd1 << cores.log;
  wire [31:0] give_index = given_q & (ring - 1'b1);
  wire [31:0] index = produced_q & (ring - 1'b1);
  assign cores.progress = produced_q;
  assign cores.bad = 1'b0;
  wire unused = &{1'b0, cores.mem_rsp_valid, cores.mem_rsp};
  assign slot.valid = enable_i && given_q - cores.producer < ring;
  assign slot.data  = slot_base_i + give_index * SlotBytes;

  len_t len;
  assign len = stored.data;
  assign cores.mem_valid = stored.valid;
  assign cores.mem_req = '{
          op: Store,
          addr: cores.base + {index[28:0], second_q, 2'b00},
          wdata: second_q ? {15'd0, 1'b1, 4'd0, len} : slot_base_i + index * SlotBytes,
          be: '1
      };
  assign stored.ready = cores.mem_ready && second_q;
  always_ff @(posedge core_clk_i) begin
    if (slot.valid && slot.ready) given_q <= given_q + 1'b1;
    if (cores.mem_valid && cores.mem_ready) second_q <= !second_q;
    if (stored.valid && stored.ready) produced_q <= produced_q + 1'b1;
    if (core_rst_i) begin
      given_q <= '0;
      second_q <= 1'b0;
      produced_q <= '0;
    end
  end

  `ASSERT(NotFreedTwice, enable_i |-> given_q - cores.producer <= ring, core_clk_i, core_rst_i)
endmodule
