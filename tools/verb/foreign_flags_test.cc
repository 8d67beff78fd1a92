#include "tools/verb/foreign_flags.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace stagecraft {
namespace {

const std::vector<std::string> kKnown = {"--tp", "--vpp", "--global-batch", "--model", "--cluster"};

TEST(ForeignFlagsTest, AFlagOfTheSameMeaningIsNamed) {
  EXPECT_EQ(OwnFlagFor("--tensor-model-parallel-size", kKnown), "here it is --tp");
  EXPECT_EQ(OwnFlagFor("--Tensor_Parallel_Degree", kKnown), "here it is --tp");
  EXPECT_EQ(OwnFlagFor("--batch-size", kKnown), "here it is --global-batch");
}

TEST(ForeignFlagsTest, AFlagThatIsPartOfAnotherIsSaidByIt) {
  EXPECT_EQ(OwnFlagFor("--num-layers", kKnown), "here --model says it");
  EXPECT_EQ(OwnFlagFor("--nproc_per_node", kKnown), "here --cluster says it");
  EXPECT_EQ(OwnFlagFor("--gradient-accumulation-steps", kKnown), "here --global-batch says it");
  EXPECT_EQ(OwnFlagFor("--num-layers-per-virtual-pipeline-stage", kKnown), "here --vpp says it");
  EXPECT_EQ(OwnFlagFor("--num-virtual-stages-per-pipeline-rank", kKnown), "here it is --vpp");
}

TEST(ForeignFlagsTest, FlagsThatTheVerbLacksOrNobodyHasAreNotAnswered) {
  EXPECT_EQ(OwnFlagFor("--tensor-model-parallel-size", {"--model"}), "");
  EXPECT_EQ(OwnFlagFor("--frobnicate", kKnown), "");
  EXPECT_EQ(OwnFlagFor("", kKnown), "");
}

}  // namespace
}  // namespace stagecraft
