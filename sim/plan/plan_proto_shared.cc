#include "sim/plan/plan_proto_shared.h"

#include <fmt/core.h>

#include <string>

#include "costmodel/missing_keys.h"
#include "sim/pipeline/order_text.h"
#include "sim/pipeline/vocabulary_placement.h"
#include "sim/plan/framework_proto.h"
#include "sim/plan/rank_order.h"
#include "sim/workload/limits.h"

namespace stagecraft {
namespace {

std::string RankOrder(const PlanProto& proto, const PlanPlace& place) {
  if (!proto.has_rank_order()) return kDefaultRankOrder;
  if (!ParseRankOrder(proto.rank_order()).has_value()) {
    place.Fail("rank_order", RankOrderProblem(proto.rank_order()));
  }
  return proto.rank_order();
}

AttentionKernel AttentionKernelFromProto(const PlanProto& proto, const PlanPlace& place) {
  switch (proto.attention_kernel()) {
    case OpProto::USUAL:
    case OpProto::FLASH1:
    case OpProto::FLASH2:
    case OpProto::FLASH3:
    case OpProto::CUDNN:
      return static_cast<AttentionKernel>(proto.attention_kernel());
    default:
      place.Fail(
          "attention_kernel",
          fmt::format("got {}, want USUAL (0), FLASH1 (4), FLASH2 (5), FLASH3 (6) or CUDNN (7)",
                      static_cast<int>(proto.attention_kernel())));
  }
}

SyncOptions SyncFromProto(const PlanProto& proto, const PlanPlace& place) {
  SyncOptions sync;
  sync.method =
      EnumFromProto(proto.gradient_sync(), SyncMethod::kAllReduce, "gradient_sync", place);
  sync.servers =
      static_cast<int>(place.InRange("sync_servers", proto.sync_servers(), 0, kMostOfADegree));
  sync.peers = static_cast<int>(place.InRange("sync_peers", proto.sync_peers(), 0, kMostOfADegree));
  sync.step = place.InRange("sync_step", proto.sync_step(), 0, kMostSteps);
  if (proto.has_dead_server()) {
    sync.dead_server =
        static_cast<int>(place.InRange("dead_server", proto.dead_server(), 0, kMostOfADegree));
  }
  sync.timeout = Duration::Nanoseconds(
      place.InRange("sync_timeout_ns", proto.sync_timeout_ns(), 0, kMostTimeout.ns()));
  return sync;
}

void ReadOrder(const PlanProto& proto, const PlanPlace& place, Plan& plan) {
  plan.schedule = EnumFromProto(proto.order(), plan.schedule, "order", place);
  PipelineScheduleOptions& options = plan.schedule_options;
  options.warmup = EnumFromProto(proto.warmup(), WarmupPolicy::kA, "warmup", place);
  options.groups.size =
      static_cast<int>(place.InRange("order_group", proto.order_group(), 0, kMostOfABatch));
  options.groups.one_more_warmup = proto.one_more_warmup();
  options.pairs_passes = proto.pairs_passes();
  if (proto.two_forwards_slot()) options.slots = ChimeraSlots::kTwoForwards;
  if (proto.vertical_sync()) options.weight_sync = WeightSync::kVertical;
  if (proto.published_search()) options.search = ZeroBubbleSearch::kPublished;
  options.vocabulary =
      EnumFromProto(proto.vocabulary(), VocabularyPlacement::kFirstLast, "vocabulary", place);
  if (proto.has_activation_limit()) options.activation_limit = proto.activation_limit();
  if (!(options.activation_limit >= 0 && options.activation_limit <= kMostActivationLimit)) {
    place.Fail("activation_limit",
               fmt::format("got {}, want 0 to {}", options.activation_limit, kMostActivationLimit));
  }
  const bool is_custom = IsCustom(plan.schedule);
  if (is_custom == (proto.orders_size() == 0)) {
    place.Fail("orders", is_custom ? "got none, want one for each stage of a custom schedule"
                                   : "got some, want them only with the pipeline schedule CUSTOM");
  }
  plan.placement = EnumFromProto(proto.placement(), Placement::kLooped, "placement", place);
  for (int stage = 0; stage < proto.orders_size(); ++stage) {
    plan.orders.push_back(OrderFromText(
        proto.orders(stage), fmt::format("{}: {}orders[{}]", place.file, place.message, stage)));
  }
}

}  // namespace

void ReadShared(const PlanProto& proto, const PlanPlace& place, Plan& plan) {
  place.InRange("schema", proto.has_schema() ? proto.schema() : 1, 1, 1);
  MissingKeys missing;
  missing.Want("micro_batch", proto.micro_batch() != 0);
  missing.Want("global_batch", proto.global_batch() != 0);
  missing.Want("sequence", proto.sequence() != 0);
  missing.Check(place.file + ": " + place.message);
  plan.micro_batch = place.InRange("micro_batch", proto.micro_batch(), 1, kMostOfABatch);
  plan.global_batch = place.InRange("global_batch", proto.global_batch(), 1, kMostOfABatch);
  plan.sequence = place.InRange("sequence", proto.sequence(), 1, kMostOfABatch);
  if (plan.global_batch % plan.micro_batch != 0) {
    place.Fail("global_batch", fmt::format("got {}, want a multiple of micro_batch {}",
                                           plan.global_batch, plan.micro_batch));
  }
  ReadOrder(proto, place, plan);
  plan.precision = EnumFromProto(proto.precision(), DType::kBf16, "precision", place);
  plan.forward_only = proto.forward_only();
  if (proto.has_zero()) plan.zero = static_cast<int>(place.InRange("zero", proto.zero(), 0, 3));
  if (proto.has_overlap_grad_reduce()) plan.overlap_grad_reduce = proto.overlap_grad_reduce();
  if (proto.has_overlap_param_gather()) plan.overlap_param_gather = proto.overlap_param_gather();
  const int narrow = plan.precision == DType::kFp16 ? 2 : 4;
  plan.gradient_bytes = proto.has_gradient_bytes() ? proto.gradient_bytes() : narrow;
  if (plan.gradient_bytes != 2 && plan.gradient_bytes != 4) {
    place.Fail("gradient_bytes", fmt::format("got {}, want 2 or 4", plan.gradient_bytes));
  }
  plan.zero_group =
      static_cast<int>(place.InRange("zero_group", proto.zero_group(), 0, kMostOfADegree));
  if (proto.has_reshard_after_forward()) {
    plan.reshard_after_forward = proto.reshard_after_forward();
  }
  plan.bucket_bytes = place.InRange("bucket_bytes", proto.bucket_bytes(), 0, kMostBucketBytes);
  plan.optimizer = EnumFromProto(proto.optimizer(), Optimizer::kAdam, "optimizer", place);
  plan.offload.optimizer = proto.offload_optimizer();
  plan.offload.activations = proto.offload_activations();
  plan.offload.host_memory =
      Bytes(place.InRange("host_memory_bytes", proto.host_memory_bytes(), 0, kMostHostMemory));
  plan.context_exchange =
      EnumFromProto(proto.context_exchange(), ContextExchange::kRing, "context_exchange", place);
  plan.fp8_recipe = EnumFromProto(proto.fp8_recipe(), Fp8Recipe::kDelayed, "fp8_recipe", place);
  plan.attention_kernel = AttentionKernelFromProto(proto, place);
  plan.gradient_sync = SyncFromProto(proto, place);
  if (proto.has_overlap_p2p()) plan.overlap_p2p = proto.overlap_p2p();
  plan.overlap_tensor = proto.overlap_tensor();
  plan.post_validation = proto.post_validation();
  if (proto.has_expert_imbalance()) plan.expert_imbalance = proto.expert_imbalance();
  plan.expert_exchange = {
      EnumFromProto(proto.expert_sends(), ExpertSends::kEveryCopy, "expert_sends", place),
      proto.dispatches_8_bits()};
  plan.recomputed_parts = {proto.recompute_norms(), proto.recompute_latents(),
                           proto.recompute_activations()};
  plan.keeps_8_bits = proto.keeps_8_bits();
  plan.rank_order = RankOrder(proto, place);
  plan.framework =
      FrameworkFromProto(proto.framework(), {place.file, place.message + "framework."});
}

}  // namespace stagecraft
