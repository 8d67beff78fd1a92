#include "search/mixing.h"

#include <algorithm>
#include <cstddef>
#include <map>
#include <memory>
#include <utility>

#include "search/exhaustive.h"
#include "search/space_views.h"
#include "search/stopwatch.h"

namespace stagecraft {
namespace {

// By group of the cluster the index of its kind among `kinds`, which gets the first group
// of each.
std::vector<int> KindOfGroups(const Cluster& cluster, std::vector<int>* kinds) {
  std::vector<int> kind_of_group;
  const std::vector<Cluster::NodeGroup>& groups = cluster.groups();
  for (size_t g = 0; g < groups.size(); ++g) {
    const auto is_alike = [&](int first) {
      return groups[first].type.device == groups[g].type.device;
    };
    const auto found = std::find_if(kinds->begin(), kinds->end(), is_alike);
    kind_of_group.push_back(static_cast<int>(found - kinds->begin()));
    if (found == kinds->end()) kinds->push_back(static_cast<int>(g));
  }
  return kind_of_group;
}

std::vector<int> KindsUsed(const std::vector<int>& group_devices,
                           const std::vector<int>& kind_of_group) {
  std::vector<int> kinds;
  for (size_t g = 0; g < group_devices.size(); ++g) {
    if (group_devices[g] > 0) kinds.push_back(kind_of_group[g]);
  }
  std::sort(kinds.begin(), kinds.end());
  kinds.erase(std::unique(kinds.begin(), kinds.end()), kinds.end());
  return kinds;
}

// Less is better.
double Weight(const SearchProblem& problem, const RankedPlan& ranked) {
  if (problem.objective != Objective::kStepTime) return ranked.score;
  return ranked.score * CostOf(problem, ranked.evaluation);
}

}  // namespace

Mixing CompareKinds(const SearchProblem& problem, PlanSpace& space, const Budget& budget) {
  const Stopwatch watch;
  Mixing mixing;
  const std::vector<int> kind_of_group = KindOfGroups(problem.cluster, &mixing.kinds);
  std::map<std::vector<int>, std::vector<size_t>> plans;
  for (size_t i = 0; i < space.size(); ++i) {
    plans[KindsUsed(space.GroupDevices(i), kind_of_group)].push_back(i);
  }
  int64_t evaluated = 0;
  for (auto& [kinds, indices] : plans) {
    mixing.answers.emplace_back().kinds = kinds;
    const std::optional<Budget> left = budget.Left(evaluated, watch.Seconds());
    if (!left) continue;
    const std::unique_ptr<PlanSpace> own = SomeOf(space, std::move(indices));
    SearchResult result = SearchExhaustively(problem, *own, {.budget = *left});
    evaluated += result.evaluated;
    KindsAnswer& answer = mixing.answers.back();
    // Without a plan the bound is 0 where all were looked at.
    answer.is_optimal = result.is_optimal || (result.plans.empty() && result.bound == 0);
    if (!result.plans.empty()) answer.best = std::move(result.plans[0]);
  }
  std::stable_sort(
      mixing.answers.begin(), mixing.answers.end(),
      [](const KindsAnswer& a, const KindsAnswer& b) { return a.kinds.size() < b.kinds.size(); });
  return mixing;
}

void Mixing::Offer(const SearchProblem& problem, const RankedPlan& ranked) {
  std::vector<int> all;
  const std::vector<int> own =
      KindsUsed(ranked.evaluation.group_devices, KindOfGroups(problem.cluster, &all));
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
