// Prediction: what the simulator predicts for a measured row.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "costmodel/cost_model.h"
#include "tools/stacks/stack_table.h"
#include "tools/validation/measured_row.h"
#include "tools/validation/row_facts.h"
#include "tools/validation/step_constants.h"
#include "tools/validation/step_metric.h"

namespace stagecraft {

// What the baselines learn from, besides the step time.
struct StepFeatures {
  double model_flops = 0;      // 3x-causal-attention, for the whole job
  double peak_flop_per_s = 0;  // of one device at the precision of the row
  double layers = 0, hidden = 0, sequence = 0, global_batch = 0;
  double devices = 0, tp = 0, pp = 0;
};

// Some of the facts that were inferred from the scored rows, and the value if only these are left
// out.
struct InferredPart {
  InferredFacts facts;
  std::optional<double> value_without;
};

struct Prediction {
  std::optional<double> value;  // in Unit(metric_kind)
  // Sigma of log(value); no value if the prediction claims no interval, as for memory and idle
  // shares.
  std::optional<double> spread;
  // Which facts of the row were inferred from the scored rows, and the predicted value without all
  // of them; no value if it cannot be simulated without them.
  std::vector<InferredPart> inferred;
  std::optional<double> value_without;
  std::string reason;  // why there is no value
  // There is no value because a simulation, with all facts or without some, had an impossible
  // result (sim/step/evaluation_errors.h), which is an error of the program, not of the row.
  bool is_unsound = false;
  std::vector<std::string> defaults_used;
  // The mechanism to which most of the value is due (main_part.h); empty if it is not that of a
  // step or of a memory.
  std::string main_part;
  std::optional<StepMetric> metric;  // by which the value follows from the step time, if it does
  // The same steps for the baselines; no value for a user's own, from which they do not learn.
  std::optional<StepFeatures> step;
};

// What predictions rest on. All of it must outlive their use.
struct PredictionBasis {
  const StackTable& stacks;
  const RowFactTable& facts;
  const CostModel& model;
  // The same model without the curves of facts.NetworkSites(); nullptr if `model` has none.
  const CostModel* model_without_sites = nullptr;
  StepConstants constants = {};
};

// A row that cannot be simulated is no exception: the prediction then has no value but a reason.
// May be called from any thread.
Prediction PredictRow(const MeasuredRow& row, const PredictionBasis& basis);

}  // namespace stagecraft
