#include "costmodel/learned/kernel_family.h"

#include "costmodel/hash.h"

namespace stagecraft {

uint64_t ShapeOf(const Op& op) {
  Hash hash;
  switch (op.kind) {
    case OpKind::kGemm:
    case OpKind::kConvolution:
      return hash.Add(1).Add(op.n).Add(op.k).value();
    case OpKind::kAttention:
      return hash.Add(2).Add(op.sequences).Add(op.n).value();
    case OpKind::kSparse:
      return hash.Add(5).Add(op.n).Add(op.k).Add(op.nonzeros).value();
    case OpKind::kNorm:
    case OpKind::kSoftmax:
      return hash.Add(3).Add(op.n).value();
    default:
      return hash.Add(4).Add(op.bytes.count()).value();
  }
}

}  // namespace stagecraft
