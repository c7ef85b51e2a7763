// SPDX-License-Identifier: Apache-2.0
#include "systems/direct_router/host.hpp"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <stdexcept>
#include <utility>

#include "bench/traffic/network_order.hpp"
#include "bench/traffic/protocols.hpp"
#include "direct_router.h"
#include "systems/nic_core/levels.hpp"

namespace emery::direct_router {
namespace {

constexpr std::uint64_t kWindows = offsetof(direct_router_t, window);
constexpr std::uint64_t kWindowBytes = sizeof(direct_router__window_t);
constexpr char kGivenUp[] = "given_up", kOutputDown[] = "output_down", kHeld[] = "";
constexpr unsigned kCommand = 0x04, kBar0 = 0x10;
constexpr std::size_t kMostWaiting = 64;  // entries for a card's memory, of the 128 it can hold

constexpr std::size_t kPeer = offsetof(direct_router_t, tables.peer);
constexpr std::size_t kClassMask = offsetof(direct_router_t, tables.class_mask);
#define EMERY_REG(name) offsetof(card_regs_t, name)

}  // namespace

Host::Host(const HostConfig& config, Simulation& simulation, CpuPort& bus, HostMemory& memory,
           const Tables& tables, const MakeRings& make_rings)
    : config_(config),
      simulation_(simulation),
      bus_(bus),
      memory_(memory),
      routes_(tables.routes),
      classes_(tables.classes),
      control_(config_.control, routes_),
      card_(config.cards),
      turn_(config.classes) {
  const RingConfig rings{config.classes,   config.ring,        buffer_bytes(),
                         config.max_frame, config.tx_prefetch, config.refill};
  for (unsigned c = 0; c < config.cards; ++c) {
    card_[c].refused.resize(config.cards);
    if (config.slow_path) card_[c].rings = make_rings(c, rings);
  }
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

void Host::find(unsigned c) {
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
  // The first write also tells the card its number, without which it cannot answer a read.
  bus_.config_write(c, kBar0, ~0u);
  bus_.config_write(c, kBar0 + 4, 0);
  if (config_read(c, 0) == ~0u)
    throw std::runtime_error("host: there is no card " + std::to_string(c));
  const std::uint32_t size = config_read(c, kBar0) & ~0xfu;
  if (~size + 1 != config_.bar_bytes) throw std::runtime_error("host: BAR 0 has an unknown size");
  card_[c].base = config_.bar_base + c * config_.bar_bytes;
  bus_.config_write(c, kBar0, static_cast<std::uint32_t>(card_[c].base));
  bus_.config_write(c, kCommand, 0x6);  // memory space, bus master
  if (read(c, EMERY_REG(magic)) != CARD_REGS__MAGIC__VALUE_reset)
    throw std::runtime_error("host: card " + std::to_string(c) + " is not a direct-router card");
}

void Host::probe() {
  for (unsigned c = 0; c < config_.cards; ++c) find(c);
  peers_ = read(0, EMERY_REG(peers));
  lpm_nodes_ = read(0, EMERY_REG(lpm_nodes));
  if (config_.table_memory) fib_nodes_ = read(0, EMERY_REG(fib_nodes));
  if (peers_ + 1 < config_.cards) throw std::runtime_error("host: too many cards for their tables");
  if (read(0, EMERY_REG(classes)) != config_.classes)
    throw std::runtime_error("host: the cards have another number of classes");
}

void Host::make_rings() {
  // Buffers for every receive descriptor, and as many as transmit rings can hold back.
  const unsigned buffers = config_.cards * config_.ring * (config_.classes + 1) + 64;
  buffers_ = buffers;
  const std::uint64_t pool =
      memory_.alloc(buffers * buffer_bytes(), HostMemory::kPage, HostMemory::Zone::kLow);
  for (unsigned i = 0; i < buffers; ++i) free_.push_back(pool + i * buffer_bytes());
  for (Card& card : card_) card.rings->start(card.base, free_);
}

void Host::set_up(unsigned c, const CardRoutes& routes) {
  write(c, EMERY_REG(max_frame), config_.max_frame);
  write(c, EMERY_REG(mac_lo), static_cast<std::uint32_t>(config_.own_mac[c] >> 16));
  write(c, EMERY_REG(mac_hi), static_cast<std::uint32_t>(config_.own_mac[c] & 0xffff));
  write(c, EMERY_REG(res_min), config_.res_min_words);
  write(c, EMERY_REG(timeout), config_.timeout_clocks);
  write(c, EMERY_REG(retry), config_.retry_clocks);
  load_routes(c, routes);
  load_classes(c);
}

void Host::enable(unsigned c, const CardRoutes& routes) {
  std::uint32_t control = CARD_REGS__CONTROL__ENABLE_bm;
  if (config_.qos) control |= CARD_REGS__CONTROL__QOS_bm;
  if (config_.fast_path) control |= CARD_REGS__CONTROL__FAST_PATH_bm;
  if (routes.trie()) control |= CARD_REGS__CONTROL__LPM_bm;
  if (config_.rewrite_source) control |= CARD_REGS__CONTROL__REWRITE_SOURCE_bm;
  if (config_.output_round_robin) control |= CARD_REGS__CONTROL__OUTPUT_ROUND_ROBIN_bm;
  if (config_.promiscuous) control |= CARD_REGS__CONTROL__PROMISCUOUS_bm;
  if (control_.on() || to_kernel) control |= CARD_REGS__CONTROL__EXPIRED_TO_HOST_bm;
  write(c, EMERY_REG(control), control);
}

void Host::settle() {
  const Time most = (static_cast<Time>(bus_.requests()) + 100) * kMicrosecond;
  if (!simulation_.run_until([&] { return bus_.quiet(); }, simulation_.now() + most))
    throw std::runtime_error("host: the cards do not take their settings");
}

void Host::start(const std::vector<CardRoutes>& routes) {
  for (unsigned c = 0; c < config_.cards; ++c) set_up(c, routes[c]);
  if (config_.slow_path) make_rings();
  // All cards know their peers before the first takes a frame.
  for (unsigned c = 0; c < config_.cards; ++c) enable(c, routes[c]);
  settle();
  if (bus_.buffers_writes()) {
    for (unsigned c = 0; c < config_.cards; ++c) read(c, EMERY_REG(magic));
  }
  running_ = config_.slow_path;
}

void Host::forget(unsigned c) {
  Card& card = card_[c];
  card.away = true;
  if (!card.rings) return;
  untold_ -= card.rings->untold() != 0;
  card.rings->forget(free_);
}

// Frames are let in when there is a place for each, those that need the host too.
void Host::reopen(unsigned c, const CardRoutes& routes) {
  Card& card = card_[c];
  find(c);
  on_found(c);
  set_up(c, routes);
  if (card.rings) card.rings->reopen();
  enable(c, routes);
  settle();
  read(c, EMERY_REG(magic));
  card.away = false;
  card.moved = simulation_.now();
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
    write_next_hop(c, other, route.has_value());
  }
  if (routes.trie()) load_trie(c, routes.entries());
}

void Host::write_next_hop(unsigned c, unsigned other, bool valid) {
  using Peer = peer_regs__stride20_t;
  const std::size_t at = kPeer + CardRoutes::peer(c, other) * sizeof(Peer);
  const std::uint64_t hop = config_.next_hop[other];
  write(c, at + offsetof(Peer, hop_lo), static_cast<std::uint32_t>(hop >> 16));
  write(c, at + offsetof(Peer, hop_hi),
        static_cast<std::uint32_t>(hop & 0xffff) | (valid ? PEER_REGS__HOP_HI__VALID_bm : 0));
}

void Host::set_next_hop(unsigned port, std::uint64_t mac) {
  config_.next_hop[port] = mac;
  for (unsigned c = 0; c < config_.cards; ++c) {
    if (c != port) write_next_hop(c, port, false);
  }
}

void Host::load_trie(unsigned c, std::span<const std::uint32_t> entries) {
  const std::size_t near = std::min(entries.size(), std::size_t{16} * lpm_nodes_);
  write(c, EMERY_REG(lpm_addr), 0);
  for (const std::uint32_t entry : entries.first(near)) write(c, EMERY_REG(lpm_data), entry);
  if (load_table) return load_table(c, static_cast<std::uint32_t>(near), entries.subspan(near));
  for (std::size_t i = near; i < entries.size(); ++i) {
    write(c, EMERY_REG(lpm_data), entries[i]);
    while (i % kMostWaiting == 0 && read(c, EMERY_REG(lpm_waiting)) != 0) continue;
  }
}

void Host::write_entries(unsigned c, std::span<const CardRoutes::Write> entries) {
  std::uint32_t next = ~0u;
  for (const auto& [entry, value] : entries) {
    if (entry != next) write(c, EMERY_REG(lpm_addr), entry);
    write(c, EMERY_REG(lpm_data), value);
    next = entry + 1;
  }
}

void Host::when_taken(unsigned c, std::function<void()> taken) {
  bus_.read(card_[c].base + EMERY_REG(lpm_waiting),
            [this, c, taken = std::move(taken)](std::uint32_t waiting, bool ok) {
              ok&& waiting != 0 ? when_taken(c, taken) : taken();
            });
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
  if (get16(eth + 12) != kTypeIp4) return "not_ip";
  std::uint8_t* const ip = eth + kEthBytes;
  const unsigned room = static_cast<unsigned>(frame.size()) - kEthBytes, words = 2u * (ip[0] & 15u);
  const unsigned total = get16(ip + 2);
  if (ip[0] >> 4 != 4 || words < 10 || total < 2 * words || total > room) return "header";
  if (checksum(sum16({ip, 2 * words})) != 0) return "checksum";
  if ((eth[0] & 1) && (ip[16] & 0xf0) != 0xe0) return "group_mac";
  if (ip[12] == 0 || ip[12] == 127 || ip[12] >= 224) return "source";
  if (ip[16] == 0 || ip[16] == 127 || ip[16] >= 224) return "destination";
  const std::uint32_t address = get32(ip + 16);
  if (control_.owns(address)) return "own_address";
  const auto to = routes_.find(address);
  if (!to) return "no_route";
  if (ip[8] < 2) return "ttl";
  port = *to;
  return nullptr;
}

// Why a frame cannot leave at a port: it has to wait (kHeld), or is dropped; null: it can.
const char* Host::refuses(Time now, unsigned port) {
  if (card_[port].away) return kOutputDown;
  if (!card_[port].rings->full()) return nullptr;
  ++stats_.ring_full;
  return now - card_[port].moved < config_.patience ? kHeld : kGivenUp;
}

bool Host::begin(Time now, unsigned from, unsigned cls) {
  if (card_[from].away) return false;
  const auto front = card_[from].rings->front(cls);
  if (!front) return false;
  const unsigned bytes = front->bytes;
  std::uint8_t* data = memory_.pointer(front->buffer, bytes);
  Work work{from, cls, kNone, nullptr, now};
  if (data == nullptr || bytes < 60) {
    work.drop = "bad_descriptor";
  } else if (!to_kernel) {
    unsigned port = 0;
    work.drop = judge({data, bytes}, port);
    if (work.drop == nullptr) {
      work.to = port;
      work.drop = refuses(now, port);
      if (work.drop == kHeld) {
        held_ = true;
        return false;
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
  for (unsigned c = 0; c < config_.cards; ++c) look_at(c, now);
  for (unsigned c = 0; untold_ != 0 && c < config_.cards; ++c) {
    if (card_[c].rings->untold() != 0 && now - card_[c].untold_since >= config_.tell_after) tell(c);
  }
  // What comes and what the kernel sends take turns.
  const bool sent = work_.sends;
  working_ = (!sent && begin_sending(now)) || begin(now) || (sent && begin_sending(now));
  if (!working_) return;
  until_ = now + config_.cpu_per_packet;
  stats_.busy += config_.cpu_per_packet;
}

bool Host::begin(Time now) {
  for (unsigned k = 0; k < config_.classes; ++k) {
    for (unsigned n = 0; n < config_.cards; ++n) {
      const unsigned from = (turn_[k] + n) % config_.cards;
      if (!begin(now, from, k)) continue;
      turn_[k] = (from + 1) % config_.cards;
      return true;
    }
  }
  return false;
}

// Frames for a card whose ring is full wait in their interface.
bool Host::begin_sending(Time now) {
  for (unsigned n = 0; from_kernel && n < config_.cards; ++n) {
    const unsigned port = (sending_turn_ + n) % config_.cards;
    if (card_[port].rings->full() || !from_kernel(port, sending_)) continue;
    sending_turn_ = (port + 1) % config_.cards;
    work_ = {port, 0, port, nullptr, now, true};
    return true;
  }
  return false;
}

// A buffer of the pool's, with a frame that did not come from a card.
void Host::send(unsigned port, std::span<const std::uint8_t> frame) {
  const std::uint64_t buffer = free_.back();
  free_.pop_back();
  memory_.write(buffer, frame.data(), frame.size());
  transmit(port, buffer, frame.size());
  if (on_answer) on_answer(frame, port);
}

void Host::finish() {
  if (work_.sends) {
    ++stats_.sent;
    return send(work_.to, sending_.bytes());
  }
  Card& card = card_[work_.from];
  const auto [buffer, bytes] = *card.rings->front(work_.cls);
  ++stats_.received;
  on_rings(work_.from, false, work_.taken);
  // It may have been reset since.
  if (!work_.drop && work_.to != kNone && card_[work_.to].away) work_.drop = kOutputDown;
  if (work_.drop) {
    ++stats_.dropped;
    if (work_.to != kNone) {
      ++card.refused[work_.to][work_.drop];
    } else {
      ++card.drops[work_.drop];
      if (control_.on()) answer({memory_.pointer(buffer, bytes), bytes});
    }
    return card.rings->pop(work_.cls, buffer);
  }
  std::uint8_t* const frame = memory_.pointer(buffer, bytes);
  if (to_kernel) {
    to_kernel({frame, bytes}, work_.from);
    return card.rings->pop(work_.cls, buffer);
  }
  std::uint8_t* const ip = frame + kEthBytes;
  --ip[8];
  // RFC 1624, equation 3: the TTL is the high byte of its word, which gets 0x100 less.
  put16(ip + 10, checksum((~get16(ip + 10) & 0xffff) + 0xfeffu));
  put48(frame, config_.next_hop[work_.to]);
  put48(frame + 6, config_.own_mac[work_.to]);

  transmit(work_.to, buffer, bytes);
  ++stats_.forwarded;
  if (on_forward) on_forward({frame, bytes}, work_.taken);
  const std::uint64_t fresh = free_.back();
  free_.pop_back();
  card.rings->pop(work_.cls, fresh);
}

void Host::transmit(unsigned port, std::uint64_t buffer, std::size_t bytes) {
  CardRings& out = *card_[port].rings;
  if (out.untold() == 0) {
    ++untold_;
    card_[port].untold_since = simulation_.now();
  }
  out.put(buffer, static_cast<unsigned>(bytes));
  if (out.untold() >= std::min(config_.tx_batch, config_.ring / 2)) tell(port);
}

// The doorbell.
void Host::tell(unsigned port) {
  --untold_;
  card_[port].rings->tell();
}

// What the router says to the frame at hand, which goes nowhere.
void Host::answer(std::span<const std::uint8_t> frame) {
  const route::Control::Answer said =
      control_.about(work_.drop, frame, work_.from, work_.taken + config_.cpu_per_packet);
  if (said.frame.empty()) return;
  if (card_[said.port].away) return control_.silent(kOutputDown);
  if (card_[said.port].rings->full()) return control_.silent("ring_full");
  control_.sent(said.kind);
  send(said.port, said.frame);
}

// What a card has done with its rings.
void Host::look_at(unsigned c, Time now) {
  Card& card = card_[c];
  card.rings->serve();
  const bool empty = card.rings->empty(), sent = card.rings->reap(free_) != 0;
  if (sent) on_rings(c, true, now);
  if (sent || empty) card.moved = now;
}

Findings Host::levels(Time until) {
  return nic::levels(simulation_, until, [&](Findings& held) {
    for (Card& card : card_)
      if (card.rings) card.rings->find_levels(held);
  });
}

void Host::check(Findings& findings) const {
  std::size_t held = free_.size();
  for (const Card& card : card_) {
    if (!card.rings) continue;
    card.rings->check(findings);
    held += card.rings->buffers();
  }
  findings.add(held < buffers_ ? buffers_ - held : held - buffers_,
               "buffers of the software router too few or too many");
}

void Host::write_json(JsonWriter& json) const {
  json.begin_object().field("received", stats_.received).field("forwarded", stats_.forwarded);
  json.field("dropped", stats_.dropped).field("polls_ring_full", stats_.ring_full);
  if (control_.on()) control_.write_json(json);
  if (to_kernel) json.field("sent", stats_.sent);
  json.end_object();
}

}  // namespace emery::direct_router
