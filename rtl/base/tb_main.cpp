// SPDX-License-Identifier: Apache-2.0
// The main program of every block test. What stands before it (src/emery/make/build.py) names the
// model, `Model`, its state, `State`, and `keep`, which copies what registers and memories hold.
//
// With +restarts=N the test is run N times more, each time as if a reset had come in the middle of
// its traffic: the registers and memories hold at the start what they held at a random time of
// the first run, while bench, scoreboards and clock begin anew. The test's own reset then has to
// bring the block back.
//
// Built to count coverage, it writes the counts of each run to the file +coverage=FILE names, with
// seed and number behind it.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <random>
#include <string>
#include <vector>

namespace {

using Arguments = std::vector<std::string>;

unsigned long number(const Arguments& arguments, const std::string& name, unsigned long otherwise) {
  for (const auto& x : arguments) {
    if (x.starts_with("+" + name + "="))
      return std::strtoul(x.c_str() + name.size() + 2, nullptr, 0);
  }
  return otherwise;
}

class Run {
 public:
  explicit Run(const Arguments& arguments, unsigned long seed)
      : context_(new VerilatedContext), seed_(seed) {
    Arguments words;
    for (const auto& x : arguments) {
      if (!x.starts_with("+seed=")) words.push_back(x);
    }
    words.push_back("+seed=" + std::to_string(seed));
    std::vector<const char*> pointers;
    for (const auto& x : words) pointers.push_back(x.c_str());
    context_->threads(1);
    context_->commandArgs(static_cast<int>(pointers.size()), pointers.data());
    context_->randSeed(static_cast<int>(seed));
    model_ = std::make_unique<Model>(context_.get(), "");
  }

  // Before anything ran: holds what `other` holds now.
  void take_over(const Run& other) { keep(state(), other.state()); }

  // To its end, or to a time before it.
  void go_on(std::uint64_t until) {
    Verilated::threadContextp(context_.get());
    while (!context_->gotFinish()) {
      model_->eval();
      if (!model_->eventsPending() || model_->nextTimeSlot() > until) break;
      context_->time(model_->nextTimeSlot());
    }
  }
  bool finished() const { return context_->gotFinish(); }
  std::uint64_t time() const { return context_->time(); }
  void end(const Arguments& arguments) {
    model_->final();
#if VM_COVERAGE
    for (const auto& x : arguments) {
      if (!x.starts_with("+coverage=")) continue;
      context_->coveragep()->write((x.substr(10) + "-" + std::to_string(seed_)).c_str());
    }
#else
    static_cast<void>(arguments);
#endif
  }

 private:
  State& state() const { return *model_->rootp->vlSymsp; }

  std::unique_ptr<VerilatedContext> context_;
  unsigned long seed_;
  std::unique_ptr<Model> model_;
};

}  // namespace

int main(int argc, char** argv) {
  const Arguments arguments(argv, argv + argc);
  const unsigned long seed = number(arguments, "seed", 1);
  const unsigned long restarts = number(arguments, "restarts", 0);
  Run whole(arguments, seed);
  whole.go_on(UINT64_MAX);
  if (!whole.finished()) return 1;
  whole.end(arguments);

  std::mt19937_64 random(seed);
  for (unsigned long i = 1; i <= restarts; ++i) {
    const std::uint64_t at = std::uniform_int_distribution(whole.time() / 20, whole.time())(random);
    std::printf("again after %llu ps\n", static_cast<unsigned long long>(at));
    Run part(arguments, seed);
    part.go_on(at);
    Run again(arguments, seed + 1000 * i);
    again.take_over(part);
    again.go_on(UINT64_MAX);
    if (!again.finished()) return 1;
    again.end(arguments);
  }
  return 0;
}
