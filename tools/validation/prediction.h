// Prediction: what the simulator says to a measured row.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "costmodel/cost_model.h"
#include "tools/validation/measured_row.h"
#include "tools/validation/stack_table.h"
#include "tools/validation/step_metric.h"

namespace stagecraft {

// What baselines learn from, besides the step time.
struct StepFeatures {
  StepMetric metric;
  double model_flops = 0;      // 3x-causal-attention, whole job
  double peak_flop_per_s = 0;  // of one device at the row's precision
  double layers = 0, hidden = 0, sequence = 0, global_batch = 0;
  double devices = 0, tp = 0, pp = 0;
};

struct Prediction {
  std::optional<double> value;  // in Unit(metric_kind)
  std::string reason;           // why there is none
  std::vector<std::string> defaults_used;
  std::optional<StepFeatures> step;  // where the metric follows from the step time
};

// Never throws for what a row says: that becomes the reason. Safe from any
// thread.
Prediction PredictRow(const MeasuredRow& row, const StackTable& table, const CostModel& model);

}  // namespace stagecraft
