#include "search/findings.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "costmodel/check.h"
#include "search/refusal.h"

namespace stagecraft {
namespace {

// A search looks at fewer plans than a simulation accepts, and leaves out some that cannot fit.
constexpr const char* kNoSuchPlan =
    "no plan that a search looks at has all of these choices: want others, or fewer of them";

// Returns, as an obstacle, why the first plan of a space cannot be made, as when no split of its
// layers fits into memory; empty if it can be made.
std::string WhyNotMade(const PlanSpace& space) {
  try {
    space.Make(0);
    return "";
  } catch (const InputError& error) {
    return std::string("none can be made: ") + error.what();
  }
}

}  // namespace

Findings::Findings(const SearchProblem& problem, const PlanSpace& space,
                   const SearchOptions& options)
    : space_(space), options_(options), watch_(options.budget), ranker_(problem) {
  result_.space = space.name();
}

bool Findings::MayGoOnHere() const {
  return !watch_.IsSpentHere(result_.evaluated) || (!has_looked() && !watch_.IsStoppedHere());
}

size_t Findings::Room(size_t wanted) const {
  const int64_t most = options_.budget.evaluations;
  if (most <= 0) return wanted;
  return std::min(wanted, static_cast<size_t>(std::max<int64_t>(0, most - result_.evaluated)));
}

void Findings::Report(int64_t left, double best, double bound) const {
  if (options_.report) options_.report({result_.evaluated, left, best, bound});
}

void Findings::NoteStates(const MemoryNeed& need, size_t index) {
  obstacle_.NoteStates(need, space_, index);
}

void Findings::NoteMisfit(const RankedPlan& ranked, const std::function<std::string()>& choices) {
  if (!obstacle_.IsNearer(ranked.evaluation)) return;
  obstacle_.NoteStage(ranker_.Misfit(ranked.plan), choices());
}

void Findings::Keep(RankedPlan ranked) {
  ++result_.feasible;
  const double score = ranked.score;
  if (score < best_score_) {
    best_score_ = score;
    result_.curve.push_back({result_.evaluated, watch_.Seconds(), score});
  }
  std::vector<RankedPlan>& plans = result_.plans;
  const auto place =
      std::upper_bound(plans.begin(), plans.end(), score,
                       [](double own, const RankedPlan& other) { return own < other.score; });
  plans.insert(place, std::move(ranked));
  if (plans.size() > static_cast<size_t>(options_.top)) plans.pop_back();
}

bool Findings::NeedsPlanOf(const RankedPlan& ranked) const {
  return ranked.evaluation.fits ? ranked.score < WorstKept()
                                : obstacle_.IsNearer(ranked.evaluation);
}

double Findings::WorstKept() const {
  const bool has_room = result_.plans.size() < static_cast<size_t>(options_.top);
  return has_room ? std::numeric_limits<double>::infinity() : result_.plans.back().score;
}

SearchResult Findings::Finish(double bound, bool is_optimal) {
  result_.candidates = static_cast<int64_t>(space_.size());
  result_.bound = bound;
  result_.is_optimal = is_optimal;
  if (!result_.plans.empty()) return std::move(result_);
  // Plans that remain with an infinite bound cannot be made.
  const double rest = space_.BoundOfRest().value_or(std::numeric_limits<double>::infinity());
  // Nor can any plan be made if all were looked at and none of them left an obstacle.
  const bool none_noted =
      space_.size() == 0 || (bound <= 0 && !IsSpent() && obstacle_.text().empty());
  if (none_noted && rest == std::numeric_limits<double>::infinity()) {
    result_.refusal = FindRefusal(space_.problem());
    if (result_.refusal.empty() && space_.size() == 0) result_.refusal = kNoSuchPlan;
    result_.obstacle = result_.refusal.empty() ? WhyNotMade(space_) : result_.refusal;
  } else {
    result_.obstacle = obstacle_.text();
  }
  return std::move(result_);
}

SearchResult Findings::FinishWith(std::vector<RankedPlan> plans, double bound, bool is_optimal) {
  result_.plans = std::move(plans);
  return Finish(bound, is_optimal);
}

}  // namespace stagecraft
