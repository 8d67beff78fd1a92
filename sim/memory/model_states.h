// ModelStates: weights, gradients and optimizer states of one rank, whatever pass
// it runs.
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
  Bytes host = {};  // beside these, with the host
  friend bool operator==(const ModelStates&, const ModelStates&) = default;
};

// How data-parallel ranks share states out (ZeRO, Rajbhandari et al., 2020) and
// what one parameter takes.
struct StateSharing {
  int zero = 0;          // Plan::zero
  int64_t ranks = 1;     // that share a dense parameter
  int64_t experts = 1;   // that share one of an expert
  int64_t working = 2;   // bytes of a weight as it is computed with
  int64_t gradient = 2;  // bytes of an accumulated gradient, of all buffers
  Optimizer optimizer = Optimizer::kAdam;
  bool updates = true;  // off: forward passes alone, without optimizer states
  int versions = 1;     // of the weights (asynchronous orders)
};

// Of a stage of the plan.
StateSharing SharingOf(const Plan& plan, const Workload& workload, int stage);

// Of what ZeRO shares from a stage of it on, one rank's.
int64_t OwnParameters(const ParameterCount& parameters, const StateSharing& sharing, int from_zero);

// Per parameter, with N ranks: working x versions + gradient + OptimizerStates(), of
// which ZeRO 1 divides the last by N, 2 the last two, 3 all.
ModelStates ShareOut(const ParameterCount& parameters, const StateSharing& sharing);

}  // namespace stagecraft
