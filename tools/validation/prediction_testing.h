// Predictions of single rows for tests.
#pragma once

#include <algorithm>
#include <string>

#include "costmodel/analytical_model.h"
#include "tools/validation/prediction.h"
#include "tools/validation/row_facts.h"

namespace stagecraft {

// Predicts the row with the formulas alone, and the shipped tables of stacks and facts.
inline Prediction Predict(const MeasuredRow& row) {
  const AnalyticalModel model;
  return PredictRow(row, {StackTable::Embedded(), RowFactTable::Embedded(), model});
}

// Returns whether the prediction names this default.
inline bool Uses(const Prediction& prediction, const std::string& what) {
  const auto& used = prediction.defaults_used;
  return std::find(used.begin(), used.end(), what) != used.end();
}

}  // namespace stagecraft
