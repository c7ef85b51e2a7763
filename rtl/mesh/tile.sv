// SPDX-License-Identifier: Apache-2.0
`include "stream.svh"
/// A tile: core with instruction memory, data RAM and data cache, switch processor with two static networks, routers of the
/// general and of the memory dynamic network.
///
/// Links to the four neighbours: 4 * network + side; networks static 1, static 2, GDN, MDN; sides north, east, south, west. They
/// begin in a link_out and end in a link_fifo, so that no combinational path leads through a tile. The core's registers x26,
/// x27, x28 are static network 1, 2 and the GDN (core); the MDN is the cache's. From a core's write to the read of its
/// neighbour: 3 clocks on the static networks when both switches are ready. Interrupt messages become flags of the core
/// (net_irq). What comes by the GDN stands in the core's FIFO of four words, and, where RegControl says so, before it in one of
/// `DeepWords`: in a large grid more messages can wait for a core than its own holds. Loaded, started and observed through the boot port (tile_regs); its pins are flat, for a tile is a model of its
/// own in simulation. Reset empties links and cache; place and number are those of the last clock of reset. Paper: section 1.
module tile
  import core_pkg::*, mesh_pkg::word_t, mesh_pkg::switch_status_t;
#(
    parameter int ImemBytes    = 32768,
    parameter int RamBytes     = 8192,
    parameter int CacheBytes   = 32768,
    parameter int Instructions = 512,    // of the switch
    parameter bit Predict      = 1'b1,
    parameter int LoadUse      = 0,      // of the core
    parameter int Mispredict   = 0,
    parameter int DeepWords    = 64      // of the deep FIFO
) (
    input logic clk_i,
    input logic rst_i,

    // Its place and number.
    input logic [3:0] x_i,
    input logic [3:0] y_i,
    input logic [5:0] number_i,

    // Boot port (reg_if): offset in the tile's region.
    input  logic         go_i,
    input  logic         boot_req_i,
    input  logic         boot_write_i,
    input  logic  [17:0] boot_addr_i,
    input  word_t        boot_wdata_i,
    output logic         boot_ack_o,
    output word_t        boot_rdata_o,

    // Neighbours.
    input logic [15:0] in_valid_i,
    input word_t [15:0] in_data_i,
    output logic [15:0] in_room_o,
    output logic [15:0] out_valid_o,
    output word_t [15:0] out_data_o,
    input logic [15:0] out_room_i,
    // Of GDN and MDN, with a header: by which port it leaves the router it comes to. 4 * network + side.
    input logic [7:0][2:0] in_way_i,
    output logic [7:0][2:0] out_way_o,

    // What the core does.
    output clock_use_e use_o,
    output trap_e      trap_o
);
  localparam int Ports = mesh_pkg::RouterPorts;
  localparam int ImemAddrW = $clog2(ImemBytes) - 2;
  localparam int SwitchAddrW = $clog2(Instructions) + 1;

  // Networks static 1, static 2, GDN, MDN, five ports each: the core (of the MDN the cache), then the neighbours.
  `STREAM(word_t, from[4*Ports])
  `STREAM(word_t, to[4*Ports])
  logic [3:0][Ports-1:0] room;
  for (genvar n = 0; n < 4; n++) begin : g_net
    assign in_room_o[4*n+:4] = room[n][4:1];
    for (genvar s = 0; s < 4; s++) begin : g_side
      assign from[Ports*n+s+1].valid = in_valid_i[4*n+s];
      assign from[Ports*n+s+1].data  = in_data_i[4*n+s];
      link_out i_to (
          .clk_i,
          .rst_i,
          .in     (to[Ports*n+s+1]),
          .valid_o(out_valid_o[4*n+s]),
          .data_o (out_data_o[4*n+s]),
          .room_i (out_room_i[4*n+s])
      );
    end
  end

  logic [3:0] x_q, y_q;
  logic [5:0] number_q;
  logic go_q;
  always_ff @(posedge clk_i) begin
    go_q <= go_i && !rst_i;
    if (rst_i) begin
      x_q <= x_i;
      y_q <= y_i;
      number_q <= number_i;
    end
  end

  // ---- Boot port
  reg_if #(.AddrW(boot_pkg::UnitW)) boot ();
  assign boot.req = boot_req_i;
  assign boot.write = boot_write_i;
  assign boot.addr = boot_addr_i;
  assign boot.wdata = boot_wdata_i;
  assign boot.wstrb = '1;
  assign boot_ack_o = boot.ack;
  assign boot_rdata_o = boot.rdata;
  logic core_run, switch_run, deep, imem_we, switch_we, ram_valid, ram_write, map_we;
  logic [ImemAddrW-1:0] imem_addr;
  logic [SwitchAddrW-1:0] switch_addr;
  logic [15:0] ram_addr;
  logic [3:0] map_addr;
  logic [Ports-1:0][3:0] turns;
  word_t boot_wdata, ram_rdata, trap_pc;
  word_t cache_counts[3], static_words[2*Ports], dynamic_words[2][Ports];
  switch_status_t switch_status;
  tile_regs #(
      .ImemAddrW  (ImemAddrW),
      .SwitchAddrW(SwitchAddrW)
  ) i_regs (
      .clk_i,
      .rst_i,
      .go_i         (go_q),
      .boot,
      .imem_we_o    (imem_we),
      .imem_addr_o  (imem_addr),
      .switch_we_o  (switch_we),
      .switch_addr_o(switch_addr),
      .ram_valid_o  (ram_valid),
      .ram_write_o  (ram_write),
      .ram_addr_o   (ram_addr),
      .ram_rdata_i  (ram_rdata),
      .map_we_o     (map_we),
      .map_addr_o   (map_addr),
      .wdata_o      (boot_wdata),
      .core_run_o   (core_run),
      .switch_run_o (switch_run),
      .deep_o       (deep),
      .turns_o      (turns),
      .use_i        (use_o),
      .trap_i       (trap_o),
      .trap_pc_i    (trap_pc),
      .switch_i     (switch_status),
      .cache_i      (cache_counts),
      .static_i     (static_words),
      .gdn_i        (dynamic_words[0]),
      .mdn_i        (dynamic_words[1])
  );

  // ---- Core
  logic fetch_en, fetch_valid, fetch_error, req_valid, req_ready, rsp_valid, store_error;
  logic [31:0] fetch_addr, fetch_data, next_addr, net_out_data;
  mem_req_t req;
  region_t region;
  mem_rsp_t rsp;
  logic [IrqCount-1:0] irq;
  logic [NetCount-1:0] net_in_valid, net_in_ready, net_out_valid, net_out_ready;
  logic [NetCount-1:0][31:0] net_in_data;
  core #(
      .Predict     (Predict),
      .History     (0),
      .Ahead       (1'b0),
      .Networks    (1'b1),
      .ScratchBytes(RamBytes),
      .DeviceBytes (4),
      .LoadUse     (LoadUse),
      .Mispredict  (Mispredict)
  ) i_core (
      .clk_i,
      .rst_i,
      .hart_id_i      (number_q),
      .run_i          (core_run),
      .watchdog_i     (1'b0),
      .sleeping_o     (),
      .fetch_en_o     (fetch_en),
      .fetch_early_o  (),
      .fetch_addr_o   (fetch_addr),
      .fetch_valid_i  (fetch_valid),
      .fetch_data_i   (fetch_data),
      .fetch_error_i  (fetch_error),
      .req_valid_o    (req_valid),
      .req_o          (req),
      .req_region_o   (region),
      .next_addr_o    (next_addr),
      .req_ready_i    (req_ready),
      .rsp_valid_i    (rsp_valid),
      .rsp_i          (rsp),
      .store_error_i  (store_error),
      .net_in_valid_i (net_in_valid),
      .net_in_data_i  (net_in_data),
      .net_in_ready_o (net_in_ready),
      .net_out_valid_o(net_out_valid),
      .net_out_data_o (net_out_data),
      .net_out_ready_i(net_out_ready),
      .irq_i          (irq),
      .use_o,
      .rvfi_o         (),
      .trap_o,
      .pc_o           (),
      .trap_pc_o      (trap_pc)
  );
  tile_imem #(
      .Bytes(ImemBytes)
  ) i_imem (
      .clk_i,
      .rst_i,
      .fetch_en_i   (fetch_en),
      .fetch_addr_i (fetch_addr),
      .fetch_valid_o(fetch_valid),
      .fetch_data_o (fetch_data),
      .fetch_error_o(fetch_error),
      .we_i         (imem_we),
      .waddr_i      (imem_addr),
      .wdata_i      (boot_wdata)
  );
  `STREAM(word_t, messages[2])
  tile_mem #(
      .RamBytes  (RamBytes),
      .CacheBytes(CacheBytes)
  ) i_mem (
      .clk_i,
      .rst_i,
      .x_i          (x_q),
      .y_i          (y_q),
      .next_addr_i  (next_addr),
      .req_valid_i  (req_valid),
      .req_i        (req),
      .req_region_i (region),
      .req_ready_o  (req_ready),
      .rsp_valid_o  (rsp_valid),
      .rsp_o        (rsp),
      .store_error_o(store_error),
      .boot_valid_i (ram_valid),
      .boot_write_i (ram_write),
      .boot_addr_i  (ram_addr),
      .boot_wdata_i (boot_wdata),
      .boot_rdata_o (ram_rdata),
      .map_we_i     (map_we),
      .map_addr_i   (map_addr),
      .out          (from[3*Ports]),
      .in           (messages[1]),
      .accesses_o   (cache_counts[0]),
      .misses_o     (cache_counts[1]),
      .writes_o     (cache_counts[2])
  );

  // ---- Core and networks
  assign net_in_valid = {messages[0].valid, to[Ports].valid, to[0].valid};
  assign net_in_data = {messages[0].data, to[Ports].data, to[0].data};
  assign {messages[0].ready, to[Ports].ready, to[0].ready} = net_in_ready;
  assign {from[2*Ports].valid, from[Ports].valid, from[0].valid} = net_out_valid;
  assign from[0].data = net_out_data;
  assign from[Ports].data = net_out_data;
  assign from[2*Ports].data = net_out_data;
  assign net_out_ready = {from[2*Ports].ready, from[Ports].ready, from[0].ready};

  // ---- Networks
  static_switch #(
      .Instructions(Instructions)
  ) i_switch (
      .clk_i,
      .rst_i,
      .run_i      (switch_run),
      .prog_we_i  (switch_we),
      .prog_addr_i(switch_addr),
      .prog_data_i(boot_wdata),
      .in1        (from[0+:Ports]),
      .in2        (from[Ports+:Ports]),
      .out1       (to[0+:Ports]),
      .out2       (to[Ports+:Ports]),
      .room1_o    (room[0]),
      .room2_o    (room[1]),
      .status_o   (switch_status),
      .words_o    (static_words)
  );
  // GDN and MDN, without the interrupts: to the core, to the cache.
  logic [1:0][IrqCount-1:0] irqs;
  assign irq = irqs[0] | irqs[1];
  `STREAM(word_t, to_core[2])
  `STREAM(word_t, deep_in)
  `STREAM(word_t, deep_out)
  logic [1:0] interrupt, takes_interrupt, takes_other;
  mesh_pkg::header_t deep_header;
  assign deep_header = deep_out.data;
  link_fifo #(
      .Depth(DeepWords)
  ) i_deep (
      .clk_i,
      .rst_i,
      .in    (deep_in),
      .out   (deep_out),
      .room_o()
  );
  assign deep_in.valid = to[2*Ports].valid && deep;
  assign deep_in.data = to[2*Ports].data;
  assign to[2*Ports].ready = deep ? deep_in.ready : to_core[0].ready;
  assign to_core[0].valid = deep ? deep_out.valid : to[2*Ports].valid;
  assign to_core[0].data = deep ? deep_out.data : to[2*Ports].data;
  wire deep_interrupt = deep_header.user == mesh_pkg::Interrupt;
  assign deep_out.ready = deep && (takes_other[0] || (takes_interrupt[0] && deep_interrupt));
  assign to_core[1].valid = to[3*Ports].valid;
  assign to_core[1].data = to[3*Ports].data;
  assign to[3*Ports].ready = to_core[1].ready;
  for (genvar n = 0; n < 2; n++) begin : g_dynamic
    // It knows of each word by itself whether it is an interrupt's header, sooner than which of them is offered.
    dynamic_router #(
        .Apart(1'b1)
    ) i_router (
        .clk_i,
        .rst_i,
        .x_i         (x_q),
        .y_i         (y_q),
        .turns_i     (n == 0 ? turns : '0),
        .in          (from[(2+n)*Ports+:Ports]),
        .out         (to[(2+n)*Ports+:Ports]),
        .way_i       (in_way_i[4*n+:4]),
        .way_o       (out_way_o[4*n+:4]),
        .room_o      (room[2+n]),
        .interrupt_o (interrupt[n]),
        .interrupts_i(takes_interrupt[n] && !(n == 0 && deep)),
        .others_i    (n == 0 && deep ? deep_in.ready : takes_other[n]),
        .words_o     (dynamic_words[n])
    );
    net_irq #(
        .Flags(IrqCount)
    ) i_interrupts (
        .clk_i,
        .rst_i,
        .in   (to_core[n]),
        .interrupt_i(n == 0 && deep ? deep_interrupt : interrupt[n]),
        .out  (messages[n]),
        .takes_o(takes_interrupt[n]),
        .ready_o(takes_other[n]),
        .irq_o(irqs[n])
    );
  end
endmodule
