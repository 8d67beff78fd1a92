// How many micro-batches tell rules of a zero-bubble scheduler apart.
#pragma once

#include <algorithm>

namespace stagecraft {

// A pipeline warms up and drains within some 2p micro-batches; what comes between repeats
// itself. So rules are compared on these many, and only the best run for all.
inline int TrialMicroBatches(int stages, int micro_batches) {
  constexpr int kPerStage = 4;
  constexpr int kLeast = 128;
  return std::min(micro_batches, std::max(kPerStage * stages, kLeast));
}

}  // namespace stagecraft
