// An op timer in which any one call fails.
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "costmodel/op.h"
#include "costmodel/units.h"
#include "runtime/cuda/cuda_timer.h"
#include "runtime/cuda/stand_in/failing_calls.h"
#include "runtime/cuda/stand_in/stand_in_gpu.h"
#include "runtime/profile/op_timer.h"
#include "runtime/profile/profile_case.h"

namespace stagecraft {
namespace {

// The cache is so large that a few reads of its size wake the GPU up. Operands are so much larger
// that there is one block of each. Nothing is really read.
constexpr size_t kCache = size_t{1} << 30;
constexpr int64_t kOperands = int64_t{3} << 30;

// Returns an op of each family, whose operands take at least three times the size of the cache.
std::vector<ProfileCase> CasesOfAllFamilies() {
  constexpr DType kType = DType::kBf16;
  constexpr int64_t kSide = 1 << 15, kWidth = 4096, kTokens = 1 << 16;
  const int64_t rows = kOperands / 4 / kWidth;
  const auto attention = [](Direction direction) {
    constexpr int64_t kHeads = 64, kHeadSize = 128;
    return Op::Attention(kType, direction, kHeads, kTokens, kTokens, kHeadSize, true);
  };
  const Bytes bytes(kOperands);
  return {{Op::Gemm(kType, kSide, kSide, kSide), std::string(kLinear)},
          {Op::Gemm(DType::kFp8, kSide, kSide, 2 * kSide), std::string(kLinear)},
          {attention(Direction::kForward), std::string(kAttention)},
          {attention(Direction::kBackward), std::string(kAttention)},
          {Op::Rowwise(OpKind::kNorm, kType, rows, kWidth, bytes), "rms_norm"},
          {Op::Rowwise(OpKind::kSoftmax, kType, rows, kWidth, bytes), "softmax"},
          {Op::Elementwise(bytes), "add"},
          {Op::Elementwise(bytes), "copy_device"},
          {Op::Elementwise(bytes), "embedding"},
          {Op::Optimizer(bytes, 1), "adam"},
          {Op::Collective(OpKind::kSendRecv, bytes, {}), std::string(kHostToDevice)}};
}

// Times an op of each family; returns the reason if one is refused.
std::string TimeAll(const GpuPart& part) {
  const std::unique_ptr<OpTimer> timer = MakeCudaOpTimer(0, "profile", part);
  for (const ProfileCase& one : CasesOfAllFamilies()) {
    const PreparedOp prepared = timer->Prepare(one);
    if (prepared.op == nullptr) return prepared.refusal;
    if (!(prepared.op->Run(1) > Duration()) || !(prepared.op->Run(2) > Duration())) {
      return "no time";
    }
    prepared.op->State();
  }
  return "";
}

StandInGpu PlayedGpu() {
  StandInGpu gpu = CheckedGpu();
  gpu.cache = kCache;
  return gpu;
}

TEST(FailingTimerTest, WhicheverFailsOnAWholeGpuIsToldAndNothingIsLeft) {
  FailEveryCall(PlayedGpu(), [] { return TimeAll({}); });
}

TEST(FailingTimerTest, WhicheverFailsOnAPartIsToldAndNothingIsLeft) {
  StandInGpu gpu = PlayedGpu();
  gpu.cudnn_compares_contexts = true;
  // If cuDNN cannot be asked for kernels for the part, or knows none, those for the whole GPU are
  // taken: for each plan that is compiled, forward and backward, one call of each function fails
  // unnoticed.
  FailEveryCall(gpu,
                [] {
                  return TimeAll({.multiprocessors = {64, 68}, .part = 1});
                },
                {{"cudnnBackendSetAttribute", 2}, {"cudnnBackendFinalize", 2}});
}

}  // namespace
}  // namespace stagecraft
