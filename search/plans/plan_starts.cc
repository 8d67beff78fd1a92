#include "search/plans/plan_starts.h"

#include <algorithm>
#include <limits>
#include <set>
#include <utility>

#include "costmodel/check.h"

namespace stagecraft {

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

std::vector<PlanStart> ShapesOf(const std::vector<PlanStart>& starts) {
  std::vector<PlanStart> shapes;
  std::set<PlanDraft> seen;
  for (const PlanStart& start : starts) {
    PlanDraft shape = start.draft;
    shape.stages.assign(shape.stages.size(), {});
    if (seen.insert(std::move(shape)).second) shapes.push_back(start);
  }
  return shapes;
}

}  // namespace stagecraft
