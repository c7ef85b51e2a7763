// SPDX-License-Identifier: Apache-2.0
`include "assert.svh"
`include "stream.svh"
/// Store-and-forward packet buffer before the packer: whole, good, wanted packets only come out, with their length and ring.
///
/// Frames in, one beat a clock; `info` has one entry for each frame, which a frame's last beat waits for. A frame that ends
/// with `err` (counted where it was marked) or that the filter drops (pulse of `filtered_o`) is erased. A frame without
/// room waits while `wait_i` is high (a source that can), else it is dropped whole (pulse of `dropped_o`). Out: one beat a
/// clock, packets back to back, 4 clocks after the last beat came in. Packets of up to Bytes / 2. Reset empties it.
module cap_buffer
  import eth_pkg::*, cap_pkg::*;
#(
    parameter int Bytes = 65536,     // a power of two, at least 32768
    parameter int MaxPackets = 512,
    parameter int MaxLogRings = 5  // there are 2^MaxLogRings rings
) (
    input logic clk_i,
    input logic rst_i,
    input logic wait_i,
    input logic timestamps_i,
    input logic [31:0] log_rings_i,  // rings in use; never more than there are

    stream_if.snk frame,  // wide_beat_t
    stream_if.snk info,   // info_t
    stream_if.src out,    // beat_t

    output logic dropped_o,
    output logic filtered_o
);
  localparam int Units = Bytes / BeatBytes;
  localparam int UnitW = $clog2(Units);
  if (2 ** UnitW * BeatBytes != Bytes || Bytes < 32768) begin : g_bad_parameter
    $fatal(1, "cap_buffer: Bytes %0d is not a power of two from 32768", Bytes);
  end

  typedef struct packed {
    logic [LenW-1:0] bytes;
    logic [LenW-1:0] record;
    cap_ring_t       ring;
    logic [23:0]     hash;
    logic [47:0]     stamp;
  } note_t;

  `STREAM(note_t, note_in)
  `STREAM(note_t, note)
  `FIFO(note_t, MaxPackets, i_notes, note_in, note)

  // Write side.
  logic [UnitW-1:0]
      write, read_q;  // the next beat of the packet that arrives; the next beat to read
  logic [8:0] beats;  // of the packet that arrives
  logic store, keep, drop;
  wide_beat_t beat;
  info_t what;
  assign beat = frame.data;
  assign what = info.data;
  wire room = UnitW'(write + 1'b1) != read_q && beats < 9'(16384 / BeatBytes + 2);
  assign frame.ready = (!beat.eop || info.valid) && (!wait_i || (room && note_in.ready));
  wire take = frame.valid && frame.ready;
  assign info.ready = take && beat.eop;
  frame_commit #(
      .UnitW(UnitW)
  ) i_commit (
      .clk_i,
      .rst_i,
      .take_i(take),
      .eop_i(beat.eop),
      .erase_i(beat.err || what.drop),
      .room_i(room),
      .note_ready_i(note_in.ready),
      .store_o(store),
      .write_o(write),
      .start_o(),
      .beats_o(beats),
      .keep_o(keep),
      .drop_o(drop)
  );
  wire [LenW-1:0] bytes = LenW'({beats, ($clog2(BeatBytes))'(0)}) + LenW'(beat.len);
  wire [2:0] log_rings = log_rings_i < 32'(MaxLogRings) ? log_rings_i[2:0] : 3'(MaxLogRings);
  wire [RingW-1:0] ring_mask = ~({RingW{1'b1}} << log_rings);

  assign note_in.valid = keep;
  assign note_in.data = '{
          bytes: bytes,
          record: {
            (LenW - 3)'((bytes + LenW'(7)) >> 3) + (timestamps_i ? (LenW - 3)'(2) : (LenW - 3)'(1)),
            3'd0
          },
          ring: what.hash[RingW-1:0] & ring_mask,
          hash: what.hash[23:0],
          stamp: what.stamp
      };

  always_ff @(posedge clk_i) begin
    dropped_o  <= drop && !rst_i;
    filtered_o <= info.ready && what.drop && !beat.err && !rst_i;
  end

  // Read side: the RAM's output register is the output.
  logic valid_q, sop_q, eop_q, inside_q;
  logic [7:0] len_q;
  logic [LenW-1:0] left_q;  // bytes after the beat shown
  note_t note_q;
  logic [8*BeatBytes-1:0] data;
  wire advance = !valid_q || out.ready;
  wire read = advance && (inside_q || note.valid);
  wire [LenW-1:0] left = inside_q ? left_q : note.data.bytes;
  wire final_beat = left <= LenW'(BeatBytes);
  assign note.ready = advance && !inside_q;

  ram_sdp #(
      .Width(8 * BeatBytes),
      .Depth(Units)
  ) i_ram (
      .clk_i,
      .we_i   (store),
      .waddr_i(write),
      .wdata_i(beat.data),
      .re_i   (read),
      .raddr_i(read_q),
      .rdata_o(data)
  );

  assign out.valid = valid_q;
  assign out.data = '{
          data: data,
          len: len_q,
          sop: sop_q,
          eop: eop_q,
          bytes: note_q.bytes,
          record: note_q.record,
          ring: note_q.ring,
          hash: note_q.hash,
          stamp: note_q.stamp
      };

  always_ff @(posedge clk_i) begin
    if (advance) valid_q <= read;
    if (read) begin
      if (!inside_q) note_q <= note.data;
      sop_q <= !inside_q;
      eop_q <= final_beat;
      len_q <= final_beat ? 8'(left) : 8'(BeatBytes);
      left_q <= left - LenW'(BeatBytes);
      inside_q <= !final_beat;
      read_q <= read_q + 1'b1;
    end
    if (rst_i) begin
      valid_q  <= 1'b0;
      inside_q <= 1'b0;
      read_q   <= '0;
    end
  end
  wire unused = beat.sop;

  `ASSERT(WaitingNeverDrops, !(wait_i && dropped_o))
endmodule
