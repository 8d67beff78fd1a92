#include "sim/memory/stage_memory.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "costmodel/device.h"
#include "costmodel/hash.h"
#include "sim/memory/rank_tensors.h"
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

// Remembers ReservationOf() for ranks with their pass orders.
class Reservations {
 public:
  Reservation Find(const RankTensors& rank, const PassOrder& order, Bytes room) {
    Key key{rank, {}, room};
    const auto passes = std::min(order.size(), static_cast<size_t>(kReplayedPasses));
    key.order.assign(order.begin(), order.begin() + static_cast<ptrdiff_t>(passes));
    const auto found = shares_.find(key);
    if (found != shares_.end()) return found->second;
    const Reservation reservation = ReservationOf(rank, order, room);
    shares_.emplace(std::move(key), reservation);
    return reservation;
  }
  void Forget() { shares_.clear(); }

 private:
  struct Key {
    RankTensors rank;
    PassOrder order;  // only the passes that are replayed
    Bytes room;
    friend bool operator==(const Key&, const Key&) = default;
  };
  struct KeyHash {
    size_t operator()(const Key& key) const {
      const ModelStates& states = key.rank.states;
      Hash hash;
      hash.Add(states.weights.count()).Add(states.gradients.count()).Add(states.optimizer.count());
      hash.Add(reinterpret_cast<int64_t>(key.rank.chunks[0].get())).Add(key.room.count());
      // Pass orders that differ by their warm-up differ in where the first backward is.
      const auto backward = std::find_if(key.order.begin(), key.order.end(), [](const Pass& pass) {
        return pass.phase != Phase::kForward;
      });
      return hash.Add(backward - key.order.begin()).value();
    }
  };
  std::unordered_map<Key, Reservation, KeyHash> shares_;
};

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

  StageMemory Estimate(int stage, int replica, bool with_fragmentation) {
    RankTensors rank = maker_.Make(plan_, stage, replica);
    const PassOrder& order = OrderOf(stage, replica);
    StageMemory memory;
    memory.stage = stage;
    memory.device = SmallestDevice(cluster_, plan_.stages[stage].replicas[replica]);
    memory.capacity = cluster_.device(memory.device).memory;
    memory.weights = rank.states.weights;
    memory.optimizer = rank.states.optimizer;
    memory.communication = rank.messages + rank.nccl;
    memory.framework = ContextMemory();
    memory.host = rank.states.host;
    memory.host_capacity = HostShare(plan_, cluster_, memory.device);
    const RankPeak peak = WalkRank(rank, order);
    memory.host += peak.host;
    memory.gradients = rank.states.gradients + peak.gradients;
    memory.activations = peak.activations;
    memory.workspace = peak.workspace;
    memory.allocated = peak.allocated;
    if (!with_fragmentation) return memory;
    const Bytes room = memory.capacity - memory.framework - rank.nccl;
    // The peak may be that of the update, whose segments come on top of those of the passes.
    const Bytes passes = memory.allocated - peak.update_excess;
    const Reservation reserved = Find(std::move(rank), order, room);
    const Bytes segments =
        Bytes(std::llround(reserved.share * static_cast<double>(passes.count())));
    memory.fragmentation = std::max(Bytes(), segments + reserved.update - memory.allocated);
    return memory;
  }

 private:
  // Pipelines with equally many micro-batches run the same passes, which are made for all stages at
  // once.
  const PassOrder& OrderOf(int stage, int replica) {
    if (!HasSeparatePipelines(plan_)) return own_ = StageOrder(plan_, stage, replica);
    PassOrders& orders = orders_[ReplicaMicroBatches(plan_, 0, replica)];
    if (orders.empty()) orders = PassOrdersOf(plan_, replica);
    return orders[stage];
  }

  struct Replayed {
    RankTensors rank;
    Bytes room;
    Reservation reservation;
  };

  Reservation Find(RankTensors rank, const PassOrder& order, Bytes room) {
    for (const Replayed& known : replayed_) {
      if (known.room == room && known.rank == rank) return known.reservation;
    }
    const Reservation reservation = shares_.Find(rank, order, room);
    replayed_.push_back({std::move(rank), room, reservation});
    return reservation;
  }

  const Plan& plan_;
  const Cluster& cluster_;
  RankTensorsMaker& maker_;
  Reservations& shares_;
  PassOrder own_;
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
  return remembered_->Begin(plan, cluster_).Estimate(stage, replica, true);
}

std::vector<StageMemory> MemoryEstimator::Estimate(const Plan& plan) {
  return Estimate(plan, true);
}

std::vector<StageMemory> MemoryEstimator::EstimateTensors(const Plan& plan) {
  return Estimate(plan, false);
}

std::vector<StageMemory> MemoryEstimator::Estimate(const Plan& plan, bool with_fragmentation) {
  Estimator estimator = remembered_->Begin(plan, cluster_);
  std::vector<StageMemory> stages;
  for (int stage = 0; stage < static_cast<int>(plan.stages.size()); ++stage) {
    // Replicas differ in their micro-batches, in their GPUs and in the memory of their hosts; of
    // those that differ in none of these, the first stands for all.
    const auto& replicas = plan.stages[stage].replicas;
    std::set<std::tuple<Bytes, Bytes, Generation, int>> seen;
    std::optional<StageMemory> fullest;
    for (int r = 0; r < static_cast<int>(replicas.size()); ++r) {
      // On nodes of one type only their micro-batches can tell replicas apart.
      if (r > 0 && cluster_.groups().size() == 1 &&
          ReplicaMicroBatches(plan, stage, r) == ReplicaMicroBatches(plan, stage, r - 1)) {
        continue;
      }
      const int device = SmallestDevice(cluster_, replicas[r]);
      const Generation generation = cluster_.device(replicas[r][0]).generation;
      const Bytes host = HostShare(plan, cluster_, device);
      const int micro_batches = ReplicaMicroBatches(plan, stage, r);
      if (!seen.emplace(cluster_.device(device).memory, host, generation, micro_batches).second) {
        continue;
      }
      const StageMemory memory = estimator.Estimate(stage, r, with_fragmentation);
      if (!fullest || IsFuller(memory, *fullest)) fullest = memory;
    }
    stages.push_back(*fullest);
  }
  return stages;
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
