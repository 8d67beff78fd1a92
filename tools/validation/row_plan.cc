#include "tools/validation/row_plan.h"

#include <fmt/core.h>

#include <algorithm>
#include <cstddef>
#include <map>
#include <optional>
#include <string_view>
#include <utility>

#include "costmodel/check.h"
#include "costmodel/text.h"
#include "sim/pipeline/pipeline_schedule.h"
#include "sim/pipeline/vocabulary_placement.h"
#include "tools/validation/row_cluster.h"

namespace stagecraft {
namespace {

// Reads the blocks of each stage: "3,4,4,3" or "3|4|4|3".
std::vector<int> StageBlocks(const std::string& text) {
  std::vector<int> blocks;
  for (std::string_view rest = text; !rest.empty();) {
    const std::optional<int> count = TakeNumber<int>(rest);
    if (!count || *count < 0 || !(rest.empty() || rest[0] == ',' || rest[0] == '|')) {
      throw InputError("layers per stage \"" + text + "\" are not numbers");
    }
    blocks.push_back(*count);
    if (!rest.empty()) rest.remove_prefix(1);
  }
  return blocks;
}

int WholeNumber(const std::string& column, const std::string& text) {
  const std::optional<int> value = ParseNumber<int>(text);
  if (!value) throw InputError(column + " \"" + text + "\" is not a whole number");
  return *value;
}

// A table's "tensorwise" is a scale from the tensor's own maximum.
Fp8Recipe RowFp8Recipe(const MeasuredRow& row) {
  if (row.fp8_recipe == "tensorwise") return Fp8Recipe::kCurrent;
  for (const Fp8Recipe recipe :
       {Fp8Recipe::kDelayed, Fp8Recipe::kCurrent, Fp8Recipe::kRowwise, Fp8Recipe::kMx}) {
    if (row.fp8_recipe == Name(recipe)) return recipe;
  }
  const bool has_none = row.fp8_recipe.empty() || row.fp8_recipe == "nvfp4";
  if (has_none) return Fp8Recipe::kDelayed;
  throw InputError("fp8_recipe " + row.fp8_recipe + " is not simulated");
}

// "redistributed" has moved blocks between the stages, which the row's stage_layers say.
VocabularyPlacement RowVocabulary(const MeasuredRow& row) {
  if (row.vocab_placement.empty() || row.vocab_placement == "redistributed") {
    return VocabularyPlacement::kFirstLast;
  }
  for (const VocabularyPlacement placement :
       {VocabularyPlacement::kFirstLast, VocabularyPlacement::kVocab1, VocabularyPlacement::kVocab2,
        VocabularyPlacement::kInterlaced}) {
    if (row.vocab_placement == Name(placement)) return placement;
  }
  throw InputError("vocabulary placement " + row.vocab_placement + " is not simulated");
}

PlanDegrees RowDegrees(const CompletedRow& completed) {
  const MeasuredRow& row = completed.row;
  PlanDegrees degrees;
  degrees.tensor = static_cast<int>(row.tp);
  degrees.pipeline = static_cast<int>(row.pp);
  degrees.data = static_cast<int>(row.dp);
  degrees.context = static_cast<int>(row.cp);
  degrees.expert = static_cast<int>(row.ep);
  degrees.micro_batch = row.micro_batch;
  degrees.global_batch = row.global_batch;
  degrees.sequence = row.seq;
  const RowSchedule schedule = ScheduleOfRow(row.schedule);
  degrees.schedule = schedule.name;
  degrees.chunks = std::max(static_cast<int>(row.interleave), LeastChunks(schedule.name));
  degrees.schedule_options = schedule.options;
  degrees.schedule_options.vocabulary = RowVocabulary(row);
  degrees.post_validation = completed.post_validation;
  degrees.recompute = RowRecompute(row);
  degrees.precision = RowPrecision(row);
  degrees.fp8_recipe = RowFp8Recipe(row);
  degrees.attention_kernel = RowAttention(row).kernel;
  degrees.zero = WholeNumber("zero", row.zero);
  if (!row.zero_group.empty()) degrees.zero_group = WholeNumber("zero_group", row.zero_group);
  degrees.sequence_parallel = row.sequence_parallel == "yes" ? 1 : 0;
  degrees.overlap_grad_reduce = row.overlap_grad_reduce == "yes";
  degrees.overlap_param_gather = completed.overlap_param_gather;
  degrees.overlap_p2p = completed.overlap_p2p;
  degrees.overlap_tensor = completed.overlap_tensor;
  degrees.context_exchange = completed.context_exchange;
  degrees.forward_only = row.forward_only == "yes";
  degrees.optimizer = completed.optimizer;
  degrees.framework = completed.framework;
  degrees.bucket_bytes = completed.bucket_bytes;
  degrees.gradient_bytes = completed.gradient_bytes;
  if (row.pp > 1) degrees.stage_blocks = StageBlocks(row.stage_layers);
  return degrees;
}

// The cluster's devices by GPU type, handed out in rank order.
class GpuPool {
 public:
  GpuPool(const MeasuredRow& row, const Cluster& cluster) {
    const std::vector<CountedName> mixture = SplitMixture(row.gpu_id, cluster.device_count());
    for (int device = 0; device < cluster.device_count(); ++device) {
      free_[mixture[cluster.device_group(device)].name].push_back(device);
    }
  }

  std::vector<int> Take(const std::string& gpu, size_t count) {
    std::vector<int>& free = free_[gpu];
    if (free.size() < count) {
      throw InputError("the stages take more GPUs \"" + gpu + "\" than the row has");
    }
    std::vector<int> taken(free.begin(), free.begin() + static_cast<std::ptrdiff_t>(count));
    free.erase(free.begin(), free.begin() + static_cast<std::ptrdiff_t>(count));
    return taken;
  }

 private:
  std::map<std::string, std::vector<int>> free_;
};

// Gives every replica of every stage devices of the GPU type that stage_gpus names: "a,a|b*2". One
// name stands for all replicas of its stage.
void PlaceStages(const MeasuredRow& row, const Cluster& cluster, Plan& plan) {
  const std::vector<std::string_view> stages = SplitAt(row.stage_gpus, '|');
  if (stages.size() != plan.stages.size()) {
    throw InputError(fmt::format("GPUs of {} stages are stated, but pp is {}", stages.size(),
                                 plan.stages.size()));
  }
  GpuPool pool(row, cluster);
  for (size_t stage = 0; stage < stages.size(); ++stage) {
    std::vector<std::string> gpus;
    for (const std::string_view replica : SplitAt(stages[stage], ',')) {
      gpus.emplace_back(replica.substr(0, replica.find('*')));
    }
    std::vector<std::vector<int>>& replicas = plan.stages[stage].replicas;
    if (gpus.size() == 1) gpus.resize(replicas.size(), gpus.front());
    if (gpus.size() != replicas.size()) {
      throw InputError(fmt::format("stage {} has GPUs for {} replicas, but dp is {}", stage,
                                   gpus.size(), replicas.size()));
    }
    for (size_t i = 0; i < replicas.size(); ++i) {
      replicas[i] = pool.Take(gpus[i], replicas[i].size());
    }
  }
}

}  // namespace

Recompute RowRecompute(const MeasuredRow& row) {
  if (!row.recompute_detail.empty()) {
    if (row.recompute_detail != "operators" || row.recompute_kind != "selective") {
      throw InputError(fmt::format("recompute_detail {} does not fit recompute_kind {}",
                                   row.recompute_detail, row.recompute_kind));
    }
    return Recompute::kOperators;
  }
  for (const Recompute kind : {Recompute::kNone, Recompute::kSelective, Recompute::kFull}) {
    if (row.recompute_kind == Name(kind)) return kind;
  }
  throw InputError("recomputation " + row.recompute_kind + " is not simulated");
}

RowSchedule ScheduleOfRow(const std::string& name) {
  RowSchedule schedule;
  if (name == "zb-auto-1p" || name == "zb-auto-2p") {
    schedule.name = PipelineSchedule::kZeroBubbleAuto;
    schedule.options.activation_limit = name == "zb-auto-1p" ? 1 : 2;
    schedule.options.search = ZeroBubbleSearch::kPublished;
    return schedule;
  }
  // Tables mark the schedules that they have no word for.
  constexpr std::string_view kOther = "other:";
  const bool is_marked = name.starts_with(kOther);
  const auto pipeline_schedule =
      FindPipelineSchedule(is_marked ? name.substr(kOther.size()) : name);
  if (!pipeline_schedule) {
    throw InputError("pipeline schedule " + name + " is not simulated");
  }
  schedule.name = *pipeline_schedule;
  return schedule;
}

RowPlan BuildRowPlan(CompletedRow& completed) {
  const MeasuredRow& row = completed.row;
  const PlanDegrees degrees = RowDegrees(completed);
  RowNetwork network = BuildRowNetwork(completed);
  Cluster cluster =
      WithConstants(BuildRowCluster(row, completed.defaults_used), completed.constants);
  if (cluster.device_count() != row.n_gpus) {
    throw InputError(fmt::format("the row's nodes hold {} GPUs, but it counts {}",
                                 cluster.device_count(), row.n_gpus));
  }
  Plan plan = MakePlan(degrees, network.workload, cluster);
  if (!row.stage_gpus.empty() && cluster.groups().size() > 1) {
    PlaceStages(row, cluster, plan);
    const std::vector<std::string> errors = FindErrors(plan, network.workload, cluster);
    if (!errors.empty()) throw InputError(errors.front());
  }
  return {std::move(network), std::move(cluster), std::move(plan)};
}

}  // namespace stagecraft
