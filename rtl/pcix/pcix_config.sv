// SPDX-License-Identifier: Apache-2.0
/// Configuration space of a card, type 0: 64 words of 32 bits.
///
/// Identification from the parameters; command (memory space, bus master); interrupt line, pin INTA; BAR0 and BAR1 together
/// one region of 256 kB with 64-bit address, not prefetchable; the PCI-X capability at 0x40. The card's bus and device number are taken from
/// each configuration write. Reads have no latency, writes take effect after 1 clock; everything else reads 0. The status of
/// the PCI-X capability remembers an unexpected Split Completion and a received error message until 1 is written.
module pcix_config #(
    parameter logic [15:0] VendorId = 16'h1234,
    parameter logic [15:0] DeviceId = 16'hd1ec,
    parameter logic [31:0] ClassRevision = 32'h0200_0001  // Ethernet controller
) (
    input logic clk_i,
    input logic rst_i,
    // Write, with the card's number.
    input logic write_i,
    input logic [5:0] windex_i,
    input logic [31:0] wdata_i,
    input logic [3:0] wstrobe_i,
    input logic [7:0] bus_i,
    input logic [4:0] device_i,
    // Read.
    input logic [5:0] rindex_i,
    output logic [31:0] rdata_o,
    // What it says.
    output logic memory_o,
    output logic master_o,
    output logic [63:18] base_o,
    output logic [7:0] bus_o,
    output logic [4:0] device_o,
    output logic numbered_o,  // bus_o and device_o are known
    // What the status remembers.
    input logic unexpected_split_i,
    input logic split_error_i
);
  localparam logic [5:0] CommandReg = 6'h01, Bar0Reg = 6'h04, Bar1Reg = 6'h05, InterruptReg = 6'h0f;
  localparam logic [5:0] PcixCommandReg = 6'h10, PcixStatusReg = 6'h11;

  logic memory_q, master_q, unexpected_q, error_q, numbered_q;
  logic [31:18] low_q;
  logic [ 31:0] high_q;
  logic [7:0] line_q, bus_q;
  logic [4:0] device_q;

  assign memory_o = memory_q;
  assign master_o = master_q;
  assign base_o   = {high_q, low_q};
  assign bus_o    = bus_q;
  assign device_o = device_q;
  assign numbered_o = numbered_q;

  // Every byte that is not enabled keeps its value.
  function automatic logic [31:0] merge(logic [31:0] old, logic [31:0] fresh, logic [3:0] lanes);
    logic [31:0] result;
    for (int i = 0; i < 4; i++) result[8*i+:8] = lanes[i] ? fresh[8*i+:8] : old[8*i+:8];
    return result;
  endfunction
  logic [31:0] low;
  assign low = merge({low_q, 18'd0}, wdata_i, wstrobe_i);

  always_comb begin
    unique case (rindex_i)
      6'h00: rdata_o = {DeviceId, VendorId};
      // Status: 66 MHz, capabilities.
      CommandReg: rdata_o = {16'h0030, 13'd0, master_q, memory_q, 1'b0};
      6'h02: rdata_o = ClassRevision;
      Bar0Reg: rdata_o = {low_q, 14'd0, 4'b0100};
      Bar1Reg: rdata_o = high_q;
      6'h0b: rdata_o = {DeviceId, VendorId};
      6'h0d: rdata_o = 32'h0000_0040;
      InterruptReg: rdata_o = {16'd0, 8'd1, line_q};
      // Up to 4 reads outstanding of up to 4096 bytes.
      PcixCommandReg: rdata_o = {9'd0, 3'd3, 2'd3, 2'd0, 8'd0, 8'h07};
      PcixStatusReg:
      rdata_o = {
        2'd0, error_q, 3'd0, 3'd3, 2'd3, 1'b0, unexpected_q, 1'b0, 1'b1, 1'b1, bus_q, device_q, 3'd0
      };
      default: rdata_o = '0;
    endcase
  end

  always_ff @(posedge clk_i) begin
    if (unexpected_split_i) unexpected_q <= 1'b1;
    if (split_error_i) error_q <= 1'b1;
    if (write_i) begin
      numbered_q <= 1'b1;
      bus_q <= bus_i;
      device_q <= device_i;
      unique case (windex_i)
        CommandReg: if (wstrobe_i[0]) {master_q, memory_q} <= wdata_i[2:1];
        Bar0Reg: low_q <= low[31:18];
        Bar1Reg: high_q <= merge(high_q, wdata_i, wstrobe_i);
        InterruptReg: if (wstrobe_i[0]) line_q <= wdata_i[7:0];
        PcixStatusReg: begin
          if (wstrobe_i[2] && wdata_i[19]) unexpected_q <= 1'b0;
          if (wstrobe_i[3] && wdata_i[29]) error_q <= 1'b0;
        end
        default: ;
      endcase
    end
    if (rst_i) begin
      memory_q <= 1'b0;
      master_q <= 1'b0;
      low_q <= '0;
      high_q <= '0;
      line_q <= '0;
      numbered_q <= 1'b0;
      bus_q <= '0;
      device_q <= '0;
      unexpected_q <= 1'b0;
      error_q <= 1'b0;
    end
  end
endmodule
