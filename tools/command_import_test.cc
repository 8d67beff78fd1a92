#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <vector>

#include "costmodel/network/collective_table.h"
#include "costmodel/network/network_files_testing.h"
#include "costmodel/shared_csv.h"
#include "sim/cluster/cluster.h"
#include "sim/cluster/cluster_spec.h"
#include "tools/import/import_testing.h"
#include "tools/network/network_input.h"
#include "tools/verb/command.h"

namespace stagecraft {
namespace {

TEST_F(ImportTest, FlagsThatChangeNothingAreNoted) {
  const std::string one = Write("one.conf", "SwitchName=l Nodes=a[0-1]\n");
  Import({"slurm", one, "--gpu", "h100", "--oversubscription", "2"});
  EXPECT_NE(printed_.find("--oversubscription changes nothing"), std::string::npos) << printed_;
  Import({"slurm", one, "--gpu", "h100"});
  EXPECT_EQ(printed_.find("note"), std::string::npos) << printed_;
  const std::string matrix = Write("m.txt", "\tGPU0\tGPU1\nGPU0\t X \tPHB\nGPU1\tPHB\t X \n");
  Import({"smi-topo", matrix, "--gpu", "t4", "--nic-gbit", "100"});
  EXPECT_NE(printed_.find("--nic-gbit changes nothing"), std::string::npos) << printed_;
  const std::string out = (folder_ / "out.json").string();
  EXPECT_EQ(Run({"slurm", one, "--gpu", "h100", "--topology", "t", "-o", out}),
            "--topology: got \"t\" for " + one + ", want none, as only a .yaml file has several");
  EXPECT_EQ(Run({"slurm", one, "--gpu", "h100", "--node", "dgx-h100", "-o", out}),
            "--gpu: got it with --node, which names the GPU, want one of them");
}

TEST_F(ImportTest, JsonSaysWhatWasWritten) {
  const std::string conf = Write("topology.conf", kSlurm);
  Import({"slurm", conf, "--gpu", "h100", "--json"}, ".json");
  const auto report = nlohmann::json::parse(printed_);
  EXPECT_EQ(report["command"], "import");
  EXPECT_EQ(report["inputs"][0]["path"], conf);
  EXPECT_EQ(report["notes"].size(), 1u);
}

// Tests have no GPU: this one checks what is refused before a GPU is looked for, and that none is
// found.
TEST_F(ImportTest, LocalGpusAreAskedForByFlagsAlone) {
  const std::string out = (folder_ / "out.json").string();
  const std::string one = Write("one.conf", "SwitchName=l Nodes=a[0-1]\n");
  EXPECT_EQ(Run({"local-gpu", one, "-o", out}), "IN: got 1 files, want none with local-gpu");
  EXPECT_EQ(Run({"slurm", "-o", out}), "IN: got 0 files, want one");
  EXPECT_EQ(Run({"nccl-tests", "--cluster", "dgx-h100:1", "-o", (folder_ / "o.csv").string()}),
            "IN: got 0 files, want one or more");
  EXPECT_EQ(Run({"local-gpu", "--board", "-1", "-o", out}), "--board: got -1, want 0 or more");
  EXPECT_EQ(Run({"local-gpu", "--parts", "1", "-o", out}), "--parts: got 1, want two or more");
  EXPECT_EQ(Run({"local-gpu", "--node", "dgx-h100", "-o", out}),
            "--node: got a value that import local-gpu does not use, want none");
  EXPECT_EQ(Run({"slurm", one, "--parts", "2", "-o", out}),
            "--parts: got a value that import slurm does not use, want none");
  const std::string error = Run({"local-gpu", "--parts", "64,68", "-o", out});
  EXPECT_TRUE(error.starts_with("local-gpu: got a CUDA device, want ")) << error;
  EXPECT_FALSE(std::filesystem::exists(out));
}

constexpr char kLog[] =
    "# nThread 1 nGpus 1 minBytes 8 maxBytes 4194304 step: 2(factor)\n"
    "#  Rank  0 Group  0 Pid   4242 on      node0 device  0 [0000:18:00] NVIDIA H100 80GB HBM3\n"
    "#  Rank  1 Group  0 Pid   4243 on      node1 device  0 [0000:18:00] NVIDIA H100 80GB HBM3\n"
    "#       size         count      type   redop    root     time   algbw   busbw  #wrong\n"
    "     1048576        262144     float     sum      -1    30.12   34.81   34.81       0\n"
    "     2097152        524288     float     sum      -1    60.24   34.81   34.81       0\n";

TEST_F(ImportTest, NcclTestsLogsBecomeATableOfCollectives) {
  const std::string log = Write("x.log", kLog);
  const std::string again = Write("y.log", kLog);
  const std::string table = (folder_ / "out.csv").string();
  EXPECT_EQ(Run({"nccl-tests", log, again, "--cluster", "dgx-h100:2", "-o", table}), "");
  EXPECT_EQ(printed_,
            table + ": 4 times on 2 ranks of dgx-h100:2\n  note: 2 times repeat the same point\n");
  const CollectiveTable read = ReadCollectiveTable(table);
  ASSERT_EQ(read.samples.size(), 4u);
  EXPECT_EQ(read.samples[3].repeat, 1);
  EXPECT_EQ(read.samples[3].node, "dgx-h100");
  EXPECT_EQ(read.samples[3].site, "dgx-h100:2");
  const Cluster cluster = ParseCluster("dgx-h100:2");
  const NetworkInput direct = ReadNetworkInput("--network", {log}, &cluster);
  EXPECT_EQ(read.samples[0].op, direct.samples[0].op);
  // The bandwidths in the log are not those of an all-gather.
  EXPECT_NE(Run({"nccl-tests", log, "--cluster", "dgx-h100:2", "-o", table, "--collective",
                 "all_gather"}),
            "");
}

// The shared table was made from these logs by another program.
TEST_F(ImportTest, TheSharedLogsMakeTheSharedTable) {
  if (!HasSharedData()) GTEST_SKIP() << "STAGECRAFT_SHARED is not set: no logs to import";
  const std::string network = std::string(std::getenv("STAGECRAFT_SHARED")) + "/data/network/";
  const std::string table = (folder_ / "out.csv").string();
  Args args = {"nccl-tests", "--cluster", "azure-nd96asr-v4:4", "-o", table};
  for (const char* ranks : {"1", "2", "4", "8", "16", "32"}) {
    args.push_back(network + "nccl_tests_nd_a100_v4/nccl_" + ranks + ".log");
  }
  EXPECT_EQ(Run(args), "");
  const CollectiveTable read = ReadCollectiveTable(table);
  const CollectiveTable shared = ReadCollectiveTable(network + "nd_a100_v4_all_reduce.csv");
  EXPECT_EQ(read.invalid, shared.invalid);
  ASSERT_EQ(read.samples.size(), shared.samples.size());
  for (size_t i = 0; i < read.samples.size(); ++i) {
    const NetworkSample& mine = read.samples[i];
    const NetworkSample& theirs = shared.samples[i];
    EXPECT_EQ(mine.op.bytes, theirs.op.bytes);
    EXPECT_EQ(mine.op.fabric.ranks, theirs.op.fabric.ranks);
    EXPECT_EQ(mine.time, theirs.time);
    EXPECT_EQ(mine.gpu, theirs.gpu);
    EXPECT_EQ(mine.dtype, theirs.dtype);
  }
  args.assign({"--network", table, "--split", "leave-out:group=4x32x1x1", "--quiet"});
  std::istringstream in;
  std::ostringstream out, err;
  EXPECT_EQ(RunEvaluate(args, in, out, err), kExitOk) << err.str();
}

TEST_F(ImportTest, TheSharedExamplesAreRead) {
  if (!HasSharedData()) GTEST_SKIP() << "STAGECRAFT_SHARED is not set: no examples to import";
  const std::string examples = std::string(std::getenv("STAGECRAFT_SHARED")) + "/examples/";
  EXPECT_EQ(Import({"nccl-topo", examples + "nccl_topo_min.xml"}).device_count(), 2);
  EXPECT_EQ(Import({"k8s", examples + "k8s_nodes_min.json"}).node(0).id, "aws-p5.48xlarge");
  const std::string gres = examples + "slurm_gres.conf";
  for (const char* name : {"slurm_topology.conf", "slurm_topology.yaml"}) {
    EXPECT_EQ(Import({"slurm", examples + name, "--gres", gres}).device_count(), 64) << name;
  }
  const Cluster smi = Import({"smi-topo", examples + "nvidia_smi_topo_m.txt", "--gpu", "h100-sxm"});
  EXPECT_EQ(smi.node(0).wiring, Wiring::kSwitched);
  EXPECT_EQ(smi.node(0).intra.bandwidth, Bandwidth(450e9));
  EXPECT_EQ(smi.node(0).pcie.device_switch, smi.node(0).pcie.nic_switch);
}

}  // namespace
}  // namespace stagecraft
