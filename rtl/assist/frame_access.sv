// SPDX-License-Identifier: Apache-2.0
`include "assert.svh"
`include "stream.svh"
/// The cores' access to frame memory: single words of the crossbar's frame memory slave, as bursts of one on the frame bus.
///
/// Core clock on one side, memory clock on the other. Stores are posted, up to four; a Load is answered after all stores
/// before it (so the answer of a Load of any word means that they are done) and there is one at a time, as the crossbar has it.
/// `ready_o` falls while stores wait; nothing is dropped. Takes about 3 core and 4 memory clocks besides the bus and the
/// memory. Both resets must be given together; either may end first.
module frame_access
  import core_pkg::*, dram_pkg::*;
(
    // Core clock: the crossbar. Load and Store only.
    input  logic     clk_i,
    input  logic     rst_i,
    input  logic     valid_i,
    input  mem_req_t req_i,
    output logic     ready_o,
    output logic     rsp_valid_o,
    output mem_rsp_t rsp_o,

    // Memory clock: the bus (bus_req_t, bus_wdata_t, logic [127:0]).
    input logic mem_clk_i,
    input logic mem_rst_i,
    stream_if.src req,
    stream_if.src wdata,
    stream_if.snk rdata
);
  typedef struct packed {
    logic write;
    logic [FrameAddrW-3:0] word;
    logic [31:0] wdata;
    logic [3:0] be;
  } access_t;

  `STREAM(access_t, asked)
  `STREAM_ON(access_t, access, mem_clk_i, mem_rst_i)
  `STREAM_ON(logic [31:0], loaded, mem_clk_i, mem_rst_i)
  `STREAM(logic [31:0], answer)

  logic [2:0] unused_asked, unused_loaded;

  // An access that goes in while the memory's side is still in reset would be lost.
  logic mem_rst_q, mem_rst;
  always_ff @(posedge mem_clk_i) mem_rst_q <= mem_rst_i;
  sync_2ff i_mem_rst (
      .clk_i,
      .d_i(mem_rst_q),
      .q_o(mem_rst)
  );

  // What the crossbar offers may change until it is taken; the FIFO sees only what is.
  assign ready_o = asked.ready && !mem_rst;
  assign asked.valid = valid_i && ready_o;
  assign asked.data = '{
          write: req_i.op == Store,
          word: req_i.addr[FrameAddrW-1:2],
          wdata: req_i.wdata,
          be: req_i.be
      };
  fifo_async #(
      .T(access_t),
      .Depth(4)
  ) i_asked (
      .wclk_i (clk_i),
      .wrst_i (rst_i),
      .in     (asked),
      .count_o(unused_asked),
      .rclk_i (mem_clk_i),
      .rrst_i (mem_rst_i),
      .out    (access)
  );

  // An access goes when its request, and its data if it writes, have gone.
  logic req_gone_q, wdata_gone_q;
  logic [1:0] lane_q;
  wire [1:0] lane = access.data.word[1:0];
  wire req_goes = req.valid && req.ready;
  wire wdata_goes = wdata.valid && wdata.ready;
  assign req.valid = access.valid && !req_gone_q;
  assign req.data = '{
          write: access.data.write,
          addr: access.data.word[FrameAddrW-3:2],
          beats: 8'd1
      };
  assign wdata.valid = access.valid && access.data.write && !wdata_gone_q;
  assign wdata.data = '{data: {4{access.data.wdata}}, strb: 16'(access.data.be) << {lane, 2'b00}};
  assign access.ready = (req_gone_q || req_goes) && (wdata_gone_q || wdata_goes || !access.data.write);

  assign loaded.valid = rdata.valid;
  assign loaded.data = rdata.data[{lane_q, 5'b0}+:32];
  assign rdata.ready = 1'b1;

  always_ff @(posedge mem_clk_i) begin
    if (access.valid && access.ready) begin
      req_gone_q   <= 1'b0;
      wdata_gone_q <= 1'b0;
    end else begin
      if (req_goes) req_gone_q <= 1'b1;
      if (wdata_goes) wdata_gone_q <= 1'b1;
    end
    if (req_goes) lane_q <= lane;
    if (mem_rst_i) begin
      req_gone_q   <= 1'b0;
      wdata_gone_q <= 1'b0;
    end
  end

  fifo_async #(
      .T(logic [31:0]),
      .Depth(4)
  ) i_loaded (
      .wclk_i (mem_clk_i),
      .wrst_i (mem_rst_i),
      .in     (loaded),
      .count_o(unused_loaded),
      .rclk_i (clk_i),
      .rrst_i (rst_i),
      .out    (answer)
  );
  assign answer.ready = 1'b1;
  assign rsp_valid_o = answer.valid;
  assign rsp_o = '{rdata: answer.data, error: 1'b0};

  `ASSERT(OnlyLoadAndStore, valid_i |-> req_i.op inside {Load, Store})
  `ASSERT(RoomForAnswer, loaded.valid |-> loaded.ready, mem_clk_i, mem_rst_i)
endmodule
