// SPDX-License-Identifier: Apache-2.0
// The boundary between the PCIe hard block's model and the logic behind it, as pointers into the
// Verilated model (rtl/pcie/pcie_pkg.sv says what crosses it).
#pragma once

#include <cstdint>
#include <string>

#include "bench/sim/member.hpp"

namespace emery {

// One TLP stream of `bytes` a beat. data: payload byte 0 in bits 7:0 of word 0; hdr: 4 words,
// hdr[31:0] first, so DW0 is hdr[3].
struct TlpPins {
  std::uint8_t* valid = nullptr;
  std::uint8_t* ready = nullptr;
  std::uint32_t* data = nullptr;
  std::uint32_t* hdr = nullptr;
  std::uint8_t* sop = nullptr;
  std::uint8_t* eop = nullptr;
  std::uint32_t bytes = 64;
};

// pcie_cfg_t, driven by the hard block.
struct PcieCfgPins {
  std::uint16_t* requester_id = nullptr;
  std::uint8_t* max_payload = nullptr;
  std::uint8_t* max_read_request = nullptr;
  std::uint8_t* bus_master = nullptr;
  std::uint8_t* extended_tag = nullptr;
  std::uint8_t* wide_tag = nullptr;
  std::uint8_t* relaxed_ordering = nullptr;
  std::uint8_t* msix_enable = nullptr;
  std::uint8_t* msix_mask = nullptr;
};

// fc_limit_t, driven by the hard block.
struct FcLimitPins {
  std::uint8_t* ph = nullptr;
  std::uint16_t* pd = nullptr;
  std::uint8_t* p_inf = nullptr;
  std::uint8_t* nph = nullptr;
  std::uint8_t* np_inf = nullptr;
  std::uint8_t* cplh = nullptr;
  std::uint16_t* cpld = nullptr;
  std::uint8_t* cpl_inf = nullptr;
};

// One AXI4-Stream. keep and last are absent where the block drives: nothing needs them.
struct AxisPins {
  std::uint8_t* valid = nullptr;
  std::uint8_t* ready = nullptr;
  std::uint32_t* data = nullptr;
  std::uint32_t* user = nullptr;
  std::uint16_t* keep = nullptr;
  std::uint8_t* last = nullptr;
};

// Of an UltraScale+ block (rtl/pcie/usplus_pkg.sv).
struct UsPlusPins {
  AxisPins rq{}, rc{}, cq{}, cc{};
  std::uint8_t* nph_av = nullptr;
  std::uint8_t* bus_number = nullptr;
  std::uint8_t* max_payload = nullptr;
  std::uint8_t* max_read_req = nullptr;
  std::uint16_t* function_status = nullptr;
  std::uint8_t* msix_enable = nullptr;
  std::uint8_t* msix_mask = nullptr;
  std::uint16_t* mgmt_addr = nullptr;
  std::uint8_t* mgmt_read = nullptr;
  std::uint8_t* mgmt_done = nullptr;
  std::uint32_t* mgmt_data = nullptr;
  bool straddle = true;
  // Of virtual functions.
  std::uint32_t* vf_status = nullptr;
  std::uint64_t *vf_flr = nullptr, *vf_msix_enable = nullptr, *vf_msix_mask = nullptr;
  std::uint8_t *vf_flr_done = nullptr, *vf_flr_number = nullptr;

  // Those of a model, from its ports of the types usplus_in_t and usplus_out_t.
  template <class In, class Out>
  static UsPlusPins of(In& in, Out& out, bool straddle) {
    UsPlusPins p;
    p.rq = {&out.EMERY_MEMBER(rq_tvalid),      &in.EMERY_MEMBER(rq_tready),
            out.EMERY_MEMBER(rq_tdata).data(), out.EMERY_MEMBER(rq_tuser).data(),
            &out.EMERY_MEMBER(rq_tkeep),       &out.EMERY_MEMBER(rq_tlast)};
    p.cc = {&out.EMERY_MEMBER(cc_tvalid),      &in.EMERY_MEMBER(cc_tready),
            out.EMERY_MEMBER(cc_tdata).data(), out.EMERY_MEMBER(cc_tuser).data(),
            &out.EMERY_MEMBER(cc_tkeep),       &out.EMERY_MEMBER(cc_tlast)};
    p.rc = {&in.EMERY_MEMBER(rc_tvalid), &out.EMERY_MEMBER(rc_tready),
            in.EMERY_MEMBER(rc_tdata).data(), in.EMERY_MEMBER(rc_tuser).data()};
    p.cq = {&in.EMERY_MEMBER(cq_tvalid), &out.EMERY_MEMBER(cq_tready),
            in.EMERY_MEMBER(cq_tdata).data(), in.EMERY_MEMBER(cq_tuser).data()};
    p.nph_av = &in.EMERY_MEMBER(tfc_nph_av);
    p.bus_number = &in.EMERY_MEMBER(cfg_bus_number);
    p.max_payload = &in.EMERY_MEMBER(cfg_max_payload);
    p.max_read_req = &in.EMERY_MEMBER(cfg_max_read_req);
    p.function_status = &in.EMERY_MEMBER(cfg_function_status);
    p.msix_enable = &in.EMERY_MEMBER(cfg_interrupt_msix_enable);
    p.msix_mask = &in.EMERY_MEMBER(cfg_interrupt_msix_mask);
    p.mgmt_addr = &out.EMERY_MEMBER(cfg_mgmt_addr);
    p.mgmt_read = &out.EMERY_MEMBER(cfg_mgmt_read);
    p.mgmt_done = &in.EMERY_MEMBER(cfg_mgmt_read_write_done);
    p.mgmt_data = &in.EMERY_MEMBER(cfg_mgmt_read_data);
    p.straddle = straddle;
    p.vf_status = in.EMERY_MEMBER(cfg_vf_status).data();
    p.vf_flr = &in.EMERY_MEMBER(cfg_vf_flr_in_process);
    p.vf_msix_enable = &in.EMERY_MEMBER(cfg_interrupt_msix_vf_enable);
    p.vf_msix_mask = &in.EMERY_MEMBER(cfg_interrupt_msix_vf_mask);
    p.vf_flr_done = &out.EMERY_MEMBER(cfg_vf_flr_done);
    p.vf_flr_number = &out.EMERY_MEMBER(cfg_vf_flr_func_num);
    return p;
  }
};

// Of an Intel P-tile (rtl/pcie/ptile_pkg.sv).
struct PTilePins {
  std::uint32_t *tx_data = nullptr, *tx_hdr = nullptr;
  std::uint8_t *tx_sop = nullptr, *tx_eop = nullptr, *tx_valid = nullptr, *tx_ready = nullptr;
  std::uint32_t *rx_data = nullptr, *rx_hdr = nullptr;
  std::uint8_t *rx_sop = nullptr, *rx_eop = nullptr, *rx_valid = nullptr, *rx_ready = nullptr;
  std::uint16_t* limit = nullptr;
  std::uint8_t* limit_of = nullptr;
  std::uint8_t *cfg_add = nullptr, *cfg_func = nullptr;
  std::uint16_t* cfg_ctl = nullptr;
  std::uint8_t* wide_tag = nullptr;

  // Those of a model, from its ports of the types ptile_in_t and ptile_out_t.
  template <class In, class Out>
  static PTilePins of(In& in, Out& out) {
    return {.tx_data = out.EMERY_MEMBER(tx_st_data).data(),
            .tx_hdr = out.EMERY_MEMBER(tx_st_hdr).data(),
            .tx_sop = &out.EMERY_MEMBER(tx_st_sop),
            .tx_eop = &out.EMERY_MEMBER(tx_st_eop),
            .tx_valid = &out.EMERY_MEMBER(tx_st_valid),
            .tx_ready = &in.EMERY_MEMBER(tx_st_ready),
            .rx_data = in.EMERY_MEMBER(rx_st_data).data(),
            .rx_hdr = in.EMERY_MEMBER(rx_st_hdr).data(),
            .rx_sop = &in.EMERY_MEMBER(rx_st_sop),
            .rx_eop = &in.EMERY_MEMBER(rx_st_eop),
            .rx_valid = &in.EMERY_MEMBER(rx_st_valid),
            .rx_ready = &out.EMERY_MEMBER(rx_st_ready),
            .limit = &in.EMERY_MEMBER(tx_cdts_limit),
            .limit_of = &in.EMERY_MEMBER(tx_cdts_limit_tdm_idx),
            .cfg_add = &in.EMERY_MEMBER(tl_cfg_add),
            .cfg_func = &in.EMERY_MEMBER(tl_cfg_func),
            .cfg_ctl = &in.EMERY_MEMBER(tl_cfg_ctl),
            .wide_tag = &in.EMERY_MEMBER(wide_tag_en)};
  }
};

// All of one endpoint. tx: driven by the logic; rx: driven by the hard block. Logic may have a
// stream of its own for read requests, `reads` (header only: data, sop and eop are not used). Where
// `usplus` or `ptile` has pins they are the ones in use.
struct EndpointPins {
  TlpPins tx, rx;
  PcieCfgPins cfg;
  FcLimitPins fc;
  TlpPins reads{};
  UsPlusPins usplus{};
  PTilePins ptile{};
  std::uint8_t* link_up = nullptr;
  // Function 0 is being reset, in bit 0; the logic has done it.
  std::uint8_t *function_reset = nullptr, *function_reset_done = nullptr;

  // Those of a model that the setting pcie_interface names, from its ports of the types
  // pcie_pins_in_t and pcie_pins_out_t. Where TLPs cross as beats they have so many bytes.
  template <class In, class Out>
  static EndpointPins of(In& in, Out& out, const std::string& interface, std::uint32_t bytes = 64) {
    EndpointPins pins = ideal(in.EMERY_MEMBER(ideal), out.EMERY_MEMBER(ideal), bytes);
    if (interface == "ptile") {
      pins.ptile = PTilePins::of(in.EMERY_MEMBER(ptile), out.EMERY_MEMBER(ptile));
      pins.link_up = &in.EMERY_MEMBER(ptile).EMERY_MEMBER(dl_up);
      pins.function_reset = &in.EMERY_MEMBER(ptile).EMERY_MEMBER(flr_rcvd_pf);
      pins.function_reset_done = &out.EMERY_MEMBER(ptile).EMERY_MEMBER(flr_completed_pf);
    } else if (interface != "ideal") {
      pins.usplus =
          UsPlusPins::of(in.EMERY_MEMBER(usplus), out.EMERY_MEMBER(usplus), interface == "usplus");
      pins.link_up = &in.EMERY_MEMBER(usplus).EMERY_MEMBER(lnk_up);
      pins.function_reset = &in.EMERY_MEMBER(usplus).EMERY_MEMBER(cfg_flr_in_process);
      pins.function_reset_done = &out.EMERY_MEMBER(usplus).EMERY_MEMBER(cfg_flr_done);
    }
    return pins;
  }

 private:
  template <class In, class Out>
  static EndpointPins ideal(In& in, Out& out, std::uint32_t bytes) {
    return {
        .tx = {&out.EMERY_MEMBER(tx_valid), &in.EMERY_MEMBER(tx_ready),
               out.EMERY_MEMBER(tx_data).data(), out.EMERY_MEMBER(tx_hdr).data(),
               &out.EMERY_MEMBER(tx_sop), &out.EMERY_MEMBER(tx_eop), bytes},
        .rx = {&in.EMERY_MEMBER(rx_valid), &out.EMERY_MEMBER(rx_ready),
               in.EMERY_MEMBER(rx_data).data(), in.EMERY_MEMBER(rx_hdr).data(),
               &in.EMERY_MEMBER(rx_sop), &in.EMERY_MEMBER(rx_eop), bytes},
        .cfg = {&in.EMERY_MEMBER(requester_id), &in.EMERY_MEMBER(max_payload),
                &in.EMERY_MEMBER(max_read_request), &in.EMERY_MEMBER(bus_master),
                &in.EMERY_MEMBER(extended_tag), &in.EMERY_MEMBER(wide_tag),
                &in.EMERY_MEMBER(relaxed_ordering), &in.EMERY_MEMBER(msix_enable),
                &in.EMERY_MEMBER(msix_mask)},
        .fc = {&in.EMERY_MEMBER(ph), &in.EMERY_MEMBER(pd), &in.EMERY_MEMBER(p_inf),
               &in.EMERY_MEMBER(nph), &in.EMERY_MEMBER(np_inf), &in.EMERY_MEMBER(cplh),
               &in.EMERY_MEMBER(cpld), &in.EMERY_MEMBER(cpl_inf)},
        .reads = {&out.EMERY_MEMBER(read_valid), &in.EMERY_MEMBER(read_ready), nullptr,
                  out.EMERY_MEMBER(read_hdr).data(), nullptr, nullptr},
        .link_up = &in.EMERY_MEMBER(link_up),
        .function_reset = &in.EMERY_MEMBER(function_reset),
        .function_reset_done = &out.EMERY_MEMBER(function_reset_done),
    };
  }
};

}  // namespace emery
