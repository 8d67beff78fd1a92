#include "search/plans/plan_trials.h"

#include <fmt/format.h>
#include <oneapi/tbb/parallel_for.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "costmodel/check.h"
#include "sim/plan_orders.h"

namespace stagecraft {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
// Of plans that do not fit, times the share of its memory that the fullest device needs.
constexpr double kUnfit = 1e9;

}  // namespace

struct PlanTrials::Trial {
  std::optional<RankedPlan> ranked;  // nothing: no such plan
};

PlanTrials::PlanTrials(const SearchProblem& problem, const SearchOptions& options)
    : problem_(problem), options_(options) {}

double PlanTrials::Seconds() const {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin_).count();
}

bool PlanTrials::IsSpent() const {
  const Budget& budget = options_.budget;
  return share_spent() >= 1 || (budget.stop != nullptr && budget.stop->load());
}

double PlanTrials::share_spent() const {
  const Budget& budget = options_.budget;
  double share = 0;
  if (budget.evaluations > 0) {
    share = static_cast<double>(evaluations()) / static_cast<double>(budget.evaluations);
  }
  if (budget.seconds > 0) share = std::max(share, Seconds() / budget.seconds);
  return std::min(share, 1.0);
}

PlanTrials::Trial PlanTrials::Try(const PlanDraft& draft) const {
  RankedPlan ranked;
  try {
    ranked.plan =
        WithOrders(MakePlan(draft, problem_), problem_.workload, problem_.cluster, problem_.model);
  } catch (const InputError&) {
    return {};
  }
  ranked.evaluation = EvaluatePlan(ranked.plan, problem_.workload, problem_.cluster, problem_.model,
                                   {.framework = problem_.framework});
  ranked.score = stagecraft::Score(problem_.objective, ranked.evaluation);
  return {std::move(ranked)};
}

double PlanTrials::Keep(const PlanDraft& draft, Trial trial) {
  if (!trial.ranked) return kInfinity;
  RankedPlan& ranked = *trial.ranked;
  ++result_.evaluated;
  if (!ranked.evaluation.fits) {
    const StageMemory& fullest = FullestStage(ranked.evaluation);
    if (fullest.Share() < least_share_) {
      least_share_ = fullest.Share();
      result_.obstacle =
          fmt::format("stage {} needs {:.1f} GiB at tp {}, pp {}, dp {}, {:.1f} GiB are there",
                      fullest.stage, fullest.Peak().gib(), draft.stages[fullest.stage].tensor,
                      draft.stages.size(), draft.data, fullest.capacity.gib());
    }
    return kUnfit * fullest.Share();
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
    std::vector<Trial> trials(end - begin);
    const bool is_spent = IsSpent();
    if (!is_spent) {
      tbb::parallel_for(begin, end, [&](size_t i) { trials[i - begin] = Try(drafts[unseen[i]]); });
    }
    for (size_t i = begin; i < end; ++i) {
      const PlanDraft& draft = drafts[unseen[i]];
      const Budget& budget = options_.budget;
      if (is_spent || (budget.evaluations > 0 && evaluations() >= budget.evaluations)) {
        seen_.erase(draft);
      } else {
        seen_[draft] = Keep(draft, std::move(trials[i - begin]));
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

SearchResult PlanTrials::Finish() {
  if (!result_.plans.empty()) result_.obstacle.clear();
  return std::move(result_);
}

}  // namespace stagecraft
