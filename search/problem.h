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

// What is to be minimised. kCost: the dollars of a training step or, without prices, its
// device-seconds. kMemory: the peak of the device that comes closest to its capacity, as a share of
// that capacity.
enum class Objective { kStepTime, kCost, kMemory };
const char* Name(Objective objective);

// How many of the cluster's devices a plan uses. kAll: all of them. kHalves: all, those of the
// first half of the nodes, of a quarter, ... down to one node, then half of its devices, a quarter,
// ... kAny: any number of nodes, and of each of them all devices or the same number of devices.
enum class DeviceCounts { kAll, kHalves, kAny };

// Divides the pipeline schedules into those that are tried by default, 1F1B and interleaved 1F1B,
// and all others.
enum class ScheduleClass { kUsual, kOther };
inline constexpr ScheduleClass kScheduleClasses[] = {ScheduleClass::kUsual, ScheduleClass::kOther};
inline constexpr PipelineSchedule kUsualSchedules[] = {PipelineSchedule::kOneForwardOneBackward,
                                                       PipelineSchedule::kInterleaved};
ScheduleClass ClassOf(PipelineSchedule schedule);

// The values to choose from; an empty list means all that can be lowered.
struct Choices {
  std::vector<int> tensor, context, expert, pipeline, chunks;
  std::vector<int64_t> micro_batches;       // samples
  std::vector<PipelineSchedule> schedules;  // empty: kUsualSchedules
  std::vector<Recompute> recomputes;
  std::vector<int> zeros;
  // As in ParseRankOrder(); empty: kDefaultRankOrder and kStagesFirstRankOrder.
  std::vector<std::string> rank_orders;
  DeviceCounts device_counts = DeviceCounts::kAll;
  // Whether each plan of equal stages chooses what runs beside its computation; otherwise that is
  // as the problem's degrees say.
  bool chooses_tensor_overlap = false;  // StepOptions::overlap_tensor
  bool chooses_gather_overlap = false;  // StepOptions::overlap_param_gather
  // If set, stages compute while they send (StepOptions::overlap_p2p), except with these schedules.
  bool chooses_send_overlap = false;
  std::vector<PipelineSchedule> waiting_schedules = {};
};

// Returns whether one of these lists contains the value or is empty.
template <typename T>
bool Allows(const std::vector<T>& choices, const T& value) {
  return choices.empty() || std::find(choices.begin(), choices.end(), value) != choices.end();
}

// Plans by what runs beside their computation: only those in which that is as the problem gives it,
// or all that its choices allow.
enum class Overlaps { kAsGiven, kAny };

// Returns whether a plan with this schedule computes while it sends.
bool OverlapsSends(const Choices& choices, const PlanDegrees& given, PipelineSchedule schedule);

// Workload, cluster and model must outlive the problem.
struct SearchProblem {
  const Workload& workload;
  const Cluster& cluster;
  const CostModel& model;
  // What the search does not choose: batch, sequence, precision, switches. It chooses whether to
  // use sequence parallelism if that is given as -1.
  PlanDegrees given;
  Choices choices = {};
  Objective objective = Objective::kStepTime;
  FrameworkMemory framework = {};
  // USD per device and hour, by node group of the cluster; empty if not known.
  std::vector<double> prices = {};
};

// Returns the same problem with another cost model, which must outlive it, too.
SearchProblem WithModel(const SearchProblem& problem, const CostModel& model);

// Returns a plan with what the problem gives, a pipeline schedule of one chunk per stage, and no
// stages yet.
Plan PlanWithoutStages(const SearchProblem& problem, int64_t micro_batch, bool sequence_parallel,
                       int zero);

// Returns one sentence for each reason why the problem cannot be searched: choices that contradict
// each other or the workload. Empty if it can be.
std::vector<std::string> FindErrors(const SearchProblem& problem);

// Returns what these numbers of devices of each node group cost per second in USD or, without
// prices, the number of all devices.
double CostRate(const SearchProblem& problem, std::span<const int> group_devices);

// Returns the cost of a training step: step time x CostRate().
double CostOf(const SearchProblem& problem, const Evaluation& evaluation);
// Returns the peak of the device that comes closest to its capacity, as a share of that capacity.
double MemoryShare(std::span<const StageMemory> memory);

// Returns the value of the objective for an evaluation; less is better.
double Score(const SearchProblem& problem, const Evaluation& evaluation);

}  // namespace stagecraft
