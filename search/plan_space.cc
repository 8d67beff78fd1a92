#include "search/plan_space.h"

#include <limits>

namespace stagecraft {

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
