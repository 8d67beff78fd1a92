#include "tools/frameworks/nemo_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string_view>
#include <utility>

#include "costmodel/check.h"
#include "costmodel/json_to_proto.h"
#include "sim/workload/limits.h"
#include "tools/frameworks/framework_defaults.h"
#include "tools/frameworks/megatron_flags.h"
#include "tools/frameworks/megatron_reader.h"
#include "tools/import/import_text.h"

namespace stagecraft {
namespace {

// Names that differ from Megatron-LM's; those that only have '_' in place of '-' are not here.
struct Renamed {
  const char* name;  // without its group
  const char* megatron;
  bool is_inverted = false;  // a switch that is the opposite
};
constexpr Renamed kRenamed[] = {
    {"gated_linear_unit", "swiglu"},
    {"add_bias_linear", "disable-bias-linear", true},
    {"bias", "disable-bias-linear", true},
    {"share_embeddings_and_output_weights", "untie-embeddings-and-output-weights", true},
    {"virtual_pipeline_model_parallel_size", "num-virtual-stages-per-pipeline-rank"},
    {"num_layers_in_first_pipeline_stage", "decoder-first-pipeline-num-layers"},
    {"num_layers_in_last_pipeline_stage", "decoder-last-pipeline-num-layers"},
    {"overlap_p2p_comm", "no-overlap-p2p-communication", true},
    {"num_moe_experts", "num-experts"},
    {"encoder_seq_length", "seq-length"},
    {"sequence_length", "seq-length"},
    {"activations_checkpoint_granularity", "recompute-granularity"},
    {"activations_checkpoint_method", "recompute-method"},
    {"activations_checkpoint_num_layers", "recompute-num-layers"},
    {"ub_tp_comm_overlap", "tp-comm-overlap"},
    {"bucket_size", "ddp-bucket-size"},
    {"rotary_percentage", "rotary-percent"},
};

constexpr const char* kRates[] = {"optim.*",
                                  "model.optim.*",
                                  "optimizer.*",
                                  "scheduler.*",
                                  "model.layernorm_epsilon",
                                  "model.rotary_base",
                                  "model.init_method_std",
                                  "model.use_scaled_init_method",
                                  "model.seed",
                                  "rng.*",
                                  "train.train_iters",
                                  "train.*_iters",
                                  "train.exit_*",
                                  "train.manual_gc*",
                                  "model.gradient_clip_val",
                                  "trainer.gradient_clip_val",
                                  "trainer.max_steps",
                                  "trainer.max_epochs",
                                  "model.hysteresis",
                                  "model.native_amp_*",
                                  "model.deterministic_mode",
                                  "model.gc_interval"};
constexpr const char* kData[] = {"model.data.*", "dataset.*", "model.tokenizer.*", "tokenizer.*"};
constexpr const char* kOutput[] = {"exp_manager.*",
                                   "logger.*",
                                   "checkpoint.*",
                                   "profiling.*",
                                   "name",
                                   "trainer.log_every_n_steps",
                                   "trainer.val_check_interval",
                                   "trainer.limit_*",
                                   "trainer.logger",
                                   "trainer.enable_*",
                                   "trainer.num_sanity_val_steps",
                                   "validation.*",
                                   "model.nsys_profile.*",
                                   "restore_from_path",
                                   "model.resume_from_checkpoint",
                                   "trainer.accelerator",
                                   "trainer.use_distributed_sampler",
                                   "defaults",
                                   "hydra.*"};
constexpr IrrelevantOptions kIrrelevant[] = {
    {"it sets rates, losses or initial values", kRates},
    {"it says where the data come from", kData},
    {"it says what is saved, logged or profiled", kOutput},
};

// A layout as NeMo has it, [["embedding", "decoder"], ...], in Megatron-LM's letters.
std::string LayoutText(const nlohmann::json& value, const std::string& place) {
  if (value.is_string()) return value.get<std::string>();
  if (!value.is_array()) throw InputError(place + ": want a list of lists of layers");
  std::string text;
  for (const nlohmann::json& stage : value) {
    if (&stage != &value.front()) text += '|';
    if (!stage.is_array()) throw InputError(place + ": want a list of lists of layers");
    for (const nlohmann::json& layer : stage) {
      if (layer == "embedding") {
        text += 'E';
      } else if (layer == "decoder") {
        text += 't';
      } else if (layer == "mtp") {
        text += 'm';
      } else if (layer == "loss") {
        text += 'L';
      } else {
        throw InputError(fmt::format("{}: got {}, want embedding, decoder, mtp or loss", place,
                                     Quoted(ValueText(layer))));
      }
    }
  }
  return text;
}

class NemoTranslation {
 public:
  NemoTranslation(const nlohmann::json& root, const std::string& file) {
    for (Option& option : FlatOptions(root, file)) Add(std::move(option));
  }

  std::vector<Option> Take() && { return std::move(options_); }
  const ProcessCount& processes() const { return processes_; }

 private:
  void Emit(const Option& from, std::string megatron, nlohmann::json value) {
    options_.push_back({std::move(megatron), std::move(value), from.place, "", from.name});
  }

  void Add(Option option) {
    const std::string group = option.name.substr(0, option.name.find('.'));
    const std::string last = option.name.substr(option.name.rfind('.') + 1);
    if (option.value.is_null()) {
      options_.push_back(std::move(option));
    } else if (!AddSpecial(option, last) && !AddRenamed(option, last)) {
      std::string name = last;
      std::replace(name.begin(), name.end(), '_', '-');
      const bool is_group = group == "model" || group == "train" || group == "ddp" ||
                            group == "comm_overlap" || group == "optimizer" ||
                            group == "mixed_precision" || group == "trainer" || group == "dataset";
      const bool is_known = MegatronValues(name) != OptionValues::kUnknown &&
                            WhyMegatronFlagIsIrrelevant(name) == nullptr;
      if (is_group && is_known) {
        Emit(option, name, option.value);
      } else {
        options_.push_back(std::move(option));
      }
    }
  }

  bool AddRenamed(const Option& option, const std::string& last) {
    for (const Renamed& row : kRenamed) {
      if (last != row.name) continue;
      if (row.is_inverted) {
        const std::optional<bool> value = OptionReader({option}).Truth(option.name);
        Emit(option, row.megatron, !*value);
      } else {
        Emit(option, row.megatron, option.value);
      }
      return true;
    }
    return false;
  }

  // Adds an option whose value, and not its name alone, differs from Megatron-LM's. Returns whether
  // it is such an option.
  bool AddSpecial(const Option& option, const std::string& last) {
    if (last == "num_query_groups") {
      Emit(option, "group-query-attention", true);
      Emit(option, "num-query-groups", option.value);
    } else if (last == "grad_reduce_in_fp32") {
      const bool is_wide = *OptionReader({option}).Truth(option.name);
      Emit(option, "grad-reduce-in-bf16", !is_wide);
      Emit(option, "accumulate-allreduce-grads-in-fp32", is_wide);
    } else if (last == "pipeline_model_parallel_layout") {
      Emit(option, "pipeline-model-parallel-layout", LayoutText(option.value, option.place));
    } else if (option.name == "trainer.devices" || option.name == "trainer.num_nodes") {
      ReadProcesses(option);
    } else if (option.name == "trainer.precision" || last == "mixed_precision") {
      ReadPrecision(option);
    } else if (last == "activation") {
      ReadActivation(option);
    } else if (last == "normalization") {
      const std::string word = option.value.is_string() ? option.value.get<std::string>() : "";
      const bool is_rms = word == "rmsnorm" || word == "RMSNorm";
      const bool is_layer = word.starts_with("layernorm") || word == "LayerNorm";
      Emit(option, "normalization",
           is_rms     ? "RMSNorm"
           : is_layer ? "LayerNorm"
                      : nlohmann::json(option.value));
    } else {
      return false;
    }
    return true;
  }

  void ReadProcesses(const Option& option) {
    OptionReader reader({option});
    const int64_t count = *reader.Whole(option.name, 1, kMostOfADegree);
    (option.name == "trainer.devices" ? processes_.per_node : processes_.nodes) = count;
    options_.push_back(option);
  }

  void ReadPrecision(const Option& option) {
    const std::string word = ValueText(option.value);
    const auto has = [&](const char* part) { return word.find(part) != word.npos; };
    if (has("bf16")) {
      Emit(option, "bf16", true);
    } else if (has("16")) {
      Emit(option, "fp16", true);
    } else if (!has("32")) {
      throw InputError(fmt::format("{}: got {}, want bf16_mixed, fp16_mixed, 32 and the like",
                                   option.place, Quoted(word)));
    } else {
      Emit(option, "fp32", true);
    }
    if (has("nvfp4")) Emit(option, "fp4-format", "e2m1");
    if (!has("fp8")) return;
    Emit(option, "fp8-format", "hybrid");
    Emit(option, "fp8-recipe",
         has("mxfp8")                            ? "mxfp8"
         : has("current")                        ? "tensorwise"
         : has("subchannel") || has("blockwise") ? "blockwise"
                                                 : "delayed");
  }

  void ReadActivation(const Option& option) {
    const std::string word = option.value.is_string() ? option.value.get<std::string>() : "";
    if (word.ends_with("swiglu")) {
      Emit(option, "swiglu", true);
    } else if (word == "squared-relu") {
      Emit(option, "squared-relu", true);
    } else if (word == "gelu") {
      Emit(option, "swiglu", false);
    } else {
      throw InputError(fmt::format("{}: got {}, want gelu, swiglu, fast-swiglu or squared-relu",
                                   option.place, Quoted(word)));
    }
  }

  std::vector<Option> options_;
  ProcessCount processes_;
};

}  // namespace

ImportedTraining ImportNemo(const std::string& text, const std::string& file,
                            const TrainingWishes& wishes) {
  NemoTranslation translation(ParseYaml(text, file), file);
  ImportedTraining training;
  training.processes = translation.processes();
  if (training.processes.per_node > 0 && training.processes.nodes == 0) {
    training.processes.nodes = 1;  // the trainer's default
  }
  std::vector<Option> options = std::move(translation).Take();
  const auto has = [&](const char* name) {
    return std::any_of(options.begin(), options.end(),
                       [&](const Option& option) { return option.name == name; });
  };
  if (has("bf16") && !has("grad-reduce-in-bf16")) {
    options.push_back({"grad-reduce-in-bf16", true, file, "", "(nothing on gradients)"});
    training.notes.push_back(
        "gradients are reduced in 16 bits, as NeMo's recipes have it: ddp.grad_reduce_in_fp32 "
        "would say otherwise");
  }
  OptionReader reader(std::move(options));
  for (const char* name : {"trainer.devices", "trainer.num_nodes"}) {
    reader.Became(name, "processes");
  }
  reader.Became("fp32", "fp32");
  ReadMegatronOptions(reader, file, wishes, training);
  TakeStackHabits("nemo", wishes, training);
  training.options = reader.Report(kIrrelevant);
  return training;
}

}  // namespace stagecraft
