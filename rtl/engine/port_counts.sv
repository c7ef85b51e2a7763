// SPDX-License-Identifier: Apache-2.0
`include "assert.svh"
`include "stream.svh"
/// Statistics of one way of an Ethernet port, 64 bits each: frames and bytes, with FCS, by class and size (RFC 2819, RFC 3635).
///
/// Frames are watched as they pass: `valid_i` and `ready_i` are a stream's. Each has one row of a stat_ram, frame_class_e and place of
/// its size (queue_pkg), so that all sums of one reading belong together. Receive: `fate_i` is what mac_rx says of each, a clock
/// behind its last beat. Transmit: what is shorter than 60 bytes counts as padded, what ends with `err` as bad. What is lost later is counted by its
/// reason too (`lost_i`, a bit for each, high for a clock for each frame). A frame a clock; 128 find room while a row is read, or the
/// RAM is cleared after reset: none is lost. `regs` is stat_regs of host_nic.rdl.
module port_counts
  import queue_pkg::*;
  import eth_pkg::*;
  import xgmii_pkg::*;
#(
    parameter bit Receive = 1,
    parameter int Losses = 1,  // reasons, up to 8
    localparam int Rows = 64
) (
    input logic clk_i,
    input logic rst_i,

    input logic                       valid_i,
    input logic                       ready_i,
    input wide_beat_t                 beat_i,
    input mac_rx_count_t              fate_i,
    input logic          [Losses-1:0] lost_i,

    reg_if.slave regs,
    output logic refused_o
);
  wire moved = valid_i && ready_i;
  localparam int FcsBytes = 4, TypeAt = 8 * 12, OpcodeAt = 8 * 14;
  typedef struct packed {
    frame_class_e class_;
    logic [2:0]   place;
  } row_t;
  typedef struct packed {
    row_t        row;
    logic [15:0] packets;
    logic [15:0] bytes;
  } record_t;

  // ---- A clock behind: how the newest frame begins, and what became of it.
  logic [47:0] to_q;
  logic [15:0] type_q, opcode_q;
  mac_rx_count_t fate;
  always_ff @(posedge clk_i) begin
    if (moved && beat_i.sop) begin
      to_q <= beat_i.data[47:0];
      type_q <= beat_i.data[TypeAt+:16];
      opcode_q <= beat_i.data[OpcodeAt+:16];
    end
  end
  if (Receive) begin : g_receive
    assign fate = fate_i;
    wire unused = &{1'b0, beat_i};
  end else begin : g_transmit
    logic [15:0] before_q, bytes_q;  // of the frame's beats until this one; with it
    logic end_q, err_q;
    wire [15:0] bytes = before_q + 16'(beat_i.len);
    always_ff @(posedge clk_i) begin
      end_q <= moved && beat_i.eop;
      if (moved) begin
        before_q <= beat_i.eop ? '0 : bytes;
        bytes_q <= bytes;
        err_q <= beat_i.err;
      end
      if (rst_i) begin
        end_q <= 1'b0;
        before_q <= '0;
      end
    end
    wire unused = &{1'b0, beat_i, fate_i};
    assign fate = '{
            good: end_q && !err_q,
            bad_fcs: end_q && err_q,
            bytes: bytes_q < 16'(MinFrame) ? 16'(MinFrame) : bytes_q,
            default: '0
        };
  end

  // ---- Two: its class.
  frame_class_e class_d, class_q;
  logic ended_q;
  logic [15:0] bytes_q;
  wire to_control = to_q == ControlMac && type_q == ControlType;
  always_comb begin
    if (fate.bad_fcs || (fate.runt && fate.err)) class_d = ClassFcs;
    else if (fate.runt || fate.oversize) class_d = ClassLength;
    else if (to_control && opcode_q == PauseOp) class_d = ClassPause;
    else if (to_control && opcode_q == PfcOp) class_d = ClassPfc;
    else if (&to_q) class_d = ClassBroadcast;
    else if (to_q[0]) class_d = ClassMulticast;
    else class_d = ClassUnicast;
  end
  always_ff @(posedge clk_i) begin
    ended_q <= fate.good || fate.bad_fcs || fate.runt || fate.oversize;
    class_q <= class_d;
    bytes_q <= fate.bytes + 16'(FcsBytes);
    if (rst_i) ended_q <= 1'b0;
  end

  // ---- What is lost waits for a clock in which no frame is counted.
  logic [Losses-1:0][15:0] lost_q;
  logic [Losses-1:0] waits;
  logic [2:0] reason;
  always_comb begin
    reason = '0;
    for (int i = Losses - 1; i >= 0; i--) begin
      waits[i] = lost_q[i] != '0;
      if (waits[i]) reason = 3'(i);
    end
  end
  always_ff @(posedge clk_i) begin
    for (int i = 0; i < Losses; i++)
    lost_q[i] <= (!ended_q && reason == 3'(i) ? '0 : lost_q[i]) + 16'(lost_i[i]);
    if (rst_i) lost_q <= '0;
  end

  // ---- Three: its place by size.
  logic [MacCounters-1:0] size;
  logic [2:0] place;
  assign size = size_hit(bytes_q);
  always_comb begin
    place = '0;
    for (int i = 0; i < 7; i++) if (size[int'(Size64)+i]) place |= 3'(i + 1);
  end
  `STREAM(record_t, in)
  `STREAM(record_t, record)
  `STREAM(queue_count_t, count)
  `FIFO(record_t, 128, i_records, in, record)
  assign in.valid = ended_q || |waits;
  always_comb begin
    in.data = '{row: '{class_: class_q, place: place}, packets: 16'd1, bytes: bytes_q};
    if (!ended_q)
      in.data = '{
          row: '{class_: ClassLost, place: reason},
          packets: lost_q[reason],
          bytes: '0
      };
  end
  assign count.valid  = record.valid;
  assign record.ready = count.ready;
  `STREAM_DATA(count, '{queue: queue_t'(record.data.row), packets: record.data.packets,
                      bytes: queue_bytes_t'(record.data.bytes), error: 1'b0, drop: 1'b0})
  stat_ram #(
      .Rows(Rows),
      .Counters(2)
  ) i_stat (
      .clk_i,
      .rst_i,
      .count,
      .regs,
      .refused_o
  );
  wire unused_size = &{1'b0, size};

  `ASSERT(RecordFits, in.valid |-> in.ready)
endmodule
