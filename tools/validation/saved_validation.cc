#include "tools/validation/saved_validation.h"

#include <fmt/core.h>

#include <cmath>
#include <nlohmann/json.hpp>
#include <utility>
#include <vector>

#include "costmodel/check.h"
#include "costmodel/cost_model.h"
#include "tools/validation/validation_html.h"

namespace stagecraft {
namespace {

using Json = nlohmann::ordered_json;

std::string Text(const Json& object, const char* key) { return object.at(key).get<std::string>(); }

// Returns a number of a row. Throws an InputError that begins with `place` if it is not above 0.
template <typename Number>
Number Positive(const Json& row, const char* key, const std::string& place) {
  const auto number = row.at(key).get<Number>();
  if (number > 0) return number;
  throw InputError(fmt::format("{}: {}: got {}, want a number above 0", place, key, number));
}

MeasuredRow MeasuredFrom(const Json& row, const std::string& place) {
  MeasuredRow measured;
  measured.id = Text(row, "id");
  measured.source = Text(row, "source");
  measured.table = Text(row, "table");
  measured.model_kind = Text(row, "model_kind");
  measured.gpu_id = Text(row, "gpu");
  measured.n_gpus = Positive<int64_t>(row, "gpus", place);
  measured.dtype = Text(row, "precision");
  measured.stack = Text(row, "stack");
  measured.metric_kind = Text(row, "metric_kind");
  measured.value = Positive<double>(row, "measured", place);
  measured.is_primary = row.at("primary").get<bool>();
  measured.is_scored = true;
  return measured;
}

Prediction PredictionFrom(const Json& row, const std::string& place) {
  Prediction prediction;
  prediction.reason = Text(row, "reason");
  // The page only counts rows with inferred values; it does not show the values.
  prediction.inferred.resize(row.at("inferred").size());
  if (row.at("predicted").is_null()) return prediction;
  const bool is_share = Text(row, "metric_kind") == "bubble_rate";  // which can be 0
  prediction.value =
      is_share ? row.at("predicted").get<double>() : Positive<double>(row, "predicted", place);
  prediction.main_part = Text(row, "main_part");
  if (const Json& interval = row.at("interval80"); !interval.is_null()) {
    const auto end = interval.at(1).get<double>();
    if (!(*prediction.value > 0 && end >= *prediction.value)) {
      throw InputError(
          fmt::format("{}: interval80: got an end of {}, want no less than predicted", place, end));
    }
    prediction.spread = std::log(end / *prediction.value) / kSigmas80;
  }
  if (const Json& metric = row.at("step_metric"); !metric.is_null()) {
    prediction.metric = StepMetric{.factor = Positive<double>(metric, "factor", place),
                                   .is_rate = metric.at("is_rate").get<bool>()};
  }
  return prediction;
}

Validation ReadValidation(const Json& answer, const std::string& place) {
  Validation validation;
  for (const Json& row : answer.at("rows")) {
    const std::string row_place = fmt::format("{}: row {}", place, Text(row, "id"));
    ValidatedRow& validated = validation.rows.emplace_back();
    validated.measured = MeasuredFrom(row, row_place);
    validated.prediction = PredictionFrom(row, row_place);
  }
  for (const Json& row : answer.at("not_scored")) {
    MeasuredRow& measured = validation.not_scored.emplace_back();
    measured.id = Text(row, "id");
    measured.why_not = Text(row, "reason");
  }
  return validation;
}

// Calls `read`; turns what JSON of another form throws into an InputError.
template <typename Read>
auto Checked(const std::string& place, const Read& read) {
  try {
    return read();
  } catch (const Json::exception& error) {
    throw InputError(
        fmt::format("{}: is not what validate prints as JSON ({})", place, error.what()));
  }
}

}  // namespace

Validation ValidationFromJson(const Json& answer, const std::string& place) {
  if (answer.contains("fit")) {
    throw InputError(place + ": got constants that validate fitted, want the JSON of errors");
  }
  return Checked(place, [&] { return ReadValidation(answer, place); });
}

std::string ValidationPage(const Json& answer, const std::string& place) {
  const Validation validation = ValidationFromJson(answer, place);
  return Checked(place, [&] {
    const std::string origin = ValidationOrigin(
        validation.rows.size(), answer.at("tables").get<std::vector<std::string>>(),
        Text(answer, "cost_model"), Text(answer, "tool_version"));
    return ValidationToHtml(validation, origin);
  });
}

}  // namespace stagecraft
