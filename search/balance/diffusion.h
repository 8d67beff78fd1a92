// Diffuse(): balances a pipeline by what neighbouring stages tell each other, without any stage
// that knows them all.
#pragma once

#include <cstdint>
#include <optional>

#include "search/balance/balance_problem.h"

namespace stagecraft {

struct DiffusionOptions {
  // If set, each message arrives only when a draw picks it from all that are under way. This
  // changes nothing about the result.
  std::optional<uint64_t> delivery_seed = {};
  // With more stages than these the flows are not computed by actors but by FlowOnPath(): the
  // rounds of diffusion grow with the square of the stages.
  int most_flow_actors = 64;
};

struct DiffusionResult {
  Division division;
  int64_t flow_rounds = 0;  // The rounds of diffusion until the loads were level.
  int64_t rounds = 0;  // The rounds of all phases; each takes as long as a message to a neighbour.
  int64_t messages = 0;
  bool has_settled = true;  // The loads were level within kMostFlowRounds.
};

// Returns the division that DiffusionActors agree on, one for each stage, which begin with the
// present division; `rounds` and `messages` include those with which they learn what they need and
// that they are done. The result depends on nothing but the problem and the present division.
// Throws InputError as CheckBalanceProblem() and CheckDivision() do.
//
// If has_settled and no stage's memory was in the way, no stage takes more than 1.001 times
// FluidLoad() plus the largest load divided by the least speed: flows are level to 0.1 %, each
// boundary is then off by at most half of a layer, a stage that is left with one layer takes no
// more than that layer, and exchanges never make the slower of two stages slower.
DiffusionResult Diffuse(const BalanceProblem& problem, const Division& present,
                        const DiffusionOptions& options = {});

// Returns ln(1000 N) / -ln(1 - 2/3 (1 - cos(pi / N))), rounded up: after so many rounds, all loads
// of N >= 2 stages of equal speed are within 0.1 % of the average, whatever they were (the distance
// from it is at first below N times the average, and falls in each round at least by the second
// largest eigenvalue). Actors stop a little earlier or later, when neighbours differ by less than
// 0.1 % / N; for that, ln(sqrt(2) 1000 N^2) in place of ln(1000 N) is always enough.
int64_t LevelRounds(int stages);

}  // namespace stagecraft
