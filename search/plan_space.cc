#include "search/plan_space.h"

#include <limits>

namespace stagecraft {

double LeastScore(const SearchProblem& problem, Duration least_time,
                  std::span<const int> group_devices) {
  if (least_time == Duration::Max()) return std::numeric_limits<double>::infinity();
  switch (problem.objective) {
    case Objective::kStepTime:
      return least_time.seconds();
    case Objective::kCost:
      return least_time.seconds() * CostRate(problem, group_devices);
    case Objective::kMemory:
      break;
  }
  return 0;
}

void PlanSpace::EnumerateAll() {
  while (BoundOfRest()) EnumerateMore();
}

double PlanSpace::LeastCost(size_t index) {
  const Duration least = LeastTime(index);
  if (least == Duration::Max()) return std::numeric_limits<double>::infinity();
  return least.seconds() * CostRate(problem_, GroupDevices(index));
}

double PlanSpace::Bound(size_t index) {
  if (problem_.objective == Objective::kCost) return LeastCost(index);
  const Duration least = LeastTime(index);
  if (least == Duration::Max()) return std::numeric_limits<double>::infinity();
  return problem_.objective == Objective::kStepTime ? least.seconds() : LeastMemory(index).Share();
}

}  // namespace stagecraft
