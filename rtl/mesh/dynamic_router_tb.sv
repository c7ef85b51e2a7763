// SPDX-License-Identifier: Apache-2.0
`include "parts_tb.svh"
`include "tb.svh"
`include "stream.svh"
/// dynamic_router: a grid of 3 x 3 with a source and a sink at each core and each edge link. Every message arrives once, at its
/// place, in one piece and in order, under random traffic with back-pressure; one clock a tile; one word a clock on a link; three
/// messages for one output take turns, of one or more messages; words are counted; what is bound for a place outside the grid, or for a side
/// that another tile is beyond, leaves it.
module dynamic_router_tb;
  import mesh_pkg::*;
  `TB_BEGIN
  `TB_TIMEOUT(400_000)
  localparam int Cols = 3;
  localparam int Rows = 3;
  localparam int Tiles = Cols * Rows;
  localparam int N = RouterPorts;
  localparam int Ends = Tiles * N;  // numbered tile * N + port; only cores and edge links are real ones

  logic in_valid[Tiles][N], in_ready[Tiles][N], out_valid[Tiles][N], out_ready[Tiles][N];
  word_t in_data[Tiles][N], out_data[Tiles][N];
  word_t words[Tiles][N];
  logic [2:0] in_way[Tiles][N], out_way[Tiles][N];
  logic interrupt[Tiles];

  for (genvar t = 0; t < Tiles; t++) begin : g_tile
    `STREAM_ON(word_t, in[N], clk, rst)
    `STREAM_ON(word_t, out[N], clk, rst)
    logic [West:North][2:0] to_way, from_way;
    dynamic_router dut (
        .clk_i(clk),
        .rst_i(rst),
        .x_i(4'(t % Cols)),
        .y_i(4'(t / Cols)),
        .turns_i(turns),
        .in,
        .out,
        .way_i(to_way),
        .way_o(from_way),
        .room_o(),
        .interrupt_o(interrupt[t]),
        .words_o(words[t])
    );
    for (genvar p = 0; p < N; p++) begin : g_port
      assign in[p].valid = in_valid[t][p];
      assign in[p].data = in_data[t][p];
      assign in_ready[t][p] = in[p].ready;
      assign out_valid[t][p] = out[p].valid;
      assign out_data[t][p] = out[p].data;
      assign out[p].ready = out_ready[t][p];
      if (p != Core) begin : g_way
        assign to_way[p] = in_way[t][p];
        assign out_way[t][p] = from_way[p];
      end
    end
  end

  /// The tile beyond a port, or -1 outside the grid.
  function automatic int beyond(int t, int p);
    int x = t % Cols, y = t / Cols;
    if (p == North) return y > 0 ? t - Cols : -1;
    if (p == South) return y < Rows - 1 ? t + Cols : -1;
    if (p == West) return x > 0 ? t - 1 : -1;
    if (p == East) return x < Cols - 1 ? t + 1 : -1;
    return -1;
  endfunction
  function automatic int opposite(int p);
    return p == North ? South : p == South ? North : p == East ? West : East;
  endfunction
  /// Where a message for `d` comes out, also one for outside the grid or for a side that another tile is beyond.
  function automatic int arrives(place_t s, place_t d);
    if (int'(d.x) >= Cols) return (s.y * Cols + Cols - 1) * N + East;
    if (int'(d.y) >= Rows) return ((Rows - 1) * Cols + int'(d.x)) * N + South;
    case (d.exit)
      North:   return int'(d.x) * N + North;
      East:    return (d.y * Cols + Cols - 1) * N + East;
      South:   return ((Rows - 1) * Cols + int'(d.x)) * N + South;
      West:    return d.y * Cols * N + West;
      default: return (d.y * Cols + int'(d.x)) * N;
    endcase
  endfunction
  function automatic bit is_end(int e);
    return e % N == Core || beyond(e / N, e % N) < 0;
  endfunction
  function automatic place_t place(int e);
    return place_t'({3'(e % N), 4'(e / N / Cols), 4'(e / N % Cols)});
  endfunction

  // Sources and sinks.
  // The index has exactly the range of the array: Verilator 5.048 works on a copy of a queue that may not be there.
  typedef logic [5:0] end_t;
  word_t to_send [  64][$];
  word_t expected[4096][$];  // by source and place of arrival
  int left[Ends], from[Ends];  // of the message that arrives
  logic [N-1:0][3:0] turns = '0;  // of all routers
  int in_percent = 100, out_percent = 100;
  int sent = 0, arrived = 0, arrived_at[Ends], messages[Ends];
  int now = 0, last_time[Ends];

  for (genvar t = 0; t < Tiles; t++) begin : g_wire_tile
    for (genvar p = 0; p < N; p++) begin : g_wire
      localparam int To = beyond(t, p);
      if (is_end(t * N + p)) begin : g_end
        localparam end_t E = end_t'(t * N + p);
        `STREAM_ON(word_t, source, clk, rst)
        `STREAM_ON(word_t, sink, clk, rst)
        assign in_valid[t][p] = source.valid;
        assign in_data[t][p] = source.data;
        assign in_way[t][p] = way_at(source.data[10:0], 4'(t % Cols), 4'(t / Cols));
        assign source.ready = in_ready[t][p];
        assign sink.valid = out_valid[t][p];
        assign sink.data = out_data[t][p];
        assign out_ready[t][p] = sink.ready;
        `STREAM_SOURCE(word_t, i_source, source, in_percent)
        `STREAM_SINK(word_t, i_sink, sink, out_percent)
        always @(posedge clk) begin
          while (to_send[E].size() != 0) i_source.queue.push_back(to_send[E].pop_front());
          if (p == Core && !rst) tell(t, sink.valid && left[E] == 0, sink.data);
          if (sink.valid && sink.ready && !rst) arrive(E, sink.data);
        end
      end else begin : g_link
        assign in_valid[t][p]  = out_valid[To][opposite(p)];
        assign in_data[t][p]   = out_data[To][opposite(p)];
        assign in_way[t][p]    = out_way[To][opposite(p)];
        assign out_ready[t][p] = in_ready[To][opposite(p)];
      end
    end
  end

  always @(posedge clk) now++;

  int interrupts = 0;
  task automatic tell(int t, bit header, word_t word);
    `CHECK(interrupt[t] == (header && word[31:27] == mesh_pkg::Interrupt),
           "an interrupt's header at the core is told of, nothing else")
    if (interrupt[t]) interrupts++;
  endtask

  task automatic arrive(end_t e, word_t word);
    header_t header = header_t'(word);
    if (left[e] == 0) begin
      from[e] = (int'(header.src.y) * Cols + int'(header.src.x)) * N + int'(header.src.exit);
      left[e] = int'(header.len) + 1;
      messages[e]++;
    end
    `CHECK(expected[{end_t'(from[e]), e}].size() != 0, $sformatf("a word at %0d that is not due",
                                                                 e))
    `CHECK(word == expected[{end_t'(from[e]), e}][0], $sformatf("wrong word at %0d", e))
    void'(expected[{end_t'(from[e]), e}].pop_front());
    left[e]--;
    arrived++;
    arrived_at[e]++;
    last_time[e] = now;
  endtask

  task automatic send(int e, place_t dest, int len);
    int at;
    header_t header;
    at = arrives(place(e), dest);
    header = {5'($urandom()), place(e), 5'(len), dest};
    to_send[end_t'(e)].push_back(header);
    expected[{end_t'(e), end_t'(at)}].push_back(header);
    for (int i = 0; i < len; i++) begin
      word_t word;
      word = $urandom();
      to_send[end_t'(e)].push_back(word);
      expected[{end_t'(e), end_t'(at)}].push_back(word);
    end
    sent += len + 1;
  endtask

  function automatic int some_end();
    int e;
    do e = $urandom_range(Ends - 1); while (!is_end(e));
    return e;
  endfunction

  task automatic settle();
    int idle = 0;
    while (arrived != sent) begin
      int earlier;
      earlier = arrived;
      @(posedge clk);
      idle = arrived == earlier ? idle + 1 : 0;
      `CHECK(idle < 2000, "the network stands still")
    end
  endtask

  // Each of the core, the west and the east sends so many messages, of 2, 8 and 16 words, to the core in the middle: how many of each have
  // come when `most` have. All have at the end.
  task automatic three_into_one(int each, int most, output int came[3]);
    int earlier;
    for (int i = 0; i < each; i++) begin
      send(4 * N + Core, place(4 * N + Core), 1);
      send(3 * N + West, place(4 * N + Core), 7);
      send(5 * N + East, place(4 * N + Core), 15);
    end
    earlier = messages[4*N];
    while (messages[4*N] - earlier < most) @(posedge clk);
    came = '{
        each - expected[{end_t'(4*N+Core), end_t'(4*N)}].size() / 2,
        each - expected[{end_t'(3*N+West), end_t'(4*N)}].size() / 8,
        each - expected[{end_t'(5*N+East), end_t'(4*N)}].size() / 16
    };
    settle();
  endtask

  initial begin
    int start, came[3];
    place_t d;
    @(negedge rst);
    repeat (5) @(posedge clk);

    // From the west edge of the upper row to the east edge: three tiles, and one clock into the sink.
    send(0 * N + West, place(2 * N + East), 0);
    while (!in_valid[0][West]) @(posedge clk);
    start = now;
    settle();
    `CHECK(last_time[2*N+East] - start == 4, $sformatf(
           "%0d clocks through 3 tiles", last_time[2*N+East] - start))

    // One word a clock between two ends.
    for (int i = 0; i < 40; i++) send(West, place(8 * N + Core), 31);
    while (arrived_at[8*N] == 0) @(posedge clk);
    start = now;
    settle();
    `CHECK(now - start <= 40 * 32 + 2, $sformatf("%0d clocks for 1280 words", now - start))
    $display("1280 words over 5 tiles in %0d clocks", now - start);

    // Three rows of messages of different lengths into one core: turns by message.
    three_into_one(100, 150, came);
    foreach (came[i])
      `CHECK(came[i] inside {[48 : 52]}, $sformatf("%0d of 50 of input %0d", came[i], i))

    // The same with a turn of three messages for the west and of two for the east; one that has nothing to send holds nobody up.
    turns[West] = 4'd3;
    turns[East] = 4'd2;
    three_into_one(120, 180, came);
    `CHECK(came[0] inside {[28 : 32]}, $sformatf("%0d of 30 of the core", came[0]))
    `CHECK(came[1] inside {[87 : 93]}, $sformatf("%0d of 90 from the west", came[1]))
    `CHECK(came[2] inside {[57 : 63]}, $sformatf("%0d of 60 from the east", came[2]))
    turns = '0;

    // Places that are not there, sides that are none, and sides that another tile is beyond: one at a time, for such a
    // message may turn to x after y.
    for (int i = 0; i < 50; i++) begin
      d = '{exit: 3'($urandom()), y: 4'($urandom_range(5)), x: 4'($urandom_range(5))};
      send(some_end(), d, $urandom_range(3));
      settle();
    end

    // Everybody to everybody.
    for (int round = 0; round < 30; round++) begin
      int most;
      for (int i = 0; i < N; i++) turns[i] = round % 3 == 2 ? 4'($urandom()) : 4'd0;
      most = round % 3 == 0 ? 0 : round % 3 == 1 ? 4 : 31;
      in_percent = round % 5 == 0 ? 100 : $urandom_range(100, 20);
      out_percent = round % 4 == 0 ? 100 : $urandom_range(100, 20);
      for (int i = 0; i < 300; i++) send(some_end(), place(some_end()), $urandom_range(most));
      if (round % 2 == 0) settle();
    end
    settle();
    for (int i = 0; i < 4096; i++) `CHECK(expected[12'(i)].size() == 0, "words were lost")
    for (int e = 0; e < Ends; e++)
    if (is_end(e)) `CHECK(int'(words[e/N][e%N]) == arrived_at[e], "wrong number of words counted")
    `CHECK(interrupts != 0, "no interrupt came")
    `TB_PASS
  end
endmodule
