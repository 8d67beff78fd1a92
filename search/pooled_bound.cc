#include "search/pooled_bound.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>

namespace stagecraft {
namespace {

// Bounds are products of doubles.
constexpr double kRounding = 1 - 1e-9;

double NanosecondsOf(const LayerTimes& times) {
  return static_cast<double>((times.forward + times.backward).ns());
}

}  // namespace

PooledBound::Reference PooledBound::ReferenceOf(const PooledPlan& plan) const {
  Reference reference;
  for (int pool = 0; pool < static_cast<int>(plans_.pools().size()); ++pool) {
    const std::vector<int> degrees = plans_.TensorDegrees(plans_.pools()[pool]);
    if (degrees.empty()) continue;
    reference.times = &split_.LayersIn(plan, pool, degrees[0]);
    break;
  }
  if (reference.times == nullptr) return reference;
  for (const int kind : problem_.workload.layers) {
    reference.all_ns += NanosecondsOf((*reference.times)[kind]);
  }
  return reference;
}

double PooledBound::SpeedOf(const PooledPlan& plan, const Reference& reference, int pool,
                            int tensor) const {
  const std::vector<LayerTimes>& own = split_.LayersIn(plan, pool, tensor);
  double least = std::numeric_limits<double>::infinity();
  for (size_t kind = 0; kind < own.size(); ++kind) {
    const double there = NanosecondsOf((*reference.times)[kind]);
    if (there > 0) least = std::min(least, NanosecondsOf(own[kind]) / there);
  }
  return 1 / least;
}

Duration PooledBound::StepTime(const PooledPlan& plan, const Reference& reference,
                               double speed) const {
  const auto micro_batches =
      static_cast<double>(problem_.given.global_batch / plan.data / plan.micro_batch);
  if (!(speed > 0)) return Duration::Max();
  return Duration::RoundedNanoseconds(
      std::floor(kRounding * micro_batches * reference.all_ns / speed));
}

Duration PooledBound::OfFamily(const PooledPlan& family) const {
  const Reference reference = ReferenceOf(family);
  if (reference.times == nullptr) return Duration::Max();
  if (reference.all_ns == 0) return Duration();
  double speed = 0;
  for (int p = 0; p < static_cast<int>(plans_.pools().size()); ++p) {
    if (!plans_.MayUse(p)) continue;
    const Pool& pool = plans_.pools()[p];
    double most = 0;
    for (const int tensor : plans_.TensorDegrees(pool)) {
      const int stages = pool.devices / (tensor * family.data);
      most = std::max(most, stages * SpeedOf(family, reference, p, tensor));
    }
    speed += most;
  }
  return StepTime(family, reference, speed);
}

Duration PooledBound::OfPlan(const PooledPlan& plan) const {
  const Reference reference = ReferenceOf(plan);
  if (reference.all_ns == 0) return Duration();
  double speed = 0;
  for (const PoolRun& run : plan.runs) {
    speed += run.stages * SpeedOf(plan, reference, run.pool, run.tensor);
  }
  return StepTime(plan, reference, speed);
}

}  // namespace stagecraft
