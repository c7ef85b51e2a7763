// SPDX-License-Identifier: Apache-2.0
`include "stream.svh"
/// A place at the edge of the grid, wired to the outer links of its tile: a memory port, a linecard, or nothing.
///
/// All are there; settings loaded at boot (`mesh_pkg::SlotKind` and the words after it) say which one is connected, so that one
/// build serves every layout. While `run_i` is low nothing is connected. What nobody here takes (messages for places outside
/// the grid, static words to a linecard, anything to nothing) is taken, dropped and counted by the word in SlotStray, so that it
/// blocks no one. Each link from the tile ends in a FIFO of four words: `ready` comes from registers.
///
/// Settings are written in one clock; `cfg_rdata_o` is the setting or counter of `cfg_addr_i`, in the same clock. Reset clears
/// settings and counters. Memory: see mem_port; linecard: line_in and line_out.
module edge_slot
  import mesh_pkg::*;
#(
    parameter int DramLatency = 16
) (
    input logic   clk_i,
    input logic   rst_i,
    input logic   run_i,
    input place_t place_i, // the tile, and its side on which this is

    // Settings and counters.
    input  logic        cfg_we_i,
    input  logic  [4:0] cfg_addr_i,
    input  word_t       cfg_wdata_i,
    output word_t       cfg_rdata_o,

    // Links from and to the tile.
    stream_if.snk st1_in,
    stream_if.snk st2_in,
    stream_if.snk gdn_in,
    stream_if.snk mdn_in,
    stream_if.src st1_out,
    stream_if.src st2_out,
    stream_if.src gdn_out,
    stream_if.src mdn_out,
    output logic [3:0] room_o,  // of the links from the tile, for a link_out: static 1, static 2, GDN, MDN

    // DRAM: data comes DramLatency clocks after rd_valid; byte addresses; enable 3 is for bits 31:24.
    output logic        dram_rd_valid_o,
    output word_t       dram_rd_addr_o,
    input  word_t       dram_rd_data_i,
    output logic        dram_wr_valid_o,
    output word_t       dram_wr_addr_o,
    output word_t       dram_wr_data_o,
    output logic  [3:0] dram_wr_be_o,

    // Wire: wire_beat_t.
    stream_if.snk wire_in,
    stream_if.src wire_out
);
  if (DramLatency < 1 || DramLatency > 63) begin : g_bad_parameter
    $fatal(1, "edge_slot: DramLatency %0d is not 1 .. 63", DramLatency);
  end

  // Settings.
  word_t setting_q[8];
  always_ff @(posedge clk_i) begin
    if (cfg_we_i && !cfg_addr_i[4]) setting_q[cfg_addr_i[2:0]] <= cfg_wdata_i;
    if (rst_i) for (int i = 0; i < 8; i++) setting_q[i] <= '0;
  end
  wire memory_on = run_i && setting_q[SlotKind[2:0]][1:0] == SlotMemory;
  wire linecard_on = run_i && setting_q[SlotKind[2:0]][1:0] == SlotLinecard;
  wire in_settings_t in_settings = in_settings_t'(setting_q[SlotIn[2:0]]);

  // Links from the tile.
  `STREAM(word_t, st1)
  `STREAM(word_t, st2)
  `STREAM(word_t, gdn)
  `STREAM(word_t, mdn)
  link_fifo st1_fifo (
      .clk_i,
      .rst_i,
      .in    (st1_in),
      .out   (st1),
      .room_o(room_o[0])
  );
  link_fifo st2_fifo (
      .clk_i,
      .rst_i,
      .in    (st2_in),
      .out   (st2),
      .room_o(room_o[1])
  );
  link_fifo gdn_fifo (
      .clk_i,
      .rst_i,
      .in    (gdn_in),
      .out   (gdn),
      .room_o(room_o[2])
  );
  link_fifo mdn_fifo (
      .clk_i,
      .rst_i,
      .in    (mdn_in),
      .out   (mdn),
      .room_o(room_o[3])
  );

  `STREAM(word_t, mem_st)
  `STREAM(word_t, mem_st_out)
  `STREAM(word_t, mem_gdn)
  `STREAM(word_t, mem_mdn)
  `STREAM(word_t, line_st)
  `STREAM(word_t, line_gdn)
  `STREAM(word_t, line_mdn)
  `STREAM(word_t, buffer_gdn)
  `STREAM(word_t, buffer_mdn)
  `STREAM(word_t, to_gdn[4])
  `STREAM(word_t, to_mdn[4])
  logic stray_gdn, stray_mdn;
  logic [1:0] written, credit;  // interrupts to the linecard
  message_sort gdn_sort (
      .clk_i,
      .rst_i,
      .place_i,
      .memory_i  (memory_on),
      .linecard_i(linecard_on),
      .in        (gdn),
      .memory    (mem_gdn),
      .buffer    (buffer_gdn),
      .line      (line_gdn),
      .stray_o   (stray_gdn),
      .written_o (written[0]),
      .credit_o  (credit[0])
  );
  message_sort mdn_sort (
      .clk_i,
      .rst_i,
      .place_i,
      .memory_i  (memory_on),
      .linecard_i(linecard_on),
      .in        (mdn),
      .memory    (mem_mdn),
      .buffer    (buffer_mdn),
      .line      (line_mdn),
      .stray_o   (stray_mdn),
      .written_o (written[1]),
      .credit_o  (credit[1])
  );
  // A linecard's buffer is read over either network and answers over one.
  `STREAM(word_t, to_buffer[2])
  `STREAM(word_t, buffer_in)
  `STREAM(word_t, buffer_out)
  assign to_buffer[0].valid = buffer_gdn.valid;
  assign to_buffer[0].data  = buffer_gdn.data;
  assign buffer_gdn.ready   = to_buffer[0].ready;
  assign to_buffer[1].valid = buffer_mdn.valid;
  assign to_buffer[1].data  = buffer_mdn.data;
  assign buffer_mdn.ready   = to_buffer[1].ready;
  message_merge #(
      .N(2)
  ) buffer_merge (
      .clk_i,
      .rst_i,
      .in (to_buffer),
      .out(buffer_in)
  );
  assign to_gdn[0].valid = buffer_out.valid && in_settings.answer_gdn;
  assign to_gdn[0].data = buffer_out.data;
  assign to_mdn[3].valid = buffer_out.valid && !in_settings.answer_gdn;
  assign to_mdn[3].data = buffer_out.data;
  assign buffer_out.ready = in_settings.answer_gdn ? to_gdn[0].ready : to_mdn[3].ready;
  assign mem_st.valid = st1.valid && memory_on;
  assign mem_st.data = st1.data;
  assign st1.ready = memory_on ? mem_st.ready : 1'b1;
  assign st2.ready = 1'b1;
  wire [2:0] strays = 3'(stray_gdn) + 3'(stray_mdn) + 3'(st2.valid) + 3'(st1.valid && !memory_on);

  // Links: what the tile gets.
  assign st1_out.valid = memory_on ? mem_st_out.valid : line_st.valid;
  assign st1_out.data = memory_on ? mem_st_out.data : line_st.data;
  assign mem_st_out.ready = memory_on && st1_out.ready;
  assign line_st.ready = !memory_on && st1_out.ready;
  assign st2_out.valid = 1'b0;
  assign st2_out.data = '0;
  message_merge #(
      .N(4)
  ) gdn_merge (
      .clk_i,
      .rst_i,
      .in (to_gdn),
      .out(gdn_out)
  );
  message_merge #(
      .N(4)
  ) mdn_merge (
      .clk_i,
      .rst_i,
      .in (to_mdn),
      .out(mdn_out)
  );

  word_t reads, writes, mem_bad, in_frames, in_bad, out_frames, out_bad, stray_q;
  mem_port memory (
      .clk_i,
      .rst_i,
      .place_i,
      .settings_i    (mem_settings_t'(setting_q[SlotMem[2:0]])),
      .mdn_in        (mem_mdn),
      .mdn_out       (to_mdn[0]),
      .gdn_in        (mem_gdn),
      .gdn_out       (to_gdn[3]),
      .st_in         (mem_st),
      .st_out        (mem_st_out),
      .dram_latency_i(6'(DramLatency)),
      .dram_rd_valid_o,
      .dram_rd_addr_o,
      .dram_rd_data_i,
      .dram_wr_valid_o,
      .dram_wr_addr_o,
      .dram_wr_data_o,
      .dram_wr_be_o,
      .reads_o       (reads),
      .writes_o      (writes),
      .bad_o         (mem_bad)
  );

  // The wire ends here while this is no linecard.
  `STREAM(wire_beat_t, wire_on)
  assign wire_on.valid = wire_in.valid && linecard_on;
  assign wire_on.data  = wire_in.data;
  assign wire_in.ready = wire_on.ready && linecard_on;
  line_in in_card (
      .clk_i,
      .rst_i,
      .place_i,
      .settings_i(in_settings),
      .heads_i(head_places_t'(setting_q[SlotHeads[2:0]])),
      .ring_base_i(setting_q[SlotRingBase[2:0]]),
      .ring_bytes_i(setting_q[SlotRingBytes[2:0]]),
      .wire_in(wire_on),
      .written_i(|written),
      .credit_i(|credit),
      .buffer_in(buffer_in),
      .answers(buffer_out),
      .heads(to_gdn[1]),
      .mdn_out(to_mdn[1]),
      .st_out(line_st),
      .frames_o(in_frames),
      .bad_o(in_bad)
  );
  line_out out_card (
      .clk_i,
      .rst_i,
      .run_i(linecard_on),
      .place_i,
      .settings_i(out_settings_t'(setting_q[SlotOut[2:0]])),
      .gdn_in(line_gdn),
      .mdn_in(line_mdn),
      .gdn_out(to_gdn[2]),
      .mdn_out(to_mdn[2]),
      .wire_out,
      .frames_o(out_frames),
      .bad_o(out_bad)
  );

  always_ff @(posedge clk_i) begin
    if (strays != '0) stray_q <= stray_q + word_t'(strays);
    if (rst_i) stray_q <= '0;
  end
  always_comb begin
    case (cfg_addr_i)
      SlotMemReads: cfg_rdata_o = reads;
      SlotMemWrites: cfg_rdata_o = writes;
      SlotMemBad: cfg_rdata_o = mem_bad;
      SlotInFrames: cfg_rdata_o = in_frames;
      SlotInBad: cfg_rdata_o = in_bad;
      SlotOutFrames: cfg_rdata_o = out_frames;
      SlotOutBad: cfg_rdata_o = out_bad;
      SlotStray: cfg_rdata_o = stray_q;
      default: cfg_rdata_o = setting_q[cfg_addr_i[2:0]];
    endcase
  end
endmodule
