#include "tools/report/fit_report.h"

#include <fmt/core.h>

#include <cmath>
#include <nlohmann/json.hpp>
#include <ostream>
#include <utility>

#include "tools/report/evaluation_report.h"
#include "tools/verb/text_table.h"

namespace stagecraft {
namespace {

using Json = nlohmann::ordered_json;

}  // namespace

void PrintFit(const FitSummary& summary, std::ostream& out) {
  out << fmt::format("fitted to {} samples in {} file{}\n", summary.input.samples.size(),
                     summary.input.files.size(), summary.input.files.size() == 1 ? "" : "s");
  TextTable table({"family", "gpu", "rows"}, 2);
  for (const FittedRows& rows : summary.rows) {
    table.Add({rows.family, rows.gpu, fmt::format("{}", rows.rows)});
  }
  table.Print(out);
  if (summary.of_no_use > 0) {
    out << fmt::format("{} rows are not of a modelled kernel\n", summary.of_no_use);
  }
  PrintSkipped(summary.skipped, out);
}

void PrintCalibration(const CalibrationSummary& calibration, std::ostream& out) {
  out << fmt::format("calibrated on {} samples of {}; mean of |log(predicted / measured)|\n",
                     calibration.input.samples.size(), calibration.gpu);
  TextTable table({"op", "rows", "before", "after"}, 1);
  for (const OpError& error : calibration.errors) {
    table.Add({error.op, fmt::format("{}", error.rows), fmt::format("{:.4f}", error.before),
               fmt::format("{:.4f}", error.after)});
  }
  table.Print(out);
  if (calibration.of_no_use > 0) {
    out << fmt::format("{} rows are not of a modelled kernel\n", calibration.of_no_use);
  }
  for (const std::string& change : calibration.changes) out << "  " << change << '\n';
}

Json FitToJson(const FitSummary& summary) {
  Json families = Json::array();
  for (const FittedRows& rows : summary.rows) {
    families.push_back({{"family", rows.family}, {"gpu", rows.gpu}, {"rows", rows.rows}});
  }
  return {
      {"samples", summary.input.samples.size()},      {"families", std::move(families)},
      {"rows_of_no_use", summary.of_no_use},          {"skipped", SkippedToJson(summary.skipped)},
      {"held_out", EvidenceToJson(summary.evidence)}, {"warnings", summary.warnings}};
}

Json CalibrationToJson(const CalibrationSummary& calibration) {
  Json errors = Json::array();
  for (const OpError& error : calibration.errors) {
    errors.push_back({{"op", error.op},
                      {"rows", error.rows},
                      {"mean_abs_log_ratio_before", error.before},
                      {"mean_abs_log_ratio_after", error.after}});
  }
  return {{"gpu", calibration.gpu},
          {"samples", calibration.input.samples.size()},
          {"rows_of_no_use", calibration.of_no_use},
          {"errors", std::move(errors)},
          {"changes", calibration.changes},
          {"held_out", EvidenceToJson(calibration.evidence)},
          {"warnings", calibration.warnings}};
}

Json EvidenceToJson(const std::map<std::string, CalibrationEvidence>& evidence) {
  Json rows = Json::array();
  for (const auto& [op, found] : evidence) {
    Json row = {{"op", op},
                {"rows", found.rows},
                {"mean_abs_log_ratio_without", found.without},
                {"mean_abs_log_ratio_with", found.with},
                {"shows_gain", found.ShowsGain()}};
    if (std::isfinite(found.least_gain)) row["least_gain"] = found.least_gain;
    rows.push_back(std::move(row));
  }
  return rows;
}

}  // namespace stagecraft
