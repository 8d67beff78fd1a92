// Reports the result of an experiment (`evaluate`) as text and as JSON, errors in percent.
#pragma once

#include <cstdint>
#include <iosfwd>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "costmodel/error_summary.h"
#include "costmodel/learned/experiment.h"
#include "tools/flags/sample_flags.h"
#include "tools/report/error_by_size.h"

namespace stagecraft {

struct AccuracyReport {
  SampleInput input;
  std::string split;
  uint64_t seed = 1;
  int calibrate = 0;              // how many rows of each op class calibrated; 0: none
  std::vector<ModelKind> models;  // in the order of ModelKind
  Experiment experiment;          // of the input's samples
  std::vector<SizeError> by_size;
};

// Formats a value with one decimal; "-" if it is not finite.
std::string Percent(double value);
// Converts a mean of log(predicted / measured) to percent: 5 if times are 5 % too long.
double BiasPercent(double log_ratio);
// Returns sentences that a reader must know to judge the errors correctly.
std::vector<std::string> Warnings(const AccuracyReport& evaluation);
// Returns "calibration makes all-gather worse: 21.0 % MAPE with it, 10.5 % without"; empty if it
// makes errors smaller, or if nothing was calibrated.
std::string WorseByCalibration(const std::string& what, const ErrorSummary& with,
                               const std::optional<ErrorSummary>& without);
// Returns the keys that `groups`, `overall` and `overall_rows` have in common, errors in percent.
nlohmann::ordered_json ErrorsToJson(const ErrorSummary& errors);
// Adds `uncalibrated` and `calibration_helps` if `without` has a value: some rows calibrated.
void AddUncalibrated(const ErrorSummary& with, const std::optional<ErrorSummary>& without,
                     nlohmann::ordered_json& json);
// Both report the numbers of rows that were left out, by GPU type and reason.
nlohmann::ordered_json SkippedToJson(const SkippedRows& skipped);
void PrintSkipped(const SkippedRows& skipped, std::ostream& out);

// Returns the report without its header: `groups`, `overall` and `overall_rows` by model,
// `by_size`, `skipped` and so on.
nlohmann::ordered_json EvaluationToJson(const AccuracyReport& evaluation);
void PrintEvaluation(const AccuracyReport& evaluation, bool shows_sizes, std::ostream& out);

}  // namespace stagecraft
