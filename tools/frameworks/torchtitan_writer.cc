#include "tools/frameworks/torchtitan_writer.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "costmodel/check.h"
#include "sim/workload/workload_catalogue.h"
#include "tools/frameworks/torchtitan_schedules.h"
#include "tools/frameworks/torchtitan_stages.h"

namespace stagecraft {
namespace {

class TorchtitanOptions {
 public:
  TorchtitanOptions(const LaunchJob& job, std::vector<std::string>& notes)
      : job_(job), plan_(job.plan), regular_(job.regular), notes_(notes) {}

  OptionList Run() {
    AddModel();
    AddTraining();
    AddDegrees();
    AddPipeline();
    AddRecomputation();
    AddPrecision();
    return std::move(options_);
  }

 private:
  void Add(const char* name, nlohmann::json value) {
    options_.emplace_back(name, std::move(value));
  }
  [[noreturn]] static void Refuse(const std::string& feature) {
    throw InputError("torchtitan has no " + feature + ", want a plan without it");
  }

  // The presets that torchtitan calls by family and size.
  void AddModel() {
    struct Flavor {
      DecoderConfig network;
      const char* name;
    };
    static const Flavor flavors[] = {{LoadDecoderConfig("llama3-8b"), "8B"},
                                     {LoadDecoderConfig("llama3-70b"), "70B"},
                                     {LoadDecoderConfig("llama3.1-405b"), "405B"}};
    for (const Flavor& one : flavors) {
      DecoderConfig known = one.network;
      known.family = job_.network.family;
      // Padding of the vocabulary and the longest sequence are no part of a flavour.
      known.vocab = job_.network.vocab;
      known.max_sequence = job_.network.max_sequence;
      if (!(known == job_.network)) continue;
      Add("model.name", "llama3");
      Add("model.flavor", one.name);
      return;
    }
    Add("model.name", job_.network.family);
    Add("model.flavor", "custom");
    notes_.push_back(fmt::format(
        "the flavour \"custom\" must be defined in torchtitan: {} layers, hidden {}, {} heads",
        job_.network.layers, job_.network.hidden, job_.network.heads));
  }

  void AddTraining() {
    Add("training.seq_len", plan_.sequence);
    const int64_t local = plan_.global_batch / regular_.data;
    Add("training.local_batch_size", regular_.stages > 1 ? local : plan_.micro_batch);
    Add("training.global_batch_size", plan_.global_batch);
    if (plan_.gradient_bytes != 4 && plan_.precision == DType::kFp32)
      Refuse("gradients of 2 bytes");
    Add("training.mixed_precision_param", plan_.precision == DType::kFp32 ? "float32" : "bfloat16");
    Add("training.mixed_precision_reduce", plan_.gradient_bytes == 4 ? "float32" : "bfloat16");
    if (plan_.offload.optimizer) Add("training.enable_cpu_offload", true);
    if (plan_.framework.elementwise_traffic == 1) Add("compile.enable", true);
    Add("optimizer.name", "AdamW");
  }

  void AddDegrees() {
    const int ranks = regular_.data * regular_.context;
    const int group = plan_.zero_group > 0 ? std::min(plan_.zero_group, ranks) : ranks;
    int replicas = 1;
    if (plan_.zero == 3) {
      if (ranks % group != 0 || group % regular_.context != 0) {
        Refuse(fmt::format("sharding of {} ranks in groups of {}", ranks, group));
      }
      replicas = ranks / group;
    } else if (ranks > 1) {
      // With context parallelism its ranks shard in any case.
      if (regular_.context > 1) Refuse("context parallelism with ZeRO 0");
      replicas = regular_.data;
    }
    Add("parallelism.data_parallel_replicate_degree", replicas);
    Add("parallelism.data_parallel_shard_degree", regular_.data / replicas);
    Add("parallelism.fsdp_reshard_after_forward", plan_.reshard_after_forward ? "always" : "never");
    Add("parallelism.tensor_parallel_degree", regular_.tensor);
    Add("parallelism.enable_sequence_parallel", plan_.sequence_parallel || regular_.tensor == 1);
    Add("parallelism.enable_async_tensor_parallel", plan_.overlap_tensor && regular_.tensor > 1);
    Add("parallelism.context_parallel_degree", regular_.context);
    if (regular_.context > 1) {
      Add("parallelism.context_parallel_rotate_method",
          plan_.context_exchange == ContextExchange::kRing ? "alltoall" : "allgather");
    }
    if (job_.network.moe.experts > 0) Add("parallelism.expert_parallel_degree", regular_.expert);
    if (!plan_.overlap_grad_reduce && ranks > 1) Refuse("gradients that are reduced at the end");
    if (plan_.zero == 3 && !plan_.overlap_param_gather) {
      notes_.push_back("torchtitan gathers parameters while it computes, the plan does not");
    }
    if (plan_.bucket_bytes > 0) Refuse("buckets of a given size");
  }

  void AddPipeline() {
    Add("parallelism.pipeline_parallel_degree", regular_.stages);
    if (regular_.stages == 1) return;
    const auto* const found =
        std::find_if(std::begin(kTorchtitanSchedules), std::end(kTorchtitanSchedules),
                     [&](const TorchtitanSchedule& one) { return one.schedule == plan_.schedule; });
    CHECK(found != std::end(kTorchtitanSchedules));
    Add("parallelism.pipeline_parallel_schedule", found->word);
    Add("parallelism.pipeline_parallel_microbatch_size", plan_.micro_batch);
    Add("parallelism.module_fqns_per_model_part", ModulesOfParts(regular_.part_layers));
    if (!plan_.overlap_p2p) {
      notes_.push_back("torchtitan computes while it sends, the plan does not");
    }
  }

  void AddRecomputation() {
    const bool is_full = regular_.recompute == Recompute::kFull;
    const bool is_by_operator = regular_.recompute == Recompute::kOperators;
    Add("activation_checkpoint.mode", is_full ? "full" : is_by_operator ? "selective" : "none");
    if (is_by_operator) Add("activation_checkpoint.selective_ac_option", "op");
  }

  void AddPrecision() {
    if (plan_.precision != DType::kFp8) return;
    if (plan_.fp8_recipe == Fp8Recipe::kMx) {
      Add("model.converters", nlohmann::json::array({"quantize.linear.mx"}));
      return;
    }
    Add("model.converters", nlohmann::json::array({"quantize.linear.float8"}));
    Add("quantize.linear.float8.recipe_name",
        plan_.fp8_recipe == Fp8Recipe::kCurrent ? "tensorwise" : "rowwise");
  }

  const LaunchJob& job_;
  const Plan& plan_;
  const RegularPlan& regular_;
  std::vector<std::string>& notes_;
  OptionList options_;
};

// Tables in the order in which their first option comes.
std::string TomlText(const OptionList& options) {
  std::vector<std::pair<std::string, std::string>> tables;
  for (const auto& [name, value] : options) {
    const size_t dot = name.rfind('.');
    const std::string table = name.substr(0, dot);
    auto found = std::find_if(tables.begin(), tables.end(),
                              [&](const auto& one) { return one.first == table; });
    if (found == tables.end()) found = tables.insert(tables.end(), {table, ""});
    // A list of lists, one part of the pipeline in a line.
    std::string text = value.dump();
    if (value.is_array() && !value.empty() && value[0].is_array()) {
      text = "[\n";
      for (const nlohmann::json& part : value) text += "  " + part.dump() + ",\n";
      text += "]";
    }
    found->second += fmt::format("{} = {}\n", name.substr(dot + 1), text);
  }
  std::string text;
  for (const auto& [table, lines] : tables) text += fmt::format("\n[{}]\n{}", table, lines);
  return text;
}

}  // namespace

LaunchText WriteTorchtitan(const LaunchJob& job, bool is_script) {
  LaunchText launch;
  OptionList options = TorchtitanOptions(job, launch.notes).Run();
  if (is_script) {
    launch.text = LaunchScript("-m torchtitan.train", options, job.processes, {});
    return launch;
  }
  launch.notes.push_back("releases of torchtitan since 2026 take no TOML: -o FILE.sh has options");
  launch.text = fmt::format(
      "# Written by stagecraft export. Start it by torchrun --nnodes {} --nproc-per-node {}\n{}",
      job.processes.nodes, job.processes.per_node, TomlText(options));
  return launch;
}

}  // namespace stagecraft
