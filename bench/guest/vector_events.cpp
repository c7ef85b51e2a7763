// SPDX-License-Identifier: Apache-2.0
#include "bench/guest/vector_events.hpp"

#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <string>
#include <string_view>
#include <utility>

#include "bench/guest/slot_calls.hpp"
#include "bench/pcie/host_calls.hpp"

namespace emery {

VectorEvents::VectorEvents(SlotInterface& host)
    : host_(host), vectors_(static_cast<std::size_t>(host.device().msix_vectors)) {
  reset_table();
  host_.on_vector([this](unsigned vector) { trigger(vector); });
}

VectorEvents::~VectorEvents() { host_.on_vector({}); }

bool VectorEvents::is_event(const Descriptor& descriptor) {
  constexpr std::string_view kKind = "anon_inode:[eventfd]";
  char found[32];
  const std::string path = "/proc/self/fd/" + std::to_string(descriptor.number());
  const ssize_t bytes = ::readlink(path.c_str(), found, sizeof found);
  return bytes > 0 && std::string_view(found, static_cast<std::size_t>(bytes)) == kKind;
}

void VectorEvents::reset_table() {
  table_.assign(kEntry * vectors_.size(), 0);
  for (std::size_t at = kVectorControl; at < table_.size(); at += kEntry) table_[at] = 1;  // masked
}

// The device's entry of that vector.
void VectorEvents::lead(unsigned vector) {
  const Vector& v = vectors_[vector];
  wait_for_room(host_);
  set_msix_vector(host_, vector, vector, v.masked || !v.event);
}

void VectorEvents::update_control() {
  enabled_ = std::any_of(vectors_.begin(), vectors_.end(),
                         [](const Vector& vector) { return static_cast<bool>(vector.event); });
  const std::uint32_t bits = (enabled_ ? kEnable : 0u) | (control_ & kMaskAll);
  if (vectors_.empty()) return;
  host_.config_write(host_.device().msix_cap, bits << 16, 0xc);
}

void VectorEvents::assign(unsigned vector, Descriptor event) {
  Vector& v = vectors_.at(vector);
  if (!event && !v.event) return;
  if (event) v.masked = false;
  v.event = std::move(event);
  lead(vector);
  if (enabled_ != static_cast<bool>(v.event)) update_control();
}

void VectorEvents::mask(unsigned vector, bool on) {
  Vector& v = vectors_.at(vector);
  if (std::exchange(v.masked, on) != on && v.event) lead(vector);
}

void VectorEvents::clear() {
  for (unsigned i = 0; i < count(); ++i) assign(i, Descriptor());
}

void VectorEvents::renew() {
  control_ = 0;
  reset_table();
  for (unsigned i = 0; i < count(); ++i) {
    vectors_[i].masked = false;
    if (vectors_[i].event) lead(i);
  }
  update_control();
}

void VectorEvents::set_control(std::uint16_t value) {
  const auto before = std::exchange(control_, value & (kEnable | kMaskAll));
  if ((before ^ control_) & kMaskAll) update_control();
}

void VectorEvents::write_table(std::size_t offset, const std::uint8_t* from, std::size_t bytes) {
  std::copy_n(from, bytes, table_.begin() + static_cast<std::ptrdiff_t>(offset));
  const std::size_t control = offset / kEntry * kEntry + kVectorControl;
  if (offset <= control && control < offset + bytes)
    mask(static_cast<unsigned>(offset / kEntry), table_[control] & 1);
}

void VectorEvents::read_table(std::size_t offset, std::uint8_t* to, std::size_t bytes) const {
  std::copy_n(table_.begin() + static_cast<std::ptrdiff_t>(offset), bytes, to);
}

// A descriptor that is full has been signalled already.
void VectorEvents::trigger(unsigned vector) {
  if (vector >= count() || !vectors_[vector].event) return;
  const int number = vectors_[vector].event.number();
  pollfd room{number, POLLOUT, 0};
  if (::poll(&room, 1, 0) != 1 || !(room.revents & POLLOUT)) return;
  const std::uint64_t one = 1;
  if (::write(number, &one, sizeof one) != sizeof one)
    throw ChannelError("an event descriptor cannot be written to");
}

}  // namespace emery
