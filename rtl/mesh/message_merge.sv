// SPDX-License-Identifier: Apache-2.0
/// Merges streams of dynamic messages: whole messages, round robin.
///
/// Combinational, one word a clock and none lost between messages; each input waits for at most one message of every other. An
/// input may pause inside a message; the others wait. Drops nothing. Reset clears the turn.
module message_merge
  import mesh_pkg::*;
#(
    parameter int N = 2
) (
    input logic clk_i,
    input logic rst_i,
    stream_if.snk in[N],
    stream_if.src out
);
  localparam int IndexW = N > 1 ? $clog2(N) : 1;
  logic [N-1:0] valid;
  word_t data[N];
  logic owned_q;  // by the message of input owner_q
  logic inside_q;  // its header has left
  logic [4:0] left_q;
  logic [IndexW-1:0] owner_q, choice, turn_q;

  for (genvar i = 0; i < N; i++) begin : g_in
    assign valid[i] = in[i].valid;
    assign data[i] = in[i].data;
    assign in[i].ready = out.ready && out.valid && choice == IndexW'(i);
  end

  always_comb begin
    choice = owner_q;
    if (!owned_q && |valid) begin
      for (int i = N - 1; i >= 0; i--) if (valid[i]) choice = IndexW'(i);
      for (int i = N - 1; i >= 0; i--) if (valid[i] && IndexW'(i) >= turn_q) choice = IndexW'(i);
    end
  end
  assign out.valid = valid[choice];
  assign out.data  = data[choice];

  wire [4:0] after = inside_q ? left_q - 1'b1 : data[choice][15:11];
  always_ff @(posedge clk_i) begin
    if (out.valid) begin
      owner_q <= choice;
      owned_q <= !(out.ready && after == '0);
      if (out.ready) begin
        inside_q <= after != '0;
        left_q   <= after;
        if (after == '0) turn_q <= choice == IndexW'(N - 1) ? '0 : choice + 1'b1;
      end
    end
    if (rst_i) begin
      owned_q  <= 1'b0;
      inside_q <= 1'b0;
      turn_q   <= '0;
      owner_q  <= '0;
    end
  end
endmodule
