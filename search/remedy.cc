#include "search/remedy.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <utility>

#include "costmodel/check.h"
#include "search/exhaustive.h"
#include "search/plan_space.h"
#include "search/solution.h"
#include "search/team.h"
#include "sim/memory/stage_memory.h"
#include "sim/pipeline/pipeline_schedule.h"
#include "sim/plan/plan_degrees.h"
#include "sim/workload/limits.h"

namespace stagecraft {
namespace {

constexpr int kMostTensor = 8;  // a node rarely has more devices
constexpr int kTimes[] = {2, 4, 8, 16};
constexpr int64_t kTriedEvaluations = 500;  // for each change of a search

// What is changed: a plan to be, or what a search is given and may choose; and the cluster.
struct Draft {
  PlanDegrees degrees;
  Choices choices;
  std::shared_ptr<const Cluster> cluster;  // not copied, since it may be large
};

// A pointer to what the caller keeps.
std::shared_ptr<const Cluster> Unowned(const Cluster& cluster) {
  return std::shared_ptr<const Cluster>(std::shared_ptr<const void>(), &cluster);
}

// Two changes of one kind exclude each other.
enum class Kind { kMicroBatch, kSplit, kRecompute, kZero, kOptimizer, kHost, kDegrees, kNodes };

struct Change {
  Kind kind;
  std::string flag;
  std::function<void(Draft&)> apply;
};

// The memory of the stages of a draft; no value if it cannot be made.
using Judge = std::function<std::optional<std::vector<StageMemory>>(const Draft&)>;

bool Fit(const std::vector<StageMemory>& memory) {
  return std::all_of(memory.begin(), memory.end(), [](const StageMemory& s) { return s.fits(); });
}

// Returns the GiB of host memory that a node needs for all of its devices.
int64_t HostGib(const std::vector<StageMemory>& memory, const Cluster& cluster) {
  double most = 0;
  for (const StageMemory& stage : memory) {
    const int devices = cluster.node(cluster.place(stage.device).node).devices;
    most = std::max(most, stage.host.gib() * devices);
  }
  return static_cast<int64_t>(std::ceil(most));
}

void AddStates(const PlanDegrees& now, std::vector<Change>& changes) {
  if (now.forward_only || now.optimizer != Optimizer::kAdam) return;
  for (const Optimizer optimizer : {Optimizer::kAdam16Bit, Optimizer::kAdam8Bit}) {
    changes.push_back({Kind::kOptimizer, fmt::format("--optimizer {}", Name(optimizer)),
                       [optimizer](Draft& draft) { draft.degrees.optimizer = optimizer; }});
  }
  if (now.offload.optimizer) return;
  changes.push_back({Kind::kHost, "--offload-optimizer", [](Draft& draft) {
                       draft.degrees.offload.optimizer = true;
                       draft.degrees.offload.host_memory = Bytes(kMostHostMemory);
                     }});
}

// A cluster of explicit links cannot grow; which nodes of a mixed one to add, and which of their
// devices would share a memory, would be a guess.
void AddNodes(const Cluster& cluster, std::vector<Change>& changes) {
  if (cluster.has_explicit_links() || cluster.groups().size() != 1 ||
      !cluster.shared_memories().empty()) {
    return;
  }
  for (const int times : kTimes) {
    const int nodes = times * cluster.node_count();
    changes.push_back(
        {Kind::kNodes, fmt::format("{} nodes instead of {}", nodes, cluster.node_count()),
         [nodes](Draft& draft) {
           std::vector<Cluster::NodeGroup> groups = draft.cluster->groups();
           groups[0].count = nodes;
           draft.cluster = std::make_shared<const Cluster>(Cluster(
               draft.cluster->name(), std::move(groups), {}, "", draft.cluster->interconnect()));
         }});
  }
}

void AddDegree(const char* flag, int value, int PlanDegrees::*degree,
               std::vector<Change>& changes) {
  changes.push_back({Kind::kDegrees, fmt::format("{} {}", flag, value),
                     [value, degree](Draft& draft) { draft.degrees.*degree = value; }});
}

// Returns the changes of a plan, the least first; MakePlan() refuses those that are impossible.
std::vector<Change> ChangesOfPlan(const PlanDegrees& now, const Cluster& cluster) {
  std::vector<Change> changes;
  for (int64_t size = now.micro_batch / 2; size >= 1; size /= 2) {
    if (now.micro_batch % size != 0) continue;
    changes.push_back({Kind::kMicroBatch, fmt::format("--micro-batch {}", size),
                       [size](Draft& draft) { draft.degrees.micro_batch = size; }});
  }
  if (now.sequence_parallel == 0 && now.tensor > 1) {
    changes.push_back({Kind::kSplit, "--sequence-parallel",
                       [](Draft& draft) { draft.degrees.sequence_parallel = 1; }});
  }
  for (int zero = now.zero + 1; zero <= 3; ++zero) {
    changes.push_back({Kind::kZero, fmt::format("--zero {}", zero),
                       [zero](Draft& draft) { draft.degrees.zero = zero; }});
  }
  if (now.recompute != Recompute::kFull && !now.forward_only) {
    changes.push_back({Kind::kRecompute, "--recompute full", [](Draft& draft) {
                         draft.degrees.recompute = Recompute::kFull;
                         draft.degrees.recompute_choice = {};
                       }});
  }
  for (int tensor = 2 * now.tensor; tensor <= kMostTensor; tensor *= 2) {
    AddDegree("--tp", tensor, &PlanDegrees::tensor, changes);
  }
  for (const int times : kTimes) {
    AddDegree("--pp", times * now.pipeline, &PlanDegrees::pipeline, changes);
  }
  for (const int times : kTimes) {
    AddDegree("--ep", times * now.expert, &PlanDegrees::expert, changes);
  }
  for (const int times : kTimes) {
    AddDegree("--cp", times * now.context, &PlanDegrees::context, changes);
  }
  AddStates(now, changes);
  AddNodes(cluster, changes);
  return changes;
}

// Returns the changes of a search: what it may choose but was told not to, then what it does not
// choose.
std::vector<Change> ChangesOfSearch(const SearchProblem& problem) {
  std::vector<Change> changes;
  const auto release = [&](const char* flag, Kind kind, auto member) {
    if ((problem.choices.*member).empty()) return;
    changes.push_back({kind, fmt::format("no {}", flag),
                       [member](Draft& draft) { (draft.choices.*member).clear(); }});
  };
  release("--micro-batch", Kind::kMicroBatch, &Choices::micro_batches);
  release("--zero", Kind::kZero, &Choices::zeros);
  release("--recompute", Kind::kRecompute, &Choices::recomputes);
  release("--tp", Kind::kDegrees, &Choices::tensor);
  release("--pp", Kind::kDegrees, &Choices::pipeline);
  release("--ep", Kind::kDegrees, &Choices::expert);
  release("--cp", Kind::kDegrees, &Choices::context);
  AddStates(problem.given, changes);
  AddNodes(problem.cluster, changes);
  return changes;
}

std::optional<Remedy> Try(const std::vector<const Change*>& changes, Draft draft,
                          const Judge& judge) {
  Remedy remedy;
  try {
    for (const Change* change : changes) {
      change->apply(draft);
      remedy.flags.push_back(change->flag);
    }
  } catch (const InputError&) {
    return std::nullopt;  // the switches of the cluster have no room for so many nodes
  }
  const auto memory = judge(draft);
  if (!memory || !Fit(*memory)) return std::nullopt;
  for (size_t i = 0; i < changes.size(); ++i) {
    if (changes[i]->kind != Kind::kHost) continue;
    remedy.flags[i] += fmt::format(" --host-memory-gib {}", HostGib(*memory, *draft.cluster));
  }
  const StageMemory& fullest = *std::min_element(
      memory->begin(), memory->end(),
      [](const auto& a, const auto& b) { return a.capacity - a.Peak() < b.capacity - b.Peak(); });
  remedy.peak = fullest.Peak();
  remedy.capacity = fullest.capacity;
  return remedy;
}

// The first change of each kind that suffices alone; or, if none does, pairs of them.
std::vector<Remedy> FirstOfEachKind(const std::vector<Change>& changes, const Draft& draft,
                                    const Judge& judge) {
  std::vector<Remedy> remedies;
  std::vector<Kind> kinds;
  for (const Change& change : changes) {
    if (std::find(kinds.begin(), kinds.end(), change.kind) != kinds.end()) continue;
    const std::optional<Remedy> remedy = Try({&change}, draft, judge);
    if (!remedy) continue;
    kinds.push_back(change.kind);
    remedies.push_back(*remedy);
    if (remedies.size() == kMostRemedies) return remedies;
  }
  if (!remedies.empty()) return remedies;
  std::vector<std::pair<Kind, Kind>> pairs;
  for (size_t second = 1; second < changes.size(); ++second) {
    for (size_t first = 0; first < second; ++first) {
      const std::pair kind(changes[first].kind, changes[second].kind);
      if (kind.first == kind.second) continue;
      if (std::find(pairs.begin(), pairs.end(), kind) != pairs.end()) continue;
      const std::optional<Remedy> remedy = Try({&changes[first], &changes[second]}, draft, judge);
      if (!remedy) continue;
      pairs.push_back(kind);
      remedies.push_back(*remedy);
      if (remedies.size() == kMostRemedies) return remedies;
    }
  }
  return remedies;
}

}  // namespace

std::vector<Remedy> FindRemedies(const Plan& plan, const Workload& workload, const Cluster& cluster,
                                 const FrameworkMemory& framework) {
  if (NeedsCosts(plan.schedule) || IsCustom(plan.schedule)) return {};
  std::optional<PlanDegrees> degrees = DegreesOf(plan, workload, cluster);
  if (!degrees) return {};
  // What follows from other degrees follows anew from changed ones.
  degrees->data = 0;
  degrees->stage_blocks.clear();
  const Judge judge = [&](const Draft& draft) -> std::optional<std::vector<StageMemory>> {
    try {
      const Plan changed = MakePlan(draft.degrees, workload, *draft.cluster);
      return EstimateMemory(changed, workload, *draft.cluster, framework);
    } catch (const InputError&) {
      return std::nullopt;
    }
  };
  return FirstOfEachKind(ChangesOfPlan(*degrees, cluster), {*degrees, {}, Unowned(cluster)}, judge);
}

std::vector<Remedy> FindRemedies(const SearchProblem& problem, Team* team) {
  const Judge judge = [&](const Draft& draft) -> std::optional<std::vector<StageMemory>> {
    const SearchProblem changed{.workload = problem.workload,
                                .cluster = *draft.cluster,
                                .model = problem.model,
                                .given = draft.degrees,
                                .choices = draft.choices,
                                .objective = problem.objective,
                                .framework = problem.framework,
                                .prices = problem.prices};
    if (!FindErrors(changed).empty()) return std::nullopt;
    const std::unique_ptr<PlanSpace> space = MakePlanSpace(changed);
    const SearchResult result = SearchExhaustively(
        changed, *space, {.budget = {.evaluations = kTriedEvaluations, .team = team}});
    if (result.plans.empty()) return std::nullopt;
    return result.plans[0].evaluation.memory;
  };
  return FirstOfEachKind(ChangesOfSearch(problem),
                         {problem.given, problem.choices, Unowned(problem.cluster)}, judge);
}

}  // namespace stagecraft
