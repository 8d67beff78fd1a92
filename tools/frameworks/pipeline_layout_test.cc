#include "tools/frameworks/pipeline_layout.h"

#include <gtest/gtest.h>

#include <numeric>
#include <string>
#include <vector>

#include "costmodel/error_of.h"
#include "costmodel/random.h"

namespace stagecraft {
namespace {

using Counts = std::vector<int>;

TEST(PipelineLayoutTest, ALayoutIsReadAsItsParts) {
  EXPECT_EQ(ReadPipelineLayout("Et|t*2|tL", "p", 4, 0), (Counts{2, 2, 2}));
  EXPECT_EQ(ReadPipelineLayout("E|(t|)*4,L", "p", 4, 0), (Counts{1, 1, 1, 1, 1, 1}));
}

// The examples of Megatron-core's documentation.
TEST(PipelineLayoutTest, PublishedLayoutsAreRead) {
  const Counts deepseek = ReadPipelineLayout("Et*3|(tt|)*29,m|L", "p", 61, 1);
  EXPECT_EQ(deepseek.size(), 32u);
  EXPECT_EQ(deepseek[0], 4);
  EXPECT_EQ(deepseek[31], 1);
  const Counts llama = ReadPipelineLayout("Et*2|(t*2|)*34,t*3|(t*2|)*3,tL", "p", 80, 0);
  EXPECT_EQ(llama.size(), 40u);
  EXPECT_EQ(std::accumulate(llama.begin(), llama.end(), 0), 82);
}

TEST(PipelineLayoutTest, WhatIsWrittenIsReadAgain) {
  Random random(1);
  for (int i = 0; i < 500; ++i) {
    Counts parts(1 + random.Bits() % 12);
    for (int& count : parts) count = 1 + static_cast<int>(random.Bits() % 4);
    parts.front() += 1;
    parts.back() += 1;
    const int predicting = static_cast<int>(random.Bits() % 2);
    const int layers = std::accumulate(parts.begin(), parts.end(), 0);
    const int blocks = layers - 2 - predicting;
    if (blocks < 1) continue;
    const std::string text = PipelineLayoutText(parts, blocks, predicting);
    EXPECT_EQ(ReadPipelineLayout(text, "p", blocks, predicting), parts) << text;
  }
}

TEST(PipelineLayoutTest, EqualPartsAreGrouped) {
  EXPECT_EQ(PipelineLayoutText({3, 2, 2, 2, 3}, 10, 0), "Ett|(tt|)*3,ttL");
}

TEST(PipelineLayoutTest, LayoutsThatLoseLayersAreRefused) {
  const auto error = [](const char* text) {
    return ErrorOf([&] { ReadPipelineLayout(text, "p", 4, 0); });
  };
  EXPECT_EQ(error("Et|tL"),
            "p: got \"Et|tL\" with 2 t and 0 m, want the 4 layers and 0 that predict further "
            "tokens");
  EXPECT_EQ(error("t|Ettt|L"),
            "p: got \"t|Ettt|L\", want one E first, then t, then m, and one L last");
  EXPECT_EQ(error("E(tt|*2L"), "p: got \"E(tt|*2L\", want a ) for every (");
  EXPECT_EQ(error("Ett)ttL"), "p: got \"Ett)ttL\", want a ( for every )");
  EXPECT_EQ(error("Etx"), "p: got \"Etx\", want E, t, m, L, |, *n and groups in brackets");
  EXPECT_NE(error("((((t*9999)*9999)*9999)*9999)").find("at most 100000 layers"),
            std::string::npos);
}

}  // namespace
}  // namespace stagecraft
