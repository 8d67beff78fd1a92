// TiedStages: two stages that hold an embedding and a head that are one tensor.
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

// No value if there are none, if they are frozen, or if the two stages hold the same anyway.
std::optional<TiedStages> FindTiedStages(const Plan& plan, const Workload& workload);

}  // namespace stagecraft
