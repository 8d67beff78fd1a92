// Experiment: how well each kind of model predicts samples it has not seen.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "costmodel/error_summary.h"
#include "costmodel/learned/learned_model.h"
#include "costmodel/learned/sample.h"
#include "costmodel/learned/splits.h"
#include "costmodel/learned/training_rows.h"

namespace stagecraft {

enum class ModelKind { kRoofline, kInterpolation, kRidge, kBoostedTrees, kShipped };
inline constexpr int kModelKindCount = 5;
const char* Name(ModelKind kind);

// How many times the rows that calibrate are drawn.
inline constexpr int kCalibrationDraws = 20;

struct ExperimentOptions {
  std::string split = "none";
  std::vector<ModelKind> models;
  int calibrate = 0;  // rows of each family that the shipped model gets of the left-out GPU
  uint64_t seed = 1;
  // The model that kShipped stands for if nothing trains; nullptr: the model in the binary.
  const LearnedModel* shipped = nullptr;
  std::function<void(const std::string&)> report;  // progress; may be empty
};

// What a model predicts for a sample, and how certain it is.
struct SamplePrediction {
  int sample = 0;
  double seconds = 0;
  double spread = 0;
};

// The errors over the rows of one op, GPU type, number format and model.
struct Accuracy : ErrorSummary {
  std::string op, gpu, dtype;
  ModelKind model = ModelKind::kShipped;
  std::optional<ErrorSummary> uncalibrated;  // of the same rows without calibration
};

struct Experiment {
  std::vector<Accuracy> groups;        // by op, gpu, dtype, model
  std::vector<Accuracy> overall;       // means over groups, by model
  std::vector<Accuracy> overall_rows;  // over rows, by model
  std::map<ModelKind, std::vector<SamplePrediction>> predictions;
  // As `predictions` for kShipped, but by the model before it was calibrated; empty if no rows
  // calibrate.
  std::vector<SamplePrediction> uncalibrated;
  SkippedRows skipped;  // rows that no model can predict, or that all calibrate
};

// Throws InputError for a split that CheckSplits() refuses.
Experiment RunExperiment(std::span<const Sample> samples, const ExperimentOptions& options);

}  // namespace stagecraft
