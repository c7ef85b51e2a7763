// SPDX-License-Identifier: Apache-2.0
`include "assert.svh"
`include "stream.svh"
/// Router of a dynamic network (GDN or MDN) in one tile.
///
/// A message is a header (`mesh_pkg::header_t`) and up to 31 words. It goes along x first, then along y, then to the core or
/// out of the grid by `exit`: its links are taken in one order, so no circle of messages that wait for each other can form
/// as long as receivers take what comes. Wormhole: an output belongs to a message from its header to its last word.
/// Inputs with headers for the same output take turns (round robin by message): each waits for at most four others' turns. A turn
/// is one message, or up to `turns_i` of its input while they follow each other (weighted round robin): an input that brings what
/// many have sent then has its share at each crossing, where a message a turn would give it that of one (the parking lot).
///
/// Ports in the order of `port_e`: core, north, east, south, west. One clock from a link's FIFO to that of the next tile, one
/// word a clock on each output. Each router says by which port a message leaves the next (`way_*`, look-ahead routing), while
/// it is decided who has the link. `ready` comes from registers. Drops nothing: a message to a place outside the grid leaves it
/// on the way, one for a side that another tile is beyond leaves the grid straight on (such ones can form a circle), and an
/// exit that is no side counts as the core. Reset empties it.
module dynamic_router
  import mesh_pkg::*;
#(
    parameter int LinkDepth = 4,  // words that each input holds
    parameter bit Apart = 1'b0  // `interrupts_i` and `others_i` say what the core's `ready` does, sooner
) (
    input logic clk_i,
    input logic rst_i,

    // Place of this tile.
    input logic [3:0] x_i,
    input logic [3:0] y_i,

    input logic [RouterPorts-1:0][3:0] turns_i,  // messages in a turn of each input; 0 is 1

    stream_if.snk in[RouterPorts],
    stream_if.src out[RouterPorts],
    // With a header: the port of the router it comes to by which it leaves that. (The core's are worked out here.)
    input logic [RouterPorts-1:1][2:0] way_i,
    output logic [RouterPorts-1:1][2:0] way_o,
    output logic [RouterPorts-1:0] room_o,  // of the inputs, for a link_out
    output logic interrupt_o,  // a header offered to the core is an interrupt's
    input logic interrupts_i = 1'b0,  // the core takes such a header, ...
    input logic others_i = 1'b0,  // ... and any other word

    // Words sent by each output since reset.
    output word_t words_o[RouterPorts]
);
  localparam int N = RouterPorts;

  // Inputs: the word at the head of each FIFO.
  logic [N-1:0] valid, last, pop;
  logic [N-1:0][N-1:0] asks;
  word_t data[N];

  // Outputs: the input that each belongs to, one bit. Once offered to a message it stays its own, whether the word moves or not.
  logic [N-1:0][N-1:0] grant, owner_q;
  logic [N-1:0] owned_q, out_valid, out_ready, moved;
  logic [N-1:0][3:0] had_q;  // messages of the owner in its turn, if that goes on
  logic [N-1:0][N-1:0][N-1:0] before_q;  // by output, for each input: those that go before it
  word_t out_data[N];

  // Places of the next tiles.
  logic [3:0] right_q, left_q, above_q, below_q;
  always_ff @(posedge clk_i) begin
    right_q <= x_i + 1'b1;
    left_q  <= x_i - 1'b1;
    above_q <= y_i - 1'b1;
    below_q <= y_i + 1'b1;
  end

  /// The port by which a message with this destination leaves the next router, if it leaves this one as it asks.
  function automatic logic [2:0] onward(place_t dest, logic [N-1:1] ask);
    if (ask[East] && dest.x != right_q) return East;
    if (ask[West] && dest.x != left_q) return West;
    if (ask[South] && dest.y != below_q) return South;
    if (ask[North] && dest.y != above_q) return North;
    return way_along_y(dest.y, ask[South] || ask[North] ? dest.y : y_i, dest.exit);
  endfunction

  logic [N-1:0][2:0] way, onwards, out_way;
  logic [2:0] core_way;
  `WHILE(in[Core].valid, core_way, way_at(in[Core].data[10:0], x_i, y_i))
  assign way   = {way_i, core_way};
  assign way_o = out_way[N-1:1];
  for (genvar i = 0; i < N; i++) begin : g_port
    message_fifo #(
        .Depth(LinkDepth)
    ) i_fifo (
        .clk_i,
        .rst_i,
        .in     (in[i]),
        .way_i  (way[i]),
        .room_o (room_o[i]),
        .valid_o(valid[i]),
        .data_o (data[i]),
        .asks_o (asks[i]),
        .last_o (last[i]),
        .pop_i  (pop[i])
    );
    `WHILE(valid[i], onwards[i], onward(data[i][10:0], asks[i][N-1:1]))
    assign out[i].valid = out_valid[i];
    assign out[i].data  = out_data[i];
    assign out_ready[i] = Apart && i == int'(Core) ? others_i : out[i].ready;

    word_t words_q;
    assign words_o[i] = words_q;
    always_ff @(posedge clk_i) begin
      if (moved[i]) words_q <= words_q + 1'b1;
      if (rst_i) words_q <= '0;
    end
  end

  /// Who goes before whom once the input `served` (one bit) has begun: the inputs after it in turn, it last.
  function automatic logic [N-1:0][N-1:0] order_after(logic [N-1:0] served);
    logic [N-1:0][N-1:0] order = '0;
    for (int j = 0; j < N; j++) begin
      for (int i = j + 1; i < N; i++) begin
        order[j][i] = 1'b0;
        for (int k = j; k < i; k++) if (served[k]) order[j][i] = 1'b1;
        order[i][j] = !order[j][i];
      end
    end
    return order;
  endfunction

`ifdef SYNTHESIS
  wire busy = 1'b1;  // where no input has a word nothing is asked for or granted below either
  wire weighs = 1'b1;  // nor does a turn of one message go on
`else
  wire busy = |valid;
  wire weighs = busy && turns_i != '0;
`endif

  // The turn of the input that begins a message at each output: how many it has had with this one, and whether it goes on. Who begins
  // comes late: what would follow of each is there before.
  logic [N-1:0][3:0] had, again;
  logic [N-1:0] goes_on;
  always_comb begin
    had = '0;
    again = '0;
    goes_on = '0;
    if (weighs) begin
      for (int o = 0; o < N; o++) begin
        again[o] = had_q[o] + 4'd1;
        had[o]   = (grant[o] & owner_q[o]) != '0 ? again[o] : 4'd1;
        for (int i = 0; i < N; i++)
        goes_on[o] |= grant[o][i] && (owner_q[o][i] ? again[o] : 4'd1) < turns_i[i];
      end
    end
  end

  logic [N-1:0][N-1:0] headers;  // for each output, by input
  always_comb begin
    headers = '0;
    grant   = '0;
    out_way = '0;
    for (int o = 0; o < N; o++) out_data[o] = '0;
    if (busy) begin
      for (int o = 0; o < N; o++) begin
        for (int i = 0; i < N; i++) headers[o][i] = asks[i][o];
        for (int i = 0; i < N; i++) begin
          grant[o][i] = owned_q[o] ? owner_q[o][i] && valid[i] :
              headers[o][i] && (headers[o] & before_q[o][i]) == '0;
        end
        for (int i = 0; i < N; i++) begin
          if (grant[o][i]) begin
            out_data[o] |= data[i];
            out_way[o] |= onwards[i];
          end
        end
      end
    end
    for (int o = 0; o < N; o++) out_valid[o] = |grant[o];
  end
  // Told of each input's word, beside the choice between them.
  logic [N-1:0] interrupting;
  always_comb begin
    interrupting = '0;
    if (busy)
      for (int i = 0; i < N; i++) interrupting[i] = asks[i][Core] && data[i][31:27] == Interrupt;
  end
  assign interrupt_o = (grant[Core] & interrupting) != '0;
  logic [N-1:0][N-1:0] going;  // the grants whose words move
  always_comb begin
    going = '0;
    pop   = '0;
    if (busy) begin
      for (int o = 0; o < N; o++) begin
        going[o] = grant[o] & {N{out_ready[o]}};
        if (o == int'(Core) && interrupts_i) going[o] |= grant[o] & interrupting;
        pop |= going[o];
      end
    end
    for (int o = 0; o < N; o++) moved[o] = |going[o];
  end

  always_ff @(posedge clk_i) begin
    if (busy) begin
      for (int o = 0; o < N; o++) begin
        if (out_valid[o]) begin
          owner_q[o] <= grant[o];
          owned_q[o] <= (going[o] & last) == '0;
          if (!owned_q[o]) begin
            // Its turn goes on: it stays first, as it is after the input before it.
            before_q[o] <= order_after(goes_on[o] ? {grant[o][0], grant[o][N-1:1]} : grant[o]);
            had_q[o] <= goes_on[o] ? had[o] : 4'd0;
          end
        end
      end
    end
    if (rst_i) begin
      owned_q <= '0;
      had_q   <= '0;
      for (int o = 0; o < N; o++) before_q[o] <= order_after(N'(1) << (N - 1));
    end
  end

  `ASSERT(AWordForAnOutput, $countones(pop) == $countones(moved))
endmodule
