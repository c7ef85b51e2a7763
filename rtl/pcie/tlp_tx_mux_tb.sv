// SPDX-License-Identifier: Apache-2.0
`include "tb.svh"
`include "stream.svh"
/// tlp_tx_mux: every TLP comes out once, whole and in the order of its input; credits are never overdrawn; a class
/// without credits does not hold up the others; every input gets its turn; a beat a clock; nothing begins while closed.
/// tlp_tx_mux_even_tb has the same with as many inputs as an index can name.
module tlp_tx_mux_tb
  import pcie_pkg::*;
#(
    parameter int N = 5
);
  `TB_BEGIN
  `TB_TIMEOUT(300_000)
  localparam logic [N-1:0] Posted = N'(5'b01011) & ~(N'(1) << (N - 1)), NonPosted = N'(5'b00100);  // the last input: completions

  fc_limit_t fc;
  logic [2:0] starved;
  logic closed = 0, busy;
  `STREAM_ON(tlp_beat_t, in[N], clk, rst)
  `STREAM_ON(tlp_beat_t, out, clk, rst)
  tlp_tx_mux #(
      .N(N),
      .Posted(Posted),
      .NonPosted(NonPosted)
  ) dut (
      .clk_i(clk),
      .rst_i(rst),
      .fc_i(fc),
      .starved_o(starved),
      .closed_i(closed),
      .busy_o(busy),
      .in,
      .out
  );

  int unsigned in_percent[N], out_percent = 100, max_dws = 64, min_dws = 1;
  logic [N-1:0] ready, valid = '1;  // as if in traffic when the reset begins
  tlp_beat_t          data      [N];
  logic        [15:0] serial    [N];  // of the next beat in and out of each input
  logic        [15:0] out_serial[N];
  int unsigned        left      [N];  // DWs left of the TLP being sent
  int unsigned tlps[N], beats = 0;

  for (genvar i = 0; i < N; i++) begin : g_in
    assign in[i].valid = valid[i];
    assign in[i].data = data[i];
    assign ready[i] = in[i].ready;
  end

  function automatic tlp_beat_t next_beat(int i);
    tlp_dw0_t dw0;
    next_beat = '0;
    if (left[i] == 0) begin
      left[i] = NonPosted[i] || (i == N - 1 && $urandom_range(3) == 0) ? 0 :
          $urandom_range(max_dws, min_dws);
      if (left[i] != 0 && $urandom_range(3) == 0) left[i] = max_dws;
      dw0 = '0;
      dw0.fmt_type = i == N - 1 ? (left[i] == 0 ? Cpl : CplD) : NonPosted[i] ? MRd4 : MWr4;
      dw0.length = NonPosted[i] ? 10'($urandom()) : 10'(left[i]);
      next_beat.hdr[127:96] = dw0;
      next_beat.sop = 1;
    end
    left[i] = left[i] > 16 ? left[i] - 16 : 0;
    next_beat.eop = left[i] == 0;
    next_beat.data[511:480] = {16'(i), serial[i]};
    serial[i]++;
  endfunction

  // Credits used in full, never modulo; limits likewise, so that the field's wrap-around is tested.
  int unsigned used_ph = 0, used_pd = 0, used_nph = 0, used_ch = 0, used_cd = 0;
  int unsigned lim_ph = 0, lim_pd = 0, lim_nph = 0, lim_ch = 0, lim_cd = 0;
  assign fc = '{
          ph: 8'(lim_ph),
          pd: 12'(lim_pd),
          nph: 8'(lim_nph),
          cplh: 8'(lim_ch),
          cpld: 12'(lim_cd),
          p_inf: p_inf,
          np_inf: 1'b0,
          cpl_inf: 1'b0
      };
  logic p_inf = 0;
  logic give_p = 1, give_np = 1, give_c = 1;
  int unsigned window = 64;  // header credits given at a time; data credits 4 times as many

  int current = -1;
  logic [N-1:0] waited;  // a clock ago
  bit was_rst = 0;
  always @(posedge clk) begin
    // Nobody starves of credits who has nothing to send.
    if (!rst) begin
      `CHECK(!starved[0] || (waited & Posted) != '0, "posted starves, and none waits")
      `CHECK(!starved[1] || (waited & NonPosted) != '0, "non-posted starves, and none waits")
      `CHECK(!starved[2] || (waited & ~Posted & ~NonPosted) != '0,
             "completions starve, and none waits")
    end
    // What waited before a reset is not counted behind it.
    if (was_rst) `CHECK(starved == '0, "starves in a reset")
    was_rst = rst;
    waited  = valid;
    if (!rst && out.valid && out.ready) begin
      int i;
      tlp_dw0_t dw0;
      int unsigned dc;
      i   = 32'(out.data.data[511:496]);
      dw0 = out.data.hdr[127:96];
      `CHECK(i < N, "a beat from nowhere")
      `CHECK(out.data.sop == (current < 0), "sop in the wrong beat")
      `CHECK(current < 0 || current == i, "TLPs interleaved")
      `CHECK(out.data.data[495:480] == out_serial[i], "beat lost, doubled or out of order")
      out_serial[i]++;
      if (out.data.sop) begin
        dc = dw0.fmt_type[6] ? (32'(dw0.length) + 3) / 4 : 0;
        if (dw0.fmt_type[6] && dw0.length == 0) dc = 256;
        if (Posted[i]) begin
          used_ph++;
          used_pd += dc;
        end else if (NonPosted[i]) used_nph++;
        else begin
          used_ch++;
          used_cd += dc;
        end
        `CHECK(p_inf || (used_ph <= lim_ph && used_pd <= lim_pd), "posted credits overdrawn")
        `CHECK(used_nph <= lim_nph && used_ch <= lim_ch && used_cd <= lim_cd, "credits overdrawn")
        tlps[i]++;
      end
      current = out.data.eop ? -1 : i;
      beats++;
    end
    // The receiver frees space now and then, up to its window.
    if ($urandom_range(3) == 0) begin
      if (give_p && lim_ph < used_ph + window) lim_ph <= lim_ph + $urandom_range(window / 4);
      if (give_p && lim_pd < used_pd + 4 * window) lim_pd <= lim_pd + $urandom_range(window);
      if (give_np && lim_nph < used_nph + window) lim_nph <= lim_nph + $urandom_range(window / 4);
      if (give_c && lim_ch < used_ch + window) lim_ch <= lim_ch + $urandom_range(window / 4);
      if (give_c && lim_cd < used_cd + 4 * window) lim_cd <= lim_cd + $urandom_range(window);
    end
    if (rst) begin
      valid <= '0;
      out.ready <= 0;
    end else begin
      out.ready <= $urandom_range(99) < out_percent;
      for (int i = 0; i < N; i++) begin
        if (!valid[i] || ready[i]) begin
          valid[i] <= 0;
          if ($urandom_range(99) < in_percent[i]) begin
            valid[i] <= 1;
            data[i]  <= next_beat(i);
          end
        end
      end
    end
  end

  task automatic set_all(int unsigned percent);
    for (int i = 0; i < N; i++) in_percent[i] = percent;
  endtask

  task automatic drain();
    set_all(0);
    for (int i = 0; i < N; i++) if (left[i] != 0) in_percent[i] = 100;
    while (in_percent.sum() != 0) begin
      @(posedge clk);
      for (int i = 0; i < N; i++) if (valid[i] && data[i].eop) in_percent[i] = 0;
    end
    repeat (1000) @(posedge clk);
    for (int i = 0; i < N; i++) `CHECK(serial[i] == out_serial[i], "beats were lost")
  endtask

  // As many credits as a few TLPs need: all of them go, with the last one too.
  task automatic last_credit(int unsigned headers, int unsigned with_data);
    {give_c, give_np, give_p} = '0;
    repeat (2) @(posedge clk);
    {lim_ph, lim_nph, lim_ch} = {used_ph + headers, used_nph + headers, used_ch + headers};
    {lim_pd, lim_cd} = {used_pd + 16 * with_data, used_cd + 16 * with_data};
    {min_dws, max_dws} = {32'd64, 32'd64};
    set_all(100);
    repeat (500) @(posedge clk);
    `CHECK(used_nph == lim_nph, "a header credit is left, non-posted")
    `CHECK(used_ph == lim_ph || (used_pd == lim_pd && with_data < headers),
           "credits are left, posted")
    `CHECK(used_ch == lim_ch || (used_cd == lim_cd && with_data < headers),
           "credits are left, completions")
    {give_c, give_np, give_p} = '1;
    drain();
  endtask

  initial begin
    int unsigned b, np, p, c, t[N];
    int more;
    for (int i = 0; i < N; i++) begin
      serial[i] = 0;
      out_serial[i] = 0;
      left[i] = 0;
      tlps[i] = 0;
      in_percent[i] = 0;
    end
    @(negedge rst);
    // Random traffic, windows from scarce to plenty; the least is what one TLP of the greatest length needs.
    for (int k = 0; k < 25; k++) begin
      max_dws = $urandom_range(64, 1);
      window  = $urandom_range(100, 8);
      if (k % 8 == 7) begin  // up to the longest TLP there is
        max_dws = 1024;
        window  = 80;
      end
      out_percent = $urandom_range(100, 20);
      for (int i = 0; i < N; i++) in_percent[i] = $urandom_range(100, 5);
      repeat (1500) @(posedge clk);
      // Closed: what has begun goes on to its end, nothing else begins.
      closed <= 1;
      repeat (2) @(posedge clk);
      while (busy) begin
        `CHECK(!dut.begin_tlp, "a TLP begins while closed")
        @(posedge clk);
      end
      repeat (50) begin
        @(posedge clk);
        `CHECK(!busy && !dut.move, "something moves while closed")
      end
      closed <= 0;
    end
    // A class without credits holds up nobody else.
    max_dws = 16;
    out_percent = 100;
    set_all(100);
    for (int k = 0; k < 3; k++) begin
      window = 60;
      {give_c, give_np, give_p} = ~(3'b001 << k);
      repeat (2000) @(posedge clk);
      p  = used_ph;
      np = used_nph;
      c  = used_ch;
      repeat (1000) @(posedge clk);
      `CHECK((used_ph == p) == (k == 0), "posted moved without credits or stood still with them")
      `CHECK((used_nph == np) == (k == 1),
             "non-posted moved without credits or stood still with them")
      `CHECK((used_ch == c) == (k == 2),
             "completions moved without credits or stood still with them")
      `CHECK(starved[k], "starvation not reported")
    end
    {give_c, give_np, give_p} = '1;

    // Plenty of credits: a beat a clock, and each input its share of the TLPs.
    for (int k = 0; k < 2; k++) begin
      p_inf   = 1'(k);
      max_dws = k == 0 ? 16 : 64;
      min_dws = max_dws;
      window  = 120;
      repeat (500) @(posedge clk);
      b = beats;
      t = tlps;
      repeat (2000) @(posedge clk);
      $display("%0d-DW TLPs: %0d beats in 2000 clocks", max_dws, beats - b);
      `CHECK(beats - b >= 1990, "not a beat a clock")
      for (int i = 1; i < N; i++) begin
        more = int'(tlps[i] - t[i]) - int'(tlps[0] - t[0]);
        `CHECK(more >= -1 && more <= 1, "inputs are not served in turn")
      end
    end

    p_inf = 0;
    drain();
    last_credit(3, 100);
    last_credit(40, 3);
    `CHECK(!out.valid && used_pd > 4096 && used_ph > 256 && used_cd > 4096,
           "too little traffic to wrap the credit counters")
    `CHECK(
        dut.used_ph_q == 8'(used_ph) && dut.used_pd_q == 12'(used_pd) && dut.used_nph_q == 8'(used_nph) &&
               dut.used_cplh_q == 8'(used_ch) && dut.used_cpld_q == 12'(used_cd),
        "credits are lost")
    `TB_PASS
  end
endmodule
