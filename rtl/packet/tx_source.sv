// SPDX-License-Identifier: Apache-2.0
`include "stream.svh"
/// Keeps a function (SR-IOV) from sending in another's name: frames whose source address is not that of their function are dropped.
///
/// `set_i` (function_filter) says which functions are looked at, and their addresses. A frame of one of these (`csum_i.owner`, with its first
/// beat) with another source is swallowed to its end and pulses `dropped_o`; its `stamp` is 0. All others pass unchanged with the stamp that
/// the MAC gives them (`mac_stamp`); stamps stay in the order of the frames, of which `Depth` may be between here and their stamps.
/// Latency a clock, one beat a clock, full back-pressure. Reset empties it; no function is looked at then. With `Functions` 1 it is wire.
module tx_source
  import eth_pkg::*;
#(
    parameter int Functions = 1,
    parameter int Depth = 512
) (
    input logic         clk_i,
    input logic         rst_i,
    input source_rule_t set_i,

           stream_if.snk frame_in,   // wide_beat_t
    input  tx_csum_t     csum_i,     // of the frame on offer
           stream_if.src frame_out,  // wide_beat_t
    output tx_csum_t     csum_o,
    output logic         dropped_o,

    stream_if.snk mac_stamp,  // ptp_time_t
    stream_if.src stamp       // ptp_time_t
);
  if (Functions > 1) begin : g_check
    typedef logic [$clog2(Functions)-1:0] index_t;
    logic [Functions-1:0] checked_q;
    logic [47:0] address;
    wide_beat_t beat_q;
    tx_csum_t csum_q;
    logic full_q, look_q, dropping_q;
    wire moves = frame_in.valid && frame_in.ready;

    ram_sdp #(
        .Width(48),
        .Depth(Functions)
    ) i_address (
        .clk_i,
        .we_i(set_i.valid),
        .waddr_i(index_t'(set_i.owner)),
        .wdata_i(set_i.address),
        .re_i(moves),
        .raddr_i(index_t'(csum_i.owner)),
        .rdata_o(address)
    );

    `STREAM(logic, told)
    `STREAM(logic, order)
    `DEEP_FIFO(logic, Depth, i_order, told, order)
    wire bad = look_q && beat_q.data[95:48] != address;
    wire drop = beat_q.sop ? bad : dropping_q;
    // The first beat of a frame goes on when its stamp has a place.
    wire goes = full_q && (!beat_q.sop || told.ready);
    wire step = goes && (drop || frame_out.ready);
    assign frame_in.ready = !full_q || step;
    assign frame_out.valid = goes && !drop;
    assign frame_out.data = beat_q;
    assign csum_o = csum_q;
    assign told.valid = step && beat_q.sop;
    assign told.data = drop;

    assign stamp.valid = order.valid && (order.data || mac_stamp.valid);
    `STREAM_DATA(stamp, order.data ? '0 : mac_stamp.data)
    assign order.ready = stamp.ready && (order.data || mac_stamp.valid);
    assign mac_stamp.ready = stamp.ready && order.valid && !order.data;

    always_ff @(posedge clk_i) begin
      dropped_o <= step && beat_q.sop && drop;
      if (set_i.valid) checked_q[index_t'(set_i.owner)] <= set_i.check;
      if (moves) begin
        beat_q <= frame_in.data;
        csum_q <= csum_i;
        look_q <= checked_q[index_t'(csum_i.owner)];
      end
      if (step) dropping_q <= drop;
      full_q <= moves || (full_q && !step);
      if (rst_i) begin
        full_q <= 1'b0;
        dropped_o <= 1'b0;
        checked_q <= '0;
      end
    end
  end else begin : g_wire
    `RELAY(frame_in, frame_out, frame_in.data)
    `RELAY(mac_stamp, stamp, mac_stamp.data)
    assign csum_o = csum_i;
    assign dropped_o = 1'b0;
    wire unused = &{1'b0, clk_i, rst_i, set_i};
  end
endmodule
