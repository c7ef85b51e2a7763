// SPDX-License-Identifier: Apache-2.0
`include "assert.svh"
/// Register accesses of `N` masters to one slave, one at a time, in turns.
///
/// A master's access waits until the one before has been answered; latency 1 clock each way when nothing waits. `index_o`
/// is the master whose access is being served. `drop_i[i]` (the master is in reset) takes back what it waits for: an
/// access that has begun is finished, its answer goes nowhere.
module reg_arb #(
    parameter int N = 2,
    parameter int AddrW = 16,
    localparam int IndexW = N > 1 ? $clog2(N) : 1
) (
    input  logic                      clk_i,
    input  logic                      rst_i,
    input  logic         [     N-1:0] drop_i,
           reg_if.slave               in     [N],
           reg_if.master              out,
    output logic         [IndexW-1:0] index_o
);
  typedef struct packed {
    logic             write;
    logic [AddrW-1:0] addr;
    logic [31:0]      wdata;
    logic [3:0]       wstrb;
  } access_t;

  logic [N-1:0] waiting_q;
  access_t access_q[N];
  access_t shown_q;
  logic busy_q, req_q, gone_q;
  logic [IndexW-1:0] index_q, choice;
  logic [N-1:0] ack_q;
  logic [ 31:0] rdata_q;

  assign index_o   = index_q;
  assign out.req   = req_q;
  assign out.write = shown_q.write;
  assign out.addr  = shown_q.addr;
  assign out.wdata = shown_q.wdata;
  assign out.wstrb = shown_q.wstrb;

  // The first that waits after the one served last.
  always_comb begin
    choice = index_q;
    for (int i = N - 1; i >= 0; i--) if (waiting_q[i]) choice = IndexW'(i);
    for (int i = N - 1; i >= 0; i--) if (waiting_q[i] && IndexW'(i) > index_q) choice = IndexW'(i);
  end
  wire start = !busy_q && waiting_q != '0;

  for (genvar i = 0; i < N; i++) begin : g_master
    assign in[i].ack   = ack_q[i];
    assign in[i].rdata = rdata_q;
    always_ff @(posedge clk_i) begin
      if (in[i].req) begin
        access_q[i] <= '{
            write: in[i].write,
            addr: in[i].addr,
            wdata: in[i].wdata,
            wstrb: in[i].wstrb
        };
        waiting_q[i] <= 1'b1;
      end else if (start && choice == IndexW'(i)) begin
        waiting_q[i] <= 1'b0;
      end
      ack_q[i] <= busy_q && out.ack && index_q == IndexW'(i) && !gone_q && !drop_i[i];
      if (rst_i || drop_i[i]) begin
        waiting_q[i] <= 1'b0;
        ack_q[i] <= 1'b0;
      end
    end
    `ASSERT(
        OneAtATime,
        in[i].req |-> !waiting_q[i] && !(busy_q && !gone_q && index_q == IndexW'(i) && !drop_i[i]))
  end

  always_ff @(posedge clk_i) begin
    req_q <= start;
    if (start) begin
      shown_q <= access_q[choice];
      index_q <= choice;
      busy_q  <= 1'b1;
      gone_q  <= drop_i[choice];
    end else if (busy_q && out.ack) begin
      busy_q <= 1'b0;
    end else if (busy_q && drop_i[index_q]) begin
      gone_q <= 1'b1;
    end
    if (out.ack) rdata_q <= out.rdata;
    if (rst_i) begin
      req_q   <= 1'b0;
      busy_q  <= 1'b0;
      index_q <= '0;
      gone_q  <= 1'b0;
    end
  end
endmodule
