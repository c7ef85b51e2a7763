// SPDX-License-Identifier: Apache-2.0
`include "assert.svh"
/// Longest-prefix match in a trie of four bits a level, all nodes in one RAM.
///
/// A node is 16 entries, entry `n * 16 + i` for nibble `i` at node `n`: the next node, or a result. The root is node 0, the
/// first nibble the highest four bits of the address. Prefixes are pushed to the leaves by the software that loads the trie,
/// so the first result met is the one of the longest prefix. A path that goes on after eight levels, or to a node that does
/// not exist, gives no `hit`. One clock a level: a lookup takes its levels + 2 clocks, 10 at the most, one at a time; the
/// result waits until taken. Reset ends a lookup; the RAM keeps what it had. Entries may be written at any time: a lookup
/// sees old or new; with new nodes written first and the entry that leads to them last it never sees a mixture.
module lpm_trie
  import route_pkg::*;
#(
    parameter  int Nodes = 2048,
    localparam int NodeW = Nodes > 1 ? $clog2(Nodes) : 1,
    localparam int AddrW = NodeW + 4
) (
    input logic clk_i,
    input logic rst_i,

    stream_if.snk key,    // ipv4_t
    stream_if.src result, // lpm_result_t

    input logic                   we_i,
    input logic       [AddrW-1:0] addr_i,
    input lpm_entry_t             data_i
);
  if (Nodes < 1 || Nodes > 65536) begin : g_bad_parameter
    $fatal(1, "lpm_trie: %0d nodes are not 1 ... 65536", Nodes);
  end

  logic walking_q, done_q;
  logic [2:0] level_q;  // of the entry that the RAM shows
  logic [27:0] rest_q;  // of the address below that level
  logic hit_q;
  logic [15:0] value_q;

  localparam int RamAddrW = $clog2(Nodes * 16);
  lpm_entry_t entry;
  wire start = key.valid && key.ready;
  wire onward = walking_q && entry.node && level_q != 3'd7 && {1'b0, entry.value} < 17'(Nodes);

  ram_sdp #(
      .Width($bits(lpm_entry_t)),
      .Depth(Nodes * 16)
  ) i_nodes (
      .clk_i,
      .we_i(we_i && 32'(addr_i) < Nodes * 16),
      .waddr_i(RamAddrW'(addr_i)),
      .wdata_i(data_i),
      .re_i(start || onward),
      .raddr_i(RamAddrW'(start ? AddrW'(key.data[31:28]) : {entry.value[NodeW-1:0], rest_q[27:24]})),
      .rdata_o(entry)
  );

  assign key.ready = !walking_q && !done_q;
  assign result.valid = done_q;
  assign result.data = '{hit: hit_q, value: value_q};

  always_ff @(posedge clk_i) begin
    if (start) begin
      level_q <= '0;
      rest_q  <= key.data[27:0];
    end else begin
      level_q <= level_q + 1'b1;
      rest_q  <= rest_q << 4;
    end
    if (walking_q) begin
      hit_q   <= !entry.node;
      value_q <= entry.value;
    end
    walking_q <= start || onward;
    done_q <= (walking_q && !onward) || (done_q && !result.ready);
    if (rst_i) begin
      walking_q <= 1'b0;
      done_q <= 1'b0;
    end
  end

  `ASSERT(OneAtATime, !(walking_q && done_q))
endmodule
