// SPDX-License-Identifier: Apache-2.0
/// What an assist has to do with the cores, all in their clock: its ring of commands (or slots) in the scratchpad, how far each side
/// has come with it, and the assist's crossbar port.
interface assist_if;
  logic [31:0] base;  // of the ring
  logic [3:0] log;  // of its places
  logic [31:0] producer;  // counted by firmware: commands given, or slots freed
  logic [31:0] progress;  // counted by the assist: commands done, or slots filled
  logic bad;  // high for a clock for each command refused

  logic mem_valid, mem_ready, mem_rsp_valid;
  core_pkg::mem_req_t mem_req;
  core_pkg::mem_rsp_t mem_rsp;

  modport assist(
      input base, log, producer, mem_ready, mem_rsp_valid, mem_rsp,
      output progress, bad, mem_valid, mem_req
  );
  modport crossbar(input mem_valid, mem_req, output mem_ready, mem_rsp_valid, mem_rsp);
endinterface
