// SPDX-License-Identifier: Apache-2.0
`include "stream.svh"
/// What the grid has at the end of each link that leaves it: a memory port (mem_port), a linecard (linecard), or nothing.
///
/// Settings loaded at boot (`mesh_pkg::SlotKind` and the words after it) say which, so that one build serves every layout;
/// `Memory` and `Linecard` say which of them are built. While `run_i` is low nothing is connected. Words for another place or
/// another kind of slot (messages for places outside the grid, static words to a linecard, anything to nothing) are dropped
/// and counted in SlotDropped, so that they block no link.
///
/// Links: static 1, static 2, GDN, MDN; they begin in a link_out and end in a link_fifo of four words, so that no combinational
/// path leads through a slot. Pins are flat, for a slot is a model of its own in simulation. Boot port: slot_regs. Its place is
/// that of the last clock of reset, which clears settings and counters.
module edge_slot
  import mesh_pkg::*;
#(
    parameter int DramLatency = 16,
    parameter bit Memory = 1'b1,
    parameter bit Linecard = 1'b1
) (
    input logic   clk_i,
    input logic   rst_i,
    input logic   run_i,
    input place_t place_i, // the tile, and its side on which this is

    // Boot port (reg_if): offset in the slot's region.
    input  logic         boot_req_i,
    input  logic         boot_write_i,
    input  logic  [17:0] boot_addr_i,
    input  word_t        boot_wdata_i,
    output logic         boot_ack_o,
    output word_t        boot_rdata_o,

    // Links from and to the tile.
    input logic [3:0] in_valid_i,
    input word_t [3:0] in_data_i,
    output logic [3:0] in_room_o,
    output logic [3:0] out_valid_o,
    output word_t [3:0] out_data_o,
    input logic [3:0] out_room_i,
    output logic  [1:0][2:0] out_way_o, // of GDN and MDN, with a header: by which port it leaves the tile's router

    // DRAM: data comes DramLatency clocks after rd_valid; byte addresses; enable 3 is for bits 31:24.
    output logic        dram_rd_valid_o,
    output word_t       dram_rd_addr_o,
    input  word_t       dram_rd_data_i,
    output logic        dram_wr_valid_o,
    output word_t       dram_wr_addr_o,
    output word_t       dram_wr_data_o,
    output logic  [3:0] dram_wr_be_o,

    // Wire: a word a clock, first byte in bits 31:24; `bytes` (1 ... 4) counts in the last one.
    input  logic        wire_in_valid_i,
    output logic        wire_in_ready_o,
    input  word_t       wire_in_data_i,
    input  logic        wire_in_sop_i,
    input  logic        wire_in_eop_i,
    input  logic  [2:0] wire_in_bytes_i,
    output logic        wire_out_valid_o,
    input  logic        wire_out_ready_i,
    output word_t       wire_out_data_o,
    output logic        wire_out_sop_o,
    output logic        wire_out_eop_o,
    output logic  [2:0] wire_out_bytes_o
);
  if (DramLatency < 1 || DramLatency > 63) begin : g_bad_parameter
    $fatal(1, "edge_slot: DramLatency %0d is not 1 .. 63", DramLatency);
  end

  place_t place_q;
  logic   run_q;
  always_ff @(posedge clk_i) begin
    run_q <= run_i && !rst_i;
    if (rst_i) place_q <= place_i;
  end

  // ---- Settings and counters
  word_t setting[8], counter[8], dropped_q;
  reg_if #(.AddrW(18)) boot ();
  assign boot.req = boot_req_i;
  assign boot.write = boot_write_i;
  assign boot.addr = boot_addr_i;
  assign boot.wdata = boot_wdata_i;
  assign boot.wstrb = '1;
  assign boot_ack_o = boot.ack;
  assign boot_rdata_o = boot.rdata;
  slot_regs i_regs (
      .clk_i,
      .rst_i,
      .boot,
      .setting_o(setting),
      .counter_i(counter)
  );
  wire is_memory = Memory && setting[SlotKind[2:0]][1:0] == SlotMemory;
  wire is_linecard = Linecard && setting[SlotKind[2:0]][1:0] == SlotLinecard;
  wire memory_on = is_memory && run_q;
  wire linecard_on = is_linecard && run_q;

  // ---- Links
  `STREAM(word_t, from_tile[4])
  `STREAM(word_t, in[4])
  `STREAM(word_t, out[4])
  for (genvar n = 0; n < 4; n++) begin : g_link
    assign from_tile[n].valid = in_valid_i[n];
    assign from_tile[n].data  = in_data_i[n];
    link_fifo i_from_tile (
        .clk_i,
        .rst_i,
        .in    (from_tile[n]),
        .out   (in[n]),
        .room_o(in_room_o[n])
    );
    link_out i_to_tile (
        .clk_i,
        .rst_i,
        .in     (out[n]),
        .valid_o(out_valid_o[n]),
        .data_o (out_data_o[n]),
        .room_i (out_room_i[n])
    );
    if (n >= 2) begin : g_way
      assign out_way_o[n-2] = way_at(out[n].data[10:0], place_q.x, place_q.y);
    end
  end

  // ---- Words from the tile: GDN (0), MDN (1); static network 1 is the memory's
  `STREAM(word_t, to_memory[2])
  `STREAM(word_t, to_buffer[2])
  `STREAM(word_t, to_line[2])
  `STREAM(word_t, memory_st)
  logic [1:0] drop, written, credit;
  for (genvar n = 0; n < 2; n++) begin : g_dynamic
    message_sort i_sort (
        .clk_i,
        .rst_i,
        .place_i   (place_q),
        .memory_i  (memory_on),
        .linecard_i(linecard_on),
        .in        (in[2+n]),
        .memory    (to_memory[n]),
        .buffer    (to_buffer[n]),
        .line      (to_line[n]),
        .drop_o    (drop[n]),
        .written_o (written[n]),
        .credit_o  (credit[n])
    );
  end
  assign memory_st.valid = in[0].valid && memory_on;
  assign memory_st.data = in[0].data;
  assign in[0].ready = !memory_on || memory_st.ready;
  assign in[1].ready = 1'b1;
  wire [2:0] drops = 3'(drop[0]) + 3'(drop[1]) + 3'(in[1].valid) + 3'(in[0].valid && !memory_on);
  always_ff @(posedge clk_i) begin
    if (drops != '0) dropped_q <= dropped_q + word_t'(drops);
    if (rst_i) dropped_q <= '0;
  end
  assign counter[SlotDropped[2:0]] = dropped_q;

  // ---- Words to the tile: static network 1 (0), GDN (1), MDN (2)
  `STREAM(word_t, of_memory[3])
  `STREAM(word_t, of_line[3])
  for (genvar n = 0; n < 3; n++) begin : g_out
    localparam int To = n == 0 ? 0 : n + 1;
    assign out[To].valid = is_memory ? of_memory[n].valid : of_line[n].valid;
    assign out[To].data = is_memory ? of_memory[n].data : of_line[n].data;
    assign of_memory[n].ready = out[To].ready && is_memory;
    assign of_line[n].ready = out[To].ready && !is_memory;
  end
  assign {out[1].valid, out[1].data} = '0;

  if (Memory) begin : g_memory
    mem_port i_memory (
        .clk_i,
        .rst_i,
        .place_i       (place_q),
        .settings_i    (mem_settings_t'(setting[SlotMem[2:0]])),
        .mdn_in        (to_memory[1]),
        .mdn_out       (of_memory[2]),
        .gdn_in        (to_memory[0]),
        .gdn_out       (of_memory[1]),
        .st_in         (memory_st),
        .st_out        (of_memory[0]),
        .dram_latency_i(6'(DramLatency)),
        .dram_rd_valid_o,
        .dram_rd_addr_o,
        .dram_rd_data_i,
        .dram_wr_valid_o,
        .dram_wr_addr_o,
        .dram_wr_data_o,
        .dram_wr_be_o,
        .reads_o       (counter[SlotMemReads[2:0]]),
        .writes_o      (counter[SlotMemWrites[2:0]]),
        .bad_o         (counter[SlotMemBad[2:0]])
    );
  end else begin : g_no_memory
    assign {dram_rd_valid_o, dram_rd_addr_o} = '0;
    assign {dram_wr_valid_o, dram_wr_addr_o, dram_wr_data_o, dram_wr_be_o} = '0;
    for (genvar n = 0; n < 3; n++) begin : g_nothing
      assign of_memory[n].valid = 1'b0;
      assign of_memory[n].data  = '0;
      assign counter[n]         = '0;
    end
    wire unused = &{1'b0, dram_rd_data_i};
    assign {to_memory[0].ready, to_memory[1].ready, memory_st.ready} = '1;
  end

  // ---- The wire ends here while this is no linecard
  `STREAM(wire_beat_t, wire_in)
  `STREAM(wire_beat_t, wire_out)
  assign wire_in.valid = wire_in_valid_i && linecard_on;
  assign wire_in.data = {wire_in_data_i, wire_in_sop_i, wire_in_eop_i, wire_in_bytes_i};
  assign wire_in_ready_o = wire_in.ready && linecard_on;
  assign wire_out_valid_o = wire_out.valid;
  assign {wire_out_data_o, wire_out_sop_o, wire_out_eop_o, wire_out_bytes_o} = wire_out.data;
  assign wire_out.ready = wire_out_ready_i;
  if (Linecard) begin : g_linecard
    linecard i_linecard (
        .clk_i,
        .rst_i,
        .run_i       (linecard_on),
        .place_i     (place_q),
        .setting_i   (setting),
        .gdn_in      (to_line[0]),
        .mdn_in      (to_line[1]),
        .buffer_in   (to_buffer),
        .written_i   (|written),
        .credit_i    (|credit),
        .st_out      (of_line[0]),
        .gdn_out     (of_line[1]),
        .mdn_out     (of_line[2]),
        .wire_in,
        .wire_out,
        .in_frames_o (counter[SlotInFrames[2:0]]),
        .in_bad_o    (counter[SlotInBad[2:0]]),
        .out_frames_o(counter[SlotOutFrames[2:0]]),
        .out_bad_o   (counter[SlotOutBad[2:0]])
    );
  end else begin : g_no_linecard
    wire unused = &{1'b0, written, credit};
    assign wire_in.ready  = 1'b0;
    assign wire_out.valid = 1'b0;
    assign wire_out.data  = '0;
    for (genvar n = 0; n < 3; n++) begin : g_nothing
      assign of_line[n].valid = 1'b0;
      assign of_line[n].data  = '0;
    end
    for (genvar n = 0; n < 2; n++) begin : g_no_messages
      assign to_line[n].ready   = 1'b1;
      assign to_buffer[n].ready = 1'b1;
    end
    for (genvar n = 3; n < 7; n++) begin : g_no_counters
      assign counter[n] = '0;
    end
  end
endmodule
