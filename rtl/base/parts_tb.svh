// SPDX-License-Identifier: Apache-2.0
// What the benches drive streams and registers with. All are random by the seed that TB_BEGIN prints.
`ifndef EMERY_PARTS_TB_SVH
`define EMERY_PARTS_TB_SVH

/// Sends the beats of its `queue` on the stream `on`, in order. A beat is offered in `percent` of the clocks in which it could be;
/// with `Endless` there is always another, of random bits. `send_in` adds a beat that is offered so many clocks later at the
/// earliest; all beats of a source have such a time, or none. `taken` counts those that moved.
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
  function automatic T random();
    logic [$bits(T)+31:0] bits = '0;
    for (int i = 0; i < $bits(T); i += 32) bits[i+:32] = $urandom();
    return T'(bits[$bits(T)-1:0]);
  endfunction
  always @(posedge on.clk_i) begin
    now++;
    if (on.rst_i) begin
      on.valid <= 0;
    end else begin
      if (on.valid && on.ready) taken++;
      if (!on.valid || on.ready) begin
        on.valid <= 0;
        if ((Endless || queue.size() != 0) && (due.size() == 0 || due[0] <= now) && $urandom_range(
                99
            ) < percent) begin
          on.valid <= 1;
          on.data  <= Endless ? random() : queue.pop_front();
          if (due.size() != 0) void'(due.pop_front());
        end
      end
    end
  end
endmodule

typedef byte unsigned bytes_t[$];

/// Sends frames on the stream `on`, whose beats have data, len, sop, eop and err. A frame begins in `percent` of the clocks in which
/// it could, each other beat follows in `inside_percent`. What lies behind a frame's end is random. `taken` counts beats.
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
/// without an access, or none in 1000 clocks, fails.
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
  always @(posedge clk) begin
    if (on.ack && !rst) begin
      if (!open) $fatal(1, "FAIL at %0t: %m: an answer without an access", $time);
      open  = 0;
      rdata = on.rdata;
    end
    on.req   <= start;
    on.write <= is_write;
    on.addr  <= addr;
    on.wdata <= wdata;
    on.wstrb <= wstrb;
    start = 0;
  end

  task automatic access (bit write, logic [AddrW-1:0] where, logic [31:0] data, logic [3:0] strb);
    int unsigned patience = 1000;
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
