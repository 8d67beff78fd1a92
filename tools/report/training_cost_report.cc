#include "tools/report/training_cost_report.h"

#include <fmt/format.h>
#include <fmt/ostream.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>
#include <ostream>
#include <utility>
#include <vector>

#include "tools/report/commas.h"

namespace stagecraft {
namespace {

using Json = nlohmann::ordered_json;

constexpr double kBillion = 1e9;
constexpr double kKilowattHoursPerMegawattHour = 1000;

// What tokens of a step without sequences are.
const char* TokenNoun(const Evaluation& evaluation) {
  return evaluation.tokens == evaluation.samples ? "samples" : "tokens";
}

TrainingCost CostOfStep(const CostQuestion& question, const Cluster& cluster,
                        const Evaluation& evaluation) {
  return CostOfSteps(evaluation, cluster, question.rates, 1);
}

TrainingCost CostOfBillion(const CostQuestion& question, const Cluster& cluster,
                           const Evaluation& evaluation) {
  return CostOfSteps(evaluation, cluster, question.rates, kBillion / evaluation.tokens);
}

TrainingCost CostOfRun(const CostQuestion& question, const Cluster& cluster,
                       const Evaluation& evaluation) {
  return CostOfSteps(evaluation, cluster, question.rates,
                     StepsOfTokens(evaluation, question.tokens));
}

Json RunToJson(const CostQuestion& question, const TrainingCost& cost) {
  Json json = {{"tokens", question.tokens}, {"steps", cost.steps}};
  const Json totals = TotalsToJson(question.rates, cost);
  for (const auto& [key, value] : totals.items()) {
    json[key] = value;
    if (key == "pue" || value.is_null()) continue;
    const double expected = value.get<double>();
    json[key + "_interval"] = {expected * cost.low, expected * cost.high};
  }
  return json;
}

}  // namespace

std::string CountText(double count) {
  constexpr std::pair<double, const char*> kUnits[] = {
      {1e12, "T"}, {1e9, "B"}, {1e6, "M"}, {1e3, "k"}};
  for (const auto& [unit, suffix] : kUnits) {
    const std::string text = fmt::format("{:.4g}", count / unit);
    if (count >= unit && std::stod(text) * unit == count) return text + suffix;
  }
  return fmt::format("{:.10g}", count);
}

nlohmann::ordered_json CostToJson(const CostQuestion& question, const Cluster& cluster,
                                  const Evaluation& evaluation) {
  const TrainingCost step = CostOfStep(question, cluster, evaluation);
  const TrainingCost billion = CostOfBillion(question, cluster, evaluation);
  Json json = {{"gpu_hours_per_step", step.gpu_hours},
               {"gpu_hours_per_billion_tokens", billion.gpu_hours}};
  if (step.gpu_usd) {
    json["cost_usd_per_step"] = *step.gpu_usd;
    json["cost_usd_per_billion_tokens"] = *billion.gpu_usd;
  }
  if (question.tokens > 0) {
    json["run"] = RunToJson(question, CostOfRun(question, cluster, evaluation));
  }
  return json;
}

std::string StepCostText(const CostQuestion& question, const Cluster& cluster,
                         const Evaluation& evaluation) {
  const TrainingCost step = CostOfStep(question, cluster, evaluation);
  const TrainingCost billion = CostOfBillion(question, cluster, evaluation);
  if (!step.gpu_usd) {
    return fmt::format("{:.4g} GPU-hours per step, {:.4g} GPU-hours per 10^9 tokens",
                       step.gpu_hours, billion.gpu_hours);
  }
  return fmt::format("{:.4g} GPU-hours and {:.4g} USD per step, {:.4g} USD per 10^9 tokens",
                     step.gpu_hours, *step.gpu_usd, *billion.gpu_usd);
}

std::string TotalsText(const TrainingCost& cost) {
  std::string text =
      fmt::format("{} days, {} GPU-hours", AmountText(cost.days()), AmountText(cost.gpu_hours));
  if (cost.energy_kwh) {
    text += fmt::format(", {} MWh", AmountText(*cost.energy_kwh / kKilowattHoursPerMegawattHour));
  }
  if (cost.gpu_usd) text += fmt::format(", {} USD", AmountText(*cost.gpu_usd));
  if (cost.energy_usd) {
    text += fmt::format("{}{} USD for electricity", cost.gpu_usd ? " for GPUs and " : ", ",
                        AmountText(*cost.energy_usd));
  }
  return text;
}

nlohmann::ordered_json TotalsToJson(const CostRates& rates, const TrainingCost& cost) {
  Json json = {{"days", cost.days()}, {"gpu_hours", cost.gpu_hours}, {"energy_mwh", nullptr}};
  if (cost.energy_kwh) json["energy_mwh"] = *cost.energy_kwh / kKilowattHoursPerMegawattHour;
  json["pue"] = rates.pue;
  if (cost.gpu_usd) json["cost_usd"] = *cost.gpu_usd;
  if (cost.energy_usd) json["energy_cost_usd"] = *cost.energy_usd;
  return json;
}

std::string RunCostText(const CostQuestion& question, const Cluster& cluster,
                        const Evaluation& evaluation) {
  const TrainingCost cost = CostOfRun(question, cluster, evaluation);
  return fmt::format("{} {} in {:.10g} steps: {}; 80 % prediction interval: {} to {} days",
                     CountText(question.tokens), TokenNoun(evaluation), cost.steps,
                     TotalsText(cost), AmountText(cost.days() * cost.low),
                     AmountText(cost.days() * cost.high));
}

void PrintCost(const CostQuestion& question, const Cluster& cluster, const Evaluation& evaluation,
               std::ostream& out) {
  if (question.tokens > 0) {
    fmt::print(out, "training  {}\n", RunCostText(question, cluster, evaluation));
  } else if (!question.rates.usd_per_gpu_hour.empty()) {
    fmt::print(out, "cost      {}\n", StepCostText(question, cluster, evaluation));
  }
}

std::string EnergyNote(const CostRates& rates, const Cluster& cluster,
                       const Evaluation& evaluation) {
  const std::vector<std::string> unknown = WithoutBoardPower(evaluation, cluster);
  if (!unknown.empty()) {
    return fmt::format("the energy of the run is not known, since the board power of {} is not",
                       fmt::join(unknown, ", "));
  }
  std::vector<std::string> boards;
  for (size_t group = 0; group < evaluation.group_devices.size(); ++group) {
    if (evaluation.group_devices[group] == 0) continue;
    const Device& device = cluster.groups()[group].type.device;
    std::string board = fmt::format("{:.4g} W of {}", device.power_w, device.name);
    if (std::find(boards.begin(), boards.end(), board) == boards.end()) {
      boards.push_back(std::move(board));
    }
  }
  return fmt::format(
      "energy is that of GPUs that draw their board power all the time ({}), times a PUE of "
      "{:.4g}; hosts, switches and storage are not counted",
      fmt::join(boards, ", "), rates.pue);
}

}  // namespace stagecraft
