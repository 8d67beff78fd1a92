#include "runtime/cuda/op_kernel.h"

#include <algorithm>

#include "costmodel/check.h"
#include "costmodel/divide.h"

namespace stagecraft {
namespace {

// The number of elements of a kernel is a multiple of this, since each thread reads 16 bytes at
// once.
constexpr int64_t kElementStep = 128;
// Elements that a thread reads at once from a row.
constexpr int64_t kPack = 8;

// The most bytes that a launch moves, since all of them are in memory at once, with separate memory
// to read and to write. The start of such a launch takes a three-hundredth of its time on the
// fastest GPUs.
constexpr Bytes kMostBytesALaunch(1 << 30);

// Returns the number of launches of an op that moves this many bytes: at least `kernels`.
int LaunchesOf(Bytes bytes, int kernels) {
  const int64_t least = DivideUp(bytes.count(), kMostBytesALaunch.count());
  return static_cast<int>(std::max<int64_t>({1, kernels, least}));
}

std::string_view LayoutOf(const Op& op, Phase phase, uint8_t flags) {
  if (op.dtype == DType::kFp8) return kLinear;
  if ((flags & kWeightGradient) != 0) return kLinearWeightGradient;
  return phase == Phase::kForward ? kLinear : kLinearInputGradient;
}

OpKernel Product(const Op& op, Phase phase, uint8_t flags) {
  const int launches = std::max(1, op.kernels);
  const Op one = Op::Gemm(op.dtype, DivideUp(op.m, launches), op.n, op.k, op.batch);
  return {KernelFamily::kProduct, {one, std::string(LayoutOf(op, phase, flags))}, launches, {}};
}

// Returns a kernel that moves this many bytes, in launches of equal size.
OpKernel Stream(Bytes bytes, int kernels, std::string_view kernel) {
  const StreamKernel* const stream = FindStreamKernel(kernel);
  CHECK(stream != nullptr);
  const int launches = LaunchesOf(bytes, kernels);
  const int64_t step = kElementStep * stream->bytes_per_element;
  const Bytes each(std::max<int64_t>(1, bytes.count() / launches / step) * step);
  Op one = Op::Elementwise(each);
  one.kind = stream->kind;
  return {KernelFamily::kStream, {one, std::string(kernel)}, launches, {}};
}

OpKernel Rows(const Op& op, Phase phase) {
  if (op.n % kPack != 0 || op.n <= 0) return Stream(op.bytes, op.kernels, "add");
  const bool is_forward = phase == Phase::kForward;
  const std::string_view kernel = op.kind == OpKind::kNorm
                                      ? (is_forward ? "rms_norm" : "rms_norm_backward")
                                      : (is_forward ? "softmax" : "softmax_backward");
  const int launches = LaunchesOf(op.bytes, op.kernels);
  const int64_t row = op.n * FindStreamKernel(kernel)->bytes_per_element;
  const int64_t rows = std::max<int64_t>(1, op.bytes.count() / launches / row);
  const Op one = Op::Rowwise(op.kind, DType::kBf16, rows, op.n, Bytes(rows * row));
  return {KernelFamily::kRows, {one, std::string(kernel)}, launches, {}};
}

}  // namespace

OpKernel KernelOf(const Op& op, Phase phase, uint8_t flags) {
  CHECK(!IsCollective(op.kind) && op.kind != OpKind::kSparse);
  switch (op.kind) {
    case OpKind::kGemm:
    case OpKind::kConvolution:
      if (op.batch * op.m * op.n * op.k == 0) return {};
      return Product(op, phase, flags);
    case OpKind::kAttention:
      return {KernelFamily::kAttention, {op, std::string(kAttention)}, std::max(1, op.kernels), {}};
    case OpKind::kNorm:
    case OpKind::kSoftmax:
      return op.bytes.count() == 0 ? OpKernel() : Rows(op, phase);
    case OpKind::kElementwise:
      return op.bytes.count() == 0 ? OpKernel() : Stream(op.bytes, op.kernels, "add");
    case OpKind::kOptimizer:
      return op.bytes.count() == 0 ? OpKernel() : Stream(op.bytes, op.kernels, "adam");
    case OpKind::kProfiled:
      return {KernelFamily::kSpin, {}, 1, op.m * op.profiled};
    default:
      return {};
  }
}

}  // namespace stagecraft
