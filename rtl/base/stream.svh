// SPDX-License-Identifier: Apache-2.0
// One line for a stream, a spill register, and a FIFO whose fill level is not needed, within a clock domain or between two.
`ifndef EMERY_STREAM_SVH
`define EMERY_STREAM_SVH

/// A stream (or, with `name[N]`, an array of them) of `type_` on this module's clock.
`define STREAM(type_, name) stream_if #(.T(type_)) name (clk_i, rst_i);
/// The same on another clock.
`define STREAM_ON(type_, name, clk, rst) stream_if #(.T(type_)) name (clk, rst);
/// A FIFO of `depth` beats of `type_` between the streams `source` and `sink`, on this module's clock.
`define FIFO(type_, depth, name, source, sink) \
  fifo #(.T(type_), .Depth(depth)) name (.clk_i, .rst_i, .in(source), .out(sink), .count_o());
/// The same with a register behind its RAM: for deep ones with logic behind them.
`define DEEP_FIFO(type_, depth, name, source,
                  sink) \
  fifo #(.T(type_), .Depth(depth), .Registered(1)) name (.clk_i, .rst_i, .in(source), .out(sink), .count_o());
/// A FIFO between clock domains, `source` on the clock `from`_clk_i and `sink` on `to`_clk_i.
`define FIFO_CROSS(type_, depth, name, from, source, to, sink) \
  fifo_async #(.T(type_), .Depth(depth)) name ( \
      .wclk_i(from``_clk_i), .wrst_i(from``_rst_i), .in(source), .count_o(), \
      .rclk_i(to``_clk_i), .rrst_i(to``_rst_i), .out(sink));
/// The stream `sink` is `source`, with `value` in place of what it carries.
`define RELAY(source, sink, value) \
  assign sink.valid = source.valid; \
  assign sink.data = value; \
  assign source.ready = sink.ready;
/// A spill register of `type_` between the streams `source` and `sink`, on this module's clock.
`define SPILL(type_, name, source, sink) \
  spill_reg #(.T(type_)) name (.clk_i, .rst_i, .in(source), .out(sink));

/// A simulation (EMERY_LAZY) does less than hardware where nobody can tell; to all else these are an ordinary `if` and `<=`.
///
/// WORTH is around all of a process of combinational logic: an `if` that holds while its result matters, which it does not decide. It
/// is worked out then, and not where nothing moves, which is most of the time for most of a design; otherwise it keeps what it was.
/// STORE writes a word of a memory in a clocked process. Only clocked processes may read that memory, the same one before it writes,
/// others never the word that is written. It is written at once, without a copy of it until all have read.
`ifdef EMERY_LAZY
`define WORTH(cond) (cond)
`define STORE(target, word) target = word;
`else
`define WORTH(cond) 1'b1
`define STORE(target, word) target <= word;
`endif
/// `target` is `value`, which matters while `cond` holds.
`define WHILE(cond, target, value) always_comb if (`WORTH(cond)) target = value;
/// `value` is what `stream` carries; its `valid` does not depend on it.
`define STREAM_DATA(stream, value) `WHILE(stream.valid, stream.data, value)

`endif
