// SPDX-License-Identifier: Apache-2.0
// What the tests of the bank share, to be included in a module that imports core_pkg: a memory of `Words` words.
logic [31:0] words[Words];

/// What an access answers; the word changes.
function automatic logic [31:0] bank_access(mem_req_t r);
  logic [$clog2(Words)-1:0] w;
  logic [31:0] old, n;
  w   = $clog2(Words)'(r.addr >> 2);
  old = words[w];
  n   = old;
  case (r.op)
    Store: for (int i = 0; i < 32; i++) if (r.be[i/8]) n[i] = r.wdata[i];
    Swap: n = r.wdata;
    Add: n = old + r.wdata;
    And: n = old & r.wdata;
    Or: n = old | r.wdata;
    Xor: n = old ^ r.wdata;
    Min: n = int'(old) < int'(r.wdata) ? old : r.wdata;
    Max: n = int'(old) > int'(r.wdata) ? old : r.wdata;
    MinU: n = old < r.wdata ? old : r.wdata;
    MaxU: n = old > r.wdata ? old : r.wdata;
    Update: for (int i = int'(r.wdata[4:0]); i < 32 && n[i]; i++) n[i] = 0;
    default: ;
  endcase
  words[w] = n;
  return old;
endfunction
