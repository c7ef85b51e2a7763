// SPDX-License-Identifier: Apache-2.0
`include "assert.svh"
/// Serves the host's memory requests: register accesses out, completions back.
///
/// Takes one memory request TLP at a time (others wait). A request of 1 ... 16 DW is done one DW after the other
/// on `regs`, with its byte enables as write strobes and its address modulo 2^AddrW; a DW without enabled bytes is not
/// accessed. With `Functions` (a power of two) the highest bits of that say which function is asked, and it answers. A read is answered by one completion with the data; byte count and lower address follow the byte enables. A
/// read that is longer, or whose byte enables are not allowed, is answered Unsupported Request without an access; such a
/// write, and a poisoned one, is dropped. Both are counted: `unsupported_o` and `dropped_o` are high for a clock each time.
/// With registers that answer at once a one-DW write takes 1 clock, a one-DW read 3. `cpl` is registered. Reset drops
/// the request under way.
module completer
  import pcie_pkg::*;
#(
    parameter int AddrW = 24,
    parameter int Functions = 1
) (
    input logic clk_i,
    input logic rst_i,
    input pcie_cfg_t cfg_i,

    // tlp_beat_t in: MRd and MWr only.
    stream_if.snk req,

    // Register accesses.
    reg_if.master regs,

    // tlp_beat_t out: completions.
    stream_if.src cpl,

    // Event counts.
    output logic unsupported_o,
    output logic dropped_o
);
  if (AddrW < 7 || AddrW > 40) begin : g_bad_parameter
    $fatal(1, "completer: AddrW %0d is not in 7 ... 40", AddrW);
  end

  typedef enum logic [1:0] {
    Idle,     // waits for a request, or drops the rest of a long one
    Start,    // shows an access for one clock
    Wait,     // for its answer
    Complete  // shows the completion
  } state_e;
  state_e state_q;

  // Both header formats have the same first two DW.
  wire mem4_hdr_t hdr = req.data.hdr;
  wire is_write = hdr.dw0.fmt_type[6];
  wire [39:0] low_addr = hdr.dw0.fmt_type[5] ? hdr.addr[39:0] : {8'd0, hdr.addr[63:32]};
  wire one_dw = hdr.dw0.length == 10'd1;
  wire flush = one_dw && hdr.first_be == '0;  // a request for no byte at all, which is allowed
  wire too_long = hdr.dw0.length > 10'd16 || hdr.dw0.length == '0 || !req.data.eop;
  wire bad_enables = one_dw ? hdr.last_be != '0 : hdr.first_be == '0 || hdr.last_be == '0;
  wire refused = too_long || bad_enables || (is_write && hdr.dw0.ep);

  // The request under way.
  tlp_dw0_t dw0_q;
  logic [15:0] requester_q;
  logic [7:0] tag_q;
  logic write_q, refused_q;
  logic [AddrW-1:2] addr_q;  // of the DW accessed
  logic [      3:0] index_q;  // its number in the request
  logic [3:0] be_q, last_be_q;  // its byte enables; those of the last DW
  logic [ 4:0]       left_q;  // DWs left, with this one
  logic [15:0][31:0] data_q;
  logic [11:0]       byte_count_q;
  logic [ 6:0]       lower_addr_q;

  wire               unused = &{1'b0, cfg_i, low_addr, dw0_q};  // not all of them matters here

  // Bytes before the first one enabled, and after the last one enabled.
  function automatic logic [1:0] bytes_before(logic [3:0] be);
    return be[0] || be == '0 ? 2'd0 : be[1] ? 2'd1 : be[2] ? 2'd2 : 2'd3;
  endfunction
  function automatic logic [1:0] bytes_after(logic [3:0] be);
    return be[3] || be == '0 ? 2'd0 : be[2] ? 2'd1 : be[1] ? 2'd2 : 2'd3;
  endfunction

  // In bytes, modulo 4096 as in the completion.
  wire [ 3:0] end_be = one_dw ? hdr.first_be : hdr.last_be;
  wire [ 2:0] outside = 3'(bytes_before(hdr.first_be)) + 3'(bytes_after(end_be));
  wire [11:0] byte_count = {hdr.dw0.length, 2'b00} - 12'(outside);

  assign regs.req   = state_q == Start && be_q != '0;
  assign regs.write = write_q;
  assign regs.addr  = {addr_q, 2'b00};
  assign regs.wdata = data_q[0];
  assign regs.wstrb = be_q;

  // A DW is done when it is answered, or at once if no byte of it is wanted.
  wire done = (state_q == Start && be_q == '0) || (state_q inside {Start, Wait} && regs.ack);
  // The next request is taken in the clock of a write that is answered at once.
  assign req.ready = state_q == Idle || (state_q == Start && regs.ack && write_q && left_q == 5'd1);

  always_ff @(posedge clk_i) begin
    unsupported_o <= 1'b0;
    dropped_o <= 1'b0;
    unique case (state_q)
      Idle: ;
      Start, Wait: begin
        state_q <= Wait;
        if (done) begin
          // Writes take the lowest DW each time, reads put theirs in its place.
          if (write_q) data_q <= {32'h0, data_q[15:1]};
          else data_q[index_q] <= be_q == '0 ? '0 : regs.rdata;
          addr_q  <= addr_q + 1'b1;
          index_q <= index_q + 1'b1;
          left_q  <= left_q - 1'b1;
          be_q    <= left_q == 5'd2 ? last_be_q : 4'hf;
          state_q <= left_q != 5'd1 ? Start : write_q ? Idle : Complete;
        end
      end
      default: if (cpl.ready) state_q <= Idle;
    endcase
    if (req.valid && req.ready && req.data.sop) begin
      dw0_q <= hdr.dw0;
      requester_q <= hdr.requester_id;
      tag_q <= hdr.tag;
      write_q <= is_write;
      refused_q <= refused;
      addr_q <= low_addr[AddrW-1:2];
      index_q <= '0;
      be_q <= hdr.first_be;
      last_be_q <= hdr.last_be;
      left_q <= hdr.dw0.length[4:0];
      data_q <= req.data.data;
      byte_count_q <= flush ? 12'd1 : byte_count;  // a flush is answered as if for one byte
      lower_addr_q <= {low_addr[6:2], bytes_before(hdr.first_be)};
      if (!refused) state_q <= Start;
      else if (!is_write) state_q <= Complete;
      unsupported_o <= refused && !is_write;
      dropped_o <= refused && is_write;
    end
    if (rst_i) begin
      state_q <= Idle;
      unsupported_o <= 1'b0;
      dropped_o <= 1'b0;
    end
  end

  // The completion carries traffic class and attributes of its request.
  cpl_hdr_t cpl_hdr;
  always_comb begin
    cpl_hdr = '0;
    cpl_hdr.dw0.fmt_type = refused_q ? Cpl : CplD;
    cpl_hdr.dw0.tag9 = dw0_q.tag9;
    cpl_hdr.dw0.tag8 = dw0_q.tag8;
    cpl_hdr.dw0.tc = dw0_q.tc;
    cpl_hdr.dw0.attr_ido = dw0_q.attr_ido;
    cpl_hdr.dw0.attr_ro = dw0_q.attr_ro;
    cpl_hdr.dw0.attr_ns = dw0_q.attr_ns;
    cpl_hdr.dw0.length = refused_q ? '0 : dw0_q.length;
    cpl_hdr.completer_id = cfg_i.requester_id;
    if (Functions > 1)
      cpl_hdr.completer_id[7:0] = routing_of(
        function_t'(addr_q[AddrW-1-:Functions>1?$clog2(Functions) : 1])
      );
    cpl_hdr.status = refused_q ? StatusUR : StatusSC;
    cpl_hdr.byte_count = byte_count_q;
    cpl_hdr.requester_id = requester_q;
    cpl_hdr.tag = tag_q;
    cpl_hdr.lower_addr = lower_addr_q;
  end
  assign cpl.valid = state_q == Complete;
  assign cpl.data  = '{hdr: cpl_hdr, data: data_q, sop: 1'b1, eop: 1'b1};

  `ASSERT(MemoryRequestsOnly,
          req.valid && req.data.sop |-> !hdr.dw0.fmt_type[7] && hdr.dw0.fmt_type[4:0] == '0)
  `ASSERT(AnswerIsWanted, regs.ack |-> regs.req || state_q == Wait)
endmodule
