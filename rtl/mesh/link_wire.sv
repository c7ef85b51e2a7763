// SPDX-License-Identifier: Apache-2.0
/// One link under two names: for arrays of links that are cut differently on the two sides. Combinational.
module link_wire (
    stream_if.snk in,
    stream_if.src out
);
  assign out.valid = in.valid;
  assign out.data  = in.data;
  assign in.ready  = out.ready;
endmodule
