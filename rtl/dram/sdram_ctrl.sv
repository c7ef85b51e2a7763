// SPDX-License-Identifier: Apache-2.0
`include "assert.svh"
`include "stream.svh"
/// Controller of the frame memory: bursts in order, rows left open, the next burst's row opened while the last one moves.
///
/// Its clock is a quarter of the memory clock: it gives four commands a clock (slots), and moves four words. Takes bursts of 1 ...
/// 128 words of 16 bytes anywhere; one that crosses 2 kB is done as two. Address map: 2 kB lie in one row, the next 2 kB in
/// another bank: the one that the address has next, exclusive or the row, so that slots a multiple of all banks apart do not meet in one. Words are asked for from the first slot on that may be; slot 3 is the next burst's when its row has to be prepared,
/// and the words of a burst move on by a lane for it. The last words of a burst that lie in two rows of its data go in two clocks. A burst for a
/// closed bank waits TRcd, for another row TRp + TRcd more, less what was hidden under the burst before. Each time that a
/// command must keep is a count-down of memory clocks; whether it ends within a clock is registered beside it. A read's first row
/// of data is on `rdata_o` CasLatency / 4 + 6 clocks after the burst was taken if its row is open and nothing is before it. Refreshes
/// every TRefi memory clocks on average, and first of all after reset (which finds the banks in any state). Times are memory clocks;
/// the defaults are those of 500 MHz graphics DDR. Reset drops bursts. Never drops anything else.
module sdram_ctrl
  import dram_pkg::*;
#(
    parameter int Banks = 8,
    parameter int Clients = 5,
    parameter int TRcd = 7,
    parameter int TRp = 7,
    parameter int TRas = 15,
    parameter int TRrd = 5,
    parameter int TWr = 7,  // last write data to precharge
    parameter int TWtr = 4,  // last write data to read command
    parameter int TRtp = 2,  // read command to precharge
    parameter int CasLatency = 7,
    parameter int WriteLatency = 3,
    parameter int TRfc = 36,
    parameter int TRefi = 3900,
    localparam int ClientW = Clients > 1 ? $clog2(Clients) : 1
) (
    input logic clk_i,
    input logic rst_i,

    // bus_req_t: bursts, and whose they are.
    stream_if.snk burst,
    input logic [ClientW-1:0] burst_client_i,
    // bus_row_t: rows of the write burst of `wclient_o`, wanted while `write_o`.
    stream_if.snk wdata,
    output logic [ClientW-1:0] wclient_o,
    output logic write_o,
    // Rows read.
    output logic rvalid_o,
    output logic [ClientW-1:0] rclient_o,
    output row_t rdata_o,
    output logic moves_o,  // up to four words are read or written

    // Pins, all registered. Slot s of `ca_o` and `dq_o` is memory clock s of the four that begin with the edge that takes them, slot s of
    // `dq_i` that of the four that end with it.
    output dram_ca_t [DramSlots-1:0] ca_o,
    output logic [DramSlots-1:0] dq_valid_o,  // drives the data pins
    output dram_dq_t [DramSlots-1:0] dq_o,
    input logic [DramSlots-1:0][127:0] dq_i
);
  localparam int BankW = $clog2(Banks);
  localparam int ColW = 7;
  localparam int RowW = FrameAddrW - 4 - ColW - BankW;
  localparam int Last = DramSlots - 1;
  if (2 ** BankW != Banks || Banks < 2 || Banks > 8) begin : g_bad_banks
    $fatal(1, "sdram_ctrl: %0d banks", Banks);
  end
  if (WriteLatency < 1 || CasLatency <= WriteLatency || TRtp < 1 || TRas < TRcd || TRfc <= DramSlots) begin : g_bad_time
    $fatal(1, "sdram_ctrl: latencies %0d, %0d", CasLatency, WriteLatency);
  end

  // A part of a burst that lies in one row.
  typedef logic [1:0] lane_t;
  typedef struct packed {
    logic write;
    logic [ClientW-1:0] client;
    logic [RowW-1:0] row;
    logic [BankW-1:0] bank;
    logic [ColW-1:0] col;
    logic [7:0] beats;
    lane_t lane;  // of its next word
    logic last;  // of the burst
  } part_t;

  // ---------------------------------------------------------------- bursts: now and next
  part_t part_q, next_q, split, rest;
  logic [BankW-1:0] in_turn;  // the bank before the row goes in
  logic part_full_q, next_full_q, split_rest_q;
  wire [8:0] to_row_end = 9'd128 - 9'(burst.data.addr[ColW-1:0]);
  wire crosses = 9'(burst.data.beats) > to_row_end;
  always_comb begin
    rest = '{
        write: burst.data.write,
        client: burst_client_i,
        row: burst.data.addr[ColW+BankW+:RowW],
        bank: '0,
        col: burst.data.addr[ColW-1:0],
        beats: burst.data.beats,
        lane: '0,
        last: 1'b1
    };
    split = rest;
    in_turn = burst.data.addr[ColW+:BankW];
    if (split_rest_q) begin
      {split.row, in_turn} = {rest.row, in_turn} + 1'b1;
      split.col = '0;
      split.beats = 8'(9'(burst.data.beats) - to_row_end);
      split.lane = to_row_end[1:0];
    end else if (crosses) begin
      split.beats = to_row_end[7:0];
      split.last  = 1'b0;
    end
    split.bank = in_turn ^ split.row[BankW-1:0];
  end

  // ---------------------------------------------------------------- rows of write data, ahead of their commands
  typedef struct packed {
    logic [ClientW-1:0] client;
    logic [4:0] rows;  // less one
  } fetch_t;
  `STREAM(fetch_t, fetch_in)
  `STREAM(fetch_t, fetch)
  logic accept, pop, held_q;
  logic [4:0] fetched_q;
  bus_row_t row_q;  // the row with the next word to be written; behind it `wdata`
  wire [7:0] last_word = burst.data.beats - 1'b1;
  wire unused_word = &{1'b0, last_word[7], last_word[1:0]};
  assign fetch_in.valid = accept && burst.data.write && !split_rest_q;
  assign fetch_in.data  = '{client: burst_client_i, rows: last_word[6:2]};
  `FIFO(fetch_t, 4, i_fetch, fetch_in, fetch)
  assign write_o = fetch.valid;
  assign wclient_o = fetch.data.client;
  assign wdata.ready = write_o && (!held_q || pop);
  wire row_taken = wdata.valid && wdata.ready;
  wire last_fetched = fetched_q == fetch.data.rows;
  assign fetch.ready = row_taken && last_fetched;
  always_ff @(posedge clk_i) begin
    if (row_taken) fetched_q <= last_fetched ? '0 : fetched_q + 1'b1;
    if (row_taken) row_q <= wdata.data;
    held_q <= row_taken || (held_q && !pop);
    if (rst_i) begin
      fetched_q <= '0;
      held_q <= 1'b0;
    end
  end
  `ASSERT(FetchHasPlace, fetch_in.valid |-> fetch_in.ready)

  // ---------------------------------------------------------------- times
  // Memory clocks from slot 0 of this clock until a command may come.
  localparam int Longest = TRas + TRfc + WriteLatency + TWr + CasLatency + DramSlots;
  localparam int TimeW = $clog2(Longest + 1);
  typedef logic [TimeW-1:0] time_t;
  function automatic time_t later(time_t a, time_t b);
    return a > b ? a : b;
  endfunction
  // `clocks` from slot `slot` of this clock on, as seen from the next clock.
  function automatic time_t in_next(int clocks, lane_t slot);
    int left = clocks + int'(slot) - DramSlots;
    return left > 0 ? time_t'(left) : '0;
  endfunction
  function automatic time_t passed(time_t t);
    return t > time_t'(DramSlots) ? t - time_t'(DramSlots) : '0;
  endfunction

  // Of each bank; `row_of_q` is meant while `open_q`.
  logic [Banks-1:0] open_q;
  logic [ RowW-1:0] row_of_q[Banks];
  time_t activate_t_q[Banks], column_t_q[Banks], close_t_q[Banks];
  time_t activate_t[Banks], column_t[Banks], close_t[Banks];
  // Of all banks together: another activate, a read, a write.
  time_t any_t_q, read_t_q, write_t_q, any_t, read_t, write_t;
  // What is permitted in a slot of this clock; the time says which.
  logic [Banks-1:0] activate_may_q, column_may_q, close_may_q;
  logic any_may_q, read_may_q, write_may_q;
  logic all_may_q;  // all banks may be closed in slot 0

  typedef enum logic [1:0] {
    Run,
    CloseAll,   // waits until all banks may be closed
    Closing,
    Refreshing
  } state_e;
  state_e state_q;
  localparam int Slack = 128;  // a part that moves, and the precharge after it
  localparam int AgeW = $clog2(TRefi + 4 * Slack) - 2;
  logic [AgeW-1:0] age_q;  // clocks since the last refresh
  time_t wait_q;  // clocks that the state lasts at least
  // Between two parts; or in the middle of one whose write data do not come.
  wire refresh_due = age_q >= AgeW'((TRefi - Slack) / DramSlots);
  wire refresh_overdue = age_q >= AgeW'((TRefi + Slack) / DramSlots);
  wire closes_all = state_q == CloseAll && wait_q == '0 && all_may_q;
  wire refreshes = state_q == Closing && wait_q == '0;

  // ---------------------------------------------------------------- commands
  // The next part's row is prepared while commands are free, and first of all near the end of this part.
  localparam int Prepare = TRp + TRcd + DramSlots;
  logic last_beat, move_up;
  logic column, activate, precharge, for_next;
  logic [2:0] words, most;  // asked for in this clock
  logic  ends;  // with as many the burst is over
  lane_t row_slot;  // of activate and precharge
  lane_t first_slot, last_slot;  // of the words
  wire same_bank = part_q.bank == next_q.bank;
  wire part_open = open_q[part_q.bank] && row_of_q[part_q.bank] == part_q.row;
  wire next_open = open_q[next_q.bank] && row_of_q[next_q.bank] == next_q.row;
  wire part_runs = part_full_q && state_q == Run;
  wire [BankW-1:0] row_bank = for_next ? next_q.bank : part_q.bank;
  wire may = part_open && column_may_q[part_q.bank] && (part_q.write ? write_may_q && held_q : read_may_q);
  assign for_next = part_open;
  always_comb begin
    column = part_runs && may;
    first_slot = lane_t'(later(column_t_q[part_q.bank], part_q.write ? write_t_q : read_t_q));
    activate = 1'b0;
    precharge = 1'b0;
    if (part_runs && (!part_open || (next_full_q && !same_bank && !next_open && (!column || (part_q.beats <= 8'(Prepare) && first_slot != lane_t'(Last)))))) begin
      precharge = open_q[row_bank] && close_may_q[row_bank];
      activate  = !open_q[row_bank] && activate_may_q[row_bank] && any_may_q;
    end
    // Behind the words, or in the first slot that may be.
    row_slot = lane_t'(Last);
    if (!column)
      row_slot = lane_t'(precharge ? close_t_q[row_bank] : later(activate_t_q[row_bank], any_t_q));

    most  = 3'(DramSlots) - 3'(first_slot) - 3'(precharge || activate);
    ends  = part_q.last && part_q.beats <= 8'(most);
    words = part_q.beats < 8'(most) ? part_q.beats[2:0] : most;
    if (3'(part_q.lane) + words > 3'(DramSlots) && (ends || (part_q.write && !wdata.valid)))
      words = 3'(DramSlots) - 3'(part_q.lane);
    last_beat = column && part_q.beats == 8'(words);
    move_up = !part_full_q || last_beat;
    accept = burst.valid && (!next_full_q || move_up);
  end
  assign burst.ready = (!next_full_q || move_up) && (split_rest_q || !crosses);
  // A row of write data is over with its last lane, and with the burst.
  assign last_slot   = first_slot + lane_t'(words - 1'b1);
  wire [2:0] lane_behind = 3'(part_q.lane) + words;
  assign pop = column && part_q.write && (lane_behind[2] || (last_beat && part_q.last));
  assign moves_o = column;

  dram_ca_t [DramSlots-1:0] ca;
  dram_cmd_e row_cmd;
  logic [DramSlots-1:0] asked;  // a word in this slot
  assign row_cmd = activate ? Activate : Precharge;
  always_comb begin
    for (int s = 0; s < DramSlots; s++) begin
      asked[s] = column && lane_t'(s) >= first_slot && lane_t'(s) <= last_slot;
      ca[s] = '{
          cmd: Nop,
          bank: 3'(part_q.bank),
          addr: 14'(ColW'(part_q.col + ColW'(s) - ColW'(first_slot)))
      };
      if (asked[s]) ca[s].cmd = part_q.write ? Write : Read;
    end
    if (activate || precharge)
      ca[row_slot] = '{
          cmd: row_cmd,
          bank: 3'(row_bank),
          addr: 14'(for_next ? next_q.row : part_q.row)
      };
    if (closes_all) ca[0].cmd = PrechargeAll;
    if (refreshes) ca[0].cmd = Refresh;
  end

  // What the commands of this clock mean for those behind them.
  logic all_may;
  always_comb begin
    for (int b = 0; b < Banks; b++) begin
      activate_t[b] = passed(activate_t_q[b]);
      column_t[b]   = passed(column_t_q[b]);
      close_t[b]    = passed(close_t_q[b]);
      if (column && BankW'(b) == part_q.bank)
        close_t[b] = later(
          close_t[b],
          part_q.write ? in_next(
            WriteLatency + 1 + TWr, last_slot
          ) : in_next(
            TRtp, last_slot)
        );
      if (activate && BankW'(b) == row_bank) begin
        column_t[b] = in_next(TRcd, row_slot);
        close_t[b]  = in_next(TRas, row_slot);
      end
      if (precharge && BankW'(b) == row_bank) activate_t[b] = in_next(TRp, row_slot);
    end
    all_may = 1'b1;
    for (int b = 0; b < Banks; b++) if (close_t[b] != '0) all_may = 1'b0;
    any_t = activate ? in_next(TRrd, row_slot) : passed(any_t_q);
    read_t = column && part_q.write ? in_next(WriteLatency + 1 + TWtr, last_slot) :
        passed(read_t_q);
    write_t = column && !part_q.write ? in_next(CasLatency - WriteLatency + 2, last_slot) :
        passed(write_t_q);
  end

  always_ff @(posedge clk_i) begin
    ca_o  <= ca;
    age_q <= age_q + 1'b1;
    if (wait_q != '0) wait_q <= wait_q - 1'b1;

    if (move_up) begin
      part_full_q <= next_full_q;
      if (next_full_q) part_q <= next_q;
    end else if (column) begin
      part_q.beats <= part_q.beats - 8'(words);
      part_q.col   <= part_q.col + ColW'(words);
      part_q.lane  <= lane_behind[1:0];
    end
    if (accept) begin
      next_full_q <= 1'b1;
      next_q <= split;
      split_rest_q <= crosses && !split_rest_q;
    end else if (move_up) begin
      next_full_q <= 1'b0;
    end

    if (activate) begin
      open_q[row_bank]   <= 1'b1;
      row_of_q[row_bank] <= for_next ? next_q.row : part_q.row;
    end
    if (precharge) open_q[row_bank] <= 1'b0;
    for (int b = 0; b < Banks; b++) begin
      activate_t_q[b] <= activate_t[b];
      column_t_q[b] <= column_t[b];
      close_t_q[b] <= close_t[b];
      activate_may_q[b] <= activate_t[b] <= time_t'(Last);
      column_may_q[b] <= column_t[b] <= time_t'(Last);
      close_may_q[b] <= close_t[b] <= time_t'(Last);
    end
    all_may_q <= all_may;
    any_t_q <= any_t;
    read_t_q <= read_t;
    write_t_q <= write_t;
    any_may_q <= any_t <= time_t'(Last);
    read_may_q <= read_t <= time_t'(Last);
    write_may_q <= write_t <= time_t'(Last);

    case (state_q)
      Run: if ((refresh_due && (!part_full_q || last_beat)) || refresh_overdue) state_q <= CloseAll;
      CloseAll:
      if (closes_all) begin
        state_q <= Closing;
        open_q  <= '0;
        wait_q  <= time_t'((TRp - 1) / DramSlots);
      end
      Closing:
      if (refreshes) begin
        state_q <= Refreshing;
        age_q   <= '0;
        wait_q  <= time_t'((TRfc - 1) / DramSlots - 1);
      end
      default: if (wait_q == '0) state_q <= Run;
    endcase

    if (rst_i) begin
      // As if a refresh were due.
      state_q <= CloseAll;
      age_q <= '0;
      wait_q <= time_t'((TRas + TWr + WriteLatency) / DramSlots + 1);
      part_full_q <= 1'b0;
      next_full_q <= 1'b0;
      split_rest_q <= 1'b0;
      open_q <= '0;
      for (int b = 0; b < Banks; b++) begin
        activate_t_q[b] <= '0;
        column_t_q[b] <= '0;
        close_t_q[b] <= '0;
      end
      any_t_q   <= '0;
      read_t_q  <= '0;
      write_t_q <= '0;
      for (int s = 0; s < DramSlots; s++) ca_o[s].cmd <= Nop;
    end
  end

  // ---------------------------------------------------------------- data to the pins
  // Words of this clock by their slots; then so many clocks later, and so many slots.
  localparam int WriteClocks = WriteLatency / DramSlots;
  localparam int WriteSlots = WriteLatency % DramSlots;
  typedef struct packed {
    logic [DramSlots-1:0]     valid;
    dram_dq_t [DramSlots-1:0] dq;
  } slots_t;
  slots_t writes[WriteClocks+2], writes_q[WriteClocks+2];  // as they are now, and behind a clock
  wire [2*DramSlots-1:0][127:0] ahead_data = {wdata.data.data, row_q.data};
  wire [2*DramSlots-1:0][ 15:0] ahead_strb = {wdata.data.strb, row_q.strb};
  always_comb begin
    for (int s = 0; s < DramSlots; s++) begin
      writes[0].valid[s] = asked[s] && part_q.write;
      writes[0].dq[s] = '{data: ahead_data[ahead(3'(s))], mask: ~ahead_strb[ahead(3'(s))]};
    end
    for (int i = 1; i < WriteClocks + 2; i++) writes[i] = writes_q[i-1];
  end
  always_ff @(posedge clk_i) begin
    for (int i = 0; i < WriteClocks + 2; i++) begin
      writes_q[i].valid <= rst_i ? '0 : writes[i].valid;
      if (writes[i].valid != '0) writes_q[i].dq <= writes[i].dq;
    end
    for (int s = 0; s < DramSlots; s++) begin
      dq_valid_o[s] <= !rst_i && writes[at(s)].valid[slot(s)];
      if (writes[at(s)].valid[slot(s)]) dq_o[s] <= writes[at(s)].dq[slot(s)];
    end
  end
  // The word of slot `s`, of those ahead.
  function automatic logic [2:0] ahead(logic [2:0] s);
    return 3'(part_q.lane) + s - 3'(first_slot);
  endfunction
  // What is at the pins in slot `s` was given so many clocks before, in that slot.
  function automatic int at(int s);
    return s >= WriteSlots ? WriteClocks : WriteClocks + 1;
  endfunction
  function automatic int slot(int s);
    return (s + DramSlots - WriteSlots) % DramSlots;
  endfunction

  // ---------------------------------------------------------------- data from the pins
  localparam int ReadClocks = CasLatency / DramSlots + 3;  // from the command to its words, side by side
  localparam int ReadSlots = CasLatency % DramSlots;
  typedef struct packed {
    logic [ClientW-1:0] client;
    lane_t slot;  // of the first word
    lane_t lane;
    logic [2:0] words;  // 0: none
    logic ends;
  } coming_t;
  coming_t reading_q[ReadClocks];
  logic [DramSlots-1:0][127:0] before_q, came, turned, row_now;
  coming_t now;
  assign now = reading_q[ReadClocks-1];
  logic [DramSlots-1:0][127:0] begun_q;  // words of a row that is not whole
  wire [2:0] behind = 3'(now.lane) + now.words;
  wire whole = now.words != '0 && (behind[2] || now.ends);
  always_comb begin
    for (int s = 0; s < DramSlots; s++)
    came[s] = s + ReadSlots < DramSlots ? before_q[s+ReadSlots] : dq_i[s+ReadSlots-DramSlots];
    // To their lanes; those that do not fit begin the next row.
    for (int l = 0; l < DramSlots; l++) begin
      turned[l]  = came[lane_t'(l)-now.lane+now.slot];
      row_now[l] = lane_t'(l) >= now.lane ? turned[l] : begun_q[l];
    end
  end
  always_ff @(posedge clk_i) begin
    reading_q[0] <= '{
        client: part_q.client,
        slot: first_slot,
        lane: part_q.lane,
        words: column && !part_q.write ? words : '0,
        ends: last_beat && part_q.last
    };
    for (int i = 1; i < ReadClocks; i++) reading_q[i] <= reading_q[i-1];
    before_q <= dq_i;
    if (now.words != '0) begin
      begun_q   <= whole ? turned : row_now;
      rdata_o   <= row_now;
      rclient_o <= now.client;
    end
    rvalid_o <= whole;
    if (rst_i) begin
      for (int i = 0; i < ReadClocks; i++) reading_q[i].words <= '0;
      rvalid_o <= 1'b0;
    end
  end

  `ASSERT(NoTwoRowsAtOnce, !(column && last_beat && part_q.last && lane_behind > 3'd4))
  `ASSERT(WordsAreThere, column |-> words != '0)
endmodule
