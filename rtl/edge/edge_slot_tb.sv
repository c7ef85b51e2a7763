// SPDX-License-Identifier: Apache-2.0
// suite: once
`include "slot_dram_tb.svh"
`include "parts_tb.svh"
`include "tb.svh"
`include "stream.svh"
/// A link of the network `net`: from the stream `to` to the slot, from the slot to the stream `from`.
`define LINK(net, to, from) \
  link_out i_to``net (.clk_i(clk), .rst_i(rst), .in(to), .valid_o(in_valid[net]), \
      .data_o(in_data[net]), .room_i(in_room[net])); \
  link_fifo i_from``net (.clk_i(clk), .rst_i(rst), .in(from_slot[net]), .out(from), \
      .room_o(out_room[net]));

/// edge_slot: two linecards (west, east) and a memory (north) around the routers of one tile; the test plays the tile's program
/// and its switch. Frames of all lengths go both ways, each payload the way its setting says: streamed (set up by the linecard or
/// by the tile), in lines, in masked lines, as messages, held in the linecard. Every frame leaves whole and in order. Rates of
/// long and short frames; frames that are given up, too long, or come without room; words for other places; malformed reads. One
/// of the linecards is built without a memory port.
module edge_slot_tb;
  import mesh_pkg::*;
  `TB_BEGIN
  `TB_TIMEOUT(2_000_000)
  localparam int Latency = 12;
  localparam int MemWords = 65536;
  localparam int A = 0;  // west
  localparam int B = 1;  // east
  localparam int M = 2;  // north
  localparam place_t Places[3] = '{{3'd4, 8'd0}, {3'd2, 8'd0}, {3'd1, 8'd0}};
  localparam place_t Tile = '{exit: 3'd0, y: 4'd0, x: 4'd0};

  logic run = 0;
  logic boot_write;
  logic [2:0] boot_req = 0, boot_ack;
  logic [4:0] boot_word;
  word_t boot_wdata, boot_rdata[3];
  logic rd_valid[3], wr_valid[3];
  logic [3:0] wr_be[3];
  word_t rd_addr[3], wr_addr[3], wr_data[3], rd_data;

  // The core's side of the networks.
  `STREAM_ON(word_t, gdn_in[5], clk, rst)
  `STREAM_ON(word_t, gdn_out[5], clk, rst)
  `STREAM_ON(word_t, mdn_in[5], clk, rst)
  `STREAM_ON(word_t, mdn_out[5], clk, rst)
  `STREAM_ON(word_t, st_in[3], clk, rst)
  `STREAM_ON(word_t, st_out[3], clk, rst)
  `STREAM_ON(word_t, st2_in[3], clk, rst)
  `STREAM_ON(word_t, st2_out[3], clk, rst)
  `STREAM_ON(wire_beat_t, wire_in[3], clk, rst)
  `STREAM_ON(wire_beat_t, wire_out[3], clk, rst)
  word_t gdn_words[5], mdn_words[5];
  logic [West:North][2:0] gdn_way, mdn_way;
  for (genvar p = North; p <= West; p++) begin : g_way
    assign gdn_way[p] = way_at(gdn_in[p].data[10:0], 4'd0, 4'd0);
    assign mdn_way[p] = way_at(mdn_in[p].data[10:0], 4'd0, 4'd0);
  end
  dynamic_router i_gdn_router (
      .clk_i(clk),
      .rst_i(rst),
      .x_i(4'd0),
      .y_i(4'd0),
      .in(gdn_in),
      .out(gdn_out),
      .way_i(gdn_way),
      .way_o(),
      .room_o(),
      .interrupt_o(),
      .words_o(gdn_words)
  );
  dynamic_router i_mdn_router (
      .clk_i(clk),
      .rst_i(rst),
      .x_i(4'd0),
      .y_i(4'd0),
      .in(mdn_in),
      .out(mdn_out),
      .way_i(mdn_way),
      .way_o(),
      .room_o(),
      .interrupt_o(),
      .words_o(mdn_words)
  );
  for (genvar s = 0; s < 3; s++) begin : g_slot
    localparam int Side = s == A ? West : s == B ? East : North;
    // The tile's ends of the links.
    logic [3:0] in_valid, in_room, out_valid, out_room;
    word_t [3:0] in_data, out_data;
    `STREAM_ON(word_t, from_slot[4], clk, rst)
    for (genvar n = 0; n < 4; n++) begin : g_link
      assign from_slot[n].valid = out_valid[n];
      assign from_slot[n].data  = out_data[n];
    end
    `LINK(0, st_in[s], st_out[s])
    `LINK(1, st2_in[s], st2_out[s])
    `LINK(2, gdn_out[Side], gdn_in[Side])
    `LINK(3, mdn_out[Side], mdn_in[Side])
    edge_slot #(
        .DramLatency(Latency),
        .Memory(s != A),  // A can be a linecard only, M a memory only
        .Linecard(s != M)
    ) i_slot (
        .clk_i(clk),
        .rst_i(rst),
        .run_i(run),
        .place_i(Places[s]),
        .boot_req_i(boot_req[s]),
        .boot_write_i(boot_write),
        .boot_addr_i({11'd0, boot_word, 2'b00}),
        .boot_wdata_i(boot_wdata),
        .boot_ack_o(boot_ack[s]),
        .boot_rdata_o(boot_rdata[s]),
        .in_valid_i(in_valid),
        .in_data_i(in_data),
        .in_room_o(in_room),
        .out_valid_o(out_valid),
        .out_data_o(out_data),
        .out_room_i(out_room),
        .out_way_o(),
        .dram_rd_valid_o(rd_valid[s]),
        .dram_rd_addr_o(rd_addr[s]),
        .dram_rd_data_i(rd_data),
        .dram_wr_valid_o(wr_valid[s]),
        .dram_wr_addr_o(wr_addr[s]),
        .dram_wr_data_o(wr_data[s]),
        .dram_wr_be_o(wr_be[s]),
        .wire_in_valid_i(wire_in[s].valid),
        .wire_in_ready_o(wire_in[s].ready),
        .wire_in_data_i(wire_in[s].data.data),
        .wire_in_sop_i(wire_in[s].data.sop),
        .wire_in_eop_i(wire_in[s].data.eop),
        .wire_in_bytes_i(wire_in[s].data.bytes),
        .wire_out_valid_o(wire_out[s].valid),
        .wire_out_ready_i(wire_out[s].ready),
        .wire_out_data_o(wire_out[s].data.data),
        .wire_out_sop_o(wire_out[s].data.sop),
        .wire_out_eop_o(wire_out[s].data.eop),
        .wire_out_bytes_o(wire_out[s].data.bytes)
    );
    `STREAM_SINK(word_t, i_st_out, st_out[s], s == M ? 100 : in_percent)
    assign st2_in[s].valid  = 0;
    assign st2_in[s].data   = '0;
    assign st2_out[s].ready = 1;
  end
  assign mdn_in[Core].valid = 0;
  assign mdn_in[Core].data = '0;
  assign mdn_out[Core].ready = 1;
  assign gdn_in[South].valid = 0;
  assign gdn_in[South].data = '0;
  assign mdn_in[South].valid = 0;
  assign mdn_in[South].data = '0;
  assign gdn_out[South].ready = 1;
  assign mdn_out[South].ready = 1;
  assign st_in[A].valid = 0;
  assign st_in[A].data = '0;
  assign st_in[B].valid = 0;
  assign st_in[B].data = '0;
  assign wire_in[M].valid = 0;
  assign wire_in[M].data = '0;
  assign wire_out[M].ready = 1;
  always @(posedge clk)
    if (!rst)
      `CHECK(!wire_out[M].valid && !wire_in[M].ready && !rd_valid[A] && wr_valid[A] == '0,
             "pins of what a slot is not")

  slot_dram #(
      .Words  (MemWords),
      .Latency(Latency)
  ) i_dram (
      .clk,
      .rst,
      .rd_valid(rd_valid[M]),
      .rd_addr (rd_addr[M]),
      .rd_data,
      .wr_valid(wr_valid[M]),
      .wr_addr (wr_addr[M]),
      .wr_data (wr_data[M]),
      .wr_be   (wr_be[M])
  );
  always @(posedge clk)
    if (!rst)
      `CHECK(!wr_valid[A] && !wr_valid[B] && !rd_valid[A] && !rd_valid[B], "a linecard at a DRAM")

  // Wires: what goes into a linecard has to come out of the other.
  wire_beat_t due[2][$];
  int
      in_percent = 100,
      out_percent = 100,
      frames_out[2],
      now = 0,
      first_out = -1,
      last_out = 0,
      words_out = 0;
  always @(posedge clk) now++;
  `STREAM_SOURCE(wire_beat_t, i_wire_a, wire_in[A], in_percent)
  `STREAM_SOURCE(wire_beat_t, i_wire_b, wire_in[B], in_percent)
  for (genvar c = A; c <= B; c++) begin : g_wire
    `STREAM_SINK(wire_beat_t, i_out, wire_out[c], out_percent)
    always @(posedge clk)
      if (wire_out[c].valid && wire_out[c].ready && !rst) begin
        `CHECK(due[c].size() != 0 && same(wire_out[c].data, due[c][0]),
                   $sformatf("wrong word on wire %0d", c))
        void'(due[c].pop_front());
        if (wire_out[c].data.eop) frames_out[c]++;
        if (c == B) begin
          if (first_out < 0) first_out = now;
          last_out = now;
          words_out++;
        end
      end
  end
  /// Equal in all bytes that belong to the frame.
  function automatic bit same(wire_beat_t x, wire_beat_t y);
    word_t mask;
    mask = '1 << (8 * (4 - int'(y.bytes)));
    return x.sop == y.sop && x.eop == y.eop && x.bytes == y.bytes && ((x.data ^ y.data) & mask) == '0;
  endfunction

  // Words that are in the memory.
  function automatic int stored();
    return i_dram.writes - stored_before;
  endfunction

  // The tile: heads from both cards, over the static network or the GDN; messages to the cards; payload to the memory.
  in_settings_t settings;  // of card A
  bit tile_sets_up = 0;
  word_t st_a[$], st_b[$], message[$];
  word_t out_a[$], out_b[$];  // FrameOut messages
  int stored_b[$];  // words in the memory before a message of out_b may go
  int stored_before = 0, to_store = 0, pass_a = 0, ring = 0, interrupts = 0;
  bit ready_a = 0, ready_b = 0, giving_up = 0, tell_mdn = 0, held_gdn = 0;
  int given_up = 0, message_left = 0;

  `STREAM_SOURCE(word_t, i_gdn_in, gdn_in[Core], 100)
  `STREAM_SINK(word_t, i_gdn_out, gdn_out[Core], 100)
  `STREAM_SOURCE(word_t, i_st_in, st_in[M], 100)
  always @(posedge clk) begin
    if (!rst) begin
      if (st_out[A].valid && st_out[A].ready) begin
        if (pass_a > 0) begin
          i_st_in.queue.push_back(st_out[A].data);
          pass_a--;
        end else begin
          st_a.push_back(st_out[A].data);
          if (st_a.size() == 17 + int'(settings.address)) head_of_a();
        end
      end
      if (st_out[B].valid && st_out[B].ready) begin
        st_b.push_back(st_out[B].data);
        if (st_b.size() == 18) head_of_b();
      end
      if (gdn_out[Core].valid && gdn_out[Core].ready) begin
        if (message_left == 0) begin
          message.delete();
          message_left = int'(gdn_out[Core].data[15:11]) + 1;
        end
        message.push_back(gdn_out[Core].data);
        message_left--;
        if (message_left == 0) begin
          if (message[0][31:27] == FrameHead) begin
            `CHECK(message.size() == 19 && message[0][26:16] == Places[A], "malformed head")
            for (int i = 1; i < 19; i++) st_a.push_back(message[i]);
            head_of_a();
          end else begin
            `CHECK(!tell_mdn && message[0][31:27] == Interrupt && message.size() == 1,
                   "unknown message to the tile")
            interrupts++;
            if (message[0][26:16] == Places[A]) ready_a = 1;
            else ready_b = 1;
          end
        end
      end
      if (mdn_out[Core].valid) begin
        `CHECK(
            tell_mdn && mdn_out[Core].data[31:27] == Interrupt && mdn_out[Core].data[15:11] == '0,
            "unknown message to the tile over the MDN")
        interrupts++;
        if (mdn_out[Core].data[26:16] == Places[A]) ready_a = 1;
        else ready_b = 1;
      end
      if (ready_b && out_b.size() != 0 && stored() >= stored_b[0]) begin
        for (int i = 0; i < 19; i++) begin
          i_gdn_in.queue.push_back(out_b[0]);
          void'(out_b.pop_front());
        end
        void'(stored_b.pop_front());
        ready_b = 0;
      end
      if (ready_a && out_a.size() != 0) begin
        for (int i = 0; i < 19; i++) begin
          i_gdn_in.queue.push_back(out_a[0]);
          void'(out_a.pop_front());
        end
        ready_a = 0;
      end
    end
  end

  /// A head from card A is whole: its payload goes to the memory, its FrameOut to B.
  task automatic head_of_a();
    int bytes, payload;
    word_t address;
    frame_out_t frame;
    if (settings.heads) i_gdn_in.queue.push_back({Interrupt, Tile, 5'd0, Places[A]});
    bytes   = int'(st_a[0][31:16]);
    payload = ((bytes + 5) / 4 > 16 ? (bytes + 5) / 4 : 16) - (settings.early ? 8 : 16);
    pass_a  = settings.heads ? 0 : int'(st_a[0][15:0]);
    void'(st_a.pop_front());
    if (settings.address || settings.heads) begin
      address = st_a[0];
      void'(st_a.pop_front());
    end else begin
      address = word_t'(ring);
      ring = (ring + 2048) % 131072;
      if (payload != 0 && tile_sets_up) begin
        i_gdn_in.queue.push_back({StreamWrite, Tile, 5'd2, Places[M]});
        i_gdn_in.queue.push_back(address);
        i_gdn_in.queue.push_back(word_t'(payload));
      end
    end
    if (settings.payload == PayloadStatic) to_store += payload;
    else if (settings.payload != PayloadHeld) to_store += (payload + 7) / 8 * 8;
    frame = '{
        held: settings.payload == PayloadHeld,
        reserved: '0,
        from : settings.payload == PayloadHeld ? Places[A] : Places[M],
        bytes: 16'(bytes)
    };
    if (giving_up) begin
      i_gdn_in.queue.push_back({FreeBuffer, Tile, 5'd1, Places[A]});
      i_gdn_in.queue.push_back(address);
      for (int i = 0; i < 16; i++) void'(st_a.pop_front());
      given_up++;
      return;
    end
    // Messages are ahead of their head; what the static network brings comes after it.
    stored_b.push_back(settings.payload == PayloadMdn ? 0 : to_store);
    out_b.push_back({FrameOut, Tile, 5'd18, Places[B]});
    out_b.push_back(frame);
    out_b.push_back(address);
    for (int i = 0; i < 16; i++) begin
      out_b.push_back(st_a[0]);
      void'(st_a.pop_front());
    end
  endtask

  /// A head from card B, whose payload stays there, to A.
  task automatic head_of_b();
    frame_out_t frame;
    frame = '{held: 1'b1, reserved: '0, from : Places[B], bytes: st_b[0][31:16]};
    `CHECK(st_b[0][15:0] == '0, "words announced that do not come")
    out_a.push_back({FrameOut, Tile, 5'd18, Places[A]});
    out_a.push_back(frame);
    out_a.push_back(st_b[1]);
    for (int i = 0; i < 16; i++) out_a.push_back(st_b[2+i]);
    st_b.delete();
  endtask

  task automatic send_frame(int card, int bytes, bit lost = 0);
    int words;
    words = (bytes + 5) / 4;
    for (int i = 0; i < words; i++) begin
      wire_beat_t beat;
      beat = '{
          data: $urandom(),
          sop: i == 0,
          eop: i == words - 1,
          bytes: 3'(i == words - 1 ? (bytes + 1) % 4 + 1 : 4)
      };
      if (i == words - 1) beat.data = beat.data & ('1 << (8 * (4 - int'(beat.bytes))));
      if (card == A) i_wire_a.queue.push_back(beat);
      else i_wire_b.queue.push_back(beat);
      if (!lost) due[1-card].push_back(beat);
    end
  endtask

  task automatic access (int slot, bit write, logic [4:0] index, word_t value);
    boot_req   <= 3'(1 << slot);
    boot_write <= write;
    boot_word  <= index;
    boot_wdata <= value;
    @(posedge clk);
    boot_req <= 0;
    do @(posedge clk); while (!boot_ack[slot]);
  endtask

  task automatic set(int slot, logic [4:0] index, word_t value);
    access (slot, 1, index, value);
  endtask

  task automatic counter(int slot, logic [4:0] index, output int value);
    access (slot, 0, index, 0);
    value = int'(boot_rdata[slot]);
  endtask

  task automatic boot(payload_mode_e payload, bit heads, bit by_tile, int reads, bit dma, bit half,
                      bit early = 0);
    mem_settings_t mem;
    out_settings_t out;
    head_places_t  places;
    in_settings_t  of_b;
    of_b = '0;
    of_b.address = 1;
    of_b.payload = PayloadHeld;
    rst <= 1;
    run <= 0;
    to_store = 0;
    stored_before = i_dram.writes;
    pass_a = 0;
    ready_a = 0;
    ready_b = 0;
    tile_sets_up = by_tile;
    repeat (3) @(posedge clk);
    rst <= 0;
    @(posedge clk);
    settings = '0;
    settings.payload = payload;
    settings.heads = heads;
    settings.set_up = payload == PayloadStatic && !by_tile;
    settings.address = !by_tile;
    settings.early = early;
    settings.answer_gdn = held_gdn;
    of_b.answer_gdn = held_gdn;
    settings.memory = Places[M];
    places = '0;
    places.place[1] = '{valid: 1'b1, y: '0, x: '0};
    mem = '0;
    mem.half_duplex = half;
    mem.max_reads = 4'(reads);
    mem.static_in = payload == PayloadLines ? StaticLines : payload == PayloadMasked ? StaticMasked : StaticStream;
    out = '0;
    out.enable = 1;
    out.tell_mdn = tell_mdn;
    out.held_gdn = held_gdn;
    out.tile = Tile;
    out.dma = dma;
    out.words = 5'd31;
    out.max_reads = 4'(reads);
    set(M, SlotKind, SlotMemory);
    set(M, SlotMem, mem);
    for (int card = A; card <= B; card++) begin
      set(card, SlotKind, SlotLinecard);
      set(card, SlotIn, card == A ? settings : of_b);
      set(card, SlotRingBase, 32'h20000);
      set(card, SlotRingBytes, 32'h18000);  // more than is ever on its way
      set(card, SlotHeads, places);
      out.early = early && card == B;  // A gets what B holds
      set(card, SlotOut, out);
    end
    run <= 1;
    @(posedge clk);
  endtask

  task automatic settle();
    for (int i = 0; i < 100_000; i++) begin
      @(posedge clk);
      if (due[A].size() == 0 && due[B].size() == 0 && i_wire_a.queue.size() == 0) break;
    end
    `CHECK(due[A].size() == 0 && due[B].size() == 0,
           $sformatf("words missing: %0d in the west, %0d in the east", due[A].size(),
                     due[B].size()))
    repeat (60) @(posedge clk);
  endtask

  initial begin
    int value, start;
    @(negedge rst);
    for (int mode = 0; mode < 18; mode++) begin
      payload_mode_e payload;
      payload  = payload_mode_e'(mode % 6 == 5 ? 0 : mode % 6);
      tell_mdn = mode % 4 == 1;
      held_gdn = mode % 5 == 4;
      boot(payload, payload == PayloadMdn, mode % 6 == 5, mode < 6 ? 4 : $urandom_range(8, 1),
           mode[0], mode >= 6 && mode[1], mode >= 12 && mode % 6 != 4);

      // Rates, one way, everything open.
      in_percent  = 100;
      out_percent = 100;
      for (int size = 0; size < 2; size++) begin
        words_out = 0;
        first_out = -1;
        start = now;
        for (int i = 0; i < (size == 0 ? 40 : 100); i++) send_frame(A, size == 0 ? 1514 : 60);
        settle();
        if (mode < 6)
          $display(
              "%s%s, %0d bytes: first word after %0d clocks, %.2f words a clock",
              payload.name(),
              mode == 5 ? " (set up by the tile)" : "",
              size == 0 ? 1514 : 60,
              first_out - start,
              real'(words_out) / (last_out - first_out)
          );
        // A head of 16 words needs 19 in a message; lines come with a header.
        if (mode < 6)
          `CHECK(real'(words_out) / (last_out - first_out) > (size == 0 ? 0.7 : 0.25), "too slow")
      end

      // Both ways, all lengths.
      for (int round = 0; round < 4; round++) begin
        in_percent  = round == 0 ? 100 : $urandom_range(100, 30);
        out_percent = round == 0 ? 100 : $urandom_range(100, 30);
        for (int i = 0; i < 30; i++) begin
          int kind;
          kind = $urandom_range(3);
          send_frame(A, kind == 0 ? $urandom_range(62, 50) : kind == 1 ? $urandom_range(140, 60
                     ) : $urandom_range(1514, 60));
          kind = $urandom_range(3);
          send_frame(B, kind == 0 ? $urandom_range(62, 50) : kind == 1 ? $urandom_range(140, 60
                     ) : $urandom_range(1514, 60));
        end
        settle();
      end
      for (int card = A; card <= B; card++) begin
        counter(card, SlotInFrames, value);
        `CHECK(value == (card == A ? 260 : 120), $sformatf("%0d frames in counted", value))
        counter(card, SlotOutFrames, value);
        `CHECK(value == (card == A ? 120 : 260), $sformatf("%0d frames out counted", value))
        counter(card, SlotInBad, value);
        `CHECK(value == 0, "bad frames counted")
        counter(card, SlotOutBad, value);
        `CHECK(value == 0, "bad answers counted")
        counter(card, SlotDropped, value);
        `CHECK(value == 0, "words for other places counted")
      end
    end

    // A card that holds frames: those given up make room, those too long are dropped.
    boot(PayloadHeld, 0, 0, 4, 0, 0);
    giving_up   = 1;
    in_percent  = 100;
    out_percent = 100;
    for (int i = 0; i < 100; i++) send_frame(A, 700, 1);
    send_frame(A, 2100, 1);
    send_frame(A, 2045, 1);
    for (int i = 0; i < 30000 && given_up < 101; i++) @(posedge clk);
    repeat (100) @(posedge clk);
    `CHECK(given_up == 101, $sformatf("%0d of 101 frames came", given_up))
    counter(A, SlotInBad, value);
    `CHECK(value == 1, $sformatf("%0d bad counted, of one frame too long", value))
    giving_up = 0;
    for (int i = 0; i < 60; i++) send_frame(A, 900);
    settle();

    // Messages that are dropped: for another place, of an unknown kind, an answer to no read, a buffer that is not held.
    i_gdn_in.queue.push_back({ReadLine, Tile, 5'd1, 3'd4, 4'd0, 4'd5
                             });  // x = 5: leaves in the east
    i_gdn_in.queue.push_back(0);
    i_gdn_in.queue.push_back({5'd20, Tile, 5'd3, Places[B]});
    for (int i = 0; i < 3; i++) i_gdn_in.queue.push_back(i);
    i_gdn_in.queue.push_back({5'd9, Tile, 5'd2, Places[B]});
    for (int i = 0; i < 2; i++) i_gdn_in.queue.push_back(i);
    i_gdn_in.queue.push_back({FrameOut, Tile, 5'd17, Places[B]});
    for (int i = 0; i < 17; i++) i_gdn_in.queue.push_back(i);
    i_gdn_in.queue.push_back({FreeBuffer, Tile, 5'd1, Places[B]});
    i_gdn_in.queue.push_back(4096);
    repeat (100) @(posedge clk);
    counter(B, SlotDropped, value);
    `CHECK(value == 2, $sformatf("%0d words for other places, not 2", value))
    counter(B, SlotOutBad, value);
    `CHECK(value == 3, $sformatf("%0d bad messages out, not 3", value))
    counter(B, SlotInBad, value);
    `CHECK(value == 1, $sformatf("%0d bad messages in, not 1", value))
    for (int i = 0; i < 5; i++) send_frame(A, 500);
    settle();

    // More frames than fit, without asking: whole frames are dropped, the rest go through.
    out_percent = 0;
    repeat (5) @(posedge clk);
    for (int i = 0; i < 8; i++) begin
      frame_out_t frame;
      wire_beat_t beat;
      frame = '{held: 1'b0, reserved: '0, from : Places[M], bytes: 16'd60};
      i_gdn_in.queue.push_back({FrameOut, Tile, 5'd18, Places[B]});
      i_gdn_in.queue.push_back(frame);
      i_gdn_in.queue.push_back(0);
      for (int j = 0; j < 16; j++) begin
        i_gdn_in.queue.push_back(32'(i * 65536 + j * 4096));
        beat.data  = 32'(i * 65536 + j * 4096);
        beat.sop   = j == 0;
        beat.eop   = j == 15;
        beat.bytes = j == 15 ? 3'd2 : 3'd4;
        if (i < 4) due[B].push_back(beat);
      end
    end
    repeat (400) @(posedge clk);
    out_percent = 100;
    settle();
    counter(B, SlotOutBad, value);
    `CHECK(value == 7, $sformatf("%0d dropped, not 4", value - 3))
    `TB_PASS
  end
endmodule
