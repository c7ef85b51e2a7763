// SPDX-License-Identifier: Apache-2.0
`include "assert.svh"
/// What stands behind the data port of a tile's core: its data RAM, and the data cache for all other memory.
///
/// ScratchBase (0x1000_0000): the RAM, always in the next clock, atomics too (bank). A store to DeviceBase (0x2000_0000):
/// the line at the address that is written leaves the cache. Everything else: dcache, by region. An access to the RAM waits
/// until the cache is through with a miss, so that errors come in order. The boot port reads and writes the RAM at any time,
/// before the core: data of programs, and what they count.
module tile_mem
  import core_pkg::*, mesh_pkg::word_t;
#(
    parameter int RamBytes   = 8192,
    parameter int CacheBytes = 32768
) (
    input logic clk_i,
    input logic rst_i,
    input logic [3:0] x_i,
    input logic [3:0] y_i,

    // The core's data port.
    input  word_t    next_addr_i,
    input  logic     req_valid_i,
    input  mem_req_t req_i,
    input  region_t  req_region_i,  // with RamBytes, and a word of device
    output logic     req_ready_o,
    output logic     rsp_valid_o,
    output mem_rsp_t rsp_o,
    output logic     store_error_o,

    // The boot port: the word read comes in the next clock; regions of the cache.
    input  logic         boot_valid_i,
    input  logic         boot_write_i,
    input  logic  [15:0] boot_addr_i,
    input  word_t        boot_wdata_i,
    output word_t        boot_rdata_o,
    input  logic         map_we_i,
    input  logic  [ 3:0] map_addr_i,

    // Memory network.
    stream_if.src out,
    stream_if.snk in,

    // Counters of the cache.
    output word_t accesses_o,
    output word_t misses_o,
    output word_t writes_o
);
  wire in_ram = req_region_i.scratch;
  wire drop = req_region_i.device && req_i.op == Store;

  // ---- RAM
  logic busy, cache_ready, cache_rsp_valid, ram_q;
  logic [31:0] ram_rdata;
  mem_req_t ram_req;
  mem_rsp_t cache_rsp;
  wire ram_go = req_valid_i && in_ram && !busy && !boot_valid_i;
  always_comb begin
    ram_req = req_i;
    if (boot_valid_i) begin
      ram_req = '{
          op: boot_write_i ? Store : Load,
          addr: {16'd0, boot_addr_i},
          wdata: boot_wdata_i,
          be: '1
      };
    end
    ram_req.addr = ram_req.addr & 32'(RamBytes - 1);
  end
  bank #(
      .Words(RamBytes / 4),
      .Early(1'b1)
  ) i_ram (
      .clk_i,
      .rst_i,
      .valid_i(ram_go || boot_valid_i),
      .req_i  (ram_req),
      .rdata_o(ram_rdata)
  );
  assign boot_rdata_o = ram_rdata;
  always_ff @(posedge clk_i) ram_q <= ram_go && req_i.op != Store && !rst_i;

  // ---- Cache
  dcache #(
      .Bytes(CacheBytes)
  ) i_cache (
      .clk_i,
      .rst_i,
      .x_i,
      .y_i,
      .map_we_i,
      .map_addr_i,
      .map_data_i (boot_wdata_i),
      .next_addr_i,
      .req_valid_i(req_valid_i && !in_ram),
      .req_i,
      .drop_i     (drop),
      .req_ready_o(cache_ready),
      .rsp_valid_o(cache_rsp_valid),
      .rsp_o      (cache_rsp),
      .store_error_o,
      .busy_o     (busy),
      .out,
      .in,
      .accesses_o,
      .misses_o,
      .writes_o
  );

  assign req_ready_o = !busy && (in_ram ? !boot_valid_i : cache_ready);
  assign rsp_valid_o = ram_q || cache_rsp_valid;
  assign rsp_o = ram_q ? '{rdata: ram_rdata, error: 1'b0} : cache_rsp;

  wire unused = &{1'b0, req_region_i.frame};
  `ASSERT(RamOfRequest, req_valid_i |-> in_ram == (req_i.addr - ScratchBase < 32'(RamBytes)))
  `ASSERT(DropOfRequest, req_valid_i |-> drop == (req_i.op == Store && req_i.addr == DeviceBase))
  `ASSERT(OneAnswer, !(ram_q && cache_rsp_valid))
endmodule
