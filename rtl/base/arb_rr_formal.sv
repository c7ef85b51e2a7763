// SPDX-License-Identifier: Apache-2.0
// prove: mode=prove depth=20
`include "formal.svh"
`include "stream.svh"
/// arb_rr: an input that waits is served after at most N-1 others; a choice is kept until it is taken; the beat that leaves
/// is that of the input that moves; something leaves whenever something waits.
module arb_rr_formal (
    input logic            clk_i,
    input logic            rst_i,
    input logic [3:0]      valid_i,
    input logic [3:0][1:0] data_i,
    input logic            ready_i,
    input logic [1:0]      watched_i  // the input watched
);
  `FORMAL_BEGIN
  localparam int N = 4;
  `STREAM(logic [1:0], in[N])
  `STREAM(logic [1:0], out)
  logic [N-1:0] ready;
  logic [  1:0] index;
  arb_rr #(
      .T(logic [1:0]),
      .N(N)
  ) dut (
      .clk_i,
      .rst_i,
      .in,
      .out,
      .index_o(index)
  );
  for (genvar i = 0; i < N; i++) begin : g_in
    assign in[i].valid = valid_i[i];
    assign in[i].data = data_i[i];
    assign ready[i] = in[i].ready;
    // The law of the inputs.
    logic waiting_q = 1'b0;
    logic [1:0] data_q;
    always_ff @(posedge clk_i) begin
      waiting_q <= started_q && valid_i[i] && !ready[i];
      data_q <= data_i[i];
    end
    always_comb if (waiting_q) assume (valid_i[i] && data_i[i] == data_q);
  end
  assign out.ready = ready_i;
  `FORMAL_STREAM(assert, out, logic [1:0])

  logic [1:0] watched_q, overtaken_q;
  always_ff @(posedge clk_i) begin
    watched_q <= watched_i;
    if (!started_q || !valid_i[watched_i] || ready[watched_i]) overtaken_q <= '0;
    else if (out.valid && out.ready) overtaken_q <= overtaken_q + 1'b1;
  end
  always_comb begin
    if (started_q) begin
      assume (watched_i == watched_q);
      assert (out.valid == |valid_i);
      if (out.valid) assert (out.data == data_i[index]);
      // Exactly the chosen input moves.
      assert ((valid_i & ready) == ((out.valid && out.ready) ? 4'd1 << index : 4'd0));
      // Three others have gone first: now it is its turn.
      if (overtaken_q == N - 1 && valid_i[watched_i]) assert (index == watched_i);
      cover (overtaken_q == N - 1);
    end
  end
endmodule
