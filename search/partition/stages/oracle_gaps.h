// OracleGap(): how far a solver's plan is from the best of all plans, on randomly drawn problems.
#pragma once

#include <cstdint>

#include "costmodel/random.h"
#include "search/partition/stages/drawn_stages.h"
#include "search/partition/stages/stage_comparison.h"

namespace stagecraft {

// Returns the problem of one instance; seeds begin with 1.
inline StageProblem OracleProblem(int seed) { return DrawStageProblem(Random(seed), 7, 10); }

inline constexpr int64_t kOracleEvaluations = 5000;

// Narrow, so that hundreds of problems take only minutes.
inline constexpr int kOraclePolicyWidth = 16;

// Returns by what share the algorithm's plan is worse than `least`, the best score of all plans.
inline double OracleGap(StageAlgorithm algorithm, const StageProblem& problem, double least,
                        int seed) {
  const StageComparison comparison{.budget = {.evaluations = kOracleEvaluations},
                                   .seed = static_cast<uint64_t>(seed),
                                   .policy_width = kOraclePolicyWidth};
  return RunStageAlgorithm(algorithm, problem, comparison).score / least - 1;
}

}  // namespace stagecraft
