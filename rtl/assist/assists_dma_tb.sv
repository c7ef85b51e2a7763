// SPDX-License-Identifier: Apache-2.0
`include "assists_rig_tb.svh"
/// dma_read_assist and dma_write_assist in core-nic's surroundings (assists_rig): random commands of all lengths and alignments, refused ones,
/// the end of the scratchpad; reads that the host refuses, with what mac_tx_assist makes of frames that have a part of them.
module assists_dma_tb;
  `TB_BEGIN
  `TB_TIMEOUT(200_000)
  assists_rig rig (.rst);

  // A random command whose destination is new: read or write moves on by its length and a gap.
  int unsigned next_host, next_frame, next_scratch;
  function automatic dma_command_t random_command(int unsigned a);
    dma_command_t c;
    int unsigned  gap;
    c.kind = $urandom_range(9) == 0 ? 2 : $urandom_range(2) == 0 ? 1 : 0;
    c.irq  = $urandom_range(3) == 0;
    case ($urandom_range(
        5
    ))
      0: c.len = $urandom_range(2048, 1);
      1: c.len = $urandom_range(2048, 2030);
      2: c.len = 42;
      default: c.len = $urandom_range(140, 1);
    endcase
    gap = $urandom_range(20);
    c.host_at = $urandom_range(rig.HostBytes - 4096);
    if (c.kind == 1) begin
      if (c.len > 500) c.len = $urandom_range(500, 1);
      c.local_at = $urandom_range('h30000 - 4096);
    end else c.local_at = $urandom_range(rig.FrameBytes - 4096);
    if (a == 0) begin
      if (c.kind == 1) begin
        c.local_at = next_scratch + gap;
        next_scratch += gap + c.len;
        if (next_scratch > 'h2f000) c.kind = 2;
      end else if (c.kind == 0) begin
        c.local_at = next_frame + gap;
        next_frame += gap + c.len;
      end
    end else if (c.kind != 2) begin
      c.host_at = next_host + gap;
      next_host += gap + c.len;
    end
    for (int unsigned i = 0; i < c.len; i++) begin
      if (a == 0 && c.kind == 1) rig.want_scratch[c.local_at+i] = rig.want_host[c.host_at+i];
      if (a == 0 && c.kind == 0) rig.want_frame[c.local_at+i] = rig.want_host[c.host_at+i];
      if (a == 1 && c.kind != 2)
        rig.want_host[c.host_at+i] = c.kind == 1 ? rig.want_scratch[c.local_at+i] : rig.want_frame[c.local_at+i];
    end
    if (c.kind == 2 && $urandom_range(1) == 0) c.len = $urandom_range(1) == 0 ? 0 : 2049;
    return c;
  endfunction
  task automatic random_dma(int unsigned a, int unsigned n);
    next_host = 0;
    next_frame = 0;
    next_scratch = 0;
    for (int unsigned i = 0; i < n; i++) begin
      while (rig.producer[a] - rig.progress[a] >= rig.Ring - 4) @(posedge rig.cclk);
      repeat ($urandom_range(3) == 0 ? $urandom_range(60) : 0) @(posedge rig.cclk);
      rig.give(a, random_command(a));
    end
    while (rig.progress[a] != rig.producer[a]) @(posedge rig.cclk);
    rig.compare();
  endtask

  initial begin
    int unsigned errors;
    @(negedge rst);
    repeat (100) @(posedge rig.cclk);
    // DMA, either way.
    random_dma(0, 500);
    `CHECK(rig.bad_seen == rig.bad_given && rig.bad_given > 10, "refused commands")
    random_dma(1, 500);
    rig.hw.i_host.write_percent = 50;
    rig.hw.i_host.latency = 5;
    random_dma(1, 300);
    random_dma(0, 300);
    rig.hw.i_host.write_percent = 100;
    rig.hw.i_host.latency = 60;
    `CHECK(rig.bad_seen == rig.bad_given && rig.irq_seen == rig.irq_given && rig.irq_given > 50,
           "refused commands, interrupts")

    // The last bytes of the scratchpad, from a host that holds what was random, and back to another place.
    rig.checking = 0;
    rig.give(0, '{kind: 1, host_at: 3, local_at: rig.ScratchBytes - 61, len: 61, irq: 0});
    while (rig.progress[0] != rig.producer[0]) @(posedge rig.cclk);
    rig.give(1,
             '{
                 kind: 1,
                 host_at: rig.HostBytes - 61,
                 local_at: rig.ScratchBytes - 61,
                 len: 61,
                 irq: 0
             });
    while (rig.progress[1] != rig.producer[1]) @(posedge rig.cclk);
    for (int i = 0; i < 61; i++)
      `CHECK(rig.hw.i_scratch.get_byte(rig.ScratchBytes - 61 + i
             ) == rig.hw.i_host.memory[3+i] &&
                 rig.hw.i_host.memory[rig.HostBytes-61+i] == rig.hw.i_host.memory[3+i],
             "the end of the scratchpad")

    // Reads that the host refuses are counted, and progress goes on: the scratchpad has the fill in place of their bytes, frames with a
    // part of them are not sent, all others are, and the same places are good for the next frame.
    rig.fill();
    for (int round = 0; round < 3; round++) begin
      int unsigned lost_before, skipped_frames;
      errors = rig.errors_seen;
      rig.hw.i_host.refused = 0;
      rig.hw.i_host.refused_at.delete();
      rig.hw.i_host.refuse_percent = round == 2 ? 0 : 30;
      for (int unsigned i = 0; i < 100; i++) begin
        rig.give(
            0, '{kind: 1, host_at: i * 256, local_at: i * 256 + 4 * (i % 5), len: 64, irq: 0});
        rig.give(0, '{kind: 0, host_at: i * 256 + 64, local_at: i * 2048, len: 64, irq: 0});
        rig.give(
            0, '{kind: 0, host_at: i * 256 + 128, local_at: i * 2048 + 64, len: 100, irq: 0});
        while (rig.producer[0] - rig.progress[0] > 200) @(posedge rig.cclk);
      end
      while (rig.progress[0] != rig.producer[0]) @(posedge rig.cclk);
      `CHECK(
          rig.errors_seen - errors == rig.hw.i_host.refused && (rig.hw.i_host.refused > 20) == (round < 2),
          "refused reads miscounted")
      skipped_frames = 0;
      for (int unsigned i = 0; i < 100; i++) begin
        for (int unsigned j = 0; j < 64; j++) begin
          logic [31:0] at;
          at = i * 256 + 4 * (i % 5) + j;
          rig.want_scratch[at] = rig.hw.i_host.refused_at.exists(i * 256) ?
              rig.Fill[at[3:2]][8*at[1:0]+:8] : rig.hw.i_host.memory[i*256+j];
        end
        for (int unsigned j = 0; j < 164; j++)
        rig.want_frame[i*2048+j] = rig.hw.i_host.memory[i*256+64+j];
        if (rig.hw.i_host.refused_at.exists(
                i * 256 + 64
            ) || rig.hw.i_host.refused_at.exists(
                i * 256 + 128
            )) begin
          skipped_frames++;
          rig.give_tx(i * 2048, 164, 1);
          for (int unsigned j = 0; j < 164; j++)
          rig.want_frame[i*2048+j] = rig.hw.i_cells.get_byte(i * 2048 + j);
        end else rig.give_tx(i * 2048, 164);
      end
      lost_before = rig.tx_lost;
      rig.give_tx(0, 0);
      while (rig.progress[2] != rig.producer[2]) @(posedge rig.cclk);
      `CHECK(rig.tx_lost - lost_before == skipped_frames && rig.hw.i_sink.expected.size() == 0,
             "frames lost miscounted")
      rig.compare();
    end
    `CHECK(rig.tx_empty > 0, "empty frames miscounted")
    rig.all_back();
    checks += rig.all_checks();
    `TB_PASS
  end
endmodule
