// SPDX-License-Identifier: Apache-2.0
`include "assert.svh"
/// Completion side of the DMA read engine: what each tag waits for, and completion data into the DMA RAMs.
///
/// A completion names its place by its Byte Count: what is left of the request, counted from the end. It must continue
/// exactly where the tag's last completion ended (Byte Count and Lower Address are both checked), so nothing is ever
/// written outside the request or twice. Tags may be answered in any order, in pieces of any size.
/// A tag stops waiting with its last byte, an error status, a malformed completion or `expire_i`; after the latter two it
/// is quarantined, because more completions may come: until one arrives that would be its last, or for four to eight
/// timeouts (without a timeout: 2^34 to 2^35 clocks), but never less than `QuarantineCycles`: however short the timeout, a
/// completion that is merely slow must not meet its tag in other hands.
/// One completion beat a clock. With beats of 64 bytes it never stalls; one of 128 that does not go to a multiple of 16 takes two
/// clocks, because it lies in more segments than the RAM has. A beat is on `ram_o` 3 clocks after it arrived; a tag stops waiting
/// one clock before its last beat is there. Completions for tags that do not wait are dropped and counted. Reset forgets all tags.
module dma_read_cpl
  import dma_pkg::*;
  import pcie_pkg::*;
#(
    parameter int Tags = 256,
    parameter int QuarantineCycles = 65536,
    parameter type Beat = tlp_beat_t,  // or wide_tlp_beat_t
    localparam int TagW = $clog2(Tags)
) (
    input logic clk_i,
    input logic rst_i,
    input logic [15:0] requester_id_i,
    input logic wide_i,  // tags have 10 bits
    input logic [31:0] timeout_cycles_i,

    // A tag starts to wait for the bytes of `chunk_i`.
    input  logic                  start_i,
    input  logic       [TagW-1:0] start_tag_i,
    input  dma_chunk_t            chunk_i,
    // The tag of `start_tag_i` must not be used yet.
    output logic                  quarantined_o,

    // The oldest tag: whether it waits, its result one clock later, and giving it up.
    input logic [TagW-1:0] head_tag_i,
    output logic head_waits_o,
    output logic head_receives_o,  // a completion of it is arriving: not to be given up now
    output dma_result_e head_result_o,
    output logic done_o,  // a tag has stopped to wait, without having been given up
    input logic expire_i,

    stream_if.snk cpl,  // Beat

    output ram_write_t ram_o,
    output logic       beat_o,
    output logic       error_o,
    output logic       poisoned_o,
    output logic       malformed_o,
    output logic       late_o,
    output logic       unexpected_o
);
  /// Where the bytes of a tag go. Byte Count counts from the end, so the ends are kept.
  typedef struct packed {
    ram_sel_t    sel;
    ram_addr_t   ram_end;
    logic [6:0]  host_end;
    logic [12:0] len;
  } entry_t;

  typedef struct packed {
    dma_result_e result;
    logic [12:0] left;    // bytes still to come
  } progress_t;

  // Flags of each tag.
  logic [Tags-1:0] waits_q;  // a completion is awaited
  logic [Tags-1:0] begun_q;  // its progress entry is valid
  logic [Tags-1:0] lost_q;  // quarantined
  logic [Tags-1:0] lost_long_q;  // quarantined since before the last period began

  localparam int BeatBits = $bits(Beat) - $bits(tlp_beat_t) + 8 * TlpBeatBytes;
  localparam int BeatBytes = BeatBits / 8;
  localparam bit Wide = BeatBytes == RowBytes;
  localparam int StepW = $clog2(BeatBytes + 1);

  // Stage 0: a beat arrives; the first one of a TLP looks up its tag. It may take two steps.
  cpl_hdr_t in_hdr, hdr_q;
  logic valid_q, sop_q, eop_q, inside_q;
  logic [BeatBits-1:0] data_q;
  logic two_steps, second_q;
  wire stall = valid_q && two_steps && !second_q;
  wire first = sop_q && !second_q;  // step of a TLP
  wire eop = eop_q && !stall;
  assign cpl.ready = !stall;
  assign in_hdr = cpl.data.hdr;
  wire arrives = cpl.valid && !stall;
  wire look_up = arrives && cpl.data.sop;
  wire [TagW-1:0] in_tag = TagW'({in_hdr.dw0.tag9, in_hdr.tag});

  always_ff @(posedge clk_i) begin
    valid_q  <= arrives || stall;
    second_q <= stall;
    if (arrives) begin
      sop_q  <= cpl.data.sop;
      eop_q  <= cpl.data.eop;
      data_q <= cpl.data.data;
    end
    if (look_up) hdr_q <= in_hdr;
    if (valid_q) inside_q <= !eop;
    if (rst_i) begin
      valid_q  <= 1'b0;
      second_q <= 1'b0;
      inside_q <= 1'b0;
    end
  end

  entry_t entry, start_entry;
  assign start_entry = '{
          sel: chunk_i.sel,
          ram_end: chunk_i.ram_addr + RamAddrW'(chunk_i.len),
          host_end: chunk_i.host_addr[6:0] + chunk_i.len[6:0],
          len: chunk_i.len
      };
  ram_sdp #(
      .Width($bits(entry_t)),
      .Depth(Tags)
  ) i_entries (
      .clk_i,
      .we_i   (start_i),
      .waddr_i(start_tag_i),
      .wdata_i(start_entry),
      .re_i   (look_up),
      .raddr_i(in_tag),
      .rdata_o(entry)
  );

  progress_t stored, forward_q, progress, progress_d;
  logic forward_valid_q, update;
  logic early_q;  // it came in the clock in which its tag began to wait: the entry that was read is of an earlier request
  logic [$bits(dma_result_e)-1:0] head_result;
  wire [8:0] number = {hdr_q.dw0.tag9, hdr_q.tag};
  wire [TagW-1:0] tag = TagW'(number);
  ram_sdp #(
      .Width($bits(progress_t)),
      .Depth(Tags)
  ) i_progress (
      .clk_i,
      .we_i   (update),
      .waddr_i(tag),
      .wdata_i(progress_d),
      .re_i   (look_up),
      .raddr_i(in_tag),
      .rdata_o(stored)
  );
  ram_sdp #(
      .Width($bits(dma_result_e)),
      .Depth(Tags)
  ) i_results (
      .clk_i,
      .we_i   (update),
      .waddr_i(tag),
      .wdata_i(progress_d.result),
      .re_i   (1'b1),
      .raddr_i(head_tag_i),
      .rdata_o(head_result)
  );
  assign head_result_o = dma_result_e'(head_result);

  // Stage 1: what the header means. It, the entry and the progress stay for all beats of the TLP.
  always_ff @(posedge clk_i) begin
    if (look_up) begin
      // The update made in this clock is not seen by the read.
      forward_valid_q <= update && tag == in_tag;
      forward_q <= progress_d;
      early_q <= start_i && start_tag_i == in_tag;
    end
  end

  always_comb begin
    progress = forward_valid_q ? forward_q : stored;
    if (!begun_q[tag]) progress = '{result: DmaOk, left: entry.len};
  end

  wire [1:0] skip = hdr_q.lower_addr[1:0];  // payload bytes before the first that was asked for
  wire [12:0] byte_count = {hdr_q.byte_count == '0, hdr_q.byte_count};
  wire [12:0] payload = {hdr_q.dw0.length == '0, hdr_q.dw0.length, 2'b00};
  wire [12:0] wanted = byte_count + 13'(skip);  // from the first payload byte to the end of the request
  wire final_tlp = payload >= wanted;
  wire [12:0] payload_end = final_tlp ? wanted : payload;
  logic [12:0] left_q;
  wire [12:0] left = first ? payload_end : left_q;  // bytes in this step and the ones after it
  ram_addr_t dest_q;
  wire ram_addr_t dest = first ? entry.ram_end - RamAddrW'(byte_count) - RamAddrW'(skip) : dest_q;

  wire ours = hdr_q.dw0.tag8 == (wide_i && !hdr_q.dw0.tag9) && hdr_q.requester_id == requester_id_i &&
      {1'b0, number} < 10'(Tags) && (wide_i || !hdr_q.dw0.tag9);
  // Held from the first step on: a tag given out meanwhile must not be taken for the one this TLP was meant for.
  logic known_q;
  wire known = first ? ours && waits_q[tag] && !early_q : known_q;
  wire success = hdr_q.status == StatusSC;
  wire fits = hdr_q.dw0.fmt_type == CplD && byte_count == progress.left &&
      hdr_q.lower_addr == entry.host_end - byte_count[6:0] && payload <= wanted + 13'd3;
  wire [StepW-1:0] step = Wide && !two_steps && !second_q ? StepW'(BeatBytes) : StepW'(TlpBeatBytes);
  wire whole = left <= 13'(step);  // asked at eop: no beat is missing
  wire last_beat = valid_q && eop;

  assign update = last_beat && known;
  wire malformed = success && !(fits && whole);
  wire ends = !success || malformed || final_tlp;
  assign done_o = update && ends;

  always_comb begin
    progress_d.left   = byte_count - (payload - 13'(skip));
    progress_d.result = progress.result;
    // The first thing that went wrong is what the tag reports.
    if (progress.result == DmaOk) begin
      if (!success) progress_d.result = (hdr_q.status == StatusUR) ? DmaUnsupported : DmaAborted;
      else if (malformed) progress_d.result = DmaAborted;
      else if (hdr_q.dw0.ep) progress_d.result = DmaPoisoned;
    end
  end

  assign beat_o          = valid_q && known && success && fits && !hdr_q.dw0.ep && left != '0;
  assign error_o         = update && !success;
  assign malformed_o     = update && malformed;
  assign poisoned_o      = update && success && !malformed && hdr_q.dw0.ep;
  assign late_o          = last_beat && !known && ours && lost_q[tag];
  assign unexpected_o    = last_beat && !known && !(ours && lost_q[tag]);

  // Tags.
  assign head_waits_o    = waits_q[head_tag_i];
  assign head_receives_o = (valid_q || inside_q) && tag == head_tag_i;
  assign quarantined_o   = lost_q[start_tag_i];

  logic [33:0] period_q;
  wire [33:0] four_timeouts = (timeout_cycles_i == '0) ? '1 : {timeout_cycles_i, 2'b00};
  wire [33:0] period = four_timeouts < 34'(QuarantineCycles) ? 34'(QuarantineCycles) : four_timeouts;
  wire period_ends = period_q >= period;

  always_ff @(posedge clk_i) begin
    period_q <= period_q + 1'b1;
    if (period_ends) begin
      period_q <= '0;
      lost_q <= lost_q & ~lost_long_q;
      lost_long_q <= lost_q & ~lost_long_q;
    end
    if (late_o && (!success || final_tlp)) lost_q[tag] <= 1'b0;
    if (update) begin
      begun_q[tag] <= 1'b1;
      if (ends) waits_q[tag] <= 1'b0;
      if (malformed) begin
        lost_q[tag] <= 1'b1;
        lost_long_q[tag] <= 1'b0;
      end
    end
    if (expire_i) begin
      waits_q[head_tag_i] <= 1'b0;
      lost_q[head_tag_i] <= 1'b1;
      lost_long_q[head_tag_i] <= 1'b0;
    end
    if (start_i) begin
      waits_q[start_tag_i] <= 1'b1;
      begun_q[start_tag_i] <= 1'b0;
    end
    if (rst_i) begin
      period_q <= '0;
      waits_q <= '0;
      lost_q <= '0;
      lost_long_q <= '0;
    end
  end

  // Which bytes of the step are wanted, and the place of the next one.
  wire [StepW-1:0] stop = whole ? left[StepW-1:0] : step;
  always_ff @(posedge clk_i) begin
    if (valid_q) begin
      known_q <= known;
      left_q  <= whole ? '0 : left - 13'(step);
      dest_q  <= dest + RamAddrW'(step);
    end
  end

  logic [BeatBits-1:0] data;
  if (Wide) begin : g_two_steps
    // What a TLP has left by its header: to be known early.
    logic [10:0] dws_q;
    wire  [10:0] dws = sop_q ? {hdr_q.dw0.length == '0, hdr_q.dw0.length} : dws_q;
    assign two_steps = dest[3:0] != '0 && dws > 11'((RowBytes - SegBytes) / 4);
    assign data = second_q ? {data_q[BeatBits-1:BeatBits/2], data_q[BeatBits-1:BeatBits/2]} : data_q;
    always_ff @(posedge clk_i) if (valid_q && !stall) dws_q <= dws - 11'(BeatBytes / 4);
  end else begin : g_one_step
    assign two_steps = 1'b0;
    assign data = data_q;
  end

  dma_read_place #(
      .BeatBytes(BeatBytes)
  ) i_place (
      .clk_i,
      .rst_i,
      .valid_i(beat_o),
      .sel_i  (entry.sel),
      .dest_i (dest),
      .start_i(first ? skip : 2'd0),
      .stop_i (stop),
      .data_i (data),
      .ram_o
  );

  wire unused = &{1'b0, chunk_i, hdr_q};

  `ASSERT(StartsFree, start_i |-> !waits_q[start_tag_i] && !lost_q[start_tag_i])
  `ASSERT(ExpireWaits, expire_i |-> head_waits_o && !head_receives_o)
endmodule
