// Predictions of measured parts of a step: one layer, one pipeline's bubble,
// one kernel, one collective.
#pragma once

#include <string>
#include <vector>

#include "costmodel/cost_model.h"
#include "tools/validation/measured_row.h"
#include "tools/validation/row_plan.h"

namespace stagecraft {

// Each returns the row's value in Unit(metric_kind), and throws InputError with
// the reason where there is none.

// Seconds of one transformer layer and micro-batch, forward, backward or both
// by the name of the metric; backward contains the recomputation.
double PredictLayerTime(CompletedRow& completed, const CostModel& model);

// Idle share (cost - m·(F + B + W)) / cost of a pipeline of equal stages with
// the row's stage_times_ms.
double PredictBubbleRate(const MeasuredRow& row);

// Seconds or TFLOP/s of one matrix product.
double PredictKernel(const MeasuredRow& row, const CostModel& model);

// Seconds or GB/s (nccl-tests' bus bandwidth) of one collective.
double PredictCollective(const MeasuredRow& row, const CostModel& model,
                         std::vector<std::string>& defaults_used);

}  // namespace stagecraft
