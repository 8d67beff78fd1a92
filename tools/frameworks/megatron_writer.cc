#include "tools/frameworks/megatron_writer.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "costmodel/check.h"
#include "sim/plan/rank_order.h"
#include "tools/frameworks/pipeline_layout.h"

namespace stagecraft {
namespace {

class PlanOptions {
 public:
  PlanOptions(const LaunchJob& job, std::vector<std::string>& notes)
      : plan_(job.plan), regular_(job.regular), network_(job.network), job_(job), notes_(notes) {}

  OptionList Run() {
    AddDegrees();
    AddStages();
    AddBatch();
    AddPrecision();
    AddOptimizer();
    AddSharding();
    AddOverlap();
    AddRecomputation();
    AddExperts();
    AddAttention();
    AddNotes();
    return std::move(options_);
  }

 private:
  void Add(const char* name, nlohmann::json value) {
    options_.emplace_back(name, std::move(value));
  }
  void Switch(const char* name, bool is_on) {
    if (is_on) Add(name, true);
  }
  [[noreturn]] static void Refuse(const std::string& feature) {
    throw InputError("Megatron-LM has no " + feature + ", want a plan without it");
  }

  void AddDegrees() {
    Add("tensor-model-parallel-size", regular_.tensor);
    Add("pipeline-model-parallel-size", regular_.stages);
    Add("context-parallel-size", regular_.context);
    if (network_.moe.experts > 0) Add("expert-model-parallel-size", regular_.expert);
    Switch("sequence-parallel", plan_.sequence_parallel && regular_.tensor > 1);
    Switch("use-tp-pp-dp-mapping", plan_.rank_order == kStagesFirstRankOrder);
  }

  // The layers of the stages, if they are not what Megatron-LM does by itself.
  void AddStages() {
    if (regular_.stages == 1) return;
    const auto blocks = static_cast<int>(network_.layers);
    const auto predicting = static_cast<int>(network_.prediction_layers);
    const auto parts = static_cast<int>(regular_.part_layers.size());
    std::vector<int> even(parts, blocks / parts);
    ++even.front();
    even.back() += 1 + predicting;
    const bool is_even = blocks % parts == 0 && even == regular_.part_layers;
    if (!is_even) {
      Add("pipeline-model-parallel-layout",
          PipelineLayoutText(regular_.part_layers, blocks, predicting));
    } else if (regular_.chunks > 1) {
      Add("num-virtual-stages-per-pipeline-rank", regular_.chunks);
    }
    const int group = plan_.schedule_options.groups.size;
    if (group > 0) Add("microbatch-group-size-per-virtual-pipeline-stage", group);
    const int64_t each = plan_.micro_batches() / regular_.data;
    const int multiple = group > 0 ? group : regular_.stages;
    if (regular_.chunks > 1 && each % multiple != 0 && group == 0) {
      Refuse(
          fmt::format("interleaved schedule of {} micro-batches on {} stages, which must be a "
                      "multiple",
                      each, regular_.stages));
    }
  }

  void AddBatch() {
    Add("micro-batch-size", plan_.micro_batch);
    Add("global-batch-size", plan_.global_batch);
    Add("seq-length", plan_.sequence);
  }

  void AddPrecision() {
    const DType precision = plan_.precision;
    const bool is_low = precision == DType::kFp8 || precision == DType::kNvfp4;
    Switch("bf16", precision == DType::kBf16 || is_low);
    Switch("fp16", precision == DType::kFp16);
    if (precision == DType::kFp8) {
      Add("fp8-format", "hybrid");
      Add("fp8-recipe", Fp8Word());
    }
    if (precision == DType::kNvfp4) {
      Add("fp4-format", "e2m1");
      Add("fp4-recipe", "nvfp4");
    }
    if (precision == DType::kFp16) {
      Switch("accumulate-allreduce-grads-in-fp32", plan_.gradient_bytes == 4);
    } else if (precision == DType::kFp32) {
      if (plan_.gradient_bytes != 4) Refuse("gradients of 2 bytes in fp32");
    } else {
      Switch("grad-reduce-in-bf16", plan_.gradient_bytes == 2);
    }
  }

  const char* Fp8Word() const {
    switch (plan_.fp8_recipe) {
      case Fp8Recipe::kDelayed:
        return "delayed";
      case Fp8Recipe::kCurrent:
        return "tensorwise";
      case Fp8Recipe::kMx:
        return "mxfp8";
      case Fp8Recipe::kRowwise:
      case Fp8Recipe::kBlock:
        break;
    }
    return "blockwise";
  }

  void AddOptimizer() {
    const bool is_sgd =
        plan_.optimizer == Optimizer::kSgd || plan_.optimizer == Optimizer::kPlainSgd;
    Add("optimizer", is_sgd ? "sgd" : "adam");
    if (plan_.optimizer == Optimizer::kPlainSgd) Add("sgd-momentum", 0);
    if (plan_.optimizer == Optimizer::kAdam16Bit) {
      Switch("use-precision-aware-optimizer", true);
      Add("exp-avg-dtype", "bf16");
      Add("exp-avg-sq-dtype", "bf16");
    }
    Switch("optimizer-cpu-offload", plan_.offload.optimizer);
  }

  void AddSharding() {
    const int ranks = regular_.data * regular_.context;
    const int zero = plan_.zero;
    Switch("use-distributed-optimizer", zero > 0);
    if (zero > 1) {
      Switch("use-megatron-fsdp", true);
      Add("data-parallel-sharding-strategy", zero == 2 ? "optim_grads" : "optim_grads_params");
      if (zero == 3 && !plan_.reshard_after_forward) Refuse("zero 3 without resharding");
    }
    if (plan_.zero_group > 0 && plan_.zero_group < ranks) {
      if (zero > 1 || ranks % plan_.zero_group != 0) {
        Refuse(
            fmt::format("ZeRO {} within groups of {} of {} ranks", zero, plan_.zero_group, ranks));
      }
      Add("num-distributed-optimizer-instances", ranks / plan_.zero_group);
    }
    if (plan_.bucket_bytes == 0) return;
    if (plan_.bucket_bytes % plan_.gradient_bytes != 0) {
      Refuse(
          fmt::format("buckets of {} bytes, which is no number of gradients", plan_.bucket_bytes));
    }
    Add("ddp-bucket-size", plan_.bucket_bytes / plan_.gradient_bytes);
  }

  void AddOverlap() {
    Switch("overlap-grad-reduce", plan_.overlap_grad_reduce);
    Switch("overlap-param-gather", plan_.overlap_param_gather);
    const bool is_interleaved = regular_.stages > 1 && regular_.chunks > 1;
    Switch("no-overlap-p2p-communication", is_interleaved && !plan_.overlap_p2p);
    if (regular_.stages > 1 && !is_interleaved && plan_.overlap_p2p) {
      notes_.push_back(
          "the plan computes while it sends, which Megatron-LM does in the interleaved schedule "
          "alone");
    }
    if (is_interleaved && !plan_.overlap_p2p && regular_.stages == 2) {
      Refuse("interleaved schedule of 2 stages without overlap-p2p");
    }
    Switch("tp-comm-overlap", plan_.overlap_tensor && regular_.tensor > 1);
    if (regular_.context == 1) return;
    Add("cp-comm-type", plan_.context_exchange == ContextExchange::kRing     ? "p2p"
                        : plan_.context_exchange == ContextExchange::kGather ? "all_gather"
                                                                             : "a2a");
  }

  void AddRecomputation() {
    const RecomputedParts& parts = plan_.recomputed_parts;
    const bool is_uniform = regular_.method == RecomputeChoice::Method::kUniform;
    if (regular_.recompute == Recompute::kFull || regular_.recomputed_blocks > 0) {
      Add("recompute-granularity", "full");
      const bool is_all = regular_.recompute == Recompute::kFull;
      Add("recompute-method", is_all || is_uniform ? "uniform" : "block");
      Add("recompute-num-layers", is_all ? 1 : regular_.recomputed_blocks);
      return;
    }
    const bool is_selective = regular_.recompute == Recompute::kSelective;
    if (!is_selective && !parts.Any()) return;
    Add("recompute-granularity", "selective");
    nlohmann::json modules = nlohmann::json::array();
    if (is_selective) modules.push_back("core_attn");
    if (parts.norms) modules.push_back("layernorm");
    if (parts.latents) modules.push_back("mla_up_proj");
    if (parts.activations) {
      if (network_.moe.experts == 0) Refuse("recomputation of activation functions of dense MLPs");
      modules.push_back("moe_act");
    }
    if (parts.Any()) Add("recompute-modules", modules);
  }

  void AddExperts() {
    if (network_.moe.experts == 0) return;
    Switch("moe-grouped-gemm", !plan_.framework.multiplies_experts_apart);
    const bool is_once = plan_.expert_exchange.sends == ExpertSends::kOncePerNode;
    Add("moe-token-dispatcher-type", is_once ? "flex" : "alltoall");
    Switch("moe-enable-deepep", is_once);
    Switch("overlap-moe-expert-parallel-comm", plan_.schedule_options.pairs_passes);
  }

  void AddAttention() {
    const bool is_fused = job_.workload.attention == AttentionBackend::kFlash;
    const bool is_cudnn = plan_.attention_kernel == AttentionKernel::kCudnn;
    Add("attention-backend", !is_fused ? "unfused" : is_cudnn ? "fused" : "flash");
    if (is_fused && !is_cudnn && plan_.attention_kernel != AttentionKernel::kUsual) {
      notes_.push_back("which version of FlashAttention runs is up to what is installed");
    }
  }

  void AddNotes() {
    if (plan_.expert_imbalance > 1) {
      notes_.push_back("that experts get unequally many tokens is an assumption of the plan");
    }
  }

  const Plan& plan_;
  const RegularPlan& regular_;
  const DecoderConfig& network_;
  const LaunchJob& job_;
  std::vector<std::string>& notes_;
  OptionList options_;
};

// What a run needs besides, and what changes no step.
const OptionList kSmallRun = {{"tokenizer-type", "NullTokenizer"},
                              {"mock-data", true},
                              {"train-iters", 100},
                              {"lr", "1e-4"},
                              {"eval-iters", 0},
                              {"log-interval", 1},
                              {"log-throughput", true}};

OptionList AllOptions(const LaunchJob& job, std::vector<std::string>& notes) {
  OptionList options = MegatronNetworkOptions(job.network);
  for (auto& option : MegatronPlanOptions(job, notes)) options.push_back(std::move(option));
  return options;
}

}  // namespace

OptionList MegatronPlanOptions(const LaunchJob& job, std::vector<std::string>& notes) {
  return PlanOptions(job, notes).Run();
}

LaunchText WriteMegatron(const LaunchJob& job) {
  LaunchText launch;
  OptionList options = AllOptions(job, launch.notes);
  options.insert(options.end(), kSmallRun.begin(), kSmallRun.end());
  std::vector<std::string> exports;
  if (job.regular.tensor > 1 || job.regular.context > 1) {
    exports.push_back("CUDA_DEVICE_MAX_CONNECTIONS=1");
    launch.notes.push_back(
        "CUDA_DEVICE_MAX_CONNECTIONS is 1, as tensor and context parallelism need it before "
        "Blackwell");
  }
  launch.text = LaunchScript("pretrain_gpt.py", options, job.processes, exports);
  return launch;
}

}  // namespace stagecraft
