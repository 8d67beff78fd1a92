// Dynamics: how a network changes in the course of its training.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "costmodel/random.h"
#include "sim/dynamics/pruning.h"
#include "sim/workload/early_exit.h"
#include "sim/workload/layer_state.h"
#include "sim/workload/workload.h"

namespace stagecraft {

// Ranges of numbers are those of proto/dynamics.proto. Blocks are the layers of role kBlock, in
// order.
struct Pruning {
  SparsitySchedule schedule;
  WeightStorage storage = WeightStorage::kCsr;
  double width_spread = 0;  // of the logarithm of the blocks' LayerWeights::sigma
};

struct Freezing {
  int64_t first_step = 0;
  int64_t interval = 1;
  int blocks_each = 1;
  int most_blocks = 1;
  bool caches_outputs = false;  // nothing is cached while the embedding is detached
};

struct ExpertDrift {
  double concentration = 1;
  int64_t interval = 1;
  double drift = 1;
  double capacity_factor = 0;  // 0: nothing is dropped
};

struct EarlyExit {
  int first_block = 1;
  int every = 1;
  double share = 0.1;
  int64_t first_step = 0;
  int64_t end_step = 0;
  int64_t interval = 1;
  ExitHead head = ExitHead::kNone;  // of every exit, from the first step on
};

// Returns the layers of the workload behind which the exits are, ascending.
std::vector<int> LayersWithExit(const EarlyExit& exit, const Workload& workload);

struct MixtureOfDepths {
  double capacity = 1;
  int every = 1;
};

struct SparseAttention {
  double least_density = 1;
  double most_density = 1;
  int64_t interval = 1;
};

// What a network is from a step on.
struct NetworkChange {
  int64_t step = 0;
  std::vector<LayerState> states;  // by layer of the workload
  std::string reason;              // "52 % of the weights are pruned"
};

struct Dynamics {
  std::optional<Pruning> pruning;
  std::optional<Freezing> freezing;
  std::optional<ExpertDrift> experts;
  std::optional<EarlyExit> early_exit;
  std::optional<MixtureOfDepths> mixture_of_depths;
  std::optional<SparseAttention> sparse_attention;
  std::vector<NetworkChange> measured;  // in place of all others if there are any
};

// Returns the changes before step `steps` of a run, ascending by step, each different from the one
// before; what is drawn depends on `random` alone. The first is at step 0 if the network differs
// from the workload from the beginning. A sparsity below 1 % counts as none. Throws InputError if
// there are more than 100,000 steps at which something may change.
std::vector<NetworkChange> ChangesOf(const Dynamics& dynamics, const Workload& workload,
                                     int64_t steps, Random random);

}  // namespace stagecraft
