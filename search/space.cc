#include "search/space.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "search/divisors.h"
#include "sim/pipeline/make_pass_orders.h"
#include "sim/plan/layer_division.h"

namespace stagecraft {

int64_t MostMicroBatch(const SearchProblem& problem) {
  constexpr int64_t kAlways = 16, kTokens = 65'536;
  return std::max(kAlways, kTokens / std::max<int64_t>(1, problem.given.sequence));
}

std::vector<PipelineSchedule> SchedulesToTry(const SearchProblem& problem) {
  std::vector<PipelineSchedule> schedules =
      Or(problem.choices.schedules, {std::begin(kUsualSchedules), std::end(kUsualSchedules)});
  std::sort(schedules.begin(), schedules.end());
  schedules.erase(std::unique(schedules.begin(), schedules.end()), schedules.end());
  return schedules;
}

std::optional<PipelineSchedule> ScheduleOfOneStage(const SearchProblem& problem) {
  const std::vector<PipelineSchedule> schedules =
      Or(problem.choices.schedules, {std::begin(kUsualSchedules), std::end(kUsualSchedules)});
  if (Allows(schedules, PipelineSchedule::kOneForwardOneBackward)) {
    return PipelineSchedule::kOneForwardOneBackward;
  }
  const auto suits = [](PipelineSchedule schedule) { return LeastChunks(schedule) == 1; };
  const auto first = std::find_if(schedules.begin(), schedules.end(), suits);
  return first == schedules.end() ? std::nullopt : std::optional(*first);
}

std::vector<Recompute> RecomputesToTry(const SearchProblem& problem) {
  std::vector<Recompute> usual{Recompute::kNone, Recompute::kFull};
  const bool selects = problem.workload.attention == AttentionBackend::kUnfused;
  if (selects) usual.push_back(Recompute::kSelective);
  return Or(problem.choices.recomputes, std::move(usual));
}

std::vector<std::string> RankOrdersToTry(const SearchProblem& problem) {
  return Or(problem.choices.rank_orders, {kDefaultRankOrder, kStagesFirstRankOrder});
}

std::vector<int64_t> MicroBatchesToTry(const SearchProblem& problem) {
  const int64_t batch = problem.given.global_batch;
  std::vector<int64_t> sizes =
      Or(problem.choices.micro_batches, Divisors(batch, MostMicroBatch(problem)));
  std::erase_if(sizes, [&](int64_t size) { return batch % size != 0; });
  return sizes;
}

std::vector<int> ExpertsToTry(const SearchProblem& problem) {
  const int experts = ExpertCount(problem.workload);
  return Or(problem.choices.expert, experts > 0 ? Divisors(experts, experts) : std::vector{1});
}

DegreeSpace::DegreeSpace(const SearchProblem& problem, std::vector<int> devices)
    : problem_(problem),
      orders_(problem.cluster, std::move(devices)),
      rank_orders_(RankOrdersToTry(problem)) {}

const std::vector<int>& DegreeSpace::DevicesOf(const DegreeFamily& family) const {
  const GroupShape shape{family.tensor, family.context, family.data, family.pipeline};
  return *orders_.For(shape, family.part.devices)[*family.device_list];
}

const std::vector<int>& DegreeSpace::DevicesOf(const DegreeChoice& choice) const {
  const GroupShape shape{choice.tensor, choice.context, choice.data, choice.pipeline};
  return *orders_.For(shape, choice.part)[choice.device_list];
}

PlanDegrees DegreeSpace::DegreesWithoutShares(const DegreeChoice& choice) const {
  PlanDegrees degrees = problem_.given;
  degrees.devices = choice.devices;
  degrees.tensor = choice.tensor;
  degrees.context = choice.context;
  degrees.pipeline = choice.pipeline;
  degrees.data = choice.data;
  degrees.expert = choice.expert;
  degrees.chunks = choice.chunks;
  degrees.micro_batch = choice.micro_batch;
  degrees.schedule = static_cast<PipelineSchedule>(choice.schedule);
  degrees.recompute = static_cast<Recompute>(choice.recompute);
  degrees.zero = choice.zero;
  degrees.sequence_parallel = choice.splits_tokens ? 1 : 0;
  degrees.rank_order = rank_orders_[choice.rank_order];
  degrees.overlap_tensor = choice.overlaps_tensor;
  degrees.overlap_param_gather = choice.overlaps_gather;
  degrees.overlap_p2p = choice.overlaps_sends;
  return degrees;
}

PlanDegrees DegreeSpace::Degrees(const DegreeChoice& choice) const {
  PlanDegrees degrees = DegreesWithoutShares(choice);
  const int64_t micro_batches = degrees.global_batch / choice.micro_batch;
  const int64_t left = micro_batches % choice.data;
  if (left > 0) {
    const auto least = static_cast<int>(micro_batches / choice.data);
    degrees.replica_micro_batches.assign(choice.data, least);
    std::fill_n(degrees.replica_micro_batches.begin(), left, least + 1);
  }
  return degrees;
}

std::vector<int> AllDevices(const Cluster& cluster) {
  std::vector<int> devices(cluster.device_count());
  std::iota(devices.begin(), devices.end(), 0);
  return devices;
}

}  // namespace stagecraft
