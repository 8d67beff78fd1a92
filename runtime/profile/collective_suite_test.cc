#include "runtime/profile/collective_suite.h"

#include <gtest/gtest.h>

#include <map>
#include <set>

namespace stagecraft {
namespace {

Fabric Group(int ranks) {
  Fabric fabric;
  fabric.ranks = fabric.ranks_per_node = ranks;
  fabric.intra = {LinkKind::kNvlink, 600_ns, Bandwidth(450e9)};
  return fabric;
}

CollectiveSuiteOptions Options(const std::vector<int>& groups) {
  CollectiveSuiteOptions options;
  for (const int ranks : groups) options.groups.push_back(Group(ranks));
  options.pair = Group(2);
  options.pair.intra.latency = 500_ns;
  options.memory = Bytes(int64_t{100} << 30);
  return options;
}

TEST(CollectiveSuiteTest, EveryCollectiveFromAKibibyteToAGibibyteInEveryGroup) {
  CollectiveSuiteOptions options = Options({2, 4});
  options.size = SuiteSize::kFull;
  std::map<std::pair<OpKind, int>, std::set<int64_t>> sizes;
  for (const ProfileCase& one : MakeCollectiveSuite(options)) {
    EXPECT_EQ(one.kernel, "nccl");
    sizes[{one.op.kind, one.op.fabric.ranks}].insert(one.op.bytes.count());
  }
  EXPECT_EQ(sizes.size(), 12u);
  for (const auto& [group, bytes] : sizes) {
    EXPECT_EQ(bytes.size(), 21u);
    EXPECT_EQ(*bytes.begin(), 1 << 10);
    EXPECT_EQ(*bytes.rbegin(), 1 << 30);
  }
  EXPECT_EQ(MakeCollectiveSuite(Options({2, 4})).size(), 2u * 6 * 11);
}

TEST(CollectiveSuiteTest, TwoDevicesAreOneGroupAndAMessageSeesThePair) {
  const std::vector<ProfileCase> suite = MakeCollectiveSuite(Options({2, 2}));
  EXPECT_EQ(suite.size(), 6u * 11);
  for (const ProfileCase& one : suite) {
    EXPECT_EQ(one.op.fabric.intra.latency, one.op.kind == OpKind::kSendRecv ? 500_ns : 600_ns);
  }
}

TEST(CollectiveSuiteTest, PartsOfThreeRanksAreWholePacks) {
  const std::vector<ProfileCase> suite = MakeCollectiveSuite(Options({3}));
  EXPECT_EQ(suite.size(), 6u * 11);
  for (const ProfileCase& one : suite) EXPECT_EQ(one.op.bytes.count() % 48, 0);
  EXPECT_EQ(suite[0].op.bytes.count(), 1008);
}

TEST(CollectiveSuiteTest, BuffersFitIntoHalfOfTheMemory) {
  CollectiveSuiteOptions options = Options({2});
  options.memory = Bytes(1 << 20);
  int64_t most = 0;
  for (const ProfileCase& one : MakeCollectiveSuite(options)) {
    most = std::max(most, one.op.bytes.count());
  }
  EXPECT_EQ(most, 1 << 18);
}

}  // namespace
}  // namespace stagecraft
