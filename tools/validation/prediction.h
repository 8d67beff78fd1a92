// Prediction: what the simulator says to a measured row.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "costmodel/cost_model.h"
#include "tools/stacks/stack_table.h"
#include "tools/validation/measured_row.h"
#include "tools/validation/row_facts.h"
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

// One part of what the scored rows gave away, and the value without this part alone.
struct InferredPart {
  InferredFacts facts;
  std::optional<double> value_without;
};

struct Prediction {
  std::optional<double> value;  // in Unit(metric_kind)
  // Sigma of log(value); nothing where the value claims no interval: memory, idle shares.
  std::optional<double> spread;
  // What of the row's facts the scored rows gave away, and the value without all of it:
  // nothing where it cannot be simulated without.
  std::vector<InferredPart> inferred;
  std::optional<double> value_without;
  std::string reason;  // why there is none
  // There is none, or none without some facts, because what was simulated cannot be
  // (sim/step/evaluation_errors.h): an error in here, not in the row.
  bool is_unsound = false;
  std::vector<std::string> defaults_used;
  std::optional<StepFeatures> step;  // where the metric follows from the step time
};

// What predictions rest on. All of it outlives their use.
struct PredictionBasis {
  const StackTable& stacks;
  const RowFactTable& facts;
  const CostModel& model;
  // The same model without the curves of facts.NetworkSites(); nullptr if `model` has none.
  const CostModel* model_without_sites = nullptr;
};

// Never throws for what a row says: that becomes the reason. Safe from any thread.
Prediction PredictRow(const MeasuredRow& row, const PredictionBasis& basis);

}  // namespace stagecraft
