// SPDX-License-Identifier: Apache-2.0
// A Unix stream socket, the end that waits to be called: messages of known length, with file
// descriptors beside them.
#pragma once

#include <cstddef>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

namespace emery {

class ChannelError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

constexpr std::size_t kMostDescriptors = 8;  // beside one message; more are closed

/// A file descriptor that is closed once.
class Descriptor {
 public:
  explicit Descriptor(int number = -1) : number_(number) {}
  ~Descriptor() { close(); }
  Descriptor(Descriptor&& other) noexcept : number_(other.release()) {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    if (this != &other) {
      close();
      number_ = other.release();
    }
    return *this;
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;

  int number() const { return number_; }
  explicit operator bool() const { return number_ >= 0; }
  void close();
  int release() {
    const int number = number_;
    number_ = -1;
    return number;
  }

 private:
  int number_;
};

class Listener {
 public:
  /// Listens at a path that is not there yet.
  explicit Listener(const std::string& path);
  int number() const { return socket_.number(); }
  /// Waits for a caller.
  Descriptor accept();

 private:
  Descriptor socket_;
};

/// Reads exactly so many bytes, and adds the descriptors that come with them; false when the other
/// end has gone.
bool receive(const Descriptor& from, void* to, std::size_t bytes,
             std::vector<Descriptor>* descriptors = nullptr);
/// What has come already of so many bytes, and no more than that; nothing when the other end has
/// gone.
std::optional<std::size_t> receive_some(const Descriptor& from, void* to, std::size_t bytes,
                                        std::vector<Descriptor>* descriptors = nullptr);
/// Writes all of it; what cannot be written because the other end has gone is lost.
void send(const Descriptor& to, const void* from, std::size_t bytes);
/// From now on `send` throws when the other end takes nothing for so long.
void limit_patience(const Descriptor& socket, int seconds);
/// Waits until one of them can be read (or has ended), -1 for none; gives the first that can.
std::size_t wait_readable(const std::vector<int>& descriptors);
/// Whether it can be read (or has ended), within so many ms.
bool readable(int descriptor, int ms);

}  // namespace emery
