#include "runtime/profile/measuring.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "costmodel/statistics.h"

namespace stagecraft {
namespace {

// The ratio of the standard errors of a median and of a mean, for normal errors: sqrt(pi / 2).
constexpr double kMedianOverMean = 1.2533;

Duration WarmUp(TimedOp& op, const MeasuringRules& rules) {
  Duration last = std::max(op.Run(1), 1_ns);
  for (Duration spent = last + rules.beside_calls; spent < rules.warm_up;
       spent += last + rules.beside_calls) {
    last = std::max(op.Run(1), 1_ns);
  }
  return last;
}

int CallsOfBatch(Duration call, const MeasuringRules& rules) {
  return static_cast<int>(std::clamp<int64_t>(rules.batch.ns() / call.ns(), 1, rules.most_calls));
}

}  // namespace

MeasuringRules RulesFor(const Device& device) {
  if (device.generation != Generation::kHost) return {};
  return {.warm_up = 1_ms,
          .beside_calls = Duration(),
          .least_batches = 2,
          .limit = 10_ms,
          .takes_mean = true,
          .ops_in_turn = 64,
          .turns = 3};
}

OpMeasurement Measure(TimedOp& op, const MeasuringRules& rules) {
  const Duration first = WarmUp(op, rules);
  int calls = CallsOfBatch(first, rules);
  // A single call also takes time that consecutive calls hide, so the number of calls is found
  // again from several.
  if (calls > 1) {
    const Duration row = std::max(op.Run(calls), 1_ns);
    const Duration call = std::max(Duration::Nanoseconds(row.ns() / calls), 1_ns);
    calls = std::max(calls, CallsOfBatch(call, rules));
    if (2 * row < rules.batch) op.Run(calls);
  }
  OpMeasurement measured;
  std::vector<double> times, logs;  // seconds of a call
  for (Duration spent; measured.batches < rules.most_batches;) {
    const Duration batch = std::max(op.Run(calls), 1_ns);
    spent += batch;
    times.push_back(batch.seconds() / calls);
    logs.push_back(std::log(times.back()));
    ++measured.batches;
    if (measured.batches < std::max(2, rules.least_batches)) continue;
    measured.spread = Sigma(logs);
    const double of_mean = measured.spread / std::sqrt(measured.batches);
    const double error = rules.takes_mean ? of_mean : kMedianOverMean * of_mean;
    measured.reached_goal = error <= rules.goal;
    if (measured.reached_goal || spent >= rules.limit) break;
  }
  const double seconds = rules.takes_mean ? Mean(times) : std::exp(Median(logs));
  measured.time = std::max(Duration::Seconds(seconds), 1_ns);
  return measured;
}

Duration LongestMeasuring(Duration time_of_call, const MeasuringRules& rules) {
  const Duration batch =
      std::max(time_of_call, std::min(rules.batch, rules.most_calls * time_of_call));
  // Measure() makes these calls before its first batch.
  const Duration rows = 2 * (std::min(batch, rules.batch) + rules.beside_calls);
  // An op that is faster than expected is called more often, in more batches.
  const Duration shortest = std::max(std::min(batch, rules.batch), 1_ns);
  const int64_t batches = std::clamp<int64_t>(rules.limit.ns() / shortest.ns() + 1,
                                              rules.least_batches, rules.most_batches);
  return rules.turns *
         (std::max(rules.warm_up, time_of_call + rules.beside_calls) + rows +
          std::max(rules.limit, rules.least_batches * batch) + batches * rules.beside_calls);
}

}  // namespace stagecraft
