#include "tools/report/training_cost_report.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <sstream>
#include <string>

#include "costmodel/units.h"
#include "sim/cluster/cluster_spec.h"

namespace stagecraft {
namespace {

// A step of 36 s on 8 GPUs, of 100,000 tokens: 0.08 GPU-hours; 10,000 such steps make 10^9 tokens.
Evaluation StepOf36Seconds() {
  Evaluation evaluation;
  evaluation.step_time = Duration::Seconds(36);
  evaluation.step_time_low = Duration::Seconds(27);
  evaluation.step_time_high = Duration::Seconds(45);
  evaluation.tokens = 100'000;
  evaluation.samples = 10;
  evaluation.group_devices = {8};
  evaluation.devices = 8;
  return evaluation;
}

TEST(TrainingCostReportTest, StepsAndBillionsOfTokens) {
  const Cluster cluster = ParseCluster("h100-sxm:1x8");
  EXPECT_EQ(StepCostText({}, cluster, StepOf36Seconds()),
            "0.08 GPU-hours per step, 800 GPU-hours per 10^9 tokens");
  const CostQuestion priced = {.rates = {.usd_per_gpu_hour = {2.5}}};
  EXPECT_EQ(StepCostText(priced, cluster, StepOf36Seconds()),
            "0.08 GPU-hours and 0.2 USD per step, 2000 USD per 10^9 tokens");
  const nlohmann::ordered_json json = CostToJson(priced, cluster, StepOf36Seconds());
  EXPECT_EQ(json.dump(), R"({"gpu_hours_per_step":0.08,"gpu_hours_per_billion_tokens":800.0,)"
                         R"("cost_usd_per_step":0.2,"cost_usd_per_billion_tokens":2000.0})");
}

// 10^10 tokens are 100,000 steps of 36 s: 1000 h or 41.67 days; 8,000 GPU-hours at 0.7 kW are 5.6
// MWh, 8.4 MWh with a PUE of 1.5.
TEST(TrainingCostReportTest, ARunHasDaysEnergyAndMoney) {
  const Cluster cluster = ParseCluster("h100-sxm:1x8");
  const CostQuestion question = {
      .rates = {.usd_per_gpu_hour = {2.5}, .pue = 1.5, .usd_per_kwh = 0.1}, .tokens = 1e10};
  EXPECT_EQ(RunCostText(question, cluster, StepOf36Seconds()),
            "10B tokens in 100000 steps: 41.67 days, 8,000 GPU-hours, 8.4 MWh, 20,000 USD for GPUs "
            "and 840 USD for electricity; 80 % prediction interval: 31.25 to 52.08 days");
  const nlohmann::ordered_json run = CostToJson(question, cluster, StepOf36Seconds())["run"];
  EXPECT_EQ(run["tokens"], 1e10);
  EXPECT_EQ(run["steps"], 100'000);
  EXPECT_DOUBLE_EQ(run["days"].get<double>(), 1000.0 / 24);
  EXPECT_DOUBLE_EQ(run["days_interval"][0].get<double>(), 750.0 / 24);
  EXPECT_DOUBLE_EQ(run["days_interval"][1].get<double>(), 1250.0 / 24);
  EXPECT_DOUBLE_EQ(run["energy_mwh"].get<double>(), 8.4);
  EXPECT_DOUBLE_EQ(run["energy_mwh_interval"][1].get<double>(), 10.5);
  EXPECT_EQ(run["pue"], 1.5);
  EXPECT_DOUBLE_EQ(run["cost_usd"].get<double>(), 20'000);
  EXPECT_DOUBLE_EQ(run["energy_cost_usd"].get<double>(), 840);
}

TEST(TrainingCostReportTest, ABoardWithoutKnownPowerIsNamed) {
  const Cluster cluster = ParseCluster("h100-sxm:1x8").WithDevices([](Device& device) {
    device.power_w = 0;
    device.name = "Board X";
  });
  const CostQuestion question = {.tokens = 1e10};
  EXPECT_TRUE(CostToJson(question, cluster, StepOf36Seconds())["run"]["energy_mwh"].is_null());
  EXPECT_EQ(EnergyNote({}, cluster, StepOf36Seconds()),
            "the energy of the run is not known, since the board power of Board X is not");
  EXPECT_EQ(RunCostText(question, cluster, StepOf36Seconds()).find("MWh"), std::string::npos);
}

TEST(TrainingCostReportTest, TheNoteSaysWhatEnergyLeavesOut) {
  EXPECT_EQ(EnergyNote({}, ParseCluster("h100-sxm:1x8"), StepOf36Seconds()),
            "energy is that of GPUs that draw their board power all the time (700 W of H100 SXM5 "
            "80GB), times a PUE of 1.1; hosts, switches and storage are not counted");
}

TEST(TrainingCostReportTest, NothingIsPrintedUnlessAsked) {
  const Cluster cluster = ParseCluster("h100-sxm:1x8");
  std::ostringstream none, priced, both;
  PrintCost({}, cluster, StepOf36Seconds(), none);
  EXPECT_EQ(none.str(), "");
  PrintCost({.rates = {.usd_per_gpu_hour = {1}}}, cluster, StepOf36Seconds(), priced);
  EXPECT_EQ(priced.str().find("cost      0.08 GPU-hours and 0.08 USD"), 0u) << priced.str();
  PrintCost({.rates = {.usd_per_gpu_hour = {1}}, .tokens = 1e12}, cluster, StepOf36Seconds(), both);
  EXPECT_EQ(both.str().find("training  1T tokens in 10000000 steps"), 0u) << both.str();
}

TEST(TrainingCostReportTest, CountsHaveSuffixesOfThousands) {
  EXPECT_EQ(CountText(1e12), "1T");
  EXPECT_EQ(CountText(1.4e12), "1.4T");
  EXPECT_EQ(CountText(3e11), "300B");
  EXPECT_EQ(CountText(123456789), "123456789");
  EXPECT_EQ(CountText(12), "12");
}

}  // namespace
}  // namespace stagecraft
