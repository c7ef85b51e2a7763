// SPDX-License-Identifier: Apache-2.0
`include "assert.svh"
/// The card as a target on the PCI-X bus.
///
/// Claims, at decode speed A, configuration accesses while IDSEL is high, memory accesses to the 256 kB at `base_i` while
/// `memory_i` is high, and Split Completions for its own number. Writes to the windows (upper half) and Split Completions
/// are taken at one word a clock and never refused. Of a write to the registers (lower half) one 64-bit word is taken a
/// transaction, when `access` has room, else Retry. A read is answered by Split Response, one at a time (`reading_i`, which
/// rises with the `access` of the read), else Retry; a read of a window or of more than 8 bytes is passed on as `bad`.
/// `recv_*`, `access` and Split Completion words come out 1 clock after they were on the bus. All pins from registers.
module pcix_target
  import pcix_pkg::*, channel_pkg::*;
(
    input logic clk_i,
    input logic rst_i,
    // The bus, and what this target drives.
    input pins_in_t pins_i,
    output logic devsel_n_o,
    output logic trdy_n_o,
    output logic stop_n_o,
    output logic target_oe_o,
    // From configuration space.
    input logic memory_i,
    input logic [63:18] base_i,
    input logic numbered_i,
    input logic [7:0] bus_i,
    input logic [4:0] device_i,
    // A configuration write: 32 bits.
    output logic config_write_o,
    output logic [5:0] config_index_o,
    output logic [31:0] config_data_o,
    output logic [3:0] config_strobe_o,
    output logic [7:0] config_bus_o,
    output logic [4:0] config_device_o,
    // Windows.
    output logic recv_valid_o,
    output window_word_t recv_o,
    // Reads, and writes to registers.
    output logic access_valid_o,
    output access_t access_o,
    input logic access_ready_i,
    input logic reading_i,
    // Split Completions.
    output logic split_o,
    output split_start_t split_start_o,
    output logic word_o,
    output logic word_last_o,
    output logic [63:0] word_data_o,
    // Events.
    output logic word_in_o,
    output logic retry_given_o
);
  typedef enum logic [1:0] {
    Idle,
    Answer,  // DEVSEL# is low, the attribute is at hand
    Words,
    Once  // a response without a word is on the pins
  } state_e;
  typedef enum logic [2:0] {
    ConfigWriteKind,
    ReadKind,
    RegisterKind,
    WindowKind,
    CompletionKind
  } kind_e;

  pins_in_t in_q;  // the bus one clock ago
  logic idle_q;  // FRAME# was high two clocks ago
  state_e state_q;
  kind_e kind_q, kind;
  logic config_q, bad_q, dword_q, one_q, word_q, last_q, first_q;
  logic [17:0] addr_q;
  access_t read_q;
  attribute_t attr;
  split_address_t split_addr;

  // Address phase: FRAME# has just fallen.
  command_e command;
  assign command = command_e'(in_q.cbe_n[3:0]);
  assign split_addr = in_q.ad[31:0];
  wire begins = state_q == Idle && !in_q.frame_n && idle_q;
  wire our_config = in_q.idsel && in_q.ad[1:0] == 2'b00 && in_q.ad[10:8] == 3'd0;
  wire our_memory = memory_i && in_q.ad[63:18] == base_i;
  wire our_split = numbered_i && split_addr.bus == bus_i && split_addr.device == device_i && split_addr.func == '0;
  logic claim;
  always_comb begin
    claim = 1'b0;
    kind  = WindowKind;
    unique case (command)
      ConfigRead: begin
        claim = our_config;
        kind  = ReadKind;
      end
      ConfigWrite: begin
        claim = our_config;
        kind  = ConfigWriteKind;
      end
      MemReadDword, MemReadBlock: begin
        claim = our_memory;
        kind  = ReadKind;
      end
      MemWrite, MemWriteBlock: begin
        claim = our_memory;
        kind  = in_q.ad[17] ? WindowKind : RegisterKind;
      end
      SplitCompletion: begin
        claim = our_split;
        kind  = CompletionKind;
      end
      default: ;
    endcase
  end

  // Attribute phase.
  assign attr = in_q.ad[34:0];
  wire answer = state_q == Answer;
  wire refuse = (kind_q == ReadKind && (reading_i || !access_ready_i)) ||
      (kind_q == RegisterKind && !access_ready_i);
  wire too_long = attr.byte_count == '0 || attr.byte_count > 12'd8 - 12'(addr_q[2:0]);
  logic [7:0] read_strobe;
  always_comb begin
    read_strobe = 8'hff;
    if (config_q || dword_q || attr.byte_count <= 12'd4) read_strobe = addr_q[2] ? 8'hf0 : 8'h0f;
    if (!config_q && !dword_q && 12'(addr_q[1:0]) + attr.byte_count > 12'd4 && !addr_q[2])
      read_strobe = 8'hff;
  end
  always_comb begin
    read_q = '0;
    read_q.read = 1'b1;
    read_q.config_space = config_q;
    read_q.bad = bad_q || (!config_q && !dword_q && too_long);
    read_q.addr = config_q ? {9'd0, addr_q[7:0]} : {addr_q[16:3], 3'd0};
    read_q.strobe = read_strobe;
    read_q.byte_count = config_q || dword_q ? 12'd4 : attr.byte_count;
    read_q.lower_addr = config_q ? '0 : addr_q[6:3];
    read_q.tag = attr.tag;
    read_q.bus = attr.bus;
    read_q.device = attr.device;
    read_q.func = attr.func;
  end
  assign retry_given_o = answer && refuse;

  // Data phases: a word is on the bus now if the master holds IRDY# low.
  wire word = state_q == Words && !pins_i.irdy_n;
  assign word_in_o = word_q;

  always_ff @(posedge clk_i) begin
    in_q   <= pins_i;
    idle_q <= in_q.frame_n;
    word_q <= word;
    last_q <= word && (pins_i.frame_n || one_q);
    if (word_q) first_q <= 1'b0;
    unique case (state_q)
      Idle:
      if (begins && claim) begin
        state_q <= Answer;
        devsel_n_o <= 1'b0;
        target_oe_o <= 1'b1;
        kind_q <= kind;
        config_q <= command == ConfigRead;
        dword_q <= command == MemReadDword;
        bad_q <= command inside {MemReadDword, MemReadBlock} && in_q.ad[17];
        addr_q <= in_q.ad[17:0];
        first_q <= 1'b1;
      end
      Answer: begin
        // One word a transaction into the registers; config_bus_o and config_device_o hold until the word.
        one_q <= kind_q inside {RegisterKind, ConfigWriteKind};
        state_q <= Words;
        {devsel_n_o, stop_n_o, trdy_n_o} <= Transfer;
        if (kind_q == RegisterKind && too_long)
          {devsel_n_o, stop_n_o, trdy_n_o} <= SingleDisconnect;
        if (kind_q == ReadKind) begin
          state_q <= Once;
          {devsel_n_o, stop_n_o, trdy_n_o} <= SplitResponse;
        end
        if (refuse) begin
          state_q <= Once;
          {devsel_n_o, stop_n_o, trdy_n_o} <= Retry;
        end
        config_bus_o <= attr.bus;
        config_device_o <= attr.device;
      end
      Words:
      // Masters do not wait: one that let go of FRAME# and IRDY# is gone.
      if (one_q || pins_i.frame_n) begin
        state_q <= Idle;
        {devsel_n_o, stop_n_o, trdy_n_o} <= Silent;
      end
      default: begin
        state_q <= Idle;
        {devsel_n_o, stop_n_o, trdy_n_o} <= Silent;
      end
    endcase
    // Driven high for one clock, then left alone.
    if (state_q == Idle && !(begins && claim)) target_oe_o <= 1'b0;
    if (word_q) addr_q <= addr_q + 18'd8;
    if (rst_i) begin
      state_q <= Idle;
      {devsel_n_o, stop_n_o, trdy_n_o} <= Silent;
      target_oe_o <= 1'b0;
      in_q.frame_n <= 1'b1;
      idle_q <= 1'b1;
      word_q <= 1'b0;
    end
  end

  // Tag and address of a Split Completion, from its address phase.
  logic [4:0] split_tag_q;
  logic [3:0] split_lower_q;
  always_ff @(posedge clk_i) begin
    if (begins) begin
      split_tag_q   <= split_addr.tag;
      split_lower_q <= split_addr.lower_addr;
    end
  end

  // What the words are for.
  assign config_write_o = word_q && kind_q == ConfigWriteKind;
  assign config_index_o = addr_q[7:2];
  assign config_data_o = in_q.ad[31:0];
  assign config_strobe_o = ~in_q.cbe_n[3:0];
  assign recv_valid_o = word_q && kind_q == WindowKind;
  assign recv_o = '{window: addr_q[16:13], message: addr_q[12], first: first_q, data: in_q.ad};
  assign split_o = answer && kind_q == CompletionKind;
  assign split_start_o = '{
          tag: split_tag_q,
          lower_addr: split_lower_q,
          byte_count: attr.byte_count,
          message: attr.message
      };
  assign word_o = word_q && kind_q == CompletionKind;
  assign word_last_o = last_q;
  assign word_data_o = in_q.ad;

  wire write_word = word_q && kind_q == RegisterKind;
  assign access_valid_o = write_word || (answer && kind_q == ReadKind && !refuse);
  always_comb begin
    access_o = read_q;
    if (write_word) begin
      access_o = '0;
      access_o.addr = {addr_q[16:3], 3'd0};
      access_o.data = in_q.ad;
      access_o.strobe = ~in_q.cbe_n;
    end
  end

  `ASSERT(
      NobodyElseAnswers,
      target_oe_o |-> {pins_i.devsel_n, pins_i.stop_n, pins_i.trdy_n} == {devsel_n_o, stop_n_o, trdy_n_o})
endmodule
