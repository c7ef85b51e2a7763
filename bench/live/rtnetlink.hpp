// SPDX-License-Identifier: Apache-2.0
// What a Linux kernel tells of its routes, neighbours and interfaces in one network namespace
// (rtnetlink(7)), kept as the tables it has now.
//
// The socket is made in that namespace by whoever starts the run. It hears of each change; all of
// the tables are asked for at the start, after the kernel had no room for a message (ENOBUFS),
// after a dump that was interrupted, and when an interface goes up or down or loses an address,
// since routes that go with it are not told. While they come the tables are those of before.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "bench/route/kernel_tables.hpp"
#include "bench/stats/json.hpp"

struct nlmsghdr;

namespace emery {

class Rtnetlink {
 public:
  /// `file` stays whose it is.
  explicit Rtnetlink(int file) : file_(file), buffer_(1 << 16) {}

  int file() const { return file_; }
  /// Hears of changes from now on, and asks for the tables. Throws std::runtime_error.
  void subscribe();
  void ask();
  /// Takes the messages that wait.
  void read();

  /// The tables are not those last seen by `taken`.
  bool changed() const { return changed_; }
  const route::KernelTables& taken() {
    changed_ = false;
    return tables_;
  }
  /// All that was asked for has come.
  bool complete() const { return step_ == kSteps; }

  /// An object.
  void write(JsonWriter& json) const;

 private:
  static constexpr unsigned kSteps = 4;

  void ask_next();
  void take(const nlmsghdr& message);
  void done(bool interrupted);
  void take_route(const nlmsghdr& message, bool gone);
  void take_neighbour(const nlmsghdr& message, bool gone);
  void take_link(const nlmsghdr& message, bool gone);
  void take_rule(const nlmsghdr& message, bool gone);
  void take_forwarding(const nlmsghdr& message);
  /// Where what comes belongs.
  route::KernelTables& tables() { return complete() ? tables_ : coming_; }

  int file_;
  std::vector<std::uint8_t> buffer_;
  route::KernelTables tables_, coming_;
  std::map<int, bool> up_;  // by interface
  bool changed_ = false;
  unsigned step_ = kSteps;
  std::uint32_t asked_ = 0;  // the number of the request that is answered
  bool again_ = false;       // ask for all when what is coming has come
  std::uint64_t messages_ = 0, overruns_ = 0, dumps_ = 0;
  std::map<std::string, std::uint64_t> refused_;  // requests, by the kernel's reason
};

}  // namespace emery
