#include "tools/report/evaluation_html.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <limits>
#include <map>
#include <span>

#include "costmodel/text.h"
#include "tools/chart/chart_page.h"
#include "tools/chart/escape.h"
#include "tools/chart/html_page.h"
#include "tools/verb/command.h"

namespace stagecraft {
namespace {

constexpr size_t kMostPoints = 2000;  // of a scatter chart

std::string Row(const std::string& what, const Accuracy& a) {
  return HtmlRow({what, Name(a.model), fmt::format("{}", a.rows), Percent(100 * a.mape),
                  Percent(100 * a.median_ape), Percent(100 * a.p90_ape),
                  Percent(BiasPercent(a.bias)), Percent(100 * a.interval80_coverage)},
                 "td");
}

std::string Heading(const std::string& what) {
  return HtmlRow({what, "model", "rows", "MAPE", "median", "p90", "bias", "in 80 %"}, "th");
}

std::string Tables(const Experiment& experiment) {
  std::string html = "<table>\n" + Heading("mean over");
  for (const Accuracy& all : experiment.overall) html += Row("groups", all);
  for (const Accuracy& all : experiment.overall_rows) html += Row("rows", all);
  html += "</table>\n<details><summary>by op, GPU and number format</summary>\n<table>\n";
  html += Heading("group");
  for (const Accuracy& group : experiment.groups) {
    html += Row(fmt::format("{} {} {}", group.op, group.gpu, group.dtype), group);
  }
  return html + "</table>\n</details>\n";
}

// A chart of predicted against measured times. If there are more predictions than kMostPoints, it
// shows evenly spaced ones, so that every GPU type keeps its share.
std::string ScatterOf(const AccuracyReport& evaluation,
                      std::span<const SamplePrediction> predictions, ModelKind model) {
  const std::vector<Sample>& samples = evaluation.input.samples;
  PointsChart chart{
      .title = "Predicted and measured times",
      .note = fmt::format("Predictions of the model {}; on the dashed line they equal the "
                          "measurements, on the dotted lines they are {:g} % larger and smaller.",
                          Name(model), 100 * kErrorBand),
      .x = {.label = "measured time (µs)", .is_logarithmic = true},
      .y = {.label = "predicted time (µs)", .is_logarithmic = true},
      .series = {},
      .points = {},
      .is_narrow = true};
  std::map<std::string, int> gpus;
  for (const SamplePrediction& prediction : predictions) gpus[samples[prediction.sample].gpu] = 0;
  for (auto& [gpu, series] : gpus) {
    series = static_cast<int>(chart.series.size());
    chart.series.push_back({gpu, SeriesStyle::kPoints});
  }
  double least = std::numeric_limits<double>::infinity(), most = 0;
  const size_t count = std::min(kMostPoints, predictions.size());
  for (size_t i = 0; i < count; ++i) {
    const SamplePrediction& prediction = predictions[i * predictions.size() / count];
    const Sample& sample = samples[prediction.sample];
    const double predicted = prediction.seconds * 1e6, measured = sample.time.us();
    if (!(predicted > 0) || !(measured > 0)) continue;
    least = std::min({least, measured, predicted});
    most = std::max({most, measured, predicted});
    chart.points.push_back({gpus[sample.gpu], measured, predicted,
                            fmt::format("{}\n{}: {:.4g} µs, predicted {:.4g} µs",
                                        Describe(sample.op), sample.gpu, measured, predicted)});
  }
  if (most > 0 && std::isfinite(most)) AddDiagonal(chart, least, most);
  return ToHtml(chart);
}

std::string BarsOf(const AccuracyReport& evaluation, const std::string& op) {
  std::map<int, std::map<ModelKind, double>> errors;
  for (const SizeError& error : evaluation.by_size) {
    if (error.op == op) errors[error.decade][error.model] = 100 * error.mape;
  }
  BarsChart chart{.title = "Mean error by measured time",
                  .x = {.label = "MAPE (%)", .min = 0},
                  .row_label = "measured time",
                  .rows = {},
                  .series = {},
                  .bars = {},
                  .is_grouped = true};
  for (const ModelKind model : evaluation.models) chart.series.push_back({Name(model)});
  for (const auto& [decade, by_model] : errors) {
    const int row = static_cast<int>(chart.rows.size());
    chart.rows.push_back(DecadeName(decade));
    int series = 0;
    for (const ModelKind model : evaluation.models) {
      const auto found = by_model.find(model);
      if (found != by_model.end()) chart.bars.push_back({row, series, 0, found->second});
      ++series;
    }
  }
  return ToHtml(chart);
}

std::string ChartsOf(const AccuracyReport& evaluation) {
  // The last one is the shipped model, if that is among them.
  const ModelKind model = evaluation.models.back();
  std::map<std::string, std::vector<SamplePrediction>> by_op;
  for (const SamplePrediction& prediction : evaluation.experiment.predictions.at(model)) {
    by_op[OpLabel(evaluation.input.samples[prediction.sample])].push_back(prediction);
  }
  std::string html;
  for (const auto& [op, predictions] : by_op) {
    html += fmt::format("<h2>{}</h2>\n<p>{} predictions", EscapeXml(op), predictions.size());
    if (predictions.size() > kMostPoints) html += fmt::format(" ({} of them shown)", kMostPoints);
    html += "</p>\n" + ScatterOf(evaluation, predictions, model) + BarsOf(evaluation, op);
  }
  return html;
}

std::string Origin(const AccuracyReport& evaluation) {
  const std::string files = Join(evaluation.input.files, ", ", [](const std::string& file) {
    return std::filesystem::path(file).filename().string();
  });
  std::string text =
      fmt::format("{} samples of {}; split {}, seed {}", evaluation.input.samples.size(), files,
                  evaluation.split, evaluation.seed);
  if (evaluation.calibrate > 0) {
    text += fmt::format(", calibrated on {} rows of each op class, means over {} draws",
                        evaluation.calibrate, kCalibrationDraws);
  }
  return text +
         fmt::format("; stagecraft {}. Errors in percent of the measured time.", kToolVersion);
}

}  // namespace

std::string EvaluationToHtml(const AccuracyReport& evaluation) {
  std::string html = "<h1>Predicted and measured kernel times</h1>\n<p>";
  html += EscapeXml(Origin(evaluation)) + "</p>\n" + Tables(evaluation.experiment);
  for (const std::string& warning : Warnings(evaluation)) {
    html += "<p>Note: " + EscapeXml(warning) + "</p>\n";
  }
  if (!evaluation.experiment.skipped.empty()) {
    html += "<p>Skipped:</p>\n<ul>\n";
    for (const auto& [what, rows] : evaluation.experiment.skipped) {
      html += fmt::format("<li>{}: {} rows, {}</li>\n", EscapeXml(what.first), rows,
                          EscapeXml(what.second));
    }
    html += "</ul>\n";
  }
  return HtmlPage("stagecraft evaluate", ValidText(html + ChartsOf(evaluation)), Charts());
}

}  // namespace stagecraft
