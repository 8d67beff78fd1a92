#include "runtime/cuda/run_checks.h"

#include <gtest/gtest.h>

#include <string>

#include "costmodel/device.h"
#include "costmodel/error_of.h"
#include "costmodel/op.h"

namespace stagecraft {
namespace {

Schedule TwoRanks() {
  Schedule::Builder builder;
  for (int32_t r = 0; r < 2; ++r) {
    builder.AddRank({.device = r, .stage = 0, .replica = 0});
    builder.Add(builder.AddLane({r, LaneKind::kCompute}));
  }
  return builder.Build();
}

std::string ErrorOfRun(const CudaRunRequest& request) {
  return ErrorOf([&] { CheckCudaRun(request); });
}

TEST(RunChecksTest, RanksOfOneProcessAreSaidToBePartsOfOneGpu) {
  const Schedule schedule = TwoRanks();
  CudaRunRequest request{.schedule = &schedule, .places = {{0, 64}, {0, 68}}, .process = {}};
  EXPECT_EQ(ErrorOfRun(request), "");
  request.places = {{0, 64}, {1, 64}};
  EXPECT_EQ(ErrorOfRun(request),
            "run: rank 1: got GPU 1, want 0 as rank 0 has: ranks of one process share a GPU, "
            "others have a process each");
  request.places = {{0, 64}, {0, 0}};
  EXPECT_EQ(ErrorOfRun(request),
            "run: rank 1: got all of GPU 0, want a part of it: 2 ranks share it");
  request.places = {{0, 64}, {0, -8}};
  EXPECT_NE(ErrorOfRun(request), "");
}

TEST(RunChecksTest, MemoryIsPlannedForAllRanksOrNone) {
  const Schedule schedule = TwoRanks();
  CudaRunRequest request{.schedule = &schedule, .places = {{0, 64}, {0, 64}}, .process = {}};
  request.memory.resize(2);
  EXPECT_EQ(ErrorOfRun(request), "");
  request.memory.resize(1);
  EXPECT_EQ(ErrorOfRun(request), "run: got planned memory of 1 ranks, want 2");
}

TEST(RunChecksTest, ProcessesAreAsManyAsRanks) {
  const Schedule schedule = TwoRanks();
  CudaRunRequest request{.schedule = &schedule,
                         .places = {{0, 0}, {1, 0}},
                         .process = {.rank = 1, .size = 2, .address = "host:1234"}};
  EXPECT_EQ(ErrorOfRun(request), "");
  request.process.size = 3;
  EXPECT_EQ(ErrorOfRun(request), "run: got 3 processes, want 2, one for each rank of the plan");
  request.process = {.rank = 2, .size = 2, .address = "host:1234"};
  EXPECT_EQ(ErrorOfRun(request), "run: got process 2 of 2, want 0 to 1");
  request.process = {.rank = 0, .size = 2, .address = ""};
  EXPECT_EQ(ErrorOfRun(request),
            "run: got no address, want \"host:port\" where the processes meet");
  request.places.pop_back();
  EXPECT_EQ(ErrorOfRun(request),
            "run: got places for 1 ranks, want 2, one for each rank of the plan");
}

TEST(RunChecksTest, SparseProductsAreRefused) {
  Schedule::Builder builder;
  builder.AddRank({.device = 0, .stage = 0, .replica = 0});
  builder.Add(builder.AddLane({0, LaneKind::kCompute}));
  builder.AddOp(Op::Sparse(DType::kBf16, Direction::kForward, 8, 8, 8, 4));
  const Schedule schedule = builder.Build();
  EXPECT_EQ(ErrorOfRun({.schedule = &schedule, .places = {{0, 0}}, .process = {}}),
            "run: got a sparse product, want dense ones: GPUs run no others here");
}

TEST(RunChecksTest, AnEmptyScheduleIsRefused) {
  const Schedule schedule = Schedule::Builder().Build();
  EXPECT_NE(ErrorOfRun({.schedule = &schedule, .places = {}, .process = {}}), "");
}

}  // namespace
}  // namespace stagecraft
