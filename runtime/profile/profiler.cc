#include "runtime/profile/profiler.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "costmodel/random.h"
#include "costmodel/statistics.h"

namespace stagecraft {
namespace {

constexpr const char* kThrottled = ", throttled";

// A case to be measured, and the results of its turns.
struct Candidate {
  const ProfileCase* one = nullptr;
  bool is_out = false;  // the device cannot run it, or was always throttled
  std::vector<OpMeasurement> turns = {};
  DeviceState state = {};     // readings of the last turn
  bool is_throttled = false;  // in any of the turns that count
};

class Profiler {
 public:
  Profiler(OpTimer& timer, const ProfilerOptions& options, ProfilerClock& clock)
      : timer_(timer), options_(options), clock_(clock), software_(timer.device().software) {}

  bool MustEnd() const {
    const bool is_stopped = options_.stop != nullptr && options_.stop->load();
    return is_stopped || clock_.Elapsed() >= options_.budget;
  }

  // Measures a candidate once more; if it drops out, `outcome` counts it.
  void TakeTurn(Candidate& candidate, ProfileOutcome& outcome) {
    const PreparedOp prepared = timer_.Prepare(*candidate.one);
    if (prepared.op == nullptr) {
      outcome.Refuse(*candidate.one, prepared.refusal);
      candidate.is_out = true;
      return;
    }
    outcome.Accept(*candidate.one);
    const bool is_hot = given_up_in_a_row_ >= options_.most_given_up;
    for (int attempt = 0; attempt < (is_hot ? 1 : options_.most_tries); ++attempt) {
      if (attempt > 0) clock_.Sleep(options_.cooling);
      const OpMeasurement measured = Measure(*prepared.op, options_.rules);
      candidate.state = prepared.op->State();
      const bool is_throttled = candidate.state.is_throttled.value_or(false);
      if (is_throttled && !is_hot) continue;
      candidate.is_throttled |= is_throttled;
      if (!is_throttled) given_up_in_a_row_ = 0;
      candidate.turns.push_back(measured);
      return;
    }
    ++given_up_in_a_row_;
    ++outcome.throttled;
    candidate.is_out = true;
    candidate.turns.clear();
  }

  Sample SampleOf(const Candidate& candidate) const {
    std::vector<double> seconds, logs, variances;
    int batches = 0;
    for (const OpMeasurement& turn : candidate.turns) {
      seconds.push_back(turn.time.seconds());
      logs.push_back(std::log(turn.time.seconds()));
      variances.push_back(turn.spread * turn.spread);
      batches += turn.batches;
    }
    const double between = logs.size() > 1 ? Sigma(logs) : 0;
    Sample sample;
    sample.op = candidate.one->op;
    sample.gpu = options_.gpu;
    sample.time = std::max(Duration::Seconds(Mean(seconds)), 1_ns);
    sample.spread = std::sqrt(Mean(variances) + between * between);
    sample.repeats = batches;
    sample.clock_hz = candidate.state.clock_hz;
    sample.watts = candidate.state.watts;
    sample.name = candidate.one->kernel;
    sample.software = software_ + (candidate.is_throttled ? kThrottled : "");
    sample.source = options_.source;
    return sample;
  }

 private:
  OpTimer& timer_;
  const ProfilerOptions& options_;
  ProfilerClock& clock_;
  const std::string software_;
  int given_up_in_a_row_ = 0;
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
  std::vector<Candidate> rest;
  for (const size_t index : ShuffledOrder(suite.size(), options.seed)) {
    if (done.contains(suite[index])) {
      ++outcome.already;
      outcome.Accept(suite[index]);
    } else {
      rest.push_back({.one = &suite[index]});
    }
  }
  Profiler profiler(timer, options, clock);
  DeviceState state;
  size_t begun = 0;  // how many of the rest have begun
  while (begun < rest.size() && !profiler.MustEnd()) {
    const size_t first = begun;
    const size_t end = std::min(first + options.rules.ops_in_turn, rest.size());
    for (int turn = 0; turn < options.rules.turns; ++turn) {
      for (size_t i = first; i < end && !profiler.MustEnd(); ++i) {
        if (rest[i].is_out) continue;
        const size_t done_here = (turn * (end - first) + i - first) / options.rules.turns;
        show({outcome.already + first + done_here, suite.size(), clock.Elapsed(), rest[i].one,
              state});
        profiler.TakeTurn(rest[i], outcome);
        if (!rest[i].is_out) state = rest[i].state;
        begun = std::max(begun, i + 1);
      }
    }
    for (size_t i = first; i < begun; ++i) {
      if (rest[i].turns.empty()) continue;
      keep(profiler.SampleOf(rest[i]));
      ++outcome.measured;
      if (rest[i].is_throttled) ++outcome.measured_hot;
    }
  }
  outcome.left = rest.size() - begun;
  return outcome;
}

}  // namespace stagecraft
