// SPDX-License-Identifier: Apache-2.0
`include "parts_tb.svh"
`include "tb.svh"
`include "stream.svh"
/// line_in, with all settings at random: what leaves on each network is, word for word, what a model says of each frame (head with
/// its tiles, announcement, set-up, payload in its form, ring addresses); a head follows its payload's confirmation when that
/// goes ahead of it; no more heads are on their way than there are credits; held frames make room when they are given up;
/// three clocks a frame are lost.
module line_in_tb;
  import mesh_pkg::*;
  `TB_BEGIN
  `TB_TIMEOUT(3_000_000)
  localparam place_t Here = '{exit: 3'd4, y: 4'd2, x: 4'd0};
  localparam place_t Memory = '{exit: 3'd2, y: 4'd1, x: 4'd3};
  localparam int Window = 6, RingBase = 32'h20000, RingBytes = 32'h4000, SlotWords = 512;

  `STREAM_ON(wire_beat_t, wire_in, clk, rst)
  `STREAM_ON(word_t, buffer_in, clk, rst)
  `STREAM_ON(word_t, answers, clk, rst)
  `STREAM_ON(word_t, out[3], clk, rst)  // line_to_e
  in_settings_t settings;
  head_places_t places;
  logic written = 0, credit = 0;
  word_t frames, bad;
  line_in #(
      .SlotWords(SlotWords),
      .Window(Window)
  ) dut (
      .clk_i(clk),
      .rst_i(rst),
      .place_i(Here),
      .settings_i(settings),
      .heads_i(places),
      .ring_base_i(RingBase),
      .ring_bytes_i(RingBytes),
      .wire_in,
      .written_i(written),
      .credit_i(credit),
      .buffer_in,
      .answers,
      .heads(out[ToHeads]),
      .mdn_out(out[ToMdn]),
      .st_out(out[ToStatic]),
      .frames_o(frames),
      .bad_o(bad)
  );
  assign answers.ready = 1'b1;

  // ---- The model: what is due on each network
  typedef struct packed {
    word_t word;
    logic  held;    // a place in the buffer is added to it
    logic  free;    // the head is through: that place is given up
    logic  starts;  // the head of a frame
    logic  ends;    // the last word of a payload that is confirmed
    int    after;   // so many confirmations
  } due_t;
  due_t due_st[$], due_heads[$], due_mdn[$];
  word_t ring;
  int payloads;  // that are confirmed
  function automatic int waiting(int network);
    return network == int'(ToStatic) ? due_st.size() : network == int'(ToHeads) ? due_heads.size() : due_mdn.size();
  endfunction
  function automatic void expect_word(line_to_e to, word_t word, bit held = 0, bit free = 0,
                                      bit starts = 0, bit ends = 0);
    due_t x;
    x = '{word: word, held: held, free: free, starts: starts, ends: ends, after: payloads};
    case (to)
      ToStatic: due_st.push_back(x);
      ToHeads:  due_heads.push_back(x);
      default:  due_mdn.push_back(x);
    endcase
  endfunction

  function automatic void expect_payload(word_t words[$], int first, int last, word_t address);
    payload_form_t form;
    line_to_e to;
    form = payload_form(settings.payload);
    to   = form.by_mdn ? ToMdn : ToStatic;
    for (int i = first; i < (form.lines ? (last + 7) / 8 * 8 : last); i++) begin
      if (form.lines && i % 8 == 0) begin
        word_t mask;
        mask = '0;
        for (int j = 0; j < 8; j++) if (i + j < words.size()) mask[4*j+:4] = '1;
        if (form.by_mdn)
          expect_word(to, {i + 8 >= last ? WriteLast : WriteLine, Here, 5'd9, Memory});
        expect_word(to, address + 4 * (i - first));
        if (form.mask) expect_word(to, mask);
      end
      expect_word(to, i < words.size() ? words[i] : '0,
                  .ends(form.by_mdn && i == (last + 7) / 8 * 8 - 1));
    end
    if (form.by_mdn && last > first) payloads++;
  endfunction

  function automatic int last_place();
    for (int p = 0; p < 3; p++) if (places.place[p].valid) last_place = p;
  endfunction

  function automatic void expect_frame(word_t words[$], int bytes);
    payload_form_t form;
    int first, last, lines, follow;
    word_t address;
    line_to_e to;
    bit begun;
    form = payload_form(settings.payload);
    to = settings.heads ? ToHeads : ToStatic;
    first = settings.early ? 8 : 16;
    last = words.size() < 16 ? 16 : words.size();
    lines = (last - first + 7) / 8;
    if (ring + 32 * lines > RingBytes) ring = 0;
    address = form.leaves ? RingBase + ring : 64;
    if (form.leaves) ring += 32 * lines;
    follow = !form.leaves || form.by_mdn ? 0 : !form.lines ? last - first : lines * (9 + int'(form.mask));
    if (lines != 0 && settings.announce)
      expect_word(ToHeads, {Interrupt, Here, 5'd0, Core, places.place[0].y, places.place[0].x});
    if (lines != 0 && settings.set_up) begin
      expect_word(ToMdn, {StreamWrite, Here, 5'd2, Memory});
      expect_word(ToMdn, address);
      expect_word(ToMdn, last - first);
    end
    if (form.by_mdn) expect_payload(words, first, last, address);
    begun = 0;
    for (int p = 0; p < (settings.heads ? 3 : 1); p++) begin
      if (settings.heads && !places.place[p].valid) continue;
      if (settings.heads)
        expect_word(to, {FrameHead, Here, 5'd18, Core, places.place[p].y, places.place[p].x},
                    .starts(!begun));
      expect_word(to, {16'(bytes), 16'(follow)}, .starts(!begun && !settings.heads));
      if (settings.address || settings.heads) expect_word(to, address, .held(!form.leaves));
      for (int i = 0; i < 16; i++)
      expect_word(
          to, i < words.size() ? words[i] : '0,
          .free(!form.leaves && lines != 0 && i == 15 && (!settings.heads || p == last_place())));
      begun = 1;
    end
    if (form.leaves && !form.by_mdn) expect_payload(words, first, last, address);
  endfunction

  // ---- The other ends
  word_t place_at;
  int out_percent = 100, too_long, heads_out, credits, writes, confirms, now, last_out;
  `STREAM_SOURCE(wire_beat_t, i_wire, wire_in, 100)
  `STREAM_SOURCE(word_t, i_messages, buffer_in, 100)
  for (genvar n = 0; n < 3; n++) begin : g_out
    `STREAM_SINK(word_t, i_out, out[n], out_percent)
    always @(posedge clk) begin
      if (!rst && out[n].valid && out[n].ready) begin
        due_t x;
        `CHECK(waiting(n) != 0, $sformatf("network %0d: a word that is not due", n))
        case (n)
          ToStatic: x = due_st.pop_front();
          ToHeads:  x = due_heads.pop_front();
          default:  x = due_mdn.pop_front();
        endcase
        `CHECK((out[n].data & (x.held ? ~32'hf800 : '1)) == x.word,
               $sformatf("network %0d: %h, not %h", n, out[n].data, x.word))
        if (x.held) place_at = out[n].data;
        if (x.free) begin
          i_messages.queue.push_back({FreeBuffer, Here, 5'd1, Here});
          i_messages.queue.push_back(place_at);
        end
        heads_out += int'(x.starts);
        if (x.starts && settings.heads)
          `CHECK(heads_out - credits <= Window, "more heads on their way than credits")
        if (x.starts) `CHECK(confirms >= x.after, "a head before its payload is confirmed")
        writes += int'(x.ends);
        last_out = now;
      end
    end
  end
  always @(posedge clk) begin
    now++;
    written <= 0;
    credit  <= 0;
    if (!rst) begin
      if (confirms < writes && $urandom_range(7) == 0) begin
        written <= 1;
        confirms++;
      end
      if (settings.heads && credits < heads_out && $urandom_range(31) == 0) begin
        credit <= 1;
        credits++;
      end
    end
  end

  task automatic send_frame(int bytes);
    word_t words[$];
    int count;
    count = (bytes + 5) / 4;
    for (int i = 0; i < count; i++) begin
      wire_beat_t beat;
      beat = '{data: $urandom(), sop: i == 0, eop: i == count - 1, bytes: 3'd4};
      if (beat.eop) beat.bytes = 3'((bytes + 1) % 4 + 1);
      words.push_back(beat.data);
      i_wire.queue.push_back(beat);
    end
    if (count > SlotWords) too_long++;
    else expect_frame(words, bytes);
  endtask

  // Also while words are on their way, and for no longer than a clock.
  task automatic boot();
    rst <= 1;
    i_wire.queue.delete();
    i_messages.queue.delete();
    due_st.delete();
    due_heads.delete();
    due_mdn.delete();
    too_long = 0;
    ring = 0;
    payloads = 0;
    heads_out = 0;
    credits = 0;
    writes = 0;
    confirms = 0;
    repeat ($urandom_range(3, 1)) @(posedge clk);
    rst <= 0;
    @(posedge clk);
  endtask

  task automatic settle();
    for (int i = 0; i < 50_000; i++) begin
      @(posedge clk);
      if (waiting(0) + waiting(1) + waiting(2) == 0) break;
    end
    `CHECK(waiting(0) + waiting(1) + waiting(2) == 0, $sformatf("missing: %0d, %0d, %0d", waiting(0
                                                                ), waiting(1), waiting(2)))
    repeat (40) @(posedge clk);
    `CHECK(
        32'(dut.i_buffer.i_free_slots.count_o) + dut.Slots - 32'(dut.i_buffer.fresh_q) + 32'(dut.i_buffer.filling_q) == dut.Slots,
        "a place is lost")
  endtask

  initial begin
    automatic int start;
    @(negedge rst);
    for (int round = 0; round < 80; round++) begin
      settings = '0;
      settings.payload = payload_mode_e'(round % 5);
      settings.heads = 1'($urandom());
      settings.announce = 1'($urandom());
      settings.set_up = 1'($urandom()) && settings.payload != PayloadHeld;
      settings.address = 1'($urandom()) || settings.payload == PayloadHeld;
      settings.early = 1'($urandom()) && settings.payload != PayloadHeld;
      settings.memory = Memory;
      places = '0;
      for (int p = 0; p < 3; p++)
      places.place[p] = '{
          valid: p == round % 3 || 1'($urandom()),
          y: 4'($urandom()),
          x: 4'($urandom())
      };
      out_percent = round % 2 == 0 ? 100 : $urandom_range(100, 30);
      boot();
      for (int i = 0; i < 3; i++) send_frame($urandom_range(1514, 60));
      repeat ($urandom_range(1000)) @(posedge clk);
      boot();
      for (int i = 0; i < 60; i++) begin
        if ($urandom_range(20) == 0) send_frame($urandom_range(4 * SlotWords + 9, 4 * SlotWords));
        case ($urandom_range(
            2
        ))
          0: send_frame($urandom_range(70, 14));
          1: send_frame($urandom_range(200, 60));
          default: send_frame($urandom_range(1514, 60));
        endcase
      end
      send_frame(2046);  // as long as a place
      settle();
      `CHECK(frames == 61 && bad == too_long, $sformatf(
             "%0d frames and %0d bad ones counted", frames, bad))
    end

    // Nothing is lost between words, three clocks between frames.
    settings = '0;
    settings.memory = Memory;
    out_percent = 100;
    boot();
    for (int i = 0; i < 30; i++) send_frame(500);
    while (last_out == 0 || waiting(0) == 30 * 127) @(posedge clk);
    start = now;
    settle();
    `CHECK(last_out - start <= 30 * (127 + 3) + 4, $sformatf("%0d clocks", last_out - start))
    `TB_PASS
  end
endmodule
