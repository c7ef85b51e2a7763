// SPDX-License-Identifier: Apache-2.0
`include "assert.svh"
/// Transactions on a PCI-X bus for `Sources` sources inside the card.
///
/// A source offers a transaction (`want_i`, `offer_i`) and keeps the offer until `start_o`. Source 0 goes first, the others
/// round robin, one transaction each. A transaction of N words takes N + 4 clocks, and the next may begin right after it:
/// address, attribute, response, N words without wait states, turnaround. `data_i` is the source's next word: it must be
/// there whenever `pop_o` takes it. `taken_o` says that the target has a word, `end_o` with `how_o` how it ended (in the clock
/// of the last `taken_o`). Reads end after the response: their data come as a Split Completion. A target that asks for a
/// disconnect gets the words up to the next 128-byte boundary at which the master can still stop. REQ# is low while a source
/// other than the one that has the bus requests it (`need_i`). All pins are driven by registers.
module pcix_master
  import pcix_pkg::*;
#(
    parameter int Sources = 5
) (
    input logic clk_i,
    input logic rst_i,
    // The bus, and what this master drives.
    input pins_in_t pins_i,
    output logic req_n_o,
    output logic frame_n_o,
    output logic irdy_n_o,
    output logic master_oe_o,
    output logic [63:0] ad_o,
    output logic [7:0] cbe_n_o,
    output logic ad_oe_o,
    // Sources.
    input logic [Sources-1:0] want_i,
    input logic [Sources-1:0] need_i,
    input offer_t offer_i[Sources],
    input logic [63:0] data_i[Sources],
    output logic [Sources-1:0] start_o,
    output logic [Sources-1:0] pop_o,
    output logic [Sources-1:0] taken_o,
    output logic [Sources-1:0] end_o,
    output end_e how_o,
    // Events.
    output logic master_abort_o,
    output logic target_abort_o,
    output logic disconnect_o
);
  localparam int SourceW = Sources > 1 ? $clog2(Sources) : 1;
  localparam logic [2:0] DecodeClocks = 3'd5;  // after the response phase, for DEVSEL#
  typedef enum logic [2:0] {
    Idle,
    Address,
    Attribute,
    Data,
    Release,
    Turn
  } state_e;

  state_e state_q;  // what is on the pins now
  logic [SourceW-1:0] source_q, next_q, choice;
  offer_t current_q;
  logic [9:0] left_q;  // words, the one on the pins included
  logic [3:0] index_q;  // of the word on the pins within its 128 bytes
  logic stop_q, answered_q;
  logic [2:0] wait_q;

  // Round robin after source 0.
  always_comb begin
    choice = '0;
    for (int i = Sources - 1; i >= 1; i--) if (want_i[i]) choice = SourceW'(i);
    for (int i = Sources - 1; i >= 1; i--)
    if (want_i[i] && SourceW'(i) >= next_q) choice = SourceW'(i);
    if (want_i[0]) choice = '0;
  end

  // The bus is free, and it is ours: the address phase is the next clock.
  wire free = (state_q == Idle) || (state_q == Turn);
  wire start = free && |want_i && !pins_i.gnt_n && pins_i.frame_n && pins_i.irdy_n;

  // What the target says in this clock.
  response_e response;
  assign response = response_e'({pins_i.devsel_n, pins_i.stop_n, pins_i.trdy_n});
  wire data = state_q == Data && wait_q != '0;  // not yet in the response phase
  // No target answered in time, or the one that did is gone.
  wire no_target = response == Silent && (answered_q || wait_q == DecodeClocks);
  wire taken = data && !current_q.read &&
      (response inside {Transfer, DisconnectNextAdb, SingleDisconnect});
  // A read can only be put off, split or refused.
  wire refused = data && (response == TargetAbort || (current_q.read &&
      (response inside {Transfer, DisconnectNextAdb, SingleDisconnect})));
  wire cut = data && (no_target || refused || (response inside {Retry, SplitResponse, SingleDisconnect}));
  wire last = frame_n_o;  // FRAME# is high with the last word
  wire finish = cut || (taken && last);
  wire more = taken && !finish;
  // The next word is the last one: of all, or before the boundary at which we shall stop.
  wire stop = stop_q || response == DisconnectNextAdb;
  wire next_last = left_q == 10'd2 || (stop && index_q == 4'd14);

  always_comb begin
    start_o = '0;
    pop_o   = '0;
    taken_o = '0;
    end_o   = '0;
    if (start) start_o[choice] = 1'b1;
    if ((state_q == Attribute && !current_q.read) || more) pop_o[source_q] = 1'b1;
    if (taken) taken_o[source_q] = 1'b1;
    if (finish) end_o[source_q] = 1'b1;
    how_o = EndDone;
    if (response == Retry) how_o = EndRetry;
    if (response == SplitResponse) how_o = current_q.read ? EndSplit : EndAbort;
    if (no_target || refused) how_o = EndAbort;
  end
  assign master_abort_o = data && no_target;
  assign target_abort_o = refused;
  assign disconnect_o   = taken && finish && left_q != 10'd1;

  always_ff @(posedge clk_i) begin
    req_n_o <= !(|need_i);
    unique case (state_q)
      Address: begin
        state_q <= Attribute;
        ad_o <= {29'd0, current_q.attr};
        cbe_n_o <= '0;
      end
      Attribute: begin
        state_q <= Data;
        irdy_n_o <= 1'b0;
        ad_o <= data_i[source_q];
        ad_oe_o <= !current_q.read;
        stop_q <= 1'b0;
        answered_q <= 1'b0;
        wait_q <= '0;
      end
      Data: begin
        answered_q <= answered_q || response != Silent;
        if (wait_q != '1) wait_q <= wait_q + 1'b1;
        if (response == DisconnectNextAdb) stop_q <= 1'b1;
        if (current_q.read || left_q == 10'd1) frame_n_o <= 1'b1;
        if (more) begin
          ad_o <= data_i[source_q];
          left_q <= left_q - 1'b1;
          index_q <= index_q + 1'b1;
          frame_n_o <= next_last;
        end
        if (finish) begin
          // FRAME# must be seen high before IRDY# goes high.
          state_q   <= last ? Turn : Release;
          frame_n_o <= 1'b1;
          irdy_n_o  <= last;
          ad_oe_o   <= 1'b0;
        end
      end
      Release: begin
        state_q  <= Turn;
        irdy_n_o <= 1'b1;
      end
      default: begin
        state_q <= Idle;
        master_oe_o <= 1'b0;
        if (start) begin
          state_q <= Address;
          frame_n_o <= 1'b0;
          master_oe_o <= 1'b1;
          ad_o <= offer_i[choice].addr;
          cbe_n_o <= {4'd0, offer_i[choice].command};
          ad_oe_o <= 1'b1;
          source_q <= choice;
          current_q <= offer_i[choice];
          left_q <= offer_i[choice].words;
          index_q <= offer_i[choice].addr[6:3];
          if (choice != '0)
            next_q <= (choice == SourceW'(Sources - 1)) ? SourceW'(1) : choice + 1'b1;
        end
      end
    endcase
    if (rst_i) begin
      state_q <= Idle;
      next_q <= SourceW'(1);
      req_n_o <= 1'b1;
      frame_n_o <= 1'b1;
      irdy_n_o <= 1'b1;
      master_oe_o <= 1'b0;
      ad_oe_o <= 1'b0;
    end
  end

  `ASSERT(OffersHaveWords, start |-> offer_i[choice].words inside {[1 : 512]})
  `ASSERT(NobodyElseDrivesFrame, master_oe_o |-> pins_i.frame_n == frame_n_o)
endmodule
