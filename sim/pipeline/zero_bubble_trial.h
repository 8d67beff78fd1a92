// How many micro-batches are enough to compare rules of a zero-bubble scheduler.
#pragma once

#include <algorithm>

namespace stagecraft {

// A pipeline warms up and drains within about 2p micro-batches, and what lies between repeats. So
// rules are compared on this many, and only the best are run for all.
inline int TrialMicroBatches(int stages, int micro_batches) {
  constexpr int kPerStage = 4;
  constexpr int kLeast = 128;
  return std::min(micro_batches, std::max(kPerStage * stages, kLeast));
}

}  // namespace stagecraft
