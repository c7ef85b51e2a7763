// SPDX-License-Identifier: Apache-2.0
/// tile-router: `Cols` x `Rows` tiles, an edge slot at the end of each link that leaves the grid, and the boot port to all of
/// them, wiring only. Paper: sections 1 to 4, figures 1 and 2.
///
/// Everything that makes it a router is loaded through the boot port (boot_pkg): programs of cores and switches, which slot is a
/// memory and which a linecard. So one build is every version of the router; a chip for one layout has in each slot only what
/// `Memories` and `Linecards` say. Tile (x, y) is number y * Cols + x; y grows southwards. Slots are counted along the north side
/// from the west, down the east side, along the south side from the west, down the west side; all links of a side of an edge tile
/// go to its slot. All in one clock. The boot port takes an access (`boot_req_i` for a clock) when the one before was answered
/// (`boot_ack_o`).
module tile_router
  import boot_pkg::*, mesh_pkg::word_t, mesh_pkg::place_t;
  import core_pkg::clock_use_e, core_pkg::trap_e;
#(
    parameter int Cols = 4,
    parameter int Rows = 4,
    parameter int ImemBytes = 32768,  // instruction memory of a tile
    parameter int RamBytes = 8192,  // its data RAM
    parameter int CacheBytes = 32768,  // its data cache
    parameter int Instructions = 512,  // of its switch
    parameter int DramLatency = 16,  // clocks from rd_valid to rd_data
    parameter bit Predict = 1'b1,  // 0: every jump costs the core two clocks
    parameter int LoadUse = 0,  // clocks more until a load's result can be used
    parameter int Mispredict = 0,  // clocks more that a wrong prediction costs
    localparam int Tiles = Cols * Rows,
    localparam int Slots = 2 * (Cols + Rows),
    parameter bit [Slots-1:0] Memories = '1,  // slots that can be a memory
    parameter bit [Slots-1:0] Linecards = '1  // and a linecard
) (
    input logic clk_i,
    input logic rst_i,

    // Boot port.
    input  logic                  boot_req_i,
    input  logic                  boot_write_i,
    input  logic  [BootAddrW-1:0] boot_addr_i,     // in bytes
    input  word_t                 boot_wdata_i,
    output logic                  boot_ack_o,
    output word_t                 boot_rdata_o,
    output logic                  boot_unmapped_o, // a clock: an access to no unit

    // DRAM of each slot: byte addresses of words; what is read comes DramLatency clocks later.
    output logic        dram_rd_valid_o[Slots],
    output word_t       dram_rd_addr_o [Slots],
    input  word_t       dram_rd_data_i [Slots],
    output logic        dram_wr_valid_o[Slots],
    output word_t       dram_wr_addr_o [Slots],
    output word_t       dram_wr_data_o [Slots],
    output logic  [3:0] dram_wr_be_o   [Slots],

    // Wire of each slot, in and out.
    input  logic        wire_in_valid_i [Slots],
    output logic        wire_in_ready_o [Slots],
    input  word_t       wire_in_data_i  [Slots],
    input  logic        wire_in_sop_i   [Slots],
    input  logic        wire_in_eop_i   [Slots],
    input  logic  [2:0] wire_in_bytes_i [Slots],
    output logic        wire_out_valid_o[Slots],
    input  logic        wire_out_ready_i[Slots],
    output word_t       wire_out_data_o [Slots],
    output logic        wire_out_sop_o  [Slots],
    output logic        wire_out_eop_o  [Slots],
    output logic  [2:0] wire_out_bytes_o[Slots],

    // Observers: what the cores do.
    output clock_use_e use_o [Tiles],
    output trap_e      trap_o[Tiles]
);
  localparam int North = 0, East = 1, South = 2, West = 3;  // places of links in a network's four
  if (Cols < 2 || Rows < 2 || Cols > 8 || Rows > 8) begin : g_bad_parameter
    $fatal(1, "tile_router: %0d x %0d tiles", Cols, Rows);
  end

  // ---- Boot port
  localparam int Units = Tiles + Slots;
  logic [Units-1:0] unit_req, unit_ack;
  logic unit_write, tiles_go, slots_go;
  logic [UnitW-1:0] unit_addr;
  word_t unit_wdata;
  word_t [Units-1:0] unit_rdata;
  boot_hub #(
      .Cols(Cols),
      .Rows(Rows)
  ) i_hub (
      .clk_i,
      .rst_i,
      .boot_req_i,
      .boot_write_i,
      .boot_addr_i,
      .boot_wdata_i,
      .boot_ack_o,
      .boot_rdata_o,
      .unmapped_o  (boot_unmapped_o),
      .unit_req_o  (unit_req),
      .unit_write_o(unit_write),
      .unit_addr_o (unit_addr),
      .unit_wdata_o(unit_wdata),
      .unit_ack_i  (unit_ack),
      .unit_rdata_i(unit_rdata),
      .tiles_go_o  (tiles_go),
      .slots_go_o  (slots_go)
  );

  // ---- What leaves tiles (4 * network + side) and slots (network), and where it is taken.
  logic [15:0] tile_valid[Tiles], tile_room[Tiles];
  word_t [15:0] tile_data[Tiles];
  logic [7:0][2:0] tile_way[Tiles];  // of GDN and MDN
  logic [3:0] slot_valid[Slots], slot_room[Slots];
  word_t [3:0] slot_data[Slots];
  logic [1:0][2:0] slot_way[Slots];

  for (genvar t = 0; t < Tiles; t++) begin : g_tile
    localparam int X = t % Cols, Y = t / Cols;
    logic [15:0] in_valid, in_room, out_room;
    word_t [15:0] in_data;
    logic [7:0][2:0] in_way;
    assign tile_room[t] = in_room;
    for (genvar s = 0; s < 4; s++) begin : g_side
      // Beyond this side: a tile, or a slot.
      localparam bit Edge = s == North ? Y == 0 : s == East ? X == Cols - 1 : s == South ? Y == Rows - 1 : X == 0;
      localparam int Slot = s == North ? X : s == East ? Cols + Y : s == South ? Cols + Rows + X :
          2 * Cols + Rows + Y;
      localparam int Tile = s == North ? t - Cols : s == East ? t + 1 : s == South ? t + Cols : t - 1;
      localparam int Back = (s + 2) % 4;
      for (genvar n = 0; n < 4; n++) begin : g_net
        if (Edge) begin : g_edge
          assign in_valid[4*n+s] = slot_valid[Slot][n];
          assign in_data[4*n+s]  = slot_data[Slot][n];
          assign out_room[4*n+s] = slot_room[Slot][n];
        end else begin : g_tile
          assign in_valid[4*n+s] = tile_valid[Tile][4*n+Back];
          assign in_data[4*n+s]  = tile_data[Tile][4*n+Back];
          assign out_room[4*n+s] = tile_room[Tile][4*n+Back];
        end
      end
      for (genvar n = 0; n < 2; n++) begin : g_way
        if (Edge) begin : g_edge
          assign in_way[4*n+s] = slot_way[Slot][n];
        end else begin : g_tile
          assign in_way[4*n+s] = tile_way[Tile][4*n+Back];
        end
      end
    end
    tile #(
        .ImemBytes   (ImemBytes),
        .RamBytes    (RamBytes),
        .CacheBytes  (CacheBytes),
        .Instructions(Instructions),
        .Predict     (Predict),
        .LoadUse     (LoadUse),
        .Mispredict  (Mispredict)
    ) i_tile (
        .clk_i,
        .rst_i,
        .x_i         (4'(X)),
        .y_i         (4'(Y)),
        .number_i    (6'(t)),
        .go_i        (tiles_go),
        .boot_req_i  (unit_req[t]),
        .boot_write_i(unit_write),
        .boot_addr_i (unit_addr),
        .boot_wdata_i(unit_wdata),
        .boot_ack_o  (unit_ack[t]),
        .boot_rdata_o(unit_rdata[t]),
        .in_valid_i  (in_valid),
        .in_data_i   (in_data),
        .in_room_o   (in_room),
        .out_valid_o (tile_valid[t]),
        .out_data_o  (tile_data[t]),
        .out_room_i  (out_room),
        .in_way_i    (in_way),
        .out_way_o   (tile_way[t]),
        .use_o       (use_o[t]),
        .trap_o      (trap_o[t])
    );
  end

  for (genvar s = 0; s < Slots; s++) begin : g_slot
    // The side of the grid it is on, its tile, and the side of that tile.
    localparam int Side = s < Cols ? North : s < Cols + Rows ? East : s < 2 * Cols + Rows ? South : West;
    localparam int X = Side == North ? s : Side == East ? Cols - 1 : Side == South ? s - Cols - Rows : 0;
    localparam int Y = Side == North ? 0 : Side == East ? s - Cols : Side == South ? Rows - 1 :
        s - 2 * Cols - Rows;
    localparam int Tile = Y * Cols + X;
    localparam place_t Place = '{exit: 3'(Side + 1), y: 4'(Y), x: 4'(X)};
    logic [3:0] in_valid, in_room, out_room;
    word_t [3:0] in_data;
    assign slot_room[s] = in_room;
    for (genvar n = 0; n < 4; n++) begin : g_net
      assign in_valid[n] = tile_valid[Tile][4*n+Side];
      assign in_data[n]  = tile_data[Tile][4*n+Side];
      assign out_room[n] = tile_room[Tile][4*n+Side];
    end
    edge_slot #(
        .DramLatency(DramLatency),
        .Memory     (Memories[s]),
        .Linecard   (Linecards[s])
    ) i_slot (
        .clk_i,
        .rst_i,
        .run_i           (slots_go),
        .place_i         (Place),
        .boot_req_i      (unit_req[Tiles+s]),
        .boot_write_i    (unit_write),
        .boot_addr_i     (unit_addr),
        .boot_wdata_i    (unit_wdata),
        .boot_ack_o      (unit_ack[Tiles+s]),
        .boot_rdata_o    (unit_rdata[Tiles+s]),
        .in_valid_i      (in_valid),
        .in_data_i       (in_data),
        .in_room_o       (in_room),
        .out_valid_o     (slot_valid[s]),
        .out_data_o      (slot_data[s]),
        .out_room_i      (out_room),
        .out_way_o       (slot_way[s]),
        .dram_rd_valid_o (dram_rd_valid_o[s]),
        .dram_rd_addr_o  (dram_rd_addr_o[s]),
        .dram_rd_data_i  (dram_rd_data_i[s]),
        .dram_wr_valid_o (dram_wr_valid_o[s]),
        .dram_wr_addr_o  (dram_wr_addr_o[s]),
        .dram_wr_data_o  (dram_wr_data_o[s]),
        .dram_wr_be_o    (dram_wr_be_o[s]),
        .wire_in_valid_i (wire_in_valid_i[s]),
        .wire_in_ready_o (wire_in_ready_o[s]),
        .wire_in_data_i  (wire_in_data_i[s]),
        .wire_in_sop_i   (wire_in_sop_i[s]),
        .wire_in_eop_i   (wire_in_eop_i[s]),
        .wire_in_bytes_i (wire_in_bytes_i[s]),
        .wire_out_valid_o(wire_out_valid_o[s]),
        .wire_out_ready_i(wire_out_ready_i[s]),
        .wire_out_data_o (wire_out_data_o[s]),
        .wire_out_sop_o  (wire_out_sop_o[s]),
        .wire_out_eop_o  (wire_out_eop_o[s]),
        .wire_out_bytes_o(wire_out_bytes_o[s])
    );
  end
endmodule
