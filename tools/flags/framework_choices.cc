#include "tools/flags/framework_choices.h"

#include <fmt/format.h>

#include <algorithm>

#include "costmodel/check.h"

namespace stagecraft {
namespace {

template <typename T>
bool Contains(const std::vector<T>& values, const T& value) {
  return std::find(values.begin(), values.end(), value) != values.end();
}

class Restriction {
 public:
  Restriction(const TrainingFramework& framework, PlanDegrees& given, Choices& choices)
      : framework_(framework), given_(given), choices_(choices) {}

  std::vector<std::string> Run() {
    CheckGiven();
    RestrictDegrees();
    const auto name = [](const auto& value) { return std::string(Name(value)); };
    RestrictSchedules();
    Restrict("--recompute", choices_.recomputes, WithoutOperators(), name);
    Restrict("--rank-order", choices_.rank_orders, framework_.rank_orders,
             [](const std::string& order) { return order; });
    RestrictZeros();
    RestrictOverlap();
    return std::move(notes_);
  }

 private:
  [[noreturn]] void Refuse(const std::string& flag, const std::string& value) const {
    throw InputError(fmt::format("{}: got {}, which {} does not have, want another or no --for",
                                 flag, value, framework_.title));
  }

  template <typename T, typename NameOf>
  void Restrict(const char* flag, std::vector<T>& values, const std::vector<T>& allowed,
                const NameOf& name) {
    for (const T& value : values) {
      if (!Contains(allowed, value)) Refuse(flag, name(value));
    }
    if (values.empty()) values = allowed;
  }

  // What searches do not choose.
  std::vector<Recompute> WithoutOperators() const {
    std::vector<Recompute> recomputes = framework_.recomputes;
    std::erase(recomputes, Recompute::kOperators);
    return recomputes;
  }

  void CheckGiven() {
    if (!Contains(framework_.precisions, given_.precision)) {
      Refuse("--precision", Name(given_.precision));
    }
    if (given_.precision == DType::kFp8 && !Contains(framework_.fp8_recipes, given_.fp8_recipe)) {
      Refuse("--fp8-recipe", Name(given_.fp8_recipe));
    }
    if (!Contains(framework_.optimizers, given_.optimizer)) {
      Refuse("--optimizer", Name(given_.optimizer));
    }
  }

  void RestrictDegrees() {
    const auto name = [](int degree) { return std::to_string(degree); };
    const std::vector<int> one = {1};
    if (!framework_.pipelines) Restrict("--pp", choices_.pipeline, one, name);
    if (!framework_.tensor_parallel) Restrict("--tp", choices_.tensor, one, name);
    if (!framework_.expert_parallel) Restrict("--ep", choices_.expert, one, name);
    if (!Contains(framework_.context_exchanges, given_.context_exchange)) {
      Restrict("--cp", choices_.context, one, name);
      if (!framework_.context_exchanges.empty()) {
        notes_.push_back(fmt::format("no context parallelism: {} has none by {}, but by {}",
                                     framework_.title, Name(given_.context_exchange),
                                     Name(framework_.context_exchanges[0])));
      }
    }
    if (given_.sequence_parallel < 0 && !framework_.with_sequence_parallel) {
      given_.sequence_parallel = 0;
    }
    if (given_.sequence_parallel < 0 && !framework_.without_sequence_parallel) {
      given_.sequence_parallel = 1;
    }
  }

  // Without --schedule those are tried that a search tries anyway, if the framework has them.
  void RestrictSchedules() {
    for (const PipelineSchedule schedule : choices_.schedules) {
      if (!Contains(framework_.schedules, schedule)) Refuse("--schedule", Name(schedule));
    }
    if (!choices_.schedules.empty()) return;
    for (const PipelineSchedule schedule : kUsualSchedules) {
      if (Contains(framework_.schedules, schedule)) choices_.schedules.push_back(schedule);
    }
  }

  void RestrictZeros() {
    const bool has_pipelines = framework_.pipelines && choices_.pipeline != std::vector<int>{1};
    const std::vector<int>& allowed = has_pipelines ? framework_.pipeline_zeros : framework_.zeros;
    const bool was_open = choices_.zeros.empty();
    for (const int zero : choices_.zeros) {
      if (Contains(allowed, zero)) continue;
      throw InputError(fmt::format(
          "--zero: got {}, which {} does not have{}, want another or no "
          "--for",
          zero, framework_.title, has_pipelines ? " in pipelines (--pp 1 leaves them out)" : ""));
    }
    if (was_open) choices_.zeros = allowed;
    if (was_open && has_pipelines && framework_.zeros != framework_.pipeline_zeros) {
      notes_.push_back(
          fmt::format("{} has other ZeRO stages without pipelines, which are tried with --pp 1",
                      framework_.title));
    }
  }

  // The search may no longer choose overlaps that the framework lacks. Those that are given stay.
  void RestrictOverlap() {
    if (!framework_.overlap_tensor) choices_.chooses_tensor_overlap = false;
    if (!framework_.overlap_param_gather) choices_.chooses_gather_overlap = false;
    if (!choices_.chooses_send_overlap) return;
    for (const PipelineSchedule schedule : choices_.schedules) {
      if (!Contains(framework_.overlap_p2p, schedule)) {
        choices_.waiting_schedules.push_back(schedule);
      }
    }
  }

  const TrainingFramework& framework_;
  PlanDegrees& given_;
  Choices& choices_;
  std::vector<std::string> notes_;
};

}  // namespace

std::vector<std::string> RestrictChoices(const TrainingFramework& framework, PlanDegrees& given,
                                         Choices& choices) {
  return Restriction(framework, given, choices).Run();
}

std::string DropOthers(const TrainingFramework& framework, const Workload& workload,
                       std::vector<RankedPlan>& plans) {
  std::string obstacle;
  std::vector<RankedPlan> kept;
  for (RankedPlan& ranked : plans) {
    const std::vector<std::string> found = FindObstacles(framework, ranked.plan, workload);
    if (found.empty()) {
      kept.push_back(std::move(ranked));
    } else if (obstacle.empty()) {
      obstacle = found[0];
    }
  }
  const size_t count = plans.size();
  plans = std::move(kept);
  if (!plans.empty() || count == 0) return "";
  return fmt::format("of the best {} plans {} can run none ({})", count, framework.id, obstacle);
}

}  // namespace stagecraft
