// KernelEvidence: what samples of kernels, left out in turn, say of a model that learned from
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

// |log(predicted / measured)| of each sample; no number where nothing predicts it.
std::vector<double> KernelErrors(const LearnedModel& model, std::span<const Sample> samples);

// By op. `base` calibrated on the others, against `base`.
std::map<std::string, CalibrationEvidence> CalibrationEvidenceByOp(const LearnedModel& base,
                                                                   std::span<const Sample> samples);

// By op, of samples so few that chance may decide: models fitted to the others, against the
// shipped one. Empty for more than kMostFewSamples, as fitting so often would take long.
inline constexpr size_t kMostFewSamples = 200;
std::map<std::string, CalibrationEvidence> FitEvidenceByOp(std::span<const Sample> samples);

}  // namespace stagecraft
