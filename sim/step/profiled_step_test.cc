// Steps of networks that are given by their profiles.
#include <gtest/gtest.h>

#include <span>
#include <string>
#include <vector>

#include "costmodel/check.h"
#include "costmodel/cost_model.h"
#include "sim/cluster/cluster_spec.h"
#include "sim/engine/sim_executor.h"
#include "sim/lowering/lowering.h"
#include "sim/plan/plan.h"
#include "sim/workload/readers/graph_txt.h"

namespace stagecraft {
namespace {

std::string Node(const std::string& id) {
  return id +
         " -- ReLU(inplace) -- forward_compute_time=1.500, backward_compute_time=2.000, "
         "activation_size=100.000, parameter_size=40.000\n";
}

// Profiled ops take the time that they state; messages take none.
class FreeMessages : public CostModel {
 public:
  std::vector<Estimate> Predict(std::span<const Op> ops, const Device&) const override {
    std::vector<Estimate> estimates;
    for (const Op& op : ops) estimates.push_back({op.m * op.profiled, Basis::kMeasured, 0});
    return estimates;
  }
};

// On one GPU a step takes the times of the profile and nothing else.
TEST(ProfiledStepTest, AStepIsTheSumOfTheProfile) {
  const std::string text = Node("a") + Node("b") + Node("c") + "\ta -- b\n\tb -- c\n";
  const Workload workload = ToWorkload(ParseProfiledGraph(text, "x"), "x");
  PlanDegrees degrees;
  degrees.sequence = 1;
  degrees.global_batch = 4;
  degrees.precision = DType::kFp32;
  const Cluster one = ParseCluster("v100-sxm2-16gb:1x1");
  const FreeMessages model;
  const auto time = [&](const Cluster& cluster) {
    SimExecutor executor(cluster, model);
    const Plan plan = MakePlan(degrees, workload, cluster);
    return executor.Execute(Lower(plan, workload, cluster, {.with_optimizer = false})).makespan();
  };
  EXPECT_EQ(time(one), 4 * 3 * 3500_us);
  degrees.micro_batch = 2;  // twice the rows, twice the time
  EXPECT_EQ(time(one), 4 * 3 * 3500_us);
  degrees.micro_batch = 1;
  degrees.pipeline = 3;
  EXPECT_EQ(time(ParseCluster("v100-sxm2-16gb:1x3")), (4 + 2) * 3500_us);
}

TEST(ProfiledStepTest, AProfileIsOfOneGpuAndWhole) {
  const Workload workload =
      ToWorkload(ParseProfiledGraph(Node("a") + Node("b") + "\ta -- b\n", "x"), "x");
  const auto error = [&](auto change, const std::string& cluster) {
    PlanDegrees degrees;
    degrees.sequence = 1;
    degrees.global_batch = 8;
    degrees.precision = DType::kFp32;
    change(degrees);
    try {
      MakePlan(degrees, workload, ParseCluster(cluster));
    } catch (const InputError& e) {
      return std::string(e.what());
    }
    return std::string();
  };
  const auto nothing = [](PlanDegrees&) {};
  EXPECT_EQ(error(nothing, "v100-sxm2-16gb:1x2"), "");
  EXPECT_EQ(error([](PlanDegrees& d) { d.precision = DType::kFp16; }, "v100-sxm2-16gb:1x2"),
            "precision: got fp16, but x was profiled in fp32");
  EXPECT_TRUE(error([](PlanDegrees& d) { d.tensor = 2; }, "v100-sxm2-16gb:1x2")
                  .starts_with("stages[0].tensor_parallel: 2 does not divide"));
  EXPECT_TRUE(error(nothing, "v100-sxm2-16gb:1x1+v100-sxm2-32gb:1x1")
                  .starts_with("stages[0]: x was profiled on one GPU type"));
}

}  // namespace
}  // namespace stagecraft
