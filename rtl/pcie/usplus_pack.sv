// SPDX-License-Identifier: Apache-2.0
`include "assert.svh"
`include "stream.svh"
/// Puts TLPs side by side as the UltraScale+ block takes them: descriptor in band, 64 bytes a clock.
///
/// `in` brings TLPs with payload, `alone` such as are their descriptor and no more. A TLP takes whole halves of beats. With
/// `Straddle` it begins where the one before it ended, and both halves are full in every clock for which TLPs wait: one of `in` and
/// one of `alone` are taken together. Without, each begins a beat, and the two take turns. The block takes no gap inside a TLP, so one of
/// `in` begins when its last beat is there (`Depth` beats wait). Where both wait, one of `alone` is held back while `alone_yields_i`, and while
/// `in_yields_i` one of `in`, unless half a beat would be lost by it. Latency 3 clocks from its last beat, of `alone` none; `out` is only
/// valid while it is ready, and is to go to a register. Full back-pressure. Reset drops what is held.
module usplus_pack
  import usplus_pkg::*;
#(
    parameter type Tlp = logic,       // {sop, eop, usplus_head_t head, dws, data}: dws of payload in all its beats
    parameter int BeatDws = 16,  // a beat of it
    parameter int DescDws = 4,
    parameter bit Straddle = 1'b1,
    parameter int Depth = 512 / BeatDws
) (
    input logic clk_i,
    input logic rst_i,

    stream_if.snk in,     // Tlp: all beats are full but the last
    stream_if.snk alone,  // usplus_head_t
    input logic alone_yields_i,
    input logic in_yields_i,
    stream_if.src out  // usplus_halves_t
);
  localparam int Full = BeatDws / HalfDws;  // halves of a full beat; the last one may need one more
  localparam int Most = Full + 4;  // with two left over and one of `alone`
  localparam int CountW = $clog2(Most + 1);
  localparam int LowW = $clog2(BeatDws);
  localparam int DwsW = $clog2((Full + 2) * HalfDws);
  localparam int WholeW = $clog2(Depth + 1);
  if (DescDws > HalfDws || BeatDws % UsPlusDws != 0) begin : g_bad_parameter
    $fatal(1, "usplus_pack: DescDws %0d, beats of %0d Dwords", DescDws, BeatDws);
  end

  // ---------------------------------------------------------------- whole TLPs
  `STREAM(Tlp, stored)
  `FIFO(Tlp, Depth, i_stored, in, stored)
  logic [WholeW-1:0] whole_q;  // that are stored, and
  logic some_q;  // any
  logic ended_q;  // one more: a clock later its last beat comes right behind the others
  logic inside_q;

  // ---------------------------------------------------------------- halves of the beat, worked out a clock ahead
  typedef struct packed {
    logic sop;
    logic eop;
    logic [CountW-1:0] halves;
    logic [3:0] last_be;
    logic [3:0] first_be;
    logic [$clog2(HalfDws)-1:0] last_dw;
    logic [(Full+1)*32*HalfDws-1:0] line;
  } cut_t;
  Tlp beat;
  assign beat = stored.data;
  wire [LowW-1:0] low = beat.dws[LowW-1:0];
  wire is_full = !beat.eop || (low == '0 && beat.dws != '0);
  logic [32*DescDws-1:0] carry_q;
  logic [(Full+1)*32*HalfDws-1:0] line;
  assign line = ((Full + 1) * 32 * HalfDws)'({
    beat.data, beat.sop ? beat.head.desc[32*DescDws-1:0] : carry_q
  });
  wire [  DwsW-1:0] dws = DwsW'(DescDws) + (is_full ? DwsW'(BeatDws) : DwsW'(low));
  wire [  DwsW-1:0] rounded = dws + DwsW'(HalfDws - 1);
  wire [CountW-1:0] halves = beat.eop ? CountW'(rounded[DwsW-1:$clog2(HalfDws)]) : CountW'(Full);
  `STREAM(cut_t, cut)
  `STREAM(cut_t, ahead)
  assign cut.valid = stored.valid;
  `STREAM_DATA(cut, '{sop: beat.sop, eop: beat.eop, halves: halves, last_be: beat.head.last_be,
                    first_be: beat.head.first_be, last_dw: $clog2(HalfDws)'(dws - 1'b1), line:
                                                                                           line})
  assign stored.ready = cut.ready;
  always_ff @(posedge clk_i)
    if (stored.valid && stored.ready)
      carry_q <= beat.data[32*BeatDws-1-:32*DescDws];
  `SPILL(cut_t, i_cut, cut, ahead)

  cut_t now;
  assign now = ahead.data;
  wire ready = ahead.valid && (inside_q || some_q);
  usplus_half_t piece[Full+1], single;
  for (genvar i = 0; i <= Full; i++) begin : g_piece
    assign piece[i] = '{
            mark: '{
                sop: i == 0 && now.sop,
                eop: now.eop && now.halves == CountW'(i + 1),
                last_be: now.last_be,
                first_be: now.first_be,
                last_dw: now.last_dw
            },
            data: now.line[i*32*HalfDws+:32*HalfDws]
        };
  end
  usplus_head_t head;
  assign head = alone.data;
  `WHILE(alone.valid, single, '{mark: '{sop: 1'b1, eop: 1'b1, last_be: head.last_be,
                                first_be: head.first_be, last_dw: $clog2(HalfDws)'(DescDws - 1)},
                              data: (32 * HalfDws)'(head.desc[32*DescDws-1:0])})

  // ---------------------------------------------------------------- what is left over, then the beat, then the one alone
  // Where nothing can be taken, or less than a beat comes out, what stands behind that is not looked at.
  usplus_half_t rest_q[Full+2], row[Most];
  logic [CountW-1:0] left_q;
  logic first_q;  // one alone goes before one of `in` that waits: with one or two halves left over that fills the beat
  logic alone_last_q;  // for turns
  wire [1:0] beside = left_q[1:0];  // left over, where more is taken
  wire take = out.ready && left_q <= CountW'(Straddle ? 2 : 0);
  wire alone_first = first_q && !inside_q;
  wire beside_in = !alone_yields_i && (Straddle ? now.eop : !inside_q && !alone_last_q);
  wire alone_goes = alone.valid && (!ready || alone_first || beside_in);
  wire beat_goes = ready && !(alone.valid && alone_first) && (Straddle || !alone_goes);
  wire take_beat = take && beat_goes;
  wire take_alone = take && alone_goes;
  wire [CountW-1:0] from_beat = beat_goes ? now.halves : '0;
  wire [CountW-1:0] total = from_beat + CountW'(beside) + CountW'(alone_goes);
  assign ahead.ready = take_beat;
  assign alone.ready = take_alone;
  for (genvar i = 0; i < Most; i++) begin : g_row
    usplus_half_t taken[3];  // beside so many
    for (genvar b = 0; b < 3; b++) begin : g_beside
      localparam int Own = i < b ? 0 : i - b < Full ? i - b : Full;
      assign taken[b] = i >= b && CountW'(i - b) < from_beat ? piece[Own] : single;
    end
    localparam int Kept = i < Full + 1 ? i : Full + 1;
    wire left = left_q > CountW'(i < 2 ? i : 2);
    `WHILE(out.valid, row[i],
           left ? rest_q[Kept] : beside[1] ? taken[2] : beside[0] ? taken[1] : taken[0])
  end
  assign out.valid = out.ready && (left_q != '0 || ready || alone.valid);
  `STREAM_DATA(out, '{upper: left_q > 1 || (take && total > 1), mark: {row[1].mark, row[0].mark},
                    data: {row[1].data, row[0].data}})

  wire [WholeW-1:0] whole = whole_q + WholeW'(ended_q) - WholeW'(take_beat && now.eop);
  always_ff @(posedge clk_i) begin
    ended_q <= in.valid && in.ready && in.data.eop && !rst_i;
    whole_q <= whole;
    some_q <= whole != '0;
    first_q <= in_yields_i && (!Straddle || (!out.ready ? left_q != '0 : take ? total > 2 : left_q > 2));
    if (take_beat) inside_q <= !now.eop;
    if (take_beat || take_alone) alone_last_q <= take_alone;
    if (out.ready) begin
      if (`WORTH(out.valid)) for (int i = 0; i < Full + 2; i++) rest_q[i] <= row[i+2];
      if (take) left_q <= (total > 2) ? total - CountW'(2) : '0;
      else left_q <= (left_q > 2) ? left_q - CountW'(2) : '0;
    end
    if (rst_i) begin
      whole_q <= '0;
      some_q <= 1'b0;
      inside_q <= 1'b0;
      alone_last_q <= 1'b0;
      left_q <= '0;
      first_q <= 1'b0;
    end
  end

  `ASSERT(NothingLost, first_q && Straddle |-> left_q != '0)
  `ASSERT(NoGap, out.valid && !out.data.upper |-> out.data.mark[0].eop)
  `ASSERT(WholeTlp, inside_q |-> ahead.valid)
endmodule
