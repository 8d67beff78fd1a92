// Implements the parts and families of DegreeSpace.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
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

// Returns the largest number of which the devices of every scale-up domain are a multiple. Devices
// of a domain are next to each other.
int DomainDivisor(const Cluster& cluster, const std::vector<int>& devices) {
  int divisor = 0, count = 0, domain = -1;
  for (const int device : devices) {
    const int own = cluster.domain(cluster.place(device).node);
    if (own != std::exchange(domain, own)) divisor = std::gcd(divisor, std::exchange(count, 0));
    ++count;
  }
  return std::gcd(divisor, count);
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
          for (const bool overlaps : TensorOverlaps(tensor, splits_tokens)) {
            found.push_back({.part = {},
                             .tensor = tensor,
                             .context = context,
                             .splits_tokens = splits_tokens && tensor > 1,
                             .overlaps_tensor = overlaps});
          }
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
    if (given.overlap_tensor && !choices_.chooses_tensor_overlap) return {true};
    return {true, false};
  }

  // Returns whether to try plans whose tensor-parallel collectives run beside GEMMs, or others, or
  // both.
  std::vector<bool> TensorOverlaps(int tensor, bool splits_tokens) const {
    if (!choices_.chooses_tensor_overlap) return {problem_.given.overlap_tensor};
    if (tensor == 1 || !splits_tokens) return {false};
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

bool HasSchedules(const SearchProblem& problem, int pipeline, ScheduleClass schedules) {
  if (pipeline == 1) {
    const std::optional<PipelineSchedule> one_stage = ScheduleOfOneStage(problem);
    return one_stage && ClassOf(*one_stage) == schedules;
  }
  const std::vector<PipelineSchedule> pipeline_schedules = SchedulesToTry(problem);
  return std::any_of(
      pipeline_schedules.begin(), pipeline_schedules.end(),
      [&](PipelineSchedule pipeline_schedule) { return ClassOf(pipeline_schedule) == schedules; });
}

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

std::vector<DegreeFamily> DegreeSpace::ReplicasOf(const DegreePart& part) const {
  std::vector<int> pipelines(problem_.workload.layer_count());
  std::iota(pipelines.begin(), pipelines.end(), 1);
  pipelines = Or(problem_.choices.pipeline, std::move(pipelines));
  std::erase_if(pipelines, [&](int pipeline) {
    return pipeline > problem_.workload.layer_count() ||
           !HasSchedules(problem_, pipeline, part.schedules);
  });
  // The kernels that overlap collectives with GEMMs write into the memory of the other ranks, which
  // wants links within a scale-up domain (Transformer Engine's user buffers, PyTorch's symmetric
  // memory). What is asked for is tried anywhere.
  const bool wants_domains = problem_.choices.chooses_tensor_overlap;
  const int divisor = wants_domains ? DomainDivisor(problem_.cluster, orders_.In(part.devices)) : 0;
  std::vector<DegreeFamily> replicas;
  for (DegreeFamily& division : StageDegrees()) {
    if (wants_domains && division.overlaps_tensor && divisor % division.tensor != 0) continue;
    division.part = part;
    for (const int pipeline : pipelines) {
      division.pipeline = pipeline;
      replicas.push_back(division);
    }
  }
  return replicas;
}

ReplicaCounts DegreeSpace::ReplicaCountsOf(const DevicePart& part) const {
  ReplicaCounts counts;
  const std::vector<int> devices = CountsOf(part);
  counts.is_count_.resize(orders_.In(part).size() + 1);
  for (const int count : devices) counts.is_count_[count] = true;
  if (problem_.choices.device_counts == DeviceCounts::kAny) {
    counts.least_devices_ = LeastDevices(orders_, part);
  }
  counts.batch_ = problem_.given.global_batch;
  counts.data_ = problem_.given.data;
  return counts;
}

int ReplicaCounts::LargestBelow(int64_t replica_devices, int64_t below) const {
  const auto most_devices = static_cast<int64_t>(is_count_.size()) - 1;
  int64_t data = std::min({below - 1, most_devices / replica_devices, batch_});
  if (data_ > 0) data = data >= data_ ? data_ : 0;
  for (; data > 0; --data) {
    const int64_t devices = data * replica_devices;
    const bool shares_evenly =
        least_devices_ > 0 && devices >= least_devices_ && batch_ % data == 0;
    if (is_count_[devices] || shares_evenly) return static_cast<int>(data);
    if (data_ > 0) break;
  }
  return 0;
}

std::optional<DegreeFamily> DegreeSpace::FamilyBelow(const DegreeFamily& replica,
                                                     const ReplicaCounts& counts,
                                                     int64_t below) const {
  const int64_t devices = int64_t{replica.tensor} * replica.context * replica.pipeline;
  const int data = counts.LargestBelow(devices, below);
  if (data == 0) return std::nullopt;
  DegreeFamily family = replica;
  family.data = data;
  family.devices = static_cast<int>(devices * data);
  return family;
}

std::vector<DegreeFamily> DegreeSpace::FamiliesOf(const DegreePart& part) const {
  const ReplicaCounts counts = ReplicaCountsOf(part.devices);
  std::vector<DegreeFamily> found;
  for (const DegreeFamily& replica : ReplicasOf(part)) {
    int64_t below = std::numeric_limits<int64_t>::max();
    while (const std::optional<DegreeFamily> family = FamilyBelow(replica, counts, below)) {
      found.push_back(*family);
      below = family->data;
    }
  }
  return found;
}

std::vector<DegreeFamily> DegreeSpace::OnLists(const DegreeFamily& family) const {
  const GroupShape shape{family.tensor, family.context, family.data, family.pipeline};
  const auto lists = static_cast<int>(orders_.For(shape, family.part.devices).size());
  std::vector<DegreeFamily> on_lists(lists, family);
  for (int list = 0; list < lists; ++list) on_lists[list].device_list = list;
  return on_lists;
}

}  // namespace stagecraft
