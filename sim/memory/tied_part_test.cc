#include "sim/memory/tied_part.h"

#include <gtest/gtest.h>

#include "sim/memory/memory_testing.h"
#include "sim/plan/plan.h"
#include "sim/testing/lowering_testing.h"
#include "sim/workload/workload.h"

namespace stagecraft {
namespace {

TiedPart PartOf(const Plan& plan, const Workload& workload, int stage, int layer) {
  for (const LayerRange& chunk : plan.stages[stage].chunks) {
    if (layer < chunk.first || layer >= chunk.first + chunk.count) continue;
    return TiedPartOf(plan, workload, stage, chunk, layer);
  }
  ADD_FAILURE() << "stage " << stage << " has no layer " << layer;
  return {};
}

// A table of 1024 words of 256 features: both ends hold it.
TEST(TiedPartTest, BothEndsOfOneStageShareTheTable) {
  const Workload workload = MakeWorkload();
  const int head = workload.layer_count() - 1;
  const Plan plan = MakePlan(Degrees(2, 1), workload, MakeCluster(1, 2));
  EXPECT_EQ(PartOf(plan, workload, 0, 0), (TiedPart{.after = 1024 * 256 / 2}));
  EXPECT_EQ(PartOf(plan, workload, 0, head), (TiedPart{.before = 1024 * 256 / 2}));
  EXPECT_EQ(PartOf(plan, workload, 0, 1), TiedPart());
}

TEST(TiedPartTest, StagesAtDifferentEndsHaveACopyEach) {
  const Workload workload = MakeWorkload();
  const Plan plan = MakePlan(Degrees(1, 2), workload, MakeCluster(1, 2));
  EXPECT_EQ(PartOf(plan, workload, 0, 0), TiedPart());
  EXPECT_EQ(PartOf(plan, workload, 1, workload.layer_count() - 1), TiedPart());
}

// In a V the first stage has the first and the last part of the network, as two chunks.
TEST(TiedPartTest, TheEndsOfAVAreInTwoChunks) {
  const Workload workload = MakeWorkload(8);
  PlanDegrees degrees = Degrees(1, 2);
  degrees.schedule = PipelineSchedule::kZeroBubbleV;
  degrees.chunks = 2;
  const Plan plan = MakePlan(degrees, workload, MakeCluster(1, 2));
  EXPECT_EQ(PartOf(plan, workload, 0, 0), (TiedPart{.elsewhere = 1024 * 256}));
  EXPECT_EQ(PartOf(plan, workload, 0, workload.layer_count() - 1), TiedPart());
}

// T5's decoder also shares the table of positions, its head that of words alone.
TEST(TiedPartTest, TiedLayersHoldTheBeginningOfTheTable) {
  const Workload workload = TinyT5();
  const Plan whole = MakePlan(Degrees(1, 1), workload, MakeCluster(1, 1));
  constexpr int64_t kWords = 128 * 64;
  constexpr int64_t kBoth = kWords + 512 * 64;
  EXPECT_EQ(PartOf(whole, workload, 0, 0), (TiedPart{.after = kBoth}));
  EXPECT_EQ(PartOf(whole, workload, 0, 2), (TiedPart{.after = kWords, .before = kBoth}));
  EXPECT_EQ(PartOf(whole, workload, 0, 4), (TiedPart{.before = kWords}));
}

}  // namespace
}  // namespace stagecraft
