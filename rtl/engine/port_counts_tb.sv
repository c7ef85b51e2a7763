// SPDX-License-Identifier: Apache-2.0
// compile: quickly
`include "parts_tb.svh"
`include "tb.svh"
`include "stream.svh"
/// port_counts against sums of its own: frames at each edge of each place by size, to every kind of address, control frames and what only
/// looks like one, bad ones of every kind, seen and not, losses of every reason with and between frames; both ways, back to
/// back, with rows read meanwhile; busy rows are the ones that have counted, and each is read whole.
module port_counts_tb;
  import queue_pkg::*;
  import eth_pkg::*;
  `TB_BEGIN
  `TB_TIMEOUT(200_000)
  localparam int Losses = 3;
  // Of each row: the smallest and the largest frame, without FCS.
  localparam int Least[8] = '{1, 60, 61, 124, 252, 508, 1020, 1515};
  localparam int Most[8] = '{59, 60, 123, 251, 507, 1019, 1514, 9216};
  typedef enum {
    Good,
    Spoilt,
    Short,
    Hidden,
    ShortSpoilt,
    Long
  } fate_e;

  reg_if #(.AddrW(12)) rx_regs ();
  reg_if #(.AddrW(12)) tx_regs ();
  `REG_MASTER(12, i_rx_host, rx_regs)
  `REG_MASTER(12, i_tx_host, tx_regs)
  logic moved = 0, tx_moved = 0, offered = 0, rx_refused, tx_refused;
  wide_beat_t beat;
  mac_rx_count_t fate = '0, ended_fate = '0, next_fate = '0;
  logic [Losses-1:0] lost = '0;
  port_counts #(
      .Losses(Losses)
  ) i_rx (
      .clk_i(clk),
      .rst_i(rst),
      .valid_i(moved || offered),
      .ready_i(!offered),
      .beat_i(beat),
      .fate_i(fate),
      .lost_i(lost),
      .regs(rx_regs),
      .refused_o(rx_refused)
  );
  port_counts #(
      .Receive(0)
  ) i_tx (
      .clk_i(clk),
      .rst_i(rst),
      .valid_i(tx_moved || offered),
      .ready_i(!offered),
      .beat_i(beat),
      .fate_i('0),
      .lost_i('0),
      .regs(tx_regs),
      .refused_o(tx_refused)
  );
  longint unsigned packets[2][64], bytes[2][64];  // receive, transmit
  int unsigned idle = 0;  // in percent, between beats
  int unsigned lossy = 0;
  bit reads = 0;

  function automatic void expect_(int way, frame_class_e class_, int place, int unsigned size);
    packets[way][8*class_+place]++;
    bytes[way][8*class_+place] += size;
  endfunction
  function automatic int place_of(int unsigned size);
    for (int i = 0; i < 8; i++) if (size >= Least[i] && size <= Most[i]) return i;
    return 7;
  endfunction

  task automatic clock();
    lost = '0;
    for (int i = 0; i < Losses; i++) begin
      if ($urandom_range(99) < lossy) begin
        lost[i] = 1;
        expect_(0, ClassLost, i, 0);
      end
    end
    fate = ended_fate;
    ended_fate = next_fate;
    next_fate = '0;
    @(negedge clk);
  endtask
  task automatic quiet(int unsigned clocks);
    moved = 0;
    tx_moved = 0;
    offered = 1'($urandom());  // and not taken
    repeat (clocks) clock();
    offered = 0;
  endtask

  typedef logic [15:0][7:0] head_t;
  /// A frame of that size, without FCS, that begins so.
  task automatic frame(head_t head, frame_class_e class_, int unsigned size, fate_e becomes);
    int unsigned sent;
    bit spoilt;
    spoilt = becomes inside {Spoilt, ShortSpoilt};
    for (int at = 0; at < size; at += 128) begin
      while ($urandom_range(99) < idle) quiet(1);
      for (int i = 0; i < 128; i++)
      beat.data[8*i+:8] = at == 0 && i < 16 ? head[i] : 8'($urandom());
      beat.sop = at == 0;
      beat.eop = at + 128 >= size;
      beat.len = beat.eop ? 8'(size - at) : 8'd128;
      beat.err = beat.eop && spoilt;
      moved = becomes != Hidden;
      tx_moved = becomes inside {Good, Spoilt};
      if (beat.eop) begin
        next_fate = '{
            good: becomes == Good,
            bad_fcs: becomes == Spoilt,
            runt: becomes inside {Short, Hidden, ShortSpoilt},
            oversize: becomes == Long,
            err: spoilt,
            bytes: 16'(size),
            default: '0
        };
      end
      clock();
    end
    moved = 0;
    tx_moved = 0;
    case (becomes)
      Good: expect_(0, class_, place_of(size), size + 4);
      Spoilt, ShortSpoilt: expect_(0, ClassFcs, place_of(size), size + 4);
      default: expect_(0, ClassLength, place_of(size), size + 4);
    endcase
    sent = size < 60 ? 60 : size;
    if (becomes == Good) expect_(1, class_, place_of(sent), sent + 4);
    if (becomes == Spoilt) expect_(1, ClassFcs, place_of(sent), sent + 4);
  endtask

  // First byte of a frame in the lowest place.
  function automatic head_t head_of(logic [47:0] to, logic [15:0] type_, logic [15:0] opcode);
    logic [127:0] line;
    line = {to, 48'h02_aa_bb_cc_dd_ee, type_, opcode};
    for (int i = 0; i < 16; i++) head_of[i] = line[127-8*i-:8];
  endfunction
  localparam logic [47:0] Station = 48'h02_00_00_00_00_07, Group = 48'h01_00_5e_00_00_09, All = '1;
  localparam logic [47:0] Control = 48'h01_80_c2_00_00_01;
  task automatic kind(int unsigned n, int unsigned size, fate_e becomes);
    case (n)
      0: frame(head_of(Station, 16'h0800, 16'h4500), ClassUnicast, size, becomes);
      1: frame(head_of(Group, 16'h0800, 16'h4500), ClassMulticast, size, becomes);
      2: frame(head_of(All, 16'h0806, 16'h0001), ClassBroadcast, size, becomes);
      3: frame(head_of(Control, 16'h8808, 16'h0001), ClassPause, size, becomes);
      4: frame(head_of(Control, 16'h8808, 16'h0101), ClassPfc, size, becomes);
      // Nearly so.
      5: frame(head_of(Control, 16'h8808, 16'h0002), ClassMulticast, size, becomes);
      6: frame(head_of(Control, 16'h8809, 16'h0001), ClassMulticast, size, becomes);
      7: frame(head_of(Control ^ 48'h2, 16'h8808, 16'h0001), ClassMulticast, size, becomes);
      8: frame(head_of(All ^ 48'h8000, 16'h0800, 16'h4500), ClassMulticast, size, becomes);
      default: frame(head_of(All ^ (48'h1 << 40), 16'h8808, 16'h0101), ClassUnicast, size, becomes);
    endcase
  endtask

  // Rows are read while frames come.
  int unsigned held = 0, refusals = 0;
  always @(posedge clk) begin
    if (reads && i_rx_host.posts.size() == 0) i_rx_host.post(12'd0, $urandom_range(63));
    if (reads && i_tx_host.posts.size() == 0) i_tx_host.post(12'd0, $urandom_range(63));
    if (!rst) begin
      held += 32'(reads && i_rx.count.valid && !i_rx.count.ready);
      refusals += 32'(rx_refused) + 32'(tx_refused);
    end
  end

  task automatic look(int way, logic [11:0] addr, output logic [31:0] word);
    if (way == 0) i_rx_host.read(addr, word);
    else i_tx_host.read(addr, word);
  endtask
  task automatic compare();
    logic [31:0] word[4], unused[4];
    logic [63:0] busy;
    quiet(400);
    for (int way = 0; way < 2; way++) begin
      look(way, 12'd8, busy[31:0]);
      look(way, 12'd12, busy[63:32]);
      for (int row = 0; row < 64; row++) begin
        if (way == 0) i_rx_host.write(12'd0, row);
        else i_tx_host.write(12'd0, row);
        for (int i = 0; i < 4; i++) look(way, 12'(32 + 4 * i), word[i]);
        for (int i = 0; i < 4; i++) look(way, 12'(48 + 4 * i), unused[i]);
        `CHECK({word[1], word[0]} == packets[way][row] && {word[3], word[2]} == bytes[way][row],
               $sformatf(
               "way %0d, row %0d: %0d frames of %0d bytes, not %0d of %0d",
               way,
               row,
               {
                 word[1], word[0]
               },
               {
                 word[3], word[2]
               },
               packets[way][row],
               bytes[way][row]
               ))
        `CHECK(busy[row] == (packets[way][row] != 0), $sformatf(
               "way %0d, row %0d is %sbusy", way, row, busy[row] ? "" : "not "))
        `CHECK(unused == '{default: 0}, "counters that there are not")
      end
    end
  endtask

  initial begin
    foreach (packets[i, k]) {packets[i][k], bytes[i][k]} = '0;
    beat = '0;
    @(negedge rst);
    @(negedge clk);
    // At once: the RAM is still cleared.
    repeat (100) kind(0, 60, Good);
    compare();
    // Each place by size at both of its ends, of each kind, good and bad.
    for (int n = 0; n < 10; n++) begin
      for (int i = 1; i < 8; i++) begin
        kind(n, Least[i], Good);
        kind(n, Most[i], Good);
        kind(n, Least[i], Spoilt);
        kind(n, Most[i], Spoilt);
      end
      kind(n, Most[0], Short);
      kind(n, 16, ShortSpoilt);
      kind(n, 1, Hidden);
      kind(n, 1600, Long);
      kind(n, 20, Good);  // sent padded; mac_rx calls none that is so short good
    end
    compare();
    for (int round = 0; round < 8; round++) begin
      idle  = round % 2 == 0 ? 0 : 30;
      lossy = round % 4 < 2 ? 0 : 20;
      reads = round > 3;
      for (int n = 0; n < 300; n++) begin
        int place;
        place = $urandom_range(2) == 0 ? $urandom_range(7) : $urandom_range(2);
        kind($urandom_range(9), place == 0 ? $urandom_range(59, 1) : $urandom_range(
             Most[place], Least[place]), place == 0 ? fate_e'($urandom_range(
             int'(ShortSpoilt), int'(Short))) : $urandom_range(9) == 0 ? Spoilt : $urandom_range(9
             ) == 0 ? Long : Good);
      end
      lossy = 0;
      reads = 0;
      compare();
    end
    `CHECK(held > 20, "no count ever waited for a read")
    foreach (packets[i, k])
    if (i == 0 ? k / 8 <= int'(ClassLength) : k / 8 <= int'(ClassFcs) && k % 8 != 0)
      `CHECK(packets[i][k] != 0 || (k / 8 == int'(ClassLength) && k % 8 == 1), $sformatf(
             "way %0d, row %0d was never tried", i, k))
    i_rx_host.write(12'd0, 64);
    `CHECK(refusals == 1, "a row that there is not")
    `TB_PASS
  end
endmodule
