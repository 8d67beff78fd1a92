// DegreeSpace::Families().
#include <algorithm>
#include <cstdint>
#include <numeric>
#include <optional>
#include <utility>

#include "search/divisors.h"
#include "search/space.h"
#include "sim/cluster.h"
#include "sim/layer_division.h"

namespace stagecraft {
namespace {

constexpr int kMostContext = 16;
constexpr int64_t kLeastTokens = 256;  // of a sample on a rank, where nothing is asked for

// How many devices of a list plans may use: the most first.
std::vector<int> CountsOf(const Cluster& cluster, const std::vector<int>& devices,
                          DeviceCounts which) {
  std::vector<int> ends;  // of the first node, of the first two, ...
  for (size_t i = 1; i <= devices.size(); ++i) {
    const bool is_end =
        i == devices.size() || cluster.place(devices[i]).node != cluster.place(devices[i - 1]).node;
    if (is_end) ends.push_back(static_cast<int>(i));
  }
  std::vector<int> counts{ends.back()};
  if (which == DeviceCounts::kAll) return counts;
  if (which == DeviceCounts::kAny) {
    for (size_t nodes = ends.size() - 1; nodes > 0; --nodes) counts.push_back(ends[nodes - 1]);
    for (int count = ends[0] - 1; count > 0; --count) counts.push_back(count);
    return counts;
  }
  for (size_t nodes = ends.size() / 2; nodes > 0; nodes /= 2) counts.push_back(ends[nodes - 1]);
  for (int count = counts.back() / 2; count > 0; count /= 2) counts.push_back(count);
  return counts;
}

// The families of a problem on a list of devices.
class FamilyEnumeration {
 public:
  FamilyEnumeration(const SearchProblem& problem, const DeviceOrders& orders)
      : problem_(problem),
        workload_(problem.workload),
        choices_(problem.choices),
        devices_(orders.devices()),
        orders_(orders),
        counts_(CountsOf(problem.cluster, devices_, choices_.device_counts)),
        shares_(Divisors(problem.given.global_batch, static_cast<int64_t>(devices_.size()))),
        one_stage_(OrderOfOneStage(problem)) {}

  std::vector<DegreeFamily> Run() {
    for (const int devices : counts_) {
      ForEachSet([&](DegreeFamily family) {
        if (devices % (family.tensor * family.context) != 0) return;
        family.devices = devices;
        AddPipelines(family);
      });
    }
    if (choices_.device_counts == DeviceCounts::kAny) {
      ForEachSet([&](const DegreeFamily& family) { AddEvenShares(family); });
    }
    return std::move(found_);
  }

 private:
  // Every way to divide what a stage computes.
  template <typename Add>
  void ForEachSet(Add add) const {
    for (const int tensor : Or(choices_.tensor, Divisors(workload_.heads, kMostTensor))) {
      if (!TensorFits(tensor)) continue;
      for (const bool splits_tokens : TokenSplits(tensor)) {
        for (const int context : Or(choices_.context, ContextDegrees())) {
          if (!ContextFits(tensor, context, splits_tokens)) continue;
          add({.tensor = tensor, .context = context, .splits_tokens = splits_tokens && tensor > 1});
        }
      }
    }
  }

  // Adds families whose replicas take equal shares of the batch but do not fill whole nodes.
  void AddEvenShares(DegreeFamily family) {
    const auto size = static_cast<int64_t>(devices_.size());
    std::vector<int> usual(workload_.layer_count());
    std::iota(usual.begin(), usual.end(), 1);
    for (const int pipeline : Or(choices_.pipeline, std::move(usual))) {
      family.pipeline = pipeline;
      if (pipeline > workload_.layer_count()) continue;
      const int64_t replica = int64_t{family.tensor} * family.context * pipeline;
      for (const int64_t data : shares_) {
        if (replica * data > size) break;
        family.devices = static_cast<int>(replica * data);
        family.data = static_cast<int>(data);
        if (!std::binary_search(counts_.rbegin(), counts_.rend(), family.devices)) Add(family);
      }
    }
  }

  std::vector<int> ContextDegrees() const {
    std::vector<int> degrees{1};
    for (int d = 2; d <= kMostContext && problem_.given.sequence / d >= kLeastTokens; d *= 2) {
      degrees.push_back(d);
    }
    return degrees;
  }

  bool TensorFits(int tensor) const {
    return FindTensorError(workload_, tensor).empty() && (tensor == 1 || !workload_.is_profile());
  }

  // With sequence parallelism, and without.
  std::vector<bool> TokenSplits(int tensor) const {
    const PlanDegrees& given = problem_.given;
    if (given.sequence_parallel >= 0 || tensor == 1) return {given.sequence_parallel != 0};
    if (given.overlap_tensor) return {true};
    return {true, false};
  }

  bool ContextFits(int tensor, int context, bool splits_tokens) const {
    const PlanDegrees& given = problem_.given;
    const TokenDivision division{given.sequence, tensor, context, splits_tokens,
                                 given.context_exchange};
    return FindTokenErrors(workload_, division).empty() &&
           (context == 1 || !workload_.is_profile());
  }

  void AddPipelines(DegreeFamily family) {
    const int left = family.devices / family.tensor / family.context;
    for (const int pipeline : Or(choices_.pipeline, Divisors(left, workload_.layer_count()))) {
      if (left % pipeline != 0 || pipeline > workload_.layer_count()) continue;
      family.pipeline = pipeline;
      family.data = left / pipeline;
      Add(family);
    }
  }

  void Add(DegreeFamily family) {
    const bool is_asked = problem_.given.data == 0 || problem_.given.data == family.data;
    if (!is_asked || problem_.given.global_batch < family.data) return;
    for (const ScheduleClass schedules : kScheduleClasses) {
      family.schedules = schedules;
      if (HasSchedules(family)) AddDevices(family);
    }
  }

  void AddDevices(DegreeFamily family) {
    const auto lists =
        orders_.For({family.tensor, family.context, family.data, family.pipeline}).size();
    for (size_t list = 0; list < lists; ++list) {
      family.device_list = static_cast<int>(list);
      found_.push_back(family);
    }
  }

  bool HasSchedules(const DegreeFamily& family) const {
    if (family.pipeline == 1) return one_stage_ && ClassOf(*one_stage_) == family.schedules;
    const std::vector<PipelineOrder> orders = OrdersToTry(problem_);
    return std::any_of(orders.begin(), orders.end(),
                       [&](PipelineOrder order) { return ClassOf(order) == family.schedules; });
  }

  const SearchProblem& problem_;
  const Workload& workload_;
  const Choices& choices_;
  const std::vector<int>& devices_;
  const DeviceOrders& orders_;
  const std::vector<int> counts_;      // the most first
  const std::vector<int64_t> shares_;  // numbers of replicas that divide the batch
  const std::optional<PipelineOrder> one_stage_;
  std::vector<DegreeFamily> found_;
};

}  // namespace

std::vector<DegreeFamily> DegreeSpace::Families() const {
  return FamilyEnumeration(problem_, orders_).Run();
}

}  // namespace stagecraft
