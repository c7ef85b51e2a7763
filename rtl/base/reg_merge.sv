// SPDX-License-Identifier: Apache-2.0
`include "assert.svh"
`include "stream.svh"
/// Register accesses of two masters to one slave, in the order in which they come: of `main` a write a clock, of `side` one now and then.
///
/// A write of `main` is answered in its own clock (`main.ack` follows `main.req`) as long as another access would find a place here and `side`
/// does not wait, else when that is so; a read when the slave has answered it. An access of `side` goes when those of `main` before
/// it are done, one that came meanwhile among them at the most, and is answered when it is done itself. So neither waits for more than two of
/// the other's. Latency 1 clock each way. One access is with the slave at a time; a slave that answers at once gets one a clock.
/// Reset forgets all.
module reg_merge #(
    parameter int AddrW = 16
) (
    input logic clk_i,
    input logic rst_i,
    reg_if.slave main,
    reg_if.slave side,
    reg_if.master out
);
  typedef struct packed {
    logic             write;
    logic [AddrW-1:0] addr;
    logic [31:0]      wdata;
    logic [3:0]       wstrb;
  } access_t;
  `STREAM(access_t, taken)
  `STREAM(access_t, held)
  access_t side_q, now;
  logic side_waits_q, busy_q, reading_q, of_side_q, main_ack_q, posted_ack, side_ack_q;
  logic [31:0] rdata_q;

  assign taken.valid = main.req;
  assign taken.data  = '{write: main.write, addr: main.addr, wdata: main.wdata, wstrb: main.wstrb};
  `SPILL(access_t, i_held, taken, held)
  assign held.ready = !busy_q;

  // What is held of `main` came before what waits of `side`.
  wire main_goes = held.valid && !busy_q;
  wire side_goes = side_waits_q && !held.valid && !busy_q;
  assign now = held.valid ? held.data : side_q;
  assign out.req = main_goes || side_goes;
  assign out.write = now.write;
  assign out.addr = now.addr;
  assign out.wdata = now.wdata;
  assign out.wstrb = now.wstrb;
  wire of_side = out.req ? side_goes : of_side_q;
  wire reading = out.req ? !now.write : reading_q;

  // There is room for what comes after a write when the one before it has gone on.
  reg_posted i_posted (
      .clk_i,
      .rst_i,
      .req_i  (main.req),
      .write_i(main.write),
      .room_i ((!held.valid || main_goes) && !side_waits_q),
      .free_i (taken.ready && !side_waits_q),
      .ack_o  (posted_ack)
  );
  assign main.ack   = main_ack_q || posted_ack;
  assign main.rdata = rdata_q;
  assign side.ack   = side_ack_q;
  assign side.rdata = rdata_q;

  always_ff @(posedge clk_i) begin
    if (side.req)
      side_q <= '{write: side.write, addr: side.addr, wdata: side.wdata, wstrb: side.wstrb};
    side_waits_q <= side.req || (side_waits_q && !side_goes);
    busy_q <= (busy_q || out.req) && !out.ack;
    of_side_q <= of_side;
    reading_q <= reading;
    main_ack_q <= out.ack && !of_side && reading;
    side_ack_q <= out.ack && of_side;
    if (out.ack) rdata_q <= out.rdata;
    if (rst_i) begin
      side_waits_q <= 1'b0;
      busy_q <= 1'b0;
      main_ack_q <= 1'b0;
      side_ack_q <= 1'b0;
    end
  end

  `ASSERT(OneAccess, main.req |-> taken.ready)
  `ASSERT(OneOfSide, side.req |-> !side_waits_q && !(busy_q && of_side_q))
  `ASSERT(AnswersAreWanted, out.ack |-> busy_q || out.req)
endmodule
