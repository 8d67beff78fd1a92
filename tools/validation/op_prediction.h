// Predictions of measured parts of a step: one layer, one pipeline's bubble, one kernel, one
// collective.
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

// Seconds of one transformer layer and micro-batch, for the pass that the facts name; the backward
// includes recomputation.
PredictedPart PredictLayerTime(CompletedRow& completed, const CostModel& model);

// Idle share (cost - m·(F + B + W)) / cost of a pipeline of equal stages with the row's
// stage_times_ms. It follows from these alone: nothing is uncertain.
double PredictBubbleRate(const MeasuredRow& row);

// Seconds or TFLOP/s of one GEMM.
PredictedPart PredictKernel(const MeasuredRow& row, const CostModel& model);

// Seconds or GB/s (nccl-tests' bus bandwidth) of one collective.
PredictedPart PredictCollective(const MeasuredRow& row, const CostModel& model,
                                std::vector<std::string>& defaults_used);

}  // namespace stagecraft
