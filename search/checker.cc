#include "search/checker.h"

#include <fmt/core.h>

#include <utility>

#include "sim/step/evaluation_errors.h"

namespace stagecraft {

std::vector<std::string> FindErrors(const SearchProblem& problem, const RankedPlan& ranked) {
  const Plan& plan = ranked.plan;
  std::vector<std::string> errors = FindErrors(plan, problem.workload, problem.cluster);
  if (!errors.empty()) return errors;
  if (plan.global_batch != problem.given.global_batch || plan.sequence != problem.given.sequence) {
    errors.push_back(fmt::format("batch {} of {} tokens, asked for {} of {}", plan.global_batch,
                                 plan.sequence, problem.given.global_batch,
                                 problem.given.sequence));
  }
  const Evaluation again = SimulateStep(plan, problem.workload, problem.cluster, problem.model,
                                        {.framework = problem.framework})
                               .evaluation;
  for (std::string& error : FindEvaluationErrors(again, plan, problem.workload, problem.cluster)) {
    errors.push_back(std::move(error));
  }
  if (!again.fits) errors.push_back("needs more memory than is available");
  if (again.step_time != ranked.evaluation.step_time) {
    errors.push_back(fmt::format("takes {} ns, the search said {}", again.step_time.ns(),
                                 ranked.evaluation.step_time.ns()));
  }
  if (Score(problem, again) != ranked.score) {
    errors.push_back(
        fmt::format("scores {}, the search said {}", Score(problem, again), ranked.score));
  }
  return errors;
}

}  // namespace stagecraft
