// SPDX-License-Identifier: Apache-2.0
`include "assert.svh"
`include "stream.svh"
/// Crossbar between cores and assists and the memories they share (core-nic paper, section 4): scratchpad banks, device
/// registers, frame memory. 32 bits wide; every slave takes one request a clock, round robin among its requests.
///
/// A master holds `req` until `req_ready_o`, which comes in the clock its slave takes the request. A bank's answer comes
/// in the next clock (so a load takes two); device registers and frame memory may be not ready and may answer any time
/// later, and take no request while one with an answer is open. A master has one answer open; it may request again in the
/// clock of the answer. Stores have no answer. An unmapped address, or anything but Load and Store outside the scratchpad:
/// taken at once, answered with `error` in the next clock, a Store with `store_error_o`. A master is passed at most
/// Masters-1 times. `wait_o` is high in a clock in which a master waits because its slave serves another. Reset drops
/// open answers.
module xbar
  import core_pkg::*;
#(
    parameter int Masters = 10,
    parameter int Decoded = 0,  // masters, the first ones, that say in which region their requests are
    parameter int Banks = 4,  // a power of two; consecutive words lie in consecutive banks
    parameter int ScratchBytes = 256 * 1024,
    parameter int DeviceBytes = 4096,
    parameter int FrameBytes = 32 * 1024 * 1024,
    localparam int MasterW = Masters > 1 ? $clog2(Masters) : 1
) (
    input logic clk_i,
    input logic rst_i,

    // Masters.
    input logic [Masters-1:0] req_valid_i,
    input mem_req_t req_i[Masters],
    input region_t [Masters-1:0] region_i = '0,  // of those below Decoded, with valid; else 0
    output logic [Masters-1:0] req_ready_o,
    output logic [Masters-1:0] rsp_valid_o,
    output mem_rsp_t rsp_o[Masters],
    output logic [Masters-1:0] store_error_o,
    output logic [Masters-1:0] wait_o,

    // Banks: always ready. `addr` is the byte address inside the bank; the answer is there one clock later.
    output logic     [Banks-1:0] bank_valid_o,
    output mem_req_t             bank_req_o  [Banks],
    input  logic     [     31:0] bank_rdata_i[Banks],

    // Device registers: Load and Store, addresses as the master gave them, and the master's number. What is offered
    // may change until it is taken.
    output logic                   dev_valid_o,
    output mem_req_t               dev_req_o,
    output logic     [MasterW-1:0] dev_master_o,
    input  logic                   dev_ready_i,
    input  logic                   dev_rsp_valid_i,
    input  mem_rsp_t               dev_rsp_i,

    // Frame memory: the same.
    output logic     frame_valid_o,
    output mem_req_t frame_req_o,
    input  logic     frame_ready_i,
    input  logic     frame_rsp_valid_i,
    input  mem_rsp_t frame_rsp_i
);
  localparam int BankW = Banks > 1 ? $clog2(Banks) : 0;
  if (2 ** BankW != Banks || ScratchBytes % (4 * Banks) != 0) begin : g_bad_parameter
    $fatal(1, "xbar: %0d banks of %0d bytes altogether", Banks, ScratchBytes);
  end
  if (!(fits(
          ScratchBase, ScratchBytes
      ) && fits(
          DeviceBase, DeviceBytes
      ) && fits(
          FrameBase, FrameBytes
      ))) begin : g_bad_region
    $fatal(1, "xbar: regions of %0d, %0d, %0d bytes", ScratchBytes, DeviceBytes, FrameBytes);
  end

  /// A region is a power of two of bytes, at a multiple of that: no subtraction stands in front of the arbiters.
  function automatic bit fits(input logic [31:0] base, input int bytes);
    return 2 ** $clog2(bytes) == bytes && (base & 32'(bytes - 1)) == '0;
  endfunction

  // Slaves: the banks, then these two.
  localparam int Device = Banks;
  localparam int Frame = Banks + 1;
  localparam int Slaves = Banks + 2;
  localparam int SlaveW = $clog2(Slaves);

  // Requests by slave; requests of unmapped addresses.
  logic [Masters-1:0] requests[Slaves], unmapped;
  logic [SlaveW-1:0] slave[Masters];
  region_t region[Masters];
  always_comb begin
    for (int s = 0; s < Slaves; s++) requests[s] = '0;
    for (int m = 0; m < Masters; m++) begin
      logic [SlaveW-1:0] bank;
      bank = SlaveW'((req_i[m].addr >> 2) & 32'(Banks - 1));
      // A region that is given is that of a request.
      region[m] = m < Decoded ? region_i[m] : !req_valid_i[m] ? '0 :
          region_of(req_i[m].op, req_i[m].addr, ScratchBytes, DeviceBytes, FrameBytes);
      unmapped[m] = req_valid_i[m] && region[m] == '0;
      if (`WORTH(region[m] != '0)) begin
        for (int s = 0; s < Banks; s++) requests[s][m] = region[m].scratch && bank == SlaveW'(s);
        requests[Device][m] = region[m].device;
        requests[Frame][m]  = region[m].frame;
      end
      slave[m] = region[m].device ? SlaveW'(Device) : region[m].frame ? SlaveW'(Frame) : bank;
    end
  end

  // The two slow slaves are closed while an answer is open that does not come just now.
  logic dev_open_q, frame_open_q;
  logic [MasterW-1:0] dev_owner_q, frame_owner_q;
  logic [Slaves-1:0] takes;
  always_comb begin
    takes = '1;
    takes[Device] = dev_ready_i && (!dev_open_q || dev_rsp_valid_i);
    takes[Frame] = frame_ready_i && (!frame_open_q || frame_rsp_valid_i);
  end

  // Those behind the one served last (`turn_q`) go first, among them the lowest.
  logic [Masters-1:0] turn_q[Slaves], grant[Slaves];
  logic [Slaves-1:0] some;  // it serves one
  logic [Masters-1:0] granted, passed;
  always_comb begin
    granted = unmapped;
    passed  = '0;
    for (int s = 0; s < Slaves; s++) begin
      grant[s] = takes[s] ? requests[s] : '0;
      some[s]  = takes[s] && requests[s] != '0;
      // Whether one goes before it: of two on the same side of the turn's begin the lower one, else the one of the turn.
      if (`WORTH(some[s])) begin
        for (int m = 0; m < Masters; m++) begin
          logic [Masters-1:0] lower, upper;
          lower = Masters'((1 << m) - 1);
          upper = ~lower & ~(Masters'(1) << m);
          if ((requests[s] & ((lower & ~{Masters{turn_q[s][m]}}) | (lower & turn_q[s]) |
                              (upper & turn_q[s] & ~{Masters{turn_q[s][m]}}))) != '0)
            grant[s][m] = 1'b0;
        end
      end
      granted |= grant[s];
      if (takes[s]) passed |= requests[s] & ~grant[s];
    end
  end
  assign req_ready_o = granted;
  assign wait_o = passed;

  // Requests out.
  mem_req_t chosen[Slaves];
  logic [MasterW-1:0] chosen_index[Slaves];
  always_comb begin
    for (int s = 0; s < Slaves; s++) begin
      chosen_index[s] = '0;
      chosen[s] = '0;
      if (`WORTH(some[s])) begin
        for (int m = 0; m < Masters; m++) begin
          if (grant[s][m]) begin
            chosen_index[s] |= MasterW'(m);
            chosen[s] |= req_i[m];
          end
        end
      end
    end
  end
  for (genvar b = 0; b < Banks; b++) begin : g_bank
    assign bank_valid_o[b] = some[b];
    assign bank_req_o[b] = '{
            op: chosen[b].op,
            addr: ((chosen[b].addr - ScratchBase) >> (2 + BankW)) << 2,
            wdata: chosen[b].wdata,
            be: chosen[b].be
        };
  end
  assign dev_valid_o = some[Device];
  assign dev_req_o = chosen[Device];
  assign dev_master_o = chosen_index[Device];
  assign frame_valid_o = some[Frame];
  assign frame_req_o = chosen[Frame];

  // Answers. `quick_q`: one comes in this clock, from a bank or an error (`error_q`).
  logic [Masters-1:0] is_store, quick_q, error_q;
  logic [SlaveW-1:0] from_q[Masters];
  always_comb begin
    for (int m = 0; m < Masters; m++) is_store[m] = req_i[m].op == Store;
  end
  always_comb begin
    rsp_valid_o = quick_q;
    for (int m = 0; m < Masters; m++) begin
      rsp_o[m].rdata = bank_rdata_i[BankW==0?0 : from_q[m][(BankW==0?1 : BankW)-1:0]];
      rsp_o[m].error = error_q[m];
    end
    if (dev_rsp_valid_i && dev_open_q) begin
      rsp_valid_o[dev_owner_q] = 1'b1;
      rsp_o[dev_owner_q] = dev_rsp_i;
    end
    if (frame_rsp_valid_i && frame_open_q) begin
      rsp_valid_o[frame_owner_q] = 1'b1;
      rsp_o[frame_owner_q] = frame_rsp_i;
    end
  end

  wire dev_asked = (grant[Device] & ~is_store) != '0;
  wire frame_asked = (grant[Frame] & ~is_store) != '0;
  always_ff @(posedge clk_i) begin
    quick_q <= granted & ~is_store & ~(grant[Device] | grant[Frame]);
    error_q <= unmapped & ~is_store;
    store_error_o <= unmapped & is_store;
    for (int m = 0; m < Masters; m++) from_q[m] <= slave[m];
    for (int s = 0; s < Slaves; s++) begin
      // All above the one served.
      if (some[s])
        for (int m = 0; m < Masters; m++) turn_q[s][m] <= (grant[s] & Masters'((1 << m) - 1)) != '0;
    end
    dev_open_q   <= dev_asked || (dev_open_q && !dev_rsp_valid_i);
    frame_open_q <= frame_asked || (frame_open_q && !frame_rsp_valid_i);
    if (dev_asked) dev_owner_q <= dev_master_o;
    if (frame_asked) frame_owner_q <= chosen_index[Frame];
    if (rst_i) begin
      quick_q <= '0;
      error_q <= '0;
      store_error_o <= '0;
      dev_open_q <= 1'b0;
      frame_open_q <= 1'b0;
      for (int s = 0; s < Slaves; s++) turn_q[s] <= '0;
    end
  end

  `ASSERT(AnswersAreExpected,
          (!dev_rsp_valid_i || dev_open_q) && (!frame_rsp_valid_i || frame_open_q))
endmodule
