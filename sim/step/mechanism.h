// Mechanism: something between the work of a training step and the time that it takes which can be
// switched off, to see what it contributes. Each is a parameter of devices or of a plan, and off is
// one of its values.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "costmodel/cost_model.h"
#include "costmodel/units.h"
#include "sim/cluster/cluster.h"
#include "sim/plan/plan.h"
#include "sim/step/evaluation.h"

namespace stagecraft {

enum class Mechanism {
  kBoardPower,         // board power limits the clock: Device::is_busy, clock_share
  kHostLaunches,       // a host launches every kernel: Device::host_dispatch
  kComputeSlowdown,    // collectives take multiprocessors: Device::collective_blocks
  kAlignment,          // rows that are not aligned: Device::unaligned_flop_per_clock
  kAttentionVersion,   // an attention kernel other than the GPU's usual one: Plan::attention_kernel
  kEagerTraffic,       // what eager frameworks move: Framework::elementwise_traffic
  kComposedOperators,  // operations launched one by one: Framework::composes_operators
  kGradientSums,       // adding up gradients of micro-batches: Framework::sums_gradients
  kLatePrefetch,       // late gathers of parameters: Framework::backward_prefetch
  kTensorGathers,      // parameters gathered one by one: Framework::parameter_gather
  kBroadcasts,         // parameters handed on by broadcasts: Framework::parameter_exchange
  kShardCopies,        // copies beside sharded parameters: Framework::shard_copies
  kUpdateOperations,   // a kernel for each operation: Framework::updates_by_operations
  kAutocast,           // casts between 32 and 16 bits: Framework::autocasts
  kTensorGradients,  // reductions that the backward waits for: Framework::exposes_tensor_gradients
  kExchangeOverlap,  // passes hide each other's exchanges of tokens: Framework::hides_exchanges
};
std::span<const Mechanism> AllMechanisms();
const char* Name(Mechanism mechanism);     // the word of --without: "board-power"
const char* Meaning(Mechanism mechanism);  // for people: "board power limits the clock"

// Returns the cluster without the mechanism, an equal one if it is none of its devices'.
Cluster Without(Mechanism mechanism, const Cluster& cluster);
// Returns the plan without the mechanism, an equal one if it is none of the plan's.
Plan Without(Mechanism mechanism, Plan plan);

struct MechanismTime {
  Mechanism mechanism = Mechanism::kBoardPower;
  Duration saved;  // by which the step is shorter without it; negative if it is longer
};

// Returns for each mechanism that acts on the step what it contributes, the largest first. Costs a
// simulation for each. What several contribute does not add up, since one may hide another.
std::vector<MechanismTime> MeasureMechanisms(const Plan& plan, const Workload& workload,
                                             const Cluster& cluster, const CostModel& model,
                                             Duration step_time, const SimulationOptions& options);

}  // namespace stagecraft
