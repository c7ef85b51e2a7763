// SPDX-License-Identifier: Apache-2.0
// The boundary between the PCIe hard block's model and the logic behind it, as pointers into the
// Verilated model (rtl/pcie/pcie_pkg.sv says what crosses it).
#pragma once

#include <cstdint>

namespace emery {

// One TLP stream. data: 16 words, payload byte 0 in bits 7:0 of word 0; hdr: 4 words, hdr[31:0]
// first, so DW0 is hdr[3].
struct TlpPins {
  std::uint8_t* valid = nullptr;
  std::uint8_t* ready = nullptr;
  std::uint32_t* data = nullptr;
  std::uint32_t* hdr = nullptr;
  std::uint8_t* sop = nullptr;
  std::uint8_t* eop = nullptr;
};

// pcie_cfg_t, driven by the hard block.
struct PcieCfgPins {
  std::uint16_t* requester_id = nullptr;
  std::uint8_t* max_payload = nullptr;
  std::uint8_t* max_read_request = nullptr;
  std::uint8_t* bus_master = nullptr;
  std::uint8_t* extended_tag = nullptr;
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

}  // namespace emery
