// TiedStages: an embedding and a head that are one tensor, on different stages.
#pragma once

#include <cstdint>
#include <optional>

#include "sim/plan/plan.h"
#include "sim/workload/workload.h"

namespace stagecraft {

struct TiedStages {
  int first = 0;  // with the embedding
  int last = 0;   // with the head
  int64_t parameters = 0;

  bool Hold(int stage) const { return stage == first || stage == last; }
};

// Nothing where there are none, or where the two stages hold the same anyway.
std::optional<TiedStages> FindTiedStages(const Plan& plan, const Workload& workload);

}  // namespace stagecraft
