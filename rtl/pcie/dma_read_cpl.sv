// SPDX-License-Identifier: Apache-2.0
`include "assert.svh"
`include "stream.svh"
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
/// one clock before its last beat is there. Completions for tags that do not wait are dropped and counted. Reset with `forget_i` forgets all
/// tags; without, the link is up and those that wait are quarantined, and no completion is taken while it lasts. Either takes a clock a
/// tag: until `ready_o`.
module dma_read_cpl
  import dma_pkg::*;
  import pcie_pkg::*;
#(
    parameter int Tags = 256,
    parameter int QuarantineCycles = 65536,
    parameter int Functions = 1,  // more: a completion may be for any of them
    parameter type Beat = tlp_beat_t,  // or wide_tlp_beat_t
    localparam int TagW = $clog2(Tags)
) (
    input logic clk_i,
    input logic rst_i,
    input logic forget_i,
    input logic [15:0] requester_id_i,
    input logic wide_i,  // tags have 10 bits
    input logic [31:0] timeout_cycles_i,
    output logic ready_o,

    // A tag starts to wait for the bytes of `chunk_i`.
    input  logic                  start_i,
    input  logic       [TagW-1:0] start_tag_i,
    input  dma_chunk_t            chunk_i,
    // The tag that was `next_tag_i` in the clock before must not be used yet.
    input  logic       [TagW-1:0] next_tag_i,
    output logic                  quarantined_o,

    // The oldest tag: whether it waits, its result one clock later, and giving it up.
    input logic [TagW-1:0] head_tag_i,
    output logic head_waits_o,
    output logic head_kept_o,  // not to be given up now: a completion of it may be arriving, or the tables are in use
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

  typedef struct packed {
    logic lost;  // quarantined
    logic long_lost;  // since before the last period began
  } lost_t;

  // What is known of each tag, in RAM. It waits while `started` is not as `ended`; each has one who writes it.
  logic started[Tags];
  logic ended[Tags];
  logic begun[Tags];  // its progress entry is valid
  lost_t lost[Tags];
  // The sweep goes through all tags in clocks without a completion: after reset, and when a period of quarantine ends.
  logic sweeps_q, forgets_q, abandons_q;
  logic [TagW-1:0] sweep_q;
  assign ready_o = !forgets_q && !abandons_q;

  localparam int BeatBits = $bits(Beat) - $bits(tlp_beat_t) + 8 * TlpBeatBytes;
  localparam int BeatBytes = BeatBits / 8;
  localparam bit Wide = BeatBytes == RowBytes;
  localparam int StepW = $clog2(BeatBytes + 1);

  /// What a header says by itself.
  typedef struct packed {
    logic [TagW-1:0] tag;
    logic ours;  // of a tag and a requester that there are
    logic current;  // tags are as long now
    logic success;
    logic unsupported;
    logic poisoned;
    logic has_data;
    logic last;  // brings the last byte of the request
    logic [1:0] skip;  // payload bytes before the first that was asked for
    logic [6:0] host_end;  // lowest bits of the address at which the request ends
    logic [12:0] count;  // bytes left of the request
    logic [12:0] wanted;  // the same from the first payload byte on
    logic [12:0] payload;  // bytes
    logic signed [13:0] after;  // bytes left of the request when this TLP has come; below 0 by what fills its last DW
  } said_t;

  // Stage 0: a beat arrives; the first one of a TLP looks up its tag. It may take two steps.
  cpl_hdr_t in_hdr;
  said_t in_said, said_q;
  logic valid_q, sop_q, eop_q, inside_q;
  logic [BeatBits-1:0] data_q;
  logic two_steps, second_q;
  wire stall = valid_q && two_steps && !second_q;
  wire first = sop_q && !second_q;  // step of a TLP
  wire eop = eop_q && !stall;
  assign cpl.ready = !stall && !rst_i;
  assign in_hdr = cpl.data.hdr;
  wire arrives = cpl.valid && cpl.ready;
  wire look_up = arrives && cpl.data.sop;
  wire [8:0] in_number = {in_hdr.dw0.tag9, in_hdr.tag};
  wire [TagW-1:0] in_tag = TagW'(in_number);

  always_comb begin
    if (`WORTH(look_up)) begin
      in_said.tag = in_tag;
      in_said.ours = (Functions > 1 ? in_hdr.requester_id[15:8] == requester_id_i[15:8] : in_hdr.requester_id == requester_id_i) && {1'b0, in_number} < 10'(Tags) &&
          (!in_hdr.dw0.tag8 || (Tags > 256 && !in_hdr.dw0.tag9));
      in_said.current = (in_hdr.dw0.tag8 || in_hdr.dw0.tag9) == wide_i;
      in_said.success = in_hdr.status == StatusSC;
      in_said.unsupported = in_hdr.status == StatusUR;
      in_said.poisoned = in_hdr.dw0.ep;
      in_said.skip = in_hdr.lower_addr[1:0];
      in_said.count = {in_hdr.byte_count == '0, in_hdr.byte_count};
      in_said.host_end = in_hdr.lower_addr + in_said.count[6:0];
      in_said.wanted = in_said.count + 13'(in_said.skip);
      in_said.payload = {in_hdr.dw0.length == '0, in_hdr.dw0.length, 2'b00};
      in_said.last = in_said.payload >= in_said.wanted;
      in_said.has_data = in_hdr.dw0.fmt_type == CplD;
      in_said.after = 14'(in_said.wanted) - 14'(in_said.payload);
    end
  end

  always_ff @(posedge clk_i) begin
    valid_q  <= arrives || stall;
    second_q <= stall;
    if (arrives) begin
      sop_q  <= cpl.data.sop;
      eop_q  <= cpl.data.eop;
      data_q <= cpl.data.data;
    end
    if (look_up) said_q <= in_said;
    if (valid_q) inside_q <= !eop;
    if (rst_i && forget_i) begin
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
  wire [TagW-1:0] tag = said_q.tag;
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
    if (!begun[tag]) progress = '{result: DmaOk, left: entry.len};
  end

  logic [12:0] left_q;
  wire [12:0] left = !first ? left_q : said_q.last ? said_q.wanted : said_q.payload;  // bytes in this step and the ones after it
  ram_addr_t dest_q;
  wire ram_addr_t dest = first ? entry.ram_end - RamAddrW'(said_q.wanted) : dest_q;

  // Held from the first step on: a tag given out meanwhile must not be taken for the one this TLP was meant for.
  logic known_q;
  wire ours = said_q.ours && !forgets_q;
  wire waits = started[tag] != ended[tag];
  wire known = first ? ours && said_q.current && waits && !early_q && !abandons_q : known_q;
  wire abandoned = abandons_q && waits;  // not yet swept
  wire success = said_q.success;
  // As progress.left == said_q.count, without waiting for which of them it is.
  wire goes_on = !begun[tag] ? entry.len == said_q.count : forward_valid_q ? forward_q.left == said_q.count :
      stored.left == said_q.count;
  wire fits = said_q.has_data && said_q.after >= -14'sd3 && goes_on && said_q.host_end == entry.host_end;
  wire half_enough = left <= 13'(TlpBeatBytes), enough = left <= 13'(BeatBytes);
  wire half = Wide && (two_steps || second_q);
  wire [StepW-1:0] step = half ? StepW'(TlpBeatBytes) : StepW'(BeatBytes);
  wire whole = half ? half_enough : enough;
  wire last_beat = valid_q && eop;

  assign update = last_beat && known;
  wire all_came = second_q ? half_enough : enough;  // asked at eop, which is not in the first of two steps
  wire malformed = success && !(fits && all_came);
  wire ends = !success || malformed || said_q.last;
  assign done_o = update && ends;

  always_comb begin
    progress_d.left   = said_q.after[12:0];
    progress_d.result = progress.result;
    // The first thing that went wrong is what the tag reports.
    if (progress.result == DmaOk) begin
      if (!success) progress_d.result = said_q.unsupported ? DmaUnsupported : DmaAborted;
      else if (malformed) progress_d.result = DmaAborted;
      else if (said_q.poisoned) progress_d.result = DmaPoisoned;
    end
  end

  assign beat_o      = valid_q && known && success && fits && !said_q.poisoned && left != '0;
  assign error_o     = update && !success;
  assign malformed_o = update && malformed;
  assign poisoned_o  = update && success && !malformed && said_q.poisoned;
  wire given_up = ours && (lost[tag].lost || abandoned);
  assign late_o       = last_beat && !known && given_up;
  assign unexpected_o = last_beat && !known && !given_up;

  // Tags.
  assign head_waits_o = started[head_tag_i] != ended[head_tag_i];
  assign head_kept_o  = valid_q || sweeps_q || (inside_q && tag == head_tag_i);

  logic [33:0] period_q;
  wire [33:0] four_timeouts = (timeout_cycles_i == '0) ? '1 : {timeout_cycles_i, 2'b00};
  wire [33:0] period = four_timeouts < 34'(QuarantineCycles) ? 34'(QuarantineCycles) : four_timeouts;
  // Who writes the tables: a completion, without one the sweep, or else what gives up the oldest tag.
  wire [TagW-1:0] at = valid_q ? tag : sweeps_q ? sweep_q : head_tag_i;
  wire sweep = sweeps_q && !valid_q;
  wire forget = sweep && forgets_q;
  wire abandon = sweep && abandons_q && started[sweep_q] != ended[sweep_q];
  wire stays_lost = lost[sweep_q].lost && (!lost[sweep_q].long_lost || abandons_q) && !forgets_q;
  wire stops = expire_i || forget || abandon || (late_o && abandoned);

  always_ff @(posedge clk_i) begin
    if (start_i) started[start_tag_i] <= !ended[start_tag_i];
    if ((update && ends) || stops) ended[at] <= started[at];
    if (update || stops) begun[at] <= update && !ends;
    if (late_o && (!success || said_q.last)) lost[at] <= '0;
    else if (malformed_o || expire_i || (late_o && abandoned) || (abandon && !forgets_q))
      lost[at] <= '{lost: 1'b1, long_lost: 1'b0};
    else if (sweep) lost[at] <= '{lost: stays_lost, long_lost: stays_lost && !abandons_q};

    quarantined_o <= lost[next_tag_i].lost;

    period_q <= sweeps_q ? '0 : period_q + 1'b1;
    if (sweep) sweep_q <= sweep_q + 1'b1;
    if (sweep && sweep_q == '1) {sweeps_q, forgets_q, abandons_q} <= '0;
    if (!sweeps_q && period_q >= period) sweeps_q <= 1'b1;
    if (rst_i) begin
      sweeps_q   <= 1'b1;
      abandons_q <= 1'b1;
      sweep_q    <= '0;
      if (forget_i) forgets_q <= 1'b1;
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
    if (rst_i) known_q <= 1'b0;
  end

  if (Wide) begin : g_two_steps
    // What a TLP has left by its header, and whether it goes to a multiple of 16: to be known early.
    logic [10:0] dws_q;
    logic unaligned_q;
    wire [10:0] dws = sop_q ? said_q.payload[12:2] : dws_q;
    logic [3:0] ends_at[Tags];  // as `ram_end` in the entry
    assign two_steps = unaligned_q && dws > 11'((RowBytes - SegBytes) / 4);
    always_ff @(posedge clk_i) begin
      if (start_i) ends_at[start_tag_i] <= start_entry.ram_end[3:0];
      if (look_up) unaligned_q <= ends_at[in_tag] != in_said.wanted[3:0];
      if (valid_q && !stall) dws_q <= dws - 11'(BeatBytes / 4);
    end
  end else begin : g_one_step
    assign two_steps = 1'b0;
  end

  dma_read_place #(
      .BeatBytes(BeatBytes)
  ) i_place (
      .clk_i,
      .rst_i,
      .valid_i(beat_o),
      .sel_i  (entry.sel),
      .dest_i (dest),
      .start_i(first ? said_q.skip : 2'd0),
      .stop_i (stop),
      .upper_i(second_q),
      .data_i (data_q),
      .ram_o
  );

  wire unused = &{1'b0, chunk_i, in_hdr};

  `ASSERT(StartsFree,
          start_i |-> ready_o && started[start_tag_i] == ended[start_tag_i] && !quarantined_o)
  `ASSERT(ExpireWaits, expire_i |-> head_waits_o && !head_kept_o)
endmodule
