#include "search/training/training_run.h"

#include <algorithm>
#include <memory>
#include <set>
#include <span>
#include <utility>

#include "costmodel/memo_model.h"
#include "search/balance/layer_partition.h"
#include "search/plan_space.h"
#include "search/plans/plan_search.h"
#include "search/training/state_move.h"

namespace stagecraft {
namespace {

std::vector<int> DevicesOf(const Plan& plan) {
  std::vector<int> devices;
  for (const Stage& stage : plan.stages) {
    for (const std::vector<int>& replica : stage.replicas) {
      devices.insert(devices.end(), replica.begin(), replica.end());
    }
  }
  std::sort(devices.begin(), devices.end());
  return devices;
}

std::vector<int> Without(const std::vector<int>& all, const std::vector<int>& some) {
  std::vector<int> rest;
  std::set_difference(all.begin(), all.end(), some.begin(), some.end(), std::back_inserter(rest));
  return rest;
}

// Replicas r of all stages, if they have equally many, that have all their devices.
std::vector<int> WholeReplicas(const Plan& plan, const std::vector<int>& down) {
  std::vector<int> whole;
  const size_t count = plan.stages[0].replicas.size();
  for (size_t r = 0; r < count; ++r) {
    const bool is_whole = std::all_of(plan.stages.begin(), plan.stages.end(), [&](const Stage& s) {
      return std::none_of(s.replicas[r].begin(), s.replicas[r].end(), [&](int device) {
        return std::binary_search(down.begin(), down.end(), device);
      });
    });
    if (is_whole) whole.push_back(static_cast<int>(r));
  }
  return whole;
}

// How many consecutive replicas share experts.
int ExpertReplicas(const Plan& plan) {
  int most = 1;
  for (const Stage& stage : plan.stages) {
    most = std::max(most, stage.expert_parallel / stage.context_parallel);
  }
  return most;
}

std::set<int> BrokenNodes(const Cluster& cluster, const std::vector<int>& down) {
  std::set<int> broken;
  for (const int device : down) broken.insert(cluster.place(device).node);
  return broken;
}

// Returns the cluster of all nodes but the broken ones, of which devices that are slow stay so. A
// link of another cluster has another number, so links are at their full speed.
std::optional<Cluster> WholeNodes(const Cluster& cluster, const std::set<int>& broken,
                                  const ClusterState& state) {
  if (cluster.has_explicit_links()) return std::nullopt;
  std::vector<Cluster::NodeGroup> groups;
  int first = 0;
  for (const Cluster::NodeGroup& group : cluster.groups()) {
    const auto begin = broken.lower_bound(first);
    const auto end = broken.lower_bound(first + group.count);
    const int left = group.count - static_cast<int>(std::distance(begin, end));
    first += group.count;
    if (left == 0) continue;
    groups.push_back(group);
    groups.back().count = left;
  }
  if (groups.empty()) return std::nullopt;
  const Cluster whole(cluster.name(), std::move(groups), {}, "", cluster.interconnect());
  SlowParts slow;
  for (const auto& [device, rate] : state.slow) {
    const int node = cluster.place(device).node;
    if (broken.contains(node)) continue;
    int missing = 0;  // devices before this one
    for (const int other : broken) {
      if (other < node) missing += cluster.node(other).devices;
    }
    slow.devices.emplace_back(device - missing, rate);
  }
  return whole.WithSlowParts(std::move(slow));
}

}  // namespace

Bytes CheckpointBytes(const Plan& plan, const Workload& workload) {
  return Bytes(plan.WorkingBytes() * workload.Parameters()) +
         OptimizerStates(plan.optimizer, plan.WorkingBytes(), workload.TrainedParameters());
}

std::optional<Plan> ShrunkPlan(const Plan& plan, const std::vector<int>& down) {
  if (down.empty()) return plan;
  if (!HasSeparatePipelines(plan)) return std::nullopt;
  std::vector<int> replicas = WholeReplicas(plan, down);
  const int together = ExpertReplicas(plan);
  const auto count_of_group = [&](int replica) {
    return std::count_if(replicas.begin(), replicas.end(),
                         [&](int other) { return other / together == replica / together; });
  };
  std::vector<int> grouped;
  for (const int replica : replicas) {
    if (count_of_group(replica) == together) grouped.push_back(replica);
  }
  bool keeps_step = false;
  for (int stage = 0; stage < static_cast<int>(plan.stages.size()); ++stage) {
    keeps_step |= ReplicasKeepStep(plan, stage);
  }
  size_t count = std::min<size_t>(grouped.size(), static_cast<size_t>(plan.micro_batches()));
  count -= count % static_cast<size_t>(together);
  while (keeps_step && count > 0 && plan.micro_batches() % static_cast<int64_t>(count) != 0) {
    count -= static_cast<size_t>(together);
  }
  if (count == 0) return std::nullopt;
  grouped.resize(count);
  Plan shrunk = plan;
  for (Stage& stage : shrunk.stages) {
    stage.replica_micro_batches.clear();
    std::vector<std::vector<int>> left;
    for (const int replica : grouped) left.push_back(std::move(stage.replicas[replica]));
    stage.replicas = std::move(left);
  }
  return shrunk;
}

SimulatedTraining::SimulatedTraining(const TrainingJob& job, std::vector<TrainedState> states,
                                     RunConditions conditions)
    : job_(job), states_(std::move(states)), conditions_(std::move(conditions)) {
  spec_.cluster = &job.cluster;
  spec_.devices = DevicesOf(job.plan);
  if (static_cast<int>(spec_.devices.size()) == job.cluster.device_count()) spec_.devices.clear();
  spec_.steps = job.steps;
  for (size_t i = 1; i < states_.size(); ++i) {
    const TrainedState& state = states_[i];
    spec_.network_changes.push_back({state.step, state.cost.Total(), state.decision});
  }
  spec_.events = conditions_.events;
  spec_.rates = conditions_.rates;
  spec_.nodes_per_rack = conditions_.nodes_per_rack;
  spec_.checkpoint = conditions_.checkpoint;
  spec_.recovery = conditions_.recovery;
  spec_.step = [this](const ClusterState& cluster, int network) { return Step(cluster, network); };
  if (conditions_.recovery.policy == Recovery::Policy::kReplan) {
    spec_.replan = [this](const ClusterState& cluster, int network) {
      return Replan(cluster, network);
    };
  }
}

Workload SimulatedTraining::NetworkOf(int network) const {
  Workload workload = job_.workload;
  for (const NetworkChange& change : job_.changes) {
    if (change.step != states_[network].step) continue;
    ApplyLayerStates("the network", change.states, workload);
  }
  return workload;
}

std::optional<RunningStep> SimulatedTraining::Step(const ClusterState& cluster, int network) const {
  const TrainedState& state = states_[network];
  if (cluster.IsWhole()) return RunningStep{state.evaluation.step_time, state.devices()};
  const bool shrinks = conditions_.recovery.policy == Recovery::Policy::kShrink;
  if (!cluster.down.empty() && !shrinks) return std::nullopt;
  const Workload workload = NetworkOf(network);
  const std::optional<Plan> plan = ShrunkPlan(state.plan, cluster.down);
  if (!plan || !FindErrors(*plan, workload, job_.cluster).empty()) return std::nullopt;
  const Cluster slowed = job_.cluster.WithSlowParts(SlowPartsOf(cluster));
  try {
    const Evaluation evaluation =
        SimulateStep(*plan, workload, slowed, job_.model, job_.options).evaluation;
    if (!evaluation.fits) return std::nullopt;
    std::vector<int> idle = Without(DevicesOf(state.plan), DevicesOf(*plan));
    return RunningStep{evaluation.step_time, evaluation.devices, Without(idle, cluster.down)};
  } catch (const LinkDownError&) {
    return std::nullopt;
  }
}

std::optional<Replanned> SimulatedTraining::Replan(const ClusterState& cluster, int network) const {
  return cluster.down.empty() ? Rebalance(cluster, network) : Search(cluster, network);
}

// All devices are there, but some are slow: the layers are divided over stages of these speeds.
std::optional<Replanned> SimulatedTraining::Rebalance(const ClusterState& cluster,
                                                      int network) const {
  const Plan& plan = states_[network].plan;
  if (plan.stages.size() < 2 || plan.chunk_count() > 1 || plan.SplitsVocabulary()) {
    return std::nullopt;
  }
  const Workload workload = NetworkOf(network);
  const Cluster slowed = job_.cluster.WithSlowParts(SlowPartsOf(cluster));
  BalanceProblem problem = {LayerSeconds(plan, workload, job_.cluster, job_.model),
                            StageSpeeds(plan, workload, job_.cluster, job_.model)};
  for (size_t stage = 0; stage < plan.stages.size(); ++stage) {
    double least = 1;
    for (const std::vector<int>& replica : plan.stages[stage].replicas) {
      for (const int device : replica) least = std::min(least, slowed.speed(device));
    }
    problem.speeds[stage] *= least;
  }
  const std::optional<Division> division = PartitionLayers(problem, DivisionOf(plan));
  if (!division || *division == DivisionOf(plan)) return std::nullopt;
  const Plan divided = WithDivision(plan, *division);
  try {
    const Evaluation evaluation =
        SimulateStep(divided, workload, slowed, job_.model, job_.options).evaluation;
    const std::optional<RunningStep> unchanged = Step(cluster, network);
    if (!evaluation.fits || (unchanged && unchanged->time <= evaluation.step_time)) {
      return std::nullopt;
    }
    const StateMove move = MoveStates(plan, divided, workload, slowed, job_.model, job_.options);
    return Replanned{{evaluation.step_time, evaluation.devices, {}}, move.time};
  } catch (const LinkDownError&) {
    return std::nullopt;
  }
}

// Devices are missing: the best plan on the nodes that have all of theirs. The states come from the
// checkpoint that the run reloads anyway, so nothing moves besides.
std::optional<Replanned> SimulatedTraining::Search(const ClusterState& cluster, int network) const {
  const std::set<int> broken = BrokenNodes(job_.cluster, cluster.down);
  const std::optional<Cluster> left = WholeNodes(job_.cluster, broken, cluster);
  if (!left) return std::nullopt;
  const Workload workload = NetworkOf(network);
  const MemoModel memo(job_.model);
  PlanDegrees given;  // batch, precision and switches of the plan; the search chooses the rest
  static_cast<StepOptions&>(given) = states_[network].plan;
  given.gradient_bytes = states_[network].plan.gradient_bytes;
  Choices choices;
  choices.device_counts = DeviceCounts::kAny;
  const SearchProblem problem = {.workload = workload,
                                 .cluster = *left,
                                 .model = memo,
                                 .given = given,
                                 .choices = choices,
                                 .framework = job_.options.framework};
  if (!FindErrors(problem).empty()) return std::nullopt;
  PlanSearchOptions options;
  options.search.budget.evaluations = conditions_.replan_evaluations;
  const std::unique_ptr<PlanSpace> space = MakePlanSpace(problem);
  const PlanRun run = SearchPlans(PlanAlgorithm::kExhaustive, problem, *space, options);
  if (run.result.plans.empty()) return std::nullopt;
  const Evaluation& best = run.result.plans[0].evaluation;
  std::vector<int> of_broken;  // devices of the plan that work but are not used
  for (const int device : DevicesOf(states_[network].plan)) {
    if (broken.contains(job_.cluster.place(device).node)) of_broken.push_back(device);
  }
  return Replanned{{best.step_time, best.devices, Without(of_broken, cluster.down)}, {}};
}

}  // namespace stagecraft
