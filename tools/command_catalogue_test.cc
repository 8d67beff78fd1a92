#include <gtest/gtest.h>

#include <cstdio>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>

#include "costmodel/check.h"
#include "costmodel/device_catalogue.h"
#include "sim/cluster/cluster.h"
#include "sim/cluster/cluster_spec.h"
#include "tools/verb/command.h"

namespace stagecraft {
namespace {

struct Outcome {
  int code = 0;
  std::string out, err;
};

// Runs catalogue as main() does: an InputError is exit code 2.
Outcome Call(const Args& args) {
  std::istringstream in;
  std::ostringstream out, err;
  Outcome outcome;
  try {
    outcome.code = RunCatalogue(args, in, out, err);
  } catch (const InputError& error) {
    err << error.what() << '\n';
    outcome.code = kExitBadInput;
  }
  outcome.out = out.str();
  outcome.err = err.str();
  return outcome;
}

TEST(CommandCatalogueTest, HelpShowsAnExample) {
  const Outcome outcome = Call({"--help"});
  EXPECT_EQ(outcome.code, kExitOk);
  EXPECT_NE(outcome.out.find("Examples:\n  stagecraft catalogue"), std::string::npos)
      << outcome.out;
}

TEST(CommandCatalogueTest, ANodeShowsItsLinks) {
  const Outcome outcome = Call({"nodes", "dgx-h100", "--topology"});
  EXPECT_NE(outcome.out.find("gpu0     -> nvswitch             450 GB/s NVLink 300 ns"),
            std::string::npos)
      << outcome.out;
  EXPECT_NE(outcome.out.find("node0/pcie0 -> node0/nic0  50 GB/s PCIe  bottleneck"),
            std::string::npos)
      << outcome.out;
  const auto report = nlohmann::json::parse(Call({"nodes", "dgx-1v", "--topology", "--json"}).out);
  EXPECT_EQ(report["links"][0]["from"], "node0/gpu0");
  EXPECT_EQ(report["links"][0]["bandwidth_bytes_per_s"], 25e9);
  EXPECT_NE(Call({"gpus", "h100", "--topology"}).err.find("want nodes and an ID"),
            std::string::npos);
}

TEST(CommandCatalogueTest, ListsCarryTheirUnits) {
  const Outcome gpus = Call({"gpus"});
  EXPECT_NE(
      gpus.out.find("     fp32     tf32     fp16     bf16      fp8    nvfp4  memory  memory  "),
      std::string::npos)
      << gpus.out;
  EXPECT_NE(
      gpus.out.find("  TFLOP/s  TFLOP/s  TFLOP/s  TFLOP/s  TFLOP/s  TFLOP/s      GB    GB/s  "),
      std::string::npos)
      << gpus.out;
  EXPECT_NE(gpus.out.find("\nh100-sxm5-80gb "), std::string::npos) << gpus.out;
  EXPECT_NE(gpus.out.find("node dgx-h100; 85.521 GB usable; "), std::string::npos) << gpus.out;
  const Outcome nodes = Call({"nodes"});
  EXPECT_NE(nodes.out.find("\ndgx-h100 "), std::string::npos) << nodes.out;
  EXPECT_NE(nodes.out.find("  inside  NICs     NIC  network\n"), std::string::npos) << nodes.out;
  EXPECT_NE(nodes.out.find("    GB/s        Gbit/s\n"), std::string::npos) << nodes.out;
  const Outcome models = Call({"models"});
  EXPECT_NE(models.out.find("llama"), std::string::npos) << models.out;
}

TEST(CommandCatalogueTest, NoListIsWiderThanATerminalOf120Columns) {
  for (const char* list : {"gpus", "nodes", "models", "stacks"}) {
    std::istringstream lines(Call({list}).out);
    for (std::string line; std::getline(lines, line);) EXPECT_LE(line.size(), 120u) << line;
  }
}

TEST(CommandCatalogueTest, TheNodeAndOtherNamesOfAGpuStandBelowIt) {
  const Outcome outcome = Call({"gpus", "h100-sxm"});
  EXPECT_NE(outcome.out.find("\n    node dgx-h100; 85.521 GB usable; also called "),
            std::string::npos)
      << outcome.out;
}

TEST(CommandCatalogueTest, JsonHasOneListOfObjects) {
  for (const char* list : {"gpus", "nodes", "models", "stacks"}) {
    const Outcome outcome = Call({list, "--json"});
    const auto report = nlohmann::json::parse(outcome.out);
    EXPECT_EQ(report["command"], "catalogue");
    EXPECT_GT(report[list].size(), 3u) << list;
    EXPECT_TRUE(report[list][0].is_object());
  }
}

TEST(CommandCatalogueTest, StacksShowEachValueBesideItsOrigin) {
  const Outcome all = Call({"stacks"});
  EXPECT_NE(all.out.find("\nmegatron-core "), std::string::npos) << all.out;
  const auto report = nlohmann::json::parse(Call({"stacks", "ddp", "--json"}).out);
  bool has_bucket = false;
  for (const auto& row : report["stacks"]) {
    EXPECT_EQ(row["stack"], "ddp");
    EXPECT_NE(row["origin"], "");
    has_bucket = has_bucket || (row["key"] == "bucket_bytes" && row["value"] == "26214400");
  }
  EXPECT_TRUE(has_bucket) << report;
}

TEST(CommandCatalogueTest, OneEntryIsFoundByItsNames) {
  const auto report = nlohmann::json::parse(Call({"gpus", "h100-sxm", "--json"}).out);
  ASSERT_EQ(report["gpus"].size(), 1u);
  EXPECT_EQ(report["gpus"][0]["id"], "h100-sxm5-80gb");
  EXPECT_NE(Call({"gpus", "h800"}).out.find("h800-80gb"), std::string::npos);
  const Outcome other = Call({"stacks", "megatron"});
  EXPECT_EQ(other.code, kExitBadInput);
  EXPECT_NE(other.err.find("ID: got \"megatron\"; did you mean \"megatron-"), std::string::npos)
      << other.err;
}

TEST(CommandCatalogueTest, OtherListsAreRefused) {
  const Outcome outcome = Call({"gpu"});
  EXPECT_EQ(outcome.code, kExitBadInput);
  EXPECT_NE(outcome.err.find("LIST: got \"gpu\", want one of gpus, nodes, models, stacks"),
            std::string::npos)
      << outcome.err;
  EXPECT_EQ(Call({}).code, kExitBadInput);
}

// The template is a cluster as it stands, with the GPU's own values.
TEST(CommandCatalogueTest, ATemplateIsAClusterOfTheGpuWhoseValuesItHas) {
  const std::string file = testing::TempDir() + "/my_gpu.yaml";
  std::remove(file.c_str());
  ASSERT_EQ(Call({"gpus", "b200", "--template", file}).code, kExitOk);
  const Cluster cluster = ParseCluster(file);
  EXPECT_EQ(cluster.device_count(), 16);
  const Device& known = DeviceCatalogue::Embedded().Get("b200", "test").device;
  const Device& device = cluster.device(0);
  EXPECT_EQ(device.id, "my-gpu");
  EXPECT_EQ(device.memory, known.memory);
  EXPECT_EQ(device.power_w, known.power_w);
  EXPECT_EQ(device.Peak(DType::kBf16), known.Peak(DType::kBf16));
  const Outcome again = Call({"gpus", "--template", file});
  EXPECT_EQ(again.code, kExitBadInput);
  EXPECT_NE(again.err.find("my_gpu.yaml exists, want the name of a new file"), std::string::npos);
}

TEST(CommandCatalogueTest, ATemplateSaysWhatSetsAGpuApart) {
  for (const char* gpu : {"b200", "gb300"}) {
    const std::string file = testing::TempDir() + "/exponentials.yaml";
    std::remove(file.c_str());
    ASSERT_EQ(Call({"gpus", gpu, "--template", file}).code, kExitOk);
    const Device& known = DeviceCatalogue::Embedded().Get(gpu, "test").device;
    EXPECT_EQ(ParseCluster(file).device(0).exponentials_per_clock, known.exponentials_per_clock);
  }
}

TEST(CommandCatalogueTest, ATemplateIsOfAGpuAndAYamlFile) {
  EXPECT_EQ(Call({"nodes", "--template", "a.yaml"}).err,
            "--template: got it for nodes, want gpus\n");
  EXPECT_EQ(Call({"gpus", "--template", "a.json"}).err,
            "--template: got a.json, want a name that ends in .yaml\n");
}

}  // namespace
}  // namespace stagecraft
