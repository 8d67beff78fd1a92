#include "search/tie.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <set>
#include <tuple>
#include <utility>

#include "costmodel/cost_model.h"
#include "sim/analysis/time_errors.h"
#include "sim/memory/stage_memory.h"
#include "sim/pipeline/pipeline_schedule.h"
#include "sim/step/evaluation.h"

namespace stagecraft {
namespace {

// A schedule may be large: only its errors are kept.
StepTimeErrors ErrorsOf(const SearchProblem& problem, const Plan& plan) {
  const SimulatedStep step = SimulateStep(plan, problem.workload, problem.cluster, problem.model,
                                          {.framework = problem.framework});
  return FindTimeErrors(step.schedule, step.costs, step.evaluation.profile);
}

Bytes LeastRoom(const Evaluation& evaluation) {
  Bytes least = evaluation.memory[0].capacity;
  for (const StageMemory& stage : evaluation.memory) {
    least = std::min(least, stage.capacity - stage.Peak());
  }
  return least;
}

int CountDomains(const std::vector<std::vector<int>>& replicas, size_t first, size_t count,
                 const Cluster& cluster) {
  std::set<int> domains;
  for (size_t r = first; r < std::min(replicas.size(), first + count); ++r) {
    for (const int device : replicas[r]) domains.insert(cluster.domain(cluster.place(device).node));
  }
  return static_cast<int>(domains.size());
}

}  // namespace

int NodesCrossed(const Plan& plan, const Cluster& cluster) {
  int most = 1;
  for (const Stage& stage : plan.stages) {
    // Context-parallel ranks of a replica are neighbours among the ranks that share experts.
    const int context = stage.context_parallel;
    const auto together = static_cast<size_t>((stage.expert_parallel + context - 1) / context);
    for (size_t first = 0; first < stage.replicas.size(); first += together) {
      most = std::max(most, CountDomains(stage.replicas, first, together, cluster));
    }
  }
  return most;
}

std::vector<std::string> FeaturesOf(const Plan& plan, const Choices& choices) {
  const Stage& first = plan.stages[0];
  const auto any = [&](const auto& is_so) {
    return std::any_of(plan.stages.begin(), plan.stages.end(), is_so);
  };
  std::vector<std::string> features;
  const auto add = [&](bool is_used, std::string name) {
    if (is_used) features.push_back(std::move(name));
  };
  const bool is_pipeline = plan.stages.size() > 1;
  add(any([](const Stage& s) { return s.tensor_parallel > 1; }), "tp");
  add(first.context_parallel > 1, "cp");
  add(any([](const Stage& s) { return s.expert_parallel > 1; }), "ep");
  add(is_pipeline, "pp");
  add(is_pipeline && plan.schedule != PipelineSchedule::kOneForwardOneBackward,
      Name(plan.schedule));
  add(plan.zero > 0, fmt::format("ZeRO-{}", plan.zero));
  // Frameworks reduce gradients, or gather parameters, once for each micro-batch of a pipeline.
  add(plan.zero > 1 && is_pipeline, fmt::format("ZeRO-{} in a pipeline", plan.zero));
  add(any([](const Stage& s) { return s.recompute != Recompute::kNone || !s.recomputed.empty(); }),
      "recomputation");
  add(choices.chooses_tensor_overlap && plan.overlap_tensor &&
          any([](const Stage& s) { return s.tensor_parallel > 1; }),
      "tp overlap");
  const bool gathers = plan.zero == 1 || plan.zero == 2;
  add(choices.chooses_gather_overlap && plan.overlap_param_gather && gathers, "gather overlap");
  add(plan.rank_order != kDefaultRankOrder, "rank order");
  add(any([&](const Stage& s) {
        return s.tensor_parallel != first.tensor_parallel ||
               s.replicas.size() != first.replicas.size() || !s.replica_micro_batches.empty();
      }),
      "unequal stages");
  return features;
}

bool IsPreferred(const ComparedPlan& plan, const ComparedPlan& other) {
  const auto key = [](const ComparedPlan& of) {
    return std::tuple(of.nodes, of.features.size(), Bytes() - of.room);
  };
  return key(plan) < key(other);
}

Ties FindTies(const SearchProblem& problem, const std::vector<RankedPlan>& plans) {
  Ties ties;
  const bool is_time = problem.objective != Objective::kMemory;
  const StepTimeErrors first = is_time ? ErrorsOf(problem, plans[0].plan) : StepTimeErrors();
  for (const RankedPlan& ranked : plans) {
    ComparedPlan plan;
    plan.loss = ranked.score / plans[0].score - 1;
    if (is_time && &ranked != &plans[0]) {
      plan.uncertainty = std::expm1(kSigmas80 * RatioSpread(first, ErrorsOf(problem, ranked.plan)));
    }
    plan.is_tied = plan.loss <= plan.uncertainty;
    plan.nodes = NodesCrossed(ranked.plan, problem.cluster);
    plan.room = LeastRoom(ranked.evaluation);
    plan.features = FeaturesOf(ranked.plan, problem.choices);
    ties.plans.push_back(std::move(plan));
  }
  for (size_t i = 1; i < ties.plans.size(); ++i) {
    if (ties.plans[i].is_tied && IsPreferred(ties.plans[i], ties.plans[ties.preferred])) {
      ties.preferred = static_cast<int>(i);
    }
  }
  return ties;
}

}  // namespace stagecraft
