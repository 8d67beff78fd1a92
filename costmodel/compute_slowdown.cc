#include "costmodel/compute_slowdown.h"

#include <algorithm>

#include "costmodel/board_power.h"

namespace stagecraft {
namespace {

// NCCL finds a ring for every link of a rank (links are counted as CollectiveMethod::channels), and
// runs each ring twice.
constexpr int kBlocksPerLink = 2;

}  // namespace

double ComputeSlowdown(const Op& op, const CollectiveMethod& method, const Device& device) {
  if (device.generation == Generation::kHost || device.multiprocessors == 0) return 0;
  if (op.kind == OpKind::kSendRecv || op.fabric.ranks <= 1) return 0;
  const double blocks = std::min(device.collective_blocks, kBlocksPerLink * method.channels);
  const double left = 1 - std::min(0.5, blocks / device.multiprocessors);
  return 1 - left * ClockGain(device, left);
}

}  // namespace stagecraft
