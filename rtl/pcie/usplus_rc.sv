// SPDX-License-Identifier: Apache-2.0
`include "stream.svh"
/// Completions from the RC interface of the UltraScale+ block, up to four a beat where they straddle.
///
/// The block has looked for their request; where it says that something is wrong with one (it came too late, does not fit) and its
/// status does not, the status is Completer Abort. `done_o` is high a clock with the last one of a request, of `done_tag_o`.
/// Latency 3 clocks, a TLP a clock at the most (usplus_unpack). The block cannot be held up for long. Reset drops what is held.
module usplus_rc
  import pcie_pkg::*;
  import usplus_pkg::*;
#(
    parameter type Received = tlp_beat_t  // or wide_tlp_beat_t
) (
    input logic clk_i,
    input logic rst_i,

    input  logic             tvalid_i,
    input  logic     [511:0] tdata_i,
    input  rc_user_t         tuser_i,
    output logic             tready_o,

    stream_if.src cpl,  // Received

    output logic       done_o,
    output logic [7:0] done_tag_o
);
  `STREAM(usplus_beat_t, pins)
  `STREAM(usplus_beat_t, beat)
  localparam int DataBits = $bits(Received) - $bits(tlp_beat_t) + 8 * TlpBeatBytes;
  typedef struct packed {
    logic sop;
    logic eop;
    logic [127:0] desc;
    logic [3:0] last_be;
    logic [3:0] first_be;
    logic [DataBits-1:0] data;
  } unpacked_t;
  `STREAM(unpacked_t, tlp)
  logic [3:0] sop_at;
  always_comb begin
    sop_at = '0;
    for (int i = 0; i < 4; i++) if (tuser_i.sop[i]) sop_at[tuser_i.sop_ptr[i]] = 1'b1;
  end
  assign pins.valid = tvalid_i;
  `STREAM_DATA(pins, '{sop_at: sop_at, data: tdata_i, default: '0})
  assign tready_o = pins.ready;
  wire unused = &{1'b0, tuser_i};
  `SPILL(usplus_beat_t, i_pins, pins, beat)
  usplus_unpack #(
      .Unpacked(unpacked_t)
  ) i_unpack (
      .clk_i,
      .rst_i,
      .in (beat),
      .out(tlp)
  );

  wire rc_desc_t desc = tlp.data.desc[95:0];
  wire has_data = desc.dword_count != '0;
  wire amiss = !(desc.error inside {UsErrorNone, UsErrorPoisoned}) && desc.status == StatusSC;
  tlp_dw0_t dw0;
  cpl_hdr_t hdr;
  assign dw0 = '{
          fmt_type: has_data ? CplD : Cpl,
          tc: desc.tc,
          attr_ido: desc.attr[2],
          ep: desc.poisoned || desc.error == UsErrorPoisoned,
          attr_ro: desc.attr[1],
          attr_ns: desc.attr[0],
          length: desc.dword_count[9:0],
          default: '0
      };
  assign hdr = '{
          dw0: dw0,
          completer_id: desc.completer_id,
          status: amiss ? StatusCA : desc.status,
          byte_count: desc.byte_count[11:0],
          requester_id: desc.requester_id,
          tag: desc.tag,
          lower_addr: desc.lower_addr[6:0],
          default: '0
      };
  assign cpl.valid = tlp.valid;
  `STREAM_DATA(cpl, '{sop: tlp.data.sop, eop: tlp.data.eop, hdr: hdr, data: tlp.data.data})
  assign tlp.ready = cpl.ready;

  always_ff @(posedge clk_i) begin
    done_o <= tlp.valid && tlp.ready && tlp.data.sop && desc.request_completed && !rst_i;
    done_tag_o <= desc.tag;
  end
endmodule
