// The contracts of cuBLASLt and cuDNN that the stand-in enforces.
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "costmodel/op.h"
#include "runtime/cuda/cuda_call.h"
#include "runtime/cuda/device_ops.h"
#include "runtime/cuda/stand_in/stand_in_gpu.h"
#include "runtime/profile/profile_case.h"

namespace stagecraft {
namespace {

ProfileCase Product() { return {Op::Gemm(DType::kBf16, 64, 64, 64), std::string(kLinear)}; }
ProfileCase Attention() {
  return {Op::Attention(DType::kBf16, Direction::kForward, 2, 64, 64, 64, true),
          std::string(kAttention)};
}

// Returns the number of leaks that name objects of this kind.
int CountOf(const std::string& kind) {
  const std::vector<std::string> leaks = StandInLeaks();
  return static_cast<int>(std::count_if(leaks.begin(), leaks.end(), [&](const std::string& leak) {
    return leak.find(kind + " were not destroyed") != std::string::npos;
  }));
}

TEST(LibraryContractsTest, AnOpOfALibraryThatIsNotDestroyedIsALeak) {
  struct OpOfLibrary {
    ProfileCase one;
    std::vector<std::string> kinds;  // kinds of the objects that it holds
  };
  UseStandIn({});
  for (const auto& [one, kinds] :
       {OpOfLibrary{Product(), {"cuBLASLt product descriptors", "cuBLASLt layouts"}},
        OpOfLibrary{Attention(), {"cuDNN descriptors"}}}) {
    DeviceOps ops;
    std::unique_ptr<DeviceOp> op = ops.Make(one);
    for (const std::string& kind : kinds) EXPECT_EQ(CountOf(kind), 1) << kind;
    op.reset();
    EXPECT_EQ(CountOf("descriptors") + CountOf("layouts"), 0);
    EXPECT_EQ(CountOf("handles"), 1);
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
