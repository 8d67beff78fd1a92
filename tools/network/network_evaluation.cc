#include "tools/network/network_evaluation.h"

#include <fmt/core.h>

#include <algorithm>
#include <chrono>
#include <nlohmann/json.hpp>
#include <optional>
#include <ostream>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "costmodel/check.h"
#include "costmodel/network/network_experiment.h"
#include "costmodel/network/network_model.h"
#include "costmodel/network/network_sample.h"
#include "sim/cluster/cluster.h"
#include "sim/cluster/cluster_spec.h"
#include "tools/flags/sample_flags.h"
#include "tools/network/network_input.h"
#include "tools/report/evaluation_report.h"
#include "tools/report/in_view.h"
#include "tools/verb/flags.h"
#include "tools/verb/print_json.h"
#include "tools/verb/report_header.h"
#include "tools/verb/text_table.h"

namespace stagecraft {
namespace {

using Json = nlohmann::ordered_json;

constexpr int kSchema = 1;

double GbPerS(Bandwidth bandwidth) { return bandwidth.bytes_per_s() * 1e-9; }

std::vector<std::string> Worse(const NetworkExperiment& experiment) {
  std::vector<std::string> worse;
  for (const NetworkAccuracy& group : experiment.groups) {
    const std::string what = fmt::format("{} of {}", group.op, group.site);
    const std::string sentence = WorseByCalibration(what, group, group.uncalibrated);
    if (!sentence.empty()) worse.push_back(sentence);
  }
  const std::string all =
      WorseByCalibration("all rows", experiment.overall_rows, experiment.overall_rows.uncalibrated);
  if (!all.empty()) worse.push_back(all);
  return worse;
}

// The rows by which nothing is judged, including those that were skipped when files were read.
SkippedRows Skipped(const NetworkExperiment& experiment, const NetworkInput& input) {
  SkippedRows skipped = input.skipped;
  for (const auto& [reason, rows] : experiment.skipped) skipped[{"any GPU", reason}] = rows;
  return skipped;
}

Json AccuracyToJson(const NetworkAccuracy& accuracy) {
  Json errors = ErrorsToJson(accuracy);
  errors["formula_mape"] = 100 * accuracy.formula_mape;
  AddUncalibrated(accuracy, accuracy.uncalibrated, errors);
  return errors;
}

// The number of rows by which nothing is judged since it is not stated what joins their nodes.
int UnstatedRows(const NetworkExperiment& experiment) {
  const auto found = experiment.skipped.find(kUnstatedNetwork);
  return found == experiment.skipped.end() ? 0 : found->second;
}

// Sentences that a reader must know to judge the errors correctly.
std::vector<std::string> Warnings(const NetworkEvaluationFlags& flags, const NetworkInput& input) {
  std::vector<std::string> warnings;
  if (flags.split == "none" && flags.calibrate == 0) {
    warnings.push_back(fmt::format(
        "with split none the {} is judged as it is: it may have learned from these very rows",
        flags.cost_model.empty() ? "shipped model" : "model of --cost-model"));
  }
  std::set<std::string> sources;
  for (const NetworkSample& sample : input.samples) sources.insert(sample.source);
  for (const ConstantsInView& chosen :
       InViewTable::Embedded().OfCollectives(flags.split, sources)) {
    warnings.push_back(InViewNote(chosen));
  }
  return warnings;
}

Json ToJson(const NetworkExperiment& experiment) {
  Json groups = Json::array();
  for (const NetworkAccuracy& group : experiment.groups) {
    Json row = {{"op", group.op}, {"gpu", group.gpu}, {"site", group.site}, {"model", "shipped"}};
    row.update(AccuracyToJson(group));
    row["largest_bytes"] = group.largest.count();
    row["measured_bus_bandwidth_gb_per_s"] = GbPerS(group.bus_measured);
    row["predicted_bus_bandwidth_gb_per_s"] = GbPerS(group.bus_predicted);
    groups.push_back(std::move(row));
  }
  Json report;
  report["groups"] = std::move(groups);
  report["overall"]["shipped"] = AccuracyToJson(experiment.overall);
  report["overall_rows"]["shipped"] = AccuracyToJson(experiment.overall_rows);
  return report;
}

void AddRow(const std::string& op, const std::string& where, const NetworkAccuracy& a, bool has_bus,
            TextTable& table) {
  const auto percent = [](double share) { return fmt::format("{:.1f}", 100 * share); };
  const auto bus = [&](Bandwidth bandwidth) {
    return has_bus ? fmt::format("{:.1f}", GbPerS(bandwidth)) : "";
  };
  std::vector<std::string> cells = {op, where, fmt::format("{}", a.rows)};
  if (a.uncalibrated) cells.push_back(percent(a.uncalibrated->mape));
  for (const std::string& cell :
       {percent(a.mape), percent(a.median_ape), percent(a.p90_ape),
        fmt::format("{:+.1f}", BiasPercent(a.bias)), percent(a.interval80_coverage),
        percent(a.formula_mape), bus(a.bus_measured), bus(a.bus_predicted)}) {
    cells.push_back(cell);
  }
  table.Add(std::move(cells));
}

void Print(const NetworkExperiment& experiment, const NetworkEvaluationFlags& flags,
           const NetworkInput& input, std::ostream& out) {
  out << fmt::format(
      "{} measured collectives, {} rows left out; split {}, seed {}; errors of time in %, "
      "from {} bytes on\n",
      input.samples.size(), input.invalid, flags.split, flags.seed, flags.least_bytes);
  if (flags.calibrate > 0) {
    out << fmt::format("calibrated on {} rows of each site (means over {} draws)\n",
                       flags.calibrate, kNetworkCalibrationDraws);
  }
  out << '\n';
  std::vector<std::string> columns = {"op",
                                      "site",
                                      "rows",
                                      "MAPE",
                                      "median",
                                      "p90",
                                      "bias",
                                      "in 80 %",
                                      "formula MAPE",
                                      "measured busbw GB/s",
                                      "predicted busbw GB/s"};
  if (flags.calibrate > 0) columns.insert(columns.begin() + 3, "uncalibrated");
  TextTable table(columns, 2);
  for (const NetworkAccuracy& group : experiment.groups) {
    AddRow(group.op, fmt::format("{} ({})", group.site, group.gpu), group, true, table);
  }
  AddRow("all", "mean of the rows above", experiment.overall, false, table);
  AddRow("all", "rows", experiment.overall_rows, false, table);
  table.Print(out);
  out << "\nformula: NCCL's own model at nominal links, not fitted; busbw: of the largest "
         "message\n";
  for (const std::string& sentence : Worse(experiment)) out << "note: " << sentence << '\n';
  PrintSkipped(Skipped(experiment, input), out);
  for (const std::string& warning : Warnings(flags, input)) out << "note: " << warning << '\n';
}

}  // namespace

int RunNetworkEvaluation(const NetworkEvaluationFlags& flags, std::ostream& out,
                         std::ostream& err) {
  const auto begin = std::chrono::steady_clock::now();
  std::optional<double> max_error;
  if (!flags.max_error.empty()) max_error = ParsePercent("--max-error", flags.max_error);
  if (!flags.cost_model.empty() && flags.split != "none") {
    throw InputError(fmt::format(
        "--cost-model: got --split {}, which fits a model of its own, want none", flags.split));
  }
  if (flags.calibrate > 0 && flags.split != "none" && !flags.split.starts_with("leave-out:")) {
    throw InputError(fmt::format("--calibrate: got --split {}, want leave-out:KEY[=VALUE] or none",
                                 flags.split));
  }
  std::optional<NetworkModel> model;
  if (!flags.cost_model.empty()) model.emplace(NetworkModel::Read(flags.cost_model));
  std::optional<Cluster> cluster;
  if (!flags.cluster.empty()) cluster.emplace(ParseCluster(flags.cluster));
  const NetworkInput input =
      ReadNetworkInput("--network", flags.files, cluster ? &*cluster : nullptr);
  NetworkExperiment experiment;
  {
    ProgressLine progress(err, flags.quiet);
    NetworkExperimentOptions options;
    options.split = flags.split;
    options.seed = flags.seed;
    options.least_bytes = Bytes(flags.least_bytes);
    options.calibrate = flags.calibrate;
    options.shipped = model ? &*model : nullptr;
    options.report = progress.Reporter();
    experiment = RunNetworkExperiment(input.samples, options);
  }
  if (experiment.predictions.empty()) {
    throw InputError(
        experiment.skipped.empty()
            ? fmt::format("--network: nothing is left to test on: no row of {} bytes or more",
                          flags.least_bytes)
            : fmt::format("--network: nothing is left to test on: rows {}",
                          experiment.skipped.begin()->first));
  }
  if (flags.json) {
    Args files = input.files;
    if (!flags.cost_model.empty()) files.push_back(flags.cost_model);
    Json report = ReportHeader("evaluate", kSchema, files);
    report["seed"] = flags.seed;
    report["split"] = flags.split;
    report["least_bytes"] = flags.least_bytes;
    report["rows"] = input.samples.size();
    report["invalid"] = input.invalid;
    report["network_unknown"] = UnstatedRows(experiment);
    report["calibrate_rows"] = flags.calibrate;
    report.update(ToJson(experiment));
    report["skipped"] = SkippedToJson(Skipped(experiment, input));
    std::vector<std::string> warnings = Warnings(flags, input);
    const std::vector<std::string> worse = Worse(experiment);
    warnings.insert(warnings.end(), worse.begin(), worse.end());
    report["warnings"] = std::move(warnings);
    report["wall_ms"] =
        std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin).count();
    PrintJson(std::move(report), out);
  } else {
    Print(experiment, flags, input, out);
  }
  const bool exceeds = max_error && !(100 * experiment.overall_rows.mape <= *max_error);
  return exceeds ? kExitThreshold : kExitOk;
}

}  // namespace stagecraft
