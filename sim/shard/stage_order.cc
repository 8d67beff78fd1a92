#include "sim/shard/stage_order.h"

#include <algorithm>
#include <limits>
#include <map>
#include <span>
#include <utility>

#include "costmodel/divide.h"
#include "sim/cluster/slowest_group.h"
#include "sim/shard/vocabulary_shard.h"
#include "sim/workload/tied_layers.h"
#include "sim/workload/vocabulary_layers.h"

namespace stagecraft {

namespace {

// PipeDream's 1F1B-RR: as many micro-batches are in flight as this stage and those after it have
// replicas. Replicas that run every pass together run a backward only when all gradients of their
// round have come back, for which the next stage may need whole rounds of its own: they have whole
// rounds in flight, at least as many micro-batches as the next stage and one round more.
PassOrder ReplicatedOrder(const Plan& plan, int stage, int replica) {
  int64_t window = 0;
  for (int s = static_cast<int>(plan.stages.size()) - 1; s >= stage; --s) {
    const auto replicas = static_cast<int64_t>(plan.stages[s].replicas.size());
    window += replicas;
    if (ReplicasKeepStep(plan, s)) window = DivideUp(window, replicas) * replicas;
  }
  return OneForwardOneBackwardOrder(static_cast<int>(window), StageShares(plan, stage), replica);
}

void DropBackwards(PassOrder& order) {
  std::erase_if(order, [](const Pass& pass) { return pass.phase != Phase::kForward; });
  for (Pass& pass : order) pass.beside_next = false;
}

}  // namespace

PassOrders MakePipelineSchedules(const Plan& plan, int replica, const PassOrderInputs* inputs) {
  PassOrders orders = MakePassOrders(plan.schedule, plan.schedule_options, MapOf(plan),
                                     ReplicaMicroBatches(plan, 0, replica), inputs);
  if (plan.forward_only) std::for_each(orders.begin(), orders.end(), DropBackwards);
  return orders;
}

PassOrders PassOrdersOf(const Plan& plan, int replica) {
  return plan.orders.empty() ? MakePipelineSchedules(plan, replica, nullptr) : plan.orders;
}

PassOrder StageOrder(const Plan& plan, int stage, int replica) {
  if (HasSeparatePipelines(plan)) return PassOrdersOf(plan, replica)[stage];
  PassOrder order = TraitsOf(plan.schedule).unequal_replicas == UnequalReplicas::kForwardsFirst
                        ? GpipeOrder(ReplicaMicroBatches(plan, stage, replica))
                        : ReplicatedOrder(plan, stage, replica);
  if (plan.forward_only) DropBackwards(order);
  return order;
}

std::vector<int> ReplicaDevices(const Stage& stage, int tensor) {
  std::vector<int> devices;
  for (const std::vector<int>& replica : stage.replicas) {
    for (size_t i = tensor; i < replica.size(); i += static_cast<size_t>(stage.tensor_parallel)) {
      devices.push_back(replica[i]);
    }
  }
  return devices;
}

namespace {

using Groups = std::vector<std::vector<int>>;

// The groups of a replica's devices that divide each layer's operators.
Groups TensorGroups(const Stage& stage, std::span<const int> devices) {
  const auto size = static_cast<size_t>(stage.tensor_parallel);
  Groups groups;
  for (size_t first = 0; first + size <= devices.size(); first += size) {
    groups.emplace_back(devices.begin() + first, devices.begin() + first + size);
  }
  return groups;
}

// The groups of a replica's devices that divide each sequence.
Groups ContextGroups(const Stage& stage, std::span<const int> devices) {
  const auto stride = static_cast<size_t>(stage.tensor_parallel);
  Groups groups;
  for (size_t tensor = 0; tensor < stride; ++tensor) {
    std::vector<int>& group = groups.emplace_back();
    for (size_t i = tensor; i < devices.size(); i += stride) group.push_back(devices[i]);
  }
  return groups;
}

// The groups that share the experts of a replica's devices: for each tensor index consecutive
// data-parallel ranks, which are counted over the replicas and the context indices of each.
Groups ExpertGroups(const Stage& stage, int replica) {
  const int size = stage.expert_parallel;
  const int context = stage.context_parallel;
  const int first = replica * context / size;
  const int last = (replica * context + context - 1) / size;
  Groups groups;
  for (int tensor = 0; tensor < stage.tensor_parallel; ++tensor) {
    for (int group = first; group <= last; ++group) {
      std::vector<int>& devices = groups.emplace_back();
      for (int rank = group * size; rank < (group + 1) * size; ++rank) {
        const int index = rank % context * stage.tensor_parallel + tensor;
        devices.push_back(stage.replicas[rank / context][index]);
      }
    }
  }
  return groups;
}

struct RailsAndNodes {
  Groups rails, nodes;
};

// Divides groups into the devices of each scale-up domain, and the first devices of all of them.
RailsAndNodes DivideByNode(const Cluster& cluster, const Groups& groups) {
  RailsAndNodes divided;
  for (const std::vector<int>& group : groups) {
    std::map<int, std::vector<int>> by_domain;
    for (const int device : group) {
      by_domain[cluster.domain(cluster.place(device).node)].push_back(device);
    }
    std::vector<int>& rail = divided.rails.emplace_back();
    for (auto& [domain, devices] : by_domain) {
      rail.push_back(devices.front());
      divided.nodes.push_back(std::move(devices));
    }
  }
  return divided;
}

}  // namespace

ShardSpec StageDivision(const Plan& plan, const Workload& workload, int stage) {
  const Stage& s = plan.stages[stage];
  ShardSpec spec;
  spec.tensor = s.tensor_parallel;
  spec.context = s.context_parallel;
  spec.sequence_parallel = plan.sequence_parallel && s.tensor_parallel > 1;
  spec.micro_batch = plan.micro_batch;
  spec.sequence = plan.sequence;
  spec.precision = plan.precision;
  spec.fp8_recipe = plan.fp8_recipe;
  spec.recompute = plan.forward_only ? Recompute::kNone : s.recompute;
  if (!plan.forward_only) spec.recomputed = s.recomputed;
  spec.attention = workload.attention;
  spec.attention_kernel = plan.attention_kernel;
  spec.overlap_tensor = plan.overlap_tensor && spec.sequence_parallel;
  if (!workload.lists_kernels) spec.elementwise_traffic = plan.framework.elementwise_traffic;
  spec.composes_operators = plan.framework.composes_operators;
  if (plan.framework.sums_gradients) spec.gradient_bytes = plan.gradient_bytes;
  if (plan.zero >= 3) spec.shard_copies = plan.framework.shard_copies;
  spec.gathers_for_backward = plan.reshard_after_forward;
  spec.casts_weights = plan.framework.autocasts && spec.ElementBytes() < 4;
  spec.casts_activations = spec.casts_weights && !workload.lists_kernels;
  spec.adds_gradients_apart = plan.framework.adds_gradients_apart;
  spec.exposes_tensor_gradients = plan.framework.exposes_tensor_gradients;
  spec.context_exchange = plan.context_exchange;
  spec.expert = s.expert_parallel;
  spec.expert_imbalance = plan.expert_imbalance;
  spec.expert_exchange = plan.expert_exchange;
  spec.multiplies_experts_apart = plan.framework.multiplies_experts_apart;
  if (!plan.forward_only) spec.recomputed_parts = plan.recomputed_parts;
  spec.keeps_8_bits = plan.keeps_8_bits;
  if (plan.SplitsVocabulary()) spec.vocabulary_shares = static_cast<int>(plan.stages.size());
  return spec;
}

ShardSpec StageShard(const Plan& plan, const Workload& workload, const Cluster& cluster, int stage,
                     int replica) {
  const Stage& s = plan.stages[stage];
  const std::vector<int>& devices = s.replicas[replica];
  ShardSpec spec = StageDivision(plan, workload, stage);
  const std::span<const int> alone = std::span(devices).first(1);
  spec.tensor_fabric = s.context_parallel == 1 ? cluster.DescribeGroup(devices)
                                               : SlowestGroup(cluster, TensorGroups(s, devices));
  spec.context_fabric = s.context_parallel == 1 ? cluster.DescribeGroup(alone)
                                                : SlowestGroup(cluster, ContextGroups(s, devices));
  if (s.expert_parallel == 1) {
    spec.expert_fabric = cluster.DescribeGroup(alone);
    return spec;
  }
  const Groups groups = ExpertGroups(s, replica);
  spec.expert_fabric = SlowestGroup(cluster, groups, Traffic::kAllToAll);
  if (plan.expert_exchange.sends == ExpertSends::kOncePerNode) {
    const auto [rails, nodes] = DivideByNode(cluster, groups);
    spec.expert_rail_fabric = SlowestGroup(cluster, rails, Traffic::kAllToAll);
    spec.expert_node_fabric = SlowestGroup(cluster, nodes, Traffic::kAllToAll);
  }
  return spec;
}

namespace {

// What count(layer) says of one layer of each kind, without the parts of a split vocabulary.
template <typename Count>
std::vector<ParameterCount> CountKinds(const Plan& plan, const Workload& workload, Count count) {
  std::vector<ParameterCount> of_kind;
  for (const LayerKind& kind : workload.kinds) {
    of_kind.push_back(plan.SplitsVocabulary() ? count(WithoutVocabulary(kind)) : count(kind));
  }
  return of_kind;
}

}  // namespace

std::vector<ParameterCount> KindParameters(const Plan& plan, const Workload& workload, int stage) {
  const Stage& s = plan.stages[stage];
  return CountKinds(plan, workload, [&](const LayerKind& kind) {
    return ShardParameters(kind, s.tensor_parallel, s.expert_parallel);
  });
}

std::vector<ParameterCount> TrainedKindParameters(const Plan& plan, const Workload& workload,
                                                  int stage) {
  const Stage& s = plan.stages[stage];
  return CountKinds(plan, workload, [&](const LayerKind& kind) {
    return ShardTrained(kind, s.tensor_parallel, s.expert_parallel);
  });
}

namespace {

// Sums the parameters of the layers of a stage by chunk; `of_kind` are those of a layer by its
// kind, and is_counted(layer) says whether its tied ones are among them.
template <typename IsCounted>
std::vector<ParameterCount> SumParameters(const Plan& plan, const Workload& workload, int stage,
                                          std::vector<ParameterCount> of_kind,
                                          IsCounted is_counted) {
  const Stage& s = plan.stages[stage];
  std::vector<ParameterCount> parameters;
  const int home = HomeOfTied(workload);
  const bool holds_home =
      home >= 0 && std::any_of(s.chunks.begin(), s.chunks.end(), [&](const LayerRange& c) {
        return home >= c.first && home < c.first + c.count;
      });
  // On one rank, all that is tied is one tensor. Tied layers hold the beginning of that of the
  // home.
  int64_t held = holds_home && is_counted(home) ? std::numeric_limits<int64_t>::max() : 0;
  for (const LayerRange& range : s.chunks) {
    ParameterCount sum;
    for (int l = range.first; l < range.first + range.count; ++l) {
      const LayerKind& kind = workload.layer(l);
      sum += of_kind[workload.layers[l]];
      if (plan.SplitsVocabulary() || kind.tied_parameters == 0 || !is_counted(l)) continue;
      const int64_t tied = DivideUp(kind.tied_parameters, s.tensor_parallel);
      sum.dense -= std::min(tied, held);
      held = std::max(tied, held);
    }
    parameters.push_back(sum);
  }
  if (!plan.SplitsVocabulary()) return parameters;
  const ShardSpec spec = StageDivision(plan, workload, stage);
  for (const VocabularyPart part : {VocabularyPart::kEmbedding, VocabularyPart::kOutput}) {
    const LayerKind layer = SharedLayer(workload, part, spec);
    ParameterCount own = ShardParameters(layer, s.tensor_parallel, s.expert_parallel);
    // The rows of a stage are the same in both parts.
    own.dense -= DivideUp(layer.tied_parameters, s.tensor_parallel);
    parameters.push_back(own);
  }
  return parameters;
}

}  // namespace

std::vector<ParameterCount> ChunkParameters(const Plan& plan, const Workload& workload, int stage) {
  return SumParameters(plan, workload, stage, KindParameters(plan, workload, stage),
                       [](int) { return true; });
}

std::vector<ParameterCount> TrainedChunkParameters(const Plan& plan, const Workload& workload,
                                                   int stage) {
  return SumParameters(plan, workload, stage, TrainedKindParameters(plan, workload, stage),
                       [&](int layer) { return TrainsTied(workload, layer); });
}

Bytes StageIndices(const Plan& plan, const Workload& workload, int stage) {
  const Stage& s = plan.stages[stage];
  std::vector<Bytes> of_kind;
  for (const LayerKind& kind : workload.kinds) {
    of_kind.push_back(ShardIndices(kind, s.tensor_parallel, s.expert_parallel));
  }
  Bytes sum;
  for (const LayerRange& range : s.chunks) {
    for (int l = range.first; l < range.first + range.count; ++l) {
      sum += of_kind[workload.layers[l]];
    }
  }
  return sum;
}

}  // namespace stagecraft
