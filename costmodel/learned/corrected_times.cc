#include "costmodel/learned/corrected_times.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace stagecraft {
namespace {

// If an upward correction is larger than this, a multiple of the time of an op twice as large
// bounds it.
constexpr double kLargeCorrection = 0.2;
constexpr double kDoubling = 1.3;

// Multiplies a size of the op, and returns whether it is small enough for that; a size that is not
// stays as it is.
bool Scale(Op& op, int dimension, int64_t factor) {
  constexpr int64_t kMost = int64_t{1} << 55;
  int64_t& size = dimension == 0 ? op.m : dimension == 1 ? op.n : op.k;
  if (size > kMost) return false;
  size *= factor;
  return true;
}

}  // namespace

void DescribedOps::Add(const KernelFamily& family, const Op& op, const Device& device,
                       std::span<const double> constants) {
  const size_t columns = static_cast<size_t>(family.feature_count());
  features.resize(features.size() + columns);
  log_seconds.push_back(
      std::log(family.Describe(op, device, constants, std::span(features).last(columns))));
}

double CorrectedTimes::LogStructured(const Op& op) const {
  return std::log(family_.Describe(op, running_, setting_.constants, {}));
}

DescribedOps CorrectedTimes::Describe(std::span<const Op> ops) const {
  DescribedOps described;
  described.features.reserve(ops.size() * static_cast<size_t>(family_.feature_count()));
  described.log_seconds.reserve(ops.size());
  const bool runs_as_measured = running_ == measured_;
  for (const Op& op : ops) {
    described.Add(family_, op, measured_, setting_.constants);
    if (!runs_as_measured) described.log_seconds.back() = LogStructured(op);
  }
  return described;
}

std::vector<double> CorrectedTimes::Unguarded(std::span<const Op> ops,
                                              const DescribedOps& described) const {
  if (IsPlain()) return described.log_seconds;
  std::vector<double> results(ops.size(), 0);
  if (!trees_.empty()) trees_.AddTo(described.features, results);
  for (size_t i = 0; i < ops.size(); ++i) {
    const double share = setting_.share * family_.Belief(ops[i]);
    results[i] =
        described.log_seconds[i] + std::clamp(share * results[i], share * learning_.correction_low,
                                              share * learning_.correction_high);
    results[i] += setting_.residual.Of(ops[i]);
  }
  return results;
}

std::vector<double> CorrectedTimes::Of(std::span<const Op> ops,
                                       const DescribedOps& described) const {
  if (!learning_.grows || IsPlain()) return Unguarded(ops, described);
  std::vector<double> results = BoundedByTwice(ops, described);
  TakeSmallest(ops, results);
  return results;
}

std::vector<double> CorrectedTimes::BoundedByTwice(std::span<const Op> ops,
                                                   const DescribedOps& described) const {
  std::vector<double> results = Unguarded(ops, described);
  std::vector<size_t> bounded;
  std::vector<Op> larger;
  for (size_t i = 0; i < ops.size(); ++i) {
    if (results[i] - described.log_seconds[i] <= kLargeCorrection) continue;
    for (int dimension = 0; dimension < 3; ++dimension) {
      Op twice = ops[i];
      if (!Scale(twice, dimension, 2)) continue;
      if (LogStructured(twice) + Lowest() + std::log(kDoubling) >= results[i]) continue;
      bounded.push_back(i);
      larger.push_back(twice);
    }
  }
  const std::vector<double> times = Unguarded(larger, Describe(larger));
  for (size_t i = 0; i < larger.size(); ++i) {
    results[bounded[i]] = std::min(results[bounded[i]], times[i] + std::log(kDoubling));
  }
  return results;
}

// Takes the least time over all ops that are larger by powers of eight, so that eight times a size
// never costs less. Structured times grow, so whole branches can be left out; the others are
// followed step by step, for all ops together.
void CorrectedTimes::TakeSmallest(std::span<const Op> ops, std::span<double> results) const {
  struct Branch {
    size_t op;
    int dimension;  // the one that grew last; those before it do not grow any more
  };
  std::vector<Branch> branches;
  for (size_t i = 0; i < ops.size(); ++i) branches.push_back({i, 0});
  std::vector<Op> grown(ops.begin(), ops.end());  // by branch
  while (!branches.empty()) {
    std::vector<Branch> next;
    std::vector<Op> larger;
    for (size_t b = 0; b < branches.size(); ++b) {
      for (int d = branches[b].dimension; d < 3; ++d) {
        Op op = grown[b];
        if (!Scale(op, d, 8)) continue;
        const double best = results[branches[b].op];
        const double least = family_.LeastTime(op, running_, setting_.constants);
        if (least > 0 && std::log(least) + Lowest() >= best) continue;
        if (LogStructured(op) + Lowest() >= best) continue;
        next.push_back({branches[b].op, d});
        larger.push_back(op);
      }
    }
    const std::vector<double> times = BoundedByTwice(larger, Describe(larger));
    for (size_t i = 0; i < next.size(); ++i) {
      results[next[i].op] = std::min(results[next[i].op], times[i]);
    }
    branches = std::move(next);
    grown = std::move(larger);
  }
}

}  // namespace stagecraft
