// TrainStates(): the plan with which each state of a changing network is trained, as a balancer
// decides it, and what the changes cost.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "costmodel/cost_model.h"
#include "costmodel/units.h"
#include "search/balance/balance.h"
#include "search/training/stage_loads.h"
#include "sim/cluster/cluster.h"
#include "sim/dynamics/dynamics.h"
#include "sim/plan/plan.h"
#include "sim/step/evaluation.h"
#include "sim/workload/workload.h"

namespace stagecraft {

struct BalancePolicy {
  Balancer balancer = Balancer::kNone;
  LoadBasis by = LoadBasis::kMeasuredTime;
  // The standard deviation of the logarithm of a measured time, and the share of a step by which
  // the step that measures is longer.
  double noise = 0.05;
  double profiling_share = 0.05;
  // Whether layers move only if that pays before the next change.
  bool only_if_worth = false;
  // Whether stages that a smaller network does not need are freed, as long as the pace falls by
  // this share at most.
  bool repacks = false;
  double repack_loss = 0.01;
};

// Everything must outlive the calls. The plan has one chunk per stage.
struct TrainingJob {
  const Workload& workload;
  const Cluster& cluster;
  const CostModel& model;
  Plan plan;  // of the first step
  SimulationOptions options = {};
  int64_t steps = 0;
  std::vector<NetworkChange> changes = {};
  BalancePolicy policy = {};
  uint64_t seed = 0;
};

// What a decision about the division of the layers costs, whether layers move or not.
struct BalanceCost {
  Duration profiling;  // of times, if these are the loads
  Duration decision;   // messages about loads
  Duration move;       // of weights and optimizer states
  Duration barrier;    // until all devices know
  Bytes moved;

  Duration Total() const { return profiling + decision + move + barrier; }
};

// A state of the network and the step that trains it.
struct TrainedState {
  int64_t step = 0;    // from which on
  std::string change;  // what has changed; empty for the network as it is in its file
  Plan plan;
  Evaluation evaluation;
  std::vector<double> stage_seconds;  // what the layers of each stage take for a micro-batch
  std::string decision;               // why the layers are divided as they are
  bool moves = false;
  BalanceCost cost;  // of the change

  int devices() const { return evaluation.devices; }
  // How many times as long the slowest stage takes as the mean of all stages: no division speeds
  // the state up by more.
  double Imbalance() const;
};

// Returns the states in order; the first is from step 0 on. Throws InputError as
// ApplyLayerStates() does, and if a state does not fit memory. Costs a simulation for each state,
// and two for each that a balancer divides anew.
std::vector<TrainedState> TrainStates(const TrainingJob& job);

// Returns the plan with its layers divided anew over its stages, in order.
Plan WithDivision(Plan plan, const Division& division);
// Returns how many layers each stage of the plan has.
Division DivisionOf(const Plan& plan);

// Throws InputError with one sentence if the layers of the plan cannot be divided anew: a single
// stage, several chunks on a stage, a split vocabulary, ranges of recomputed layers.
void CheckDivisible(const Plan& plan);

}  // namespace stagecraft
