#include "tools/run/cuda_places.h"

#include <gtest/gtest.h>

#include <set>

#include "costmodel/error_of.h"
#include "sim/cluster/cluster_spec.h"

namespace stagecraft {
namespace {

// Returns ranks that run on these devices, in order.
std::vector<RankInfo> OnDevices(const std::vector<int>& devices) {
  std::vector<RankInfo> ranks;
  for (const int device : devices) ranks.push_back({.device = device});
  return ranks;
}

// Returns GPUs that are divided into parts with these numbers of multiprocessors. Each part is a
// node of its own, because parts may differ.
Cluster Parts(const std::vector<std::vector<int>>& multiprocessors) {
  const NodeType whole = ParseCluster("h100-sxm:1x1").node(0);
  std::vector<Cluster::NodeGroup> groups;
  std::vector<SharedMemory> memories;
  std::vector<Cluster::ExplicitLink> links;
  for (const std::vector<int>& gpu : multiprocessors) {
    SharedMemory memory{.devices = {}, .bandwidth = Bandwidth(3e12)};
    for (const int size : gpu) {
      memory.devices.push_back(static_cast<int>(groups.size()));
      groups.push_back({.type = whole, .count = 1});
      groups.back().type.device.multiprocessors = size;
    }
    if (gpu.size() > 1) memories.push_back(memory);
  }
  for (size_t from = 0; from < groups.size(); ++from) {
    for (size_t to = 0; to < groups.size(); ++to) {
      if (from == to) continue;
      links.push_back({"node" + std::to_string(from) + "/gpu0",
                       "node" + std::to_string(to) + "/gpu0",
                       {LinkKind::kNvlink, Duration(), Bandwidth(1e12)}});
    }
  }
  return Cluster("parts", std::move(groups), std::move(links), "", {}, std::move(memories));
}

TEST(CudaPlacesTest, PartsOfOneGpuAreRunByOneProcess) {
  const CudaPlaces places = PlaceRanks(OnDevices({0, 1}), Parts({{64, 68}}), false);
  ASSERT_EQ(places.places.size(), 2u);
  EXPECT_EQ(places.places[0].gpu, 0);
  EXPECT_EQ(places.places[0].multiprocessors, 64);
  EXPECT_EQ(places.places[1].gpu, 0);
  EXPECT_EQ(places.places[1].multiprocessors, 68);
  EXPECT_EQ(places.processes, 1);
  EXPECT_EQ(places.hosts, 1);
}

TEST(CudaPlacesTest, WholeGpusCountOnEachHostAndHaveAProcessEach) {
  const CudaPlaces places =
      PlaceRanks(OnDevices({0, 1, 2, 3}), ParseCluster("h100-sxm:2x2"), false);
  for (int rank = 0; rank < 4; ++rank) {
    EXPECT_EQ(places.places[rank].gpu, rank % 2);
    EXPECT_EQ(places.places[rank].multiprocessors, 0);
    EXPECT_EQ(places.host[rank], rank / 2);
  }
  EXPECT_EQ(places.processes, 4);
  EXPECT_EQ(places.hosts, 2);
  EXPECT_EQ(places.most_gpus, 2);
}

TEST(CudaPlacesTest, OneRankIsOneProcess) {
  EXPECT_EQ(PlaceRanks(OnDevices({0}), ParseCluster("h100-sxm:1x1"), false).processes, 1);
}

TEST(CudaPlacesTest, RanksOfWhichSomeShareAGpuWantTheFlag) {
  const Cluster cluster = Parts({{64, 68}, {64, 68}});
  const std::string error = ErrorOf([&] { PlaceRanks(OnDevices({0, 1, 2, 3}), cluster, false); });
  EXPECT_TRUE(error.starts_with("--cluster: got 4 ranks on ")) << error;
  EXPECT_NE(error.find("--share-gpu"), std::string::npos) << error;
  const CudaPlaces shared = PlaceRanks(OnDevices({0, 1}), cluster, true);
  EXPECT_EQ(shared.processes, 2);
  EXPECT_TRUE(shared.shares_gpus);
  EXPECT_EQ(ErrorOf([] {
              PlaceRanks(OnDevices({0, 1}), ParseCluster("h100-sxm:2x1"), true);
            }),
            "--share-gpu: got a plan on 2 hosts, want a plan on one host");
}

TEST(CudaPlacesTest, ALauncherThatStartsOtherProcessesIsToldSo) {
  const CudaPlaces gpus = PlaceRanks(OnDevices({0, 1, 2, 3}), ParseCluster("h100-sxm:2x2"), false);
  const auto error = [](const CudaPlaces& places, const ProcessRank& process) {
    return ErrorOf([&] { CheckProcess(places, process); });
  };
  EXPECT_EQ(error(gpus, {.rank = 3, .size = 4, .local_rank = 1, .address = "a:1"}), "");
  EXPECT_EQ(error(gpus, {.rank = 1, .size = 2, .local_rank = 1, .address = "a:1"}),
            "got 2 processes, want 4, one for each rank of the plan");
  EXPECT_EQ(error(gpus, {.rank = 2, .size = 4, .local_rank = 2, .address = "a:1"}),
            "got rank 2 as the one with local rank 2 on its host, want 0, the ranks that --cluster "
            "has before it there");
  const CudaPlaces parts = PlaceRanks(OnDevices({0, 1}), Parts({{64, 68}}), false);
  EXPECT_EQ(error(parts, {}), "");
  EXPECT_EQ(error(parts, {.rank = 1, .size = 2, .local_rank = 1, .address = "a:1"}),
            "got 2 processes, want 1, as all ranks are parts of one GPU");
}

TEST(CudaPlacesTest, ALauncherMayShowEachProcessItsOwnGpuAlone) {
  const CudaPlaces places = PlaceRanks(OnDevices({0, 1}), ParseCluster("h100-sxm:1x2"), false);
  const ProcessRank process{.rank = 1, .size = 2, .local_rank = 1, .address = "a:1"};
  EXPECT_EQ(PlacesHere(places, process, 8)[1].gpu, 1);
  EXPECT_EQ(PlacesHere(places, process, 1)[1].gpu, 0);
}

TEST(CudaPlacesTest, ProcessesThatShareTakeTurnsOnTheGpusThereAre) {
  const CudaPlaces places = PlaceRanks(OnDevices({0, 1, 2}), ParseCluster("h100-sxm:1x3"), true);
  const std::vector<CudaPlace> here =
      PlacesHere(places, {.rank = 2, .size = 3, .local_rank = 2, .address = "a:1"}, 2);
  EXPECT_EQ(here[0].gpu, 0);
  EXPECT_EQ(here[1].gpu, 1);
  EXPECT_EQ(here[2].gpu, 0);
}

TEST(CudaPlacesTest, ProcessesThatShareAreHostsOfTheirOwnToNccl) {
  const auto first = SharingVariables(0), second = SharingVariables(1);
  EXPECT_EQ(first[0].first, "NCCL_HOSTID");
  EXPECT_NE(first[0].second, second[0].second);
  EXPECT_EQ(std::vector(first.begin() + 1, first.end()),
            std::vector(second.begin() + 1, second.end()));
}

}  // namespace
}  // namespace stagecraft
