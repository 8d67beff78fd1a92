// PartitionLayers(): divides a chain of layers so that the slowest stage is as fast as possible.
#pragma once

#include <optional>

#include "search/balance/balance_problem.h"

namespace stagecraft {

// Returns a division that fits memory and whose slowest stage takes the least time of all that do;
// no value if none fits. It is exact: the time is the least of those that BalanceSums::Time()
// gives. Among divisions of equally fast slowest stages, each stage in order ends as near as it can
// to where it ends in `preferred` (so that few layers move), or, if that is empty, to where it
// would end if layers could be cut anywhere. Throws InputError as CheckBalanceProblem() and
// CheckDivision() do.
//
// Each probe of a limit finds, from the last stage to the first, at which layers the stages from
// there on can begin: O(stages * log(layers per stage)) if every layer fits every stage alone, and
// O(stages * layers) at worst. A limit that can be met becomes what its division takes; one that
// cannot becomes the next at which a stage could take a layer more. So the search bisects, and ends
// at the exact value (as in Pinar and Aykanat, "Fast optimal load balancing algorithms for 1D
// partitioning", 2004).
std::optional<Division> PartitionLayers(const BalanceProblem& problem,
                                        const Division& preferred = {});

// Returns a division that fits memory and of which no stage takes longer than `limit`, chosen in
// the same way; no value if there is none. Takes one probe.
std::optional<Division> DivideWithin(const BalanceProblem& problem, double limit,
                                     const Division& preferred = {});

}  // namespace stagecraft
