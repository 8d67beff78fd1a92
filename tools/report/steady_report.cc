#include "tools/report/steady_report.h"

#include <fmt/core.h>
#include <fmt/ostream.h>

#include <cmath>
#include <nlohmann/json.hpp>
#include <ostream>

#include "sim/plan/asynchronous_plan.h"

namespace stagecraft {
namespace {

// A warning says so if the times of the two halves of the averaged stretch differ by more than this
// share.
constexpr double kNoticedDrift = 1e-3;

double PeriodMs(const SimulatedStep& step) {
  return step.evaluation.step_time.ms() / static_cast<double>(step.plan.micro_batches());
}

}  // namespace

nlohmann::ordered_json SteadyToJson(const SimulatedStep& step) {
  const SteadyState& steady = *step.evaluation.steady;
  nlohmann::ordered_json stages = nlohmann::ordered_json::array();
  for (size_t s = 0; s < steady.stages.size(); ++s) {
    const StageAsynchrony& stage = steady.stages[s];
    stages.push_back({{"stage", s},
                      {"replicas", step.plan.stages[s].replicas.size()},
                      {"in_flight", stage.InFlight()},
                      {"weight_versions", stage.versions},
                      {"gradient_buffers", stage.gradients},
                      {"staleness_updates", stage.staleness},
                      {"samples_per_update", SamplesPerUpdate(step.plan, static_cast<int>(s))}});
  }
  return {{"period_ms", PeriodMs(step)},
          {"micro_batches_per_step", step.plan.micro_batches()},
          {"vertical_sync", step.plan.schedule_options.weight_sync == WeightSync::kVertical},
          {"simulated_micro_batches",
           {{"settle", steady.stretch.settle},
            {"measured", steady.stretch.measured},
            {"drain", steady.stretch.drain}}},
          {"drift", steady.drift},
          {"stages", std::move(stages)}};
}

void PrintSteady(const SimulatedStep& step, std::ostream& out) {
  const SteadyState& steady = *step.evaluation.steady;
  const char* unit = UpdatesEveryMiniBatch(step.plan.schedule) ? "mini-batch" : "micro-batch";
  fmt::print(out,
             "\nsteady state, without flushes: one {} every {:.2f} ms; {} of them are a step\n",
             unit, PeriodMs(step), step.plan.micro_batches());
  fmt::print(out, "  averaged over {} {}es, with {} simulated before and {} after them\n",
             steady.stretch.measured, unit, steady.stretch.settle, steady.stretch.drain);
  fmt::print(out, "  {:>5} {:>9} {:>10} {:>9} {:>18} {:>18}\n", "stage", "replicas", "in flight",
             "versions", "staleness, updates", "samples per update");
  for (size_t s = 0; s < steady.stages.size(); ++s) {
    const StageAsynchrony& stage = steady.stages[s];
    fmt::print(out, "  {:>5} {:>9} {:>10} {:>9} {:>18} {:>18}\n", s,
               step.plan.stages[s].replicas.size(), stage.InFlight(), stage.versions,
               stage.staleness, SamplesPerUpdate(step.plan, static_cast<int>(s)));
  }
}

std::vector<std::string> SteadyWarnings(const SimulatedStep& step) {
  std::vector<std::string> warnings;
  if (!step.evaluation.steady) return warnings;
  warnings.push_back(
      "every stage updates by itself: gradients are not clipped by their global norm");
  warnings.push_back(fmt::format(
      "messages and collectives are counted over all {} micro-batches that were simulated",
      step.evaluation.steady->stretch.Total()));
  const double drift = step.evaluation.steady->drift;
  if (std::abs(drift) > kNoticedDrift) {
    warnings.push_back(
        fmt::format("the second half of the averaged stretch took {:.1f} % {} than the first",
                    100 * std::abs(drift), drift > 0 ? "longer" : "less"));
  }
  return warnings;
}

}  // namespace stagecraft
