// What `evaluate` says of an experiment: as text and as JSON. Errors in percent.
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
  int calibrate = 0;              // rows of each op class; 0: none
  std::vector<ModelKind> models;  // in the order of ModelKind
  Experiment experiment;          // of the input's samples
  std::vector<SizeError> by_size;
};

// With one decimal; what is no number is "-".
std::string Percent(double value);
// Mean of log(predicted / measured) as percent: 5 where times are 5 % too long.
double BiasPercent(double log_ratio);
// What a reader must know to take the errors for what they are; a sentence each.
std::vector<std::string> Warnings(const AccuracyReport& evaluation);
// "calibration makes all-gather worse: 21.0 % MAPE with it, 10.5 % without"; empty where
// it does not, or where none was.
std::string WorseByCalibration(const std::string& what, const ErrorSummary& with,
                               const std::optional<ErrorSummary>& without);
// In percent; what a group and an overall have in common.
nlohmann::ordered_json ErrorsToJson(const ErrorSummary& errors);
// Adds `uncalibrated` and `calibration_helps`, where some rows calibrated.
void AddUncalibrated(const ErrorSummary& with, const std::optional<ErrorSummary>& without,
                     nlohmann::ordered_json& json);
// Rows left out, by GPU and reason.
nlohmann::ordered_json SkippedToJson(const SkippedRows& skipped);
void PrintSkipped(const SkippedRows& skipped, std::ostream& out);

// Without the header: `groups`, `overall` and `overall_rows` by model, `by_size`,
// `skipped`, ...
nlohmann::ordered_json EvaluationToJson(const AccuracyReport& evaluation);
void PrintEvaluation(const AccuracyReport& evaluation, bool shows_sizes, std::ostream& out);

}  // namespace stagecraft
