#include "tools/validation/main_part.h"

#include <gtest/gtest.h>

#include <string>

#include "costmodel/units.h"

namespace stagecraft {
namespace {

using namespace literals;

// A step of 100 us: 80 of computation, 12 of tensor parallelism, 8 of bubble.
Evaluation Step() {
  Evaluation evaluation;
  evaluation.step_time = 100_us;
  Breakdown& time = evaluation.profile.breakdown;
  time.compute = 80_us;
  time.tensor = 12_us;
  time.bubble = 8_us;
  return evaluation;
}

TEST(MainPartTest, IsTheLargestPartBesideTheComputation) {
  Evaluation evaluation = Step();
  EXPECT_EQ(std::string(MainPart(evaluation)), "tensor parallel");
  evaluation.profile.breakdown.bubble = 13_us;
  EXPECT_EQ(std::string(MainPart(evaluation)), "bubble");
  evaluation.profile.host_wait = 14_us;
  EXPECT_EQ(std::string(MainPart(evaluation)), "launches of the host");
}

TEST(MainPartTest, SmallPartsLeaveTheComputationAlone) {
  Evaluation evaluation = Step();
  evaluation.profile.breakdown.tensor = 4_us;
  evaluation.profile.breakdown.bubble = 4_us;
  EXPECT_EQ(std::string(MainPart(evaluation)), "computation alone");
  evaluation.profile.breakdown.bubble = 5_us;
  EXPECT_EQ(std::string(MainPart(evaluation)), "bubble");
}

TEST(MainPartTest, MemoryIsByWhatItHolds) {
  StageMemory memory;
  memory.weights = Bytes(2);
  memory.gradients = Bytes(2);
  memory.optimizer = Bytes(2);
  memory.activations = Bytes(5);
  EXPECT_EQ(std::string(MainPart(memory)), "weights, gradients, optimizer");
  memory.activations = Bytes(7);
  EXPECT_EQ(std::string(MainPart(memory)), "activations");
  memory.framework = Bytes(8);
  EXPECT_EQ(std::string(MainPart(memory)), "buffers and framework");
}

}  // namespace
}  // namespace stagecraft
