// Predicts measured parts of a step: a layer, the bubble of a pipeline, a kernel, a collective.
#pragma once

#include <string>
#include <vector>

#include "costmodel/cost_model.h"
#include "tools/validation/measured_row.h"
#include "tools/validation/row_plan.h"

namespace stagecraft {

// A value in Unit(metric_kind).
struct PredictedPart {
  double value = 0;
  double spread = 0;  // sigma of log(value)
};

// Each of these functions throws an InputError with the reason if there is no value.

// Returns the seconds of one transformer layer and micro-batch, for the pass that the facts name.
// The backward includes recomputation.
PredictedPart PredictLayerTime(CompletedRow& completed, const CostModel& model);

// Returns the idle share (cost - m·(F + B + W)) / cost of a pipeline of equal stages with the row's
// stage_times_ms. It has no spread, since it follows from these alone.
double PredictBubbleRate(const MeasuredRow& row);

// Returns the seconds or TFLOP/s of one GEMM.
PredictedPart PredictKernel(const MeasuredRow& row, const CostModel& model);

// Returns the seconds or GB/s (nccl-tests' bus bandwidth) of one collective.
PredictedPart PredictCollective(const MeasuredRow& row, const CostModel& model,
                                std::vector<std::string>& defaults_used);

}  // namespace stagecraft
