// SPDX-License-Identifier: Apache-2.0
`include "stream.svh"
/// Routes, checks, classifies and rewrites the frames of one port (direct-router paper, section III-A).
///
/// Frames come out in order with their destination (0 ... Peers-1 the fast path to a peer, Peers the slow path to the host)
/// and class. Untagged IPv4 without options, from and to unicast addresses, that a ternary route matches (the lowest index), or
/// else the longest prefix in the trie when `mode_i.lpm`, takes the fast path: new MAC addresses, TTL - 1, checksum updated.
/// Everything else goes to the host untouched. Dropped (RFC 1812): frames to another MAC address, unless `mode_i.promiscuous`;
/// IPv4 with a bad header or checksum; a route that says so; a TTL that would reach zero on the fast path (with
/// `mode_i.expired_to_host` the packet goes to the host instead). `drop_o` names the reason, the first of these, once a frame,
/// none for frames that come with `err`. Frames found bad at their end come out with `drop`, the others not at all. The first
/// class mask of the destination that matches decides the class, no match or not IPv4: the last class.
/// One word a clock; a frame takes its words, but 5 clocks at least, with a lookup in the trie levels + 5 (13 at the most; more for
/// what lies in its memory).
/// Full back-pressure. What is set may change at any time; a frame sees old or new.
module ip_route
  import eth_pkg::*, route_pkg::*;
#(
    parameter int Peers = 7,  // 1 ... 15
    parameter int Classes = 2,  // 1 ... 4
    parameter int LpmNodes = 2048,  // 0: no trie
    parameter int FarNodes = 0,  // of it, in a memory outside
    parameter int Depth = 32,  // words that wait for a decision
    localparam int Masks = Classes > 1 ? Classes - 1 : 1,  // of a destination; unused with one class
    localparam int LpmAddrW = (LpmNodes + FarNodes > 1 ? $clog2(LpmNodes + FarNodes) : 1) + 4
) (
    input logic clk_i,
    input logic rst_i,

    // What to do.
    input route_mode_t                        mode_i,
    input route_rule_t [Peers-1:0]            routes_i,
    input class_rule_t [  Peers:0][Masks-1:0] classes_i,

    // Loads the trie.
    input logic                      lpm_we_i,
    input logic       [LpmAddrW-1:0] lpm_addr_i,  // node * 16 + nibble
    input lpm_entry_t                lpm_data_i,

    // Frames.
    stream_if.snk in,  // word_beat_t
    stream_if.src out, // routed_beat_t

    output route_drop_t drop_o,

    // Of the trie: its memory, and what waits for it, as lpm_trie has it.
    output table_pins_out_t table_o,
    input table_pins_in_t table_i,
    output logic [7:0] lpm_waiting_o,
    output logic lpm_lost_o
);
  if (Peers < 1 || Peers > MaxPeers || Classes < 1 || Classes > MaxClasses || Depth < 8)
  begin : g_bad_parameter
    $fatal(1, "ip_route: %0d peers, %0d classes, %0d words", Peers, Classes, Depth);
  end
  if (LpmNodes == 0 && FarNodes != 0) begin : g_bad_far
    $fatal(1, "ip_route: %0d nodes outside, and no root", FarNodes);
  end

  // Words wait while their header is parsed.
  `STREAM(word_beat_t, hold)
  `STREAM(word_beat_t, held)
  `STREAM(word_beat_t, look)
  `STREAM(ip_header_t, header)
  `STREAM(route_decision_t, decision)
  `STREAM(route_decision_t, decided)

  assign hold.valid = in.valid && look.ready;
  assign hold.data  = in.data;
  assign look.valid = in.valid && hold.ready;
  assign look.data  = in.data;
  assign in.ready   = hold.ready && look.ready;

  `FIFO(word_beat_t, Depth, i_words, hold, held)
  ip_parse i_parse (
      .clk_i,
      .rst_i,
      .in(look),
      .header
  );
  ip_decide #(
      .Peers(Peers),
      .Classes(Classes),
      .LpmNodes(LpmNodes),
      .FarNodes(FarNodes)
  ) i_decide (
      .clk_i,
      .rst_i,
      .mode_i,
      .routes_i,
      .classes_i,
      .lpm_we_i,
      .lpm_addr_i,
      .lpm_data_i,
      .table_o,
      .table_i,
      .lpm_waiting_o,
      .lpm_lost_o,
      .header,
      .decision
  );
  `FIFO(route_decision_t, 4, i_decisions, decision, decided)
  ip_rewrite i_rewrite (
      .clk_i,
      .rst_i,
      .in(held),
      .decision(decided),
      .out,
      .drop_o
  );
endmodule
