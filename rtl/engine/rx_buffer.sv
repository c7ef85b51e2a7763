// SPDX-License-Identifier: Apache-2.0
`include "assert.svh"
`include "stream.svh"
/// Packet RAM of a port's receive path (host-nic paper, section II-F): frames in, a note about each out.
///
/// Frames are stored one after the other in a ring, each from the next row of the RAM on; the DMA write engine reads them
/// through `ram_i`/`ram_o`. `meta` names a frame once it is whole, 3 clocks after its last beat. `info` gives what the
/// blocks before found out, one for each frame in order; a frame's last beat waits for it. One beat a clock, also across
/// frames; never stalls otherwise. A frame that ends with `err` is erased (counted where it was marked); one that finds no
/// room in the RAM or among the `MaxFrames` notes is dropped whole and counted by a pulse of `dropped_o`.
/// While `records_i` is high a frame's record (stream_cpl_t) is stored right behind it, from the next multiple of four bytes
/// on, so that one DMA request takes both; a last beat of more than 112 bytes then takes two clocks, and a row more.
/// The user gives frames back in order through `free_i`. Reset empties it.
module rx_buffer
  import eth_pkg::*, dma_pkg::*, engine_pkg::*;
#(
    parameter int RamBytes = 131072,  // a power of two, at most 2^RamAddrW
    parameter ram_sel_t Sel = '0,
    parameter logic [1:0] Port = '0,  // told in the records' flags
    parameter int MaxFrames = 512
) (
    input logic clk_i,
    input logic rst_i,

    // Records go behind frames. Once high it stays so.
    input logic records_i,

    // Frames from the MAC and what is known about each.
    stream_if.snk frame,  // wide_beat_t
    stream_if.snk info,   // rx_info_t

    // Whole frames to rx_engine, which gives their space back.
          stream_if.src meta,   // rx_meta_t, `queue` not filled in
    input rx_free_t     free_i,

    // Read port of the DMA write engine.
    input  ram_read_t ram_i,
    output ram_row_t  ram_o,
    // And of rx_pack, whole rows in clocks without it.
    input  logic      row_valid_i,
    input  row_addr_t row_addr_i,
    output logic      row_ready_o,
    output ram_row_t  row_o,        // RamReadLatency clocks later

    output logic dropped_o,  // one clock for each frame without room
    output logic [15:0] units_o,  // in use
    output logic [1:0] pressed_o  // half of them, and three quarters
);
  localparam int Units = RamBytes / UnitBytes;
  localparam int UnitW = $clog2(Units);
  localparam int MaxUnits = 16384 / UnitBytes - 1;  // of a frame, so that its length fits 14 bits
  if (2 ** UnitW * UnitBytes != RamBytes || UnitW + UnitLaneW > RamAddrW || Units < 4) begin : g_bad_parameter
    $fatal(
        1, "rx_buffer: RamBytes %0d is not a power of two from 512 to %0d", RamBytes, 2 ** RamAddrW
    );
  end

  logic [UnitW-1:0] start, write;  // of the frame that arrives, and its next unit
  logic [UnitW:0] used_q;  // units, those of the frame that arrives included
  logic [8:0] beats;  // stored of this frame
  logic store, keep, drop;

  `STREAM(rx_meta_t, note)
  `FIFO(rx_meta_t, MaxFrames, i_notes, note, meta)

  wide_beat_t beat;
  assign beat = frame.data;
  wire unused = beat.sop;
  // The record takes four words of the last row, or what is left of it and then of the next row.
  logic second_q;  // the next row
  wire [5:0] words = 6'((9'(beat.len) + 9'd3) >> 2);  // of the beat
  wire two_rows = records_i && words > 6'd28;
  wire whole = !two_rows || second_q;
  wire take = frame.valid && (!beat.eop || info.valid);  // a row is stored
  wire last = take && beat.eop && whole;
  assign frame.ready = !beat.eop || (info.valid && whole);
  assign info.ready  = last;

  logic [6:0] full_q;  // beats of the frame before this one
  wire [13:0] len = {full_q, UnitLaneW'(0)} + 14'(beat.len);
  queue_pkg::cpl_t record;
  logic [3:0][31:0] record_words, turned;
  logic [8*UnitBytes-1:0] row;
  always_comb begin
    record = record_of(info.data, Port, len);
    record.phase = 1'b1;
    record_words = {record[31:0], record[127:32]};  // stream_cpl_t
    for (int i = 0; i < 4; i++) turned[i] = record_words[2'(i)-words[1:0]];
    row = beat.data;
    if (records_i && beat.eop) begin
      for (int i = 0; i < UnitBytes / 4; i++)
      if (second_q || 6'(i) >= words) row[32*i+:32] = turned[i%4];
    end
  end

  wire room = used_q < (UnitW + 1)'(Units) && beats < 9'(MaxUnits);
  frame_commit #(
      .UnitW(UnitW)
  ) i_commit (
      .clk_i,
      .rst_i,
      .take_i(take),
      .eop_i(beat.eop && whole),
      .erase_i(beat.err),
      .room_i(room),
      .note_ready_i(note.ready),
      .store_o(store),
      .write_o(write),
      .start_o(start),
      .beats_o(beats),
      .keep_o(keep),
      .drop_o(drop)
  );

  assign units_o = 16'(used_q);
  assign pressed_o = {&used_q[UnitW-1-:2], used_q[UnitW-1]} | {2{used_q[UnitW]}};
  assign note.valid = keep;
  assign note.data = '{
          addr: ram_addr_t'({start, UnitLaneW'(0)}),
          len: len,
          queue: '0,
          join_as: Alone,
          aggregate: '0,
          recorded: records_i,
          info: info.data
      };

  always_ff @(posedge clk_i) begin
    logic [UnitW:0] used;
    dropped_o <= drop;
    used = used_q;
    if (free_i.valid) used -= (UnitW + 1)'(free_i.count);
    // What was stored of a frame that does not stay is given back.
    if (last && !keep) used -= (UnitW + 1)'(beats);
    else if (store) used += 1'b1;
    used_q <= used;
    if (take) second_q <= beat.eop && !whole;
    if (last) full_q <= '0;
    else if (take && !beat.eop) full_q <= full_q + 1'b1;
    if (rst_i) begin
      second_q <= 1'b0;
      full_q <= '0;
      used_q <= '0;
      dropped_o <= 1'b0;
    end
  end

  ram_read_t ram;
  logic [RamReadLatency-1:0] moving_q;
  assign row_ready_o = !(|ram_i.valid && ram_i.sel == Sel);
  wire moving = row_valid_i && row_ready_o;
  assign ram   = moving ? ram_read_t'{sel: Sel, valid: '1, row: {Segs{row_addr_i}}} : ram_i;
  assign ram_o = moving_q[RamReadLatency-1] ? '0 : row_o;
  always_ff @(posedge clk_i) begin
    moving_q <= {moving_q[RamReadLatency-2:0], moving};
    if (rst_i) moving_q <= '0;
  end
  seg_ram_dma_rd #(
      .Bytes(RamBytes),
      .Sel(Sel),
      .DataBytes(UnitBytes)
  ) i_ram (
      .clk_i,
      .rst_i,
      .we_i(store),
      .waddr_i(write),
      .wdata_i(row),
      .ram_i(ram),
      .ram_o(row_o)
  );

  `ASSERT(NeverOverfull, used_q <= (UnitW + 1)'(Units))
  `ASSERT(FreesWhatIsThere,
          free_i.valid |-> (UnitW + 1)'(free_i.count) <= used_q - (UnitW + 1)'(beats))
endmodule
