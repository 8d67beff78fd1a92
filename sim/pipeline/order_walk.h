// A sequence in which the passes of given orders can run, for questions about pass orders that do
// not depend on costs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "sim/pipeline/pass_order.h"
#include "sim/pipeline/pass_slots.h"

namespace stagecraft {

// Passes [first, last] of a stage's order, which run beside each other; usually just one.
struct PassRun {
  int32_t stage = 0;
  uint32_t first = 0;
  uint32_t last = 0;
};

struct OrderWalk {
  std::vector<PassRun> runs;  // each after everything that it waits for
  std::vector<size_t> next;   // by stage: how many of its passes can run
  std::vector<char> ran;      // by slot
};

// Returns the pass at `first` of an order together with those that run beside it.
PassRun RunAt(std::span<const PassOrder> orders, int stage, size_t first);

// Returns a pass that `pass` waits for and that has not run; its stage is -1 if there is none.
PassSlots::Located FirstUnmet(const PassSlots& slots, int stage, const Pass& pass,
                              std::span<const char> ran);

// Runs every pass that can run; linear in the passes. The orders deadlock if a stage stops before
// its end.
OrderWalk WalkOrders(const PassSlots& slots, std::span<const PassOrder> orders);

}  // namespace stagecraft
