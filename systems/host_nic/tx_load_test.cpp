// SPDX-License-Identifier: Apache-2.0
// When the driver's queues gather, and which goes on first.
#include "systems/host_nic/tx_load.hpp"

#include <cstddef>
#include <utility>
#include <vector>

#include "bench/stats/check.hpp"

namespace emery::host_nic {
namespace {

constexpr std::size_t kQueues = 4;

/// A load that has been told of so many packets of one size in a queue.
void tell(TxLoad& load, std::size_t queue, std::size_t bytes, unsigned packets) {
  for (unsigned i = 0; i < packets; ++i) load.put(queue, bytes);
  load.rang(queue);
}

TxLoad fresh() {
  TxLoad load;
  load.reset(kQueues);
  return load;
}

void test_full_and_not(Checks& check) {
  TxLoad load = fresh();
  check.that(!load.full(), "nothing is with the card");
  for (int i = 0; i < 128; ++i) load.put(0, 512);
  check.that(!load.full(), "what no doorbell has told of is not with the card");
  load.rang(0);
  check.that(!load.full(), "64 kB are not more than 64 kB");
  tell(load, 1, 512, 1);
  check.that(load.full(), "more than 64 kB");
  load.sent(0, 512 * 32, 32);
  check.that(load.full(), "it stays so above 48 kB");
  load.sent(0, 512, 1);
  check.that(!load.full(), "48 kB");
  tell(load, 1, 512, 30);
  check.that(!load.full(), "and comes back only above 64 kB");
}

void test_long_packets(Checks& check) {
  TxLoad load = fresh();
  tell(load, 0, 9014, 100);
  check.that(!load.full(), "nothing gathers beside long packets");
  tell(load, 1, 60, 2000);
  check.that(load.full(), "510 bytes in the mean");
  load.sent(1, 60 * 2000, 2000);
  check.that(!load.full(), "long ones alone again");
  TxLoad just_long = fresh(), just_short = fresh();
  tell(just_long, 0, 800, 100);
  tell(just_short, 0, 799, 100);
  check.that(!just_long.full() && just_short.full(), "800 bytes are long");
}

void test_accounts(Checks& check) {
  TxLoad load = fresh();
  tell(load, 0, 500, 200);
  load.sent(0, 1'000'000, 1'000'000);
  tell(load, 1, 500, 100);
  check.that(!load.full(), "no more comes back than was told of");
  tell(load, 1, 500, 40);
  check.that(load.full(), "70 kB of another queue");
  load.stopped(1);
  check.that(!load.full(), "what a stopped queue had is gone");
  tell(load, 2, 500, 200);
  check.that(load.full(), "100 kB");
  load.reset(kQueues);
  check.that(!load.full(), "a new device");
}

using Rung = std::vector<std::pair<std::size_t, bool>>;

Rung release(TxLoad& load) {
  Rung rung;
  load.release([&](std::size_t queue, bool late) { rung.emplace_back(queue, late); });
  return rung;
}

void test_held(Checks& check) {
  TxLoad load = fresh();
  tell(load, 0, 500, 200);
  check.that(load.full(), "100 kB");
  load.hold(2);
  load.hold(1);
  load.hold(2);
  check.that(release(load).empty(), "held while it is full");
  load.sent(0, 500 * 150, 150);
  check.that(release(load) == Rung{{2, false}, {1, false}}, "then in their order, each once");
  check.that(release(load).empty(), "and no more");
  load.hold(2);
  check.that(release(load) == Rung{{2, false}}, "a queue can be held again");
}

void test_one_may_fill_it(Checks& check) {
  TxLoad load = fresh();
  tell(load, 0, 500, 200);
  check.that(load.full(), "100 kB");
  for (std::size_t queue = 1; queue < kQueues; ++queue) {
    for (int i = 0; i < 80; ++i) load.put(queue, 500);
    load.hold(queue);
  }
  load.sent(0, 500 * 180, 180);
  Rung rung;
  load.release([&](std::size_t queue, bool late) {
    rung.emplace_back(queue, late);
    load.rang(queue);
  });
  check.that(rung == Rung{{1, false}, {2, false}}, "10 kB and 40 and 40: the third one waits");
}

void test_patience(Checks& check) {
  TxLoad load = fresh();
  tell(load, 0, 500, 200);
  load.hold(3);
  for (int i = 0; i < 5; ++i) {
    check.that(release(load).empty(), "held");
    load.sent(0, 100'000, 200);
    tell(load, 0, 500, 200);
    check.that(load.full(), "always full");
  }
  check.that(release(load).empty(), "500 kB of others are not too much");
  load.sent(0, 24'288, 48);
  check.that(release(load).empty(), "nor 512");
  tell(load, 0, 500, 1);
  load.sent(0, 500, 1);
  check.that(load.full() && release(load) == Rung{{3, true}}, "more are: it is late");
}

}  // namespace
}  // namespace emery::host_nic

int main() {
  emery::Checks check;
  emery::host_nic::test_full_and_not(check);
  emery::host_nic::test_long_packets(check);
  emery::host_nic::test_accounts(check);
  emery::host_nic::test_held(check);
  emery::host_nic::test_one_may_fill_it(check);
  emery::host_nic::test_patience(check);
  return check.finish();
}
