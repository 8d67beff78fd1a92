#include "tools/report/step_report.h"

#include <fmt/core.h>
#include <fmt/ostream.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <ostream>

#include "search/remedy.h"
#include "sim/cluster/cluster_spec.h"
#include "sim/engine/repeated_tasks.h"
#include "sim/step/peak_share.h"
#include "tools/report/communication_total.h"
#include "tools/report/network_report.h"
#include "tools/report/placement.h"
#include "tools/report/plan_report.h"
#include "tools/report/remedy_report.h"
#include "tools/report/steady_report.h"
#include "tools/report/training_cost_report.h"

namespace stagecraft {
namespace {

using Json = nlohmann::ordered_json;

// Sorts by how little memory is left, the least first, and among equals the earlier stage first.
std::vector<StageMemory> WorstFirst(std::vector<StageMemory> memory) {
  std::stable_sort(memory.begin(), memory.end(), [](const StageMemory& a, const StageMemory& b) {
    return a.Peak() - a.capacity > b.Peak() - b.capacity;
  });
  return memory;
}

Json MemoryToJson(const StageMemory& m, const Cluster& cluster, const MemoryMargin& margin) {
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
          {"outside_allocator", m.Outside().gib()},
          {"peak", m.Peak().gib()},
          {"capacity", margin.CapacityOf(m, cluster).gib()},
          {"usable", m.capacity.gib()},
          {"host", m.host.gib()},
          {"host_capacity", m.host_capacity.gib()}};
}

// In pipeline order.
std::vector<int> CrowdedStages(const Evaluation& e, const Cluster& cluster,
                               const MemoryMargin& margin) {
  std::vector<int> stages;
  for (const StageMemory& m : e.memory) {
    if (margin.IsCrowded(m, cluster)) stages.push_back(m.stage);
  }
  return stages;
}

std::vector<Remedy> RemediesOf(const PlannedJob& job, const SimulatedStep& step) {
  return FindRemedies(step.plan, job.workload, job.cluster, job.memory);
}

}  // namespace

nlohmann::ordered_json EvaluationToJson(const Evaluation& e, const Plan& plan,
                                        const Workload& workload, const Cluster& cluster,
                                        const MemoryMargin& margin) {
  const double seconds = e.step_time.seconds();
  Json breakdown;
  for (const TimePart& part : PartsOf(e.profile.breakdown)) breakdown[part.name] = part.time.ms();
  Json memory = Json::array();
  for (const StageMemory& m : WorstFirst(e.memory)) {
    memory.push_back(MemoryToJson(m, cluster, margin));
  }
  Json basis;
  for (int i = 0; i < kBasisCount; ++i) {
    basis[Name(static_cast<Basis>(i))] = e.profile.basis_share[i];
  }
  // A profile does not say how many FLOPs its operators take.
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
      {"peak_share", known(PeakShareOf(e, plan, workload, cluster).model)},
      {"bubble_fraction", e.profile.bubble_fraction},
      {"breakdown_ms", std::move(breakdown)},
      {"host_wait_ms", e.profile.host_wait.ms()},
      {"peak_memory_gib", WorstFirst(e.memory)[0].Peak().gib()},
      {"memory", std::move(memory)},
      {"memory_margin", margin.percent / 100},
      {"fits", e.fits},
      {"crowded_stages", CrowdedStages(e, cluster, margin)},
      {"basis", std::move(basis)}};
}

std::vector<TimePart> PartsOf(const Breakdown& b) {
  return {
      {"compute", b.compute}, {"tp", b.tensor}, {"pp", b.pipeline},         {"dp", b.data},
      {"cp", b.context},      {"ep", b.expert}, {"optimizer", b.optimizer}, {"bubble", b.bubble}};
}

nlohmann::ordered_json StepToJson(const PlannedJob& job, const SimulatedStep& step,
                                  const WallTime& wall) {
  const RepeatedTasks tasks(step.schedule, step.repetition);
  Json report = {{"model", job.workload.name},
                 {"parameters", job.workload.Parameters()},
                 {"trained_parameters", job.workload.TrainedParameters()},
                 {"cluster", DescribeCluster(job.cluster)}};
  report.update(
      EvaluationToJson(step.evaluation, step.plan, job.workload, job.cluster, job.margin));
  report.update(
      {{"critical_rank", step.schedule.ranks()[step.evaluation.profile.critical_rank].device},
       {"cost", CostToJson(job.cost, job.cluster, step.evaluation)},
       {"plan", PlanToJson(job)},
       {"placement", PlacementToJson(job.plan, job.cluster)},
       {"warnings", job.warnings},
       {"simulated_ranks", step.schedule.ranks().size()},
       {"tasks", tasks.total()},
       {"tasks_per_s", wall.tasks_per_s},
       {"wall_ms", wall.total_ms},
       {"fingerprint", fmt::format("{:016x}", tasks.Fingerprint(step.timeline))}});
  if (!step.evaluation.fits) report["remedies"] = RemediesToJson(RemediesOf(job, step));
  if (step.evaluation.steady) {
    report["steady_state"] = SteadyToJson(step);
  } else {
    report["communication_ms"] = CommunicationTotalToJson(FindCommunicationTotal(step));
  }
  report.update(NetworkToJson(step, job.cluster));
  return report;
}

void PrintFit(const PlannedJob& job, const SimulatedStep& step, std::ostream& out) {
  const Evaluation& e = step.evaluation;
  const StageMemory fullest = WorstFirst(e.memory)[0];
  if (e.fits || fullest.Peak() > fullest.capacity) {
    fmt::print(out, "memory    {}: stage {} needs {:.2f} of {:.2f} GiB{}\n",
               e.fits ? "fits" : "does not fit", fullest.stage, fullest.Peak().gib(),
               fullest.capacity.gib(), job.margin.Text(fullest, job.cluster));
  } else {
    const StageMemory& host =
        *std::find_if(e.memory.begin(), e.memory.end(), [](const auto& m) { return !m.fits(); });
    fmt::print(out, "memory    does not fit: stage {} needs {:.2f} of {:.2f} GiB of host memory\n",
               host.stage, host.host.gib(), host.host_capacity.gib());
  }
  if (e.fits) return;
  const std::string remedies = RemediesText(RemediesOf(job, step));
  if (!remedies.empty()) fmt::print(out, "          would fit with {}\n", remedies);
  fmt::print(out, "          what follows is the step on GPUs with enough memory\n");
}

void PrintMemory(const Evaluation& e, const Cluster& cluster, const MemoryMargin& margin,
                 std::ostream& out) {
  fmt::print(out, "\nmemory (GiB, worst stage first)\n");
  fmt::print(out,
             "  {:>5} {:>7} {:>9} {:>9} {:>11} {:>9} {:>6} {:>9} {:>13} {:>9} {:>8} {:>7} {:>8}\n",
             "stage", "weights", "gradients", "optimizer", "activations", "workspace", "comm",
             "framework", "fragmentation", "allocated", "reserved", "peak", "capacity");
  constexpr size_t kMostShown = 16;
  const std::vector<StageMemory> memory = WorstFirst(e.memory);
  for (size_t i = 0; i < std::min(memory.size(), kMostShown); ++i) {
    const StageMemory& m = memory[i];
    fmt::print(out,
               "  {:>5} {:>7.2f} {:>9.2f} {:>9.2f} {:>11.2f} {:>9.2f} {:>6.2f} {:>9.2f} {:>13.2f} "
               "{:>9.2f} {:>8.2f} {:>7.2f} {:>8.2f}{}\n",
               m.stage, m.weights.gib(), m.gradients.gib(), m.optimizer.gib(), m.activations.gib(),
               m.workspace.gib(), m.communication.gib(), m.framework.gib(), m.fragmentation.gib(),
               m.allocated.gib(), m.Reserved().gib(), m.Peak().gib(),
               margin.CapacityOf(m, cluster).gib(), m.fits() ? "" : "  does not fit");
  }
  if (memory.size() > kMostShown) {
    fmt::print(out, "  and {} more stages, each with more memory left\n",
               memory.size() - kMostShown);
  }
  const StageMemory& fullest =
      *std::max_element(memory.begin(), memory.end(),
                        [](const StageMemory& a, const StageMemory& b) { return a.host < b.host; });
  if (fullest.host > Bytes()) {
    fmt::print(out, "  host memory per device of stage {}: {:.2f} of {:.2f} GiB\n", fullest.stage,
               fullest.host.gib(), fullest.host_capacity.gib());
  }
  fmt::print(out, "  {}\n", e.fits ? "fits" : "does not fit");
  const std::vector<int> crowded = CrowdedStages(e, cluster, margin);
  if (!crowded.empty()) {
    const size_t others = crowded.size() - 1;
    fmt::print(out,
               "note: stage {}{} fills more than {:.0f} % of its memory: the allocator may have to "
               "free segments and try again, which slows steps and is not predicted\n",
               crowded.front(), others > 0 ? fmt::format(" (and {} more)", others) : "",
               100 * kCrowdedShare);
  }
}

void PrintBreakdown(const Evaluation& e, std::ostream& out) {
  fmt::print(out, "where the time goes (exposed time on the critical rank)\n");
  for (const TimePart& part : PartsOf(e.profile.breakdown)) {
    fmt::print(out, "  {:<10} {:>12.1f} ms {:>6.1f} %\n", part.name, part.time.ms(),
               100 * part.time.seconds() / e.step_time.seconds());
  }
  if (e.profile.host_wait > Duration()) {
    fmt::print(out, "  of this, CPU launch overhead: {:.1f} ms\n", e.profile.host_wait.ms());
  }
}

void PrintStep(const PlannedJob& job, const SimulatedStep& step, std::ostream& out) {
  const Evaluation& e = step.evaluation;
  const double seconds = e.step_time.seconds();
  PrintPlan(job, out);
  PrintFit(job, step, out);
  fmt::print(out, "step time {:.1f} ms, 80 % prediction interval: {:.1f} to {:.1f} ms\n",
             e.step_time.ms(), e.step_time_low.ms(), e.step_time_high.ms());
  if (job.plan.sequence > 1) {
    fmt::print(out, "rate      {:.0f} tokens/s, {:.1f} tokens/s per GPU, {:.2f} samples/s\n",
               e.tokens / seconds, e.tokens / seconds / e.devices, e.samples / seconds);
  } else {
    fmt::print(out, "rate      {:.2f} samples/s\n", e.samples / seconds);
  }
  if (!job.workload.is_profile()) {
    fmt::print(out, "GPU use   {:.1f} model TFLOP/s per GPU, MFU {:.3f}, HFU {:.3f}\n",
               e.model_flops.count() / seconds / e.devices * 1e-12, e.mfu(), e.hfu());
  }
  fmt::print(out, "pipeline bubble {:.1f} % {}\n", 100 * e.profile.bubble_fraction,
             e.steady ? "of the time in the steady state"
                      : "of the time between the first and the last pass");
  if (e.steady) PrintSteady(step, out);
  PrintCost(job.cost, job.cluster, e, out);
  fmt::print(out, "\n");
  PrintBreakdown(e, out);
  if (!e.steady) PrintCommunicationTotal(FindCommunicationTotal(step), out);
  PrintNetwork(step, job.cluster, out);
  PrintMemory(e, job.cluster, job.margin, out);
  for (const std::string& warning : job.warnings) fmt::print(out, "note: {}\n", warning);
  const RepeatedTasks tasks(step.schedule, step.repetition);
  fmt::print(out, "fingerprint {:016x}, {} tasks on {} simulated ranks\n",
             tasks.Fingerprint(step.timeline), tasks.total(), step.schedule.ranks().size());
}

}  // namespace stagecraft
