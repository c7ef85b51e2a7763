// SPDX-License-Identifier: Apache-2.0
`include "assert.svh"
`include "stream.svh"
/// What becomes of a frame, from its header: check, route, classify (see `ip_route`, where these rules are given).
///
/// One header at a time: 3 clocks, with a lookup in the trie the levels it takes + 5 (in a memory: as
/// lpm_trie has it). Decisions leave in order of the
/// headers and wait until taken. Drops and counts nothing itself. Reset forgets the header inside.
module ip_decide
  import route_pkg::*;
#(
    parameter int Peers = 7,
    parameter int Classes = 2,
    parameter int LpmNodes = 2048,  // 0: no trie
    parameter int FarNodes = 0,  // of it, in a memory outside
    localparam int Masks = Classes > 1 ? Classes - 1 : 1,
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
    input logic       [LpmAddrW-1:0] lpm_addr_i,
    input lpm_entry_t                lpm_data_i,

    stream_if.snk header,   // ip_header_t
    stream_if.src decision, // route_decision_t

    // Of the trie: its memory, and what waits for it, as lpm_trie has it.
    output table_pins_out_t table_o,
    input table_pins_in_t table_i,
    output logic [7:0] lpm_waiting_o,
    output logic lpm_lost_o
);
  localparam peer_t SlowPath = peer_t'(Peers);
  localparam class_t LastClass = class_t'(Classes - 1);
  localparam int RouteW = Peers > 1 ? $clog2(Peers) : 1;
  localparam int MaskW = Masks > 1 ? $clog2(Masks) : 1;

  typedef enum logic [2:0] {
    Idle,
    Lookup,
    Wait,
    Classify,
    Decided
  } state_e;
  state_e state_q;
  class_key_t class_key_q;
  route_decision_t decision_q;
  logic [7:0] ttl_q;
  logic to_host_q;  // expired, and the host is to say so
  logic [15:0] checksum_q;

  // Check, and match the ternary routes.
  ip_header_t head;
  ip_verdict_t verdict;
  assign head = header.data;
  ip_check i_check (
      .valid_i  (header.valid),
      .header_i (head),
      .verdict_o(verdict)
  );

  logic [Peers-1:0] route_valid;
  logic [Peers-1:0][31:0] route_value, route_mask;
  for (genvar i = 0; i < Peers; i++) begin : g_route
    assign route_valid[i] = routes_i[i].valid;
    assign route_value[i] = routes_i[i].value;
    assign route_mask[i]  = routes_i[i].mask;
  end
  logic routed;
  logic [RouteW-1:0] route;
  wire forward = mode_i.fast && verdict.ip && verdict.forwardable;
  ternary_match #(
      .Rules(Peers),
      .Width(32)
  ) i_routes (
      .valid_i     (header.valid && forward),
      .key_i       (head.dst),
      .rule_valid_i(route_valid),
      .value_i     (route_value),
      .mask_i      (route_mask),
      .hit_o       (routed),
      .index_o     (route)
  );

  wire to_host = mode_i.expired_to_host && head.ttl <= 8'd1;
  wire not_ours = head.typed && !head.dst_mac[40] && head.dst_mac != mode_i.mac && !mode_i.promiscuous;
  wire bad = not_ours || (verdict.ip && (verdict.bad_header || verdict.bad_checksum));

  // Then the trie.
  `STREAM(ipv4_t, key)
  `STREAM(lpm_result_t, result)
  if (LpmNodes > 0) begin : g_trie
    lpm_trie #(
        .Nodes(LpmNodes),
        .FarNodes(FarNodes)
    ) i_trie (
        .clk_i,
        .rst_i,
        .key,
        .result,
        .we_i(lpm_we_i),
        .addr_i(lpm_addr_i),
        .data_i(lpm_data_i),
        .table_o,
        .table_i,
        .waiting_o(lpm_waiting_o),
        .lost_o(lpm_lost_o)
    );
  end else begin : g_no_trie
    assign key.ready = 1'b1;
    assign result.valid = 1'b0;
    assign result.data = '0;
    assign table_o.valid = 1'b0;
    assign table_o.write = 1'b0;
    assign table_o.addr = '0;
    assign table_o.wdata = '0;
    assign lpm_waiting_o = '0;
    assign lpm_lost_o = 1'b0;
    wire unused_load = ^{lpm_we_i, lpm_addr_i, lpm_data_i, result.ready, table_i.ready, table_i.rvalid, table_i.rdata};
  end
  lpm_result_t found;
  lpm_route_t  found_route;
  assign found = result.data;
  assign found_route = found.value;
  wire unused_route = &{1'b0, found_route.unused};
  assign key.valid = state_q == Lookup;
  assign key.data = class_key_q.dst;
  assign result.ready = state_q == Wait;
  wire found_peer = found.hit && !found_route.slow && 32'(found_route.peer) < Peers && !to_host_q;

  // Last the class, and what the rewriting needs.
  logic [Masks-1:0] mask_valid;
  logic [Masks-1:0][$bits(class_key_t)-1:0] mask_value, mask_mask;
  logic [MaskW-1:0] mask;
  logic classified;
  always_comb begin
    mask_valid = '0;
    mask_value = '0;
    mask_mask  = '0;
    if (state_q == Classify) begin
      for (int i = 0; i < Masks; i++) begin
        mask_valid[i] = classes_i[decision_q.dest][i].valid;
        mask_value[i] = classes_i[decision_q.dest][i].value;
        mask_mask[i]  = classes_i[decision_q.dest][i].mask;
      end
    end
  end
  ternary_match #(
      .Rules(Masks),
      .Width($bits(class_key_t))
  ) i_classes (
      .valid_i     (state_q == Classify && mode_i.qos && decision_q.ip && Classes > 1),
      .key_i       (class_key_q),
      .rule_valid_i(mask_valid),
      .value_i     (mask_value),
      .mask_i      (mask_mask),
      .hit_o       (classified),
      .index_o     (mask)
  );

  // RFC 1624, equation 3, for a half word that gets smaller by 0x100.
  wire [16:0] checksum_sum = {1'b0, ~checksum_q} + 17'h0feff;
  wire [15:0] checksum_folded = checksum_sum[15:0] + 16'(checksum_sum[16]);


  assign header.ready = state_q == Idle;
  always_ff @(posedge clk_i) begin
    unique case (state_q)
      Idle:
      if (header.valid) begin
        class_key_q <= '{tos: head.tos, src: head.src, dst: head.dst, protocol: head.protocol};
        ttl_q <= head.ttl;
        checksum_q <= head.checksum;
        decision_q <= '0;
        decision_q.ip <= verdict.ip;
        decision_q.total_length <= head.total_length;
        decision_q.not_ours <= not_ours;
        decision_q.header <= verdict.ip && verdict.bad_header;
        decision_q.bad_checksum <= verdict.ip && verdict.bad_checksum;
        to_host_q <= to_host;
        decision_q.dest <= routed && !to_host ? peer_t'(route) : SlowPath;
        decision_q.rewrite <= routed && !to_host;
        state_q <= (LpmNodes > 0 && mode_i.lpm && forward && !routed && !bad) ? Lookup : Classify;
      end
      Lookup:  if (key.ready) state_q <= Wait;
      Wait:
      if (result.valid) begin
        if (found_peer) decision_q.dest <= found_route.peer;
        decision_q.rewrite <= found_peer;
        decision_q.no_route <= found.hit && found_route.slow && found_route.drop;
        state_q <= Classify;
      end
      Classify: begin
        decision_q.cls <= classified ? class_t'(mask) : LastClass;
        decision_q.checksum <= ~checksum_folded;
        decision_q.ttl <= decision_q.rewrite && ttl_q <= 8'd1;
        decision_q.new_source <= mode_i.rewrite_source;
        decision_q.source <= mode_i.mac;
        decision_q.next_hop <= routes_i[RouteW'(decision_q.dest)].next_hop;
        state_q <= Decided;
      end
      Decided: if (decision.ready) state_q <= Idle;
      default: state_q <= Idle;
    endcase
    if (rst_i) state_q <= Idle;
  end

  assign decision.valid = state_q == Decided;
  assign decision.data  = decision_q;
endmodule
