// SPDX-License-Identifier: Apache-2.0
// prove: mode=prove depth=12
`include "formal.svh"
`include "stream.svh"
/// dynamic_router, for any words in its link FIFOs (two words each): a word leaves by exactly one output and
/// then its input moves, and no other; the output is that of its message, and no other message's words come in between; x is
/// done before y and y before the exit; a word whose output is free and has room, or that some message before it keeps from
/// it, means that something moves there; a header that waits for an output is overtaken by at
/// most four other turns, each of no more messages than its input may have in one.
module dynamic_router_formal
  import mesh_pkg::*;
(
    input logic             clk_i,
    input logic             rst_i,
    input logic [3:0]       x_i,
    input logic [3:0]       y_i,
    input logic [4:0]       valid_i,
    input logic [4:0][31:0] data_i,
    input logic [4:1][ 2:0] way_i,
    input logic [4:0]       ready_i,
    input logic [4:0][ 3:0] turns_i,
    input logic [2:0]       in_i,     // the input watched
    input logic [2:0]       out_i     // the output watched
);
  `FORMAL_BEGIN
  localparam int N = RouterPorts;
  `STREAM(word_t, in[N])
  `STREAM(word_t, out[N])
  logic [N-1:0] out_valid;
  logic [N-1:0][31:0] out_data;
  logic [4:1][2:0] out_way;
  word_t words[N];
  dynamic_router #(
      .LinkDepth(2)
  ) dut (
      .clk_i,
      .rst_i,
      .x_i,
      .y_i,
      .turns_i,
      .in,
      .out,
      .way_i,
      .way_o(out_way),
      .room_o(),
      .interrupt_o(),
      .words_o(words)
  );

  /// The way of a header here, or (`x`, `y`) at another place, written down anew.
  function automatic logic [2:0] way_from(header_t header, logic [3:0] x, logic [3:0] y);
    if (header.dest.x != x) return header.dest.x > x ? East : West;
    if (header.dest.y != y) return header.dest.y > y ? South : North;
    return header.dest.exit > West ? Core : header.dest.exit;
  endfunction
  function automatic logic [2:0] way_of(logic [31:0] word);
    return way_from(header_t'(word), x_i, y_i);
  endfunction

  logic [N-1:0][4:0] lefts;  // of the FIFOs
  for (genvar i = 0; i < N; i++) begin : g_port
    assign in[i].valid  = valid_i[i];
    assign in[i].data   = data_i[i];
    assign out[i].ready = ready_i[i];
    assign out_valid[i] = out[i].valid;
    assign out_data[i]  = out[i].data;
    // What message_fifo keeps true of itself: one word at the head, at most one behind it.
    wire same = dut.g_port[i].i_fifo.write_q == dut.g_port[i].i_fifo.read_q;
    wire [1:0] count = dut.g_port[i].i_fifo.count_q;
    wire [34:0] behind = dut.g_port[i].i_fifo.mem[dut.g_port[i].i_fifo.read_q];
    always_comb begin
      if (started_q) begin
        assert (same != (count == 2'd2) && count <= 2'd2 && dut.valid[i] == (count != 2'd0));
        assert (dut.asks[i] == '0 || (dut.valid[i] && dut.asks[i] == 5'd1 << way_of(dut.data[i])));
        if (count == 2'd2) assert (behind[34:32] == way_of(behind[31:0]));
      end
    end
    assign lefts[i] = dut.g_port[i].i_fifo.left_q;
    // What comes has its way with it.
    if (i != 0) begin : g_way
      always_comb assume (way_i[i] == way_of(data_i[i]));
    end
  end
  wire [N-1:0] moved = out_valid & ready_i;

  // What is watched does not change, nor does the place.
  logic [2:0] in_q, out_q;
  logic [4:0][3:0] turns_q;
  logic [3:0] x_q, y_q;
  always_ff @(posedge clk_i) begin
    in_q <= in_i;
    out_q <= out_i;
    turns_q <= turns_i;
    x_q <= x_i;
    y_q <= y_i;
  end
  always_comb begin
    assume (in_i < N && out_i < N);
    if (started_q)
      assume (in_i == in_q && out_i == out_q && turns_i == turns_q && x_i == x_q && y_i == y_q);
  end

  // The way of the watched input's message.
  wire header_t header = header_t'(dut.data[in_i]);
  wire [2:0] way = way_of(dut.data[in_i]);
  // The next place on it.
  wire [3:0] next_x = out_i == East ? x_i + 1'b1 : out_i == West ? x_i - 1'b1 : x_i;
  wire [3:0] next_y = out_i == South ? y_i + 1'b1 : out_i == North ? y_i - 1'b1 : y_i;

  // The message in the watched input: where it goes and what is left of it.
  logic inside_q = 1'b0;
  logic [4:0] left_q;
  logic [2:0] way_q;
  wire [4:0] left = lefts[in_i];
  wire at_header = dut.valid[in_i] && !inside_q;
  wire mine = moved[out_i] && dut.grant[out_i][in_i];  // a word of the watched input leaves by the watched output
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

  // How many turns of others ended on the watched output while the watched input's header waited for it, and how far the turn is from it.
  logic [2:0] overtaken_q = '0;
  wire begins = started_q && out_valid[out_i] && !dut.owned_q[out_i];
  always_ff @(posedge clk_i) begin
    if (!started_q || !(at_header && way == out_i) || (begins && dut.grant[out_i][in_i])) begin
      overtaken_q <= '0;
    end else if (begins && !dut.goes_on[out_i]) begin
      overtaken_q <= overtaken_q + 1'b1;
    end
  end
  /// Those before each input when `served` began last.
  function automatic logic [N-1:0][N-1:0] order_of(int served);
    logic [N-1:0][N-1:0] order;
    for (int i = 0; i < N; i++)
    for (int j = 0; j < N; j++) order[i][j] = (j + 4 - served) % N < (i + 4 - served) % N;
    return order;
  endfunction
  // Those before it: one fewer each time. Whom the order puts first, once.
  wire [2:0] distance = 3'($countones(dut.before_q[out_i][in_i]));

  // The law of a stream, for a word of the watched input at the watched output.
  logic kept_q;
  word_t kept_data_q;
  always_ff @(posedge clk_i) begin
    kept_q <= started_q && out_valid[out_i] && !ready_i[out_i] && dut.grant[out_i][in_i];
    kept_data_q <= out_data[out_i];
  end

  always_comb begin
    if (started_q) begin
      // What the router keeps agrees with what was seen.
      if (inside_q && dut.valid[in_i]) assert (left == left_q - 5'd1);
      if (inside_q && !dut.valid[in_i]) assert (left == left_q);
      if (!inside_q) assert (left == (dut.valid[in_i] ? header.len : 5'd0));
      assert (dut.asks[in_i] == (at_header ? 5'd1 << way : 5'd0));
      if (inside_q) assert (left_q != '0 && way_q < N && dut.owned_q[way_q]);
      if (inside_q) assert (dut.owner_q[way_q][in_i]);
      if (dut.owned_q[out_i]) assert ($onehot(dut.owner_q[out_i]));
      // An output is owned by one whose header is about to leave by it or has left by it.
      for (int o = 0; o < N; o++) begin
        if (dut.owned_q[o] && dut.owner_q[o][in_i]) begin
          if (inside_q)
            assert (int'(way_q) == o);
            else assert (dut.valid[in_i] && int'(way) == o);
        end
        if (dut.owned_q[o]) assert ($onehot(dut.owner_q[o]));
        // The inputs in turn after some one.
        assert (dut.before_q[o] inside {order_of(
            0
        ), order_of(
            1
        ), order_of(
            2
        ), order_of(
            3
        ), order_of(
            4
        )});
      end
      assert (dut.right_q == x_i + 4'd1 && dut.left_q == x_i - 4'd1);
      assert (dut.below_q == y_i + 4'd1 && dut.above_q == y_i - 4'd1);

      // Words leave whole, by the output of their message, and only those.
      if (mine) assert (dut.pop[in_i] && dut.valid[in_i] && out_data[out_i] == dut.data[in_i]);
      if (mine) assert (out_i == (inside_q ? way_q : way));
      if (dut.pop[in_i])
        assert (moved[inside_q?way_q : way] && dut.grant[inside_q?way_q : way][in_i]);
      if (out_valid[out_i])
        assert ($onehot(dut.grant[out_i]) && (dut.grant[out_i] & ~dut.valid) == '0);
      if (inside_q && way_q == out_i && out_valid[out_i]) assert (dut.grant[out_i][in_i]);
      // The next router is told what it would find, unless the message leaves the grid here.
      if (mine && !inside_q && out_i != Core && !(header.dest.x == x_i && header.dest.y == y_i))
        assert (out_way[out_i] == way_from(header, next_x, next_y));
      if (kept_q) assert (out_valid[out_i] && out_data[out_i] == kept_data_q);

      // No standstill: a word for a free output is offered; inside a message the next word is.
      if (at_header && way == out_i && !dut.owned_q[out_i]) assert (out_valid[out_i]);
      if (inside_q && way_q == out_i && dut.valid[in_i]) assert (out_valid[out_i]);

      // Turns: each that ends brings the others nearer, and each ends.
      for (int i = 0; i < N; i++) begin
        if (dut.had_q[out_i] != '0 && dut.owner_q[out_i][i]) assert (dut.had_q[out_i] < turns_i[i]);
      end
      if (dut.had_q[out_i] != '0) assert ($onehot(dut.owner_q[out_i]));
      if (begins && dut.grant[out_i] == dut.owner_q[out_i] && dut.goes_on[out_i])
        assert (dut.had[out_i] == dut.had_q[out_i] + 4'd1);
      assert (distance <= 3'd4);
      if (overtaken_q != 0) assert (4'(overtaken_q) + 4'(distance) <= 4'd4);
      assert (overtaken_q <= 4);
      cover (overtaken_q == 3 && begins && dut.grant[out_i][in_i]);
      cover (mine && inside_q && left_q == 5'd1);
    end
  end
endmodule
