// SPDX-License-Identifier: Apache-2.0
`include "tb.svh"
`include "pins_logic_tb.svh"
`include "stream.svh"
/// pcie_pins for each interface there is: pins of the others are zero whatever is on them; of Emery's own what goes through in
/// both directions and the block's state, for both widths of beats; of P-tile's all that ptile_pcie makes of the same pins. Requests come
/// from an UltraScale+ block alone (usplus_pcie_tb).
module pcie_pins_tb;
  import pins_pkg::*;
  `TB_BEGIN
  `TB_TIMEOUT(20_000)
  localparam int Sides = 5;
  localparam int Interfaces[Sides] = '{
      PinsIdeal,
      PinsIdeal,
      PinsUsPlus,
      PinsUsPlusPlain,
      PinsPTile
  };
  logic [Sides-1:0] done;
  int unsigned made[Sides];
  for (genvar s = 0; s < Sides; s++) begin : g_side
    pcie_pins_side_tb #(
        .Interface(Interfaces[s]),
        .BeatBytes(s == 0 || s == 2 ? pcie_pkg::TlpBeatBytes : pcie_pkg::WideTlpBytes)
    ) i_side (
        .clk,
        .rst,
        .done_o  (done[s]),
        .checks_o(made[s])
    );
  end
  `TB_PASS_WITH(done, made)
endmodule

/// One of them.
module pcie_pins_side_tb
  import pcie_pkg::*;
  import usplus_pkg::*;
  import ptile_pkg::*;
  import pins_pkg::*;
#(
    parameter int Interface = PinsIdeal,
    parameter int BeatBytes = TlpBeatBytes
) (
    input logic clk,
    input logic rst,
    output logic done_o,
    output int unsigned checks_o
);
  typedef struct packed {
    logic sop;
    logic eop;
    logic [127:0] hdr;
    logic [8*BeatBytes-1:0] data;
  } beat_t;
  localparam int DataBits = 8 * WideTlpBytes;
  localparam int Clocks = 2000;
  int unsigned checks = 0;
  assign checks_o = checks;

  block_state_t state, want_state = '0;
  logic reset_done = 0, tx_ready = 0, read_ready = 0;
  pcie_in_t ideal;
  usplus_in_t usplus = '{default: '0};
  ptile_in_t ptile = '{default: '0};
  pcie_pins_out_t out;
  `STREAM_ON(beat_t, given, clk, rst)
  `STREAM_ON(beat_t, rx, clk, rst)
  `STREAM_ON(tlp_beat_t, req, clk, rst)
  `STREAM_ON(beat_t, tx, clk, rst)
  `STREAM_ON(mem4_hdr_t, read, clk, rst)
  pcie_pins #(
      .Sent(beat_t),
      .Received(beat_t),
      .Interface(Interface)
  ) dut (
      .clk_i(clk),
      .rst_i(rst),
      .pins_i('{ideal: ideal, usplus: usplus, ptile: ptile}),
      .pins_o(out),
      .state_o(state),
      .function_reset_done_i(reset_done),
      .virtual_done_i('0),
      .rx,
      .req,
      .tx,
      .read
  );
  assign req.ready = 1'b1;

  // ---- what the logic sends
  pins_logic #(
      .Beat(beat_t)
  ) i_logic (
      .clk,
      .rst,
      .write_percent(32'd70),
      .read_percent (32'd70),
      .tx,
      .read
  );
  always @(posedge clk)
    if (i_logic.queued() < 8) begin
      automatic mem4_hdr_t h = random_value#(mem4_hdr_t)::bits();
      automatic logic [31:0] words[$];
      h.dw0.fmt_type = MWr4;
      h.dw0.length   = 10'($urandom_range(80, 1));
      repeat (32'(h.dw0.length)) words.push_back($urandom());
      i_logic.queue_beats(h, words);
      h.dw0.fmt_type = MRd4;
      {h.dw0.tag9, h.dw0.tag8} = 2'b01;
      i_logic.queue_read(h);
    end

  // ---- the pins: whatever comes, on those in use what a block may drive
  `STREAM_SINK(beat_t, i_rx, rx, Interface == PinsIdeal ? 32'd60 : 32'd100)
  stream_source #(
      .T(beat_t),
      .Endless(1)
  ) i_given (
      .on(given),
      .percent(32'd60)
  );
  always_comb begin
    ideal.rx_valid = given.valid;
    ideal.rx_sop = given.data.sop;
    ideal.rx_eop = given.data.eop;
    ideal.rx_hdr = given.data.hdr;
    ideal.rx_data = DataBits'(given.data.data);
    ideal.tx_ready = tx_ready;
    ideal.read_ready = read_ready;
    ideal.link_up = want_state.link_up;
    ideal.function_reset = want_state.function_reset;
    ideal.requester_id = want_state.cfg.requester_id;
    ideal.max_payload = want_state.cfg.max_payload;
    ideal.max_read_request = want_state.cfg.max_read_request;
    ideal.bus_master = want_state.cfg.bus_master;
    ideal.extended_tag = want_state.cfg.extended_tag;
    ideal.wide_tag = want_state.cfg.wide_tag;
    ideal.relaxed_ordering = want_state.cfg.relaxed_ordering;
    ideal.msix_enable = want_state.cfg.msix_enable;
    ideal.msix_mask = want_state.cfg.msix_mask;
    ideal.ph = want_state.fc.ph;
    ideal.pd = want_state.fc.pd;
    ideal.p_inf = want_state.fc.p_inf;
    ideal.nph = want_state.fc.nph;
    ideal.np_inf = want_state.fc.np_inf;
    ideal.cplh = want_state.fc.cplh;
    ideal.cpld = want_state.fc.cpld;
    ideal.cpl_inf = want_state.fc.cpl_inf;
  end
  assign given.ready = Interface == PinsIdeal ? out.ideal.rx_ready : 1'b1;
  always @(posedge clk) begin
    reset_done <= 1'($urandom());
    tx_ready <= 1'($urandom());
    read_ready <= 1'($urandom());
    want_state <= random_value#(block_state_t)::bits();
    want_state.cfg.functions <= '0;
    usplus.rq_tready <= 1'($urandom());
    usplus.cc_tready <= 1'($urandom());
    usplus.lnk_up <= 1'($urandom());
    usplus.tfc_nph_av <= '1;
    ptile.dl_up <= 1'($urandom());
    ptile.tx_st_ready <= 1'($urandom());
    ptile.rx_st_data <= random_value#(logic [PTileSegs*PTileSegBits-1:0])::bits();
    ptile.rx_st_hdr <= random_value#(logic [PTileSegs*128-1:0])::bits();
    ptile.rx_st_valid <= rst ? '0 : 2'($urandom()) & 2'($urandom());
    ptile.rx_st_sop <= '1;
    ptile.rx_st_eop <= '1;
    ptile.tx_cdts_limit <= 16'($urandom());
    ptile.tx_cdts_limit_tdm_idx <= 3'($urandom());
    ptile.tl_cfg_add <= 5'($urandom());
    ptile.tl_cfg_func <= 3'($urandom_range(1));
    ptile.tl_cfg_ctl <= 16'($urandom());
    ptile.wide_tag_en <= 1'($urandom());
    ptile.flr_rcvd_pf <= $urandom_range(19) == 0 ? 8'($urandom()) : '0;
  end

  // ---- what is to be
  function automatic logic ideal_idle(pcie_out_t o);
    return {o.rx_ready, o.tx_valid, o.tx_hdr, o.tx_data, o.tx_sop, o.tx_eop} == '0 &&
        {o.read_valid, o.read_hdr, o.function_reset_done} == '0;
  endfunction
  function automatic logic usplus_idle(usplus_out_t o);
    return {o.rq_tdata, o.rq_tkeep, o.rq_tuser, o.rq_tlast, o.rq_tvalid} == '0 &&
        {o.cc_tdata, o.cc_tkeep, o.cc_tuser, o.cc_tlast, o.cc_tvalid, o.rc_tready} == '0 &&
        {o.cq_tready, o.cq_np_req, o.cfg_mgmt_addr, o.cfg_mgmt_read, o.cfg_flr_done} == '0 &&
        {o.cfg_vf_flr_done, o.cfg_vf_flr_func_num} == '0;
  endfunction
  function automatic logic ptile_idle(ptile_out_t o);
    return {o.rx_st_ready, o.tx_st_data, o.tx_st_hdr, o.tx_st_sop, o.tx_st_eop} == '0 &&
        {o.tx_st_valid, o.flr_completed_pf} == '0;
  endfunction
  int unsigned received = 0, written = 0, asked = 0;
  always @(posedge clk)
    if (!rst) begin
      received += 32'(rx.valid && rx.ready);
      written += 32'(tx.valid && tx.ready);
      asked += 32'(read.valid && read.ready);
      `CHECK(Interface == PinsIdeal || ideal_idle(out.ideal), "Emery's own pins are driven")
      `CHECK(Interface inside {PinsUsPlus, PinsUsPlusPlain} || usplus_idle(out.usplus),
                 "pins of UltraScale+ are driven")
      `CHECK(Interface == PinsPTile || ptile_idle(out.ptile), "pins of P-tile are driven")
      `CHECK(!req.valid, "a request that did not come")
    end
  if (Interface == PinsIdeal) begin : g_ideal
    always @(posedge clk)
      if (!rst) begin
        `CHECK(state == want_state, "state")
        `CHECK(rx.valid == given.valid && out.ideal.rx_ready == rx.ready, "received")
        `CHECK(!rx.valid || rx.data == given.data, "a beat received")
        `CHECK(out.ideal.tx_valid == tx.valid && tx.ready == tx_ready, "sent")
        `CHECK(
            !tx.valid || {out.ideal.tx_sop, out.ideal.tx_eop, out.ideal.tx_hdr, out.ideal.tx_data} == {tx.data.sop, tx.data.eop, tx.data.hdr, DataBits'(tx.data.data)},
            "a beat sent")
        `CHECK(out.ideal.read_valid == read.valid && read.ready == read_ready, "asked")
        `CHECK(!read.valid || out.ideal.read_hdr == read.data, "a read")
        `CHECK(out.ideal.function_reset_done == reset_done, "end of a reset")
      end
  end else if (Interface == PinsPTile) begin : g_ptile
    ptile_out_t   shim_out;
    block_state_t shim_state;
    `STREAM_ON(beat_t, shim_rx, clk, rst)
    `STREAM_ON(beat_t, shim_tx, clk, rst)
    `STREAM_ON(mem4_hdr_t, shim_read, clk, rst)
    ptile_pcie #(
        .Sent(beat_t),
        .Received(beat_t)
    ) i_shim (
        .clk_i(clk),
        .rst_i(rst),
        .ptile_i(ptile),
        .ptile_o(shim_out),
        .state_o(shim_state),
        .function_reset_done_i(reset_done),
        .rx(shim_rx),
        .tx(shim_tx),
        .read(shim_read)
    );
    assign shim_rx.ready   = rx.ready;
    assign shim_tx.valid   = tx.valid;
    assign shim_tx.data    = tx.data;
    assign shim_read.valid = read.valid;
    assign shim_read.data  = read.data;
    wire ptile_out_t o = out.ptile;
    always @(posedge clk)
      if (!rst) begin
        `CHECK(state == shim_state, "state")
        `CHECK(rx.valid == shim_rx.valid && (!rx.valid || rx.data == shim_rx.data), "received")
        `CHECK(tx.ready == shim_tx.ready && read.ready == shim_read.ready, "taken")
        `CHECK(
            o.rx_st_ready == shim_out.rx_st_ready && o.flr_completed_pf == shim_out.flr_completed_pf,
            "ready, or the end of a reset")
        `CHECK(
            {o.tx_st_valid, o.tx_st_sop, o.tx_st_eop} == {shim_out.tx_st_valid, shim_out.tx_st_sop, shim_out.tx_st_eop},
            "segments")
        for (int s = 0; s < PTileSegs; s++) begin
          if (!o.tx_st_valid[s]) continue;
          `CHECK(
              o.tx_st_hdr[128*s+:128] == shim_out.tx_st_hdr[128*s+:128] && o.tx_st_data[PTileSegBits*s+:PTileSegBits] == shim_out.tx_st_data[PTileSegBits*s+:PTileSegBits],
              "a segment")
        end
      end
  end

  initial begin
    done_o = 0;
    @(negedge rst);
    repeat (Clocks) @(posedge clk);
    `CHECK(
        written > 20 && asked > 5 && (Interface inside {PinsUsPlus, PinsUsPlusPlain} || received > 100),
        "there was traffic")
    done_o = 1;
  end
endmodule
