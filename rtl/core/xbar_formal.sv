// SPDX-License-Identifier: Apache-2.0
// prove: mode=prove depth=16
`include "formal.svh"
/// xbar: a slave serves one master a clock, the one whose request it sees, and always one if it takes and has requests; a
/// master is passed at most Masters-1 times; each access that has an answer gets exactly one, its own: from its bank in the
/// next clock, from a slow slave when that answers, of an unmapped address at once as an error. Relies on: masters keep their
/// requests and have one answer open, slow slaves answer what they were asked.
module xbar_formal
  import core_pkg::*;
(
    input logic            clk_i,
    input logic            rst_i,
    input logic [2:0]      valid_i,
    input logic [2:0][1:0] place_i,            // scratchpad, device, frame memory, unmapped
    input logic [2:0][1:0] word_i,
    input logic [2:0][1:0] op_i,               // Load, Store, Add, Update
    input logic [2:0][1:0] wdata_i,
    input logic [1:0][3:0] bank_rdata_i,
    input logic            dev_ready_i,
    input logic            dev_rsp_valid_i,
    input logic [3:0]      dev_rdata_i,
    input logic            frame_ready_i,
    input logic            frame_rsp_valid_i,
    input logic [3:0]      frame_rdata_i,
    input logic [1:0]      watched_i           // the master looked at
);
  `FORMAL_BEGIN
  localparam int Masters = 3;
  localparam int Banks = 2;
  mem_req_t req[Masters];
  mem_rsp_t rsp[Masters];
  logic [Masters-1:0] ready, rsp_valid, store_error, waits;
  logic [Banks-1:0] bank_valid;
  mem_req_t bank_req[Banks];
  logic [31:0] bank_rdata[Banks];
  logic dev_valid, frame_valid;
  mem_req_t dev_req, frame_req;
  logic [1:0] dev_master;
  // Two that say where their requests go, one whose region is found.
  region_t [Masters-1:0] region;
  always_comb begin
    for (int m = 0; m < 2; m++)
    region[m] = valid_i[m] ? region_of(req[m].op, req[m].addr, 16, 4096, 32 * 1024 * 1024) : '0;
    region[2] = '0;
  end
  xbar #(
      .Masters(Masters),
      .Decoded(2),
      .Banks(Banks),
      .ScratchBytes(16)
  ) dut (
      .clk_i,
      .rst_i,
      .req_valid_i  (valid_i),
      .req_i        (req),
      .region_i     (region),
      .req_ready_o  (ready),
      .rsp_valid_o  (rsp_valid),
      .rsp_o        (rsp),
      .store_error_o(store_error),
      .wait_o       (waits),
      .bank_valid_o (bank_valid),
      .bank_req_o   (bank_req),
      .bank_rdata_i (bank_rdata),
      .dev_valid_o  (dev_valid),
      .dev_req_o    (dev_req),
      .dev_master_o (dev_master),
      .dev_ready_i,
      .dev_rsp_valid_i,
      .dev_rsp_i    ('{rdata: 32'(dev_rdata_i), error: dev_rdata_i[0]}),
      .frame_valid_o(frame_valid),
      .frame_req_o  (frame_req),
      .frame_ready_i,
      .frame_rsp_valid_i,
      .frame_rsp_i  ('{rdata: 32'(frame_rdata_i), error: frame_rdata_i[0]})
  );
  for (genvar b = 0; b < Banks; b++) begin : g_bank
    assign bank_rdata[b] = 32'(bank_rdata_i[b]);
  end

  // Requests; a slave's number is its bank, 2 (device), 3 (frame memory), 4 (unmapped).
  logic [2:0] slave[Masters];
  for (genvar m = 0; m < Masters; m++) begin : g_master
    wire mem_op_e op = op_i[m] == 0 ? Load : op_i[m] == 1 ? Store : op_i[m] == 2 ? Add : Update;
    wire [31:0] base = place_i[m] == 0 ? ScratchBase : place_i[m] == 1 ? DeviceBase : place_i[m] == 2 ? FrameBase : ScratchBase + 16;
    assign req[m] = '{
            op: op,
            addr: base + {28'b0, word_i[m], 2'b0},
            wdata: 32'(wdata_i[m]),
            be: {2'b0, wdata_i[m]}
        };
    assign slave[m] = place_i[m] == 0 ? {2'b0, word_i[m][0]} : (place_i[m] == 3 || op_i[m] > 1) ? 3'd4 : {1'b0, place_i[m]} + 3'd1;
    // The law of masters; `open_q`: an answer is to come.
    logic waiting_q = 1'b0, open_q = 1'b0;
    logic [7:0] last_q;
    wire  [7:0] now = {place_i[m], word_i[m], op_i[m], wdata_i[m]};
    always_ff @(posedge clk_i) begin
      waiting_q <= started_q && valid_i[m] && !ready[m];
      last_q <= now;
      open_q <= started_q && ((valid_i[m] && ready[m] && op_i[m] != 1) || (open_q && !rsp_valid[m]));
    end
    always_comb begin
      if (waiting_q) assume (valid_i[m] && now == last_q);
      if (open_q && !rsp_valid[m]) assume (!valid_i[m]);
      // An answer is one to something.
      if (started_q && rsp_valid[m]) assert (open_q);
    end
  end

  // The slow slaves.
  logic dev_open_q = 1'b0, frame_open_q = 1'b0;
  always_ff @(posedge clk_i) begin
    dev_open_q   <= started_q && ((dev_valid && dev_req.op != Store) || (dev_open_q && !dev_rsp_valid_i));
    frame_open_q <= started_q && ((frame_valid && frame_req.op != Store) || (frame_open_q && !frame_rsp_valid_i));
  end
  always_comb begin
    if (dev_rsp_valid_i) assume (started_q && dev_open_q);
    if (frame_rsp_valid_i) assume (started_q && frame_open_q);
    if (started_q) begin
      assert (dut.dev_open_q == dev_open_q && dut.frame_open_q == frame_open_q);
      if (dev_valid) assert (dev_ready_i && (!dev_open_q || dev_rsp_valid_i));
      if (frame_valid) assert (frame_ready_i && (!frame_open_q || frame_rsp_valid_i));
    end
  end

  // Masters served, slave by slave.
  logic [Masters-1:0] requests[4], served[4];
  logic [3:0] valid, takes;
  assign valid = {frame_valid, dev_valid, bank_valid};
  assign takes = {
    frame_ready_i && (!frame_open_q || frame_rsp_valid_i),
    dev_ready_i && (!dev_open_q || dev_rsp_valid_i),
    2'b11
  };
  always_comb begin
    for (int s = 0; s < 4; s++) begin
      for (int m = 0; m < Masters; m++) requests[s][m] = valid_i[m] && slave[m] == 3'(s);
      served[s] = requests[s] & ready;
      if (started_q) begin
        assert ((served[s] & (served[s] - 1'b1)) == '0);
        assert (valid[s] == (served[s] != '0));
        assert (valid[s] == (takes[s] && requests[s] != '0));
      end
    end
    for (int m = 0; m < Masters; m++) begin
      if (started_q) begin
        for (int b = 0; b < Banks; b++)
        if (served[b][m])
          assert (bank_req[b].op == req[m].op && bank_req[b].wdata == req[m].wdata && bank_req[b].be == req[m].be &&
                    bank_req[b].addr == {29'b0, word_i[m][1], 2'b0});
        if (served[2][m]) assert (dev_req == req[m] && dev_master == 2'(m));
        if (served[3][m]) assert (frame_req == req[m]);
        if (valid_i[m] && slave[m] == 3'd4)
          assert (ready[m] && !waits[m]);
          else assert (waits[m] == (valid_i[m] && !ready[m] && served[slave[m][1:0]] != '0));
        assert (!ready[m] || valid_i[m]);
      end
    end
  end

  // The master looked at: how often it was passed, and where its answer is to come from.
  logic [1:0] watched_q, passed_q;
  logic asked_q = 1'b0, missing_q = 1'b0;
  logic [2:0] from_q;
  wire goes = valid_i[watched_i] && ready[watched_i];
  always_ff @(posedge clk_i) begin
    watched_q <= watched_i;
    if (!started_q || !valid_i[watched_i] || goes) passed_q <= '0;
    else if (waits[watched_i]) passed_q <= passed_q + 1'b1;
    asked_q <= started_q && ((goes && op_i[watched_i] != 1) || (asked_q && !rsp_valid[watched_i]));
    if (goes) from_q <= slave[watched_i];
    missing_q <= started_q && goes && op_i[watched_i] == 1 && slave[watched_i] == 3'd4;
  end
  always_comb begin
    assume (watched_i < Masters);
    if (started_q) begin
      assume (watched_i == watched_q);
      if (passed_q == Masters - 1) assert (!waits[watched_i]);
      assert (passed_q < Masters);
      assert (store_error[watched_i] == missing_q);
      if (asked_q && from_q < 2) begin
        assert (rsp_valid[watched_i] && rsp[watched_i] == {bank_rdata[from_q[0]], 1'b0});
      end
      if (asked_q && from_q == 2) begin
        assert (dev_open_q && dut.dev_owner_q == watched_i && rsp_valid[watched_i] == dev_rsp_valid_i);
        if (dev_rsp_valid_i) assert (rsp[watched_i] == dut.dev_rsp_i);
      end
      if (asked_q && from_q == 3) begin
        assert (frame_open_q && dut.frame_owner_q == watched_i && rsp_valid[watched_i] == frame_rsp_valid_i);
        if (frame_rsp_valid_i) assert (rsp[watched_i] == dut.frame_rsp_i);
      end
      if (asked_q && from_q == 4) assert (rsp_valid[watched_i] && rsp[watched_i].error);
      if (!asked_q) assert (!rsp_valid[watched_i]);
      cover (passed_q == Masters - 1 && goes);
      cover (asked_q && from_q == 3 && frame_rsp_valid_i);
      cover (dev_valid && dev_rsp_valid_i);
      cover (missing_q);
    end
  end
endmodule
