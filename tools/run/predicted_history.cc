#include "tools/run/predicted_history.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "costmodel/op.h"
#include "costmodel/random.h"
#include "sim/engine/bound_costs.h"
#include "sim/engine/engine.h"
#include "sim/engine/sim_executor.h"
#include "sim/job/cluster_event.h"
#include "sim/job/job_run.h"
#include "sim/schedule/timeline.h"

namespace stagecraft {
namespace {

// Gives slow ranks devices of their own, whose ops take longer.
void SlowRanks(const Schedule& schedule, std::span<const double> speeds, BoundCosts& costs) {
  for (size_t rank = 0; rank < speeds.size(); ++rank) {
    if (speeds[rank] == 1) continue;
    const auto device = static_cast<size_t>(costs.device_of_rank[rank]);
    costs.device_of_rank[rank] = static_cast<int>(costs.devices.size());
    costs.devices.push_back(costs.devices[device]);
    std::vector<Estimate> estimates = costs.estimates[device];
    for (size_t op = 0; op < estimates.size(); ++op) {
      if (IsCollective(schedule.distinct_ops()[op].kind)) continue;
      estimates[op].time =
          Duration::RoundedNanoseconds(static_cast<double>(estimates[op].time.ns()) / speeds[rank]);
    }
    std::vector<OpSequenceTimes>& times = costs.op_sequences.emplace_back();
    for (OpSequenceId sequence = 0; sequence < schedule.op_sequence_count(); ++sequence) {
      times.push_back(TimesOf(schedule, sequence, estimates));
    }
    costs.estimates.push_back(std::move(estimates));
  }
}

}  // namespace

Duration PredictStep(const Schedule& schedule, const Cluster& cluster, const CostModel& model,
                     std::span<const double> speeds) {
  SimExecutor executor(cluster, model);
  const Timeline at_full_speed = executor.Execute(schedule);
  if (std::all_of(speeds.begin(), speeds.end(), [](double speed) { return speed == 1; })) {
    return at_full_speed.makespan();
  }
  BoundCosts costs = executor.costs();
  SlowRanks(schedule, speeds, costs);
  std::vector<Duration> durations(static_cast<size_t>(schedule.task_count()));
  for (TaskId task = 0; task < schedule.task_count(); ++task) {
    durations[task] = costs.TaskTimes(schedule, task).device;
    if (!costs.stretched.empty()) durations[task] += costs.stretched[task];
  }
  const std::vector<Launch> launches = BindLaunches(schedule, costs);
  return Engine().Run(schedule, durations, {.launches = launches}).makespan();
}

History PredictHistory(const MeasuredRunRequest& request, const MeasuredRun& run, Duration step,
                       const Schedule& schedule, const Cluster& cluster) {
  RunSpec spec;
  spec.cluster = &cluster;
  for (const RankInfo& rank : schedule.ranks()) spec.devices.push_back(rank.device);
  std::sort(spec.devices.begin(), spec.devices.end());
  const int devices = static_cast<int>(spec.devices.size());
  spec.steps = request.steps - run.first_step;
  // Processes that die together are one failure.
  for (const RankKill& kill : run.kills) {
    ClusterEvent event;
    event.target = {EventTarget::Kind::kDevice, schedule.ranks()[kill.rank].device};
    event.at_step = kill.step - run.first_step;
    if (!spec.events.empty() && spec.events.back().at_step >= event.at_step) continue;
    spec.events.push_back(event);
    // A process that starts again needs no repair.
    event.what = ClusterEvent::What::kRecover;
    spec.events.push_back(event);
  }
  spec.checkpoint.interval = request.checkpoint_every * step;
  spec.checkpoint.write = run.costs.write;
  spec.recovery.policy = Recovery::Policy::kRestart;
  spec.recovery.detection = run.costs.detection;
  spec.recovery.restart = run.costs.restart;
  spec.recovery.reload = run.costs.reload;
  spec.step = [step, devices](const ClusterState&, int) {
    return std::optional(RunningStep{step, devices});
  };
  return SimulateRun(spec, Random(0));
}

}  // namespace stagecraft
