// SPDX-License-Identifier: Apache-2.0
`include "parts_tb.svh"
`include "tb.svh"
`include "stream.svh"
/// dcache: random loads, stores of bytes and drops over three memories, on a memory that takes its time, against a flat
/// reference; every line asked for, written back and refused goes to the right memory in the right form; a dropped line is
/// in memory; hits come in the next clock, one a clock; what a miss costs; errors.
module dcache_tb
  import core_pkg::*;
  import mesh_pkg::word_t, mesh_pkg::header_t, mesh_pkg::place_t;
;
  `TB_BEGIN
  `TB_TIMEOUT(2_000_000)
  localparam int Regions = 3;
  localparam int Lines = 96;  // of each memory that are used: 2 kB hold 64
  logic map_we = 0, req_valid = 0, req_ready, rsp_valid, store_error, drop = 0;
  logic [3:0] map_addr = 0;
  word_t map_data = 0, next_addr = 0, accesses, misses, writes;
  mem_req_t req;
  mem_rsp_t rsp;
  `STREAM_ON(word_t, out, clk, rst)
  `STREAM_ON(word_t, in, clk, rst)
  dcache #(
      .Bytes(2048)
  ) dut (
      .clk_i        (clk),
      .rst_i        (rst),
      .x_i          (4'd2),
      .y_i          (4'd1),
      .map_we_i     (map_we),
      .map_addr_i   (map_addr),
      .map_data_i   (map_data),
      .next_addr_i  (next_addr),
      .req_valid_i  (req_valid),
      .req_i        (req),
      .drop_i       (drop),
      .req_ready_o  (req_ready),
      .rsp_valid_o  (rsp_valid),
      .rsp_o        (rsp),
      .store_error_o(store_error),
      .busy_o       (),
      .out,
      .in,
      .accesses_o   (accesses),
      .misses_o     (misses),
      .writes_o     (writes)
  );

  // ---- Memories: region 4 + r is at place (r, 3), south
  word_t dram[Regions][Lines*8], flat[Regions][Lines*8], message[$];
  int unsigned ready_percent = 100, valid_percent = 100, delay = 10, asked = 0, written = 0;
  bit refuse = 0;
  function automatic place_t place(int r);
    return '{exit: mesh_pkg::South, y: 4'd3, x: 4'(r)};
  endfunction
  `STREAM_SINK(word_t, i_out, out, ready_percent)
  `STREAM_SOURCE(word_t, i_in, in, valid_percent)
  always @(posedge clk) begin
    if (out.valid && out.ready && !rst) message.push_back(out.data);
    if (message.size() != 0) begin
      automatic header_t h = message[0];
      if (message.size() == int'(h.len) + 1) begin
        automatic int at = int'(message[1][27:0]) / 4, r = int'(h.dest.x);
        `CHECK(r < Regions && h.dest == place(r) && message[1][4:0] == 0 && at < Lines * 8,
                   "message")
        if (h.user == mesh_pkg::ReadLine) begin
          automatic
          header_t
          a = '{
              user: refuse ? mesh_pkg::ReadError : mesh_pkg::ReadData,
              src: h.dest,
              len: refuse ? 5'd0 : 5'd8,
              dest: h.src
          };
          `CHECK(h.len == 1 && h.src == '{exit: mesh_pkg::Core, y: 4'd1, x: 4'd2}, "ReadLine")
          `CHECK(i_in.queue.size() == 0, "two at a time")
          i_in.send_in(a, delay);
          if (!refuse) for (int i = 0; i < 8; i++) i_in.send_in(dram[r][at+i], delay);
          asked++;
        end else begin
          `CHECK(h.user == mesh_pkg::WriteLine && h.len == 9, "WriteLine")
          for (int i = 0; i < 8; i++) begin
            `CHECK(message[2+i] == flat[r][at+i], "what is written back")
            dram[r][at+i] = message[2+i];
          end
          written++;
        end
        message.delete();
      end
    end
    if (in.valid) `CHECK(in.ready, "not taken")
  end

  // ---- Accesses
  int unsigned clocks = 0, since = 0;
  always @(posedge clk) clocks <= clocks + 1;
  /// One access to its end; the clocks from being taken to the answer (0: none). Its address is said a clock before, if it was not
  /// yet (a drop's is not); `next` is said in its clock.
  task automatic access (input mem_op_e op, input word_t addr, input word_t wdata = 0,
                         input logic [3:0] be = '1, input logic is_drop = 0, input logic error = 0,
                         input word_t next = 0);
    automatic int r = int'(addr[31:28]) - 4, at = int'(addr[27:2]);
    if (!is_drop && next_addr != addr) begin
      next_addr = addr;
      @(negedge clk);
    end
    // Between the edges: what is ready then is taken at the next one.
    req_valid = 1;
    req = '{op: op, addr: is_drop ? $urandom() : addr, wdata: is_drop ? addr : wdata, be: be};
    drop = is_drop;
    #1;
    while (!req_ready) begin
      @(negedge clk);
      #1;
    end
    next_addr = next;
    @(negedge clk);
    req_valid = 0;
    if (op == Store) begin
      if (!error && !is_drop)
        for (int i = 0; i < 4; i++) if (be[i]) flat[r][at][8*i+:8] = wdata[8*i+:8];
    end else begin
      since = 1;
      while (!rsp_valid) begin
        @(negedge clk);
        since++;
      end
      `CHECK(rsp.error == error, $sformatf("error %0d of %h", rsp.error, addr))
      if (!error)
        `CHECK(rsp.rdata == flat[r][at], $sformatf("%h is %h, not %h", addr, rsp.rdata, flat[r][at]
               ))
    end
  endtask
  int unsigned store_errors = 0;
  bit owed = 0;  // an answer
  always @(posedge clk)
    if (!rst) begin
      store_errors += 32'(store_error);
      `CHECK(owed || !rsp_valid, "an answer that nobody waits for")
      if (rsp_valid) owed = 0;
      if (req_valid && req_ready && req.op != Store) owed = 1;
    end
  function automatic word_t any_addr();
    return (4 + $urandom_range(Regions - 1)) << 28 | 4 * $urandom_range(Lines * 8 - 1);
  endfunction
  task automatic idle();
    while (!req_ready) @(negedge clk);
    repeat (30) @(negedge clk);
  endtask

  initial begin
    automatic int unsigned start, hits_before;
    automatic word_t a, said, upcoming = any_addr();
    foreach (dram[r, i]) begin
      dram[r][i] = $urandom();
      flat[r][i] = dram[r][i];
    end
    @(negedge rst);
    for (int r = 0; r < Regions; r++) begin
      map_we   <= 1;
      map_addr <= 4'(4 + r);
      map_data <= {1'b1, 20'd0, place(r)};
      @(posedge clk);
    end
    map_we <= 0;
    repeat (40) @(negedge clk);

    // A miss: two words out, the delay, header and words up to the one of the load; then hits.
    access (Load, 32'h4000_0020);
    `CHECK(asked == 1 && misses == 1, "a miss")
    $display("a miss with %0d clocks of memory and links: %0d clocks", delay, since);
    `CHECK(since <= delay + 6, "a miss takes long")
    access (Load, 32'h4000_003c);
    idle();
    start = clocks;
    for (int i = 0; i < 8; i++) begin
      access (Load, 32'h4000_0020 + 4 * i, .next(32'h4000_0024 + 4 * i));
      `CHECK(since == 1, "a hit takes more than a clock")
    end
    `CHECK(asked == 1 && accesses == 10, "hits are not misses")
    // Loads and stores one a clock, to sets in turn.
    access (Load, 32'h4000_0040);
    idle();
    start = clocks;
    for (int i = 0; i < 64; i++)
    access (Store, 32'h4000_0020 + ((i & 1) << 5) + 4 * (i / 8), i,
            .next(32'h4000_0020 + ((~i & 1) << 5) + 4 * ((i + 1) / 8)));
    `CHECK(clocks - start <= 66, $sformatf("64 stores in %0d clocks", clocks - start))

    // The line replaced is the one not used last: of three in a set of two, the first stays when it was used again.
    for (int i = 0; i < 4; i++) begin
      automatic word_t lines[4] = '{32'h4000_0080, 32'h4000_0480, 32'h4000_0080, 32'h5000_0080};
      access (Load, lines[i]);
    end
    idle();
    start = asked;
    access (Load, 32'h4000_0080);
    access (Load, 32'h5000_0080);
    idle();
    `CHECK(asked == start, "the line used last was replaced")
    access (Load, 32'h4000_0480);
    idle();
    `CHECK(asked == start + 1, "three lines in two ways")

    for (int pass = 0; pass < 8; pass++) begin
      ready_percent = $urandom_range(100, 10);
      valid_percent = $urandom_range(100, 10);
      delay = $urandom_range(30, 1);
      for (int i = 0; i < 1500; i++) begin
        a = upcoming;
        upcoming = any_addr();
        if ($urandom_range(1) == 0) upcoming[27:10] = '0;  // more hits
        said = $urandom_range(3) == 0 ? any_addr() : upcoming;
        case ($urandom_range(
            9
        ))
          0, 1, 2, 3, 4: access (Load, a, .next(said));
          5, 6, 7, 8: access (Store, a, $urandom(), 4'($urandom_range(15)), .next(said));
          default: begin
            access (Store, a, 0, '1, 1, .next(said));
            if ($urandom_range(1) == 0) begin
              idle();
              while (message.size() != 0) @(negedge clk);
              for (int k = 0; k < 8; k++) begin
                automatic int r = int'(a[31:28]) - 4, at = int'(a[27:5]) * 8 + k;
                `CHECK(dram[r][at] == flat[r][at], "a dropped line is not in memory")
                // Another master writes it: the next load sees that.
                dram[r][at] = $urandom();
                flat[r][at] = dram[r][at];
              end
            end
          end
        endcase
        if ($urandom_range(3) == 0) repeat ($urandom_range(3)) @(negedge clk);
      end
    end
    idle();
    `CHECK(asked == misses && written == writes && written > 500, "counters")
    hits_before = accesses - misses;
    `CHECK(hits_before > 1500, "few hits")

    // Errors: no memory there, an atomic, a memory that refuses; the core gets an error, and nothing is kept.
    `CHECK(store_errors == 0, "stores were refused")
    access (Load, 32'h9000_0000, .error(1));
    access (Add, 32'h4000_0000, .error(1));
    access (Store, 32'h9000_0000, .error(1));
    idle();
    `CHECK(store_errors == 1, "a store to nowhere")
    access (Store, 32'h9000_0000, 0, '1, 1, 1);
    idle();
    `CHECK(store_errors == 2, "a drop of nothing that is known")
    access (Store, 32'h4000_0b00, 0, '1, 1);
    idle();
    refuse = 1;
    access (Load, 32'h4000_0b00, .error(1));
    access (Store, 32'h4000_0b00, .error(1));
    idle();
    `CHECK(store_errors == 3, "a store that memory refused")
    refuse = 0;
    access (Load, 32'h4000_0b00);
    $display("%0d accesses, %0d misses, %0d lines written", accesses, misses, writes);
    `TB_PASS
  end
endmodule
