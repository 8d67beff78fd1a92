// Several spaces as one.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "search/plan_space.h"

namespace stagecraft {

// All plans of the spaces, which are of one problem and of which there is at least one.
// `name`: as PlanSpace::name().
std::unique_ptr<PlanSpace> JoinSpaces(std::vector<std::unique_ptr<PlanSpace>> spaces,
                                      std::string name);

}  // namespace stagecraft
