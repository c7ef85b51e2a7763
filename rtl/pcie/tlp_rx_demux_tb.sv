// SPDX-License-Identifier: Apache-2.0
`include "parts_tb.svh"
`include "tb.svh"
`include "stream.svh"
/// tlp_rx_demux: every kind of TLP, of one or several beats, comes out where it belongs, whole and in order; the rest is
/// counted; completions pass a completer that takes nothing, and a reset of the device behind, which costs requests only; one beat a clock.
module tlp_rx_demux_tb;
  import pcie_pkg::*;
  `TB_BEGIN
  `TB_TIMEOUT(200_000)
  localparam int Depth = 8;

  `STREAM_ON(tlp_beat_t, source, clk, rst)
  `STREAM_ON(tlp_beat_t, in, clk, rst)
  // Without valid there is anything.
  tlp_beat_t noise;
  always @(posedge clk) noise <= any_beat();
  assign in.valid = source.valid;
  assign in.data = source.valid ? source.data : noise;
  assign source.ready = in.ready;
  `STREAM_ON(tlp_beat_t, cpl, clk, rst)
  `STREAM_ON(tlp_beat_t, req, clk, req_rst)
  wire  req_rst = rst || device_rst;
  logic dropped;
  tlp_rx_demux #(
      .ReqDepth(Depth)
  ) dut (
      .clk_i(clk),
      .rst_i(rst),
      .device_rst_i(req_rst),
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
  logic device_rst = 0;
  bit   gone = 0;  // the TLP under way is for nobody
  int unsigned left = 0, drops = 0, expect_drops = 0;
  logic [7:0] current;

  function automatic tlp_beat_t any_beat();
    any_beat = tlp_beat_t'({20{$urandom()}});
    any_beat.hdr[127:120] = types[$urandom_range(types.size()-1)];
    any_beat.sop = 1'($urandom());
  endfunction

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

  `STREAM_SOURCE(tlp_beat_t, i_in, source, 100)
  `STREAM_CHECK(tlp_beat_t, i_cpl, cpl, cpl_percent)
  `STREAM_CHECK(tlp_beat_t, i_req, req, req_percent)
  logic [7:0] route;
  always @(posedge clk) begin
    if (!rst) begin
      if (in.valid && in.ready) begin
        if (in.data.sop) route = in.data.hdr[127:120];
        if (route inside {Cpl, CplD}) i_cpl.expected.push_back(in.data);
        else begin
          if (in.data.sop) gone = !(route inside {MRd3, MRd4, MWr3, MWr4});
          if (device_rst) gone = 1;
          if (!gone) i_req.expected.push_back(in.data);
          if (gone && in.data.eop) expect_drops++;
        end
      end
      if (device_rst) begin
        i_req.expected.delete();
        gone = 1;
      end
      drops += int'(dropped);
    end
    if (i_in.queue.size() == 0 && $urandom_range(99) < in_percent)
      i_in.queue.push_back(next_beat());
  end

  initial begin
    int unsigned start;
    foreach (types[i]) use_type[types[i]] = 1;
    @(negedge rst);
    in_percent = 100;
    repeat (10) @(posedge clk);
    start = i_in.taken;
    repeat (2000) @(posedge clk);
    `CHECK(i_in.taken - start == 2000, "less than one beat a clock")
    for (int i = 0; i < 40; i++) begin
      in_percent  = $urandom_range(100, 20);
      cpl_percent = $urandom_range(100, 10);
      req_percent = $urandom_range(100, 10);
      repeat (500) @(posedge clk);
      // The device alone is reset: requests that wait are gone, with the rest of one that has begun.
      if (i % 2 == 1) begin
        device_rst <= 1;
        repeat ($urandom_range(10, 1)) @(posedge clk);
        device_rst <= 0;
      end
    end
    // A completer that takes nothing: up to `Depth` requests, completions still pass.
    in_percent = 0;
    {cpl_percent, req_percent} = {32'd100, 32'd100};
    repeat (50) @(posedge clk);
    `CHECK(i_cpl.expected.size() == 0 && i_req.expected.size() == 0, "beats were lost")
    req_percent = 0;
    foreach (use_type[i]) use_type[i] = 0;
    use_type[MRd4] = 1;
    in_percent = 100;
    // The last TLP of the random part may still be unfinished.
    repeat (2) @(posedge clk);
    while (i_req.expected.size() < Depth - 3) @(posedge clk);
    foreach (use_type[i]) use_type[i] = 0;
    use_type[CplD] = 1;
    repeat (10) @(posedge clk);
    start = i_cpl.taken;
    repeat (200) @(posedge clk);
    `CHECK(i_cpl.taken - start == 200, "requests hold up completions")
    use_type[MRd3] = 1;
    repeat (300) @(posedge clk);
    `CHECK(i_req.expected.size() == Depth, "does not hold as many requests as it should")
    req_percent = 100;
    repeat (50) @(posedge clk);
    in_percent = 0;
    repeat (50) @(posedge clk);
    `CHECK(i_cpl.expected.size() == 0 && i_req.expected.size() == 0, "beats were lost")
    `CHECK(drops == expect_drops && drops > 100, "wrong number of TLPs dropped")
    `TB_PASS
  end
endmodule
