// FindObstacles(): what a framework does not have of a plan.
#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "sim/pipeline/vocabulary_placement.h"
#include "tools/frameworks/deepspeed_partition.h"
#include "tools/frameworks/framework_table.h"
#include "tools/frameworks/regular_plan.h"

namespace stagecraft {
namespace {

template <typename T>
bool Contains(const std::vector<T>& values, const T& value) {
  return std::find(values.begin(), values.end(), value) != values.end();
}

class ObstacleFinder {
 public:
  ObstacleFinder(const TrainingFramework& framework, const Plan& plan, const Workload& workload)
      : framework_(framework), plan_(plan), workload_(workload) {}

  std::vector<std::string> Run() {
    const Regularity found = FindRegularity(plan_, workload_);
    if (!found.problem.empty()) {
      Add(found.problem);
      return std::move(obstacles_);
    }
    regular_ = found.plan;
    CheckPipeline();
    CheckDegrees();
    CheckSharding();
    CheckRecomputation();
    CheckNumbers();
    CheckExperts();
    CheckRest();
    return std::move(obstacles_);
  }

 private:
  void Add(const std::string& feature) {
    obstacles_.push_back(fmt::format("{} has no {}", framework_.title, feature));
  }
  void AddIf(bool is_lacking, const std::string& feature) {
    if (is_lacking) Add(feature);
  }
  bool has_pipeline() const { return regular_.stages > 1; }

  void CheckPipeline() {
    AddIf(has_pipeline() && !framework_.pipelines,
          fmt::format("pipelines (pp {})", regular_.stages));
    AddIf(!Contains(framework_.schedules, plan_.schedule),
          fmt::format("schedule {}", Name(plan_.schedule)));
    AddIf(!has_pipeline() && regular_.chunks > 1, "chunks without a pipeline");
    const PipelineScheduleOptions& options = plan_.schedule_options;
    AddIf(IsSplit(options.vocabulary),
          fmt::format("vocabulary placement {}", Name(options.vocabulary)));
    AddIf(options.warmup != WarmupPolicy::kA, "warmup policy b");
    AddIf(options.groups.one_more_warmup, "interleaved schedule with one more warmup pass");
    AddIf(options.groups.size > 0 && !framework_.order_groups,
          fmt::format("order-group {}", options.groups.size));
    AddIf(plan_.post_validation, "post-validation of updates");
    AddIf(plan_.forward_only, "training step without a backward");
    if (!has_pipeline() || framework_.any_stage_layers) return;
    const int layers = workload_.layer_count();
    const bool is_even = regular_.part_layers == UniformPartition(layers, regular_.stages) ||
                         regular_.part_layers == BalancedPartition(layers, regular_.stages);
    AddIf(!is_even, fmt::format("stages of {} layers, the embedding and the head included",
                                fmt::join(regular_.part_layers, ", ")));
  }

  void CheckDegrees() {
    AddIf(regular_.tensor > 1 && !framework_.tensor_parallel,
          fmt::format("tensor parallelism (tp {})", regular_.tensor));
    AddIf(regular_.tensor > 1 && has_pipeline() && framework_.tensor_parallel &&
              !framework_.tensor_in_pipeline,
          fmt::format("tensor parallelism (tp {}) in a pipeline (pp {})", regular_.tensor,
                      regular_.stages));
    AddIf(regular_.context > 1 && framework_.context_exchanges.empty(),
          fmt::format("context parallelism (cp {})", regular_.context));
    AddIf(regular_.context > 1 && !framework_.context_exchanges.empty() &&
              !Contains(framework_.context_exchanges, plan_.context_exchange),
          fmt::format("context parallelism by {}", Name(plan_.context_exchange)));
    AddIf(regular_.expert > 1 && !framework_.expert_parallel,
          fmt::format("expert parallelism (ep {})", regular_.expert));
    AddIf(regular_.tensor > 1 && plan_.sequence_parallel && !framework_.with_sequence_parallel,
          "sequence parallelism");
    AddIf(regular_.tensor > 1 && !plan_.sequence_parallel && !framework_.without_sequence_parallel,
          "tensor parallelism without sequence parallelism");
    AddIf(!Contains(framework_.rank_orders, plan_.rank_order) && regular_.Ranks() > 1,
          fmt::format("rank order {}", plan_.rank_order));
  }

  void CheckSharding() {
    const std::vector<int>& zeros = has_pipeline() ? framework_.pipeline_zeros : framework_.zeros;
    AddIf(!Contains(zeros, plan_.zero),
          fmt::format("ZeRO {}{}", plan_.zero,
                      has_pipeline() ? fmt::format(" with pp {}", regular_.stages) : ""));
    AddIf(plan_.zero_group > 0 && !framework_.zero_groups,
          fmt::format("sharding within groups of {} ranks", plan_.zero_group));
    AddIf(plan_.gradient_sync.method != SyncMethod::kAllReduce,
          fmt::format("gradient-sync {}", Name(plan_.gradient_sync.method)));
    AddIf(plan_.offload.activations > 0, "offloading of a share of the activations");
    AddIf(plan_.offload.optimizer && !framework_.offload_optimizer, "offloading of the optimizer");
  }

  void CheckRecomputation() {
    const bool has_ranges = regular_.recomputed_blocks > 0;
    // Fused attention keeps no scores, so that there is nothing to select.
    const bool is_idle = regular_.recompute == Recompute::kSelective &&
                         workload_.attention == AttentionBackend::kFlash;
    AddIf(has_ranges && !framework_.recomputes_some_blocks,
          "recomputation of some blocks, or of several at once");
    AddIf(has_ranges && framework_.recomputes_some_blocks &&
              regular_.recompute != Recompute::kNone && !is_idle,
          fmt::format("recomputation {} beside that of whole blocks", Name(regular_.recompute)));
    AddIf(!has_ranges && !is_idle && !Contains(framework_.recomputes, regular_.recompute),
          fmt::format("recomputation {}", Name(regular_.recompute)));
    const RecomputedParts& parts = plan_.recomputed_parts;
    const RecomputedParts& known = framework_.recompute_parts;
    const bool is_lacking = (parts.norms && !known.norms) || (parts.latents && !known.latents) ||
                            (parts.activations && !known.activations);
    AddIf(is_lacking, fmt::format("recomputation of parts of blocks ({})", Name(parts)));
    const bool is_whole = has_ranges || regular_.recompute == Recompute::kFull;
    AddIf(!is_lacking && parts.Any() && is_whole,
          fmt::format("recomputation of parts ({}) beside that of whole blocks", Name(parts)));
  }

  void CheckNumbers() {
    AddIf(!Contains(framework_.precisions, plan_.precision),
          fmt::format("precision {}", Name(plan_.precision)));
    AddIf(plan_.precision == DType::kFp8 && !Contains(framework_.fp8_recipes, plan_.fp8_recipe),
          fmt::format("fp8-recipe {}", Name(plan_.fp8_recipe)));
    AddIf(!Contains(framework_.optimizers, plan_.optimizer),
          fmt::format("optimizer {}", Name(plan_.optimizer)));
    AddIf(plan_.keeps_8_bits, "activations kept in 8 bits");
  }

  void CheckExperts() {
    if (regular_.expert > 1) {
      AddIf(!Contains(framework_.expert_sends, plan_.expert_exchange.sends),
            fmt::format("expert-sends {}", Name(plan_.expert_exchange.sends)));
      AddIf(plan_.expert_exchange.dispatches_8_bits, "dispatch of tokens in 8 bits");
    }
    const bool pairs = plan_.schedule_options.pairs_passes;
    AddIf(pairs && !framework_.overlap_experts, "overlap of experts' exchanges with other passes");
    AddIf(pairs && framework_.overlap_experts && has_pipeline() && regular_.chunks == 1,
          "overlap of experts' exchanges with other passes in schedule 1f1b");
  }

  void CheckRest() {
    AddIf(plan_.overlap_param_gather && plan_.zero < 3 &&
              (plan_.zero == 0 || !plan_.overlap_grad_reduce),
          "overlap-param-gather without zero 1 and overlap-grad-reduce");
    AddIf(plan_.overlap_tensor && !plan_.sequence_parallel && regular_.tensor > 1,
          "overlap-tp without sequence parallelism");
  }

  const TrainingFramework& framework_;
  const Plan& plan_;
  const Workload& workload_;
  RegularPlan regular_;
  std::vector<std::string> obstacles_;
};

}  // namespace

std::vector<std::string> FindObstacles(const TrainingFramework& framework, const Plan& plan,
                                       const Workload& workload) {
  return ObstacleFinder(framework, plan, workload).Run();
}

}  // namespace stagecraft
