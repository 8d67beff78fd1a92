// OffloadedPass: a micro-batch whose saved activations stay in host memory until its backward is
// near.
#pragma once

#include <vector>

#include "sim/pipeline/pass_order.h"

namespace stagecraft {

// Positions in the pass order of a stage. With two buffers, the copy to the host begins after the
// forward and has ended before the second pass after it begins; the copy back begins after the
// second pass before the backward.
struct OffloadedPass {
  int forward = 0;
  int backward = 0;  // the whole backward, or its input gradients

  int LastBeforeGone() const { return forward + 1; }
  int LastBeforeBack() const { return backward - 2; }
};

// Returns the micro-batches whose activations are off the device for at least one pass, ordered by
// their forwards. Those whose backward is one of the three passes after the forward stay on the
// device. Linear in the passes.
std::vector<OffloadedPass> OffloadedPasses(const PassOrder& order);

}  // namespace stagecraft
