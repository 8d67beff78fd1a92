#include "tools/plan_flags.h"

#include <fmt/format.h>

#include <filesystem>
#include <map>

#include "costmodel/check.h"
#include "costmodel/proto_file.h"
#include "proto/plan.pb.h"
#include "sim/cluster_spec.h"
#include "sim/decoder.h"
#include "sim/hf_config.h"
#include "sim/plan_proto.h"
#include "sim/workload_catalogue.h"
#include "tools/validation/stack_table.h"

namespace stagecraft {
namespace {

template <typename T>
T Choose(const std::string& flag, const std::string& value,
         const std::vector<std::pair<std::string, T>>& choices) {
  std::vector<std::string> names;
  for (const auto& [name, choice] : choices) {
    if (name == value) return choice;
    names.push_back(name);
  }
  throw InputError(
      fmt::format("{}: got \"{}\", want one of {}", flag, value, fmt::join(names, ", ")));
}

AttentionBackend ChooseAttention(const std::string& value) {
  return Choose<AttentionBackend>(
      "--attention", value,
      {{"flash", AttentionBackend::kFlash}, {"unfused", AttentionBackend::kUnfused}});
}

bool IsFile(const std::string& path) {
  std::error_code error;
  return std::filesystem::is_regular_file(path, error);
}

// The file behind a --model value, or "" for a preset.
std::string ModelFile(const std::string& model) {
  std::error_code error;
  const std::filesystem::path path(model);
  const bool is_directory = std::filesystem::is_directory(path, error);
  const std::string file = is_directory ? (path / "config.json").string() : model;
  return IsFile(file) ? file : "";
}

std::vector<std::string> FindWarnings(const Plan& plan, const Workload& workload,
                                      const Cluster& cluster) {
  std::vector<std::string> warnings;
  warnings.push_back("compute does not slow down while communication runs beside it");
  if (workload.max_sequence > 0 && plan.sequence > workload.max_sequence) {
    warnings.push_back(fmt::format("sequence {} is longer than the {} tokens {} was built for",
                                   plan.sequence, workload.max_sequence, workload.name));
  }
  if (workload.is_profile()) {
    warnings.push_back(fmt::format(
        "operators of {} take what its profile says, whatever the board; their FLOPs are unknown",
        workload.name));
  }
  if (plan.device_count() < cluster.device_count()) {
    warnings.push_back(fmt::format("{} of {} devices stay idle",
                                   cluster.device_count() - plan.device_count(),
                                   cluster.device_count()));
  }
  return warnings;
}

}  // namespace

void PlanFlags::Register(CLI::App& app) {
  app.add_option("--model", model_,
                 "preset, config.json, its directory, megatron:LxHxA, .onnx or graph.txt")
      ->required();
  app.add_option("--cluster", cluster_, "GPU:NxG, NODE:N, a sum of these, or a file")->required();
  app.add_option("--plan", plan_file_, "plan file (.yaml, .json, .textproto) in place of degrees");
  const auto degree = [&](const char* name, auto& value, const char* text) {
    degree_options_.push_back(app.add_option(name, value, text));
  };
  degree("--tp", degrees_.tensor, "tensor-parallel degree [1]");
  degree("--pp", degrees_.pipeline, "pipeline stages [1]");
  degree("--dp", degrees_.data, "data-parallel replicas [derived]");
  degree("--cp", degrees_.context, "context-parallel degree [1]");
  degree("--ep", degrees_.expert, "expert-parallel degree [1]");
  degree("--vpp", degrees_.chunks, "model chunks per stage, interleaved [1]");
  degree("--micro-batch", degrees_.micro_batch, "samples per micro-batch [1]");
  degree("--global-batch", degrees_.global_batch, "samples per step [1]");
  degree("--seq", degrees_.sequence, "tokens per sample [the model's limit]");
  degree("--schedule", schedule_, "gpipe, 1f1b or interleaved [1f1b; interleaved with --vpp]");
  degree("--recompute", recompute_, "none, selective or full [selective]");
  degree("--zero", degrees_.zero,
         "0 to 3: shared by replicas: nothing, states, gradients, parameters [1 where dp > 1]");
  degree("--zero-group", degrees_.zero_group, "ranks that share, copies beyond [all]");
  degree("--bucket-bytes", degrees_.bucket_bytes, "gradients reduced in one go [Megatron-core's]");
  degree("--cp-exchange", context_exchange_, "ring, gather or ulysses [ring]");
  degree("--optimizer", optimizer_, "adam or sgd [adam]");
  degree("--expert-imbalance", degrees_.expert_imbalance,
         "rows of the fullest rank's experts over the mean [1]");
  degree("--precision", precision_, "bf16, fp16, fp32, tf32 or fp8 [bf16]");
  degree("--fp8-recipe", fp8_recipe_,
         "scales of 8-bit tensors: delayed, current or mx (every 32 numbers) [delayed]");
  degree("--gradient-bytes", degrees_.gradient_bytes,
         "per element, accumulated and reduced: 2 or 4 [4; 2 with fp16]");
  degree("--embedding-placement", embedding_placement_,
         "first-last or redistributed: blocks leave the stage of the head [first-last]");
  degree_options_.push_back(app.add_option("--replica-micro-batches",
                                           degrees_.replica_micro_batches,
                                           "micro-batches of each replica, e.g. 5,3 [equally many]")
                                ->delimiter(','));
  degree("--rank-order", degrees_.rank_order, "fastest first [tp-cp-ep-dp-pp]");
  degree_options_.push_back(
      app.add_option("--stage-layers", stage_layers_, "blocks per stage, e.g. 19,21,21,19")
          ->delimiter(','));
  sequence_parallel_option_ =
      app.add_flag("--sequence-parallel,!--no-sequence-parallel", sequence_parallel_,
                   "norms and residuals split over the tensor group [on where tp > 1]");
  degree_options_.push_back(sequence_parallel_option_);
  degree_options_.push_back(app.add_flag("--overlap-grad-reduce,!--no-overlap-grad-reduce",
                                         degrees_.overlap_grad_reduce,
                                         "reduce gradients beside the backward [on]"));
  degree_options_.push_back(app.add_flag("--overlap-param-gather,!--no-overlap-param-gather",
                                         degrees_.overlap_param_gather,
                                         "gather parameters beside the forward [off]"));
  degree_options_.push_back(app.add_flag("--overlap-p2p,!--no-overlap-p2p", degrees_.overlap_p2p,
                                         "compute while sending to the next stage [on]"));
  degree_options_.push_back(app.add_flag("--overlap-tp,!--no-overlap-tp", degrees_.overlap_tensor,
                                         "tensor collectives beside their products [off]"));
  degree_options_.push_back(
      app.add_flag("--reshard,!--no-reshard", degrees_.reshard_after_forward,
                   "with zero 3: drop parameters after the forward and gather them again [on]"));
  degree_options_.push_back(
      app.add_flag("--forward-only", degrees_.forward_only, "no backward, no update"));
  attention_option_ = app.add_option("--attention", attention_, "flash or unfused [flash]");
  degree_options_.push_back(
      app.add_option("--stack", stack_,
                     "take the defaults of a training stack: " +
                         fmt::format("{}", fmt::join(StackTable::Embedded().Names(), ", "))));
  app.add_option("--network", network_, "model: a collective is one task [model]");
}

PlanDegrees PlanFlags::Degrees() const {
  PlanDegrees degrees = degrees_;
  degrees.precision = Choose<DType>("--precision", precision_,
                                    {{"bf16", DType::kBf16},
                                     {"fp16", DType::kFp16},
                                     {"fp32", DType::kFp32},
                                     {"tf32", DType::kTf32},
                                     {"fp8", DType::kFp8}});
  degrees.order = Choose<PipelineOrder>("--schedule", schedule_,
                                        {{"gpipe", PipelineOrder::kGpipe},
                                         {"1f1b", PipelineOrder::kOneForwardOneBackward},
                                         {"interleaved", PipelineOrder::kInterleaved}});
  degrees.recompute = Choose<Recompute>("--recompute", recompute_,
                                        {{"none", Recompute::kNone},
                                         {"selective", Recompute::kSelective},
                                         {"full", Recompute::kFull}});
  degrees.optimizer = Choose<Optimizer>("--optimizer", optimizer_,
                                        {{"adam", Optimizer::kAdam}, {"sgd", Optimizer::kSgd}});
  degrees.context_exchange = Choose<ContextExchange>("--cp-exchange", context_exchange_,
                                                     {{"ring", ContextExchange::kRing},
                                                      {"gather", ContextExchange::kGather},
                                                      {"ulysses", ContextExchange::kUlysses}});
  degrees.fp8_recipe = Choose<Fp8Recipe>(
      "--fp8-recipe", fp8_recipe_,
      {{"delayed", Fp8Recipe::kDelayed}, {"current", Fp8Recipe::kCurrent}, {"mx", Fp8Recipe::kMx}});
  degrees.balance_head = Choose<bool>("--embedding-placement", embedding_placement_,
                                      {{"first-last", false}, {"redistributed", true}});
  degrees.stage_blocks = stage_layers_;
  if (sequence_parallel_option_->count() > 0) degrees.sequence_parallel = sequence_parallel_;
  return degrees;
}

bool PlanFlags::IsGiven(const std::string& flag) const {
  for (const CLI::Option* option : degree_options_) {
    if (option->check_name(flag)) return option->count() > 0;
  }
  return attention_option_->check_name(flag) && attention_option_->count() > 0;
}

Workload PlanFlags::LoadNetwork(const Cluster& cluster) const {
  const AttentionBackend attention = ChooseAttention(attention_);
  Workload workload = LoadWorkload(model_, attention);
  const int ranks = degrees_.tensor;
  // Other degrees are refused later, with the arithmetic.
  if (vocabulary_multiple_ > 0 && ranks >= 1 && ranks <= cluster.device_count()) {
    DecoderConfig config = LoadDecoderConfig(model_);
    config.vocab = PaddedVocabulary(config.vocab, ranks, vocabulary_multiple_);
    workload = BuildNetwork(config, attention, workload.name);
  }
  return workload;
}

PlannedJob PlanFlags::Build() const {
  if (!stack_.empty()) {
    std::vector<StackValue> used;
    PlannedJob job = WithStackDefaults(used).Build();
    job.stack = stack_;
    job.stack_values = std::move(used);
    return job;
  }
  if (network_ != "model") {
    throw InputError(fmt::format("--network: got \"{}\", want model", network_));
  }
  Cluster cluster = ParseCluster(cluster_);
  Workload workload = LoadNetwork(cluster);
  std::vector<std::string> files;
  for (const std::string& file : {ModelFile(model_), cluster_, plan_file_}) {
    if (!file.empty() && IsFile(file)) files.push_back(file);
  }
  Plan plan;
  if (!plan_file_.empty()) {
    for (const CLI::Option* option : degree_options_) {
      if (option->count() == 0) continue;
      throw InputError(option->get_name() + " cannot be given beside --plan");
    }
    PlanProto proto;
    ReadProtoFile(plan_file_, &proto);
    plan = PlanFromProto(proto, workload, cluster, plan_file_);
  } else {
    PlanDegrees degrees = Degrees();
    if (degrees.sequence == 0) degrees.sequence = workload.max_sequence;
    if (workload.is_profile() && !IsGiven("--precision")) degrees.precision = DType::kFp32;
    plan = MakePlan(degrees, workload, cluster);
  }
  std::vector<std::string> warnings = FindWarnings(plan, workload, cluster);
  return {std::move(workload), std::move(cluster), std::move(plan), "", {},
          std::move(files),    std::move(warnings)};
}

}  // namespace stagecraft
