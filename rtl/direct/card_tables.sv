// SPDX-License-Identifier: Apache-2.0
/// The arrays of a card's registers: routes and windows of the peers, class masks, counts of the input FIFOs.
///
/// `regs` sees peer[] at 0x0000, class_mask[] at 0x1000 and queue[] at 0x2000 as systems/direct_router/direct_router.rdl
/// lays them out (entry of 32, 32 and 16 bytes; class_mask and queue entry 4 * destination + class). Only what `Peers` and
/// `Classes` need is there; the rest reads 0. Answers one clock after the request. Counts wrap at 2^32; the highest fill is of
/// the clock after a frame came in, which is when it can rise. Reset clears all of it.
module card_tables
  import direct_pkg::*;
  import route_pkg::*;
#(
    parameter  int Peers   = 7,
    parameter  int Classes = 2,
    localparam int Masks   = Classes > 1 ? Classes - 1 : 1
) (
    input logic clk_i,
    input logic rst_i,
    reg_if.slave regs,

    // Settings.
    output route_rule_t [Peers-1:0] routes_o,
    output logic [Peers-1:0][63:0] windows_o,
    output class_rule_t [Peers:0][Masks-1:0] classes_o,
    output logic refused_o,  // a clock for each value that was not taken as it was

    // Input FIFOs: one clock for each frame, words held.
    input logic   [Peers:0][Classes-1:0] accepted_i,
    input logic   [Peers:0][Classes-1:0] dropped_i,
    input words_t [Peers:0][Classes-1:0] used_i,

    // Output FIFOs: words held now and at most.
    input  words_t [1:0] out_used_i,
    output words_t [1:0] out_max_o
);
  localparam int WindowW = $clog2(WindowBytes);
  localparam int Queues = 64;  // places of class_mask[] and queue[]

  route_rule_t [Peers-1:0] routes_q;
  logic [Peers-1:0][63:0] windows_q;
  class_rule_t [Peers:0][Masks-1:0] classes_q;
  logic [31:0] accepted_q[Queues], dropped_q[Queues];
  words_t max_q[Queues];
  logic came_q, ack_q;
  logic [31:0] rdata_q;

  // ---------------------------------------------------------------- the entry addressed
  wire [1:0] part = regs.addr[13:12];
  wire [2:0] word = regs.addr[4:2];
  wire [3:0] peer = regs.addr[8:5];
  wire [3:0] mask_dest = regs.addr[10:7];
  wire [1:0] mask_cls = regs.addr[6:5];
  wire [5:0] queue = regs.addr[9:4];
  wire write_peer = regs.req && regs.write && part == 2'd0;
  // A window begins where windows do.
  always_ff @(posedge clk_i)
    refused_o <= write_peer && word == PeerRegWindowLo && regs.wdata[WindowW-1:0] != '0;
  wire write_mask = regs.req && regs.write && part == 2'd1;

  for (genvar p = 0; p < Peers; p++) begin : g_peer
    always_ff @(posedge clk_i) begin
      if (write_peer && peer == 4'(p)) begin
        case (word)
          PeerRegValue: routes_q[p].value <= regs.wdata;
          PeerRegMask: routes_q[p].mask <= regs.wdata;
          PeerRegHopLo: routes_q[p].next_hop[47:16] <= regs.wdata;
          PeerRegHopHi: begin
            routes_q[p].valid <= regs.wdata[31];
            routes_q[p].next_hop[15:0] <= regs.wdata[15:0];
          end
          PeerRegWindowLo: windows_q[p][31:0] <= {regs.wdata[31:WindowW], WindowW'(0)};
          PeerRegWindowHi: windows_q[p][63:32] <= regs.wdata;
          default: ;
        endcase
      end
      if (rst_i) begin
        routes_q[p]  <= '0;
        windows_q[p] <= '0;
      end
    end
  end
  for (genvar d = 0; d <= Peers; d++) begin : g_dest
    for (genvar c = 0; c < Masks; c++) begin : g_mask
      always_ff @(posedge clk_i) begin
        if (write_mask && mask_dest == 4'(d) && mask_cls == 2'(c)) begin
          case (word)
            ClassRegSrc: classes_q[d][c].value.src <= regs.wdata;
            ClassRegSrcMask: classes_q[d][c].mask.src <= regs.wdata;
            ClassRegDst: classes_q[d][c].value.dst <= regs.wdata;
            ClassRegDstMask: classes_q[d][c].mask.dst <= regs.wdata;
            ClassRegOther: begin
              classes_q[d][c].value.tos <= regs.wdata[31:24];
              classes_q[d][c].mask.tos <= regs.wdata[23:16];
              classes_q[d][c].value.protocol <= regs.wdata[15:8];
              classes_q[d][c].mask.protocol <= regs.wdata[7:0];
            end
            ClassRegControl: classes_q[d][c].valid <= regs.wdata[31];
            default: ;
          endcase
        end
        if (rst_i) classes_q[d][c] <= '0;
      end
    end
  end

  // ---------------------------------------------------------------- counts
  always_ff @(posedge clk_i) begin
    came_q <= accepted_i != '0;
    if (accepted_i != '0 || dropped_i != '0 || came_q) begin
      for (int d = 0; d <= Peers; d++) begin
        for (int c = 0; c < Classes; c++) begin
          if (accepted_i[d][c]) accepted_q[4*d+c] <= accepted_q[4*d+c] + 1'b1;
          if (dropped_i[d][c]) dropped_q[4*d+c] <= dropped_q[4*d+c] + 1'b1;
          if (used_i[d][c] > max_q[4*d+c]) max_q[4*d+c] <= used_i[d][c];
        end
      end
    end
    for (int i = 0; i < 2; i++) if (out_used_i[i] > out_max_o[i]) out_max_o[i] <= out_used_i[i];
    if (rst_i) begin
      came_q <= 1'b0;
      out_max_o <= '0;
      for (int i = 0; i < Queues; i++) begin
        accepted_q[i] <= '0;
        dropped_q[i] <= '0;
        max_q[i] <= '0;
      end
    end
  end

  // ---------------------------------------------------------------- reads
  route_rule_t route;
  logic [63:0] window;
  class_rule_t mask;
  words_t used;
  always_comb begin
    route  = '0;
    window = '0;
    mask   = '0;
    used   = '0;
    if (regs.req && !regs.write) begin
      for (int p = 0; p < Peers; p++) begin
        if (peer == 4'(p)) begin
          route  = routes_q[p];
          window = windows_q[p];
        end
      end
      for (int d = 0; d <= Peers; d++) begin
        for (int c = 0; c < Masks; c++)
        if ({mask_dest, mask_cls} == 6'(4 * d + c)) mask = classes_q[d][c];
        for (int c = 0; c < Classes; c++) if (queue == 6'(4 * d + c)) used = used_i[d][c];
      end
    end
  end
  always_ff @(posedge clk_i) begin
    ack_q <= regs.req && !rst_i;
    if (regs.req) begin
      rdata_q <= '0;
      case (part)
        2'd0:
        case (word)
          PeerRegValue: rdata_q <= route.value;
          PeerRegMask: rdata_q <= route.mask;
          PeerRegHopLo: rdata_q <= route.next_hop[47:16];
          PeerRegHopHi: rdata_q <= {route.valid, 15'd0, route.next_hop[15:0]};
          PeerRegWindowLo: rdata_q <= window[31:0];
          PeerRegWindowHi: rdata_q <= window[63:32];
          default: ;
        endcase
        2'd1:
        case (word)
          ClassRegSrc: rdata_q <= mask.value.src;
          ClassRegSrcMask: rdata_q <= mask.mask.src;
          ClassRegDst: rdata_q <= mask.value.dst;
          ClassRegDstMask: rdata_q <= mask.mask.dst;
          ClassRegOther:
          rdata_q <= {mask.value.tos, mask.mask.tos, mask.value.protocol, mask.mask.protocol};
          ClassRegControl: rdata_q <= {mask.valid, 31'd0};
          default: ;
        endcase
        2'd2:
        case (word[1:0])
          QueueRegAccepted: rdata_q <= accepted_q[queue];
          QueueRegDropped: rdata_q <= dropped_q[queue];
          QueueRegWords: rdata_q <= 32'(used);
          default: rdata_q <= 32'(max_q[queue]);
        endcase
        default: ;
      endcase
    end
  end

  assign routes_o   = routes_q;
  assign windows_o  = windows_q;
  assign classes_o  = classes_q;
  assign regs.ack   = ack_q;
  assign regs.rdata = rdata_q;
endmodule
