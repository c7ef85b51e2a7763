// SPDX-License-Identifier: Apache-2.0
`include "stream.svh"
/// Last step of the transmit engine: packets that have left (or failed) become records, commits and `sent` notes.
///
/// `done` brings packets in order; one without `error` waits for its time stamp. One packet a
/// clock, latency 3 clocks after the stamp, up to `Depth` packets wait; all streams may stall. `count_o` pulses once for
/// each packet. Reset forgets the packets under way.
module tx_finish
  import queue_pkg::*, engine_pkg::*;
#(
    parameter int Depth = 512
) (
    input  logic             clk_i,
    input  logic             rst_i,
           stream_if.snk     done,    // tx_done_t
           stream_if.snk     stamp,   // ptp_time_t
           stream_if.src     record,  // record_t
           stream_if.src     commit,  // commit_t
           stream_if.src     sent,    // sent_t
    output tx_engine_count_t count_o
);
  `STREAM(tx_done_t, head)
  `STREAM(record_t, record_in)
  `STREAM(commit_t, commit_in)
  `STREAM(sent_t, sent_in)
  `FIFO(tx_done_t, Depth, i_done, done, head)
  `SPILL(record_t, i_record, record_in, record)
  `SPILL(commit_t, i_commit, commit_in, commit)
  `SPILL(sent_t, i_sent, sent_in, sent)

  // All three leave together; their readies come from registers.
  wire open = record_in.ready && commit_in.ready && sent_in.ready;
  wire finish = head.valid && open && (head.data.error || stamp.valid);
  assign head.ready  = finish;
  assign stamp.ready = finish && !head.data.error;

  cpl_t cpl;
  assign cpl = '{
          timestamp: head.data.error ? '0 : stamp.data[39:0],
          flags: '0,
          csum: '0,
          hash: '0,
          phase: 1'b0,
          error: head.data.error,
          len: head.data.len,
          queue: head.data.queue
      };
  assign record_in.valid = finish;
  assign record_in.data = '{cq: head.data.cq, record: cpl};
  assign commit_in.valid = finish;
  assign commit_in.data = '{queue: head.data.queue, count: 4'd1};
  assign sent_in.valid = finish;
  assign sent_in.data = '{queue: head.data.queue, bytes: head.data.len};

  always_ff @(posedge clk_i) begin
    count_o.sent  <= finish && !head.data.error;
    count_o.error <= finish && head.data.error;
    if (rst_i) count_o <= '0;
  end
endmodule
