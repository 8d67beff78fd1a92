#include "tools/study/plan_runs.h"

#include <algorithm>
#include <cstdint>
#include <string>

#include "costmodel/check.h"
#include "search/pareto.h"
#include "tools/flags/framework_choices.h"

namespace stagecraft {
namespace {

// Adds a run of the dynamic programme, which chooses stage by stage and so finds plans that are not
// in the plan space of the first run.
void GoBeyond(const SearchProblem& problem, PlanSpace& space, PlanSearchOptions options,
              std::vector<PlanRun>& runs) {
  const std::optional<Budget> left = LeftOf(options.search.budget, runs);
  if (!left || runs[0].result.plans.empty()) return;
  options.search.budget = *left;
  int64_t& evaluations = options.search.budget.evaluations;
  evaluations = evaluations > 0 ? std::min(evaluations, kEvaluationsBeyond) : kEvaluationsBeyond;
  options.known = &runs[0].result.plans[0];
  runs.push_back(SearchPlans(PlanAlgorithm::kProgramme, problem, space, options));
}

// Runs the algorithms that the job asks for.
std::vector<PlanRun> RunsOf(const SearchJob& job, const SearchProblem& problem, PlanSpace& space,
                            const PlanSearchOptions& options) {
  if (job.compares) return ComparePlanAlgorithms(problem, space, options);
  if (job.wants_pareto) {
    return {TimedRun(job.algorithm, [&] { return SearchPareto(problem, space, options.search); })};
  }
  std::vector<PlanRun> runs = {SearchPlans(job.algorithm, problem, space, options)};
  if (job.goes_beyond) GoBeyond(problem, space, options, runs);
  return runs;
}

// Drops the plans that the job's training framework cannot run.
void KeepRunnable(const SearchJob& job, std::vector<PlanRun>& runs) {
  std::string why;
  for (PlanRun& run : runs) {
    const std::string obstacle = DropOthers(*job.framework, job.workload, run.result.plans);
    if (obstacle.empty()) continue;
    run.result.obstacle = obstacle;
    run.result.curve.clear();  // of plans that were dropped
    if (why.empty()) why = obstacle;
  }
  const bool has_any = std::any_of(runs.begin(), runs.end(),
                                   [](const PlanRun& run) { return !run.result.plans.empty(); });
  if (has_any || why.empty()) return;
  throw InputError("--for: " + why + ", want fewer choices, such as --tp or --pp");
}

}  // namespace

std::optional<Budget> LeftOf(const Budget& budget, const std::vector<PlanRun>& runs) {
  int64_t evaluated = 0;
  double seconds = 0;
  for (const PlanRun& run : runs) {
    evaluated += run.result.evaluated;
    seconds += run.seconds;
  }
  return budget.Left(evaluated, seconds);
}

std::vector<PlanRun> SearchAsAsked(const SearchJob& job, const SearchProblem& problem,
                                   PlanSpace& space, const PlanSearchOptions& options) {
  std::vector<PlanRun> runs = RunsOf(job, problem, space, options);
  if (job.framework != nullptr) KeepRunnable(job, runs);
  return runs;
}

}  // namespace stagecraft
