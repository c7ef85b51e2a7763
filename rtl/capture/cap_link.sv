// SPDX-License-Identifier: Apache-2.0
`include "assert.svh"
`include "stream.svh"
/// One link's share of the capture: staging pages, queue of work, DMA write engine (capture paper, "Bifurcation").
///
/// Work is done in order: pieces of pages are written to host memory, progress entries after the data they cover; both
/// are posted writes on one link, which PCIe does not reorder. A page is free again when its last piece has left.
/// While the link is in use (`ok_o`) it takes work; when it is disabled, goes down or loses bus mastering, all that is
/// queued or under way is given up: TLPs are dropped whole, pages freed, and what no entry covers is counted as lost.
/// It is in use again when it is up and enabled, nothing is queued, and no block of a ring is on it any more.
/// `link_rst_i` (link down) resets the engine. One beat a clock on `tlp`; `space_o` promises room for MaxWork pieces.
module cap_link
  import pcie_pkg::*, dma_pkg::*, cap_pkg::*;
#(
    parameter int Pages = 256,
    parameter int PageBytes = 512,
    parameter int InFlight = 32
) (
    input logic clk_i,
    input logic rst_i,
    input logic link_rst_i,
    input pcie_cfg_t cfg_i,
    input logic enable_i,

    // The packer.
    output logic                       ok_o,
    output logic                       space_o,
    output logic         [  PageIdW:0] pages_o,
    output logic         [PageIdW-1:0] page_o,
    output logic         [QueuedW-1:0] queued_o,
    input  logic                       take_i,
    input  logic                       using_i,
    input  logic                       work_valid_i,
    input  work_t                      work_i,
    input  logic                       stage_valid_i,
    input  stage_write_t               stage_i,

    // Counts since reset.
    output logic        idle_o,
    output logic [31:0] bytes_o,
    output logic [31:0] entries_o,
    output logic [31:0] lost_blocks_o,
    output logic [31:0] lost_packets_o,
    output logic [31:0] lost_bytes_o,

    stream_if.src tlp  // tlp_beat_t
);
  localparam int PageW = $clog2(PageBytes);
  localparam int WorkDepth = 2 * Pages;
  localparam int MaxWork = 16384 / PageBytes + 16;
  localparam ram_sel_t SelStage = 0, SelEntry = 1;
  localparam int Slots = InFlight + 4;  // entries on their way
  localparam int SlotW = $clog2(Slots);
  if (2 ** $clog2(
          Pages
      ) != Pages || Pages > 2 ** PageIdW || Pages < 16384 / PageBytes + 16) begin : g_bad_parameter
    $fatal(
        1,
        "cap_link: Pages %0d is not a power of two that holds more than the longest packet",
        Pages
    );
  end

  // Free pages: all of them after the sweep.
  `STREAM(logic [PageIdW-1:0], freed)
  `STREAM(logic [PageIdW-1:0], page)
  logic [$clog2(Pages+1)-1:0] pages;
  logic [$clog2(Pages+1)-1:0] sweep_q;
  wire ready = sweep_q == ($clog2(Pages + 1))'(Pages);
  logic free_now;
  logic [PageIdW-1:0] free_page;
  fifo #(
      .T(logic [PageIdW-1:0]),
      .Depth(Pages)
  ) i_pages (
      .clk_i,
      .rst_i,
      .in(freed),
      .out(page),
      .count_o(pages)
  );
  assign freed.valid = !ready || free_now;
  assign freed.data = ready ? free_page : PageIdW'(sweep_q);
  assign page.ready = take_i;
  assign page_o = page.data;
  assign pages_o = (PageIdW + 1)'(pages);
  always_ff @(posedge clk_i) begin
    if (!ready) sweep_q <= sweep_q + 1'b1;
    if (rst_i) sweep_q <= '0;
  end

  // Queue of work.
  `STREAM(work_t, work_in)
  `STREAM(work_t, work)
  logic [$clog2(WorkDepth+1)-1:0] work_count;
  fifo #(
      .T(work_t),
      .Depth(WorkDepth)
  ) i_work (
      .clk_i,
      .rst_i,
      .in(work_in),
      .out(work),
      .count_o(work_count)
  );
  assign work_in.valid = work_valid_i;
  assign work_in.data = work_i;
  assign space_o = work_count < ($clog2(WorkDepth + 1))'(WorkDepth - MaxWork);

  // In use or not.
  logic active_q, dead_q;
  logic [QueuedW-1:0] queued_q;
  wire up = !link_rst_i && cfg_i.bus_master && enable_i && ready;
  wire idle = queued_q == '0 && !using_i;
  logic done;
  assign ok_o = active_q && up;
  assign idle_o = idle;
  assign queued_o = queued_q;
  always_ff @(posedge clk_i) begin
    active_q <= up && (active_q || (idle && !dead_q));
    queued_q <= queued_q + QueuedW'(work_valid_i) - QueuedW'(done);
    if (rst_i) begin
      active_q <= 1'b0;
      queued_q <= '0;
    end
  end

  // Work on its way through the engine.
  typedef struct packed {
    logic               waits;     // for the engine's status
    logic               lost;
    logic               is_entry;
    logic               closed;
    logic               free;
    logic [PageIdW-1:0] page;
    logic [23:0]        packets;
    logic [OffW-1:0]    bytes;
  } going_t;
  `STREAM(going_t, going_in)
  `STREAM(going_t, going)
  logic [$clog2(InFlight+1)-1:0] going_count;
  fifo #(
      .T(going_t),
      .Depth(InFlight)
  ) i_going (
      .clk_i,
      .rst_i,
      .in(going_in),
      .out(going),
      .count_o(going_count)
  );

  work_t head;
  assign head = work.data;
  wire engine_rst = rst_i || link_rst_i || dead_q;
  `STREAM_ON(dma_req_t, req, clk_i, engine_rst)
  dma_req_t req_q;
  logic req_full_q;
  wire nothing = !head.is_entry && head.len == '0;
  wire send = active_q && up && !nothing;
  wire dispatch = work.valid && going_in.ready && (!send || !req_full_q || req.ready);
  assign work.ready = dispatch;
  assign going_in.valid = dispatch;
  assign going_in.data = '{
          waits: send,
          lost: !(active_q && up),
          is_entry: head.is_entry,
          closed: head.entry.closed,
          free: head.free,
          page: head.page,
          packets: head.packets,
          bytes: head.is_entry ? head.bytes : OffW'(head.len)
      };

  logic [SlotW-1:0] slot_q;
  assign req.valid = req_full_q;
  assign req.data  = req_q;
  wire ram_addr_t entry_at = ram_addr_t'({slot_q, 6'd0});
  wire ram_addr_t page_at = ram_addr_t'({head.page, PageW'(0)});
  always_ff @(posedge clk_i) begin
    if (dispatch && send) begin
      req_full_q <= 1'b1;
      req_q <= '{
          host_addr: head.addr,
          sel: head.is_entry ? SelEntry : SelStage,
          ram_addr: head.is_entry ? entry_at : page_at + ram_addr_t'(head.from),
          len: head.is_entry ? 16'd16 : 16'(head.len),
          relaxed: 1'b0
      };
      if (head.is_entry) slot_q <= (slot_q == SlotW'(Slots - 1)) ? '0 : slot_q + 1'b1;
    end else if (req.ready) begin
      req_full_q <= 1'b0;
    end
    if (rst_i) slot_q <= '0;
    if (engine_rst) req_full_q <= 1'b0;
  end

  // What the engine is through with, and how much of that went out: when the link is lost the gate drops what follows. After the
  // engine was reset nothing more comes of what was in it.
  dma_status_t status;
  logic dropped, dropped_q;
  typedef logic [$clog2(InFlight+4)-1:0] statuses_t;
  statuses_t left_q, whole_q;
  wire whole = status.valid && !dropped_q;
  going_t gone;
  assign gone = going.data;
  assign done = going.valid && (!gone.waits || left_q != '0 || engine_rst);
  assign going.ready = done;
  wire some_whole = whole_q != '0 || whole;
  wire lost = gone.lost || (gone.waits && !some_whole);
  assign free_now  = done && gone.free;
  assign free_page = gone.page;
  always_ff @(posedge clk_i) begin
    left_q <= left_q + statuses_t'(status.valid) - statuses_t'(done && gone.waits);
    whole_q <= whole_q + statuses_t'(whole) - statuses_t'(done && gone.waits && some_whole);
    dropped_q <= dropped;
    dead_q <= link_rst_i || (dead_q && going_count != '0);
    if (done) begin
      if (!lost) begin
        if (gone.is_entry) entries_o <= entries_o + 1'b1;
        else bytes_o <= bytes_o + 32'(gone.bytes);
      end else if (gone.is_entry) begin
        lost_packets_o <= lost_packets_o + 32'(gone.packets);
        lost_bytes_o   <= lost_bytes_o + 32'(gone.bytes);
        if (gone.closed) lost_blocks_o <= lost_blocks_o + 1'b1;
      end
    end
    if (engine_rst) left_q <= '0;
    if (rst_i) begin
      whole_q <= '0;
      dead_q <= 1'b0;
      bytes_o <= '0;
      entries_o <= '0;
      lost_packets_o <= '0;
      lost_bytes_o <= '0;
      lost_blocks_o <= '0;
    end
  end

  // Engine and what it reads.
  ram_read_t ram_read;
  ram_row_t stage_row, entry_row;
  `STREAM_ON(tlp_beat_t, engine_tlp, clk_i, engine_rst)
  cap_stage_ram #(
      .Bytes(Pages * PageBytes),
      .Sel  (SelStage)
  ) i_stage (
      .clk_i,
      .rst_i,
      .write_i(stage_valid_i),
      .stage_i(stage_i),
      .ram_i  (ram_read),
      .ram_o  (stage_row)
  );
  seg_ram_dma_rd #(
      .Bytes(2 ** SlotW * 64),
      .Sel  (SelEntry)
  ) i_entries (
      .clk_i,
      .rst_i,
      .we_i(dispatch && send && head.is_entry),
      .waddr_i(slot_q),
      .wdata_i(512'(head.entry)),
      .ram_i(ram_read),
      .ram_o(entry_row)
  );
  dma_write i_engine (
      .clk_i,
      .rst_i(engine_rst),
      .cfg_i,
      .req(req),
      .status_o(status),
      .ram_o(ram_read),
      .ram_i(stage_row | entry_row),
      .tlp(engine_tlp)
  );
  stream_gate #(
      .T(tlp_beat_t)
  ) i_gate (
      .clk_i,
      .rst_i(engine_rst),
      .closed_i(!active_q),
      .in(engine_tlp),
      .out(tlp),
      .dropped_o(dropped)
  );
  wire unused = &{1'b0, status.sel, status.result};

  `ASSERT(WorkHasRoom, work_valid_i |-> work_in.ready)
  `ASSERT(PageIsThere, take_i |-> page.valid)
  `ASSERT(PagesComeBackOnce, freed.valid |-> freed.ready)
endmodule
