// Attention on parts of a GPU, however cuDNN treats the contexts of their streams.
#include <gtest/gtest.h>

#include <string>

#include "costmodel/check.h"
#include "costmodel/error_of.h"
#include "costmodel/op.h"
#include "costmodel/units.h"
#include "runtime/cuda/attention_refused.h"
#include "runtime/cuda/cuda_run.h"
#include "runtime/cuda/stand_in/stand_in_gpu.h"
#include "sim/schedule/schedule.h"
#include "sim/schedule/timeline.h"

namespace stagecraft {
namespace {

constexpr int kHalf = 64;

// Returns a schedule of two ranks, each with one attention.
Schedule TwoAttentions() {
  Schedule::Builder builder;
  const OpId op =
      builder.AddOp(Op::Attention(DType::kBf16, Direction::kForward, 64, 1024, 1024, 64, false));
  const OpSequenceId op_sequence = builder.AddOpSequence({&op, 1});
  for (int32_t rank = 0; rank < 2; ++rank) {
    builder.AddRank({.device = rank, .stage = static_cast<int16_t>(rank), .replica = 0});
    const Lane lane = builder.AddLane({rank, LaneKind::kCompute});
    builder.Add({&lane, 1}, {}, op_sequence, {.rank = rank, .chunk = 0, .micro_batch = 0});
  }
  return builder.Build();
}

// Returns the time of the first rank's attention, on a GPU of 132 multiprocessors of which each of
// the two ranks has this many.
Duration Measure(const StandInGpu& gpu, int multiprocessors) {
  UseStandIn(gpu);
  const Schedule schedule = TwoAttentions();
  const CudaPlace place{.gpu = 0, .multiprocessors = multiprocessors};
  const CudaRunResult result = RunOnCuda(
      {.schedule = &schedule, .places = {place, place}, .process = {}, .steps = {{1}, {1}}});
  const Timeline& timeline = result.measured.timeline;
  return timeline.end(0) - timeline.start(0);
}

StandInGpu PlayedGpu(bool compares_contexts) {
  StandInGpu gpu = CheckedGpu();
  gpu.cudnn_compares_contexts = compares_contexts;
  return gpu;
}

TEST(AttentionOnPartsTest, RunsWhereCudnnRefusesStreamsOfAnotherContext) {
  EXPECT_EQ(Measure(PlayedGpu(true), kHalf), Measure(PlayedGpu(false), kHalf));
  EXPECT_TRUE(StandInLeaks().empty());
}

TEST(AttentionOnPartsTest, RunsWhereCudnnCannotBeAskedForEnginesOfAPart) {
  StandInGpu gpu = PlayedGpu(false);
  gpu.cudnn_knows_parts = false;
  EXPECT_EQ(Measure(gpu, kHalf), Measure(PlayedGpu(false), kHalf));
}

TEST(AttentionOnPartsTest, IsRefusedBeforeAnythingRunsWhereCudnnTakesNoStreamOfAPart) {
  StandInGpu gpu = PlayedGpu(false);
  gpu.cudnn_refuses_parts = true;
  EXPECT_THROW(Measure(gpu, kHalf), AttentionRefused);
  EXPECT_FALSE(StandInCalls().contains("cudnnBackendExecute"));
  EXPECT_TRUE(StandInLeaks().empty());
  const std::string error = ErrorOf([&] { Measure(gpu, kHalf); });
  EXPECT_NE(error.find("CUDNN_STATUS_BAD_PARAM_STREAM_MISMATCH (2007): the stream and"),
            std::string::npos)
      << error;
}

// Expects another error than AttentionRefused: without the library, unfused attention would not
// help.
void ExpectNoLibrary(const StandInGpu& gpu) {
  try {
    Measure(gpu, kHalf);
    ADD_FAILURE() << "runs";
  } catch (const AttentionRefused& refused) {
    ADD_FAILURE() << refused.what();
  } catch (const InputError&) {
  }
  EXPECT_TRUE(StandInLeaks().empty());
}

TEST(AttentionOnPartsTest, ALibraryThatIsMissingIsNoRefusalOfAttention) {
  StandInGpu gpu = PlayedGpu(false);
  gpu.missing = {"libcudnn"};
  ExpectNoLibrary(gpu);
}

TEST(AttentionOnPartsTest, ALibraryThatMakesNoHandleIsNoRefusalOfAttention) {
  StandInGpu gpu = PlayedGpu(false);
  gpu.fails = {"cudnnCreate", 1};
  ExpectNoLibrary(gpu);
}

TEST(AttentionOnPartsTest, IsCompiledOnceForAllRanksThatHaveTheirHandleInCommon) {
  const auto calls = [](const StandInGpu& gpu, const char* function) {
    Measure(gpu, kHalf);
    return StandInCalls().at(function);
  };
  EXPECT_EQ(calls(PlayedGpu(false), "cudnnCreate"), 1);
  EXPECT_EQ(calls(PlayedGpu(true), "cudnnCreate"), 1 + 2);
  // The heuristic is asked for engines twice, for the part and for the whole GPU, and the plan for
  // the size of its workspace.
  EXPECT_EQ(calls(PlayedGpu(false), "cudnnBackendGetAttribute"), 3);
  EXPECT_EQ(calls(PlayedGpu(true), "cudnnBackendGetAttribute"), 2 * 3);
}

// The multiprocessors of the part take turns with the kernel's blocks.
TEST(AttentionOnPartsTest, IsAKernelForTheWholeGpuWhereCudnnKnowsNoneForAPart) {
  const double half = Measure(PlayedGpu(false), kHalf).seconds();
  const double quarter = Measure(PlayedGpu(false), kHalf / 2).seconds();
  EXPECT_NEAR(quarter / half, 5.0 / 3, 0.05);
}

}  // namespace
}  // namespace stagecraft
