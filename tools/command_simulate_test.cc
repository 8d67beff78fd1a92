#include <gtest/gtest.h>

#include <string>

#include "tools/verb/command.h"
#include "tools/verb/verb_testing.h"

namespace stagecraft {
namespace {

class CommandSimulateTest : public VerbTest {
 protected:
  std::string Text(const Args& flags) {
    Args args = {"--model", "gpt2-medium", "--cluster", "h100-sxm:1x8", "--seq", "1024"};
    args.insert(args.end(), flags.begin(), flags.end());
    return Output(RunSimulate, args);
  }
};

TEST_F(CommandSimulateTest, TheTextHasTheTermsOfTheField) {
  const std::string text = Text({"--pp", "4", "--global-batch", "16"});
  for (const char* words :
       {"global batch 16 (8 micro-batches per replica, 16 in all), 1024 tokens per sample\n",
        ", 80 % prediction interval: ", "\npipeline bubble ",
        "\n  of this, CPU launch overhead: ", "\ncommunication by phase: ", "bottleneck link",
        "channels", "total GB per stage", " capacity\n", "(switched NVLink 450 GB/s per GPU, ",
        "\nnote: SM contention between compute and communication is not modelled\n"}) {
    EXPECT_NE(text.find(words), std::string::npos) << words << "\n" << text;
  }
}

TEST_F(CommandSimulateTest, OneReplicaHasAllMicroBatches) {
  const std::string text = Text({"--pp", "8", "--global-batch", "8"});
  EXPECT_NE(text.find("global batch 8 (8 micro-batches), 1024 tokens"), std::string::npos) << text;
}

TEST_F(CommandSimulateTest, UnequalReplicasHaveNoCommonNumberOfMicroBatches) {
  const std::string text = Text(
      {"--pp", "2", "--stage-replicas", "3,1", "--stage-layers", "18,6", "--global-batch", "6"});
  EXPECT_NE(text.find("(6 micro-batches in all, unequal numbers per replica)"), std::string::npos)
      << text;
}

}  // namespace
}  // namespace stagecraft
