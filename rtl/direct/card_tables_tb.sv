// SPDX-License-Identifier: Apache-2.0
`include "parts_tb.svh"
`include "tb.svh"
/// card_tables: every register reads back what was written to it and nothing else, settings come out where they belong, and
/// the counts are those of the events.
module card_tables_tb;
  import direct_pkg::*;
  import route_pkg::*;
  `TB_BEGIN
  `TB_TIMEOUT(100_000)
  localparam int Peers = 3, Classes = 3, Masks = 2;

  reg_if #(.AddrW(14)) regs ();
  wire unused = &{1'b0, regs.wstrb};
  route_rule_t [Peers-1:0] routes;
  logic [Peers-1:0][63:0] windows;
  class_rule_t [Peers:0][Masks-1:0] classes;
  logic [Peers:0][Classes-1:0] accepted = '0, dropped = '0;
  words_t [Peers:0][Classes-1:0] used = '0;
  words_t [1:0] out_used = '0, out_max;
  logic refused;
  int unsigned refused_seen = 0, refused_made = 0;
  always @(posedge clk) if (!rst) refused_seen += 32'(refused);
  card_tables #(
      .Peers  (Peers),
      .Classes(Classes)
  ) dut (
      .clk_i(clk),
      .rst_i(rst),
      .regs,
      .routes_o(routes),
      .windows_o(windows),
      .classes_o(classes),
      .refused_o(refused),
      .accepted_i(accepted),
      .dropped_i(dropped),
      .used_i(used),
      .out_used_i(out_used),
      .out_max_o(out_max)
  );

  `REG_MASTER(14, i_master, regs)
  function automatic logic [31:0] kept(logic [13:0] where, logic [31:0] value);
    logic [2:0] word;
    word = where[4:2];
    if (where < 14'h1000 && where[11:5] < 7'(Peers)) begin
      if (word == 3) return value & 32'h8000_ffff;
      if (word == 4) return value & 32'hffff_e000;
      return (word < 6) ? value : 0;
    end
    if (where >= 14'h1000 && where < 14'h2000 && where[11:7] <= 5'(Peers) && where[6:5] < 2'(Masks)) begin
      if (word == 5) return value & 32'h8000_0000;
      return (word < 5) ? value : 0;
    end
    return 0;
  endfunction

  initial begin
    logic [31:0] model[logic [13:0]], rdata, value;
    logic [13:0] where;
    int unsigned n_accepted[64], n_dropped[64], most[64];
    @(negedge rst);
    @(negedge clk);
    `CHECK(routes == '0 && windows == '0 && classes == '0, "something is set after reset")
    for (int i = 0; i < 4000; i++) begin
      where = ($urandom_range(1) == 0) ? 14'($urandom_range('h1ff)) :
          14'('h1000 + $urandom_range('h7ff));
      where &= 14'h3ffc;
      value = $urandom();
      if ($urandom_range(2) == 0) begin
        i_master.write(where, value);
        model[where] = kept(where, value);
        refused_made += 32'(where < 14'h1000 && where[4:2] == 3'd4 && value[12:0] != 0);
      end else begin
        i_master.read(where, rdata);
        `CHECK(rdata == (model.exists(where) ? model[where] : 0), "wrong data read")
      end
    end
    @(posedge clk);
    `CHECK(refused_seen == refused_made && refused_made > 50, "values refused are miscounted")
    // Each setting on its own.
    for (int p = 0; p < Peers; p++) begin
      for (int w = 0; w < 6; w++)
      i_master.write(14'(p * 32 + w * 4), 32'h1111_1111 * 32'(w + 1) + 32'(p));
      `CHECK(routes[p] ==
             '{
                 valid: 0,
                 value: 32'h1111_1111 + 32'(p),
                 mask: 32'h2222_2222 + 32'(p),
                 next_hop: {32'h3333_3333 + 32'(p), 16'h4444 + 16'(p)}
             },
             "route")
      `CHECK(windows[p] == {32'h6666_6666 + 32'(p), 32'h5555_4000}, "window")
      i_master.write(14'(p * 32 + 12), 32'h8000_0000);
      `CHECK(routes[p].valid, "route in use")
    end
    for (int d = 0; d <= Peers; d++) begin
      for (int c = 0; c < Masks; c++) begin
        for (int w = 0; w < 6; w++)
        i_master.write(14'('h1000 + (4 * d + c) * 32 + w * 4),
                       32'h1234_5678 * 32'(w + 1) + 32'(4 * d + c));
        value = 32'h1234_5678 * 5 + 32'(4 * d + c);
        `CHECK(classes[d][c].value.src == 32'h1234_5678 + 32'(4 * d + c), "source")
        `CHECK(classes[d][c].mask.src == 32'h1234_5678 * 2 + 32'(4 * d + c), "source mask")
        `CHECK(classes[d][c].value.dst == 32'h1234_5678 * 3 + 32'(4 * d + c), "destination")
        `CHECK(classes[d][c].mask.dst == 32'h1234_5678 * 4 + 32'(4 * d + c), "destination mask")
        `CHECK(
            {classes[d][c].value.tos, classes[d][c].mask.tos, classes[d][c].value.protocol,
                classes[d][c].mask.protocol} == value,
            "type of service and protocol")
      end
    end

    // Counts; the fill is seen the clock after the frame.
    for (int i = 0; i < 64; i++) begin
      n_accepted[i] = 0;
      n_dropped[i] = 0;
      most[i] = 0;
    end
    @(negedge clk);
    for (int i = 0; i < 2000; i++) begin
      for (int d = 0; d <= Peers; d++) begin
        for (int c = 0; c < Classes; c++) begin
          if (accepted[d][c]) used[d][c] = used[d][c] + 12'($urandom_range(200));
          else if ($urandom_range(3) == 0) used[d][c] = used[d][c] / 2;
          if (32'(used[d][c]) > most[4*d+c]) most[4*d+c] = 32'(used[d][c]);
          accepted[d][c] = $urandom_range(5) == 0;
          dropped[d][c]  = $urandom_range(7) == 0 && !accepted[d][c];
          n_accepted[4*d+c] += 32'(accepted[d][c]);
          n_dropped[4*d+c] += 32'(dropped[d][c]);
        end
      end
      @(negedge clk);
    end
    accepted = '0;
    dropped  = '0;
    repeat (2) @(negedge clk);
    for (int i = 0; i < 64; i++) begin
      where = 14'('h2000 + i * 16);
      i_master.read(where, rdata);
      `CHECK(rdata == n_accepted[i], "frames taken")
      i_master.read(where + 4, rdata);
      `CHECK(rdata == n_dropped[i], "frames dropped")
      i_master.read(where + 8, rdata);
      `CHECK(rdata == ((i / 4 <= Peers && i % 4 < Classes) ? 32'(used[i/4][i%4]) : 0), "words")
      i_master.read(where + 12, rdata);
      `CHECK(rdata == most[i], "most words")
    end
    @(negedge clk);
    out_used = {12'd7, 12'd900};
    @(negedge clk);
    out_used = {12'd9, 12'd3};
    repeat (2) @(negedge clk);
    `CHECK(out_max == {12'd9, 12'd900}, "output FIFOs")
    `TB_PASS
  end
endmodule
