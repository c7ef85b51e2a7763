// SPDX-License-Identifier: Apache-2.0
`ifndef EMERY_PINS_LOGIC_TB_SVH
`define EMERY_PINS_LOGIC_TB_SVH
`include "parts_tb.svh"
`include "stream.svh"

/// The logic's side of a shim between TLP streams and the pins of a hard block: TLPs (`queue_beats`) and reads (`queue_read`) of a
/// bench, in as many percent of the clocks as it says; `queued` have not gone.
module pins_logic
  import pcie_pkg::*;
#(
    parameter type Beat = tlp_beat_t
) (
    input logic clk,
    input logic rst,
    input int unsigned write_percent,
    input int unsigned read_percent,
    stream_if tx,  // Beat
    stream_if read  // mem4_hdr_t
);
  typedef logic [31:0] words_t[$];
  localparam int BeatDws = ($bits(Beat) - 128) / 32;
  `STREAM_SOURCE(Beat, i_tx, tx, write_percent)
  `STREAM_SOURCE(mem4_hdr_t, i_read, read, read_percent)

  function automatic void queue_beats(logic [127:0] hdr, words_t words);
    Beat b;
    for (int at = 0; at == 0 || at < words.size(); at += BeatDws) begin
      b = '{sop: at == 0, eop: at + BeatDws >= words.size(), hdr: hdr, data: '0};
      for (int i = 0; i < BeatDws; i++)
      b.data[32*i+:32] = at + i < words.size() ? words[at+i] : $urandom();
      if (at != 0) b.hdr = {4{$urandom()}};
      i_tx.queue.push_back(b);
    end
  endfunction
  function automatic void queue_read(mem4_hdr_t hdr);
    i_read.queue.push_back(hdr);
  endfunction
  function automatic int unsigned queued();
    return i_tx.queue.size() + i_read.queue.size();
  endfunction
endmodule
`endif
