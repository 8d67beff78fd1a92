#include "search/mixing.h"

#include <memory>
#include <utility>

#include "search/device_kinds.h"
#include "search/exhaustive.h"
#include "search/plan_space.h"
#include "search/stopwatch.h"

namespace stagecraft {
namespace {

// Returns a weight by which alternatives are compared; less is better.
double Weight(const SearchProblem& problem, const RankedPlan& ranked) {
  if (problem.objective != Objective::kStepTime) return ranked.score;
  return ranked.score * CostOf(problem, ranked.evaluation);
}

}  // namespace

Mixing CompareKinds(const SearchProblem& problem, const Budget& budget) {
  const Stopwatch watch;
  const DeviceKinds kinds = KindsOf(problem.cluster);
  Mixing mixing{.kinds = kinds.first_groups, .answers = {}};
  int64_t evaluated = 0;
  for (std::vector<int>& choice : ChoicesOfKinds(kinds.count())) {
    const std::unique_ptr<PlanSpace> space = MakeSpaceOfKinds(problem, choice);
    if (space->size() == 0 && !space->BoundOfRest()) continue;
    KindsAnswer& answer = mixing.answers.emplace_back();
    answer.kinds = std::move(choice);
    const std::optional<Budget> left = budget.Left(evaluated, watch.Seconds());
    if (!left) continue;
    SearchResult result = SearchExhaustively(problem, *space, {.budget = *left});
    evaluated += result.evaluated;
    // If no plan was found, a bound of 0 means that all plans were considered.
    answer.is_optimal = result.is_optimal || (result.plans.empty() && result.bound == 0);
    if (!result.plans.empty()) answer.best = std::move(result.plans[0]);
  }
  return mixing;
}

void Mixing::Offer(const SearchProblem& problem, const RankedPlan& ranked) {
  const std::vector<int> own = KindsOf(problem.cluster).Used(ranked.evaluation.group_devices);
  for (KindsAnswer& answer : answers) {
    if (answer.kinds != own || (answer.best && answer.best->score <= ranked.score)) continue;
    answer.best = ranked;
    answer.is_optimal = false;
  }
}

const KindsAnswer* Mixing::Best() const {
  const KindsAnswer* best = nullptr;
  for (const KindsAnswer& answer : answers) {
    if (!answer.best) continue;
    if (best == nullptr || answer.best->score < best->best->score) best = &answer;
  }
  return best;
}

const KindsAnswer* Mixing::Alternative(const SearchProblem& problem) const {
  const KindsAnswer* best = Best();
  const KindsAnswer* least = nullptr;
  for (const KindsAnswer& answer : answers) {
    if (best == nullptr || !answer.best || answer.kinds.size() >= best->kinds.size()) continue;
    if (least == nullptr || Weight(problem, *answer.best) < Weight(problem, *least->best)) {
      least = &answer;
    }
  }
  return least;
}

const KindsAnswer* Mixing::WithMore() const {
  const KindsAnswer* best = Best();
  const KindsAnswer* least = nullptr;
  for (const KindsAnswer& answer : answers) {
    if (best == nullptr || !answer.best || answer.kinds.size() <= best->kinds.size()) continue;
    if (least == nullptr || answer.best->score < least->best->score) least = &answer;
  }
  return least;
}

}  // namespace stagecraft
