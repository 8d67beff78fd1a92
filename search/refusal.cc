#include "search/refusal.h"

#include <vector>

#include "costmodel/check.h"
#include "search/divisors.h"
#include "sim/cluster/cluster.h"
#include "sim/pipeline/make_pass_orders.h"
#include "sim/plan/plan.h"

namespace stagecraft {
namespace {

// The most choices that are tried; each takes about as long as it takes to make a plan.
constexpr size_t kMostTried = 256;

// Returns each of `all` combined with each value, at most kMostTried combinations.
template <typename T, typename Set>
std::vector<PlanDegrees> Cross(const std::vector<PlanDegrees>& all, const std::vector<T>& values,
                               Set set) {
  std::vector<PlanDegrees> crossed;
  for (const PlanDegrees& degrees : all) {
    for (const T& value : values) {
      if (crossed.size() == kMostTried) return crossed;
      set(crossed.emplace_back(degrees), value);
    }
  }
  return crossed;
}

std::vector<PlanDegrees> AskedDegrees(const SearchProblem& problem) {
  using Degrees = PlanDegrees;
  const Choices& choices = problem.choices;
  Degrees first = problem.given;
  first.recompute = Or(choices.recomputes, {Recompute::kNone})[0];
  first.rank_order = Or(choices.rank_orders, {kDefaultRankOrder})[0];
  std::vector<Degrees> all{first};
  const std::vector<int> one{1};
  all = Cross(all, Or(choices.tensor, one), [](Degrees& d, int n) { d.tensor = n; });
  all = Cross(all, Or(choices.context, one), [](Degrees& d, int n) { d.context = n; });
  all = Cross(all, Or(choices.pipeline, one), [](Degrees& d, int n) { d.pipeline = n; });
  all = Cross(all, Or(choices.expert, one), [](Degrees& d, int n) { d.expert = n; });
  all = Cross(all, Or(choices.schedules, {PipelineSchedule::kOneForwardOneBackward}),
              [](Degrees& d, PipelineSchedule schedule) { d.schedule = schedule; });
  all = Cross(all, Or(choices.chunks, one), [](Degrees& d, int n) { d.chunks = n; });
  all = Cross(all, Or(choices.micro_batches, {int64_t{1}}),
              [](Degrees& d, int64_t n) { d.micro_batch = n; });
  return Cross(all, Or(choices.zeros, {-1}), [](Degrees& d, int n) { d.zero = n; });
}

// Sets the most devices with which the replicas divide the batch and, if possible, the expert
// degree divides the data-parallel ranks. Leaves all devices of the cluster if all are asked for.
void ChooseDevices(const SearchProblem& problem, PlanDegrees& degrees) {
  if (problem.choices.device_counts == DeviceCounts::kAll) return;
  const int most =
      problem.cluster.device_count() / degrees.tensor / degrees.context / degrees.pipeline;
  const int64_t micro_batches = degrees.global_batch / degrees.micro_batch;
  const auto divides = [&](int64_t replicas) {
    return micro_batches % replicas == 0 &&
           degrees.global_batch == micro_batches * degrees.micro_batch;
  };
  int chosen = 0;
  for (int replicas = most; replicas > 0; --replicas) {
    if (degrees.data > 0 && replicas != degrees.data) continue;
    if (!divides(replicas)) continue;
    if (chosen == 0) chosen = replicas;
    if (int64_t{replicas} * degrees.context % degrees.expert != 0) continue;
    chosen = replicas;
    break;
  }
  degrees.devices = chosen * degrees.tensor * degrees.context * degrees.pipeline;
}

// Returns the error that a simulation would give; empty if it accepts these degrees.
std::string RefusalOf(const SearchProblem& problem, const PlanDegrees& asked) {
  try {
    const Plan plan = MakePlan(asked, problem.workload, problem.cluster);
    const auto replicas = static_cast<int64_t>(plan.stages[0].replicas.size());
    const auto micro_batches = static_cast<int>(plan.micro_batches() / replicas);
    return FindMicroBatchError(plan.schedule, MapOf(plan), micro_batches);
  } catch (const InputError& error) {
    return error.what();
  }
}

}  // namespace

std::string FindRefusal(const SearchProblem& problem) {
  std::string first;
  for (PlanDegrees& degrees : AskedDegrees(problem)) {
    ChooseDevices(problem, degrees);
    const std::string refusal = RefusalOf(problem, degrees);
    if (refusal.empty()) return "";
    if (first.empty()) first = refusal;
  }
  return first;
}

}  // namespace stagecraft
