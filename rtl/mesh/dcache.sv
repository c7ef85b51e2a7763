// SPDX-License-Identifier: Apache-2.0
`include "assert.svh"
`include "stream.svh"
/// Data cache of a tile: two ways of 32-byte lines, written back, that misses over the memory network.
///
/// The core's data port (core_pkg): a load that hits is answered in the next clock, and stores and loads go on one a clock,
/// but for an access to the set that was stored to in the clock before, which waits one. Its line is looked for in the clock of
/// the request, for which the address comes a clock before (`next_addr_i`): so that answers, `req_ready_o` and `busy_o` follow
/// from registers. A miss writes the line it replaces
/// back (WriteLine) if it was changed, then asks for its own (ReadLine), from the next clock on; the load is answered in the clock
/// after its word comes, the cache takes the next access when the line is in. The line replaced is the one not used last. Answers
/// are always taken at once. A `drop_i` with the request writes the line at `wdata` back and invalidates it, for memory that others read or
/// write too (answered like a Store, two clocks later; needs no `next_addr_i`). Atomics are errors, so is a region without a
/// memory, and a line the memory refuses.
/// Bits 31:28 of an address are its region: `map_*` says which memory that is, the bits below are the address there.
/// Empty `Bytes / 64 + 1` clocks after reset. Paper: tile-router, sections 3.1 and 5.1 (lookups hit or miss).
module dcache
  import core_pkg::*, mesh_pkg::word_t, mesh_pkg::place_t, mesh_pkg::header_t, mesh_pkg::message_e;
#(
    parameter int Bytes = 32768
) (
    input logic clk_i,
    input logic rst_i,

    // Place of this tile, for the answers.
    input logic [3:0] x_i,
    input logic [3:0] y_i,

    // Region to memory, while the core stands: bit 31 there is one, bits 10:0 place_t.
    input logic        map_we_i,
    input logic  [3:0] map_addr_i,
    input word_t       map_data_i,

    // The core's data port.
    input  word_t    next_addr_i,    // of a request in the next clock
    input  logic     req_valid_i,
    input  mem_req_t req_i,
    input  logic     drop_i,
    output logic     req_ready_o,
    output logic     rsp_valid_o,
    output mem_rsp_t rsp_o,
    output logic     store_error_o,
    output logic     busy_o,         // a miss or a drop is not through

    // Memory network.
    stream_if.src out,
    stream_if.snk in,

    // Accesses, lines read and lines written since reset.
    output word_t accesses_o,
    output word_t misses_o,
    output word_t writes_o
);
  localparam int Sets = Bytes / 64;
  localparam int SetW = $clog2(Sets);
  localparam int TagW = 32 - 5 - SetW;
  if (Sets < 2 || 2 ** SetW != Sets) begin : g_bad_parameter
    $fatal(1, "dcache: %0d bytes", Bytes);
  end

  typedef struct packed {
    logic            valid;
    logic            dirty;
    logic [TagW-1:0] tag;
  } tag_t;
  typedef enum logic [2:0] {
    Clear,
    Idle,
    Find,   // the line to be dropped
    Write,  // a line back
    Ask,    // for a line
    Fill,
    Again   // the store is done now; the dropped line is away
  } state_e;
  state_e state_q;

  // The regions.
  place_t map_q[16];
  logic [15:0] mapped_q;
  always_ff @(posedge clk_i) begin
    if (map_we_i) begin
      map_q[map_addr_i] <= map_data_i[$bits(place_t)-1:0];
      mapped_q[map_addr_i] <= map_data_i[31];
    end
    if (rst_i) mapped_q <= '0;
  end

  // ---- The access that is looked up: the request, or the line to be dropped; what is known of it in the clock after
  logic drop_q;
  mem_req_t req_q;
  wire word_t looked = state_q == Idle ? req_i.addr : req_q.addr;
  wire [SetW-1:0] looked_set = looked[5+:SetW];
  wire [TagW-1:0] looked_tag = looked[31-:TagW];
  wire known = mapped_q[looked[31:28]] && (state_q != Idle || req_i.op inside {Load, Store});
  wire [SetW-1:0] set = req_q.addr[5+:SetW];

  tag_t tags[2];
  word_t words[2];
  logic [1:0] hits;
  logic last_used[Sets];  // the way used last
  always_comb for (int w = 0; w < 2; w++) hits[w] = tags[w].valid && tags[w].tag == looked_tag;
  wire  hit = hits != 0;

  // In its second clock, a drop sees its line's tags.
  logic sees_q;
  wire  finds = state_q == Find && sees_q;
  logic load_hit_q, store_hit_q, load_error_q, store_error_q, way_q;

  // An access to the set that is being changed would see it as it was. (A drop is announced by no address, and may wait for nothing.)
  logic next_same_q;
  always_ff @(posedge clk_i) next_same_q <= next_addr_i[5+:SetW] == looked_set;
  wire same_set = store_hit_q && next_same_q;
  assign busy_o = state_q != Idle;
  assign req_ready_o = !busy_o && !same_set;
  wire accept = req_valid_i && req_ready_o;
  wire looks = accept && !drop_i;
  wire miss = looks && known && !hit;
  wire found = (looks || finds) && known && hit;

  // What is thrown out: nothing if there is room, else the line not used last; or the line to be dropped. So it is never the one that
  // the access before stored to, whose tag is changed a clock later, as its word, and may be read as it was.
  wire victim = finds ? hits[1] : !tags[0].valid ? 1'b0 : !tags[1].valid ? 1'b1 : !last_used[looked_set];
  wire dirty = tags[victim].valid && tags[victim].dirty;
  logic victim_q;
  logic [TagW-1:0] victim_tag_q;

  // ---- Messages
  logic [3:0] count_q, count_d;
  wire sent = out.valid && out.ready;
  wire last_sent = count_q == (state_q == Write ? 4'd9 : 4'd1);
  assign count_d = sent ? count_q + 1'b1 : count_q;
  wire [31:0] line = state_q == Write ? {victim_tag_q, set, 5'd0} : {req_q.addr[31:5], 5'd0};
  header_t header;
  always_comb begin
    header = '{
        user: state_q == Write ? mesh_pkg::WriteLine : mesh_pkg::ReadLine,
        src: '{exit: mesh_pkg::Core, y: y_i, x: x_i},
        len: state_q == Write ? 5'd9 : 5'd1,
        dest: map_q[line[31:28]]
    };
    out.data = words[victim_q];
    if (count_q == 4'd0) out.data = header;
    if (count_q == 4'd1) out.data = {4'd0, line[27:0]};
  end
  assign out.valid = state_q inside {Write, Ask};

  // Only answers come here, and they are always taken; used a clock later, when what they are is in registers.
  assign in.ready  = 1'b1;
  word_t   answer_q;
  header_t answer;
  assign answer = in.data;
  logic inside_q;  // the header of the answer has come
  logic filled_q, refused_q, load_filled_q;
  wire first_fill = filled_q && count_q == 4'd0;
  wire last_fill = filled_q && count_q == 4'd7;
  wire fills = in.valid && state_q == Fill && inside_q;
  wire refuses = in.valid && state_q == Fill && !inside_q && answer.user[4:3] != 2'b01;
  always_ff @(posedge clk_i) begin
    answer_q <= in.data;
    inside_q <= state_q == Fill && (inside_q || in.valid);
    filled_q <= fills && !rst_i;
    refused_q <= refuses && !rst_i;
    load_filled_q <= fills && req_q.op == Load && req_q.addr[4:2] == count_q[2:0] + 3'(filled_q) && !rst_i;
  end

  // ---- Answers
  assign rsp_valid_o = load_hit_q || load_error_q || load_filled_q;
  assign rsp_o = '{rdata: load_hit_q ? words[way_q] : answer_q, error: load_error_q};
  assign store_error_o = store_error_q;

  // ---- RAMs
  logic [SetW:0] clear_q;
  wire clear = state_q == Clear;
  wire away = (finds && found && !dirty) || (state_q == Write && drop_q);
  wire [SetW+2:0] read_at = state_q == Write ? {set, 3'(count_d - 4'd2)} : req_i.addr[2+:SetW+3];
  for (genvar w = 0; w < 2; w++) begin : g_way
    wire  fill = filled_q && victim_q == 1'(w);
    wire  store = store_hit_q && way_q == 1'(w);
    tag_t tag;
    assign tag = '{
            valid: store || fill,
            dirty: store || (fill && req_q.op == Store),
            tag: req_q.addr[31-:TagW]
        };
    ram_sdp #(
        .Width($bits(tag_t)),
        .Depth(Sets)
    ) i_tag_ram (
        .clk_i,
        .we_i   (clear || store || (fill && first_fill) || (away && (finds ? hits[w] : victim_q == 1'(w)))),
        .waddr_i(clear ? clear_q[SetW-1:0] : set),
        .wdata_i(tag),
        .re_i(1'b1),
        .raddr_i(state_q == Find && !sees_q ? set : next_addr_i[5+:SetW]),
        .rdata_o(tags[w])
    );
    ram_sdp #(
        .Width(32),
        .Depth(Sets * 8),
        .Lanes(4)
    ) i_data_ram (
        .clk_i,
        .we_i   (store ? req_q.be : {4{fill}}),
        .waddr_i({set, store ? req_q.addr[4:2] : count_q[2:0]}),
        .wdata_i(store ? req_q.wdata : answer_q),
        .re_i   (`WORTH(req_valid_i || state_q == Write)),
        .raddr_i(read_at),
        .rdata_o(words[w])
    );
  end
  always_ff @(posedge clk_i) begin
    if (clear || found || first_fill)
      last_used[clear ? clear_q[SetW-1:0] : looked_set] <= !clear && (first_fill ? victim_q : hits[1]);
  end

  always_ff @(posedge clk_i) begin
    load_hit_q <= looks && found && req_i.op == Load;
    store_hit_q <= (looks && found && req_i.op == Store) || (state_q == Again && !drop_q);
    load_error_q <= (looks && !known && req_i.op != Store) || (refuses && req_q.op == Load);
    store_error_q <= (looks && !known && req_i.op == Store) || (finds && !known) || (refuses && req_q.op == Store);
    way_q <= state_q == Again ? victim_q : hits[1];
    sees_q <= state_q == Find && !sees_q;
    if (accept) begin
      req_q <= req_i;
      if (drop_i) req_q.addr <= req_i.wdata;
      drop_q <= drop_i;
      accesses_o <= accesses_o + 1'b1;
    end
    if (state_q == Idle || finds) begin
      victim_q <= victim;
      victim_tag_q <= tags[victim].tag;
      count_q <= '0;
    end
    unique case (state_q)
      Clear: begin
        clear_q <= clear_q + 1'b1;
        if (clear_q[SetW]) state_q <= Idle;
      end
      Idle: begin
        if (accept && drop_i) state_q <= Find;
        if (miss) begin
          state_q  <= dirty ? Write : Ask;
          misses_o <= misses_o + 1'b1;
        end
      end
      Find: if (finds) state_q <= !found ? Idle : dirty ? Write : Again;
      Write: begin
        count_q <= count_d;
        if (sent && last_sent) begin
          state_q  <= drop_q ? Idle : Ask;
          count_q  <= '0;
          writes_o <= writes_o + 1'b1;
        end
      end
      Ask: begin
        count_q <= count_d;
        if (sent && last_sent) begin
          state_q <= Fill;
          count_q <= '0;
        end
      end
      Fill: begin
        if (filled_q) count_q <= count_q + 1'b1;
        if (last_fill) state_q <= req_q.op == Store ? Again : Idle;
        if (refused_q) state_q <= Idle;
      end
      default: state_q <= Idle;
    endcase
    if (rst_i) begin
      state_q <= Clear;
      clear_q <= '0;
      load_hit_q <= 1'b0;
      store_hit_q <= 1'b0;
      load_error_q <= 1'b0;
      store_error_q <= 1'b0;
      sees_q <= 1'b0;
      accesses_o <= '0;
      misses_o <= '0;
      writes_o <= '0;
    end
  end

  `ASSERT(OneWay, found |-> $onehot(hits))
  `ASSERT(StoredStays, miss && $past(store_hit_q) && $past(set) == looked_set |-> victim != $past
                       (way_q))
  `ASSERT(AnswerExpected, in.valid || filled_q || refused_q |-> state_q == Fill)
  `ASSERT(AddressKnown, looks |-> req_i.addr[31:2] == $past(next_addr_i[31:2]))
endmodule
