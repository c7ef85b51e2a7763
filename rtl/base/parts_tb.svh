// SPDX-License-Identifier: Apache-2.0
// What the benches drive streams and registers with. All are random by the seed that TB_BEGIN prints.
`ifndef EMERY_PARTS_TB_SVH
`define EMERY_PARTS_TB_SVH

/// A value of random bits.
class random_value #(
    type T = logic
);
  static function T bits();
    logic [$bits(T)+31:0] words = '0;
    for (int i = 0; i < $bits(T); i += 32) words[i+:32] = $urandom();
    return T'(words[$bits(T)-1:0]);
  endfunction
endclass

/// Sends the beats of its `queue` on the stream `on`, in order. A beat is offered in `percent` of the clocks in which it could be;
/// with `Endless` there is always another, of random bits. `send_in` adds a beat that is offered so many clocks later at the
/// earliest; all beats of a source have such a time, or none. `taken` counts those that moved. Without `valid` there are random bits.
module stream_source #(
    parameter type T = logic,
    parameter bit Endless = 0
) (
    stream_if on,
    input int unsigned percent
);
  T queue[$];
  int unsigned due[$];
  int unsigned taken = 0, now = 0;
  function automatic void send_in(T beat, int unsigned clocks);
    queue.push_back(beat);
    due.push_back(now + clocks);
  endfunction
  always @(posedge on.clk_i) begin
    now++;
    if (on.rst_i) begin
      on.valid <= 0;
    end else begin
      if (on.valid && on.ready) taken++;
      if (!on.valid || on.ready) begin
        on.valid <= 0;
        on.data  <= random_value#(T)::bits();
        if ((Endless || queue.size() != 0) && (due.size() == 0 || due[0] <= now) && $urandom_range(
                99
            ) < percent) begin
          on.valid <= 1;
          if (!Endless) on.data <= queue.pop_front();
          if (due.size() != 0) void'(due.pop_front());
        end
      end
    end
  end
endmodule

typedef byte unsigned bytes_t[$];

/// Internet checksum (RFC 1071), not inverted, of bytes `from` ... `to` - 1 and of `first`; an odd last byte is a word's high half.
function automatic logic [15:0] sum_of(bytes_t f, int unsigned from, int unsigned to,
                                       int unsigned first = 0);
  int unsigned sum = first;
  for (int unsigned i = from; i < to; i += 2)
  sum += {16'd0, 8'(f[i]), i + 1 < to ? 8'(f[i+1]) : 8'd0};
  while (sum >> 16 != 0) sum = (sum & 'hffff) + (sum >> 16);
  return 16'(sum);
endfunction

/// Sends frames on the stream `on`, whose beats have data, len, sop, eop and err. A frame begins in `percent` of the clocks in which
/// it could, each other beat follows in `inside_percent`. What lies behind a frame's end is random, and all without `valid`. `taken` counts
/// beats.
module frame_source #(
    parameter type T = logic
) (
    stream_if on,
    input int unsigned percent,
    input int unsigned inside_percent
);
  T queue[$];
  int unsigned taken = 0;
  function automatic void send(bytes_t bytes, bit err);
    T   beat;
    int size = $bits(beat.data) / 8;
    for (int at = 0; at < bytes.size(); at += size) begin
      for (int i = 0; i < size; i++)
      beat.data[8*i+:8] = at + i < bytes.size() ? bytes[at+i] : 8'($urandom());
      beat.sop = at == 0;
      beat.eop = at + size >= bytes.size();
      beat.err = beat.eop && err;
      beat.len = $bits(beat.len)'(beat.eop ? bytes.size() - at : size);
      queue.push_back(beat);
    end
  endfunction
  always @(posedge on.clk_i) begin
    if (on.rst_i) begin
      on.valid <= 0;
    end else begin
      if (on.valid && on.ready) taken++;
      if (!on.valid || on.ready) begin
        on.valid <= 0;
        on.data  <= random_value#(T)::bits();
        if (queue.size() != 0 && $urandom_range(
                99
            ) < (queue[0].sop ? percent : inside_percent)) begin
          on.valid <= 1;
          on.data  <= queue.pop_front();
        end
      end
    end
  end
endmodule

/// Takes beats of the stream `on` in `percent` of the clocks, none in reset. `taken` counts them. With `Check` each must be the
/// next of `expected`, and at the end `expected` is to be empty.
module stream_sink #(
    parameter type T = logic,
    parameter bit Check = 0
) (
    stream_if on,
    input int unsigned percent
);
  T expected[$];
  int unsigned taken = 0;
  always @(posedge on.clk_i) begin
    if (on.valid && on.ready && !on.rst_i) begin
      taken++;
      if (Check) begin
        if (expected.size() == 0) $fatal(1, "FAIL at %0t: %m: a beat that was not sent", $time);
        if (on.data !== expected[0])
          $fatal(1, "FAIL at %0t: %m: %p, not %p", $time, on.data, expected[0]);
        void'(expected.pop_front());
      end
    end
    on.ready <= !on.rst_i && $urandom_range(99) < percent;
  end
endmodule

/// Register accesses, one at a time: `write` and `read` return when the answer is there, in the clock after it. An answer
/// without an access, or none in 1000 clocks, fails. `post` returns at once: such writes follow each other as fast as they are
/// answered, before any other access; `posted` counts them. In reset none begins, and one under way is forgotten.
module reg_master #(
    parameter int AddrW = 16
) (
    input logic clk,
    input logic rst,
    reg_if on
);
  bit open = 0, start = 0, is_write;
  logic [AddrW-1:0] addr;
  logic [31:0] wdata, rdata;
  logic [3:0] wstrb;
  logic [AddrW+31:0] posts[$];
  int unsigned posted = 0;
  always @(posedge clk) begin
    if (on.ack && !rst) begin
      if (!open) $fatal(1, "FAIL at %0t: %m: an answer without an access", $time);
      open  = 0;
      rdata = on.rdata;
    end
    if (rst) {open, start} = '0;
    else if (!open && posts.size() != 0) begin
      {open, start, is_write, wstrb} = '1;
      {addr, wdata} = posts.pop_front();
      posted++;
    end
    on.req <= start;
    {on.write, on.wstrb} <= start ? {is_write, wstrb} : 5'($urandom());
    on.addr <= start ? addr : AddrW'({$urandom(), $urandom()});
    on.wdata <= start && is_write ? wdata : $urandom();
    start = 0;
  end

  function automatic void post(logic [AddrW-1:0] where, logic [31:0] data);
    posts.push_back({where, data});
  endfunction
  task automatic access (bit write, logic [AddrW-1:0] where, logic [31:0] data, logic [3:0] strb);
    int unsigned patience = 1000;
    while (posts.size() != 0 || (open && posted != 0)) @(posedge clk);
    {open, start, is_write} = {2'b11, write};
    addr = where;
    wdata = data;
    wstrb = strb;
    while (open) begin
      @(posedge clk);
      patience--;
      if (patience == 0) $fatal(1, "FAIL at %0t: %m: no answer from %h", $time, where);
    end
  endtask
  task automatic write(logic [AddrW-1:0] where, logic [31:0] data);
    access (1, where, data, '1);
  endtask
  task automatic read(logic [AddrW-1:0] where, output logic [31:0] data);
    access (0, where, 0, '1);
    data = rdata;
  endtask
endmodule

/// Accesses to the `Words` words from `Base` on, one at a time, any of the address bits `Spread` set besides: in `percent` of the
/// clocks in which one could begin, `write_percent` of them writes of any bytes. What is read must be what was written, `words`.
/// `reads` and `writes` count answers. In reset none begins, and one under way is forgotten.
module reg_traffic #(
    parameter int AddrW = 16,
    parameter int Words = 64,
    parameter logic [AddrW-1:0] Base = '0,
    parameter logic [AddrW-1:0] Spread = '0
) (
    input logic clk,
    input logic rst,
    reg_if on,
    input int unsigned percent,
    input int unsigned write_percent
);
  logic [31:0] words[Words] = '{default: '0};
  int unsigned reads = 0, writes = 0, at;
  bit open = 0, is_write;
  always @(posedge clk) begin
    on.req <= 0;
    {on.write, on.wstrb, on.wdata} <= {$urandom(), 5'($urandom())};
    on.addr <= AddrW'({$urandom(), $urandom()});
    if (on.ack && !rst) begin
      if (!open) $fatal(1, "FAIL at %0t: %m: an answer without an access", $time);
      if (!is_write && on.rdata != words[at])
        $fatal(1, "FAIL at %0t: %m: word %0d reads %h, not %h", $time, at, on.rdata, words[at]);
      if (is_write) writes++;
      else reads++;
      open = 0;
    end
    if (rst) open = 0;
    else if (!open && $urandom_range(99) < percent) begin
      automatic logic [31:0] data = $urandom();
      automatic logic [ 3:0] strb = 4'($urandom());
      open = 1;
      is_write = $urandom_range(99) < write_percent;
      at = $urandom_range(Words - 1);
      if (is_write) for (int i = 0; i < 4; i++) if (strb[i]) words[at][8*i+:8] = data[8*i+:8];
      on.req   <= 1;
      on.write <= is_write;
      on.addr  <= (Base + AddrW'(4 * at)) | (Spread & AddrW'($urandom()));
      on.wdata <= data;
      on.wstrb <= strb;
    end
  end
endmodule

/// `Words` registers, found by the lower bits of the address, that answer in `percent` of the clocks from the one after the access
/// on; with `AtOnce` half of the accesses are answered in their own clock. A second access before the answer fails.
module reg_memory #(
    parameter int Words  = 64,
    parameter bit AtOnce = 0
) (
    input logic clk,
    input logic rst,
    reg_if on,
    input int unsigned percent
);
  localparam int IndexW = $clog2(Words);
  logic [31:0] words[Words] = '{default: '0};
  logic at_once = 0, late = 0;
  bit busy = 0;
  logic [31:0] answer;
  wire [IndexW-1:0] index = on.addr[IndexW+1:2];
  assign on.ack   = late || (at_once && on.req);
  assign on.rdata = late ? answer : words[index];
  always @(posedge clk) begin
    late <= 0;
    if (on.req && !rst) begin
      if (busy) $fatal(1, "FAIL at %0t: %m: an access before the last was answered", $time);
      busy   = !at_once;
      answer = on.write ? $urandom() : words[index];
      if (on.write)
        for (int i = 0; i < 4; i++) if (on.wstrb[i]) words[index][8*i+:8] = on.wdata[8*i+:8];
    end
    if (busy && $urandom_range(99) < percent) begin
      late <= 1;
      busy = 0;
    end
    at_once <= AtOnce && $urandom_range(1) == 0;
    if (rst) {busy, late} = '0;
  end
endmodule

/// One line for each.
`define STREAM_SOURCE(type_, name, stream, percent_) \
  stream_source #(.T(type_)) name (.on(stream), .percent(percent_));
`define FRAME_SOURCE(type_, name, stream, percent_, inside) \
  frame_source #(.T(type_)) name (.on(stream), .percent(percent_), .inside_percent(inside));
`define STREAM_SINK(type_, name, stream, percent_) \
  stream_sink #(.T(type_)) name (.on(stream), .percent(percent_));
`define STREAM_CHECK(type_, name, stream, percent_) \
  stream_sink #(.T(type_), .Check(1)) name (.on(stream), .percent(percent_));
`define REG_MASTER(width, name, regs) \
  reg_master #(.AddrW(width)) name (.clk, .rst, .on(regs));

`endif
