#include "tools/network_evaluation.h"

#include <fmt/format.h>

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
#include "sim/cluster.h"
#include "sim/cluster_spec.h"
#include "tools/evaluation_report.h"
#include "tools/flags.h"
#include "tools/in_view.h"
#include "tools/network_input.h"
#include "tools/print_json.h"
#include "tools/report_header.h"
#include "tools/sample_flags.h"
#include "tools/text_table.h"

namespace stagecraft {
namespace {

using Json = nlohmann::ordered_json;

constexpr int kSchema = 1;

Json AccuracyToJson(const NetworkAccuracy& accuracy) {
  Json errors = ErrorsToJson(accuracy);
  errors["formula_mape"] = 100 * accuracy.formula_mape;
  return errors;
}

// Of all that was read: between nodes that nobody says what joins.
int64_t CountUnstated(const NetworkInput& input) {
  return std::count_if(input.samples.begin(), input.samples.end(),
                       [](const NetworkSample& sample) { return !sample.is_network_stated; });
}

// What a reader must know to take the errors for what they are; a sentence each.
std::vector<std::string> Warnings(const NetworkEvaluationFlags& flags, const NetworkInput& input) {
  std::vector<std::string> warnings;
  if (const int64_t unstated = CountUnstated(input); unstated > 0) {
    warnings.push_back(fmt::format(
        "{} rows are over networks that their table calls unknown: their formula is that of a "
        "placeholder",
        unstated));
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
    groups.push_back(std::move(row));
  }
  Json report;
  report["groups"] = std::move(groups);
  report["overall"]["shipped"] = AccuracyToJson(experiment.overall);
  report["overall_rows"]["shipped"] = AccuracyToJson(experiment.overall_rows);
  return report;
}

void AddRow(const std::string& op, const std::string& where, const NetworkAccuracy& a,
            TextTable& table) {
  const auto percent = [](double share) { return fmt::format("{:.1f}", 100 * share); };
  table.Add({op, where, fmt::format("{}", a.rows), percent(a.mape), percent(a.median_ape),
             percent(a.p90_ape), fmt::format("{:+.1f}", BiasPercent(a.bias)),
             percent(a.interval80_coverage), percent(a.formula_mape)});
}

void Print(const NetworkExperiment& experiment, const NetworkEvaluationFlags& flags,
           const NetworkInput& input, std::ostream& out) {
  out << fmt::format(
      "{} measured collectives, {} rows passed over; split {}, seed {}; errors in %, from {} "
      "bytes\n\n",
      input.samples.size(), input.invalid, flags.split, flags.seed, flags.least_bytes);
  TextTable table({"op", "site", "rows", "MAPE", "median", "p90", "bias", "in 80 %", "formula"}, 2);
  for (const NetworkAccuracy& group : experiment.groups) {
    AddRow(group.op, fmt::format("{} ({})", group.site, group.gpu), group, table);
  }
  AddRow("all", "mean of the above", experiment.overall, table);
  AddRow("all", "rows", experiment.overall_rows, table);
  table.Print(out);
  out << "\nformula: NCCL's own model at nominal links, not fitted\n";
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
    options.shipped = model ? &*model : nullptr;
    options.report = progress.Reporter();
    experiment = RunNetworkExperiment(input.samples, options);
  }
  if (experiment.predictions.empty()) {
    throw InputError(fmt::format(
        "--network: nothing is left to judge by: no row of {} bytes or more", flags.least_bytes));
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
    report["network_unknown"] = CountUnstated(input);
    report.update(ToJson(experiment));
    report["warnings"] = Warnings(flags, input);
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
