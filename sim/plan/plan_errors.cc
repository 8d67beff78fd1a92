// FindErrors(): what makes it impossible to lower a plan.
#include <fmt/core.h>

#include <algorithm>
#include <functional>

#include "sim/plan/host_offload.h"
#include "sim/plan/layer_division.h"
#include "sim/plan/plan.h"
#include "sim/plan/plan_device_errors.h"
#include "sim/plan/plan_order_errors.h"
#include "sim/plan/recomputed_layers.h"
#include "sim/plan/sync_errors.h"
#include "sim/plan/vocabulary_errors.h"

namespace stagecraft {
namespace {

using Errors = std::vector<std::string>;

void CheckNumbers(const Plan& plan, Errors& errors) {
  if (plan.micro_batch < 1 || plan.global_batch < 1 || plan.sequence < 1) {
    errors.push_back(
        fmt::format("micro_batch {}, global_batch {}, sequence {}: want each to be at least 1",
                    plan.micro_batch, plan.global_batch, plan.sequence));
    return;
  }
  if (plan.global_batch % plan.micro_batch != 0) {
    errors.push_back(fmt::format("global_batch: {} is not a multiple of micro_batch {}",
                                 plan.global_batch, plan.micro_batch));
  }
  if (plan.zero < 0 || plan.zero > 3) {
    errors.push_back(fmt::format("zero: got {}, want 0 to 3", plan.zero));
  }
  if (plan.overlap_tensor && !plan.sequence_parallel) {
    errors.push_back("overlap_tensor: wants sequence parallelism, which is off");
  }
  if (plan.keeps_8_bits && plan.precision != DType::kFp8) {
    errors.push_back(fmt::format("keeps_8_bits: wants GEMMs of fp8, got {}", Name(plan.precision)));
  }
  if (plan.bucket_bytes < 0) {
    errors.push_back(fmt::format("bucket_bytes: got {}, want at least 0", plan.bucket_bytes));
  }
  if (plan.gradient_bytes != 2 && plan.gradient_bytes != 4) {
    errors.push_back(fmt::format("gradient_bytes: got {}, want 2 or 4", plan.gradient_bytes));
  }
  // Tags count stages in 16 bits.
  constexpr size_t kMostStages = 32'767;
  if (plan.stages.size() > kMostStages) {
    errors.push_back(
        fmt::format("stages: got {}, want at most {}", plan.stages.size(), kMostStages));
    return;
  }
  // A pass of a micro-batch is about two tasks of 90 bytes each.
  constexpr double kMostPasses = 1e8;
  const double passes = 2.0 * static_cast<double>(plan.micro_batches()) /
                        static_cast<double>(std::max<size_t>(1, plan.stages[0].replicas.size())) *
                        static_cast<double>(plan.stages.size() * plan.stages[0].chunks.size());
  if (passes > kMostPasses) {
    errors.push_back(
        fmt::format("global_batch: {} micro-batches make {:.3g} passes of a replica, "
                    "want at most {:.3g}",
                    plan.micro_batches(), passes, kMostPasses));
  }
  constexpr int64_t kMostMicroBatches = 10'000'000;
  if (plan.micro_batches() > kMostMicroBatches) {
    errors.push_back(fmt::format("global_batch: {} micro-batches of {}, want at most {}",
                                 plan.micro_batches(), plan.micro_batch, kMostMicroBatches));
  }
}

void CheckExperts(const Plan& plan, const Workload& workload, Errors& errors) {
  const int experts = ExpertCount(workload);
  if (!(plan.expert_imbalance >= 1 && plan.expert_imbalance <= 1e6)) {
    errors.push_back(
        fmt::format("expert_imbalance: got {}, want 1 (even) or more", plan.expert_imbalance));
  }
  for (size_t s = 0; s < plan.stages.size(); ++s) {
    const Stage& stage = plan.stages[s];
    const int degree = stage.expert_parallel;
    const int64_t ranks = static_cast<int64_t>(stage.replicas.size()) * stage.context_parallel;
    if (degree < 1 || ranks % degree != 0) {
      errors.push_back(
          fmt::format("stages[{}].expert_parallel: {} does not divide the stage's {} "
                      "data-parallel ranks",
                      s, degree, ranks));
    } else if (degree > 1 && experts <= 0) {
      errors.push_back(fmt::format("stages[{}].expert_parallel: got {}, but {} has {}", s, degree,
                                   workload.name,
                                   experts == 0 ? "no experts" : "unequal numbers of experts"));
    } else if (degree > 1 && experts % degree != 0) {
      errors.push_back(
          fmt::format("stages[{}].expert_parallel: {} does not divide the {} experts "
                      "of {}",
                      s, degree, experts, workload.name));
    } else if (plan.expert_imbalance > degree) {
      errors.push_back(fmt::format(
          "expert_imbalance: got {}, but one of {} ranks cannot have more than {} times the mean",
          plan.expert_imbalance, degree, degree));
    } else if (plan.zero_group % degree != 0) {
      errors.push_back(
          fmt::format("zero_group: {} is not a multiple of expert_parallel {} of stages[{}]",
                      plan.zero_group, degree, s));
    }
    if (!errors.empty()) return;
  }
}

// If replicas take unequal shares, there must be one number for each replica, which add up to the
// micro-batches of a step.
void CheckShares(const Plan& plan, Errors& errors) {
  for (size_t s = 0; s < plan.stages.size(); ++s) {
    const std::vector<int>& counts = plan.stages[s].replica_micro_batches;
    if (counts.empty()) continue;
    int64_t sum = 0;
    for (const int count : counts) {
      if (count < 1) {
        errors.push_back(fmt::format(
            "stages[{}].replica_micro_batches: got {}, want at least 1 each", s, count));
        return;
      }
      sum += count;
    }
    if (counts.size() != plan.stages[s].replicas.size() || sum != plan.micro_batches()) {
      errors.push_back(
          fmt::format("stages[{}].replica_micro_batches: got {} numbers that add up to {}, want {} "
                      "that add up to the {} micro-batches of a step",
                      s, counts.size(), sum, plan.stages[s].replicas.size(), plan.micro_batches()));
      return;
    }
  }
}

// Whether the replicas of a stage take equally many micro-batches.
bool HasEvenShares(const Plan& plan, const Stage& stage) {
  const std::vector<int>& counts = stage.replica_micro_batches;
  if (counts.empty()) {
    return plan.micro_batches() % static_cast<int64_t>(stage.replicas.size()) == 0;
  }
  return std::adjacent_find(counts.begin(), counts.end(), std::not_equal_to<>()) == counts.end();
}

// Sharding groups must divide the data-parallel ranks of every stage, and ranks that share
// gradients, parameters or experts must run the same passes together.
void CheckSharding(const Plan& plan, Errors& errors) {
  for (size_t s = 0; s < plan.stages.size(); ++s) {
    const Stage& stage = plan.stages[s];
    const int64_t ranks = static_cast<int64_t>(stage.replicas.size()) * stage.context_parallel;
    if (plan.zero_group < 0 || (plan.zero_group > 0 && ranks % plan.zero_group != 0)) {
      errors.push_back(
          fmt::format("zero_group: {} does not divide the {} data-parallel ranks of "
                      "stages[{}]",
                      plan.zero_group, ranks, s));
      return;
    }
    if (HasEvenShares(plan, stage)) continue;
    const std::string wanted = fmt::format(
        "wants all {} replicas of stages[{}] to take the same number of the {} micro-batches",
        stage.replicas.size(), s, plan.micro_batches());
    if (plan.zero >= 2) {
      errors.push_back(fmt::format("zero: {} {}", plan.zero, wanted));
      return;
    }
    if (ReplicasKeepStep(plan, static_cast<int>(s))) {
      errors.push_back(fmt::format("stages[{}].expert_parallel: {}, over several replicas, {}", s,
                                   stage.expert_parallel, wanted));
      return;
    }
  }
}

// Chunks in virtual-stage order must cover every layer once.
void CheckLayers(const Plan& plan, const Workload& workload, Errors& errors) {
  const size_t chunks = plan.stages[0].chunks.size();
  for (size_t s = 0; s < plan.stages.size(); ++s) {
    if (plan.stages[s].chunks.size() != chunks || chunks == 0) {
      errors.push_back(fmt::format("stages[{}].chunks: got {} chunks, want {} as in stages[0]", s,
                                   plan.stages[s].chunks.size(), chunks));
      return;
    }
  }
  const std::string problem = FindChunkError(
      plan.schedule, PlacementOf(plan), static_cast<int>(plan.stages.size()), plan.chunk_count());
  if (!problem.empty()) {
    errors.push_back(problem);
    return;
  }
  const ChunkMap map = MapOf(plan);
  for (int chain = 0; chain < map.chains(); ++chain) {
    int next = 0;
    for (int index = 0; index < map.length(); ++index) {
      const auto [stage, chunk] = map.PlaceOf({chain, index});
      const LayerRange range = plan.stages[stage].chunks[chunk];
      if (range.first != next || range.count < 1 ||
          range.count > workload.layer_count() - range.first) {
        const std::string got =
            range.count < 1 ? std::string("no layers")
                            : fmt::format("layers {} to {}", range.first,
                                          static_cast<int64_t>(range.first) + range.count - 1);
        errors.push_back(fmt::format(
            "stages[{}].chunks[{}]: got {}, want at least one layer from {} on, of {} in all",
            stage, chunk, got, next, workload.layer_count()));
        return;
      }
      next = range.first + range.count;
    }
    if (next == workload.layer_count()) continue;
    errors.push_back(
        fmt::format("stages: hold {} layers, but {} has {} (embedding, {} in between, head)", next,
                    workload.name, workload.layer_count(), workload.op_sequence_count()));
    return;
  }
}

void CheckDivision(const Plan& plan, const Workload& workload, Errors& errors) {
  for (size_t s = 0; s < plan.stages.size(); ++s) {
    const int tensor = plan.stages[s].tensor_parallel;
    const int context = plan.stages[s].context_parallel;
    if (tensor < 1 || context < 1) {
      errors.push_back(
          fmt::format("stages[{}]: tensor_parallel {} and context_parallel {}, want "
                      "each to be at least 1",
                      s, tensor, context));
      return;
    }
    const auto add = [&](const std::string& error) {
      errors.push_back(fmt::format("stages[{}].{}", s, error));
    };
    const std::string tensor_error = FindTensorError(workload, tensor);
    if (!tensor_error.empty()) add(tensor_error);
    const TokenDivision division{plan.sequence, tensor, context, plan.sequence_parallel,
                                 plan.context_exchange};
    for (const std::string& error : FindTokenErrors(workload, division)) add(error);
    if (!errors.empty()) return;
  }
}

// Roughly the most elements that an operator touches for one micro-batch.
double ElementsOf(const Operator& o, double micro_batch, double sequence) {
  const double rows = micro_batch * (o.positions > 0 ? static_cast<double>(o.positions) : sequence);
  const double in = static_cast<double>(o.in_features);
  const double out = static_cast<double>(o.out_features);
  const double keys = o.keys > 0 ? static_cast<double>(o.keys) : rows / micro_batch;
  const double per_row = static_cast<double>(o.forward_elements + o.backward_elements);
  const double experts = std::max(1, o.experts_per_token);
  return in * out + rows * (experts * (in + out) + per_row + keys * o.heads);
}

// Checks that sizes stay far within 64 bits.
void CheckSizes(const Plan& plan, const Workload& workload, Errors& errors) {
  constexpr double kMostElements = 1e15;
  for (const LayerKind& kind : workload.kinds) {
    for (const Operator& o : kind.operators) {
      const double elements =
          ElementsOf(o, static_cast<double>(plan.micro_batch), static_cast<double>(plan.sequence));
      if (elements <= kMostElements) continue;
      errors.push_back(
          fmt::format("micro_batch: {} samples of {} rows make {:.3g} elements in {} of {}, want "
                      "at most {:.3g}",
                      plan.micro_batch, plan.sequence, elements, o.name, kind.name, kMostElements));
      return;
    }
  }
}

// The others notice a dead server in the first reduction of a step, which a frozen layer has not.
void CheckFrozen(const Plan& plan, const Workload& workload, Errors& errors) {
  if (plan.gradient_sync.dead_server < 0 || !workload.has_frozen_layers()) return;
  errors.push_back(fmt::format("dead_server: got {}, want none, since {} has frozen layers",
                               plan.gradient_sync.dead_server, workload.name));
}

}  // namespace

std::vector<std::string> FindErrors(const Plan& plan, const Workload& workload,
                                    const Cluster& cluster) {
  Errors errors;
  if (plan.stages.empty()) return {"stages: got none, want at least one"};
  CheckNumbers(plan, errors);
  CheckLayers(plan, workload, errors);
  if (!errors.empty()) return errors;
  CheckDivision(plan, workload, errors);
  CheckSizes(plan, workload, errors);
  FindDeviceErrors(plan, cluster, errors);
  if (!errors.empty()) return errors;
  FindProfileErrors(plan, workload, cluster, errors);
  CheckShares(plan, errors);
  if (!errors.empty()) return errors;
  FindRecomputeErrors(plan, workload, errors);
  CheckExperts(plan, workload, errors);
  FindVocabularyErrors(plan, workload, errors);
  FindOrderErrors(plan, workload, errors);
  if (errors.empty()) CheckSharding(plan, errors);
  FindOffloadErrors(plan, cluster, errors);
  if (errors.empty()) FindSyncErrors(plan, cluster, errors);
  if (errors.empty()) CheckFrozen(plan, workload, errors);
  return errors;
}

}  // namespace stagecraft
