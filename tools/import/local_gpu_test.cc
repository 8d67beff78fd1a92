// Tests of clusters made from what was observed of GPUs and their parts; no test needs a GPU.
#include "tools/import/local_gpu.h"

#include <gtest/gtest.h>

#include "costmodel/device_catalogue.h"
#include "costmodel/error_of.h"
#include "sim/cluster/cluster.h"
#include "sim/cluster/cluster_proto.h"

namespace stagecraft {
namespace {

LocalGpu H200(int gpus, int switch_links) {
  LocalGpu gpu;
  gpu.name = "NVIDIA H200";
  gpu.multiprocessors = 132;
  gpu.memory = Bytes(int64_t{140} << 30);
  gpu.pcie_generation = 5;
  gpu.pcie_lanes = 16;
  gpu.switch_links = switch_links;
  gpu.nvlinks.assign(gpus, 0);
  gpu.nvlink = Bandwidth(26.562e9);
  return gpu;
}

PartsProbe Probe(const std::vector<int>& multiprocessors, const std::vector<double>& alone) {
  PartsProbe probe;
  probe.multiprocessors = multiprocessors;
  probe.whole = Bandwidth(4e12);
  for (const double rate : alone) {
    probe.alone.emplace_back(rate);
    probe.copies.push_back({LinkKind::kNvlink, 3_us, Bandwidth(rate / 2)});
  }
  probe.together = Bandwidth(3.6e12);
  return probe;
}

ImportOptions Gpu(const std::string& id) {
  ImportOptions options;
  options.gpu = id;
  return options;
}

Cluster Read(const ImportedCluster& imported) { return ClusterFromProto(imported.cluster, "test"); }

TEST(LocalGpuTest, GpusAtASwitchAreANode) {
  const std::vector<LocalGpu> gpus(4, H200(4, 18));
  const ImportedCluster imported = ClusterOfGpus(gpus, {}, "local-gpu");
  const Cluster cluster = Read(imported);
  EXPECT_EQ(cluster.device_count(), 4);
  EXPECT_EQ(cluster.device(0), DeviceCatalogue::Embedded().Find("h200-sxm5-141gb")->device);
  const NodeType& node = cluster.node(0);
  EXPECT_EQ(node.wiring, Wiring::kSwitched);
  EXPECT_EQ(node.intra.bandwidth, Bandwidth(450e9));  // 18 links of the catalogue's 25 GB/s
  EXPECT_EQ(node.fallback.bandwidth, Bandwidth(63e9));
  EXPECT_EQ(node.nics, 0);
  EXPECT_TRUE(imported.notes.empty());
}

TEST(LocalGpuTest, SlowAndNarrowLinksAreTakenAsTheyAre) {
  LocalGpu gpu = H200(2, 18);
  gpu.nvlink = Bandwidth(12.5e9);
  gpu.pcie_generation = 4;
  gpu.pcie_lanes = 8;
  const ImportedCluster imported = ClusterOfGpus(std::vector(2, gpu), {}, "local-gpu");
  const NodeType node = Read(imported).node(0);
  EXPECT_EQ(node.intra.bandwidth, Bandwidth(225e9));
  EXPECT_EQ(node.fallback.bandwidth, Bandwidth(15.75e9));
  EXPECT_EQ(imported.notes, (std::vector<std::string>{"NVLinks run at 12.5 GB/s, not at the 25 of "
                                                      "h200-sxm5-141gb"}));
}

TEST(LocalGpuTest, OneGpuAndGpusWithoutNvlinkAreClustersToo) {
  EXPECT_EQ(Read(ClusterOfGpus(std::vector{H200(1, 18)}, {}, "local-gpu")).device_count(), 1);
  LocalGpu gpu = H200(2, 0);
  gpu.pcie_generation = gpu.pcie_lanes = 0;
  gpu.nvlink = Bandwidth();
  const ImportedCluster imported = ClusterOfGpus(std::vector(2, gpu), {}, "local-gpu");
  EXPECT_EQ(Read(imported).node(0).wiring, Wiring::kPcie);
  ASSERT_EQ(imported.notes.size(), 1u);
  EXPECT_TRUE(imported.notes[0].starts_with("NVML does not say how GPUs are connected"));
}

TEST(LocalGpuTest, ASmallerGpuOfTheSameNameIsNoted) {
  LocalGpu gpu = H200(1, 18);
  gpu.multiprocessors = 66;
  gpu.memory = Bytes(int64_t{70} << 30);
  const std::vector<std::string> notes = ClusterOfGpus(std::vector{gpu}, {}, "local-gpu").notes;
  EXPECT_EQ(notes,
            (std::vector<std::string>{"the GPU has 66 SMs and 70 GiB; h200-sxm5-141gb of the "
                                      "catalogue, whose numbers are used, has 132 and 141"}));
}

TEST(LocalGpuTest, BridgesBetweenPairsAreSeen) {
  std::vector<LocalGpu> gpus(4, H200(4, 0));
  for (LocalGpu& gpu : gpus) gpu.name = "NVIDIA H100 NVL";
  for (int gpu = 0; gpu < 4; ++gpu) gpus[gpu].nvlinks[gpu ^ 1] = 12;
  const ImportedCluster imported = ClusterOfGpus(gpus, Gpu("h100-nvl-94gb"), "local-gpu");
  const Cluster cluster = Read(imported);
  EXPECT_EQ(cluster.node(0).wiring, Wiring::kPairs);
  EXPECT_EQ(cluster.node(0).intra.bandwidth, Bandwidth(300e9));
}

TEST(LocalGpuTest, GpusAreFoundByNameOrByTheFlag) {
  LocalGpu gpu = H200(1, 18);
  gpu.name = "NVIDIA H9000";
  const auto error = [&](const std::string& id) {
    return ErrorOf([&] { ClusterOfGpus(std::vector{gpu}, Gpu(id), "local-gpu"); });
  };
  EXPECT_TRUE(error("").starts_with("local-gpu: unknown GPU \"NVIDIA H9000\"")) << error("");
  EXPECT_EQ(error("h200-sxm5-141gb"), "");
  EXPECT_TRUE(error("h9000").starts_with("--gpu: ")) << error("h9000");
  gpu.name = "NVIDIA H200";
  EXPECT_EQ(error("a100-sxm4-80gb"), "--gpu: got a100-sxm4-80gb, want what \"NVIDIA H200\" is");
  LocalGpu other = H200(2, 18);
  other.name = "NVIDIA A100-SXM4-80GB";
  EXPECT_EQ(ErrorOf([&] {
              ClusterOfGpus(std::vector{H200(2, 18), other}, {}, "local-gpu");
            }),
            "local-gpu: got \"NVIDIA A100-SXM4-80GB\" and \"NVIDIA H200\", want one GPU type");
}

TEST(LocalGpuTest, SelectedGpusForgetTheOthers) {
  std::vector<LocalGpu> gpus(4, H200(4, 0));
  for (int gpu = 0; gpu < 4; ++gpu) gpus[gpu].nvlinks[gpu ^ 1] = 10 + gpu;
  const std::vector<LocalGpu> selected = SelectGpus(gpus, std::vector{3, 2}, "--device");
  ASSERT_EQ(selected.size(), 2u);
  EXPECT_EQ(selected[0].nvlinks, (std::vector<int>{0, 13}));
  EXPECT_EQ(selected[1].nvlinks, (std::vector<int>{12, 0}));
  EXPECT_EQ(ErrorOf([&] {
              SelectGpus(gpus, std::vector{0, 4}, "--device");
            }),
            "--device: got device 4, want 0 to 3");
}

TEST(LocalGpuTest, EqualPartsAreANodeOfTheirShareOfTheGpu) {
  const ImportedCluster imported = ClusterOfParts(H200(1, 0), Probe({66, 66}, {3e12, 3e12}), {});
  const Cluster cluster = Read(imported);
  ASSERT_EQ(cluster.device_count(), 2);
  EXPECT_EQ(cluster.node_count(), 1);
  const Device whole = DeviceCatalogue::Embedded().Find("h200-sxm5-141gb")->device;
  const Device& part = cluster.device(0);
  EXPECT_EQ(part.multiprocessors, 66);
  EXPECT_EQ(part.Peak(DType::kBf16), 0.5 * whole.Peak(DType::kBf16));
  EXPECT_EQ(part.Peak(DType::kFp8), 0.5 * whole.Peak(DType::kFp8));
  EXPECT_EQ(part.vector_peak, 0.5 * whole.vector_peak);
  EXPECT_EQ(part.l2.count(), whole.l2.count() / 2);
  EXPECT_EQ(part.memory.count(), whole.memory.count() / 132 * 66);
  EXPECT_EQ(part.memory_bandwidth, 0.75 * whole.memory_bandwidth);
  EXPECT_EQ(part.boost_clock_hz, whole.boost_clock_hz);
  EXPECT_EQ(cluster.FindRoute(0, 1).narrowest, (Link{LinkKind::kNvlink, 3_us, Bandwidth(1.5e12)}));
  ASSERT_EQ(cluster.shared_memories().size(), 1u);
  EXPECT_EQ(cluster.shared_memories()[0].devices, (std::vector<int>{0, 1}));
  EXPECT_DOUBLE_EQ(cluster.shared_memories()[0].bandwidth.bytes_per_s(),
                   0.9 * whole.memory_bandwidth.bytes_per_s());
  EXPECT_EQ(
      imported.notes,
      (std::vector<std::string>{
          "kernels that stream through memory reached 4000 GB/s on the whole GPU; on one part "
          "alone: 3000 on 66, 3000 on 66 SMs; on all parts together 3600"}));
}

TEST(LocalGpuTest, UnlikePartsKeepTheirOrder) {
  const Cluster cluster =
      Read(ClusterOfParts(H200(1, 0), Probe({32, 32, 64}, {1.5e12, 1.5e12, 3e12}), {}));
  ASSERT_EQ(cluster.device_count(), 3);
  EXPECT_EQ(cluster.node_count(), 2);
  EXPECT_EQ(cluster.device(0).multiprocessors, 32);
  EXPECT_EQ(cluster.device(2).multiprocessors, 64);
  EXPECT_EQ(cluster.device(2).memory.count() / cluster.device(0).memory.count(), 2);
  // A copy is as fast as the part that sends makes it.
  EXPECT_EQ(cluster.FindRoute(0, 2).narrowest.bandwidth, Bandwidth(0.75e12));
  EXPECT_EQ(cluster.FindRoute(2, 0).narrowest.bandwidth, Bandwidth(1.5e12));
  EXPECT_EQ(cluster.shared_memories()[0].devices, (std::vector<int>{0, 1, 2}));
}

TEST(LocalGpuTest, WhatCannotBeDividedIsRefusedBeforeTheMachineIsLookedAt) {
  EXPECT_EQ(ErrorOf([] { ImportLocalGpu({.parts = "1"}, {}); }),
            "--parts: got 1, want two or more");
  for (const char* const shares : {"3:x", "3:", ":", "0:5", "3:5,8"}) {
    EXPECT_EQ(ErrorOf([&] { ImportLocalGpu({.parts = shares}, {}); }),
              std::string("--parts: got '") + shares +
                  "', want shares of 1 to 1024 with colons between, as 3:5");
  }
  EXPECT_EQ(ErrorOf([] { ImportLocalGpu({.parts = "64,x"}, {}); }),
            "--parts: got '64,x', want numbers of 1 to 1024 with commas between");
}

}  // namespace
}  // namespace stagecraft
