#include "runtime/profile/profiler.h"

#include <numeric>
#include <optional>
#include <utility>

#include "costmodel/random.h"

namespace stagecraft {
namespace {

class Profiler {
 public:
  Profiler(OpTimer& timer, const ProfilerOptions& options, ProfilerClock& clock)
      : timer_(timer), options_(options), clock_(clock), software_(timer.device().software) {}

  bool MustEnd() const {
    const bool is_stopped = options_.stop != nullptr && options_.stop->load();
    return is_stopped || clock_.Elapsed() >= options_.budget;
  }

  // Nothing where the device cannot, or is hindered; `outcome` then says so.
  std::optional<Sample> MeasureOne(const ProfileCase& one, ProfileOutcome& outcome) {
    const PreparedOp prepared = timer_.Prepare(one);
    if (prepared.op == nullptr) {
      ++outcome.refused[prepared.refusal];
      return std::nullopt;
    }
    for (int attempt = 0; attempt < options_.most_tries; ++attempt) {
      if (attempt > 0) clock_.Sleep(options_.cooling);
      const Measurement measured = Measure(*prepared.op, options_.rules);
      state_ = prepared.op->State();
      if (!state_.is_throttled) return SampleOf(one, measured);
    }
    ++outcome.throttled;
    return std::nullopt;
  }

  const DeviceState& state() const { return state_; }

 private:
  Sample SampleOf(const ProfileCase& one, const Measurement& measured) const {
    Sample sample;
    sample.op = one.op;
    sample.gpu = options_.gpu;
    sample.time = measured.time;
    sample.spread = measured.spread;
    sample.repeats = measured.batches;
    sample.clock_hz = state_.clock_hz;
    sample.name = one.kernel;
    sample.software = software_;
    sample.source = options_.source;
    return sample;
  }

  OpTimer& timer_;
  const ProfilerOptions& options_;
  ProfilerClock& clock_;
  const std::string software_;
  DeviceState state_;
};

}  // namespace

std::vector<size_t> ShuffledOrder(size_t size, uint64_t seed) {
  std::vector<size_t> order(size);
  std::iota(order.begin(), order.end(), size_t{0});
  Random random = Random(seed).Child("profile order", 0);
  for (size_t last = size; last > 1; --last) {
    const int64_t drawn = random.Integer(0, static_cast<int64_t>(last) - 1);
    std::swap(order[last - 1], order[static_cast<size_t>(drawn)]);
  }
  return order;
}

ProfileOutcome RunProfiler(std::span<const ProfileCase> suite,
                           const std::unordered_set<ProfileCase>& done, OpTimer& timer,
                           const ProfilerOptions& options, ProfilerClock& clock,
                           const std::function<void(const Sample&)>& keep,
                           const std::function<void(const ProfileProgress&)>& show) {
  ProfileOutcome outcome;
  std::vector<const ProfileCase*> rest;
  for (const size_t index : ShuffledOrder(suite.size(), options.seed)) {
    if (done.contains(suite[index])) {
      ++outcome.already;
    } else {
      rest.push_back(&suite[index]);
    }
  }
  Profiler profiler(timer, options, clock);
  for (size_t i = 0; i < rest.size(); ++i) {
    if (profiler.MustEnd()) {
      outcome.left = rest.size() - i;
      break;
    }
    show({outcome.already + i, suite.size(), clock.Elapsed(), rest[i], profiler.state()});
    if (const std::optional<Sample> sample = profiler.MeasureOne(*rest[i], outcome)) {
      keep(*sample);
      ++outcome.measured;
    }
  }
  return outcome;
}

}  // namespace stagecraft
