// Error statistics of predictions against measurements.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "tools/validation/measured_row.h"
#include "tools/validation/prediction.h"
#include "tools/validation/row_facts.h"

namespace stagecraft {

// A scored row and what was predicted for it.
struct ValidatedRow {
  MeasuredRow measured;
  Prediction prediction;
  // What baselines predict, in the unit of the row; no value if they cannot predict it.
  std::optional<double> constant_rate;
  std::optional<double> ridge;

  // |predicted - measured| / measured in percent.
  std::optional<double> ape() const;
  // The same for the prediction without the facts that were inferred from the scored rows; ape() if
  // it rests on none of them.
  std::optional<double> ape_without() const;
  // Whether the 80 % interval of the prediction contains the measured value; no value if the
  // prediction claims no interval.
  std::optional<bool> is_in_interval() const;
};

// Facts that were inferred from the scored rows, and the mape of all counted rows that can be
// simulated without these facts alone.
struct InferredError {
  InferredFacts facts;
  std::optional<double> mape_without;
};

// Errors in percent. A figure that its rows do not give is absent.
struct ErrorStats {
  std::string source;       // "" for all sources
  std::string metric_kind;  // "" for all kinds
  int rows = 0;             // scored
  int simulated = 0;
  int counted = 0;  // simulated and primary: those over which errors are computed
  std::optional<double> mape, median_ape, p90_ape;
  std::optional<double> bias;  // mean of (predicted - measured) / measured
  // How many counted rows have an interval, and for how many percent of them it holds.
  int interval_rows = 0;
  std::optional<double> interval80_coverage;
  // How many counted rows have a prediction that rests on facts inferred from the scored rows, and
  // the mape of all counted rows if they are simulated without these facts.
  int inferred_rows = 0;
  std::optional<double> mape_without;
  std::vector<InferredError> inferred;  // in order of first appearance
  int groups = 0;                       // of at least 4 counted rows with different measured values
  // Rank correlation within these groups, median.
  std::optional<double> spearman;
  // How much worse than the best row of a group the row is that was predicted best: median, and
  // mean, which says more if most groups have none.
  std::optional<double> regret, mean_regret;
  // Of the counted rows that have a baseline: how many there are, our error, and the baselines'.
  int baseline_rows = 0;
  std::optional<double> baseline_own, constant_rate, ridge;
};

// All `rows` belong to the statistics; source and kind are left empty.
ErrorStats Summarize(std::span<const ValidatedRow* const> rows);

// One entry for each distinct (source, metric kind), in order of first appearance; source or kind
// is empty if `by_source` or `by_kind` is false.
std::vector<ErrorStats> SummarizeBy(std::span<const ValidatedRow> rows, bool by_source,
                                    bool by_kind);

// Spearman's rank correlation, ties at their mean rank; 0 where the first is
// constant, nothing where the second is. Precondition: equal sizes.
std::optional<double> Spearman(const std::vector<double>& predicted,
                               const std::vector<double>& measured);

}  // namespace stagecraft
