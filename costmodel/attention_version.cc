#include "costmodel/attention_version.h"

namespace stagecraft {
namespace {

struct Slowness {
  double forward, backward;
  double Of(const Op& op) const { return op.direction == Direction::kForward ? forward : backward; }
};
constexpr Slowness kOne = {1.5, 1.8};            // of version 1 over version 2
constexpr Slowness kTwoOnHopper = {1.75, 1.62};  // of version 2 over version 3

bool IsBeforeTuring(Generation generation) {
  return generation == Generation::kKepler || generation == Generation::kPascal ||
         generation == Generation::kVolta;
}

// Whether a version later than 2 was written for the generation.
bool IsAfterAda(Generation generation) {
  return generation == Generation::kHopper || generation == Generation::kBlackwell;
}

}  // namespace

double VersionSlowness(const Op& op, const Device& device) {
  const bool is_one = op.attention_kernel == AttentionKernel::kFlash1;
  if (!is_one && op.attention_kernel != AttentionKernel::kFlash2) return 1;
  return (is_one ? kOne.Of(op) : 1) * (IsAfterAda(device.generation) ? kTwoOnHopper.Of(op) : 1);
}

bool RunsOn(AttentionKernel kernel, Generation generation) {
  switch (kernel) {
    case AttentionKernel::kFlash1:
      return !IsBeforeTuring(generation);
    case AttentionKernel::kFlash2:
      return !IsBeforeTuring(generation) && generation != Generation::kTuring;
    case AttentionKernel::kFlash3:
      return generation == Generation::kHopper;
    default:
      return true;
  }
}

}  // namespace stagecraft
