#include "tools/frameworks/torchtitan_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <utility>

#include "costmodel/check.h"
#include "costmodel/json_to_proto.h"
#include "costmodel/text.h"
#include "sim/workload/limits.h"
#include "sim/workload/workload_catalogue.h"
#include "tools/frameworks/framework_defaults.h"
#include "tools/frameworks/launch_options.h"
#include "tools/frameworks/shell_script.h"
#include "tools/frameworks/toml_text.h"
#include "tools/frameworks/torchtitan_schedules.h"
#include "tools/frameworks/torchtitan_stages.h"
#include "tools/frameworks/training_reader.h"

namespace stagecraft {
namespace {

constexpr const char* kRates[] = {"optimizer.lr",
                                  "optimizer.eps",
                                  "optimizer.beta1",
                                  "optimizer.beta2",
                                  "optimizer.weight_decay",
                                  "optimizer.implementation",
                                  "lr_scheduler.*",
                                  "training.steps",
                                  "training.max_norm",
                                  "debug.*",
                                  "training.seed",
                                  "training.deterministic",
                                  "model.hf_assets_path",
                                  "model.converters",
                                  "model.print_after_conversion"};
constexpr const char* kData[] = {"training.dataset",     "training.dataset_path", "dataset.*",
                                 "model.tokenizer_path", "dataloader.*",          "tokenizer.*",
                                 "hf_assets_path"};
constexpr const char* kOutput[] = {"job.*",
                                   "profiling.*",
                                   "metrics.*",
                                   "checkpoint.*",
                                   "validation.*",
                                   "experimental.*",
                                   "fault_tolerance.*",
                                   "training.gc_freq",
                                   "training.gc_debug",
                                   "memory_estimation.*",
                                   "config",
                                   "module",
                                   "job.config_file"};
constexpr const char* kProcesses[] = {"comm.*", "parallelism.disable_loss_parallel"};
constexpr IrrelevantOptions kIrrelevant[] = {
    {"it sets rates, losses or initial values", kRates},
    {"it says where the data come from", kData},
    {"it says what is saved, logged or profiled", kOutput},
    {"it says how processes find each other", kProcesses},
};

class TorchtitanReader : public TrainingReader {
 public:
  using TrainingReader::TrainingReader;

  void Run() {
    BeginPlan();
    ReadModel();
    ReadDegrees();
    ReadBatch();
    ReadPipeline();
    ReadPrecision();
    ReadRecomputation();
    ReadRest();
    TakeStackHabits("torchtitan", wishes_, training_);
  }

 private:
  int Degree(const char* key, const char* flag, int fallback = 1) {
    const std::string name = std::string("parallelism.") + key;
    const int degree = static_cast<int>(reader_.Whole(name, 1, kMostOfADegree).value_or(fallback));
    reader_.Became(name, fmt::format("{} {}", flag, degree));
    return degree;
  }

  // Presets are called by the name of their family and their size.
  void ReadModel() {
    const std::string family = reader_.Text("model.name").value_or("");
    const std::string flavor = reader_.Text("model.flavor").value_or("");
    std::string lowered = flavor;
    std::transform(lowered.begin(), lowered.end(), lowered.begin(),
                   [](unsigned char c) { return std::tolower(c); });
    const bool is_llama =
        family == "llama3" && (lowered == "8b" || lowered == "70b" || lowered == "405b");
    if (is_llama) training_.model = (lowered == "405b" ? "llama3.1-" : "llama3-") + lowered;
    const std::string became = !wishes_.model.empty() ? "as --model says"
                               : is_llama             ? "network: " + training_.model
                                                      : "no preset: --model names the network";
    for (const char* name : {"model.name", "model.flavor"}) reader_.Became(name, became);
    if (wishes_.model.empty() && !is_llama) {
      throw InputError(
          fmt::format("{}: the network \"{}\" of flavour \"{}\" is no preset, want "
                      "--model",
                      file_, family, flavor));
    }
    const std::string& model = wishes_.model.empty() ? training_.model : wishes_.model;
    workload_ = LoadWorkload(model, AttentionBackend::kFlash);
  }

  void ReadDegrees() {
    degrees_.set_tp(Degree("tensor_parallel_degree", "tp"));
    degrees_.set_pp(Degree("pipeline_parallel_degree", "pp"));
    degrees_.set_cp(Degree("context_parallel_degree", "cp"));
    degrees_.set_ep(Degree("expert_parallel_degree", "ep"));
    reader_.IsNotSimulated("parallelism.expert_tensor_parallel_degree",
                           "experts are divided by tp, too");
    const int replicas = Degree("data_parallel_replicate_degree", "replicas");
    constexpr const char* kShards = "parallelism.data_parallel_shard_degree";
    int64_t shards = reader_.Whole(kShards, -1, kMostOfADegree).value_or(-1);
    if (shards == 0) reader_.Refuse(kShards, "-1, for all that are left, or more than 0");
    const int64_t others = static_cast<int64_t>(degrees_.tp()) * degrees_.pp() * degrees_.cp();
    if (shards > 0 && training_.processes.Total() == 0 && wishes_.cluster == nullptr) {
      const int64_t data_ranks = replicas * shards;
      if (data_ranks > kMostOfADegree / others) {
        throw InputError(fmt::format("{}: divides the work among more than {} processes", file_,
                                     kMostOfADegree));
      }
      training_.processes = {1, others * data_ranks};
    }
    TakeDataParallelism(file_, wishes_, training_);
    if (!degrees_.has_dp()) {
      throw InputError(file_ + ": does not say how many processes there are, want --cluster");
    }
    if (degrees_.dp() % replicas != 0 || (shards > 0 && shards * replicas != degrees_.dp())) {
      throw InputError(fmt::format(
          "{}: data_parallel_replicate_degree {} x data_parallel_shard_degree {} is not the dp {} "
          "that tp {} x cp {} x pp {} leave",
          file_, replicas, shards, degrees_.dp(), degrees_.tp(), degrees_.cp(), degrees_.pp()));
    }
    shards = degrees_.dp() / replicas;
    reader_.Became(kShards, fmt::format("dp {}", degrees_.dp()));
    ReadSharding(replicas, static_cast<int>(shards));
  }

  // FSDP shards over data- and context-parallel ranks; with several replicas of them it is HSDP.
  void ReadSharding(int replicas, int shards) {
    const int ranks = shards * degrees_.cp();
    const bool is_sharded = ranks > 1;
    plan_.set_zero(is_sharded ? 3 : 0);
    if (is_sharded && replicas > 1) plan_.set_zero_group(ranks);
    static constexpr const char* kKinds[] = {"default", "always", "never"};
    constexpr const char* kName = "parallelism.fsdp_reshard_after_forward";
    const std::string kind = reader_.Word(kName, kKinds).value_or("default");
    // By default parameters stay between the passes of a pipeline.
    plan_.set_reshard_after_forward(kind == "always" || (kind == "default" && degrees_.pp() == 1));
    reader_.Became(kName, plan_.reshard_after_forward() ? "reshard" : "no reshard");
  }

  void ReadBatch() {
    constexpr const char* kSequence = "training.seq_len";
    plan_.set_sequence(wishes_.sequence > 0
                           ? wishes_.sequence
                           : reader_.Whole(kSequence, 1, kMostOfABatch).value_or(2048));
    reader_.Became(kSequence, fmt::format("seq {}", plan_.sequence()));
    const char* local_name = "training.local_batch_size";
    if (!reader_.Has(local_name)) local_name = "training.batch_size";
    const int64_t local = reader_.Whole(local_name, 1, kMostOfABatch).value_or(8);
    constexpr const char* kGlobal = "training.global_batch_size";
    int64_t global = wishes_.global_batch;
    if (global == 0) global = reader_.Whole(kGlobal, -1, kMostOfABatch).value_or(-1);
    if (global < 1) global = local * degrees_.dp();
    const int64_t once = local * degrees_.dp();
    if (global % once != 0) {
      throw InputError(
          fmt::format("{}: global batch {} is no multiple of local_batch_size {} x dp "
                      "{} = {}",
                      file_, global, local, degrees_.dp(), once));
    }
    plan_.set_global_batch(global);
    plan_.set_micro_batch(MicroBatch(local));
    reader_.Became(kGlobal, fmt::format("global batch {}", global));
    reader_.Became(local_name, degrees_.pp() > 1 ? fmt::format("{} samples of a replica", local)
                                                 : fmt::format("micro-batch {}", local));
    if (degrees_.pp() > 1 && global > once) {
      training_.notes.push_back(fmt::format(
          "the pipeline is emptied {} times a step for gradient accumulation, here only once",
          global / once));
    }
  }

  // What goes through a pipeline at once; without one it is what a replica computes at once.
  int64_t MicroBatch(int64_t local) {
    constexpr const char* kSize = "parallelism.pipeline_parallel_microbatch_size";
    constexpr const char* kCount = "parallelism.num_pp_microbatches";
    const auto size = reader_.Whole(kSize, 1, kMostOfABatch);
    const auto count = reader_.Whole(kCount, 1, kMostOfABatch);
    int64_t micro = local;
    if (degrees_.pp() > 1) {
      micro = size.value_or(1);
      if (!size && count) {
        if (local % *count != 0) reader_.Refuse(kCount, fmt::format("a divisor of {}", local));
        micro = local / *count;
      }
      if (local % micro != 0) reader_.Refuse(kSize, fmt::format("a divisor of {}", local));
    }
    for (const char* name : {kSize, kCount}) {
      reader_.Became(name, fmt::format("micro-batch {}", micro));
    }
    return micro;
  }

  void ReadPipeline() {
    const int stages = degrees_.pp();
    constexpr const char* kSchedule = "parallelism.pipeline_parallel_schedule";
    const std::string word = reader_.Text(kSchedule).value_or("1F1B");
    const TorchtitanSchedule* const schedule = FindTorchtitanSchedule(word);
    if (schedule == nullptr) {
      reader_.Refuse(kSchedule, "one of " + TorchtitanScheduleWords());
    }
    const bool has_several = LeastChunks(schedule->schedule) > 1;
    int chunks = stages > 1 && has_several ? 2 : 1;
    ReadLayers(stages, has_several, chunks);
    degrees_.set_virtual_stages(chunks);
    const PipelineSchedule used =
        stages > 1 ? schedule->schedule : PipelineSchedule::kOneForwardOneBackward;
    plan_.set_order(static_cast<PlanProto::Order>(static_cast<int>(used) + 1));
    reader_.Became(kSchedule, fmt::format("schedule {}", Name(used)));
    if (reader_.Has("parallelism.pipeline_parallel_schedule_csv")) {
      reader_.IsNotSimulated("parallelism.pipeline_parallel_schedule_csv",
                             "give the file to simulate as --order-file");
    }
  }

  void ReadLayers(int stages, bool has_several, int& chunks) {
    const int blocks = workload_.layer_count() - 2;
    constexpr const char* kFirst = "parallelism.pipeline_parallel_first_stage_less_layers";
    constexpr const char* kLast = "parallelism.pipeline_parallel_last_stage_less_layers";
    constexpr const char* kEach = "parallelism.pipeline_parallel_layers_per_stage";
    constexpr const char* kModules = "parallelism.module_fqns_per_model_part";
    const int first = static_cast<int>(reader_.Whole(kFirst, 0, kMostLayers).value_or(1));
    const int last = static_cast<int>(reader_.Whole(kLast, 0, kMostLayers).value_or(1));
    const auto each = reader_.Whole(kEach, 1, kMostLayers);
    const nlohmann::json modules = reader_.Value(kModules);
    for (const char* name : {kFirst, kLast, kEach, kModules}) {
      reader_.Became(name, stages > 1 ? "layers of the stages" : "no effect without a pipeline");
    }
    if (stages == 1) return;
    if (!modules.is_null()) {
      const std::string& place = reader_.Find(kModules)->place;
      training_.parts = {PartsOfModules(Parsed(modules, place), place, blocks), place};
    } else {
      int64_t parts = static_cast<int64_t>(stages) * chunks;
      if (each) parts = (blocks + first + last + *each - 1) / *each;
      if (parts % stages != 0 || parts > blocks + 2) {
        throw InputError(fmt::format("{}: gives {} parts of a pipeline, want a multiple of pp {}",
                                     file_, parts, stages));
      }
      training_.parts = {TorchtitanParts(blocks, static_cast<int>(parts), first, last),
                         file_ + ": parallelism"};
    }
    const auto parts = static_cast<int>(training_.parts->counts.size());
    if (parts % stages != 0) {
      throw InputError(fmt::format("{}: got {} parts, want a multiple of pp {}",
                                   training_.parts->place, parts, stages));
    }
    chunks = parts / stages;
    if (has_several != (chunks > 1)) {
      throw InputError(
          fmt::format("{}: gives every stage {} parts, which its schedule does not "
                      "take",
                      training_.parts->place, chunks));
    }
  }

  // A command line has lists as text.
  static nlohmann::json Parsed(const nlohmann::json& value, const std::string& place) {
    return value.is_string() ? ParseJson(value.get<std::string>(), place) : value;
  }

  void ReadPrecision() {
    static constexpr const char* kTypes[] = {"float32", "bfloat16", "float16"};
    const std::string param =
        reader_.Word("training.mixed_precision_param", kTypes).value_or("bfloat16");
    const std::string reduce =
        reader_.Word("training.mixed_precision_reduce", kTypes).value_or("float32");
    plan_.set_precision(param == "float32"   ? PlanProto::FP32
                        : param == "float16" ? PlanProto::FP16
                                             : PlanProto::BF16);
    plan_.set_gradient_bytes(reduce == "float32" ? 4 : 2);
    reader_.Became("training.mixed_precision_param", "precision " + param);
    reader_.Became("training.mixed_precision_reduce",
                   fmt::format("gradients of {} bytes", plan_.gradient_bytes()));
    reader_.IsNotSimulated("training.dtype", "weights have the width of the stack's default");
    const std::string names = Join(reader_.Texts("model.converters"), " ");
    const bool is_float8 = names.find("float8") != names.npos;
    const bool is_mx = names.find("mx") != names.npos;
    if (!is_float8 && !is_mx) return;
    reader_.Became("model.converters", is_mx ? "precision fp8, mx" : "precision fp8");
    plan_.set_precision(PlanProto::FP8);
    plan_.set_fp8_recipe(is_mx ? PlanProto::MX : PlanProto::CURRENT);
    static constexpr const char* kRecipes[] = {"tensorwise", "rowwise", "rowwise_with_gw_hp"};
    for (const char* name : {"quantize.linear.float8.recipe_name", "float8.recipe_name"}) {
      const auto recipe = reader_.Word(name, kRecipes);
      if (!recipe) continue;
      plan_.set_fp8_recipe(*recipe == "tensorwise" ? PlanProto::CURRENT : PlanProto::ROWWISE);
      reader_.Became(name, "fp8-recipe");
    }
    for (const char* name : {"quantize.linear.float8.enable_fsdp_float8_all_gather",
                             "float8.enable_fsdp_float8_all_gather",
                             "quantize.linear.float8.filter_fqns", "float8.filter_fqns"}) {
      reader_.IsNotSimulated(name, "all GEMMs are of 8 bits, and parameters travel in 16");
    }
    reader_.Became("quantize.linear.mx.recipe_name", "fp8-recipe mx");
  }

  void ReadRecomputation() {
    static constexpr const char* kModes[] = {"none", "selective", "full", "memory_budget"};
    constexpr const char* kMode = "activation_checkpoint.mode";
    constexpr const char* kOption = "activation_checkpoint.selective_ac_option";
    const std::string mode = reader_.Word(kMode, kModes).value_or("selective");
    const std::string option = reader_.Text(kOption).value_or("2");
    degrees_.set_recompute(mode == "full" ? PlanProto::FULL : PlanProto::NONE);
    if (mode == "selective") {
      const auto every = reader_.Has(kOption) && option == "op" ? std::optional<int64_t>()
                                                                : std::optional<int64_t>(1);
      if (!every) {
        degrees_.set_recompute(PlanProto::OPERATORS);
      } else {
        const auto step = ParseStep(option, kOption);
        degrees_.set_recompute(PlanProto::FULL);
        if (step > 1) AddEvery(step);
      }
    }
    reader_.Became(kMode, "recompute");
    reader_.Became(kOption, mode == "selective" ? "recompute" : "no effect with this mode");
    if (mode == "memory_budget") reader_.IsNotSimulated(kMode, "nothing is recomputed");
    reader_.IsNotSimulated("activation_checkpoint.per_op_sac_force_recompute_mm_shapes_by_fqns",
                           "every second GEMM is recomputed");
  }

  int64_t ParseStep(const std::string& option, const char* name) const {
    int64_t step = 0;
    for (const char c : option) {
      if (c < '0' || c > '9' || step > kMostLayers) reader_.Refuse(name, "op or a whole number");
      step = 10 * step + (c - '0');
    }
    if (step < 1) reader_.Refuse(name, "op or a whole number");
    return step;
  }

  // Every n-th block recomputes whole.
  void AddEvery(int64_t step) {
    for (int64_t block = step; block <= workload_.layer_count() - 2; block += step) {
      LayerRangeProto& range = *degrees_.add_recompute_layers();
      range.set_first(static_cast<int32_t>(block));
      range.set_count(1);
    }
  }

  void ReadRest() {
    const bool is_compiled = reader_.IsOn("compile.enable") || reader_.IsOn("training.compile");
    for (const char* name : {"compile.enable", "training.compile"}) {
      reader_.Became(name, is_compiled ? "compiled" : "not compiled");
    }
    reader_.Became("compile.components", "compiled");
    if (is_compiled) {
      plan_.mutable_framework()->set_elementwise_traffic(1);
    }
    const bool splits = reader_.Truth("parallelism.enable_sequence_parallel").value_or(true);
    plan_.set_sequence_parallel(splits && degrees_.tp() > 1);
    reader_.Became("parallelism.enable_sequence_parallel", "sequence parallelism");
    plan_.set_overlap_tensor(reader_.IsOn("parallelism.enable_async_tensor_parallel") &&
                             plan_.sequence_parallel());
    reader_.Became("parallelism.enable_async_tensor_parallel", "overlap-tp");
    reader_.Became("parallelism.enable_compiled_autograd", "compiled");
    static constexpr const char* kRotations[] = {"allgather", "alltoall"};
    constexpr const char* kRotate = "parallelism.context_parallel_rotate_method";
    const std::string rotation = reader_.Word(kRotate, kRotations).value_or("allgather");
    plan_.set_context_exchange(rotation == "allgather" ? PlanProto::GATHER : PlanProto::RING);
    reader_.Became(kRotate, "cp-exchange");
    static constexpr const char* kOptimizers[] = {"Adam", "AdamW"};
    reader_.Word("optimizer.name", kOptimizers);
    reader_.Became("optimizer.name", "optimizer adam");
    plan_.set_optimizer(PlanProto::ADAM);
    plan_.set_overlap_grad_reduce(true);
    plan_.set_overlap_param_gather(plan_.zero() == 3);
    plan_.set_overlap_p2p(true);
    if (reader_.IsOn("training.enable_cpu_offload")) {
      TakeOptimizerOffload(file_ + ": training.enable_cpu_offload", wishes_, plan_);
    }
    reader_.Became("training.enable_cpu_offload",
                   plan_.offload_optimizer() ? "offload-optimizer" : "no offload");
  }

  Workload workload_;
};

}  // namespace

ImportedTraining ImportTorchtitan(const std::string& text, const std::string& file,
                                  const ShellVariables& variables, const TrainingWishes& wishes) {
  ImportedTraining training;
  std::vector<Option> options;
  std::vector<OptionFate> launcher;
  if (file.ends_with(".toml")) {
    options = FlatOptions(ParseToml(text, file), file);
  } else {
    const auto values = [](std::string_view) { return OptionValues::kUnknown; };
    LaunchOptions launch = ReadLaunchOptions(ReadLaunchScript(text, file, variables), file, values);
    options = std::move(launch.options);
    launcher = std::move(launch.launcher);
    training.processes = launch.processes;
  }
  OptionReader reader(std::move(options));
  TorchtitanReader(reader, file, wishes, training).Run();
  training.options = reader.Report(kIrrelevant);
  training.options.understood.insert(training.options.understood.begin(), launcher.begin(),
                                     launcher.end());
  return training;
}

}  // namespace stagecraft
