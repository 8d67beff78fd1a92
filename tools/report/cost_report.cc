#include "tools/report/cost_report.h"

#include <fmt/core.h>

#include <nlohmann/json.hpp>

namespace stagecraft {
namespace {

double GpuHours(const Evaluation& evaluation) {
  return evaluation.step_time.seconds() * evaluation.devices / 3600;
}

double StepsPerBillionTokens(const Evaluation& evaluation) { return 1e9 / evaluation.tokens; }

}  // namespace

nlohmann::ordered_json CostToJson(const SearchProblem& problem, const Evaluation& evaluation) {
  const double steps = StepsPerBillionTokens(evaluation);
  nlohmann::ordered_json json = {{"gpu_hours_per_step", GpuHours(evaluation)},
                                 {"gpu_hours_per_billion_tokens", steps * GpuHours(evaluation)}};
  if (problem.prices.empty()) return json;
  json["cost_usd_per_step"] = CostOf(problem, evaluation);
  json["cost_usd_per_billion_tokens"] = steps * CostOf(problem, evaluation);
  return json;
}

std::string CostText(const SearchProblem& problem, const Evaluation& evaluation) {
  const double steps = StepsPerBillionTokens(evaluation);
  if (problem.prices.empty()) {
    return fmt::format("{:.4g} GPU-hours per step, {:.4g} GPU-hours per 10^9 tokens",
                       GpuHours(evaluation), steps * GpuHours(evaluation));
  }
  const double usd = CostOf(problem, evaluation);
  return fmt::format("{:.4g} GPU-hours and {:.4g} USD per step, {:.4g} USD per 10^9 tokens",
                     GpuHours(evaluation), usd, steps * usd);
}

std::string CostHeading(const SearchProblem& problem) {
  return problem.prices.empty() ? "GPU-h/step" : "USD/step";
}

std::string CostCell(const SearchProblem& problem, const Evaluation& evaluation) {
  return fmt::format("{:.4g}",
                     problem.prices.empty() ? GpuHours(evaluation) : CostOf(problem, evaluation));
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
