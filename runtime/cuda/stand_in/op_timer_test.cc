// What the timer of ops says on the stand-in for a GPU, whose kernels take known times.
#include "runtime/profile/op_timer.h"

#include <gtest/gtest.h>

#include <string>

#include "costmodel/error_of.h"
#include "costmodel/op.h"
#include "costmodel/units.h"
#include "runtime/cuda/cuda_timer.h"
#include "runtime/cuda/stand_in/board.h"

namespace stagecraft {
namespace {

StandInBoard Board() {
  StandInBoard board;
  board.has_data = false;
  return board;
}

// What a call of a kernel takes that moves 6 MB, 3000 bytes a nanosecond, after a start of 2 us.
constexpr Bytes kMoved(6'000'000);
constexpr Duration kCall = 4_us;

Duration Time(const StandInBoard& board, int calls) {
  UseStandIn(board);
  const auto timer = MakeCudaOpTimer(0, "test");
  const PreparedOp prepared = timer->Prepare({Op::Elementwise(kMoved), "add"});
  EXPECT_NE(prepared.op, nullptr) << prepared.refusal;
  return prepared.op->Run(calls);
}

void ExpectNear(Duration got, Duration want) {
  constexpr int64_t kResolution = 10;  // nanoseconds: an event's time is a float of milliseconds
  EXPECT_NEAR(got.ns(), want.ns(), kResolution);
}

// A graph starts 3 us after what is before it in its stream.
TEST(OpTimerTest, CallsTakeWhatTheirKernelsTakeWithoutTheStartOfTheirGraph) {
  ExpectNear(Time(Board(), 1), kCall);
  ExpectNear(Time(Board(), 100), 100 * kCall);
}

TEST(OpTimerTest, AHostThatIsSlowIsNotMeasured) {
  StandInBoard board = Board();
  board.call_time = 50'000;
  ExpectNear(Time(board, 1), kCall);
}

TEST(OpTimerTest, TooLittleMemoryIsOneSentence) {
  StandInBoard board = Board();
  board.memory = 8 << 20;
  EXPECT_NE(ErrorOf([&] { Time(board, 1); }).find("test: got board 0, want one with room"),
            std::string::npos);
  EXPECT_TRUE(StandInLeaks().empty());
}

}  // namespace
}  // namespace stagecraft
