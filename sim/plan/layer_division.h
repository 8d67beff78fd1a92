// Among how many ranks the layers of a workload can be divided.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sim/plan/step_options.h"
#include "sim/workload/workload.h"

namespace stagecraft {

// How the ranks of a replica divide the tokens of a sample. Degrees are at least 1.
struct TokenDivision {
  int64_t sequence = 1;
  int tensor = 1;
  int context = 1;
  bool sequence_parallel = false;
  ContextExchange exchange = ContextExchange::kRing;
};

// What does not divide, in sentences that open with the degree of Stage at fault; empty
// where all does. Heads, key/value heads and hidden size by tensor parallelism, and
// tokens, or under Ulysses heads too, by context parallelism.
std::string FindTensorError(const Workload& workload, int tensor);
std::vector<std::string> FindTokenErrors(const Workload& workload, const TokenDivision& division);

// Experts of each layer that has any; 0 where none does, -1 where they differ.
int ExpertCount(const Workload& workload);

}  // namespace stagecraft
