// SPDX-License-Identifier: Apache-2.0
#include "bench/guest/channel.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

namespace emery {
namespace {

[[noreturn]] void fail(const std::string& what) {
  throw ChannelError(what + ": " + std::strerror(errno));
}

void take_descriptors(const msghdr& message, std::vector<Descriptor>* out) {
  for (cmsghdr* c = CMSG_FIRSTHDR(&message); c; c = CMSG_NXTHDR(const_cast<msghdr*>(&message), c)) {
    if (c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_RIGHTS) continue;
    const std::size_t count = (c->cmsg_len - CMSG_LEN(0)) / sizeof(int);
    for (std::size_t i = 0; i < count; ++i) {
      int number;
      std::memcpy(&number, CMSG_DATA(c) + i * sizeof(int), sizeof number);
      Descriptor taken(number);
      if (out && out->size() < kMostDescriptors) out->push_back(std::move(taken));
    }
  }
}

// Up to so many bytes, at least one; 0 where it is not to wait and none is there. Nothing when the
// other end has gone.
std::optional<std::size_t> receive_part(const Descriptor& from, void* to, std::size_t bytes,
                                        int flags, std::vector<Descriptor>* descriptors) {
  alignas(cmsghdr) char control[CMSG_SPACE(kMostDescriptors * sizeof(int))];
  iovec part{to, bytes};
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  message.msg_control = control;
  message.msg_controllen = sizeof control;
  ssize_t got;
  do {
    got = ::recvmsg(from.number(), &message, MSG_CMSG_CLOEXEC | flags);
  } while (got < 0 && errno == EINTR);
  if (got < 0 && errno == EAGAIN) return 0;
  if (got < 0 && errno == ECONNRESET) return std::nullopt;
  if (got < 0) fail("a guest's socket");
  take_descriptors(message, descriptors);
  if (got == 0) return std::nullopt;
  return static_cast<std::size_t>(got);
}

}  // namespace

void Descriptor::close() {
  if (number_ >= 0) ::close(number_);
  number_ = -1;
}

Listener::Listener(const std::string& path) : socket_(::socket(AF_UNIX, SOCK_STREAM, 0)) {
  sockaddr_un name{};
  name.sun_family = AF_UNIX;
  if (path.size() >= sizeof name.sun_path)
    throw ChannelError(path + ": too long a name for a socket");
  std::memcpy(name.sun_path, path.c_str(), path.size() + 1);
  if (!socket_ || ::bind(socket_.number(), reinterpret_cast<sockaddr*>(&name), sizeof name) != 0 ||
      ::listen(socket_.number(), 1) != 0)
    fail(path);
}

Descriptor Listener::accept() {
  Descriptor caller(::accept(socket_.number(), nullptr, nullptr));
  if (!caller) fail("accept");
  return caller;
}

std::optional<std::size_t> receive_some(const Descriptor& from, void* to, std::size_t bytes,
                                        std::vector<Descriptor>* descriptors) {
  return receive_part(from, to, bytes, MSG_DONTWAIT, descriptors);
}

bool receive(const Descriptor& from, void* to, std::size_t bytes,
             std::vector<Descriptor>* descriptors) {
  for (std::size_t done = 0; done < bytes;) {
    const auto part =
        receive_part(from, static_cast<char*>(to) + done, bytes - done, 0, descriptors);
    if (!part) return false;
    done += *part;
  }
  return true;
}

void limit_patience(const Descriptor& socket, int seconds) {
  const timeval time{seconds, 0};
  if (::setsockopt(socket.number(), SOL_SOCKET, SO_SNDTIMEO, &time, sizeof time) != 0)
    fail("a guest's socket");
}

void send(const Descriptor& to, const void* from, std::size_t bytes) {
  for (std::size_t done = 0; done < bytes;) {
    const auto* at = static_cast<const char*>(from) + done;
    const ssize_t sent = ::send(to.number(), at, bytes - done, MSG_NOSIGNAL);
    if (sent < 0 && errno == EINTR) continue;
    if (sent < 0 && (errno == EPIPE || errno == ECONNRESET)) return;
    if (sent < 0 && errno == EAGAIN) throw ChannelError("a guest takes no answers");
    if (sent < 0) fail("a guest's socket");
    done += static_cast<std::size_t>(sent);
  }
}

bool readable(int descriptor, int ms) {
  pollfd one{descriptor, POLLIN, 0};
  return ::poll(&one, 1, ms) > 0;
}

std::size_t wait_readable(const std::vector<int>& descriptors) {
  std::vector<pollfd> all;
  for (const int number : descriptors) all.push_back({number, POLLIN, 0});
  for (;;) {
    if (::poll(all.data(), all.size(), -1) < 0 && errno != EINTR) fail("poll");
    for (std::size_t i = 0; i < all.size(); ++i) {
      if (all[i].fd >= 0 && (all[i].revents & (POLLIN | POLLHUP | POLLERR)) != 0) return i;
    }
  }
}

}  // namespace emery
