// SimulatedTraining: a training run over time, with a network that changes and a cluster that slows
// down and fails, ready to be simulated.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "costmodel/units.h"
#include "search/training/trained_states.h"
#include "sim/job/checkpoint.h"
#include "sim/job/cluster_event.h"
#include "sim/job/cluster_health.h"
#include "sim/job/drawn_events.h"
#include "sim/job/job_run.h"

namespace stagecraft {

// What happens to the cluster, and what the run does about it.
struct RunConditions {
  std::vector<ClusterEvent> events = {};
  EventRates rates = {};
  int nodes_per_rack = 0;
  CheckpointPolicy checkpoint = {};
  Recovery recovery = {};
  // Recovery::Policy::kReplan: how many plans are evaluated for what is left of the cluster.
  int64_t replan_evaluations = 200;
};

// Returns the bytes of a checkpoint: the weights as they are computed with, and the optimizer's
// states of what is trained. Tied tensors count once.
Bytes CheckpointBytes(const Plan& plan, const Workload& workload);

// Returns the plan on the replicas without a device that is down, which divide the micro-batches
// of the step anew; no value if there are none left, or if stages have different replicas. Replicas
// that share experts stay together. Of replicas that must take equally many micro-batches, as many
// work as the step allows.
std::optional<Plan> ShrunkPlan(const Plan& plan, const std::vector<int>& down);

class SimulatedTraining {
 public:
  // `states` are those of TrainStates(job). The job must outlive the run.
  SimulatedTraining(const TrainingJob& job, std::vector<TrainedState> states,
                    RunConditions conditions);
  SimulatedTraining(const SimulatedTraining&) = delete;
  SimulatedTraining& operator=(const SimulatedTraining&) = delete;

  const std::vector<TrainedState>& states() const { return states_; }
  // For SimulateRun() and SimulateRuns(), as long as this object lives. A state of the cluster
  // costs a simulation when it is first met.
  const RunSpec& spec() const { return spec_; }

 private:
  std::optional<RunningStep> Step(const ClusterState& cluster, int network) const;
  std::optional<Replanned> Replan(const ClusterState& cluster, int network) const;
  std::optional<Replanned> Rebalance(const ClusterState& cluster, int network) const;
  std::optional<Replanned> Search(const ClusterState& cluster, int network) const;
  Workload NetworkOf(int network) const;

  const TrainingJob& job_;
  const std::vector<TrainedState> states_;
  const RunConditions conditions_;
  RunSpec spec_;
};

}  // namespace stagecraft
