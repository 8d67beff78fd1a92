// Reports what `fit` did, as text and as JSON.
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

// The number of samples of one GPU type from which one family of kernels learned.
struct FittedRows {
  std::string family, gpu;
  int rows = 0;
};

struct FitSummary {
  SampleInput input;
  std::vector<FittedRows> rows;
  SkippedRows skipped;
  int of_no_use = 0;  // rows of known GPU types that no family learns from
  std::map<std::string, CalibrationEvidence> evidence;  // by op; empty if there are many samples
  std::vector<std::string> warnings;                    // about ops whose evidence shows no gain
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
  std::vector<std::string> warnings;                    // about ops whose evidence shows no gain
};

void PrintFit(const FitSummary& summary, std::ostream& out);
void PrintCalibration(const CalibrationSummary& calibration, std::ostream& out);

// Returns `held_out` of a report: for each op, what rows that were left out in turn show about
// whether learning from the others helps.
nlohmann::ordered_json EvidenceToJson(const std::map<std::string, CalibrationEvidence>& evidence);
nlohmann::ordered_json FitToJson(const FitSummary& summary);
nlohmann::ordered_json CalibrationToJson(const CalibrationSummary& calibration);

}  // namespace stagecraft
