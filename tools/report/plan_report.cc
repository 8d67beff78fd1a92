#include "tools/report/plan_report.h"

#include <fmt/format.h>
#include <fmt/ostream.h>

#include <algorithm>
#include <functional>
#include <nlohmann/json.hpp>
#include <ostream>
#include <string>
#include <utility>
#include <vector>

#include "sim/cluster/cluster_spec.h"
#include "sim/pipeline/vocabulary_placement.h"
#include "sim/plan/attention_choice.h"
#include "tools/report/layer_state_report.h"
#include "tools/report/slow_report.h"

namespace stagecraft {
namespace {

using Json = nlohmann::ordered_json;

Json StackToJson(const PlannedJob& job) {
  Json values = Json::array();
  for (const StackValue& value : job.stack_values) {
    values.push_back({{"key", value.key}, {"value", value.value}, {"origin", value.origin}});
  }
  return {{"name", job.stack}, {"values", std::move(values)}};
}

Json SyncToJson(const SyncOptions& sync) {
  Json json = {{"method", Name(sync.method)}, {"servers", sync.servers}, {"peers", sync.peers}};
  if (sync.method != SyncMethod::kRollingServer) return json;
  json["step"] = sync.step;
  json["dead_server"] = sync.dead_server < 0 ? Json(nullptr) : Json(sync.dead_server);
  json["timeout_ms"] = sync.timeout.ms();
  return json;
}

// A number for each stage, "10,11,11,10"; if there are many stages, only for the first ones.
template <typename F>
std::string OfStages(const Plan& plan, F number) {
  constexpr size_t kMostCharacters = 60;
  std::string text;
  for (const Stage& stage : plan.stages) {
    if (text.size() > kMostCharacters) return text + ",...";
    text += fmt::format("{}{}", text.empty() ? "" : ",", number(stage));
  }
  return text;
}

// How many micro-batches a step has: "256 micro-batches per replica, 512 in all".
std::string MicroBatchesText(const Plan& plan) {
  const int64_t all = plan.micro_batches();
  const size_t replicas = plan.stages[0].replicas.size();
  const bool are_alike = std::all_of(plan.stages.begin(), plan.stages.end(), [&](const Stage& s) {
    return s.replica_micro_batches.empty() && s.replicas.size() == replicas;
  });
  const auto counted = [](int64_t count) {
    return fmt::format("{} micro-batch{}", count, count == 1 ? "" : "es");
  };
  if (are_alike && replicas == 1) return counted(all);
  if (!are_alike || all % static_cast<int64_t>(replicas) != 0) {
    return fmt::format("{} micro-batches in all, unequal numbers per replica", all);
  }
  return fmt::format("{} per replica, {} in all", counted(all / static_cast<int64_t>(replicas)),
                     all);
}

// How many tokens a sample has; empty if it has no sequence: an image, or profiled operators.
std::string TokensText(const Plan& plan) {
  return plan.sequence == 1 ? "" : fmt::format(", {} tokens per sample", plan.sequence);
}

const char* AttentionName(const Plan& plan, const Workload& workload) {
  return Name(AttentionChoice{workload.attention, plan.attention_kernel});
}
// Which attention is used; empty for a profile, whose operators are already measured.
std::string AttentionText(const Plan& plan, const Workload& workload) {
  return workload.is_profile() ? "" : fmt::format(", {} attention", AttentionName(plan, workload));
}

int RecomputedBlocks(const Stage& stage) {
  int blocks = 0;
  for (const LayerRange& range : stage.recomputed) blocks += range.count;
  return blocks;
}

}  // namespace

int BlocksOf(const Stage& stage, const Workload& workload) {
  int blocks = 0;
  for (const LayerRange& range : stage.chunks) {
    for (int l = range.first; l < range.first + range.count; ++l) {
      blocks += workload.layer(l).role == LayerRole::kBlock ? 1 : 0;
    }
  }
  return blocks;
}

std::string ReplicasText(const Plan& plan) {
  std::vector<size_t> replicas;
  for (const Stage& stage : plan.stages) replicas.push_back(stage.replicas.size());
  const bool are_equal =
      std::adjacent_find(replicas.begin(), replicas.end(), std::not_equal_to<>()) == replicas.end();
  if (are_equal) replicas.resize(1);
  return fmt::format("{}", fmt::join(replicas, "-"));
}

nlohmann::ordered_json PlanToJson(const Plan& plan, const Workload& workload) {
  Json stages = Json::array();
  for (const Stage& stage : plan.stages) {
    stages.push_back({{"blocks", BlocksOf(stage, workload)},
                      {"tp", stage.tensor_parallel},
                      {"cp", stage.context_parallel},
                      {"replicas", stage.replicas.size()},
                      {"recompute", Name(stage.recompute)}});
    for (const LayerRange& range : stage.recomputed) {
      stages.back()["recomputed"].push_back({{"first", range.first}, {"count", range.count}});
    }
    if (!stage.replica_micro_batches.empty()) {
      stages.back()["replica_micro_batches"] = stage.replica_micro_batches;
    }
  }
  Json json = {{"tp", plan.stages[0].tensor_parallel},
               {"pp", plan.stages.size()},
               {"dp", plan.stages[0].replicas.size()},
               {"cp", plan.stages[0].context_parallel},
               {"ep", plan.stages[0].expert_parallel},
               {"vpp", plan.chunk_count()},
               {"micro_batch", plan.micro_batch},
               {"global_batch", plan.global_batch},
               {"micro_batches", plan.micro_batches()},
               {"seq", plan.sequence},
               {"schedule", Name(plan.schedule)},
               {"vocabulary", Name(plan.schedule_options.vocabulary)},
               {"recompute", Name(plan.stages[0].recompute)},
               {"attention", AttentionName(plan, workload)},
               {"zero", plan.zero},
               {"zero_group", plan.zero_group},
               {"bucket_bytes", plan.bucket_bytes},
               {"optimizer", Name(plan.optimizer)},
               {"offload_optimizer", plan.offload.optimizer},
               {"offload_activations", plan.offload.activations},
               {"overlap_p2p", plan.overlap_p2p},
               {"overlap_tp", plan.overlap_tensor},
               {"post_validation", plan.post_validation},
               {"cp_exchange", Name(plan.context_exchange)},
               {"reshard_after_forward", plan.reshard_after_forward},
               {"elementwise_traffic", plan.framework.elementwise_traffic},
               {"composes_operators", plan.framework.composes_operators},
               {"backward_prefetch", Name(plan.framework.backward_prefetch)},
               {"param_gather", Name(plan.framework.parameter_gather)},
               {"param_exchange", Name(plan.framework.parameter_exchange)},
               {"shard_copies", Name(plan.framework.shard_copies)},
               {"updates_by_operations", plan.framework.updates_by_operations},
               {"autocasts", plan.framework.autocasts},
               {"adds_gradients_apart", plan.framework.adds_gradients_apart},
               {"scatter_messages", plan.framework.scatters_messages},
               {"exposes_tensor_gradients", plan.framework.exposes_tensor_gradients},
               {"expert_imbalance", plan.expert_imbalance},
               {"expert_sends", Name(plan.expert_exchange.sends)},
               {"fp8_dispatch", plan.expert_exchange.dispatches_8_bits},
               {"grouped_experts", !plan.framework.multiplies_experts_apart},
               {"overlap_experts", plan.schedule_options.pairs_passes},
               {"recompute_parts", Name(plan.recomputed_parts)},
               {"keep_fp8", plan.keeps_8_bits},
               {"sequence_parallel", plan.sequence_parallel},
               {"precision", Name(plan.precision)},
               {"fp8_recipe", Name(plan.fp8_recipe)},
               {"gradient_bytes", plan.gradient_bytes},
               {"overlap_grad_reduce", plan.overlap_grad_reduce},
               {"overlap_param_gather", plan.overlap_param_gather},
               {"forward_only", plan.forward_only},
               {"rank_order", plan.rank_order},
               {"stages", std::move(stages)}};
  if (plan.gradient_sync != SyncOptions()) json["gradient_sync"] = SyncToJson(plan.gradient_sync);
  return json;
}

nlohmann::ordered_json PlanToJson(const PlannedJob& job) {
  Json plan = PlanToJson(job.plan, job.workload);
  plan["network"] = Name(job.network.fidelity);
  if (!job.slow.empty()) plan["slow"] = SlowToJson(job);
  plan["layer_states"] = LayerStatesToJson(job.workload);
  plan["stack"] = StackToJson(job);
  return plan;
}

void PrintPlan(const PlannedJob& job, std::ostream& out) {
  const Plan& plan = job.plan;
  const Stage& first = plan.stages[0];
  fmt::print(out, "{} on {}\n", job.workload.name, DescribeCluster(job.cluster));
  fmt::print(out, "plan      tp {} x pp {} x dp {} x cp {}, ep {}, {} chunk{} per stage, {}\n",
             first.tensor_parallel, plan.stages.size(), ReplicasText(plan), first.context_parallel,
             first.expert_parallel, plan.chunk_count(), plan.chunk_count() == 1 ? "" : "s",
             Name(plan.schedule));
  if (plan.SplitsVocabulary()) {
    fmt::print(out, "          vocabulary split over the stages, {}\n",
               Name(plan.schedule_options.vocabulary));
  }
  fmt::print(out, "          micro-batch {}, global batch {} ({}){}\n", plan.micro_batch,
             plan.global_batch, MicroBatchesText(plan), TokensText(plan));
  fmt::print(out, "          {}{}, recomputation {}, ZeRO {}, {}-byte gradients, rank order {}\n",
             Name(plan.precision), AttentionText(plan, job.workload), Name(first.recompute),
             plan.zero, plan.gradient_bytes, plan.rank_order);
  const auto on = [](bool value) { return value ? "on" : "off"; };
  fmt::print(
      out,
      "          sequence parallelism {}, gradient-reduce overlap {}, parameter-gather overlap "
      "{}{}\n",
      on(plan.sequence_parallel), on(plan.overlap_grad_reduce), on(plan.overlap_param_gather),
      plan.forward_only ? ", forward only" : "");
  if (std::any_of(plan.stages.begin(), plan.stages.end(), RecomputedBlocks)) {
    fmt::print(out, "          fully recomputed layers per stage {}\n",
               OfStages(plan, RecomputedBlocks));
  }
  PrintLayerStates(job.workload, out);
  if (plan.gradient_sync.method != SyncMethod::kAllReduce) {
    fmt::print(out, "          gradients synchronised by {}\n", Name(plan.gradient_sync.method));
  }
  if (!job.slow.empty()) fmt::print(out, "          slow: {}\n", SlowText(job));
  const std::string blocks =
      OfStages(plan, [&](const Stage& stage) { return BlocksOf(stage, job.workload); });
  fmt::print(out, "          layers per stage {} (embedding and head not counted)\n\n", blocks);
  if (job.stack.empty()) return;
  fmt::print(out, "defaults of training stack {}\n", job.stack);
  for (const StackValue& value : job.stack_values) {
    fmt::print(out, "  {:<20} {:<12} {}\n", value.key, value.value, value.origin);
  }
  fmt::print(out, "\n");
}

}  // namespace stagecraft
