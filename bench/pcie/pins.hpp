// SPDX-License-Identifier: Apache-2.0
// The boundary between the PCIe hard block's model and the logic behind it, as pointers into the
// Verilated model (rtl/pcie/pcie_pkg.sv says what crosses it).
#pragma once

#include <cstdint>
#include <functional>

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

// All of one endpoint. tx: driven by the logic; rx: driven by the hard block. Logic may have a
// stream of its own for read requests, `reads` (header only: data, sop and eop are not used).
struct EndpointPins {
  TlpPins tx, rx;
  PcieCfgPins cfg;
  FcLimitPins fc;
  TlpPins reads{};

  // Those of a model whose ports have the usual names. `at` chooses what belongs to this endpoint
  // where each port is an array over several.
  template <class Model, class At = std::identity>
  static EndpointPins of(Model& m, At at = {}) {
    EndpointPins pins{
        .tx = {&at(m.tx_tlp_valid_o), &at(m.tx_tlp_ready_i), at(m.tx_tlp_data_o).data(),
               at(m.tx_tlp_hdr_o).data(), &at(m.tx_tlp_sop_o), &at(m.tx_tlp_eop_o)},
        .rx = {&at(m.rx_tlp_valid_i), &at(m.rx_tlp_ready_o), at(m.rx_tlp_data_i).data(),
               at(m.rx_tlp_hdr_i).data(), &at(m.rx_tlp_sop_i), &at(m.rx_tlp_eop_i)},
        .cfg = {&at(m.cfg_requester_id_i), &at(m.cfg_max_payload_i), &at(m.cfg_max_read_request_i),
                &at(m.cfg_bus_master_i), &at(m.cfg_extended_tag_i), &at(m.cfg_relaxed_ordering_i),
                &at(m.cfg_msix_enable_i), &at(m.cfg_msix_mask_i)},
        .fc = {&at(m.fc_ph_i), &at(m.fc_pd_i), &at(m.fc_p_inf_i), &at(m.fc_nph_i),
               &at(m.fc_np_inf_i), &at(m.fc_cplh_i), &at(m.fc_cpld_i), &at(m.fc_cpl_inf_i)},
    };
    if constexpr (requires { m.tx_read_valid_o; }) {
      pins.reads.valid = &at(m.tx_read_valid_o);
      pins.reads.ready = &at(m.tx_read_ready_i);
      pins.reads.hdr = at(m.tx_read_hdr_o).data();
    }
    return pins;
  }
};

}  // namespace emery
