#include "search/pooled_plan.h"

#include <algorithm>
#include <utility>

#include "search/rank_places.h"
#include "search/space.h"
#include "sim/plan/layer_division.h"

namespace stagecraft {
namespace {

std::vector<std::string> PooledRankOrders(const SearchProblem& problem) {
  std::vector<std::string> orders = problem.choices.rank_orders;
  if (orders.empty()) orders.push_back(kDefaultRankOrder);
  std::erase_if(orders, [](const std::string& order) {
    return order != kDefaultRankOrder && order != kStagesFirstRankOrder;
  });
  return orders;
}

}  // namespace

std::vector<Pool> PoolsOf(const Cluster& cluster) {
  std::vector<Pool> pools;
  int first = 0;
  for (const Cluster::NodeGroup& group : cluster.groups()) {
    const int devices = group.count * group.type.devices;
    pools.push_back({first, devices, group.type.devices, group.type.device.memory});
    first += devices;
  }
  return pools;
}

std::vector<int> PooledPlan::GroupDevices(size_t pools) const {
  std::vector<int> devices(pools);
  for (const PoolRun& run : runs) devices[run.pool] += run.stages * run.tensor * data;
  return devices;
}

int PooledZero(const SearchProblem& problem, int data) {
  const bool is_plain = problem.given.gradient_sync.method == SyncMethod::kAllReduce;
  return data > 1 && is_plain && !problem.given.forward_only ? 1 : 0;
}

PooledEnumeration::PooledEnumeration(const SearchProblem& problem, std::vector<int> kinds)
    : problem_(problem),
      all_kinds_(KindsOf(problem.cluster)),
      kinds_(std::move(kinds)),
      blocks_(std::max(0, problem.workload.layer_count() - 2)),
      pools_(PoolsOf(problem.cluster)) {}

bool PooledEnumeration::AllowsPools(int data) const {
  const Choices& choices = problem_.choices;
  return Allows(choices.context, 1) && Allows(choices.expert, 1) && Allows(choices.chunks, 1) &&
         Allows(choices.schedules, PipelineSchedule::kOneForwardOneBackward) &&
         Allows(choices.zeros, PooledZero(problem_, data));
}

std::vector<PooledPlan> PooledEnumeration::Families() const {
  const PlanDegrees& given = problem_.given;
  const Choices& choices = problem_.choices;
  int most = 0;
  for (size_t p = 0; p < pools_.size(); ++p) {
    if (MayUse(static_cast<int>(p))) most = std::max(most, pools_[p].devices);
  }
  std::vector<PooledPlan> families;
  for (int data = 1; data <= most; ++data) {
    if (given.global_batch % data != 0 || (given.data != 0 && given.data != data)) continue;
    if (!AllowsPools(data)) continue;
    for (int64_t size = 1; size <= MostMicroBatch(problem_); ++size) {
      if (given.global_batch / data % size != 0 || !Allows(choices.micro_batches, size)) continue;
      for (const Recompute recompute : {Recompute::kNone, Recompute::kFull}) {
        if (!Allows(choices.recomputes, recompute)) continue;
        for (const std::string& rank_order : PooledRankOrders(problem_)) {
          families.push_back({data, size, recompute, rank_order, {}});
        }
      }
    }
  }
  return families;
}

std::vector<PoolRun> PooledEnumeration::RunsIn(const PooledPlan& family, int pool) const {
  std::vector<PoolRun> runs;
  if (!MustUse(pool)) runs.push_back({pool, 1, 0});
  if (!MayUse(pool)) return runs;
  for (const int tensor : TensorDegrees(pools_[pool])) {
    for (const int count : StagesIn(pools_[pool], tensor * family.data)) {
      runs.push_back({pool, tensor, count});
    }
  }
  return runs;
}

std::vector<int> PooledEnumeration::StagesIn(const Pool& pool, int stage_devices) const {
  std::vector<bool> is_tried(blocks_ + 1);
  for (int devices = pool.node_devices; devices <= pool.devices; devices += pool.node_devices) {
    int count = devices / stage_devices;
    while (count > blocks_) count /= 2;
    for (; !is_tried[count] && count > 0; count /= 2) is_tried[count] = true;
  }
  std::vector<int> counts;
  for (int count = blocks_; count > 0; --count) {
    if (is_tried[count]) counts.push_back(count);
  }
  return counts;
}

bool PooledEnumeration::Has(const PooledPlan& plan) const {
  int stages = 0;
  for (const PoolRun& run : plan.runs) stages += run.stages;
  const bool has_kinds =
      kinds_.empty() || all_kinds_.Used(plan.GroupDevices(pools_.size())) == kinds_;
  return stages > 0 && stages <= blocks_ && has_kinds &&
         Allows(problem_.choices.pipeline, stages) && IsNew(plan);
}

std::vector<int> PooledEnumeration::TensorDegrees(const Pool& pool) const {
  std::vector<int> degrees;
  for (int tensor = 1; tensor <= std::min(kMostTensor, pool.node_devices); tensor *= 2) {
    const bool fits = FindTensorError(problem_.workload, tensor).empty();
    if (fits && Allows(problem_.choices.tensor, tensor)) degrees.push_back(tensor);
  }
  return degrees;
}

bool PooledEnumeration::MayUse(int pool) const {
  return kinds_.empty() ||
         std::find(kinds_.begin(), kinds_.end(), all_kinds_.of_groups[pool]) != kinds_.end();
}

// Returns whether plans must use this pool, because no other has a kind of device that they must
// use.
bool PooledEnumeration::MustUse(int pool) const {
  const std::vector<int>& of_groups = all_kinds_.of_groups;
  return !kinds_.empty() && MayUse(pool) &&
         std::count(of_groups.begin(), of_groups.end(), of_groups[pool]) == 1;
}

// Returns whether to try the plan: of rank orders that make no difference only the default is
// tried.
bool PooledEnumeration::IsNew(const PooledPlan& plan) const {
  if (plan.rank_order == kDefaultRankOrder) return true;
  const std::string usual = kDefaultRankOrder;
  if (!Allows(problem_.choices.rank_orders, usual)) return true;
  return std::any_of(plan.runs.begin(), plan.runs.end(), [&](const PoolRun& run) {
    return RankOrderMatters(problem_.cluster, {.first_device = pools_[run.pool].first,
                                               .devices = run.stages * run.tensor * plan.data,
                                               .set_devices = run.tensor,
                                               .stages = run.stages,
                                               .replicas = plan.data,
                                               .are_all = plan.runs.size() == 1});
  });
}

}  // namespace stagecraft
