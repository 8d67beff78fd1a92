// Predicts many measured rows, on all processors.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "tools/validation/error_table.h"
#include "tools/validation/prediction.h"
#include "tools/validation/step_fit.h"

namespace stagecraft {

using RowProgress = std::function<void(int64_t done, int64_t all)>;

// Sets the prediction of each row; the result does not depend on the number of processors. Calls
// `progress`, if given, from the calling thread.
void PredictRows(std::vector<ValidatedRow>& rows, const PredictionBasis& basis,
                 const RowProgress& progress = nullptr);

// Returns the errors of those rows that are times of training steps and count once, predicted with
// these constants.
std::vector<SourceError> TimeErrorsOf(std::span<const ValidatedRow> rows,
                                      const PredictionBasis& basis, const StepConstants& constants);

}  // namespace stagecraft
