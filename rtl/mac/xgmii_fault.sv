// SPDX-License-Identifier: Apache-2.0
/// The fault of a line by the ordered sets that come over it (IEEE 802.3, 46.3.4 and figure 46-11).
///
/// Four sets of a kind, none of another between and never 128 columns from one to the next, make a fault of that kind; 128 columns
/// without a set, or four of another kind, end it. Two columns a clock. `fault_o` follows 3 clocks behind the word. None after reset.
module xgmii_fault
  import xgmii_pkg::*;
(
    input  logic        clk_i,
    input  logic        rst_i,
    input  xgmii_t      rx_i,
    output link_fault_t fault_o
);
  typedef struct packed {
    logic seen;
    logic remote;
  } set_t;
  function automatic set_t set_in(logic [3:0] ctl, logic [31:0] data);
    set_in.seen = ctl == 4'h1 && data[23:0] == {16'h0, Sequence} && (data[31:24] == LocalFault || data[31:24] == RemoteFault);
    set_in.remote = data[25];
  endfunction

  set_t [1:0] set_q;
  logic [2:0] count_q;  // sets of kind_q in a row, at most 4
  logic kind_q;
  logic [6:0] quiet_q;  // columns since the last set, at most 127
  // One column after the other.
  logic [2:0] count[3];
  logic kind[3];
  always_comb begin
    count[0] = count_q;
    kind[0]  = kind_q;
    for (int i = 0; i < 2; i++) begin
      count[i+1] = count[i];
      kind[i+1]  = kind[i];
      if (set_q[i].seen) begin
        kind[i+1]  = set_q[i].remote;
        count[i+1] = set_q[i].remote != kind[i] ? 3'd1 : count[i][2] ? 3'd4 : count[i] + 1'b1;
      end
    end
  end
  wire any = set_q[0].seen || set_q[1].seen;
  wire over = quiet_q >= 7'd126;

  always_ff @(posedge clk_i) begin
    set_q[0] <= set_in(rx_i.ctl[3:0], rx_i.data[31:0]);
    set_q[1] <= set_in(rx_i.ctl[7:4], rx_i.data[63:32]);
    kind_q   <= kind[2];
    count_q  <= !any && over ? 3'd0 : count[2];
    quiet_q  <= any ? {6'd0, !set_q[1].seen} : over ? quiet_q : quiet_q + 7'd2;
    if (count_q[2]) fault_o <= '{remote: kind_q, local_: !kind_q};
    else if (!any && over) fault_o <= '0;
    if (rst_i) begin
      set_q   <= '0;
      count_q <= '0;
      quiet_q <= '0;
      fault_o <= '0;
    end
  end
endmodule
