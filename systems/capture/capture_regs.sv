// SPDX-License-Identifier: Apache-2.0
/// Registers of capture itself (cap_regs of capture.rdl): its settings, what its links and packets are counted as, its time.
///
/// Wiring only. Settings are kept within their ranges, and stay what they are while they are used (reg_range): from the start of
/// capture until all of it is written (cap_running), those of the generator while that is on. A write that would change one is put
/// back and counted. Filters may change at any time.
module capture_regs
  import cap_pkg::*;
  import eth_pkg::*;
  import capture_map_pkg::*;
#(
    parameter int Links = 2,
    parameter int Rings = 8,
    parameter int Pages = 256,
    parameter int PageBytes = 512
) (
    input logic clk_i,
    input logic rst_i,
    reg_if.slave regs,
    input logic [31:0] from_link_i,  // the access comes from this link

    // What is read and counted.
    input ptp_time_t                       time_i,
    input mac_rx_count_t                   mac_count_i,
    input logic             [        31:0] generated_i,
    input cap_link_status_t [MaxLinks-1:0] link_i,
    input logic             [MaxLinks+1:0] busy_i,
    input cap_events_t                     events_i,

    // Settings.
    output logic      [     MaxLinks-1:0] link_enable_o,
    output logic                          use_generator_o,
    output logic      [             31:0] log_rings_o,
    output logic      [             13:0] max_frame_o,
    output pack_cfg_t                     pack_cfg_o,
    output gen_cfg_t                      gen_cfg_o,
    output filter_t   [FilterEntries-1:0] filter_o
);
  cap_regs_pkg::cap_regs__in_t  hw_in;
  cap_regs_pkg::cap_regs__out_t hw_out;
  cap_regs i_regs (
      .clk(clk_i),
      .rst(rst_i),
      .regs,
      .hwif_in(hw_in),
      .hwif_out(hw_out)
  );

  // ---------------------------------------------------------------- settings
  typedef enum int {
    GenCount,
    GenRate,
    GenFlowMask,
    GenLenMax,
    GenLenMin,
    GenSeed,
    MaxFrame,
    ProgressLo,
    ProgressHi,
    BaseLo,
    BaseHi,
    SwitchMargin,
    SwitchBytes,
    FlushClocks,
    LogRings,
    LogBlocks,
    LogBlockBytes,
    Generator,
    Timestamps
  } setting_e;
  localparam int N = Timestamps + 1;
  localparam int GenN = GenSeed + 1;  // of them, the generator's
  localparam logic [N-1:0][31:0] Least = '{
      LogBlockBytes: 12,
      LogBlocks: 1,
      MaxFrame: 60,
      GenLenMin: 60,
      GenLenMax: 60,
      default: 0
  };
  localparam logic [N-1:0][31:0] Most = '{
      Timestamps: 1,
      Generator: 1,
      LogBlockBytes: 20,
      LogBlocks: 16,
      LogRings: 32'($clog2(Rings)),
      FlushClocks: 32'hf_ffff,
      SwitchBytes: 32'h1f_ffff,
      SwitchMargin: 16383,
      MaxFrame: 16383,
      GenLenMin: 16384,
      GenLenMax: 16384,
      GenFlowMask: 32'hffff,
      GenRate: 32'hff_ffff,
      default: '1
  };
  logic [N-1:0][31:0] values, settings, back;
  logic [N-1:0] refused;
  `define SETTING(i, bits, field) \
  assign values[i] = 32'(hw_out.field.value); \
  assign hw_in.field.next = back[i][bits-1:0]; \
  assign hw_in.field.we = refused[i];
  `SETTING(Timestamps, 1, control.timestamps)
  `SETTING(Generator, 1, control.generator)
  `SETTING(LogBlockBytes, 32, log_block_bytes.value)
  `SETTING(LogBlocks, 32, log_blocks.value)
  `SETTING(LogRings, 32, log_rings.value)
  `SETTING(FlushClocks, 32, flush_clocks.value)
  `SETTING(SwitchBytes, 32, switch_bytes.value)
  `SETTING(SwitchMargin, 32, switch_margin.value)
  `SETTING(BaseHi, 32, base_hi.value)
  `SETTING(BaseLo, 32, base_lo.value)
  `SETTING(ProgressHi, 32, progress_hi.value)
  `SETTING(ProgressLo, 32, progress_lo.value)
  `SETTING(MaxFrame, 32, max_frame.value)
  `SETTING(GenSeed, 32, gen_seed.value)
  `SETTING(GenLenMin, 32, gen_len_min.value)
  `SETTING(GenLenMax, 32, gen_len_max.value)
  `SETTING(GenFlowMask, 32, gen_flow_mask.value)
  `SETTING(GenRate, 32, gen_rate.value)
  `SETTING(GenCount, 32, gen_count.value)
  `undef SETTING
  assign hw_in.settings_refused.value.incr = |refused;

  // They are used from the start until all that was captured is written; those of the generator while that is on.
  logic enable, gen_enable, running;
  logic [MaxLinks-1:0] at_work;
  cap_running #(
      .Busy(2 + 2 * MaxLinks)
  ) i_running (
      .clk_i,
      .rst_i,
      .enable_i (hw_out.control.enable.value),
      .busy_i   ({busy_i, at_work}),
      .enable_o (enable),
      .running_o(running)
  );
  pipe_reg i_gen_enable (
      .clk_i,
      .d_i(hw_out.gen_control.enable.value),
      .q_o(gen_enable)
  );

  reg_range #(
      .N(N),
      .Least(Least),
      .Most(Most)
  ) i_range (
      .clk_i,
      .value_i(values),
      .hold_i({{(N - GenN) {running}}, {GenN{gen_enable}}}),
      .next_o(back),
      .refused_o(refused),
      .setting_o(settings)
  );

  assign use_generator_o = settings[Generator][0];
  assign log_rings_o = settings[LogRings];
  assign max_frame_o = settings[MaxFrame][13:0];
  assign pack_cfg_o = '{
          timestamps: settings[Timestamps][0],
          enable: enable,
          log_block_bytes: settings[LogBlockBytes][4:0],
          log_blocks: settings[LogBlocks][4:0],
          flush_clocks: settings[FlushClocks][19:0],
          switch_bytes: settings[SwitchBytes][OffW-1:0],
          switch_margin: settings[SwitchMargin][QueuedW-1:0],
          base: {settings[BaseHi], settings[BaseLo][31:12], 12'd0},
          progress: {settings[ProgressHi], settings[ProgressLo][31:6], 6'd0}
      };
  assign gen_cfg_o = '{
          enable: gen_enable,
          seed: settings[GenSeed],
          len_min: settings[GenLenMin][LenW-1:0],
          len_max: settings[GenLenMax][LenW-1:0],
          flow_mask: settings[GenFlowMask][15:0],
          rate: settings[GenRate][23:0],
          count: settings[GenCount]
      };
  for (genvar i = 0; i < FilterEntries; i++) begin : g_filter
    assign filter_o[i] = '{
            enable: hw_out.filter[i].control.enable.value,
            drop: hw_out.filter[i].control.drop.value,
            src_ip: hw_out.filter[i].src_ip.value.value,
            src_mask: hw_out.filter[i].src_mask.value.value,
            dst_ip: hw_out.filter[i].dst_ip.value.value,
            dst_mask: hw_out.filter[i].dst_mask.value.value,
            ports: hw_out.filter[i].ports.value.value,
            ports_mask: hw_out.filter[i].ports_mask.value.value,
            protocol: hw_out.filter[i].control.protocol.value,
            protocol_mask: hw_out.filter[i].control.protocol_mask.value
        };
  end

  // ---------------------------------------------------------------- what is read and counted
  for (genvar l = 0; l < MaxLinks; l++) begin : g_link
    assign at_work[l] = l < Links && !link_i[l].idle;
    assign link_enable_o[l] = hw_out.link[l].control.enable.value;
    assign hw_in.link[l].status.up.next = link_i[l].up;
    assign hw_in.link[l].status.idle.next = link_i[l].idle;
    assign hw_in.link[l].status.in_use.next = link_i[l].in_use;
    assign hw_in.link[l].status.queued.next = link_i[l].queued;
    assign hw_in.link[l].opened.value.incr = link_i[l].opened;
    assign hw_in.link[l].bytes.value.next = link_i[l].bytes;
    assign hw_in.link[l].entries.value.next = link_i[l].entries;
    assign hw_in.link[l].lost_blocks.value.next = link_i[l].lost_blocks;
    assign hw_in.link[l].lost_packets.value.next = link_i[l].lost_packets;
    assign hw_in.link[l].lost_bytes.value.next = link_i[l].lost_bytes;
  end
  logic [31:0] unused_fraction;
  time_regs i_time_regs (
      .clk_i,
      .time_i,
      .fraction_i('0),
      .latch_i(hw_out.time_lo.value.swacc),
      .lo_o   (hw_in.time_lo.value.next),
      .hi_o   (hw_in.time_hi.value.next),
      .fraction_o(unused_fraction)
  );
  assign hw_in.links.value.next = 32'(Links);
  assign hw_in.rings.value.next = 32'(Rings);
  assign hw_in.link_index.value.next = from_link_i;
  assign hw_in.core_khz.value.next = 32'd250000;
  assign hw_in.page_bytes.value.next = 32'(PageBytes);
  assign hw_in.pages.value.next = 32'(Pages);
  assign hw_in.ring_offset.value.next = 32'(RingBase);
  assign hw_in.filters.value.next = 32'(FilterEntries);
  assign hw_in.gen_sent.value.next = generated_i;
  assign hw_in.rx_frames.value.incr = mac_count_i.good;
  assign hw_in.rx_bad_fcs.value.incr = mac_count_i.bad_fcs;
  assign hw_in.rx_runt.value.incr = mac_count_i.runt;
  assign hw_in.rx_oversize.value.incr = mac_count_i.oversize;
  assign hw_in.rx_fifo_full.value.incr = mac_count_i.fifo_full;
  assign hw_in.rx_buffer_full.value.incr = events_i.buffer_full;
  assign hw_in.filtered.value.incr = events_i.filtered;
  assign hw_in.captured.value.incr = events_i.captured;
  assign hw_in.ring_full.value.incr = events_i.ring_full;
  assign hw_in.too_long.value.incr = events_i.too_long;
  assign hw_in.bad_returns.value.incr = events_i.bad_return;
  assign hw_in.page_waits.value.incr = events_i.page_wait;
  assign hw_in.tlp_foreign.value.incr = events_i.foreign;
  assign hw_in.tlp_refused.value.incr = events_i.refused;
endmodule
