#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "sim/cluster/cluster.h"
#include "tools/import/import_testing.h"

namespace stagecraft {
namespace {

TEST_F(ImportTest, SlurmLeavesMakeAFatTree) {
  const std::string conf = Write("topology.conf", kSlurm);
  const Cluster cluster = Import({"slurm", conf, "--gpu", "h100"});
  EXPECT_EQ(cluster.device_count(), 64);
  EXPECT_EQ(cluster.name(), "topology.conf");
  ASSERT_EQ(cluster.interconnect().fabrics.size(), 1u);
  EXPECT_EQ(cluster.interconnect().fabrics[0].nodes_per_leaf, 4);
  EXPECT_EQ(cluster.interconnect().fabrics[0].tiers[0].uplinks, 32);
  EXPECT_NE(printed_.find("1:1 oversubscribed"), std::string::npos) << printed_;
}

TEST_F(ImportTest, SlurmsGresSaysWhichGpusANodeHas) {
  const std::string conf = Write("topology.conf", kSlurm);
  const std::string gres = Write("gres.conf",
                                 "AutoDetect=nvml\n"
                                 "NodeName=gpu[000-003] Name=gpu Type=h100 File=/dev/nvidia[0-7]\n"
                                 "NodeName=gpu[004-007] Name=gpu Type=a100 Count=4\n");
  const Cluster cluster = Import({"slurm", conf, "--gres", gres, "--oversubscription", "2"});
  ASSERT_EQ(cluster.groups().size(), 2u);
  EXPECT_EQ(cluster.groups()[0].type.device.id, "h100-sxm5-80gb");
  EXPECT_EQ(cluster.groups()[1].type.devices, 4);
  EXPECT_EQ(cluster.interconnect().fabrics[0].tiers[0].uplinks, 16);
  const std::string slurm = Write("slurm.conf", "NodeName=gpu[000-007] Gres=gpu:h100:8(S:0-1)\n");
  EXPECT_EQ(Import({"slurm", conf, "--gres", slurm}).device_count(), 64);
}

TEST_F(ImportTest, SlurmLinesAboutTheSameNodesAddUp) {
  const std::string conf = Write("topology.conf", kSlurm);
  const auto gpus = [&](const std::string& gres) {
    return Import({"slurm", conf, "--gres", Write("gres.conf", gres)}).device_count();
  };
  const auto error = [&](const std::string& gres) {
    const std::string path = Write("gres.conf", gres);
    const std::string text =
        Run({"slurm", conf, "--gres", path, "-o", (folder_ / "out.json").string()});
    return text.starts_with(path) ? text.substr(path.size()) : text;
  };
  std::string eight;
  for (int i = 0; i < 8; ++i) {
    eight += "Name=gpu Type=h100 File=/dev/nvidia" + std::to_string(i) + "\n";
  }
  EXPECT_EQ(gpus(eight), 64);
  EXPECT_EQ(gpus("NodeName=gpu[000-007] Gres=gpu:h100:4(S:0),gpu:h100:4(S:1)\n"), 64);
  EXPECT_EQ(gpus("NodeName=gpu[000-007] Gres=gpu:h100:3,gpu:h100:5,nic:8\n"), 64);
  EXPECT_EQ(error("Name=gpu Type=h100 Count=4\nName=gpu Type=a100 Count=4\n"),
            ": line 2: got GPU \"a100\" and \"h100\" on all nodes, want one GPU type per node");
  EXPECT_EQ(error("NodeName=gpu[000-007] Gres=gpu:h100:4,gpu:a100:4\n"),
            ": line 1: got GPU \"a100\" and \"h100\" in Gres, want one GPU type per node");
  EXPECT_EQ(error("Name=gpu Type=h100 Count=1024\nName=gpu Type=h100 Count=1024\n"),
            ": line 2: got 2048 GPUs on all nodes, want 1024 at most");
  EXPECT_EQ(error("Name=gpu Type=h100 File=/dev/nvidia[0-1024]\n"),
            ": line 1: got 1025 GPUs on all nodes, want 1024 at most");
}

TEST_F(ImportTest, SlurmConfHasDefaultsAndQuotes) {
  const std::string conf = Write("topology.conf", kSlurm);
  const std::string slurm =
      Write("slurm.conf",
            "ClusterName=\"a b\" # quoted\nNodeName=DEFAULT CPUs=96 Gres=gpu:h100:8\n"
            "NodeName=\"gpu[000-003]\" Feature=\"one two\"\n"
            "NodeName=gpu[004-007] Gres=\"gpu:a100:4\"\n"
            "NodeName=login1 Gres=nic:1\n");
  const Cluster cluster = Import({"slurm", conf, "--gres", slurm});
  ASSERT_EQ(cluster.groups().size(), 2u);
  EXPECT_EQ(cluster.groups()[0].type.device.id, "h100-sxm5-80gb");
  EXPECT_EQ(cluster.groups()[1].type.devices, 4);
  const std::string out = (folder_ / "out.json").string();
  const auto error = [&](const std::string& text) {
    const std::string path = Write("slurm.conf", text);
    return Run({"slurm", conf, "--gres", path, "-o", out}).substr(path.size());
  };
  EXPECT_EQ(error("NodeName=a\nInclude /etc/slurm/nodes.conf\n"),
            ": line 2: got Include, want the lines of that file in its place: no other file is "
            "read");
  EXPECT_EQ(error("NodeName=a Gres=\"gpu:h100:8\n"),
            ": line 1: gres: got a quote before \"gpu:h100:8\", want a closing one");
}

TEST_F(ImportTest, NamesOfHostsAreNoLongerThanTheyCanBe) {
  const std::string out = (folder_ / "out.json").string();
  const auto error = [&](size_t letters) {
    const std::string path =
        Write("topology.conf", "SwitchName=s Nodes=" + std::string(letters, 'a') + "[10-11]\n");
    return Run({"slurm", path, "--gpu", "h100", "-o", out});
  };
  EXPECT_EQ(error(251), "");
  EXPECT_NE(error(252).find("want 253 characters at most"), std::string::npos) << error(252);
}

TEST_F(ImportTest, SlurmTiersAndUnevenLeavesAreKept) {
  const std::string deep =
      Write("deep.conf",
            "SwitchName=core Switches=pod[0-1]\n"
            "SwitchName=pod0 Switches=l[0-1]\nSwitchName=pod1 Switches=l[2-3]\n"
            "SwitchName=l0 Nodes=a[0-1]\nSwitchName=l1 Nodes=a[2-3]\n"
            "SwitchName=l2 Nodes=a[4-5]\nSwitchName=l3 Nodes=a[6-7]\n");
  const Cluster three = Import({"slurm", deep, "--node", "dgx-h100"});
  EXPECT_EQ(three.interconnect().fabrics[0].nodes_per_pod, 4);
  EXPECT_EQ(three.interconnect().fabrics[0].tiers.size(), 2u);
  const std::string uneven = Write("uneven.conf",
                                   "SwitchName=s Switches=l[0-1]\n"
                                   "SwitchName=l0 Nodes=a[0-1]\nSwitchName=l1 Nodes=a[2-6]\n");
  EXPECT_EQ(Import({"slurm", uneven, "--node", "dgx-h100"}).interconnect().fabrics[0].leaf_nodes,
            (std::vector<int>{2, 5}));
}

TEST_F(ImportTest, SlurmYamlHasSeveralTopologies) {
  const std::string yaml = Write("topology.yaml",
                                 "- topology: flat\n  cluster_default: false\n  block:\n"
                                 "    block_sizes: [4]\n    blocks:\n"
                                 "      - {block: b0, nodes: 'gpu[0-1]'}\n"
                                 "- topology: fabric\n  cluster_default: true\n  tree:\n"
                                 "    switches:\n      - {switch: s, children: 'l[0-1]'}\n"
                                 "      - {switch: l0, nodes: 'gpu[0-3]'}\n"
                                 "      - {switch: l1, nodes: 'gpu[4-7]'}\n");
  EXPECT_EQ(Import({"slurm", yaml, "--gpu", "h100"}).device_count(), 64);
  const Cluster block = Import({"slurm", yaml, "--gpu", "h100", "--topology", "flat"});
  EXPECT_EQ(block.device_count(), 16);
  EXPECT_TRUE(IsSingleSwitch(block.interconnect()));
}

}  // namespace
}  // namespace stagecraft
