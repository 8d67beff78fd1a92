#include "tools/frameworks/deepspeed_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "costmodel/check.h"
#include "costmodel/json_to_proto.h"
#include "sim/workload/limits.h"
#include "sim/workload/workload_catalogue.h"
#include "tools/frameworks/deepspeed_partition.h"
#include "tools/frameworks/framework_defaults.h"
#include "tools/frameworks/training_reader.h"

namespace stagecraft {
namespace {

constexpr const char* kRates[] = {"optimizer.params.*",
                                  "scheduler.*",
                                  "gradient_clipping",
                                  "prescale_gradients",
                                  "gradient_predivide_factor",
                                  "fp16.loss_scale",
                                  "fp16.initial_scale_power",
                                  "fp16.loss_scale_window",
                                  "fp16.hysteresis",
                                  "fp16.min_loss_scale",
                                  "fp16.consecutive_hysteresis",
                                  "zero_allow_untested_optimizer",
                                  "zero_force_ds_cpu_optimizer",
                                  "seed",
                                  "curriculum_learning.*",
                                  "data_efficiency.*",
                                  "pipeline.seed_layers"};
constexpr const char* kOutput[] = {"steps_per_print",
                                   "wall_clock_breakdown",
                                   "dump_state",
                                   "flops_profiler.*",
                                   "tensorboard.*",
                                   "wandb.*",
                                   "csv_monitor.*",
                                   "comms_logger.*",
                                   "checkpoint.*",
                                   "memory_breakdown",
                                   "monitor.*",
                                   "load_universal_checkpoint",
                                   "elasticity.*",
                                   "autotuning.*",
                                   "nebula.*",
                                   "data_types.*",
                                   "comet.*",
                                   "zero_optimization.stage3_gather_16bit_weights_on_model_save",
                                   "zero_optimization.elastic_checkpoint",
                                   "zero_optimization.load_from_fp32_weights",
                                   "zero_optimization.ignore_unused_parameters"};
constexpr IrrelevantOptions kIrrelevant[] = {
    {"it sets rates, losses or initial values", kRates},
    {"it says what is saved, logged or profiled", kOutput},
};

constexpr NotSimulated kNotSimulated[] = {
    {"zero_optimization.contiguous_gradients", "gradients are contiguous"},
    {"zero_optimization.allgather_partitions", "parameters are gathered"},
    {"zero_optimization.allgather_bucket_size", "parameters are gathered layer by layer"},
    {"zero_optimization.reduce_scatter", "gradients are scattered as they are reduced"},
    {"zero_optimization.sub_group_size", "states are updated at once"},
    {"zero_optimization.round_robin_gradients", "gradients are divided in order"},
    {"zero_optimization.stage3_prefetch_bucket_size", "one layer is gathered ahead"},
    {"zero_optimization.stage3_max_live_parameters", "parameters of two layers are kept"},
    {"zero_optimization.stage3_max_reuse_distance", "parameters are dropped after each pass"},
    {"zero_optimization.stage3_param_persistence_threshold", "all parameters are sharded"},
    {"zero_optimization.stage3_module_granularity_threshold", "layers are gathered one by one"},
    {"zero_optimization.zero_hpz_partition_size", "there are no second copies of parameters"},
    {"zero_optimization.zero_quantized_weights", "parameters travel in 16 bits"},
    {"zero_optimization.zero_quantized_gradients", "gradients travel in their own precision"},
    {"zero_optimization.zero_quantized_nontrainable_weights", "parameters travel in 16 bits"},
    {"zero_optimization.offload_param.device", "parameters stay on the GPUs"},
    {"zero_optimization.offload_optimizer.pin_memory", "copies run at the speed of pinned memory"},
    {"zero_optimization.offload_optimizer.ratio", "all states are offloaded, or none"},
    {"zero_optimization.offload_optimizer.fast_init", "it changes the start alone"},
    {"zero_optimization.offload_optimizer.buffer_count", "it concerns NVMe alone"},
    {"zero_optimization.mics_hierarchical_params_gather", "parameters are gathered in one step"},
    {"sparse_gradients", "gradients are dense"},
    {"sparse_attention", "attention is dense"},
    {"amp", "mixed precision is that of bf16 or fp16"},
    {"fp16.auto_cast", "weights have 16 bits"},
    {"torch_autocast.enabled", "weights have 16 bits"},
    {"activation_checkpointing.partition_activations", "every rank keeps its activations"},
    {"activation_checkpointing.cpu_checkpointing", "activations stay on the GPUs"},
    {"activation_checkpointing.contiguous_memory_optimization", "the code says what is recomputed"},
    {"activation_checkpointing.number_checkpoints", "the code says what is recomputed"},
    {"activation_checkpointing.synchronize_checkpoint_boundary", "GPUs do not wait for the host"},
    {"activation_checkpointing.profile", "nothing is measured"},
    {"compression_training", "weights are not compressed"},
    {"pipeline.pipe_partitioned", "activations are sent whole"},
    {"pipeline.grad_partitioned", "gradients are sent whole"},
    {"communication_data_type", "gradients travel in their own precision"},
    {"aio", "nothing is on NVMe"},
};

class DeepspeedReader : public TrainingReader {
 public:
  using TrainingReader::TrainingReader;

  void Run() {
    BeginPlan();
    AreNotSimulated(kNotSimulated);
    ReadDegrees();
    ReadBatch();
    ReadPrecision();
    ReadZero();
    ReadPipeline();
    ReadRest();
    TakeStackHabits("deepspeed", wishes_, training_);
  }

 private:
  // "auto" is for Hugging Face's Trainer to fill in.
  bool IsGiven(const char* name) const {
    const nlohmann::json value = reader_.Value(name);
    return !value.is_null() && value != "auto";
  }

  std::optional<int64_t> Whole(const char* name, int64_t least, int64_t most) const {
    return IsGiven(name) ? reader_.Whole(name, least, most) : std::nullopt;
  }

  void ReadDegrees() {
    const auto stages = Whole("pipeline.stages", 1, kMostOfADegree);
    degrees_.set_pp(static_cast<int32_t>(stages.value_or(1)));
    reader_.Became("pipeline.stages", fmt::format("pp {}", degrees_.pp()));
    const auto tensor = Whole("tensor_parallel.autotp_size", 0, kMostOfADegree);
    degrees_.set_tp(static_cast<int32_t>(std::max<int64_t>(tensor.value_or(1), 1)));
    reader_.Became("tensor_parallel.autotp_size", fmt::format("tp {}", degrees_.tp()));
    const auto context = Whole("sequence_parallel_size", 1, kMostOfADegree);
    degrees_.set_cp(static_cast<int32_t>(context.value_or(1)));
    reader_.Became("sequence_parallel_size", fmt::format("cp {}", degrees_.cp()));
    const auto experts = Whole("expert_parallel_size", 1, kMostOfADegree);
    degrees_.set_ep(static_cast<int32_t>(experts.value_or(1)));
    reader_.Became("expert_parallel_size", fmt::format("ep {}", degrees_.ep()));
    plan_.set_context_exchange(PlanProto::ULYSSES);
    TakeDataParallelism(file_, wishes_, training_);
  }

  // DeepSpeed wants train_batch_size = micro-batch x accumulation x replicas, and derives any one
  // of the first three that is left out.
  void ReadBatch() {
    constexpr const char* kAll = "train_batch_size";
    constexpr const char* kMicro = "train_micro_batch_size_per_gpu";
    constexpr const char* kSteps = "gradient_accumulation_steps";
    auto all = Whole(kAll, 1, kMostOfABatch);
    auto micro = Whole(kMicro, 1, kMostOfABatch);
    auto steps = Whole(kSteps, 1, kMostOfABatch);
    if (plan_.micro_batch() > 0 && !micro) micro = plan_.micro_batch();
    if (plan_.global_batch() > 0 && !all) all = plan_.global_batch();
    const int64_t replicas = degrees_.has_dp() ? degrees_.dp() : 0;
    if (replicas == 0 && all && micro && steps) InferReplicas(*all, *micro, *steps);
    const int64_t known = degrees_.has_dp() ? degrees_.dp() : 0;
    if (!all && !micro) {
      throw InputError(file_ +
                       ": got neither train_batch_size nor "
                       "train_micro_batch_size_per_gpu, want one of them");
    }
    if (known == 0 && (!all || !micro)) {
      throw InputError(file_ + ": does not say how many processes there are, want --cluster");
    }
    if (!micro) {
      const int64_t parts = known * steps.value_or(1);
      if (*all % parts != 0) {
        reader_.Refuse(kAll, fmt::format("a multiple of dp {} x {} accumulation steps", known,
                                         steps.value_or(1)));
      }
      micro = *all / parts;
    }
    if (!all) all = GlobalBatch(file_, *micro, steps.value_or(1), known);
    const int64_t once = *micro * known;
    if (known > 0 && (*all % once != 0 || (steps && *all / once != *steps))) {
      throw InputError(
          fmt::format("{}: {} {} is not {} {} x dp {}{}", file_, kAll, *all, kMicro, *micro, known,
                      steps ? fmt::format(" x {} {}", kSteps, *steps) : " x a whole number"));
    }
    plan_.set_micro_batch(*micro);
    plan_.set_global_batch(wishes_.global_batch > 0 ? wishes_.global_batch : *all);
    reader_.Became(kAll, fmt::format("global batch {}", plan_.global_batch()));
    reader_.Became(kMicro, fmt::format("micro-batch {}", *micro));
    reader_.Became(kSteps, "global batch");
    if (wishes_.sequence > 0) plan_.set_sequence(wishes_.sequence);
    if (plan_.sequence() == 0) {
      throw InputError(file_ + ": does not say how many tokens a sample has, want --seq");
    }
  }

  void InferReplicas(int64_t all, int64_t micro, int64_t steps) {
    if (all % micro != 0 || all / micro % steps != 0 || all / micro / steps > kMostOfADegree) {
      throw InputError(
          fmt::format("{}: train_batch_size {} is not micro-batch {} x {} steps x a "
                      "whole number of replicas",
                      file_, all, micro, steps));
    }
    degrees_.set_dp(static_cast<int32_t>(all / micro / steps));
  }

  void ReadPrecision() {
    const bool is_bf16 = IsOn("bf16.enabled", "precision bf16");
    const bool is_fp16 = IsOn("fp16.enabled", "precision fp16");
    if (is_bf16 && is_fp16) {
      throw InputError(file_ + ": got bf16 and fp16 enabled, want one of them");
    }
    if (is_bf16) plan_.set_precision(PlanProto::BF16);
    if (is_fp16) plan_.set_precision(PlanProto::FP16);
    if (!is_bf16 && !is_fp16 && plan_.precision() == PlanProto::PRECISION_UNSPECIFIED) {
      plan_.set_precision(PlanProto::FP32);
    }
    // communication_data_type: that of training unless given.
    static constexpr const char* kTypes[] = {"fp32", "fp16", "bf16", "bfp16"};
    const bool is_given = IsGiven("communication_data_type");
    const auto type = is_given ? reader_.Word("communication_data_type", kTypes) : std::nullopt;
    const bool is_wide = type ? *type == "fp32" : plan_.precision() == PlanProto::FP32;
    plan_.set_gradient_bytes(is_wide ? 4 : 2);
    if (type) {
      reader_.Became("communication_data_type",
                     fmt::format("gradients of {} bytes", plan_.gradient_bytes()));
    }
  }

  bool IsOn(const std::string& name, const std::string& became) {
    if (!IsGiven(name.c_str())) {
      reader_.Became(name, "as the Trainer says");
      return false;
    }
    reader_.Became(name, became);
    return reader_.IsOn(name);
  }

  void ReadZero() {
    constexpr const char* kStage = "zero_optimization.stage";
    const int stage = static_cast<int>(Whole(kStage, 0, 3).value_or(0));
    reader_.Became(kStage, fmt::format("zero {}", stage));
    if (degrees_.pp() > 1 && stage > 1) {
      reader_.Refuse(kStage, fmt::format("0 or 1 with {} pipeline stages", degrees_.pp()));
    }
    plan_.set_zero(stage);
    constexpr const char* kOverlap = "zero_optimization.overlap_comm";
    const auto overlaps = IsGiven(kOverlap) ? reader_.Truth(kOverlap) : std::nullopt;
    // zero/config.py: on by default with stage 3 alone.
    plan_.set_overlap_grad_reduce(overlaps.value_or(stage == 3));
    reader_.Became(kOverlap, "overlap-grad-reduce");
    plan_.set_overlap_param_gather(plan_.zero() == 3);
    plan_.set_reshard_after_forward(true);
    constexpr const char* kBucket = "zero_optimization.reduce_bucket_size";
    constexpr int64_t kUsualBucket = 500'000'000;  // elements; zero/config.py
    const int64_t bucket = Whole(kBucket, 1, int64_t{1} << 40).value_or(kUsualBucket);
    plan_.set_bucket_bytes(std::min(bucket * plan_.gradient_bytes(), kMostBucketBytes));
    reader_.Became(kBucket, fmt::format("bucket of {} bytes", plan_.bucket_bytes()));
    constexpr const char* kGroup = "zero_optimization.mics_shard_size";
    const auto group = Whole(kGroup, -1, kMostOfADegree);
    if (group && *group > 0) plan_.set_zero_group(static_cast<int32_t>(*group));
    reader_.Became(kGroup, "zero-group");
    ReadOffload();
  }

  void ReadOffload() {
    constexpr const char* kDevice = "zero_optimization.offload_optimizer.device";
    static constexpr const char* kDevices[] = {"none", "cpu", "nvme"};
    const std::string device = reader_.Word(kDevice, kDevices).value_or("none");
    reader_.Became(kDevice, device == "none" ? "no offload" : "offload-optimizer");
    if (device == "none") return;
    if (device == "nvme") reader_.IsNotSimulated(kDevice, "states are in host memory, not on NVMe");
    TakeOptimizerOffload(reader_.Find(kDevice)->place, wishes_, plan_);
  }

  void ReadPipeline() {
    plan_.set_order(PlanProto::ONE_FORWARD_ONE_BACKWARD);
    degrees_.set_virtual_stages(1);
    plan_.set_overlap_p2p(false);  // pipe/engine.py: one instruction after another
    const std::string method =
        IsGiven("pipeline.partition") ? *reader_.Text("pipeline.partition") : "best";
    reader_.Became("pipeline.partition", "layers of the stages");
    const auto interval = Whole("pipeline.activation_checkpoint_interval", 0, kMostLayers);
    reader_.Became("pipeline.activation_checkpoint_interval", "recompute");
    ReadRecomputation(interval);
    if (degrees_.pp() == 1) return;
    const std::string& model = wishes_.model.empty() ? training_.model : wishes_.model;
    if (model.empty()) throw InputError(file_ + ": does not say what the network is, want --model");
    const int layers = LoadWorkload(model, AttentionBackend::kFlash).layer_count();
    const bool is_even = method.starts_with("type:");
    if (method == "uniform") {
      training_.parts = {UniformPartition(layers, degrees_.pp()), file_ + ": pipeline.partition"};
    } else if (is_even || method == "best" || method == "parameters") {
      training_.parts = {BalancedPartition(layers, degrees_.pp()), file_ + ": pipeline.partition"};
      if (!is_even) {
        training_.notes.push_back("stages by parameters are taken to have equally many layers");
      }
    } else {
      reader_.Refuse("pipeline.partition", "uniform, parameters or type:REGEX");
    }
  }

  void ReadRecomputation(std::optional<int64_t> interval) {
    degrees_.set_recompute(PlanProto::NONE);
    if (wishes_.recompute == "full") degrees_.set_recompute(PlanProto::FULL);
    if (wishes_.recompute == "selective") degrees_.set_recompute(PlanProto::SELECTIVE);
    if (interval && *interval > 0) {
      degrees_.set_recompute(PlanProto::FULL);
      if (*interval > 1) {
        degrees_.set_recompute_method(DegreesProto::UNIFORM);
        degrees_.add_recompute_num_layers(static_cast<int32_t>(*interval));
      }
    } else if (wishes_.recompute.empty() && !interval) {
      training_.notes.push_back(
          "nothing is recomputed, as the file does not say: --recompute does");
    }
  }

  void ReadRest() {
    constexpr const char* kType = "optimizer.type";
    const std::string type = reader_.Text(kType).value_or("AdamW");
    const bool is_adam =
        type == "Adam" || type == "AdamW" || type == "FusedAdam" || type == "DeepSpeedCPUAdam";
    plan_.set_optimizer(type == "SGD" ? PlanProto::SGD : PlanProto::ADAM);
    reader_.Became(kType, type == "SGD" ? "optimizer sgd" : "optimizer adam");
    if (!is_adam && type != "SGD") {
      reader_.IsNotSimulated(kType, "the optimizer is taken to be Adam");
    }
    plan_.set_sequence_parallel(false);
    plan_.set_overlap_tensor(false);
    const bool is_compiled =
        IsOn("compile.enabled", "compiled") || IsOn("compile.deepcompile", "compiled");
    if (is_compiled) plan_.mutable_framework()->set_elementwise_traffic(1);
    // Attention is that of the model's code, which is fused nowadays.
    plan_.set_attention_kernel(OpProto::USUAL);
    training_.flags.insert(training_.flags.end(), {"--attention", "flash"});
  }
};

}  // namespace

void ReadDeepspeedOptions(OptionReader& reader, const std::string& file,
                          const TrainingWishes& wishes, ImportedTraining& training) {
  DeepspeedReader(reader, file, wishes, training).Run();
}

OptionReport DeepspeedReport(const OptionReader& reader) { return reader.Report(kIrrelevant); }

ImportedTraining ImportDeepspeed(const std::string& text, const std::string& file,
                                 const TrainingWishes& wishes) {
  ImportedTraining training;
  OptionReader reader(FlatOptions(ParseJson(text, file), file));
  ReadDeepspeedOptions(reader, file, wishes, training);
  training.options = DeepspeedReport(reader);
  return training;
}

}  // namespace stagecraft
