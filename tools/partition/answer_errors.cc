#include "tools/partition/answer_errors.h"

#include <fmt/core.h>

#include <cmath>
#include <optional>
#include <stdexcept>

namespace stagecraft {
namespace {

constexpr double kRounding = 1e-9;  // relative

using Errors = std::vector<std::string>;

void CheckFigure(const std::string& what, const std::optional<double>& figure, Errors& errors) {
  if (!figure || (std::isfinite(*figure) && *figure >= 0)) return;
  errors.push_back(fmt::format("{} is {}", what, *figure));
}

void CheckFigures(const PartitionAnswer& answer, Errors& errors) {
  CheckFigure("the bottleneck in s", answer.bottleneck_s, errors);
  CheckFigure("the latency in s", answer.latency_s, errors);
  CheckFigure("the data-parallel time in s", answer.dp_time_s, errors);
  CheckFigure("the bound in s", answer.bound_s, errors);
  CheckFigure("the rate in minibatches/s", answer.minibatches_per_s, errors);
  CheckFigure("the added-up rate in minibatches/s", answer.added_minibatches_per_s, errors);
  CheckFigure("the bound of minibatches/s", answer.bound_minibatches_per_s, errors);
}

void CheckBounds(const PartitionAnswer& answer, Errors& errors) {
  const std::optional<double>& best = answer.latency_s ? answer.latency_s : answer.bottleneck_s;
  if (best && answer.bound_s && *best < *answer.bound_s * (1 - kRounding)) {
    errors.push_back(fmt::format("{} s are less than the bound of {} s", *best, *answer.bound_s));
  }
  const std::optional<double>& most = answer.bound_minibatches_per_s;
  if (most && answer.minibatches_per_s && *answer.minibatches_per_s > *most * (1 + kRounding)) {
    errors.push_back(fmt::format("{} minibatches/s are more than the bound of {}",
                                 *answer.minibatches_per_s, *most));
  }
}

}  // namespace

Errors FindErrors(const PartitionAnswer& answer) {
  Errors errors;
  CheckFigures(answer, errors);
  CheckBounds(answer, errors);
  for (size_t s = 0; s < answer.stages.size(); ++s) {
    const PartitionedStage& stage = answer.stages[s];
    CheckFigure(fmt::format("the time of stage {} in s", s), stage.time_s, errors);
    CheckFigure(fmt::format("the memory of stage {} in bytes", s), stage.memory_bytes, errors);
    if (stage.nodes.empty() || stage.replicas < 1 || stage.tensor < 1) {
      errors.push_back(fmt::format("stage {} has {} nodes on {} replicas of {} devices", s,
                                   stage.nodes.size(), stage.replicas, stage.tensor));
    }
  }
  return errors;
}

void RequireSound(const PartitionAnswer& answer) {
  const Errors errors = FindErrors(answer);
  if (errors.empty()) return;
  throw std::runtime_error(
      fmt::format("the partition found is impossible, and nothing is printed: {}; check the times "
                  "of the operators",
                  errors[0]));
}

}  // namespace stagecraft
