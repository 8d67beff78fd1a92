#include "sim/plan/plan_degrees.h"

#include <google/protobuf/descriptor.h>
#include <google/protobuf/message.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "costmodel/check.h"
#include "costmodel/enum_to_proto.h"
#include "sim/pipeline/pipeline_schedule.h"
#include "sim/plan/plan_proto.h"

namespace stagecraft {
namespace {

using google::protobuf::FieldDescriptor;

// Everything that makes the plan, as bytes; equal plans have equal bytes.
std::string BytesOf(const Plan& plan) { return ToProto(plan).SerializeAsString(); }

bool Makes(const PlanDegrees& degrees, const std::string& bytes, const Workload& workload,
           const Cluster& cluster) {
  try {
    return BytesOf(MakePlan(degrees, workload, cluster)) == bytes;
  } catch (const InputError&) {
    return false;
  }
}

// Transformer blocks of each stage, over all its chunks.
std::vector<int> BlocksOfStages(const Plan& plan, const Workload& workload) {
  std::vector<int> blocks;
  for (const Stage& stage : plan.stages) {
    int& count = blocks.emplace_back(0);
    for (const LayerRange& range : stage.chunks) {
      for (int l = range.first; l < range.first + range.count; ++l) {
        count += workload.layer(l).role == LayerRole::kBlock ? 1 : 0;
      }
    }
  }
  return blocks;
}

// The degrees of the first stage, and what the step has.
PlanDegrees DegreesOfFirst(const Plan& plan) {
  const Stage& first = plan.stages[0];
  PlanDegrees degrees;
  static_cast<StepOptions&>(degrees) = plan;
  if (!IsCustom(plan.schedule)) degrees.orders.clear();
  degrees.tensor = first.tensor_parallel;
  degrees.context = first.context_parallel;
  degrees.expert = first.expert_parallel;
  degrees.pipeline = static_cast<int>(plan.stages.size());
  degrees.data = static_cast<int>(first.replicas.size());
  degrees.chunks = plan.chunk_count();
  degrees.recompute = first.recompute;
  degrees.sequence_parallel = plan.sequence_parallel ? 1 : 0;
  degrees.zero = plan.zero;
  degrees.gradient_bytes = plan.gradient_bytes;
  degrees.replica_micro_batches = first.replica_micro_batches;
  for (const Stage& stage : plan.stages) {
    for (const LayerRange& range : stage.recomputed) {
      degrees.recompute_choice.layers.push_back(range);
    }
  }
  return degrees;
}

DegreesProto DegreesToProto(const PlanDegrees& degrees) {
  DegreesProto proto;
  proto.set_tp(degrees.tensor);
  proto.set_pp(degrees.pipeline);
  if (degrees.stage_replicas.empty()) proto.set_dp(degrees.data);
  proto.set_cp(degrees.context);
  proto.set_ep(degrees.expert);
  proto.set_virtual_stages(degrees.chunks);
  proto.set_recompute(EnumToProto<PlanProto::Recompute>(degrees.recompute));
  for (const int blocks : degrees.stage_blocks) proto.add_stage_layers(blocks);
  for (const int count : degrees.replica_micro_batches) proto.add_replica_micro_batches(count);
  for (const int count : degrees.stage_replicas) proto.add_stage_replicas(count);
  for (const LayerRange& range : degrees.recompute_choice.layers) {
    LayerRangeProto& layers = *proto.add_recompute_layers();
    layers.set_first(range.first);
    layers.set_count(range.count);
  }
  return proto;
}

// Clears each field of `part`, which is `proto` or a message in it, without which the plan stays
// the same.
template <typename IsSame>
void DropDefaults(google::protobuf::Message& part, const std::vector<std::string>& kept,
                  const IsSame& is_same) {
  std::vector<const FieldDescriptor*> fields;
  part.GetReflection()->ListFields(part, &fields);
  for (const FieldDescriptor* field : fields) {
    if (std::find(kept.begin(), kept.end(), field->name()) != kept.end()) continue;
    const std::unique_ptr<google::protobuf::Message> before(part.New());
    before->CopyFrom(part);
    part.GetReflection()->ClearField(&part, field);
    if (!is_same()) part.CopyFrom(*before);
  }
}

}  // namespace

std::optional<PlanDegrees> DegreesOf(const Plan& plan, const Workload& workload,
                                     const Cluster& cluster) {
  const std::string bytes = BytesOf(plan);
  PlanDegrees degrees = DegreesOfFirst(plan);
  const auto makes = [&] { return Makes(degrees, bytes, workload, cluster); };
  if (makes()) return degrees;
  degrees.stage_blocks = BlocksOfStages(plan, workload);
  if (makes()) return degrees;
  degrees.data = 0;
  for (const Stage& stage : plan.stages) {
    degrees.stage_replicas.push_back(static_cast<int>(stage.replicas.size()));
  }
  if (makes()) return degrees;
  degrees.stage_blocks.clear();
  if (makes()) return degrees;
  return std::nullopt;
}

PlanProto ToShortProto(const Plan& plan, const Workload& workload, const Cluster& cluster) {
  PlanProto proto = ToProto(plan);
  const std::optional<PlanDegrees> degrees = DegreesOf(plan, workload, cluster);
  if (!degrees) return proto;
  const std::string bytes = proto.SerializeAsString();
  proto.clear_stages();
  *proto.mutable_degrees() = DegreesToProto(*degrees);
  const auto is_same = [&] {
    try {
      return BytesOf(PlanFromProto(proto, workload, cluster, "plan")) == bytes;
    } catch (const InputError&) {
      return false;
    }
  };
  CHECK(is_same());
  // What everybody wants to see stays, default or not.
  DropDefaults(*proto.mutable_degrees(), {"tp", "pp", "dp", "recompute"}, is_same);
  DropDefaults(proto, {"degrees", "micro_batch", "global_batch", "sequence", "order", "zero"},
               is_same);
  return proto;
}

}  // namespace stagecraft
