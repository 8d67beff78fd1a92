#include "search/plans/plan_trials.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "costmodel/check.h"
#include "costmodel/hash.h"
#include "search/divided_work.h"
#include "search/packed_evaluation.h"
#include "sim/step/plan_pass_orders.h"

namespace stagecraft {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
// The score of a plan that does not fit is kUnfit * (1 + share), with the share of memory that its
// fullest device needs.
constexpr double kUnfit = 1e9;

}  // namespace

PlanTrials::PlanTrials(const SearchProblem& problem, const PlanSpace& space,
                       const SearchOptions& options)
    : options_(options), problem_(problem), maker_(problem), findings_(problem, space, options) {}

bool PlanTrials::Fits(double score) { return score < kUnfit; }

Plan PlanTrials::Make(const PlanDraft& draft) const {
  return WithPassOrders(maker_.Make(draft), problem_.workload, problem_.cluster, problem_.model,
                        problem_.framework);
}

std::optional<RankedPlan> PlanTrials::Try(const PlanDraft& draft) {
  try {
    return findings_.ranker().Rank(Make(draft));
  } catch (const InputError&) {
    return std::nullopt;
  }
}

double PlanTrials::Keep(const PlanDraft& draft, std::optional<RankedPlan> tried) {
  if (!tried) return kInfinity;
  findings_.CountEvaluation();
  // The evaluations of other ranks come without the plan.
  if (tried->plan.stages.empty() && findings_.NeedsPlanOf(*tried)) tried->plan = Make(draft);
  if (!tried->evaluation.fits) {
    findings_.NoteMisfit(*tried, [&] { return draft.Describe(); });
    return kUnfit * (1 + MemoryShare(tried->evaluation.memory));
  }
  const double score = tried->score;
  if (score < best_score()) best_ = draft;
  findings_.Keep(std::move(*tried));
  return score;
}

std::vector<double> PlanTrials::Score(std::vector<PlanDraft> drafts) {
  constexpr size_t kWave = 64;  // plans between two checks of the budget
  for (PlanDraft& draft : drafts) draft = Settled(std::move(draft), problem_);
  std::vector<size_t> unseen;
  for (size_t i = 0; i < drafts.size(); ++i) {
    if (seen_.try_emplace(drafts[i], kInfinity).second) unseen.push_back(i);
  }
  for (size_t begin = 0, end = 0; begin < unseen.size() && !IsSpent(); begin = end) {
    end = begin + findings_.Room(std::min(kWave, unseen.size() - begin));
    std::vector<std::optional<RankedPlan>> tried = ComputeTogether<std::optional<RankedPlan>>(
        findings_.watch(), end - begin, [&](size_t i) { return Try(drafts[unseen[begin + i]]); },
        [&](size_t i, Hash& hash) { hash.Add(drafts[unseen[begin + i]].Describe()); });
    for (size_t i = begin; i < end; ++i) {
      const PlanDraft& draft = drafts[unseen[i]];
      seen_[draft] = Keep(draft, std::move(tried[i - begin]));
    }
    findings_.Report(0, best_score(), 0);
  }
  std::vector<double> scores;
  for (const PlanDraft& draft : drafts) scores.push_back(seen_.at(draft));
  return scores;
}

}  // namespace stagecraft
