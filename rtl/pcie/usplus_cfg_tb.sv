// SPDX-License-Identifier: Apache-2.0
`include "tb.svh"
/// usplus_cfg with one function and with several: what the pins say is there a clock later, each function's at its own place
/// and nothing at the others'; Device Control and Link Control follow what the management interface reads, however long that takes.
module usplus_cfg_tb;
  import pcie_pkg::*;
  `TB_BEGIN
  `TB_TIMEOUT(200_000)
  logic [2:0] done;
  int unsigned made[3];
  usplus_cfg_side_tb #(
      .Functions(1)
  ) i_one (
      .clk,
      .done_o  (done[0]),
      .checks_o(made[0])
  );
  usplus_cfg_side_tb #(
      .Functions(5)
  ) i_some (
      .clk,
      .done_o  (done[1]),
      .checks_o(made[1])
  );
  usplus_cfg_side_tb #(
      .Functions(MostFunctions)
  ) i_all (
      .clk,
      .done_o  (done[2]),
      .checks_o(made[2])
  );
  `TB_PASS_WITH(done, made)
endmodule

/// One of them.
module usplus_cfg_side_tb
  import pcie_pkg::*;
#(
    parameter int Functions = 1
) (
    input logic clk,
    output logic done_o,
    output int unsigned checks_o
);
  localparam int Pause = 16;
  localparam logic [9:0] DeviceControl = 10'h1e, LinkControl = 10'h20;
  int unsigned checks = 0;
  assign checks_o = checks;

  logic rst = 1;
  logic [15:0] status = 0;
  logic [7:0] bus = 0;
  logic [1:0] max_payload = 0;
  logic [2:0] max_read_request = 0;
  logic msix_enable = 0, msix_mask = 0;
  logic [125:0] vf_status = 0;
  logic [62:0] vf_flr = 0, vf_msix_enable = 0, vf_msix_mask = 0;
  logic [9:0] mgmt_addr;
  logic mgmt_read, mgmt_done = 0, rcb_128;
  logic [31:0] mgmt_data = 0;
  pcie_cfg_t cfg;
  usplus_cfg #(
      .Pause(Pause),
      .Functions(Functions)
  ) dut (
      .clk_i(clk),
      .rst_i(rst),
      .function_status_i(status),
      .bus_number_i(bus),
      .max_payload_i(max_payload),
      .max_read_req_i(max_read_request),
      .msix_enable_i(msix_enable),
      .msix_mask_i(msix_mask),
      .vf_status_i(vf_status),
      .vf_flr_i(vf_flr),
      .vf_msix_enable_i(vf_msix_enable),
      .vf_msix_mask_i(vf_msix_mask),
      .mgmt_addr_o(mgmt_addr),
      .mgmt_read_o(mgmt_read),
      .mgmt_done_i(mgmt_done),
      .mgmt_data_i(mgmt_data),
      .cfg_o(cfg),
      .rcb_128_o(rcb_128)
  );

  // What is to be seen: of the pins' values in the clock before, and of what has been read.
  pcie_cfg_t want;
  logic want_rcb, link, reading;  // Link Control is read next; a read has begun
  int unsigned waited, answers = 0;  // clocks without a read

  task automatic expect_pins();
    want.requester_id = {bus, 8'd0};
    want.max_payload = 3'(max_payload);
    want.max_read_request = max_read_request;
    want.bus_master = status[2];
    want.wide_tag = 0;
    want.msix_enable = msix_enable;
    want.msix_mask = msix_mask;
    want.functions = '0;
    if (Functions > 1) begin
      want.functions.master[0] = status[2];
      want.functions.msix_enable[0] = msix_enable;
      want.functions.msix_mask[0] = msix_mask;
    end
    for (int f = 1; f < Functions; f++) begin
      want.functions.master[f] = vf_status[2*(f-1)+1] && !vf_flr[f-1];
      want.functions.msix_enable[f] = vf_msix_enable[f-1];
      want.functions.msix_mask[f] = vf_msix_mask[f-1];
      want.functions.in_reset[f] = vf_flr[f-1];
    end
  endtask
  task automatic expect_registers();
    if (rst) begin
      {want.extended_tag, want.relaxed_ordering, want_rcb, link, reading} = '0;
      waited = 0;
    end else if (!mgmt_read) begin
      `CHECK(!reading, "a read was given up")
      waited++;
      `CHECK(waited <= Pause, "nothing is read")
    end else begin
      if (!reading) `CHECK(waited == Pause, "not so many clocks apart")
      `CHECK(mgmt_addr == (link ? LinkControl : DeviceControl), "address")
      reading = 1;
      if (mgmt_done) begin
        if (link) want_rcb = mgmt_data[3];
        else {want.extended_tag, want.relaxed_ordering} = {mgmt_data[8], mgmt_data[4]};
        answers++;
        link = !link;
        reading = 0;
        waited = 0;
      end
    end
  endtask

  int unsigned clocks = 0;
  initial begin
    done_o = 0;
    while (clocks < 20_000) @(posedge clk);
    `CHECK(answers > 500, "too few answers")
    done_o = 1;
  end
  always @(posedge clk) begin
    if (clocks > 3) begin
      `CHECK(cfg == want, $sformatf("settings of %0d functions: %h, not %h", Functions, cfg, want))
      `CHECK(rcb_128 == want_rcb, "Read Completion Boundary")
    end
    expect_pins();
    expect_registers();
    clocks++;
    status <= 16'($urandom());
    bus <= 8'($urandom());
    max_payload <= 2'($urandom());
    max_read_request <= 3'($urandom());
    msix_enable <= 1'($urandom());
    msix_mask <= 1'($urandom());
    vf_status <= 126'({$urandom(), $urandom(), $urandom(), $urandom()});
    vf_flr <= 63'({$urandom(), $urandom()});
    vf_msix_enable <= 63'({$urandom(), $urandom()});
    vf_msix_mask <= 63'({$urandom(), $urandom()});
    mgmt_done <= $urandom_range(9) == 0;  // also while nothing is read
    mgmt_data <= $urandom();
    rst <= clocks < 3 || clocks % 1000 > 997;
  end
endmodule
