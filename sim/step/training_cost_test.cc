#include "sim/step/training_cost.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "costmodel/units.h"
#include "sim/testing/lowering_testing.h"

namespace stagecraft {
namespace {

Cluster ClusterOf(const std::vector<std::pair<std::string, double>>& boards) {
  std::vector<Cluster::NodeGroup> groups;
  for (const auto& [id, watts] : boards) {
    Device device = MakeDevice(id, 100e12);
    device.power_w = watts;
    groups.push_back({MakeNode(device, 8), 1});
  }
  return Cluster("test", std::move(groups));
}

// A step of an hour on these numbers of devices, with 1,000 tokens.
Evaluation AnHour(const std::vector<int>& group_devices) {
  Evaluation evaluation;
  evaluation.step_time = Duration::Seconds(3600);
  evaluation.step_time_low = Duration::Seconds(1800);
  evaluation.step_time_high = Duration::Seconds(7200);
  evaluation.tokens = 1000;
  evaluation.group_devices = group_devices;
  for (const int devices : group_devices) evaluation.devices += devices;
  return evaluation;
}

// Eight boards of 500 W for 48 hours: 2 days, 384 GPU-hours, 192 kWh, 240 with a PUE of 1.25.
TEST(TrainingCostTest, TimeEnergyAndMoneyOfSteps) {
  const TrainingCost cost =
      CostOfSteps(AnHour({8}), ClusterOf({{"a", 500}}),
                  {.usd_per_gpu_hour = {2.5}, .pue = 1.25, .usd_per_kwh = 0.1}, 48);
  EXPECT_EQ(cost.days(), 2);
  EXPECT_EQ(cost.gpu_hours, 384);
  EXPECT_EQ(cost.energy_kwh, 240);
  EXPECT_EQ(cost.gpu_usd, 960);
  EXPECT_EQ(cost.energy_usd, 24);
  EXPECT_EQ(cost.low, 0.5);
  EXPECT_EQ(cost.high, 2);
}

TEST(TrainingCostTest, WhatHasNoPriceHasNoCost) {
  const TrainingCost cost = CostOfSteps(AnHour({8}), ClusterOf({{"a", 500}}), {}, 1);
  EXPECT_FALSE(cost.gpu_usd.has_value());
  EXPECT_FALSE(cost.energy_usd.has_value());
  EXPECT_DOUBLE_EQ(cost.energy_kwh.value(), 4.4);  // 8 x 0.5 kW x 1.1
}

// 2 devices of 500 W at 1 USD, and 8 of 250 W at 0.5 USD.
TEST(TrainingCostTest, EachGpuTypeHasItsPriceAndItsPower) {
  const TrainingCost cost = CostOfSteps(AnHour({2, 8}), ClusterOf({{"a", 500}, {"b", 250}}),
                                        {.usd_per_gpu_hour = {1, 0.5}, .pue = 1}, 10);
  EXPECT_EQ(cost.gpu_usd, 60);
  EXPECT_EQ(cost.energy_kwh, 30);
}

TEST(TrainingCostTest, ABoardWithoutKnownPowerHasNoEnergyUnlessItIsIdle) {
  const Cluster cluster = ClusterOf({{"a", 500}, {"b", 0}});
  EXPECT_FALSE(CostOfSteps(AnHour({8, 1}), cluster, {}, 1).energy_kwh.has_value());
  EXPECT_EQ(WithoutBoardPower(AnHour({8, 1}), cluster), std::vector<std::string>{"b"});
  EXPECT_TRUE(CostOfSteps(AnHour({8, 0}), cluster, {}, 1).energy_kwh.has_value());
  EXPECT_TRUE(WithoutBoardPower(AnHour({8, 0}), cluster).empty());
}

TEST(TrainingCostTest, TheLastStepIsTakenInFull) {
  EXPECT_EQ(StepsOfTokens(AnHour({8}), 1), 1);
  EXPECT_EQ(StepsOfTokens(AnHour({8}), 1000), 1);
  EXPECT_EQ(StepsOfTokens(AnHour({8}), 1001), 2);
  EXPECT_EQ(StepsOfTokens(AnHour({8}), 1e12), 1e9);
}

// LLaMA's table of GPU-hours and MWh: 82,432 and 36, 135,168 and 59, 530,432 and 233, 1,022,362
// and 449, on A100s of 400 W with a PUE of 1.1 (Touvron et al. 2023, table 15, recalled).
TEST(TrainingCostTest, EnergyOfPublishedRuns) {
  const Cluster cluster = ClusterOf({{"a100", 400}});
  for (const auto& [gpu_hours, mwh] :
       {std::pair(82'432, 36), {135'168, 59}, {530'432, 233}, {1'022'362, 449}}) {
    const TrainingCost cost = CostOfSteps(AnHour({8}), cluster, {}, gpu_hours / 8.0);
    EXPECT_NEAR(cost.energy_kwh.value() / 1000, mwh, 1) << gpu_hours;
  }
}

}  // namespace
}  // namespace stagecraft
