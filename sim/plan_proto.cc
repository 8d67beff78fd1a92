#include "sim/plan_proto.h"

#include <fmt/format.h>

#include <cstdint>
#include <set>
#include <string_view>
#include <vector>

#include "costmodel/check.h"
#include "sim/pipeline/order_text.h"
#include "sim/plan_limits.h"
#include "sim/rank_order.h"

namespace stagecraft {
namespace {

// Where a value stands; put together only when there is something to complain
// about.
struct Place {
  std::string file;
  std::string message = "";  // "stages[3]." or ""

  [[noreturn]] void Fail(std::string_view field, const std::string& problem) const {
    throw InputError(fmt::format("{}: {}{}: {}", file, message, field, problem));
  }
  int64_t InRange(std::string_view field, int64_t value, int64_t least, int64_t most) const {
    if (value < least || value > most) {
      Fail(field, fmt::format("got {}, want {} to {}", value, least, most));
    }
    return value;
  }
  int Degree(std::string_view field, bool is_present, int64_t value) const {
    return is_present ? static_cast<int>(InRange(field, value, 1, kMostOfADegree)) : 1;
  }
};

// The protos number these enums from one, in the same order; zero is
// "unspecified", which means `otherwise`.
template <typename Enum, typename ProtoEnum>
Enum EnumFromProto(ProtoEnum value, Enum otherwise, std::string_view field, const Place& place) {
  const auto* names = google::protobuf::GetEnumDescriptor<ProtoEnum>();
  place.InRange(field, static_cast<int>(value), 0, names->value_count() - 1);
  return value == 0 ? otherwise : static_cast<Enum>(static_cast<int>(value) - 1);
}

std::string RankOrder(const PlanProto& proto, const Place& place) {
  if (!proto.has_rank_order()) return kDefaultRankOrder;
  if (!ParseRankOrder(proto.rank_order()).has_value()) {
    place.Fail("rank_order", RankOrderProblem(proto.rank_order()));
  }
  return proto.rank_order();
}

LayerRange RangeFromProto(const LayerRangeProto& proto, const Place& place) {
  LayerRange range;
  range.first = static_cast<int>(place.InRange("first", proto.first(), 0, kMostLayers));
  range.count = static_cast<int>(place.InRange("count", proto.count(), 1, kMostLayers));
  return range;
}

std::vector<LayerRange> RangesFromProto(
    const google::protobuf::RepeatedPtrField<LayerRangeProto>& protos, std::string_view field,
    const Place& place) {
  std::vector<LayerRange> ranges;
  for (int i = 0; i < protos.size(); ++i) {
    const Place inside{place.file, fmt::format("{}{}[{}].", place.message, field, i)};
    ranges.push_back(RangeFromProto(protos[i], inside));
  }
  return ranges;
}

std::vector<int> ReplicaFromProto(const ReplicaProto& proto, const Stage& stage, const Place& place,
                                  std::set<int>& used) {
  const int64_t want = static_cast<int64_t>(stage.tensor_parallel) * stage.context_parallel;
  if (proto.devices_size() != want) {
    place.Fail("devices", fmt::format("got {}, want tensor_parallel {} x context_parallel {} = {}",
                                      proto.devices_size(), stage.tensor_parallel,
                                      stage.context_parallel, want));
  }
  for (int i = 0; i < proto.devices_size(); ++i) {
    const std::string field = fmt::format("devices[{}]", i);
    place.InRange(field, proto.devices(i), 0, kMostOfADegree);
    if (!used.insert(proto.devices(i)).second) {
      place.Fail(field, fmt::format("got {}, which the plan uses twice, want another device",
                                    proto.devices(i)));
    }
  }
  return {proto.devices().begin(), proto.devices().end()};
}

Stage StageFromProto(const StageProto& proto, const Place& place, std::set<int>& used) {
  Stage stage;
  stage.tensor_parallel =
      place.Degree("tensor_parallel", proto.has_tensor_parallel(), proto.tensor_parallel());
  stage.context_parallel =
      place.Degree("context_parallel", proto.has_context_parallel(), proto.context_parallel());
  stage.expert_parallel =
      place.Degree("expert_parallel", proto.has_expert_parallel(), proto.expert_parallel());
  stage.recompute = EnumFromProto(proto.recompute(), Recompute::kSelective, "recompute", place);
  stage.chunks = RangesFromProto(proto.chunks(), "chunks", place);
  for (int i = 0; i < proto.replicas_size(); ++i) {
    const Place inside{place.file, fmt::format("{}replicas[{}].", place.message, i)};
    stage.replicas.push_back(ReplicaFromProto(proto.replicas(i), stage, inside, used));
  }
  if (stage.replicas.empty()) place.Fail("replicas", "got none, want at least one");
  for (int i = 0; i < proto.replicas_size(); ++i) {
    const std::string field = fmt::format("replicas[{}].micro_batches", i);
    if (proto.replicas(i).has_micro_batches() != proto.replicas(0).has_micro_batches()) {
      place.Fail(field, "want it for every replica of a stage or for none");
    }
    if (!proto.replicas(i).has_micro_batches()) continue;
    stage.replica_micro_batches.push_back(static_cast<int>(
        place.InRange(field, proto.replicas(i).micro_batches(), 1, kMostOfABatch)));
  }
  if (stage.chunks.empty()) place.Fail("chunks", "got none, want at least one");
  stage.recomputed = RangesFromProto(proto.recomputed(), "recomputed", place);
  return stage;
}

// Along every chain each part begins where the one before ended.
void CheckLayersFollow(const Plan& plan, const std::string& file) {
  const std::vector<Stage>& stages = plan.stages;
  const size_t chunks = stages[0].chunks.size();
  for (size_t s = 0; s < stages.size(); ++s) {
    if (stages[s].chunks.size() == chunks) continue;
    Place{file}.Fail(
        fmt::format("stages[{}].chunks", s),
        fmt::format("got {}, want {} as in stages[0]", stages[s].chunks.size(), chunks));
  }
  const std::string problem =
      FindChunkError(plan.order, PlacementOf(plan), static_cast<int>(stages.size()),
                     static_cast<int>(std::min<size_t>(chunks, kMostLayers)));
  if (!problem.empty()) throw InputError(file + ": " + problem);
  const ChunkMap map = MapOf(plan);
  for (int chain = 0; chain < map.chains(); ++chain) {
    int next = 0;
    for (int index = 0; index < map.length(); ++index) {
      const auto [stage, chunk] = map.PlaceOf({chain, index});
      const LayerRange range = stages[stage].chunks[chunk];
      if (range.first != next) {
        Place{file}.Fail(
            fmt::format("stages[{}].chunks[{}].first", stage, chunk),
            fmt::format("got {}, want {}, where the part before ends", range.first, next));
      }
      next += range.count;  // below 2 x kMostLayers, as `first` is checked
    }
  }
}

SyncOptions SyncFromProto(const PlanProto& proto, const Place& place) {
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

void ReadOrder(const PlanProto& proto, const Place& place, Plan& plan) {
  plan.order = EnumFromProto(proto.order(), plan.order, "order", place);
  OrderOptions& options = plan.order_options;
  options.warmup = EnumFromProto(proto.warmup(), WarmupPolicy::kA, "warmup", place);
  options.groups.size =
      static_cast<int>(place.InRange("order_group", proto.order_group(), 0, kMostOfABatch));
  options.groups.one_more_warmup = proto.one_more_warmup();
  if (proto.two_forwards_slot()) options.slots = ChimeraSlots::kTwoForwards;
  if (proto.vertical_sync()) options.weight_sync = WeightSync::kVertical;
  if (proto.has_activation_limit()) options.activation_limit = proto.activation_limit();
  if (!(options.activation_limit >= 0 && options.activation_limit <= kMostActivationLimit)) {
    place.Fail("activation_limit",
               fmt::format("got {}, want 0 to {}", options.activation_limit, kMostActivationLimit));
  }
  const bool is_custom = plan.order == PipelineOrder::kCustom;
  if (is_custom == (proto.orders_size() == 0)) {
    place.Fail("orders", is_custom ? "got none, want one for each stage of a custom order"
                                   : "got some, want them with order CUSTOM alone");
  }
  plan.placement = EnumFromProto(proto.placement(), Placement::kLooped, "placement", place);
  for (int stage = 0; stage < proto.orders_size(); ++stage) {
    plan.orders.push_back(OrderFromText(
        proto.orders(stage), fmt::format("{}: {}orders[{}]", place.file, place.message, stage)));
  }
}

// What both forms share: everything but the stages.
void ReadShared(const PlanProto& proto, const Place& place, Plan& plan) {
  place.InRange("schema", proto.has_schema() ? proto.schema() : 1, 1, 1);
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
  plan.gradient_sync = SyncFromProto(proto, place);
  if (proto.has_overlap_p2p()) plan.overlap_p2p = proto.overlap_p2p();
  plan.overlap_tensor = proto.overlap_tensor();
  plan.post_validation = proto.post_validation();
  if (proto.has_expert_imbalance()) plan.expert_imbalance = proto.expert_imbalance();
  plan.rank_order = RankOrder(proto, place);
}

Plan PlanOfStages(const PlanProto& proto, const std::string& file) {
  Plan plan;
  ReadShared(proto, {file}, plan);
  std::set<int> used;
  bool is_split = false;
  bool has_copies = false;
  for (int i = 0; i < proto.stages_size(); ++i) {
    const Place inside{file, fmt::format("stages[{}].", i)};
    plan.stages.push_back(StageFromProto(proto.stages(i), inside, used));
    const Stage& stage = plan.stages.back();
    is_split = is_split || stage.tensor_parallel > 1;
    has_copies = has_copies || stage.replicas.size() > 1 || stage.context_parallel > 1;
  }
  if (proto.order() == PlanProto::ORDER_UNSPECIFIED && plan.chunk_count() > 1) {
    plan.order = PipelineOrder::kInterleaved;
  }
  CheckLayersFollow(plan, file);
  plan.sequence_parallel = proto.has_sequence_parallel() ? proto.sequence_parallel() : is_split;
  if (!proto.has_zero()) {
    const bool is_plain =
        plan.gradient_sync.method == SyncMethod::kAllReduce && !IsAsynchronous(plan.order);
    plan.zero = is_plain && has_copies && !plan.forward_only ? 1 : 0;
  }
  return plan;
}

void CheckForm(const PlanProto& proto, const std::string& file) {
  if (proto.stages_size() > 0 && proto.has_degrees()) {
    throw InputError(file + ": degrees: got both stages and degrees, want exactly one of them");
  }
  if (proto.stages_size() == 0 && !proto.has_degrees()) {
    throw InputError(file + ": stages: got neither stages nor degrees, want one of them");
  }
}

std::vector<int> StageLayers(const DegreesProto& proto, int stages, const Place& place) {
  if (proto.stage_layers_size() == 0) return {};
  if (proto.stage_layers_size() != stages) {
    place.Fail("stage_layers", fmt::format("got {} numbers, want one for each of pp {}",
                                           proto.stage_layers_size(), stages));
  }
  int64_t sum = 0;
  for (int i = 0; i < proto.stage_layers_size(); ++i) {
    sum += place.InRange(fmt::format("stage_layers[{}]", i), proto.stage_layers(i), 0, kMostLayers);
  }
  place.InRange("stage_layers in all", sum, 1, kMostLayers);
  return {proto.stage_layers().begin(), proto.stage_layers().end()};
}

RecomputeChoice RecomputeFromProto(const DegreesProto& proto, const Place& place) {
  RecomputeChoice choice;
  choice.method = EnumFromProto(proto.recompute_method(), RecomputeChoice::Method::kBlock,
                                "recompute_method", place);
  for (int i = 0; i < proto.recompute_num_layers_size(); ++i) {
    choice.counts.push_back(
        static_cast<int>(place.InRange(fmt::format("recompute_num_layers[{}]", i),
                                       proto.recompute_num_layers(i), 0, kMostLayers)));
  }
  choice.layers = RangesFromProto(proto.recompute_layers(), "recompute_layers", place);
  return choice;
}

}  // namespace

PlanDegrees DegreesFromProto(const PlanProto& proto, const std::string& file) {
  CheckForm(proto, file);
  if (!proto.has_degrees()) {
    throw InputError(file + ": degrees: got a plan that lists its stages, want degrees");
  }
  const DegreesProto& given = proto.degrees();
  const Place place{file, "degrees."};
  Plan shared;
  ReadShared(proto, {file}, shared);
  PlanDegrees degrees;
  static_cast<StepOptions&>(degrees) = shared;
  degrees.tensor = place.Degree("tp", given.has_tp(), given.tp());
  degrees.pipeline = place.Degree("pp", given.has_pp(), given.pp());
  degrees.data = given.has_dp() ? place.Degree("dp", true, given.dp()) : 0;
  degrees.context = place.Degree("cp", given.has_cp(), given.cp());
  degrees.expert = place.Degree("ep", given.has_ep(), given.ep());
  degrees.chunks =
      place.Degree("virtual_stages", given.has_virtual_stages(), given.virtual_stages());
  degrees.recompute = EnumFromProto(given.recompute(), Recompute::kSelective, "recompute", place);
  degrees.recompute_choice = RecomputeFromProto(given, place);
  degrees.stage_blocks = StageLayers(given, degrees.pipeline, place);
  for (int i = 0; i < given.replica_micro_batches_size(); ++i) {
    degrees.replica_micro_batches.push_back(
        static_cast<int>(place.InRange(fmt::format("replica_micro_batches[{}]", i),
                                       given.replica_micro_batches(i), 1, kMostOfABatch)));
  }
  for (int i = 0; i < given.stage_replicas_size(); ++i) {
    degrees.stage_replicas.push_back(
        place.Degree(fmt::format("stage_replicas[{}]", i), true, given.stage_replicas(i)));
  }
  degrees.balance_head = given.balance_head();
  degrees.sequence_parallel = proto.has_sequence_parallel() ? proto.sequence_parallel() : -1;
  degrees.zero = proto.has_zero() ? shared.zero : -1;
  degrees.gradient_bytes = shared.gradient_bytes;
  return degrees;
}

void CheckPlanStructure(const PlanProto& proto, const std::string& file) {
  CheckForm(proto, file);
  if (proto.has_degrees()) {
    DegreesFromProto(proto, file);
  } else {
    PlanOfStages(proto, file);
  }
}

Plan PlanFromProto(const PlanProto& proto, const Workload& workload, const Cluster& cluster,
                   const std::string& file) {
  CheckForm(proto, file);
  if (proto.has_degrees()) {
    const PlanDegrees degrees = DegreesFromProto(proto, file);
    try {
      return MakePlan(degrees, workload, cluster);
    } catch (const InputError& error) {
      throw InputError(file + ": " + error.what());
    }
  }
  Plan plan = PlanOfStages(proto, file);
  const std::vector<std::string> errors = FindErrors(plan, workload, cluster);
  if (!errors.empty()) throw InputError(file + ": " + errors[0]);
  return plan;
}

}  // namespace stagecraft
