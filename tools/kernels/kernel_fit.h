// KernelFit: a cost model of kernels made from measured samples, or adapted to the few samples of a
// site.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "costmodel/learned/learned_model.h"
#include "tools/flags/sample_flags.h"
#include "tools/report/fit_report.h"
#include "tools/verb/command.h"

namespace stagecraft {

// The values of the flags of `fit` with the same names.
struct KernelFitFlags {
  Args samples;            // empty: start from cost_model
  std::string calibrate;   // empty: no calibration
  std::string cost_model;  // empty: the shipped model
  std::string cluster;
};

struct KernelFit {
  std::unique_ptr<const LearnedModel> model;  // includes the measured times of single ops
  std::string provenance;
  std::optional<FitSummary> fit;                  // of --samples
  std::optional<CalibrationSummary> calibration;  // of --calibrate
};

// Fits or reads a model, and calibrates it if --calibrate is given. Throws InputError for files
// that cannot be read, and if nothing is left to learn from.
KernelFit FitKernels(const KernelFitFlags& flags, ProgressLine& progress);

}  // namespace stagecraft
