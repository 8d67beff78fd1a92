// A sequence in which the passes of given orders can run: for all that asks what an
// order does without knowing what its passes cost.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "sim/pipeline/pass_order.h"
#include "sim/pipeline/pass_slots.h"

namespace stagecraft {

// Passes [first, last] of a stage's order, which run beside each other; mostly one.
struct PassRun {
  int32_t stage = 0;
  uint32_t first = 0;
  uint32_t last = 0;
};

struct OrderWalk {
  std::vector<PassRun> runs;  // each behind all it waits for
  std::vector<size_t> next;   // by stage: how many of its passes can run
  std::vector<char> ran;      // by slot
};

// The pass at `first` of an order, and those it runs beside.
PassRun RunAt(std::span<const PassOrder> orders, int stage, size_t first);

// One that `pass` waits for and that has not run; its stage is -1 where there is none.
PassSlots::Located FirstUnmet(const PassSlots& slots, int stage, const Pass& pass,
                              std::span<const char> ran);

// Runs whatever can; linear in the passes. The orders deadlock where a stage stops
// before its end.
OrderWalk WalkOrders(const PassSlots& slots, std::span<const PassOrder> orders);

}  // namespace stagecraft
