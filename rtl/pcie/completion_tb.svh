// SPDX-License-Identifier: Apache-2.0
`ifndef EMERY_COMPLETION_TB_SVH
`define EMERY_COMPLETION_TB_SVH

/// Header of the one completion that answers all of a read of `addr`, which has the low bits at the least.
function automatic pcie_pkg::cpl_hdr_t whole_answer(pcie_pkg::mem4_hdr_t read, int addr);
  pcie_pkg::cpl_hdr_t c = '0;
  int dws = int'(read.dw0.length), first, last;
  logic [3:0] be = dws == 1 ? read.first_be : read.last_be;
  first = read.first_be[0] ? 0 : read.first_be[1] ? 1 : read.first_be[2] ? 2 : 3;
  last = be[3] ? 3 : be[2] ? 2 : be[1] ? 1 : 0;
  c.dw0.fmt_type = pcie_pkg::CplD;
  c.dw0.length = 10'(dws);
  c.byte_count = 12'(4 * dws - first - (3 - last));
  c.requester_id = read.requester_id;
  c.tag = read.tag;
  c.lower_addr = 7'(addr + first);
  return c;
endfunction

`endif
