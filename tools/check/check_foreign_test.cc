#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include "costmodel/check.h"
#include "costmodel/shared_csv.h"
#include "tools/check/check_file.h"

namespace stagecraft {
namespace {

std::string Write(const std::string& name, const std::string& contents) {
  const auto folder = std::filesystem::path(testing::TempDir()) / "check_foreign_test";
  std::filesystem::create_directories(folder);
  const std::string path = (folder / name).string();
  std::ofstream(path, std::ios::binary) << contents;
  return path;
}

// "kind, detail", or what is wrong with the file, without its folder.
std::string Check(const std::string& path) {
  try {
    const FileSummary summary = CheckFile(path, {});
    return summary.kind + ", " + summary.detail;
  } catch (const InputError& error) {
    const std::string folder = std::filesystem::path(path).parent_path().string() + "/";
    const std::string text = error.what();
    return text.starts_with(folder) ? text.substr(folder.size()) : text;
  }
}

std::string CheckText(const std::string& name, const std::string& contents) {
  return Check(Write(name, contents));
}

constexpr char kLog[] =
    "# nThread 1 nGpus 2 minBytes 8\n"
    "#  Rank  0 Group  0 Pid   4242 on  node0 device  0 [0000:18:00] NVIDIA H100 80GB HBM3\n"
    "#  Rank  1 Group  0 Pid   4242 on  node0 device  1 [0000:98:00] NVIDIA H100 80GB HBM3\n"
    "#  size  count  type  redop  root  time  algbw  busbw  #wrong\n"
    " 1048576 262144 float sum -1 30.12 34.81 34.81 0\n";

TEST(CheckForeignTest, NcclTestsLogs) {
  EXPECT_EQ(CheckText("a.log", kLog),
            "nccl-tests log, all-reduce over 2 ranks on 1 hosts, 1 sizes from 1048576 to 1048576 "
            "bytes");
  const std::string text = kLog;
  EXPECT_EQ(CheckText("cut.log", text.substr(0, text.size() - 10)).substr(0, 18),
            "cut.log:5: row: go");
}

TEST(CheckForeignTest, SlurmFiles) {
  EXPECT_EQ(CheckText("t.conf",
                      "# c\nSwitchName=s Switches=l[0-1]\nSwitchName=l0 Nodes=a[0-3]\n"
                      "SwitchName=l1 Nodes=a[4-7]\n"),
            "Slurm topology, 8 nodes below 3 switches");
  EXPECT_EQ(CheckText("t.yaml",
                      "- topology: t\n  tree:\n    switches:\n"
                      "      - {switch: l0, nodes: 'a[0-3]'}\n"),
            "Slurm topology, 4 nodes below 1 switches");
  EXPECT_EQ(CheckText("g.conf", "NodeName=a[0-3] Name=gpu Type=h100 Count=8\n"),
            "Slurm GPUs, 4 nodes with GPUs");
  EXPECT_EQ(CheckText("g.conf", "Name=gpu Type=h100\n"), "Slurm GPUs, h100 on all nodes");
  EXPECT_EQ(CheckText("g.conf", "Name=gpu File=/dev/nvidia[0-7]\n"),
            "Slurm GPUs, 8 GPUs of unnamed type on all nodes");
  EXPECT_EQ(CheckText("bad.conf", "SwitchName=s Switches=s\n"),
            "bad.conf: line 1: got switch \"s\" below itself, want another");
  EXPECT_EQ(CheckText("no.conf", "a=b\n"),
            "no.conf: got neither switches nor GPUs, want SwitchName= or Name=gpu");
}

TEST(CheckForeignTest, MatricesOfNvidiaSmi) {
  EXPECT_EQ(CheckText("m.txt", "\tGPU0\tGPU1\nGPU0\t X \tNV4\nGPU1\tNV4\t X \n"),
            "nvidia-smi topology, 2 GPUs of unnamed type, 0 interfaces");
  EXPECT_EQ(CheckText("short.txt", "\tGPU0\tGPU1\nGPU0\t X \tNV4\n").substr(0, 28),
            "short.txt: line 3: got row \"");
}

TEST(CheckForeignTest, ClusterDescriptionsAreReadWhole) {
  const std::string node =
      R"({"metadata":{"name":"a","labels":{"node.kubernetes.io/instance-type":"p5.48xlarge"}},)"
      R"("status":{"capacity":{"nvidia.com/gpu":"8"}}})";
  EXPECT_EQ(CheckText("k.json", "{\"items\":[" + node + "]}").substr(0, 49),
            "Kubernetes nodes, 8 GPUs: 1 x aws-p5.48xlarge wit");
  EXPECT_NE(CheckText("k.json", "{\"items\":[" + node + "," + node + "]}").find("got this name"),
            std::string::npos);
  const std::string gpu =
      R"(<system><cpu><pci busid="a" class="0x030200" vendor="0x10de" device="0x2330">)"
      R"(<gpu dev="0"/></pci></cpu></system>)";
  EXPECT_EQ(CheckText("t.xml", gpu).substr(0, 26), "NCCL topology XML, 1 GPUs:");
  EXPECT_NE(CheckText("t.xml", gpu.substr(0, 60)).find("t.xml: line 1: got XML"),
            std::string::npos);
}

TEST(CheckForeignTest, TextOfNoKnownKindIsRefused) {
  EXPECT_NE(CheckText("noise.log", "noise\n").find("of no kind that stagecraft knows, a .log"),
            std::string::npos);
  const std::string noise(std::size_t{5} << 20, '<');
  EXPECT_EQ(CheckText("noise.xml", noise),
            "noise.xml: got 5242880 bytes, want at most 4194304 of a description of this kind");
}

TEST(CheckForeignTest, TheSharedExamplesAreSound) {
  if (!HasSharedData()) GTEST_SKIP() << "STAGECRAFT_SHARED is not set: no examples to check";
  const std::string shared = std::string(std::getenv("STAGECRAFT_SHARED")) + "/";
  const std::pair<const char*, const char*> all[] = {
      {"examples/nccl_tests_all_reduce.txt", "nccl-tests log, all-reduce over 8 ranks on 1 hosts"},
      {"examples/nccl_topo_min.xml", "NCCL topology XML, 2 GPUs"},
      {"examples/nvidia_smi_topo_m.txt", "nvidia-smi topology, "},
      {"examples/slurm_topology.conf", "Slurm topology, 8 nodes"},
      {"examples/slurm_topology.yaml", "Slurm topology, 8 nodes"},
      {"examples/slurm_gres.conf", "Slurm GPUs, "},
      {"examples/k8s_nodes_min.json", "Kubernetes nodes, "},
      {"data/network/nccl_tests_nd_a100_v4/nccl_32.log", "nccl-tests log, all-reduce over 32"},
      {"data/network/nd_a100_v4_all_reduce.csv",
       "measured collectives, 132 rows of 1 sites, 28 more"},
      {"data/network/collectives.csv.gz", "measured collectives, 56191 rows"},
  };
  for (const auto& [name, want] : all) {
    EXPECT_TRUE(Check(shared + name).starts_with(want)) << name << ": " << Check(shared + name);
  }
}

}  // namespace
}  // namespace stagecraft
