// What the stand-in takes for the contracts of cuBLASLt and cuDNN.
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "costmodel/op.h"
#include "runtime/cuda/cuda_call.h"
#include "runtime/cuda/device_ops.h"
#include "runtime/cuda/stand_in/board.h"
#include "runtime/profile/profile_case.h"

namespace stagecraft {
namespace {

ProfileCase Product() { return {Op::Gemm(DType::kBf16, 64, 64, 64), std::string(kLinear)}; }
ProfileCase Attention() {
  return {Op::Attention(DType::kBf16, Direction::kForward, 2, 64, 64, 64, true),
          std::string(kAttention)};
}

// Leaks that say so.
int CountOf(const std::string& words) {
  const std::vector<std::string> leaks = StandInLeaks();
  return static_cast<int>(std::count_if(leaks.begin(), leaks.end(), [&](const std::string& leak) {
    return leak.find(words) != std::string::npos;
  }));
}

TEST(LibraryContractsTest, AnOpOfALibraryThatIsNotDestroyedIsALeak) {
  UseStandIn({});
  for (const ProfileCase& one : {Product(), Attention()}) {
    DeviceOps ops;
    std::unique_ptr<DeviceOp> op = ops.Make(one);
    EXPECT_GE(StandInLeaks().size(), 2u);
    op.reset();
    EXPECT_EQ(CountOf("descriptors were not destroyed") + CountOf("layouts were not"), 0);
    EXPECT_EQ(CountOf("handles were not destroyed"), 1);
    ops = DeviceOps();
    EXPECT_TRUE(StandInLeaks().empty());
  }
}

TEST(LibraryContractsTest, LibrariesRefuseOperandsThatAreNotAligned) {
  UseStandIn({});
  const Stream stream = MakeStream();
  for (const ProfileCase& one : {Product(), Attention()}) {
    DeviceOps ops;
    const std::unique_ptr<DeviceOp> op = ops.Make(one);
    const DeviceMemory operands(op->operand_bytes() + kAlignment);
    EXPECT_NO_THROW(op->Launch(operands.get() + kAlignment, stream.get()));
    EXPECT_THROW(op->Launch(operands.get() + 8, stream.get()), Unsupported);
    CHECK_CUDA(cudaStreamSynchronize(stream.get()));
  }
}

}  // namespace
}  // namespace stagecraft
