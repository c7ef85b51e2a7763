// SPDX-License-Identifier: Apache-2.0
`include "assert.svh"
/// Controller of the frame memory: bursts in order, rows left open, the next burst's row opened while the last one moves.
///
/// Takes bursts of 1 ... 128 words of 16 bytes anywhere; one that crosses 2 kB is done as two. Address map: 2 kB lie in one
/// row, the next 2 kB in the next bank. One command a clock, one word a clock while a burst moves. A burst for a closed
/// bank waits TRcd, for another row TRp + TRcd more, less what was hidden under the burst before. A read's first word is on
/// `rdata_o` CasLatency + 3 clocks after the burst was taken if its row is open and nothing is before it. Refreshes every
/// TRefi clocks on average, and first of all after reset (which finds the banks in any state). Times are clocks of the
/// memory clock; the defaults are those of 500 MHz graphics DDR. Reset drops bursts. Never drops anything else.
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
    // bus_wdata_t: words of the write burst of `wclient_o`, wanted while `write_o`.
    stream_if.snk wdata,
    output logic [ClientW-1:0] wclient_o,
    output logic write_o,
    // Words read.
    output logic rvalid_o,
    output logic [ClientW-1:0] rclient_o,
    output logic [127:0] rdata_o,

    // Pins, all registered.
    output dram_ca_t ca_o,
    output logic dq_valid_o,  // drives the data pins
    output dram_dq_t dq_o,
    input logic [127:0] dq_i
);
  localparam int BankW = $clog2(Banks);
  localparam int ColW = 7;
  localparam int RowW = FrameAddrW - 4 - ColW - BankW;
  if (2 ** BankW != Banks || Banks < 2 || Banks > 8) begin : g_bad_banks
    $fatal(1, "sdram_ctrl: %0d banks", Banks);
  end
  if (WriteLatency < 1 || CasLatency <= WriteLatency || TRtp < 1 || TRas < TRcd) begin : g_bad_time
    $fatal(1, "sdram_ctrl: latencies %0d, %0d", CasLatency, WriteLatency);
  end

  // A part of a burst that lies in one row.
  typedef struct packed {
    logic write;
    logic [ClientW-1:0] client;
    logic [RowW-1:0] row;
    logic [BankW-1:0] bank;
    logic [ColW-1:0] col;
    logic [7:0] beats;
  } part_t;

  // Time since the last refresh. Nothing that must be waited for is older, so points in time never wrap around.
  localparam int Slack = 128;  // a part that moves, and the precharge after it
  localparam int TimeW = $clog2(TRefi + 4 * Slack);
  typedef logic [TimeW-1:0] time_t;
  time_t now_q;
  // Between two parts; or in the middle of one whose write data do not come.
  wire refresh_due = now_q >= time_t'(TRefi - Slack);
  wire refresh_overdue = now_q >= time_t'(TRefi + Slack);

  // What each bank may take from when on; `row_q` is meant while `open_q`.
  logic [Banks-1:0] open_q;
  logic [RowW-1:0] row_q[Banks];
  time_t activate_at_q[Banks], column_at_q[Banks], precharge_at_q[Banks];
  // The same for all banks together.
  time_t any_activate_at_q, read_at_q, write_at_q, all_idle_at_q;

  // Now and next.
  part_t part_q, next_q, split;
  logic part_full_q, next_full_q, split_rest_q;
  // The rest of a burst that crosses into another row.
  part_t rest;
  wire [8:0] to_row_end = 9'd128 - 9'(burst.data.addr[ColW-1:0]);
  wire crosses = 9'(burst.data.beats) > to_row_end;
  always_comb begin
    rest = '{
        write: burst.data.write,
        client: burst_client_i,
        row: burst.data.addr[ColW+BankW+:RowW],
        bank: burst.data.addr[ColW+:BankW],
        col: burst.data.addr[ColW-1:0],
        beats: burst.data.beats
    };
    split = rest;
    if (split_rest_q) begin
      {split.row, split.bank} = {rest.row, rest.bank} + 1'b1;
      split.col = '0;
      split.beats = 8'(9'(burst.data.beats) - to_row_end);
    end else if (crosses) begin
      split.beats = to_row_end[7:0];
    end
  end

  typedef enum logic [1:0] {
    Run,
    CloseAll,   // waits until all banks may be closed
    Refreshing
  } state_e;
  state_e state_q;

  // Commands. The next part's row is prepared while commands are free, and first of all near the end of this part.
  localparam int Prepare = TRp + TRcd + 2;
  logic last_beat, move_up, accept;
  dram_ca_t ca;
  logic column, activate, precharge, for_next;
  wire same_bank = part_q.bank == next_q.bank;
  wire part_open = open_q[part_q.bank] && row_q[part_q.bank] == part_q.row;
  wire next_open = open_q[next_q.bank] && row_q[next_q.bank] == next_q.row;
  always_comb begin
    column = 1'b0;
    activate = 1'b0;
    precharge = 1'b0;
    for_next = 1'b0;
    if (part_full_q && state_q == Run) begin
      // The part itself.
      if (part_open)
        column = now_q >= column_at_q[part_q.bank] && (part_q.write ? now_q >= write_at_q && wdata.valid : now_q >= read_at_q);
      else if (open_q[part_q.bank]) precharge = now_q >= precharge_at_q[part_q.bank];
      else activate = now_q >= activate_at_q[part_q.bank] && now_q >= any_activate_at_q;
      // The next one.
      if (next_full_q && !same_bank && !next_open && !precharge && !activate && (!column || part_q.beats <= 8'(Prepare))) begin
        if (open_q[next_q.bank]) precharge = now_q >= precharge_at_q[next_q.bank];
        else activate = now_q >= activate_at_q[next_q.bank] && now_q >= any_activate_at_q;
        for_next = precharge || activate;
        if (for_next) column = 1'b0;
      end
    end
    last_beat = column && part_q.beats == 8'd1;
    move_up = !part_full_q || last_beat;
    accept = burst.valid && (!next_full_q || move_up);
  end
  assign burst.ready = (!next_full_q || move_up) && (split_rest_q || !crosses);
  assign wdata.ready = column && part_q.write;
  assign wclient_o = part_q.client;
  assign write_o = part_full_q && part_q.write;

  wire [BankW-1:0] bank = for_next ? next_q.bank : part_q.bank;
  always_comb begin
    ca = '{cmd: Nop, bank: ca_o.bank, addr: ca_o.addr};
    if (column || activate || precharge) begin
      ca.bank = 3'(bank);
      ca.cmd  = activate ? Activate : precharge ? Precharge : part_q.write ? Write : Read;
      ca.addr = activate ? 14'(for_next ? next_q.row : part_q.row) : 14'(part_q.col);
    end
    if (state_q == CloseAll && now_q >= all_idle_at_q) ca.cmd = PrechargeAll;
    if (state_q == Refreshing && now_q == all_idle_at_q) ca.cmd = Refresh;
  end

  function automatic time_t later(time_t a, time_t b);
    return a > b ? a : b;
  endfunction

  // When what comes after a column command may come.
  wire time_t closable = now_q + (part_q.write ? time_t'(WriteLatency + 1 + TWr) : time_t'(TRtp));

  // Reads on their way; a bit a clock. Writes wait for their time at the pins.
  localparam int ReadStages = CasLatency + 1;
  logic [ReadStages-1:0] reading_q;
  logic [ClientW-1:0] reading_client_q[ReadStages];
  logic [WriteLatency-1:0] writing_q;
  dram_dq_t writing_data_q[WriteLatency];

  always_ff @(posedge clk_i) begin
    ca_o  <= ca;
    now_q <= now_q + 1'b1;

    if (move_up) begin
      part_full_q <= next_full_q;
      if (next_full_q) part_q <= next_q;
    end else if (column) begin
      part_q.beats <= part_q.beats - 1'b1;
      part_q.col   <= part_q.col + 1'b1;
    end
    if (accept) begin
      next_full_q <= 1'b1;
      next_q <= split;
      split_rest_q <= crosses && !split_rest_q;
    end else if (move_up) begin
      next_full_q <= 1'b0;
    end

    if (column) begin
      precharge_at_q[bank] <= later(precharge_at_q[bank], closable);
      all_idle_at_q <= later(all_idle_at_q, closable);
      if (part_q.write) read_at_q <= now_q + time_t'(WriteLatency + 1 + TWtr);
      else write_at_q <= now_q + time_t'(CasLatency - WriteLatency + 2);
    end
    if (activate) begin
      open_q[bank] <= 1'b1;
      row_q[bank] <= for_next ? next_q.row : part_q.row;
      column_at_q[bank] <= now_q + time_t'(TRcd);
      precharge_at_q[bank] <= now_q + time_t'(TRas);
      any_activate_at_q <= now_q + time_t'(TRrd);
      all_idle_at_q <= later(all_idle_at_q, now_q + time_t'(TRas));
    end
    if (precharge) begin
      open_q[bank] <= 1'b0;
      activate_at_q[bank] <= now_q + time_t'(TRp);
      all_idle_at_q <= later(all_idle_at_q, now_q + time_t'(TRp));
    end

    case (state_q)
      Run: if ((refresh_due && (!part_full_q || last_beat)) || refresh_overdue) state_q <= CloseAll;
      CloseAll:
      if (now_q >= all_idle_at_q) begin
        state_q <= Refreshing;
        open_q <= '0;
        all_idle_at_q <= now_q + time_t'(TRp);
      end
      default:
      if (now_q == all_idle_at_q + time_t'(TRfc)) begin
        state_q <= Run;
        // Time begins anew: what is due comes within a refresh's time from now.
        now_q <= time_t'(TRfc + TRp);
        all_idle_at_q <= '0;
        any_activate_at_q <= '0;
        read_at_q <= '0;
        write_at_q <= '0;
        for (int b = 0; b < Banks; b++) begin
          activate_at_q[b] <= '0;
          column_at_q[b] <= '0;
          precharge_at_q[b] <= '0;
        end
      end
    endcase

    // Pins.
    reading_q <= {reading_q[ReadStages-2:0], column && !part_q.write};
    if (column) reading_client_q[0] <= part_q.client;
    if (reading_q != '0) begin
      for (int i = 1; i < ReadStages; i++) reading_client_q[i] <= reading_client_q[i-1];
    end
    rvalid_o <= reading_q[ReadStages-1];
    if (reading_q[ReadStages-1]) begin
      rdata_o   <= dq_i;
      rclient_o <= reading_client_q[ReadStages-1];
    end
    writing_q <= WriteLatency'({writing_q, wdata.valid && wdata.ready});
    if (wdata.valid && wdata.ready)
      writing_data_q[0] <= '{data: wdata.data.data, mask: ~wdata.data.strb};
    if (writing_q != '0) begin
      for (int i = 1; i < WriteLatency; i++) writing_data_q[i] <= writing_data_q[i-1];
    end
    dq_valid_o <= writing_q[WriteLatency-1];
    if (writing_q[WriteLatency-1]) dq_o <= writing_data_q[WriteLatency-1];

    if (rst_i) begin
      // As if a refresh were due.
      state_q <= CloseAll;
      now_q <= '0;
      all_idle_at_q <= time_t'(TRas + TWr + WriteLatency);
      part_full_q <= 1'b0;
      next_full_q <= 1'b0;
      split_rest_q <= 1'b0;
      open_q <= '0;
      reading_q <= '0;
      writing_q <= '0;
      rvalid_o <= 1'b0;
      dq_valid_o <= 1'b0;
      ca_o.cmd <= Nop;
    end
  end

  `ASSERT(TimeDoesNotWrap, now_q < time_t'(TRefi + 2 * Slack))
endmodule
