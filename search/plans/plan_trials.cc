#include "search/plans/plan_trials.h"

#include <oneapi/tbb/parallel_for.h>

#include <algorithm>
#include <utility>

#include "costmodel/check.h"
#include "sim/plan_orders.h"

namespace stagecraft {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
// Of plans that do not fit, times the share of its memory that the fullest device needs.
constexpr double kUnfit = 1e9;

}  // namespace

PlanTrials::PlanTrials(const SearchProblem& problem, const SearchOptions& options)
    : problem_(problem), options_(options), ranker_(problem) {}

double PlanTrials::Seconds() const {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin_).count();
}

bool PlanTrials::IsSpent() const { return options_.budget.IsSpent(evaluations(), Seconds()); }

double PlanTrials::share_spent() const {
  const Budget& budget = options_.budget;
  double share = 0;
  if (budget.evaluations > 0) {
    share = static_cast<double>(evaluations()) / static_cast<double>(budget.evaluations);
  }
  if (budget.seconds > 0) share = std::max(share, Seconds() / budget.seconds);
  return std::min(share, 1.0);
}

std::optional<RankedPlan> PlanTrials::Try(const PlanDraft& draft) {
  try {
    return ranker_.Rank(
        WithOrders(MakePlan(draft, problem_), problem_.workload, problem_.cluster, problem_.model));
  } catch (const InputError&) {
    return std::nullopt;
  }
}

double PlanTrials::Keep(const PlanDraft& draft, std::optional<RankedPlan> tried) {
  if (!tried) return kInfinity;
  RankedPlan& ranked = *tried;
  ++result_.evaluated;
  if (!ranked.evaluation.fits) {
    if (obstacle_.IsNearer(ranked.evaluation)) {
      obstacle_.NoteStage(ranker_.Misfit(ranked.plan), draft.Describe());
    }
    return kUnfit * MemoryShare(ranked.evaluation.memory);
  }
  ++result_.feasible;
  const double score = ranked.score;
  if (score < best_score_) {
    best_score_ = score;
    best_ = draft;
    result_.curve.push_back({evaluations(), Seconds(), score});
  }
  const auto place =
      std::upper_bound(result_.plans.begin(), result_.plans.end(), score,
                       [](double own, const RankedPlan& other) { return own < other.score; });
  result_.plans.insert(place, std::move(ranked));
  if (result_.plans.size() > static_cast<size_t>(options_.top)) result_.plans.pop_back();
  return score;
}

std::vector<double> PlanTrials::Score(const std::vector<PlanDraft>& drafts) {
  constexpr size_t kWave = 64;  // between looks at the budget
  std::vector<double> scores(drafts.size(), kInfinity);
  std::vector<size_t> unseen;
  for (size_t i = 0; i < drafts.size(); ++i) {
    if (seen_.try_emplace(drafts[i], kInfinity).second) unseen.push_back(i);
  }
  for (size_t begin = 0; begin < unseen.size(); begin += kWave) {
    const size_t end = std::min(begin + kWave, unseen.size());
    std::vector<std::optional<RankedPlan>> tried(end - begin);
    const bool is_spent = IsSpent();
    if (!is_spent) {
      tbb::parallel_for(begin, end, [&](size_t i) { tried[i - begin] = Try(drafts[unseen[i]]); });
    }
    for (size_t i = begin; i < end; ++i) {
      const PlanDraft& draft = drafts[unseen[i]];
      const Budget& budget = options_.budget;
      if (is_spent || (budget.evaluations > 0 && evaluations() >= budget.evaluations)) {
        seen_.erase(draft);
      } else {
        seen_[draft] = Keep(draft, std::move(tried[i - begin]));
      }
    }
    if (options_.report) options_.report({evaluations(), 0, best_score_, 0});
  }
  for (size_t i = 0; i < drafts.size(); ++i) {
    const auto found = seen_.find(drafts[i]);
    if (found != seen_.end()) scores[i] = found->second;
  }
  return scores;
}

SearchResult PlanTrials::Finish(const PlanSpace& space) {
  if (result_.plans.empty()) result_.obstacle = obstacle_.Text(space);
  result_.space = space.name();
  result_.candidates = static_cast<int64_t>(space.size());
  return std::move(result_);
}

}  // namespace stagecraft
