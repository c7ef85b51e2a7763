// SPDX-License-Identifier: Apache-2.0
`include "assert.svh"
/// Data cache of a tile: two ways of 32-byte lines, written back, that misses over the memory network.
///
/// The core's data port (core_pkg): a load that hits is answered in the next clock, and stores and loads go on one a clock,
/// but for an access to the set that was stored to in the clock before, which waits one. A miss writes the line it replaces
/// back (WriteLine) if it was changed, then asks for its own (ReadLine); the load is answered when its word comes, the cache
/// takes the next access when the line is in. The line replaced is the one not used last. Answers are always taken at once.
/// A `drop_i` with the request writes the line back and invalidates it, for memory that others read or write too (answered like
/// a Store). Atomics are errors, so is a region without a memory, and a line the memory refuses.
/// Bits 31:28 of an address are its region: `map_*` says which memory that is, the bits below are the address there.
/// Empty `Bytes / 64` clocks after reset. Paper: tile-router, sections 3.1 and 5.1 (lookups hit or miss).
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
    Write,  // a line back
    Ask,    // for a line
    Fill,
    Again   // the store is done now
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

  // ---- The access that is looked up, or missed
  logic look_q, drop_q;
  mem_req_t req_q;
  wire [SetW-1:0] set = req_q.addr[5+:SetW];
  wire [TagW-1:0] tag = req_q.addr[31-:TagW];
  wire known = mapped_q[req_q.addr[31:28]] && req_q.op inside {Load, Store};

  tag_t tags[2];
  word_t words[2];
  logic [1:0] hits;
  logic last_q[Sets];  // the way used last
  always_comb for (int w = 0; w < 2; w++) hits[w] = tags[w].valid && tags[w].tag == tag;
  wire way = hits[1];
  wire hit = hits != 0;
  wire found = look_q && known && hit;
  wire miss = look_q && known && !hit && !drop_q;
  wire store_hit = found && req_q.op == Store && !drop_q;

  // What is thrown out: nothing if there is room, else the line not used last; or the line to be dropped.
  wire victim = drop_q ? way : !tags[0].valid ? 1'b0 : !tags[1].valid ? 1'b1 : !last_q[set];
  wire dirty = tags[victim].valid && tags[victim].dirty;
  logic victim_q;
  logic [TagW-1:0] victim_tag_q;

  // An access to the set that is being changed would see it as it was.
  wire same_set = store_hit && req_i.addr[5+:SetW] == set;
  assign busy_o = state_q != Idle || miss || (found && drop_q);
  assign req_ready_o = !busy_o && !same_set;
  wire accept = req_valid_i && req_ready_o;

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

  // Only answers come here, and they are always taken.
  assign in.ready  = 1'b1;
  logic inside_q;  // the header of the answer has come
  header_t answer;
  assign answer = in.data;
  wire filled = state_q == Fill && in.valid && inside_q;
  wire refused = state_q == Fill && in.valid && !inside_q && answer.user[4:3] != 2'b01;
  wire last_fill = filled && count_q == 4'd7;
  wire load_filled = filled && req_q.op == Load && count_q[2:0] == req_q.addr[4:2];

  // ---- Answers
  always_comb begin
    rsp_valid_o = load_filled;
    rsp_o = '{rdata: in.data, error: 1'b0};
    store_error_o = 1'b0;
    if (look_q) begin
      rsp_valid_o   = (found && req_q.op == Load) || (!known && req_q.op != Store);
      rsp_o.rdata   = words[way];
      rsp_o.error   = !known;
      store_error_o = !known && req_q.op == Store;
    end
    if (refused) begin
      rsp_valid_o   = req_q.op == Load;
      rsp_o.error   = 1'b1;
      store_error_o = req_q.op == Store;
    end
  end

  // ---- RAMs
  logic [SetW-1:0] clear_q;
  wire dropped = (found && drop_q && !dirty) || (state_q == Write && sent && last_sent && drop_q);
  wire read = accept || state_q inside {Write, Again};
  wire [SetW+2:0] read_at = accept ? req_i.addr[2+:SetW+3] :
      state_q == Again ? req_q.addr[2+:SetW+3] : {set, 3'(count_d - 4'd2)};
  for (genvar w = 0; w < 2; w++) begin : g_way
    wire mine = store_hit && way == 1'(w);
    wire fill = filled && victim_q == 1'(w);
    wire drop = dropped && (state_q == Write ? victim_q : way) == 1'(w);
    ram_sdp #(
        .Width($bits(tag_t)),
        .Depth(Sets)
    ) i_tag_ram (
        .clk_i,
        .we_i   (mine || drop || (fill && last_fill) || state_q == Clear),
        .waddr_i(state_q == Clear ? clear_q : set),
        .wdata_i({mine || (fill && last_fill), mine, tag}),
        .re_i   (read && state_q != Write),
        .raddr_i(read_at[3+:SetW]),
        .rdata_o(tags[w])
    );
    ram_sdp #(
        .Width(32),
        .Depth(Sets * 8),
        .Lanes(4)
    ) i_data_ram (
        .clk_i,
        .we_i   (mine ? req_q.be : {4{fill}}),
        .waddr_i({set, mine ? req_q.addr[4:2] : count_q[2:0]}),
        .wdata_i(mine ? req_q.wdata : in.data),
        .re_i   (read),
        .raddr_i(read_at),
        .rdata_o(words[w])
    );
  end

  always_ff @(posedge clk_i) begin
    look_q <= accept || state_q == Again;
    if (accept) begin
      req_q <= req_i;
      drop_q <= drop_i;
      accesses_o <= accesses_o + 1'b1;
    end
    if (found) last_q[set] <= way;
    if (state_q != Idle || look_q) begin
      unique case (state_q)
        Clear: begin
          last_q[clear_q] <= 1'b0;
          clear_q <= clear_q + 1'b1;
          if (clear_q == '1) state_q <= Idle;
        end
        Idle: begin
          if (miss || (found && drop_q && dirty)) begin
            state_q <= dirty ? Write : Ask;
            victim_q <= victim;
            victim_tag_q <= tags[victim].tag;
            count_q <= '0;
          end
          if (miss) misses_o <= misses_o + 1'b1;
        end
        Write: begin
          count_q <= count_d;
          if (sent && last_sent) begin
            state_q  <= drop_q ? Idle : Ask;
            count_q  <= '0;
            writes_o <= writes_o + 1'b1;
          end
        end
        Ask: begin
          count_q  <= count_d;
          inside_q <= 1'b0;
          if (sent && last_sent) begin
            state_q <= Fill;
            count_q <= '0;
          end
        end
        Fill: begin
          if (in.valid) inside_q <= 1'b1;
          if (filled) count_q <= count_q + 1'b1;
          if (last_fill) begin
            last_q[set] <= victim_q;
            state_q <= req_q.op == Store ? Again : Idle;
          end
          if (refused) state_q <= Idle;
        end
        default: state_q <= Idle;
      endcase
    end
    if (rst_i) begin
      state_q <= Clear;
      clear_q <= '0;
      look_q <= 1'b0;
      accesses_o <= '0;
      misses_o <= '0;
      writes_o <= '0;
    end
  end

  `ASSERT(OneWay, found |-> $onehot(hits))
  `ASSERT(AnswerExpected, in.valid |-> state_q == Fill)
endmodule
