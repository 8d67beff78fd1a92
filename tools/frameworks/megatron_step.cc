#include "tools/frameworks/megatron_step.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "costmodel/check.h"
#include "sim/workload/limits.h"
#include "tools/frameworks/framework_defaults.h"
#include "tools/frameworks/training_reader.h"

namespace stagecraft {
namespace {

using Choice = std::pair<const char*, int>;

constexpr NotSimulated kNotSimulated[] = {
    {"defer-embedding-wgrad-compute", "weight gradients are computed with their layers"},
    {"wgrad-deferral-limit", "weight gradients are computed with their layers"},
    {"delay-wgrad-compute", "weight gradients are computed with their layers"},
    {"overlap-param-gather-with-optimizer-step", "gathers begin after the update"},
    {"cross-entropy-loss-fusion", "the loss takes the memory of the stack's default"},
    {"cross-entropy-fusion-impl", "the loss takes the memory of the stack's default"},
    {"fp16-lm-cross-entropy", "the loss is computed in 32 bits"},
    {"fp8-param-gather", "parameters are gathered in 16 bits"},
    {"reuse-grad-buf-for-mxfp8-param-ag", "parameters are gathered in 16 bits"},
    {"first-last-layers-bf16", "all layers have one precision"},
    {"num-layers-at-start-in-bf16", "all layers have one precision"},
    {"num-layers-at-end-in-bf16", "all layers have one precision"},
    {"moe-permute-fusion", "the order of tokens is changed by one kernel"},
    {"moe-shared-expert-overlap", "shared experts run before the exchange"},
    {"moe-router-dtype", "routers compute in 32 bits"},
    {"moe-expert-capacity-factor", "no tokens are dropped"},
    {"moe-pad-expert-input-to-capacity", "no tokens are dropped"},
    {"moe-router-padding-for-fp8", "no tokens are added"},
    {"distribute-saved-activations", "every rank keeps its activations"},
    {"fp32-residual-connection", "residuals have the precision of training"},
    {"no-gradient-accumulation-fusion", "GEMMs add to gradients"},
    {"overlap-p2p-communication-warmup-flush", "transfers overlap throughout"},
    {"tp-comm-overlap-cfg", "collectives overlap as GEMMs allow"},
    {"tp-comm-overlap-rs-dgrad", "collectives overlap as GEMMs allow"},
    {"disable-tp-comm-bulk-dgrad", "collectives overlap as GEMMs allow"},
    {"disable-tp-comm-bulk-wgrad", "collectives overlap as GEMMs allow"},
    {"disable-tp-comm-overlap-ag", "collectives overlap as GEMMs allow"},
    {"disable-tp-comm-overlap-rs", "collectives overlap as GEMMs allow"},
    {"cpu-offloading", "activations of given layers are not offloaded"},
    {"cpu-offloading-num-layers", "activations of given layers are not offloaded"},
    {"standalone-embedding-stage", "the embedding is in the first stage"},
    {"no-bias-gelu-fusion", "kernels between GEMMs are fused as the stack does"},
    {"no-bias-swiglu-fusion", "kernels between GEMMs are fused as the stack does"},
    {"no-bias-dropout-fusion", "kernels between GEMMs are fused as the stack does"},
    {"no-rope-fusion", "kernels between GEMMs are fused as the stack does"},
    {"no-masked-softmax-fusion", "kernels between GEMMs are fused as the stack does"},
    {"no-persist-layer-norm", "kernels between GEMMs are fused as the stack does"},
    {"use-sharp", "switches do not reduce"},
    {"use-nccl-ub", "NCCL copies through its own buffers"},
    {"nccl-ub", "NCCL copies through its own buffers"},
    {"hierarchical-context-parallel-sizes", "context-parallel ranks form one level"},
    {"ddp-num-buckets", "buckets have their usual size"},
    {"main-grads-dtype", "gradients have the width of their reduction"},
    {"main-params-dtype", "master weights have 32 bits"},
    {"optimizer-offload-fraction", "all states are offloaded, or none"},
    {"use-torch-optimizer-for-cpu-offload", "the host updates as DeepSpeed's Adam does"},
    {"overlap-cpu-optimizer-d2h-h2d", "copies wait for the update"},
    {"cuda-graph-scope", "whole steps are launched as graphs, or none"},
    {"moe-use-legacy-grouped-gemm", "grouped GEMMs are CUTLASS's or cuBLAS's"},
};

class StepReader : public TrainingReader {
 public:
  using TrainingReader::TrainingReader;

  void Run() {
    ReadPrecision();
    ReadOptimizer();
    ReadSharding();
    ReadOverlap();
    ReadRecomputation();
    ReadContext();
    ReadExperts();
    ReadKernels();
    AreNotSimulated(kNotSimulated);
  }

 private:
  bool Switch(const char* name, const std::string& became) {
    reader_.Became(name, became);
    return reader_.IsOn(name);
  }

  // Returns the value that a word stands for; `fallback` if the option is absent.
  template <size_t size>
  int Choose(const char* name, const Choice (&choices)[size], int fallback) {
    const char* words[size];
    for (size_t i = 0; i < size; ++i) words[i] = choices[i].first;
    const std::optional<std::string> word = reader_.Word(name, words);
    if (!word) return fallback;
    reader_.Became(name, *word);
    return std::find_if(std::begin(choices), std::end(choices),
                        [&](const Choice& choice) { return *word == choice.first; })
        ->second;
  }

  void ReadPrecision() {
    const bool is_bf16 = Switch("bf16", "precision bf16");
    const bool is_fp16 = Switch("fp16", "precision fp16");
    if (is_bf16 && is_fp16) throw InputError(file_ + ": got bf16 and fp16, want one of them");
    plan_.set_precision(is_bf16 ? PlanProto::BF16 : is_fp16 ? PlanProto::FP16 : PlanProto::FP32);
    constexpr Choice kFormats[] = {{"hybrid", 1}, {"e4m3", 1}};
    int is_fp8 = Choose("fp8-format", kFormats, 0);
    is_fp8 = Choose("fp8", kFormats, is_fp8);
    constexpr Choice kRecipes[] = {{"delayed", PlanProto::DELAYED},
                                   {"tensorwise", PlanProto::CURRENT},
                                   {"mxfp8", PlanProto::MX},
                                   {"blockwise", PlanProto::BLOCK}};
    const int recipe = Choose("fp8-recipe", kRecipes, PlanProto::DELAYED);
    constexpr Choice kFourBits[] = {{"e2m1", 1}};
    int is_fp4 = Choose("fp4-format", kFourBits, 0);
    is_fp4 = Choose("fp4", kFourBits, is_fp4);
    constexpr Choice kFourBitRecipes[] = {{"nvfp4", 1}};
    Choose("fp4-recipe", kFourBitRecipes, 1);
    plan_.set_fp8_recipe(static_cast<PlanProto::Fp8Recipe>(recipe));
    if (is_fp8 && is_fp4) throw InputError(file_ + ": got fp8 and fp4, want one of them");
    if (is_fp8) plan_.set_precision(PlanProto::FP8);
    if (is_fp4) plan_.set_precision(PlanProto::NVFP4);
    // arguments.py: bf16 accumulates and reduces in 32 bits unless told otherwise, fp16 only if so.
    const bool in_32 = Switch("accumulate-allreduce-grads-in-fp32", "gradients of 4 bytes");
    const bool in_16 = Switch("grad-reduce-in-bf16", "gradients of 2 bytes");
    const bool is_narrow = is_fp16 ? !in_32 : (is_bf16 || is_fp8 || is_fp4) && in_16;
    plan_.set_gradient_bytes(is_narrow ? 2 : 4);
  }

  void ReadOptimizer() {
    constexpr Choice kOptimizers[] = {{"adam", PlanProto::ADAM}, {"sgd", PlanProto::SGD}};
    int optimizer = Choose("optimizer", kOptimizers, PlanProto::ADAM);
    const double momentum = reader_.Number("sgd-momentum", 0, 1).value_or(0.9);
    reader_.Became("sgd-momentum", fmt::format("momentum {}", momentum));
    if (optimizer == PlanProto::SGD && momentum == 0) optimizer = PlanProto::PLAIN_SGD;
    const bool is_aware = Switch("use-precision-aware-optimizer", "states of their own precision");
    constexpr Choice kWidths[] = {{"fp32", 4}, {"fp16", 2}, {"bf16", 2}, {"fp8", 1}};
    const int first = Choose("exp-avg-dtype", kWidths, 4);
    const int second = Choose("exp-avg-sq-dtype", kWidths, 4);
    if (is_aware && optimizer == PlanProto::ADAM && (first != 4 || second != 4)) {
      if (first == 2 && second == 2) {
        optimizer = PlanProto::ADAM_16BIT;
      } else {
        const char* const odd = first != 2 ? "exp-avg-dtype" : "exp-avg-sq-dtype";
        reader_.IsNotSimulated(odd, "both moments have 32 bits, or both have 16");
      }
    }
    plan_.set_optimizer(static_cast<PlanProto::Optimizer>(optimizer));
    if (Switch("optimizer-cpu-offload", "offload-optimizer")) {
      TakeOptimizerOffload(reader_.Find("optimizer-cpu-offload")->place, wishes_, plan_);
    }
  }

  void ReadSharding() {
    int zero = Switch("use-distributed-optimizer", "zero 1") ? 1 : 0;
    const bool is_fsdp =
        Switch("use-megatron-fsdp", "fully sharded") || Switch("use-custom-fsdp", "fully sharded");
    constexpr Choice kStrategies[] = {
        {"no_shard", 0}, {"optim", 1}, {"optim_grads", 2}, {"optim_grads_params", 3}};
    const int strategy = Choose("data-parallel-sharding-strategy", kStrategies, 0);
    if (is_fsdp) zero = strategy;
    if (!is_fsdp && strategy != 0) {
      reader_.IsIrrelevant("data-parallel-sharding-strategy", "it has no effect without FSDP");
    }
    if (Switch("use-torch-fsdp2", "zero 3")) zero = 3;
    const int64_t ranks = DataRanks(plan_);
    plan_.set_zero(zero);
    if (is_fsdp) {
      reader_.Became("data-parallel-sharding-strategy", fmt::format("zero {}", zero));
      if (zero > 1 && plan_.degrees().pp() > 1) {
        reader_.Refuse("data-parallel-sharding-strategy",
                       fmt::format("optim or no_shard with pp {}", plan_.degrees().pp()));
      }
    }
    ReadInstances(ranks);
    const auto bucket = reader_.Whole("ddp-bucket-size", 1, kMostBucketBytes / 4);
    if (bucket) plan_.set_bucket_bytes(*bucket * plan_.gradient_bytes());
    reader_.Became("ddp-bucket-size", fmt::format("bucket of {} bytes", plan_.bucket_bytes()));
  }

  // Several optimizers, each with its part of the ranks.
  void ReadInstances(int64_t ranks) {
    constexpr const char* kName = "num-distributed-optimizer-instances";
    const auto instances = reader_.Whole(kName, 1, kMostOfADegree);
    if (!instances || *instances == 1) {
      reader_.Became(kName, "shards over all replicas");
      return;
    }
    if (ranks == 0) {
      throw InputError(reader_.Find(kName)->place +
                       ": divides the replicas, whose number is not said, want --cluster");
    }
    if (ranks % *instances != 0) reader_.Refuse(kName, fmt::format("a divisor of {}", ranks));
    if (*instances < ranks) plan_.set_zero_group(static_cast<int32_t>(ranks / *instances));
    reader_.Became(kName, fmt::format("zero group {}", plan_.zero_group()));
  }

  void ReadOverlap() {
    plan_.set_overlap_grad_reduce(Switch("overlap-grad-reduce", "overlap-grad-reduce"));
    plan_.set_overlap_param_gather(Switch("overlap-param-gather", "overlap-param-gather"));
    const bool waits = Switch("no-overlap-p2p-communication", "no overlap-p2p");
    // arguments.py: only the interleaved schedule can overlap transfers.
    plan_.set_overlap_p2p(plan_.degrees().virtual_stages() > 1 && plan_.degrees().pp() > 1 &&
                          !waits);
    plan_.set_overlap_tensor(Switch("tp-comm-overlap", "overlap-tp"));
    plan_.set_sequence_parallel(Switch("sequence-parallel", "sequence parallelism") &&
                                plan_.degrees().tp() > 1);
    if (!plan_.sequence_parallel() && plan_.overlap_tensor()) {
      reader_.Refuse("tp-comm-overlap", "sequence-parallel with it");
    }
    const bool scatters = !reader_.IsOn("no-scatter-gather-tensors-in-pipeline");
    reader_.Became("no-scatter-gather-tensors-in-pipeline", "no scatter-messages");
    if (!scatters) plan_.mutable_framework()->set_scatters_messages(false);
    const auto group =
        reader_.Whole("microbatch-group-size-per-virtual-pipeline-stage", 1, kMostOfABatch);
    if (!group) return;
    const bool is_usual = *group == plan_.degrees().pp();
    if (!is_usual) plan_.set_order_group(static_cast<int32_t>(*group));
    reader_.Became("microbatch-group-size-per-virtual-pipeline-stage",
                   fmt::format("order-group {}", *group));
  }

  void ReadRecomputation() {
    DegreesProto& degrees = *plan_.mutable_degrees();
    degrees.set_recompute(PlanProto::NONE);
    const bool is_short = Switch("recompute-activations", "recompute selective");
    constexpr Choice kGrains[] = {{"full", PlanProto::FULL}, {"selective", PlanProto::SELECTIVE}};
    const int grain =
        Choose("recompute-granularity", kGrains, is_short ? PlanProto::SELECTIVE : PlanProto::NONE);
    reader_.Became("recompute-granularity",
                   grain == PlanProto::FULL ? "recompute full" : "recompute selective");
    if (grain == PlanProto::SELECTIVE) ReadModules(degrees);
    if (grain == PlanProto::FULL) ReadWholeBlocks(degrees);
  }

  void ReadModules(DegreesProto& degrees) {
    std::vector<std::string> modules = reader_.Texts("recompute-modules");
    const bool is_given = !modules.empty();
    if (!is_given) modules = {"core_attn"};
    for (const std::string& module : modules) {
      if (module == "core_attn") {
        degrees.set_recompute(PlanProto::SELECTIVE);
      } else if (module == "layernorm") {
        plan_.set_recompute_norms(true);
      } else if (module == "mla_up_proj") {
        plan_.set_recompute_latents(true);
      } else if (module == "moe_act") {
        plan_.set_recompute_activations(true);
      } else if (module == "mlp" || module == "moe" || module == "shared_experts") {
        training_.notes.push_back(
            fmt::format("recompute-modules {}: not simulated, the {} keeps its activations", module,
                        module == "moe" ? "experts' MLP" : "MLP"));
      } else {
        reader_.Refuse("recompute-modules",
                       "core_attn, layernorm, mla_up_proj, moe_act, mlp, moe or shared_experts");
      }
    }
    reader_.Became("recompute-modules", "recompute, recompute-parts");
  }

  void ReadWholeBlocks(DegreesProto& degrees) {
    constexpr Choice kMethods[] = {{"uniform", DegreesProto::UNIFORM},
                                   {"block", DegreesProto::BLOCK}};
    const int method = Choose("recompute-method", kMethods, 0);
    if (method == 0) {
      throw InputError(file_ +
                       ": got recompute-granularity full without recompute-method, want "
                       "uniform or block");
    }
    const int least = method == DegreesProto::UNIFORM ? 1 : 0;
    const int64_t layers = reader_.Whole("recompute-num-layers", least, kMostLayers).value_or(1);
    reader_.Became("recompute-num-layers", fmt::format("{} layers", layers));
    degrees.set_recompute(PlanProto::FULL);
    if (method == DegreesProto::UNIFORM && layers == 1) return;  // every block by itself
    degrees.set_recompute_method(static_cast<DegreesProto::RecomputeMethod>(method));
    degrees.add_recompute_num_layers(static_cast<int32_t>(layers));
  }

  void ReadContext() {
    const std::vector<std::string> kinds = reader_.Texts("cp-comm-type");
    plan_.set_context_exchange(PlanProto::RING);
    if (kinds.empty()) return;
    if (kinds[0] == "all_gather") {
      plan_.set_context_exchange(PlanProto::GATHER);
    } else if (kinds[0] == "a2a") {
      plan_.set_context_exchange(PlanProto::ULYSSES);
    } else if (kinds[0] != "p2p" && kinds[0] != "a2a+p2p") {
      reader_.Refuse("cp-comm-type", "p2p, all_gather, a2a or a2a+p2p");
    }
    const bool is_mixed = kinds[0] == "a2a+p2p" ||
                          std::any_of(kinds.begin(), kinds.end(),
                                      [&](const std::string& kind) { return kind != kinds[0]; });
    reader_.Became("cp-comm-type", "cp-exchange");
    if (is_mixed) reader_.IsNotSimulated("cp-comm-type", "all layers exchange in one way");
  }

  void ReadExperts() {
    constexpr Choice kDispatchers[] = {
        {"alltoall", 0}, {"allgather", 1}, {"flex", 2}, {"alltoall_seq", 0}};
    const int dispatcher = Choose("moe-token-dispatcher-type", kDispatchers, 0);
    if (dispatcher == 1) {
      reader_.IsNotSimulated("moe-token-dispatcher-type", "tokens travel by all-to-alls");
    }
    const bool is_deep = Switch("moe-enable-deepep", "expert-sends once-per-node");
    plan_.set_expert_sends(dispatcher == 2 && is_deep ? PlanProto::ONCE_PER_NODE
                                                      : PlanProto::EVERY_COPY);
    const bool has_experts = training_.network->moe.experts > 0;
    const bool is_grouped = Switch("moe-grouped-gemm", "grouped-experts");
    if (has_experts) plan_.mutable_framework()->set_multiplies_experts_apart(!is_grouped);
    plan_.set_pairs_passes(Switch("overlap-moe-expert-parallel-comm", "overlap-experts"));
  }

  void ReadKernels() {
    constexpr Choice kBackends[] = {{"flash", OpProto::USUAL},
                                    {"fused", OpProto::CUDNN},
                                    {"auto", OpProto::USUAL},
                                    {"unfused", -1},
                                    {"local", -1}};
    int kernel = Choose("attention-backend", kBackends, OpProto::USUAL);
    Switch("use-flash-attn", "fused attention");
    constexpr Choice kLayers[] = {
        {"transformer_engine", 0}, {"local", 1}, {"inference_optimized", 0}};
    const bool is_local = Choose("transformer-impl", kLayers, 0) == 1;
    if (is_local && !reader_.IsOn("use-flash-attn")) kernel = -1;
    if (kernel < 0) {
      training_.flags.insert(training_.flags.end(), {"--attention", "unfused"});
    } else {
      plan_.set_attention_kernel(static_cast<OpProto::AttentionKernel>(kernel));
    }
    bool has_graphs = Switch("enable-cuda-graph", "host-dispatch 0");
    has_graphs = Switch("external-cuda-graph", "host-dispatch 0") || has_graphs;
    constexpr Choice kGraphs[] = {{"none", 0}, {"local", 1}, {"transformer_engine", 1}};
    has_graphs = Choose("cuda-graph-impl", kGraphs, 0) == 1 || has_graphs;
    if (has_graphs) training_.flags.insert(training_.flags.end(), {"--host-dispatch", "0"});
  }
};

}  // namespace

void ReadMegatronStep(OptionReader& reader, const std::string& file, const TrainingWishes& wishes,
                      ImportedTraining& training) {
  StepReader(reader, file, wishes, training).Run();
}

}  // namespace stagecraft
