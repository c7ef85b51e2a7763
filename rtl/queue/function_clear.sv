// SPDX-License-Identifier: Apache-2.0
`include "assert.svh"
/// Function-level reset of virtual functions (PCIe Base Specification 6.6.2), one after the other, while the others go on.
///
/// Of a function in `reset_i` it writes the registers of its share (function_regs) like a driver that takes them out of use: scheduler
/// queues, queues, completion and event queues disabled, vectors masked, without moderation. Then it looks until all slots that its queues
/// have handed out are finished, for `Patience` clocks at the most (a hostile driver can have made a mess of its counts), waits `Settle`
/// clocks more for records on their way, and tells: `done_o` for a clock. The hard block keeps the function
/// from the bus from the begin on, so what is under way ends soon, with errors that nobody hears of. What a new driver does not
/// set up itself is not there: queues are disabled, bases mean nothing until then. One access at a time; some hundred clocks a queue.
/// A record that waits longer for company than `Settle` (completion delay) may yet come when the function is in use again.
module function_clear
  import queue_pkg::*;
  import pcie_pkg::*;
#(
    parameter int Functions = 2,
    parameter int AddrW = 27,
    parameter int Ports = 1,
    parameter int TxQueues = 256,  // of all functions
    parameter int RxQueues = 256,
    parameter int EventQueues = 32,
    parameter int Vectors = 32,
    parameter int Settle = 4096,
    parameter int Patience = 8192,
    parameter logic [ShareSched+Ports-1:0][31:0] Base = '0  // in the order of queue_pkg
) (
    input  logic           clk_i,
    input  logic           rst_i,
    input  functions_t     reset_i,
    output function_done_t done_o,
           reg_if.master   regs
);
  localparam int FunctionW = $clog2(Functions), StepW = $clog2(10 + Ports);
  localparam int TxEach = TxQueues / Functions, RxEach = RxQueues / Functions;
  localparam int EventEach = EventQueues / Functions, VectorEach = Vectors / Functions;
  typedef logic [AddrW-1:0] addr_t;
  typedef logic [StepW-1:0] step_t;
  typedef logic [16:0] count_t;

  /// Registers of one kind: which share, how many, how far apart shares and registers are.
  typedef struct packed {
    logic [3:0] region;
    count_t     count;
    logic [4:0] log_share;
    logic [4:0] log_stride;
  } share_t;
  function automatic share_t share_of(int region, int count);
    int log_stride = $clog2(share_stride(region));
    return '{4'(region), count_t'(count), 5'($clog2(count) + log_stride), 5'(log_stride)};
  endfunction
  localparam share_t Masks = share_of(ShareVectors, VectorEach);
  localparam share_t Moderation = share_of(ShareModeration, VectorEach);
  localparam share_t Txq = share_of(ShareTxq, TxEach), Rxq = share_of(ShareRxq, RxEach);
  localparam share_t Txcq = share_of(ShareTxcq, TxEach), Rxcq = share_of(ShareRxcq, RxEach);
  localparam share_t Eq = share_of(ShareEq, EventEach);
  localparam share_t Sched = share_of(ShareSched, TxEach);

  /// What a step does to each of them: to which word, and whether it looks there or what it writes.
  typedef struct packed {
    share_t      share;
    logic [4:0]  offset;
    logic        looks;
    logic [31:0] value;
  } job_t;
  localparam logic [4:0] Control = 5'(4 * QRegControl), Consumer = 5'(4 * QRegConsumer);
  localparam int Steps = 9 + Ports;
  localparam logic [31:0] Disabled = 32'h30;  // of the shortest ring
  function automatic job_t job_of(step_t step);
    share_t sched;
    sched = Sched;
    sched.region = 4'(ShareSched + int'(step) - 9);
    unique case (int'(step))
      0: return '{Masks, 5'd12, 1'b0, 32'd1};
      1: return '{Moderation, 5'd0, 1'b0, 32'd0};
      2: return '{Rxq, Control, 1'b0, Disabled};
      3: return '{Txq, Control, 1'b0, Disabled};
      4: return '{Txcq, Control, 1'b0, Disabled};
      5: return '{Rxcq, Control, 1'b0, Disabled};
      6: return '{Eq, Control, 1'b0, Disabled};
      7: return '{Rxq, Consumer, 1'b1, 32'd0};
      8: return '{Txq, Consumer, 1'b1, 32'd0};
      default: return '{sched, 5'd0, 1'b0, 32'd0};
    endcase
  endfunction

  typedef enum logic [2:0] {
    Idle,
    Prepare,
    Access,
    Wait,
    Settling
  } state_e;
  state_e state_q;
  logic [FunctionW-1:0] which_q;
  step_t step_q;
  count_t at_q;
  logic [$clog2(Settle)-1:0] settle_q;
  logic [$clog2(Patience):0] looked_q;  // clocks, from the first look on
  functions_t told_q;  // and not yet heard

  job_t job;
  addr_t addr, addr_q;
  assign addr = (addr_t'(Base[job.share.region]) + addr_t'(job.offset)) | addr_t'(which_q) << job.share.log_share | addr_t'(at_q) << job.share.log_stride;
  assign job = job_of(step_q);
  assign regs.req = state_q == Access;
  assign regs.write = !job.looks;
  assign regs.addr = addr_q;
  assign regs.wdata = job.value;
  assign regs.wstrb = '1;
  wire impatient = looked_q == ($clog2(Patience) + 1)'(Patience);
  wire settled = !job.looks || impatient || regs.rdata[15:0] == regs.rdata[31:16];

  functions_t wanted;
  assign wanted = reset_i & ~told_q;
  always_ff @(posedge clk_i) begin
    done_o.valid <= 1'b0;
    told_q <= told_q & reset_i;
    unique case (state_q)
      Idle: begin
        for (int f = Functions - 1; f > 0; f--) begin
          if (wanted[f]) begin
            which_q <= FunctionW'(f);
            state_q <= Prepare;
          end
        end
        step_q <= '0;
        at_q <= '0;
        settle_q <= '0;
        looked_q <= '0;
      end
      Prepare: begin
        addr_q  <= addr;
        state_q <= Access;
      end
      Access, Wait: begin
        state_q <= Wait;
        if (job.looks && !impatient) looked_q <= looked_q + 1'b1;
        if (regs.ack) begin
          state_q <= Prepare;
          if (settled) begin
            at_q <= at_q + 1'b1;
            if (at_q + 1'b1 == job.share.count) begin
              at_q   <= '0;
              step_q <= step_q + 1'b1;
              if (int'(step_q) == Steps - 1) state_q <= Settling;
            end
          end
        end
      end
      default: begin
        settle_q <= settle_q + 1'b1;
        if (settle_q == $bits(settle_q)'(Settle - 1)) begin
          done_o <= '{valid: 1'b1, which: function_t'(which_q)};
          told_q[6'(which_q)] <= 1'b1;
          state_q <= Idle;
        end
      end
    endcase
    if (rst_i) begin
      state_q <= Idle;
      told_q <= '0;
      done_o.valid <= 1'b0;
    end
  end

  `ASSERT(NeverThePhysicalOne, state_q != Idle |-> which_q != '0)
endmodule
