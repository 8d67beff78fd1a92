// PlacementUnits: groups of operators, merged and ordered so that a contiguous placement is a chain
// of downsets.
#pragma once

#include <vector>

#include "search/partition/placement_problem.h"

namespace stagecraft {

struct PlacementUnits {
  std::vector<std::vector<int>> nodes;  // by unit
  Dag dag;                              // of the units
  // Sources that cost nothing wherever they are; they are in no unit.
  std::vector<int> free_nodes;
};

// Returns the units; the comment of SolveContiguousMaxLoad() (max_load.h) says what is merged.
PlacementUnits FindPlacementUnits(const PlacementProblem& problem);

}  // namespace stagecraft
