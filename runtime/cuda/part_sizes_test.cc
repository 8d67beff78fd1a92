#include "runtime/cuda/part_sizes.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "costmodel/error_of.h"

namespace stagecraft {
namespace {

constexpr BoardGroups kHopper = {.group_size = 8, .groups = 16, .rest = 4};  // 132 in all

std::vector<PartGroups> Share(const std::vector<int>& parts) {
  return ShareGroups(kHopper, parts, "--parts");
}

TEST(PartSizesTest, UnequalPartsGetGroupsInOrder) {
  const std::vector<PartGroups> parts = Share({32, 64, 8});
  EXPECT_EQ(parts[0].first, 0);
  EXPECT_EQ(parts[0].count, 4);
  EXPECT_EQ(parts[1].first, 4);
  EXPECT_EQ(parts[1].count, 8);
  EXPECT_EQ(parts[2].first, 12);
  EXPECT_EQ(parts[2].count, 1);
  for (const PartGroups& part : parts) EXPECT_FALSE(part.has_rest);
}

TEST(PartSizesTest, OnePartMayHaveTheRest) {
  const std::vector<PartGroups> parts = Share({68, 64});
  EXPECT_TRUE(parts[0].has_rest);
  EXPECT_EQ(parts[0].count, 8);
  EXPECT_FALSE(parts[1].has_rest);
  EXPECT_TRUE(Share({132})[0].has_rest);
}

TEST(PartSizesTest, WhatTheDriverWouldRoundIsRefused) {
  const std::string want = "want multiples of 8, one of which may have the 4 left over too";
  EXPECT_EQ(ErrorOf([] { Share({66, 66}); }), "--parts: got a part of 66 multiprocessors, " + want);
  EXPECT_EQ(ErrorOf([] { Share({68, 60}); }), "--parts: got a part of 60 multiprocessors, " + want);
  for (const int size : {0, -8, 4}) EXPECT_NE(ErrorOf([&] { Share({size}); }), "") << size;
}

TEST(PartSizesTest, PartsMustFitTogether) {
  EXPECT_EQ(ErrorOf([] {
              Share({64, 72});
            }),
            "--parts: got parts of 136 multiprocessors together, want at most the 132 of the "
            "board, of which 128 in groups of 8");
  EXPECT_EQ(Share({64, 64}).size(), 2u);
}

TEST(PartSizesTest, EqualPartsAreAsLargeAsGroupsAllow) {
  EXPECT_EQ(EqualPart(kHopper, 4, "--parts"), 32);
  EXPECT_EQ(EqualPart(kHopper, 3, "--parts"), 40);
  EXPECT_NE(ErrorOf([] { EqualPart(kHopper, 17, "--parts"); }), "");
  EXPECT_NE(ErrorOf([] { EqualPart(kHopper, 0, "--parts"); }), "");
}

}  // namespace
}  // namespace stagecraft
