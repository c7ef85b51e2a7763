// SPDX-License-Identifier: Apache-2.0
`include "assert.svh"
`include "stream.svh"
/// Longest-prefix match in a trie of four bits a level: the first nodes in a RAM, the others in a memory outside, if there is one.
///
/// A node is 16 entries, entry `n * 16 + i` for nibble `i` at node `n`: the next node, or a result. The root is node 0, the
/// first nibble the highest four bits of the address. Prefixes are pushed to the leaves by the software that loads the trie,
/// so the first result met is the one of the longest prefix. A path that goes on after eight levels, or to a node that does
/// not exist, gives no `hit`. One clock a level in the RAM: a lookup takes its levels + 2 clocks, 10 at the most, one at a time;
/// the result waits until taken. A level in the memory takes 2 clocks and what the memory takes from an access to its answer.
/// Entries may be written at any time: a lookup sees old or new; with new nodes written first and the entry that leads to them
/// last it never sees a mixture, wherever they lie: what is for the memory waits in a queue of `Writes`, before which no lookup
/// goes on there. `waiting_o`: entries not yet taken by the memory. One that finds the queue full is lost (`lost_o`, a clock).
/// Reset ends a lookup and forgets what waits; RAM and memory keep what they had. The memory's controller is reset with it: an
/// answer to a read from before would be taken for that of the next.
module lpm_trie
  import route_pkg::*;
#(
    parameter int Nodes = 2048,  // in the RAM
    parameter int FarNodes = 0,  // behind those, in the memory
    parameter int Writes = 128,
    localparam int AllNodes = Nodes + FarNodes,
    localparam int NodeW = AllNodes > 1 ? $clog2(AllNodes) : 1,
    localparam int AddrW = NodeW + 4,
    localparam int WaitW = $clog2(Writes + 2)
) (
    input logic clk_i,
    input logic rst_i,

    stream_if.snk key,    // ipv4_t
    stream_if.src result, // lpm_result_t

    input logic                   we_i,
    input logic       [AddrW-1:0] addr_i,
    input lpm_entry_t             data_i,

    // The memory, an entry a word.
    output table_pins_out_t             table_o,
    input  table_pins_in_t              table_i,
    output logic            [WaitW-1:0] waiting_o,
    output logic                        lost_o
);
  if (Nodes < 1 || Nodes > 65536) begin : g_bad_parameter
    $fatal(1, "lpm_trie: %0d nodes are not 1 ... 65536", Nodes);
  end
  if (FarNodes < 0 || AllNodes > 2 ** LpmNodeW) begin : g_bad_far
    $fatal(1, "lpm_trie: %0d nodes outside are too many", FarNodes);
  end

  logic walking_q, done_q;
  logic [2:0] level_q;  // of the entry that is looked at
  logic [27:0] rest_q;  // of the address below that level
  logic hit_q;
  logic [15:0] value_q;

  // Without a memory an entry has no more bits than such nodes need, and a result.
  localparam int ValueW = NodeW > 16 ? LpmNodeW : 16;
  localparam int RamAddrW = $clog2(Nodes * 16);
  logic [ValueW:0] ram_entry;
  lpm_entry_t entry;
  logic next_near, next_far, far_wait;
  wire start = key.valid && key.ready;
  wire deeper = walking_q && entry.node && level_q != 3'd7;
  wire onward = deeper && (next_near || next_far);
  assign next_near = 32'(entry.value) < Nodes;
  wire [AddrW-1:0] next_addr = {entry.value[NodeW-1:0], rest_q[27:24]};

  ram_sdp #(
      .Width(ValueW + 1),
      .Depth(Nodes * 16)
  ) i_nodes (
      .clk_i,
      .we_i(we_i && 32'(addr_i) < Nodes * 16),
      .waddr_i(RamAddrW'(addr_i)),
      .wdata_i({data_i.node, data_i.value[ValueW-1:0]}),
      .re_i(start || (deeper && next_near)),
      .raddr_i(RamAddrW'(start ? AddrW'(key.data[31:28]) : next_addr)),
      .rdata_o(ram_entry)
  );
  wire lpm_entry_t near_entry =
  '{node: ram_entry[ValueW], value: LpmNodeW'(ram_entry[ValueW-1:0])}
  ;

  if (FarNodes > 0) begin : g_far
    `STREAM(lpm_access_t, write)
    `STREAM(lpm_access_t, written)
    logic [WaitW-1:0] count;
    logic asked_q, far_wait_q, far_now_q, access_valid_q;
    logic [AddrW-1:0] asked_addr_q;
    lpm_entry_t far_entry_q;
    lpm_access_t access_q;

    wire far_we = we_i && 32'(addr_i) >= Nodes * 16 && 32'(addr_i) < AllNodes * 16;
    wire room = count < WaitW'(Writes);
    assign write.valid = far_we && room;
    assign write.data  = '{write: 1'b1, addr: LpmEntryW'(addr_i), data: data_i};
    wire unused_ready = write.ready;
    fifo #(
        .T(lpm_access_t),
        .Depth(Writes)
    ) i_writes (
        .clk_i,
        .rst_i,
        .in(write),
        .out(written),
        .count_o(count)
    );
    assign lost_o = far_we && !room;
    assign waiting_o = count + WaitW'(access_valid_q && access_q.write);

    assign next_far = !next_near && 32'(entry.value) < AllNodes;
    assign far_wait = far_wait_q;
    assign entry = far_now_q ? far_entry_q : near_entry;

    // Writes go first: a lookup may have come here by an entry that was written after them.
    wire free = !access_valid_q || table_i.ready;
    wire ask = deeper && next_far;
    wire go = (ask || asked_q) && free && count == '0;
    assign written.ready = free;
    assign table_o.valid = access_valid_q;
    assign table_o.write = access_q.write;
    assign table_o.addr = 32'({access_q.addr, 2'b00});
    assign table_o.wdata = lpm_word_t'{
            node: access_q.data.node,
            zero: '0,
            value: access_q.data.value
        };
    lpm_word_t table_word;
    assign table_word = table_i.rdata;
    wire unused_zero = &{1'b0, table_word.zero};
    always_ff @(posedge clk_i) begin
      if (free) begin
        access_valid_q <= written.valid || go;
        access_q <= written.data;
        if (!written.valid)
          access_q <= '{write: 1'b0, addr: LpmEntryW'(ask ? next_addr : asked_addr_q), data: '0};
      end
      asked_q <= (ask || asked_q) && !go;
      if (ask) asked_addr_q <= next_addr;
      far_wait_q <= ask || (far_wait_q && !table_i.rvalid);
      far_now_q  <= table_i.rvalid;
      if (table_i.rvalid) far_entry_q <= '{node: table_word.node, value: table_word.value};
      if (rst_i) begin
        access_valid_q <= 1'b0;
        asked_q <= 1'b0;
        far_wait_q <= 1'b0;
        far_now_q <= 1'b0;
      end
    end
    `ASSERT(OnlyAnswers, !table_i.rvalid || far_wait_q)
  end else begin : g_near
    assign next_far = 1'b0;
    assign far_wait = 1'b0;
    assign entry = near_entry;
    assign table_o.valid = 1'b0;
    assign table_o.write = 1'b0;
    assign table_o.addr = '0;
    assign table_o.wdata = '0;
    assign waiting_o = '0;
    assign lost_o = 1'b0;
    wire unused = &{1'b0, table_i.ready, table_i.rvalid, table_i.rdata, data_i};
  end

  assign key.ready = !walking_q && !done_q && !far_wait;
  assign result.valid = done_q;
  assign result.data = '{hit: hit_q, value: value_q};

  always_ff @(posedge clk_i) begin
    if (start) begin
      level_q <= '0;
      rest_q  <= key.data[27:0];
    end else if (onward) begin
      level_q <= level_q + 1'b1;
      rest_q  <= rest_q << 4;
    end
    if (walking_q) begin
      hit_q   <= !entry.node;
      value_q <= entry.value[15:0];
    end
    walking_q <= start || (deeper && next_near) || (far_wait && table_i.rvalid);
    done_q <= (walking_q && !onward) || (done_q && !result.ready);
    if (rst_i) begin
      walking_q <= 1'b0;
      done_q <= 1'b0;
    end
  end

  `ASSERT(OneAtATime, !(walking_q && done_q))
endmodule
