// ErrorStats: statistics of the errors of predictions against measurements.
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

  // |predicted - measured| / measured in percent; no value without a prediction.
  std::optional<double> ape() const;
  // The same for the prediction without the facts that were inferred from the scored rows; ape() if
  // it rests on none of them.
  std::optional<double> ape_without() const;
  // Whether the 80 % interval of the prediction contains the measured value; no value if the
  // prediction claims no interval.
  std::optional<bool> is_in_interval() const;
};

// Facts that were inferred from the scored rows, and the MAPE of all counted rows if only these
// facts are left out; rows that cannot be simulated then do not count.
struct InferredError {
  InferredFacts facts;
  std::optional<double> mape_without;
};

// Errors are in percent. A figure that does not follow from its rows has no value.
struct ErrorStats {
  std::string source;       // "" for all sources
  std::string metric_kind;  // "" for all kinds
  int rows = 0;             // scored
  int simulated = 0;
  int counted = 0;  // simulated and primary: errors are computed over these
  std::optional<double> mape, median_ape, p90_ape;
  std::optional<double> bias;  // mean of (predicted - measured) / measured
  // How many counted rows have an interval, and which percentage of these intervals contain the
  // measured value.
  int interval_rows = 0;
  std::optional<double> interval80_coverage;
  // How many counted rows have a prediction that rests on facts inferred from the scored rows, and
  // the MAPE of all counted rows if they are simulated without these facts.
  int inferred_rows = 0;
  std::optional<double> mape_without;
  std::vector<InferredError> inferred;  // in order of first appearance
  // The number of groups of at least 4 counted rows whose measured values are not all equal.
  int groups = 0;
  std::optional<double> spearman;  // rank correlation within these groups, median
  // How much worse than the best row of a group the row is that was predicted best: the median over
  // groups, and the mean, which says more if most groups have no regret.
  std::optional<double> regret, mean_regret;
  // How many counted rows have baselines, and the MAPE over these: our own and the baselines'.
  int baseline_rows = 0;
  std::optional<double> baseline_own, constant_rate, ridge;
};

// Returns the statistics over all `rows`; source and kind are left empty.
ErrorStats Summarize(std::span<const ValidatedRow* const> rows);

// Returns one entry for each distinct (source, metric kind), in order of first appearance. If
// `by_source` or `by_kind` is false, all sources or kinds are together, and the name is empty.
std::vector<ErrorStats> SummarizeBy(std::span<const ValidatedRow> rows, bool by_source,
                                    bool by_kind);

// Returns Spearman's rank correlation, with ties at their mean rank; 0 if all predicted values are
// equal, no value if all measured ones are. Precondition: equal sizes.
std::optional<double> Spearman(const std::vector<double>& predicted,
                               const std::vector<double>& measured);

}  // namespace stagecraft
