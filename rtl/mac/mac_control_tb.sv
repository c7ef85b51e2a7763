// SPDX-License-Identifier: Apache-2.0
`include "parts_tb.svh"
`include "tb.svh"
`include "stream.svh"
/// mac_control_tx and mac_control_rx, one at the other: frames pass whole, in order and none of the control frames among them (or, kept,
/// all); what the far end asks for holds for as long as it asks, is said again, and taken back; every class and PAUSE; other opcodes, bad frames.
module mac_control_tb
  import eth_pkg::*;
  import xgmii_pkg::*;
;
  `TB_BEGIN
  `TB_TIMEOUT(600_000)
  `STREAM_ON(word_beat_t, in, clk, rst)
  `STREAM_ON(word_beat_t, out, clk, rst)
  logic [8:0] stop = '0, paused;
  logic [15:0] quanta = 16'd40;
  logic keep = 0, control, pfc, valid, record_valid, out_record_valid;
  word_beat_t word, sent;
  ptp_time_t now = 0, stamp;
  mac_record_t record, out_record;
  always @(posedge clk) now <= now + 1;
  int unsigned start_percent = 40;
  `FRAME_SOURCE(word_beat_t, i_source, in, start_percent, 100)
  mac_control_tx i_tx (
      .clk_i(clk),
      .rst_i(rst),
      .stop_i(stop),
      .quanta_i(quanta),
      .station_i(48'h060504030202),
      .in,
      .out,
      .control_o(control),
      .pfc_o(pfc)
  );
  // As a MAC takes and gives words: in a frame one a clock, then a gap; the record with the last.
  bit spoil = 0;
  int unsigned gap = 0;
  assign sent = out.data;
  assign out.ready = gap == 0;
  logic line_valid = 0;
  word_beat_t line;
  always @(posedge clk) begin
    if (gap != 0) gap <= gap - 1;
    line_valid <= out.valid && out.ready && !rst;
    line <= sent;
    line.err <= sent.eop && (sent.err || (spoil && control));
    record_valid <= out.valid && out.ready && sent.eop && !rst;
    record <= '0;
    record.hit[Good] <= !(sent.err || (spoil && control));
    if (out.valid && out.ready && sent.eop) gap <= 2 + $urandom_range(2);
  end
  mac_control_rx i_rx (
      .clk_i(clk),
      .rst_i(rst),
      .keep_i(keep),
      .valid_i(line_valid),
      .word_i(line),
      .time_i(now),
      .record_valid_i(record_valid),
      .record_i(record),
      .valid_o(valid),
      .word_o(word),
      .time_o(stamp),
      .record_valid_o(out_record_valid),
      .record_o(out_record),
      .paused_o(paused)
  );

  word_beat_t expected[$];
  int unsigned got = 0, controls = 0, kept = 0;
  int unsigned hits[MacCounters];
  bit own = 0;
  always @(posedge clk) begin
    if (!rst) begin
      if (out.valid && out.ready && sent.sop && control) controls++;
      if (valid) begin
        if (word.sop)
          own = keep && word.data[47:0] == ControlMac && (expected.size() == 0 || word.data != expected[0].data);
        if (own) begin
          if (word.sop) kept++;
        end else begin
          `CHECK(expected.size() != 0 && word == expected.pop_front(), "a wrong word")
          got++;
        end
      end
      if (out_record_valid) for (int i = 0; i < MacCounters; i++) hits[i] += 32'(out_record.hit[i]);
    end
  end
  int unsigned frames = 0;
  task automatic send(int unsigned size, int opcode);
    bytes_t bytes;
    int unsigned queued;
    repeat (size) bytes.push_back(8'($urandom()));
    bytes[0] = 2;
    if (opcode >= 0) begin
      {bytes[0], bytes[1], bytes[2], bytes[3], bytes[4], bytes[5]} = 48'h0180c2000001;
      {bytes[12], bytes[13], bytes[14], bytes[15]} = {16'h8808, 16'(opcode)};
    end
    queued = i_source.queue.size();
    i_source.send(bytes, 0);
    for (int i = 0; i < int'(size + 7) / 8; i++)
      if (opcode < 0 || keep) expected.push_back(i_source.queue[queued+i]);
    frames++;
    while (i_source.queue.size() > 60) @(posedge clk);
  endtask
  task automatic settle();
    for (int patience = 0; i_source.queue.size() != 0 || expected.size() != 0; patience++) begin
      @(posedge clk);
      `CHECK(patience < 4000, "words do not come out")
    end
    repeat (40) @(posedge clk);
  endtask

  initial begin
    int unsigned n;
    longint since;
    @(negedge rst);
    foreach (hits[i]) hits[i] = 0;
    repeat (50) send($urandom_range(200, 60), -1);
    settle();
    `CHECK(controls == 0 && hits[Good] == 50, "control frames unasked for")
    // Any levels, with traffic: the far end comes to know them, and keeps to them as long as they last.
    for (int k = 0; k < 200; k++) begin
      logic [8:0] levels;
      levels = 9'($urandom());
      if (k % 4 == 0) levels = '0;
      stop = levels;
      start_percent = $urandom_range(100, 20);
      repeat (3) send($urandom_range(200, 60), -1);
      repeat (400) @(posedge clk);
      repeat ($urandom_range(
          1200
      )) begin
        @(posedge clk);
        `CHECK(paused == levels, $sformatf("%b, not %b", paused, levels))
      end
    end
    stop = '0;
    settle();
    `CHECK(
        controls > 600 && hits[Pause] + hits[Pfc] == controls && hits[Pause] > 100 && hits[Pfc] > 100,
        $sformatf("%0d control frames", controls))
    `CHECK(paused == '0, "still paused")
    // Said once, by frames that then come no more: as long as they said, to a quantum longer.
    for (int k = 0; k < 20; k++) begin
      quanta = 16'($urandom_range(60, 4));
      stop   = k[0] ? 9'h100 : 9'h0a5;
      wait (paused == stop);
      since = now;
      spoil = 1;
      stop  = '0;
      wait (paused == '0);
      n = 32'(now - since);
      `CHECK(n >= 8 * 32'(quanta) - 3 && n <= 8 * 32'(quanta) + 10, $sformatf(
             "%0d clocks for %0d quanta", n, quanta))
      repeat (40) @(posedge clk);
      spoil = 0;
    end
    // Of other opcodes nothing comes of; kept, all goes on.
    hits[ControlOther] = 0;
    repeat (20) send(60, 16'h0002);
    settle();
    `CHECK(hits[ControlOther] == 20 && paused == '0, "other control frames")
    keep = 1;
    repeat (20) send(60, 16'h0002);
    settle();
    kept   = 0;
    quanta = 16'd60;
    stop   = 9'h100;
    repeat (100) @(posedge clk);
    `CHECK(kept == 1 && paused == 9'h100, $sformatf("kept %0d", kept))
    `TB_PASS
  end
endmodule
