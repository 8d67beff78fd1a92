#include "tools/report/network_report.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "costmodel/analytical_model.h"
#include "sim/cluster/cluster_spec.h"
#include "sim/plan/plan.h"
#include "sim/workload/workload.h"
#include "sim/workload/workload_catalogue.h"

namespace stagecraft {
namespace {

// Simulates gpt2-medium on two stages with tp 4; on 32 GPUs that leaves dp 4.
SimulatedStep Simulate(const Cluster& cluster, const SimulationOptions& options) {
  const Workload workload = LoadWorkload("gpt2-medium", AttentionBackend::kFlash);
  PlanDegrees degrees;
  degrees.tensor = 4;
  degrees.pipeline = 2;
  degrees.global_batch = 16;
  degrees.sequence = 128;
  const AnalyticalModel model;
  return SimulateStep(MakePlan(degrees, workload, cluster), workload, cluster, model, options);
}

TEST(NetworkReportTest, FoldedAndUnfoldedSchedulesExchangeTheSame) {
  const Cluster cluster = ParseCluster("h100-sxm:4x8");
  const auto folded = FindCommunicators(Simulate(cluster, {}));
  const auto unfolded = FindCommunicators(Simulate(cluster, {.unfold = true}));
  ASSERT_EQ(folded.size(), unfolded.size());
  ASSERT_GT(folded.size(), 4u);
  for (size_t i = 0; i < folded.size(); ++i) {
    const std::string what = std::string(Name(folded[i].phase)) + " " + Name(folded[i].kind);
    EXPECT_EQ(folded[i].stage, unfolded[i].stage) << what;
    EXPECT_EQ(folded[i].groups, unfolded[i].groups) << what;
    EXPECT_EQ(folded[i].tasks, unfolded[i].tasks) << what;
    EXPECT_EQ(folded[i].bytes, unfolded[i].bytes) << what;
  }
  // Each of the sixteen devices of the first stage sends four micro-batches to its neighbour.
  EXPECT_EQ(folded[0].phase, Phase::kSendForward);
  EXPECT_EQ(folded[0].groups, 16);
  EXPECT_EQ(folded[0].tasks, 16 * 4);
}

// With sequence parallelism each of the 12 layers of a stage gathers and reduces two activations in
// its forward, and gathers and reduces them in its backward: all of 128 tokens x 1024 channels of
// 16 bits. 8 groups of a stage run two micro-batches each. The first stage also reduces the
// embedding.
TEST(NetworkReportTest, CommunicationInsidePassesIsCounted) {
  const Cluster cluster = ParseCluster("h100-sxm:4x8");
  const auto folded = FindInnerCommunication(Simulate(cluster, {}));
  const auto unfolded = FindInnerCommunication(Simulate(cluster, {.unfold = true}));
  ASSERT_EQ(folded.size(), unfolded.size());
  ASSERT_GE(folded.size(), 4u);
  for (size_t i = 0; i < folded.size(); ++i) {
    EXPECT_STREQ(folded[i].group, "tensor parallel");
    EXPECT_EQ(folded[i].groups, 4);
    EXPECT_EQ(folded[i].fabric.ranks, 4);
    EXPECT_EQ(folded[i].fabric.nodes, 1);
    EXPECT_EQ(folded[i].groups, unfolded[i].groups);
    EXPECT_EQ(folded[i].tasks, unfolded[i].tasks);
    EXPECT_EQ(folded[i].bytes, unfolded[i].bytes);
    EXPECT_FALSE(LinksOf(folded[i], cluster).empty());
    for (const int link : LinksOf(folded[i], cluster)) {
      EXPECT_EQ(cluster.LinkName(link).find("nic"), std::string::npos);
    }
  }
  constexpr int64_t kActivation = 2 * 128 * 1024;
  const auto gather = std::find_if(folded.begin(), folded.end(), [](const CommunicatorUse& use) {
    return use.stage == 0 && use.kind == OpKind::kAllGather;
  });
  ASSERT_NE(gather, folded.end());
  EXPECT_EQ(gather->bytes.count() % (16 * kActivation), 0);
  EXPECT_GE(gather->bytes.count(), 16 * 12 * 4 * kActivation);
}

TEST(NetworkReportTest, OnlyNeighbouringStagesAreMerged) {
  std::vector<CommunicatorUse> uses;
  for (const int stage : {-1, 0, 1, 3}) {
    uses.emplace_back();
    uses.back().stage = stage;
    uses.back().bytes = Bytes(10 - stage);
  }
  const std::vector<LikeUses> merged = MergeStages(uses);
  ASSERT_EQ(merged.size(), 3u);
  EXPECT_EQ(merged[0].Stages(), "all");
  EXPECT_EQ(merged[1].Stages(), "0 to 1");
  EXPECT_EQ(merged[1].most, Bytes(10));
  EXPECT_EQ(merged[2].Stages(), "3");
}

std::vector<std::string> WarningsOf(const std::vector<LinkChange>& changes,
                                    const Cluster& cluster) {
  const NetworkOptions network = {.fidelity = NetworkFidelity::kFlow, .changes = changes};
  return NetworkWarnings(Simulate(cluster, {.network = network}), cluster, network);
}

TEST(NetworkReportTest, ChangesThatChangeNothingAreSaid) {
  const Cluster cluster = ParseCluster("h100-sxm:4x8");
  int used = 0;
  while (cluster.LinkName(used) != "node0/nic0 -> fabric") ++used;
  EXPECT_TRUE(WarningsOf({{Duration(), used, 0.5}}, cluster).empty());
  EXPECT_EQ(WarningsOf({{1_ms, used, 1.0}}, cluster),
            std::vector<std::string>{"--link-rate of node0/nic0 -> fabric changes nothing: at "
                                     "1.000 ms its rate is 1 already"});
  EXPECT_EQ(WarningsOf({{2_us, used, 0.5}, {1_us, used, 0.5}}, cluster),
            std::vector<std::string>{"--link-rate of node0/nic0 -> fabric changes nothing: at "
                                     "0.002 ms its rate is 0.5 already"});
  const std::vector<std::string> late = WarningsOf({{Duration::Seconds(1000), used, 0.5}}, cluster);
  ASSERT_EQ(late.size(), 1u);
  EXPECT_NE(late[0].find("changes nothing: the step ends at"), std::string::npos);
}

TEST(NetworkReportTest, FlowsOfOneRankAreNone) {
  const Cluster cluster = ParseCluster("h100-sxm:1x1");
  const Workload workload = LoadWorkload("gpt2", AttentionBackend::kFlash);
  PlanDegrees degrees;
  degrees.global_batch = 1;
  degrees.sequence = 128;
  const AnalyticalModel model;
  const NetworkOptions network = {.fidelity = NetworkFidelity::kFlow};
  const SimulatedStep step = SimulateStep(MakePlan(degrees, workload, cluster), workload, cluster,
                                          model, {.network = network});
  const std::vector<std::string> warnings = NetworkWarnings(step, cluster, network);
  ASSERT_EQ(warnings.size(), 1u);
  EXPECT_TRUE(warnings[0].starts_with("--network flow changes nothing"));
}

}  // namespace
}  // namespace stagecraft
