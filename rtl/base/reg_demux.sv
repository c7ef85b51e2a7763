// SPDX-License-Identifier: Apache-2.0
`include "assert.svh"
/// Register accesses to `N` slaves by address.
///
/// Slave i answers addresses with (addr & ~(Size[i]-1)) == Base[i]; Size[i] is a power of two and Base[i] a multiple of it.
/// The slave sees the offset within its region. One access is with the slaves at a time. Writes are posted: they are
/// answered when they go to their slave, so that the next can come while that one is at work; all later accesses wait for
/// it. Latency 1 clock each way. An address without a slave reads 0, ignores writes, and pulses `unmapped_o`.
module reg_demux #(
    parameter int N = 2,
    parameter int AddrW = 26,
    parameter logic [N-1:0][AddrW-1:0] Base = '0,
    parameter logic [N-1:0][AddrW-1:0] Size = '0
) (
    input  logic         clk_i,
    input  logic         rst_i,
           reg_if.slave  in,
           reg_if.master out       [N],
    output logic         unmapped_o
);
  logic [N-1:0] hit, target_q, ack;
  logic held_q, write_q, busy_q, reading_q, ack_q, none_q;
  logic [AddrW-1:0] addr_q;
  logic [31:0] wdata_q, rdata_q;
  logic [3:0] wstrb_q;
  logic [31:0] rdata[N];

  // The access held here goes on when the slaves are done with the one before.
  wire go = held_q && !busy_q;
  wire answered = |ack;
  wire read_done = answered && (go ? !write_q : reading_q);

  for (genvar i = 0; i < N; i++) begin : g_slave
    if ($countones(Size[i]) != 1 || (Base[i] & (Size[i] - 1'b1)) != '0) begin : g_bad_parameter
      $fatal(1, "reg_demux: region %0d has base %h, size %h", i, Base[i], Size[i]);
    end
    assign hit[i] = (in.addr & ~(Size[i] - 1'b1)) == Base[i];
    assign out[i].req = go && target_q[i];
    assign out[i].write = write_q;
    assign out[i].addr = addr_q & (Size[i] - 1'b1);
    assign out[i].wdata = wdata_q;
    assign out[i].wstrb = wstrb_q;
    assign ack[i] = out[i].ack;
    assign rdata[i] = out[i].rdata;
  end

  assign in.ack = ack_q;
  assign in.rdata = rdata_q;
  assign unmapped_o = none_q;

  always_ff @(posedge clk_i) begin
    held_q <= (held_q && !go) || (in.req && hit != '0);
    none_q <= in.req && hit == '0;
    if (in.req) begin
      target_q <= hit;
      write_q  <= in.write;
      addr_q   <= in.addr;
      wdata_q  <= in.wdata;
      wstrb_q  <= in.wstrb;
    end
    busy_q <= (busy_q || go) && !answered;
    if (go) reading_q <= !write_q;
    ack_q   <= none_q || (go && write_q) || read_done;
    rdata_q <= '0;
    for (int i = 0; i < N; i++) if (read_done && ack[i]) rdata_q <= rdata[i];
    if (rst_i) begin
      held_q <= 1'b0;
      none_q <= 1'b0;
      busy_q <= 1'b0;
      ack_q  <= 1'b0;
    end
  end

  `ASSERT(OneRegionAtMost, in.req |-> $onehot0(hit))
`ifndef SYNTHESIS
  always_ff @(posedge clk_i) begin
    if (in.req && !rst_i)
      assert (!held_q || go)
      else $error("%m: an access came before the one before was answered");
  end
`endif
  `ASSERT(AnswersAreWanted, answered |-> busy_q || go)
endmodule
