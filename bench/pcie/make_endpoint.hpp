// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "bench/pcie/endpoint.hpp"
#include "bench/pcie/ptile_endpoint.hpp"
#include "bench/pcie/usplus_endpoint.hpp"

namespace emery {

// The hard block that has these pins.
inline std::unique_ptr<Endpoint> make_endpoint(const EndpointConfig& config, PcieLink& link,
                                               const EndpointPins& pins) {
  if (pins.usplus.rq.valid) return std::make_unique<UsPlusEndpoint>(config, link, pins);
  if (pins.ptile.tx_valid) return std::make_unique<PTileEndpoint>(config, link, pins);
  return std::make_unique<Endpoint>(config, link, pins);
}

}  // namespace emery
