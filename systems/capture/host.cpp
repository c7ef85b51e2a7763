// SPDX-License-Identifier: Apache-2.0
#include "systems/capture/host.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <stdexcept>

#include "bench/pcie/host_calls.hpp"
#include "systems/capture/card.hpp"

namespace emery::capture {

emcap_config ring_config(const Options& options) {
  emcap_config c{};
  c.rings = options.get<unsigned>("rings");
  c.block_bytes = options.get<unsigned>("block_kb") << 10;
  c.blocks = options.get<unsigned>("blocks");
  c.flush_clocks =
      static_cast<unsigned>(std::lround(options.get<double>("flush_us") * kCoreHz / 1'000'000));
  c.timestamps = options.get<bool>("timestamps");
  return c;
}

// The library calls in C, so nothing may be thrown through it that it would have to clean up after:
// memory that is not there is a null pointer, a function that does not answer gives all ones.
emcap_ops Machine::ops() {
  emcap_ops ops{};
  ops.context = this;
  ops.functions = [](void* context) {
    return static_cast<unsigned>(static_cast<Machine*>(context)->roots_.size());
  };
  ops.serial = [](void* context, unsigned function) -> std::uint64_t {
    RootComplex& root = *static_cast<Machine*>(context)->roots_[function];
    // The list of extended capabilities, to the Device Serial Number.
    for (std::uint32_t at = 0x100, steps = 0; at >= 0x100 && steps < 32; ++steps) {
      const std::uint32_t head = root.config_read(static_cast<std::uint16_t>(at));
      if (head == ~0u) break;
      if ((head & 0xffff) == 3) {
        const std::uint64_t low = root.config_read(static_cast<std::uint16_t>(at + 4));
        return low | std::uint64_t{root.config_read(static_cast<std::uint16_t>(at + 8))} << 32;
      }
      at = head >> 20;
    }
    return 0;
  };
  ops.read32 = [](void* context, unsigned function, std::uint32_t offset) {
    return read32(*static_cast<Machine*>(context)->roots_[function], offset);
  };
  ops.write32 = [](void* context, unsigned function, std::uint32_t offset, std::uint32_t value) {
    write32(*static_cast<Machine*>(context)->roots_[function], offset, value);
  };
  ops.bus_master = [](void* context, unsigned function, int on) {
    set_bus_master(*static_cast<Machine*>(context)->roots_[function], on != 0);
  };
  ops.alloc = [](void*, std::size_t bytes) { return std::calloc(1, bytes); };
  ops.free = [](void*, void* memory) { std::free(memory); };
  ops.dma_alloc = [](void* context, std::size_t bytes, std::size_t align,
                     std::uint64_t* bus) -> void* {
    auto* self = static_cast<Machine*>(context);
    try {
      *bus = self->memory_.alloc(bytes, align);
    } catch (const std::bad_alloc&) {
      return nullptr;
    }
    self->allocations_.push_back({*bus, bytes, self->memory_.pointer(*bus, bytes)});
    return self->allocations_.back().memory;
  };
  ops.dma_free = [](void* context, void* memory) {
    auto* self = static_cast<Machine*>(context);
    for (const Allocation& a : self->allocations_) {
      if (a.memory == memory) self->memory_.free(a.addr);
    }
  };
  return ops;
}

ConsumerConfig ConsumerConfig::from(const Options& options) {
  ConsumerConfig c{};
  c.consumers = options.get<unsigned>("consumers");
  c.rings = options.get<unsigned>("rings");
  c.ns_per_packet = options.get<double>("ns_per_packet");
  c.ns_per_byte = options.get<double>("ns_per_byte");
  const auto fault = options.get<std::string>("consumer_fault");
  if (fault == "wrong_put") c.misbehaviour = Misbehaviour::kWrongPut;
  if (fault == "no_put") c.misbehaviour = Misbehaviour::kNoPut;
  if (c.consumers > c.rings && c.consumers % c.rings != 0) {
    throw OptionError("consumers: " + std::to_string(c.consumers) + " cannot share " +
                      std::to_string(c.rings) + " rings evenly");
  }
  return c;
}

// Consumers are dealt to rings, or rings to consumers where there are more of these.
Consumers::Consumers(emcap* device, const ConsumerConfig& config, OnPacket on_packet)
    : config_(config),
      on_packet_(std::move(on_packet)),
      consumers_(config.consumers),
      of_ring_(config.rings) {
  for (unsigned i = 0; i < std::max(config.consumers, config.rings); ++i) {
    const unsigned ring = i % config.rings, c = i % config.consumers;
    emcap_consumer* attached = emcap_attach(device, ring);
    if (!attached)
      throw std::runtime_error("capture: the library has no ring " + std::to_string(ring));
    consumers_[c].rings.push_back(attached);
    consumers_[c].numbers.push_back(ring);
    of_ring_[ring].push_back(c);
  }
  for (Consumer& consumer : consumers_) consumer.packets.resize(config.burst);
}

Consumers::~Consumers() {
  for (Consumer& consumer : consumers_) {
    for (emcap_consumer* ring : consumer.rings) emcap_detach(ring);
  }
}

void Consumers::wake(unsigned ring) {
  for (const unsigned c : of_ring_[ring]) {
    consumers_[c].empty = 0;
    active_ += !consumers_[c].awake;
    consumers_[c].awake = true;
  }
}

void Consumers::wake_all() {
  for (unsigned r = 0; r < config_.rings; ++r) wake(r);
}

void Consumers::poll(Time now) {
  if (active_ == 0) return;
  for (Consumer& consumer : consumers_) {
    if (!consumer.awake) continue;
    while (consumer.awake && consumer.busy_until <= now) {
      if (consumer.taken) finish(consumer);
      if (!begin(consumer, now)) break;
    }
  }
}

// Takes a burst from the next ring that has one; false when it goes on next clock, or to sleep.
bool Consumers::begin(Consumer& consumer, Time now) {
  while (consumer.empty < consumer.rings.size()) {
    const std::size_t at = consumer.turn;
    consumer.turn = (at + 1) % consumer.rings.size();
    const unsigned n = emcap_get_burst(consumer.rings[at], consumer.packets.data(), config_.burst);
    if (n == 0) {
      ++consumer.empty;
      continue;
    }
    consumer.empty = 0;
    consumer.taken = n;
    consumer.from = at;
    double ns = n * config_.ns_per_packet;
    for (unsigned i = 0; i < n; ++i) {
      const emcap_packet& packet = consumer.packets[i];
      ns += packet.stored * config_.ns_per_byte;
      on_packet_(consumer.numbers[at], packet, now);
    }
    const auto cost = static_cast<Time>(ns * kNanosecond);
    // The next burst begins where this one ends, not at the clock edge after it.
    consumer.busy_until = std::max(consumer.busy_until, now - 4 * kNanosecond) + cost;
    consumer.busy += cost;
    return true;
  }
  consumer.awake = false;
  --active_;
  return false;
}

void Consumers::finish(Consumer& consumer) {
  emcap_consumer* ring = consumer.rings[consumer.from];
  const unsigned n = consumer.taken;
  consumer.taken = 0;
  if (config_.misbehaviour == Misbehaviour::kNoPut) return;
  if (config_.misbehaviour == Misbehaviour::kWrongPut && n > 1) {
    // The newest first, then none of its packets at all, then as it should be.
    refused_ += emcap_put_burst(ring, &consumer.packets[n - 1], 1) != 0;
    emcap_packet foreign = consumer.packets[0];
    ++foreign.data;
    refused_ += emcap_put_burst(ring, &foreign, 1) != 0;
  }
  if (emcap_put_burst(ring, consumer.packets.data(), n) != 0) {
    throw std::logic_error("capture: the library takes its own packets not back");
  }
}

Time Consumers::busy_until() const {
  Time last = 0;
  for (const Consumer& consumer : consumers_) last = std::max(last, consumer.busy_until);
  return last;
}

Consumers::Busy Consumers::busy(Time now) const {
  Busy found;
  for (const Consumer& consumer : consumers_) {
    const Time worked = consumer.busy - std::max<Time>(consumer.busy_until - now, 0);
    found.all += worked;
    found.most = std::max(found.most, worked);
  }
  return found;
}

}  // namespace emery::capture
