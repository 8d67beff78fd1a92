// TiedStages: stages that hold layers whose weights are one tensor.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <vector>

#include "sim/plan/plan.h"
#include "sim/workload/workload.h"

namespace stagecraft {

struct TiedStages {
  std::vector<int> stages;   // all that hold it, ascending; two or more
  std::vector<int> trained;  // those of them whose backwards make gradients of it; one or more
  std::vector<int> copies;   // the others, which the last one of `trained` sends what it updates
  int64_t parameters = 0;

  bool Hold(int stage) const {
    return std::find(stages.begin(), stages.end(), stage) != stages.end();
  }
};

// Considers an embedding, the head that it is tied to, and the heads of exits. No value if they are
// not tied, if they are frozen, or if one stage, or stages that hold the same, hold all of them.
std::optional<TiedStages> FindTiedStages(const Plan& plan, const Workload& workload);

}  // namespace stagecraft
