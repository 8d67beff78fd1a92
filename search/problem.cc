#include "search/problem.h"

#include <fmt/format.h>

#include <algorithm>

namespace stagecraft {
namespace {

template <typename T>
void CheckAtLeastOne(const char* name, const std::vector<T>& values,
                     std::vector<std::string>& errors) {
  for (const T value : values) {
    if (value < 1) errors.push_back(fmt::format("{}: got {}, want at least 1", name, value));
  }
}

}  // namespace

const char* Name(Objective objective) {
  constexpr const char* kNames[] = {"step-time", "cost", "memory"};
  return kNames[static_cast<int>(objective)];
}

std::vector<std::string> FindErrors(const SearchProblem& problem) {
  std::vector<std::string> errors;
  const Choices& choices = problem.choices;
  CheckAtLeastOne("tp", choices.tensor, errors);
  CheckAtLeastOne("cp", choices.context, errors);
  CheckAtLeastOne("ep", choices.expert, errors);
  CheckAtLeastOne("pp", choices.pipeline, errors);
  CheckAtLeastOne("vpp", choices.chunks, errors);
  CheckAtLeastOne("micro-batch", choices.micro_batches, errors);
  for (const int zero : choices.zeros) {
    if (zero < 0 || zero > 3) errors.push_back(fmt::format("zero: got {}, want 0 to 3", zero));
  }
  if (problem.given.global_batch < 1 || problem.given.sequence < 1) {
    errors.push_back(fmt::format("global batch {} and sequence {}: want both to be at least 1",
                                 problem.given.global_batch, problem.given.sequence));
  }
  for (const PipelineOrder order : choices.orders) {
    if (order == PipelineOrder::kCustom) {
      errors.push_back("schedule: custom orders cannot be sought");
    } else if (IsAsynchronous(order)) {
      errors.push_back(fmt::format(
          "schedule: {} trains with other weights than those that flush, so that step times do "
          "not compare; ask simulate",
          Name(order)));
    }
  }
  const bool has_others = !choices.context.empty() || !choices.expert.empty() ||
                          !choices.chunks.empty() || !choices.orders.empty() ||
                          !choices.zeros.empty() || choices.fewer_devices;
  if (!problem.cluster.homogeneous() && has_others) {
    errors.push_back("cluster: " + problem.cluster.name() +
                     " has several kinds of node, for which tp, pp, micro-batch and recompute are "
                     "chosen, and nothing else");
  }
  return errors;
}

double Score(Objective objective, const Evaluation& evaluation) {
  switch (objective) {
    case Objective::kStepTime:
      return evaluation.step_time.seconds();
    case Objective::kCost:
      return evaluation.step_time.seconds() * evaluation.devices;
    case Objective::kMemory:
      break;
  }
  return FullestStage(evaluation).Share();
}

}  // namespace stagecraft
