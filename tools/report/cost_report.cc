#include "tools/report/cost_report.h"

#include <fmt/core.h>

#include "sim/step/training_cost.h"

namespace stagecraft {
namespace {

double GpuHours(const SearchProblem& problem, const Evaluation& evaluation) {
  return CostOfSteps(evaluation, problem.cluster, {}, 1).gpu_hours;
}

}  // namespace

std::string CostHeading(const SearchProblem& problem) {
  return problem.prices.empty() ? "GPU-h/step" : "USD/step";
}

std::string CostCell(const SearchProblem& problem, const Evaluation& evaluation) {
  return fmt::format("{:.4g}", problem.prices.empty() ? GpuHours(problem, evaluation)
                                                      : CostOf(problem, evaluation));
}

const char* ScoreKey(const SearchProblem& problem) {
  if (problem.objective == Objective::kStepTime) return "step_time_ms";
  if (problem.objective == Objective::kMemory) return "memory_share";
  return problem.prices.empty() ? "device_seconds" : "cost_usd";
}

const char* ScoreLabel(const SearchProblem& problem) {
  if (problem.objective == Objective::kStepTime) return "step time (ms)";
  if (problem.objective == Objective::kMemory) return "share of memory";
  return problem.prices.empty() ? "device-seconds" : "cost (USD)";
}

double ShownScore(const SearchProblem& problem, double score) {
  return problem.objective == Objective::kStepTime ? score * 1e3 : score;
}

}  // namespace stagecraft
