#include "sim/memory/stage_memory.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <list>
#include <map>
#include <optional>
#include <set>
#include <tuple>
#include <utility>

#include "costmodel/device.h"
#include "sim/memory/rank_tensors.h"
#include "sim/memory/reservation.h"
#include "sim/plan/host_offload.h"
#include "sim/shard/stage_order.h"

namespace stagecraft {
namespace {

// Returns the device with the least memory, or the first of several.
int SmallestDevice(const Cluster& cluster, const std::vector<int>& devices) {
  return *std::min_element(devices.begin(), devices.end(), [&](int a, int b) {
    return cluster.device(a).memory < cluster.device(b).memory;
  });
}

// Whether a replica lacks memory that another one has, or else has less room on its device.
bool IsFuller(const StageMemory& memory, const StageMemory& other) {
  const auto room = [](const StageMemory& of) {
    return std::pair(of.fits(), of.capacity - of.Peak());
  };
  return room(memory) < room(other);
}

// When there are more chunks of tensors than this, which take some hundred megabytes, everything is
// forgotten.
constexpr size_t kMostChunks = 2000;

}  // namespace

// Estimates replicas of one plan. Ranks that differ only in their number of micro-batches in flight
// all get the ReservationOf() of the first one, which has the most of them in a pipeline.
class MemoryEstimator::Estimator {
 public:
  Estimator(const Plan& plan, const Cluster& cluster, RankTensorsMaker& maker, Reservations& shares)
      : plan_(plan), cluster_(cluster), maker_(maker), shares_(shares) {}

  // A rank whose memory lacks fragmentation.
  struct Draft {
    RankTensors rank;
    const PassOrder* order = nullptr;
    StageMemory memory;
    Bytes update_excess;  // as in RankPeak
  };

  Draft Tensors(int stage, int replica) {
    Draft draft{maker_.Make(plan_, stage, replica), &OrderOf(stage, replica), {}, {}};
    const RankTensors& rank = draft.rank;
    StageMemory& memory = draft.memory;
    memory.stage = stage;
    memory.device = SmallestDevice(cluster_, plan_.stages[stage].replicas[replica]);
    memory.capacity = cluster_.device(memory.device).memory;
    memory.weights = rank.states.weights;
    memory.optimizer = rank.states.optimizer;
    memory.communication = rank.messages + rank.nccl;
    memory.framework = ContextMemory();
    memory.host = rank.states.host;
    memory.host_capacity = HostShare(plan_, cluster_, memory.device);
    const RankPeak peak = WalkRank(rank, *draft.order);
    memory.host += peak.host;
    memory.gradients = rank.states.gradients + peak.gradients;
    memory.activations = peak.activations;
    memory.workspace = peak.workspace;
    memory.allocated = peak.allocated;
    draft.update_excess = peak.update_excess;
    return draft;
  }

  // Must be called for one rank after another, in the order of stages and replicas.
  void AddFragmentation(Draft& draft) {
    StageMemory& memory = draft.memory;
    const Bytes room = memory.capacity - memory.framework - draft.rank.nccl;
    // The peak may be that of the update, whose segments come on top of those of the passes.
    const Bytes passes = memory.allocated - draft.update_excess;
    const Reservation reserved = Find(std::move(draft.rank), *draft.order, room, memory.allocated);
    const Bytes segments =
        Bytes(std::llround(reserved.share * static_cast<double>(passes.count())));
    memory.fragmentation = std::max(Bytes(), segments + reserved.update - memory.allocated);
  }

  // Returns the ranks that differ, by stage. Replicas differ in their micro-batches, in their GPUs
  // and in the memory of their hosts; of those that differ in none of these, the first stands for
  // all.
  std::vector<std::vector<Draft>> AllTensors() {
    std::vector<std::vector<Draft>> stages(plan_.stages.size());
    for (int stage = 0; stage < static_cast<int>(plan_.stages.size()); ++stage) {
      const auto& replicas = plan_.stages[stage].replicas;
      std::set<std::tuple<Bytes, Bytes, Generation, int>> seen;
      for (int r = 0; r < static_cast<int>(replicas.size()); ++r) {
        const int micro_batches = ReplicaMicroBatches(plan_, stage, r);
        // On nodes of one type only their micro-batches can tell replicas apart.
        if (r > 0 && cluster_.groups().size() == 1 &&
            micro_batches == ReplicaMicroBatches(plan_, stage, r - 1)) {
          continue;
        }
        const int device = SmallestDevice(cluster_, replicas[r]);
        const Generation generation = cluster_.device(replicas[r][0]).generation;
        const Bytes host = HostShare(plan_, cluster_, device);
        if (seen.emplace(cluster_.device(device).memory, host, generation, micro_batches).second) {
          stages[stage].push_back(Tensors(stage, r));
        }
      }
    }
    return stages;
  }

 private:
  // Pipelines with equally many micro-batches run the same passes, which are made for all stages at
  // once.
  const PassOrder& OrderOf(int stage, int replica) {
    if (!HasSeparatePipelines(plan_)) {
      return own_orders_.emplace_back(StageOrder(plan_, stage, replica));
    }
    PassOrders& orders = orders_[ReplicaMicroBatches(plan_, 0, replica)];
    if (orders.empty()) orders = PassOrdersOf(plan_, replica);
    return orders[stage];
  }

  struct Replayed {
    RankTensors rank;
    Bytes room;
    Reservation reservation;
  };

  Reservation Find(RankTensors rank, const PassOrder& order, Bytes room, Bytes live) {
    for (const Replayed& known : replayed_) {
      if (known.room == room && known.rank == rank) return known.reservation;
    }
    const Reservation reservation = shares_.Find(rank, order, room, live);
    replayed_.push_back({std::move(rank), room, reservation});
    return reservation;
  }

  const Plan& plan_;
  const Cluster& cluster_;
  RankTensorsMaker& maker_;
  Reservations& shares_;
  std::list<PassOrder> own_orders_;
  std::map<int, PassOrders> orders_;  // by micro-batches
  std::vector<Replayed> replayed_;
};

struct MemoryEstimator::Remembered {
  RankTensorsMaker maker;
  Reservations shares;

  // Forgets only between plans, since chunks that are alike must be one object within a plan.
  Estimator Begin(const Plan& plan, const Cluster& cluster) {
    if (maker.size() > kMostChunks) {
      shares.Forget();
      maker.Forget();
    }
    return {plan, cluster, maker, shares};
  }
};

MemoryEstimator::MemoryEstimator(const Workload& workload, const Cluster& cluster,
                                 const FrameworkMemory& framework)
    : cluster_(cluster),
      remembered_(new Remembered{RankTensorsMaker(workload, cluster, framework), {}}) {}

MemoryEstimator::~MemoryEstimator() = default;

StageMemory MemoryEstimator::EstimateReplica(const Plan& plan, int stage, int replica) {
  Estimator estimator = remembered_->Begin(plan, cluster_);
  Estimator::Draft draft = estimator.Tensors(stage, replica);
  estimator.AddFragmentation(draft);
  return draft.memory;
}

std::vector<StageMemory> MemoryEstimator::Estimate(const Plan& plan) {
  return Estimate(plan, Fragmentation::kAlways);
}

std::vector<StageMemory> MemoryEstimator::EstimateTensors(const Plan& plan) {
  return Estimate(plan, Fragmentation::kNever);
}

std::vector<StageMemory> MemoryEstimator::EstimateIfTensorsFit(const Plan& plan) {
  return Estimate(plan, Fragmentation::kIfTensorsFit);
}

std::vector<StageMemory> MemoryEstimator::Estimate(const Plan& plan, Fragmentation fragmentation) {
  Estimator estimator = remembered_->Begin(plan, cluster_);
  std::vector<std::vector<Estimator::Draft>> drafts = estimator.AllTensors();
  const auto fullest = [&] {
    std::vector<StageMemory> stages;
    for (const std::vector<Estimator::Draft>& of_stage : drafts) {
      stages.push_back(of_stage.front().memory);
      for (const Estimator::Draft& draft : of_stage) {
        if (IsFuller(draft.memory, stages.back())) stages.back() = draft.memory;
      }
    }
    return stages;
  };
  if (fragmentation != Fragmentation::kAlways) {
    std::vector<StageMemory> stages = fullest();
    const bool fit = std::all_of(stages.begin(), stages.end(),
                                 [](const StageMemory& memory) { return memory.fits(); });
    if (!fit || fragmentation == Fragmentation::kNever) return stages;
  }
  for (std::vector<Estimator::Draft>& of_stage : drafts) {
    for (Estimator::Draft& draft : of_stage) estimator.AddFragmentation(draft);
  }
  return fullest();
}

StageMemory EstimateReplicaMemory(const Plan& plan, const Workload& workload,
                                  const Cluster& cluster, int stage, int replica,
                                  const FrameworkMemory& framework) {
  return MemoryEstimator(workload, cluster, framework).EstimateReplica(plan, stage, replica);
}

std::vector<StageMemory> EstimateMemory(const Plan& plan, const Workload& workload,
                                        const Cluster& cluster, const FrameworkMemory& framework) {
  return MemoryEstimator(workload, cluster, framework).Estimate(plan);
}

}  // namespace stagecraft
