// SPDX-License-Identifier: Apache-2.0
#include "bench/guest/time_link.hpp"

#include <string>

namespace emery {
namespace {

enum Op : std::uint32_t {
  kAck = 0,
  kStart = 1,
  kRequest = 2,
  kWait = 3,
  kGet = 4,
  kUpdate = 5,
  kRun = 6,
  kGetTimeOfDay = 8
};

constexpr std::uint64_t kDawn = 1'700'000'000'000'000'000;  // what the guest's clock says at time 0

}  // namespace

bool TimeLink::read(Message& message) {
  if (!receive(link_, &message, sizeof message)) {
    gone_ = true;
    waits_ = false;
  }
  return !gone_;
}

void TimeLink::serve() {
  Message message;
  if (!read(message)) return;
  Message answer{kAck, message.seq, 0};
  switch (message.op) {
    case kStart:
    case kUpdate:
      break;
    case kRequest:
      wanted_ = message.time;
      break;
    case kWait:
      waits_ = true;
      break;
    case kGet:
      answer.time = now_();
      break;
    case kGetTimeOfDay:
      answer.time = kDawn + now_();
      break;
    default:
      throw ChannelError("a guest's time link: message " + std::to_string(message.op));
  }
  send(link_, &answer, sizeof answer);
}

void TimeLink::run() {
  const Message message{kRun, ++seq_, now_()};
  waits_ = false;
  wanted_ = kNeverNs;
  send(link_, &message, sizeof message);
  Message answer;
  if (read(answer) && (answer.op != kAck || answer.seq != seq_))
    throw ChannelError("a guest's time link: no answer to RUN");
}

}  // namespace emery
