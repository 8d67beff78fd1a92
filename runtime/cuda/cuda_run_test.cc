#include "runtime/cuda/cuda_run.h"

#include <gtest/gtest.h>

#include <string>

#include "costmodel/error_of.h"

namespace stagecraft {
namespace {

Schedule OneTask() {
  Schedule::Builder builder;
  builder.AddRank({.device = 0, .stage = 0, .replica = 0});
  builder.Add(builder.AddLane({0, LaneKind::kCompute}));
  return builder.Build();
}

// On a machine with a GPU, device_executor_test tests more.
TEST(CudaRunTest, WithoutAGpuTheErrorIsOneSentence) {
  const Schedule schedule = OneTask();
  const std::string error = ErrorOf([&] {
    RunOnCuda({.schedule = &schedule, .places = {{}}, .process = {}, .steps = {{0}, {1}}});
  });
  if (error.empty()) GTEST_SKIP() << "this machine has a GPU";
  const bool says_so = error.find("want a build that has CUDA") != std::string::npos ||
                       error.find("want a machine that has one") != std::string::npos;
  EXPECT_TRUE(says_so) << error;
}

TEST(CudaRunTest, AWrongRequestIsRefusedOnAnyMachine) {
  const Schedule schedule = OneTask();
  EXPECT_NE(ErrorOf([&] { RunOnCuda({.schedule = &schedule, .places = {}, .process = {}}); }), "");
}

}  // namespace
}  // namespace stagecraft
