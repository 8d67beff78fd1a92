#include "sim/pipeline/order_memory.h"

#include <algorithm>

namespace stagecraft {
namespace {

int64_t Change(const PassMemory& memory, Phase phase) {
  switch (phase) {
    case Phase::kForward:
      return memory.after_forward;
    case Phase::kBackwardInput:
      return memory.after_input - memory.after_forward;
    case Phase::kBackwardWeight:
      return -memory.after_input;
    default:
      return -memory.after_forward;
  }
}

}  // namespace

int64_t PeakMemory(const PassOrder& order, std::span<const PassMemory> memory) {
  int64_t held = 0;
  int64_t peak = 0;
  for (const Pass& pass : order) {
    held += Change(memory[pass.chunk], pass.phase);
    peak = std::max(peak, held);
  }
  return peak;
}

}  // namespace stagecraft
