// SPDX-License-Identifier: Apache-2.0
// prove: mode=prove depth=8
`include "formal.svh"
`include "stream.svh"
/// static_switch with any program: an instruction fires as a whole. Either every word it takes is there and every place it
/// sends to has room, and then each input it names moves once and each output it names carries the word of its input; or
/// nothing moves at all, on neither network, and the same instruction is still there in the next clock. One that can fire
/// does, and what comes next is what it says. A halted or stopped switch moves nothing. What an instruction needs is worked out
/// rightly when it is loaded.
module static_switch_formal
  import mesh_pkg::*;
(
    input logic              clk_i,
    input logic              rst_i,
    input logic              run_i,
    input logic              prog_we_i,
    input logic  [2:0]       prog_addr_i,
    input word_t             prog_data_i,
    input logic  [9:0]       valid_i,
    input logic  [9:0][31:0] data_i,
    input logic  [9:0]       ready_i
);
  `FORMAL_BEGIN
  localparam int N = SwitchPorts;
  localparam int P = RouterPorts;
  `STREAM(word_t, in1[P])
  `STREAM(word_t, in2[P])
  `STREAM(word_t, out1[P])
  `STREAM(word_t, out2[P])
  switch_status_t status;
  word_t words[2*P];
  static_switch #(
      .Instructions(4)
  ) dut (
      .clk_i,
      .rst_i,
      .run_i,
      .prog_we_i,
      .prog_addr_i,
      .prog_data_i,
      .in1,
      .in2,
      .out1,
      .out2,
      .status_o(status),
      .words_o (words)
  );
  logic [9:0] out_valid;
  logic [9:0][31:0] out_data;
  for (genvar i = 0; i < P; i++) begin : g_port
    assign in1[i].valid = valid_i[i];
    assign in1[i].data = data_i[i];
    assign in2[i].valid = valid_i[P+i];
    assign in2[i].data = data_i[P+i];
    assign out1[i].ready = ready_i[i];
    assign out2[i].ready = ready_i[P+i];
    assign out_valid[i] = out1[i].valid;
    assign out_data[i] = out1[i].data;
    assign out_valid[P+i] = out2[i].valid;
    assign out_data[P+i] = out2[i].data;
  end

  /// What an instruction takes and sends, written down anew: {network 2, network 1}.
  function automatic logic [4*N-1:0] needs(switch_instr_t instr);
    logic [2*N-1:0] takes, sends;
    for (int i = 0; i < N; i++) begin
      takes[i]   = instr.op == OpMovew && !instr.source_net && int'(instr.source) == i;
      takes[N+i] = instr.op == OpMovew && instr.source_net && int'(instr.source) == i;
      for (int o = 0; o < N; o++) begin
        takes[i] |= int'(instr.route1[o]) == i;
        takes[N+i] |= int'(instr.route2[o]) == i;
      end
      sends[i]   = instr.route1[i] < 3'(N);
      sends[N+i] = instr.route2[i] < 3'(N);
    end
    return {takes, sends};
  endfunction

  /// So what comes next: by the counter, in `imm` when it is 0, when it is not; which it is, and whether it goes down.
  function automatic logic [5:0] flow (switch_instr_t instr);
    logic by_counter, on_zero, on_other, down;
    {by_counter, on_zero, on_other, down} = 4'b0000;
    case (instr.op)
      OpJump: {on_zero, on_other} = 2'b11;
      OpBeqz: on_zero = 1'b1;
      OpBnez: on_other = 1'b1;
      OpBeqzd: {on_zero, down} = 2'b11;
      OpBnezd: {on_other, down} = 2'b11;
      OpJr: by_counter = 1'b1;
      default: ;
    endcase
    return {by_counter, on_zero, on_other, instr.counter, down};
  endfunction

  switch_instr_t loaded;
  assign loaded = {prog_data_i, dut.low_q};
  logic [2*N-1:0] takes, sends;
  assign {takes, sends} = needs(dut.now.instr);
  wire [15:0] counter = dut.counter_q[dut.now.instr.counter];
  logic jumps;
  always_comb begin
    case (dut.now.instr.op)
      OpJump: jumps = 1'b1;
      OpBnez, OpBnezd: jumps = counter != 0;
      OpBeqz, OpBeqzd: jumps = counter == 0;
      default: jumps = 1'b0;
    endcase
  end
  logic same_q = 1'b0;
  switch_instr_t instr_q;
  logic [15:0] pc_q;
  always_ff @(posedge clk_i) begin
    same_q  <= started_q && run_i && !dut.fire && !dut.halted_q;
    instr_q <= dut.now.instr;
    pc_q    <= status.pc;
  end
  always_comb begin
    // The memory, with any content at the start, holds what loading would have put there.
    if (started_q) assume (dut.now == {takes, sends, flow (dut.now.instr), dut.now.instr});
    if (started_q) begin
      assert (dut.i_program_ram.wdata_i == {needs(loaded), flow (loaded), loaded});
      if (dut.now.instr.op == OpJr)
        assert (dut.next == counter);
        else assert (dut.next == (jumps ? dut.now.instr.imm : status.pc + 16'd1));
      if (dut.fire) begin
        assert (run_i && !status.halted && (takes & ~dut.valid) == '0 && (sends & ~dut.room) == '0);
        assert (dut.pop == takes && out_valid == {sends[N+:P], sends[0+:P]});
        for (int o = 0; o < P; o++) begin
          if (out_valid[o]) assert (out_data[o] == dut.data1[dut.now.instr.route1[o]]);
          if (out_valid[P+o]) assert (out_data[P+o] == dut.data2[dut.now.instr.route2[o]]);
        end
      end else begin
        assert (dut.pop == '0 && dut.send == '0 && out_valid == '0);
        if (run_i && !status.halted)
          assert (((takes & ~dut.valid) != '0 || (sends & ~dut.room) != '0) && status.waiting);
      end
      if (status.waiting)
        assert ({status.no_word2, status.no_word1} == (takes & ~dut.valid) &&
                {status.no_room2, status.no_room1} == (sends & ~dut.room));
      if (same_q) assert (dut.now.instr == instr_q && status.pc == pc_q);
      cover (dut.fire && $countones(takes) == 3 && $countones(sends) == 4);
      cover (status.halted);
    end
  end
endmodule
