// SPDX-License-Identifier: Apache-2.0
// suite: once
`include "parts_tb.svh"
`include "tb.svh"
`include "stream.svh"
/// Two of xgmii_mac on a line, each receiving in the other's transmit clock, from pins of a CMAC to pins of a CMAC: 156.25 and 390.625 MHz, the
/// two clocks some 150 to 200 ppm apart, over the line both ways and over the loopback. Content, order and FCS errors that the line
/// makes, aborted frames, stamps and tags, line rate; PAUSE, priority flow control by class, faults: what waits and what goes on; the
/// counters of each way; resets of any of the four sides in mid-traffic.
module xgmii_mac_tb
  import eth_pkg::*;
  import cmac_pkg::*;
  import xgmii_pkg::*;
;
  `TB_BEGIN
  `TB_TIMEOUT(2_000_000)
  localparam int LaneNs = 3;
  // Of the second clock every `longer` half clocks one is a picosecond longer.
  real half = 3.2;
  int unsigned longer = 2;
  logic mac_clk[2] = '{default: 1'b0};
  initial #0.003 forever #(half) mac_clk[0] = !mac_clk[0];
  initial begin
    #1.007;
    forever begin
      repeat (longer - 1) #(half) mac_clk[1] = !mac_clk[1];
      #(half + 0.001) mac_clk[1] = !mac_clk[1];
    end
  end

  typedef struct packed {
    logic [511:0] data;
    logic [63:0] keep;
    logic first;
    logic last;
    logic user;
  } beat_t;
  typedef struct {
    bytes_t bytes;
    bit bad;
  } frame_t;
  logic tx_rst[2] = '{default: 1'b1}, rx_rst[2] = '{default: 1'b1};
  logic loops[2] = '{default: 1'b0}, cut[2] = '{default: 1'b0};
  logic [8:0] stop[2] = '{default: '0}, paused[2];
  link_fault_t fault[2];
  xgmii_tx_cfg_t tx_cfg = '{
      pause: 1'b1,
      pfc: 1'b1,
      untagged: 3'd0,
      gap: 8'd12,
      quanta: 16'd20,
      station: 48'h01_00_00_00_00_02
  };
  xgmii_rx_cfg_t rx_cfg = '{keep_control: 1'b0, max_frame: 16'd9622};
  xgmii_pins_t pins[2];
  beat_t to_send[2][$];
  frame_t want[2][$];
  ptp_time_t line_at[2][$];  // of each frame since the reset, when its first byte was on the line
  ptp_time_t came_at[2][$];
  bit spoilt[2][$];
  int unsigned start_percent = 100, spoil_percent = 0;
  int unsigned spoils = 0, stamps = 0, got[2] = '{default: 0}, late_starts = 0;
  bit looks = 0;

  for (genvar i = 0; i < 2; i++) begin : g_end
    cmac_axis_t tx;
    cmac_in_t from;
    cmac_out_t to;
    xgmii_pins_t line;
    logic [1:0] op = TxNoStamp;
    logic [15:0] tag = 0;
    cmac_time_t tx_time = 0, rx_time = 0;
    reg_if #(.AddrW(12)) tx_regs ();
    reg_if #(.AddrW(12)) rx_regs ();
    reg_master #(
        .AddrW(12)
    ) i_tx_host (
        .clk(mac_clk[i]),
        .rst(tx_rst[i]),
        .on (tx_regs)
    );
    reg_master #(
        .AddrW(12)
    ) i_rx_host (
        .clk(mac_clk[1-i]),
        .rst(rx_rst[i]),
        .on (rx_regs)
    );
    assign to = '{
            tx: tx,
            tx_ptp_1588op: op,
            tx_ptp_tag_field: tag,
            tx_systemtimer: tx_time,
            tx_pause_req: stop[i],
            tx_reset: 1'b0,
            rx_systemtimer: rx_time,
            rx_reset: 1'b0
        };
    always @(posedge mac_clk[i]) tx_time <= cmac_time_t'($time);
    always @(posedge mac_clk[1-i]) rx_time <= cmac_time_t'($time);
    xgmii_mac #(
        .LaneNs(LaneNs)
    ) i_mac (
        .tx_clk_i(mac_clk[i]),
        .tx_rst_i(tx_rst[i]),
        .rx_clk_i(mac_clk[1-i]),
        .rx_rst_i(rx_rst[i]),
        .tx_cfg_i(tx_cfg),
        .tx_regs,
        .tx_fault_o(fault[i]),
        .tx_paused_o(paused[i]),
        .rx_cfg_i(rx_cfg),
        .loop_i(loops[i]),
        .rx_regs,
        .mac_i(to),
        .mac_o(from),
        .xgmii_i(line),
        .xgmii_o(pins[i])
    );

    // The line to this end: as the other sends, a bit of a frame another, or none at all.
    logic [63:0] flip = '0;
    always_comb begin
      line.data = pins[1-i].data ^ flip;
      line.ctl  = pins[1-i].ctl;
      if (cut[i]) line = '{data: {2{LocalFault, 16'h0, Sequence}}, ctl: 8'h11};
    end
    logic [1:0] began = '0;  // in the last word: in lane 0, in lane 4
    always @(posedge mac_clk[1-i]) begin
      flip <= '0;
      if (looks && !tx_rst[1-i]) begin
        // Frames of the test begin with an even byte, control frames with an odd one.
        if (began != '0 && !pins[1-i].data[began[0]?0 : 32]) begin
          bit spoil;
          ptp_time_t at;
          at = g_end[1-i].tx_time[TimeW-1:0] + (began[1] ? LaneNs : 0);
          spoil = $urandom_range(99) < spoil_percent;
          if (spoil) begin
            flip[$urandom_range(63)] <= 1'b1;
            spoils++;
          end
          if (began[1]) late_starts++;
          line_at[1-i].push_back(at);
          came_at[i].push_back(at);
          spoilt[i].push_back(spoil);
          if (loops[1-i]) begin
            came_at[1-i].push_back(at);
            spoilt[1-i].push_back(1'b0);
          end
        end
        began[0] <= pins[1-i].ctl[0] && pins[1-i].data[7:0] == Start;
        began[1] <= pins[1-i].ctl[4] && pins[1-i].data[39:32] == Start;
      end else began <= '0;
    end

    // Towards the MAC: no gap in a frame; one stamp is asked for at a time.
    bit due = 0;
    int unsigned taken = 0, asked = 0;
    always @(posedge mac_clk[i]) begin
      if (tx_rst[i]) begin
        tx.tvalid <= 0;
        to_send[i] = {};
        due = 0;
        taken = 0;
      end else begin
        if (from.tx_ptp_tstamp_valid && looks) begin
          `CHECK(due && from.tx_ptp_tstamp_tag == tag, "a stamp nobody asked for, or its tag")
          `CHECK(asked < line_at[i].size() && from.tx_ptp_tstamp[TimeW-1:0] == line_at[i][asked],
                 "a transmit stamp")
          due = 0;
          stamps++;
        end
        if (!tx.tvalid || from.tx_tready) begin
          tx.tvalid <= 0;
          op <= TxNoStamp;
          if (to_send[i].size() != 0 && (!to_send[i][0].first || $urandom_range(
                  99
              ) < start_percent)) begin
            beat_t beat;
            beat = to_send[i].pop_front();
            tx <= '{
                tvalid: 1'b1,
                tdata: beat.data,
                tkeep: beat.keep,
                tlast: beat.last,
                tuser: beat.user
            };
            if (beat.first) begin
              if (!due && $urandom_range(2) == 0) begin
                op  <= TxTwoStep;
                tag <= 16'($urandom());
                due   = 1;
                asked = taken;
              end
              taken++;
            end
          end
        end
      end
    end

    // From the MAC.
    int unsigned place = 0;
    always @(posedge mac_clk[1-i]) begin
      if (!looks || rx_rst[i]) place = 0;
      else if (from.rx.tvalid) begin
        int unsigned size;
        size = $countones(from.rx.tkeep);
        `CHECK(want[i].size() != 0, "a frame that nobody sent")
        `CHECK(size != 0 && (from.rx.tkeep & (from.rx.tkeep + 1'b1)) == '0, "holes in tkeep")
        `CHECK(from.rx.tlast || size == 64, "a beat inside a frame is not full")
        if (place == 0) begin
          longint at, stamp;
          at = longint'(came_at[i].pop_front());
          stamp = longint'(from.rx_ptp_tstamp);
          if (loops[i]) `CHECK(stamp > at && stamp < at + 300, "a stamp of the loopback")
          else `CHECK(stamp == at, $sformatf("stamp %0d, not %0d", stamp, at))
        end
        if (!want[i][0].bad && !spoilt[i][0]) begin
          `CHECK(place + size <= want[i][0].bytes.size(), "a frame too long")
          for (int unsigned k = 0; k < size; k++)
            `CHECK(from.rx.tdata[8*k+:8] == want[i][0].bytes[place+k], "a wrong byte")
        end
        place += size;
        if (from.rx.tlast) begin
          `CHECK(from.rx.tuser == (want[i][0].bad || spoilt[i][0]), $sformatf("tuser is %b",
                                                                              from.rx.tuser))
          `CHECK(want[i][0].bad || place == want[i][0].bytes.size(), "a frame's length")
          place = 0;
          got[i]++;
          void'(want[i].pop_front());
          void'(spoilt[i].pop_front());
        end else `CHECK(!from.rx.tuser, "tuser inside a frame")
      end
    end
  end

  // ---------------------------------------------------------------- what the test does
  int unsigned sent[2] = '{default: 0}, aborted[2] = '{default: 0};
  longint unsigned octets[2] = '{default: 0};
  /// A frame from that end; with a VLAN tag of that class, if it is one.
  task automatic send(int unsigned end_, int unsigned size, bit bad, int class_);
    bytes_t bytes;
    beat_t  beat;
    repeat (size) bytes.push_back(8'($urandom()));
    bytes[0][0] = 1'b0;
    {bytes[12], bytes[13]} = class_ < 0 ? 16'h0800 : 16'h8100;
    if (class_ >= 0) bytes[14][7:5] = 3'(class_);
    for (int unsigned at = 0; at < size; at += 64) begin
      for (int unsigned k = 0; k < 64; k++) begin
        beat.keep[k] = at + k < size;
        beat.data[8*k+:8] = at + k < size ? bytes[at+k] : 8'($urandom());
      end
      beat.first = at == 0;
      beat.last  = at + 64 >= size;
      beat.user  = beat.last && bad;
      to_send[end_].push_back(beat);
    end
    want[1-end_].push_back('{bytes: bytes, bad: bad});
    if (loops[end_]) want[end_].push_back('{bytes: bytes, bad: bad});
    sent[end_]++;
    if (bad) aborted[end_]++;
    else octets[end_] += 64'(size) + 4;
    while (to_send[end_].size() > 200) @(posedge mac_clk[0]);
  endtask
  task automatic clocks(int unsigned n);
    repeat (n) @(posedge mac_clk[0]);
  endtask
  task automatic settle();
    for (int patience = 0; want[0].size() != 0 || want[1].size() != 0; patience++) begin
      clocks(1);
      `CHECK(patience < 50_000, $sformatf(
             "%0d and %0d frames do not come", want[0].size(), want[1].size()))
    end
    clocks(40);
  endtask
  task automatic counter(int unsigned end_, bit receive, mac_counter_e which,
                         output longint unsigned value);
    logic [31:0] lo, hi;
    logic [11:0] where;
    where = 12'(8 * int'(which));
    if (end_ == 0 && !receive) begin
      g_end[0].i_tx_host.read(where, lo);
      g_end[0].i_tx_host.read(where + 12'd4, hi);
    end else if (end_ == 0) begin
      g_end[0].i_rx_host.read(where, lo);
      g_end[0].i_rx_host.read(where + 12'd4, hi);
    end else if (!receive) begin
      g_end[1].i_tx_host.read(where, lo);
      g_end[1].i_tx_host.read(where + 12'd4, hi);
    end else begin
      g_end[1].i_rx_host.read(where, lo);
      g_end[1].i_rx_host.read(where + 12'd4, hi);
    end
    value = {hi, lo};
  endtask
  task automatic expect_count(int unsigned end_, bit receive, mac_counter_e which,
                              longint unsigned count);
    longint unsigned value;
    counter(end_, receive, which, value);
    `CHECK(value == count, $sformatf("%s of end %0d, receive %b: %0d, not %0d", which.name(), end_,
                                     receive, value, count))
  endtask
  /// Resets those sides, forgets what was under way.
  task automatic restart(logic [3:0] sides);
    looks = 0;
    {tx_rst[0], tx_rst[1], rx_rst[0], rx_rst[1]} = sides;
    clocks($urandom_range(20, 3));
    if (sides != '1) while (to_send[0].size() != 0 || to_send[1].size() != 0) clocks(1);
    tx_rst = '{default: 1'b0};
    rx_rst = '{default: 1'b0};
    clocks(400);
    for (int i = 0; i < 2; i++) begin
      want[i] = {};
      came_at[i] = {};
      spoilt[i] = {};
      line_at[i] = {};
    end
    {g_end[0].taken, g_end[0].due, g_end[1].taken, g_end[1].due} = '0;
    looks = 1;
  endtask
  /// Both ways, or of a loopback one.
  task automatic traffic(int unsigned rounds);
    for (int unsigned n = 0; n < rounds; n++) begin
      for (int unsigned k = 0; k < 20; k++) begin
        int unsigned size;
        size = $urandom_range(n % 8 == 7 ? 9618 : n % 2 == 1 ? 1514 : 130, 60);
        for (int i = 0; i < 2; i++) if (!loops[1-i]) send(i, size, $urandom_range(19) == 0, -1);
      end
      start_percent = $urandom_range(1) == 0 ? 100 : $urandom_range(60, 5);
    end
    start_percent = 100;
    settle();
  endtask

  initial begin
    int unsigned was[2];
    longint unsigned value, other;
    @(negedge rst);
    clocks(20);
    restart('1);
    for (int rate = 0; rate < 2; rate++) begin
      half   = rate == 0 ? 3.2 : 1.28;
      longer = rate == 0 ? 2 : 4;
      // The counters begin anew; stamps are counted frame by frame from the reset on.
      restart('1);
      for (int i = 0; i < 2; i++) {sent[i], aborted[i], octets[i], got[i]} = '0;
      spoils = 0;
      spoil_percent = 8;
      traffic(24);
      spoil_percent = 0;
      `CHECK(spoils > 20, "hardly a frame was spoilt")
      value = 0;
      for (int i = 0; i < 2; i++) begin
        longint unsigned good, fcs, symbol, fragment;
        expect_count(i, 0, Good, 64'(sent[i] - aborted[i]));
        expect_count(i, 0, SymbolError, 64'(aborted[i]));
        expect_count(i, 0, GoodOctets, octets[i]);
        counter(1 - i, 1, Good, good);
        counter(1 - i, 1, FcsError, fcs);
        counter(1 - i, 1, SymbolError, symbol);
        counter(1 - i, 1, Fragment, fragment);  // what is left of the shortest
        symbol += fragment;
        `CHECK(symbol == 64'(aborted[i]) && good + fcs + symbol == 64'(sent[i]), $sformatf(
               "%0d good, %0d FCS, %0d symbol of %0d", good, fcs, symbol, sent[i]))
        value += fcs;
      end
      // Of a frame that was aborted, too, a bit may have been another.
      `CHECK(value <= 64'(spoils) && value + 10 > 64'(spoils), $sformatf(
             "%0d FCS errors, %0d made", value, spoils))
      // Line rate: 84 bytes a frame.
      for (int i = 0; i < 2; i++) was[i] = got[i];
      for (int k = 0; k < 500; k++) for (int i = 0; i < 2; i++) send(i, 60, 0, -1);
      for (int i = 0; i < 2; i++) was[i] = got[i];
      clocks(1050);
      for (int i = 0; i < 2; i++)
        `CHECK(got[i] - was[i] >= 99, $sformatf("%0d frames in 1050 clocks", got[i] - was[i]))
      settle();
      // The loopback, either end's, from the faster clock and from the slower one: it receives what it sends, and the other too.
      for (int i = 0; i < 2; i++) begin
        loops[i] = 1;
        clocks(60);
        traffic(16);
        loops[i] = 0;
        clocks(60);
      end
      `CHECK(late_starts > 50 && stamps > 100, "hardly a late start or a stamp")

      // PAUSE: what has begun ends, then nothing; for longer than one PAUSE says.
      for (int k = 0; k < 5; k++) begin
        stop[0][8] = 1;
        while (!paused[1][8]) clocks(1);
        clocks(60);
        for (int n = 0; n < 10; n++) send(1, 100, 0, -1);
        was[0] = got[0];
        repeat (800) begin
          clocks(1);
          `CHECK(paused[1][8] && got[0] == was[0], "sent in spite of PAUSE")
        end
        send(0, 100, 0, -1);  // the one that asked sends
        stop[0][8] = 0;
        settle();
        `CHECK(!paused[1][8], "PAUSE was not taken back")
      end
      // By class: another goes, this one waits, and those behind it.
      for (int c = 0; c < 8; c++) begin
        stop[1][c] = 1;
        while (!paused[0][c]) clocks(1);
        clocks(60);
        was[1] = got[1];
        send(0, 100, 0, (c + 3) % 8);
        clocks(200);
        `CHECK(got[1] == was[1] + 1, "a class that may go waits")
        send(0, 100, 0, c == 0 ? -1 : c);  // without a tag: of class 0
        send(0, 100, 0, (c + 1) % 8);
        repeat (400) begin
          clocks(1);
          `CHECK(got[1] == was[1] + 1, "sent in spite of priority flow control")
        end
        stop[1][c] = 0;
        settle();
        `CHECK(paused[0] == '0, "priority flow control was not taken back")
      end
      // Those who are not to obey do not.
      {tx_cfg.pause, tx_cfg.pfc} = '0;
      stop[0] = '1;
      clocks(300);
      `CHECK(paused[1] == '1, "PAUSE and priority flow control are not told")
      for (int c = 0; c < 8; c++) send(1, 100, 0, c);
      settle();
      stop[0] = '0;
      {tx_cfg.pause, tx_cfg.pfc} = '1;
      clocks(600);
      `CHECK(paused[1] == '0, "still paused")
      for (int i = 0; i < 2; i++) begin
        counter(i, 0, Pause, value);
        counter(1 - i, 1, Pause, other);
        `CHECK(value == other && (i == 1 || value >= 10), "PAUSE frames")
        counter(i, 0, Pfc, value);
        counter(1 - i, 1, Pfc, other);
        `CHECK(value == other && value >= (i == 1 ? 16 : 2), "PFC frames")
      end
      // A line that is cut: its end says so, and the other sends nothing until it is well; nothing is lost.
      cut[1] = 1;
      while (!fault[1].local_ || !fault[0].remote) clocks(1);
      clocks(60);
      send(0, 200, 0, -1);
      send(1, 200, 0, -1);
      was = got;
      clocks(500);
      `CHECK(got == was, "sent in spite of a fault")
      cut[1] = 0;
      settle();
      `CHECK(fault[0] == '0 && fault[1] == '0, "a fault that has gone")
      expect_count(1, 1, LocalFaults, 1);
      expect_count(0, 1, RemoteFaults, 1);
    end

    // Resets of any of the sides: frames under way are lost, those after it come whole.
    for (int k = 0; k < 80; k++) begin
      for (int n = 0; n < 30; n++) begin
        send(0, $urandom_range(600, 60), 0, -1);
        send(1, $urandom_range(600, 60), 0, -1);
      end
      clocks($urandom_range(300, 1));
      restart(k[0] ? '1 : 4'($urandom_range(15, 1)));
      for (int i = 0; i < 2; i++) got[i] = 0;
      for (int n = 0; n < 5; n++)
      for (int i = 0; i < 2; i++) send(i, $urandom_range(300, 60), 0, -1);
      settle();
      `CHECK(got[0] == 5 && got[1] == 5, "frames after a reset")
    end
    `TB_PASS
  end
endmodule
