// JobSimulation: the steps of a job in all states of its network and its cluster, from which
// SimulateRun() makes histories.
#pragma once

#include <mutex>
#include <optional>
#include <vector>

#include "costmodel/units.h"
#include "search/training/job.h"
#include "search/training/trained_states.h"
#include "sim/cluster/cluster.h"
#include "sim/job/cluster_health.h"
#include "sim/job/job_run.h"
#include "sim/plan/plan.h"
#include "sim/step/evaluation.h"
#include "sim/workload/workload.h"

namespace stagecraft {

// Returns the bytes of a checkpoint of all ranks: the weights as they are computed with, and the
// optimizer's states of what is trained. Tied tensors count once.
Bytes CheckpointBytes(const Plan& plan, const Workload& workload);

class JobSimulation {
 public:
  // `trained` is what TrainStates(job) returned. The job must outlive this object.
  JobSimulation(const Job& job, TrainedStates trained);
  JobSimulation(const JobSimulation&) = delete;
  JobSimulation& operator=(const JobSimulation&) = delete;

  const std::vector<TrainedState>& states() const { return trained_.states; }
  // For SimulateRun() and SimulateRuns(), as long as this object lives. A state of the cluster
  // costs a simulation when it is first met, or with Recovery::Policy::kReplan a search. Runs that
  // come to a state of the network that cannot be trained throw TrainedStates::failure.
  const RunSpec& spec() const { return spec_; }

 private:
  struct Network {
    std::once_flag once;
    std::optional<Workload> workload;
  };

  // These may be called from any thread. `network` numbers the states of the job.
  std::optional<RunningStep> Step(const ClusterState& cluster, int network) const;
  std::optional<Replanned> Replan(const ClusterState& cluster, int network) const;
  std::optional<Replanned> Rebalance(const ClusterState& cluster, int network) const;
  std::optional<Replanned> Search(const ClusterState& cluster, int network) const;
  // Returns no value if the plan does not fit memory, or needs a link that is down.
  std::optional<Evaluation> EvaluateOn(const Cluster& cluster, const Plan& plan, int network) const;
  const TrainedState& StateOf(int network) const;
  const Workload& NetworkOf(int network) const;

  const Job& job_;
  const TrainedStates trained_;
  const std::vector<int> devices_;         // of the job's plan, ascending
  mutable std::vector<Network> networks_;  // Each is made when it is first needed.
  RunSpec spec_;
};

}  // namespace stagecraft
