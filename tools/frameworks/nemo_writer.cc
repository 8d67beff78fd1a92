// WriteNemo(): the arguments of Megatron-LM in the groups of Megatron-Bridge.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string_view>

#include "tools/frameworks/megatron_writer.h"

namespace stagecraft {
namespace {

constexpr std::string_view kTrain[] = {"micro-batch-size", "global-batch-size"};
constexpr std::string_view kDdp[] = {"use-distributed-optimizer",
                                     "overlap-grad-reduce",
                                     "overlap-param-gather",
                                     "use-megatron-fsdp",
                                     "data-parallel-sharding-strategy",
                                     "num-distributed-optimizer-instances"};
constexpr std::string_view kOptimizer[] = {
    "optimizer",     "sgd-momentum",     "use-precision-aware-optimizer",
    "exp-avg-dtype", "exp-avg-sq-dtype", "optimizer-cpu-offload"};
// What follows from another key, or is said by one of the whole file.
constexpr std::string_view kElsewhere[] = {"group-query-attention",
                                           "bf16",
                                           "fp16",
                                           "fp8-format",
                                           "fp8-recipe",
                                           "fp4-format",
                                           "fp4-recipe",
                                           "accumulate-allreduce-grads-in-fp32",
                                           "grad-reduce-in-bf16"};

template <size_t size>
bool IsOneOf(std::string_view name, const std::string_view (&names)[size]) {
  return std::find(std::begin(names), std::end(names), name) != std::end(names);
}

struct Key {
  std::string group, name;
  nlohmann::json value;
};

// Where an argument stands in the file.
Key KeyOf(const std::string& name, const nlohmann::json& value) {
  if (name == "disable-bias-linear") return {"model", "add_bias_linear", false};
  if (name == "untie-embeddings-and-output-weights") {
    return {"model", "share_embeddings_and_output_weights", false};
  }
  if (name == "swiglu") return {"model", "gated_linear_unit", true};
  if (name == "squared-relu") return {"model", "activation", "squared-relu"};
  if (name == "num-experts") return {"model", "num_moe_experts", value};
  if (name == "num-virtual-stages-per-pipeline-rank") {
    return {"model", "virtual_pipeline_model_parallel_size", value};
  }
  if (name == "no-overlap-p2p-communication") return {"model", "overlap_p2p_comm", false};
  if (name == "tp-comm-overlap") return {"comm_overlap", "tp_comm_overlap", value};
  if (name == "ddp-bucket-size") return {"ddp", "bucket_size", value};
  std::string key = name;
  std::replace(key.begin(), key.end(), '-', '_');
  const char* const group = IsOneOf(name, kTrain)       ? "train"
                            : IsOneOf(name, kDdp)       ? "ddp"
                            : IsOneOf(name, kOptimizer) ? "optimizer"
                                                        : "model";
  return {group, key, value};
}

// The name of Megatron-Bridge's recipe for mixed precision.
std::string MixedPrecision(const Plan& plan) {
  switch (plan.precision) {
    case DType::kFp16:
      return "fp16_mixed";
    case DType::kFp32:
      return "fp32";
    case DType::kNvfp4:
      return "bf16_with_nvfp4_mixed";
    case DType::kFp8:
      break;
    default:
      return "bf16_mixed";
  }
  switch (plan.fp8_recipe) {
    case Fp8Recipe::kCurrent:
      return "bf16_with_fp8_current_scaling_mixed";
    case Fp8Recipe::kMx:
      return "bf16_with_mxfp8_mixed";
    case Fp8Recipe::kBlock:
      return "bf16_with_fp8_subchannel_scaling_mixed";
    default:
      return "bf16_with_fp8_delayed_scaling_mixed";
  }
}

std::string YamlText(const nlohmann::json& value) {
  if (!value.is_string()) return value.dump();
  const std::string text = value.get<std::string>();
  const bool is_plain = std::all_of(text.begin(), text.end(), [](unsigned char c) {
    return std::isalnum(c) || c == '_' || c == '-' || c == '.';
  });
  return is_plain ? text : value.dump();
}

}  // namespace

LaunchText WriteNemo(const LaunchJob& job) {
  LaunchText launch;
  OptionList options = MegatronNetworkOptions(job.network);
  for (auto& option : MegatronPlanOptions(job, launch.notes)) options.push_back(std::move(option));
  std::map<std::string, std::string> groups;  // and the lines in them
  for (const auto& [name, value] : options) {
    if (IsOneOf(name, kElsewhere)) continue;
    const Key key = KeyOf(name, value);
    groups[key.group] += fmt::format("  {}: {}\n", key.name, YamlText(key.value));
  }
  groups["ddp"] += fmt::format("  grad_reduce_in_fp32: {}\n", job.plan.gradient_bytes == 4);
  launch.text = fmt::format(
      "# Written by stagecraft export, with the groups of Megatron-Bridge. Start it by\n"
      "# torchrun --nnodes {} --nproc-per-node {}\n",
      job.processes.nodes, job.processes.per_node);
  for (const char* group : {"model", "train", "ddp", "optimizer", "comm_overlap"}) {
    if (groups.contains(group)) launch.text += fmt::format("{}:\n{}", group, groups.at(group));
  }
  launch.text += fmt::format("mixed_precision: {}\n", MixedPrecision(job.plan));
  return launch;
}

}  // namespace stagecraft
