#include "tools/report/evaluation_report.h"

#include <fmt/core.h>

#include <cmath>
#include <nlohmann/json.hpp>
#include <ostream>
#include <set>

#include "tools/report/in_view.h"
#include "tools/verb/text_table.h"

namespace stagecraft {
namespace {

using Json = nlohmann::ordered_json;

Json ByModel(const std::vector<Accuracy>& accuracies) {
  Json models = Json::object();
  for (const Accuracy& accuracy : accuracies) {
    models[Name(accuracy.model)] = ErrorsToJson(accuracy);
    AddUncalibrated(accuracy, accuracy.uncalibrated, models[Name(accuracy.model)]);
  }
  return models;
}

void AddRow(const std::vector<std::string>& names, const Accuracy& a, bool calibrates,
            TextTable& table) {
  std::vector<std::string> cells = names;
  cells.push_back(Name(a.model));
  cells.push_back(fmt::format("{}", a.rows));
  if (calibrates) cells.push_back(a.uncalibrated ? Percent(100 * a.uncalibrated->mape) : "-");
  for (const double share : {a.mape, a.median_ape, a.p90_ape})
    cells.push_back(Percent(100 * share));
  const double bias = BiasPercent(a.bias);
  cells.push_back(std::isfinite(bias) ? fmt::format("{:+.1f}", bias) : "-");
  cells.push_back(Percent(100 * a.interval80_coverage));
  table.Add(std::move(cells));
}

void PrintSizes(const std::vector<SizeError>& errors, std::ostream& out) {
  out << "\nby measured time\n";
  TextTable table({"op", "time", "model", "rows", "MAPE", "bias"}, 3);
  for (const SizeError& error : errors) {
    table.Add({error.op, DecadeName(error.decade), Name(error.model), fmt::format("{}", error.rows),
               Percent(100 * error.mape), fmt::format("{:+.1f}", BiasPercent(error.bias))});
  }
  table.Print(out);
}

}  // namespace

std::string Percent(double value) {
  return std::isfinite(value) ? fmt::format("{:.1f}", value) : "-";
}

Json ErrorsToJson(const ErrorSummary& errors) {
  return {{"rows", errors.rows},
          {"mape", 100 * errors.mape},
          {"median_ape", 100 * errors.median_ape},
          {"p90_ape", 100 * errors.p90_ape},
          {"bias", BiasPercent(errors.bias)},
          {"interval80_coverage", 100 * errors.interval80_coverage}};
}

double BiasPercent(double log_ratio) { return 100 * std::expm1(log_ratio); }

std::vector<std::string> Warnings(const AccuracyReport& evaluation) {
  std::vector<std::string> warnings;
  const bool judges_shipped = evaluation.models.back() == ModelKind::kShipped;
  if (evaluation.split == "none" && judges_shipped) {
    warnings.push_back(
        "with split none the shipped model is judged as it is: it may have learned from these "
        "very samples");
  }
  for (const Accuracy& group : evaluation.experiment.groups) {
    const std::string what = fmt::format("{} of {} ({})", group.op, group.gpu, group.dtype);
    const std::string worse = WorseByCalibration(what, group, group.uncalibrated);
    if (!worse.empty()) warnings.push_back(worse);
  }
  std::set<std::string> sources, ops;
  for (const Sample& sample : evaluation.input.samples) {
    sources.insert(sample.source);
    ops.insert(Name(sample.op.kind));
  }
  if (!judges_shipped) return warnings;
  for (const ConstantsInView& chosen :
       InViewTable::Embedded().OfKernels(evaluation.split, sources, ops)) {
    warnings.push_back(InViewNote(chosen));
  }
  return warnings;
}

std::string WorseByCalibration(const std::string& what, const ErrorSummary& with,
                               const std::optional<ErrorSummary>& without) {
  if (!without || with.mape <= without->mape) return "";
  return fmt::format("calibration makes {} worse: {:.1f} % MAPE with it, {:.1f} % without", what,
                     100 * with.mape, 100 * without->mape);
}

void AddUncalibrated(const ErrorSummary& with, const std::optional<ErrorSummary>& without,
                     Json& json) {
  if (!without) return;
  json["uncalibrated"] = ErrorsToJson(*without);
  json["calibration_helps"] = with.mape < without->mape;
}

Json SkippedToJson(const SkippedRows& skipped) {
  Json rows = Json::array();
  for (const auto& [what, count] : skipped) {
    rows.push_back({{"gpu", what.first}, {"rows", count}, {"reason", what.second}});
  }
  return rows;
}

void PrintSkipped(const SkippedRows& skipped, std::ostream& out) {
  if (!skipped.empty()) out << "\nskipped\n";
  for (const auto& [what, count] : skipped) {
    out << fmt::format("  {}  {} rows  {}\n", what.first, count, what.second);
  }
}

Json EvaluationToJson(const AccuracyReport& evaluation) {
  const Experiment& experiment = evaluation.experiment;
  Json groups = Json::array(), sizes = Json::array();
  for (const Accuracy& group : experiment.groups) {
    Json row = {
        {"op", group.op}, {"gpu", group.gpu}, {"dtype", group.dtype}, {"model", Name(group.model)}};
    row.update(ErrorsToJson(group));
    AddUncalibrated(group, group.uncalibrated, row);
    groups.push_back(std::move(row));
  }
  for (const SizeError& error : evaluation.by_size) {
    sizes.push_back({{"op", error.op},
                     {"model", Name(error.model)},
                     {"from_us", DecadeBegin(error.decade)},
                     {"to_us", DecadeBegin(error.decade + 1)},
                     {"rows", error.rows},
                     {"mape", 100 * error.mape},
                     {"bias", BiasPercent(error.bias)}});
  }
  int skipped = 0;
  for (const auto& [what, rows] : experiment.skipped) skipped += rows;
  const double samples = static_cast<double>(evaluation.input.samples.size());
  return {{"split", evaluation.split},
          {"calibrate_rows", evaluation.calibrate},
          {"samples", evaluation.input.samples.size()},
          {"not_measurements", evaluation.input.passed_over},
          {"coverage_fraction", 1 - skipped / samples},
          {"groups", std::move(groups)},
          {"overall", ByModel(experiment.overall)},
          {"overall_rows", ByModel(experiment.overall_rows)},
          {"by_size", std::move(sizes)},
          {"skipped", SkippedToJson(experiment.skipped)},
          {"warnings", Warnings(evaluation)}};
}

void PrintEvaluation(const AccuracyReport& evaluation, bool shows_sizes, std::ostream& out) {
  const Experiment& experiment = evaluation.experiment;
  out << fmt::format("{} samples in {} file{}, split {}, seed {}", evaluation.input.samples.size(),
                     evaluation.input.files.size(), evaluation.input.files.size() == 1 ? "" : "s",
                     evaluation.split, evaluation.seed);
  if (evaluation.calibrate > 0) {
    out << fmt::format(", calibrated on {} rows of each op class (means over {} draws)",
                       evaluation.calibrate, kCalibrationDraws);
  }
  out << "\nerrors in percent of the measured time; in 80 %: share of the measured values in the "
         "80 % prediction interval\n";
  if (evaluation.calibrate > 0) out << "uncalibrated: MAPE of the same rows without calibration\n";
  out << '\n';
  const bool calibrates = evaluation.calibrate > 0;
  std::vector<std::string> columns = {"op",   "gpu",    "dtype", "model", "rows",
                                      "MAPE", "median", "p90",   "bias",  "in 80 %"};
  if (calibrates) columns.insert(columns.begin() + 5, "uncalibrated");
  TextTable table(columns, 4);
  const auto add = [&](const std::vector<std::string>& names, const Accuracy& accuracy) {
    AddRow(names, accuracy, calibrates, table);
  };
  for (const Accuracy& group : experiment.groups) add({group.op, group.gpu, group.dtype}, group);
  for (const Accuracy& all : experiment.overall) add({"overall", "", ""}, all);
  for (const Accuracy& all : experiment.overall_rows) add({"over rows", "", ""}, all);
  table.Print(out);
  for (const std::string& warning : Warnings(evaluation)) out << "note: " << warning << '\n';
  if (shows_sizes) PrintSizes(evaluation.by_size, out);
  PrintSkipped(experiment.skipped, out);
  if (evaluation.input.passed_over > 0) {
    out << fmt::format("{} rows are not measurements, according to their source\n",
                       evaluation.input.passed_over);
  }
}

}  // namespace stagecraft
