// CalibrationEvidence: whether a few measured rows show that a model calibrated on them
// predicts better than before.
#pragma once

#include <span>
#include <string>
#include <vector>

namespace stagecraft {

// Each row is predicted twice: by the model without calibration and by one that was
// calibrated on the other rows. What counts is by how much the second error is smaller,
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
  std::string Warning(const std::string& what) const;
};

// Errors of the same rows in the same order.
CalibrationEvidence WeighCalibration(std::span<const double> without, std::span<const double> with);

// Which of the parts each row is left out with. Rows of equal keys, which are repeats of one
// measurement, go together; a part is one key, or several where there are more than
// kMostParts of them.
inline constexpr int kMostParts = 20;
std::vector<int> LeaveOutParts(std::span<const std::string> keys);

}  // namespace stagecraft
