// Random plans for tests: any degrees and pipeline schedules, on any devices of a cluster.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <numeric>
#include <optional>
#include <utility>
#include <vector>

#include "costmodel/check.h"
#include "costmodel/random.h"
#include "sim/cluster/cluster.h"
#include "sim/pipeline/make_pass_orders.h"
#include "sim/pipeline/pipeline_schedule.h"
#include "sim/pipeline/vocabulary_placement.h"
#include "sim/plan/layer_division.h"
#include "sim/plan/plan.h"
#include "sim/workload/workload.h"

namespace stagecraft {

// Used in place of std::shuffle(), whose result differs between standard libraries.
inline void Shuffle(Random& random, std::vector<int>& values) {
  for (int64_t i = std::ssize(values) - 1; i > 0; --i) {
    std::swap(values[i], values[random.Integer(0, i)]);
  }
}

inline std::vector<int> Permutation(Random& random, int count) {
  std::vector<int> values(count);
  std::iota(values.begin(), values.end(), 0);
  Shuffle(random, values);
  return values;
}

// Replaces every device of the plan by another one.
inline Plan Renumber(Plan plan, const std::vector<int>& number) {
  for (Stage& stage : plan.stages) {
    for (std::vector<int>& replica : stage.replicas) {
      for (int& device : replica) device = number[device];
    }
  }
  return plan;
}

// Draws how the ranks of data parallelism work together.
inline void DrawSharing(Random& random, PlanDegrees& degrees) {
  const auto draw = [&](int64_t most) { return static_cast<int>(random.Integer(0, most)); };
  degrees.zero = draw(3);
  if (degrees.zero > 0 && draw(2) == 0) degrees.zero_group = 2;
  degrees.overlap_grad_reduce = draw(3) > 0;
  degrees.overlap_param_gather = draw(3) == 0;
  degrees.bucket_bytes = draw(1) * 400'000;
  if (degrees.zero > 0) return;
  constexpr std::array kMethods = {SyncMethod::kAllReduce,   SyncMethod::kAllReduce,
                                   SyncMethod::kRing,        SyncMethod::kTree,
                                   SyncMethod::kGossip,      SyncMethod::kShardedParameterServer,
                                   SyncMethod::kHierarchical};
  degrees.gradient_sync.method = kMethods[draw(kMethods.size() - 1)];
  if (degrees.gradient_sync.method == SyncMethod::kGossip) degrees.gradient_sync.peers = 1;
}

// Draws one, two or eight ranks that share eight experts; the other degrees are such that plans fit
// on 16 devices.
inline void DrawExperts(Random& random, PlanDegrees& degrees) {
  constexpr std::array kDegrees = {1, 2, 8};
  degrees.expert = kDegrees[random.Integer(0, 2)];
  degrees.tensor = 1 << random.Integer(0, 1);
  if (degrees.expert == 8) degrees.pipeline = std::min(degrees.pipeline, 2);
  const int64_t data_ranks = degrees.expert * random.Integer(1, 2);
  degrees.data = static_cast<int>(std::max<int64_t>(1, data_ranks / degrees.context));
  if (degrees.zero_group > 0) degrees.zero_group = std::max(2, degrees.expert);
  if (random.Integer(0, 3) == 0) degrees.expert_imbalance = std::min(1.5, 1.0 * degrees.expert);
}

// Draws how tokens travel between experts, once all else is drawn.
inline void DrawExchanges(Random& random, PlanDegrees& degrees) {
  const auto draw = [&](int64_t most) { return random.Integer(0, most); };
  if (draw(1) == 0) degrees.expert_exchange.sends = ExpertSends::kOncePerNode;
  degrees.expert_exchange.dispatches_8_bits = draw(1) == 0;
  degrees.framework.multiplies_experts_apart = draw(3) == 0;
  const bool can_pair = Reads(degrees.schedule, kReadsPairing) && degrees.expert > 1 &&
                        !IsSplit(degrees.schedule_options.vocabulary) && degrees.zero < 2 &&
                        !degrees.forward_only;
  degrees.schedule_options.pairs_passes = draw(1) == 0 && can_pair;
  degrees.recomputed_parts = {draw(3) == 0, draw(3) == 0, draw(3) == 0};
}

// Returns all pipeline schedules that flush: those below, 1F1B twice, and then all newer ones.
inline std::vector<PipelineSchedule> DrawnSchedules() {
  std::vector<PipelineSchedule> schedules = {PipelineSchedule::kOneForwardOneBackward,
                                             PipelineSchedule::kOneForwardOneBackward,
                                             PipelineSchedule::kGpipe,
                                             PipelineSchedule::kInterleaved,
                                             PipelineSchedule::kBreadthFirst,
                                             PipelineSchedule::kZeroBubbleH1,
                                             PipelineSchedule::kZeroBubbleH2,
                                             PipelineSchedule::kZeroBubbleAuto,
                                             PipelineSchedule::kList,
                                             PipelineSchedule::kZeroBubbleV,
                                             PipelineSchedule::kVHalf,
                                             PipelineSchedule::kVMin,
                                             PipelineSchedule::kDualPipe,
                                             PipelineSchedule::kDualPipeV,
                                             PipelineSchedule::kChimera};
  for (const PipelineSchedule schedule : NamedPipelineSchedules()) {
    const bool is_new = std::find(schedules.begin(), schedules.end(), schedule) == schedules.end();
    if (is_new && !IsAsynchronous(schedule)) schedules.push_back(schedule);
  }
  return schedules;
}

// Draws degrees for a network of at least eight layers on at least eight devices or, with
// `experts`, for one with eight experts on at least 16 devices.
inline PlanDegrees DrawDegrees(Random& random, bool experts = false) {
  const auto draw = [&](int64_t most) { return static_cast<int>(random.Integer(0, most)); };
  PlanDegrees degrees;
  degrees.sequence = 512;
  degrees.precision = DType::kFp16;
  degrees.micro_batch = 1 + draw(1);
  degrees.pipeline = 1 + draw(3);
  degrees.tensor = 1 << draw(2);
  degrees.context = draw(3) == 0 ? 2 : 1;
  degrees.data = 1 + draw(2);
  degrees.recompute = static_cast<Recompute>(draw(2));
  degrees.overlap_p2p = draw(3) > 0;
  degrees.overlap_tensor = draw(3) == 0;
  degrees.post_validation = draw(7) == 0;
  DrawSharing(random, degrees);
  if (experts) DrawExperts(random, degrees);
  if (degrees.pipeline > 1) {
    const std::vector<PipelineSchedule> schedules = DrawnSchedules();
    degrees.schedule = schedules[draw(static_cast<int64_t>(schedules.size()) - 1)];
    degrees.chunks = LeastChunks(degrees.schedule);
  }
  degrees.devices = degrees.pipeline * degrees.tensor * degrees.context * degrees.data;
  int64_t each = 2 * degrees.pipeline * (1 + draw(3));  // micro-batches of a pipeline
  if (draw(4) == 0) each *= 6;
  degrees.global_batch = each * degrees.data * degrees.micro_batch;
  degrees.forward_only = draw(15) == 0;
  if (draw(7) == 0) degrees.offload.activations = 0.5;
  if (draw(7) == 0) degrees.offload.optimizer = true;
  if (degrees.offload.activations > 0 || degrees.offload.optimizer) {
    degrees.offload.host_memory = Bytes(int64_t{1} << 40);
  }
  if (degrees.pipeline > 1 && Reads(degrees.schedule, kReadsVocabulary) && draw(1) == 0) {
    const auto placement = static_cast<VocabularyPlacement>(1 + draw(2));
    if (Supports(degrees.schedule, placement)) degrees.schedule_options.vocabulary = placement;
  }
  if (experts) DrawExchanges(random, degrees);
  return degrees;
}

// Draws numbers of replicas and degrees of tensor parallelism that differ from stage to stage.
inline void DrawUnequalStages(Random& random, const Cluster& cluster, Plan& plan) {
  int used = 0;
  for (Stage& stage : plan.stages) {
    stage.tensor_parallel = 1 << random.Integer(0, 1);
    stage.context_parallel = 1;
    const int left = (cluster.device_count() - used) / stage.tensor_parallel;
    const int64_t most = std::clamp(left, 1, 3);
    stage.replicas.assign(static_cast<size_t>(random.Integer(1, most)), {});
    if (stage.replicas.size() % stage.expert_parallel != 0) stage.expert_parallel = 1;
    stage.replica_micro_batches.clear();
    for (std::vector<int>& replica : stage.replicas) {
      for (int i = 0; i < stage.tensor_parallel; ++i) replica.push_back(used++);
    }
  }
}

// Draws a plan. Returns no value if the degrees that were drawn do not go together.
inline std::optional<Plan> DrawPlan(Random& random, const Workload& workload,
                                    const Cluster& cluster) {
  try {
    const bool has_experts = ExpertCount(workload) > 0;
    Plan plan = MakePlan(DrawDegrees(random, has_experts), workload, cluster);
    if (plan.stages.size() > 1 && random.Integer(0, 2) == 0) {
      DrawUnequalStages(random, cluster, plan);
      if (plan.device_count() > cluster.device_count()) return std::nullopt;
    }
    plan = Renumber(std::move(plan), Permutation(random, cluster.device_count()));
    if (!FindErrors(plan, workload, cluster).empty()) return std::nullopt;
    return plan;
  } catch (const InputError&) {
    return std::nullopt;
  }
}

}  // namespace stagecraft
