#include "sim/plan/vocabulary_errors.h"

#include <fmt/format.h>

#include <algorithm>

#include "sim/pipeline/make_pass_orders.h"
#include "sim/pipeline/pipeline_schedule.h"
#include "sim/pipeline/vocabulary_placement.h"
#include "sim/workload/vocabulary_layers.h"

namespace stagecraft {
namespace {

// What the plan lacks, as the end of a sentence; empty if nothing.
std::string FindLack(const Plan& plan, const Workload& workload) {
  const VocabularyPlacement placement = plan.schedule_options.vocabulary;
  if (!Supports(plan.schedule, placement)) {
    std::vector<std::string> names;
    for (const PipelineSchedule schedule : NamedPipelineSchedules()) {
      if (Supports(schedule, placement)) names.push_back(Name(schedule));
    }
    return fmt::format("with schedule {}, want it with {}", Name(plan.schedule),
                       fmt::join(names, " or "));
  }
  if (plan.stages.size() < 2) return "with one pipeline stage, want at least 2";
  const std::string problem = FindVocabularyError(workload);
  if (!problem.empty()) return fmt::format("but {} {}", workload.name, problem);
  for (const int kind : {workload.layers.front(), workload.layers.back()}) {
    if (!workload.kinds[kind].is_frozen) continue;
    return fmt::format("with {} frozen, want it trained", workload.kinds[kind].name);
  }
  const Stage& first = plan.stages[0];
  const bool are_alike = std::all_of(plan.stages.begin(), plan.stages.end(), [&](const Stage& s) {
    return s.tensor_parallel == first.tensor_parallel &&
           s.context_parallel == first.context_parallel;
  });
  if (!are_alike || !HasSeparatePipelines(plan)) {
    return "with stages of different degrees, want the same tensor_parallel, context_parallel and "
           "number of replicas in all stages";
  }
  if (plan.forward_only) return "with forward passes alone, want a training step";
  if (plan.offload.activations > 0) {
    return fmt::format("with offload_activations {}, want 0", plan.offload.activations);
  }
  return "";
}

}  // namespace

void FindVocabularyErrors(const Plan& plan, const Workload& workload,
                          std::vector<std::string>& errors) {
  const VocabularyPlacement placement = plan.schedule_options.vocabulary;
  if (!IsSplit(placement)) return;
  const std::string lack = FindLack(plan, workload);
  if (!lack.empty()) errors.push_back(fmt::format("vocabulary: {} {}", Name(placement), lack));
}

}  // namespace stagecraft
