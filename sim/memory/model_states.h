// ModelStates: the weights, gradients and optimizer states of one rank, whatever pass it runs.
#pragma once

#include "costmodel/units.h"
#include "sim/plan/plan.h"
#include "sim/shard/shard.h"
#include "sim/workload/workload.h"

namespace stagecraft {

struct ModelStates {
  Bytes weights;
  Bytes gradients;
  Bytes optimizer;
  Bytes host = {};  // besides these, on the host
  friend bool operator==(const ModelStates&, const ModelStates&) = default;
};

// How data-parallel ranks share states (ZeRO, Rajbhandari et al., 2020), and how many bytes one
// parameter takes.
struct StateSharing {
  int zero = 0;          // Plan::zero
  int64_t ranks = 1;     // how many share a dense parameter
  int64_t experts = 1;   // how many share a parameter of an expert
  int64_t working = 2;   // bytes of a weight in the precision of computation
  int64_t gradient = 2;  // bytes of an accumulated gradient, in all buffers
  Optimizer optimizer = Optimizer::kAdam;
  bool updates = true;  // false: forward passes alone, without optimizer states
  int versions = 1;     // of the weights (asynchronous pipeline schedules)
};

// The sharing in a stage of the plan.
StateSharing SharingOf(const Plan& plan, const Workload& workload, int stage);

// How many parameters belong to one rank, of a state that ZeRO shares from its stage `from_zero`
// on.
int64_t OwnParameters(const ParameterCount& parameters, const StateSharing& sharing, int from_zero);

// Bytes for each parameter, with N ranks: working x versions + gradient + OptimizerStates(). ZeRO 1
// divides the last of them by N, ZeRO 2 the last two, ZeRO 3 all.
ModelStates ShareOut(const ParameterCount& parameters, const StateSharing& sharing);

}  // namespace stagecraft
