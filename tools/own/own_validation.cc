#include "tools/own/own_validation.h"

#include <filesystem>
#include <set>

#include "costmodel/check.h"
#include "tools/validation/main_part.h"
#include "tools/validation/step_metric.h"

namespace stagecraft {

namespace {

// The GPU types, joined by '+'.
std::string GpusOf(const Cluster& cluster) {
  std::string gpus;
  std::set<std::string> seen;
  for (int device = 0; device < cluster.device_count(); ++device) {
    const std::string& id = cluster.device(device).id;
    if (seen.insert(id).second) gpus += (gpus.empty() ? "" : "+") + id;
  }
  return gpus;
}

}  // namespace

std::vector<ValidatedRow> ValidateOwnSteps(const CsvTable& table, const CostModel& model) {
  const std::string stem = std::filesystem::path(table.name()).stem().string();
  std::vector<ValidatedRow> rows;
  for (const OwnStep& step : ReadOwnSteps(table)) {
    ValidatedRow& row = rows.emplace_back();
    row.measured.id = step.name;
    row.measured.source = row.measured.table = stem;
    row.measured.place = step.place;
    row.measured.model = step.job.workload.name;
    // What errors are summed up by: the kind of network, GPUs and number format.
    row.measured.model_kind = step.job.workload.hidden > 0 ? "gpt" : "cnn";
    row.measured.gpu_id = GpusOf(step.job.cluster);
    row.measured.dtype = Name(step.job.plan.precision);
    row.measured.is_scored = true;
    row.measured.n_gpus = step.job.plan.device_count();
    const bool is_time = step.seconds > 0;
    row.measured.metric_kind = is_time ? "step_time" : "tokens_per_s";
    row.measured.metric = row.measured.metric_kind;
    row.measured.value = is_time ? step.seconds : step.tokens_per_s;
    try {
      const Evaluation evaluation = Predict(step, model);
      const StepMetric metric = is_time ? StepMetric{} : StepMetric{evaluation.tokens, true};
      row.prediction.value = metric.FromSeconds(evaluation.step_time.seconds());
      row.prediction.spread = evaluation.profile.spread;
      row.prediction.metric = metric;
      row.prediction.main_part = MainPart(evaluation);
    } catch (const InputError& error) {
      row.prediction.reason = error.what();
    }
  }
  return rows;
}

}  // namespace stagecraft
