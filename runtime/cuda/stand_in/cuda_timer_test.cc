// Times that the timer of ops measures on the stand-in for a GPU, whose kernels take known times.
#include "runtime/cuda/cuda_timer.h"

#include <gtest/gtest.h>

#include <string>

#include "costmodel/error_of.h"
#include "costmodel/op.h"
#include "costmodel/units.h"
#include "runtime/cuda/stand_in/stand_in_gpu.h"
#include "runtime/profile/op_timer.h"

namespace stagecraft {
namespace {

// A kernel takes 2 us, and a nanosecond for each 3000 bytes that it moves: 4 us for 6 MB.
constexpr Bytes kMoved(6'000'000);
constexpr Duration kCall = 4_us;

Duration Time(const StandInGpu& gpu, int calls) {
  UseStandIn(gpu);
  const auto timer = MakeCudaOpTimer(0, "test");
  const PreparedOp prepared = timer->Prepare({Op::Elementwise(kMoved), "add"});
  EXPECT_NE(prepared.op, nullptr) << prepared.refusal;
  return prepared.op->Run(calls);
}

void ExpectNear(Duration got, Duration want) {
  constexpr int64_t kResolution = 10;  // nanoseconds: an event's time is a float of milliseconds
  EXPECT_NEAR(got.ns(), want.ns(), kResolution);
}

// A graph starts 3 us after what precedes it in its stream; these do not count.
TEST(CudaTimerTest, CallsTakeWhatTheirKernelsTakeWithoutTheStartOfTheirGraph) {
  ExpectNear(Time(CheckedGpu(), 1), kCall);
  ExpectNear(Time(CheckedGpu(), 100), 100 * kCall);
}

TEST(CudaTimerTest, AHostThatIsSlowIsNotMeasured) {
  StandInGpu gpu = CheckedGpu();
  gpu.call_nanoseconds = 50'000;
  ExpectNear(Time(gpu, 1), kCall);
}

// The GEMM takes 2 us to start, and has 2,147 million FLOP, which run at 700 TFLOP/s; at 120.2
// TFLOP/s if every load brings one element of 2 bytes, and at 240.4 if it brings two.
TEST(CudaTimerTest, RowsThatAreNotAlignedTakeLonger) {
  UseStandIn(CheckedGpu());
  const auto timer = MakeCudaOpTimer(0, "test");
  const auto nanoseconds = [&](int64_t k) {
    const Op op = Op::GemmOfRows(DType::kBf16, 1024, 1024, k, 1, {k});
    const PreparedOp prepared = timer->Prepare({op, "linear"});
    EXPECT_NE(prepared.op, nullptr) << prepared.refusal;
    return static_cast<double>(prepared.op->Run(1).ns());
  };
  EXPECT_NEAR(nanoseconds(1024), 2'000 + 3'068, 20);
  EXPECT_NEAR(nanoseconds(1025), 2'000 + 17'884, 20);
  EXPECT_NEAR(nanoseconds(1026), 2'000 + 8'950, 20);
}

TEST(CudaTimerTest, TooLittleMemoryIsOneSentence) {
  StandInGpu gpu = CheckedGpu();
  gpu.memory = 8 << 20;
  EXPECT_NE(
      ErrorOf([&] { Time(gpu, 1); }).find("test: got GPU 0, want one with enough free memory"),
      std::string::npos);
  EXPECT_TRUE(StandInLeaks().empty());
}

}  // namespace
}  // namespace stagecraft
