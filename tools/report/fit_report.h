// What `fit` says of what it did: as text and as JSON.
#pragma once

#include <iosfwd>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "costmodel/calibration_evidence.h"
#include "costmodel/learned/training_rows.h"
#include "tools/flags/sample_flags.h"

namespace stagecraft {

// Samples that one family of kernels learned from on one GPU.
struct FittedRows {
  std::string family, gpu;
  bool is_serving = false;  // of serving frameworks alone
  int rows = 0;
};

struct FitSummary {
  SampleInput input;
  std::vector<FittedRows> rows;
  SkippedRows skipped;
  int of_no_use = 0;  // rows of known GPUs that no family learns from
  std::map<std::string, CalibrationEvidence> evidence;  // by op; of few samples alone
  std::vector<std::string> warnings;                    // of ops without
};

struct OpError {
  std::string op;
  int rows = 0;
  double before = 0, after = 0;  // mean of |log(predicted / measured)|
};

struct CalibrationSummary {
  std::string gpu;
  SampleInput input;
  int of_no_use = 0;  // rows that no family learns from
  std::vector<OpError> errors;
  std::vector<std::string> changes;
  std::map<std::string, CalibrationEvidence> evidence;  // by op
  std::vector<std::string> warnings;                    // of ops without
};

void PrintFit(const FitSummary& summary, std::ostream& out);
void PrintCalibration(const CalibrationSummary& calibration, std::ostream& out);

// `held_out` of a report: by op what rows that were left out in turn say of calibration.
nlohmann::ordered_json EvidenceToJson(const std::map<std::string, CalibrationEvidence>& evidence);
nlohmann::ordered_json FitToJson(const FitSummary& summary);
nlohmann::ordered_json CalibrationToJson(const CalibrationSummary& calibration);

}  // namespace stagecraft
