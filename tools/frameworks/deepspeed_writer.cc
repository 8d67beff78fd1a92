#include "tools/frameworks/deepspeed_writer.h"

#include <fmt/format.h>

#include <algorithm>

#include "costmodel/check.h"
#include "tools/frameworks/deepspeed_partition.h"

namespace stagecraft {
namespace {

using Json = nlohmann::ordered_json;

[[noreturn]] void Refuse(const std::string& feature) {
  throw InputError("DeepSpeed has no " + feature + ", want a plan without it");
}

Json ZeroOptimization(const LaunchJob& job) {
  const Plan& plan = job.plan;
  const int stage = plan.zero;
  Json zero = {{"stage", stage}, {"overlap_comm", plan.overlap_grad_reduce}};
  if (plan.bucket_bytes > 0) {
    if (plan.bucket_bytes % plan.gradient_bytes != 0) {
      Refuse(
          fmt::format("buckets of {} bytes, which is no number of gradients", plan.bucket_bytes));
    }
    zero["reduce_bucket_size"] = plan.bucket_bytes / plan.gradient_bytes;
  }
  if (plan.zero_group > 0) {
    if (stage < 3) Refuse(fmt::format("ZeRO {} within groups of ranks", stage));
    zero["mics_shard_size"] = plan.zero_group;
  }
  if (plan.offload.optimizer) zero["offload_optimizer"]["device"] = "cpu";
  if (stage == 3 && !plan.reshard_after_forward) Refuse("zero 3 without resharding");
  return zero;
}

Json Pipeline(const LaunchJob& job, std::vector<std::string>& notes) {
  const RegularPlan& regular = job.regular;
  const int layers = job.workload.layer_count();
  const bool by_blocks = regular.part_layers == BalancedPartition(layers, regular.stages);
  notes.push_back(
      fmt::format("in Python: PipelineModule(layers=..., num_stages={}, partition_method=\"{}\")",
                  regular.stages, by_blocks ? "type:DecoderLayer" : "uniform"));
  if (job.plan.overlap_p2p) {
    notes.push_back("DeepSpeed's pipeline does not compute while it sends, the plan does");
  }
  return {{"stages", regular.stages},
          {"partition", by_blocks ? "type:DecoderLayer" : "uniform"},
          {"activation_checkpoint_interval", regular.recompute == Recompute::kFull ? 1 : 0}};
}

}  // namespace

LaunchText WriteDeepspeed(const LaunchJob& job) {
  const Plan& plan = job.plan;
  const RegularPlan& regular = job.regular;
  LaunchText launch;
  const bool is_wide = plan.gradient_bytes == 4;
  if (plan.precision == DType::kFp32 && !is_wide) Refuse("gradients of 2 bytes in fp32");
  Json json = {
      {"train_batch_size", plan.global_batch},
      {"train_micro_batch_size_per_gpu", plan.micro_batch},
      {"gradient_accumulation_steps", plan.global_batch / plan.micro_batch / regular.data}};
  if (plan.precision != DType::kFp32) {
    json[plan.precision == DType::kBf16 ? "bf16" : "fp16"] = {{"enabled", true}};
    json["communication_data_type"] = is_wide                          ? "fp32"
                                      : plan.precision == DType::kBf16 ? "bf16"
                                                                       : "fp16";
  }
  json["optimizer"] = {{"type", plan.optimizer == Optimizer::kSgd ? "SGD" : "AdamW"},
                       {"params", {{"lr", 1e-4}}}};
  json["zero_optimization"] = ZeroOptimization(job);
  if (regular.tensor > 1) json["tensor_parallel"] = {{"autotp_size", regular.tensor}};
  if (regular.context > 1) json["sequence_parallel_size"] = regular.context;
  if (regular.stages > 1) json["pipeline"] = Pipeline(job, launch.notes);
  if (regular.stages == 1 && regular.recompute == Recompute::kFull) {
    launch.notes.push_back("in Python: model.gradient_checkpointing_enable()");
  }
  launch.notes.push_back(
      fmt::format("{} tokens a sample, and the network, are said in Python", plan.sequence));
  launch.notes.push_back(fmt::format("start it by deepspeed --num_nodes {} --num_gpus {}",
                                     job.processes.nodes, job.processes.per_node));
  launch.text = json.dump(2) + "\n";
  return launch;
}

}  // namespace stagecraft
