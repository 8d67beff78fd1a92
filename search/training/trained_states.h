// TrainStates(): the plan with which each state of a changing network is trained, as a balancer
// decides it, and what the changes cost.
#pragma once

#include <cstdint>
#include <exception>
#include <string>
#include <vector>

#include "costmodel/units.h"
#include "search/training/job.h"
#include "sim/engine/sparse_products.h"
#include "sim/job/history.h"
#include "sim/plan/plan.h"
#include "sim/step/evaluation.h"

namespace stagecraft {

// What a decision about the division of the layers costs, whether layers move or not.
struct BalanceCost {
  Duration profiling;  // of times, if these are the loads
  Duration decision;   // messages about loads
  Duration move;       // of weights and optimizer states
  Duration barrier;    // until all devices know
  Bytes moved;         // over all links, of all devices

  Duration Total() const { return profiling + decision + move + barrier; }
};

// A state of the network and the step that trains it.
struct TrainedState {
  int64_t step = 0;    // from which on
  std::string change;  // what has changed; empty for the network as it is in its file
  Plan plan;
  Evaluation evaluation;  // It fits.
  SparseProducts products;
  std::vector<double> stage_seconds;  // what the layers of each stage take for a micro-batch
  // Why the layers are divided as they are, in a sentence; empty if no balancer decided.
  std::string decision;
  bool moves = false;
  BalanceCost cost;  // of the change

  int devices() const { return evaluation.devices; }
  // Returns how many times as long the slowest stage takes as the mean of all stages, at least 1:
  // no division speeds the state up by more.
  double Imbalance() const;
};

struct TrainedStates {
  std::vector<TrainedState> states;  // states 0, 1, ... of the job, at least one
  // Why the next state cannot be trained, so that the run ends where it would begin; null if all
  // states can.
  std::exception_ptr failure = nullptr;
};

// Returns the states up to the first that cannot be trained: because Job::NetworkIn() throws,
// because its plan does not fit memory, or because of any other exception. Throws it if the run
// cannot begin with its first state. Costs a simulation for each state, and two for each that a
// balancer decides about and would divide anew.
TrainedStates TrainStates(const Job& job);

// Returns the state in which the network is at a step >= 0. Precondition: there is one; the last
// state holds for all steps after it.
const TrainedState& StateAt(const std::vector<TrainedState>& states, int64_t step);

// Returns the GPU-hours of a history for which devices of the run's plan were free, since
// re-packing had taken their stages away. Precondition: the history has its phases.
double FreedGpuHours(const std::vector<TrainedState>& states, const History& history);

}  // namespace stagecraft
