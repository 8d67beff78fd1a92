#include "tools/report/error_by_size.h"

#include <fmt/core.h>

#include <cmath>
#include <map>
#include <set>
#include <tuple>

namespace stagecraft {
namespace {

int DecadeOf(Duration time) {
  int decade = 0;
  for (int64_t limit = 10'000; time.ns() >= limit && decade < 14; limit *= 10) ++decade;
  return decade;
}

struct Sum {
  std::set<int> samples;
  int predictions = 0;
  double ape = 0;
  double log_ratio = 0;
};

}  // namespace

std::vector<SizeError> ErrorsBySize(std::span<const Sample> samples, const Experiment& experiment) {
  std::map<std::tuple<std::string, ModelKind, int>, Sum> sums;
  for (const auto& [model, predictions] : experiment.predictions) {
    for (const SamplePrediction& prediction : predictions) {
      const Sample& sample = samples[prediction.sample];
      Sum& sum = sums[{OpLabel(sample), model, DecadeOf(sample.time)}];
      const double ratio = prediction.seconds / sample.time.seconds();
      sum.samples.insert(prediction.sample);
      ++sum.predictions;
      sum.ape += std::abs(ratio - 1);
      sum.log_ratio += std::log(ratio);
    }
  }
  std::vector<SizeError> errors;
  for (const auto& [key, sum] : sums) {
    const auto& [op, model, decade] = key;
    errors.push_back({op, model, decade, static_cast<int>(sum.samples.size()),
                      sum.ape / sum.predictions, sum.log_ratio / sum.predictions});
  }
  return errors;
}

double DecadeBegin(int decade) { return decade == 0 ? 0 : std::pow(10.0, decade); }

std::string DecadeName(int decade) {
  if (decade == 0) return "<10 us";
  constexpr const char* kUnits[] = {"us", "ms", "s"};
  const int unit = std::min(decade / 3, 2);
  const double begin = std::pow(10.0, decade - 3 * unit);
  return fmt::format("{}-{} {}", begin, 10 * begin, kUnits[unit]);
}

}  // namespace stagecraft
