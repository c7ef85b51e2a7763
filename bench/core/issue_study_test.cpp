// SPDX-License-Identifier: Apache-2.0
// Streams whose instructions a clock can be told by hand.
#include "bench/core/issue_study.hpp"

#include <functional>
#include <string>

#include "bench/stats/check.hpp"

namespace {

using namespace emery;
using P = BranchPrediction;

double ipc(IssueStudy::Config config, const std::function<IssueInstruction(unsigned)>& stream) {
  IssueStudy study(config);
  for (unsigned n = 0; n < 12'000; ++n) study.issue(stream(n));
  return study.ipc();
}

}  // namespace

int main() {
  Checks check;
  const auto near = [&](double got, double want, const std::string& what) {
    check.near(got, want, 0.01 * want, what);
  };
  const auto free = [](unsigned) { return IssueInstruction{}; };
  const auto chain = [](unsigned) { return IssueInstruction{.rd = 5, .rs1 = 5}; };
  // A load, its use, two others.
  const auto use = [](unsigned n) {
    return n % 4 == 0   ? IssueInstruction{.rd = 6, .load = true, .word = n}
           : n % 4 == 1 ? IssueInstruction{.rd = 7, .rs1 = 6}
                        : IssueInstruction{};
  };
  // Three others, then a branch.
  const auto branches = [](unsigned n) { return IssueInstruction{.branch = n % 4 == 3}; };
  const auto stores = [](unsigned n) {
    return n % 2 ? IssueInstruction{.rd = 5, .load = true, .word = 8}
                 : IssueInstruction{.rs2 = 5, .store = true, .word = 8};
  };

  for (const bool in_order : {true, false}) {
    const std::string kind = in_order ? "in order" : "out of order";
    for (const unsigned width : {1u, 2u, 4u}) {
      near(ipc({in_order, width, true, P::kNone}, free), width, kind + ", nothing in the way");
      near(ipc({in_order, width, false, P::kPerfect}, chain), 1, kind + ", each needs the last");
    }
    near(ipc({in_order, 4, false, P::kNone}, branches), 4, kind + ", a branch ends each group");
    near(ipc({in_order, 4, false, P::kOneAClock}, branches), 4, kind + ", one branch a clock");
    const auto all = [](unsigned) { return IssueInstruction{.branch = true}; };
    near(ipc({in_order, 4, false, P::kPerfect}, all), 4, kind + ", branches, all predicted");
    near(ipc({in_order, 4, false, P::kOneAClock}, all), 1, kind + ", branches, one predicted");
    near(ipc({in_order, 4, false, P::kNone}, all), 1, kind + ", branches, none predicted");
    near(ipc({in_order, 2, false, P::kPerfect}, stores), 1, kind + ", through memory");
    near(ipc({in_order, 4, true, P::kPerfect},
             [](unsigned n) { return IssueInstruction{.store = true, .word = n}; }),
         1, kind + ", one access a clock");
  }
  near(ipc({true, 1, false, P::kPerfect}, use), 1, "in order, loads without stalls");
  near(ipc({true, 1, true, P::kPerfect}, use), 0.8, "in order, load and use");
  near(ipc({false, 1, true, P::kPerfect}, use), 1, "out of order, load and use");
  return check.finish();
}
