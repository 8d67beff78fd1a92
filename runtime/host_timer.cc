#include "runtime/host_timer.h"

#include <fmt/core.h>

#include <Eigen/Core>
#include <algorithm>
#include <atomic>
#include <chrono>
#include <memory>
#include <thread>
#include <utility>
#include <vector>

#include "costmodel/check.h"
#include "runtime/host_ops.h"
#include "runtime/host_processor.h"
#include "runtime/processor_count.h"

namespace stagecraft {
namespace {

constexpr Bytes kLargest = Bytes(256 << 20);  // the most that an op may touch
// Each companion takes half a gigabyte.
constexpr int kMostCompanions = 15;

// An op of which every other CPU runs the same, from the construction to the destruction of this
// object.
class HostTimedOp : public TimedOp {
 public:
  HostTimedOp(HostOps& ops, std::vector<std::unique_ptr<HostOps>>& companions, Op op)
      : ops_(ops), op_(std::move(op)) {
    for (const auto& other : companions) {
      threads_.emplace_back([this, others = other.get()] {
        while (!stop_) others->Run(op_);
      });
    }
  }
  ~HostTimedOp() override {
    stop_ = true;
    for (std::thread& thread : threads_) thread.join();
  }

  Duration Run(int calls) override {
    const auto begin = std::chrono::steady_clock::now();
    for (int i = 0; i < calls; ++i) ops_.Run(op_);
    const std::chrono::nanoseconds spent = std::chrono::steady_clock::now() - begin;
    return Duration::Nanoseconds(spent.count());
  }
  DeviceState State() override { return {}; }

 private:
  HostOps& ops_;
  const Op op_;
  std::atomic<bool> stop_ = false;
  std::vector<std::thread> threads_;
};

class HostTimer : public OpTimer {
 public:
  HostTimer() : ops_(kLargest) {
    const int others = std::min(ProcessorCount() - 1, kMostCompanions);
    for (int i = 0; i < others; ++i) companions_.push_back(std::make_unique<HostOps>(kLargest));
    std::vector<std::jthread> threads;
    for (const auto& other : companions_) {
      threads.emplace_back([ops = other.get()] { MeasureProcessor(*ops); });
    }
    processor_ = MeasureProcessor(ops_);
  }

  MeasuredDevice device() const override {
    return {.name = processor_.name,
            // A case of a suite takes at most an eighth of this.
            .memory = 8 * kLargest,
            .software = fmt::format("Eigen {}.{}.{}, one thread", EIGEN_WORLD_VERSION,
                                    EIGEN_MAJOR_VERSION, EIGEN_MINOR_VERSION),
            .uncatalogued = processor_};
  }
  PreparedOp Prepare(const ProfileCase& one) override {
    if (HostOps::Touched(one.op) > kLargest) return {nullptr, "more than 256 MiB in 32 bits"};
    return {std::make_unique<HostTimedOp>(ops_, companions_, one.op), ""};
  }

 private:
  HostOps ops_;
  std::vector<std::unique_ptr<HostOps>> companions_;  // for the other CPUs
  Device processor_;
};

}  // namespace

std::unique_ptr<OpTimer> MakeHostOpTimer(int ordinal, const std::string& place) {
  if (ordinal != 0) {
    throw InputError(
        fmt::format("{}: got host:{}, want host, which names no CPU core", place, ordinal));
  }
  return std::make_unique<HostTimer>();
}

}  // namespace stagecraft
