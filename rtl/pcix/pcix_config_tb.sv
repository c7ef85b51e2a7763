// SPDX-License-Identifier: Apache-2.0
`include "tb.svh"
/// pcix_config against a table of what each word reads as and which of its bits can be written: random writes of any bytes,
/// reads of every word in every clock, the card's number, what the status remembers until 1 is written, reset at any time.
module pcix_config_tb;
  `TB_BEGIN
  `TB_TIMEOUT(50_000)
  localparam logic [5:0] Command = 6'h01, Bar0 = 6'h04, Bar1 = 6'h05, Line = 6'h0f, Status = 6'h11;
  localparam logic [31:0] Unexpected = 32'h0008_0000, SplitError = 32'h2000_0000;

  logic reset = 0, write = 0, unexpected = 0, split_error = 0;
  logic [5:0] windex = 0, rindex = 0;
  logic [31:0] wdata = 0, rdata;
  logic [3:0] wstrobe = 0;
  logic [7:0] bus = 0, bus_out;
  logic [4:0] device = 0, device_out;
  logic memory, master, numbered;
  logic [63:18] base;
  pcix_config dut (
      .clk_i(clk),
      .rst_i(rst || reset),
      .write_i(write),
      .windex_i(windex),
      .wdata_i(wdata),
      .wstrobe_i(wstrobe),
      .bus_i(bus),
      .device_i(device),
      .rindex_i(rindex),
      .rdata_o(rdata),
      .memory_o(memory),
      .master_o(master),
      .base_o(base),
      .bus_o(bus_out),
      .device_o(device_out),
      .numbered_o(numbered),
      .unexpected_split_i(unexpected),
      .split_error_i(split_error)
  );

  function automatic logic [31:0] after_reset(logic [5:0] index);
    case (index)
      6'h00, 6'h0b: return 32'hd1ec_1234;
      Command: return 32'h0030_0000;  // status: 66 MHz, capabilities
      6'h02: return 32'h0200_0001;  // Ethernet controller
      Bar0: return 32'h0000_0004;  // 64 bits, not prefetchable
      6'h0d: return 32'h0000_0040;
      Line: return 32'h0000_0100;  // INTA#
      6'h10:
      return 32'h003c_0007;  // PCI-X, the last capability: 4 reads outstanding, of 4096 bytes
      Status: return 32'h01e3_0000;  // the same, 133 MHz, 64 bits
      default: return '0;
    endcase
  endfunction
  function automatic logic [31:0] writable(logic [5:0] index);
    case (index)
      Command: return 32'h0000_0006;
      Bar0: return 32'hfffc_0000;  // 256 kB
      Bar1: return '1;
      Line: return 32'h0000_00ff;
      default: return '0;
    endcase
  endfunction

  logic [31:0] words[64];
  bit known = 0;
  int unsigned writes[64];

  /// What the clock that ends has made of them.
  task automatic step();
    logic [31:0] lanes;
    lanes = {{8{wstrobe[3]}}, {8{wstrobe[2]}}, {8{wstrobe[1]}}, {8{wstrobe[0]}}};
    if (unexpected) words[Status] |= Unexpected;
    if (split_error) words[Status] |= SplitError;
    if (write) begin
      logic [31:0] those;
      those = writable(windex) & lanes;
      words[windex] = (words[windex] & ~those) | (wdata & those);
      if (windex == Status) words[Status] &= ~(wdata & lanes & (Unexpected | SplitError));
      words[Status][15:3] = {bus, device};
      known = 1;
      writes[windex]++;
    end
    if (rst || reset) begin
      foreach (words[i]) words[i] = after_reset(6'(i));
      known = 0;
    end
  endtask

  int unsigned clocks = 0;
  initial begin
    foreach (words[i]) words[i] = after_reset(6'(i));
    foreach (writes[i]) writes[i] = 0;
    @(negedge rst);
    while (clocks < 30_000) @(posedge clk);
    foreach (writes[i]) `CHECK(writes[i] > 10, "a word was not written")
    `TB_PASS
  end
  always @(posedge clk) begin
    int unsigned kind;
    if (!rst) begin
      `CHECK(rdata == words[rindex], $sformatf("word %h reads %h, not %h", rindex, rdata,
                                               words[rindex]))
      `CHECK({master, memory} == words[Command][2:1], "command")
      `CHECK(base == {words[Bar1], words[Bar0][31:18]}, "base")
      `CHECK({bus_out, device_out} == words[Status][15:3] && numbered == known, "number")
    end
    step();
    clocks++;
    reset <= clocks % 100 == 0;
    // A Split Completion and a configuration write are never in the same clock: the bus carries one at a time.
    kind = $urandom_range(7);
    write <= kind inside {[4 : 6]};
    unexpected <= kind inside {0, 1};
    split_error <= kind inside {1, 2};
    windex <= 6'($urandom());
    if ($urandom_range(3) != 0) begin
      case ($urandom_range(
          4
      ))
        0: windex <= Command;
        1: windex <= Bar0;
        2: windex <= Bar1;
        3: windex <= Line;
        default: windex <= Status;
      endcase
    end
    wdata   <= $urandom();
    wstrobe <= 4'($urandom());
    bus     <= 8'($urandom());
    device  <= 5'($urandom());
    rindex  <= 6'($urandom());
    if (clocks % 2 == 0) rindex <= windex;
  end
endmodule
