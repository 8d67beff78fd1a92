#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>

#include "costmodel/check.h"
#include "costmodel/network/collective_table.h"
#include "costmodel/shared_csv.h"
#include "sim/cluster.h"
#include "sim/cluster_spec.h"
#include "tools/command.h"
#include "tools/network_input.h"

namespace stagecraft {
namespace {

class ImportTest : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = std::filesystem::path(testing::TempDir()) / "stagecraft_import_test";
    std::filesystem::create_directories(folder_);
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  std::string Write(const std::string& name, const std::string& contents) const {
    const std::string path = (folder_ / name).string();
    std::ofstream(path, std::ios::binary) << contents;
    return path;
  }

  // Imports and reads back what was written, as --cluster does.
  Cluster Import(Args args, const std::string& extension = ".textproto") {
    const std::string path = (folder_ / ("out" + extension)).string();
    args.insert(args.end(), {"-o", path});
    std::istringstream in;
    std::ostringstream out, err;
    EXPECT_EQ(RunImport(args, in, out, err), kExitOk) << err.str();
    printed_ = out.str();
    return ParseCluster(path);
  }

  // What the verb's InputError says; empty where it throws none.
  std::string Run(const Args& args) {
    std::istringstream in;
    std::ostringstream out, err;
    try {
      EXPECT_EQ(RunImport(args, in, out, err), kExitOk) << err.str();
    } catch (const InputError& error) {
      return error.what();
    }
    printed_ = out.str();
    return "";
  }

  std::filesystem::path folder_;
  std::string printed_;
};

constexpr char kSlurm[] =
    "# two leaves\n"
    "SwitchName=leaf0 Nodes=gpu[000-003]\n"
    "SwitchName=leaf1 Nodes=gpu[004-007] LinkSpeed=100\n"
    "SwitchName=spine Switches=leaf[0-1]\n";

TEST_F(ImportTest, SlurmLeavesMakeAFatTree) {
  const std::string conf = Write("topology.conf", kSlurm);
  const Cluster cluster = Import({"slurm", conf, "--gpu", "h100"});
  EXPECT_EQ(cluster.device_count(), 64);
  EXPECT_EQ(cluster.name(), "topology.conf");
  ASSERT_EQ(cluster.interconnect().fabrics.size(), 1u);
  EXPECT_EQ(cluster.interconnect().fabrics[0].nodes_per_leaf, 4);
  EXPECT_EQ(cluster.interconnect().fabrics[0].tiers[0].uplinks, 32);
  EXPECT_NE(printed_.find("1 to 1 oversubscribed"), std::string::npos) << printed_;
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
            ": line 2: got GPU \"a100\" beside \"h100\" on all nodes, want one kind a node");
  EXPECT_EQ(error("NodeName=gpu[000-007] Gres=gpu:h100:4,gpu:a100:4\n"),
            ": line 1: got GPU \"a100\" beside \"h100\" in Gres, want one kind a node");
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
            ": line 1: gres: got a quote before \"gpu:h100:8\", want one behind it too");
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

std::string Node(const std::string& name, const std::string& labels) {
  return "{\"metadata\":{\"name\":\"" + name + "\",\"labels\":{" + labels +
         "}},\"status\":{\"capacity\":{\"nvidia.com/gpu\":\"8\"}}}";
}
std::string List(const std::string& nodes) { return "{\"items\":[" + nodes + "]}"; }

TEST_F(ImportTest, KubernetesInstancesAreCatalogueNodes) {
  const std::string type = "\"node.kubernetes.io/instance-type\":\"p5.48xlarge\"";
  const std::string layer = ",\"topology.k8s.aws/network-node-layer-3\":";
  const std::string path = Write(
      "nodes.json",
      List(Node("b", type + layer + "\"nn-2\"") + "," + Node("a", type + layer + "\"nn-1\"") + "," +
           Node("c", type + layer + "\"nn-1\"") + ",{\"metadata\":{\"name\":\"cpu\"}}"));
  const Cluster cluster = Import({"k8s", path}, ".json");
  EXPECT_EQ(cluster.groups()[0].type.id, "aws-p5.48xlarge");
  EXPECT_EQ(cluster.node_count(), 3);
  // a and c share a switch, b has the other.
  EXPECT_EQ(cluster.interconnect().fabrics[0].nodes_per_leaf, 2);
  EXPECT_NE(printed_.find("1 nodes without GPUs are left out"), std::string::npos) << printed_;
}

TEST_F(ImportTest, KubernetesNodesWithoutTheLabelsOfOthersAreNoted) {
  const std::string type = "\"node.kubernetes.io/instance-type\":\"p5.48xlarge\"";
  const std::string layer = ",\"topology.k8s.aws/network-node-layer-3\":";
  const std::string path =
      Write("nodes.json", List(Node("a", type + layer + "\"nn-1\"") + "," +
                               Node("b", type + layer + "\"nn-2\"") + "," + Node("c", type)));
  EXPECT_TRUE(IsSingleSwitch(Import({"k8s", path}).interconnect()));
  EXPECT_NE(printed_.find("leaf switches are left out: 1 of 3 nodes have neither label "
                          "topology.k8s.aws/network-node-layer-3 nor "
                          "cloud.google.com/gce-topology-subblock, \"c\" is the first"),
            std::string::npos)
      << printed_;
  Import({"k8s", Write("nodes.json", List(Node("c", type)))});
  EXPECT_EQ(printed_.find("leaf"), std::string::npos) << printed_;
}

TEST_F(ImportTest, KubernetesCountsWholeGpusOnce) {
  std::string node = Node("a", "\"nvidia.com/gpu.product\":\"NVIDIA-H100-80GB-HBM3\"");
  const std::string gpus = "\"nvidia.com/gpu\"";
  node.insert(node.find(gpus), "\"nvidia.com/mig-1g.10gb\":\"0\",");
  EXPECT_EQ(Import({"k8s", Write("nodes.json", List(node))}).device_count(), 8);
  node.replace(node.find("\"0\""), 3, "\"7\"");
  const std::string out = (folder_ / "out.json").string();
  EXPECT_NE(Run({"k8s", Write("nodes.json", List(node)), "-o", out}).find("MIG parts"),
            std::string::npos);
  const std::string shared =
      Node("a", "\"nvidia.com/gpu.count\":\"4\",\"nvidia.com/gpu.replicas\":\"3\"");
  EXPECT_NE(Run({"k8s", Write("nodes.json", List(shared)), "-o", out})
                .find("got 12 GPUs by label and 8 by capacity"),
            std::string::npos);
}

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
            "--gpu: got a value beside --node, which says it, want one of them");
}

TEST_F(ImportTest, KubernetesProductsAreFoundThroughTheirDashes) {
  const std::string path =
      Write("nodes.json", List(Node("a", "\"nvidia.com/gpu.product\":\"NVIDIA-H100-80GB-HBM3\"")));
  EXPECT_EQ(Import({"k8s", path}, ".yaml").groups()[0].type.id, "dgx-h100");
}

std::string Xml(const std::string& nvlinks) {
  std::string gpus;
  for (int g = 0; g < 2; ++g) {
    const std::string n = std::to_string(g);
    gpus += "<cpu numaid=\"" + n + "\"><pci busid=\"s" + n +
            "\" class=\"0x060400\" link_speed=\"32.0 GT/s PCIe\" link_width=\"16\">"
            "<pci busid=\"g" +
            n +
            "\" class=\"0x030200\" vendor=\"0x10de\" device=\"0x2330\" "
            "link_speed=\"32.0 GT/s PCIe\" link_width=\"16\"><gpu dev=\"" +
            n + "\" sm=\"90\">" + nvlinks +
            "</gpu></pci>"
            "<pci busid=\"n" +
            n + "\" class=\"0x020700\"><nic><net name=\"mlx5\" dev=\"" + n +
            "\" speed=\"400000\"/></nic></pci></pci></cpu>";
  }
  return "<system version=\"1\">" + gpus + "</system>";
}

TEST_F(ImportTest, NcclTreesKeepAffinityAndSwitches) {
  const std::string path =
      Write("topo.xml", Xml("<nvlink target=\"ffffffff\" count=\"18\" tclass=\"0x068000\"/>"));
  const Cluster cluster = Import({"nccl-topo", path});
  const NodeType& type = cluster.node(0);
  EXPECT_EQ(type.device.id, "h100-sxm5-80gb");
  EXPECT_EQ(type.wiring, Wiring::kSwitched);
  EXPECT_TRUE(type.nvls);
  EXPECT_EQ(type.intra.bandwidth, Bandwidth(450e9));
  EXPECT_EQ(type.nic.bandwidth, Bandwidth(50e9));
  EXPECT_EQ(type.fallback.bandwidth, Bandwidth(63e9));
  EXPECT_EQ(type.pcie.roots, 2);
  EXPECT_EQ(type.pcie.device_switch, type.pcie.nic_switch);
}

TEST_F(ImportTest, NcclTreesWithoutNvlinkArePcie) {
  const Cluster cluster = Import({"nccl-topo", Write("topo.xml", Xml(""))});
  EXPECT_EQ(cluster.node(0).wiring, Wiring::kPcie);
  const Route route = cluster.FindRoute(0, 1);  // switch, root, root, switch
  EXPECT_EQ(route.links.size(), 5u);
  EXPECT_EQ(route.narrowest.bandwidth, Bandwidth(22e9));
}

// Two GPUs with an interface each below switches of 16 and 8 lanes, and a slow
// interface on four lanes of an old generation, which is left out with its switch.
TEST_F(ImportTest, NcclSwitchesKeepUplinksOfTheirOwn) {
  const std::string slow =
      "<pci busid=\"s9\" class=\"0x060400\" link_speed=\"5.0 GT/s PCIe\" link_width=\"4\">"
      "<pci busid=\"n9\" class=\"0x020000\"><nic><net name=\"eth0\" dev=\"9\" speed=\"25000\"/>"
      "</nic></pci></pci>";
  std::string xml = Xml("");
  const Cluster alike = Import({"nccl-topo", Write("topo.xml", xml)});
  xml.insert(xml.find("<pci "), slow);
  const Cluster cluster = Import({"nccl-topo", Write("topo.xml", xml)});
  EXPECT_EQ(cluster.node(0).pcie, alike.node(0).pcie);
  EXPECT_EQ(printed_.find("uplinks"), std::string::npos) << printed_;
  const std::string width = "link_width=\"16\"";
  xml.replace(xml.find(width, xml.find("\"s1\"")), width.size(), "link_width=\"8\"");
  const Cluster unlike = Import({"nccl-topo", Write("topo.xml", xml)});
  ASSERT_EQ(unlike.node(0).pcie.uplinks.size(), 2u);
  EXPECT_EQ(unlike.node(0).pcie.uplinks[0].bandwidth, Bandwidth(63e9));
  EXPECT_EQ(unlike.node(0).pcie.uplinks[1].bandwidth, Bandwidth(31.5e9));
  EXPECT_NE(printed_.find("uplinks of PCIe switches differ: 31.5 to 63 GB/s"), std::string::npos)
      << printed_;
}

TEST_F(ImportTest, SmiMatricesOfPairsAndSwitches) {
  const std::string pairs = Write("pairs.txt",
                                  "\t\x1b[4mGPU0\tGPU1\tGPU2\tGPU3\tNIC0\tCPU Affinity\tNUMA "
                                  "Affinity\x1b[0m\n"
                                  "GPU0\t X \tNV12\tNODE\tSYS\tPIX\t0-47\t0\n"
                                  "GPU1\tNV12\t X \tNODE\tSYS\tNODE\t0-47\t0\n"
                                  "GPU2\tNODE\tNODE\t X \tNV12\tNODE\t0-47\t0\n"
                                  "GPU3\tSYS\tSYS\tNV12\t X \tSYS\t48-95\t1\n"
                                  "NIC0\tPIX\tNODE\tNODE\tSYS\t X \t\t\n");
  const Cluster cluster =
      Import({"smi-topo", pairs, "--gpu", "a100-pcie-80gb", "--nic-gbit", "200"});
  const NodeType& type = cluster.node(0);
  EXPECT_EQ(type.wiring, Wiring::kPairs);
  EXPECT_EQ(type.intra.bandwidth, Bandwidth(300e9));
  EXPECT_EQ(type.nic.bandwidth, Bandwidth(25e9));
  EXPECT_EQ(type.pcie.device_switch, (std::vector<int>{0, 1, 2, 3}));
  EXPECT_EQ(type.pcie.nic_switch, (std::vector<int>{0}));
  EXPECT_EQ(type.pcie.switch_root, (std::vector<int>{0, 0, 0, 1}));
}

TEST_F(ImportTest, JsonSaysWhatWasWritten) {
  const std::string conf = Write("topology.conf", kSlurm);
  Import({"slurm", conf, "--gpu", "h100", "--json"}, ".json");
  const auto report = nlohmann::json::parse(printed_);
  EXPECT_EQ(report["command"], "import");
  EXPECT_EQ(report["inputs"][0]["path"], conf);
  EXPECT_EQ(report["notes"].size(), 1u);
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
            table + ": 4 times on 2 ranks of dgx-h100:2\n  note: 2 times repeat a point\n");
  const CollectiveTable read = ReadCollectiveTable(table);
  ASSERT_EQ(read.samples.size(), 4u);
  EXPECT_EQ(read.samples[3].repeat, 1);
  EXPECT_EQ(read.samples[3].node, "dgx-h100");
  EXPECT_EQ(read.samples[3].site, "dgx-h100:2");
  const Cluster cluster = ParseCluster("dgx-h100:2");
  const NetworkInput direct = ReadNetworkInput("--network", {log}, &cluster);
  EXPECT_EQ(read.samples[0].op, direct.samples[0].op);
  // What is printed does not say whether it was a gather.
  EXPECT_NE(Run({"nccl-tests", log, "--cluster", "dgx-h100:2", "-o", table, "--collective",
                 "all_gather"}),
            "");
}

// The shared table of these logs was made by others.
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
