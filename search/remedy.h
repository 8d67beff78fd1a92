// FindRemedies: what would make a plan fit that needs more memory than there is.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "costmodel/units.h"
#include "search/problem.h"
#include "search/team.h"
#include "sim/cluster/cluster.h"
#include "sim/memory/framework_memory.h"
#include "sim/plan/plan.h"
#include "sim/workload/workload.h"

namespace stagecraft {

// A change with which everything fits.
struct Remedy {
  std::vector<std::string> flags;  // "--zero 2"; several are needed together
  Bytes peak;                      // of the fullest device then
  Bytes capacity;                  // of that device
};

// Tries changes of a plan one by one, the least first: smaller micro-batches, sequence parallelism,
// recomputation, sharded states, smaller states, states on the host, more parallelism, more nodes.
// Returns those that suffice alone, or else pairs of them that suffice together, at most
// kMostRemedies. Empty if none does, or if the plan is not one of equal stages (DegreesOf()).
// Estimates memory only, so it takes milliseconds.
std::vector<Remedy> FindRemedies(const Plan& plan, const Workload& workload, const Cluster& cluster,
                                 const FrameworkMemory& framework = {});
inline constexpr size_t kMostRemedies = 4;

// Does the same for a search that found no plan that fits: gives up restrictions of its choices,
// and changes what it does not choose. Each change is searched with a few hundred evaluations.
// `peak` is that of the best plan then. The ranks of a team, if there is one, search together.
std::vector<Remedy> FindRemedies(const SearchProblem& problem, Team* team = nullptr);

}  // namespace stagecraft
