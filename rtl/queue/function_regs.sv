// SPDX-License-Identifier: Apache-2.0
/// The registers of a NIC as each of its functions sees them (SR-IOV): the physical one all, a virtual one its share of the queues.
///
/// `Functions`, a power of two, share queues, event queues and interrupt vectors equally, in their order: the physical function (0) has the
/// first of each. The highest bits of `in.addr` say whose access it is. What counts a function's queues, event queues and vectors reads as
/// the function's own. Accesses of the physical one go on as they are. Of a virtual one
/// - the registers of its queues, vectors and scheduler queues go on, moved to where its share lies (`Base`, shares of `share_bytes`); numbers
///   of completion queues, event queues and vectors in them are its own both ways, one that it does not have is written and read as ffffh;
///   of a scheduler queue only `enable` is written, and a queue is never made a stream; pending bits are read shifted;
/// - with `Filter` so do its entries of each port's indirection table (rss_table, which keeps to its queues), and its entry of the filter
///   (function_filter) where it is read;
/// - what says what the device is (`At`; places of counters read 0) can be read;
/// - everything else is outside: reads give 0, writes are ignored, and `outside_o` is high for a clock. So is all while the function is in
///   `reset_i`: what it has written before and comes late undoes nothing of its reset (function_clear).
/// Combinational, but for what is outside: answered a clock later. Reset forgets the access under way.
module function_regs
  import queue_pkg::*;
#(
    parameter int Functions = 2,
    parameter int AddrW = 27,
    parameter int Ports = 1,
    parameter int TxQueues = 256,  // of all functions
    parameter int RxQueues = 256,
    parameter int EventQueues = 32,
    parameter int Vectors = 32,
    parameter told_at_t At = '0,
    parameter bit Filter = 0,
    parameter int RssEach = 128,  // entries of a function in an indirection table
    parameter logic [ShareSched+(Filter?3:1)*Ports-1:0][31:0] Base = '0,  // in the order of queue_pkg, a port's from ShareSched on one behind the other
    localparam int FunctionW = $clog2(Functions)
) (
    input  logic                 clk_i,
    input  logic                 rst_i,
           reg_if.slave          in,        // AddrW + FunctionW bits of address
           reg_if.master         out,
    input  pcie_pkg::functions_t reset_i,
    output logic                 outside_o
);
  localparam int Rss = ShareSched + Ports, Own = Rss + Ports;  // of ports: tables, filters
  localparam int Regions = Filter ? Own + Ports : Rss;
  localparam int TxEach = TxQueues / Functions, RxEach = RxQueues / Functions;
  localparam int EventEach = EventQueues / Functions, VectorEach = Vectors / Functions;
  if (Functions < 2 || 2 ** FunctionW != Functions || Functions > pcie_pkg::MostFunctions || TxEach < 1 || RxEach < 1 ||
      EventEach < 1 || VectorEach < 1 || VectorEach > 32) begin : g_bad_parameter
    $fatal(
        1,
        "function_regs: Functions %0d is no power of two from 2 to 64, or has none of something",
        Functions
    );
  end

  typedef logic [AddrW-1:0] addr_t;
  function automatic int share_bytes(int region);
    if (region >= Own) return 16;
    if (region >= Rss) return 4 * RssEach;
    unique case (region)
      ShareModeration, ShareVectors: return share_stride(region) * VectorEach;
      ShareRxq, ShareRxcq: return share_stride(region) * RxEach;
      ShareEq: return share_stride(region) * EventEach;
      default: return share_stride(region) * TxEach;
    endcase
  endfunction

  wire [FunctionW-1:0] which = in.addr[AddrW+:FunctionW];
  wire addr_t at = in.addr[AddrW-1:0];
  wire physical = which == '0;
  wire [2:0] word = at[4:2];

  // ---- where it goes
  logic [Regions-1:0] hit;
  addr_t moved[Regions];
  for (genvar i = 0; i < Regions; i++) begin : g_region
    localparam int Share = share_bytes(i);
    assign hit[i]   = (at & ~addr_t'(Share - 1)) == addr_t'(Base[i]);
    assign moved[i] = at | addr_t'(which) << $clog2(Share);
  end
  localparam int PendingShift = $clog2(VectorEach);
  wire [FunctionW+PendingShift-1:0] first_vector = {which, {PendingShift{1'b0}}};
  wire pending = at == addr_t'(At.pending) && !in.write;
  wire device = at - addr_t'(At.device) < addr_t'(At.device_end - At.device);
  wire interface_words = at >= addr_t'(At.interface_begin) && at < addr_t'(At.interface_end);
  wire told = (device || interface_words) && !in.write;
  wire in_reset = !physical && reset_i[6'(which)];
  logic filter;
  if (Filter) begin : g_filter
    assign filter = hit[Regions-1:Own] != '0;
  end else begin : g_no_filter
    assign filter = 1'b0;
  end
  wire goes = physical || (!in_reset && ((hit != '0 && !(filter && in.write)) || pending || told));

  // ---- numbers in it, of the function and of all
  typedef enum logic [2:0] {
    Plain,
    TxNumber,
    RxNumber,
    EventNumber,
    VectorNumber
  } number_e;
  number_e number;
  always_comb begin
    number = Plain;
    if (!physical) begin
      if (hit[ShareTxq] && word == QRegCq) number = TxNumber;
      if (hit[ShareRxq] && word == QRegCq) number = RxNumber;
      if ((hit[ShareTxcq] || hit[ShareRxcq]) && word == CqRegTarget) number = EventNumber;
      if (hit[ShareEq] && word == CqRegTarget) number = VectorNumber;
    end
  end
  function automatic int bits_of(number_e kind);
    unique case (kind)
      TxNumber: return $clog2(TxEach);
      RxNumber: return $clog2(RxEach);
      EventNumber: return $clog2(EventEach);
      default: return $clog2(VectorEach);
    endcase
  endfunction
  function automatic queue_t of_all(queue_t own, logic [FunctionW-1:0] function_number, int bits);
    return own >> bits == '0 ? own | queue_t'(function_number) << bits : '1;
  endfunction
  function automatic queue_t of_own(queue_t all, logic [FunctionW-1:0] function_number, int bits);
    return all >> bits == queue_t'(function_number) ? all & ~(16'hFFFF << bits) : '1;
  endfunction

  assign out.req   = in.req && goes;
  assign out.write = in.write;
  assign out.wstrb = in.wstrb;
  always_comb begin
    out.addr = at;
    for (int i = 0; i < Regions; i++) if (!physical && hit[i]) out.addr = moved[i];
    if (!physical && pending) out.addr = at | addr_t'(32'(first_vector) >> 5) << 2;
    out.wdata = in.wdata;
    unique case (number)
      Plain: begin
        if (!physical && hit[Rss-1:ShareSched] != '0) out.wdata = {31'd0, in.wdata[0]};
        if (!physical && (hit[ShareTxq] || hit[ShareRxq]) && word == QRegBaseLo)
          out.wdata[0] = 1'b0;
      end
      TxNumber: out.wdata = {16'd0, of_all(in.wdata[15:0], which, bits_of(TxNumber))};
      RxNumber: out.wdata = {16'd0, of_all(in.wdata[15:0], which, bits_of(RxNumber))};
      EventNumber: out.wdata = {16'd0, of_all(in.wdata[15:0], which, bits_of(EventNumber))};
      default: out.wdata = {16'd0, of_all(in.wdata[15:0], which, bits_of(VectorNumber))};
    endcase
  end

  // ---- what is read
  typedef struct packed {
    number_e              number;
    logic [FunctionW-1:0] which;
    logic                 pending;
    logic [4:0]           shift;       // of pending bits
    logic                 counted;     // `count` is read
    logic [16:0]          count;
    logic                 is_virtual;  // features of a virtual function
  } reading_t;
  reading_t reading, reading_q;
  always_comb begin
    reading = '{
        number: number,
        which: which,
        pending: !physical && pending,
        shift: 5'(first_vector),
        counted: 1'b0,
        count: '0,
        is_virtual: 1'b0
    };
    unique case (at)
      addr_t'(At.vectors): {reading.counted, reading.count} = {1'b1, 17'(VectorEach)};
      addr_t'(At.functions): {reading.counted, reading.count} = {1'b1, 17'(Functions)};
      addr_t'(At.tx_queues): {reading.counted, reading.count} = {1'b1, 17'(TxEach)};
      addr_t'(At.rx_queues): {reading.counted, reading.count} = {1'b1, 17'(RxEach)};
      addr_t'(At.event_queues): {reading.counted, reading.count} = {1'b1, 17'(EventEach)};
      addr_t'(At.rss_entries): if (Filter) {reading.counted, reading.count} = {1'b1, 17'(RssEach)};
      addr_t'(At.features): reading.is_virtual = !physical;
      addr_t'(At.tx_stat_offset), addr_t'(At.rx_stat_offset):
      reading.counted = !physical;  // shared windows on counters
      default: ;
    endcase
  end

  logic outside_q;
  reading_t answered;  // perhaps in the clock of its request
  assign answered = in.req ? reading : reading_q;
  wire queue_t number_read = out.rdata[15:0];
  assign in.ack = out.ack || outside_q;
  always_comb begin
    in.rdata = out.rdata;
    unique case (answered.number)
      Plain: ;
      TxNumber: in.rdata = {16'd0, of_own(number_read, answered.which, bits_of(TxNumber))};
      RxNumber: in.rdata = {16'd0, of_own(number_read, answered.which, bits_of(RxNumber))};
      EventNumber: in.rdata = {16'd0, of_own(number_read, answered.which, bits_of(EventNumber))};
      default: in.rdata = {16'd0, of_own(number_read, answered.which, bits_of(VectorNumber))};
    endcase
    if (answered.pending) in.rdata = 32'(VectorEach'(out.rdata >> answered.shift));
    if (answered.is_virtual) in.rdata[At.virtual_bit] = 1'b1;
    if (answered.counted) in.rdata = 32'(answered.count);
    if (outside_q) in.rdata = '0;
  end
  assign outside_o = outside_q;

  always_ff @(posedge clk_i) begin
    outside_q <= in.req && !goes;
    if (in.req) reading_q <= reading;
    if (rst_i) outside_q <= 1'b0;
  end
endmodule
