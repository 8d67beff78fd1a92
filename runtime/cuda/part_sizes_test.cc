#include "runtime/cuda/part_sizes.h"

#include <gtest/gtest.h>

#include <numeric>
#include <string>
#include <vector>

#include "costmodel/error_of.h"

namespace stagecraft {
namespace {

constexpr GpuGroups kHopper = {.group_size = 8, .groups = 16, .rest = 4};  // 132 in all

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

TEST(PartSizesTest, SizesThatTheDriverWouldRoundAreRefused) {
  const std::string want = "want multiples of 8, and for one part also the 4 left over";
  EXPECT_EQ(ErrorOf([] { Share({66, 66}); }), "--parts: got a part of 66 multiprocessors, " + want);
  EXPECT_EQ(ErrorOf([] { Share({68, 60}); }), "--parts: got a part of 60 multiprocessors, " + want);
  for (const int size : {0, -8, 4}) EXPECT_NE(ErrorOf([&] { Share({size}); }), "") << size;
}

TEST(PartSizesTest, PartsMustFitTogether) {
  EXPECT_EQ(ErrorOf([] {
              Share({64, 72});
            }),
            "--parts: got parts of 136 multiprocessors together, want at most the 132 of the "
            "GPU, of which 128 in groups of 8");
  EXPECT_EQ(Share({64, 64}).size(), 2u);
}

// A GPU of 132 multiprocessors of which the driver makes 15 groups.
TEST(PartSizesTest, ARestMayBeLargerThanAGroup) {
  const GpuGroups gpu = {.group_size = 8, .groups = 15, .rest = 12};
  const std::vector<PartGroups> parts = ShareGroups(gpu, std::vector{48, 84}, "--parts");
  EXPECT_EQ(parts[0].count, 6);
  EXPECT_FALSE(parts[0].has_rest);
  EXPECT_EQ(parts[1].count, 9);
  EXPECT_TRUE(parts[1].has_rest);
}

TEST(PartSizesTest, SharesUseAllOfAnyGpuAndKeepToItsGroups) {
  const std::vector<std::vector<int>> all = {{1, 1},       {3, 5},   {5, 1},
                                             {1, 2, 3, 5}, {1, 100}, {7, 1, 7}};
  for (const std::vector<int>& shares : all) {
    for (int groups = static_cast<int>(shares.size()); groups <= 20; ++groups) {
      for (const int rest : {0, 2, 4, 6, 12}) {
        const GpuGroups gpu = {.group_size = 8, .groups = groups, .rest = rest};
        const std::vector<int> parts = PartsByShares(gpu, shares, "--parts");
        EXPECT_EQ(std::accumulate(parts.begin(), parts.end(), 0), gpu.multiprocessors());
        EXPECT_EQ(ShareGroups(gpu, parts, "--parts").size(), shares.size());
        for (size_t one = 0; one < shares.size(); ++one) {
          for (size_t other = 0; other < shares.size(); ++other) {
            if (shares[one] <= shares[other]) continue;
            EXPECT_GE(parts[one], parts[other]);
          }
        }
      }
    }
  }
  EXPECT_EQ(PartsByShares(kHopper, std::vector{3, 5}, "--parts"), (std::vector{48, 84}));
  EXPECT_EQ(PartsByShares(kHopper, std::vector{2, 3, 4, 7}, "--parts"),
            (std::vector{16, 24, 32, 60}));
}

TEST(PartSizesTest, SharesThatNoGpuHasAreRefused) {
  const GpuGroups small = {.group_size = 8, .groups = 2, .rest = 0};
  for (const std::vector<int>& shares : {std::vector{1, 1, 1}, {1, 0}, {-1, 2}, {}}) {
    EXPECT_NE(ErrorOf([&] { PartsByShares(small, shares, "--parts"); }), "");
  }
}

TEST(PartSizesTest, EqualPartsAreAsLargeAsGroupsAllow) {
  EXPECT_EQ(EqualPart(kHopper, 4, "--parts"), 32);
  EXPECT_EQ(EqualPart(kHopper, 3, "--parts"), 40);
  EXPECT_NE(ErrorOf([] { EqualPart(kHopper, 17, "--parts"); }), "");
  EXPECT_NE(ErrorOf([] { EqualPart(kHopper, 0, "--parts"); }), "");
}

}  // namespace
}  // namespace stagecraft
