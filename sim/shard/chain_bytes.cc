#include "sim/shard/chain_bytes.h"

#include "costmodel/check.h"

namespace stagecraft {
namespace {

// Elements that kernels read or write for a feature: in the width of the tensors, in 32 bits, and
// those of casts between both, each of which reads one and writes the other.
struct Accesses {
  int64_t own = 0;
  int64_t wide = 0;
  int64_t casts = 0;

  int64_t Bytes(int element_bytes) const {
    const bool is_cast = element_bytes < 4;
    return own * element_bytes + wide * 4 + (is_cast ? casts * (4 + element_bytes) : 0);
  }
};

// Squares (2), their mean (1), the product with its inverse root (2), all in 32 bits; then the
// product with the weights (2).
constexpr Accesses kNormForward = {.own = 2, .wide = 5, .casts = 2};
// Gradients of the product with the weights: of its input (2), of the weights (3) and their sum
// over rows (1). Then in 32 bits those of the product with the root: of its input (2), of the root
// (3) and its sum over features (1); of the mean (1); of the square, as the power of one less (2)
// times two (2) times the gradient (3); and the sum of both gradients of the input (3).
constexpr Accesses kNormBackward = {.own = 6, .wide = 17, .casts = 2};

// The product with the cosines (2), the negated half (1), the concatenation (2), the product with
// the sines (2), and the sum (3).
constexpr Accesses kRotationForward = {.own = 10};
// The product with the sines (2), the negated half (1), two tensors of zeros (2) into which the
// halves are copied (2) and which are added (3), the product with the cosines (2), and the sum (3).
constexpr Accesses kRotationBackward = {.own = 15};

constexpr Accesses kGatedForward = {.own = 5};   // the activation (2) and the product (3)
constexpr Accesses kGatedBackward = {.own = 9};  // of both factors (6) and of the activation (3)

// 0.5 x (1 + tanh(a (x + b x^3))): the cube (2), times b (2), plus x (3), times a (2), the tanh
// (2), plus 1 (2), half of x (2), and the product (3).
constexpr Accesses kGeluForward = {.own = 18};
// Gradients of both factors (6), of the half (2), of the tanh (3), of a (2) and b (2), of the cube
// as the square (2) times three (2) times the gradient (3), and two sums (6).
constexpr Accesses kGeluBackward = {.own = 28};
// Autocast casts for the cube, and what follows from it has 32 bits: all but x (2), its half (2)
// and, in the backward, the gradients of them (9).
constexpr Accesses kGeluForwardAutocast = {.own = 4, .wide = 14, .casts = 2};
constexpr Accesses kGeluBackwardAutocast = {.own = 9, .wide = 19, .casts = 4};

// Elements that one fused kernel reads and writes for a feature in the forward.
int64_t FusedAccesses(KernelChain chain) { return chain == KernelChain::kGatedActivation ? 3 : 2; }

}  // namespace

int64_t ChainFeatures(const Operator& op) { return op.forward_elements / FusedAccesses(op.chain); }

int64_t ChainBytes(KernelChain chain, Direction direction, int element_bytes, bool autocasts) {
  CHECK(chain != KernelChain::kNone);
  const bool is_forward = direction == Direction::kForward;
  switch (chain) {
    case KernelChain::kRmsNorm:
      return (is_forward ? kNormForward : kNormBackward).Bytes(autocasts ? 4 : element_bytes);
    case KernelChain::kRotation:
      return (is_forward ? kRotationForward : kRotationBackward).Bytes(element_bytes);
    case KernelChain::kGatedActivation:
      return (is_forward ? kGatedForward : kGatedBackward).Bytes(element_bytes);
    case KernelChain::kTanhGelu:
      if (autocasts) {
        return (is_forward ? kGeluForwardAutocast : kGeluBackwardAutocast).Bytes(element_bytes);
      }
      return (is_forward ? kGeluForward : kGeluBackward).Bytes(element_bytes);
    case KernelChain::kNone:
      break;
  }
  return 0;
}

}  // namespace stagecraft
