#include "search/problem.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "sim/step/training_cost.h"
#include "sim/workload/limits.h"

namespace stagecraft {
namespace {

constexpr double kSecondsPerHour = 3600;

void CheckRange(const char* name, int64_t value, int64_t most, std::vector<std::string>& errors) {
  if (value < 1 || value > most) {
    errors.push_back(fmt::format("{}: got {}, want 1 to {}", name, value, most));
  }
}

void CheckDegrees(const char* name, const std::vector<int>& values,
                  std::vector<std::string>& errors) {
  for (const int value : values) CheckRange(name, value, kMostOfADegree, errors);
}

}  // namespace

const char* Name(Objective objective) {
  constexpr const char* kNames[] = {"step-time", "cost", "memory"};
  return kNames[static_cast<int>(objective)];
}

ScheduleClass ClassOf(PipelineSchedule schedule) {
  const bool is_usual = std::find(std::begin(kUsualSchedules), std::end(kUsualSchedules),
                                  schedule) != std::end(kUsualSchedules);
  return is_usual ? ScheduleClass::kUsual : ScheduleClass::kOther;
}

bool OverlapsSends(const Choices& choices, const PlanDegrees& given, PipelineSchedule schedule) {
  if (!choices.chooses_send_overlap) return given.overlap_p2p;
  const std::vector<PipelineSchedule>& waiting = choices.waiting_schedules;
  return std::find(waiting.begin(), waiting.end(), schedule) == waiting.end();
}

SearchProblem WithModel(const SearchProblem& problem, const CostModel& model) {
  return {.workload = problem.workload,
          .cluster = problem.cluster,
          .model = model,
          .given = problem.given,
          .choices = problem.choices,
          .objective = problem.objective,
          .framework = problem.framework,
          .prices = problem.prices};
}

Plan PlanWithoutStages(const SearchProblem& problem, int64_t micro_batch, bool sequence_parallel,
                       int zero) {
  Plan plan;
  static_cast<StepOptions&>(plan) = problem.given;
  plan.schedule = PipelineSchedule::kOneForwardOneBackward;
  plan.micro_batch = micro_batch;
  plan.sequence_parallel = sequence_parallel;
  plan.zero = zero;
  plan.gradient_bytes = problem.given.gradient_bytes != 0 ? problem.given.gradient_bytes
                                                          : UsualGradientBytes(plan.precision);
  return plan;
}

std::vector<std::string> FindErrors(const SearchProblem& problem) {
  std::vector<std::string> errors;
  const Choices& choices = problem.choices;
  CheckDegrees("tp", choices.tensor, errors);
  CheckDegrees("cp", choices.context, errors);
  CheckDegrees("ep", choices.expert, errors);
  CheckDegrees("pp", choices.pipeline, errors);
  CheckDegrees("vpp", choices.chunks, errors);
  for (const int64_t size : choices.micro_batches) {
    CheckRange("micro-batch", size, kMostOfABatch, errors);
  }
  for (const int zero : choices.zeros) {
    if (zero < 0 || zero > 3) errors.push_back(fmt::format("zero: got {}, want 0 to 3", zero));
  }
  CheckRange("global batch", problem.given.global_batch, kMostOfABatch, errors);
  CheckRange("sequence", problem.given.sequence, kMostOfABatch, errors);
  if (problem.given.gradient_sync.servers > 0) {
    errors.push_back(
        fmt::format("sync_servers: got {}, want 0: a search gives every device that it uses to "
                    "replicas of stages; use simulate",
                    problem.given.gradient_sync.servers));
  }
  for (const Cluster::NodeGroup& group : problem.cluster.groups()) {
    const std::string error = FindGpuError(problem.given, group.type.device);
    if (!error.empty()) errors.push_back(error);
  }
  for (const PipelineSchedule schedule : choices.schedules) {
    if (IsCustom(schedule)) {
      errors.push_back("schedule: custom schedules cannot be searched for");
    } else if (IsAsynchronous(schedule)) {
      errors.push_back(fmt::format(
          "schedule: {} trains with other weights than schedules that flush, so that step times do "
          "not compare; use simulate",
          Name(schedule)));
    }
  }
  if (!problem.prices.empty() && problem.prices.size() != problem.cluster.groups().size()) {
    errors.push_back(fmt::format("prices: got {}, want one for each of the {} groups of nodes",
                                 problem.prices.size(), problem.cluster.groups().size()));
  }
  for (const double price : problem.prices) {
    if (!(price > 0) || !std::isfinite(price)) {
      errors.push_back(fmt::format("prices: got {}, want more than 0", price));
    }
  }
  return errors;
}

double CostRate(const SearchProblem& problem, std::span<const int> group_devices) {
  if (problem.prices.empty()) {
    return std::accumulate(group_devices.begin(), group_devices.end(), 0);
  }
  return UsdPerHour(group_devices, problem.prices) / kSecondsPerHour;
}

double CostOf(const SearchProblem& problem, const Evaluation& evaluation) {
  return evaluation.step_time.seconds() * CostRate(problem, evaluation.group_devices);
}

double MemoryShare(std::span<const StageMemory> memory) {
  double fullest = 0;
  for (const StageMemory& stage : memory) fullest = std::max(fullest, stage.Share());
  return fullest;
}

double Score(const SearchProblem& problem, const Evaluation& evaluation) {
  switch (problem.objective) {
    case Objective::kStepTime:
      return evaluation.step_time.seconds();
    case Objective::kCost:
      return CostOf(problem, evaluation);
    case Objective::kMemory:
      break;
  }
  return MemoryShare(evaluation.memory);
}

}  // namespace stagecraft
