// SPDX-License-Identifier: Apache-2.0
`include "assert.svh"
/// Instruction cache of a core: `Bytes` in `Ways` ways of 32-byte lines, filled from imem in two beats of 128 bits.
///
/// An address with `fetch_en_i`; its word with `fetch_valid_o` in the next clock if it hits, kept until the next
/// `fetch_en_i`. A miss takes 4 clocks more when no other cache uses the instruction memory. A new address in any clock of a miss
/// (a redirected core) is taken at once and looked up when the line is in. While `fetch_early_i` is high the word of the
/// address given last is not wanted yet: it may be there, but a miss waits, and nothing is taken for used. Replaced is the
/// way not used recently (with two ways: the least recently used). An address outside the instruction memory answers with `fetch_error_o` and no fill.
/// `clear_i` empties it: while the instruction memory is written. After that, and after reset, it answers nothing for as many
/// clocks as a way has lines.
module icache #(
    parameter  int ImemBytes = 131072,
    parameter  int Bytes     = 8192,
    parameter  int Ways      = 2,
    localparam int FillW     = $clog2(ImemBytes) - 4
) (
    input  logic             clk_i,
    input  logic             rst_i,
    input  logic             clear_i,
    // the core
    input  logic             fetch_en_i,
    input  logic             fetch_early_i,
    input  logic [     31:0] fetch_addr_i,
    output logic             fetch_valid_o,
    output logic [     31:0] fetch_data_o,
    output logic             fetch_error_o,
    // imem, in units of 16 bytes: a request stays until ready; the data some clocks later
    output logic             fill_valid_o,
    output logic [FillW-1:0] fill_addr_o,
    input  logic             fill_ready_i,
    input  logic             fill_rsp_valid_i,
    input  logic [    127:0] fill_rsp_data_i
);
  /*verilator no_inline_module*/  // one copy of the code for all cores when simulating
  localparam int Sets = Bytes / 32 / Ways;
  localparam int SetW = $clog2(Sets);
  localparam int TagW = $clog2(ImemBytes) - 5 - SetW;
  localparam int WayW = Ways > 1 ? $clog2(Ways) : 1;
  if (Sets < 2 || TagW < 1 || 2 ** SetW != Sets) begin : g_bad_parameter
    $fatal(1, "icache: %0d bytes in %0d ways", Bytes, Ways);
  end

  typedef enum logic [1:0] {
    Idle,
    Fill,
    Again  // the address is looked up anew
  } state_e;
  state_e state_q;
  typedef struct packed {
    logic valid;
    logic [TagW-1:0] tag;
  } tag_t;
  logic swept_q, live_q;  // it is empty; and was looked into since
  logic [SetW-1:0] sweep_q;
  logic [31:0] addr_q;
  logic [Ways-1:0] recent_q[Sets];
  logic [Ways-1:0] hits;
  tag_t tags[Ways];
  logic [31:0] words[Ways][4];

  // Which line is looked up, and which is filled.
  wire look = fetch_en_i || state_q == Again || !live_q;
  wire [31:0] look_addr = fetch_en_i ? fetch_addr_i : addr_q;
  wire [SetW-1:0] set = addr_q[5+:SetW];
  logic [FillW-2:0] fill_line_q;
  logic [WayW-1:0] victim, victim_q;
  logic [1:0] asked_q;
  logic got_q;
  wire [SetW-1:0] fill_set = fill_line_q[SetW-1:0];
  wire last = fill_rsp_valid_i && got_q;

  wire outside = addr_q >= 32'(ImemBytes);
  wire miss = state_q == Idle && live_q && !outside && hits == 0;
  wire start = miss && !fetch_early_i && !clear_i;
  assign fill_valid_o  = start || (state_q == Fill && !asked_q[1]);
  assign fill_addr_o   = state_q == Fill ? {fill_line_q, asked_q[0]} : {addr_q[5+:FillW-1], 1'b0};

  assign fetch_valid_o = state_q == Idle && live_q && (outside || hits != 0);
  assign fetch_error_o = outside;

  always_comb begin
    for (int w = 0; w < Ways; w++) hits[w] = tags[w] == {1'b1, addr_q[5+SetW+:TagW]};
    fetch_data_o = words[0][addr_q[3:2]];
    for (int w = 1; w < Ways; w++) if (hits[w]) fetch_data_o = words[w][addr_q[3:2]];
    // An empty way, or else one not used recently; there always is one.
    victim = '0;
    for (int w = Ways - 1; w >= 0; w--) if (!recent_q[set][w]) victim = WayW'(w);
    for (int w = Ways - 1; w >= 0; w--) if (!tags[w].valid) victim = WayW'(w);
  end

  for (genvar w = 0; w < Ways; w++) begin : g_way
    wire mine = fill_rsp_valid_i && victim_q == WayW'(w);
    ram_sdp #(
        .Width($bits(tag_t)),
        .Depth(Sets)
    ) i_tag_ram (
        .clk_i,
        .we_i   (!swept_q || (mine && got_q)),
        .waddr_i(swept_q ? fill_set : sweep_q),
        .wdata_i({swept_q, fill_line_q[SetW+:TagW]}),
        .re_i   (look),
        .raddr_i(look_addr[5+:SetW]),
        .rdata_o(tags[w])
    );
    for (genvar i = 0; i < 4; i++) begin : g_word
      ram_sdp #(
          .Width(32),
          .Depth(Sets * 2)
      ) i_data_ram (
          .clk_i,
          .we_i   (mine),
          .waddr_i({fill_set, got_q}),
          .wdata_i(fill_rsp_data_i[i*32+:32]),
          .re_i   (look),
          .raddr_i(look_addr[4+:SetW+1]),
          .rdata_o(words[w][i])
      );
    end
  end

  always_ff @(posedge clk_i) begin
    if (fetch_en_i) addr_q <= fetch_addr_i;
    live_q  <= swept_q;
    sweep_q <= sweep_q + 1'b1;
    if (sweep_q == '1) swept_q <= 1'b1;
    unique case (state_q)
      Idle: begin
        if (start) begin
          state_q <= Fill;
          fill_line_q <= addr_q[5+:FillW-1];
          victim_q <= victim;
          asked_q <= {1'b0, fill_ready_i};
          got_q <= 1'b0;
        end
      end
      Fill: begin
        if (fill_valid_o && fill_ready_i) asked_q <= asked_q + 1'b1;
        if (fill_rsp_valid_i) got_q <= 1'b1;
        if (last) state_q <= Again;
      end
      default: state_q <= Idle;
    endcase
    if (fetch_valid_o && !fetch_early_i && !outside && (recent_q[set] & hits) == 0)
      recent_q[set] <= (recent_q[set] | hits) == '1 ? hits : recent_q[set] | hits;
    if (rst_i || clear_i) begin
      swept_q <= 1'b0;
      sweep_q <= '0;
      live_q  <= 1'b0;
      for (int s = 0; s < Sets; s++) recent_q[s] <= '0;
    end
    if (rst_i) state_q <= Idle;
  end

  `ASSERT(OneWay, fetch_valid_o && !outside |-> $onehot(hits))
  `ASSERT(AsksStably, fill_valid_o && !fill_ready_i |=> fill_valid_o && $stable(fill_addr_o))
  `ASSERT(AnswerExpected, fill_rsp_valid_i |-> state_q == Fill)
endmodule
