#include "tests/fuzz/mutator.h"

#include <gtest/gtest.h>

#include <set>
#include <string>
#include <vector>

namespace stagecraft::fuzz {
namespace {

const std::vector<std::string> kSeeds = {
    "node: 12\nlink: 3.5\nnames: [one, two, three]\nfabric: {kind: tree, uplinks: 4}\n",
    "from a to b\nfrom b to c\nfrom c to a\nbandwidth 1.25e10\nlatency 300\n"};

TEST(MutatorTest, TheSameGeneratorGivesTheSameBytes) {
  for (uint64_t seed = 0; seed < 100; ++seed) {
    EXPECT_EQ(Mutate(kSeeds, Random(seed)), Mutate(kSeeds, Random(seed)));
  }
}

TEST(MutatorTest, OtherGeneratorsGiveOtherBytes) {
  std::set<std::string> inputs;
  for (uint64_t seed = 0; seed < 1000; ++seed) inputs.insert(Mutate(kSeeds, Random(seed)));
  EXPECT_GT(inputs.size(), 800u);
}

TEST(MutatorTest, EmptyAndLargeSeedsStayWithinBounds) {
  const std::vector<std::string> seeds = {"", std::string(size_t{64} << 10, 'x')};
  for (uint64_t seed = 0; seed < 200; ++seed) {
    EXPECT_LE(Mutate(seeds, Random(seed)).size(), size_t{64} << 10);
  }
}

}  // namespace
}  // namespace stagecraft::fuzz
