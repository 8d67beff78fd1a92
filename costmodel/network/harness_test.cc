#include "costmodel/network/harness.h"

#include <gtest/gtest.h>

#include <numeric>
#include <vector>

#include "costmodel/collective_model.h"
#include "costmodel/device_catalogue.h"
#include "costmodel/embedded_nccl_tuning.h"
#include "costmodel/network/formula.h"
#include "costmodel/network/network_model.h"

namespace stagecraft {
namespace {

const Device& A100() { return DeviceCatalogue::Embedded().Get("a100-sxm4-80gb", "gpu").device; }

Fabric OneNode(int ranks) {
  Fabric fabric;
  fabric.ranks = fabric.ranks_per_node = ranks;
  fabric.intra = {LinkKind::kNvlink, 600_ns, Bandwidth(300e9)};
  return fabric;
}

Duration FormulaOf(const Op& op) {
  const Formula formula(op, A100(), std::nullopt);
  return Duration::Seconds(formula.SecondsOf(formula.ChoiceAt(op.bytes)));
}

// Returns calls of a framework that take twice the formula's time, 40 us and 10 us for each rank.
std::vector<NetworkSample> Calls(OpKind kind, const std::string& source) {
  std::vector<NetworkSample> samples;
  for (const int ranks : {2, 4, 8}) {
    for (int size = 12; size <= 26; ++size) {
      NetworkSample sample;
      sample.op = Op::Collective(kind, Bytes(int64_t{1} << size), OneNode(ranks));
      sample.gpu = "a100-sxm4-80gb";
      sample.site = sample.source = source;
      sample.timing = Timing::kFramework;
      sample.time = 2 * FormulaOf(sample.op) + 40_us + ranks * 10_us;
      samples.push_back(sample);
    }
  }
  return samples;
}

std::vector<int> All(const std::vector<NetworkSample>& samples) {
  std::vector<int> all(samples.size());
  std::iota(all.begin(), all.end(), 0);
  return all;
}

TEST(HarnessTest, TheTimesOfCallsAndRanksAreFound) {
  const std::vector<NetworkSample> samples = Calls(OpKind::kAllReduce, "lab");
  const Harnesses harnesses = Harnesses::Estimate(samples, All(samples));
  const HarnessTime time = harnesses.times().at({"lab", OpKind::kAllReduce});
  EXPECT_NEAR(time.call.us(), 40, 1);
  EXPECT_NEAR(time.rank.us(), 10, 0.3);
  EXPECT_NEAR(harnesses.Of(samples.back()).us(), 120, 2);
}

TEST(HarnessTest, NoPredictionHasThem) {
  const std::vector<NetworkSample> samples = Calls(OpKind::kAllReduce, "lab");
  const NetworkModel model = NetworkModel::Fit(samples).WithHome("lab");
  for (const NetworkSample& sample : samples) {
    const Op ops[] = {sample.op};
    const Duration time = model.Predict(ops, A100())[0].estimate.time;
    const double formula = FormulaOf(sample.op).seconds();
    EXPECT_NEAR(time.seconds() / formula, 2, 0.25) << Describe(sample.op);
  }
}

TEST(HarnessTest, OnlyCallsOfFrameworksHaveThem) {
  std::vector<NetworkSample> samples = Calls(OpKind::kAllReduce, "lab");
  for (NetworkSample& sample : samples) sample.timing = Timing::kCollective;
  const Harnesses harnesses = Harnesses::Estimate(samples, All(samples));
  EXPECT_TRUE(harnesses.times().empty());
  EXPECT_EQ(harnesses.Of(samples[0]), Duration());
}

TEST(HarnessTest, ASourceThatWasNotSeenHasTheMedianOfTheOthers) {
  std::vector<NetworkSample> samples = Calls(OpKind::kAllReduce, "lab");
  const Harnesses harnesses = Harnesses::Estimate(samples, All(samples));
  NetworkSample other = samples[0];
  other.source = "another lab";
  EXPECT_EQ(harnesses.Of(other), harnesses.Of(samples[0]));
  other.op.kind = OpKind::kAllToAll;
  EXPECT_EQ(harnesses.Of(other), Duration());
}

TEST(HarnessTest, ListsAreReadAndWrittenOnce) {
  NetworkSample sample = Calls(OpKind::kAllGather, "lab").back();
  sample.copies_lists = true;
  const double bytes = static_cast<double>(sample.op.bytes.count());
  EXPECT_NEAR(Harnesses().Of(sample).seconds(), 2 * bytes / A100().memory_bandwidth.bytes_per_s(),
              1e-9);
}

}  // namespace
}  // namespace stagecraft
