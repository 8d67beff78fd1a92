#include "tools/report/communication_total.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <sstream>

#include "costmodel/analytical_model.h"
#include "sim/cluster/cluster_spec.h"
#include "sim/plan/plan.h"
#include "sim/workload/workload.h"
#include "sim/workload/workload_catalogue.h"

namespace stagecraft {
namespace {

// Simulates gpt2-medium on sixteen GPUs: tp 2, dp 8 over two nodes.
SimulatedStep Simulate(bool overlap) {
  const Workload workload = LoadWorkload("gpt2-medium", AttentionBackend::kFlash);
  const Cluster cluster = ParseCluster("h100-sxm:2x8");
  PlanDegrees degrees;
  degrees.tensor = 2;
  degrees.global_batch = 16;
  degrees.sequence = 512;
  degrees.overlap_grad_reduce = overlap;
  const AnalyticalModel model;
  return SimulateStep(MakePlan(degrees, workload, cluster), workload, cluster, model);
}

TEST(CommunicationTotalTest, ExposedIsWhatTheBreakdownHas) {
  const SimulatedStep step = Simulate(true);
  const CommunicationTotal total = FindCommunicationTotal(step);
  const Breakdown& parts = step.evaluation.profile.breakdown;
  EXPECT_EQ(total.exposed,
            step.evaluation.step_time - parts.compute - parts.optimizer - parts.bubble);
  EXPECT_GT(parts.tensor, Duration());
  EXPECT_EQ(total.All(), total.exposed + total.hidden);
}

// Without overlap only collectives of tensor parallelism run beside products.
TEST(CommunicationTotalTest, OverlapHidesReductions) {
  const CommunicationTotal hidden = FindCommunicationTotal(Simulate(true));
  const CommunicationTotal bare = FindCommunicationTotal(Simulate(false));
  EXPECT_GT(hidden.hidden, bare.hidden);
  EXPECT_LT(hidden.exposed, bare.exposed);
}

TEST(CommunicationTotalTest, ReportsSayAllOfItAndItsParts) {
  const CommunicationTotal total{12_ms, 3_ms};
  EXPECT_EQ(CommunicationTotalToJson(total).dump(), R"({"all":15.0,"exposed":12.0,"hidden":3.0})");
  std::ostringstream text;
  PrintCommunicationTotal(total, text);
  EXPECT_EQ(
      text.str(),
      "  communication in all: 15.0 ms, 12.0 ms of it exposed (tp, pp, dp, cp, ep) and 3.0 ms "
      "hidden behind computation\n");
  std::ostringstream nothing;
  PrintCommunicationTotal({}, nothing);
  EXPECT_EQ(nothing.str(), "");
}

}  // namespace
}  // namespace stagecraft
