// SPDX-License-Identifier: Apache-2.0
`include "tb.svh"
`include "stream.svh"
/// tlp_rx_demux: every kind of TLP, of one or several beats, comes out where it belongs, whole and in order; the rest is
/// counted; completions pass a completer that takes nothing; one beat a clock.
module tlp_rx_demux_tb;
  import pcie_pkg::*;
  `TB_BEGIN
  `TB_TIMEOUT(200_000)
  localparam int Depth = 8;

  `STREAM_ON(tlp_beat_t, in, clk, rst)
  `STREAM_ON(tlp_beat_t, cpl, clk, rst)
  `STREAM_ON(tlp_beat_t, req, clk, rst)
  logic dropped;
  tlp_rx_demux #(
      .ReqDepth(Depth)
  ) dut (
      .clk_i(clk),
      .rst_i(rst),
      .in,
      .cpl,
      .req,
      .dropped_o(dropped)
  );

  logic [7:0] types[] = '{
      MRd3,
      MRd4,
      MWr3,
      MWr4,
      Cpl,
      CplD,
      8'h01,
      8'h02,
      8'h42,
      8'h04,
      8'h44,
      8'h0b,
      8'h4b,
      8'h34,
      8'h74
  };
  bit use_type[256];
  int unsigned in_percent = 0, cpl_percent = 100, req_percent = 100;
  int unsigned left = 0, drops = 0, expect_drops = 0, moved_cpl = 0, moved_in = 0;
  logic [7:0] current;
  tlp_beat_t to_cpl[$], to_req[$];

  function automatic tlp_beat_t next_beat();
    tlp_beat_t beat;
    beat.sop = left == 0;
    for (int i = 0; i < 16; i++) beat.data[32*i+:32] = $urandom();
    beat.hdr = {$urandom(), $urandom(), $urandom(), $urandom()};
    if (beat.sop) begin
      do current = types[$urandom_range(types.size()-1)]; while (!use_type[current]);
      beat.hdr[127:120] = current;
      left = current[6] ? $urandom_range(4, 1) : 1;
    end
    left--;
    beat.eop = left == 0;
    return beat;
  endfunction

  logic [7:0] route;
  always @(posedge clk) begin
    if (!rst) begin
      if (in.valid && in.ready) begin
        moved_in++;
        if (in.data.sop) route = in.data.hdr[127:120];
        if (route inside {Cpl, CplD}) to_cpl.push_back(in.data);
        else if (route inside {MRd3, MRd4, MWr3, MWr4}) to_req.push_back(in.data);
        else if (in.data.eop) expect_drops++;
      end
      if (cpl.valid && cpl.ready) begin
        moved_cpl++;
        `CHECK(to_cpl.size() != 0 && cpl.data == to_cpl.pop_front(), "wrong completion beat")
      end
      if (req.valid && req.ready)
        `CHECK(to_req.size() != 0 && req.data == to_req.pop_front(), "wrong request beat")
      drops += int'(dropped);
    end
    if (rst) begin
      in.valid  <= 0;
      cpl.ready <= 0;
      req.ready <= 0;
    end else begin
      cpl.ready <= $urandom_range(99) < cpl_percent;
      req.ready <= $urandom_range(99) < req_percent;
      if (!in.valid || in.ready) begin
        in.valid <= 0;
        if ($urandom_range(99) < in_percent) begin
          in.valid <= 1;
          in.data  <= next_beat();
        end
      end
    end
  end

  initial begin
    int unsigned start;
    foreach (types[i]) use_type[types[i]] = 1;
    @(negedge rst);
    in_percent = 100;
    repeat (10) @(posedge clk);
    start = moved_in;
    repeat (2000) @(posedge clk);
    `CHECK(moved_in - start == 2000, "less than one beat a clock")
    for (int i = 0; i < 40; i++) begin
      in_percent  = $urandom_range(100, 20);
      cpl_percent = $urandom_range(100, 10);
      req_percent = $urandom_range(100, 10);
      repeat (500) @(posedge clk);
    end
    // A completer that takes nothing: up to `Depth` requests, completions still pass.
    in_percent = 0;
    {cpl_percent, req_percent} = {32'd100, 32'd100};
    repeat (50) @(posedge clk);
    `CHECK(to_cpl.size() == 0 && to_req.size() == 0, "beats were lost")
    req_percent = 0;
    foreach (use_type[i]) use_type[i] = 0;
    use_type[MRd4] = 1;
    in_percent = 100;
    // The last TLP of the random part may still be unfinished.
    repeat (2) @(posedge clk);
    while (to_req.size() < Depth - 3) @(posedge clk);
    foreach (use_type[i]) use_type[i] = 0;
    use_type[CplD] = 1;
    repeat (10) @(posedge clk);
    start = moved_cpl;
    repeat (200) @(posedge clk);
    `CHECK(moved_cpl - start == 200, "requests hold up completions")
    use_type[MRd3] = 1;
    repeat (300) @(posedge clk);
    `CHECK(to_req.size() == Depth, "does not hold as many requests as it should")
    req_percent = 100;
    repeat (50) @(posedge clk);
    in_percent = 0;
    repeat (50) @(posedge clk);
    `CHECK(to_cpl.size() == 0 && to_req.size() == 0, "beats were lost")
    `CHECK(drops == expect_drops && drops > 100, "wrong number of TLPs dropped")
    `TB_PASS
  end
endmodule
