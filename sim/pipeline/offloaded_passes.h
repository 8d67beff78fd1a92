// OffloadedPass: what a forward saved lies with the host until its backward is near.
#pragma once

#include <vector>

#include "sim/pipeline/pass_order.h"

namespace stagecraft {

// By place in the order of a stage, with two buffers: the copy to the host, which begins
// behind the forward, has ended before the second pass after it begins, and the copy back
// begins behind the second pass before the backward.
struct OffloadedPass {
  int forward = 0;
  int backward = 0;  // whole, or its input gradients

  int LastBeforeGone() const { return forward + 1; }
  int LastBeforeBack() const { return backward - 2; }
};

// Micro-batches that are off the device during a pass at least, by forward. Others, whose
// backward is one of the three passes behind their forward, stay. Linear in the passes.
std::vector<OffloadedPass> OffloadedPasses(const PassOrder& order);

}  // namespace stagecraft
