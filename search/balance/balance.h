// DecideBalance(): whether and how to divide the layers of a running pipeline anew. It is for
// whoever decides at the end of a training step.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "costmodel/units.h"
#include "search/balance/balance_problem.h"

namespace stagecraft {

enum class Balancer {
  kNone,       // The division stays as it is.
  kPartition,  // PartitionLayers() finds the best division where all loads are known.
  kDiffusion   // Diffuse() lets stages talk to their neighbours only.
};

// Returns "none", "partition" or "diffusion".
std::string_view NameOf(Balancer balancer);
// Returns the balancer with this name, if there is one.
std::optional<Balancer> BalancerNamed(std::string_view name);

struct BalanceRequest {
  Balancer balancer = Balancer::kPartition;
  BalanceProblem problem;  // Its loads are as they are known: parameters, measured, or true.
  Division present;
};

struct BalanceDecision {
  std::optional<Division> division;  // The new one; it has no value if nothing moves.
  std::string reason;                // It says in a sentence why layers move, or why not.
  double present_load = 0;           // The slowest stage's, by the loads of the request.
  double new_load = 0;               // The same after the move; present_load if nothing moves.
  int64_t rounds = 0;  // The rounds of messages between neighbours; 0 but for kDiffusion.
  int64_t messages = 0;
};

// Returns a new division if the slowest stage takes less with it, or if the present one does not
// fit memory and the new one does. Throws InputError as CheckBalanceProblem() and CheckDivision()
// do.
BalanceDecision DecideBalance(const BalanceRequest& request);

// Returns whether a change that saves `gain` in each step and takes `cost` once pays before the
// next change of the network, after `steps` >= 0.
bool WorthIt(Duration gain, int64_t steps, Duration cost);

}  // namespace stagecraft
