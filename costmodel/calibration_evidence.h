// CalibrationEvidence: whether a few measured rows show that a model that learned from them
// predicts better than one that did not.
#pragma once

#include <functional>
#include <map>
#include <span>
#include <string>
#include <vector>

namespace stagecraft {

// How the rows were learned from: a model calibrated on them, or one fitted to nothing else.
enum class LearnedBy { kCalibration, kFit };

// Each row is predicted twice: by the model without them (of kFit, the shipped one) and by one
// that learned from the other rows. What counts is by how much the second error is smaller,
// row by row. Errors are |log(predicted / measured)|.
struct CalibrationEvidence {
  int rows = 0;
  double without = 0, with = 0;  // means
  // The lower end of the one-sided 90 % interval of the mean gain, without - with, by
  // Student's t. Where this is positive, fewer than one in ten models that calibration does
  // not help would look as good. Minus infinity for fewer than three rows.
  double least_gain = 0;

  bool ShowsGain() const { return least_gain > 0; }
  // "5 rows of gemm: ..."; empty where a gain is shown.
  std::string Warning(const std::string& what,
                      LearnedBy learned_by = LearnedBy::kCalibration) const;
};

// Errors of the same rows in the same order.
CalibrationEvidence WeighCalibration(std::span<const double> without, std::span<const double> with);

// Measured rows that are to be left out in turn.
struct LeftOutRows {
  std::vector<std::string> keys;    // repeats of one measurement have the same
  std::vector<std::string> labels;  // rows of one label are weighed together
  std::vector<double> without;      // errors of the model that learned from none of them
};

// The errors, in order, of the rows `left_out` by a model that learned from the rows `kept`;
// no number where it cannot say.
using ErrorsOfOthers = std::function<std::vector<double>(const std::vector<size_t>& kept,
                                                         const std::vector<size_t>& left_out)>;

// The evidence for each label. Asks `errors` once for each of the LeaveOutParts() of the keys.
std::map<std::string, CalibrationEvidence> WeighLeftOutRows(const LeftOutRows& rows,
                                                            const ErrorsOfOthers& errors);

// Which of the parts each row is left out with. Rows of equal keys, which are repeats of one
// measurement, go together; a part is one key, or several where there are more than
// kMostParts of them.
inline constexpr int kMostParts = 20;
std::vector<int> LeaveOutParts(std::span<const std::string> keys);

}  // namespace stagecraft
