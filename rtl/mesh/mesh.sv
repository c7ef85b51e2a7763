// SPDX-License-Identifier: Apache-2.0
/// The grid: `Cols` x `Rows` tiles, an edge slot at the end of each link that leaves it, and the boot port to all of them.
///
/// Tile (x, y) is number y * Cols + x; y grows southwards. Slots are counted along the north side from the west, down the east
/// side, along the south side from the west, down the west side. All links of a side of an edge tile go to its slot, which
/// is a memory port, a linecard or nothing, as its settings say. Wiring only. Paper: section 1, figures 1 and 2.
module mesh
  import boot_pkg::*, mesh_pkg::word_t, mesh_pkg::place_t, mesh_pkg::wire_beat_t;
  import core_pkg::clock_use_e, core_pkg::trap_e;
#(
    parameter int Cols = 4,
    parameter int Rows = 4,
    parameter int ImemBytes = 32768,
    parameter int RamBytes = 8192,
    parameter int CacheBytes = 32768,
    parameter int Instructions = 512,
    parameter int DramLatency = 16,
    parameter bit Predict = 1'b1,
    parameter int LoadUse = 0,
    parameter int Mispredict = 0,
    parameter bit Blocks = 1'b0,  // tiles are tile_block, with its parameters: to simulate
    localparam int Tiles = Cols * Rows,
    localparam int Slots = 2 * (Cols + Rows)
) (
    input logic clk_i,
    input logic rst_i,

    reg_if.slave boot,
    output logic unmapped_o,  // a clock: an access to no unit

    // DRAM of each slot: byte addresses of words; what is read comes DramLatency clocks later.
    output logic        dram_rd_valid_o[Slots],
    output word_t       dram_rd_addr_o [Slots],
    input  word_t       dram_rd_data_i [Slots],
    output logic        dram_wr_valid_o[Slots],
    output word_t       dram_wr_addr_o [Slots],
    output word_t       dram_wr_data_o [Slots],
    output logic  [3:0] dram_wr_be_o   [Slots],

    // Wires of each slot: wire_beat_t.
    stream_if.snk wire_in [Slots],
    stream_if.src wire_out[Slots],

    // What the cores do.
    output clock_use_e use_o [Tiles],
    output trap_e      trap_o[Tiles]
);
  localparam int North = 0, East = 1, South = 2, West = 3;  // places of links in a network's four
  if (Cols < 2 || Rows < 2 || Cols > 15 || Rows > 15 || Tiles > 32) begin : g_bad_parameter
    $fatal(1, "mesh: %0d x %0d tiles", Cols, Rows);
  end

  // ---- Boot port: tiles, slots, the whole
  localparam int Units = Tiles + Slots + 1;
  typedef logic [Units-1:0][BootAddrW-1:0] addresses_t;
  function automatic addresses_t bases();
    for (int i = 0; i < Units; i++) begin
      automatic int unit = i < Tiles ? i : i == Units - 1 ? WholeUnit : FirstSlot + i - Tiles;
      bases[i] = BootAddrW'(unit << UnitW);
    end
  endfunction
  reg_if #(.AddrW(BootAddrW)) unit_regs[Units] ();
  reg_demux #(
      .N    (Units),
      .AddrW(BootAddrW),
      .Base (bases()),
      .Size ({Units{BootAddrW'(1 << UnitW)}})
  ) demux (
      .clk_i,
      .rst_i,
      .in (boot),
      .out(unit_regs),
      .unmapped_o
  );
  logic tiles_go, slots_go;
  boot_whole #(
      .Cols(Cols),
      .Rows(Rows)
  ) whole (
      .clk_i,
      .rst_i,
      .boot      (unit_regs[Units-1]),
      .tiles_go_o(tiles_go),
      .slots_go_o(slots_go)
  );

  // ---- Links: 16 * tile + 4 * network + side, leaving a tile; and 4 * slot + network, entering the grid from a slot.
  stream_if #(
      .T(word_t)
  ) links[16*Tiles] (
      clk_i,
      rst_i
  );
  stream_if #(
      .T(word_t)
  ) edges[4*Slots] (
      clk_i,
      rst_i
  );

  for (genvar t = 0; t < Tiles; t++) begin : g_tile
    localparam int X = t % Cols, Y = t / Cols;
    stream_if #(.T(word_t))
        in[16] (
            clk_i,
            rst_i
        ),
        out[16] (
            clk_i,
            rst_i
        );
    for (genvar n = 0; n < 4; n++) begin : g_net
      for (genvar s = 0; s < 4; s++) begin : g_leave
        link_wire leave (
            .in (out[4*n+s]),
            .out(links[16*t+4*n+s])
        );
      end
      if (Y > 0) begin : g_north
        link_wire north (
            .in (links[16*(t-Cols)+4*n+South]),
            .out(in[4*n+North])
        );
      end else begin : g_north_edge
        link_wire north (
            .in (edges[4*X+n]),
            .out(in[4*n+North])
        );
      end
      if (X < Cols - 1) begin : g_east
        link_wire east (
            .in (links[16*(t+1)+4*n+West]),
            .out(in[4*n+East])
        );
      end else begin : g_east_edge
        link_wire east (
            .in (edges[4*(Cols+Y)+n]),
            .out(in[4*n+East])
        );
      end
      if (Y < Rows - 1) begin : g_south
        link_wire south (
            .in (links[16*(t+Cols)+4*n+North]),
            .out(in[4*n+South])
        );
      end else begin : g_south_edge
        link_wire south (
            .in (edges[4*(Cols+Rows+X)+n]),
            .out(in[4*n+South])
        );
      end
      if (X > 0) begin : g_west
        link_wire west (
            .in (links[16*(t-1)+4*n+East]),
            .out(in[4*n+West])
        );
      end else begin : g_west_edge
        link_wire west (
            .in (edges[4*(2*Cols+Rows+Y)+n]),
            .out(in[4*n+West])
        );
      end
    end
    if (Blocks) begin : g_block
      logic [15:0] in_valid, in_ready, out_valid, out_ready;
      word_t [15:0] in_data, out_data;
      logic [2:0] use_bits;
      logic [3:0] trap_bits;
      for (genvar k = 0; k < 16; k++) begin : g_link
        assign in_valid[k]  = in[k].valid;
        assign in_data[k]   = in[k].data;
        assign in[k].ready  = in_ready[k];
        assign out[k].valid = out_valid[k];
        assign out[k].data  = out_data[k];
        assign out_ready[k] = out[k].ready;
      end
      assign use_o[t]  = clock_use_e'(use_bits);
      assign trap_o[t] = trap_e'(trap_bits);
      tile_block i_tile (
          .clk_i,
          .rst_i,
          .x_i         (4'(X)),
          .y_i         (4'(Y)),
          .number_i    (5'(t)),
          .go_i        (tiles_go),
          .boot_req_i  (unit_regs[t].req),
          .boot_write_i(unit_regs[t].write),
          .boot_addr_i (unit_regs[t].addr),
          .boot_wdata_i(unit_regs[t].wdata),
          .boot_ack_o  (unit_regs[t].ack),
          .boot_rdata_o(unit_regs[t].rdata),
          .in_valid_i  (in_valid),
          .in_data_i   (in_data),
          .in_ready_o  (in_ready),
          .out_valid_o (out_valid),
          .out_data_o  (out_data),
          .out_ready_i (out_ready),
          .use_o       (use_bits),
          .trap_o      (trap_bits)
      );
    end else begin : g_flat
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
          .x_i     (4'(X)),
          .y_i     (4'(Y)),
          .number_i(5'(t)),
          .go_i    (tiles_go),
          .boot    (unit_regs[t]),
          .in,
          .out,
          .use_o   (use_o[t]),
          .trap_o  (trap_o[t])
      );
    end
  end

  for (genvar s = 0; s < Slots; s++) begin : g_slot
    // The side of the grid it is on, its tile, and the side of that tile.
    localparam int Side = s < Cols ? North : s < Cols + Rows ? East : s < 2 * Cols + Rows ? South : West;
    localparam int X = Side == North ? s : Side == East ? Cols - 1 : Side == South ? s - Cols - Rows : 0;
    localparam int Y = Side == North ? 0 : Side == East ? s - Cols : Side == South ? Rows - 1 :
        s - 2 * Cols - Rows;
    localparam int Link = 16 * (Y * Cols + X) + Side;
    localparam place_t Place = '{exit: 3'(Side + 1), y: 4'(Y), x: 4'(X)};
    logic we;
    logic [4:0] addr;
    word_t wdata, rdata;
    boot_slot settings (
        .clk_i,
        .rst_i,
        .boot   (unit_regs[Tiles+s]),
        .we_o   (we),
        .addr_o (addr),
        .wdata_o(wdata),
        .rdata_i(rdata)
    );
    edge_slot #(
        .DramLatency(DramLatency)
    ) slot (
        .clk_i,
        .rst_i,
        .run_i          (slots_go),
        .place_i        (Place),
        .cfg_we_i       (we),
        .cfg_addr_i     (addr),
        .cfg_wdata_i    (wdata),
        .cfg_rdata_o    (rdata),
        .st1_in         (links[Link]),
        .st2_in         (links[Link+4]),
        .gdn_in         (links[Link+8]),
        .mdn_in         (links[Link+12]),
        .st1_out        (edges[4*s]),
        .st2_out        (edges[4*s+1]),
        .gdn_out        (edges[4*s+2]),
        .mdn_out        (edges[4*s+3]),
        .dram_rd_valid_o(dram_rd_valid_o[s]),
        .dram_rd_addr_o (dram_rd_addr_o[s]),
        .dram_rd_data_i (dram_rd_data_i[s]),
        .dram_wr_valid_o(dram_wr_valid_o[s]),
        .dram_wr_addr_o (dram_wr_addr_o[s]),
        .dram_wr_data_o (dram_wr_data_o[s]),
        .dram_wr_be_o   (dram_wr_be_o[s]),
        .wire_in        (wire_in[s]),
        .wire_out       (wire_out[s])
    );
  end
endmodule
