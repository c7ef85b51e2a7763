// SPDX-License-Identifier: Apache-2.0
#include "systems/direct_router/host.hpp"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstring>
#include <stdexcept>

#include "direct_formats.hpp"
#include "direct_router.h"

namespace emery::direct_router {
namespace {

using direct_pkg::slow_desc_t, direct_pkg::slow_info_t, direct_pkg::slow_status_t;

constexpr std::uint64_t kBarBase = 0xe000'0000, kBarBytes = std::bit_ceil(sizeof(direct_router_t));
constexpr std::uint64_t kWindows = offsetof(direct_router_t, window);
constexpr std::uint64_t kWindowBytes = sizeof(direct_router__window_t);
constexpr unsigned kDescriptor = slow_desc_t::kBytes;
constexpr char kGivenUp[] = "given_up";
constexpr unsigned kCommand = 0x04, kBar0 = 0x10;

constexpr std::size_t kPeer = offsetof(direct_router_t, tables.peer);
constexpr std::size_t kClassMask = offsetof(direct_router_t, tables.class_mask);
#define EMERY_REG(name) offsetof(card_regs_t, name)

void put(std::uint8_t* to, std::uint64_t buffer, unsigned bytes) {
  slow_desc_t{}.set_addr(buffer).set_info(slow_info_t{}.set_bytes(bytes).word).write(to);
}
slow_info_t info_of(const std::uint8_t* descriptor) {
  return {slow_desc_t::read(descriptor).info()};
}
unsigned big16(const std::uint8_t* from) { return from[0] << 8 | from[1]; }

void put_mac(std::uint8_t* to, std::uint64_t mac) {
  for (unsigned i = 0; i < 6; ++i) to[i] = static_cast<std::uint8_t>(mac >> (40 - 8 * i));
}

}  // namespace

Host::Host(const HostConfig& config, Simulation& simulation, CpuPort& bus, HostMemory& memory,
           const Tables& tables)
    : config_(config),
      simulation_(simulation),
      bus_(bus),
      memory_(memory),
      routes_(tables.routes),
      classes_(tables.classes),
      control_(config_.control, routes_),
      card_(config.cards),
      turn_(config.classes) {
  for (Card& card : card_) card.given_up.resize(config.cards);
}

void Host::wait_for(const std::function<bool()>& done, const char* what) {
  if (!simulation_.run_until(done, simulation_.now() + 2000 * kMicrosecond))
    throw std::runtime_error(std::string("host: the bus does not answer: ") + what);
}

std::uint32_t Host::read(unsigned card, std::size_t offset) {
  std::uint32_t value = 0;
  bool done = false, good = false;
  bus_.read(card_[card].base + offset, [&](std::uint32_t v, bool ok) {
    value = v;
    good = ok;
    done = true;
  });
  wait_for([&] { return done; }, "a register");
  if (!good) throw std::runtime_error("host: card " + std::to_string(card) + " does not answer");
  return value;
}

void Host::probe() {
  const auto config_read = [&](unsigned device, unsigned reg) {
    std::uint32_t value = 0;
    bool done = false;
    bus_.config_read(device, reg, [&](std::uint32_t v, bool) {
      value = v;
      done = true;
    });
    wait_for([&] { return done; }, "configuration space");
    return value;
  };
  for (unsigned c = 0; c < config_.cards; ++c) {
    // The first write also tells the card its number, without which it cannot answer a read.
    bus_.config_write(c, kBar0, ~0u);
    bus_.config_write(c, kBar0 + 4, 0);
    if (config_read(c, 0) == ~0u)
      throw std::runtime_error("host: there is no card " + std::to_string(c));
    const std::uint32_t size = config_read(c, kBar0) & ~0xfu;
    if (~size + 1 != kBarBytes) throw std::runtime_error("host: BAR 0 has an unknown size");
    card_[c].base = kBarBase + c * kBarBytes;
    bus_.config_write(c, kBar0, static_cast<std::uint32_t>(card_[c].base));
    bus_.config_write(c, kCommand, 0x6);  // memory space, bus master
    if (read(c, EMERY_REG(magic)) != CARD_REGS__MAGIC__VALUE_reset)
      throw std::runtime_error("host: card " + std::to_string(c) + " is not a direct-router card");
  }
  peers_ = read(0, EMERY_REG(peers));
  lpm_nodes_ = read(0, EMERY_REG(lpm_nodes));
  if (peers_ + 1 < config_.cards) throw std::runtime_error("host: too many cards for their tables");
  if (read(0, EMERY_REG(classes)) != config_.classes)
    throw std::runtime_error("host: the cards have another number of classes");
}

void Host::make_ring(Ring& ring, bool receive) {
  ring.base = memory_.alloc(std::uint64_t{kDescriptor} * config_.ring, HostMemory::kPage,
                            HostMemory::Zone::kLow);
  ring.memory = memory_.pointer(ring.base, std::uint64_t{kDescriptor} * config_.ring);
  ring.buffers.resize(config_.ring);
  if (!receive) return;
  for (unsigned i = 0; i < config_.ring; ++i) {
    ring.buffers[i] = free_.back();
    free_.pop_back();
    put(ring.memory + kDescriptor * i, ring.buffers[i], buffer_bytes());
  }
  ring.producer = ring.told = static_cast<std::uint16_t>(config_.ring);
}

void Host::make_rings() {
  // Buffers for every receive descriptor, and as many as transmit rings can hold back.
  const unsigned buffers = config_.cards * config_.ring * (config_.classes + 1) + 64;
  const std::uint64_t pool =
      memory_.alloc(buffers * buffer_bytes(), HostMemory::kPage, HostMemory::Zone::kLow);
  for (unsigned i = 0; i < buffers; ++i) free_.push_back(pool + i * buffer_bytes());
  const auto log_size = static_cast<std::uint32_t>(std::countr_zero(config_.ring));
  const std::uint64_t status = memory_.alloc(slow_status_t::kBytes * config_.cards,
                                             HostMemory::kPage, HostMemory::Zone::kLow);

  for (unsigned c = 0; c < config_.cards; ++c) {
    Card& card = card_[c];
    for (unsigned k = 0; k < config_.classes; ++k) {
      Ring& ring = card.receive.emplace_back();
      make_ring(ring, true);
      const std::size_t at = EMERY_REG(rx_ring) + k * sizeof(card_regs__rx_ring__stride20_t);
      write(c, at + offsetof(card_regs__rx_ring__stride20_t, base_lo),
            static_cast<std::uint32_t>(ring.base));
      write(c, at + offsetof(card_regs__rx_ring__stride20_t, base_hi),
            static_cast<std::uint32_t>(ring.base >> 32));
      write(c, at + offsetof(card_regs__rx_ring__stride20_t, control),
            CARD_REGS__RX_RING__CONTROL__ENABLE_bm | log_size);
      write(c, at + offsetof(card_regs__rx_ring__stride20_t, producer), ring.producer);
    }
    make_ring(card.transmit, false);
    card.status = status + slow_status_t::kBytes * c;
    card.status_memory = memory_.pointer(card.status, slow_status_t::kBytes);
    const std::size_t at = EMERY_REG(tx_ring);
    write(c, at + offsetof(card_regs__tx_ring_t, base_lo),
          static_cast<std::uint32_t>(card.transmit.base));
    write(c, at + offsetof(card_regs__tx_ring_t, base_hi),
          static_cast<std::uint32_t>(card.transmit.base >> 32));
    write(c, at + offsetof(card_regs__tx_ring_t, status_lo),
          static_cast<std::uint32_t>(card.status));
    write(c, at + offsetof(card_regs__tx_ring_t, status_hi),
          static_cast<std::uint32_t>(card.status >> 32));
    write(c, at + offsetof(card_regs__tx_ring_t, control),
          CARD_REGS__TX_RING__CONTROL__ENABLE_bm | log_size |
              config_.tx_prefetch << CARD_REGS__TX_RING__CONTROL__PREFETCH_bp |
              16u << CARD_REGS__TX_RING__CONTROL__WRITEBACK_bp);
  }
}

void Host::start(const std::vector<CardRoutes>& routes) {
  for (unsigned c = 0; c < config_.cards; ++c) {
    write(c, EMERY_REG(max_frame), config_.max_frame);
    write(c, EMERY_REG(mac_lo), static_cast<std::uint32_t>(config_.own_mac[c] >> 16));
    write(c, EMERY_REG(mac_hi), static_cast<std::uint32_t>(config_.own_mac[c] & 0xffff));
    write(c, EMERY_REG(res_min), config_.res_min_words);
    write(c, EMERY_REG(timeout), config_.timeout_clocks);
    write(c, EMERY_REG(retry), config_.retry_clocks);
    load_routes(c, routes[c]);
    load_classes(c);
  }
  if (config_.slow_path) make_rings();
  // All cards know their peers before the first takes a frame.
  for (unsigned c = 0; c < config_.cards; ++c) {
    std::uint32_t control = CARD_REGS__CONTROL__ENABLE_bm;
    if (config_.qos) control |= CARD_REGS__CONTROL__QOS_bm;
    if (config_.fast_path) control |= CARD_REGS__CONTROL__FAST_PATH_bm;
    if (routes[c].trie()) control |= CARD_REGS__CONTROL__LPM_bm;
    if (config_.rewrite_source) control |= CARD_REGS__CONTROL__REWRITE_SOURCE_bm;
    if (config_.output_round_robin) control |= CARD_REGS__CONTROL__OUTPUT_ROUND_ROBIN_bm;
    if (config_.promiscuous) control |= CARD_REGS__CONTROL__PROMISCUOUS_bm;
    if (control_.on()) control |= CARD_REGS__CONTROL__EXPIRED_TO_HOST_bm;
    write(c, EMERY_REG(control), control);
  }
  const Time most = (static_cast<Time>(bus_.requests()) + 100) * kMicrosecond;
  if (!simulation_.run_until([&] { return bus_.quiet(); }, simulation_.now() + most))
    throw std::runtime_error("host: the cards do not take their settings");
  if (bus_.buffers_writes()) {
    for (unsigned c = 0; c < config_.cards; ++c) read(c, EMERY_REG(magic));
  }
  running_ = config_.slow_path;
}

void Host::load_routes(unsigned c, const CardRoutes& routes) {
  using Peer = peer_regs__stride20_t;
  for (unsigned other = 0; other < config_.cards; ++other) {
    if (other == c) continue;
    const unsigned peer = CardRoutes::peer(c, other);
    const std::size_t at = kPeer + peer * sizeof(Peer);
    const auto& route = routes.ternary()[peer];
    const std::uint64_t ours = window(other, CardRoutes::peer(other, c));
    write(c, at + offsetof(Peer, window_lo), static_cast<std::uint32_t>(ours));
    write(c, at + offsetof(Peer, window_hi), static_cast<std::uint32_t>(ours >> 32));
    write(c, at + offsetof(Peer, value), route ? route->prefix : 0);
    write(c, at + offsetof(Peer, mask), route ? route->mask() : 0);
    write(c, at + offsetof(Peer, hop_lo),
          static_cast<std::uint32_t>(config_.next_hop[other] >> 16));
    write(c, at + offsetof(Peer, hop_hi),
          static_cast<std::uint32_t>(config_.next_hop[other] & 0xffff) |
              (route ? PEER_REGS__HOP_HI__VALID_bm : 0));
  }
  if (!routes.trie()) return;
  write(c, EMERY_REG(lpm_addr), 0);
  for (const std::uint32_t entry : routes.entries()) write(c, EMERY_REG(lpm_data), entry);
}

// Where a frame that takes the slow path leaves, a card does not know: it goes by what is of any
// port.
void Host::load_classes(unsigned c) {
  using Class = class_regs__stride20_t;
  for (unsigned d = 0; d <= peers_; ++d) {
    if (d + 1 >= config_.cards && d != peers_) continue;
    for (unsigned k = 0; k + 1 < config_.classes; ++k) {
      const auto rule = std::ranges::find_if(classes_, [&](const ClassRule& r) {
        return r.cls == k && (d == peers_ ? !r.port : r.at(CardRoutes::card(c, d)));
      });
      const std::size_t at = kClassMask + (4 * d + k) * sizeof(Class);
      const ClassRule& r = rule == classes_.end() ? ClassRule{} : *rule;
      write(c, at + offsetof(Class, src), r.source.prefix);
      write(c, at + offsetof(Class, src_mask), r.source.mask());
      write(c, at + offsetof(Class, dst), r.destination.prefix);
      write(c, at + offsetof(Class, dst_mask), r.destination.mask());
      write(c, at + offsetof(Class, other),
            std::uint32_t{r.tos} << CLASS_REGS__OTHER__TOS_bp |
                std::uint32_t{r.tos_mask} << CLASS_REGS__OTHER__TOS_MASK_bp |
                std::uint32_t{r.protocol} << CLASS_REGS__OTHER__PROTOCOL_bp |
                std::uint32_t{r.protocol_mask} << CLASS_REGS__OTHER__PROTOCOL_MASK_bp);
      write(c, at + offsetof(Class, control),
            rule == classes_.end() ? 0 : CLASS_REGS__CONTROL__VALID_bm);
    }
  }
}

std::uint64_t Host::window(unsigned card, unsigned peer) const {
  return card_[card].base + kWindows + peer * kWindowBytes;
}

std::uint64_t Host::window_bytes() { return kWindowBytes; }

// ---- packets

// RFC 1812, 5.2 and 5.3: why a packet is not forwarded, or null and where it goes. Then it is
// rewritten.
const char* Host::judge(std::span<std::uint8_t> frame, unsigned& port) const {
  std::uint8_t* const eth = frame.data();
  if (big16(eth + 12) != 0x0800) return "not_ip";
  std::uint8_t* const ip = eth + 14;
  const unsigned room = static_cast<unsigned>(frame.size()) - 14, words = 2u * (ip[0] & 15u);
  const unsigned total = big16(ip + 2);
  if (ip[0] >> 4 != 4 || words < 10 || total < 2 * words || total > room) return "header";
  std::uint32_t sum = 0;
  for (unsigned i = 0; i < words; ++i) sum += big16(ip + 2 * i);
  sum = (sum & 0xffff) + (sum >> 16);
  if (sum + (sum >> 16) != 0xffff && ((sum & 0xffff) + (sum >> 16)) != 0xffff) return "checksum";
  if ((eth[0] & 1) && (ip[16] & 0xf0) != 0xe0) return "group_mac";
  if (ip[12] == 0 || ip[12] == 127 || ip[12] >= 224) return "source";
  if (ip[16] == 0 || ip[16] == 127 || ip[16] >= 224) return "destination";
  const std::uint32_t address = static_cast<std::uint32_t>(big16(ip + 16)) << 16 | big16(ip + 18);
  if (control_.owns(address)) return "own_address";
  const auto to = routes_.find(address);
  if (!to) return "no_route";
  if (ip[8] < 2) return "ttl";
  port = *to;
  return nullptr;
}

bool Host::begin(Time now, unsigned from, unsigned cls) {
  Card& card = card_[from];
  Ring& ring = card.receive[cls];
  const unsigned slot = ring.consumer % config_.ring;
  const std::uint8_t* descriptor = ring.memory + kDescriptor * slot;
  if (!info_of(descriptor).done()) return false;
  const unsigned bytes = info_of(descriptor).bytes();
  std::uint8_t* data = memory_.pointer(ring.buffers[slot], bytes);
  Work work{from, cls, kNone, nullptr, now};
  if (data == nullptr || bytes < 60) {
    work.drop = "bad_descriptor";
  } else {
    unsigned port = 0;
    work.drop = judge({data, bytes}, port);
    if (work.drop == nullptr) {
      work.to = port;
      const Ring& out = card_[port].transmit;
      if (full(out)) {
        ++stats_.ring_full;
        if (now - card_[port].moved < config_.patience) {
          held_ = true;
          return false;
        }
        work.drop = kGivenUp;
      }
    }
  }
  work_ = work;
  return true;
}

void Host::poll(Time now) {
  if (!running_) return;
  if (working_) {
    if (now < until_) return;
    finish();
    working_ = false;
  }
  if (bus_.requests() >= kMostAccesses) return;
  held_ = false;
  for (Card& card : card_) reap(now, card);
  for (unsigned c = 0; untold_ != 0 && c < config_.cards; ++c) {
    const Ring& out = card_[c].transmit;
    if (out.told != out.producer && now - card_[c].untold_since >= config_.tell_after) tell(c);
  }
  for (unsigned k = 0; k < config_.classes; ++k) {
    for (unsigned n = 0; n < config_.cards; ++n) {
      const unsigned from = (turn_[k] + n) % config_.cards;
      if (!begin(now, from, k)) continue;
      turn_[k] = (from + 1) % config_.cards;
      working_ = true;
      until_ = now + config_.cpu_per_packet;
      stats_.busy += config_.cpu_per_packet;
      return;
    }
  }
}

void Host::finish() {
  Card& card = card_[work_.from];
  Ring& ring = card.receive[work_.cls];
  const unsigned slot = ring.consumer % config_.ring;
  const unsigned bytes = info_of(ring.memory + kDescriptor * slot).bytes();
  const std::uint64_t buffer = ring.buffers[slot];
  ++ring.consumer;
  ++stats_.received;
  if (work_.drop) {
    ++stats_.dropped;
    if (work_.drop == kGivenUp) {
      ++card.given_up[work_.to];
    } else {
      ++card.drops[work_.drop];
      if (control_.on()) answer({memory_.pointer(buffer, bytes), bytes});
    }
    return give_back(card, ring, buffer);
  }
  std::uint8_t* const frame = memory_.pointer(buffer, bytes);
  std::uint8_t* const ip = frame + 14;
  --ip[8];
  // RFC 1624, equation 3: the TTL is the high byte of its word, which gets 0x100 less.
  const unsigned sum = (~big16(ip + 10) & 0xffff) + 0xfeffu;
  const unsigned checksum = ~(sum + (sum >> 16)) & 0xffff;
  ip[10] = static_cast<std::uint8_t>(checksum >> 8);
  ip[11] = static_cast<std::uint8_t>(checksum);
  put_mac(frame, config_.next_hop[work_.to]);
  put_mac(frame + 6, config_.own_mac[work_.to]);

  transmit(work_.to, buffer, bytes);
  ++stats_.forwarded;
  if (on_forward) on_forward({frame, bytes}, work_.taken);
  const std::uint64_t fresh = free_.back();
  free_.pop_back();
  give_back(card, ring, fresh);
}

void Host::transmit(unsigned port, std::uint64_t buffer, std::size_t bytes) {
  Ring& out = card_[port].transmit;
  const unsigned at = out.producer % config_.ring;
  out.buffers[at] = buffer;
  put(out.memory + kDescriptor * at, buffer, static_cast<unsigned>(bytes));
  if (out.told == out.producer) {
    ++untold_;
    card_[port].untold_since = simulation_.now();
  }
  ++out.producer;
  if (static_cast<std::uint16_t>(out.producer - out.told) >=
      std::min(config_.tx_batch, config_.ring / 2))
    tell(port);
}

// The doorbell.
void Host::tell(unsigned port) {
  Ring& out = card_[port].transmit;
  out.told = out.producer;
  --untold_;
  write(port, EMERY_REG(tx_ring) + offsetof(card_regs__tx_ring_t, producer), out.producer);
}

// What the router says to the frame at hand, which goes nowhere.
void Host::answer(std::span<const std::uint8_t> frame) {
  const Control::Answer said =
      control_.about(work_.drop, frame, work_.from, work_.taken + config_.cpu_per_packet);
  if (said.frame.empty()) return;
  if (full(card_[said.port].transmit)) return control_.silent("ring_full");
  const std::uint64_t buffer = free_.back();
  free_.pop_back();
  memory_.write(buffer, said.frame.data(), said.frame.size());
  transmit(said.port, buffer, said.frame.size());
  control_.sent(said.kind);
  if (on_answer) on_answer(said.frame, said.port);
}

// The next receive descriptor gets this buffer; the card hears of several at once.
void Host::give_back(Card& card, Ring& ring, std::uint64_t buffer) {
  const unsigned slot = ring.producer % config_.ring;
  ring.buffers[slot] = buffer;
  put(ring.memory + kDescriptor * slot, buffer, buffer_bytes());
  ++ring.producer;
  const unsigned least = std::min(config_.refill, config_.ring / 2);
  if (static_cast<std::uint16_t>(ring.producer - ring.told) < least) return;
  ring.told = ring.producer;
  const auto c = static_cast<unsigned>(&card - card_.data());
  const auto k = static_cast<std::size_t>(&ring - card.receive.data());
  write(c,
        EMERY_REG(rx_ring) + k * sizeof(card_regs__rx_ring__stride20_t) +
            offsetof(card_regs__rx_ring__stride20_t, producer),
        ring.producer);
}

void Host::reap(Time now, Card& card) {
  Ring& out = card.transmit;
  const bool empty = out.consumer == out.producer;
  const auto done = slow_status_t::read(card.status_memory).consumer();
  while (out.consumer != done && out.consumer != out.producer) {
    free_.push_back(out.buffers[out.consumer % config_.ring]);
    ++out.consumer;
    card.moved = now;
  }
  if (empty) card.moved = now;
}

void Host::write_json(JsonWriter& json) const {
  json.begin_object().field("received", stats_.received).field("forwarded", stats_.forwarded);
  json.field("dropped", stats_.dropped).field("polls_ring_full", stats_.ring_full);
  if (control_.on()) control_.write_json(json);
  json.end_object();
}

}  // namespace emery::direct_router
