// Joins several spaces into one.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "search/plan_space.h"

namespace stagecraft {

// Whether some plan may be in several of the spaces.
enum class SpaceOverlap { kNone, kSome };

// All plans of the spaces, each once. The spaces must be of one problem, and there must be at least
// one. `name` is that of PlanSpace::name().
std::unique_ptr<PlanSpace> JoinSpaces(std::vector<std::unique_ptr<PlanSpace>> spaces,
                                      std::string name, SpaceOverlap overlap);

}  // namespace stagecraft
