// Several spaces as one.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "search/plan_space.h"

namespace stagecraft {

// Whether some plan may be in several of the spaces.
enum class SpaceOverlap { kNone, kSome };

// All plans of the spaces, each once. They are of one problem, and there is at least one of
// them. `name`: as PlanSpace::name().
std::unique_ptr<PlanSpace> JoinSpaces(std::vector<std::unique_ptr<PlanSpace>> spaces,
                                      std::string name, SpaceOverlap overlap);

}  // namespace stagecraft
