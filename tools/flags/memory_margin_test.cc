#include "tools/flags/memory_margin.h"

#include <gtest/gtest.h>

#include <string>

#include "costmodel/error_of.h"
#include "costmodel/units.h"
#include "sim/cluster/cluster.h"
#include "sim/cluster/cluster_spec.h"
#include "sim/memory/stage_memory.h"

namespace stagecraft {
namespace {

constexpr int64_t kGib = int64_t{1} << 30;

StageMemory StageOf(double gib, const Cluster& cluster, int device) {
  StageMemory stage;
  stage.device = device;
  stage.weights = Bytes(static_cast<int64_t>(gib * kGib));
  stage.capacity = cluster.device(device).memory;
  return stage;
}

TEST(MemoryMarginTest, TakesItsShareOffEveryDevice) {
  Cluster cluster = ParseCluster("a100-sxm4-80gb:1x8+h100-sxm:1x8");
  const MemoryMargin margin = TakeMemoryMargin(5, cluster);
  EXPECT_EQ(cluster.device(0).memory, Bytes(76 * kGib));
  EXPECT_EQ(margin.CapacityOf(StageOf(1, cluster, 0), cluster), Bytes(80 * kGib));
  EXPECT_EQ(margin.Text(StageOf(1, cluster, 0), cluster), ", which is 80.00 less a margin of 5 %");
  // The driver of an H100 leaves 81,559 MiB to programs.
  EXPECT_NEAR(cluster.device(8).memory.gib(), 0.95 * 81559 / 1024, 1e-8);
  EXPECT_EQ(margin.CapacityOf(StageOf(1, cluster, 8), cluster), Bytes(int64_t{81559} << 20));
}

TEST(MemoryMarginTest, WithoutAMarginEverythingThatProgramsCanHaveIsUsed) {
  Cluster cluster = ParseCluster("a100-sxm4-80gb:1x8");
  const MemoryMargin margin = TakeMemoryMargin(0, cluster);
  EXPECT_EQ(cluster.device(0).memory, Bytes(80 * kGib));
  EXPECT_EQ(margin.CapacityOf(StageOf(1, cluster, 0), cluster), Bytes(80 * kGib));
  EXPECT_EQ(margin.Text(StageOf(1, cluster, 0), cluster), "");
}

// The allocator of the device may use all of the memory, whatever the margin.
TEST(MemoryMarginTest, AStageIsCrowdedByTheShareOfTheWholeMemoryThatItFills) {
  Cluster usual = ParseCluster("a100-sxm4-80gb:1x8");
  Cluster whole = usual;
  const MemoryMargin some = TakeMemoryMargin(5, usual);
  const MemoryMargin none = TakeMemoryMargin(0, whole);
  EXPECT_FALSE(some.IsCrowded(StageOf(75.9, usual, 0), usual));
  EXPECT_TRUE(none.IsCrowded(StageOf(76.1, whole, 0), whole));
  EXPECT_FALSE(none.IsCrowded(StageOf(75.9, whole, 0), whole));
  EXPECT_FALSE(none.IsCrowded(StageOf(80.1, whole, 0), whole));  // it does not fit
}

TEST(MemoryMarginTest, IsGivenInPerCent) {
  EXPECT_EQ(ParseMemoryMargin("5"), 5);
  EXPECT_EQ(ParseMemoryMargin("7.5%"), 7.5);
  EXPECT_EQ(ParseMemoryMargin("10 %"), 10);
  EXPECT_EQ(ParseMemoryMargin("0"), 0);
  for (const char* text : {"0.05", "-1", "91", "", "five", "5 GiB", "nan", "inf", "%"}) {
    EXPECT_EQ(ErrorOf([&] { ParseMemoryMargin(text); }),
              std::string("--memory-margin: got \"") + text +
                  "\", want per cent of the memory, such as 5: 0, or 0.5 to 90");
  }
}

}  // namespace
}  // namespace stagecraft
