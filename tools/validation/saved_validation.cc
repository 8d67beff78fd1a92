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

MeasuredRow MeasuredFrom(const Json& row) {
  MeasuredRow measured;
  measured.id = Text(row, "id");
  measured.source = Text(row, "source");
  measured.table = Text(row, "table");
  measured.model_kind = Text(row, "model_kind");
  measured.gpu_id = Text(row, "gpu");
  measured.n_gpus = row.at("gpus").get<int64_t>();
  measured.dtype = Text(row, "precision");
  measured.stack = Text(row, "stack");
  measured.metric_kind = Text(row, "metric_kind");
  measured.value = row.at("measured").get<double>();
  measured.is_primary = row.at("primary").get<bool>();
  measured.is_scored = true;
  return measured;
}

Prediction PredictionFrom(const Json& row) {
  Prediction prediction;
  prediction.reason = Text(row, "reason");
  // Of what was inferred the page counts the rows alone.
  prediction.inferred.resize(row.at("inferred").size());
  if (row.at("predicted").is_null()) return prediction;
  prediction.value = row.at("predicted").get<double>();
  prediction.main_part = Text(row, "main_part");
  if (const Json& interval = row.at("interval80"); !interval.is_null()) {
    prediction.spread = std::log(interval.at(1).get<double>() / *prediction.value) / kSigmas80;
  }
  if (const Json& metric = row.at("step_metric"); !metric.is_null()) {
    prediction.step = StepFeatures{.metric = {.factor = metric.at("factor").get<double>(),
                                              .is_rate = metric.at("is_rate").get<bool>()}};
  }
  return prediction;
}

Validation ReadValidation(const Json& answer) {
  Validation validation;
  for (const Json& row : answer.at("rows")) {
    ValidatedRow& validated = validation.rows.emplace_back();
    validated.measured = MeasuredFrom(row);
    validated.prediction = PredictionFrom(row);
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
  return Checked(place, [&] { return ReadValidation(answer); });
}

std::string ValidationPage(const Json& answer, const std::string& place) {
  const Validation validation = ValidationFromJson(answer, place);
  return Checked(place, [&] {
    std::vector<std::string> tables;
    for (const Json& input : answer.at("inputs")) {
      const std::string path = Text(input, "path");
      if (path.ends_with(".csv")) tables.push_back(path);
    }
    const std::string origin = ValidationOrigin(
        validation.rows.size(), tables, Text(answer, "cost_model"), Text(answer, "tool_version"));
    return ValidationToHtml(validation, origin);
  });
}

}  // namespace stagecraft
