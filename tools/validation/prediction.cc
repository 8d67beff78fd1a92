#include "tools/validation/prediction.h"

#include <algorithm>
#include <utility>

#include "costmodel/check.h"
#include "search/evaluation.h"
#include "tools/validation/op_prediction.h"
#include "tools/validation/row_plan.h"

namespace stagecraft {
namespace {

constexpr int64_t kLayerVocabulary = 128;

StepWork WorkOf(const RowPlan& job) {
  StepWork work;
  work.config = job.config;
  work.sequence = static_cast<double>(job.plan.sequence);
  work.global_batch = static_cast<double>(job.plan.global_batch);
  work.devices = job.plan.device_count();
  work.peak_flop_per_s = job.cluster.device(0).Peak(DType::kFp16).flop_per_s();
  return work;
}

StepFeatures FeaturesOf(const RowPlan& job, const MeasuredRow& row, const StepMetric& metric) {
  StepFeatures features;
  features.metric = metric;
  features.sequence = static_cast<double>(job.plan.sequence);
  features.global_batch = static_cast<double>(job.plan.global_batch);
  const double passes = job.plan.forward_only ? 1.0 / 3.0 : 1.0;
  features.model_flops = passes * ConventionFlops("3x-causal-attention", job.config,
                                                  features.sequence, features.global_batch)
                                      .value();
  features.peak_flop_per_s = job.cluster.device(0).Peak(job.plan.precision).flop_per_s();
  features.layers = static_cast<double>(job.config.layers);
  features.hidden = static_cast<double>(job.config.hidden);
  features.devices = job.plan.device_count();
  features.tp = static_cast<double>(row.tp);
  features.pp = static_cast<double>(row.pp);
  return features;
}

// nvidia-smi shows everything a board holds; the framework's own counters leave
// out what is not its allocator's.
bool IsNvidiaSmi(const MeasuredRow& row) { return row.rank == "first-last"; }

double MemoryOf(const StageMemory& memory, const MeasuredRow& row) {
  if (row.metric_kind == "peak_memory_allocated") {
    return static_cast<double>(memory.Allocated().count());
  }
  const Bytes counted = IsNvidiaSmi(row) ? memory.Peak() : memory.Peak() - memory.framework;
  return static_cast<double>(counted.count());
}

double PredictMemory(CompletedRow& completed) {
  const RowPlan job = BuildRowPlan(completed);
  const MeasuredRow& row = completed.row;
  if (row.metric_kind == "peak_memory_reserved") {
    completed.defaults_used.push_back(IsNvidiaSmi(row)
                                          ? "reserved with buffers and CUDA context"
                                          : "reserved with buffers, without CUDA context");
  }
  const std::vector<StageMemory> stages = EstimateMemory(job.plan, job.workload, job.cluster);
  const double first = MemoryOf(stages.front(), row);
  const double last = MemoryOf(stages.back(), row);
  if (row.rank == "first") return first;
  if (row.rank == "last") return last;
  if (row.rank == "first-last") return std::max(first, last);
  if (row.rank != "max") throw InputError("which rank's memory it is, is not stated");
  double most = 0;
  for (const StageMemory& memory : stages) most = std::max(most, MemoryOf(memory, row));
  return most;
}

bool IsMemory(const MeasuredRow& row) {
  return row.metric_kind == "peak_memory_allocated" || row.metric_kind == "peak_memory_reserved";
}

void PredictStep(CompletedRow& completed, const CostModel& model, Prediction& prediction) {
  const MeasuredRow& row = completed.row;
  const RowPlan job = BuildRowPlan(completed);
  const std::optional<StepMetric> metric =
      FindStepMetric(row.metric_kind, row.flop_convention, WorkOf(job));
  if (!metric.has_value()) throw InputError("metric kind " + row.metric_kind + " is not predicted");
  const SimulatedStep step = SimulateStep(job.plan, job.workload, job.cluster, model,
                                          {.with_optimizer = completed.with_optimizer});
  prediction.step = FeaturesOf(job, row, *metric);
  prediction.value = metric->FromSeconds(step.evaluation.step_time.seconds());
}

void PredictPlanned(const MeasuredRow& row, const StackTable& table, const CostModel& model,
                    Prediction& prediction) {
  MeasuredRow stated = row;
  const bool is_layer = row.metric_kind == "layer_time";
  // The vocabulary has no part in a layer; this one needs no padding either.
  if (is_layer) stated.vocab = kLayerVocabulary * std::clamp<int64_t>(row.tp, 1, kLayerVocabulary);
  CompletedRow completed = CompleteRow(stated, table);
  try {
    if (is_layer) {
      prediction.value = PredictLayerTime(completed, model);
    } else if (IsMemory(row)) {
      prediction.value = PredictMemory(completed);
    } else {
      PredictStep(completed, model, prediction);
    }
  } catch (const InputError&) {
    prediction.defaults_used = std::move(completed.defaults_used);
    throw;
  }
  prediction.defaults_used = std::move(completed.defaults_used);
}

}  // namespace

Prediction PredictRow(const MeasuredRow& row, const StackTable& table, const CostModel& model) {
  Prediction prediction;
  try {
    if (row.metric_kind == "bubble_rate") {
      prediction.value = PredictBubbleRate(row);
    } else if (row.metric_kind.starts_with("kernel_")) {
      prediction.value = PredictKernel(row, model);
    } else if (row.metric_kind.starts_with("collective_")) {
      prediction.value = PredictCollective(row, model, prediction.defaults_used);
    } else {
      PredictPlanned(row, table, model, prediction);
    }
  } catch (const InputError& error) {
    // What the row says cannot be simulated: an outcome, not a failure.
    prediction.value.reset();
    prediction.reason = error.what();
  }
  return prediction;
}

}  // namespace stagecraft
