#include "tools/frameworks/megatron_flags.h"

#include <algorithm>

namespace stagecraft {
namespace {

constexpr const char* kSwitches[] = {
    "group-query-attention", "swiglu", "squared-relu", "disable-bias-linear", "add-qkv-bias",
    "untie-embeddings-and-output-weights", "use-rotary-position-embeddings", "qk-layernorm",
    "multi-latent-attention", "moe-shared-expert-gate", "moe-grouped-gemm",
    "moe-router-enable-expert-bias", "moe-enable-deepep", "moe-use-legacy-grouped-gemm",
    "no-position-embedding", "sequence-parallel", "use-distributed-optimizer",
    "overlap-grad-reduce", "overlap-param-gather", "no-overlap-p2p-communication",
    "tp-comm-overlap", "use-tp-pp-dp-mapping", "account-for-embedding-in-pipeline-split",
    "account-for-loss-in-pipeline-split", "recompute-activations", "bf16", "fp16",
    "accumulate-allreduce-grads-in-fp32", "grad-reduce-in-bf16", "use-flash-attn",
    "use-megatron-fsdp", "use-custom-fsdp", "use-torch-fsdp2", "optimizer-cpu-offload",
    "use-precision-aware-optimizer", "overlap-moe-expert-parallel-comm", "enable-cuda-graph",
    "external-cuda-graph", "deepspeed", "use-torch-optimizer-for-cpu-offload",
    "overlap-cpu-optimizer-d2h-h2d", "no-masked-softmax-fusion",
    // They change a step's time or memory, but are not simulated.
    "defer-embedding-wgrad-compute", "delay-wgrad-compute", "overlap-param-gather-with-optimizer-step",
    "cross-entropy-loss-fusion", "fp8-param-gather", "moe-permute-fusion",
    "moe-shared-expert-overlap", "distribute-saved-activations",
    "fp16-lm-cross-entropy", "fp32-residual-connection", "reuse-grad-buf-for-mxfp8-param-ag",
    "no-gradient-accumulation-fusion", "overlap-p2p-communication-warmup-flush",
    "tp-comm-overlap-rs-dgrad", "tp-comm-bulk-dgrad", "tp-comm-bulk-wgrad",
    "disable-tp-comm-bulk-dgrad", "disable-tp-comm-bulk-wgrad", "disable-tp-comm-overlap-ag",
    "disable-tp-comm-overlap-rs", "cpu-offloading", "moe-pad-expert-input-to-capacity",
    "first-last-layers-bf16", "moe-router-padding-for-fp8", "no-scatter-gather-tensors-in-pipeline", "use-nccl-ub", "nccl-ub", "standalone-embedding-stage",
    "no-bias-gelu-fusion", "no-bias-swiglu-fusion", "no-bias-dropout-fusion", "no-rope-fusion",
    "no-persist-layer-norm", "use-sharp", "decrease-batch-size-if-needed"};

constexpr const char* kValues[] = {
    "num-layers", "hidden-size", "ffn-hidden-size", "num-attention-heads", "num-query-groups",
    "kv-channels", "seq-length", "encoder-seq-length", "max-position-embeddings", "vocab-size",
    "padded-vocab-size", "make-vocab-size-divisible-by", "normalization", "position-embedding-type",
    "rotary-percent", "attention-dropout", "hidden-dropout", "num-experts", "moe-router-topk",
    "moe-ffn-hidden-size", "moe-shared-expert-intermediate-size", "moe-layer-freq",
    "moe-router-num-groups", "moe-router-group-topk", "moe-token-dispatcher-type", "q-lora-rank",
    "kv-lora-rank", "qk-head-dim", "qk-pos-emb-head-dim", "v-head-dim", "mtp-num-layers",
    "tokenizer-type", "micro-batch-size", "global-batch-size", "tensor-model-parallel-size",
    "pipeline-model-parallel-size", "context-parallel-size", "expert-model-parallel-size",
    "expert-tensor-parallel-size", "num-layers-per-virtual-pipeline-stage",
    "num-virtual-stages-per-pipeline-rank", "pipeline-model-parallel-layout",
    "decoder-first-pipeline-num-layers", "decoder-last-pipeline-num-layers",
    "microbatch-group-size-per-virtual-pipeline-stage", "recompute-granularity",
    "recompute-method", "recompute-num-layers", "fp8-format", "fp8", "fp8-recipe", "fp4-format",
    "fp4", "fp4-recipe", "optimizer", "sgd-momentum", "exp-avg-dtype", "exp-avg-sq-dtype",
    "attention-backend", "transformer-impl", "ddp-bucket-size", "data-parallel-sharding-strategy",
    "num-distributed-optimizer-instances", "optimizer-offload-fraction", "cuda-graph-impl",
    "zero-stage", "deepspeed_config", "model-parallel-size", "spec", "moe-expert-capacity-factor",
    "ddp-num-buckets", "moe-router-dtype", "main-grads-dtype", "main-params-dtype",
    "wgrad-deferral-limit", "window-size", "cuda-graph-scope", "hybrid-layer-pattern",
    "hybrid-override-pattern", "encoder-num-layers",
    "decoder-num-layers", "cpu-offloading-num-layers", "tp-comm-overlap-cfg", "rope-type",
    "num-layers-at-start-in-bf16", "num-layers-at-end-in-bf16", "cross-entropy-fusion-impl"};

constexpr const char* kLists[] = {"recompute-modules", "cp-comm-type",
                                  "hierarchical-context-parallel-sizes", "rampup-batch-size"};

constexpr const char* kRatesValues[] = {
    "lr", "min-lr", "lr-decay-style", "lr-decay-iters", "lr-decay-samples", "lr-warmup-iters",
    "lr-warmup-samples", "lr-warmup-fraction", "lr-warmup-init", "lr-wsd-decay-style",
    "lr-wsd-decay-iters", "lr-wsd-decay-samples", "decoupled-lr", "decoupled-min-lr",
    "weight-decay", "start-weight-decay", "end-weight-decay", "weight-decay-incr-style",
    "clip-grad", "adam-beta1", "adam-beta2", "adam-eps", "seed", "init-method-std",
    "initial-loss-scale", "loss-scale", "min-loss-scale", "loss-scale-window", "hysteresis",
    "norm-epsilon", "layernorm-epsilon", "rotary-base", "rotary-seq-len-interpolation-factor",
    "rotary-scaling-factor", "mscale", "mscale-all-dim", "beta-fast",
    "beta-slow", "train-iters", "train-samples", "moe-aux-loss-coeff", "moe-z-loss-coeff",
    "moe-router-load-balancing-type", "moe-router-bias-update-rate", "moe-router-score-function",
    "moe-router-topk-scaling-factor", "mtp-loss-scaling-factor", "embedding-init-method-std",
    "fp8-amax-history-len", "fp8-amax-compute-algo", "fp8-margin",
    "fp8-interval", "moe-input-jitter-eps"};
constexpr const char* kRatesSwitches[] = {
    "override-opt_param-scheduler", "use-checkpoint-opt_param-scheduler", "apply-layernorm-1p", "use-rope-scaling", "apply-query-key-layer-scaling",
    "attention-softmax-in-fp32", "calculate-per-token-loss", "data-parallel-random-init",
    "init-model-with-meta-device", "moe-router-pre-softmax", "deterministic-mode",
    "rotary-interleaved", "moe-per-layer-logging", "no-fp8-wgrad", "use-mcore-models",
    "use-legacy-models", "no-check-for-nan-in-loss-and-grad", "skip-train", "no-create-attention-mask-in-dataloader", "apply-residual-connection-post-layernorm",
    "moe-router-force-load-balancing", "enable-experimental", "perform-initialization",
    "no-initialization", "use-cpu-initialization", "finetune"};

constexpr const char* kDataValues[] = {
    "split", "data-cache-path", "vocab-file", "merge-file", "tokenizer-model", "num-workers",
    "data-impl", "mask-prob", "short-seq-prob", "data-args-path",
    "per-split-data-args-path", "tiktoken-pattern", "tiktoken-num-special-tokens",
    "num-dataset-builder-threads", "dataloader-type", "tokenizer-name-or-path",
    "sft-tokenizer-prompt-format"};
constexpr const char* kDataSwitches[] = {"mock-data", "reset-position-ids", "reset-attention-mask",
                                         "eod-mask-loss", "no-mmap-bin-files", "sft", "trust-remote-code"};
constexpr const char* kDataLists[] = {"data-path", "train-data-path", "valid-data-path",
                                      "test-data-path"};

constexpr const char* kOutputValues[] = {
    "save", "load", "save-interval", "save-retain-interval", "ckpt-format", "log-interval",
    "tensorboard-dir", "tensorboard-log-interval", "tensorboard-queue-size", "wandb-project",
    "wandb-exp-name", "wandb-entity", "wandb-save-dir", "exit-interval", "exit-duration-in-mins",
    "timing-log-level", "timing-log-option", "pretrained-checkpoint", "ckpt-step", "profile-step-start",
    "profile-step-end", "dist-ckpt-format", "ckpt-fully-parallel-load", "non-persistent-save-interval",
    "one-logger-project", "memory-snapshot-path", "ckpt-convert-format",
    "inprocess-restart", "manual-gc-interval", "result-rejected-tracker-filename"};
constexpr const char* kOutputSwitches[] = {
    "no-save-optim", "no-save-rng", "no-load-optim", "no-load-rng", "log-params-norm",
    "log-num-zeros-in-grad", "log-throughput", "log-progress", "log-timers-to-tensorboard",
    "log-validation-ppl-to-tensorboard", "log-memory-to-tensorboard",
    "log-learning-rate-to-tensorboard", "log-batch-size-to-tensorboard",
    "log-loss-scale-to-tensorboard", "log-world-size-to-tensorboard", "profile",
    "use-pytorch-profiler", "record-memory-history", "use-dist-ckpt", "auto-detect-ckpt-format",
    "ckpt-fully-parallel-save", "ckpt-assume-constant-structure", "exit-signal-handler",
    "log-straggler", "manual-gc", "no-one-logger", "use-persistent-ckpt-worker", "async-save",
    "exit-on-missing-checkpoint", "use-checkpoint-args", "check-for-spiky-loss",
    "check-for-large-grads", "enable-one-logger"};
constexpr const char* kOutputLists[] = {"profile-ranks"};

constexpr const char* kEvaluationValues[] = {"eval-iters", "eval-interval"};

constexpr const char* kProcessValues[] = {
    "distributed-backend", "distributed-timeout-minutes", "local-rank", "rank", "world-size",
    "nccl-communicator-config-path", "high-priority-stream-groups"};
constexpr const char* kProcessSwitches[] = {"lazy-mpu-init", "align-grad-reduce",
                                            "no-align-grad-reduce", "no-align-param-gather",
                                            "enable-gloo-process-groups",
                                            "disable-gloo-process-groups", "use-ring-exchange-p2p"};

constexpr const char* kOfRates = "it sets rates, losses or initial values";
constexpr const char* kOfData = "it says where the data come from";
constexpr const char* kOfOutput = "it says what is saved, logged or profiled";
constexpr const char* kOfEvaluation = "it is about evaluation, which is not part of a training step";
constexpr const char* kOfProcesses = "it says how processes find each other";

constexpr MegatronFlags kTable[] = {
    {nullptr, OptionValues::kNone, kSwitches},
    {nullptr, OptionValues::kOne, kValues},
    {nullptr, OptionValues::kSome, kLists},
    {kOfRates, OptionValues::kOne, kRatesValues},
    {kOfRates, OptionValues::kNone, kRatesSwitches},
    {kOfData, OptionValues::kOne, kDataValues},
    {kOfData, OptionValues::kNone, kDataSwitches},
    {kOfData, OptionValues::kSome, kDataLists},
    {kOfOutput, OptionValues::kOne, kOutputValues},
    {kOfOutput, OptionValues::kNone, kOutputSwitches},
    {kOfOutput, OptionValues::kSome, kOutputLists},
    {kOfEvaluation, OptionValues::kOne, kEvaluationValues},
    {kOfProcesses, OptionValues::kOne, kProcessValues},
    {kOfProcesses, OptionValues::kNone, kProcessSwitches},
};

const MegatronFlags* GroupOf(std::string_view name) {
  for (const MegatronFlags& group : kTable) {
    const bool is_in = std::any_of(group.names.begin(), group.names.end(),
                                   [&](const char* known) { return name == known; });
    if (is_in) return &group;
  }
  return nullptr;
}

}  // namespace

std::span<const MegatronFlags> MegatronFlagTable() { return kTable; }

OptionValues MegatronValues(std::string_view name) {
  const MegatronFlags* const group = GroupOf(name);
  return group == nullptr ? OptionValues::kUnknown : group->values;
}

const char* WhyMegatronFlagIsIrrelevant(std::string_view name) {
  const MegatronFlags* const group = GroupOf(name);
  return group == nullptr ? nullptr : group->irrelevant_because;
}

}  // namespace stagecraft
