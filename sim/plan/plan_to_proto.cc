// Writes a plan as the proto that lists its stages.
#include "costmodel/enum_to_proto.h"
#include "sim/pipeline/order_text.h"
#include "sim/plan/framework_proto.h"
#include "sim/plan/plan_proto.h"

namespace stagecraft {
namespace {

void SetRange(const LayerRange& range, LayerRangeProto& proto) {
  proto.set_first(range.first);
  proto.set_count(range.count);
}

void AddStage(const Stage& stage, PlanProto& plan) {
  StageProto& proto = *plan.add_stages();
  for (const LayerRange& range : stage.chunks) SetRange(range, *proto.add_chunks());
  proto.set_tensor_parallel(stage.tensor_parallel);
  proto.set_context_parallel(stage.context_parallel);
  for (size_t r = 0; r < stage.replicas.size(); ++r) {
    ReplicaProto& replica = *proto.add_replicas();
    replica.mutable_devices()->Add(stage.replicas[r].begin(), stage.replicas[r].end());
    if (stage.replica_micro_batches.empty()) continue;
    replica.set_micro_batches(stage.replica_micro_batches[r]);
  }
  proto.set_recompute(EnumToProto<PlanProto::Recompute>(stage.recompute));
  proto.set_expert_parallel(stage.expert_parallel);
  for (const LayerRange& range : stage.recomputed) SetRange(range, *proto.add_recomputed());
}

void AddOrder(const Plan& plan, PlanProto& proto) {
  const PipelineScheduleOptions& options = plan.schedule_options;
  proto.set_order(EnumToProto<PlanProto::Order>(plan.schedule));
  proto.set_warmup(EnumToProto<PlanProto::Warmup>(options.warmup));
  proto.set_order_group(options.groups.size);
  proto.set_one_more_warmup(options.groups.one_more_warmup);
  proto.set_pairs_passes(options.pairs_passes);
  proto.set_two_forwards_slot(options.slots == ChimeraSlots::kTwoForwards);
  proto.set_activation_limit(options.activation_limit);
  proto.set_vertical_sync(options.weight_sync == WeightSync::kVertical);
  proto.set_published_search(options.search == ZeroBubbleSearch::kPublished);
  proto.set_vocabulary(EnumToProto<PlanProto::Vocabulary>(options.vocabulary));
  if (!IsCustom(plan.schedule)) return;
  proto.set_placement(EnumToProto<PlanProto::Placement>(plan.placement));
  for (const PassOrder& order : plan.orders) proto.add_orders(OrderToText(order));
}

}  // namespace

PlanProto ToProto(const Plan& plan) {
  PlanProto proto;
  proto.set_schema(1);
  for (const Stage& stage : plan.stages) AddStage(stage, proto);
  proto.set_micro_batch(plan.micro_batch);
  proto.set_global_batch(plan.global_batch);
  proto.set_sequence(plan.sequence);
  proto.set_precision(EnumToProto<PlanProto::Precision>(plan.precision));
  proto.set_forward_only(plan.forward_only);
  proto.set_sequence_parallel(plan.sequence_parallel);
  proto.set_zero(plan.zero);
  proto.set_overlap_grad_reduce(plan.overlap_grad_reduce);
  proto.set_overlap_param_gather(plan.overlap_param_gather);
  proto.set_gradient_bytes(plan.gradient_bytes);
  proto.set_rank_order(plan.rank_order);
  proto.set_zero_group(plan.zero_group);
  proto.set_bucket_bytes(plan.bucket_bytes);
  proto.set_context_exchange(EnumToProto<PlanProto::ContextExchange>(plan.context_exchange));
  proto.set_fp8_recipe(EnumToProto<PlanProto::Fp8Recipe>(plan.fp8_recipe));
  proto.set_attention_kernel(static_cast<OpProto::AttentionKernel>(plan.attention_kernel));
  const SyncOptions& sync = plan.gradient_sync;
  proto.set_gradient_sync(EnumToProto<GradientSyncProto::Method>(sync.method));
  proto.set_sync_servers(sync.servers);
  proto.set_sync_peers(sync.peers);
  proto.set_sync_step(sync.step);
  if (sync.dead_server >= 0) proto.set_dead_server(sync.dead_server);
  proto.set_sync_timeout_ns(sync.timeout.ns());
  proto.set_overlap_p2p(plan.overlap_p2p);
  proto.set_overlap_tensor(plan.overlap_tensor);
  proto.set_post_validation(plan.post_validation);
  proto.set_optimizer(EnumToProto<PlanProto::Optimizer>(plan.optimizer));
  proto.set_offload_optimizer(plan.offload.optimizer);
  proto.set_offload_activations(plan.offload.activations);
  proto.set_host_memory_bytes(plan.offload.host_memory.count());
  proto.set_reshard_after_forward(plan.reshard_after_forward);
  AddOrder(plan, proto);
  proto.set_expert_imbalance(plan.expert_imbalance);
  proto.set_expert_sends(EnumToProto<PlanProto::ExpertSends>(plan.expert_exchange.sends));
  proto.set_dispatches_8_bits(plan.expert_exchange.dispatches_8_bits);
  proto.set_recompute_norms(plan.recomputed_parts.norms);
  proto.set_recompute_latents(plan.recomputed_parts.latents);
  proto.set_recompute_activations(plan.recomputed_parts.activations);
  proto.set_keeps_8_bits(plan.keeps_8_bits);
  *proto.mutable_framework() = FrameworkToProto(plan.framework);
  return proto;
}

}  // namespace stagecraft
