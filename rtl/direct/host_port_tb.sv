// SPDX-License-Identifier: Apache-2.0
`include "parts_tb.svh"
`include "tb.svh"
`include "stream.svh"
/// host_port between queues of frames and the MAC side of a port (cmac_rx, cmac_tx): frames of all lengths both ways, byte for
/// byte, each with its class; the lowest class first; a frame given up by the port leaves no trace; back-pressure, resets in
/// the middle; a word a clock to the port, seven of eight from it.
module host_port_tb;
  import direct_pkg::*;
  import eth_pkg::*;
  import cmac_pkg::*;
  `TB_BEGIN
  `TB_TIMEOUT(400_000)
  localparam int Classes = 3;
  localparam int Longest = 1600;
  logic reset_again = 0;
  wire  any_rst = rst || reset_again;
  `STREAM_ON(stored_word_t, in[Classes], clk, any_rst)
  `STREAM_ON(stored_word_t, out, clk, any_rst)
  `STREAM_ON(wide_beat_t, to_host, clk, any_rst)
  `STREAM_ON(wide_beat_t, from_host, clk, any_rst)
  `STREAM_ON(ptp_time_t, rx_stamp, clk, any_rst)
  `STREAM_ON(ptp_time_t, tx_stamp, clk, any_rst)
  cmac_out_t to_mac;
  cmac_in_t  from_mac;
  logic unused_to, unused_from;
  host_port #(
      .Classes(Classes),
      .Bytes  (4096),
      .Longest(Longest)
  ) dut (
      .clk_i(clk),
      .rst_i(any_rst),
      .in,
      .out,
      .port_i(to_mac),
      .port_o(from_mac),
      .to_host_o(unused_to),
      .from_host_o(unused_from)
  );
  mac_rx_count_t count;
  cmac_rx i_rx (
      .mac_clk_i(clk),
      .mac_rst_i(any_rst),
      .rx_i(from_mac.rx),
      .rx_stamp_i(from_mac.rx_ptp_tstamp),
      .timer_o(),
      .clk_i(clk),
      .rst_i(any_rst),
      .time_i('0),
      .max_frame_i(14'(Longest)),
      .frame(to_host),
      .stamp(rx_stamp),
      .count_o(count)
  );
  cmac_tx i_tx (
      .clk_i(clk),
      .rst_i(any_rst),
      .time_i('0),
      .frame(from_host),
      .stamp(tx_stamp),
      .mac_clk_i(clk),
      .mac_rst_i(any_rst),
      .tx_tready_i(from_mac.tx_tready),
      .tstamp_valid_i(1'b0),
      .tstamp_tag_i('0),
      .tstamp_i('0),
      .tx_o(to_mac.tx),
      .op_o(),
      .tag_o(),
      .timer_o()
  );

  // ---- to the host: the words of a class, and the frames that come in that class.
  int unsigned percent = 100, came = 0, beats = 0, late = 0;
  // A frame to the host is its number, then bytes that follow from it.
  int unsigned lengths[$], classes[$], next[Classes], waiting[Classes];
  function automatic logic [7:0] byte_of(int unsigned frame, int unsigned at);
    return at < 4 ? 8'(frame >> 8 * at) : 8'(frame * 31 + at * 7 + (at >> 8));
  endfunction
  `STREAM_SOURCE(stored_word_t, i_high, in[0], percent)
  `STREAM_SOURCE(stored_word_t, i_middle, in[1], percent)
  `STREAM_SOURCE(stored_word_t, i_low, in[2], percent)
  function automatic void put(int c, stored_word_t w);
    case (c)
      0: i_high.queue.push_back(w);
      1: i_middle.queue.push_back(w);
      default: i_low.queue.push_back(w);
    endcase
  endfunction
  function automatic bytes_t random_bytes(int unsigned length);
    for (int i = 0; i < length; i++) random_bytes.push_back(8'($urandom()));
  endfunction
  function automatic int unsigned random_length();
    return $urandom_range(3) == 0 ? $urandom_range(Longest, 60) : $urandom_range(140, 60);
  endfunction
  function automatic stored_word_t header_of(int c, int length);
    packet_header_t header;
    header = '0;
    header.kind = Packet;
    header.cls = route_pkg::class_t'(c);
    header.bytes = 16'(length);
    header_of = '{data: header, last: 1'b0};
  endfunction
  function automatic void offer(int c, int length);
    int unsigned frame = lengths.size();
    lengths.push_back(length);
    classes.push_back(c);
    put(c, header_of(c, length));
    for (int at = 0; at < length; at += 8) begin
      stored_word_t w;
      for (int i = 0; i < 8; i++)
      w.data[8*i+:8] = at + i < length ? byte_of(frame, at + i) : 8'($urandom());
      w.last = at + 8 >= length;
      put(c, w);
    end
    waiting[c]++;
  endfunction

  int unsigned got = 0, frame, ends[$];
  ptp_time_t stamps[$];
  wire wide_beat_t beat = to_host.data;
  assign to_host.ready  = 1'b1;
  assign rx_stamp.ready = 1'b1;
  always @(posedge clk)
    if (any_rst) begin
      got = 0;
      stamps = {};
      ends = {};
      for (int c = 0; c < Classes; c++) waiting[c] = 0;
    end else begin
      if (rx_stamp.valid) stamps.push_back(rx_stamp.data);
      if (to_host.valid) begin
        if (got == 0) frame = beat.data[31:0];
        `CHECK(frame < lengths.size(), "a frame that was not sent")
        for (int i = 0; i < 32'(beat.len); i++)
          `CHECK(beat.data[8*i+:8] == byte_of(frame, got + i),
                 "a byte came otherwise than it was sent")
        got += 32'(beat.len);
        beats++;
        if (beat.eop) begin
          `CHECK(!beat.err && got == lengths[frame],
                 "a frame came with an error, or longer or shorter")
          ends.push_back(frame);
          got = 0;
        end
      end
      // A frame's stamp may come behind it.
      if (ends.size() != 0 && stamps.size() != 0) begin
        automatic int unsigned c = 32'(stamps.pop_front());
        automatic int unsigned f = ends.pop_front();
        `CHECK(c == classes[f], "a frame of another class than it was sent in")
        `CHECK(f >= next[c], "frames of a class out of order")
        next[c] = f + 1;
        waiting[c]--;
        came++;
      end
      if (count.fifo_full || count.runt || count.oversize || count.bad_fcs) late++;
    end

  // ---- from the host.
  int unsigned host_percent = 100, take_percent = 100, words = 0;
  stored_word_t sent[$];
  `FRAME_SOURCE(wide_beat_t, i_from, from_host, host_percent, 100)
  assign tx_stamp.ready = 1'b1;
  always @(posedge clk) begin
    automatic stored_word_t w = out.data;
    if (out.valid && out.ready && !any_rst) begin
      words++;
      `CHECK(sent.size() != 0 && w.last == sent[0].last, "words that were not sent")
      // What lies behind the end of a frame is anything.
      for (int i = 0; i < 8; i++)
      if (mask[0][i]) `CHECK(w.data[8*i+:8] == sent[0].data[8*i+:8], "a word came otherwise")
      void'(sent.pop_front());
      void'(mask.pop_front());
    end
    out.ready <= !any_rst && $urandom_range(99) < take_percent;
  end
  logic [7:0] mask[$];
  function automatic void send(bytes_t bytes, bit bad);
    i_from.send(bytes, bad);
    if (bad) return;
    sent.push_back(header_of(0, bytes.size()));
    mask.push_back('1);
    for (int at = 0; at < bytes.size(); at += 8) begin
      stored_word_t w = '0;
      logic [7:0] here = '0;
      for (int i = 0; i < 8 && at + i < bytes.size(); i++) begin
        w.data[8*i+:8] = bytes[at+i];
        here[i] = 1;
      end
      w.last = at + 8 >= bytes.size();
      sent.push_back(w);
      mask.push_back(here);
    end
  endfunction

  task automatic clear();
    i_high.queue = {};
    i_middle.queue = {};
    i_low.queue = {};
    i_from.queue = {};
    sent = {};
    mask = {};
  endtask
  task automatic drain();
    int unsigned patience = 20_000;
    bit busy = 1;
    while (busy) begin
      @(posedge clk);
      busy = sent.size() != 0 || i_from.queue.size() != 0;
      for (int c = 0; c < Classes; c++) busy |= waiting[c] != 0;
      patience--;
      if (patience == 0)
        $fatal(
            1,
            "FAIL: frames that never come: %p to the host, %0d words from it, %0d beats",
            waiting,
            sent.size(),
            i_from.queue.size()
        );
    end
    repeat (50) @(posedge clk);
  endtask

  initial begin
    int unsigned from, all;
    clear();
    reset_again = 1;  // cmac_rx wants 16 clocks
    lengths = {};
    classes = {};
    next = '{default: 0};
    @(negedge rst);
    repeat (20) @(posedge clk);
    clear();
    reset_again <= 0;
    repeat (2) @(posedge clk);
    for (int round = 0; round < 12; round++) begin
      percent = $urandom_range(100, 30);
      host_percent = $urandom_range(100, 20);
      take_percent = $urandom_range(100, 20);
      for (int i = 0; i < 60; i++) begin
        offer($urandom_range(Classes - 1), round == 0 ? 60 + i : random_length());
        send(random_bytes(round == 0 ? 60 + i : random_length()), $urandom_range(9) == 0);
      end
      drain();
      if (round % 4 == 3) begin  // in the middle of everything
        for (int i = 0; i < 20; i++) begin
          offer($urandom_range(Classes - 1), random_length());
          send(random_bytes(random_length()), 0);
        end
        repeat ($urandom_range(200, 20)) @(posedge clk);
        reset_again <= 1;
        clear();
        repeat (20) @(posedge clk);
        clear();
        reset_again <= 0;
        repeat (5) @(posedge clk);
      end
    end
    // Class 0 goes first at each frame: what it has waits for one frame of another class at the most.
    percent = 100;
    for (int i = 0; i < 30; i++) begin
      offer(2, 1000);
      offer(0, 1000);
    end
    while (waiting[0] != 0) @(posedge clk);
    `CHECK(waiting[2] >= 28, "a lower class went before class 0")
    drain();
    // Throughput: words to the port, and from it.
    for (int i = 0; i < 40; i++) begin
      offer(1, 512);
      send(random_bytes(512), 0);
    end
    host_percent = 100;
    take_percent = 100;
    from = words;
    for (all = 0; waiting[1] != 0; all++) @(posedge clk);
    `CHECK(all <= 40 * 65 + 30, "less than a word a clock to the port")
    while (sent.size() != 0) begin
      @(posedge clk);
      all++;
    end
    `CHECK(words - from == 40 * 65 && all <= 40 * 70,
           "less than a frame of 65 words in 70 clocks from the port")
    drain();
    `CHECK(came > 700 && late == 0, "frames lost on the way to the host")
    `TB_PASS
  end
  wire unused = &{1'b0, unused_to, unused_from, tx_stamp.valid, tx_stamp.data, to_mac.tx_reset};
endmodule
