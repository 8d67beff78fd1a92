#include "sim/plan/plan_proto.h"

#include <fmt/core.h>

#include <cstdint>
#include <set>
#include <string_view>
#include <vector>

#include "costmodel/check.h"
#include "sim/plan/plan_proto_place.h"
#include "sim/plan/plan_proto_shared.h"
#include "sim/workload/limits.h"

namespace stagecraft {
namespace {

LayerRange RangeFromProto(const LayerRangeProto& proto, const PlanPlace& place) {
  LayerRange range;
  range.first = static_cast<int>(place.InRange("first", proto.first(), 0, kMostLayers));
  range.count = static_cast<int>(place.InRange("count", proto.count(), 1, kMostLayers));
  return range;
}

std::vector<LayerRange> RangesFromProto(
    const google::protobuf::RepeatedPtrField<LayerRangeProto>& protos, std::string_view field,
    const PlanPlace& place) {
  std::vector<LayerRange> ranges;
  for (int i = 0; i < protos.size(); ++i) {
    const PlanPlace inside{place.file, fmt::format("{}{}[{}].", place.message, field, i)};
    ranges.push_back(RangeFromProto(protos[i], inside));
  }
  return ranges;
}

std::vector<int> ReplicaFromProto(const ReplicaProto& proto, const Stage& stage,
                                  const PlanPlace& place, std::set<int>& used) {
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

Stage StageFromProto(const StageProto& proto, const PlanPlace& place, std::set<int>& used) {
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
    const PlanPlace inside{place.file, fmt::format("{}replicas[{}].", place.message, i)};
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

// Checks that along every chain each part begins where the one before it ends.
void CheckLayersFollow(const Plan& plan, const std::string& file) {
  const std::vector<Stage>& stages = plan.stages;
  const size_t chunks = stages[0].chunks.size();
  for (size_t s = 0; s < stages.size(); ++s) {
    if (stages[s].chunks.size() == chunks) continue;
    PlanPlace{file}.Fail(
        fmt::format("stages[{}].chunks", s),
        fmt::format("got {}, want {} as in stages[0]", stages[s].chunks.size(), chunks));
  }
  const std::string problem =
      FindChunkError(plan.schedule, PlacementOf(plan), static_cast<int>(stages.size()),
                     static_cast<int>(std::min<size_t>(chunks, kMostLayers)));
  if (!problem.empty()) throw InputError(file + ": " + problem);
  const ChunkMap map = MapOf(plan);
  for (int chain = 0; chain < map.chains(); ++chain) {
    int next = 0;
    for (int index = 0; index < map.length(); ++index) {
      const auto [stage, chunk] = map.PlaceOf({chain, index});
      const LayerRange range = stages[stage].chunks[chunk];
      if (range.first != next) {
        PlanPlace{file}.Fail(
            fmt::format("stages[{}].chunks[{}].first", stage, chunk),
            fmt::format("got {}, want {}, the end of the part before", range.first, next));
      }
      next += range.count;  // below 2 x kMostLayers, as `first` is checked
    }
  }
}

Plan PlanOfStages(const PlanProto& proto, const std::string& file) {
  Plan plan;
  ReadShared(proto, {file}, plan);
  std::set<int> used;
  bool is_split = false;
  bool has_copies = false;
  for (int i = 0; i < proto.stages_size(); ++i) {
    const PlanPlace inside{file, fmt::format("stages[{}].", i)};
    plan.stages.push_back(StageFromProto(proto.stages(i), inside, used));
    const Stage& stage = plan.stages.back();
    is_split = is_split || stage.tensor_parallel > 1;
    has_copies = has_copies || stage.replicas.size() > 1 || stage.context_parallel > 1;
  }
  if (proto.order() == PlanProto::ORDER_UNSPECIFIED) {
    plan.schedule = ForChunks(plan.schedule, plan.chunk_count());
  }
  CheckLayersFollow(plan, file);
  plan.sequence_parallel = proto.has_sequence_parallel() ? proto.sequence_parallel() : is_split;
  if (!proto.has_zero()) {
    const bool is_plain =
        plan.gradient_sync.method == SyncMethod::kAllReduce && !IsAsynchronous(plan.schedule);
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

std::vector<int> StageLayers(const DegreesProto& proto, int stages, const PlanPlace& place) {
  if (proto.stage_layers_size() == 0) return {};
  if (proto.stage_layers_size() != stages) {
    place.Fail("stage_layers", fmt::format("got {} numbers, want one for each of pp {}",
                                           proto.stage_layers_size(), stages));
  }
  int64_t sum = 0;
  for (int i = 0; i < proto.stage_layers_size(); ++i) {
    sum += place.InRange(fmt::format("stage_layers[{}]", i), proto.stage_layers(i), 0, kMostLayers);
  }
  place.InRange("sum of stage_layers", sum, 1, kMostLayers);
  return {proto.stage_layers().begin(), proto.stage_layers().end()};
}

RecomputeChoice RecomputeFromProto(const DegreesProto& proto, const PlanPlace& place) {
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
  const PlanPlace place{file, "degrees."};
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
