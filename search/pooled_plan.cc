#include "search/pooled_plan.h"

#include <algorithm>
#include <utility>

#include "search/rank_places.h"
#include "search/space.h"
#include "sim/layer_division.h"

namespace stagecraft {
namespace {

class Enumeration {
 public:
  explicit Enumeration(const SearchProblem& problem)
      : problem_(problem),
        workload_(problem.workload),
        blocks_(workload_.layer_count() - 2),
        pools_(PoolsOf(problem.cluster)) {}

  std::vector<PooledPlan> Run() {
    const PlanDegrees& given = problem_.given;
    const Choices& choices = problem_.choices;
    int most = 0;
    for (const Pool& pool : pools_) most = std::max(most, pool.devices);
    for (int data = 1; data <= most; ++data) {
      if (given.global_batch % data != 0 || (given.data != 0 && given.data != data)) continue;
      for (int64_t size = 1; size <= kMostMicroBatch; ++size) {
        if (given.global_batch / data % size != 0 || !Allows(choices.micro_batches, size)) continue;
        for (const Recompute recompute : {Recompute::kNone, Recompute::kFull}) {
          if (!Allows(choices.recomputes, recompute)) continue;
          for (const std::string& rank_order : RankOrders()) {
            AddRuns({data, size, recompute, rank_order, {}});
          }
        }
      }
    }
    return std::move(all_);
  }

 private:
  bool TensorFits(int tensor) const {
    return FindTensorError(workload_, tensor).empty() && Allows(problem_.choices.tensor, tensor);
  }

  std::vector<std::string> RankOrders() const {
    const std::vector<std::string>& asked = problem_.choices.rank_orders;
    return asked.empty() ? std::vector<std::string>{kDefaultRankOrder} : asked;
  }

  // Of two rank orders that make no difference the default is tried.
  bool IsNew(const PooledPlan& plan) const {
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

  // Another pool behind those of the plan so far, or none.
  void AddRuns(const PooledPlan& so_far) {
    int stages = 0;
    for (const PoolRun& run : so_far.runs) stages += run.stages;
    if (stages > 0 && Allows(problem_.choices.pipeline, stages) && IsNew(so_far)) {
      all_.push_back(so_far);
    }
    for (size_t p = 0; p < pools_.size(); ++p) {
      const auto is_used = [&](const PoolRun& run) { return run.pool == static_cast<int>(p); };
      if (std::any_of(so_far.runs.begin(), so_far.runs.end(), is_used)) continue;
      const Pool& pool = pools_[p];
      for (int tensor = 1; tensor <= std::min(kMostTensor, pool.node_devices); tensor *= 2) {
        const int room = pool.devices / (tensor * so_far.data);
        if (room == 0 || !TensorFits(tensor)) continue;
        for (int count = room; count > 0; count /= 2) {
          if (stages + count > blocks_) continue;
          PooledPlan plan = so_far;
          plan.runs.push_back({static_cast<int>(p), tensor, count});
          AddRuns(plan);
        }
      }
    }
  }

  const SearchProblem& problem_;
  const Workload& workload_;
  const int blocks_;
  const std::vector<Pool> pools_;
  std::vector<PooledPlan> all_;
};

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

std::vector<PooledPlan> EnumeratePooled(const SearchProblem& problem) {
  return Enumeration(problem).Run();
}

}  // namespace stagecraft
