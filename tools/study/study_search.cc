#include "tools/study/study_search.h"

#include <algorithm>
#include <array>
#include <sstream>
#include <stdexcept>
#include <string_view>
#include <utility>
#include <vector>

#include "costmodel/check.h"
#include "costmodel/text.h"
#include "search/checker.h"
#include "search/plan_space.h"
#include "search/space_views.h"
#include "tools/report/search_report.h"
#include "tools/study/plan_runs.h"

namespace stagecraft {
namespace {

// Flags on which the time of a plan's step does not depend, if the plan is given: what a search
// chooses, the memory that devices may use, cost, and how to search.
constexpr std::array kFlagsWithoutTime = {"tp",          "pp",
                                          "cp",          "ep",
                                          "vpp",         "zero",
                                          "schedule",    "recompute",
                                          "tokens",      "price",
                                          "pue",         "energy-price",
                                          "rank-order",  "for",
                                          "objective",   "budget",
                                          "algorithm",   "fewer-devices",
                                          "seed",        "policy",
                                          "pick",        "memory-margin",
                                          "micro-batch", "choose-overlap"};
constexpr size_t kMostTimes = 16;  // points whose close bounds are kept

// Returns what of the point matters for the time of a given plan's step.
StudyPoint WithTimeAlone(StudyPoint point) {
  for (const char* name : kFlagsWithoutTime) point.flags.erase(name);
  const auto scale = point.flags.find("scale");
  if (scale == point.flags.end()) return point;
  std::string others;
  for (const std::string_view part : SplitAt(scale->second, ',')) {
    if (!part.starts_with("memory=")) others.append(others.empty() ? "" : ",").append(part);
  }
  scale->second = others;
  if (others.empty()) point.flags.erase(scale);
  return point;
}

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

std::shared_ptr<CloseTimes> StudySearch::TimesOf(const StudyPoint& point) {
  StudyPoint own = WithTimeAlone(point);
  const auto known = std::find_if(times_.begin(), times_.end(),
                                  [&](const auto& entry) { return entry.first == own; });
  if (known != times_.end()) return known->second;
  if (times_.size() == kMostTimes) times_.erase(times_.begin());
  return times_.emplace_back(std::move(own), std::make_shared<CloseTimes>()).second;
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
  space->UseCloseTimes(TimesOf(point));
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
