// SPDX-License-Identifier: Apache-2.0
// The boundary between the PCIe hard block's model and the logic behind it, as pointers into the
// Verilated model (rtl/pcie/pcie_pkg.sv says what crosses it).
#pragma once

#include <cstdint>

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

// All of one endpoint. tx: driven by the logic; rx: driven by the hard block. Logic may have a
// stream of its own for read requests, `reads` (header only: data, sop and eop are not used).
struct EndpointPins {
  TlpPins tx, rx;
  PcieCfgPins cfg;
  FcLimitPins fc;
  TlpPins reads{};

  // Those of a model, from its ports of the types pcie_in_t and pcie_out_t; bytes a beat from the
  // logic.
  template <class In, class Out>
  static EndpointPins of(In& in, Out& out, std::uint32_t sent = 64) {
    return {
        .tx = {&out.EMERY_MEMBER(tx_valid), &in.EMERY_MEMBER(tx_ready),
               out.EMERY_MEMBER(tx_data).data(), out.EMERY_MEMBER(tx_hdr).data(),
               &out.EMERY_MEMBER(tx_sop), &out.EMERY_MEMBER(tx_eop), sent},
        .rx = {&in.EMERY_MEMBER(rx_valid), &out.EMERY_MEMBER(rx_ready),
               in.EMERY_MEMBER(rx_data).data(), in.EMERY_MEMBER(rx_hdr).data(),
               &in.EMERY_MEMBER(rx_sop), &in.EMERY_MEMBER(rx_eop)},
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
    };
  }
};

}  // namespace emery
