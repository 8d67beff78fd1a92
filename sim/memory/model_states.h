// ModelStates: the weights, gradients and optimizer states that one rank holds, whatever pass it
// runs.
#pragma once

#include "costmodel/units.h"
#include "sim/memory/framework_memory.h"
#include "sim/plan/plan.h"
#include "sim/shard/shard.h"
#include "sim/workload/workload.h"

namespace stagecraft {

struct ModelStates {
  Bytes weights;
  Bytes gradients;
  Bytes optimizer;
  Bytes host = {};  // on the host, besides these
  friend bool operator==(const ModelStates&, const ModelStates&) = default;
};

inline constexpr int64_t kMasterBytes = 4;  // of the master copy of a parameter

// StateSharing says how data-parallel ranks share states (ZeRO, Rajbhandari et al., 2020), and how
// many bytes one parameter takes. A parameter of an expert is held by one in every expert-parallel
// group of them.
struct StateSharing {
  int zero = 0;                // Plan::zero
  int64_t ranks = 1;           // how many share a dense parameter
  int64_t experts = 1;         // how many share a parameter of an expert
  int64_t holders = 1;         // how many hold a dense parameter; more than `ranks` if groups share
  int64_t expert_holders = 1;  // how many hold a parameter of an expert
  int64_t working = 2;         // bytes of a weight in the precision of computation
  int64_t gradient = 2;        // bytes of an accumulated gradient, in all buffers
  // Whether weights are narrower only while they are computed with: the masters are the weights.
  bool has_wide_weights = false;
  Optimizer optimizer = Optimizer::kAdam;
  bool updates = true;  // false: forward passes alone, without optimizer states
  int versions = 1;     // of the weights (asynchronous pipeline schedules)
};

// Returns how states are shared in a stage of the plan. If the optimizer is offloaded, its masters
// are no weights, whatever the framework.
StateSharing SharingOf(const Plan& plan, const Workload& workload, int stage,
                       const FrameworkMemory& framework);

// Returns how many parameters one rank holds of a kind of state that ZeRO divides from its stage
// `from_zero` on.
int64_t OwnParameters(const ParameterCount& parameters, const StateSharing& sharing, int from_zero);

// Returns the states of one of N ranks. Undivided, each parameter takes working x versions +
// gradient + OptimizerStates() bytes, and one that is not `trained` only the first of these terms.
// ZeRO 1 divides the last term by N, ZeRO 2 the last two, ZeRO 3 all. Masters that are weights
// count as these alone.
ModelStates ShareOut(const ParameterCount& parameters, const ParameterCount& trained,
                     const StateSharing& sharing);

}  // namespace stagecraft
