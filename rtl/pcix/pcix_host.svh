// SPDX-License-Identifier: Apache-2.0
// A model in one clocked process: its variables are assigned in turn.
/* verilator lint_off BLKSEQ */
/* verilator lint_off PROCASSINIT */
/* verilator lint_off UNUSEDSIGNAL */
// The host of pcix_core_tb: memory, configuration and register accesses. Uses clk, bus, gnt_n, out[Host] of the test.
// The bus has the number HostBus, the host is its device 0, card c its device c + 1.
// Addresses: 0xA... target abort, 0xD... reads get an error message, 0xE... no target; else below 4 GB memory.

localparam logic [7:0] HostBus = 8'h2a;
logic [63:0] memory[logic [63:0]];
logic [63:0] reference[logic [63:0]];
int unsigned retries = 0;  // said to cards
int unsigned retry_percent = 0, disconnect_percent = 0, piece_percent = 0, latency = 10;

typedef struct {
  logic [63:0] addr;
  int bytes;
  attribute_t requester;
  int unsigned due;
} pending_t;
pending_t pending[$];

typedef struct {
  command_e command;
  logic [63:0] addr, data;
  logic [7:0] cbe_n;
  int bytes;
  logic [4:0] device;
} host_op_t;
host_op_t ops[$];
int unsigned ops_done = 0, ops_given = 0;
logic host_aborted = 0, host_waits = 0, host_bad = 0;
logic [63:0] host_value;
host_op_t host_op;  // the read it waits for
bit numbered[32] = '{default: 0};  // devices that have been told their numbers
logic in_transaction = 0;

function automatic bit host_busy();
  return pending.size() != 0 || ops.size() != 0 || in_transaction || host_waits;
endfunction

// What the host drives: `next` is set between clock edges.
pins_out_t next = '0, master_q, target_q = '0;
initial {next.req_n, next.frame_n, next.irdy_n} = '1;
always @(posedge clk) master_q <= next;
always_comb begin
  out[Host] = master_q;
  out[Host].devsel_n = target_q.devsel_n;
  out[Host].stop_n = target_q.stop_n;
  out[Host].trdy_n = target_q.trdy_n;
  out[Host].target_oe = target_q.target_oe;
end

// The bus of this clock, when all have settled; what is put into `next` now is driven from the next clock.
pins_in_t seen;
task automatic tick();
  @(negedge clk);
  seen = bus;
  seen.gnt_n = gnt_n[Host];
endtask

// One transaction as a master; `taken` words of `data` were taken.
task automatic transact(command_e command, logic [63:0] addr, attribute_t attr,
                        logic [63:0] data[$], logic [7:0] cbe_n, output response_e response,
                        output int taken);
  bit read = command inside {MemReadDword, MemReadBlock, ConfigRead};
  int waited = 0;
  taken = 0;
  next.req_n = 0;
  do tick(); while (!(!seen.gnt_n && seen.frame_n && seen.irdy_n));
  next.req_n = 1;
  next.master_oe = 1;
  next.frame_n = 0;
  next.ad_oe = 1;
  next.ad = addr;
  next.cbe_n = {4'd0, command};
  tick();
  next.ad = 64'(attr);
  next.cbe_n = 0;
  tick();
  next.irdy_n = 0;
  next.ad_oe  = !read;
  if (!read) next.ad = data[0];
  next.cbe_n = cbe_n;
  tick();
  if (read || data.size() == 1) next.frame_n = 1;
  forever begin
    tick();
    response = response_e'({seen.devsel_n, seen.stop_n, seen.trdy_n});
    waited++;
    if (response inside {Transfer, SingleDisconnect, DisconnectNextAdb}) taken++;
    if (response == Transfer && taken < data.size()) begin
      next.ad = data[taken];
      next.frame_n = taken == data.size() - 1;
    end else if (response != Wait && !(response == Silent && waited < 5)) break;
  end
  next.ad_oe   = 0;
  next.frame_n = 1;
  if (!seen.frame_n) tick();
  next.irdy_n = 1;
  tick();
  next.master_oe = 0;
endtask

// Split Completions that are due go first, in any order; then accesses in their order.
initial begin
  response_e response;
  int taken, n;
  logic [63:0] data[$];
  forever begin
    n = -1;
    foreach (pending[i]) if (pending[i].due <= clock && (n < 0 || $urandom_range(1) == 0)) n = i;
    in_transaction = 0;
    if (n >= 0) begin
      automatic pending_t p = pending[n];
      automatic bit wrong = p.addr[31:28] == 4'hd;
      automatic int bytes = p.bytes;
      automatic int to_boundary = 128 - int'(p.addr[6:0]);
      automatic split_address_t to = '0;
      automatic attribute_t attr = '0;
      in_transaction = 1;
      if (to_boundary < bytes && $urandom_range(99) < piece_percent)
        bytes = to_boundary + 128 * $urandom_range((bytes - to_boundary - 1) / 128);
      if (wrong && p.bytes <= 4096 && p.addr[15:0] == 0 && bytes > 4) bytes = 8;
      to.tag = p.requester.tag;
      to.bus = p.requester.bus;
      to.device = p.requester.device;
      to.lower_addr = p.addr[6:3];
      attr.byte_count = 12'(p.bytes);
      attr.message = wrong;
      data = {};
      for (int i = 0; i < bytes; i += 8)
      data.push_back(memory.exists(p.addr + 64'(i)) ? memory[p.addr+64'(i)] : 0);
      transact(SplitCompletion, {32'd0, to}, attr, data, 0, response, taken);
      `CHECK(response == Transfer && taken == data.size(), "a card refused a Split Completion")
      pending.delete(n);
      if (bytes < p.bytes && !wrong) begin
        p.addr += 64'(bytes);
        p.bytes -= bytes;
        p.due = clock + $urandom_range(latency);
        pending.push_back(p);
      end
    end else if (ops.size() != 0 && !host_waits) begin
      automatic host_op_t   op = ops[0];
      automatic attribute_t attr = '0;
      in_transaction = 1;
      attr.byte_count = 12'(op.bytes);
      attr.bus = HostBus;
      attr.device = op.command == ConfigWrite ? op.device : '0;
      attr.tag = 5'(ops_done);
      data = '{op.data};
      transact(op.command, op.addr, attr, data, op.cbe_n, response, taken);
      if (response != Retry) begin
        void'(ops.pop_front());
        host_aborted = response == Silent;
        host_waits   = response == SplitResponse;
        host_bad     = host_aborted;
        host_op      = op;
        if (!host_waits) ops_done++;
        if (op.command == ConfigWrite) numbered[op.device] = 1;
        if (op.command inside {ConfigRead, MemReadDword, MemReadBlock})
          `CHECK(response inside {SplitResponse, Silent}, "a read was not split")
        else `CHECK(response == Transfer && taken == 1, "a write was not taken")
      end
    end else @(posedge clk);
  end
end

// Memory, and the taker of Split Completions for the host.
int target_state = 0;
command_e t_command;
logic [63:0] t_addr, t_begin;
logic [4:0] t_tag;
attribute_t t_attr;
response_e t_response;
logic t_claim, t_stop = 0, t_before = 1;
int t_words, t_after;
task automatic answer(response_e r);
  t_response = r;
  {target_q.devsel_n, target_q.stop_n, target_q.trdy_n} <= r;
endtask
// A Split Completion is one word. It has the byte count and the place of the read, or is an error
// message of 4 bytes that says what is missing.
task automatic check_completion(logic [63:0] word);
  split_address_t to = t_begin[31:0];
  bit config_space = host_op.command == ConfigRead;
  logic [3:0] lower = config_space ? '0 : host_op.addr[6:3];
  logic [11:0] bytes = 12'(host_op.bytes);
  `CHECK(t_words == 0 && bus.frame_n, "a completion of more than a word")
  `CHECK(t_begin[63:32] == 0 && !to.unused_high && to.unused == 0, "unused bits of the address")
  `CHECK(!t_attr.unused && t_attr.tag == 0 && t_attr.func == 0, "unused attributes")
  `CHECK(t_attr.byte_count == (t_attr.message ? 12'd4 : bytes), "byte count of a completion")
  `CHECK(to.lower_addr == (t_attr.message ? 4'd0 : lower), "place of a completion")
  `CHECK({t_attr.bus, t_attr.device} == (numbered[host_op.device] ? {HostBus, host_op.device} : '0),
         "completer's number")
  if (t_attr.message)
    `CHECK(word == {32'd0, 4'h2, 8'h00, 1'b0, lower, 3'd0, bytes}, "error message")
endtask
always @(posedge clk) begin
  t_before <= bus.frame_n;
  case (target_state)
    0: begin
      target_q.target_oe <= 0;
      if (!bus.frame_n && t_before && !out[Host].master_oe) begin
        t_command = command_e'(bus.cbe_n[3:0]);
        t_addr = bus.ad;
        t_begin = bus.ad;
        t_tag = bus.ad[24:20];
        t_claim = (t_command inside {MemWriteBlock, MemReadBlock} && t_addr < 64'he000_0000) ||
            (t_command == SplitCompletion && t_addr[19:4] == {HostBus, 8'd0});
        if (t_claim) target_state = 1;
      end
    end
    1: begin
      t_attr = bus.ad[34:0];
      if (t_command != SplitCompletion) begin
        `CHECK(!t_attr.message && !t_attr.unused && t_attr.func == 0, "attributes nobody asked for")
        `CHECK(t_attr.bus == HostBus && t_attr.device inside {[1 : Cards]}, "not a card's number")
      end
      target_q.target_oe <= 1;
      answer(Wait);
      target_state = 2;
    end
    2: begin
      t_stop  = 0;
      t_words = 0;
      t_after = 0;
      answer(Transfer);
      if (t_command != SplitCompletion) begin
        if ($urandom_range(99) < disconnect_percent) answer(DisconnectNextAdb);
        if ($urandom_range(99) < disconnect_percent) answer(SingleDisconnect);
        if (t_command == MemReadBlock) answer(SplitResponse);
        if ($urandom_range(99) < retry_percent) answer(Retry);
        if (t_addr[31:28] == 4'ha) answer(TargetAbort);
        retries += 32'(t_response == Retry);
      end
      target_state = 3;
      if (t_response == SplitResponse)
        pending.push_back('{addr: t_addr,
                          bytes: t_attr.byte_count == 0 ? 4096 : int'(t_attr.byte_count),
                          requester: t_attr, due: clock + latency});
    end
    3: begin
      t_stop = t_stop || t_response == DisconnectNextAdb;
      if (t_response inside {Transfer, DisconnectNextAdb, SingleDisconnect} && !bus.irdy_n) begin
        if (t_command == SplitCompletion) begin
          `CHECK(host_waits && t_tag == 5'(ops_done), "a completion the host does not wait for")
          check_completion(bus.ad);
          host_value = bus.ad;
          host_bad   = t_attr.message;
          host_waits = 0;
          ops_done++;
        end else memory[t_addr] = bus.ad;
        t_addr += 8;
        t_words++;
        if (t_response == DisconnectNextAdb) t_after++;
      end
      if (t_response inside {Transfer, DisconnectNextAdb} && !bus.frame_n) begin
        if (!t_stop && $urandom_range(999) < disconnect_percent && t_command != SplitCompletion)
          answer(DisconnectNextAdb);
      end else begin
        // A disconnected master stops at a boundary, at the next or (disconnect in its last word) the one after.
        if (t_stop && 8 * t_words != (t_attr.byte_count == 0 ? 4096 : int'(t_attr.byte_count)))
          `CHECK(t_addr[6:0] == 0 && t_after <= 17, "disconnected elsewhere")
        answer(Silent);
        target_state = 0;
      end
    end
    default: ;
  endcase
end

// Accesses.
task automatic issue(command_e command, logic [63:0] addr, logic [63:0] data, logic [7:0] cbe_n,
                     int bytes, int device, bit posted = 0);
  int unsigned mine;
  ops.push_back('{command: command, addr: addr, data: data, cbe_n: cbe_n, bytes: bytes,
                device: 5'(device)});
  ops_given++;
  mine = ops_given;
  if (!posted) while (ops_done < mine) @(posedge clk);
endtask
task automatic config_write(int card, logic [5:0] index, logic [31:0] data);
  issue(ConfigWrite, (64'd1 << (16 + card)) + (64'(index) << 2), {32'd0, data}, 8'hf0, 4, card + 1);
endtask
task automatic config_read(int card, logic [5:0] index, output logic [31:0] data);
  issue(ConfigRead, (64'd1 << (16 + card)) + (64'(index) << 2), 0, 8'hf0, 4, card + 1);
  data = host_value[31:0];
endtask
task automatic host_write(logic [63:0] addr, logic [63:0] data, logic [7:0] cbe_n, int bytes);
  issue(MemWrite, addr, data, cbe_n, bytes, 0);
endtask
task automatic host_post(logic [63:0] addr, logic [63:0] data, logic [7:0] cbe_n, int bytes);
  issue(MemWrite, addr, data, cbe_n, bytes, 0, 1);
endtask
task automatic host_read(logic [63:0] addr, int bytes, command_e command, output logic [63:0] data,
                         output logic bad);
  issue(command, addr, 0, 8'h00, bytes, int'(addr[18]) + 1);
  data = host_value;
  bad  = host_bad;
endtask
/* verilator lint_on UNUSEDSIGNAL */
/* verilator lint_on PROCASSINIT */
/* verilator lint_on BLKSEQ */
