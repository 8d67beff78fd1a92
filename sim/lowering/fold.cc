#include "sim/lowering/fold.h"

#include <algorithm>
#include <bit>
#include <functional>
#include <map>
#include <numeric>
#include <optional>
#include <set>
#include <utility>

#include "sim/cluster/alike_nodes.h"
#include "sim/cluster/message_fabrics.h"
#include "sim/cluster/slowest_group.h"
#include "sim/lowering/exchange_devices.h"
#include "sim/lowering/holder_groups.h"
#include "sim/lowering/replica_copies.h"
#include "sim/plan/tied_stages.h"
#include "sim/shard/shard.h"
#include "sim/shard/stage_order.h"

namespace stagecraft {
namespace {

using Signature = std::vector<int64_t>;

void Append(const Link& link, Signature& signature) {
  signature.push_back(static_cast<int64_t>(link.kind));
  signature.push_back(static_cast<int64_t>(link.network));
  signature.push_back(link.latency.ns());
  signature.push_back(static_cast<int64_t>(link.bandwidth.bytes_per_s()));
}

void Append(double rate, Signature& signature) {
  signature.push_back(std::bit_cast<int64_t>(rate));
}

void Append(const Fabric& fabric, Signature& signature) {
  signature.insert(signature.end(),
                   {fabric.ranks, fabric.nodes, fabric.ranks_per_node, fabric.nvls});
  Append(fabric.intra, signature);
  Append(fabric.inter, signature);
  Append(fabric.intra_rate, signature);
  Append(fabric.inter_rate, signature);
}

PipelineInstance OnePipeline(const Plan& plan, int replica) {
  PipelineInstance instance;
  instance.replicas.assign(plan.stages.size(), {replica});
  return instance;
}

PipelineInstance WholePipeline(const Plan& plan) {
  PipelineInstance instance;
  for (const Stage& stage : plan.stages) {
    std::vector<int> replicas(stage.replicas.size());
    std::iota(replicas.begin(), replicas.end(), 0);
    instance.replicas.push_back(std::move(replicas));
  }
  return instance;
}

// Returns the pairs of replicas of two stages that hand micro-batches to each other, if pipelines
// are not separate.
std::set<std::pair<int, int>> Partners(const Plan& plan, int stage, int next) {
  const auto replicas = static_cast<int>(plan.stages[stage].replicas.size());
  const auto next_replicas = static_cast<int>(plan.stages[next].replicas.size());
  std::set<std::pair<int, int>> partners;
  const MicroBatchShares own = StageShares(plan, stage);
  const MicroBatchShares others = StageShares(plan, next);
  int micro_batches = 0;
  for (int r = 0; r < replicas; ++r) micro_batches += own.Count(r);
  const auto all = static_cast<size_t>(replicas) * static_cast<size_t>(next_replicas);
  for (int b = 0; b < micro_batches && partners.size() < all; ++b) {
    partners.insert({own.Find(b).replica, others.Find(b).replica});
  }
  return partners;
}

// Whether describe(i) is equal for all i below `count`.
template <typename Describe>
bool AreAlike(int count, Describe describe) {
  if (count < 2) return true;
  const auto first = describe(0);
  for (int i = 1; i < count; ++i) {
    if (describe(i) != first) return false;
  }
  return true;
}

// Decides which ranks and replicas can stand for others.
class Folder {
 public:
  Folder(const Plan& plan, const Workload& workload, const Cluster& cluster)
      : plan_(plan),
        workload_(workload),
        cluster_(cluster),
        tied_(FindTiedStages(plan, workload)),
        is_separate_(HasSeparatePipelines(plan)),
        messages_(cluster) {
    if (is_separate_) TakeOriginals();
    const std::vector<Cluster::NodeGroup>& groups = cluster.groups();
    for (const Cluster::NodeGroup& group : groups) {
      const auto first = std::find_if(groups.begin(), groups.end(), [&](const auto& other) {
        return other.type.device == group.type.device;
      });
      gpus_.push_back(static_cast<int>(first - groups.begin()));
    }
  }

  Folding Run(bool unfold) {
    Folding folding;
    folding.unfold_ranks = unfold || !RanksAreAlike();
    if (!is_separate_) {
      folding.instances.push_back(WholePipeline(plan_));
      return folding;
    }
    // A slow link makes the ranks of all replicas unlike each other, since they meet it in the
    // groups that add up gradients; replicas that it does not touch are still alike, rank by rank.
    const bool has_slow_links = !cluster_.slow_parts().links.empty();
    const bool folds =
        !folding.unfold_ranks || (!unfold && has_slow_links && cluster_.shared_memories().empty());
    std::map<Signature, size_t> classes;
    std::vector<size_t> instance_of(replica_count(0));
    for (int r = 0; r < replica_count(0); ++r) {
      if (folds && original_[r] != r) {
        instance_of[r] = instance_of[original_[r]];
        ++folding.instances[instance_of[r]].multiplicity;
        continue;
      }
      if (folds) {
        Signature signature = folding.unfold_ranks ? SignatureByRank(r) : SignatureOfAlikeRanks(r);
        const auto [entry, is_new] =
            classes.try_emplace(std::move(signature), folding.instances.size());
        instance_of[r] = entry->second;
        if (!is_new) {
          ++folding.instances[entry->second].multiplicity;
          continue;
        }
      }
      folding.instances.push_back(OnePipeline(plan_, r));
    }
    return folding;
  }

 private:
  int stages() const { return static_cast<int>(plan_.stages.size()); }
  int replica_count(int stage) const {
    return static_cast<int>(plan_.stages[stage].replicas.size());
  }
  int RanksOf(int stage) const { return static_cast<int>(plan_.stages[stage].replicas[0].size()); }

  void TakeOriginals() {
    original_ = FindOriginals(plan_, cluster_);
    place_.resize(original_.size());
    for (int r = 0; r < replica_count(0); ++r) {
      if (original_[r] != r) continue;
      place_[r] = static_cast<int>(originals_.size());
      originals_.push_back(r);
    }
  }

  // Whether `holds` for all replicas; if pipelines are separate, the originals answer for them.
  template <typename Holds>
  bool AllReplicas(int stage, Holds holds) const {
    if (is_separate_) return std::all_of(originals_.begin(), originals_.end(), holds);
    for (int r = 0; r < replica_count(stage); ++r) {
      if (!holds(r)) return false;
    }
    return true;
  }

  // What the time of a replica's passes depends on, but for the speed of its devices.
  void AppendStage(int stage, int replica, Signature& signature) const {
    for (const int device : plan_.stages[stage].replicas[replica]) {
      signature.push_back(cluster_.device_group(device));
    }
    const ShardSpec spec = StageShard(plan_, workload_, cluster_, stage, replica);
    Append(spec.tensor_fabric, signature);
    Append(spec.context_fabric, signature);
    Append(spec.expert_fabric, signature);
    Append(spec.expert_node_fabric, signature);
    Append(spec.expert_rail_fabric, signature);
    signature.push_back(ReplicaMicroBatches(plan_, stage, replica));
  }

  // Everything on which the time of a replica's work depends, whatever its ranks are.
  Signature SignatureByRank(int replica) {
    Signature signature;
    const PipelineInstance pipeline = OnePipeline(plan_, replica);
    for (int stage = 0; stage < stages(); ++stage) {
      AppendStage(stage, replica, signature);
      for (const int device : plan_.stages[stage].replicas[replica]) {
        Append(cluster_.speed(device), signature);
      }
      const int next = (stage + 1) % stages();
      if (next == stage) continue;
      for (const auto& [from, to] : {std::pair(stage, next), std::pair(next, stage)}) {
        for (const Fabric& fabric :
             messages_.Describe(FindMessages(plan_, from, replica, to, replica))) {
          Append(fabric, signature);
        }
      }
    }
    for (int rank = 0; tied_ && rank < RanksOf(tied_->stages.front()); ++rank) {
      Append(TiedGroup(pipeline, rank), signature);
    }
    for (int rank = 0; plan_.SplitsVocabulary() && rank < RanksOf(0); ++rank) {
      Append(VocabularyGroup(pipeline, rank), signature);
    }
    return signature;
  }

  // The same if its ranks are alike, but for their speeds: the slowest of them stands for all.
  Signature SignatureOfAlikeRanks(int replica) {
    Signature signature;
    for (int stage = 0; stage < stages(); ++stage) {
      AppendStage(stage, replica, signature);
      const int slowest = SlowestDevice(cluster_, plan_.stages[stage].replicas[replica]);
      Append(cluster_.speed(slowest), signature);
      if (stages() == 1) continue;
      Append(onward_[stage][place_[replica]], signature);
      Append(back_[stage][place_[replica]], signature);
    }
    if (tied_) {
      Append(TiedGroup(OnePipeline(plan_, replica), 0), signature);
    }
    if (plan_.SplitsVocabulary()) {
      Append(VocabularyGroup(OnePipeline(plan_, replica), 0), signature);
    }
    return signature;
  }

  // Whether all devices of a replica have the same type and the same groups and routes, so that one
  // rank can stand for all.
  bool RanksAreAlike() {
    if (plan_.gradient_sync.servers > 0) return false;  // each group has servers of its own
    // Groups and routes do not show which devices share the memory of a device.
    if (!cluster_.shared_memories().empty()) return false;
    for (int stage = 0; stage < stages(); ++stage) {
      if (!GpusAreAlike(stage) || !DataGroupsAreAlike(stage) || !MessagesAreAlike(stage)) {
        return false;
      }
    }
    return TiedGroupsAreAlike() && VocabularyGroupsAreAlike();
  }

  bool GpusAreAlike(int stage) const {
    return AllReplicas(stage, [&](int r) {
      const std::vector<int>& replica = plan_.stages[stage].replicas[r];
      return AreAlike(static_cast<int>(replica.size()),
                      [&](int i) { return gpus_[cluster_.device_group(replica[i])]; });
    });
  }

  // Whether the devices of a replica with the same context index are on one node, for all replicas
  // of a stage and of those that hold the same parameters.
  bool TensorRanksShareNodes(int stage) const {
    const std::vector<int> peers = MapOf(plan_).Peers(stage);
    return std::all_of(peers.begin(), peers.end(), [&](int peer) {
      const auto ranks = static_cast<size_t>(plan_.stages[peer].tensor_parallel);
      return AllReplicas(peer, [&](int r) {
        const std::vector<int>& replica = plan_.stages[peer].replicas[r];
        for (size_t i = 0; i < replica.size(); ++i) {
          const int first = replica[i - i % ranks];
          if (cluster_.place(replica[i]).node != cluster_.place(first).node) return false;
        }
        return true;
      });
    });
  }

  // Whether the groups are alike for all tensor indices: those that add up gradients, and those
  // that divide parameters.
  bool DataGroupsAreAlike(int stage) const {
    const Stage& s = plan_.stages[stage];
    // On nodes without differences it makes none which of its devices is in a group, if it is the
    // only one: nothing inside the node is used, and all devices share the network alike.
    if (s.expert_parallel == 1 && plan_.zero_group == 0 && NodesAreAlike(cluster_) &&
        TensorRanksShareNodes(stage)) {
      const Fabric fabric = cluster_.DescribeGroup(DataDevices(plan_, stage, 0));
      if (fabric.nodes == fabric.ranks) return true;
    }
    const auto fabrics = [&](int tensor, int stride) {
      std::vector<Fabric> seen;
      const std::vector<int> devices = DataDevices(plan_, stage, tensor);
      if (stride == 1 && plan_.zero_group == 0) {
        seen.push_back(cluster_.DescribeGroup(devices));
        return seen;
      }
      const HolderGroups groups = DivideHolders(devices, stride, plan_.zero_group);
      seen.push_back(SlowestGroup(cluster_, groups.all));
      if (groups.copies.empty()) return seen;
      seen.push_back(SlowestGroup(cluster_, groups.sharing));
      seen.push_back(SlowestGroup(cluster_, groups.copies));
      return seen;
    };
    const auto are_alike = [&](int stride) {
      return AreAlike(s.tensor_parallel, [&](int tensor) { return fabrics(tensor, stride); });
    };
    return are_alike(1) && (s.expert_parallel == 1 || are_alike(s.expert_parallel));
  }

  // Whether the messages between a stage and the next one are alike, in each direction.
  bool MessagesAreAlike(int stage) {
    const int next = (stage + 1) % stages();
    if (next == stage) return true;
    if (!is_separate_) {
      const auto partners = Partners(plan_, stage, next);
      return std::all_of(partners.begin(), partners.end(), [&](const auto& pair) {
        const auto [own, other] = pair;
        return Message(stage, own, next, other) && Message(next, other, stage, own);
      });
    }
    onward_.emplace_back();
    back_.emplace_back();
    for (const int r : originals_) {
      const std::optional<Fabric> onward = Message(stage, r, next, r);
      if (!onward) return false;
      const std::optional<Fabric> back = Message(next, r, stage, r);
      if (!back) return false;
      onward_.back().push_back(*onward);
      back_.back().push_back(*back);
    }
    return true;
  }

  // Returns the fabric of all messages from one replica to another, or nothing if they differ.
  std::optional<Fabric> Message(int from, int from_replica, int to, int to_replica) {
    const std::vector<Fabric>& messages =
        messages_.Describe(FindMessages(plan_, from, from_replica, to, to_replica));
    const bool are_alike = std::adjacent_find(messages.begin(), messages.end(),
                                              std::not_equal_to<>()) == messages.end();
    return are_alike ? std::optional(messages[0]) : std::nullopt;
  }

  Fabric TiedGroup(const PipelineInstance& instance, int rank) {
    const std::vector<int> devices = TiedDevices(plan_, tied_->stages, instance, rank);
    if (devices.size() != 2) return cluster_.DescribeGroup(devices);
    // A large cluster has few classes of pairs, so most pairs have been described before.
    const auto [entry, is_new] = pairs_.try_emplace(cluster_.PairClass(devices[0], devices[1]));
    if (is_new) entry->second = cluster_.DescribeGroup(devices);
    return entry->second;
  }

  bool TiedGroupsAreAlike() {
    if (!tied_) return true;
    const Stage& first = plan_.stages[tied_->stages.front()];
    const auto ranks = static_cast<int>(first.replicas[0].size());
    // If the replicas of one stage have fewer devices than those of another, each of these devices
    // takes part in several groups.
    for (const int stage : tied_->stages) {
      if (ranks != static_cast<int>(plan_.stages[stage].replicas[0].size())) return false;
    }
    const auto are_alike = [&](const PipelineInstance& instance) {
      return AreAlike(ranks, [&](int rank) { return TiedGroup(instance, rank); });
    };
    if (!is_separate_) return are_alike(WholePipeline(plan_));
    return AllReplicas(0, [&](int r) { return are_alike(OnePipeline(plan_, r)); });
  }

  Fabric VocabularyGroup(const PipelineInstance& instance, int rank) const {
    return cluster_.DescribeGroup(PipelineDevices(plan_, instance, rank));
  }

  bool VocabularyGroupsAreAlike() const {
    if (!plan_.SplitsVocabulary()) return true;
    return AllReplicas(0, [&](int r) {
      const PipelineInstance pipeline = OnePipeline(plan_, r);
      return AreAlike(RanksOf(0), [&](int rank) { return VocabularyGroup(pipeline, rank); });
    });
  }

  const Plan& plan_;
  const Workload& workload_;
  const Cluster& cluster_;
  const std::optional<TiedStages> tied_;
  const bool is_separate_;
  // Filled if pipelines are separate: by replica, the one that it copies (replica_copies.h); the
  // originals, which copy none; and by original, its place in that list.
  std::vector<int> original_, originals_, place_;
  std::vector<int> gpus_;  // by group of nodes: the first group with the same type of device
  MessageFabrics messages_;
  // The fabrics of the messages to the next stage, and of those that come back, by stage and
  // place in `originals_`. Filled if pipelines are separate and ranks alike.
  std::vector<std::vector<Fabric>> onward_, back_;
  std::map<int64_t, Fabric> pairs_;  // by Cluster::PairClass()
};

}  // namespace

int SlowestDevice(const Cluster& cluster, const std::vector<int>& devices) {
  return *std::min_element(devices.begin(), devices.end(),
                           [&](int a, int b) { return cluster.speed(a) < cluster.speed(b); });
}

Folding FoldReplicas(const Plan& plan, const Workload& workload, const Cluster& cluster,
                     bool unfold) {
  return Folder(plan, workload, cluster).Run(unfold);
}

}  // namespace stagecraft
