#include "search/training/job_simulation.h"

#include <fmt/core.h>

#include <algorithm>
#include <memory>
#include <set>
#include <span>
#include <utility>

#include "costmodel/check.h"
#include "costmodel/memo_model.h"
#include "search/balance/layer_partition.h"
#include "search/plan_space.h"
#include "search/plans/plan_search.h"
#include "search/training/plan_division.h"
#include "search/training/shrunk_plan.h"
#include "search/training/stage_loads.h"
#include "search/training/state_move.h"
#include "sim/job/history.h"

namespace stagecraft {
namespace {

std::vector<int> Without(const std::vector<int>& all, const std::vector<int>& some) {
  std::vector<int> rest;
  std::set_difference(all.begin(), all.end(), some.begin(), some.end(), std::back_inserter(rest));
  return rest;
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

// Returns what the history says of a plan.
std::shared_ptr<const RunPlan> RunPlanOf(const Plan& plan) {
  const Stage& first = plan.stages[0];
  size_t replicas = first.replicas.size();
  for (const Stage& stage : plan.stages) replicas = std::min(replicas, stage.replicas.size());
  RunPlan said{
      fmt::format("tp {} x pp {} x dp {}", first.tensor_parallel, plan.stages.size(), replicas),
      DivisionOf(plan)};
  if (first.context_parallel > 1) said.words += fmt::format(" x cp {}", first.context_parallel);
  if (first.expert_parallel > 1) said.words += fmt::format(", ep {}", first.expert_parallel);
  said.words += fmt::format(", {}", Name(plan.schedule));
  return std::make_shared<const RunPlan>(std::move(said));
}

// Returns a step of a plan that leaves these devices idle.
RunningStep StepOf(const Plan& plan, const Evaluation& evaluation, std::vector<int> idle) {
  return {evaluation.step_time, evaluation.devices, std::move(idle), RunPlanOf(plan),
          evaluation.profile.bubble_fraction};
}

// Returns the speed of the slowest device of a stage.
double LeastSpeed(const Stage& stage, const Cluster& cluster) {
  double least = 1;
  for (const std::vector<int>& replica : stage.replicas) {
    for (const int device : replica) least = std::min(least, cluster.speed(device));
  }
  return least;
}

}  // namespace

Bytes CheckpointBytes(const Plan& plan, const Workload& workload) {
  return Bytes(plan.WorkingBytes() * workload.Parameters()) +
         OptimizerStates(plan.optimizer, plan.WorkingBytes(), workload.TrainedParameters());
}

JobSimulation::JobSimulation(const Job& job, TrainedStates trained)
    : job_(job),
      trained_(std::move(trained)),
      devices_(DevicesOf(job.plan)),
      networks_(trained_.states.size()) {
  CHECK(!trained_.states.empty());
  const RunConditions& conditions = job.conditions;
  spec_.cluster = &job.cluster;
  if (static_cast<int>(devices_.size()) < job.cluster.device_count()) spec_.devices = devices_;
  spec_.steps = job.steps;
  for (size_t i = 1; i < states().size(); ++i) {
    spec_.network_changes.push_back(
        {states()[i].step, states()[i].cost.Total(), states()[i].decision});
  }
  if (trained_.failure != nullptr) {  // It is thrown when the run gets there.
    spec_.network_changes.push_back({job.FirstStep(static_cast<int>(states().size()))});
  }
  spec_.events = conditions.events;
  spec_.rates = conditions.rates;
  spec_.nodes_per_rack = conditions.nodes_per_rack;
  spec_.checkpoint = conditions.checkpoint;
  spec_.recovery = conditions.recovery;
  spec_.step = [this](const ClusterState& cluster, int network) { return Step(cluster, network); };
  if (conditions.recovery.policy == Recovery::Policy::kReplan) {
    spec_.replan = [this](const ClusterState& cluster, int network) {
      return Replan(cluster, network);
    };
  }
}

const TrainedState& JobSimulation::StateOf(int network) const {
  if (network == std::ssize(states())) std::rethrow_exception(trained_.failure);
  return states()[network];
}

const Workload& JobSimulation::NetworkOf(int network) const {
  Network& known = networks_[network];
  std::call_once(known.once, [&] { known.workload = job_.NetworkIn(network); });
  return *known.workload;
}

std::optional<RunningStep> JobSimulation::Step(const ClusterState& cluster, int network) const {
  const TrainedState& state = StateOf(network);
  if (cluster.IsWhole()) {  // Stages that re-packing has freed do nothing.
    return StepOf(state.plan, state.evaluation, Without(devices_, DevicesOf(state.plan)));
  }
  const bool shrinks = job_.conditions.recovery.policy == Recovery::Policy::kShrink;
  if (!cluster.down.empty() && !shrinks) return std::nullopt;
  const std::optional<Plan> plan = ShrunkPlan(state.plan, cluster.down);
  if (!plan || !FindErrors(*plan, NetworkOf(network), job_.cluster).empty()) return std::nullopt;
  const std::optional<Evaluation> evaluation =
      EvaluateOn(job_.cluster.WithSlowParts(SlowPartsOf(cluster)), *plan, network);
  if (!evaluation) return std::nullopt;
  const std::vector<int> idle = Without(devices_, DevicesOf(*plan));
  return StepOf(*plan, *evaluation, Without(idle, cluster.down));
}

std::optional<Evaluation> JobSimulation::EvaluateOn(const Cluster& cluster, const Plan& plan,
                                                    int network) const {
  try {
    Evaluation evaluation =
        SimulateStep(plan, NetworkOf(network), cluster, job_.model, job_.options).evaluation;
    if (evaluation.fits) return evaluation;
  } catch (const LinkDownError&) {
  }
  return std::nullopt;
}

std::optional<Replanned> JobSimulation::Replan(const ClusterState& cluster, int network) const {
  return cluster.down.empty() ? Rebalance(cluster, network) : Search(cluster, network);
}

// All devices are there, but some are slow: the layers are divided over stages of these speeds.
std::optional<Replanned> JobSimulation::Rebalance(const ClusterState& cluster, int network) const {
  const Plan& plan = StateOf(network).plan;
  if (plan.stages.size() < 2 || plan.chunk_count() > 1 || plan.SplitsVocabulary()) {
    return std::nullopt;
  }
  const Workload& workload = NetworkOf(network);
  const Cluster slowed = job_.cluster.WithSlowParts(SlowPartsOf(cluster));
  BalanceProblem problem = {LayerSeconds(plan, workload, job_.cluster, job_.model),
                            StageSpeeds(plan, workload, job_.cluster, job_.model)};
  for (size_t stage = 0; stage < plan.stages.size(); ++stage) {
    problem.speeds[stage] *= LeastSpeed(plan.stages[stage], slowed);
  }
  const std::optional<Division> division = PartitionLayers(problem, DivisionOf(plan));
  if (!division || *division == DivisionOf(plan)) return std::nullopt;
  const Plan divided = WithDivision(plan, *division);
  const std::optional<Evaluation> evaluation = EvaluateOn(slowed, divided, network);
  if (!evaluation) return std::nullopt;
  const std::optional<RunningStep> unchanged = Step(cluster, network);
  if (unchanged && unchanged->time <= evaluation->step_time) return std::nullopt;
  try {
    const StateMove move = MoveStates(plan, divided, workload, slowed, job_.model, job_.options);
    return Replanned{StepOf(divided, *evaluation, Without(devices_, DevicesOf(divided))),
                     move.time};
  } catch (const LinkDownError&) {
    return std::nullopt;
  }
}

// Devices are missing: the best plan on the nodes that have all of theirs. The states come from the
// checkpoint that the run reloads anyway, so nothing moves besides.
std::optional<Replanned> JobSimulation::Search(const ClusterState& cluster, int network) const {
  const Plan& plan = StateOf(network).plan;
  const std::set<int> broken = BrokenNodes(job_.cluster, cluster.down);
  const std::optional<Cluster> left = WholeNodes(job_.cluster, broken, cluster);
  if (!left) return std::nullopt;
  const MemoModel memo(job_.model);
  PlanDegrees given;  // batch, precision and switches of the plan; the search chooses the rest
  static_cast<StepOptions&>(given) = plan;
  given.gradient_bytes = plan.gradient_bytes;
  Choices choices;
  choices.device_counts = DeviceCounts::kAny;
  const SearchProblem problem = {.workload = NetworkOf(network),
                                 .cluster = *left,
                                 .model = memo,
                                 .given = given,
                                 .choices = choices,
                                 .framework = job_.options.framework};
  if (!FindErrors(problem).empty()) return std::nullopt;
  PlanSearchOptions options;
  options.search.budget.evaluations = job_.conditions.replan_evaluations;
  const std::unique_ptr<PlanSpace> space = MakePlanSpace(problem);
  const PlanRun run = SearchPlans(PlanAlgorithm::kExhaustive, problem, *space, options);
  if (run.result.plans.empty()) return std::nullopt;
  const RankedPlan& best = run.result.plans[0];
  std::vector<int> of_broken;  // devices of the plan that work but are not used
  for (const int device : devices_) {
    if (broken.contains(job_.cluster.place(device).node)) of_broken.push_back(device);
  }
  return Replanned{StepOf(best.plan, best.evaluation, Without(of_broken, cluster.down)), {}};
}

}  // namespace stagecraft
