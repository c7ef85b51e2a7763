// SPDX-License-Identifier: Apache-2.0
// prove: mode=prove depth=40
`include "formal.svh"
/// request_scheduler_formal without OneAtATime: an active output is offered a REQ whatever the others answer.
module request_scheduler_open_formal (
    input logic       clk_i,
    input logic       rst_i,
    input logic [2:0] waiting_i,
    input logic       take_i,
    input logic       start_i,           // a burst to `start_peer_i`
    input logic [1:0] start_peer_i,
    input logic       trailing_i,
    input logic       null_i,
    input logic       end_i,
    input logic       abort_i,
    input logic       res_i,
    input logic [1:0] res_peer_i,
    input logic [3:0] res_tag_i,
    input logic       req_abort_i,
    input logic [1:0] req_abort_peer_i,
    input logic [3:0] req_abort_tag_i,
    input logic [1:0] watched_i,
    input logic [1:0] other_i
);
  request_scheduler_formal #(.OneAtATime(1'b0)) i_proof (.*);
endmodule
