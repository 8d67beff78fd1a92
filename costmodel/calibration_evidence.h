// CalibrationEvidence: whether a few measured rows show that a model that learned from them
// predicts better than one that did not.
#pragma once

#include <functional>
#include <map>
#include <span>
#include <string>
#include <vector>

namespace stagecraft {

// How a model learned from the rows: it was calibrated on them, or fitted to nothing else.
enum class LearnedBy { kCalibration, kFit };

// Each row is predicted twice: by a model that did not see any of the rows (for kFit, the shipped
// one) and by one that learned from all rows but this one. The evidence is by how much the second
// error is smaller, row by row. Errors are |log(predicted / measured)|.
struct CalibrationEvidence {
  int rows = 0;
  double without = 0, with = 0;  // means
  // The lower end of the one-sided 90 % interval of the mean gain, without - with, by Student's t.
  // If it is positive, a calibration that does not help would look as good in fewer than one case
  // in ten. Minus infinity for fewer than three rows.
  double least_gain = 0;

  bool ShowsGain() const { return least_gain > 0; }
  // A sentence that begins "5 rows of gemm: ..."; empty if the rows show a gain.
  std::string Warning(const std::string& what,
                      LearnedBy learned_by = LearnedBy::kCalibration) const;
};

// Returns the evidence of one group of rows. Both spans hold errors of the same rows in the same
// order.
CalibrationEvidence WeighCalibration(std::span<const double> without, std::span<const double> with);

// Measured rows, each of which is left out in turn.
struct LeftOutRows {
  std::vector<std::string> keys;    // equal for repeats of one measurement
  std::vector<std::string> labels;  // rows of one label are weighed together
  std::vector<double> without;      // errors of the model that learned from none of them
};

// The errors, in order, of the rows `left_out` by a model that learned from the rows `kept`; NaN
// for a row that the model cannot predict.
using ErrorsOfOthers = std::function<std::vector<double>(const std::vector<size_t>& kept,
                                                         const std::vector<size_t>& left_out)>;

// Returns the evidence for each label. Calls `errors` once for each of the LeaveOutParts() of the
// keys.
std::map<std::string, CalibrationEvidence> WeighLeftOutRows(const LeftOutRows& rows,
                                                            const ErrorsOfOthers& errors);

// Returns, for each row, the number of the part with which it is left out. Rows of equal keys,
// which are repeats of one measurement, are in the same part; a part is one key, or several if
// there are more than kMostParts keys.
inline constexpr int kMostParts = 20;
std::vector<int> LeaveOutParts(std::span<const std::string> keys);

}  // namespace stagecraft
