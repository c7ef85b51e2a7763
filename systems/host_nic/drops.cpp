// SPDX-License-Identifier: Apache-2.0
#include "systems/host_nic/drops.hpp"

#include <algorithm>
#include <cstddef>

#include "host_nic.h"

namespace emery::host_nic {

std::uint64_t Drops::gone(int stream, std::uint64_t unseen) {
  const std::uint64_t frames = score_.missing(stream) - unseen;
  dropped(stream, "reset", frames);
  return frames;
}

std::uint64_t Drops::lose() {
  std::uint64_t sum = std::exchange(lost_, 0);
  joiner_.forget();
  for (unsigned p = 0; ports_.transmit() && p < ports_.size(); ++p)
    sum += gone(ports_[p].tx_stream, 0);
  return sum;
}

void Drops::account(unsigned interfaces, bool stream) {
  for (unsigned i = 0; i < interfaces; ++i) {
    for (unsigned p = 0; p < ports_.of_interface(); ++p) {
      const Port& port = ports_.at(i, p);
      if (ports_.receive()) account_received(port.rx_stream, i, p);
      if (ports_.transmit()) account_sent(port.tx_stream, i, p, stream);
    }
  }
}

void Drops::account_received(int stream, unsigned interface, unsigned port) {
  const auto counted = [&](emnic_counter counter) {
    return emnic_get_counter(driver_.core(), counter, interface, port);
  };
  for (const DropReason& reason : kReceiveDrops)
    dropped(stream, reason.name, counted(reason.counter));
  // Only a hook of the user's own drops any: asked, which takes time, where frames are missing.
  if (score_.under_way(stream) > score_.counts(stream).dropped_total())
    dropped(stream, "hook", counted(EMNIC_PORT_rx_hook));
}

void Drops::account_sent(int stream, unsigned interface, unsigned port, bool is_stream) {
  // Of streams what is lost is all stranded; that register counts reads.
  const auto errors = emnic_get_counter(driver_.core(), EMNIC_PORT_tx_errors, interface, port);
  const std::uint64_t stranded =
      joiner_.on() ? joiner_.stranded(interface, port) : driver_.tx_stranded(interface, port);
  dropped(stream, "queue_stopped", stranded);
  // The device counts packets. Of one that it was to cut, the frames before the error may have
  // gone.
  const std::uint64_t missing = score_.missing(stream);
  const std::uint64_t more = missing > errors ? missing - errors : 0;
  dropped(stream, "tx_error",
          is_stream ? 0 : errors + std::min(more, joiner_.broken(interface, port)));
}

SlotReset::System of_card(Ports& ports, Drops& drops, Driver& driver) {
  SlotReset::System system;
  system.hold = [&ports](bool held) {
    for (std::uint8_t* pin : ports.resets()) *pin = held;
  };
  system.lose = [&drops] { return drops.lose(); };
  system.dropped = [&driver] {
    return emnic_read(driver.core(), offsetof(nic_device_regs_t, dma_unexpected));
  };
  system.late = [&driver] {
    return emnic_read(driver.core(), offsetof(nic_device_regs_t, dma_late));
  };
  system.streams = ports.streams();
  return system;
}

}  // namespace emery::host_nic
