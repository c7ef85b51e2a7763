// SPDX-License-Identifier: Apache-2.0
/// Register access: 32-bit words, one access at a time.
///
/// The master raises `req` for one clock with the address; the slave answers each request with exactly one clock of `ack`
/// (in the same clock at the earliest), `rdata` valid with it for reads. No second `req` before the `ack` of the first.
interface reg_if #(
    parameter int AddrW = 24
);
  logic             req;
  logic             write;
  logic [AddrW-1:0] addr;  // in bytes, a multiple of 4
  logic [     31:0] wdata;
  logic [      3:0] wstrb;
  logic             ack;
  logic [     31:0] rdata;

  modport master(output req, write, addr, wdata, wstrb, input ack, rdata);
  modport slave(input req, write, addr, wdata, wstrb, output ack, rdata);
endinterface
