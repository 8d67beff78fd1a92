// Tests that `evaluate --network` judges the very times that `simulate` uses.
#include <fmt/core.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <memory>
#include <numeric>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "costmodel/cost_model.h"
#include "costmodel/device_catalogue.h"
#include "costmodel/network/network_experiment.h"
#include "costmodel/network/network_model.h"
#include "costmodel/network/network_sample.h"
#include "costmodel/op.h"
#include "costmodel/proto_file.h"
#include "costmodel/shared_csv.h"
#include "proto/network.pb.h"
#include "sim/cluster/cluster.h"
#include "sim/cluster/node_catalogue.h"
#include "tools/flags/cost_model_flag.h"
#include "tools/network/network_input.h"
#include "tools/verb/flags.h"

namespace stagecraft {
namespace {

std::string Folder() { return std::string(std::getenv("STAGECRAFT_SHARED")) + "/data/network/"; }

// The cost model of `simulate --cost-model FILE` for a file that holds this network model.
std::unique_ptr<CostModel> AsSimulateLoads(const NetworkModel& network) {
  const std::string path = testing::TempDir() + "/site.pb";
  std::ofstream(path, std::ios::binary) << network.ToProto().SerializeAsString();
  Flags flags("test", "Loads a cost model.");
  CostModelFlag flag;
  flag.Register(flags);
  std::ostringstream out;
  flags.Parse({"--cost-model", path}, out);
  return flag.Load();
}

Duration TimeOf(const CostModel& model, const NetworkSample& sample) {
  const Op ops[] = {sample.op};
  return model.Predict(ops, DeviceCatalogue::Embedded().Get(sample.gpu, "gpu").device)[0].time;
}

class NetworkPathTest : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    if (!HasSharedData()) return;
    samples_ = ReadNetworkInput("--network", {Folder() + "collectives.csv.gz",
                                              Folder() + "nd_a100_v4_all_reduce.csv",
                                              Folder() + "collectives_h200_b200.csv.gz"})
                   .samples;
  }
  void SetUp() override {
    if (!HasSharedData()) GTEST_SKIP() << kNoSharedData;
  }

  // Compares one in `every` rows of a split with the model that `simulate` loads from a file,
  // which was fitted to the rows that were not left out; simulations have no harness. Its home site
  // is that of the row, if it has rows of that site.
  static int CompareRows(const std::string& spec, int every) {
    int compared = 0;
    for (SampleSplit& split : MakeNetworkSplits(spec, samples_, 1)) {
      std::vector<int> few;
      for (size_t i = 0; i < split.test.size(); i += every) {
        if (WhyNotSimulated(samples_[split.test[i]]) == nullptr) few.push_back(split.test[i]);
      }
      split.test = few;
      const NetworkModel fitted = NetworkModel::Fit(samples_, split.train);
      std::map<std::string, std::unique_ptr<CostModel>> of_site;
      for (const NetworkPrediction& p : PredictLeftOut(samples_, split)) {
        const NetworkSample& sample = samples_[p.sample];
        std::unique_ptr<CostModel>& model = of_site[sample.site];
        if (!model) {
          const bool is_home = fitted.HasSite(sample.site);
          model = AsSimulateLoads(is_home ? fitted.WithHome(sample.site) : fitted);
        }
        const Duration simulated = TimeOf(*model, sample);
        EXPECT_EQ((p.time - fitted.harnesses().Of(sample)).ns(), simulated.ns())
            << sample.site << " " << Describe(sample.op) << " " << spec;
        ++compared;
      }
    }
    return compared;
  }

  static inline std::vector<NetworkSample> samples_;
};

TEST_F(NetworkPathTest, SitesLeftOutAreJudgedByTheTimesOfSimulate) {
  std::set<std::string> sites;
  for (const NetworkSample& sample : samples_) sites.insert(sample.site);
  EXPECT_GT(CompareRows("leave-out:site", 97), 10 * static_cast<int>(sites.size()));
}

TEST_F(NetworkPathTest, GroupsLeftOutAreJudgedByTheTimesOfSimulate) {
  EXPECT_GT(CompareRows("leave-out:group", 397), 60);
}

// For GPU types that the words of the table do not describe, links are those that simulations see
// in a cluster of such nodes.
TEST_F(NetworkPathTest, LinksOfNewGpusAreThoseOfTheirCluster) {
  const NetworkInput input =
      ReadNetworkInput("--network", {Folder() + "collectives_h200_b200.csv.gz"});
  EXPECT_TRUE(input.skipped.empty());
  ASSERT_FALSE(input.samples.empty());
  for (const NetworkSample& sample : input.samples) {
    const NodeEntry& entry = NodeCatalogue::Embedded().Get(sample.node, "node_id");
    const Cluster cluster("c", {{entry.type, sample.op.fabric.nodes}});
    std::vector<int> devices(sample.op.fabric.ranks);
    std::iota(devices.begin(), devices.end(), 0);
    ASSERT_EQ(sample.op.fabric, cluster.DescribeGroup(devices));
    ASSERT_EQ(entry.type.device.id, sample.gpu);
  }
}

}  // namespace
}  // namespace stagecraft
