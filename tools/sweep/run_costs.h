// RunCosts: the time, the energy and the money of a training run with the plan of a sweep's point.
#pragma once

#include <map>
#include <optional>
#include <string>

#include "sim/cluster/cluster.h"
#include "sim/step/training_cost.h"
#include "tools/flags/cost_flags.h"
#include "tools/sweep/grid.h"
#include "tools/sweep/run_row.h"

namespace stagecraft {

// Not thread-safe.
class RunCosts {
 public:
  // `flags` must outlive the object.
  explicit RunCosts(const CostFlags& flags) : flags_(flags) {}

  // Throws InputError for clusters of a grid as Of() does for those of its points, before any point
  // is evaluated. A cluster that cannot be read is left to its points.
  void Check(const Grid& grid) const;

  // Returns what the run takes. No value for a point without a step, and without --tokens. A plan
  // that uses only some devices of a cluster of several GPU types has neither energy nor money,
  // since the row does not say which.
  // Throws InputError as CostFlags::Build() does, and for a cluster that can no longer be read.
  std::optional<TrainingCost> Of(const RunRow& row);
  // Returns what is asked about the point's cluster.
  const CostQuestion& QuestionOf(const RunRow& row) { return PricedOf(row).question; }

 private:
  struct Priced {
    Cluster cluster;
    CostQuestion question;
  };
  const Priced& PricedOf(const RunRow& row);

  const CostFlags& flags_;
  std::map<std::string, Priced> clusters_;  // by the value of --cluster
};

}  // namespace stagecraft
