#include "tools/step_report.h"

#include <fmt/format.h>
#include <fmt/ostream.h>

#include <algorithm>
#include <functional>
#include <ostream>

#include "sim/cluster_spec.h"
#include "tools/network_report.h"
#include "tools/steady_report.h"

namespace stagecraft {
namespace {

using Json = nlohmann::ordered_json;

// Worst stage first; of equals the earlier.
std::vector<StageMemory> WorstFirst(std::vector<StageMemory> memory) {
  std::stable_sort(memory.begin(), memory.end(), [](const StageMemory& a, const StageMemory& b) {
    return a.Peak() - a.capacity > b.Peak() - b.capacity;
  });
  return memory;
}

Json MemoryToJson(const StageMemory& m, const Cluster& cluster) {
  return {{"stage", m.stage},
          {"rank", m.device},
          {"device", cluster.DeviceName(m.device)},
          {"unit", "GiB"},
          {"weights", m.weights.gib()},
          {"gradients", m.gradients.gib()},
          {"optimizer", m.optimizer.gib()},
          {"activations", m.activations.gib()},
          {"workspace", m.workspace.gib()},
          {"communication", m.communication.gib()},
          {"framework", m.framework.gib()},
          {"fragmentation", m.fragmentation.gib()},
          {"allocated", m.allocated.gib()},
          {"reserved", m.Reserved().gib()},
          {"peak", m.Peak().gib()},
          {"capacity", m.capacity.gib()},
          {"host", m.host.gib()},
          {"host_capacity", m.host_capacity.gib()}};
}

Json StackToJson(const PlannedJob& job) {
  Json values = Json::array();
  for (const StackValue& value : job.stack_values) {
    values.push_back({{"key", value.key}, {"value", value.value}, {"origin", value.origin}});
  }
  return {{"name", job.stack}, {"values", std::move(values)}};
}

// A number of each stage, "10,11,11,10"; of many stages the first ones.
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

int RecomputedBlocks(const Stage& stage) {
  int blocks = 0;
  for (const LayerRange& range : stage.recomputed) blocks += range.count;
  return blocks;
}

Json SyncToJson(const SyncOptions& sync) {
  Json json = {{"method", Name(sync.method)}, {"servers", sync.servers}, {"peers", sync.peers}};
  if (sync.method != SyncMethod::kRollingServer) return json;
  json["step"] = sync.step;
  json["dead_server"] = sync.dead_server;
  json["timeout_ms"] = sync.timeout.ms();
  return json;
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
               {"schedule", Name(plan.order)},
               {"recompute", Name(plan.stages[0].recompute)},
               {"attention", workload.attention == AttentionBackend::kFlash ? "flash" : "unfused"},
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
               {"expert_imbalance", plan.expert_imbalance},
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

nlohmann::ordered_json EvaluationToJson(const Evaluation& e, const Workload& workload,
                                        const Cluster& cluster) {
  const double seconds = e.step_time.seconds();
  Json breakdown;
  for (const TimePart& part : PartsOf(e.profile.breakdown)) breakdown[part.name] = part.time.ms();
  Json memory = Json::array();
  for (const StageMemory& m : WorstFirst(e.memory)) memory.push_back(MemoryToJson(m, cluster));
  Json basis;
  for (int i = 0; i < kBasisCount; ++i) {
    basis[Name(static_cast<Basis>(i))] = e.profile.basis_share[i];
  }
  // Nobody counted the FLOPs of a profile's operators.
  const auto known = [&](double value) {
    return workload.is_profile() ? Json(nullptr) : Json(value);
  };
  return {
      {"gpus", e.devices},
      {"step_time_ms", e.step_time.ms()},
      {"step_time_interval_ms", {e.step_time_low.ms(), e.step_time_high.ms()}},
      {"tokens_per_s", e.tokens / seconds},
      {"tokens_per_s_per_gpu", e.tokens / seconds / e.devices},
      {"samples_per_s", e.samples / seconds},
      {"model_tflops_per_s_per_gpu", known(e.model_flops.count() / seconds / e.devices * 1e-12)},
      {"mfu", known(e.mfu())},
      {"hfu", known(e.hfu())},
      {"bubble_fraction", e.profile.bubble_fraction},
      {"breakdown_ms", std::move(breakdown)},
      {"host_wait_ms", e.profile.host_wait.ms()},
      {"peak_memory_gib", WorstFirst(e.memory)[0].Peak().gib()},
      {"memory", std::move(memory)},
      {"fits", e.fits},
      {"basis", std::move(basis)}};
}

namespace {

// "4", or "15-1" where stages differ.
std::string ReplicasText(const Plan& plan) {
  std::vector<size_t> replicas;
  for (const Stage& stage : plan.stages) replicas.push_back(stage.replicas.size());
  const bool are_equal =
      std::adjacent_find(replicas.begin(), replicas.end(), std::not_equal_to<>()) == replicas.end();
  if (are_equal) replicas.resize(1);
  return fmt::format("{}", fmt::join(replicas, "-"));
}

}  // namespace

std::vector<TimePart> PartsOf(const Breakdown& b) {
  return {
      {"compute", b.compute}, {"tp", b.tensor}, {"pp", b.pipeline},         {"dp", b.data},
      {"cp", b.context},      {"ep", b.expert}, {"optimizer", b.optimizer}, {"bubble", b.bubble}};
}

nlohmann::ordered_json StepToJson(const PlannedJob& job, const SimulatedStep& step,
                                  const WallTime& wall) {
  Json plan = PlanToJson(job.plan, job.workload);
  plan["network"] = Name(job.network.fidelity);
  plan["stack"] = StackToJson(job);
  Json report = {{"model", job.workload.name},
                 {"parameters", job.workload.Parameters()},
                 {"cluster", DescribeCluster(job.cluster)}};
  report.update(EvaluationToJson(step.evaluation, job.workload, job.cluster));
  report.update(
      {{"critical_rank", step.schedule.ranks()[step.evaluation.profile.critical_rank].device},
       {"plan", std::move(plan)},
       {"warnings", job.warnings},
       {"simulated_ranks", step.schedule.ranks().size()},
       {"tasks", step.schedule.task_count()},
       {"tasks_per_s", wall.tasks_per_s},
       {"wall_ms", wall.total_ms},
       {"fingerprint", fmt::format("{:016x}", step.timeline.Fingerprint())}});
  if (step.evaluation.steady) report["steady_state"] = SteadyToJson(step);
  report.update(NetworkToJson(step, job.cluster));
  return report;
}

void PrintPlan(const PlannedJob& job, std::ostream& out) {
  const Plan& plan = job.plan;
  const Stage& first = plan.stages[0];
  fmt::print(out, "{} on {}\n", job.workload.name, DescribeCluster(job.cluster));
  fmt::print(out, "plan      tp {} x pp {} x dp {} x cp {}, ep {}, {} chunk{} per stage, {}\n",
             first.tensor_parallel, plan.stages.size(), ReplicasText(plan), first.context_parallel,
             first.expert_parallel, plan.chunk_count(), plan.chunk_count() == 1 ? "" : "s",
             Name(plan.order));
  fmt::print(out, "          micro-batch {}, global batch {} ({} micro-batches), {} tokens each\n",
             plan.micro_batch, plan.global_batch, plan.micro_batches(), plan.sequence);
  fmt::print(out,
             "          {}, {} attention, recompute {}, zero {}, gradients in {} bytes, ranks {}\n",
             Name(plan.precision),
             job.workload.attention == AttentionBackend::kFlash ? "flash" : "unfused",
             Name(first.recompute), plan.zero, plan.gradient_bytes, plan.rank_order);
  const auto on = [](bool value) { return value ? "on" : "off"; };
  fmt::print(out,
             "          sequence parallel {}, overlap grad reduce {}, overlap param gather {}{}\n",
             on(plan.sequence_parallel), on(plan.overlap_grad_reduce),
             on(plan.overlap_param_gather), plan.forward_only ? ", forward only" : "");
  if (std::any_of(plan.stages.begin(), plan.stages.end(), RecomputedBlocks)) {
    fmt::print(out, "          recomputed whole, blocks per stage {}\n",
               OfStages(plan, RecomputedBlocks));
  }
  if (plan.gradient_sync.method != SyncMethod::kAllReduce) {
    fmt::print(out, "          gradients synchronised by {}\n", Name(plan.gradient_sync.method));
  }
  const std::string blocks =
      OfStages(plan, [&](const Stage& stage) { return BlocksOf(stage, job.workload); });
  fmt::print(out, "          blocks per stage {}; embedding first, head last\n\n", blocks);
  if (job.stack.empty()) return;
  fmt::print(out, "defaults of stack {}\n", job.stack);
  for (const StackValue& value : job.stack_values) {
    fmt::print(out, "  {:<20} {:<12} {}\n", value.key, value.value, value.origin);
  }
  fmt::print(out, "\n");
}

void PrintMemory(const Evaluation& e, std::ostream& out) {
  fmt::print(out, "\nmemory (GiB, worst stage first)\n");
  fmt::print(out, "  {:>5} {:>7} {:>9} {:>9} {:>11} {:>9} {:>6} {:>9} {:>9} {:>7} {:>7}\n", "stage",
             "weights", "gradients", "optimizer", "activations", "workspace", "comm", "framework",
             "fragments", "peak", "has");
  constexpr size_t kMostShown = 16;
  const std::vector<StageMemory> memory = WorstFirst(e.memory);
  for (size_t i = 0; i < std::min(memory.size(), kMostShown); ++i) {
    const StageMemory& m = memory[i];
    fmt::print(out,
               "  {:>5} {:>7.2f} {:>9.2f} {:>9.2f} {:>11.2f} {:>9.2f} {:>6.2f} {:>9.2f} {:>9.2f} "
               "{:>7.2f} {:>7.2f}{}\n",
               m.stage, m.weights.gib(), m.gradients.gib(), m.optimizer.gib(), m.activations.gib(),
               m.workspace.gib(), m.communication.gib(), m.framework.gib(), m.fragmentation.gib(),
               m.Peak().gib(), m.capacity.gib(), m.fits() ? "" : "  does not fit");
  }
  if (memory.size() > kMostShown) {
    fmt::print(out, "  and {} more stages below these\n", memory.size() - kMostShown);
  }
  const StageMemory& fullest =
      *std::max_element(memory.begin(), memory.end(),
                        [](const StageMemory& a, const StageMemory& b) { return a.host < b.host; });
  if (fullest.host > Bytes()) {
    fmt::print(out, "  with the host, a device of stage {}: {:.2f} of {:.2f} GiB\n", fullest.stage,
               fullest.host.gib(), fullest.host_capacity.gib());
  }
  fmt::print(out, "  {}\n", e.fits ? "fits" : "does not fit");
}

void PrintStep(const PlannedJob& job, const SimulatedStep& step, std::ostream& out) {
  const Evaluation& e = step.evaluation;
  const double seconds = e.step_time.seconds();
  PrintPlan(job, out);
  fmt::print(out, "step time {:.1f} ms, 80 % between {:.1f} and {:.1f} ms\n", e.step_time.ms(),
             e.step_time_low.ms(), e.step_time_high.ms());
  fmt::print(out, "rate      {:.0f} tokens/s, {:.1f} tokens/s per GPU, {:.2f} samples/s\n",
             e.tokens / seconds, e.tokens / seconds / e.devices, e.samples / seconds);
  if (!job.workload.is_profile()) {
    fmt::print(out, "use       {:.1f} model TFLOP/s per GPU, MFU {:.3f}, HFU {:.3f}\n",
               e.model_flops.count() / seconds / e.devices * 1e-12, e.mfu(), e.hfu());
  }
  fmt::print(out, "pipeline  {:.1f} % of the compute lanes idle {}\n",
             100 * e.profile.bubble_fraction,
             e.steady ? "in the steady state" : "between first and last pass");
  if (e.steady) PrintSteady(step, out);
  fmt::print(out, "\n");
  fmt::print(out, "where the step goes (exposed, on the critical rank)\n");
  for (const TimePart& part : PartsOf(e.profile.breakdown)) {
    fmt::print(out, "  {:<10} {:>12.1f} ms {:>6.1f} %\n", part.name, part.time.ms(),
               100 * part.time.seconds() / seconds);
  }
  if (e.profile.host_wait > Duration()) {
    fmt::print(out, "  in {:.1f} ms of these the device waits for its host to launch\n",
               e.profile.host_wait.ms());
  }
  PrintNetwork(step, job.cluster, out);
  PrintMemory(e, out);
  for (const std::string& warning : job.warnings) fmt::print(out, "note: {}\n", warning);
  fmt::print(out, "fingerprint {:016x}, {} tasks on {} simulated ranks\n",
             step.timeline.Fingerprint(), step.schedule.task_count(), step.schedule.ranks().size());
}

}  // namespace stagecraft
