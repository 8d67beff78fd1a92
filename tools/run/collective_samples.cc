#include "tools/run/collective_samples.h"

#include <algorithm>
#include <cstdint>
#include <set>
#include <span>
#include <string>
#include <utility>

#include "costmodel/op.h"
#include "costmodel/units.h"
#include "runtime/cuda/cuda_run.h"

namespace stagecraft {
namespace {

constexpr int kWarmUp = 2, kSteps = 5;

bool IsExchange(const Schedule& schedule, TaskId task) {
  const OpSequenceId op_sequence = schedule.op_sequence(task);
  if (op_sequence < 0 || schedule.ops(op_sequence).size() != 1) return false;
  const OpKind kind = schedule.op(schedule.ops(op_sequence)[0]).kind;
  return IsCollective(kind) && kind != OpKind::kSendRecv;
}

// Returns one task for each collective and set of ranks that it is between.
std::vector<TaskId> DistinctCollectives(const Schedule& schedule) {
  std::set<std::pair<OpId, int32_t>> seen;
  std::vector<TaskId> tasks;
  for (TaskId task = 0; task < schedule.task_count(); ++task) {
    if (!IsExchange(schedule, task)) continue;
    const OpId op = schedule.ops(schedule.op_sequence(task))[0];
    if (seen.insert({op, schedule.communicator(task)}).second) tasks.push_back(task);
  }
  return tasks;
}

// Returns a schedule with the same ranks and lanes in which only these tasks run, one after
// another.
Schedule OneByOne(const Schedule& schedule, std::span<const TaskId> tasks) {
  Schedule::Builder builder;
  for (const RankInfo& rank : schedule.ranks()) builder.AddRank(rank);
  for (const LaneInfo& lane : schedule.lane_infos()) builder.AddLane(lane);
  std::vector<TaskId> before;
  for (const TaskId task : tasks) {
    const OpId op = builder.AddOp(schedule.op(schedule.ops(schedule.op_sequence(task))[0]));
    const TaskId added = builder.Add(schedule.lanes(task), before, builder.AddOpSequence({&op, 1}),
                                     schedule.tag(task));
    if (schedule.communicator(task) >= 0) {
      builder.SetCommunicator(
          added, builder.AddCommunicator(schedule.communicators()[schedule.communicator(task)]));
    }
    before = {added};
  }
  return builder.Build();
}

std::set<std::string> DevicesOf(const Schedule& schedule, TaskId task, const Cluster& cluster) {
  std::set<std::string> ids;
  for (const Lane lane : schedule.lanes(task)) {
    const int32_t rank = schedule.lane_infos()[Index(lane)].rank;
    ids.insert(cluster.device(schedule.ranks()[rank].device).id);
  }
  return ids;
}

}  // namespace

std::vector<Sample> SampleCollectives(const Schedule& schedule, const Cluster& cluster,
                                      const CudaPlaces& places) {
  const std::vector<TaskId> tasks = DistinctCollectives(schedule);
  if (tasks.empty() || places.places.size() < 2) return {};
  const Schedule alone = OneByOne(schedule, tasks);
  const CudaRunResult result = RunOnCuda({.schedule = &alone,
                                          .places = places.places,
                                          .process = {},
                                          .steps = {.warm_up = {kWarmUp}, .measured = {kSteps}}});
  std::vector<Sample> samples;
  for (TaskId task = 0; task < alone.task_count(); ++task) {
    const Timeline& timeline = result.measured.timeline;
    Sample sample;
    sample.op = alone.op(alone.ops(alone.op_sequence(task))[0]);
    sample.time = std::max(timeline.end(task) - timeline.start(task), 1_ns);
    if (!result.measured.task_sigma.empty()) {
      sample.spread = result.measured.task_sigma[task].seconds() / sample.time.seconds();
    }
    sample.repeats = kSteps;
    sample.name = Name(sample.op.kind);
    sample.software = result.software;
    sample.source = "stagecraft run";
    for (const std::string& id : DevicesOf(alone, task, cluster)) {
      sample.gpu = id;
      samples.push_back(sample);
    }
  }
  return samples;
}

}  // namespace stagecraft
