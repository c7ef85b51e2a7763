// SPDX-License-Identifier: Apache-2.0
#include "bench/guest/proxy_guests.hpp"

#include <cstdio>
#include <utility>

#include "bench/guest/proxy_pci.hpp"

namespace emery {
namespace {

void interrupt(const Descriptor& qtest, MsixMessage message) {
  char line[64];
  const int bytes = std::snprintf(line, sizeof line, "writel 0x%llx 0x%x\n",
                                  static_cast<unsigned long long>(message.addr), message.data);
  send(qtest, line, static_cast<std::size_t>(bytes));
}

// What qtest says to that.
class Acknowledged final : public SocketGuests::Peer {
 public:
  explicit Acknowledged(std::shared_ptr<Descriptor> qtest) : qtest_(std::move(qtest)) {}
  int number() const override { return qtest_->number(); }
  bool serve() override {
    char ok;  // a line each
    return receive(*qtest_, &ok, 1);
  }
  bool moves() const override { return false; }

 private:
  std::shared_ptr<Descriptor> qtest_;
};

}  // namespace

void ProxyGuests::add_more(const std::string& folder, const std::string& number,
                           const std::vector<SlotInterface*>& slots) {
  const auto qtest = std::make_shared<Descriptor>();
  listen(folder + "/irq" + number, [qtest](Descriptor caller) {
    *qtest = std::move(caller);
    return std::make_unique<Acknowledged>(qtest);
  });
  for (SlotInterface* host : slots)
    host->on_message([qtest](MsixMessage message) { interrupt(*qtest, message); });
}

std::unique_ptr<SocketGuests::Peer> ProxyGuests::meet(Descriptor caller, SlotInterface& host,
                                                      HostMemory* memory) {
  return std::make_unique<ProxyPci>(std::move(caller), host, memory);
}

}  // namespace emery
