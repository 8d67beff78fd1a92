// PlanFlags::Degrees(), Build() and BuildGiven(): the job that the flags ask for.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <string_view>
#include <utility>

#include "costmodel/check.h"
#include "costmodel/nearest.h"
#include "costmodel/network_kind.h"
#include "costmodel/text.h"
#include "proto/plan.pb.h"
#include "sim/cluster/cluster_notes.h"
#include "sim/cluster/cluster_scale.h"
#include "sim/cluster/cluster_spec.h"
#include "sim/memory/stage_memory.h"
#include "sim/pipeline/vocabulary_placement.h"
#include "sim/plan/attention_choice.h"
#include "sim/plan/host_offload.h"
#include "sim/plan/plan_proto.h"
#include "sim/workload/limits.h"
#include "sim/workload/networks/decoder.h"
#include "sim/workload/readers/hf_config.h"
#include "sim/workload/workload_catalogue.h"
#include "tools/flags/file_part.h"
#include "tools/flags/layer_state_flags.h"
#include "tools/flags/plan_flags.h"

namespace stagecraft {
namespace {

constexpr const char* kLeastRecomputation = "least";

template <typename T>
T Choose(const std::string& flag, const std::string& value,
         const std::vector<std::pair<std::string, T>>& choices) {
  std::vector<std::string> names;
  for (const auto& [name, choice] : choices) {
    if (name == value) return choice;
    names.push_back(name);
  }
  throw InputError(fmt::format("{}: got \"{}\", want one of {}{}", flag, value,
                               fmt::join(names, ", "), DidYouMean(value, names)));
}

// Returns the choice whose Name() is `value`.
template <typename Enum>
Enum ChooseNamed(const std::string& flag, const std::string& value,
                 std::initializer_list<Enum> choices) {
  std::vector<std::pair<std::string, Enum>> named;
  for (const Enum choice : choices) named.emplace_back(Name(choice), choice);
  return Choose<Enum>(flag, value, named);
}

Mechanism ChooseMechanism(const std::string& value) {
  std::vector<std::pair<std::string, Mechanism>> choices;
  for (const Mechanism mechanism : AllMechanisms())
    choices.emplace_back(Name(mechanism), mechanism);
  return Choose<Mechanism>("--without", value, choices);
}

AttentionChoice ChooseAttention(const std::string& value) {
  std::vector<std::pair<std::string, AttentionChoice>> choices;
  for (const char* name : kAttentionNames) choices.emplace_back(name, *FindAttention(name));
  return Choose<AttentionChoice>("--attention", value, choices);
}

// The values of --embedding-placement; this one leaves the vocabulary where it is, and moves
// blocks.
constexpr const char* kRedistributed = "redistributed";
std::vector<std::pair<std::string, VocabularyPlacement>> Placements() {
  constexpr VocabularyPlacement kFirstLast = VocabularyPlacement::kFirstLast;
  std::vector<std::pair<std::string, VocabularyPlacement>> placements = {
      {Name(kFirstLast), kFirstLast}, {kRedistributed, kFirstLast}};
  for (const VocabularyPlacement split :
       {VocabularyPlacement::kVocab1, VocabularyPlacement::kVocab2,
        VocabularyPlacement::kInterlaced}) {
    placements.emplace_back(Name(split), split);
  }
  return placements;
}

// "1-8,12": layers 1 to 8 and 12.
std::vector<LayerRange> ParseLayers(const std::string& flag, const std::string& text) {
  std::vector<LayerRange> ranges;
  for (std::string_view rest = text; !rest.empty();) {
    const int first = TakeNumber<int>(rest).value_or(-1);
    int last = first;
    if (rest.starts_with('-')) {
      rest.remove_prefix(1);
      last = TakeNumber<int>(rest).value_or(-1);
    }
    const bool ends = rest.empty() || (rest[0] == ',' && rest.size() > 1);
    if (!ends || first < 0 || last < first || last > kMostLayers) {
      throw InputError(fmt::format("{}: got \"{}\", want layers such as 1-8,12", flag, text));
    }
    ranges.push_back({first, last - first + 1});
    if (!rest.empty()) rest.remove_prefix(1);
  }
  return ranges;
}

// Returns the value of a flag, if it is given. Throws InputError if it is out of range.
std::optional<double> Given(const char* flag, std::optional<double> value, double low,
                            double high) {
  if (!value || (*value >= low && *value <= high)) return value;
  throw InputError(fmt::format("{}: got {:g}, want from {:g} to {:g}", flag, *value, low, high));
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
  if (workload.max_sequence > 0 && plan.sequence > workload.max_sequence) {
    warnings.push_back(
        fmt::format("sequence length {} is longer than the {} tokens that {} was built for",
                    plan.sequence, workload.max_sequence, workload.name));
  }
  if (workload.is_profile()) {
    warnings.push_back(fmt::format(
        "operators of {} take the times of its profile on every GPU type; their FLOPs are unknown",
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

PlanDegrees PlanFlags::Degrees() const {
  PlanDegrees degrees = degrees_;
  degrees.precision = ChooseNamed(
      "--precision", precision_,
      {DType::kBf16, DType::kFp16, DType::kFp32, DType::kTf32, DType::kFp8, DType::kNvfp4});
  degrees.recompute = Choose<Recompute>("--recompute", recompute_,
                                        {{Name(Recompute::kNone), Recompute::kNone},
                                         {Name(Recompute::kSelective), Recompute::kSelective},
                                         {Name(Recompute::kFull), Recompute::kFull},
                                         {Name(Recompute::kOperators), Recompute::kOperators},
                                         {kLeastRecomputation, Recompute::kNone}});
  degrees.recompute_choice.method = Choose<RecomputeChoice::Method>(
      "--recompute-method", recompute_method_,
      {{"block", RecomputeChoice::Method::kBlock}, {"uniform", RecomputeChoice::Method::kUniform}});
  degrees.recompute_choice.layers = ParseLayers("--recompute-layers", recompute_layers_);
  degrees.optimizer = ChooseNamed("--optimizer", optimizer_,
                                  {Optimizer::kAdam, Optimizer::kSgd, Optimizer::kAdam8Bit,
                                   Optimizer::kAdam16Bit, Optimizer::kPlainSgd});
  degrees.context_exchange =
      ChooseNamed("--cp-exchange", context_exchange_,
                  {ContextExchange::kRing, ContextExchange::kGather, ContextExchange::kUlysses});
  degrees.fp8_recipe = ChooseNamed("--fp8-recipe", fp8_recipe_,
                                   {Fp8Recipe::kDelayed, Fp8Recipe::kCurrent, Fp8Recipe::kRowwise,
                                    Fp8Recipe::kMx, Fp8Recipe::kBlock});
  const std::optional<RecomputedParts> parts = FindRecomputedParts(recompute_parts_);
  if (!parts) {
    throw InputError(
        fmt::format("--recompute-parts: got \"{}\", want some of norms, latents, activations",
                    recompute_parts_));
  }
  degrees.recomputed_parts = *parts;
  degrees.expert_exchange.sends = ChooseNamed("--expert-sends", expert_sends_,
                                              {ExpertSends::kEveryCopy, ExpertSends::kOncePerNode});
  degrees.framework.multiplies_experts_apart = !groups_experts_;
  degrees.attention_kernel = ChooseAttention(attention_).kernel;
  if (is_compiled_) degrees.framework.elementwise_traffic = 1;
  if (IsGiven("--backward-prefetch")) {
    degrees.framework.backward_prefetch =
        ChooseNamed("--backward-prefetch", backward_prefetch_,
                    {BackwardPrefetch::kBefore, BackwardPrefetch::kAfter});
  }
  if (IsGiven("--param-gather")) {
    degrees.framework.parameter_gather = ChooseNamed(
        "--param-gather", parameter_gather_, {ParameterGather::kLayers, ParameterGather::kTensors});
  }
  if (IsGiven("--param-exchange")) {
    degrees.framework.parameter_exchange =
        ChooseNamed("--param-exchange", parameter_exchange_,
                    {ParameterExchange::kGather, ParameterExchange::kBroadcasts});
  }
  degrees.balance_head = embedding_placement_ == kRedistributed;
  degrees.schedule_options.vocabulary =
      Choose<VocabularyPlacement>("--embedding-placement", embedding_placement_, Placements());
  constexpr double kMostGib = static_cast<double>(kMostHostMemory >> 30);
  if (!(host_memory_gib_ >= 0 && host_memory_gib_ <= kMostGib)) {
    throw InputError(
        fmt::format("--host-memory-gib: got {}, want 0 to {:.0f}", host_memory_gib_, kMostGib));
  }
  degrees.offload.host_memory = Bytes(std::llround(host_memory_gib_ * (1 << 30)));
  degrees.gradient_sync = sync_.Options();
  degrees.stage_blocks = stage_layers_;
  if (sequence_parallel_option_.is_given()) degrees.sequence_parallel = sequence_parallel_;
  return degrees;
}

Workload PlanFlags::LoadNetwork(const Cluster& cluster) const {
  const AttentionBackend attention = ChooseAttention(attention_).backend;
  Workload workload = LoadWorkload(model_, attention);
  const int ranks = degrees_.tensor;
  // MakePlan() refuses other degrees, with an error that shows the arithmetic.
  if (vocabulary_multiple_ > 0 && ranks >= 1 && ranks <= cluster.device_count()) {
    DecoderConfig config = LoadDecoderConfig(model_);
    config.vocab = PaddedVocabulary(config.vocab, ranks, vocabulary_multiple_);
    workload = BuildNetwork(config, attention, workload.name);
  }
  ApplyStateFlags(layer_state_, frozen_, workload);
  return workload;
}

Cluster PlanFlags::LoadCluster() const {
  const auto dispatch = Given("--host-dispatch", host_dispatch_us_, 0, 1e5);
  const auto clock = Given("--clock", clock_, 0.1, 1);
  Cluster cluster = cluster_.empty() && usual_cluster_ ? usual_cluster_() : ParseCluster(cluster_);
  cluster = cluster.WithDevices([&](Device& device) {
    if (dispatch) device.host_dispatch = Duration::RoundedNanoseconds(*dispatch * 1e3);
    if (clock) device.clock_share = *clock;
  });
  if (!transport_.empty()) {
    const std::optional<NetworkKind> kind = FindTransport(transport_);
    if (!kind) {
      throw InputError(fmt::format("--transport: got \"{}\", want one of {}", transport_,
                                   fmt::join(TransportWords(), ", ")));
    }
    cluster = cluster.WithNetwork(*kind, "--transport");
  }
  cluster = Scaled(cluster, ParseClusterScale(scale_, "--scale"), "--scale");
  for (const Mechanism mechanism : SwitchedOff()) cluster = Without(mechanism, cluster);
  return cluster;
}

std::vector<Mechanism> PlanFlags::SwitchedOff() const {
  std::vector<Mechanism> mechanisms;
  for (const std::string& word : without_) {
    mechanisms.push_back(ChooseMechanism(word));
  }
  return mechanisms;
}

std::vector<std::string> PlanFlags::NotesOnCluster() const {
  return clock_ ? std::vector<std::string>{} : ClusterNotes(cluster_);
}

void PlanFlags::CheckStack() const {
  if (!stack_.empty() || software_date_.empty()) return;
  throw InputError("--software-date: got \"" + software_date_ + "\", want it with --stack only");
}

PlannedJob PlanFlags::BuildGiven(PlanDegrees* given) const {
  CheckStack();
  if (!stack_.empty()) {
    std::vector<StackValue> used;
    PlannedJob job = WithStackDefaults(StackUse::kSearch, used).BuildGiven(given);
    job.stack = stack_;
    job.stack_values = std::move(used);
    job.warnings.push_back(fmt::format(
        "memory is that of training stack {}{}, which plan files do not say: use them with the "
        "same --stack",
        stack_, software_date_.empty() ? "" : " as of " + software_date_));
    return job;
  }
  Cluster cluster = LoadCluster();
  MemoryMargin margin = TakeMemoryMargin(ParseMemoryMargin(memory_margin_), cluster);
  Workload workload = LoadNetwork(cluster);
  if (!IsGiven("--global-batch")) {
    throw InputError("--global-batch: got none, want the samples of a training step");
  }
  std::vector<std::string> notes;
  *given = DegreesFor(workload, notes);
  if (IsSplit(given->schedule_options.vocabulary)) {
    throw InputError(fmt::format(
        "--embedding-placement: got {}, which is not searched, want first-last or redistributed",
        embedding_placement_));
  }
  for (std::string& note : NotesOnCluster()) notes.push_back(std::move(note));
  if (!layer_state_.empty()) {
    notes.push_back(
        "plan files do not say what the states of layers are: use them with the same "
        "--layer-state");
  }
  if (!frozen_.empty()) {
    notes.push_back(
        "layers are frozen, which plan files do not say: use them with the same --frozen");
  }
  if (!stack_note_.empty()) notes.push_back(stack_note_);
  return {std::move(workload),
          std::move(cluster),
          {},
          "",
          {},
          InputFiles(),
          std::move(notes),
          {},
          MemoryOfSoftware(),
          {},
          {},
          std::move(margin)};
}

std::vector<std::string> PlanFlags::InputFiles() const {
  std::vector<std::string> files;
  for (const std::string& file : {ModelFile(model_), layer_state_, cluster_, plan_file_}) {
    if (!file.empty() && IsFile(file)) files.push_back(file);
  }
  return files;
}

FrameworkMemory PlanFlags::MemoryOfSoftware() const {
  FrameworkMemory memory = memory_;
  memory.compiles = is_compiled_;
  return memory;
}

Plan PlanFlags::LeastRecomputation(PlanDegrees degrees, const Workload& workload,
                                   const Cluster& cluster, std::string* note) const {
  for (const Recompute recompute : {Recompute::kNone, Recompute::kSelective, Recompute::kFull}) {
    degrees.recompute = recompute;
    Plan plan = MakePlan(degrees, workload, cluster);
    const std::vector<StageMemory> memory =
        EstimateMemory(plan, workload, cluster, MemoryOfSoftware());
    const bool fits = std::all_of(memory.begin(), memory.end(),
                                  [](const StageMemory& stage) { return stage.fits(); });
    if (!fits && recompute != Recompute::kFull) continue;
    const char* const why =
        fits ? "the least with which the memory suffices" : "the memory does not suffice with any";
    *note = fmt::format("recomputation {}: {}", Name(recompute), why);
    return plan;
  }
  return {};
}

void PlanFlags::TakeFromFile(const std::string& model, const std::string& cluster,
                             std::optional<FilePart<PlanProto>> plan) {
  if (model_.empty()) model_ = model;
  if (cluster_.empty()) cluster_ = cluster;
  given_plan_ = std::move(plan);
}

std::optional<FilePart<PlanProto>> PlanFlags::PlanFromFile() const {
  if (plan_file_.empty() && !given_plan_) return std::nullopt;
  for (const Flag& flag : degree_options_) {
    if (!flag.is_given()) continue;
    throw InputError(flag.name() + " cannot be given together with " +
                     (plan_file_.empty() ? given_plan_->name : "--plan"));
  }
  if (plan_file_.empty()) return given_plan_;
  return ReadPart<PlanProto>(plan_file_);
}

PlanFlags PlanFlags::Resolve(std::vector<StackValue>& used) const {
  for (const auto& [value, flag] : {std::pair(&model_, "--model"), {&cluster_, "--cluster"}}) {
    if (!may_take_from_file_ || !value->empty()) continue;
    throw InputError(fmt::format("{}: got none, want one, here or in a file of --job", flag));
  }
  CheckStack();
  if (stack_.empty()) return *this;
  const bool has_file = !plan_file_.empty() || given_plan_;
  return WithStackDefaults(has_file ? StackUse::kPlanFile : StackUse::kPlan, used);
}

std::string PlanFlags::BaseKey() const {
  // All that LoadCluster(), LoadNetwork(), MemoryOfSoftware() and the notes depend on.
  const int padded_for = vocabulary_multiple_ > 0 ? degrees_.tensor : 0;
  const auto text = [](std::optional<double> value) {
    return value ? fmt::format("{}", *value) : "";
  };
  return fmt::format("{}\n{}\n{}\n{}\n{} {}\n{}\n{} {}\n{}\n{}\n{}\n{} {}\n{}\n{}", model_,
                     attention_, frozen_, layer_state_, vocabulary_multiple_, padded_for, cluster_,
                     text(clock_), text(host_dispatch_us_), scale_, transport_,
                     fmt::join(without_, ","), resolved_stack_, is_compiled_, memory_margin_,
                     stack_note_);
}

JobBase PlanFlags::BuildBase() const {
  Cluster cluster = LoadCluster();
  MemoryMargin margin = TakeMemoryMargin(ParseMemoryMargin(memory_margin_), cluster);
  Workload workload = LoadNetwork(cluster);
  std::vector<std::string> notes = NotesOnCluster();
  if (!stack_note_.empty()) notes.push_back(stack_note_);
  return {std::move(workload), std::move(cluster), MemoryOfSoftware(), std::move(notes),
          std::move(margin)};
}

JobPlan PlanFlags::BuildPlan(const JobBase& base) const {
  const Workload& workload = base.workload;
  const Cluster& cluster = base.cluster;
  Plan plan;
  std::string note;  // on a choice that was made for the user
  std::vector<std::string> defaults;
  if (auto file = PlanFromFile()) {
    if (ChoosesAttention()) {
      file->proto.set_attention_kernel(
          static_cast<OpProto::AttentionKernel>(ChooseAttention(attention_).kernel));
    }
    plan = PlanFromProto(file->proto, workload, cluster, file->name);
  } else {
    PlanDegrees degrees = DegreesFor(workload, defaults);
    schedule_.Apply(degrees);
    FillBatch(cluster, degrees, defaults);
    plan = recompute_ == kLeastRecomputation ? LeastRecomputation(degrees, workload, cluster, &note)
                                             : MakePlan(degrees, workload, cluster);
  }
  for (const Mechanism mechanism : SwitchedOff()) plan = Without(mechanism, std::move(plan));
  std::vector<std::string> warnings = FindWarnings(plan, workload, cluster);
  for (std::string& text : defaults) warnings.push_back(std::move(text));
  if (!note.empty()) warnings.push_back(std::move(note));
  return {std::move(plan), std::move(warnings)};
}

PlannedJob PlanFlags::Build() const {
  std::vector<StackValue> used;
  const PlanFlags resolved = Resolve(used);
  JobBase base = resolved.BuildBase();
  JobPlan own = resolved.BuildPlan(base);
  std::vector<std::string> warnings = std::move(own.notes);
  for (std::string& note : base.notes) warnings.push_back(std::move(note));
  return {std::move(base.workload),
          std::move(base.cluster),
          std::move(own.plan),
          stack_,
          std::move(used),
          InputFiles(),
          std::move(warnings),
          {},
          base.memory,
          {},
          {},
          std::move(base.margin)};
}

}  // namespace stagecraft
