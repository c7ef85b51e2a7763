// SPDX-License-Identifier: Apache-2.0
// prove: mode=prove depth=18 timeout=150
`include "formal.svh"
`include "stream.svh"
/// rx_coalesce against what left before: each frame leaves once, as it came and in order, in three clocks; of one place, whichever it is,
/// one aggregate is open at a time, of one queue and of its function alone; what joins it follows its last frame; what closes it has the
/// first one's fields and all bytes, each segment's once; no frame overtakes its queue's aggregate. What is old, has no slot, or is a
/// function's in reset closes within three clocks a place and five more in which output is taken. Settings, resets and what is said of slots change at will.
module rx_coalesce_formal
  import engine_pkg::*, queue_pkg::*, eth_pkg::*;
(
    input logic               clk_i,
    input logic               rst_i,
    input rx_coalesce_t       settings_i,
    input logic               hold_i,
    input logic         [1:0] resets_i,
    input rx_slotless_t       slotless_i,
    input logic               in_valid_i,
    input rx_meta_t           in_i,
    input logic               out_ready_i,
    input logic         [1:0] place_i
);
  `FORMAL_BEGIN
  localparam int Places = 4, Least = 256, Late = 3 * Places + 5;
  `STREAM(rx_meta_t, in)
  `STREAM(rx_meta_t, out)
  assign in.valid  = in_valid_i;
  assign in.data   = in_i;
  assign out.ready = out_ready_i;
  logic joined;
  rx_coalesce #(
      .Functions(2),
      .Queues(8),
      .Places(Places),
      .LeastPayload(Least)
  ) dut (
      .clk_i,
      .rst_i,
      .settings_i,
      .hold_i,
      .reset_i (64'(resets_i)),
      .slotless_i,
      .in,
      .out,
      .joined_o(joined)
  );
  `FORMAL_STREAM(assert, out, rx_meta_t)

  // Of the four queues of a function two each share a place.
  function automatic logic [1:0] place_of(queue_t queue);
    return {queue[2], queue[0]};
  endfunction
  function automatic logic [13:0] payload_of(rx_meta_t m);
    return m.len - 14'd14 - {7'd0, m.info.header, 2'b00};
  endfunction
  function automatic logic may_open(rx_meta_t m);
    return m.info.follow.able && !m.info.follow.push && payload_of(m) >= 14'(Least);
  endfunction

  // What leaves, before the register of the output.
  wire moves = dut.g_on.made.valid && dut.g_on.made.ready;
  rx_meta_t m;
  assign m = dut.g_on.made.data;
  wire frame = moves && m.join_as != Closes;

  // The frame inside.
  rx_meta_t held_q;
  logic holds_q;
  logic [1:0] held_clocks_q;
  logic [1:0] resets_q;
  always_ff @(posedge clk_i) begin
    resets_q <= resets_i;
    if (frame) holds_q <= 1'b0;
    if (dut.g_on.made.ready) held_clocks_q <= held_clocks_q + 1'b1;
    if (in.valid && in.ready) begin
      holds_q <= 1'b1;
      held_q <= in.data;
      held_clocks_q <= '0;
    end
    if (rst_i) holds_q <= 1'b0;
  end

  // The place, and what is open there.
  logic [1:0] place_q;
  always_ff @(posedge clk_i) if (rst_i) place_q <= place_i;
  logic open_q, ended_q, slotless_q;
  logic [1:0] frames_q;  // or more
  rx_meta_t first_q;
  rx_follow_t last_q;
  logic [13:0] len_q;
  logic [15:0] age_q;
  wire mine = moves && m.aggregate == 6'(place_q);
  wire [13:0] payload = payload_of(m), mss = payload_of(first_q);
  wire [14:0] len = 15'(len_q) + 15'(payload);
  always_ff @(posedge clk_i) begin
    age_q <= age_q + 1'b1;
    if (mine)
      unique case (m.join_as)
        Opens: begin
          {open_q, ended_q, slotless_q} <= 3'b100;
          frames_q <= 2'd1;
          first_q <= m;
          last_q <= m.info.follow;
          len_q <= m.len;
          age_q <= 16'd1;
        end
        Follows: begin
          frames_q <= frames_q == '1 ? '1 : frames_q + 1'b1;
          last_q <= m.info.follow;
          len_q <= len[13:0];
          ended_q <= m.info.follow.push || payload != mss || 16'(len) + 16'(mss) > 16'(settings_i.bytes);
        end
        Closes:  open_q <= 1'b0;
        default: ;
      endcase
    if (slotless_i.valid && slotless_i.aggregate == 6'(place_q)) slotless_q <= 1'b1;
    if (rst_i) open_q <= 1'b0;
  end

  rx_meta_t whole;
  always_comb begin
    whole = first_q;
    whole.addr = '0;
    whole.recorded = 1'b0;
    whole.join_as = Closes;
    whole.len = len_q;
    whole.info.follow = last_q;
    if (frames_q != 2'd1) begin
      whole.info.hash_type = first_q.info.hash_type | 4'b1100;
      whole.info.csum = {last_q.push, 1'b0, mss};
    end
  end
  rx_meta_t came;
  always_comb begin
    came = held_q;
    came.join_as = m.join_as;
    came.aggregate = m.aggregate;
  end

  // How long it has had to close, in clocks in which output is taken.
  wire due = open_q && (settings_i.bytes == '0 || hold_i || slotless_q || resets_q[place_q[1]] || age_q >= settings_i.clocks);
  logic [7:0] due_q;
  always_ff @(posedge clk_i) begin
    due_q <= due_q + 8'(dut.g_on.made.ready);
    if (!due || (mine && m.join_as == Closes) || rst_i) due_q <= '0;
  end

  always_comb begin
    assume (in_i.queue < 16'd8);
    assume (slotless_i.aggregate < 6'(Places));
    if (in_i.info.follow.able)
      assume (16'(in_i.len) > 16'd14 + {9'd0, in_i.info.header, 2'b00});
      else assume (!in_i.info.follow.follows);
    if (started_q) begin
      if (frame) assert (holds_q && m == came && m.aggregate == 6'(place_of(m.queue)));
      if (in.valid && in.ready) assert (!holds_q || frame);
      if (holds_q) assert (held_clocks_q <= 2'd2);
      assert (joined == (moves && m.join_as == Follows));
      if (mine) begin
        assert (place_of(m.queue) == place_q);
        if (m.join_as == Opens) assert (!open_q && may_open(m));
        if (m.join_as == Follows) begin
          assert (open_q && !ended_q && m.queue == first_q.queue && !hold_i && settings_i.bytes != '0);
          assert (m.info.follow.follows && m.info.follow.serial == last_q.serial + 1'b1);
          assert (m.info.hash == first_q.info.hash && m.info.stripped == first_q.info.stripped);
          assert (payload <= mss && len < 15'd16384);
        end
        if (m.join_as == Alone) assert (!open_q || m.queue != first_q.queue);
        if (m.join_as == Closes) assert (open_q && m == whole);
      end
      if (due) assert (due_q < 8'(Late));
      cover (mine && m.join_as == Closes && frames_q == 2'd3 && !due);
      cover (mine && m.join_as == Closes && held_q.queue != first_q.queue && holds_q && !due && !ended_q);
      cover (mine && m.join_as == Closes && resets_q == 2'b10 && due_q == 8'd5);
      cover (frame && held_clocks_q == 2'd2);
    end
  end

  // Named for the induction. So many clocks in which output is taken until the next is looked at; what there is to wait for.
  wire [1:0] looks = !dut.g_on.valid_q ? 2'd0 : dut.g_on.close_q ? (dut.g_on.fresh_q ? 2'd1 : 2'd2) :
      !dut.g_on.fresh_q ? (dut.g_on.opens_q ? 2'd2 : 2'd1) : dut.g_on.open ? 2'd3 : 2'(dut.g_on.opens_q);
  wire [1:0] scans = place_q - dut.g_on.scan_q;
  wire found = dut.g_on.closing_q && dut.g_on.closing_at_q == place_q;
  wire at = dut.g_on.at_q == place_q;
  logic [7:0] left;
  always_comb begin
    if (dut.g_on.valid_q && dut.g_on.close_q && dut.g_on.aged_q && at) left = '0;
    else if (found) left = 8'(looks) + 8'd1;
    else if (dut.g_on.closing_q) left = 8'd3 * 8'(scans) + 8'd4 + 8'(looks);
    else left = 8'd3 * 8'(scans) + (looks == 2'd0 ? 8'd5 : looks == 2'd3 ? 8'd4 : 8'd3);
  end
  always_comb begin
    if (started_q) begin
      if (due) assert (due_q + left < 8'(Late));
      assert (holds_q == (dut.g_on.valid_q && !dut.g_on.close_q));
      assert (resets_q == dut.g_on.reset_q[1:0]);
      if (holds_q) begin
        assert (dut.g_on.m == held_q && dut.g_on.payload_q == payload_of(held_q));
        assert (dut.g_on.at_q == place_of(held_q.queue) && held_q.queue < 16'd8);
        if (held_q.info.follow.able)
          assert (16'(held_q.len) > 16'd14 + {9'd0, held_q.info.header, 2'b00});
          else assert (!held_q.info.follow.follows);
        assert (held_clocks_q <= (dut.g_on.fresh_q ? dut.g_on.open_q[dut.g_on.at_q] ? 2'd0 : 2'd2 : 2'd1));
        if (dut.g_on.opens_q)
          assert (may_open(held_q) && 15'(held_q.len) + 15'(dut.g_on.payload_q) < 15'd16384);
      end
      if (dut.g_on.valid_q && dut.g_on.fresh_q)
        assert (dut.g_on.open == dut.g_on.open_q[dut.g_on.at_q]);
      if (dut.g_on.valid_q && dut.g_on.aged_q) assert (dut.g_on.close_q && dut.g_on.fresh_q);
      if (holds_q && !dut.g_on.fresh_q) assert (!dut.g_on.open_q[dut.g_on.at_q]);
      if (dut.g_on.valid_q && dut.g_on.fresh_q && at && open_q)
        assert (dut.g_on.group == dut.g_on.groups[place_q]);
      assert (open_q == dut.g_on.open_q[place_q]);
      if (open_q) begin
        assert (dut.g_on.groups[place_q].queue == first_q.queue && dut.g_on.groups[place_q].len == len_q);
        assert (dut.g_on.groups[place_q].mss == mss && dut.g_on.groups[place_q].ended == ended_q);
        assert (dut.g_on.groups[place_q].several == (frames_q != 2'd1) && frames_q != '0);
        assert (dut.g_on.groups[place_q].info == {first_q.info[$bits(
            rx_info_t
        )-1:$bits(
            rx_follow_t
        )], last_q});
        assert (dut.g_on.slotless_q[place_q] == slotless_q);
        assert (dut.g_on.opened[place_q] == dut.g_on.now_q - age_q);
        assert (place_of(
            first_q.queue
        ) == place_q && first_q.queue < 16'd8 && first_q.aggregate == 6'(place_q));
        if (ended_q) assert (dut.g_on.valid_q && dut.g_on.close_q && at);
        assert (mss >= 14'(Least) && (ended_q || 15'(len_q) + 15'(mss) < 15'd16384));
      end
    end
  end
endmodule
