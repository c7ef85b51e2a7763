// SPDX-License-Identifier: Apache-2.0
`include "assert.svh"
`include "stream.svh"
/// Knows the frames in the frame memory that are not whole, and finds them among those to be sent.
///
/// `lost` names the slot in which a part of a frame is missing. `is_lost_o` goes with a command at `out` whose first or last byte is in
/// such a slot; when it is taken, its slots are good again. A slot is known by its number modulo `Slots`. Without a lost frame
/// since reset a command passes at once; after that it takes two clocks, of a lost frame three. In the first `Slots` clocks after reset
/// nothing passes. Back-pressure on all sides; a slot is known in the clock after it was taken. Reset forgets all.
module lost_frames
  import assist_pkg::*;
#(
    parameter int Slots = 1024  // a power of two
) (
    input logic clk_i,
    input logic rst_i,
    stream_if.snk lost,  // slot_t
    stream_if.snk in,  // mac_ring_command_t
    stream_if.src out,  // the same
    output logic is_lost_o
);
  localparam int IndexW = $clog2(Slots);
  localparam int ByteW = $clog2(SlotBytes);
  typedef logic [IndexW-1:0] index_t;
  typedef enum logic [2:0] {
    Clears,  // after reset
    Waits,
    Looks,
    Tells,
    Forgets
  } state_e;
  if (2 ** IndexW != Slots || Slots > 2 ** SlotW) begin : g_bad_parameter
    $fatal(1, "lost_frames: Slots %0d is no power of two, or above %0d", Slots, 2 ** SlotW);
  end

  mac_ring_command_t command;
  assign command = in.data;
  wire [31:0] last_byte = command.address + 32'(command.info.len) - 1'b1;
  index_t first, last;
  assign first = command.address[ByteW+:IndexW];
  assign last  = last_byte[ByteW+:IndexW];
  wire unused = &{1'b0, command, last_byte};

  state_e state_q;
  index_t clear_q;
  logic any_q, first_lost_q, mark;
  wire cleared = state_q != Clears;
  wire taken = out.valid && out.ready;

  assign out.valid = in.valid && cleared && (!any_q || state_q == Tells);
  assign out.data  = in.data;
  assign in.ready  = taken;
  assign is_lost_o = state_q == Tells && (first_lost_q || mark);
  wire forget_first = taken && is_lost_o;
  wire forget_last = state_q == Forgets;
  // What was offered as good stays so.
  wire offers = !any_q && out.valid && !out.ready;
  assign lost.ready = cleared && !forget_first && !forget_last && !offers;
  wire marks = lost.valid && lost.ready;

  index_t last_q;
  ram_sdp #(
      .Width(1),
      .Depth(Slots)
  ) i_lost (
      .clk_i,
      .we_i(!cleared || marks || forget_first || forget_last),
      .waddr_i(!cleared ? clear_q : forget_first ? first : forget_last ? last_q : lost.data[IndexW-1:0]),
      .wdata_i(marks),
      .re_i(state_q inside {Waits, Looks}),
      .raddr_i(state_q == Waits ? first : last),
      .rdata_o(mark)
  );

  always_ff @(posedge clk_i) begin
    if (marks) any_q <= 1'b1;
    if (!cleared) clear_q <= clear_q + 1'b1;
    if (taken) last_q <= last;
    if (state_q == Looks) first_lost_q <= mark;
    unique case (state_q)
      Clears:  if (clear_q == '1) state_q <= Waits;
      Waits:   if (in.valid && any_q) state_q <= Looks;
      Looks:   state_q <= Tells;
      Tells:   if (taken) state_q <= is_lost_o ? Forgets : Waits;
      default: state_q <= Waits;
    endcase
    if (rst_i) begin
      state_q <= Clears;
      clear_q <= '0;
      any_q   <= 1'b0;
    end
  end

  `ASSERT(Kept, out.valid && !out.ready |=> out.valid)
endmodule
