// TrafficRules: beside which passes of a stage its data-parallel ranks reduce gradients and
// gather parameters.
#pragma once

#include <cstdint>
#include <vector>

#include "sim/plan/plan.h"
#include "sim/schedule/schedule.h"

namespace stagecraft {

class TrafficRules {
 public:
  // The plan must outlive this. `updates`: the weights are updated at the end of the step.
  TrafficRules(const Plan& plan, bool updates);

  // The number of ranks that hold copies of the same parameters of a stage.
  int64_t DataRanks(int stage) const { return data_ranks_[stage]; }

  // Whether gradients are reduced bucket by bucket, beside the last backward only.
  bool OverlapsReduction(int stage) const;
  // Whether gradients are reduced beside every backward: ZeRO-2 and above.
  bool ReducesEveryPass(int stage) const;
  // Whether parameters are gathered bucket by bucket, beside the first forward only.
  bool OverlapsGather(int stage) const;
  // Whether parameters are gathered beside every pass: ZeRO-3.
  bool GathersEveryPass(int stage) const;

  // Whether some passes of this phase are divided at the borders of buckets, so that the traffic of
  // one bucket can run beside the layers of the next.
  bool DividesSome(int stage, Phase phase) const;

 private:
  const Plan& plan_;
  const bool updates_;
  std::vector<int64_t> data_ranks_;  // by stage
};

}  // namespace stagecraft
