#include "sim/engine/sim_executor.h"

#include <algorithm>
#include <utility>

#include "sim/engine/compute_sharing.h"
#include "sim/engine/interface_sharing.h"
#include "sim/engine/memory_sharing.h"
#include "sim/engine/replica_symmetry.h"
#include "sim/engine/traffic_binding.h"
#include "sim/schedule/deadlock.h"

namespace stagecraft {
namespace {

std::vector<Duration> TaskDurations(const Schedule& schedule, const BoundCosts& costs) {
  std::vector<Duration> durations(schedule.task_count());
  for (TaskId task = 0; task < schedule.task_count(); ++task) {
    durations[task] = costs.TaskTimes(schedule, task).device;
  }
  return durations;
}

// Returns whether the rank that sends a message computes nothing until it has arrived.
bool Blocks(const Schedule& schedule, TaskId send) {
  const auto lanes = schedule.lanes(send);
  return std::any_of(lanes.begin(), lanes.end(), [&](Lane lane) {
    return schedule.lane_infos()[Index(lane)].kind == LaneKind::kCompute;
  });
}

bool IsSend(Phase phase) { return phase == Phase::kSendForward || phase == Phase::kSendBackward; }

}  // namespace

const char* Name(NetworkFidelity fidelity) {
  return fidelity == NetworkFidelity::kFlow ? "flow" : "model";
}

std::vector<Launch> BindLaunches(const Schedule& schedule, const BoundCosts& costs) {
  std::vector<Launch> launches(schedule.task_count());
  bool any = false;
  for (TaskId task = 0; task < schedule.task_count(); ++task) {
    const OpSequenceTimes times = costs.TaskTimes(schedule, task);
    launches[task].lead = times.lead;
    launches[task].total = times.host;
    any = any || times.host > Duration();
    const Phase phase = schedule.tag(task).phase;
    if (IsSend(phase)) {
      for (const TaskId next : schedule.successors(task)) launches[next].waits = true;
      if (!Blocks(schedule, task)) continue;
      for (const TaskId next : schedule.next_on_lanes(task)) {
        if (next >= 0 && !IsSend(schedule.tag(next).phase)) launches[next].waits = true;
      }
    } else if (phase == Phase::kGradNorm) {
      for (const TaskId next : schedule.next_on_lanes(task)) {
        if (next >= 0) launches[next].waits = true;
      }
    }
  }
  if (!any) launches.clear();
  return launches;
}

Timeline SimExecutor::Execute(const Schedule& schedule) {
  costs_ = BindCosts(schedule, cluster_, model_);
  unshared_makespan_ = Duration();
  const std::vector<Launch> launches = BindLaunches(schedule, costs_);
  if (network_.fidelity == NetworkFidelity::kFlow) return RunFlows(schedule, launches);
  std::vector<Replay> replays = ReplayModel(schedule, launches, Keep::kLast);
  return std::move(replays.back().timeline);
}

std::optional<SimExecutor::Repeated> SimExecutor::ExecuteRepeated(const Schedule& schedule,
                                                                  int64_t more, int64_t group) {
  const bool shares_memory = !cluster_.shared_memories().empty();
  if (network_.fidelity == NetworkFidelity::kFlow || shares_memory) return std::nullopt;
  costs_ = BindCosts(schedule, cluster_, model_);
  const std::vector<Launch> launches = BindLaunches(schedule, costs_);
  std::vector<Replay> replays = ReplayModel(schedule, launches, Keep::kAll);
  std::optional<Repetition> repetition = FindRepetition(schedule, replays, launches, more, group);
  if (!repetition) return std::nullopt;
  unshared_makespan_ += repetition->UnsharedDelay();
  return Repeated{std::move(replays.back().timeline), std::move(*repetition)};
}

std::vector<Replay> SimExecutor::ReplayModel(const Schedule& schedule,
                                             std::span<const Launch> launches, Keep keep) {
  std::vector<Replay> replays;
  const auto replay = [&](std::vector<Duration> durations) {
    if (keep == Keep::kLast && !replays.empty()) replays.back().timeline = Timeline();
    Timeline timeline =
        replays.empty() ? engine_.Run(schedule, durations,
                                      {.launches = launches, .notes_launched = keep == Keep::kAll})
                        : engine_.RunAgain(durations);
    const std::span<const Duration> launched = engine_.launched();
    replays.push_back(
        {std::move(durations), std::move(timeline), {launched.begin(), launched.end()}});
  };
  replay(TaskDurations(schedule, costs_));
  unshared_makespan_ = replays[0].timeline.makespan();
  {
    const Replay& alone = replays[0];
    std::vector<Duration> shared =
        ShareInterfaces(schedule, alone.timeline, costs_, alone.durations);
    std::vector<Duration> slowed =
        SlowCompute(schedule, alone.timeline, costs_, shared.empty() ? alone.durations : shared);
    if (!slowed.empty()) shared = std::move(slowed);
    if (!shared.empty()) replay(std::move(shared));
  }
  std::vector<Duration> shared =
      ShareMemory(schedule, replays.back().timeline, costs_, cluster_, replays.back().durations);
  if (!shared.empty()) replay(std::move(shared));
  SetStretched(replays[0].durations, replays.back().durations);
  return replays;
}

void SimExecutor::SetStretched(std::span<const Duration> alone, std::span<const Duration> taken) {
  if (std::equal(alone.begin(), alone.end(), taken.begin(), taken.end())) return;
  costs_.stretched.resize(alone.size());
  for (size_t task = 0; task < alone.size(); ++task) {
    costs_.stretched[task] = taken[task] - alone[task];
  }
}

Timeline SimExecutor::RunFlows(const Schedule& schedule, std::span<const Launch> launches) {
  flow_links_.clear();
  if (std::optional<Timeline> timeline = RunRepresentatives(schedule, launches)) return *timeline;
  flow_links_.clear();
  const auto run = [&](std::span<const Duration> durations) {
    traffic_ = BindTraffic(schedule, cluster_, costs_);
    for (const LinkChange& change : network_.changes) {
      const double rate = change.rate * cluster_.link_rate(change.link);
      const Bandwidth bandwidth = rate * cluster_.link(change.link).bandwidth;
      traffic_->ChangeCapacity(change.link, bandwidth, change.time);
    }
    return engine_.Run(schedule, durations, {.launches = launches, .traffic = traffic_.get()});
  };
  const std::vector<Duration> alone = TaskDurations(schedule, costs_);
  try {
    Timeline timeline = run(alone);
    const std::vector<Duration> slowed = SlowCompute(schedule, timeline, costs_, alone);
    const std::vector<Duration> shared =
        ShareMemory(schedule, timeline, costs_, cluster_, slowed.empty() ? alone : slowed);
    const std::vector<Duration>& longer = shared.empty() ? slowed : shared;
    if (longer.empty()) return timeline;
    SetStretched(alone, longer);
    return run(longer);
  } catch (const DeadlockError&) {
    for (const LinkChange& change : network_.changes) {
      if (change.rate > 0 || traffic_->network().Rates(change.link).empty()) continue;
      throw DeadlockError("stopped: messages wait for the link " + cluster_.LinkName(change.link) +
                          ", whose rate stays 0");
    }
    throw;
  }
}

std::optional<Timeline> SimExecutor::RunRepresentatives(const Schedule& schedule,
                                                        std::span<const Launch> launches) {
  if (!network_.changes.empty()) return std::nullopt;
  const std::optional<ReplicaSymmetry> symmetry = FindReplicaSymmetry(schedule, cluster_);
  if (!symmetry) return std::nullopt;
  BoundCosts costs = costs_;
  costs.device_of_rank.clear();
  for (const int32_t rank : symmetry->rank_of) {
    costs.device_of_rank.push_back(costs_.device_of_rank[rank]);
  }
  std::vector<Launch> own_launches;
  for (const TaskId task : symmetry->task_of) {
    if (!launches.empty()) own_launches.push_back(launches[task]);
  }
  const auto run = [&](std::span<const Duration> durations) -> std::optional<Timeline> {
    RepresentedTraffic represented = BindRepresentatives(*symmetry, cluster_, costs);
    if (represented.traffic == nullptr) return std::nullopt;
    traffic_ = std::move(represented.traffic);
    flow_links_ = std::move(represented.links);
    return engine_.Run(symmetry->representatives, durations,
                       {.launches = own_launches, .traffic = traffic_.get()});
  };
  try {
    std::vector<Duration> durations = TaskDurations(symmetry->representatives, costs);
    std::optional<Timeline> timeline = run(durations);
    if (!timeline) return std::nullopt;
    std::vector<Duration> slowed =
        SlowCompute(symmetry->representatives, *timeline, costs, durations);
    if (!slowed.empty()) {
      SetStretched(symmetry->ForAll(durations), symmetry->ForAll(slowed));
      timeline = run(slowed);
    }
    return symmetry->ForAll(*timeline);
  } catch (const DeadlockError&) {
    return std::nullopt;  // simulating the whole schedule tells which tasks wait for each other
  }
}

std::vector<LinkUse> SimExecutor::link_use() {
  std::vector<LinkUse> use;
  if (traffic_ == nullptr) return use;
  FlowNetwork& network = traffic_->network();
  if (flow_links_.empty()) {
    for (LinkId link = 0; link < network.link_count(); ++link) use.push_back(network.Use(link));
    return use;
  }
  for (const LinkId link : flow_links_) use.push_back(link < 0 ? LinkUse() : network.Use(link));
  return use;
}

}  // namespace stagecraft
