#include "tools/plan_flags.h"

#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <filesystem>
#include <map>
#include <utility>

#include "costmodel/check.h"
#include "costmodel/proto_file.h"
#include "proto/plan.pb.h"
#include "sim/cluster_spec.h"
#include "sim/decoder.h"
#include "sim/hf_config.h"
#include "sim/host_offload.h"
#include "sim/plan_limits.h"
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

// The choice whose Name() the value is.
template <typename Enum>
Enum ChooseNamed(const std::string& flag, const std::string& value,
                 std::initializer_list<Enum> choices) {
  std::vector<std::pair<std::string, Enum>> named;
  for (const Enum choice : choices) named.emplace_back(Name(choice), choice);
  return Choose<Enum>(flag, value, named);
}

AttentionBackend ChooseAttention(const std::string& value) {
  return Choose<AttentionBackend>(
      "--attention", value,
      {{"flash", AttentionBackend::kFlash}, {"unfused", AttentionBackend::kUnfused}});
}

// "1-8,12": layers 1 to 8 and 12.
std::vector<LayerRange> ParseLayers(const std::string& flag, const std::string& text) {
  std::vector<LayerRange> ranges;
  const char* at = text.data();
  const char* const end = at + text.size();
  while (at < end) {
    int first = -1;
    auto [next, error] = std::from_chars(at, end, first);
    int last = first;
    if (error == std::errc() && next < end && *next == '-') {
      const auto ending = std::from_chars(next + 1, end, last);
      next = ending.ptr;
      error = ending.ec;
    }
    const bool ends = next == end || (*next == ',' && next + 1 < end);
    if (error != std::errc() || !ends || first < 0 || last < first || last > kMostLayers) {
      throw InputError(fmt::format("{}: got \"{}\", want layers such as 1-8,12", flag, text));
    }
    ranges.push_back({first, last - first + 1});
    at = next == end ? end : next + 1;
  }
  return ranges;
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
  for (std::string& note : SyncNotes(plan)) warnings.push_back(std::move(note));
  for (std::string& note : OffloadNotes(plan)) warnings.push_back(std::move(note));
  return warnings;
}

}  // namespace

void PlanFlags::RegisterJob(CLI::App& app) {
  app.add_option("--model", model_,
                 "preset, config.json, its directory, megatron:LxHxA, .onnx or graph.txt")
      ->required();
  app.add_option("--cluster", cluster_, "GPU:NxG, NODE:N, a sum of these, or a file")->required();
}

void PlanFlags::RegisterAttention(CLI::App& app) {
  attention_option_ = app.add_option("--attention", attention_, "flash or unfused [flash]");
}

void PlanFlags::RegisterGiven(CLI::App& app) {
  RegisterJob(app);
  RegisterBatch(app);
  RegisterStep(app);
  RegisterSwitches(app);
  sync_.Register(app);
  RegisterAttention(app);
}

void PlanFlags::Register(CLI::App& app) {
  RegisterJob(app);
  app.add_option("--plan", plan_file_, "plan file (.yaml, .json, .textproto) in place of degrees");
  RegisterDegrees(app);
  RegisterBatch(app);
  const std::vector<CLI::Option*> order = order_.Register(app);
  degree_options_.insert(degree_options_.end(), order.begin(), order.end());
  RegisterSharing(app);
  RegisterStep(app);
  RegisterSwitches(app);
  const std::vector<CLI::Option*> sync = sync_.Register(app);
  degree_options_.insert(degree_options_.end(), sync.begin(), sync.end());
  RegisterAttention(app);
  Add(app, "--stack", stack_,
      "take the defaults of a training stack: " +
          fmt::format("{}", fmt::join(StackTable::Embedded().Names(), ", ")));
}

void PlanFlags::RegisterDegrees(CLI::App& app) {
  Add(app, "--tp", degrees_.tensor, "tensor-parallel degree [1]");
  Add(app, "--pp", degrees_.pipeline, "pipeline stages [1]");
  Add(app, "--dp", degrees_.data, "data-parallel replicas [derived]");
  Add(app, "--cp", degrees_.context, "context-parallel degree [1]");
  Add(app, "--ep", degrees_.expert, "expert-parallel degree [1]");
  Add(app, "--vpp", degrees_.chunks, "model chunks per stage, interleaved [1]");
  Add(app, "--micro-batch", degrees_.micro_batch, "samples per micro-batch [1]");
  Add(app, "--replica-micro-batches", degrees_.replica_micro_batches,
      "micro-batches of each replica, e.g. 5,3 [equally many]")
      ->delimiter(',');
  Add(app, "--stage-replicas", degrees_.stage_replicas,
      "replicas of each stage in place of --dp, e.g. 15,1 [equally many]")
      ->delimiter(',');
  Add(app, "--stage-layers", stage_layers_, "blocks per stage, e.g. 19,21,21,19")->delimiter(',');
}

void PlanFlags::RegisterBatch(CLI::App& app) {
  Add(app, "--global-batch", degrees_.global_batch, "samples per step [1]");
  Add(app, "--seq", degrees_.sequence, "tokens per sample [the model's limit]");
}

void PlanFlags::RegisterSharing(CLI::App& app) {
  Add(app, "--recompute", recompute_, "none, selective or full [selective]");
  Add(app, "--recompute-layers", recompute_layers_,
      "layers that recompute whole, embedding 0: 1-8,12; others as --recompute, or none with full");
  Add(app, "--recompute-num-layers", degrees_.recompute_choice.counts,
      "blocks that recompute whole, of all stages or each, e.g. 4,4,2,0 [all with full]")
      ->delimiter(',');
  Add(app, "--recompute-method", recompute_method_,
      "block: so many first ones of every chunk; uniform: all, in ranges of so many [block]");
  Add(app, "--zero", degrees_.zero,
      "0 to 3: shared by replicas: nothing, states, gradients, parameters [1 where dp > 1; 0 "
      "with --gradient-sync]");
  Add(app, "--zero-group", degrees_.zero_group, "ranks that share, copies beyond [all]");
}

void PlanFlags::RegisterStep(CLI::App& app) {
  Add(app, "--bucket-bytes", degrees_.bucket_bytes,
      "gradients reduced in one go [Megatron-core's]");
  Add(app, "--cp-exchange", context_exchange_, "ring, gather or ulysses [ring]");
  Add(app, "--optimizer", optimizer_, "adam, adam8bit, sgd (with momentum) or sgd-plain [adam]");
  Add(app, "--host-memory-gib", host_memory_gib_, "of a node, for --offload-...");
  Add(app, "--offload-activations", degrees_.offload.activations,
      "share of what forwards save that waits with the host for its backward, 0 to 1 [0]");
  Add(app, "--expert-imbalance", degrees_.expert_imbalance,
      "rows of the fullest rank's experts over the mean [1]");
  Add(app, "--precision", precision_, "bf16, fp16, fp32, tf32 or fp8 [bf16]");
  Add(app, "--fp8-recipe", fp8_recipe_,
      "scales of 8-bit tensors: delayed, current or mx (every 32 numbers) [delayed]");
  Add(app, "--gradient-bytes", degrees_.gradient_bytes,
      "per element, accumulated and reduced: 2 or 4 [4; 2 with fp16]");
  Add(app, "--embedding-placement", embedding_placement_,
      "first-last or redistributed: blocks leave the stage of the head [first-last]");
  Add(app, "--rank-order", degrees_.rank_order, "fastest first [tp-cp-ep-dp-pp]");
}

void PlanFlags::RegisterSwitches(CLI::App& app) {
  const auto add = [&](const char* name, bool& value, const char* text) {
    degree_options_.push_back(app.add_flag(name, value, text));
    return degree_options_.back();
  };
  sequence_parallel_option_ =
      add("--sequence-parallel,!--no-sequence-parallel", sequence_parallel_,
          "norms and residuals split over the tensor group [on where tp > 1]");
  add("--overlap-grad-reduce,!--no-overlap-grad-reduce", degrees_.overlap_grad_reduce,
      "reduce gradients beside the backward [on]");
  add("--overlap-param-gather,!--no-overlap-param-gather", degrees_.overlap_param_gather,
      "gather parameters beside the forward [off]");
  add("--overlap-p2p,!--no-overlap-p2p", degrees_.overlap_p2p,
      "compute while sending to the next stage [on]");
  add("--post-validation,!--no-post-validation", degrees_.post_validation,
      "stages update without waiting for the norm of all gradients [off]");
  add("--overlap-tp,!--no-overlap-tp", degrees_.overlap_tensor,
      "tensor collectives beside their products [off]");
  add("--reshard,!--no-reshard", degrees_.reshard_after_forward,
      "with zero 3: drop parameters after the forward and gather them again [on]");
  add("--offload-optimizer", degrees_.offload.optimizer,
      "Adam's states with the host, which updates (ZeRO-Offload) [off]");
  add("--forward-only", degrees_.forward_only, "no backward, no update");
}

PlanDegrees PlanFlags::Degrees() const {
  PlanDegrees degrees = degrees_;
  degrees.precision =
      ChooseNamed("--precision", precision_,
                  {DType::kBf16, DType::kFp16, DType::kFp32, DType::kTf32, DType::kFp8});
  degrees.recompute = ChooseNamed("--recompute", recompute_,
                                  {Recompute::kNone, Recompute::kSelective, Recompute::kFull});
  degrees.recompute_choice.method = Choose<RecomputeChoice::Method>(
      "--recompute-method", recompute_method_,
      {{"block", RecomputeChoice::Method::kBlock}, {"uniform", RecomputeChoice::Method::kUniform}});
  degrees.recompute_choice.layers = ParseLayers("--recompute-layers", recompute_layers_);
  degrees.optimizer =
      ChooseNamed("--optimizer", optimizer_,
                  {Optimizer::kAdam, Optimizer::kSgd, Optimizer::kAdam8Bit, Optimizer::kPlainSgd});
  degrees.context_exchange =
      ChooseNamed("--cp-exchange", context_exchange_,
                  {ContextExchange::kRing, ContextExchange::kGather, ContextExchange::kUlysses});
  degrees.fp8_recipe = ChooseNamed("--fp8-recipe", fp8_recipe_,
                                   {Fp8Recipe::kDelayed, Fp8Recipe::kCurrent, Fp8Recipe::kMx});
  degrees.balance_head = Choose<bool>("--embedding-placement", embedding_placement_,
                                      {{"first-last", false}, {"redistributed", true}});
  constexpr double kMostGib = static_cast<double>(kMostHostMemory >> 30);
  if (!(host_memory_gib_ >= 0 && host_memory_gib_ <= kMostGib)) {
    throw InputError(
        fmt::format("--host-memory-gib: got {}, want 0 to {:.0f}", host_memory_gib_, kMostGib));
  }
  degrees.offload.host_memory = Bytes(std::llround(host_memory_gib_ * (1 << 30)));
  degrees.gradient_sync = sync_.Options();
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

PlanDegrees PlanFlags::DegreesFor(const Workload& workload) const {
  PlanDegrees degrees = Degrees();
  if (degrees.sequence == 0) degrees.sequence = workload.max_sequence;
  if (workload.is_profile() && !IsGiven("--precision")) degrees.precision = DType::kFp32;
  return degrees;
}

PlannedJob PlanFlags::BuildGiven(PlanDegrees* given) const {
  Cluster cluster = ParseCluster(cluster_);
  Workload workload = LoadNetwork(cluster);
  *given = DegreesFor(workload);
  return {std::move(workload), std::move(cluster), {}, "", {}, InputFiles(), {}, {}};
}

std::vector<std::string> PlanFlags::InputFiles() const {
  std::vector<std::string> files;
  for (const std::string& file : {ModelFile(model_), cluster_, plan_file_}) {
    if (!file.empty() && IsFile(file)) files.push_back(file);
  }
  return files;
}

PlannedJob PlanFlags::Build() const {
  if (!stack_.empty()) {
    std::vector<StackValue> used;
    PlannedJob job = WithStackDefaults(used).Build();
    job.stack = stack_;
    job.stack_values = std::move(used);
    return job;
  }
  Cluster cluster = ParseCluster(cluster_);
  Workload workload = LoadNetwork(cluster);
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
    PlanDegrees degrees = DegreesFor(workload);
    order_.Apply(degrees);
    plan = MakePlan(degrees, workload, cluster);
  }
  std::vector<std::string> warnings = FindWarnings(plan, workload, cluster);
  return {std::move(workload),
          std::move(cluster),
          std::move(plan),
          "",
          {},
          InputFiles(),
          std::move(warnings),
          {}};
}

}  // namespace stagecraft
