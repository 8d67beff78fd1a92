#include "search/plans/plan_search.h"

#include "search/exhaustive.h"
#include "search/partition/stages/stage_policy.h"
#include "search/plans/beam.h"
#include "search/plans/plan_gradient.h"
#include "search/plans/plan_mcmc.h"
#include "search/plans/plan_policy.h"
#include "search/plans/plan_starts.h"
#include "search/plans/plan_trials.h"
#include "search/plans/submeshes.h"
#include "search/plans/work_bound.h"
#include "search/stopwatch.h"

namespace stagecraft {
namespace {

constexpr size_t kMostStarts = 4096;
constexpr int kBeamWidth = 8;
constexpr int kPolicyWidth = 32;

void Run(PlanAlgorithm algorithm, const SearchProblem& problem,
         const std::vector<PlanStart>& starts, const PlanSearchOptions& options,
         PlanTrials& trials) {
  switch (algorithm) {
    case PlanAlgorithm::kRandom:
      return SearchPlansRandomly(starts, options.seed, trials);
    case PlanAlgorithm::kExhaustive:
      return;
    case PlanAlgorithm::kBeam:
      return SearchPlansByBeam(problem, starts, kBeamWidth, trials);
    case PlanAlgorithm::kProgramme:
      return SearchPlansBySubmeshes(problem, ShapesOf(problem, starts), options.known, trials);
    case PlanAlgorithm::kMcmc:
      return SearchPlansByMcmc(problem, starts, {.seed = options.seed}, trials);
    case PlanAlgorithm::kGradient:
      return SearchPlansByGradient(problem, ShapesOf(problem, starts), {.seed = options.seed},
                                   trials);
    case PlanAlgorithm::kPolicy: {
      StagePolicy policy = options.policy.empty()
                               ? StagePolicy({.width = kPolicyWidth}, options.seed)
                               : StagePolicy::Read(options.policy, "policy");
      return SearchPlansByPolicy(problem, ShapesOf(problem, starts), {.seed = options.seed}, policy,
                                 trials);
    }
  }
}

PlanRun SearchFrom(PlanAlgorithm algorithm, const SearchProblem& problem, PlanSpace& space,
                   const std::vector<PlanStart>& starts, const PlanSearchOptions& options) {
  return TimedRun(algorithm, [&] {
    // If there is no start, maybe no plan of the space fits; the exhaustive search then says why.
    if (algorithm == PlanAlgorithm::kExhaustive || starts.empty()) {
      return SearchExhaustively(problem, space, options.search);
    }
    PlanTrials trials(problem, space, options.search);
    Run(algorithm, problem, starts, options, trials);
    SearchResult result = trials.Finish();
    if (!result.plans.empty()) result.bound = WorkBound(problem).LeastScore();
    return result;
  });
}

std::vector<PlanStart> StartsOf(const SearchProblem& problem, PlanSpace& space) {
  return FindStarts(problem, space, kMostStarts);
}

}  // namespace

const char* Name(PlanAlgorithm algorithm) {
  constexpr const char* kNames[] = {"random", "exhaustive",     "beam",  "dp",
                                    "mcmc",   "differentiable", "policy"};
  return kNames[static_cast<int>(algorithm)];
}

std::optional<PlanAlgorithm> FindPlanAlgorithm(std::string_view name) {
  for (int i = 0; i < kPlanAlgorithmCount; ++i) {
    const auto algorithm = static_cast<PlanAlgorithm>(i);
    if (name == Name(algorithm)) return algorithm;
  }
  return std::nullopt;
}

PlanRun TimedRun(PlanAlgorithm algorithm, const std::function<SearchResult()>& search) {
  const Stopwatch watch;
  PlanRun run{algorithm, search(), 0};
  run.seconds = watch.Seconds();
  return run;
}

PlanRun SearchPlans(PlanAlgorithm algorithm, const SearchProblem& problem, PlanSpace& space,
                    const PlanSearchOptions& options) {
  const bool needs_starts = algorithm != PlanAlgorithm::kExhaustive;
  const std::vector<PlanStart> starts =
      needs_starts ? StartsOf(problem, space) : std::vector<PlanStart>();
  return SearchFrom(algorithm, problem, space, starts, options);
}

std::vector<PlanRun> ComparePlanAlgorithms(const SearchProblem& problem, PlanSpace& space,
                                           const PlanSearchOptions& options) {
  const std::vector<PlanStart> starts = StartsOf(problem, space);
  std::vector<PlanRun> runs;
  for (int i = 0; i < kPlanAlgorithmCount; ++i) {
    runs.push_back(SearchFrom(static_cast<PlanAlgorithm>(i), problem, space, starts, options));
  }
  return runs;
}

}  // namespace stagecraft
