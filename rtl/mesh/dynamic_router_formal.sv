// SPDX-License-Identifier: Apache-2.0
// prove: mode=prove depth=12
`include "formal.svh"
`include "stream.svh"
/// dynamic_router, for any words in its link FIFOs (two words each): a word leaves by exactly one output and
/// then its input moves, and no other; the output is that of its message, and no other message's words come in between; x is
/// done before y and y before the exit; a word whose output is free and has room, or that some message before it keeps from
/// it, means that something moves there; a header that waits for an output is overtaken by at most four other messages.
module dynamic_router_formal
  import mesh_pkg::*;
(
    input logic             clk_i,
    input logic             rst_i,
    input logic [3:0]       x_i,
    input logic [3:0]       y_i,
    input logic [4:0]       valid_i,
    input logic [4:0][31:0] data_i,
    input logic [4:0]       ready_i,
    input logic [2:0]       in_i,     // the input watched
    input logic [2:0]       out_i     // the output watched
);
  `FORMAL_BEGIN
  localparam int N = RouterPorts;
  `STREAM(word_t, in[N])
  `STREAM(word_t, out[N])
  logic [N-1:0] out_valid;
  logic [N-1:0][31:0] out_data;
  word_t words[N];
  dynamic_router #(
      .LinkDepth(2)
  ) dut (
      .clk_i,
      .rst_i,
      .x_i,
      .y_i,
      .in,
      .out,
      .words_o(words)
  );

  for (genvar i = 0; i < N; i++) begin : g_port
    assign in[i].valid  = valid_i[i];
    assign in[i].data   = data_i[i];
    assign out[i].ready = ready_i[i];
    assign out_valid[i] = out[i].valid;
    assign out_data[i]  = out[i].data;
    // What link_fifo keeps true of itself.
    wire same = dut.g_port[i].i_fifo.write_q == dut.g_port[i].i_fifo.read_q;
    wire [1:0] count = dut.g_port[i].i_fifo.count_q;
    always_comb if (started_q) assert (same != count[0] && count <= 2'd2);
  end
  wire [N-1:0] moved = out_valid & ready_i;

  // What is watched does not change, nor does the place.
  logic [2:0] in_q, out_q;
  logic [3:0] x_q, y_q;
  always_ff @(posedge clk_i) begin
    in_q  <= in_i;
    out_q <= out_i;
    x_q   <= x_i;
    y_q   <= y_i;
  end
  always_comb begin
    assume (in_i < N && out_i < N);
    if (started_q) assume (in_i == in_q && out_i == out_q && x_i == x_q && y_i == y_q);
  end

  // The way of the watched input's message, written down anew.
  wire header_t header = header_t'(dut.data[in_i]);
  logic [2:0] way;
  always_comb begin
    if (header.dest.x != x_i) way = header.dest.x > x_i ? East : West;
    else if (header.dest.y != y_i) way = header.dest.y > y_i ? South : North;
    else way = header.dest.exit > West ? Core : header.dest.exit;
  end

  // The message in the watched input: where it goes and what is left of it.
  logic inside_q = 1'b0;
  logic [4:0] left_q;
  logic [2:0] way_q;
  wire at_header = dut.valid[in_i] && !inside_q;
  wire mine = moved[out_i] && dut.choice[out_i] == in_i;  // a word of the watched input leaves by the watched output
  always_ff @(posedge clk_i) begin
    if (started_q && dut.pop[in_i]) begin
      if (!inside_q) begin
        inside_q <= header.len != '0;
        left_q   <= header.len;
        way_q    <= way;
      end else begin
        inside_q <= left_q != 5'd1;
        left_q   <= left_q - 1'b1;
      end
    end
  end

  // How many others began on the watched output while the watched input's header waited for it, and how far the turn is from it.
  logic [2:0] overtaken_q = '0;
  wire begins = started_q && out_valid[out_i] && !dut.owned_q[out_i];
  always_ff @(posedge clk_i) begin
    if (!started_q || !(at_header && way == out_i) || (begins && dut.choice[out_i] == in_i)) begin
      overtaken_q <= '0;
    end else if (begins) begin
      overtaken_q <= overtaken_q + 1'b1;
    end
  end
  logic [3:0] served, distance;  // the input that began last there
  always_comb begin
    case (dut.turn_q[out_i])
      5'b11110: served = 0;
      5'b11100: served = 1;
      5'b11000: served = 2;
      5'b10000: served = 3;
      default:  served = 4;
    endcase
    distance = 4'(in_i) > served ? 4'(in_i) - served : 4'(in_i) + 4'd5 - served;
  end

  // The law of a stream, for a word of the watched input at the watched output.
  logic  kept_q;
  word_t kept_data_q;
  always_ff @(posedge clk_i) begin
    kept_q <= started_q && out_valid[out_i] && !ready_i[out_i] && dut.choice[out_i] == in_i;
    kept_data_q <= out_data[out_i];
  end

  always_comb begin
    if (started_q) begin
      // What the router keeps agrees with what was seen.
      assert (dut.inside_q[in_i] == inside_q);
      if (inside_q) assert (dut.left_q[in_i] == left_q && left_q != '0);
      if (inside_q) assert (dut.owned_q[way_q] && dut.owner_q[way_q] == in_i);
      if (inside_q) assert (way_q < N);
      if (dut.owned_q[out_i]) assert (dut.owner_q[out_i] < N);
      // An output is owned by one whose header is about to leave by it or has left by it.
      for (int o = 0; o < N; o++) begin
        if (dut.owned_q[o] && dut.owner_q[o] == in_i) begin
          if (inside_q)
            assert (int'(way_q) == o);
            else assert (dut.valid[in_i] && int'(way) == o);
        end
        if (dut.owned_q[o]) assert (dut.owner_q[o] < N);
      end

      // Words leave whole, by the output of their message, and only those.
      if (mine) assert (dut.pop[in_i] && dut.valid[in_i] && out_data[out_i] == dut.data[in_i]);
      if (mine) assert (out_i == (inside_q ? way_q : way));
      if (dut.pop[in_i])
        assert (moved[inside_q?way_q : way] && dut.choice[inside_q?way_q : way] == in_i);
      if (out_valid[out_i]) assert (dut.valid[dut.choice[out_i]]);
      if (inside_q && way_q == out_i && out_valid[out_i]) assert (dut.choice[out_i] == in_i);
      if (kept_q) assert (out_valid[out_i] && out_data[out_i] == kept_data_q);

      // No standstill: a word for a free output is offered; inside a message the next word is.
      if (at_header && way == out_i && !dut.owned_q[out_i]) assert (out_valid[out_i]);
      if (inside_q && way_q == out_i && dut.valid[in_i]) assert (out_valid[out_i]);

      // Turns: each message that goes first brings the turn nearer.
      assert (dut.turn_q[out_i] inside {5'b11110, 5'b11100, 5'b11000, 5'b10000, 5'b00000});
      if (overtaken_q != 0) assert (4'(overtaken_q) + distance <= 4'd5);
      assert (overtaken_q <= 4);
      cover (overtaken_q == 3 && begins && dut.choice[out_i] == in_i);
      cover (mine && inside_q && left_q == 5'd1);
    end
  end
endmodule
