// SPDX-License-Identifier: Apache-2.0
/// Edges of a schedule of time slots, one after another: a pulse when a slot begins, `lead_i` ns before; and one when it is the newest.
///
/// While `run_i` is high: slot 0 begins at `start_i`, each next one when the one before has lasted `slot_ns_i`, slot 0 again after slot
/// `last_i`. `edge_o` comes 3 clocks after `time_i` has come to the slot's begin less the lead, with the slot's number on `slot_o` (until it
/// changes). The length of slot `slot_o` is read in the clock after that: `slot_ns_i` two clocks after a change. What lies in the past is
/// caught up with, a slot every 4 clocks, so slots are to be longer than that: `newest_o` comes 4 clocks after an edge if no other is due; when the time is set back, the next edge waits for it.
module tdma_edges
  import eth_pkg::*;
#(
    parameter int SlotW = 8
) (
    input  logic                  clk_i,
    input  logic                  rst_i,
    input  logic                  run_i,
    input  ptp_time_t             time_i,
    input  ptp_time_t             start_i,
    input  logic      [     19:0] lead_i,     // ns
    input  logic      [SlotW-1:0] last_i,
    output logic      [SlotW-1:0] slot_o,
    input  logic      [     31:0] slot_ns_i,
    output logic                  edge_o,
    output logic                  newest_o
);
  typedef enum logic [2:0] {
    Idle,
    Read,
    Aim,
    Look,
    Wait
  } step_e;
  step_e step_q;
  ptp_time_t begin_q, aim_q;
  logic [TimeW-1:0] past;
  logic due_q, passed_q;
  assign past = time_i - aim_q;
  assign edge_o = step_q == Wait && due_q;
  assign newest_o = step_q == Wait && !due_q && passed_q;

  always_ff @(posedge clk_i) begin
    due_q <= !past[TimeW-1];
    passed_q <= edge_o || (passed_q && !newest_o);
    unique case (step_q)
      Idle: begin
        begin_q <= start_i;
        slot_o  <= '0;
        step_q  <= Read;
      end
      Read: step_q <= Aim;
      Aim: begin
        aim_q  <= begin_q - TimeW'(lead_i);
        step_q <= Look;
      end
      Look: step_q <= Wait;
      default:
      if (due_q) begin
        begin_q <= begin_q + TimeW'(slot_ns_i);
        slot_o  <= slot_o == last_i ? '0 : slot_o + 1'b1;
        step_q  <= Read;
      end
    endcase
    if (rst_i || !run_i) begin
      step_q   <= Idle;
      passed_q <= 1'b0;
    end
  end
endmodule
