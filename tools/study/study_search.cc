#include "tools/study/study_search.h"

#include <algorithm>
#include <array>
#include <sstream>
#include <stdexcept>
#include <utility>
#include <vector>

#include "costmodel/check.h"
#include "search/checker.h"
#include "search/plan_space.h"
#include "search/space_views.h"
#include "tools/report/search_report.h"
#include "tools/study/plan_runs.h"

namespace stagecraft {
namespace {

constexpr std::array kFlagsOfReports = {"top", "explain", "compare-algorithms", "report"};

}  // namespace

bool IsFlagOfPoints(const std::string& name) {
  return std::find(kFlagsOfReports.begin(), kFlagsOfReports.end(), name) == kFlagsOfReports.end();
}

StudySearch::StudySearch(StudyCache& cache, const std::atomic<bool>* stop)
    : cache_(cache), stop_(stop), parser_("search", "Finds the best plan.") {
  values_.search.Register(parser_);
  values_.cost_model.Register(parser_);
  unset_ = std::make_unique<Values>(values_);
}

BestPlan StudySearch::FindOrThrow(const StudyPoint& point) {
  values_ = *unset_;
  Args words = WordsOf(point);
  words.insert(words.end(), {"--top=1", "--no-explain"});
  std::ostringstream help;
  if (parser_.Parse(words, help)) throw InputError("--help: want flags of a search only");
  auto job = std::make_shared<SearchJob>(values_.search.Build());
  if (job->wants_pareto) throw InputError("--objective: got pareto, want one with one best plan");
  const std::shared_ptr<const StudyModel> model = cache_.Model(values_.cost_model);
  const SearchProblem problem = job->Problem(*model->memo);
  const std::vector<std::string> errors = FindErrors(problem);
  if (!errors.empty()) throw InputError(errors[0]);
  const std::unique_ptr<PlanSpace> plans = MakePlanSpace(problem);
  const std::unique_ptr<PlanSpace> space = RememberBounds(*plans);
  PlanSearchOptions options = job->options;
  options.search.budget.stop = stop_;
  BestPlan best{"", job, BestRun(SearchAsAsked(*job, problem, *space, options)), model};
  if (!best.run.result.refusal.empty()) throw InputError(best.run.result.refusal);
  // A search for a training framework keeps more plans.
  if (best.run.result.plans.size() > 1) best.run.result.plans.resize(1);
  for (const RankedPlan& ranked : best.run.result.plans) {
    const std::vector<std::string> doubts = FindErrors(job->Problem(*model->model), ranked);
    if (doubts.empty()) continue;
    throw std::runtime_error(
        "a plan that a search found is not confirmed when it is simulated again, which is an error "
        "in stagecraft, not in the input: " +
        doubts[0]);
  }
  return best;
}

BestPlan StudySearch::Find(const StudyPoint& point) {
  try {
    return FindOrThrow(point);
  } catch (const InputError& error) {
    BestPlan refused;
    refused.refusal = error.what();
    return refused;
  }
}

}  // namespace stagecraft
