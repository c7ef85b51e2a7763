// SPDX-License-Identifier: Apache-2.0
`include "parts_tb.svh"
`include "tb.svh"
`include "stream.svh"
/// msix: each request of a free vector gives exactly one right message; requests of a masked one are held, visible in the
/// pending bits, and give one message once the mask is gone; table access; latency and rate.
module msix_tb;
  import pcie_pkg::*;
  `TB_BEGIN
  `TB_TIMEOUT(300_000)
  localparam int Vectors = 40;
  localparam logic [15:0] PbaOffset = 16'h8000;

  pcie_cfg_t cfg;
  reg_if #(.AddrW(16)) regs ();
  `STREAM_ON(logic [15:0], vector, clk, rst)
  `STREAM_ON(tlp_beat_t, tlp, clk, rst)
  logic sent, dropped;
  msix #(
      .Vectors  (Vectors),
      .PbaOffset(PbaOffset)
  ) dut (
      .clk_i(clk),
      .rst_i(rst),
      .cfg_i(cfg),
      .regs,
      .vector,
      .tlp,
      .sent_o(sent),
      .dropped_o(dropped)
  );

  logic [63:0] addr[Vectors];
  logic [31:0] data[Vectors];
  int unsigned
      requests[Vectors], messages[Vectors], total = 0, sents = 0, drops = 0, bad_requests = 0;
  logic masked[Vectors];
  int unsigned now = 0, masked_at[Vectors], disabled_at = 0;
  int unsigned in_percent = 0, out_percent = 100;

  `REG_MASTER(16, i_regs, regs)
  `STREAM_SOURCE(logic [15:0], i_vector, vector, 100)
  `STREAM_SINK(tlp_beat_t, i_tlp, tlp, out_percent)
  always @(posedge clk) begin
    now++;
    if (!rst) begin
      sents += 32'(sent);
      drops += 32'(dropped);
      if (vector.valid && vector.ready) begin
        if (vector.data < 16'(Vectors)) requests[vector.data]++;
        else bad_requests++;
      end
      if (tlp.valid && tlp.ready) begin
        mem4_hdr_t h;
        int v;
        h = tlp.data.hdr;
        v = 32'(tlp.data.data[7:0]);
        `CHECK(v < Vectors && tlp.data.data[31:0] == data[v], "wrong message data")
        `CHECK(h.dw0 == {addr[v][63:32] == 0 ? MWr3 : MWr4, 24'd1}, "wrong first DW of the header")
        `CHECK(
            h.requester_id == cfg.requester_id && h.tag == 0 && h.first_be == 4'hf && h.last_be == 0,
            "wrong second DW")
        `CHECK(h.addr == (addr[v][63:32] == 0 ? {addr[v][31:0], 32'h0} : addr[v]),
               "wrong message address")
        `CHECK(tlp.data.sop && tlp.data.eop, "not one beat")
        messages[v]++;
        total++;
        `CHECK(messages[v] <= requests[v], "a message nobody asked for")
        // One that was on its way when the mask was set may still come.
        if (out_percent == 100) begin
          `CHECK(!masked[v] || now - masked_at[v] < 8, "message of a masked vector")
          `CHECK((cfg.msix_enable && !cfg.msix_mask && cfg.bus_master) || now - disabled_at < 8,
                 "message while disabled")
        end
      end
    end
    if (i_vector.queue.size() == 0 && $urandom_range(99) < in_percent)
      i_vector.queue.push_back(16'($urandom_range($urandom_range(19) == 0 ? 65535 : Vectors - 1)));
  end

  task automatic access (logic write, logic [15:0] a, logic [31:0] d, logic [3:0] be,
                         output logic [31:0] r);
    i_regs.access(write, a, d, be);
    r = i_regs.rdata;
  endtask

  task automatic set_mask(int v, logic m);
    logic [31:0] r;
    access (1, 16'(16 * v + 12), 32'(m), 4'hf, r);
    masked[v] = m;
    masked_at[v] = now;
    access (0, 16'(16 * v + 12), 0, 0, r);
    `CHECK(r == 32'(m), "mask does not read back")
  endtask

  task automatic fill(int v);
    logic [31:0] r;
    addr[v] = {$urandom_range(1) == 0 ? 32'h0 : $urandom(), $urandom()} & ~64'h3;
    data[v] = {24'($urandom()), 8'(v)};
    access (1, 16'(16 * v), addr[v][31:0], 4'hf, r);
    access (1, 16'(16 * v + 4), addr[v][63:32], 4'hf, r);
    access (1, 16'(16 * v + 8), data[v] ^ 32'h00ff00ff, 4'hf, r);
    access (1, 16'(16 * v + 8), data[v], 4'b0101, r);  // the two other bytes stay
    access (0, 16'(16 * v), 0, 0, r);
    `CHECK(r == addr[v][31:0], "address does not read back")
    access (0, 16'(16 * v + 4), 0, 0, r);
    `CHECK(r == addr[v][63:32], "upper address does not read back")
    access (0, 16'(16 * v + 8), 0, 0, r);
    `CHECK(r == data[v], "data does not read back")
    access (0, 16'(16 * v + 12), 0, 0, r);
    `CHECK(r == 1, "not masked after reset")
  endtask

  task automatic settle();
    in_percent = 0;
    repeat (2) @(posedge clk);
    while (vector.valid || i_vector.queue.size() != 0) @(posedge clk);
    repeat (Vectors * 50) @(posedge clk);
  endtask

  // Held requests and the pending bits agree; `held` of them.
  task automatic check_pending(int unsigned base_requests[Vectors],
                               int unsigned base_messages[Vectors]);
    logic [31:0] r;
    for (int w = 0; w < 2; w++) begin
      access (0, PbaOffset + 16'(4 * w), 0, 0, r);
      for (int b = 0; b < 32; b++) begin
        if (w * 32 + b < Vectors) begin
          int v;
          v = w * 32 + b;
          if (masked[v]) begin
            `CHECK(messages[v] == base_messages[v], "a masked vector was sent")
            `CHECK(r[b] == (requests[v] != base_requests[v]), "pending bit of a masked vector")
          end else `CHECK(!r[b], "pending though not masked")
        end else `CHECK(!r[b], "pending bit of no vector")
      end
    end
  endtask

  initial begin
    logic [31:0] r;
    int unsigned br[Vectors], bm[Vectors], t;
    cfg = '0;
    cfg.requester_id = 16'h0200;
    for (int v = 0; v < Vectors; v++) begin
      requests[v] = 0;
      messages[v] = 0;
      masked[v] = 1;
      masked_at[v] = 0;
    end
    @(negedge rst);
    @(posedge clk);
    for (int v = 0; v < Vectors; v++) fill(v);
    access (0, 16'h7000, 0, 0, r);
    `CHECK(r == 0, "unused address reads other than 0")
    // Behind table and pending bits: what is written there changes no entry.
    for (int k = 0; k < 4; k++) begin
      access (1, 16'(16 * Vectors + 4 * k), '1, 4'hf, r);
      access (0, 16'(16 * Vectors + 4 * k), 0, 0, r);
      `CHECK(r == 0, "behind the table there is something")
    end
    access (0, 16'h0000, 0, 0, r);
    `CHECK(r == addr[0][31:0], "a write behind the table changes its first entry")
    access (0, PbaOffset + 16'd8, 0, 0, r);
    `CHECK(r == 0, "behind the pending bits there is something")
    {cfg.msix_enable, cfg.bus_master} = 2'b11;
    for (int v = 0; v < Vectors; v++) set_mask(v, 0);

    // Everything open: as many messages as requests, with table reads in between.
    for (int k = 0; k < 4; k++) begin
      in_percent  = k == 0 ? 100 : $urandom_range(100, 5);
      out_percent = k < 2 ? 100 : $urandom_range(100, 10);
      repeat (500) access (0, 16'(4 * $urandom_range(4 * Vectors - 1)), 0, 0, r);
      settle();
      for (int v = 0; v < Vectors; v++) `CHECK(messages[v] == requests[v], "message lost")
    end

    // Some vectors masked, then let go.
    out_percent = 100;
    for (int k = 0; k < 6; k++) begin
      for (int v = 0; v < Vectors; v++) if ($urandom_range(1) == 0) set_mask(v, 1);
      repeat (20) @(posedge clk);
      br = requests;
      bm = messages;
      in_percent = $urandom_range(40, 1);
      repeat (300) @(posedge clk);
      settle();
      check_pending(br, bm);
      for (int v = 0; v < Vectors; v++) begin
        if (masked[v]) begin
          set_mask(v, 0);
          repeat (Vectors + 10) @(posedge clk);
          `CHECK(messages[v] - bm[v] == 32'(requests[v] != br[v]),
                 "not one message after the mask was cleared")
        end else `CHECK(messages[v] - bm[v] == requests[v] - br[v], "message of a free vector lost")
      end
    end

    // The whole function masked or disabled: all held, then one message each.
    for (int k = 0; k < 3; k++) begin
      br = requests;
      bm = messages;
      unique case (k)
        0: cfg.msix_mask = 1;
        1: cfg.msix_enable = 0;
        default: cfg.bus_master = 0;
      endcase
      disabled_at = now;
      in_percent  = 50;
      repeat (300) @(posedge clk);
      settle();
      for (int v = 0; v < Vectors; v++)
        `CHECK(messages[v] == bm[v], "message while the function is masked")
      {cfg.msix_enable, cfg.msix_mask, cfg.bus_master} = 3'b101;
      settle();
      for (int v = 0; v < Vectors; v++)
        `CHECK(messages[v] - bm[v] == 32'(requests[v] != br[v]),
               "not one message after the function was let go")
    end
    `CHECK(sents == total && drops == bad_requests && drops != 0, "miscounted")

    // Rate.
    in_percent = 100;
    t = total;
    repeat (1000) @(posedge clk);
    $display("%0d messages in 1000 clocks", total - t);
    `CHECK(total - t >= 225, "too slow")

    // A message that waits when a reset comes is gone, as are those still to be made.
    out_percent = 0;
    repeat (3) @(posedge clk);
    while (!tlp.valid) @(posedge clk);
    in_percent = 0;
    i_vector.queue.delete();
    rst <= 1;
    repeat (3) @(posedge clk);
    rst <= 0;
    repeat (2 * Vectors) begin
      @(posedge clk);
      `CHECK(!tlp.valid, "a message that was asked for before the reset")
    end
    `TB_PASS
  end
endmodule
