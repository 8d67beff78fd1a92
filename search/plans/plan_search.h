// SearchPlans(): all algorithms that search for plans, by name, on one problem with one budget.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "search/plan_space.h"
#include "search/problem.h"
#include "search/solution.h"

namespace stagecraft {

enum class PlanAlgorithm {
  kRandom,      // randomly drawn plans of the space: the baseline
  kExhaustive,  // branch and bound over the space
  kBeam,
  kProgramme,  // dynamic programming over stages and submeshes, "dp"
  kMcmc,
  kGradient,  // "differentiable"
  kPolicy
};
inline constexpr int kPlanAlgorithmCount = 7;
const char* Name(PlanAlgorithm algorithm);
std::optional<PlanAlgorithm> FindPlanAlgorithm(std::string_view name);

struct PlanSearchOptions {
  SearchOptions search;
  uint64_t seed = 1;
  std::string policy;  // StagePolicy::Write() of a policy to start from; empty: untrained
  // A plan that kProgramme has to beat, and from which it goes on if it finds no better one; null:
  // none.
  const RankedPlan* known = nullptr;
};

struct PlanRun {
  PlanAlgorithm algorithm;
  SearchResult result;
  double seconds = 0;
};

// Runs `search`, which is that algorithm, and measures its time.
PlanRun TimedRun(PlanAlgorithm algorithm, const std::function<SearchResult()>& search);

// Runs one algorithm. All but kRandom and kExhaustive go beyond the space: they begin at its best
// plans by bound, and then choose layers, devices and recomputation stage by stage. Only
// kExhaustive proves its answer; the others return the bound of all plans that they could find
// (WorkBound).
PlanRun SearchPlans(PlanAlgorithm algorithm, const SearchProblem& problem, PlanSpace& space,
                    const PlanSearchOptions& options);

// Runs all algorithms one after another, each with the whole budget. Bounds of the space are
// computed once.
std::vector<PlanRun> ComparePlanAlgorithms(const SearchProblem& problem, PlanSpace& space,
                                           const PlanSearchOptions& options);

}  // namespace stagecraft
