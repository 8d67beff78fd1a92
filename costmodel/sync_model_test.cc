#include "costmodel/sync_model.h"

#include <gtest/gtest.h>

#include "costmodel/collective_method.h"
#include "costmodel/collective_model.h"
#include "costmodel/embedded_nccl_tuning.h"
#include "costmodel/sync_time.h"

namespace stagecraft {
namespace {

constexpr Bytes kBytes(1'000'000'000);

// Returns an op over links of 100 GB/s inside nodes and interfaces of 10 GB/s for each rank.
Op SyncOp(SyncMethod method, int nodes, int per_node) {
  Fabric fabric;
  fabric.ranks = nodes * per_node;
  fabric.nodes = nodes;
  fabric.ranks_per_node = per_node;
  fabric.intra = {LinkKind::kNvlink, Duration(), Bandwidth(100e9)};
  fabric.inter = {LinkKind::kNetwork, Duration(), Bandwidth(10e9 * per_node)};
  Op op = Op::Collective(OpKind::kAllReduce, kBytes, fabric);
  op.sync.method = method;
  return op;
}

Op WithServers(SyncMethod method, int nodes, int servers) {
  Op op = SyncOp(method, nodes, 1);
  op.sync.servers = servers;
  op.sync.server = op.sync.worker = {LinkKind::kNetwork, Duration(), Bandwidth(10e9)};
  return op;
}

Op Gossiping(int nodes, int peers) {
  Op op = SyncOp(SyncMethod::kGossip, nodes, 1);
  op.sync.peers = peers;
  return op;
}

// Returns the time of an op in units of 100 ms, which a gigabyte takes on a rank's interface.
double Tenths(const Op& op) { return BusiestLinkTime(op, Algorithm::kDirect).seconds() * 10; }

TEST(SyncTimeTest, AParameterServerTakesAndGivesEveryRanksBytes) {
  EXPECT_NEAR(Tenths(WithServers(SyncMethod::kParameterServer, 4, 1)), 2 * 4, 1e-6);
  EXPECT_NEAR(Tenths(WithServers(SyncMethod::kParameterServer, 4, 2)), 2 * 4 / 2, 1e-6);
  // With more servers than ranks, the ranks are the bottleneck.
  EXPECT_NEAR(Tenths(WithServers(SyncMethod::kParameterServer, 4, 8)), 2, 1e-6);
}

TEST(SyncTimeTest, AShardedParameterServerTakesWhatARingDoes) {
  for (const int n : {2, 4, 9}) {
    const Op op = SyncOp(SyncMethod::kShardedParameterServer, n, 1);
    EXPECT_NEAR(Tenths(op), 2.0 * (n - 1) / n, 1e-6);
    Op ring = op;
    ring.sync = {};
    EXPECT_NEAR(Tenths(op), BusiestLinkTime(ring, Algorithm::kRing).seconds() * 10, 1e-6);
  }
}

TEST(SyncTimeTest, ARollingServerTakesAllOthersBytes) {
  EXPECT_NEAR(Tenths(SyncOp(SyncMethod::kRollingServer, 4, 1)), 2 * 3, 1e-6);
  // On one node, the bytes take the links inside.
  EXPECT_NEAR(Tenths(SyncOp(SyncMethod::kRollingServer, 1, 4)), 2 * 3 / 10.0, 1e-6);
}

TEST(SyncTimeTest, GossipSendsItsBytesToEachPeer) {
  EXPECT_NEAR(Tenths(Gossiping(8, 1)), 1, 1e-6);
  EXPECT_NEAR(Tenths(Gossiping(8, 3)), 3, 1e-6);
}

// With 4 nodes of 2 ranks, 2 (1/2) S goes at 100 GB/s, and 2 (3/4) S/2 at 10 GB/s.
TEST(SyncTimeTest, HierarchicalScattersInsideNodesAndReducesAcross) {
  EXPECT_NEAR(Tenths(SyncOp(SyncMethod::kHierarchical, 4, 2)), 0.1 + 0.75, 1e-6);
  EXPECT_NEAR(Tenths(SyncOp(SyncMethod::kHierarchical, 4, 1)), 1.5, 1e-6);
}

TEST(SyncTimeTest, ReductionServersTakeARanksBytesOnce) {
  EXPECT_NEAR(Tenths(WithServers(SyncMethod::kReductionServer, 4, 4)), 1, 1e-6);
  EXPECT_NEAR(Tenths(WithServers(SyncMethod::kReductionServer, 4, 1)), 4, 1e-6);
}

TEST(SyncTimeTest, BytePsDividesTheSumAsPublished) {
  // With n = 4 and k = 2, a server has 6 of 16 + 8 - 4 = 20 parts, and a rank has 2.
  EXPECT_NEAR(BytePsParts(4, 2).server, 0.3, 1e-12);
  EXPECT_NEAR(BytePsParts(4, 2).rank, 0.1, 1e-12);
  EXPECT_NEAR(Tenths(WithServers(SyncMethod::kBytePs, 4, 2)), 4 * 0.3, 1e-6);
  for (int n = 2; n <= 9; ++n) {
    EXPECT_NEAR(BytePsParts(n, 0).rank, 1.0 / n, 1e-12);    // an all-reduce
    EXPECT_NEAR(BytePsParts(n, n).server, 1.0 / n, 1e-12);  // parameter servers
    EXPECT_EQ(BytePsParts(n, n).rank, 0);
    EXPECT_NEAR(Tenths(WithServers(SyncMethod::kBytePs, n, 0)), 2.0 * (n - 1) / n, 1e-6);
    EXPECT_NEAR(Tenths(WithServers(SyncMethod::kBytePs, n, n)), 1, 1e-6);
    for (int k = 0; k <= n; ++k) {
      const SummedParts parts = BytePsParts(n, k);
      EXPECT_NEAR(k * parts.server + n * parts.rank, 1, 1e-12);
      EXPECT_NEAR(Tenths(WithServers(SyncMethod::kBytePs, n, k)),
                  k == 0 ? 2.0 * (n - 1) / n : n * parts.server, 1e-6);
    }
  }
}

// Two ranks with one peer each get the mean of both, exactly. Three ranks with one peer, which is
// one place or two places further on, get (x_i + x_j) / 2, whose square leaves a quarter of the
// variance.
TEST(SyncTimeTest, GossipLeavesLessVarianceTheMorePeers) {
  EXPECT_EQ(GossipContraction(2, 1), 0);
  EXPECT_NEAR(GossipContraction(3, 1), 0.25, 1e-12);
  EXPECT_NEAR(GossipContraction(8, 1), 3.0 / 7, 1e-12);
  for (int peers = 2; peers < 8; ++peers) {
    EXPECT_LT(GossipContraction(8, peers), GossipContraction(8, peers - 1));
  }
  EXPECT_EQ(GossipContraction(8, 7), 0);
}

TEST(SyncModelTest, TimeIsLatencyAndBytesAtNcclsRates) {
  const NcclTuning& tuning = EmbeddedNcclTuning();
  const Op op = WithServers(SyncMethod::kParameterServer, 4, 1);
  const Estimate estimate = PredictSync(op, Device(), tuning);
  // The time is the base, a hop each way, and 0.8 s of bytes at 0.9 of the bandwidth.
  EXPECT_NEAR(estimate.time.us(), 8.4 + 2 * 14 + 0.8e6 / 0.9, 0.01);
  EXPECT_EQ(estimate.basis, Basis::kAnalytical);
  EXPECT_GT(estimate.spread, 0);
}

TEST(SyncModelTest, ADeadServerCostsItsTimeout) {
  Op op = SyncOp(SyncMethod::kRollingServer, 4, 1);
  const Duration alive = PredictSync(op, Device(), EmbeddedNcclTuning()).time;
  op.sync.timeout = 7_us;
  EXPECT_EQ(PredictSync(op, Device(), EmbeddedNcclTuning()).time - alive, 7_us);
}

TEST(SyncModelTest, RingsAndTreesAreNccls) {
  const NcclTuning& tuning = EmbeddedNcclTuning();
  for (const Algorithm algorithm : {Algorithm::kRing, Algorithm::kTree}) {
    const bool is_ring = algorithm == Algorithm::kRing;
    const Op op = SyncOp(is_ring ? SyncMethod::kRing : SyncMethod::kTree, 4, 8);
    const Estimate estimate = PredictSync(op, Device(), tuning);
    EXPECT_EQ(estimate.method.algorithm, algorithm);
    EXPECT_EQ(estimate.time, ChooseCollective(op, Device(), tuning, algorithm).time);
  }
}

TEST(SyncModelTest, OneRankTakesNoTime) {
  EXPECT_EQ(PredictSync(SyncOp(SyncMethod::kRing, 1, 1), Device(), EmbeddedNcclTuning()).time,
            Duration());
}

TEST(GradientSyncTest, OpsThatDifferInItAreDescribedAndHashedApart) {
  const Op plain = SyncOp(SyncMethod::kAllReduce, 4, 1);
  const Op other = Gossiping(4, 1);
  EXPECT_NE(plain, other);
  EXPECT_NE(HashOf(plain), HashOf(other));
  EXPECT_NE(HashOf(other), HashOf(Gossiping(4, 2)));
  EXPECT_EQ(Describe(plain), "all-reduce 1000000000 bytes, 4 ranks on 4 nodes");
  EXPECT_EQ(Describe(other), "gossip 1000000000 bytes, 4 ranks on 4 nodes");
}

}  // namespace
}  // namespace stagecraft
