// KernelEvidence: what samples of kernels, left out in turn, show about a model that learned from
// the others.
#pragma once

#include <map>
#include <span>
#include <string>
#include <vector>

#include "costmodel/calibration_evidence.h"
#include "costmodel/learned/learned_model.h"
#include "costmodel/learned/sample.h"

namespace stagecraft {

// Returns |log(predicted / measured)| of each sample; NaN if the model does not predict it.
std::vector<double> KernelErrors(const LearnedModel& model, std::span<const Sample> samples);

// For each op: whether `base`, calibrated on the other rows, predicts rows better than `base`.
std::map<std::string, CalibrationEvidence> CalibrationEvidenceByOp(const LearnedModel& base,
                                                                   std::span<const Sample> samples);

// For each op: whether models fitted to the other rows predict rows better than the shipped one.
// Only for numbers of samples so small that chance may decide; empty for more than kMostFewSamples,
// since fitting so many models would take long.
inline constexpr size_t kMostFewSamples = 200;
std::map<std::string, CalibrationEvidence> FitEvidenceByOp(std::span<const Sample> samples);

}  // namespace stagecraft
