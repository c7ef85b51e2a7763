// SPDX-License-Identifier: Apache-2.0
`include "assert.svh"
`include "stream.svh"
/// Switch processor of a tile and its crossbars on the two static networks.
///
/// Each instruction (`mesh_pkg::switch_instr_t`) says which input goes to which outputs on both networks, and one operation of
/// the processor: branch, counter, halt. It fires as a whole: only when every word it takes is there and every place
/// it sends to has room. One instruction a clock, branches included. Counters (four of 16 bits) can be loaded from a word
/// that is an operand of the instruction; the next instruction sees it.
///
/// Ports in the order of `port_e`: core, north, east, south, west; each network's `Other` output is the `Other` input of the
/// other network, one clock later. A word written to a core input is in the FIFO of the neighbour's core after 3 clocks.
/// `valid` of an output depends on `ready` of all outputs in use: receivers have a `ready` that comes from a register.
/// The program is loaded word by word, low half first, while `run_i` is low. Reset empties the links; drops nothing.
module static_switch
  import mesh_pkg::*;
#(
    parameter int Instructions = 512,
    localparam int PcW = $clog2(Instructions)
) (
    input logic clk_i,
    input logic rst_i,

    // Low: stopped at instruction 0, counters 0.
    input logic run_i,

    // Program: {instruction, high half}.
    input logic          prog_we_i,
    input logic  [PcW:0] prog_addr_i,
    input word_t         prog_data_i,

    stream_if.snk in1[RouterPorts],
    stream_if.snk in2[RouterPorts],
    stream_if.src out1[RouterPorts],
    stream_if.src out2[RouterPorts],
    output logic [RouterPorts-1:0] room1_o,  // of the inputs, for a link_out
    output logic [RouterPorts-1:0] room2_o,

    // What it waits for, and the words sent by out1[0 .. 4], out2[0 .. 4] since reset.
    output switch_status_t status_o,
    output word_t          words_o [2*RouterPorts]
);
  localparam int N = SwitchPorts;
  localparam int Ends = 2 * N;  // {network 2, network 1}

  if (Instructions > 65536 || Instructions < 2) begin : g_bad_parameter
    $fatal(1, "static_switch: %0d instructions do not fit a 16-bit program counter", Instructions);
  end

  typedef struct packed {
    logic [Ends-1:0] takes;                 // inputs that must have a word
    logic [Ends-1:0] sends;                 // outputs that must have room
    logic            by_counter;            // what comes next is in the counter, ...
    logic            on_zero,    on_other;  // ... or in `imm`: if the counter is 0, if it is not
    logic [1:0]      tested;                // that counter
    logic            down;                  // by one, not by `imm`
    switch_instr_t   instr;
  } stored_t;

  // What an instruction needs is worked out when it is loaded.
  function automatic stored_t decode(switch_instr_t instr);
    stored_t stored;
    stored = '{
        takes: '0,
        sends: '0,
        by_counter: instr.op == OpJr,
        on_zero: instr.op inside {OpJump, OpBeqz, OpBeqzd},
        on_other: instr.op inside {OpJump, OpBnez, OpBnezd},
        tested: instr.counter,
        down: instr.op inside {OpBnezd, OpBeqzd},
        instr: instr
    };
    for (int o = 0; o < N; o++) begin
      if (instr.route1[o] < 3'(N)) begin
        stored.sends[o] = 1'b1;
        stored.takes[4'(instr.route1[o])] = 1'b1;
      end
      if (instr.route2[o] < 3'(N)) begin
        stored.sends[N+o] = 1'b1;
        stored.takes[4'(N)+4'(instr.route2[o])] = 1'b1;
      end
    end
    if (instr.op == OpMovew && instr.source < 3'(N))
      stored.takes[(instr.source_net?4'(N) : 4'd0)+4'(instr.source)] = 1'b1;
    return stored;
  endfunction

  word_t low_q;
  stored_t loaded;
  wire load = prog_we_i && prog_addr_i[0];
  always_ff @(posedge clk_i) if (prog_we_i && !prog_addr_i[0]) low_q <= prog_data_i;
  `WHILE(load, loaded, decode({prog_data_i, low_q}))

  stored_t now;  // the instruction to fire
  logic fire;
  logic [15:0] next;
  ram_sdp #(
      .Width($bits(stored_t)),
      .Depth(Instructions)
  ) i_program_ram (
      .clk_i,
      .we_i(load),
      .waddr_i(prog_addr_i[PcW:1]),
      .wdata_i(loaded),
      .re_i(fire || !run_i),
      .raddr_i(run_i ? next[PcW-1:0] : '0),
      .rdata_o(now)
  );

  // Links. Places 6 and 7 of the data are what `NoPort` selects.
  logic [Ends-1:0] valid, pop, room, send, link_room;
  assign room1_o = link_room[RouterPorts-1:0];
  assign room2_o = link_room[N+:RouterPorts];
  word_t data1[8], data2[8];
  assign data1[6] = '0;
  assign data1[7] = '0;
  assign data2[6] = '0;
  assign data2[7] = '0;
  for (genvar i = 0; i < N; i++) begin : g_port
    `STREAM(word_t, into1)
    `STREAM(word_t, head1)
    `STREAM(word_t, into2)
    `STREAM(word_t, head2)
    link_fifo i_fifo1 (
        .clk_i,
        .rst_i,
        .in    (into1),
        .out   (head1),
        .room_o(link_room[i])
    );
    link_fifo i_fifo2 (
        .clk_i,
        .rst_i,
        .in    (into2),
        .out   (head2),
        .room_o(link_room[N+i])
    );
    assign valid[i] = head1.valid;
    assign valid[N+i] = head2.valid;
    assign data1[i] = head1.data;
    assign data2[i] = head2.data;
    assign head1.ready = pop[i];
    assign head2.ready = pop[N+i];
    if (i < RouterPorts) begin : g_link
      assign into1.valid = in1[i].valid;
      assign into1.data = in1[i].data;
      assign in1[i].ready = into1.ready;
      assign into2.valid = in2[i].valid;
      assign into2.data = in2[i].data;
      assign in2[i].ready = into2.ready;
      assign out1[i].valid = send[i];
      `WHILE(send[i], out1[i].data, data1[now.instr.route1[i]])
      assign room[i] = out1[i].ready;
      assign out2[i].valid = send[N+i];
      `WHILE(send[N+i], out2[i].data, data2[now.instr.route2[i]])
      assign room[N+i] = out2[i].ready;
    end else begin : g_other
      assign into2.valid = send[i];
      `WHILE(send[i], into2.data, data1[now.instr.route1[i]])
      assign room[i] = into2.ready;
      assign into1.valid = send[N+i];
      `WHILE(send[N+i], into1.data, data2[now.instr.route2[i]])
      assign room[N+i] = into1.ready;
    end
  end

  for (genvar i = 0; i < 2 * RouterPorts; i++) begin : g_count
    word_t words_q;
    assign words_o[i] = words_q;
    always_ff @(posedge clk_i) begin
      if (send[i<RouterPorts?i : i+1]) words_q <= words_q + 1'b1;
      if (rst_i) words_q <= '0;
    end
  end

  logic halted_q;
  logic [15:0] pc_q;
  logic [15:0] counter_q[4];
  wire active = run_i && !halted_q;
  wire [Ends-1:0] no_word = now.takes & ~valid;
  wire [Ends-1:0] no_room = now.sends & ~room;
  assign fire = active && no_word == '0 && no_room == '0;
  assign send = fire ? now.sends : '0;
  assign pop  = fire ? now.takes : '0;

  wire  [15:0] counter = counter_q[now.instr.counter];
  wire  [15:0] sum = counter + (now.down ? '1 : now.instr.imm);
  logic [ 3:0] zeros;  // of all, while the program RAM still says which is meant
  always_comb for (int i = 0; i < 4; i++) zeros[i] = counter_q[i] == '0;
  wire zero = zeros[now.tested];
  wire [15:0] source = now.instr.source_net ? data2[now.instr.source][15:0] :
      data1[now.instr.source][15:0];

  always_comb begin
    next = pc_q + 1'b1;
    if (zero ? now.on_zero : now.on_other) next = now.instr.imm;
    if (now.by_counter) next = counter;
  end

  always_ff @(posedge clk_i) begin
    if (fire) begin
      pc_q <= next;
      case (now.instr.op)
        OpMovei: counter_q[now.instr.counter] <= now.instr.imm;
        OpMovew: counter_q[now.instr.counter] <= source;
        OpAddi: counter_q[now.instr.counter] <= sum;
        OpBnezd, OpBeqzd: if (!zero) counter_q[now.instr.counter] <= sum;
        OpHalt: halted_q <= 1'b1;
        default: ;
      endcase
    end
    if (rst_i || !run_i) begin
      halted_q <= 1'b0;
      pc_q <= '0;
      for (int i = 0; i < 4; i++) counter_q[i] <= '0;
    end
  end

  assign status_o = '{
          halted: halted_q,
          waiting: active && !fire,
          no_word2: no_word[Ends-1:N],
          no_word1: no_word[N-1:0],
          no_room2: no_room[Ends-1:N],
          no_room1: no_room[N-1:0],
          pc: pc_q
      };

  `ASSERT(FiresAsAWhole, send == '0 || (send & ~room) == '0 && (pop & ~valid) == '0)
endmodule
