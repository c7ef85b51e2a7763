// SPDX-License-Identifier: Apache-2.0
`include "stream.svh"
/// capture: packets from a 100G wire or the internal generator into one host buffer over one or two PCIe links (capture
/// paper, all of it).
///
/// Wiring only. A packet's way: mac_rx or cap_generator, cap_front (flow hash, filter), cap_buffer (whole packets, length),
/// cap_pack (records in blocks), then for each link cap_link (pages, DMA writes), tlp_tx_mux and the hard block. Registers
/// (capture.rdl) are the same through every link. Core clock 250 MHz; one TLP beat a clock on each link. The wire is never
/// held up: what finds no room is dropped whole and counted; the generator waits. No output depends combinationally on an
/// input.
module capture
  import pcie_pkg::*;
  import pins_pkg::*;
  import eth_pkg::*;
  import cap_pkg::*;
  import capture_map_pkg::*;
#(
    parameter int PcieInterface = PinsIdeal,  // whose pins the hard blocks have: pins_pkg
    parameter int Links = 2,  // PCIe endpoints, 1 or 2
    parameter int Rings = 8,  // power of two, 1 ... 32
    parameter int Pages = 256,  // staging pages of each link, a power of two
    parameter int PageBytes = 512,        // 128, 256, 512 or 1024: at least the maximum payload for full-size writes
    parameter int BufferBytes = 65536  // packet buffer before the packer
) (
    input logic clk_i,
    input logic rst_i,

    // PCIe hard block of each link. While its link is down all TLP logic of the link is in reset.
    input  pcie_pins_in_t  pcie_i[Links],
    output pcie_pins_out_t pcie_o[Links],

    // MAC stream, receive only.
    input logic         mac_clk_i,
    input logic         mac_rst_i,
    input logic         mac_rx_valid_i,
    input logic [511:0] mac_rx_data_i,
    input logic [  6:0] mac_rx_len_i,
    input logic         mac_rx_sop_i,
    input logic         mac_rx_eop_i,
    input logic         mac_rx_err_i
);
  localparam int AddrW = MapW;

  if (Links < 1 || Links > cap_pkg::MaxLinks) begin : g_bad_links
    $fatal(1, "capture: Links %0d is not 1 or 2", Links);
  end
  if (Pages < Rings + 16384 / PageBytes + 16) begin : g_bad_pages
    $fatal(1, "capture: Pages %0d are too few for %0d rings", Pages, Rings);
  end

  // ---------------------------------------------------------------- settings
  pack_cfg_t pack_cfg;
  gen_cfg_t gen_cfg;
  filter_t [FilterEntries-1:0] filter;
  logic use_generator, start;
  logic [31:0] log_rings, generated_count;
  logic [13:0] max_frame;
  logic [MaxLinks-1:0] link_enable;
  cap_link_status_t [MaxLinks-1:0] link_status;
  ptp_time_t core_time, mac_time;

  change_detect i_enabled (
      .clk_i,
      .rst_i,
      .d_i(pack_cfg.enable),
      .changed_o(),
      .rose_o(start)
  );

  // ---------------------------------------------------------------- packets in
  `STREAM(wide_beat_t, generated)
  `STREAM(wide_beat_t, wire_frame)
  `STREAM(ptp_time_t, wire_stamp)
  `STREAM(wide_beat_t, front_frame)
  `STREAM(info_t, front_info)
  `STREAM(beat_t, packet)
  frame_beat_t   mac_rx;
  mac_rx_count_t mac_count;
  logic buffer_full, filtered;

  cap_generator i_generator (
      .clk_i,
      .rst_i,
      .enable_i(gen_cfg.enable),
      .seed_i(gen_cfg.seed),
      .len_min_i(gen_cfg.len_min),
      .len_max_i(gen_cfg.len_max),
      .flow_mask_i(gen_cfg.flow_mask),
      .rate_i(gen_cfg.rate),
      .count_i(gen_cfg.count),
      .sent_o(generated_count),
      .frame(generated)
  );
  assign mac_rx = '{
          data: mac_rx_data_i,
          len: mac_rx_len_i,
          sop: mac_rx_sop_i,
          eop: mac_rx_eop_i,
          err: mac_rx_err_i
      };
  mac_rx #(
      .Wide (wide_beat_t),
      .Depth(32)
  ) i_mac_rx (
      .mac_clk_i,
      .mac_rst_i,
      .rx_valid_i(mac_rx_valid_i),
      .rx_i(mac_rx),
      .time_i(mac_time),
      .clk_i,
      .rst_i,
      .max_frame_i(max_frame),
      .frame(wire_frame),
      .stamp(wire_stamp),
      .count_o(mac_count)
  );
  logic [31:0] unused_fraction;
  ptp_clock i_ptp (
      .clk_i,
      .rst_i,
      .time_o(core_time),
      .fraction_o(unused_fraction)
  );
  ptp_cdc i_ptp_mac (
      .clk_i,
      .time_i(core_time),
      .mac_clk_i,
      .mac_rst_i,
      .time_o(mac_time)
  );
  cap_front i_front (
      .clk_i,
      .rst_i,
      .enable_i(pack_cfg.enable),
      .use_generator_i(use_generator),
      .time_i(core_time),
      .filter_i(filter),
      .generated(generated),
      .wire_frame(wire_frame),
      .wire_stamp(wire_stamp),
      .frame(front_frame),
      .info(front_info)
  );
  cap_buffer #(
      .Bytes(BufferBytes),
      .MaxLogRings($clog2(Rings))
  ) i_buffer (
      .clk_i,
      .rst_i,
      .wait_i(use_generator),
      .timestamps_i(pack_cfg.timestamps),
      .log_rings_i(log_rings),
      .frame(front_frame),
      .info(front_info),
      .out(packet),
      .dropped_o(buffer_full),
      .filtered_o(filtered)
  );

  // ---------------------------------------------------------------- packets into blocks
  cap_ring_t ring;
  logic open, close, captured, ring_full, too_long, page_wait, bad_return;
  logic [Rings-1:0] room;
  logic [Rings-1:0][31:0] opened, packets;
  logic [MaxLinks-1:0]
      link_ok, link_space, link_take, link_using, link_opened, work_valid, stage_valid;
  logic [MaxLinks-1:0][PageIdW:0] link_pages;
  logic [MaxLinks-1:0][PageIdW-1:0] link_page;
  logic [MaxLinks-1:0][QueuedW-1:0] link_queued;
  work_t work;
  stage_write_t stage;
  reg_if #(.AddrW(AddrW)) region[2] ();

  cap_pack #(
      .Rings(Rings),
      .PageBytes(PageBytes)
  ) i_pack (
      .clk_i,
      .rst_i,
      .cfg_i(pack_cfg),
      .in(packet),
      .ring_o(ring),
      .open_o(open),
      .close_o(close),
      .packet_o(captured),
      .dropped_o(ring_full),
      .too_long_o(too_long),
      .waits_o(page_wait),
      .room_i(room),
      .opened_i(opened),
      .packets_i(packets),
      .ok_i(link_ok),
      .space_i(link_space),
      .pages_i(link_pages),
      .page_i(link_page),
      .queued_i(link_queued),
      .take_o(link_take),
      .using_o(link_using),
      .opened_o(link_opened),
      .work_valid_o(work_valid),
      .work_o(work),
      .stage_valid_o(stage_valid),
      .stage_o(stage)
  );
  cap_rings #(
      .Rings(Rings)
  ) i_rings (
      .clk_i,
      .rst_i,
      .start_i(start),
      .log_blocks_i(pack_cfg.log_blocks),
      .regs(region[1]),
      .refused_o(bad_return),
      .ring_i(ring),
      .open_i(open),
      .close_i(close),
      .packet_i(captured),
      .dropped_i(ring_full),
      .room_o(room),
      .opened_o(opened),
      .packets_o(packets)
  );

  // ---------------------------------------------------------------- links
  reg_if #(.AddrW(AddrW)) link_regs[Links] ();
  logic [Links-1:0] link_down, foreign, unsupported, dropped;
  for (genvar l = 0; l < Links; l++) begin : g_link
    pcie_cfg_t cfg;
    logic up, link_rst, unused_rst;
    assign link_rst = rst_i || !up;
    assign link_down[l] = !up;

    `STREAM_ON(tlp_beat_t, request, clk_i, link_rst)
    `STREAM_ON(tlp_beat_t, completion, clk_i, link_rst)
    `STREAM_ON(tlp_beat_t, read_tlp, clk_i, link_rst)
    `STREAM_ON(tlp_beat_t, write_tlp[1], clk_i, link_rst)
    pcie_endpoint #(
        .Interface(PcieInterface),
        .AddrW(AddrW),
        .Reads(1'b0)
    ) i_endpoint (
        .clk_i,
        .rst_i(link_rst),
        .pins_i(pcie_i[l]),
        .pins_o(pcie_o[l]),
        .cfg_o(cfg),
        .up_o(up),
        .rst_o(unused_rst),
        .virtual_done_i('0),
        .req(request),
        .access(request),
        .regs(link_regs[l]),
        .cpl(completion),
        .read(read_tlp),
        .tx(write_tlp),
        .foreign_o(foreign[l]),
        .unsupported_o(unsupported[l]),
        .dropped_o(dropped[l])
    );
    // The device reads nothing, so completions have no receiver.
    assign read_tlp.valid = 1'b0;
    assign read_tlp.data = '0;
    assign completion.ready = 1'b1;
    wire unused_read = &{1'b0, read_tlp.ready, completion.valid, completion.data};

    cap_link #(
        .Pages(Pages),
        .PageBytes(PageBytes)
    ) i_link (
        .clk_i,
        .rst_i,
        .link_rst_i(!up),
        .cfg_i(cfg),
        .enable_i(link_enable[l]),
        .ok_o(link_ok[l]),
        .space_o(link_space[l]),
        .pages_o(link_pages[l]),
        .page_o(link_page[l]),
        .queued_o(link_queued[l]),
        .take_i(link_take[l]),
        .using_i(link_using[l]),
        .work_valid_i(work_valid[l]),
        .work_i(work),
        .stage_valid_i(stage_valid[l]),
        .stage_i(stage),
        .idle_o(link_status[l].idle),
        .bytes_o(link_status[l].bytes),
        .entries_o(link_status[l].entries),
        .lost_blocks_o(link_status[l].lost_blocks),
        .lost_packets_o(link_status[l].lost_packets),
        .lost_bytes_o(link_status[l].lost_bytes),
        .tlp(write_tlp[0])
    );
    assign link_status[l].up = up && cfg.bus_master;
    assign link_status[l].in_use = link_ok[l];
    assign link_status[l].queued = link_queued[l];
    assign link_status[l].opened = link_opened[l];
  end
  for (genvar l = Links; l < MaxLinks; l++) begin : g_no_link
    assign link_ok[l] = 1'b0;
    assign link_space[l] = 1'b0;
    assign link_pages[l] = '0;
    assign link_page[l] = '0;
    assign link_queued[l] = '0;
    assign link_status[l] = '0;
    wire unused = &{1'b0, link_take[l], link_using[l], link_opened[l], work_valid[l], stage_valid[l], link_enable[l]};
  end

  // ---------------------------------------------------------------- registers
  typedef logic [1:0][AddrW-1:0] region_t;
  localparam region_t RegionBase = {AddrW'(RingBase), AddrW'(DeviceBase)};
  localparam region_t RegionSize = {AddrW'(RingSize), AddrW'(DeviceSize)};
  reg_if #(.AddrW(AddrW)) host_regs ();
  logic [(Links > 1 ? $clog2(Links) : 1)-1:0] from_link;
  logic unused_unmapped;

  reg_arb #(
      .N(Links),
      .AddrW(AddrW)
  ) i_reg_arb (
      .clk_i,
      .rst_i,
      .drop_i(link_down),
      .in(link_regs),
      .out(host_regs),
      .index_o(from_link)
  );
  reg_demux #(
      .N(2),
      .AddrW(AddrW),
      .Base(RegionBase),
      .Size(RegionSize)
  ) i_regs (
      .clk_i,
      .rst_i,
      .in(host_regs),
      .out(region),
      .unmapped_o(unused_unmapped)
  );

  capture_regs #(
      .Links(Links),
      .Rings(Rings),
      .Pages(Pages),
      .PageBytes(PageBytes)
  ) i_cap_regs (
      .clk_i,
      .rst_i,
      .regs(region[0]),
      .from_link_i(32'(from_link)),
      .time_i(core_time),
      .mac_count_i(mac_count),
      .generated_i(generated_count),
      .link_i(link_status),
      .busy_i({packet.valid, front_frame.valid, link_using}),
      .events_i(
      '{
          buffer_full: buffer_full,
          filtered: filtered,
          captured: captured,
          ring_full: ring_full,
          too_long: too_long,
          bad_return: bad_return,
          page_wait: page_wait,
          foreign: |foreign,
          refused: |unsupported || |dropped
      }
      ),
      .link_enable_o(link_enable),
      .use_generator_o(use_generator),
      .log_rings_o(log_rings),
      .max_frame_o(max_frame),
      .pack_cfg_o(pack_cfg),
      .gen_cfg_o(gen_cfg),
      .filter_o(filter)
  );
endmodule
