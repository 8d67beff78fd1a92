// ValidationToJson(), which reports error tables and rows as JSON.
#include <cmath>
#include <nlohmann/json.hpp>

#include "costmodel/cost_model.h"
#include "tools/report/in_view.h"
#include "tools/validation/class_errors.h"
#include "tools/validation/row_facts.h"
#include "tools/validation/row_groups.h"
#include "tools/validation/validation_report.h"

namespace stagecraft {
namespace {

using Json = nlohmann::ordered_json;

Json OrNull(const std::optional<double>& value) {
  return value.has_value() ? Json(*value) : Json();
}

void AddErrors(const ErrorStats& stats, Json& object) {
  object["rows"] = stats.rows;
  object["simulated"] = stats.simulated;
  object["mape"] = OrNull(stats.mape);
  object["median_ape"] = OrNull(stats.median_ape);
  object["p90_ape"] = OrNull(stats.p90_ape);
  object["bias"] = OrNull(stats.bias);
  object["spearman"] = OrNull(stats.spearman);
  object["groups"] = stats.groups;
  object["regret"] = OrNull(stats.regret);
  object["mean_regret"] = OrNull(stats.mean_regret);
  object["interval_rows"] = stats.interval_rows;
  object["interval80_coverage"] = OrNull(stats.interval80_coverage);
  object["inferred_rows"] = stats.inferred_rows;
  object["mape_without_inferred"] = OrNull(stats.mape_without);
  object["primary"] = stats.counted;
}

Json BaselineToJson(const ErrorStats& stats) {
  Json object;
  object["source"] = stats.source;
  object["metric_kind"] = stats.metric_kind;
  object["rows"] = stats.baseline_rows;
  object["mape"] = OrNull(stats.baseline_own);
  object["constant_rate_mape"] = OrNull(stats.constant_rate);
  object["ridge_mape"] = OrNull(stats.ridge);
  return object;
}

Json IntervalToJson(const ValidatedRow& row) {
  if (!row.prediction.value.has_value() || !row.prediction.spread.has_value()) return Json();
  const double factor = std::exp(kSigmas80 * *row.prediction.spread);
  return {*row.prediction.value / factor, *row.prediction.value * factor};
}

Json InferredToJson(const std::vector<InferredPart>& inferred) {
  Json list = Json::array();
  for (const InferredPart& part : inferred) {
    list.push_back({{"facts", part.facts.words},
                    {"origin", part.facts.origin},
                    {"predicted_without", OrNull(part.value_without)}});
  }
  return list;
}

Json InferredToJson(const std::vector<InferredError>& inferred) {
  Json list = Json::array();
  for (const InferredError& known : inferred) {
    list.push_back({{"facts", known.facts.words},
                    {"origin", known.facts.origin},
                    {"mape_without", OrNull(known.mape_without)}});
  }
  return list;
}

Json InViewToJson(const std::vector<ConstantsInView>& chosen) {
  Json list = Json::array();
  for (const ConstantsInView& constants : chosen) {
    list.push_back(
        {{"constants", constants.constants}, {"how", constants.how}, {"origin", constants.origin}});
  }
  return list;
}

Json ClassesToJson(const std::vector<ClassErrors>& classes) {
  Json list = Json::array();
  for (const ClassErrors& errors : classes) {
    Json object;
    object["class"] = Name(errors.work);
    object["mape_by_source"] = errors.by_source;
    object["mape_by_rows"] = errors.by_rows;
    object["interval80_coverage"] = OrNull(errors.interval80_coverage);
    object["sources"] = Json::array();
    for (const TimeErrors& source : errors.sources) {
      object["sources"].push_back({{"source", source.source},
                                   {"rows", source.rows},
                                   {"mape", source.mape},
                                   {"bias", source.bias},
                                   {"mape_factored", source.mape_factored},
                                   {"interval80_coverage", OrNull(source.interval80_coverage)}});
    }
    list.push_back(std::move(object));
  }
  return list;
}

// How the metric follows from the time of a step; null if it does not.
Json MetricToJson(const Prediction& prediction) {
  if (!prediction.metric) return Json();
  return {{"factor", prediction.metric->factor}, {"is_rate", prediction.metric->is_rate}};
}

Json RowToJson(const ValidatedRow& row) {
  Json object;
  object["id"] = row.measured.id;
  object["predicted"] = OrNull(row.prediction.value);
  object["measured"] = row.measured.value;
  object["unit"] = Unit(row.measured.metric_kind);
  object["ape"] = OrNull(row.ape());
  object["interval80"] = IntervalToJson(row);
  object["inferred"] = InferredToJson(row.prediction.inferred);
  object["predicted_without_inferred"] = OrNull(row.prediction.value_without);
  object["reason"] = row.prediction.reason;
  object["defaults_used"] = row.prediction.defaults_used;
  object["source"] = row.measured.source;
  object["metric_kind"] = row.measured.metric_kind;
  object["primary"] = row.measured.is_primary;
  object["table"] = row.measured.table;
  object["model_kind"] = row.measured.model_kind;
  object["gpu"] = row.measured.gpu_id;
  object["gpus"] = GpusOf(row.measured);
  object["precision"] = row.measured.dtype;
  object["stack"] = row.measured.stack;
  object["main_part"] = row.prediction.main_part;
  object["step_metric"] = MetricToJson(row.prediction);
  return object;
}

}  // namespace

Json ValidationToJson(const Validation& validation) {
  Json report;
  report["sources"] = Json::array();
  report["baselines"] = Json::array();
  for (const ErrorStats& stats : SummarizeBy(validation.rows, true, true)) {
    Json object;
    object["source"] = stats.source;
    object["metric_kind"] = stats.metric_kind;
    AddErrors(stats, object);
    object["inferred"] = InferredToJson(stats.inferred);
    object["chosen_in_view"] =
        InViewToJson(InViewTable::Embedded().OfRows(stats.source, stats.metric_kind));
    report["sources"].push_back(object);
    if (stats.baseline_rows > 0) report["baselines"].push_back(BaselineToJson(stats));
  }
  Json overall;
  for (const ErrorStats& stats : SummarizeBy(validation.rows, false, false)) {
    AddErrors(stats, overall);
    report["baselines"].push_back(BaselineToJson(stats));
  }
  overall["metric_kinds"] = Json::array();
  for (const ErrorStats& stats : SummarizeBy(validation.rows, false, true)) {
    Json object;
    object["metric_kind"] = stats.metric_kind;
    AddErrors(stats, object);
    overall["metric_kinds"].push_back(object);
  }
  report["overall"] = overall;
  report["classes"] = ClassesToJson(SummarizeClasses(validation.rows));
  report["rows"] = Json::array();
  for (const ValidatedRow& row : validation.rows) report["rows"].push_back(RowToJson(row));
  report["passes"] = PassesToJson(validation.passes);
  report["mixtures"] = Json::array();
  for (const ValidatedRow& row : validation.mixtures) report["mixtures"].push_back(RowToJson(row));
  report["not_scored"] = Json::array();
  for (const MeasuredRow& row : validation.not_scored) {
    report["not_scored"].push_back({{"id", row.id}, {"reason", row.why_not}});
  }
  return report;
}

}  // namespace stagecraft
