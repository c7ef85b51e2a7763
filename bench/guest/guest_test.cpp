// SPDX-License-Identifier: Apache-2.0
// Test of guests: one that is played by a thread speaks what a user-mode Linux speaks at both
// sockets: time, configuration space, registers, an interrupt, a second in which nothing moves.
#include <poll.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "bench/guest/guests.hpp"
#include "bench/stats/check.hpp"

namespace emery {
namespace {

Checks checks;

constexpr std::uint64_t kMemory = 0x40'0000, kMemoryBytes = 0x1'0000;
constexpr std::uint32_t kIds = 0x0001'1234, kVector = 17;
constexpr Time kAnswers = 1500 * kNanosecond, kInterrupts = 7 * kMicrosecond + 1;
constexpr std::uint16_t kSize = 8;  // of a virtqueue

// A device with configuration space and registers that answer late; register 0 asks for an
// interrupt.
class Device final : public SlotInterface {
 public:
  explicit Device(Simulation& simulation) : simulation_(simulation) { config_[0] = kIds; }

  const PciDevice& device() const override { return device_; }
  std::uint32_t config_read(std::uint16_t) override { throw std::logic_error("it blocks"); }
  void config_write(std::uint16_t, std::uint32_t, unsigned) override {
    throw std::logic_error("it blocks");
  }
  void config_read_async(std::uint16_t offset, ReadDone done) override {
    later(kAnswers, [this, offset, done](Time) { done(config_.at(offset / 4), true); });
  }
  void config_write_async(std::uint16_t offset, std::uint32_t value, unsigned enables,
                          ReadDone done) override {
    checks.equal(enables, 0xfu, "byte enables");
    later(kAnswers, [this, offset, value, done](Time) {
      config_.at(offset / 4) = value;
      done(0, true);
    });
  }
  void mmio_read_async(std::uint64_t addr, unsigned bytes, ReadDone done) override {
    later(kAnswers, [this, addr, bytes, done](Time) {
      std::uint64_t value = 0;
      std::memcpy(&value, registers_.data() + (addr - bar()), bytes);
      done(value, true);
    });
  }
  void mmio_write(std::uint64_t addr, const void* from, unsigned bytes) override {
    std::memcpy(registers_.data() + (addr - bar()), from, bytes);
    if (addr == bar()) later(kInterrupts, [this](Time) { on_vector_(kVector); });
  }
  std::size_t mmio_room() const override { return 64; }
  MsixMessage msix_message(unsigned) const override { return {}; }
  void on_vector(VectorHandler handler) override { on_vector_ = std::move(handler); }
  void on_message(MessageHandler) override {}

 private:
  HostMemory& memory() override { return memory_; }
  Simulation& simulation() const override { return simulation_; }
  std::uint64_t bar() const { return config_[4]; }
  void later(Time delay, Simulation::Callback callback) {
    simulation_.at(simulation_.now() + delay, std::move(callback));
  }

  Simulation& simulation_;
  HostMemory memory_;
  PciDevice device_;
  std::array<std::uint32_t, 64> config_{};
  std::array<std::uint8_t, 64> registers_{};
  VectorHandler on_vector_;
};

// The guest's side of it all.
class Guest {
 public:
  explicit Guest(const std::string& folder)
      : time_(call(folder + "/time0")), folder_(folder), file_(::memfd_create("guest", 0)) {
    if (::ftruncate(file_, kMemoryBytes) != 0) throw std::runtime_error("ftruncate");
    memory_ = static_cast<std::uint8_t*>(
        ::mmap(nullptr, kMemoryBytes, PROT_READ | PROT_WRITE, MAP_SHARED, file_, 0));
  }
  ~Guest() {
    ::munmap(memory_, kMemoryBytes);
    for (const int number : {file_, back_, pci_, time_}) ::close(number);
  }

  // ---- time
  struct TimeMessage {
    std::uint32_t op, seq;
    std::uint64_t time;
  };
  std::uint64_t ask(std::uint32_t op, std::uint64_t time = 0) {
    const TimeMessage message{op, ++seq_, time};
    put(time_, message);
    const auto answer = get<TimeMessage>(time_);
    checks.equal(answer.op, 0u, "an ACK");
    checks.equal(answer.seq, seq_, "of this message");
    return answer.time;
  }
  // Waits until then, or for an interrupt; gives the time at which it runs again.
  std::uint64_t sleep_until(std::uint64_t until) {
    ask(2, until);
    ask(3);
    for (;;) {
      pollfd both[2] = {{time_, POLLIN, 0}, {back_, POLLIN, 0}};
      ::poll(both, back_ < 0 ? 1 : 2, -1);
      if (both[1].revents & POLLIN && back_ >= 0) {
        take_call();
        continue;
      }
      const auto run = get<TimeMessage>(time_);
      checks.equal(run.op, 6u, "RUN");
      put(time_, TimeMessage{0, run.seq, 0});
      return run.time;
    }
  }

  // ---- the device
  void connect() {
    pci_ = call(folder_ + "/pci0.0");
    checks.that(request(1, {}, -1, true) >> 30 & 1, "protocol features");
    checks.that((request(15, {}, -1, true) & 0x4028) == 0x4028, "acknowledged, in band, both ways");
    int pair[2];
    if (::socketpair(AF_UNIX, SOCK_STREAM, 0, pair) != 0) throw std::runtime_error("socketpair");
    back_ = pair[0];
    request(21, {}, pair[1]);
    ::close(pair[1]);
    request(5, {1, kMemory, kMemoryBytes, kMemory, 0}, file_);
    for (std::uint64_t q = 0; q < 2; ++q) {
      request(8, {q | std::uint64_t{kSize} << 32});
      request(10, {q});
      const std::uint64_t at = kMemory + 0x1000 * q;
      request(9, {q, at, at + 0x400, at + 0x200, ~std::uint64_t{0}});
      request(18, {q | std::uint64_t{1} << 32});
    }
  }
  struct Access {
    std::uint8_t op, bar;
    std::uint16_t reserved;
    std::uint32_t bytes;
    std::uint64_t addr, data;
  };
  // Puts an access into queue 0 and kicks; a read is looked for every microsecond.
  std::uint64_t access(const Access& made, std::uint64_t& now) {
    const bool read = made.op == 1 || made.op == 3;
    const std::uint16_t slot = puts_[0] % 4 * 2;
    const std::uint64_t at = 0x4000 + 64ull * slot;
    std::memcpy(memory_ + at, &made, sizeof made);
    describe(0, slot, kMemory + at, read ? 16 : 24, read ? 1 : 0,
             static_cast<std::uint16_t>(slot + 1));
    describe(0, static_cast<std::uint16_t>(slot + 1), kMemory + at + 32, 8, 2, 0);
    offer(0, slot);
    ask(5, now);
    kick(0);
    while (read && used(0) != puts_[0]) now = sleep_until(now + 1000);
    std::uint64_t value = 0;
    std::memcpy(&value, memory_ + at + 32, 8);
    return value;
  }
  void offer_message_place() {
    describe(1, 0, kMemory + 0x8000, 20, 2, 0);
    offer(1, 0);
    kick(1);
  }
  std::uint32_t message() const {
    std::uint32_t data;
    std::memcpy(&data, memory_ + 0x8010, 4);
    return data;
  }
  unsigned calls() const { return calls_; }
  std::uint16_t used(unsigned queue) const {
    std::uint16_t index;
    std::memcpy(&index, memory_ + 0x1000 * queue + 0x402, 2);
    return index;
  }

 private:
  static int call(const std::string& path) {
    const int number = ::socket(AF_UNIX, SOCK_STREAM, 0);
    sockaddr_un name{};
    name.sun_family = AF_UNIX;
    std::memcpy(name.sun_path, path.c_str(), path.size() + 1);
    if (::connect(number, reinterpret_cast<sockaddr*>(&name), sizeof name) != 0)
      throw std::runtime_error("connect");
    return number;
  }
  template <class T>
  static void put(int to, const T& message) {
    if (::write(to, &message, sizeof message) != sizeof message) throw std::runtime_error("write");
  }
  template <class T>
  static T get(int from) {
    T message;
    if (::recv(from, &message, sizeof message, MSG_WAITALL) != sizeof message)
      throw std::runtime_error("the simulation has gone");
    return message;
  }
  // What a user-mode Linux does in its signal handler.
  void take_call() {
    struct Call {
      std::uint32_t request, flags, bytes, index, number;
    };
    const auto call = get<Call>(back_);
    checks.equal(call.request, 4u, "a call");
    ++calls_;
    ask(2, ask(4));
    struct Answer {
      std::uint32_t request, flags, bytes, low, high;
    };
    put(back_, Answer{call.request, 5, 8, 0, 0});
  }
  std::uint64_t request(std::uint32_t number, const std::vector<std::uint64_t>& words,
                        int with = -1, bool answered = false) {
    std::uint32_t head[3] = {number, answered ? 1u : 9u,
                             static_cast<std::uint32_t>(8 * words.size())};
    std::vector<char> bytes(sizeof head + 8 * words.size());
    std::memcpy(bytes.data(), head, sizeof head);
    if (!words.empty()) std::memcpy(bytes.data() + sizeof head, words.data(), 8 * words.size());
    iovec part{bytes.data(), bytes.size()};
    alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))] = {};
    msghdr message{};
    message.msg_iov = &part;
    message.msg_iovlen = 1;
    if (with >= 0) {
      message.msg_control = control;
      message.msg_controllen = sizeof control;
      cmsghdr* c = CMSG_FIRSTHDR(&message);
      c->cmsg_level = SOL_SOCKET;
      c->cmsg_type = SCM_RIGHTS;
      c->cmsg_len = CMSG_LEN(sizeof(int));
      std::memcpy(CMSG_DATA(c), &with, sizeof with);
    }
    if (::sendmsg(pci_, &message, 0) < 0) throw std::runtime_error("sendmsg");
    struct Answer {
      std::uint32_t request, flags, bytes, low, high;
    };
    const auto answer = get<Answer>(pci_);
    checks.equal(answer.request, number, "the answer to a request");
    return std::uint64_t{answer.high} << 32 | answer.low;
  }
  void kick(std::uint64_t queue) { request(35, {queue}); }
  void describe(unsigned queue, std::uint16_t slot, std::uint64_t addr, std::uint32_t bytes,
                std::uint16_t flags, std::uint16_t next) {
    std::uint8_t* at = memory_ + 0x1000 * queue + 16 * slot;
    std::memcpy(at, &addr, 8);
    std::memcpy(at + 8, &bytes, 4);
    std::memcpy(at + 12, &flags, 2);
    std::memcpy(at + 14, &next, 2);
  }
  void offer(unsigned queue, std::uint16_t head) {
    std::uint8_t* ring = memory_ + 0x1000 * queue + 0x200;
    std::memcpy(ring + 4 + 2 * (puts_[queue] % kSize), &head, 2);
    ++puts_[queue];
    std::memcpy(ring + 2, &puts_[queue], 2);
  }

  int time_, pci_ = -1, back_ = -1;
  std::string folder_;
  int file_;
  std::uint8_t* memory_;
  std::uint32_t seq_ = 0;
  std::uint16_t puts_[2] = {};
  unsigned calls_ = 0;
};

void play(const std::string& folder) {
  Guest guest(folder);
  guest.ask(1);
  checks.equal(guest.ask(4), 0u, "time begins at 0");
  std::uint64_t now = guest.sleep_until(5000);
  checks.equal(now, 5000u, "a timer");
  guest.connect();
  guest.offer_message_place();
  checks.equal(guest.access({1, 0, 0, 4, 0, 0}, now), std::uint64_t{kIds}, "vendor and device");
  checks.equal(now, 7000u, "the answer is seen when it is there");
  guest.access({2, 0, 0, 4, 0x10, 0xf000'0000}, now);
  // Not before the BAR is set, though it was asked for at once.
  guest.access({4, 0, 0, 4, 8, 0x1234'5678}, now);
  checks.equal(guest.access({3, 0, 0, 4, 8, 0}, now), 0x1234'5678u, "a register");
  checks.equal(now, 10'000u, "behind an access to configuration space");
  checks.equal(guest.access({3, 0, 0, 2, 10, 0}, now) & 0xffff, 0x1234u, "half of it");
  checks.equal(guest.calls(), 0u, "nothing to be told");
  guest.access({4, 0, 0, 4, 0, 1}, now);
  const std::uint64_t before = now;
  now = guest.sleep_until(now + 1'000'000);
  checks.equal(now, before + 7001, "an interrupt, at the next whole nanosecond");
  checks.equal(guest.message(), kVector, "its message");
  checks.equal(guest.calls(), 2u, "told of it, and of what it had written");
  checks.equal(guest.sleep_until(now + 1'000'000'000), now + 1'000'000'000, "a second");
}

void run() {
  const std::string folder = std::filesystem::temp_directory_path() / "guest-XXXXXX";
  std::vector<char> name(folder.begin(), folder.end());
  name.push_back('\0');
  if (!::mkdtemp(name.data())) throw std::runtime_error("mkdtemp");
  Simulation simulation;
  simulation.add_clock("core", 250'000'000);
  simulation.run_for(1'234);
  Device device(simulation);
  {
    Guests guests(simulation, [] { return std::uint64_t{0}; });
    HostMemory memory;
    guests.add(name.data(), {&device}, memory);
    std::thread guest(play, std::string(name.data()));
    guests.run();
    guest.join();
    checks.that(memory.mapped(kMemory, kMemoryBytes), "memory, all of it");
    checks.that(!memory.mapped(kMemory, kMemoryBytes + 1), "and no more");
    checks.that(guests.skipped() > 999 * 1000 * kMicrosecond, "clocks stood still");
    checks.that(guests.now() >= 1000 * 1000 * kMicrosecond, "and the calendar did not");
  }
  std::filesystem::remove_all(name.data());
}

}  // namespace
}  // namespace emery

int main() {
  emery::run();
  return emery::checks.finish();
}
