// Enumerates whole spaces of plans, for tests that compare a search with all plans.
#pragma once

#include <vector>

#include "search/plan_space.h"
#include "search/problem.h"
#include "search/space.h"
#include "sim/plan/plan.h"

namespace stagecraft {

inline void EnumerateAll(PlanSpace& space) {
  while (space.BoundOfRest()) space.EnumerateMore();
}

// Returns all choices of all families on the first devices of the cluster, in order.
inline std::vector<PlanDegrees> EnumerateDegrees(const SearchProblem& problem) {
  const DegreeSpace space(problem, AllDevices(problem.cluster));
  std::vector<PlanDegrees> all;
  for (const DegreePart& part : space.Parts()) {
    if (!part.devices.is_whole()) continue;
    for (DegreeFamily& family : space.FamiliesOf(part)) {
      family.device_list = 0;
      for (const DegreeChoice& choice : space.ChoicesOf(family)) {
        all.push_back(space.Degrees(choice));
      }
    }
  }
  return all;
}

}  // namespace stagecraft
