// How far the solvers are from the best of all plans, on drawn problems.
#pragma once

#include <algorithm>
#include <cmath>
#include <vector>

#include "costmodel/random.h"
#include "search/partition/stages/drawn_stages.h"
#include "search/partition/stages/stage_comparison.h"

namespace stagecraft {

// The problem of an oracle instance; seeds from 1 on.
inline StageProblem OracleProblem(int seed) { return DrawStageProblem(Random(seed), 7, 10); }

inline constexpr int64_t kOracleEvaluations = 5000;

// Share by which the algorithm's plan is worse than `least`, that of all plans.
inline double OracleGap(StageAlgorithm algorithm, const StageProblem& problem, double least,
                        int seed) {
  const Budget budget{.evaluations = kOracleEvaluations};
  return RunStageAlgorithm(algorithm, problem, budget, seed).score / least - 1;
}

// The value that a share of `values` does not exceed; nearest rank.
inline double Quantile(std::vector<double> values, double share) {
  std::sort(values.begin(), values.end());
  const auto rank = static_cast<size_t>(std::ceil(share * static_cast<double>(values.size())));
  return values[std::max<size_t>(rank, 1) - 1];
}

}  // namespace stagecraft
