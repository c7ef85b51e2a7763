// SPDX-License-Identifier: Apache-2.0
`include "parts_tb.svh"
`include "tb.svh"
`include "stream.svh"
/// rx_parse (with rx_hash, flow_table, rx_csum and csum_sum): Microsoft's published RSS verification vectors, then random frames of all
/// kinds against a bit-by-bit hash and a word-by-word sum, under back-pressure, and one 64-byte frame a clock.
module rx_parse_tb;
  import eth_pkg::*;
  `TB_BEGIN
  `TB_TIMEOUT(500_000)
  localparam logic [319:0] MsKey =
      320'h6d5a56da255b0ec24167253d43a38fb0d0ca2bcbae7b30b477cb2da38030f20c6a42b73bbeac01fa;

  localparam int Entries = 16;
  // The first published vector, with its ports: where way 1 has it.
  localparam logic [35:0] SteeredHash = 36'h5_51cc_c178;
  localparam int SteeredEntry = Entries / 2 + 32'h51cc % (Entries / 2);
  localparam logic [15:0] SteeredQueue = 16'h4321;
  bit steered = 0;

  logic [319:0] key = MsKey;
  `STREAM_ON(wide_beat_t, in, clk, rst)
  `STREAM_ON(wide_beat_t, out, clk, rst)
  `STREAM_ON(ptp_time_t, stamp, clk, rst)
  `STREAM_ON(rx_info_t, info, clk, rst)
  logic refused;
  reg_if flow_regs ();
  rx_parse #(
      .FlowEntries(Entries),
      .Headers(1)
  ) dut (
      .clk_i(clk),
      .rst_i(rst),
      .strip_i('0),
      .key_i(key),
      .flow_regs,
      .lost_i('0),
      .flow_refused_o(refused),
      .source_o(),
      .frame_in(in),
      .stamp,
      .frame_out(out),
      .info
  );

  // ---- Reference.
  logic [7:0] f[2048];  // the frame being made
  int unsigned len;

  function automatic logic [31:0] toeplitz(int unsigned from, int unsigned bytes,
                                           logic [31:0] start, int unsigned skip);
    logic [319:0] window = key << (8 * skip);
    logic [ 31:0] hash = start;
    for (int i = 0; i < 8 * bytes; i++) begin
      if (f[from+i/8][7-i%8]) hash ^= window[319-:32];
      window <<= 1;
    end
    return hash;
  endfunction

  function automatic logic [35:0] ref_hash();
    int unsigned l3 = 14, l4;
    logic [31:0] hash = 0;
    logic [3:0] kind = 0;
    logic [7:0] protocol;
    bit ports;
    for (int i = 0; i < 2; i++) if ({f[l3-2], f[l3-1]} inside {16'h8100, 16'h88a8}) l3 += 4;
    if ({f[l3-2], f[l3-1]} == 16'h0800 && f[l3][7:4] == 4) begin
      kind = 1;
      hash = toeplitz(l3 + 12, 8, 0, 0);
      l4 = l3 + 20;
      protocol = f[l3+9];
      ports = f[l3][3:0] == 5 && ({f[l3+6], f[l3+7]} & 16'h3fff) == 0;
      if (ports && l4 + 4 <= len && protocol inside {6, 17}) begin
        hash = toeplitz(l4, 4, hash, 8);
        kind |= (protocol == 6) ? 4 : 8;
      end
    end else if ({f[l3-2], f[l3-1]} == 16'h86dd && f[l3][7:4] == 6 && l3 + 40 <= len) begin
      kind = 2;
      hash = toeplitz(l3 + 8, 32, 0, 0);
      l4 = l3 + 40;
      protocol = f[l3+6];
      if (l4 + 4 <= ((len < 64) ? len : 64) && protocol inside {6, 17}) begin
        hash = toeplitz(l4, 4, hash, 32);
        kind |= (protocol == 6) ? 4 : 8;
      end
    end
    return {kind, hash};
  endfunction

  // Of the frame whose hash was looked for last: bytes up to the end of TCP's or UDP's header, in words behind byte 14.
  function automatic header_words_t ref_header(logic [3:0] kind);
    int unsigned l3 = 14, bytes;
    for (int i = 0; i < 2; i++) if ({f[l3-2], f[l3-1]} inside {16'h8100, 16'h88a8}) l3 += 4;
    bytes = l3 + (kind[0] ? 20 : 40);
    if (kind[3:2] == 0) return '0;
    if (kind[2]) begin
      if (f[bytes+12][7:4] < 5) return '0;
      bytes += 4 * int'(f[bytes+12][7:4]);
    end else bytes += 8;
    return bytes > len || bytes > 128 ? '0 : 5'((bytes - 14) / 4);
  endfunction

  function automatic logic [15:0] ref_csum();
    int unsigned sum = 0;
    for (int i = 14; i < len; i += 2) sum += {16'd0, f[i], (i + 1 < len) ? f[i+1] : 8'd0};
    while (sum >> 16 != 0) sum = (sum & 'hffff) + (sum >> 16);
    return 16'(sum);
  endfunction

  // ---- Frames to send and what should come of them.
  wide_beat_t passing[$];
  logic [73:0] results[$];
  ptp_time_t stamps_due[$];
  int unsigned kinds[16], header_lengths[32], frames_out = 0;
  int unsigned in_percent = 100, out_percent = 100, info_percent = 100;
  `FRAME_SOURCE(wide_beat_t, i_frames, in, in_percent, in_percent)
  `STREAM_SOURCE(ptp_time_t, i_stamps, stamp, 100)
  `STREAM_SINK(wide_beat_t, i_out, out, out_percent)
  `STREAM_SINK(rx_info_t, i_info, info, info_percent)

  task automatic send();
    bytes_t bytes;
    ptp_time_t t = {16'($urandom()), $urandom()};
    logic [35:0] h = ref_hash();
    for (int i = 0; i < len; i++) bytes.push_back(f[i]);
    i_frames.send(bytes, $urandom_range(9) == 0);
    results.push_back({
                      ref_header(h[35:32]),
                      steered && h == SteeredHash ? {1'b1, SteeredQueue} : 17'd0,
                      h,
                      ref_csum()
                      });
    header_lengths[ref_header(h[35:32])]++;
    kinds[h[35:32]]++;
    i_stamps.queue.push_back(t);
    stamps_due.push_back(t);
  endtask

  task automatic random_frame(bit short);
    int unsigned l3 = 14, tags = $urandom_range(3);
    len = short ? $urandom_range(64, 60) : $urandom_range(300, 60);
    if ($urandom_range(40) == 0 && !short) len = $urandom_range(2000, 300);
    foreach (f[i]) f[i] = (i < len) ? 8'($urandom()) : 8'd0;
    if ($urandom_range(20) == 0) foreach (f[i]) f[i] = '1;
    if (tags == 3) tags = 0;
    repeat (tags) begin
      {f[l3-2], f[l3-1]} = ($urandom_range(1) == 0) ? 16'h8100 : 16'h88a8;
      l3 += 4;
    end
    case ($urandom_range(
        9
    ))
      0: {f[l3-2], f[l3-1]} = 16'h0806;
      1, 2, 3, 4: begin
        {f[l3-2], f[l3-1]} = 16'h0800;
        f[l3] = ($urandom_range(5) == 0) ? 8'($urandom()) : 8'h45;
        {f[l3+6], f[l3+7]} = ($urandom_range(2) == 0) ? 16'(1 << $urandom_range(15)) : 16'h4000;
        f[l3+9] = ($urandom_range(1) == 0) ?
            8'd6 : ($urandom_range(1) == 0) ? 8'd17 : 8'($urandom());
      end
      default: begin
        {f[l3-2], f[l3-1]} = 16'h86dd;
        f[l3] = ($urandom_range(9) == 0) ? 8'($urandom()) : 8'h60;
        f[l3+6] = ($urandom_range(1) == 0) ?
            8'd6 : ($urandom_range(1) == 0) ? 8'd17 : 8'($urandom());
      end
    endcase
    send();
  endtask

  /// A published vector: its hash with and without ports must be what the reference says as well.
  task automatic vector4(logic [31:0] src, logic [31:0] dst, logic [15:0] sport, logic [15:0] dport,
                         logic [31:0] plain, logic [31:0] tcp);
    foreach (f[i]) f[i] = 0;
    len = 60;
    {f[12], f[13], f[14]} = 24'h080045;
    {f[26], f[27], f[28], f[29]} = src;
    {f[30], f[31], f[32], f[33]} = dst;
    {f[34], f[35], f[36], f[37]} = {sport, dport};
    f[23] = 8'd1;
    `CHECK(ref_hash() == {4'd1, plain}, "reference, IPv4")
    send();
    f[23] = 8'd6;
    `CHECK(ref_hash() == {4'd5, tcp}, "reference, IPv4 TCP")
    send();
  endtask

  task automatic vector6(logic [127:0] src, logic [127:0] dst, logic [15:0] sport,
                         logic [15:0] dport, logic [31:0] plain, logic [31:0] tcp);
    foreach (f[i]) f[i] = 0;
    len = 74;
    {f[12], f[13], f[14]} = 24'h86dd60;
    for (int i = 0; i < 16; i++) {f[22+i], f[38+i]} = {src[127-8*i-:8], dst[127-8*i-:8]};
    {f[54], f[55], f[56], f[57]} = {sport, dport};
    f[20] = 8'd59;
    `CHECK(ref_hash() == {4'd2, plain}, "reference, IPv6")
    send();
    f[20] = 8'd6;
    `CHECK(ref_hash() == {4'd6, tcp}, "reference, IPv6 TCP")
    send();
  endtask

  always @(posedge clk) begin
    if (!rst) begin
      if (in.valid && in.ready) passing.push_back(in.data);
      if (out.valid && out.ready) begin
        `CHECK(passing.size() != 0 && out.data == passing.pop_front(), "frame changed")
      end
      if (info.valid && info.ready) begin
        // No queue is named where none is.
        flow_queue_t steered_to;
        steered_to = info.data.steered.hit ? info.data.steered : '0;
        `CHECK(results.size() != 0, "info without a frame")
        `CHECK(info.data.stamp == stamps_due.pop_front(), "wrong stamp")
        `CHECK(
            {info.data.header, steered_to, info.data.hash_type, info.data.hash, info.data.csum} == results[0],
            $sformatf("%h %h %h %h %h instead of %h", info.data.header, steered_to,
                      info.data.hash_type, info.data.hash, info.data.csum, results[0]))
        steers += 32'(info.data.steered.hit);
        void'(results.pop_front());
        frames_out++;
      end
    end
  end

  task automatic drain();
    while (i_frames.queue.size() != 0) @(posedge clk);
    {in_percent, out_percent, info_percent} = {3{32'd100}};
    repeat (100) @(posedge clk);
    `CHECK(results.size() == 0 && passing.size() == 0, "frames were lost")
  endtask

  `REG_MASTER(24, i_flows, flow_regs)
  int unsigned steers = 0;
  task automatic vectors();
    vector4({8'd66, 8'd9, 8'd149, 8'd187}, {8'd161, 8'd142, 8'd100, 8'd80}, 2794, 1766, 'h323e8fc2,
            'h51ccc178);
    vector4({8'd199, 8'd92, 8'd111, 8'd2}, {8'd65, 8'd69, 8'd140, 8'd83}, 14230, 4739, 'hd718262a,
            'hc626b0ea);
    vector4({8'd24, 8'd19, 8'd198, 8'd95}, {8'd12, 8'd22, 8'd207, 8'd184}, 12898, 38024, 'hd2d0a5de,
            'h5c2b394a);
    vector4({8'd38, 8'd27, 8'd205, 8'd30}, {8'd209, 8'd142, 8'd163, 8'd6}, 48228, 2217, 'h82989176,
            'hafc7327f);
    vector4({8'd153, 8'd39, 8'd163, 8'd191}, {8'd202, 8'd188, 8'd127, 8'd2}, 44251, 1303,
            'h5d1809c5, 'h10e828a2);
    vector6(128'h3ffe_2501_0200_1fff_0000_0000_0000_0007,
            128'h3ffe_2501_0200_0003_0000_0000_0000_0001, 2794, 1766, 'h2cc18cd5, 'h40207d3d);
    vector6(128'h3ffe_0501_0008_0000_0260_97ff_fe40_efab,
            128'hff02_0000_0000_0000_0000_0000_0000_0001, 14230, 4739, 'h0f0c461c, 'hdde51bbf);
    vector6(128'h3ffe_1900_4545_0003_0200_f8ff_fe21_67cf,
            128'hfe80_0000_0000_0000_0200_f8ff_fe21_67cf, 44251, 38024, 'h4b61e985, 'h02d1feef);
    drain();
  endtask

  initial begin
    int unsigned start;
    steered = 0;
    @(negedge rst);
    vectors();
    `CHECK(steers == 0, "a flow is steered that nobody named")
    i_flows.access(1, 24'h0, {8'd66, 8'd9, 8'd149, 8'd187}, '1);
    i_flows.access(1, 24'h4, {8'd161, 8'd142, 8'd100, 8'd80}, '1);
    i_flows.access(1, 24'h8, {16'd2794, 16'd1766}, '1);
    for (int i = 3; i < 9; i++) i_flows.access(1, 24'(4 * i), 0, '1);
    i_flows.access(1, 24'h24, {1'b1, 11'd0, 4'd5, SteeredQueue}, '1);
    i_flows.access(1, 24'h28, 32'(SteeredEntry), '1);
    steered = 1;
    vectors();
    `CHECK(steers == 1 && !refused, "the flow that was named, and it alone")

    // One frame a clock.
    repeat (2200) random_frame(1);
    repeat (50) @(posedge clk);
    start = frames_out;
    repeat (2000) @(posedge clk);
    $display("%0d frames in 2000 clocks", frames_out - start);
    `CHECK(frames_out - start >= 1990, "less than one frame a clock")
    drain();

    for (int round = 0; round < 40; round++) begin
      for (int i = 0; i < 10; i++) key[32*i+:32] = $urandom();
      repeat (100) random_frame($urandom_range(3) == 0);
      in_percent   = $urandom_range(100, 30);
      out_percent  = $urandom_range(100, 30);
      info_percent = $urandom_range(100, 10);
      drain();
    end
    foreach (kinds[i])
    if (i inside {0, 1, 2, 5, 6, 9, 10}) `CHECK(kinds[i] > 50, "a kind of frame is missing")
    // IPv4 with UDP, with TCP without options and with all there can be behind two tags, IPv6 with TCP.
    foreach (header_lengths[i])
    if (i inside {0, 7, 10, 12, 15, [20 : 22], 25, 26})
      `CHECK(header_lengths[i] > 3, $sformatf("headers of %0d words are missing", i))
    `TB_PASS
  end
endmodule
