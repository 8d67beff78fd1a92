#include "runtime/host_ops.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <vector>

namespace stagecraft {
namespace {

Op Expanded(Op sparse) {
  sparse.product = SparseProduct::kExpanded;
  return sparse;
}

std::vector<Op> OddShapes() {
  return {Op::Gemm(DType::kBf16, 7, 5, 3),
          Op::Gemm(DType::kFp32, 65, 33, 129, 3),
          Op::Convolution(DType::kFp32, 2, 11, 13, 9, Bytes(1001)),
          Op::Attention(DType::kBf16, Direction::kForward, 3, 17, 19, 8, true),
          Op::Attention(DType::kBf16, Direction::kBackward, 3, 17, 19, 8, false),
          Op::Sparse(DType::kBf16, Direction::kForward, 7, 5, 9, 12, 2),
          Op::Sparse(DType::kBf16, Direction::kBackward, 7, 5, 9, 12),
          Op::Sparse(DType::kBf16, Direction::kForward, 7, 5, 9, 0),
          Op::Sparse(DType::kBf16, Direction::kBackward, 7, 5, 9, 45),
          Expanded(Op::Sparse(DType::kBf16, Direction::kForward, 7, 5, 9, 12)),
          Expanded(Op::Sparse(DType::kBf16, Direction::kBackward, 7, 5, 9, 12)),
          Op::Elementwise(Bytes(1003)),
          Op::Rowwise(OpKind::kNorm, DType::kBf16, 9, 7, Bytes(252)),
          Op::Optimizer(Bytes(4096), 1),
          Op::Elementwise(Bytes()),
          Op()};
}

// Ops of all kinds, repeated in the smallest memory that is promised to suffice.
TEST(HostOpsTest, EveryKindOfOpRunsInWhatTheLargestTouches) {
  Bytes largest = HostOps::kLeastMemory;
  std::vector<Op> ops = OddShapes();
  ops.push_back(Op::Gemm(DType::kFp32, 1, 4096, 4096));
  ops.push_back(Op::Elementwise(2 * HostOps::kLeastMemory));
  ops.push_back(Op::Attention(DType::kFp32, Direction::kBackward, 1, 2100, 2100, 8, false));
  ops.push_back(Op::Sparse(DType::kFp32, Direction::kForward, 64, 4096, 8192, 4'000'000));
  ops.push_back(Expanded(Op::Sparse(DType::kFp32, Direction::kBackward, 1, 4096, 4096, 4'000'000)));
  for (const Op& op : ops) largest = std::max(largest, HostOps::Touched(op));
  HostOps host(largest);
  for (int round = 0; round < 3; ++round) {
    for (const Op& op : ops) host.Run(op);
  }
  EXPECT_EQ(HostOps::Touched(Op::Gemm(DType::kBf16, 7, 5, 3)), Bytes(4 * (21 + 15 + 35)));
  EXPECT_EQ(HostOps::Touched(Op::Elementwise(Bytes(1003))), Bytes(1003));
  EXPECT_EQ(HostOps::Touched(Op::Sparse(DType::kBf16, Direction::kForward, 7, 5, 9, 12)),
            Bytes(4 * (35 + 63 + 12)));
}

TEST(HostOpsTest, AProfiledOpTakesItsTime) {
  HostOps host{Bytes()};
  const auto begin = std::chrono::steady_clock::now();
  host.Run(Op::Profiled(3, 2_ms));
  EXPECT_GE(std::chrono::steady_clock::now() - begin, std::chrono::milliseconds(6));
}

}  // namespace
}  // namespace stagecraft
