// SPDX-License-Identifier: Apache-2.0
#include "bench/guest/proxy_guests.hpp"

#include <cstdio>
#include <memory>
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

void ProxyGuests::add(const std::string& folder, const std::vector<SlotInterface*>& slots,
                      HostMemory& memory) {
  const std::string number = std::to_string(guests_++);
  const auto qtest = std::make_shared<Descriptor>();
  listen(folder + "/irq" + number, [qtest](Descriptor caller) {
    *qtest = std::move(caller);
    return std::make_unique<Acknowledged>(qtest);
  });
  for (std::size_t i = 0; i < slots.size(); ++i) {
    SlotInterface& host = *slots[i];
    host.on_message([qtest](MsixMessage message) { interrupt(*qtest, message); });
    HostMemory* own = i == 0 ? &memory : nullptr;
    listen(folder + "/pci" + number + "." + std::to_string(i), [&host, own](Descriptor caller) {
      return std::make_unique<ProxyPci>(std::move(caller), host, own);
    });
  }
}

}  // namespace emery
