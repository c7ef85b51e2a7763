// SPDX-License-Identifier: Apache-2.0
#include "systems/nic_core/machine.hpp"

#include <cstdlib>
#include <cstring>
#include <new>

#include "bench/pcie/host_calls.hpp"

namespace emery::nic {

namespace {

constexpr std::uint8_t kGone = 0xee;  // what is left in memory of an old ring
constexpr std::uint32_t kFailed = ~0u;

}  // namespace

emnic_ops Machine::ops() {
  emnic_ops ops{};
  ops.context = this;
  connect_registers(ops);
  connect_memory(ops);
  ops.interrupts = [](void* context, unsigned vectors) {
    Machine& m = self(context);
    if (vectors != 0) {
      enable_msix(m.host_, vectors);
      m.host_.on_vector([&m](unsigned vector) { m.on_interrupt(vector); });
    }
    return 0;
  };
  ops.delay_us = [](void* context, unsigned us) {
    self(context).host_.wait([] { return false; }, us * kMicrosecond);
  };
  return ops;
}

void Machine::connect_registers(emnic_ops& ops) {
  ops.read32 = [](void* context, std::uint32_t offset) {
    const Machine& m = self(context);
    return m.bar_ == 0 ? kFailed
                       : static_cast<std::uint32_t>(mmio_read(m.host_, m.bar_ + offset, 4));
  };
  ops.write32 = [](void* context, std::uint32_t offset, std::uint32_t value) {
    const Machine& m = self(context);
    if (m.bar_ != 0) mmio_write(m.host_, m.bar_ + offset, value, 4);
  };
  ops.write_lines = [](void* context, std::uint32_t offset, const void* from, unsigned bytes) {
    const Machine& m = self(context);
    m.host_.mmio_write(m.bar_ + offset, from, bytes);
  };
  ops.read32_later = [](void* context, std::uint32_t offset, void (*done)(void*, std::uint32_t),
                        void* of) {
    const Machine& m = self(context);
    m.host_.mmio_read_async(m.bar_ + offset, 4, [done, of](std::uint64_t value, bool) {
      done(of, static_cast<std::uint32_t>(value));
    });
  };
  ops.bus_master = [](void* context, int on) {
    const Machine& m = self(context);
    if (m.bar_ != 0) set_bus_master(m.host_, on != 0);
  };
}

void Machine::connect_memory(emnic_ops& ops) {
  ops.alloc = [](void*, std::size_t bytes) { return std::calloc(1, bytes); };
  ops.free = [](void*, void* memory) { std::free(memory); };
  ops.dma_alloc = [](void* context, std::size_t bytes, std::uint64_t* bus) -> void* {
    HostInterface& host = self(context).host_;
    try {
      *bus = host.dma_alloc(bytes);
    } catch (const std::bad_alloc&) {
      return nullptr;
    }
    return host.dma_pointer(*bus, bytes);
  };
  // It stays, and is watched, so that no one else gets it while the device may still write there.
  ops.dma_free = [](void* context, void*, std::size_t, std::uint64_t bus) {
    const Machine& m = self(context);
    if (m.reset_) m.host_.dma_free(bus);
  };
  ops.ring_memory = [](void* context, emnic_memory what, unsigned first, unsigned count,
                       std::uint64_t bus, std::size_t stride) {
    Machine& m = self(context);
    if (what == EMNIC_GIVEN_UP) {
      m.give_up(bus, stride);
    } else {
      m.on_rings(what, first, count, bus, stride);
    }
  };
}

// The old ring's memory: whoever still reads it gets what nobody can take for a frame.
void Machine::give_up(std::uint64_t bus, std::size_t bytes) {
  std::memset(host_.dma_pointer(bus, bytes), kGone, bytes);
  host_.watch(bus, bytes, [this](std::uint64_t, std::uint32_t) { ++stale_writes_; });
}

}  // namespace emery::nic
