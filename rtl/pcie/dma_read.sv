// SPDX-License-Identifier: Apache-2.0
`include "assert.svh"
`include "stream.svh"
/// DMA read engine: host memory to DMA RAM (host-nic paper, sections II-E and II-F).
///
/// Splits each request into read request TLPs (dma_read_split), gives each a tag and puts the completions' bytes in place
/// (dma_read_cpl). The tags form a ring: given out in order and taken back in order, so statuses come in the order of the
/// requests, one clock or more after the last byte was on `ram_o`. With
/// `extended_tag` clear only 32 tags are used, of more than 256 only 256 without `wide_tag`.
/// One request TLP, one completion beat, one retired tag and one status a clock. `tlp` and `req` have back-pressure; `cpl` is
/// always ready (with 128-byte beats: see dma_read_cpl); `ram_o` and `status_o` are never refused. 3DW headers below 4 GB.
/// A request whose completions fail reports the first failure in address order; the rest of it is still read. A tag whose
/// data has not all come `timeout_cycles_i` clocks after it was given out (0: no limit) is given up: only the oldest
/// tag is watched, which loses nothing because it is also the first to time out. All wait while the oldest does, so it is
/// given up much earlier when others show that the host answers: `overtaken_cycles_i` clocks (0: never) after a later one was
/// done. Set that above the time by which the host may answer one read later than another. Both limits give DmaTimeout.
/// With `Functions` a request is that of the function its address names (pcie_pkg), and of one that may not read it ends with DmaAborted, unsent.
/// Tags given up are quarantined: passed over by the ring. Nothing is sent while `bus_master` is clear. Reset forgets all requests.
/// With `forget_i` their tags too; the link must be quiet by then. Without, these are quarantined as those given up: a completion that comes is late.
module dma_read
  import dma_pkg::*;
  import pcie_pkg::*;
#(
    parameter int Tags = 256,
    parameter int QuarantineCycles = 65536,  // least time before a tag given up is used again
    parameter int Functions = 1,
    parameter type Received = tlp_beat_t  // or wide_tlp_beat_t
) (
    input logic             clk_i,
    input logic             rst_i,
    input logic             forget_i,
    input pcie_cfg_t        cfg_i,
    input logic      [31:0] timeout_cycles_i,
    input logic      [15:0] overtaken_cycles_i,

    stream_if.snk req,  // dma_req_t
    stream_if.src tlp,  // tlp_beat_t, one beat each
    stream_if.snk cpl,  // Received

    output ram_write_t      ram_o,
    output dma_status_t     status_o,
    output dma_read_count_t count_o
);
  localparam int TagW = $clog2(Tags);
  localparam int FewTags = (Tags < 32) ? Tags : 32;
  localparam int MostTags = (Tags < 256) ? Tags : 256;  // of 8 bits
  if (Tags < 4 || Tags > 512 || 2 ** TagW != Tags) begin : g_bad_parameter
    $fatal(1, "dma_read: Tags %0d is not a power of two from 4 to 512", Tags);
  end

  `STREAM(dma_chunk_t, chunk)
  dma_read_split i_split (
      .clk_i,
      .rst_i,
      .max_read_request_i(cfg_i.max_read_request),
      .req,
      .chunk
  );
  dma_chunk_t now;
  assign now = chunk.data;

  // The ring of tags: head is the oldest in use, tail the next to be given out, last the highest number.
  logic [TagW-1:0] head_q, tail_q, tail_d, last_q;
  logic [TagW:0] used_q;
  wire [TagW-1:0] last_wanted = cfg_i.wide_tag ? TagW'(Tags - 1) : cfg_i.extended_tag ? TagW'(MostTags - 1) : TagW'(FewTags - 1);
  // The ring changes its size only when it is empty, and empties for it.
  logic
      tags_known,
      expired_q;  // one given up a clock ago may be the next: not known yet that it is quarantined
  wire in_use = used_q != '0;
  wire resizes = !in_use && last_q != last_wanted;
  wire room = used_q <= {1'b0, last_q} && last_q == last_wanted && tags_known && !expired_q;
  wire wide = Tags > 256 && last_q[TagW-1];  // tags have 10 bits

  // Giving out tags. A quarantined tag enters the ring without a request; so does a chunk of no bytes.
  logic quarantined, tlp_full_q, not_allowed;
  wire empty_turn = quarantined || now.len == '0 || not_allowed;
  wire give = chunk.valid && room && (empty_turn || (cfg_i.bus_master && (!tlp_full_q || tlp.ready)));
  wire start = give && !empty_turn;
  assign chunk.ready = give && !quarantined;

  // The request TLP.
  wire [1:0] first_byte = now.host_addr[1:0];
  wire [12:0] length_bytes = now.len + 13'(first_byte) + 13'd3;
  wire [1:0] end_byte = first_byte + now.len[1:0];
  wire [3:0] first_be = 4'hf << first_byte;
  wire [3:0] last_be = (end_byte == 2'd0) ? 4'hf : ~(4'hf << end_byte);
  wire one_dw = length_bytes[12:3] == '0;  // below 8 bytes with the 3 for rounding up
  bus_access_t access;
  assign access = access_of(now.host_addr, cfg_i.functions.master, Functions);
  assign not_allowed = !access.allowed;
  wire wide_addr = access.addr[63:32] != '0;
  mem4_hdr_t hdr;
  mem4_hdr_t hdr_q;

  always_comb begin
    hdr = '0;
    hdr.dw0.fmt_type = wide_addr ? MRd4 : MRd3;
    hdr.dw0.attr_ro = now.relaxed && cfg_i.relaxed_ordering;
    hdr.dw0.length = length_bytes[11:2];
    hdr.requester_id = cfg_i.requester_id;
    if (Functions > 1) hdr.requester_id[7:0] = routing_of(access.whose);
    {hdr.dw0.tag9, hdr.dw0.tag8, hdr.tag} = wide ? wide_tag_of(9'(tail_q)) : {2'b00, 8'(tail_q)};
    hdr.last_be = one_dw ? 4'h0 : last_be;
    hdr.first_be = one_dw ? first_be & last_be : first_be;
    hdr.addr = wide_addr ? {access.addr[63:2], 2'b00} : {access.addr[31:2], 34'd0};
  end

  always_ff @(posedge clk_i) begin
    if (start) begin
      hdr_q <= hdr;
      tlp_full_q <= 1'b1;
    end else if (tlp.ready) begin
      tlp_full_q <= 1'b0;
    end
    if (rst_i) tlp_full_q <= 1'b0;
  end
  assign tlp.valid = tlp_full_q;
  assign tlp.data  = '{hdr: hdr_q, data: '0, sop: 1'b1, eop: 1'b1};

  // The oldest tag's age. What was read belongs to it when it was the oldest one clock ago as well.
  logic [31:0] clock_q, head_start;
  logic head_known_q, head_old_q;
  logic head_waits, head_kept, done;
  wire expire = in_use && head_old_q && head_waits && !head_kept;
  wire retire = in_use && (!head_waits || expire);
  ram_sdp #(
      .Width(32),
      .Depth(Tags)
  ) i_start_times (
      .clk_i,
      .we_i   (start),
      .waddr_i(tail_q),
      .wdata_i(clock_q),
      .re_i   (1'b1),
      .raddr_i(head_q),
      .rdata_o(head_start)
  );

  // How long later tags have been done while the oldest waits. A tag given up leaves the next one its time: what was lost
  // together is given up together, if it is old enough itself.
  logic [TagW:0] done_q;  // tags of the ring that are done, until a clock after they have left it
  logic [15:0] overtaken_q;
  wire overtaken = head_waits && done_q != '0;
  wire [31:0] age = clock_q - head_start;
  wire too_old = timeout_cycles_i != '0 && age >= timeout_cycles_i;
  wire too_late = overtaken_cycles_i != '0 && overtaken_q >= overtaken_cycles_i && age >= 32'(overtaken_cycles_i);

  always_ff @(posedge clk_i) begin
    clock_q <= clock_q + 1'b1;
    head_known_q <= in_use && !retire;
    head_old_q <= head_known_q && !retire && (too_old || too_late);
    if (!in_use || !overtaken || (retire && !expire)) overtaken_q <= '0;
    else if (overtaken_q != '1) overtaken_q <= overtaken_q + 1'b1;
    if (rst_i) begin
      clock_q <= '0;
      head_known_q <= 1'b0;
      head_old_q <= 1'b0;
      overtaken_q <= '0;
    end
  end

  // Ring pointers.
  always_comb begin
    tail_d = tail_q;
    if (give) tail_d = (tail_q == last_q) ? '0 : tail_q + 1'b1;
    if (resizes) tail_d = '0;
  end
  always_ff @(posedge clk_i) begin
    tail_q <= tail_d;
    if (retire) head_q <= (head_q == last_q) ? '0 : head_q + 1'b1;
    used_q <= used_q + (TagW + 1)'(give) - (TagW + 1)'(retire);
    if (resizes) begin
      last_q <= last_wanted;
      head_q <= '0;
    end
    if (rst_i) begin
      head_q <= '0;
      tail_q <= '0;
      used_q <= '0;
      last_q <= '0;
    end
  end

  // Retiring: one clock after the tag left the ring its request and result are there.
  typedef struct packed {
    ram_sel_t sel;
    logic     last;
    logic     empty;  // was never sent
  } owner_t;
  owner_t owner, give_owner;
  dma_result_e head_result, result, worst, so_far_q;
  logic retired_q;
  assign give_owner = '{sel: now.sel, last: now.last && !quarantined, empty: empty_turn};
  ram_sdp #(
      .Width($bits(owner_t)),
      .Depth(Tags)
  ) i_owners (
      .clk_i,
      .we_i   (give),
      .waddr_i(tail_q),
      .wdata_i(give_owner),
      .re_i   (1'b1),
      .raddr_i(head_q),
      .rdata_o(owner)
  );

  logic refused;  // of one that was never sent: it may not
  if (Functions > 1) begin : g_refused
    ram_sdp #(
        .Width(1),
        .Depth(Tags)
    ) i_refused (
        .clk_i,
        .we_i   (give),
        .waddr_i(tail_q),
        .wdata_i(not_allowed && !quarantined && now.len != '0),
        .re_i   (1'b1),
        .raddr_i(head_q),
        .rdata_o(refused)
    );
  end else begin : g_all_allowed
    assign refused = 1'b0;
  end

  always_comb begin
    result = head_result;
    if (expired_q) result = DmaTimeout;
    if (owner.empty) result = refused ? DmaAborted : DmaOk;
    worst = (so_far_q == DmaOk) ? result : so_far_q;
  end

  always_ff @(posedge clk_i) begin
    retired_q <= retire;
    expired_q <= expire;
    done_q <= done_q + (TagW + 1)'(done) - (TagW + 1)'(retired_q && !expired_q && !owner.empty);
    if (retired_q) so_far_q <= owner.last ? DmaOk : worst;
    status_o <= '{valid: retired_q && owner.last, sel: owner.sel, result: worst};
    if (rst_i) begin
      retired_q <= 1'b0;
      so_far_q <= DmaOk;
      done_q <= '0;
      status_o.valid <= 1'b0;
    end
  end

  dma_read_cpl #(
      .Tags(Tags),
      .Functions(Functions),
      .QuarantineCycles(QuarantineCycles),
      .Beat(Received)
  ) i_cpl (
      .clk_i,
      .rst_i,
      .forget_i,
      .requester_id_i(cfg_i.requester_id),
      .wide_i        (wide),
      .timeout_cycles_i,
      .ready_o       (tags_known),
      .start_i       (start),
      .start_tag_i   (tail_q),
      .chunk_i       (now),
      .next_tag_i    (tail_d),
      .quarantined_o (quarantined),
      .head_tag_i    (head_q),
      .head_waits_o  (head_waits),
      .head_kept_o   (head_kept),
      .head_result_o (head_result),
      .done_o        (done),
      .expire_i      (expire),
      .cpl,
      .ram_o,
      .beat_o        (count_o.beat),
      .error_o       (count_o.error),
      .poisoned_o    (count_o.poisoned),
      .malformed_o   (count_o.malformed),
      .late_o        (count_o.late),
      .unexpected_o  (count_o.unexpected)
  );
  assign count_o.tlp      = tlp.valid && tlp.ready;
  assign count_o.wait_tag = chunk.valid && !room;
  assign count_o.timeout  = expire;
  assign count_o.in_use   = 10'(used_q);

  wire unused = &{1'b0, cfg_i, length_bytes[1:0]};

  `ASSERT(RingNotOverfull, used_q <= (TagW + 1)'(last_q) + 1'b1)
endmodule
