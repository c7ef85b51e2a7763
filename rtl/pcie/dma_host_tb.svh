// SPDX-License-Identifier: Apache-2.0
// DMA engines with host memory behind them, as the client `Sel` of theirs sees them. A request is taken in `percent` of the clocks,
// begins `latency` to `latency + jitter` clocks later and fails in `fail_percent`; statuses are in the order of the requests. Between
// them come what the engines do for other clients. All is random by the seed that TB_BEGIN prints. `memory` holds 16 bytes by
// address / 16, `open` what has no status yet, `taken` counts requests.
`ifndef EMERY_DMA_HOST_TB_SVH
`define EMERY_DMA_HOST_TB_SVH

/// Bytes of a transfer's next clock: half a row, or now and then a whole one where it begins at a segment.
`define DMA_PIECE(at, left) \
  ($urandom_range(1) == 0 && (at) % SegBytes == 0 && (left) > RowBytes / 2 ? \
      ((left) < RowBytes ? (left) : RowBytes) : ((left) < RowBytes / 2 ? (left) : RowBytes / 2))

/// Reads: 64 or 128 bytes a clock into the RAM, the status with a request's last at the earliest. With jitter the pieces of
/// several requests come in any order. A request that fails leaves anything in its place in the RAM.
module dma_host_read
  import dma_pkg::*;
#(
    parameter ram_sel_t Sel = '0
) (
    input logic clk,
    input logic rst,
    stream_if req,
    input int unsigned percent,
    input int unsigned latency,
    input int unsigned jitter,
    input int unsigned fail_percent,
    output dma_status_t status,
    output ram_write_t ram
);
  typedef struct {
    dma_req_t    req;
    dma_result_e result;
    int unsigned due, placed;
  } read_t;
  read_t open[$];
  logic [127:0] memory[longint unsigned];
  int unsigned now = 0, taken = 0;

  function automatic ram_write_t next_piece(read_t read, int unsigned bytes);
    logic [127:0] word;
    host_addr_t   host = read.req.host_addr + 64'(read.placed);
    ram_addr_t    at = read.req.ram_addr + ram_addr_t'(read.placed);
    next_piece = '0;
    next_piece.sel = Sel;
    for (int unsigned i = 0; i < bytes; i++) begin
      if (i == 0 || host[3:0] == 0) word = memory.exists(host >> 4) ? memory[host>>4] : '1;
      next_piece.valid[at[6:4]] = read.result == DmaOk || word[0];
      next_piece.row[at[6:4]] = at[RamAddrW-1:7];
      next_piece.strb[at[6:4]][at[3:0]] = 1;
      next_piece.data[at[6:4]][8*at[3:0]+:8] = word[8*host[3:0]+:8] ^ {8{read.result != DmaOk}};
      host++;
      at++;
    end
  endfunction

  always @(posedge clk) begin
    automatic int pick = -1;
    now++;
    req.ready <= !rst && $urandom_range(99) < percent;
    if (req.valid && req.ready && !rst) begin
      if (req.data.sel != Sel || req.data.len == 0)
        $fatal(1, "FAIL at %0t: %m: %p", $time, req.data);
      open.push_back(
          '{req: req.data,
          result: $urandom_range(99) < fail_percent ? dma_result_e'($urandom_range(4, 1)) : DmaOk,
          due: now + latency + $urandom_range(jitter), placed: 0});
      taken++;
    end
    status <= '{valid: $urandom_range(9) == 0, sel: Sel ^ 6'd1, result: DmaAborted};
    ram <= '{
        sel: Sel ^ 6'd1,
        valid: '1,
        row: {Segs{row_addr_t'($urandom_range(127))}},
        strb: '1,
        data: {32{32'hdead_beef}}
    };
    for (int i = 0; i < open.size() && (pick < 0 || jitter != 0); i++)
    if (open[i].due <= now && open[i].placed < 32'(open[i].req.len) && (pick < 0 || $urandom_range(
            1
        ) == 0))
      pick = i;
    if (pick >= 0) begin
      int unsigned bytes;
      bytes = `DMA_PIECE(32'(open[pick].req.ram_addr) + open[pick].placed,
                         32'(open[pick].req.len) - open[pick].placed);
      ram <= next_piece(open[pick], bytes);
      open[pick].placed += bytes;
    end
    if (open.size() != 0 && open[0].placed == 32'(open[0].req.len)) begin
      status <= '{valid: 1'b1, sel: Sel, result: open[0].result};
      void'(open.pop_front());
    end
    if (rst) begin
      open.delete();
      status <= '0;
      ram <= '0;
    end
  end
endmodule

/// Writes: 64 or 128 bytes a clock out of the RAM, in order, and into `memory` when they come, those of requests that fail too;
/// the status with a request's last. What the RAM gives when nothing is read from it must be 0.
module dma_host_write
  import dma_pkg::*;
#(
    parameter ram_sel_t Sel = '0
) (
    input logic clk,
    input logic rst,
    stream_if req,
    input int unsigned percent,
    input int unsigned latency,
    input int unsigned jitter,
    input int unsigned fail_percent,
    output dma_status_t status,
    output ram_read_t ram,
    input ram_row_t row
);
  typedef struct {
    dma_req_t    req;
    int unsigned due, asked, landed;
  } write_t;
  write_t open[$];
  logic [127:0] memory[longint unsigned];
  int unsigned now = 0, taken = 0, pick;
  // Bytes asked for; they come RamReadLatency clocks after the RAM was asked.
  int unsigned asked[RamReadLatency+1];

  function automatic ram_read_t next_piece(write_t write, int unsigned bytes);
    ram_addr_t at = write.req.ram_addr + ram_addr_t'(write.asked);
    next_piece = '0;
    next_piece.sel = Sel;
    for (int unsigned i = 0; i < bytes; i++) begin
      next_piece.valid[at[6:4]] = 1;
      next_piece.row[at[6:4]]   = at[RamAddrW-1:7];
      at++;
    end
  endfunction

  function automatic void land(write_t write, int unsigned bytes);
    logic [127:0] word;
    host_addr_t   host = write.req.host_addr + 64'(write.landed);
    ram_addr_t    at = write.req.ram_addr + ram_addr_t'(write.landed);
    for (int unsigned i = 0; i < bytes; i++) begin
      if (i == 0 || host[3:0] == 0) word = memory.exists(host >> 4) ? memory[host>>4] : '0;
      word[8*host[3:0]+:8] = row[at[6:4]][8*at[3:0]+:8];
      memory[host>>4] = word;
      host++;
      at++;
    end
  endfunction

  always @(posedge clk) begin
    now++;
    req.ready <= !rst && $urandom_range(99) < percent;
    if (req.valid && req.ready && !rst) begin
      if (req.data.sel != Sel || req.data.len == 0)
        $fatal(1, "FAIL at %0t: %m: %p", $time, req.data);
      open.push_back('{req: req.data, due: now + latency + $urandom_range(jitter), asked: 0,
                     landed: 0});
      taken++;
    end
    status <= '{valid: $urandom_range(9) == 0, sel: Sel ^ 6'd2, result: DmaAborted};
    if (asked[RamReadLatency] != 0 && !rst) begin
      land(open[0], asked[RamReadLatency]);
      open[0].landed += asked[RamReadLatency];
      if (open[0].landed == 32'(open[0].req.len)) begin
        status <= '{
            valid: 1'b1,
            sel: Sel,
            result: $urandom_range(99) < fail_percent ? DmaUnsupported : DmaOk
        };
        void'(open.pop_front());
      end
    end else if (row != '0 && !rst)
      $fatal(1, "FAIL at %0t: %m: a RAM gives %h when it is not asked", $time, row);
    for (int i = RamReadLatency; i > 0; i--) asked[i] = asked[i-1];
    asked[0] = 0;
    ram <= '{
        sel: Sel ^ 6'd2,
        valid: 8'($urandom()),
        row: {Segs{row_addr_t'($urandom_range(63))}}
    };
    pick = 0;
    while (pick < open.size() && open[pick].asked == 32'(open[pick].req.len)) pick++;
    if (pick < open.size() && open[pick].due <= now) begin
      asked[0] = `DMA_PIECE(32'(open[pick].req.ram_addr) + open[pick].asked,
                            32'(open[pick].req.len) - open[pick].asked);
      ram <= next_piece(open[pick], asked[0]);
      open[pick].asked += asked[0];
    end
    if (rst) begin
      open.delete();
      asked = '{default: 0};
      status <= '0;
      ram <= '0;
    end
  end
endmodule

/// One line for each; the client's status and its RAM's port are `status`, and `ram` or `ram_read` and `ram_row`.
`define DMA_HOST_READ(name, sel, stream, percent_, latency_, jitter_, fail_percent_) \
  dma_host_read #(.Sel(sel)) name (.clk, .rst, .req(stream), .percent(percent_), .latency(latency_), .jitter(jitter_), \
      .fail_percent(fail_percent_), .status, .ram);
`define DMA_HOST_WRITE(name, sel, stream, percent_, latency_, jitter_, fail_percent_) \
  dma_host_write #(.Sel(sel)) name (.clk, .rst, .req(stream), .percent(percent_), .latency(latency_), .jitter(jitter_), \
      .fail_percent(fail_percent_), .status, .ram(ram_read), .row(ram_row));

`endif
