// FindTies: which of the best plans are too close to the first for the prediction to tell them
// apart, and what may decide between them.
#pragma once

#include <string>
#include <vector>

#include "costmodel/units.h"
#include "search/problem.h"
#include "search/solution.h"
#include "sim/cluster/cluster.h"
#include "sim/plan/plan.h"

namespace stagecraft {

// A plan beside the first of the list to which it belongs.
struct ComparedPlan {
  double loss = 0;  // score / score of the first plan - 1
  // The ratio of the two step times is between 1/(1 + uncertainty) and 1 + uncertainty times the
  // predicted one, in 80 % of cases (StepTimeErrors).
  double uncertainty = 0;
  bool is_tied = true;                // the prediction does not tell it from the first
  int nodes = 1;                      // NodesCrossed()
  Bytes room;                         // the least that a device has left
  std::vector<std::string> features;  // FeaturesOf()
};

struct Ties {
  std::vector<ComparedPlan> plans;  // one for each plan, in their order
  int preferred = 0;                // the one of the tied plans that IsPreferred() to all others
};

// Simulates each plan once more. With objective kMemory, whose scores are not times, no plan is
// tied with the first unless their scores are equal. Precondition: there is a plan.
Ties FindTies(const SearchProblem& problem, const std::vector<RankedPlan>& plans);

// Returns over how many nodes, or groups of nodes that NVLink connects, the ranks are spread that
// exchange activations within layers: a replica's tensor- and context-parallel ranks, and the ranks
// that share experts.
int NodesCrossed(const Plan& plan, const Cluster& cluster);

// Returns the names of what the plan uses beyond data parallelism, for people: "tp", "pp",
// "interleaved", "ZeRO-2", ... The fewer there are, the simpler is the plan to run.
// Overlap counts if the choices leave it open.
std::vector<std::string> FeaturesOf(const Plan& plan, const Choices& choices);

// Whether one of two equally fast plans is the better one to run: it crosses fewer nodes or else
// has fewer features or else has more room.
bool IsPreferred(const ComparedPlan& plan, const ComparedPlan& other);

}  // namespace stagecraft
