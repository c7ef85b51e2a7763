// SPDX-License-Identifier: Apache-2.0
`include "stream.svh"
/// A linecard: frames from the wire to the tiles (line_in), frames from the tiles to the wire (line_out), and the messages of both
/// on the networks.
///
/// `gdn_in` and `mdn_in` are for line_out; reads of the buffer come by either network (`buffer_in`: GDN, MDN) and are answered
/// over one (`in_settings_t.answer_gdn`). Whole messages leave in turns. Settings (by `Slot*`) do not change while it runs. Which
/// version of the router sets which: docs/architecture.md, tile-router. No version uses `announce`, `set_up` and the masked
/// modes.
module linecard
  import mesh_pkg::*;
(
    input logic   clk_i,
    input logic   rst_i,
    input logic   run_i,
    input place_t place_i,
    input word_t  setting_i[8],

    // From and to the networks.
          stream_if.snk gdn_in,
          stream_if.snk mdn_in,
          stream_if.snk buffer_in[2],
    input logic         written_i,     // the memory has the payload that was sent to it (WriteLast)
    input logic         credit_i,      // the tiles are through with one more head
          stream_if.src st_out,
          stream_if.src gdn_out,
          stream_if.src mdn_out,

    // Wire: wire_beat_t.
    stream_if.snk wire_in,
    stream_if.src wire_out,

    output word_t in_frames_o,
    output word_t in_bad_o,
    output word_t out_frames_o,
    output word_t out_bad_o
);
  wire in_settings_t in_settings = in_settings_t'(setting_i[SlotIn[2:0]]);
  `STREAM(word_t, to_buffer)
  `STREAM(word_t, answers)
  `STREAM(word_t, to_gdn[3])
  `STREAM(word_t, to_mdn[3])
  message_merge #(
      .N(2)
  ) i_buffer_merge (
      .clk_i,
      .rst_i,
      .in (buffer_in),
      .out(to_buffer)
  );
  assign to_gdn[0].valid = answers.valid && in_settings.answer_gdn;
  assign to_gdn[0].data  = answers.data;
  assign to_mdn[2].valid = answers.valid && !in_settings.answer_gdn;
  assign to_mdn[2].data  = answers.data;
  assign answers.ready   = in_settings.answer_gdn ? to_gdn[0].ready : to_mdn[2].ready;
  message_merge #(
      .N(3)
  ) i_gdn_merge (
      .clk_i,
      .rst_i,
      .in (to_gdn),
      .out(gdn_out)
  );
  message_merge #(
      .N(3)
  ) i_mdn_merge (
      .clk_i,
      .rst_i,
      .in (to_mdn),
      .out(mdn_out)
  );

  line_in i_in (
      .clk_i,
      .rst_i,
      .place_i,
      .settings_i  (in_settings),
      .heads_i     (head_places_t'(setting_i[SlotHeads[2:0]])),
      .ring_base_i (setting_i[SlotRingBase[2:0]]),
      .ring_bytes_i(setting_i[SlotRingBytes[2:0]]),
      .wire_in,
      .written_i,
      .credit_i,
      .buffer_in   (to_buffer),
      .answers,
      .heads       (to_gdn[1]),
      .mdn_out     (to_mdn[0]),
      .st_out,
      .frames_o    (in_frames_o),
      .bad_o       (in_bad_o)
  );
  line_out i_out (
      .clk_i,
      .rst_i,
      .run_i,
      .place_i,
      .settings_i(out_settings_t'(setting_i[SlotOut[2:0]])),
      .gdn_in,
      .mdn_in,
      .gdn_out   (to_gdn[2]),
      .mdn_out   (to_mdn[1]),
      .wire_out,
      .frames_o  (out_frames_o),
      .bad_o     (out_bad_o)
  );
endmodule
