// The operands of a rank's ops after many steps, on the stand-in for a GPU.
#include <gtest/gtest.h>

#include "runtime/cuda/cuda_run.h"
#include "runtime/cuda/stand_in/one_layer.h"
#include "runtime/cuda/stand_in/stand_in_gpu.h"
#include "sim/schedule/schedule.h"

namespace stagecraft {
namespace {

TEST(RankOperandsTest, StayFiniteOverFiftySteps) {
  StandInGpu gpu;
  gpu.cache = 50'000;
  UseStandIn(gpu);
  const Schedule schedule = OneLayer();
  RunOnCuda({.schedule = &schedule, .places = {{0, 0}}, .process = {}, .steps = {{1}, {50}}});
  const OperandCount seen = StandInOperands();
  EXPECT_GT(seen.numbers, 1'000'000);
  EXPECT_EQ(seen.not_finite, 0);
}

}  // namespace
}  // namespace stagecraft
