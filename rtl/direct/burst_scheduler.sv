// SPDX-License-Identifier: Apache-2.0
`include "assert.svh"
`include "stream.svh"
/// Sends bursts (direct-router paper, section III-B3): header, packets of class 0, then 1, ..., then a REQ for what is left.
///
/// RESs are answered round robin over the outputs, one burst at a time. First the burst is planned, one packet a clock: as many
/// packets from each class, in order, as its grant has words for; none at all if no first packet fits. Then its words go
/// out, after the first `Prefill` without a gap whatever the bus takes. The trailing REQ says what the FIFOs hold beyond
/// this burst when it is made. The frames leave their FIFOs when the bus says that the burst has arrived; if it was aborted
/// they stay there, first in their queues as before. Reset forgets all RESs.
module burst_scheduler
  import direct_pkg::*, route_pkg::*;
#(
    parameter int Peers = 7,
    parameter int Classes = 2,
    parameter int MessageWords = 1
) (
    input logic clk_i,
    input logic rst_i,
    input logic [Peers-1:0][63:0] peer_base_i,
    frame_read_if.reader fast,  // queue = peer * Classes + class
    // A RES that was awaited
    input logic res_i,
    input peer_t res_peer_i,
    input message_t res_message_i,
    // For request_scheduler
    output logic [Peers-1:0] granted_o,
    output logic [Peers-1:0] bursting_o,
    output logic trailing_o,
    output logic trailing_null_o,
    input logic [3:0] trailing_tag_i,
    output peer_t peer_o,
    output logic aborted_o,  // the burst ended in an abort
    // Channel
    stream_if.src cmd,  // channel_pkg::channel_cmd_t
    stream_if.src data,  // logic [63:0]
    stream_if.snk done,  // channel_pkg::channel_result_e
    // Events
    output logic sent_o,
    output logic empty_o,
    output logic packet_o
);
  typedef logic [(Peers > 1 ? $clog2(Peers) : 1)-1:0] index_t;
  localparam int Depth = 16;
  localparam int Prefill = 12;  // covers the gaps between classes, at most 3 of 2 clocks
  localparam int QueueW = Peers * Classes > 1 ? $clog2(Peers * Classes) : 1;
  localparam int ClassW = Classes > 1 ? $clog2(Classes) : 1;
  localparam logic [ClassW-1:0] LastClass = ClassW'(Classes - 1);
  localparam logic [1:0] LastWord = 2'(MessageWords - 1);

  typedef enum logic [3:0] {
    Idle,
    PlanLoad,
    PlanFirst,
    Plan,
    Header,
    Load,
    First,
    PacketHead,
    Data,
    Trailer,
    Drain,
    Free
  } state_e;
  state_e state_q;
  peer_t peer_q;  // of the burst, or the last one
  logic [3:0] tag_q;
  logic [ClassW-1:0] class_q;
  logic [1:0] pad_q;

  // The RESs, and the one being answered.
  logic [Peers-1:0] granted_q;
  words_t [Classes-1:0] grant_q[Peers];
  logic [3:0] grant_tag_q[Peers];
  peer_t next;
  always_comb begin
    next = '0;
    for (int p = Peers - 1; p >= 0; p--) if (granted_q[p]) next = peer_t'(p);
    for (int p = Peers - 1; p >= 0; p--) if (granted_q[p] && peer_t'(p) > peer_q) next = peer_t'(p);
  end

  // The plan: packets and words (headers counted) by class; words of all on the bus.
  words_t [Classes-1:0] packets_q, words_q;
  words_t left_q;  // of the class's grant; packets of the class still to send
  logic [15:0] total_q;
  wire [13:0] length = 14'((17'(fast.bytes) + 17'd7) >> 3);
  wire [13:0] needs = length + 1'b1;
  wire fits = needs <= 14'(left_q);

  wire [QueueW-1:0] base = QueueW'(peer_q) * QueueW'(Classes);
  wire [QueueW-1:0] queue = base + QueueW'(class_q);
  wire words_t room = grant_q[index_t'(peer_q)][class_q];
  wire words_t there = fast.used[queue];

  // What the FIFOs hold beyond the burst.
  message_t request, head;
  packet_header_t packet_head;
  always_comb begin
    request = '0;
    request.kind = Request;
    request.tag = trailing_tag_i;
    head = '0;
    head.kind = Burst;
    head.tag = tag_q;
    for (int c = 0; c < Classes; c++) begin
      request.count[c] = fast.used[base+QueueW'(c)] - words_q[c];
      head.count[c] = packets_q[c];
    end
    packet_head = '{kind: Packet, unused: '0, cls: class_t'(class_q), bytes: fast.bytes};
  end
  logic none;
  always_comb begin
    none = 1'b1;
    for (int c = 0; c < Classes; c++) if (packets_q[c] != '0) none = 1'b0;
  end

  // Words on their way: one clock behind the state, data words from the RAM.
  logic emit, emit_q, from_ram_q;
  logic [63:0] literal, literal_q;
  logic [13:0] length_q;  // data words of the packet still to be read
  `STREAM(logic [63:0], made)
  `STREAM(logic [63:0], held)
  logic [$clog2(Depth + 1)-1:0] held_count;
  fifo #(
      .T(logic [63:0]),
      .Depth(Depth)
  ) i_words (
      .clk_i,
      .rst_i,
      .in(made),
      .out(held),
      .count_o(held_count)
  );
  wire go = held_count < ($clog2(
      Depth + 1
  ))'(Depth - 1);  // a place is left besides the one on its way
  wire last_pad = pad_q == LastWord;
  assign made.valid = emit_q;
  assign made.data  = from_ram_q ? fast.word : literal_q;

  logic flowing_q;  // enough words are there for the rest to follow without a gap
  assign data.valid = held.valid && flowing_q;
  assign data.data  = held.data;
  assign held.ready = data.ready && flowing_q;

  logic cmd_valid_q;
  assign cmd.valid = cmd_valid_q;
  assign cmd.data = '{
          read: 1'b0,
          fixed: 1'b1,
          addr: peer_base_i[index_t'(peer_q)],
          bytes: 16'({total_q[12:0], 3'd0})
      };
  assign done.ready = state_q == Drain && !cmd_valid_q && !emit_q && held_count == '0;
  wire ended = done.valid && done.ready;

  always_comb begin
    emit = 1'b0;
    literal = '0;
    fast.queue = queue;
    fast.load = state_q inside {PlanLoad, Load};
    fast.next_bytes = state_q inside {PlanFirst, Plan, First};
    fast.next_word = 1'b0;
    fast.free = state_q == Free;
    fast.free_packets = packets_q[class_q];
    fast.free_words = words_q[class_q];
    unique case (state_q)
      Header: begin
        emit = go;
        literal = pad_q == '0 ? head : '0;
      end
      PacketHead: begin
        emit = go;
        literal = pad_q == '0 ? packet_head : '0;
        fast.next_bytes = go && last_pad;  // of the packet after this one
      end
      Data: begin
        emit = go;
        fast.next_word = go;
      end
      Trailer: begin
        emit = go;
        literal = pad_q == '0 ? request : '0;
      end
      default: ;
    endcase
  end
  assign trailing_o = state_q == Trailer && go && pad_q == '0;
  assign trailing_null_o = request.count == '0;
  assign packet_o = state_q == PacketHead && go && last_pad;
  assign peer_o = peer_q;
  assign granted_o = granted_q;
  assign bursting_o = state_q == Idle ? '0 : Peers'(1) << peer_q;
  assign aborted_o = ended && done.data != channel_pkg::ChannelOk;
  assign sent_o = ended && !aborted_o;
  assign empty_o = sent_o && none;

  always_ff @(posedge clk_i) begin
    emit_q <= emit;
    if (emit) begin
      literal_q  <= literal;
      from_ram_q <= state_q == Data;
    end
    if (state_q == Drain || held_count >= ($clog2(Depth + 1))'(Prefill)) flowing_q <= 1'b1;
    if (cmd.valid && cmd.ready) cmd_valid_q <= 1'b0;
    if (emit) pad_q <= (last_pad || state_q == Data) ? '0 : pad_q + 1'b1;

    unique case (state_q)
      Idle: begin
        flowing_q <= 1'b0;
        class_q   <= '0;
        packets_q <= '0;
        words_q   <= '0;
        pad_q     <= '0;
        total_q   <= 16'(2 * MessageWords);
        if (|granted_q) begin
          peer_q <= next;
          tag_q <= grant_tag_q[index_t'(next)];
          granted_q[index_t'(next)] <= 1'b0;
          state_q <= PlanLoad;
        end
      end
      PlanLoad: begin
        // Never beyond the last frame, whatever was granted.
        left_q  <= room < there ? room : there;
        state_q <= PlanFirst;
      end
      PlanFirst: state_q <= Plan;
      Plan: begin
        if (fits) begin
          left_q <= left_q - words_t'(needs);
          packets_q[class_q] <= packets_q[class_q] + 1'b1;
          words_q[class_q] <= words_q[class_q] + words_t'(needs);
          total_q <= total_q + 16'(length) + 16'(MessageWords);
        end else if (class_q != LastClass) begin
          class_q <= class_q + 1'b1;
          state_q <= PlanLoad;
        end else begin
          class_q <= '0;
          cmd_valid_q <= 1'b1;
          state_q <= Header;
        end
      end
      Header: if (go && last_pad) state_q <= none ? Trailer : Load;
      Load: begin
        left_q <= packets_q[class_q];
        if (packets_q[class_q] != '0) state_q <= First;
        else if (class_q == LastClass) state_q <= Trailer;
        else class_q <= class_q + 1'b1;
      end
      First: state_q <= PacketHead;
      PacketHead:
      if (go && last_pad) begin
        length_q <= length;
        left_q   <= left_q - 1'b1;
        state_q  <= Data;
      end
      Data:
      if (go) begin
        length_q <= length_q - 1'b1;
        if (length_q == 14'd1) begin
          if (left_q != '0) state_q <= PacketHead;
          else if (class_q == LastClass) state_q <= Trailer;
          else begin
            class_q <= class_q + 1'b1;
            state_q <= Load;
          end
        end
      end
      Trailer: if (go && last_pad) state_q <= Drain;
      Drain: begin
        class_q <= '0;
        if (ended) state_q <= aborted_o ? Idle : Free;
      end
      default: begin  // Free
        class_q <= class_q + 1'b1;
        if (class_q == LastClass) state_q <= Idle;
      end
    endcase

    if (res_i) begin
      granted_q[index_t'(res_peer_i)]   <= 1'b1;
      grant_tag_q[index_t'(res_peer_i)] <= res_message_i.tag;
      for (int c = 0; c < Classes; c++) grant_q[index_t'(res_peer_i)][c] <= res_message_i.count[c];
    end
    if (aborted_o) granted_q[index_t'(peer_q)] <= 1'b0;
    if (rst_i) begin
      state_q <= Idle;
      granted_q <= '0;
      peer_q <= '0;
      emit_q <= 1'b0;
      cmd_valid_q <= 1'b0;
      flowing_q <= 1'b0;
    end
  end

  // Once a burst's first word was offered the others follow without a gap.
  `ASSERT(NoGap, !flowing_q || held.valid || state_q inside {Drain, Free, Idle})
  `ASSERT(NeverLost, !made.valid || made.ready)
endmodule
