// SPDX-License-Identifier: Apache-2.0
`include "assert.svh"
`include "stream.svh"
/// Register and configuration accesses of the host, in their order.
///
/// Holds `Depth` accesses. A write of a 64-bit word becomes up to two 32-bit register writes, by its byte enables; a read up
/// to two register reads and then a Split Completion of one word, offered to the master until it is taken (a value of 32 bits
/// stands in both halves). A `bad` read is answered by a Split Completion Message. `reading_o` is high from a read's arrival
/// to the end of its completion; the target lets in one read at a time. An aborted completion is dropped. `access.ready` low
/// means full. Reset forgets everything.
module pcix_completer
  import pcix_pkg::*;
#(
    parameter int Depth = 8
) (
    input logic clk_i,
    input logic rst_i,
    stream_if.snk access,  // access_t
    output logic reading_o,
    // Registers, and configuration space: value in the same clock.
    reg_if.master regs,
    output logic [5:0] config_index_o,
    input logic [31:0] config_data_i,
    // Own number.
    input logic [7:0] bus_i,
    input logic [4:0] device_i,
    // Master: see pcix_master.
    output logic want_o,
    output offer_t offer_o,
    output logic [63:0] data_o,
    input logic end_i,
    input end_e how_i,
    input logic start_i,
    // Event.
    output logic bad_read_o
);
  typedef enum logic [2:0] {
    Idle,
    Low,
    LowWait,
    High,
    HighWait,
    Reply,
    Replying
  } state_e;

  `STREAM(access_t, head)
  `FIFO(access_t, Depth, i_fifo, access, head)

  state_e state_q;
  logic reading_q;
  logic [63:0] value_q;
  access_t now, arriving;
  assign now = head.data;
  assign arriving = access.data;

  wire low = state_q == Low;
  wire high = state_q == High;
  wire acked = regs.ack && (low || high || state_q == LowWait || state_q == HighWait);
  wire in_low = low || state_q == LowWait;
  wire replied = state_q == Replying && end_i && how_i != EndRetry;
  // The access leaves.
  wire written = !now.read && acked && (!in_low || now.strobe[7:4] == '0);
  wire nothing = state_q == Idle && head.valid && !now.read && now.strobe == '0;
  assign head.ready = written || replied || nothing;

  assign regs.req = low || high;
  assign regs.write = !now.read;
  assign regs.addr = {now.addr[16:3], !in_low, 2'b00};
  assign regs.wdata = in_low ? now.data[31:0] : now.data[63:32];
  assign regs.wstrb = now.read ? '0 : (in_low ? now.strobe[3:0] : now.strobe[7:4]);
  assign config_index_o = now.addr[7:2];
  assign reading_o = reading_q;
  assign bad_read_o = state_q == Idle && head.valid && now.read && now.bad;

  split_address_t reply_addr;
  assign reply_addr = '{
          unused_high: 1'b0,
          unused: '0,
          tag: now.tag,
          bus: now.bus,
          device: now.device,
          func: now.func,
          lower_addr: now.bad ? '0 : now.lower_addr
      };
  assign want_o = state_q == Reply;
  assign offer_o = '{
          command: SplitCompletion,
          read: 1'b0,
          addr: {32'd0, reply_addr},
          attr: '{
              byte_count: now.bad ? 12'd4 : now.byte_count,
              message: now.bad,
              unused: 1'b0,
              tag: '0,
              bus: bus_i,
              device: device_i,
              func: '0
          },
          words: 10'd1
      };
  // The message says: completer error, byte count out of range, this much is missing.
  assign data_o = now.bad ? {32'd0, 4'h2, 8'h00, 1'b0, now.lower_addr, 3'd0, now.byte_count} : value_q;

  always_ff @(posedge clk_i) begin
    if (access.valid && arriving.read) reading_q <= 1'b1;
    if (replied) reading_q <= 1'b0;
    unique case (state_q)
      Idle:
      if (head.valid) begin
        value_q <= {config_data_i, config_data_i};
        if (now.read && (now.bad || now.config_space)) state_q <= Reply;
        else if (now.strobe[3:0] != '0) state_q <= Low;
        else if (now.strobe[7:4] != '0) state_q <= High;
      end
      Low, LowWait: begin
        state_q <= LowWait;
        if (acked) begin
          value_q <= {regs.rdata, regs.rdata};
          state_q <= now.read ? Reply : Idle;
          if (now.strobe[7:4] != '0) state_q <= High;
        end
      end
      High, HighWait: begin
        state_q <= HighWait;
        if (acked) begin
          value_q <= {regs.rdata, now.strobe[3:0] != '0 ? value_q[31:0] : regs.rdata};
          state_q <= now.read ? Reply : Idle;
        end
      end
      Reply:   if (start_i) state_q <= Replying;
      default: if (end_i) state_q <= how_i == EndRetry ? Reply : Idle;
    endcase
    if (rst_i) begin
      state_q   <= Idle;
      reading_q <= 1'b0;
    end
  end

  `ASSERT(NothingLost, access.valid |-> access.ready)
  `ASSERT(OneRead, access.valid && arriving.read |-> !reading_q)
endmodule
