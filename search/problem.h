// SearchProblem: which plan is best for a workload on a cluster, among which plans, and by which
// measure.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "costmodel/cost_model.h"
#include "sim/cluster/cluster.h"
#include "sim/memory/framework_memory.h"
#include "sim/memory/stage_memory.h"
#include "sim/plan/plan.h"
#include "sim/step/evaluation.h"
#include "sim/workload/workload.h"

namespace stagecraft {

// What is to be minimised. kCost: the dollars of a step or, without prices, its device-seconds.
// kMemory: the peak of the device that comes closest to its capacity, as a share of it.
enum class Objective { kStepTime, kCost, kMemory };
const char* Name(Objective objective);

// How many of the cluster's devices a plan uses. kAll: every one. kHalves: all, the first half of
// the nodes, a quarter of them, ... and of a single node half of its devices, a quarter, ... kAny:
// any number of nodes, and all devices or any equal number of devices of each of them.
enum class DeviceCounts { kAll, kHalves, kAny };

// The pipeline schedules that are tried by default, 1F1B and interleaved 1F1B, and all others.
enum class ScheduleClass { kUsual, kOther };
inline constexpr ScheduleClass kScheduleClasses[] = {ScheduleClass::kUsual, ScheduleClass::kOther};
inline constexpr PipelineSchedule kUsualSchedules[] = {PipelineSchedule::kOneForwardOneBackward,
                                                       PipelineSchedule::kInterleaved};
ScheduleClass ClassOf(PipelineSchedule schedule);

// What to choose from; an empty list means everything that can be lowered.
struct Choices {
  std::vector<int> tensor, context, expert, pipeline, chunks;
  std::vector<int64_t> micro_batches;       // samples
  std::vector<PipelineSchedule> schedules;  // empty: kUsualSchedules
  std::vector<Recompute> recomputes;
  std::vector<int> zeros;
  // As in ParseRankOrder(); empty: kDefaultRankOrder and kStagesFirstRankOrder.
  std::vector<std::string> rank_orders;
  DeviceCounts device_counts = DeviceCounts::kAll;
};

// Whether one of these lists has the value, or is empty.
template <typename T>
bool Allows(const std::vector<T>& choices, const T& value) {
  return choices.empty() || std::find(choices.begin(), choices.end(), value) != choices.end();
}

// Workload, cluster and model must outlive it.
struct SearchProblem {
  const Workload& workload;
  const Cluster& cluster;
  const CostModel& model;
  // What is not chosen: batch, sequence, precision, switches. Sequence parallelism is chosen if it
  // is given as -1.
  PlanDegrees given;
  Choices choices = {};
  Objective objective = Objective::kStepTime;
  FrameworkMemory framework = {};
  // USD for an hour of a device, by node group of the cluster; empty: not known.
  std::vector<double> prices = {};
};

// The same question with other costs. `model` must outlive it, too.
SearchProblem WithModel(const SearchProblem& problem, const CostModel& model);

// A plan with what the problem gives, a pipeline schedule of one chunk per stage, and no stages
// yet.
Plan PlanWithoutStages(const SearchProblem& problem, int64_t micro_batch, bool sequence_parallel,
                       int zero);

// One sentence for each reason why no answer can be sought: choices that contradict each other or
// the workload. Empty if the problem can be searched.
std::vector<std::string> FindErrors(const SearchProblem& problem);

// What this number of devices of each node group costs per second: USD or, without prices, their
// number.
double CostRate(const SearchProblem& problem, std::span<const int> group_devices);

// The cost of a step: step time x CostRate().
double CostOf(const SearchProblem& problem, const Evaluation& evaluation);
// The peak of the device that comes closest to its capacity, as a share of it.
double MemoryShare(std::span<const StageMemory> memory);

// The value of the objective for an evaluation; less is better.
double Score(const SearchProblem& problem, const Evaluation& evaluation);

}  // namespace stagecraft
