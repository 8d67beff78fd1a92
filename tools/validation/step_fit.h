// StepFit: fits StepConstants on measured steps, and says how well constants that were fitted
// without a source predict that source.
#pragma once

#include <functional>
#include <iosfwd>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "tools/validation/class_errors.h"
#include "tools/validation/error_table.h"
#include "tools/validation/prediction.h"
#include "tools/validation/step_constants.h"

namespace stagecraft {

// The error of a source's rows of one class: MAPE of times, in percent.
struct SourceError {
  WorkClass work = WorkClass::kLarge16;
  std::string source;
  int rows = 0;
  double mape = 0;
};

// Returns the errors with these constants: the same sources in the same order, whatever they are.
using ErrorsOfConstants = std::function<std::vector<SourceError>(const StepConstants&)>;

// Errors with the constants in use, with those fitted on all sources, and with those fitted without
// the source.
struct FittedError {
  double in_use = 0, fitted = 0, left_out = 0;
};

struct FittedSource {
  WorkClass work = WorkClass::kLarge16;
  std::string source;
  int rows = 0;
  FittedError error;
  StepConstants without;  // fitted without the source, in any class
};

struct StepFit {
  StepConstants in_use, fitted;
  std::vector<FittedSource> sources;
  int evaluations = 0;  // how often all rows were predicted
};

// Returns the errors of those rows that are times of training steps and count once, predicted with
// these constants.
std::vector<SourceError> TimeErrorsOf(std::span<const ValidatedRow> rows,
                                      const PredictionBasis& basis, const StepConstants& constants);

// Returns the mean error over the sources, or over those of one class that has some.
FittedError MeanOf(const StepFit& fit, std::optional<WorkClass> work);

// Chooses for each constant the candidate with the least mean error over sources while the others
// stay, in turn until none changes, from the constants in use on. Candidates of equal error: the
// one in use, else the smallest. Throws an InputError if there are fewer than two sources.
StepFit FitStepConstants(const ErrorsOfConstants& errors);

// Whether the fitted constant is its first or last candidate, so that a better one may lie beyond.
bool EndsAtBound(const StepConstant& constant, const StepConstants& fitted);

void PrintStepFit(const StepFit& fit, std::ostream& out);
nlohmann::ordered_json StepFitToJson(const StepFit& fit);

}  // namespace stagecraft
