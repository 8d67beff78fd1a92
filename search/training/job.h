// Job: a training run over time, on a network that changes and a cluster that fails.
#pragma once

#include <cstdint>
#include <vector>

#include "costmodel/cost_model.h"
#include "search/balance/balance.h"
#include "search/training/stage_loads.h"
#include "sim/cluster/cluster.h"
#include "sim/dynamics/dynamics.h"
#include "sim/job/checkpoint.h"
#include "sim/job/cluster_event.h"
#include "sim/job/drawn_events.h"
#include "sim/job/job_run.h"
#include "sim/plan/plan.h"
#include "sim/step/evaluation.h"
#include "sim/workload/workload.h"

namespace stagecraft {

// Who divides the layers over the stages anew when the network changes, and by what.
struct BalancePolicy {
  Balancer balancer = Balancer::kNone;
  LoadBasis by = LoadBasis::kMeasuredTime;
  double noise = 0.05;  // >= 0; the standard deviation of the logarithm of a measured time
  double profiling_share = 0.05;  // >= 0; of a step, by which the one that measures is longer
  bool only_if_worth = false;     // Layers move only if that pays before the next change.
  // Whether stages that a smaller network does not need are freed, as long as the pace falls by at
  // most the share `repack_loss`, which is below 1.
  bool repacks = false;
  double repack_loss = 0.01;
};

// What happens to the cluster, and what the run does about it.
struct RunConditions {
  std::vector<ClusterEvent> events = {};  // FindErrors() is empty.
  EventRates rates = {};
  int nodes_per_rack = 0;  // the argument of Racks
  CheckpointPolicy checkpoint = {};
  Recovery recovery = {};
  int64_t replan_evaluations = 200;  // for kReplan: plans that are evaluated for what is left
};

// Workload, cluster and model must outlive the job.
struct Job {
  const Workload& workload;  // as it is in its file
  const Cluster& cluster;
  const CostModel& model;
  Plan plan;  // of the first step
  SimulationOptions options = {};
  int64_t steps = 0;                        // > 0
  std::vector<NetworkChange> changes = {};  // Steps ascend, from 0 to below `steps`.
  // Unless nobody balances, CheckDivisible() accepts the plan.
  BalancePolicy balance = {};
  RunConditions conditions = {};
  uint64_t seed = 0;

  // The network goes through these states, numbered from 0: as in its file, unless a change is at
  // step 0, and one for each change.
  int states() const;
  // Returns the change that begins a state; nullptr for the network as in its file.
  const NetworkChange* ChangeTo(int state) const;
  // Returns the first step of a state. That of states() is `steps`.
  int64_t FirstStep(int state) const;
  // Returns the network in a state. Throws InputError as ApplyLayerStates() does.
  Workload NetworkIn(int state) const;
};

}  // namespace stagecraft
