// SPDX-License-Identifier: Apache-2.0
#include "bench/debug/debugger.hpp"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <optional>
#include <string_view>
#include <utility>

namespace emery {
namespace {

constexpr int kForever = -1;
constexpr int kPatience = 10'000;             // ms, for a gdb that takes nothing
constexpr int kMoment = 100;                  // ms, for what gdb still sends
constexpr std::chrono::seconds kFarewell(1);  // for all of that
constexpr std::size_t kMostWaiting = 64;

}  // namespace

std::unique_ptr<Debugger> Debugger::of(const Options& options) {
  return options.has("gdb") ? std::make_unique<Debugger>(options.get<int>("gdb")) : nullptr;
}

Debugger::~Debugger() {
  if (connection_ >= 0) ::close(connection_);
  if (listening_ >= 0) ::close(listening_);
}

void Debugger::accept() {
  while (connection_ < 0) {
    connection_ = ::accept(listening_, nullptr, nullptr);
    if (connection_ < 0 && errno != EINTR && errno != ECONNABORTED)
      throw std::runtime_error("gdb: nobody can connect any more");
  }
  const int yes = 1;  // fails, and does not matter, at a socket with a path
  ::setsockopt(connection_, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
}

void Debugger::halt(Time now) {
  accept();
  stub_->stopped(now);
  serve();
}

void Debugger::report() {
  answer(stub_->stop());
  serve();
}

// Until the cores are to run.
void Debugger::serve() {
  stays_ = true;
  while (stays_) {
    if (!waiting_.empty()) {
      const PacketEvent event = std::move(waiting_.front());
      waiting_.pop_front();
      handle(event);
    } else if (!reader_.empty()) {
      handle(reader_.next());
    } else if (wait(kForever)) {
      receive();
    }
  }
}

// While they run: Ctrl-C, a second gdb, a lost connection. Packets wait until the cores stand; gdb
// sends none.
void Debugger::look() {
  if (wait(0)) receive();
  while (watches() && !reader_.empty()) {
    PacketEvent event = reader_.next();
    if (event.kind == PacketEvent::kInterrupt) {
      stub_->interrupt();
    } else if (waiting_.size() < kMostWaiting) {
      waiting_.push_back(std::move(event));
    } else {
      lost("does not wait for answers");
    }
  }
}

// Whether there is something to receive.
bool Debugger::wait(int milliseconds) {
  std::array<pollfd, 2> both = {{{connection_, POLLIN, 0}, {listening_, POLLIN, 0}}};
  if (::poll(both.data(), both.size(), milliseconds) <= 0) return false;
  if (both[1].revents != 0) refuse_others();
  return both[0].revents != 0;
}

void Debugger::refuse_others() {
  const int other = ::accept(listening_, nullptr, nullptr);
  if (other < 0) return;
  ::close(other);
  std::fputs("gdb: a second one was sent away\n", stderr);
}

void Debugger::receive() {
  std::array<char, 4096> bytes;
  const ssize_t got = ::recv(connection_, bytes.data(), bytes.size(), MSG_DONTWAIT);
  if (got > 0) return reader_.feed(std::string_view(bytes.data(), static_cast<std::size_t>(got)));
  const bool nothing = errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR;
  if (got == 0 || !nothing) lost("has gone");
}

void Debugger::handle(const PacketEvent& event) {
  const bool silent = stub_->silent();
  switch (event.kind) {
    case PacketEvent::kInterrupt:  // they stand already
      break;
    case PacketEvent::kAgain:
      send(sent_);
      break;
    case PacketEvent::kBadChecksum:
      send("-");
      break;
    case PacketEvent::kTooLong:
      if (!silent) send("+");
      answer("E16");
      break;
    case PacketEvent::kPacket:
      if (!silent) send("+");
      if (const std::optional<std::string> payload = stub_->answer(event.payload)) answer(*payload);
      switch (stub_->wish()) {
        case DebugStub::Wish::kStay:
          break;
        case DebugStub::Wish::kGo:
          stays_ = false;
          break;
        case DebugStub::Wish::kDetach:
          if (watches()) farewell();
          break;
        case DebugStub::Wish::kKill:
          throw DebuggerEnded("gdb has ended the run");
      }
  }
}

void Debugger::answer(const std::string& payload) {
  sent_ = packet_of(payload);
  send(sent_);
}

void Debugger::send(const std::string& bytes) {
  std::string_view rest = bytes;
  while (!rest.empty() && connection_ >= 0) {
    const ssize_t done = ::send(connection_, rest.data(), rest.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
    if (done > 0) {
      rest.remove_prefix(static_cast<std::size_t>(done));
      continue;
    }
    pollfd one = {connection_, POLLOUT, 0};
    const bool full = errno == EAGAIN || errno == EWOULDBLOCK;
    if (errno == EINTR || (full && ::poll(&one, 1, kPatience) > 0)) continue;
    lost("takes nothing any more");
  }
}

void Debugger::lost(const char* why) {
  std::fprintf(stderr, "gdb: %s; the run goes on without it\n", why);
  leave();
}

// Nobody can come any more either.
void Debugger::leave() {
  stays_ = false;
  ::close(connection_);
  ::close(listening_);
  connection_ = listening_ = -1;
}

// Has gdb read the last packet: what it still sends (it acknowledges) would have the kernel drop
// it.
void Debugger::farewell() {
  ::shutdown(connection_, SHUT_WR);
  const auto until = std::chrono::steady_clock::now() + kFarewell;
  std::array<char, 4096> bytes;
  while (std::chrono::steady_clock::now() < until && wait(kMoment)) {
    if (::recv(connection_, bytes.data(), bytes.size(), MSG_DONTWAIT) <= 0) break;
  }
  leave();
}

void Debugger::end(int status) {
  if (!watches()) return;
  answer(std::string("W0") + (status == 0 ? '0' : '1'));
  if (watches()) farewell();
}

void Debugger::write(JsonWriter& json) const {
  if (!stub_ || stub_->writes() == 0) return;
  json.object("debugger")
      .field("memory_writes", stub_->writes())
      .field("sha256", stub_->changes())
      .end_object();
}

}  // namespace emery
