// SPDX-License-Identifier: Apache-2.0
`include "parts_tb.svh"
`include "tb.svh"
`include "stream.svh"
/// read_gearbox between a client and a bus: requests go on unchanged and in order when there is room for their rows, and not before; words are those of the
/// rows that came, each once, two clocks after the first row of a burst at the earliest, then one a clock.
module read_gearbox_tb
  import dram_pkg::*;
;
  `TB_BEGIN
  `TB_TIMEOUT(400_000)
  localparam int Rows = 40;
  localparam int Bursts = 32;

  `STREAM_ON(bus_req_t, req, clk, rst)
  `STREAM_ON(logic [127:0], rdata, clk, rst)
  `STREAM_ON(bus_req_t, row_req, clk, rst)
  `STREAM_ON(row_t, row_rdata, clk, rst)
  read_gearbox #(
      .Rows(Rows)
  ) dut (
      .clk_i(clk),
      .rst_i(rst),
      .req,
      .rdata,
      .row_req,
      .row_rdata
  );
  assign rdata.ready = 1'b1;

  int unsigned req_percent = 100, bus_percent = 100, row_percent = 100, latency = 10;
  `STREAM_SOURCE(bus_req_t, i_req, req, req_percent)
  `STREAM_CHECK(bus_req_t, i_bus, row_req, bus_percent)

  // The bus: rows of the bursts it has taken, in order. Nothing holds them up.
  typedef struct {
    row_t row;
    int unsigned due, lanes;
  } row_here_t;
  row_here_t to_come[$];
  // The client. A word is there two clocks after its row came, or in the clock after the word before.
  typedef struct {
    logic [127:0] data;
    int unsigned from;
    bit last;  // of its row
  } word_t;
  word_t expected[$];
  int unsigned
      now = 0, sent = 0, offered = 0, words = 0, rows_free = Rows, open = 0, waited = 0, sizes[$];
  row_here_t row, going;
  logic row_going = 0;
  always @(posedge clk) begin
    now++;
    row_rdata.valid <= 0;
    if (!rst) begin
      // What goes to the bus has room, in rows and bursts, and what has room goes.
      if (req.valid) begin
        automatic int unsigned needs = (32'(req.data.beats) + 3) / 4;
        automatic bit room = needs <= rows_free && open < Bursts;
        `CHECK(row_req.valid == room,
               "a burst goes to the bus without room, or not although there is room")
        `CHECK(req.ready == (row_req.ready && room), "a request is taken otherwise than by the bus")
        waited += 32'(!room);
      end else `CHECK(!row_req.valid, "a request of nobody's")
      // Words of what came.
      if (rdata.valid) begin
        `CHECK(expected.size() != 0, "a word too many")
        `CHECK(rdata.data == expected[0].data, "a wrong word")
        `CHECK(now >= expected[0].from, "a word too early")
        rows_free += 32'(expected[0].last);
        void'(expected.pop_front());
        words++;
        sizes[0]--;
        if (sizes[0] == 0) begin
          void'(sizes.pop_front());
          open--;
        end
      end else if (expected.size() != 0) `CHECK(now < expected[0].from, "a word is late")
      if (row_req.valid && row_req.ready) begin
        automatic int unsigned beats = 32'(row_req.data.beats), due = now + $urandom_range(latency);
        open++;
        sizes.push_back(beats);
        sent++;
        for (int unsigned i = 0; i < beats; i += 4) begin
          for (int j = 0; j < 16; j++) row.row[32*j+:32] = $urandom();
          row.due   = due;
          row.lanes = beats - i < 4 ? beats - i : 4;
          to_come.push_back(row);
          rows_free--;
        end
      end
      row_rdata.data <= {16{$urandom()}};
      if (to_come.size() != 0 && to_come[0].due < now && $urandom_range(99) < row_percent) begin
        going = to_come.pop_front();
        row_rdata.valid <= 1;
        row_rdata.data  <= going.row;
        for (int unsigned i = 0; i < going.lanes; i++)
        expected.push_back('{data: going.row[128*i+:128],
                           from : now + 3,  // on the wires in the next clock
                           last: i == going.lanes - 1});
      end
    end
  end

  task automatic burst(int unsigned beats);
    bus_req_t asked;
    asked = '{write: 0, addr: $bits(asked.addr)'($urandom()), beats: 8'(beats)};
    i_bus.expected.push_back(asked);
    i_req.queue.push_back(asked);
    offered++;
  endtask
  task automatic drain();
    {req_percent, bus_percent, row_percent} = {3{32'd100}};
    while (sent != offered || sizes.size() != 0) @(posedge clk);
    repeat (20) @(posedge clk);
    `CHECK(
        to_come.size() == 0 && expected.size() == 0 && i_bus.expected.size() == 0 && i_bus.taken == offered,
        "a burst was lost")
    `CHECK(rows_free == Rows && open == 0 && !row_req.valid, "something is left")
  endtask
  function automatic int unsigned pace();
    return $urandom_range(1) == 0 ? 100 : $urandom_range(99, 5);
  endfunction

  initial begin
    int unsigned from, begun, kind;
    @(negedge rst);
    @(negedge clk);

    // As many bursts as may be ahead of their rows; as many rows as there are, to the last one.
    row_percent = 0;
    repeat (Bursts + 4) burst($urandom_range(4, 1));
    repeat (100) @(posedge clk);
    `CHECK(sent == Bursts && words == 0, "not as many bursts are ahead as may be")
    drain();
    for (int unsigned rest = 1; rest <= 8; rest++) begin
      row_percent = 0;
      from = sent;
      burst(128);
      burst(4 * (Rows - 32) - $urandom_range(3));
      burst(rest);
      repeat (40) @(posedge clk);
      `CHECK(sent == from + 2, "not as many rows are ahead as there is room for")
      drain();
    end

    // Any bursts.
    for (int round = 0; round < 60; round++) begin
      kind = $urandom_range(2);
      latency = $urandom_range(1) * $urandom_range(100);
      {req_percent, bus_percent, row_percent} = {pace(), pace(), pace()};
      repeat (40)
      burst(kind == 0 ? 1 : kind == 1 ? $urandom_range(9, 1) : $urandom_range(5
            ) == 0 ? 128 : $urandom_range(128, 1));
      repeat (600) @(posedge clk);
      drain();
    end
    `CHECK(waited > 1000, "no request ever waited for room")

    // Nobody pauses: a word a clock.
    latency = 0;
    begun = words;
    from = now;
    repeat (100) burst(40);
    while (words != begun + 4000) @(posedge clk);
    $display("4000 words in %0d clocks; requests waited for room for %0d", now - from, waited);
    `CHECK(now - from < 4000 + 20, "less than a word a clock")
    drain();
    `TB_PASS
  end
endmodule
