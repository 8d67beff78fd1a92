#include "costmodel/attention_version.h"

namespace stagecraft {
namespace {

struct Slowness {
  double forward, backward;
  double Of(const Op& op) const { return op.direction == Direction::kForward ? forward : backward; }
};
constexpr Slowness kVersion1 = {1.5, 1.8};            // of version 1 over version 2
constexpr Slowness kVersion2OnHopper = {1.75, 1.62};  // of version 2 over version 3

// No kernel was measured on Blackwell that was not written for it: version 2 is assumed to be as
// slow there as on Hopper.
bool IsAfterAda(Generation generation) {
  return generation == Generation::kHopper || generation == Generation::kBlackwell;
}
bool IsAmpereOrLater(Generation generation) {
  return generation == Generation::kAmpere || generation == Generation::kAda ||
         IsAfterAda(generation);
}
bool IsAmd(Generation generation) {
  return generation == Generation::kCdna2 || generation == Generation::kCdna3 ||
         generation == Generation::kCdna4;
}

}  // namespace

double VersionSlowness(const Op& op, const Device& device) {
  const bool is_one = op.attention_kernel == AttentionKernel::kFlash1;
  if (!is_one && op.attention_kernel != AttentionKernel::kFlash2) return 1;
  return (is_one ? kVersion1.Of(op) : 1) *
         (IsAfterAda(device.generation) ? kVersion2OnHopper.Of(op) : 1);
}

bool RunsOn(AttentionKernel kernel, Generation generation) {
  switch (kernel) {
    case AttentionKernel::kFlash1:
      return IsAmpereOrLater(generation) || generation == Generation::kTuring;
    case AttentionKernel::kFlash2:
      return IsAmpereOrLater(generation) || IsAmd(generation);
    case AttentionKernel::kFlash3:
      return generation == Generation::kHopper;
    case AttentionKernel::kCudnn:
      return IsAmpereOrLater(generation);
    default:
      return true;
  }
}

}  // namespace stagecraft
