#include "tools/frameworks/huggingface_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <optional>
#include <string_view>

#include "costmodel/check.h"
#include "costmodel/json_to_proto.h"
#include "costmodel/proto_file.h"
#include "sim/workload/limits.h"
#include "tools/frameworks/deepspeed_reader.h"
#include "tools/frameworks/framework_defaults.h"
#include "tools/frameworks/training_reader.h"
#include "tools/import/import_text.h"

namespace stagecraft {
namespace {

constexpr const char* kRates[] = {"learning_rate",
                                  "weight_decay",
                                  "adam_*",
                                  "max_grad_norm",
                                  "num_train_epochs",
                                  "max_steps",
                                  "lr_scheduler_*",
                                  "warmup_*",
                                  "seed",
                                  "data_seed",
                                  "label_smoothing_factor",
                                  "optim_args",
                                  "neftune_noise_alpha",
                                  "full_determinism",
                                  "packing",
                                  "completion_only_loss",
                                  "loss_type",
                                  "fp16_opt_level",
                                  "half_precision_backend",
                                  "average_tokens_across_devices"};
constexpr const char* kData[] = {"dataloader_*",    "dataset_*",           "group_by_length",
                                 "remove_unused_*", "length_column_name",  "label_names",
                                 "past_index",      "ignore_data_skip",    "dataset",
                                 "train_file",      "accelerator_config.*"};
constexpr const char* kOutput[] = {"output_dir",
                                   "overwrite_output_dir",
                                   "logging_*",
                                   "save_*",
                                   "report_to",
                                   "run_name",
                                   "push_to_*",
                                   "hub_*",
                                   "eval_*",
                                   "evaluation_strategy",
                                   "do_train",
                                   "do_eval",
                                   "do_predict",
                                   "prediction_loss_only",
                                   "per_device_eval_batch_size",
                                   "load_best_*",
                                   "metric_for_*",
                                   "greater_is_better",
                                   "resume_from_checkpoint",
                                   "log_level*",
                                   "log_on_each_node",
                                   "logging_nan_inf_filter",
                                   "disable_tqdm",
                                   "include_*",
                                   "batch_eval_metrics",
                                   "debug",
                                   "skip_memory_metrics",
                                   "restore_callback_states_from_checkpoint",
                                   "jit_mode_eval",
                                   "trust_*",
                                   "fsdp_config.fsdp_state_dict_type",
                                   "fsdp_config.state_dict_type"};
constexpr const char* kProcesses[] = {"local_rank",
                                      "ddp_backend",
                                      "ddp_timeout",
                                      "ddp_find_unused_parameters",
                                      "ddp_broadcast_buffers",
                                      "machine_rank",
                                      "main_process_ip",
                                      "main_process_port",
                                      "main_training_function",
                                      "rdzv_backend",
                                      "same_network",
                                      "tpu_*",
                                      "use_cpu",
                                      "no_cuda",
                                      "compute_environment",
                                      "debug",
                                      "downcast_bf16",
                                      "enable_cpu_affinity",
                                      "gpu_ids",
                                      "deepspeed_config.deepspeed_multinode_launcher",
                                      "deepspeed_config.zero3_init_flag",
                                      "deepspeed_config.zero3_save_16bit_model",
                                      "fsdp_config.fsdp_sync_module_states",
                                      "fsdp_config.sync_module_states",
                                      "fsdp_config.fsdp_cpu_ram_efficient_loading",
                                      "fsdp_config.cpu_ram_efficient_loading",
                                      "mp_parameters",
                                      "use_mps_device"};
constexpr IrrelevantOptions kIrrelevant[] = {
    {"it sets rates, losses or initial values", kRates},
    {"it says where the data come from", kData},
    {"it says what is saved, logged, evaluated or profiled", kOutput},
    {"it says how processes find each other", kProcesses},
};

class HuggingFaceReader : public TrainingReader {
 public:
  using TrainingReader::TrainingReader;

  void Run() {
    BeginPlan();
    ReadProcesses();
    ReadDegrees();
    ReadBatch();
    ReadPrecision();
    ReadRecomputation();
    ReadRest();
    if (const std::optional<nlohmann::json> config = DeepspeedConfig()) {
      ReadDeepspeed(*config);
    } else {
      TakeDataParallelism(file_, wishes_, training_);
      ReadSharding();
      FinishBatch();
      TakeStackHabits(is_sharded_ ? "fsdp" : "ddp", wishes_, training_);
      plan_.mutable_framework()->set_backward_prefetch(is_late_ ? FrameworkProto::AFTER
                                                                : FrameworkProto::BEFORE);
    }
    if (is_compiled_) plan_.mutable_framework()->set_elementwise_traffic(1);
  }

 private:
  void ReadProcesses() {
    const auto all = reader_.Whole("num_processes", 1, kMostOfADegree);
    const auto nodes = reader_.Whole("num_machines", 1, kMostOfADegree);
    reader_.Became("num_processes", "processes of all nodes");
    reader_.Became("num_machines", "nodes");
    if (!all) return;
    if (*all % nodes.value_or(1) != 0) {
      reader_.Refuse("num_processes", fmt::format("a multiple of {} machines", *nodes));
    }
    training_.processes = {nodes.value_or(1), *all / nodes.value_or(1)};
  }

  int32_t Degree(const char* name, const char* flag) {
    const auto degree = reader_.Whole(name, 1, kMostOfADegree);
    reader_.Became(name, fmt::format("{} {}", flag, degree.value_or(1)));
    return static_cast<int32_t>(degree.value_or(1));
  }

  // accelerate's parallelism_config; without one all processes are data-parallel.
  void ReadDegrees() {
    degrees_.set_pp(1);
    degrees_.set_ep(1);
    degrees_.set_tp(Degree("parallelism_config.parallelism_config_tp_size", "tp"));
    degrees_.set_cp(Degree("parallelism_config.parallelism_config_cp_size", "cp"));
    replicas_ = Degree(kReplicas, "replicas");
    Degree("parallelism_config.parallelism_config_dp_shard_size", "shards");
    degrees_.set_virtual_stages(1);
    plan_.set_order(PlanProto::ONE_FORWARD_ONE_BACKWARD);
    plan_.set_context_exchange(PlanProto::GATHER);
    plan_.set_sequence_parallel(false);
    reader_.Became("distributed_type", "sharding");
    for (const char* name :
         {"megatron_lm_config.megatron_lm_pp_degree", "megatron_lm_config.megatron_lm_tp_degree"}) {
      if (reader_.Has(name))
        reader_.Refuse(name, "a Megatron-LM script, which import megatron reads");
    }
  }

  // The micro-batch has an older name, too.
  const char* MicroBatchName() const {
    constexpr const char* kName = "per_device_train_batch_size";
    return reader_.Has(kName) ? kName : "per_gpu_train_batch_size";
  }

  void ReadBatch() {
    const char* const name = MicroBatchName();
    const auto micro = reader_.Whole(name, 1, kMostOfABatch);
    plan_.set_micro_batch(micro.value_or(8));  // training_args.py
    reader_.Became(name, fmt::format("micro-batch {}", plan_.micro_batch()));
    steps_ = reader_.Whole(kSteps, 1, kMostOfABatch).value_or(1);
    reader_.Became(kSteps, fmt::format("global batch, of {} micro-batches a replica", steps_));
    int64_t sequence = wishes_.sequence;
    for (const char* key : {"max_seq_length", "max_length", "model_max_length", "block_size"}) {
      const auto tokens = reader_.Whole(key, 1, kMostOfABatch);
      if (sequence == 0 && tokens) sequence = *tokens;
      reader_.Became(key, fmt::format("seq {}", sequence));
    }
    if (sequence == 0) {
      throw InputError(file_ + ": does not say how many tokens a sample has, want --seq");
    }
    plan_.set_sequence(sequence);
    for (const char* key : {"auto_find_batch_size", "split_batches"}) {
      if (reader_.IsOn(key))
        reader_.IsNotSimulated(key, "the batch is the one that is given");
      else
        reader_.Became(key, "off");
    }
  }

  void FinishBatch() {
    if (!degrees_.has_dp()) {
      throw InputError(file_ + ": does not say how many processes there are, want --cluster");
    }
    const int64_t batch = GlobalBatch(file_, plan_.micro_batch(), steps_, degrees_.dp());
    plan_.set_global_batch(wishes_.global_batch > 0 ? wishes_.global_batch : batch);
  }

  void ReadPrecision() {
    static constexpr const char* kWords[] = {"no", "fp16", "bf16", "fp8"};
    const std::string mixed = reader_.Word("mixed_precision", kWords).value_or("no");
    const bool is_bf16 = reader_.IsOn("bf16") || mixed == "bf16";
    const bool is_fp16 = reader_.IsOn("fp16") || (mixed == "fp16" && !reader_.Has("bf16"));
    if (reader_.IsOn("bf16") && reader_.IsOn("fp16")) {
      throw InputError(file_ + ": got bf16 and fp16, want one of them");
    }
    plan_.set_precision(mixed == "fp8"         ? PlanProto::FP8
                        : is_bf16              ? PlanProto::BF16
                        : is_fp16              ? PlanProto::FP16
                        : reader_.IsOn("tf32") ? PlanProto::TF32
                                               : PlanProto::FP32);
    for (const char* name : {"bf16", "fp16", "tf32", "mixed_precision"}) {
      reader_.Became(name, "precision");
    }
    plan_.set_gradient_bytes(4);  // autograd's gradients have the width of the weights
  }

  void ReadRecomputation() {
    const bool is_on = reader_.IsOn("gradient_checkpointing") ||
                       reader_.IsOn("fsdp_config.fsdp_activation_checkpointing") ||
                       reader_.IsOn("fsdp_config.activation_checkpointing");
    for (const char* name : {"gradient_checkpointing", "fsdp_config.fsdp_activation_checkpointing",
                             "fsdp_config.activation_checkpointing"}) {
      reader_.Became(name, is_on ? "recompute full" : "recompute none");
    }
    reader_.IsIrrelevant("gradient_checkpointing_kwargs.use_reentrant",
                         "both ways compute the same again");
    const bool is_full = wishes_.recompute.empty() ? is_on : wishes_.recompute == "full";
    degrees_.set_recompute(is_full                            ? PlanProto::FULL
                           : wishes_.recompute == "selective" ? PlanProto::SELECTIVE
                                                              : PlanProto::NONE);
  }

  // FSDP: TrainingArguments have words, accelerate a name or the number that it had before.
  void ReadSharding() {
    const std::string words = reader_.Text("fsdp").value_or("");
    const std::string kind = reader_.Text("distributed_type").value_or("");
    std::string strategy = reader_.Text("fsdp_config.fsdp_sharding_strategy")
                               .value_or(kind == "FSDP" ? "FULL_SHARD" : "");
    const bool is_second = reader_.Text("fsdp_config.fsdp_version").value_or("1") == "2" ||
                           reader_.Text("fsdp_config.version").value_or("1") == "2";
    for (const char* word :
         {"full_shard", "shard_grad_op", "hybrid_shard_zero2", "hybrid_shard", "no_shard"}) {
      if (strategy.empty() && words.find(word) != words.npos) strategy = word;
    }
    for (char& c : strategy) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
    constexpr const char* kNumbers[] = {"FULL_SHARD", "SHARD_GRAD_OP", "NO_SHARD", "HYBRID_SHARD",
                                        "HYBRID_SHARD_ZERO2"};
    if (strategy.size() == 1 && strategy[0] >= '1' && strategy[0] <= '5') {
      strategy = kNumbers[strategy[0] - '1'];
    }
    const bool is_known = strategy.empty() || std::find(std::begin(kNumbers), std::end(kNumbers),
                                                        strategy) != std::end(kNumbers);
    if (!is_known) reader_.Refuse("fsdp_config.fsdp_sharding_strategy", "FULL_SHARD and the like");
    const bool reshards = reader_.Truth("fsdp_config.fsdp_reshard_after_forward")
                              .value_or(strategy == "FULL_SHARD" || strategy == "HYBRID_SHARD");
    const bool has_several = DataRanks(plan_) != 1;
    is_sharded_ = !strategy.empty() && strategy != "NO_SHARD";
    // Parameters that stay between forward and backward are gathered once for each micro-batch.
    plan_.set_zero(is_sharded_ && has_several ? 3 : 0);
    plan_.set_reshard_after_forward(!is_sharded_ || reshards);
    plan_.set_overlap_grad_reduce(true);
    plan_.set_overlap_param_gather(plan_.zero() == 3);
    if (strategy.starts_with("HYBRID") && training_.processes.per_node > 0) {
      plan_.set_zero_group(static_cast<int32_t>(training_.processes.per_node));
    } else if (is_sharded_ && replicas_ > 1 && degrees_.has_dp()) {
      const int64_t ranks = DataRanks(plan_);
      if (ranks % replicas_ != 0) {
        reader_.Refuse(kReplicas, fmt::format("a divisor of dp x cp = {}", ranks));
      }
      plan_.set_zero_group(static_cast<int32_t>(ranks / replicas_));
    } else if (strategy.starts_with("HYBRID") && wishes_.cluster != nullptr) {
      plan_.set_zero_group(wishes_.cluster->device_count() / wishes_.cluster->node_count());
    }
    const std::string became =
        is_sharded_ ? fmt::format("zero {}{}", plan_.zero(), reshards ? "" : ", no reshard")
                    : "zero 0";
    for (const char* name : {"fsdp", "distributed_type", "fsdp_config.fsdp_sharding_strategy",
                             "fsdp_config.fsdp_reshard_after_forward"}) {
      reader_.Became(name, became);
    }
    ReadPrefetch(is_second);
  }

  void ReadPrefetch(bool is_second) {
    for (const char* name : {"fsdp_config.fsdp_version", "fsdp_config.version"}) {
      reader_.Became(name, is_second ? "FSDP2" : "FSDP1");
    }
    for (const char* name :
         {"fsdp_config.fsdp_backward_prefetch", "fsdp_config.backward_prefetch"}) {
      std::string word = reader_.Text(name).value_or("");
      for (char& c : word) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
      if (word == "BACKWARD_POST") is_late_ = true;
      reader_.Became(name, is_late_ ? "backward-prefetch post" : "backward-prefetch pre");
    }
    for (const char* name :
         {"fsdp_config.fsdp_auto_wrap_policy", "fsdp_config.auto_wrap_policy",
          "fsdp_config.fsdp_transformer_layer_cls_to_wrap",
          "fsdp_config.transformer_layer_cls_to_wrap", "fsdp_config.fsdp_use_orig_params",
          "fsdp_config.use_orig_params", "fsdp_config.fsdp_forward_prefetch",
          "fsdp_config.forward_prefetch", "fsdp_config.limit_all_gathers",
          "fsdp_config.fsdp_min_num_params", "fsdp_config.min_num_params", "fsdp_config.xla"}) {
      reader_.IsNotSimulated(name, "each transformer block is a unit, gathered one ahead");
    }
    for (const char* name : {"fsdp_config.fsdp_offload_params", "fsdp_config.offload_params"}) {
      if (reader_.IsOn(name)) {
        TakeOptimizerOffload(reader_.Find(name)->place, wishes_, plan_);
        reader_.Became(name, "offload-optimizer; parameters stay on the GPUs");
      } else {
        reader_.Became(name, "no offload");
      }
    }
  }

  void ReadRest() {
    const std::string optimizer = reader_.Text("optim").value_or("adamw_torch");
    const bool is_adam = optimizer.starts_with("adamw");
    const bool has_8_bits =
        optimizer.find("8bit") != optimizer.npos || optimizer.find("bnb") != optimizer.npos;
    plan_.set_optimizer(optimizer == "sgd" ? PlanProto::PLAIN_SGD
                        : has_8_bits       ? PlanProto::ADAM_8BIT
                                           : PlanProto::ADAM);
    reader_.Became("optim", optimizer == "sgd" ? "optimizer sgd-plain"
                            : has_8_bits       ? "optimizer adam8bit"
                                               : "optimizer adam");
    if (!is_adam && optimizer != "sgd") {
      reader_.IsNotSimulated("optim", "the optimizer is taken to be Adam");
    }
    is_compiled_ = reader_.IsOn("torch_compile") || reader_.Has("dynamo_config.dynamo_backend");
    for (const char* name : {"torch_compile", "torch_compile_backend", "torch_compile_mode",
                             "dynamo_config.dynamo_backend", "dynamo_config.dynamo_mode"}) {
      reader_.Became(name, is_compiled_ ? "compiled" : "not compiled");
    }
    for (const char* name : {"use_liger_kernel", "torch_empty_cache_steps", "use_cache",
                             "optim_target_modules", "ddp_bucket_cap_mb"}) {
      reader_.IsNotSimulated(name, "kernels and buckets are those of the stack");
    }
    for (const char* name : {"model_name_or_path", "model_name"}) {
      if (const auto model = reader_.Text(name)) training_.model = *model;
      reader_.Became(name, "network: " + training_.model);
    }
  }

  // Returns DeepSpeed's configuration, from the file that is named or from a part of this one; no
  // value if DeepSpeed is not used.
  std::optional<nlohmann::json> DeepspeedConfig() {
    for (const char* name : {"deepspeed", "deepspeed_config.deepspeed_config_file"}) {
      const auto path = reader_.Text(name);
      if (!path || path->empty()) continue;
      reader_.Became(name, "DeepSpeed's options, below");
      const std::filesystem::path beside =
          std::filesystem::path(file_).parent_path() / std::filesystem::path(*path);
      deepspeed_file_ = beside.string();
      return ParseJson(ReadSourceText(deepspeed_file_, kMostBytes), deepspeed_file_);
    }
    if (!reader_.Has("deepspeed_config.zero_stage")) return std::nullopt;
    deepspeed_file_ = file_;
    const int64_t stage = *reader_.Whole("deepspeed_config.zero_stage", 0, 3);
    reader_.Became("deepspeed_config.zero_stage", fmt::format("zero {}", stage));
    nlohmann::json config = {{"zero_optimization", {{"stage", stage}}}};
    const auto device = reader_.Text("deepspeed_config.offload_optimizer_device");
    if (device) config["zero_optimization"]["offload_optimizer"]["device"] = *device;
    reader_.Became("deepspeed_config.offload_optimizer_device", "offload-optimizer");
    reader_.IsNotSimulated("deepspeed_config.offload_param_device", "parameters stay on the GPUs");
    constexpr const char* kInner = "deepspeed_config.gradient_accumulation_steps";
    const auto steps = reader_.Whole(kInner, 1, kMostOfABatch);
    if (steps && reader_.Has(kSteps) && *steps != steps_) {
      reader_.Refuse(kInner, fmt::format("the {} of {}", steps_, kSteps));
    }
    if (steps) steps_ = *steps;
    reader_.Became(kInner, "global batch");
    reader_.IsIrrelevant("deepspeed_config.gradient_clipping",
                         "it sets rates, losses or initial values");
    return config;
  }

  void ReadDeepspeed(const nlohmann::json& config) {
    inner_wishes_ = wishes_;
    if (wishes_.recompute.empty()) {
      const bool is_full = degrees_.recompute() == PlanProto::FULL;
      inner_wishes_.recompute = is_full ? "full" : "none";
    }
    std::vector<Option> options = FlatOptions(config, deepspeed_file_);
    const bool says_steps = SaysTheSame(options, kSteps, kSteps, steps_);
    if (!says_steps) options.push_back({kSteps, steps_, file_, "", ""});
    SaysTheSame(options, "train_micro_batch_size_per_gpu", MicroBatchName(), plan_.micro_batch());
    OptionReader inner(std::move(options));
    ReadDeepspeedOptions(inner, deepspeed_file_, inner_wishes_, training_);
    inner_ = DeepspeedReport(inner);
  }

  // Whether DeepSpeed's options have a number of this name, rather than leave it to the Trainer by
  // "auto". Throws an InputError if it is not the `number` that the Trainer's own option says, if
  // there is one: the Trainer refuses that, too. Throws one for what is no whole number above 0.
  bool SaysTheSame(const std::vector<Option>& options, const char* name, const char* trainers,
                   int64_t number) const {
    for (const Option& option : options) {
      if (option.name != name || option.value.is_null() || option.value == "auto") continue;
      const auto own = OptionReader({option}).Whole(name, 1, kMostOfABatch);
      if (reader_.Has(trainers) && own != number) {
        throw InputError(fmt::format("{}: got {}, but {} says {} {}, want the same or \"auto\"",
                                     option.place, option.value.dump(), file_, trainers, number));
      }
      return true;
    }
    return false;
  }

 public:
  // What became of DeepSpeed's options.
  const OptionReport& inner() const { return inner_; }

 private:
  static constexpr int64_t kMostBytes = 1 << 20;
  static constexpr const char* kReplicas =
      "parallelism_config.parallelism_config_dp_replicate_size";
  static constexpr const char* kSteps = "gradient_accumulation_steps";

  TrainingWishes inner_wishes_;
  OptionReport inner_;
  std::string deepspeed_file_;
  int64_t steps_ = 1;
  int replicas_ = 1;
  bool is_sharded_ = false, is_late_ = false, is_compiled_ = false;
};

void Append(const std::vector<OptionFate>& from, std::vector<OptionFate>& to) {
  to.insert(to.end(), from.begin(), from.end());
}

}  // namespace

ImportedTraining ImportHuggingFace(const std::vector<std::pair<std::string, std::string>>& files,
                                   const TrainingWishes& wishes) {
  ImportedTraining training;
  std::vector<Option> options;
  for (const auto& [name, text] : files) {
    const bool is_json = name.ends_with(".json");
    const nlohmann::json json = is_json ? ParseJson(text, name) : ParseYaml(text, name);
    for (Option& option : FlatOptions(json, name)) options.push_back(std::move(option));
  }
  training.model = wishes.model;
  OptionReader reader(std::move(options));
  HuggingFaceReader huggingface(reader, files[0].first, wishes, training);
  huggingface.Run();
  training.options = reader.Report(kIrrelevant);
  Append(huggingface.inner().understood, training.options.understood);
  Append(huggingface.inner().not_simulated, training.options.not_simulated);
  Append(huggingface.inner().irrelevant, training.options.irrelevant);
  Append(huggingface.inner().unknown, training.options.unknown);
  return training;
}

}  // namespace stagecraft
