// Implements the parts and families of DegreeSpace.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <optional>
#include <utility>

#include "search/divisors.h"
#include "search/space.h"
#include "sim/cluster/cluster.h"
#include "sim/plan/layer_division.h"

namespace stagecraft {
namespace {

constexpr int kMostContext = 16;
constexpr int64_t kLeastTokens = 256;  // of a sample on a rank, if nothing is asked for

// Returns the least number of devices for which the plans of a part are not plans of another part,
// too. A part that takes some devices of each node begins like the whole list up to the first node
// that it does not take entirely; a part that begins at a later node is new only if it reaches
// nodes of a second type.
int LeastDevices(const DeviceOrders& orders, const DevicePart& part) {
  if (part.is_whole()) return 1;
  const std::vector<int> all = orders.NodeDevices({part.first_node, 0});
  const std::vector<int> taken = orders.NodeDevices(part);
  const auto first_taken_in_part = std::mismatch(all.begin(), all.end(), taken.begin()).first;
  const auto enough = part.node_devices > 0
                          ? first_taken_in_part - all.begin() + 1
                          : ptrdiff_t{orders.first_nodes_of_a_type()} - part.first_node;
  return std::accumulate(taken.begin(), taken.begin() + enough, 1);
}

// Returns how many devices the plans of a part may use, the most first; only numbers for which
// these plans are not plans of another part, too.
std::vector<int> CountsOf(const DeviceOrders& orders, const DevicePart& part, DeviceCounts which) {
  std::vector<int> ends;  // of the first node, of the first two, ...
  for (const int devices : orders.NodeDevices(part)) {
    ends.push_back(devices + (ends.empty() ? 0 : ends.back()));
  }
  std::vector<int> counts{ends.back()};
  if (which == DeviceCounts::kAll) return counts;
  if (which == DeviceCounts::kAny) {
    for (size_t nodes = ends.size() - 1; nodes > 0; --nodes) counts.push_back(ends[nodes - 1]);
    for (int count = ends[0] - 1; count > 0; --count) counts.push_back(count);
    const int least = LeastDevices(orders, part);
    std::erase_if(counts, [&](int count) { return count < least; });
    return counts;
  }
  for (size_t nodes = ends.size() / 2; nodes > 0; nodes /= 2) counts.push_back(ends[nodes - 1]);
  for (int count = counts.back() / 2; count > 0; count /= 2) counts.push_back(count);
  return counts;
}

// StageDivision lists the ways to divide a stage.
class StageDivision {
 public:
  explicit StageDivision(const SearchProblem& problem)
      : problem_(problem), workload_(problem.workload), choices_(problem.choices) {}

  std::vector<DegreeFamily> Run() const {
    std::vector<DegreeFamily> found;
    for (const int tensor : Or(choices_.tensor, Divisors(workload_.heads, kMostTensor))) {
      if (!TensorFits(tensor)) continue;
      for (const bool splits_tokens : TokenSplits(tensor)) {
        for (const int context : Or(choices_.context, ContextDegrees())) {
          if (!ContextFits(tensor, context, splits_tokens)) continue;
          found.push_back({.part = {},
                           .tensor = tensor,
                           .context = context,
                           .splits_tokens = splits_tokens && tensor > 1});
        }
      }
    }
    return found;
  }

 private:
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

  // Returns whether to try plans with sequence parallelism, without it, or both.
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

  const SearchProblem& problem_;
  const Workload& workload_;
  const Choices& choices_;
};

// FamilyEnumeration lists the families of a part.
class FamilyEnumeration {
 public:
  FamilyEnumeration(const SearchProblem& problem, const DeviceOrders& orders,
                    const DegreePart& part)
      : problem_(problem),
        workload_(problem.workload),
        choices_(problem.choices),
        part_(part),
        least_devices_(LeastDevices(orders, part.devices)),
        counts_(CountsOf(orders, part.devices, choices_.device_counts)),
        shares_(Divisors(problem.given.global_batch, int64_t{counts_[0]})),
        divisions_(StageDivision(problem).Run()),
        one_stage_(ScheduleOfOneStage(problem)) {}

  std::vector<DegreeFamily> Run() {
    for (const int devices : counts_) {
      for (DegreeFamily family : divisions_) {
        if (devices % (family.tensor * family.context) != 0) continue;
        family.devices = devices;
        AddPipelines(family);
      }
    }
    if (choices_.device_counts == DeviceCounts::kAny) {
      for (const DegreeFamily& family : divisions_) AddEvenShares(family);
    }
    return std::move(found_);
  }

 private:
  // Adds families whose replicas take equal shares of the batch but do not fill whole nodes.
  void AddEvenShares(DegreeFamily family) {
    const int64_t size = counts_[0];
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
        if (family.devices < least_devices_) continue;
        if (!std::binary_search(counts_.rbegin(), counts_.rend(), family.devices)) Add(family);
      }
    }
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
    family.part = part_;
    if (HasSchedules(family)) found_.push_back(family);
  }

  bool HasSchedules(const DegreeFamily& family) const {
    if (family.pipeline == 1) return one_stage_ && ClassOf(*one_stage_) == part_.schedules;
    const std::vector<PipelineSchedule> pipeline_schedules = SchedulesToTry(problem_);
    return std::any_of(pipeline_schedules.begin(), pipeline_schedules.end(),
                       [&](PipelineSchedule pipeline_schedule) {
                         return ClassOf(pipeline_schedule) == part_.schedules;
                       });
  }

  const SearchProblem& problem_;
  const Workload& workload_;
  const Choices& choices_;
  const DegreePart part_;
  const int least_devices_;
  const std::vector<int> counts_;      // the most first
  const std::vector<int64_t> shares_;  // numbers of replicas that divide the batch
  const std::vector<DegreeFamily> divisions_;
  const std::optional<PipelineSchedule> one_stage_;
  std::vector<DegreeFamily> found_;
};

}  // namespace

std::vector<DegreePart> DegreeSpace::Parts() const {
  std::vector<DevicePart> devices{{}};
  if (problem_.choices.device_counts == DeviceCounts::kAny) {
    const std::vector<int> nodes = orders_.NodeDevices({});
    // A part that leaves devices out only in the last node consists of the first devices of the
    // list, and plans of the whole list use such devices already.
    int most = 0;
    for (size_t node = 0; node + 1 < nodes.size(); ++node) most = std::max(most, nodes[node]);
    for (int some = most - 1; some > 0; --some) devices.push_back({0, some});
    const int first_nodes = orders_.first_nodes_of_a_type();
    const bool has_others = first_nodes < static_cast<int>(nodes.size());
    for (int node = 1; has_others && node < first_nodes; ++node) devices.push_back({node, 0});
  }
  const std::vector<PipelineSchedule> pipeline_schedules = SchedulesToTry(problem_);
  std::vector<DegreePart> parts;
  for (const DevicePart& part : devices) {
    for (const ScheduleClass schedules : kScheduleClasses) {
      const auto is_of_class = [&](PipelineSchedule pipeline_schedule) {
        return ClassOf(pipeline_schedule) == schedules;
      };
      const bool has_schedules =
          std::any_of(pipeline_schedules.begin(), pipeline_schedules.end(), is_of_class);
      if (has_schedules) parts.push_back({part, schedules});
    }
  }
  return parts;
}

std::vector<int> DegreeSpace::CountsOf(const DevicePart& part) const {
  return stagecraft::CountsOf(orders_, part, problem_.choices.device_counts);
}

std::vector<DegreeFamily> DegreeSpace::StageDegrees() const {
  return StageDivision(problem_).Run();
}

std::vector<DegreeFamily> DegreeSpace::FamiliesOf(const DegreePart& part) const {
  return FamilyEnumeration(problem_, orders_, part).Run();
}

std::vector<DegreeFamily> DegreeSpace::OnLists(const DegreeFamily& family) const {
  const GroupShape shape{family.tensor, family.context, family.data, family.pipeline};
  const auto lists = static_cast<int>(orders_.For(shape, family.part.devices).size());
  std::vector<DegreeFamily> on_lists(lists, family);
  for (int list = 0; list < lists; ++list) on_lists[list].device_list = list;
  return on_lists;
}

}  // namespace stagecraft
