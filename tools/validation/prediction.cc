#include "tools/validation/prediction.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <utility>

#include "costmodel/check.h"
#include "sim/step/evaluation.h"
#include "sim/step/evaluation_errors.h"
#include "sim/step/plan_pass_orders.h"
#include "tools/validation/main_part.h"
#include "tools/validation/op_prediction.h"
#include "tools/validation/row_memory.h"
#include "tools/validation/row_plan.h"

namespace stagecraft {
namespace {

constexpr int64_t kLayerVocabulary = 128;

// Thrown if the result of a simulation is impossible, which is not the fault of the row.
class UnsoundStep : public std::runtime_error {
 public:
  explicit UnsoundStep(const std::string& why)
      : std::runtime_error("the prediction is impossible: " + why) {}
};

// The peak rate at this precision; that of vector units if the GPU has no other, as GPUs before
// Pascal, which have no 16-bit rate.
FlopRate PeakOf(const Device& device, DType precision) {
  const FlopRate peak = device.Peak(precision);
  return peak.flop_per_s() > 0 ? peak : device.vector_peak;
}

StepWork WorkOf(const RowPlan& job, double tokens_per_position) {
  StepWork work;
  work.config = job.network.config;
  work.tokens_per_position = tokens_per_position;
  work.sequence = static_cast<double>(job.plan.sequence);
  work.global_batch = static_cast<double>(job.plan.global_batch);
  work.devices = job.plan.device_count();
  const Device& device = job.cluster.device(0);
  const bool has_fp16 = device.Peak(DType::kFp16).flop_per_s() > 0;
  work.peak_flop_per_s = PeakOf(device, has_fp16 ? DType::kFp16 : job.plan.precision).flop_per_s();
  return work;
}

// The FLOPs of one step: by 3x-causal-attention, or those of all GEMMs if that convention does not
// apply to the network.
double ModelFlops(const RowPlan& job) {
  const double sequence = static_cast<double>(job.plan.sequence);
  const double global_batch = static_cast<double>(job.plan.global_batch);
  if (job.network.family == NetworkFamily::kDecoder) {
    return ConventionFlops("3x-causal-attention", job.network.config, sequence, global_batch)
        .value();
  }
  return job.network.workload.TrainingFlopsPerToken(job.plan.sequence).count() * sequence *
         global_batch;
}

StepFeatures FeaturesOf(const RowPlan& job, const MeasuredRow& row) {
  StepFeatures features;
  features.sequence = static_cast<double>(job.plan.sequence);
  features.global_batch = static_cast<double>(job.plan.global_batch);
  const double passes = job.plan.forward_only ? 1.0 / 3.0 : 1.0;
  features.model_flops = passes * ModelFlops(job);
  features.peak_flop_per_s = PeakOf(job.cluster.device(0), job.plan.precision).flop_per_s();
  const Workload& workload = job.network.workload;
  features.layers = std::max(workload.op_sequence_count(), 1);
  features.hidden = static_cast<double>(std::max<int64_t>(workload.hidden, 1));
  features.devices = job.plan.device_count();
  features.tp = static_cast<double>(row.tp);
  features.pp = static_cast<double>(row.pp);
  return features;
}

// Whether the row's memory includes the CUDA context: nvidia-smi shows everything that a GPU holds,
// but the framework's counters only what belongs to its allocator.
bool CountsContext(const CompletedRow& completed) {
  return completed.facts.counts_context.value_or(false);
}

double MemoryOf(const StageMemory& memory, const CompletedRow& completed) {
  const bool is_allocated = completed.row.metric_kind == "peak_memory_allocated";
  const Bytes counted = CountsContext(completed) ? memory.Peak()
                        : is_allocated           ? memory.allocated
                                                 : memory.Reserved();
  return static_cast<double>(counted.count());
}

// Returns the stage whose memory the row states: that of its rank, or the fullest one.
const StageMemory& StatedStage(const std::vector<StageMemory>& stages,
                               const CompletedRow& completed) {
  const std::string& rank = completed.row.rank;
  const auto fuller = [&](const StageMemory& a, const StageMemory& b) {
    return MemoryOf(a, completed) < MemoryOf(b, completed);
  };
  const bool is_first = rank == "first-last" && completed.facts.first_stage.value_or(false);
  if (rank == "first" || is_first) return stages.front();
  if (rank == "last") return stages.back();
  if (rank == "first-last") return std::max(stages.front(), stages.back(), fuller);
  if (rank != "max") throw InputError("the rank whose memory was measured is not stated");
  return *std::max_element(stages.begin(), stages.end(), fuller);
}

void PredictMemory(CompletedRow& completed, const CostModel& model, Prediction& prediction) {
  const RowPlan job = BuildRowPlan(completed);
  const MeasuredRow& row = completed.row;
  if (row.metric_kind == "peak_memory_reserved") {
    completed.defaults_used.push_back(CountsContext(completed)
                                          ? "reserved with buffers and CUDA context"
                                          : "reserved, without buffers and CUDA context");
  }
  const FrameworkMemory framework = RowFramework(completed);
  const Plan plan = WithPassOrders(job.plan, job.network.workload, job.cluster, model, framework);
  const std::vector<StageMemory> stages =
      EstimateMemory(plan, job.network.workload, job.cluster, framework);
  const StageMemory& stage = StatedStage(stages, completed);
  prediction.value = MemoryOf(stage, completed) / completed.memory_unit;
  prediction.main_part = MainPart(stage);
}

bool IsMemory(const MeasuredRow& row) {
  return row.metric_kind == "peak_memory_allocated" || row.metric_kind == "peak_memory_reserved";
}

void PredictStep(CompletedRow& completed, const CostModel& model, Prediction& prediction) {
  const MeasuredRow& row = completed.row;
  const RowPlan job = BuildRowPlan(completed);
  std::optional<StepMetric> metric = FindStepMetric(row.metric_kind, row.flop_convention,
                                                    WorkOf(job, completed.tokens_per_position));
  if (!metric.has_value()) throw InputError("metric kind " + row.metric_kind + " is not predicted");
  if (completed.counts_every_rank && !metric->is_rate) {
    metric->factor /= static_cast<double>(job.plan.stages.front().replicas.size());
  }
  const SimulatedStep step = SimulateStep(
      job.plan, job.network.workload, job.cluster, model,
      {.with_optimizer = completed.with_optimizer, .framework = RowFramework(completed)});
  const std::vector<std::string> errors =
      FindEvaluationErrors(step.evaluation, step.plan, job.network.workload, job.cluster);
  if (!errors.empty()) throw UnsoundStep(errors[0]);
  prediction.metric = metric;
  prediction.step = FeaturesOf(job, row);
  prediction.main_part = MainPart(step.evaluation);
  prediction.value = metric->FromSeconds(step.evaluation.step_time.seconds());
  prediction.spread = step.evaluation.profile.spread;
}

void SetPart(const PredictedPart& part, Prediction& prediction) {
  prediction.value = part.value;
  prediction.spread = part.spread;
}

void PredictPlanned(const MeasuredRow& row, const RowFacts& facts, const PredictionBasis& basis,
                    const CostModel& model, Prediction& prediction) {
  MeasuredRow stated = row;
  const bool is_layer = row.metric_kind == "layer_time";
  // A layer does not depend on the vocabulary; this size of it needs no padding.
  if (is_layer) stated.vocab = kLayerVocabulary * std::clamp<int64_t>(row.tp, 1, kLayerVocabulary);
  CompletedRow completed = CompleteRow(stated, facts, basis.stacks, basis.constants);
  try {
    if (is_layer) {
      SetPart(PredictLayerTime(completed, model), prediction);
    } else if (IsMemory(row)) {
      PredictMemory(completed, model, prediction);
    } else {
      PredictStep(completed, model, prediction);
    }
  } catch (const InputError&) {
    prediction.defaults_used = std::move(completed.defaults_used);
    throw;
  }
  prediction.defaults_used = std::move(completed.defaults_used);
}

// Throws UnsoundStep for a value that its metric cannot have; all metrics except the bubble rate
// are times, rates and sizes.
void CheckValue(const MeasuredRow& row, const Prediction& prediction) {
  const double value = prediction.value.value();
  const double spread = prediction.spread.value_or(0);
  const bool is_possible = row.metric_kind == "bubble_rate" ? value >= 0 && value <= 1 : value > 0;
  if (is_possible && std::isfinite(value) && std::isfinite(spread) && spread >= 0) return;
  throw UnsoundStep(
      fmt::format("{} of {:.3g}, its logarithm varying by {:.3g}", row.metric_kind, value, spread));
}

// Removes the prediction's value and sets the reason.
void Refuse(const std::string& reason, Prediction& prediction) {
  prediction.value.reset();
  prediction.spread.reset();
  prediction.metric.reset();
  prediction.step.reset();
  prediction.reason = reason;
}

Prediction PredictWith(const MeasuredRow& row, const RowFacts& facts, const PredictionBasis& basis,
                       const CostModel& model) {
  Prediction prediction;
  try {
    if (row.metric_kind == "bubble_rate") {
      prediction.value = PredictBubbleRate(row);
    } else if (row.metric_kind.starts_with("kernel_")) {
      SetPart(PredictKernel(row, model), prediction);
    } else if (row.metric_kind.starts_with("collective_")) {
      SetPart(PredictCollective(row, model, prediction.defaults_used), prediction);
    } else {
      PredictPlanned(row, facts, basis, model, prediction);
    }
    CheckValue(row, prediction);
  } catch (const InputError& error) {
    // What the row states cannot be simulated, which is an outcome, not a failure.
    Refuse(error.what(), prediction);
  } catch (const UnsoundStep& error) {
    Refuse(error.what(), prediction);
    prediction.is_unsound = true;
  }
  return prediction;
}

}  // namespace

Prediction PredictRow(const MeasuredRow& row, const PredictionBasis& basis) {
  std::vector<InferredFacts> inferred;
  const RowFacts facts = basis.facts.Of(row, &inferred);
  Prediction prediction = PredictWith(row, facts, basis, basis.model);
  const bool knows_sites = basis.model_without_sites != nullptr;
  if (!knows_sites) {
    std::erase_if(inferred, [](const InferredFacts& known) { return known.of_network_sites; });
  }
  // A bubble rate follows from the row's stage times alone, so no fact changes it.
  if (inferred.empty() || row.metric_kind == "bubble_rate") return prediction;
  const auto value_of = [&](const RowFacts& known) {
    const bool has_seen = known.network_sites.has_value() || !facts.network_sites.has_value();
    const CostModel& model = has_seen || !knows_sites ? basis.model : *basis.model_without_sites;
    const Prediction without = PredictWith(row, known, basis, model);
    if (without.is_unsound && !prediction.is_unsound) {
      prediction.is_unsound = true;
      Refuse(without.reason, prediction);
    }
    return without.value;
  };
  prediction.value_without = value_of(basis.facts.WithoutInferred(row));
  for (InferredFacts& part : inferred) {
    const std::optional<double> without =
        inferred.size() == 1 ? prediction.value_without : value_of(basis.facts.Without(row, part));
    prediction.inferred.push_back({std::move(part), without});
  }
  return prediction;
}

}  // namespace stagecraft
