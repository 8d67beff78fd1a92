#include "search/plans/plan_starts.h"

#include <algorithm>
#include <limits>
#include <set>
#include <utility>

#include "costmodel/check.h"
#include "search/plans/draft_moves.h"

namespace stagecraft {
namespace {

bool IsPlan(const PlanDraft& draft, const SearchProblem& problem) {
  try {
    MakePlan(draft, problem);
    return true;
  } catch (const InputError&) {
    return false;
  }
}

}  // namespace

std::vector<PlanStart> FindStarts(const SearchProblem& problem, PlanSpace& space, size_t most) {
  std::vector<std::pair<double, size_t>> bounds;
  for (size_t i = 0; i < space.size(); ++i) {
    if (space.LeastMemory(i).Share() > 1) continue;
    const double bound = space.Bound(i);
    if (bound < std::numeric_limits<double>::infinity()) bounds.emplace_back(bound, i);
  }
  std::sort(bounds.begin(), bounds.end());
  std::vector<PlanStart> starts;
  for (const auto& [bound, index] : bounds) {
    if (starts.size() >= most) break;
    try {
      starts.push_back({DraftOf(space.Make(index), problem), bound});
    } catch (const InputError&) {
      continue;  // its orders need more of what is measured, or its split fits nowhere
    }
  }
  return starts;
}

std::vector<PlanStart> ShapesOf(const SearchProblem& problem,
                                const std::vector<PlanStart>& starts) {
  constexpr size_t kReshaped = 32;  // of those whose other shapes are looked at
  const DraftMoves moves(problem);
  std::vector<PlanStart> shapes;
  std::set<PlanDraft> seen;
  const auto add = [&](const PlanStart& start) {
    PlanDraft shape = start.draft;
    shape.stages.assign(shape.stages.size(), {});
    const bool is_new = seen.insert(std::move(shape)).second;
    if (is_new) shapes.push_back(start);
    return is_new;
  };
  size_t reshaped = 0;
  for (const PlanStart& start : starts) {
    if (!add(start) || problem.cluster.homogeneous() || reshaped >= kReshaped) continue;
    ++reshaped;
    for (PlanDraft& other : moves.OfShape(start.draft)) {
      if (IsPlan(other, problem)) add({std::move(other), start.bound});
    }
  }
  return shapes;
}

std::vector<PlanStart> OrderBySimulation(std::vector<PlanStart> starts, size_t most,
                                         PlanTrials& trials) {
  size_t count = std::min(most, starts.size());
  const int64_t limit = trials.budget().evaluations;
  if (limit > 0) count = std::min(count, static_cast<size_t>(std::max<int64_t>(1, limit / 5)));
  std::vector<PlanDraft> drafts;
  for (size_t i = 0; i < count; ++i) drafts.push_back(starts[i].draft);
  const std::vector<double> scores = trials.Score(drafts);
  std::vector<std::pair<double, size_t>> order;
  for (size_t i = 0; i < count; ++i) order.emplace_back(scores[i], i);
  std::sort(order.begin(), order.end());
  std::vector<PlanStart> ordered;
  for (const auto& [score, index] : order) ordered.push_back(starts[index]);
  std::copy(ordered.begin(), ordered.end(), starts.begin());
  return starts;
}

}  // namespace stagecraft
