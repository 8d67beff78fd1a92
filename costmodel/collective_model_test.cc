#include "costmodel/collective_model.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "costmodel/collectives.h"
#include "costmodel/embedded_nccl_tuning.h"
#include "costmodel/random.h"

namespace stagecraft {
namespace {

Device Ampere() {
  Device device;
  device.generation = Generation::kAmpere;
  return device;
}

Device Hopper() {
  Device device;
  device.generation = Generation::kHopper;
  return device;
}

// Returns a fabric with twelve NVLinks of 25 GB/s and one interface of 25 GB/s for each rank.
Fabric A100s(int nodes, int ranks_per_node) {
  Fabric fabric;
  fabric.ranks = nodes * ranks_per_node;
  fabric.nodes = nodes;
  fabric.ranks_per_node = ranks_per_node;
  fabric.intra = {LinkKind::kNvlink, Duration(), Bandwidth(300e9)};
  fabric.inter = {LinkKind::kNetwork, 2_us, Bandwidth(25e9 * ranks_per_node)};
  return fabric;
}

CollectiveChoice Choose(OpKind kind, int64_t bytes, const Fabric& fabric) {
  return ChooseCollective(Op::Collective(kind, Bytes(bytes), fabric), Ampere(),
                          EmbeddedNcclTuning());
}

TEST(CollectiveModelTest, OneRankTakesNoTime) {
  EXPECT_EQ(Choose(OpKind::kAllReduce, 1'000'000, A100s(1, 1)).time, Duration());
}

TEST(CollectiveModelTest, NoBytesTakeTheLatencyOfTheRing) {
  // An LL ring of two takes 6.6 us + 2 steps of 0.6 us.
  const CollectiveChoice choice = Choose(OpKind::kAllReduce, 0, A100s(1, 2));
  EXPECT_EQ(choice.time, Duration::Nanoseconds(7800));
  EXPECT_EQ(choice.method.algorithm, Algorithm::kRing);
  EXPECT_EQ(choice.method.protocol, Protocol::kLl);
}

TEST(CollectiveModelTest, LargeRingAllReduceRunsAtBusBandwidth) {
  // NCCL counts 20 of 25 GB/s on each of 12 links, 240 GB/s in all.
  constexpr int64_t kBytes = int64_t{4} << 30;
  for (const int ranks : {2, 4, 8}) {
    const CollectiveChoice choice = Choose(OpKind::kAllReduce, kBytes, A100s(1, ranks));
    const double expected = 2.0 * (ranks - 1) / ranks * kBytes / 240e9;
    EXPECT_NEAR(choice.time.seconds() / expected, 1, 0.05);
    EXPECT_EQ(choice.method.algorithm, Algorithm::kRing);
    EXPECT_EQ(choice.method.protocol, Protocol::kSimple);
  }
}

TEST(CollectiveModelTest, AcrossNodesTheInterfacesLimitTheRing) {
  constexpr int64_t kBytes = int64_t{4} << 30;
  const CollectiveChoice choice = Choose(OpKind::kAllGather, kBytes, A100s(4, 8));
  EXPECT_NEAR(choice.time.seconds() / (31.0 / 32 * kBytes / (0.9 * 200e9)), 1, 0.05);
}

TEST(CollectiveModelTest, SendRecvCrossesOneLink) {
  const CollectiveChoice inside = Choose(OpKind::kSendRecv, 240'000'000, A100s(1, 2));
  EXPECT_EQ(inside.time, 1_ms + Duration::Nanoseconds(8400 + 3400));
  EXPECT_EQ(inside.method.algorithm, Algorithm::kDirect);
  const CollectiveChoice across = Choose(OpKind::kSendRecv, 22'500'000, A100s(2, 1));
  EXPECT_EQ(across.time, 1_ms + Duration::Nanoseconds(8400 + 14000));
}

TEST(CollectiveModelTest, SmallAllReduceOverManyNodesIsATree) {
  const CollectiveChoice choice = Choose(OpKind::kAllReduce, 1024, A100s(32, 8));
  EXPECT_EQ(choice.method.algorithm, Algorithm::kTree);
}

TEST(CollectiveModelTest, LargeAllReduceOnHopperUsesTheSwitch) {
  Fabric fabric = A100s(1, 8);
  fabric.intra.bandwidth = Bandwidth(450e9);
  const Op without = Op::Collective(OpKind::kAllReduce, Bytes(1 << 30), fabric);
  fabric.nvls = true;
  const Op with = Op::Collective(OpKind::kAllReduce, Bytes(1 << 30), fabric);
  const CollectiveChoice ring = ChooseCollective(without, Hopper(), EmbeddedNcclTuning());
  const CollectiveChoice nvls = ChooseCollective(with, Hopper(), EmbeddedNcclTuning());
  EXPECT_EQ(ring.method.algorithm, Algorithm::kRing);
  EXPECT_EQ(nvls.method.algorithm, Algorithm::kNvls);
  EXPECT_LT(nvls.time, ring.time);
}

TEST(CollectiveModelTest, BytesOnTheBusiestLinkAreThoseOfTheAlgorithm) {
  // 8 GB over two nodes of one rank each, with interfaces of 25 GB/s.
  const Op pair = Op::Collective(OpKind::kAllReduce, Bytes(8'000'000'000), A100s(2, 1));
  EXPECT_EQ(BusiestLinkTime(pair, Algorithm::kRing), 320_ms);
  EXPECT_EQ(BusiestLinkTime(pair, Algorithm::kTree), 320_ms);
  // Over two nodes of eight ranks each, a ring sends 15/8 of the buffer over 200 GB/s; a tree sends
  // the buffer once over these and twice over each rank's 300 GB/s.
  const Op wide = Op::Collective(OpKind::kAllReduce, Bytes(8'000'000'000), A100s(2, 8));
  EXPECT_EQ(BusiestLinkTime(wide, Algorithm::kRing), 75_ms);
  EXPECT_EQ(BusiestLinkTime(wide, Algorithm::kTree), Duration::Nanoseconds(53'333'333));
  const Op all = Op::Collective(OpKind::kAllToAll, Bytes(1'000'000'000), A100s(2, 8));
  EXPECT_EQ(BusiestLinkTime(all, Algorithm::kDirect), 20_ms);
}

TEST(CollectiveModelTest, AnAlgorithmMayBeForced) {
  const Op op = Op::Collective(OpKind::kAllReduce, Bytes(1 << 30), A100s(4, 8));
  EXPECT_EQ(ChooseCollective(op, Ampere(), EmbeddedNcclTuning(), Algorithm::kTree).method.algorithm,
            Algorithm::kTree);
  EXPECT_EQ(ChooseCollective(op, Ampere(), EmbeddedNcclTuning(), Algorithm::kRing).method.algorithm,
            Algorithm::kRing);
}

TEST(CollectiveModelTest, SlowLinksAreFelt) {
  Fabric slow = A100s(2, 8);
  slow.inter.latency = 100_us;
  EXPECT_GE(Choose(OpKind::kAllReduce, 0, slow).time, 200_us);
}

Op RandomCollective(Random& random) {
  const auto all = Collectives();
  const OpKind kind = all[random.Integer(0, static_cast<int64_t>(all.size()) - 1)].kind;
  const int nodes = 1 << random.Integer(0, 6);
  const int per_node = kind == OpKind::kSendRecv ? (nodes == 1 ? 2 : 1) : 1 << random.Integer(0, 3);
  Fabric fabric = A100s(kind == OpKind::kSendRecv ? std::min(nodes, 2) : nodes, per_node);
  if (random.Integer(0, 1) == 0) {
    fabric.intra = {LinkKind::kPcie, 1_us, Bandwidth(31.5e9)};
  }
  return Op::Collective(kind, Bytes(random.Integer(0, int64_t{1} << random.Integer(4, 33))),
                        fabric);
}

TEST(CollectiveModelTest, NoLinkCarriesMoreThanItsBandwidthAndMoreBytesAreNeverFaster) {
  constexpr uint64_t kSeed = 11;
  Random random(kSeed);
  for (int i = 0; i < 5000; ++i) {
    const Op op = RandomCollective(random);
    if (op.fabric.ranks == 1) continue;
    const CollectiveChoice choice = ChooseCollective(op, Ampere(), EmbeddedNcclTuning());
    const Duration time = choice.time;
    ASSERT_GE(time, BusiestLinkTime(op, choice.method.algorithm))
        << Describe(op) << " seed " << kSeed;
    Op more = op;
    more.bytes += Bytes(1 + op.bytes.count() / 8);
    ASSERT_GE(ChooseCollective(more, Ampere(), EmbeddedNcclTuning()).time, time)
        << Describe(op) << " seed " << kSeed;
  }
}

}  // namespace
}  // namespace stagecraft
