// SPDX-License-Identifier: Apache-2.0
`include "assert.svh"
/// A flag for each of many things that are taken in turn and given back in any order.
///
/// The flag of the thing whose turn it is (`next_o`) is set with `set_i` if it is not, and the turn goes on; `clear_i` clears
/// any other, or that very one in the same clock. What is kept, in RAMs, is in which lap over all things each was set last, and
/// which lap that was when it was cleared last: a flag is set while the two differ. Looks are combinational. After reset all
/// flags are cleared; this takes `Depth` clocks, in which `ready_o` is low and nothing is set or cleared.
module turn_flags #(
    parameter  int Depth  = 64,            // a power of two
    parameter  int Looks  = 1,
    localparam int IndexW = $clog2(Depth)
) (
    input  logic                          clk_i,
    input  logic                          rst_i,
    output logic                          ready_o,
    input  logic                          set_i,
    output logic [IndexW-1:0]             next_o,
    input  logic                          clear_i,
    input  logic [IndexW-1:0]             clear_index_i,
    input  logic [ Looks-1:0][IndexW-1:0] look_i,
    output logic [ Looks-1:0]             set_o
);
  logic set_in[Depth], cleared_in[Depth];  // lap, odd or even
  logic lap_q;
  logic [IndexW-1:0] next_q;
  logic [IndexW:0] swept_q;
  assign next_o  = next_q;
  assign ready_o = swept_q[IndexW];

  for (genvar i = 0; i < Looks; i++) begin : g_look
    assign set_o[i] = cleared_in[look_i[i]] != set_in[look_i[i]];
  end
  wire clear_lap = set_i && clear_index_i == next_q ? lap_q : set_in[clear_index_i];
  wire [IndexW-1:0] sweep = swept_q[IndexW-1:0];

  always_ff @(posedge clk_i) begin
    if (set_i || !ready_o) set_in[ready_o?next_q : sweep] <= ready_o && lap_q;
    if (clear_i || !ready_o) cleared_in[ready_o?clear_index_i : sweep] <= ready_o && clear_lap;
    if (!ready_o) swept_q <= swept_q + 1'b1;
    if (set_i) begin
      next_q <= next_q + 1'b1;
      if (&next_q) lap_q <= !lap_q;
    end
    if (rst_i) begin
      swept_q <= '0;
      next_q  <= '0;
      lap_q   <= 1'b1;
    end
  end

  `ASSERT(SetsWhatIsNot, set_i |-> ready_o && cleared_in[next_q] == set_in[next_q])
  `ASSERT(ClearsWhenReady, clear_i |-> ready_o)
endmodule
