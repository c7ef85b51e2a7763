// SPDX-License-Identifier: Apache-2.0
#include "bench/guest/user_driver.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <stdexcept>
#include <utility>

#include "bench/guest/slot_calls.hpp"
#include "bench/pcie/host_calls.hpp"

namespace emery {
namespace {

constexpr std::uint64_t kLongestPass = 1'000'000'000;  // ns
constexpr Time kDoze = 100 * kNanosecond;  // of a driver that sleeps, between looks at its socket

}  // namespace

UserDriver::UserDriver(Simulation& simulation, HostInterface& host, HostMemory& memory, Facts facts)
    : simulation_(simulation), host_(host), memory_(memory), facts_(facts) {
  host_.on_vector([this](unsigned vector) { wake(vector); });
}

UserDriver::~UserDriver() {
  for (const Mapping& m : mappings_) ::munmap(m.at, m.bytes);
}

void UserDriver::serve(const Descriptor& socket) {
  do {
    sleep(socket);
  } while (answer(socket));
}

bool UserDriver::waits() const {
  return std::any_of(queues_.begin(), queues_.end(),
                     [](const auto& x) { return x.second.state == Queue::State::kWaits; });
}

// Until the driver asks for something, an interrupt has come, or time stands still for good.
void UserDriver::sleep(const Descriptor& socket) {
  if (!waits()) return;
  const bool awake = std::any_of(queues_.begin(), queues_.end(), [](const auto& x) {
    return x.second.state == Queue::State::kAwake;
  });
  if (readable(socket.number(), awake ? kPatience : kSilence)) return;
  const std::uint64_t before = stats_.wakes;
  for (Time then = kNever; then != simulation_.now() && stats_.wakes == before;) {
    then = simulation_.now();
    on_poll(kDoze);
    if (readable(socket.number(), 0)) return;
  }
}

// What was woken while it armed does not sleep.
void UserDriver::wait(Queue& queue, std::uint64_t how) {
  if (how == SIM_AWAKE) queue.state = Queue::State::kAwake;
  if (how == SIM_ARMS) queue.state = Queue::State::kArms;
  if (how == SIM_ASLEEP && queue.state == Queue::State::kArms) queue.state = Queue::State::kWaits;
}

void UserDriver::wake(unsigned vector) {
  for (auto& [number, queue] : queues_) {
    const bool armed = queue.state == Queue::State::kWaits || queue.state == Queue::State::kArms;
    if (queue.vector != vector || !armed) continue;
    queue.state = Queue::State::kAwake;
    ++stats_.wakes;
    const std::uint64_t one = 1;
    if (::write(queue.event.number(), &one, sizeof one) != sizeof one)
      throw ChannelError("a driver's event descriptor cannot be written to");
  }
}

std::uint64_t UserDriver::lead_vectors(std::uint64_t count) {
  if (count > static_cast<std::uint64_t>(host_.device().msix_vectors)) return 0;
  queues_.clear();
  vectors_ = count;
  if (count == 0) {
    disable_msix(host_);
  } else {
    enable_msix(host_, static_cast<unsigned>(count));
  }
  return 1;
}

std::uint64_t UserDriver::add_queue(const sim_message& m, std::vector<Descriptor>& with) {
  if (with.size() != 1 || m.value >= vectors_) return 0;
  queues_.insert_or_assign(m.at, Queue{std::move(with.front()), static_cast<unsigned>(m.value)});
  return 1;
}

bool UserDriver::answer(const Descriptor& socket) {
  sim_message m;
  std::vector<Descriptor> with;
  if (!receive(socket, &m, sizeof m, &with)) return false;
  const PciDevice& device = host_.device();
  const bool inside = m.at % 4 == 0 && m.at < device.bar0_bytes;
  sim_message out{m.op, 0, 0, 0};
  if (m.op == SIM_HELLO && m.value == SIM_LINK_VERSION) {
    out.at = facts_.bits_per_second;
    out.value = facts_.address;
  } else if (m.op == SIM_MEMORY) {
    out.value = share(m.at, m.value, with);
  } else if (m.op == SIM_READ32 && inside) {
    ++stats_.reads;
    out.value = read32(host_, static_cast<std::uint32_t>(m.at));
  } else if (m.op == SIM_WRITE32 && inside) {
    ++stats_.writes;
    wait_for_room(host_);
    write32(host_, static_cast<std::uint32_t>(m.at), static_cast<std::uint32_t>(m.value));
    return true;
  } else if (m.op == SIM_MASTER) {
    set_bus_master(host_, m.value != 0);
  } else if (m.op == SIM_VECTORS) {
    out.value = lead_vectors(m.value);
  } else if (m.op == SIM_EVENT) {
    out.value = add_queue(m, with);
  } else if (m.op == SIM_WAIT && queues_.count(m.at) != 0 && m.value <= SIM_ASLEEP) {
    wait(queues_.at(m.at), m.value);
    return true;
  } else if ((m.op == SIM_PASS || m.op == SIM_POLL) && m.value <= kLongestPass) {
    const Time time = static_cast<Time>(m.value) * kNanosecond;
    if (m.op == SIM_POLL) {
      ++stats_.polls;
      on_poll(time);
    } else {
      simulation_.run_for(time);
    }
    out.value = ends() ? SIM_ENDS : SIM_RUNS;
    out.at = static_cast<std::uint64_t>(simulation_.now() / kNanosecond);
  } else {
    throw ChannelError("the driver's request " + std::to_string(m.op) + " of " +
                       std::to_string(m.at) + ", " + std::to_string(m.value) + " makes no sense");
  }
  send(socket, &out, sizeof out);
  return true;
}

// 1 when the device reaches it, at that address.
std::uint64_t UserDriver::share(std::uint64_t addr, std::uint64_t bytes,
                                const std::vector<Descriptor>& with) {
  if (with.size() != 1 || bytes == 0) return 0;
  void* at = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, with[0].number(), 0);
  if (at == MAP_FAILED) return 0;
  mappings_.push_back({at, bytes});
  try {
    memory_.lend(addr, bytes, static_cast<std::uint8_t*>(at));
  } catch (const std::invalid_argument&) {
    return 0;
  }
  return 1;
}

}  // namespace emery
