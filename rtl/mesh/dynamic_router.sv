// SPDX-License-Identifier: Apache-2.0
`include "assert.svh"
`include "stream.svh"
/// Router of a dynamic network (GDN or MDN) in one tile.
///
/// A message is a header (`mesh_pkg::header_t`) and up to 31 words. It goes along x first, then along y, then to the core or
/// out of the grid by `exit`: its links are taken in one order, so no circle of messages that wait for each other can form
/// as long as receivers take what comes. Wormhole: an output belongs to a message from its header to its last word.
/// Inputs with headers for the same output take turns (round robin by message): each waits for at most four others.
///
/// Ports in the order of `port_e`: core, north, east, south, west. One clock from a link's FIFO to that of the next tile, one
/// word a clock on each output. `ready` comes from registers. Drops nothing: a message to a place outside the grid leaves it on
/// the way, and an exit that is no side counts as the core. Reset empties it.
module dynamic_router
  import mesh_pkg::*;
#(
    parameter int LinkDepth = 4  // words that each input holds
) (
    input logic clk_i,
    input logic rst_i,

    // Place of this tile.
    input logic [3:0] x_i,
    input logic [3:0] y_i,

    stream_if.snk in[RouterPorts],
    stream_if.src out[RouterPorts],
    output logic [RouterPorts-1:0] room_o,  // of the inputs, for a link_out

    // Words sent by each output since reset.
    output word_t words_o[RouterPorts]
);
  localparam int N = RouterPorts;

  // Inputs: the word at the head of each FIFO.
  logic [N-1:0] valid, pop;
  word_t data[N];

  // Outputs.
  logic [N-1:0] out_valid, out_ready, moved;
  logic [N-1:0][2:0] choice;  // the input that has the output, or gets it now

  for (genvar i = 0; i < N; i++) begin : g_port
    `STREAM(word_t, head)
    link_fifo #(
        .Depth(LinkDepth)
    ) i_fifo (
        .clk_i,
        .rst_i,
        .in    (in[i]),
        .out   (head),
        .room_o(room_o[i])
    );
    assign valid[i] = head.valid;
    assign data[i] = head.data;
    assign head.ready = pop[i];
    assign out[i].valid = out_valid[i];
    assign out[i].data = data[choice[i]];
    assign out_ready[i] = out[i].ready;

    word_t words_q;
    assign words_o[i] = words_q;
    always_ff @(posedge clk_i) begin
      if (moved[i]) words_q <= words_q + 1'b1;
      if (rst_i) words_q <= '0;
    end
  end

  function automatic logic [2:0] route(place_t dest, logic [3:0] x, logic [3:0] y);
    if (dest.x > x) return East;
    if (dest.x < x) return West;
    if (dest.y > y) return South;
    if (dest.y < y) return North;
    return dest.exit < 3'(N) ? dest.exit : Core;
  endfunction

  function automatic logic [2:0] lowest(logic [N-1:0] from);
    unique casez (from)
      5'b????1: return 3'd0;
      5'b???10: return 3'd1;
      5'b??100: return 3'd2;
      5'b?1000: return 3'd3;
      default:  return 3'd4;
    endcase
  endfunction

  // Messages on their way through: by input how many words are to come, by output whose it is.
  logic [N-1:0] inside_q;
  logic [N-1:0][4:0] left_q;
  logic [N-1:0] owned_q;
  logic [N-1:0][2:0] owner_q;
  logic [N-1:0][N-1:0] turn_q;  // the inputs after the one served last

  logic [N-1:0][N-1:0] headers;  // for each output, by input
  always_comb begin
    out_valid = '0;
    for (int o = 0; o < N; o++) begin
      headers[o] = '0;
      choice[o]  = owner_q[o];
    end
    if (|valid) begin
      for (int i = 0; i < N; i++) begin
        if (valid[i] && !inside_q[i]) headers[route(data[i][10:0], x_i, y_i)][i] = 1'b1;
      end
      for (int o = 0; o < N; o++) begin
        if (owned_q[o]) begin
          out_valid[o] = valid[owner_q[o]];
        end else if (|headers[o]) begin
          out_valid[o] = 1'b1;
          choice[o] = lowest(|(headers[o] & turn_q[o]) ? headers[o] & turn_q[o] : headers[o]);
        end
      end
    end
  end

  assign moved = out_valid & out_ready;
  always_comb begin
    pop = '0;
    for (int o = 0; o < N; o++) if (moved[o]) pop[choice[o]] = 1'b1;
  end

  // The words to come after the one at the head of each input.
  logic [N-1:0][4:0] after;
  always_comb
    for (int i = 0; i < N; i++) after[i] = inside_q[i] ? left_q[i] - 1'b1 : data[i][15:11];

  always_ff @(posedge clk_i) begin
    if (|out_valid) begin
      for (int i = 0; i < N; i++) begin
        if (pop[i]) begin
          left_q[i]   <= after[i];
          inside_q[i] <= after[i] != '0;
        end
      end
      for (int o = 0; o < N; o++) begin
        if (out_valid[o]) begin
          // An output once offered to a message stays its own, whether the word moves or not.
          owner_q[o] <= choice[o];
          owned_q[o] <= !(moved[o] && after[choice[o]] == '0);
          if (!owned_q[o]) turn_q[o] <= 5'b11110 << choice[o];
        end
      end
    end
    if (rst_i) begin
      inside_q <= '0;
      owned_q  <= '0;
      turn_q   <= '0;
    end
  end

  `ASSERT(AWordForAnOutput, $countones(pop) == $countones(moved))
endmodule
