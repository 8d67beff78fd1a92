// Joins several spaces into one.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "search/plan_space.h"

namespace stagecraft {

// Says whether a plan may be in several of the spaces.
enum class SpaceOverlap { kNone, kSome };

// Returns a space of all plans of the given ones, each once. The spaces must belong to one problem,
// and there must be at least one. PlanSpace::name() of the result is `name`.
std::unique_ptr<PlanSpace> JoinSpaces(std::vector<std::unique_ptr<PlanSpace>> spaces,
                                      std::string name, SpaceOverlap overlap);

}  // namespace stagecraft
