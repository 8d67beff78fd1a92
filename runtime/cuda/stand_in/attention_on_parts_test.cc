// Attention on parts of a GPU, whatever cuDNN makes of their contexts.
#include <gtest/gtest.h>

#include <string>

#include "costmodel/check.h"
#include "costmodel/error_of.h"
#include "costmodel/op.h"
#include "costmodel/units.h"
#include "runtime/cuda/attention_refused.h"
#include "runtime/cuda/cuda_run.h"
#include "runtime/cuda/stand_in/board.h"
#include "sim/schedule/schedule.h"
#include "sim/schedule/timeline.h"

namespace stagecraft {
namespace {

constexpr int kHalf = 64;

// Two ranks, each with one attention.
Schedule TwoAttentions() {
  Schedule::Builder builder;
  const OpId op =
      builder.AddOp(Op::Attention(DType::kBf16, Direction::kForward, 64, 1024, 1024, 64, false));
  const BlockId block = builder.AddBlock({&op, 1});
  for (int32_t rank = 0; rank < 2; ++rank) {
    builder.AddRank({.device = rank, .stage = static_cast<int16_t>(rank), .replica = 0});
    const Lane lane = builder.AddLane({rank, LaneKind::kCompute});
    builder.Add({&lane, 1}, {}, block, {.rank = rank, .chunk = 0, .micro_batch = 0});
  }
  return builder.Build();
}

// Measures the attention of the first rank, on a GPU of 132 multiprocessors of which each rank
// has this many.
Duration Measure(const StandInBoard& board, int multiprocessors) {
  UseStandIn(board);
  const Schedule schedule = TwoAttentions();
  const CudaPlace place{.board = 0, .multiprocessors = multiprocessors};
  const CudaRunResult result = RunOnCuda(
      {.schedule = &schedule, .places = {place, place}, .process = {}, .steps = {{1}, {1}}});
  const Timeline& timeline = result.measured.timeline;
  return timeline.end(0) - timeline.start(0);
}

StandInBoard Board(bool compares_contexts) {
  StandInBoard board = CheckedBoard();
  board.cudnn_compares_contexts = compares_contexts;
  return board;
}

TEST(AttentionOnPartsTest, RunsWhereCudnnRefusesStreamsOfAnotherContext) {
  EXPECT_EQ(Measure(Board(true), kHalf), Measure(Board(false), kHalf));
  EXPECT_TRUE(StandInLeaks().empty());
}

TEST(AttentionOnPartsTest, RunsWhereCudnnCannotBeAskedForEnginesOfAPart) {
  StandInBoard board = Board(false);
  board.cudnn_knows_parts = false;
  EXPECT_EQ(Measure(board, kHalf), Measure(Board(false), kHalf));
}

TEST(AttentionOnPartsTest, IsRefusedBeforeAnythingRunsWhereCudnnTakesNoStreamOfAPart) {
  StandInBoard board = Board(false);
  board.cudnn_refuses_parts = true;
  EXPECT_THROW(Measure(board, kHalf), AttentionRefused);
  EXPECT_FALSE(StandInCalls().contains("cudnnBackendExecute"));
  EXPECT_TRUE(StandInLeaks().empty());
  const std::string error = ErrorOf([&] { Measure(board, kHalf); });
  EXPECT_NE(error.find("CUDNN_STATUS_BAD_PARAM_STREAM_MISMATCH (2007): the stream and"),
            std::string::npos)
      << error;
}

// Without the library there is no attention to refuse: unfused attention would not help.
void ExpectNoLibrary(const StandInBoard& board) {
  try {
    Measure(board, kHalf);
    ADD_FAILURE() << "runs";
  } catch (const AttentionRefused& refused) {
    ADD_FAILURE() << refused.what();
  } catch (const InputError&) {
  }
  EXPECT_TRUE(StandInLeaks().empty());
}

TEST(AttentionOnPartsTest, ALibraryThatIsMissingIsNoRefusalOfAttention) {
  StandInBoard board = Board(false);
  board.missing = {"libcudnn"};
  ExpectNoLibrary(board);
}

TEST(AttentionOnPartsTest, NorIsOneThatMakesNoHandle) {
  StandInBoard board = Board(false);
  board.fails = {"cudnnCreate", 1};
  ExpectNoLibrary(board);
}

TEST(AttentionOnPartsTest, IsCompiledOnceForAllRanksThatHaveTheirHandleInCommon) {
  const auto calls = [](const StandInBoard& board, const char* function) {
    Measure(board, kHalf);
    return StandInCalls().at(function);
  };
  EXPECT_EQ(calls(Board(false), "cudnnCreate"), 1);
  EXPECT_EQ(calls(Board(true), "cudnnCreate"), 1 + 2);
  // The heuristic is asked for engines twice, for the part and for the GPU, and the plan for its
  // workspace.
  EXPECT_EQ(calls(Board(false), "cudnnBackendGetAttribute"), 3);
  EXPECT_EQ(calls(Board(true), "cudnnBackendGetAttribute"), 2 * 3);
}

// The part runs the kernel's blocks in turns.
TEST(AttentionOnPartsTest, IsAKernelForTheWholeBoardWhereCudnnKnowsNoneForAPart) {
  const double half = Measure(Board(false), kHalf).seconds();
  const double quarter = Measure(Board(false), kHalf / 2).seconds();
  EXPECT_NEAR(quarter / half, 5.0 / 3, 0.05);
}

}  // namespace
}  // namespace stagecraft
