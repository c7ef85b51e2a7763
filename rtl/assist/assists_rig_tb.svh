// SPDX-License-Identifier: Apache-2.0
// What the benches of the assists share.
`ifndef EMERY_ASSISTS_RIG_TB_SVH
`define EMERY_ASSISTS_RIG_TB_SVH
`include "assists_plant_tb.svh"

typedef struct {
  int kind;  // 0: frame memory, 1: scratchpad, 2: refused
  int unsigned host_at, local_at, len;
  bit irq;
} dma_command_t;

/// The assists with a firmware: `give` and `give_tx` put commands into the rings, received frames are taken as they come. What is
/// promised at the moment `progress` moves must be so: a command's bytes are there (`checking`), a frame has left, what a
/// descriptor names was received, in order, and nothing behind it was touched (`rx_check`). `want_...` say what each byte of scratchpad, host
/// and the frame memory in use must be; `fill` begins anew, as at the start, `compare` looks at all.
module assists_rig
  import core_pkg::*, dram_pkg::*, eth_pkg::*;
(
    input logic rst
);
  int unsigned checks = 0;
  function automatic int unsigned all_checks();
    return checks + hw.i_scratch.checks + hw.i_host.checks + hw.i_sink.checks;
  endfunction

  localparam int ScratchBytes = 262144, HostBytes = 2 ** 20, Ring = 256;
  localparam logic [63:0] HostBase = 64'h0000_0012_3450_0000;
  localparam logic [31:0] RingAt[4] = '{32'h3_0000, 32'h3_1000, 32'h3_2000, 32'h3_3000};
  localparam logic [3:0][31:0] Fill = {32'hf111_0003, 32'hf111_0002, 32'hf111_0001, 32'hf111_0000};
  localparam logic [31:0] SlotBase = FrameBase + 32'h180_0000;
  logic cclk, mclk, hclk, xclk;
  logic [31:0] producer[4] = '{default: 0}, progress[4];
  logic [3:0] bad, rx_log = 4'd4;
  logic read_error, write_interrupt, rx_enable = 0, no_buffer;
  assist_pkg::mac_skipped_t skipped;
  mac_rx_count_t rx_count;
  assists_plant #(
      .ScratchBytes(ScratchBytes),
      .HostBytes(HostBytes),
      .HostBase(HostBase),
      .Ring(Ring),
      .RingAt(RingAt),
      .Fill(Fill),
      .SlotBase(SlotBase)
  ) hw (
      .rst,
      .producer_i(producer),
      .rx_log_i(rx_log),
      .rx_enable_i(rx_enable),
      .cclk,
      .mclk,
      .hclk,
      .xclk,
      .progress_o(progress),
      .bad_o(bad),
      .interrupt_o(write_interrupt),
      .read_error_o(read_error),
      .skipped_o(skipped),
      .rx_count_o(rx_count),
      .no_buffer_o(no_buffer)
  );

  // ---- what memories must hold
  logic [7:0] want_scratch[ScratchBytes], want_host[HostBytes];
  localparam int FrameBytes = 2 ** 20;  // that commands use, from 0 on
  logic [7:0] want_frame[FrameBytes];
  task automatic fill();
    for (int unsigned i = 0; i < 'h30000; i += 4) hw.i_scratch.put(i, $urandom());
    for (int unsigned i = 0; i < FrameBytes / 16; i++)
      hw.i_cells.cells[i] = {$urandom(), $urandom(), $urandom(), $urandom()};
    for (int unsigned i = 0; i < HostBytes; i++) hw.i_host.memory[i] = 8'($urandom());
    for (int unsigned i = 0; i < 'h30000; i++) want_scratch[i] = hw.i_scratch.get_byte(i);
    for (int unsigned i = 0; i < FrameBytes; i++) want_frame[i] = hw.i_cells.get_byte(i);
    for (int unsigned i = 0; i < HostBytes; i++) want_host[i] = hw.i_host.memory[i];
  endtask
  task automatic compare();
    repeat (100) @(posedge cclk);
    for (int unsigned i = 0; i < 'h30000; i++)
      `CHECK(want_scratch[i] == hw.i_scratch.get_byte(i), $sformatf(
             "scratchpad %h: %h, not %h", i, hw.i_scratch.get_byte(i), want_scratch[i]))
    for (int unsigned i = 0; i < FrameBytes; i++)
      `CHECK(want_frame[i] == hw.i_cells.get_byte(i), $sformatf(
             "frame memory %h: %h, not %h", i, hw.i_cells.get_byte(i), want_frame[i]))
    for (int unsigned i = 0; i < HostBytes; i++)
      `CHECK(want_host[i] == hw.i_host.memory[i], $sformatf(
             "host %h: %h, not %h", i, hw.i_host.memory[i], want_host[i]))
  endtask

  // An address that is refused with this length: in neither memory, or over the end of one.
  function automatic logic [31:0] wrong_address(int unsigned len);
    case ($urandom_range(
        5
    ))
      0: return ScratchBase + 32'(ScratchBytes) - len + 1;
      1: return ScratchBase + 32'(ScratchBytes);
      2: return FrameBase + 2 ** FrameAddrW - len + 1;
      3: return FrameBase + 2 ** FrameAddrW;
      4: return ($urandom_range(1) == 0 ? ScratchBase : FrameBase) - 1;
      default: return 32'h7000_0000;
    endcase
  endfunction

  // ---- DMA commands
  dma_command_t given[2][$];  // not yet done
  int unsigned bad_given = 0, bad_seen = 0, irq_given = 0, irq_seen = 0, errors_seen = 0;
  function automatic void give(int unsigned a, dma_command_t c);
    int unsigned at;
    logic [31:0] local_addr;
    at = RingAt[a] + (producer[a] % Ring) * 16;
    local_addr = c.kind == 1 ? ScratchBase + c.local_at : c.kind == 0 ? FrameBase + c.local_at : wrong_address(
        c.len);
    hw.i_scratch.put(at, 32'(HostBase) + c.host_at);
    hw.i_scratch.put(at + 4, HostBase[63:32]);
    hw.i_scratch.put(at + 8, local_addr);
    hw.i_scratch.put(at + 12, {15'd0, c.irq, 16'(c.len)});
    producer[a] = producer[a] + 1;
    given[a].push_back(c);
    if (c.kind == 2) bad_given++;
    else if (c.irq && a == 1) irq_given++;
  endfunction

  int unsigned done[2] = '{default: 0};
  bit checking = 1;
  always @(posedge cclk) begin
    dma_command_t c;
    for (int a = 0; a < 2; a++) begin
      while (!rst && done[a] != progress[a]) begin
        c = given[a].pop_front();
        done[a]++;
        // What has been promised: scratchpad and host are as they must be; the frame memory as seen through its bus.
        if (c.kind == 1 && a == 0 && checking)
          for (int unsigned i = 0; i < c.len; i++)
            `CHECK(hw.i_scratch.get_byte(c.local_at + i) == want_scratch[c.local_at+i],
                   "read into the scratchpad is not done")
        if (c.kind != 2 && a == 1 && checking)
          for (int unsigned i = 0; i < c.len; i++)
            `CHECK(hw.i_host.memory[c.host_at+i] == want_host[c.host_at+i],
                   "write to the host is not done")
      end
    end
    if (!rst) bad_seen += $countones(bad);
  end
  always @(posedge hclk) begin
    if (!rst) begin
      irq_seen += 32'(write_interrupt);
      errors_seen += 32'(read_error);
    end
  end

  // ---- MAC transmit
  bit tx_check = 1;
  /// `missing`: a part of it was not read, so it is not sent.
  function automatic void give_tx(int unsigned frame_at, int unsigned len, bit missing = 0);
    mac_frame_t  frame;
    int unsigned at = RingAt[2] + (producer[2] % Ring) * 8;
    hw.i_scratch.put(at, FrameBase + frame_at);
    hw.i_scratch.put(at + 4, len);
    producer[2] = producer[2] + 1;
    if (missing) return;
    if (len == 0 || len > 1514) begin
      bad_given++;
      return;
    end
    frame.len = len;
    for (int unsigned i = 0; tx_check && i < len; i++)
    frame.bytes.push_back(want_frame[frame_at+i]);
    hw.i_sink.expected.push_back(frame);
  endfunction
  // Progress never runs ahead of the wire.
  int unsigned tx_lost = 0, tx_empty = 0;
  always @(posedge cclk)
    if (!rst) begin
      tx_lost += 32'(skipped.lost);
      tx_empty += 32'(skipped.empty);
      `CHECK(progress[2] <= hw.i_sink.frames + bad_given + tx_lost, "progress before the frame")
    end

  // ---- MAC receive
  int unsigned rx_sent = 0, rx_good = 0, rx_dropped[5] = '{default: 0}, rx_next = 0;
  bit rx_hold = 0;  // firmware does not give slots back
  always @(posedge xclk) begin
    if (!rst) begin
      rx_dropped[0] += 32'(rx_count.bad_fcs);
      rx_dropped[1] += 32'(rx_count.runt);
      rx_dropped[2] += 32'(rx_count.oversize);
      rx_dropped[3] += 32'(rx_count.fifo_full);
      rx_dropped[4] += 32'(no_buffer);
      rx_good += 32'(rx_count.good);
    end
  end
  // Firmware: what a descriptor names must be a frame that was sent, in order; those between were lost.
  typedef struct {int unsigned n, len;} sent_t;
  sent_t rx_list[$];
  int unsigned rx_lost = 0;
  bit rx_check = 1;
  localparam logic [7:0] Behind = 8'ha5;  // what is in a slot before a frame comes
  function automatic void mark(int unsigned slot);
    for (int i = 0; i < 128; i++) hw.i_cells.cells['h18_0000+slot*128+i] = {16{Behind}};
  endfunction
  task automatic take_rx();
    int unsigned at, slot, len;
    int unsigned until_count = progress[3];
    sent_t s;
    if (rx_check)
      repeat (100) @(posedge mclk);  // the way to the cells, behind the bursts taken before
    while (rx_next != until_count) begin
      slot = rx_next % (1 << rx_log);
      at   = RingAt[3] + slot * 8;
      repeat (2) @(posedge cclk);  // a bank writes its RAM a clock after it took the access
      `CHECK(hw.i_scratch.get(at) == SlotBase + slot * 2048 && hw.i_scratch.get(at + 4) >> 16 == 1,
             "descriptor")
      len = hw.i_scratch.get(at + 4) & 'hffff;
      if (rx_check) begin
        do begin
          `CHECK(rx_list.size() != 0, "a frame that was not sent")
          s = rx_list.pop_front();
          rx_lost++;
        end while (s.len != len || hw.i_cells.get_byte(
            'h180_0000 + slot * 2048
        ) != hw.i_source.frame_byte(
            s.n, 0
        ) || hw.i_cells.get_byte(
            'h180_0000 + slot * 2048 + 1
        ) != hw.i_source.frame_byte(
            s.n, 1
        ) || hw.i_cells.get_byte(
            'h180_0000 + slot * 2048 + 9
        ) != hw.i_source.frame_byte(
            s.n, 9
        ));
        rx_lost--;
        for (int unsigned i = 0; i < len; i++)
          `CHECK(hw.i_cells.get_byte('h180_0000 + slot * 2048 + i) == hw.i_source.frame_byte(s.n, i
                 ), $sformatf("byte %0d of received frame %0d", i, s.n))
        for (int unsigned i = len; i < len + 32; i++)
          `CHECK(hw.i_cells.get_byte('h180_0000 + slot * 2048 + i) == Behind,
                 "written behind a frame")
        mark(slot);
      end
      rx_next++;
    end
    if (!rx_hold) producer[3] = rx_next;
  endtask
  always @(posedge cclk) if (!rst && (rx_next != progress[3] || producer[3] != rx_next)) take_rx();

  /// At the end: nothing of the buffers between host and memory is lost.
  task automatic all_back();
    repeat (200) @(posedge cclk);
    `CHECK(32'(hw.i_read.i_host.free_q) == hw.i_read.i_host.Rows,
           "rows of the read buffer are lost")
    `CHECK(32'(hw.i_write.i_host.free_q) == hw.i_write.i_host.Rows,
           "rows of the write buffer are lost")
  endtask

  initial begin
    repeat (3) @(posedge cclk);  // a write that was under way before the reset is done
    fill();
  end
endmodule

`endif
