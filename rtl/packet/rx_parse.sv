// SPDX-License-Identifier: Apache-2.0
`include "assert.svh"
`include "stream.svh"
/// What the receive path finds out about each frame before it is stored: flow hash, checksum, and the queue that the host has named
/// for its flow, if any, joined with its time stamp (host-nic paper, section II-E).
///
/// With `Functions` also which of these it is for (function_filter). With `Follow` also whether it continues the frame before it of its flow (rx_follow), if its function takes what is joined. With `Steered` the queue is what the low bits of the stamp say, as of a MAC side that has classified its frames. With `Vlan` the tag is taken out first, as rx_vlan says. Frames pass unchanged otherwise, 2 clocks later; `info` has one entry for each frame that passes, in order (bad ones too), 6
/// clocks after its last beat came in, with `Follow` 11. `stamp` brings one stamp for each frame. One beat a clock, one frame a clock, full
/// back-pressure: at most `Depth` frames are inside until their `info` is taken. Drops nothing. Reset empties it.
module rx_parse
  import eth_pkg::*;
#(
    parameter int Depth = 16,  // beats held, and frames whose info is not taken
    parameter int FlowEntries = 0,  // of flow_table
    parameter int Queues = 65536,
    parameter bit Vlan = 0,  // of rx_vlan
    parameter bit Headers = 0,  // of rx_hash
    parameter bit Follow = 0,  // takes Headers
    parameter int Functions = 1,  // of function_filter; 1: there is none
    parameter bit Steered = 0  // the MAC side has chosen each frame's queue: it says that in place of a time
) (
    input logic clk_i,
    input logic rst_i,
    input logic [1:0] strip_i,  // of rx_vlan
    input logic [319:0] key_i,  // of the hash, first byte leftmost
    reg_if.slave flow_regs,  // of flow_table, from byte 400h on of function_filter
    output logic flow_refused_o,
    output source_rule_t source_o,  // of function_filter
    input logic lost_i,  // of rx_follow

    stream_if.snk frame_in,   // wide_beat_t
    stream_if.snk stamp,      // ptp_time_t
    stream_if.src frame_out,  // wide_beat_t
    stream_if.src info        // rx_info_t
);
  localparam int CountW = $clog2(Depth + 1);
  if (Depth < 12) begin : g_bad_parameter
    $fatal(1, "rx_parse: Depth %0d is below 12: not one frame a clock", Depth);
  end
  if (Follow && (!Headers || Depth < 16)) begin : g_bad_follow
    $fatal(1, "rx_parse: Follow takes Headers and a Depth of 16");
  end

  typedef struct packed {
    logic [31:0] hash;
    logic [3:0] kind;
    header_words_t header;
  } hash_t;

  `STREAM(wide_beat_t, plain)
  `STREAM(rx_info_t, known)
  rx_vlan #(
      .On(Vlan)
  ) i_vlan (
      .clk_i,
      .rst_i,
      .strip_i,
      .frame_in,
      .frame_out(plain),
      .info_in  (known),
      .info_out (info)
  );

  // A frame starts only when its results have a place.
  logic [CountW-1:0] inside_q;
  wide_beat_t beat;
  assign beat = plain.data;
  wire open = !beat.sop || inside_q < CountW'(Depth);
  wire moves = plain.valid && plain.ready;
  wire leaves = known.valid && known.ready;

  always_ff @(posedge clk_i) begin
    inside_q <= inside_q + CountW'(moves && beat.sop) - CountW'(leaves);
    if (rst_i) inside_q <= '0;
  end

  `STREAM(wide_beat_t, held)
  assign held.valid = plain.valid && open;
  `STREAM_DATA(held, beat)
  assign plain.ready = held.ready && open;
  `FIFO(wide_beat_t, Depth, i_beats, held, frame_out)

  flow_found_t found;
  `STREAM(hash_t, hash_in)
  `STREAM(hash_t, hash_out)
  rx_hash #(
      .Beat(wide_beat_t),
      .Headers(Headers)
  ) i_hash (
      .clk_i,
      .rst_i,
      .key_i,
      .valid_i (moves),
      .beat_i  (beat),
      .valid_o (hash_in.valid),
      .hash_o  (hash_in.data.hash),
      .type_o  (hash_in.data.kind),
      .header_o(hash_in.data.header),
      .ahead_o (found)
  );
  `FIFO(hash_t, Depth, i_hashes, hash_in, hash_out)

  logic table_refused, filter_refused;
  assign flow_refused_o = table_refused || filter_refused;
  typedef struct packed {
    owner_t owner;
    logic   coalesce;  // its segments may be joined
  } target_t;
  `STREAM(target_t, owner_out)
  localparam int SteerW = $clog2(2 * FilterAt);
  reg_if #(.AddrW(SteerW)) steer_regs ();
  reg_if #(.AddrW(SteerW)) part[2] ();
  assign steer_regs.req = flow_regs.req;
  assign steer_regs.write = flow_regs.write;
  assign steer_regs.addr = SteerW'(flow_regs.addr);
  assign steer_regs.wdata = flow_regs.wdata;
  assign steer_regs.wstrb = flow_regs.wstrb;
  assign flow_regs.ack = steer_regs.ack;
  assign flow_regs.rdata = steer_regs.rdata;
  if (Functions > 1) begin : g_filter
    if (Vlan) begin : g_bad_vlan
      $fatal(1, "rx_parse: function_filter looks at tags, which Vlan takes out before");
    end
    reg_demux #(
        .N(2),
        .AddrW(SteerW),
        .AtOnce(1),
        .Base({SteerW'(FilterAt), SteerW'(0)}),
        .Size({2{SteerW'(FilterAt)}})
    ) i_regs (
        .clk_i,
        .rst_i,
        .in(steer_regs),
        .out(part),
        .unmapped_o()
    );
    `STREAM(target_t, owner_in)
    function_filter #(
        .Functions(Functions)
    ) i_filter (
        .clk_i,
        .rst_i,
        .regs(part[1]),
        .refused_o(filter_refused),
        .set_o(source_o),
        .valid_i(moves),
        .beat_i(beat),
        .valid_o(owner_in.valid),
        .owner_o(owner_in.data.owner),
        .coalesce_o(owner_in.data.coalesce)
    );
    `FIFO(target_t, Depth, i_owners, owner_in, owner_out)
    `ASSERT(OwnerHasRoom, owner_in.valid |-> owner_in.ready)
  end else begin : g_no_filter
    assign part[0].req = steer_regs.req;
    assign part[0].write = steer_regs.write;
    assign part[0].addr = steer_regs.addr;
    assign part[0].wdata = steer_regs.wdata;
    assign part[0].wstrb = steer_regs.wstrb;
    assign steer_regs.ack = part[0].ack;
    assign steer_regs.rdata = part[0].rdata;
    assign filter_refused = 1'b0;
    assign source_o = '0;
    assign owner_out.valid = 1'b1;
    assign owner_out.data = '{owner: '0, coalesce: 1'b1};
    wire unused_owner = &{1'b0, owner_out.ready};
  end

  `STREAM(flow_queue_t, steer_in)
  `STREAM(flow_queue_t, steer_out)
  flow_table #(
      .Entries(FlowEntries),
      .Queues (Queues)
  ) i_flows (
      .clk_i,
      .rst_i,
      .regs(part[0]),
      .refused_o(table_refused),
      .found_i(found),
      .valid_o(steer_in.valid),
      .queue_o(steer_in.data)
  );
  `FIFO(flow_queue_t, Depth, i_steers, steer_in, steer_out)

  `STREAM(logic [15:0], csum_in)
  `STREAM(logic [15:0], csum_out)
  rx_csum i_csum (
      .clk_i,
      .rst_i,
      .valid_i(moves),
      .beat_i (beat),
      .valid_o(csum_in.valid),
      .csum_o (csum_in.data)
  );
  `FIFO(logic [15:0], Depth, i_csums, csum_in, csum_out)

  `STREAM(rx_follow_t, follow_out)
  if (Follow) begin : g_follow
    `STREAM(rx_follow_t, follow_in)
    rx_follow #(
        .Depth(Depth)
    ) i_follow (
        .clk_i,
        .rst_i,
        .valid_i(moves),
        .beat_i(beat),
        .hash_valid_i(hash_in.valid),
        .hash_i(hash_in.data.hash),
        .type_i(hash_in.data.kind),
        .header_i(hash_in.data.header),
        .csum_valid_i(csum_in.valid),
        .csum_i(csum_in.data),
        .lost_i,
        .valid_o(follow_in.valid),
        .follow_o(follow_in.data)
    );
    `FIFO(rx_follow_t, Depth, i_follows, follow_in, follow_out)
    `ASSERT(FollowHasRoom, follow_in.valid |-> follow_in.ready)
  end else begin : g_no_follow
    assign follow_out.valid = 1'b1;
    assign follow_out.data  = '0;
    wire unused = &{1'b0, lost_i, follow_out.ready};
  end

  assign known.valid = hash_out.valid && steer_out.valid && csum_out.valid && stamp.valid && owner_out.valid && follow_out.valid;
  // What is steered to a queue of another function than the one asked is not joined.
  rx_follow_t follow;
  wire elsewhere = Functions > 1 && steer_out.data.hit && owner_t'(steer_out.data.queue >> $clog2(
      Queues / Functions
  )) != owner_out.data.owner;
  always_comb begin
    follow = follow_out.data;
    if (elsewhere || !owner_out.data.coalesce) {follow.able, follow.follows} = '0;
  end
  assign known.data = '{
          stamp: stamp.data,
          hash: hash_out.data.hash,
          hash_type: hash_out.data.kind,
          stripped: '0,
          header: hash_out.data.header,
          csum: csum_out.data,
          steered: Steered ? flow_queue_t'{hit: 1'b1, queue: stamp.data[15:0]} : steer_out.data,
          owner: owner_out.data.owner,
          follow: follow
      };
  assign hash_out.ready = leaves;
  assign csum_out.ready = leaves;
  assign steer_out.ready = leaves;
  assign stamp.ready = leaves;
  assign owner_out.ready = leaves;
  assign follow_out.ready = leaves;

  `ASSERT(
      ResultsHaveRoom,
      (hash_in.valid |-> hash_in.ready) and(csum_in.valid |-> csum_in.ready) and(steer_in.valid |-> steer_in.ready))
endmodule
