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

// What does not divide, as sentences that open with the degree of the Stage at fault; empty if
// everything does. Tensor parallelism divides heads, key/value heads and hidden size; context
// parallelism divides tokens or, under Ulysses, also heads.
std::string FindTensorError(const Workload& workload, int tensor);
std::vector<std::string> FindTokenErrors(const Workload& workload, const TokenDivision& division);

// The number of experts of each layer that has any; 0 if no layer has, -1 if layers differ.
int ExpertCount(const Workload& workload);

}  // namespace stagecraft
