// SPDX-License-Identifier: Apache-2.0
`include "stream.svh"
`include "assert.svh"
/// Frames from a CMAC hard block into the core clock domain, with the time stamps that the block took.
///
/// A register behind the pins, then mac_rx, whose contract holds: the block cannot wait, so what finds no room is lost and
/// counted. `mac_clk_i` is the block's receive clock, which follows the line and has no other use. The block stamps frames with
/// `timer_o`, the core's time in that clock (ptp_cdc). One clock more than mac_rx. Each side may be reset alone, the MAC's 16 clocks at
/// least. The block need not be reset with it: of a frame that begins in reset the rest is dropped too.
module cmac_rx
  import eth_pkg::*;
  import cmac_pkg::*;
#(
    parameter type Wide = wide_beat_t,  // or frame_beat_t
    parameter int Depth = 32,  // of mac_rx
    parameter int StampDepth = 32  // likewise
) (
    // The block's receive clock.
    input  logic       mac_clk_i,
    input  logic       mac_rst_i,
    input  cmac_axis_t rx_i,
    input  cmac_time_t rx_stamp_i,
    output cmac_time_t timer_o,

    // Core clock domain.
    input  logic                 clk_i,
    input  logic                 rst_i,
    input  ptp_time_t            time_i,
    input  logic          [13:0] max_frame_i,  // without FCS
           stream_if.src         frame,        // Wide
           stream_if.src         stamp,        // ptp_time_t
    output mac_rx_count_t        count_o
);
  // Bytes in a beat: which lane is the last one. A bit of their number is in the numbers of these lanes.
  function automatic logic [FrameBeatBytes-1:0] lanes_with(int bit_of_number);
    for (int i = 0; i < FrameBeatBytes; i++) lanes_with[i] = 1'((i + 1) >> bit_of_number);
  endfunction
  function automatic logic [6:0] bytes(logic [FrameBeatBytes-1:0] keep);
    logic [FrameBeatBytes-1:0] last;
    last = keep & ~(keep >> 1);
    for (int n = 0; n < 7; n++) bytes[n] = |(last & lanes_with(n));
  endfunction

  ptp_time_t mac_time;
  ptp_cdc i_time (
      .clk_i,
      .time_i,
      .mac_clk_i,
      .mac_rst_i,
      .time_o(mac_time)
  );
  assign timer_o = cmac_time_t'(mac_time);

  // Where frames begin is followed in reset too, for nothing on the pins says so; there one is over when none of it has come for
  // eight clocks, far more than the line has between two beats: the block was reset as well.
  logic valid_q, last_q, user_q, sop_q, inside_q;
  logic [2:0] still_q;
  logic [8*FrameBeatBytes-1:0] data_q;
  logic [FrameBeatBytes-1:0] keep_q;
  ptp_time_t stamp_q;
  always_ff @(posedge mac_clk_i) begin
    valid_q <= rx_i.tvalid;
    data_q  <= rx_i.tdata;
    keep_q  <= rx_i.tkeep;
    last_q  <= rx_i.tlast;
    user_q  <= rx_i.tuser;
    stamp_q <= rx_stamp_i[TimeW-1:0];
    sop_q   <= !inside_q;
    still_q <= mac_rst_i && !rx_i.tvalid ? still_q + 3'(!(&still_q)) : '0;
    if (rx_i.tvalid) inside_q <= !rx_i.tlast;
    else if (&still_q) inside_q <= 1'b0;
    if (mac_rst_i) valid_q <= 1'b0;
  end
  wire unused = &{1'b0, rx_stamp_i[$bits(cmac_time_t)-1:TimeW]};

  frame_beat_t beat;
  `WHILE(valid_q, beat, '{data: data_q, len: bytes(keep_q), sop: sop_q, eop: last_q, err:
                                                                                         user_q})
  mac_rx #(
      .Wide(Wide),
      .Depth(Depth),
      .StampDepth(StampDepth)
  ) i_mac_rx (
      .mac_clk_i,
      .mac_rst_i,
      .rx_valid_i(valid_q),
      .rx_i(beat),
      .time_i(stamp_q),
      .clk_i,
      .rst_i,
      .max_frame_i,
      .frame,
      .stamp,
      .count_o
  );

  `ASSERT(LanesFromTheFirst, valid_q |-> keep_q[0] && (keep_q & (keep_q + 1'b1)) == '0, mac_clk_i,
          mac_rst_i)
  `ASSERT(FullBeforeTheLast, valid_q && !last_q |-> &keep_q, mac_clk_i, mac_rst_i)
endmodule
