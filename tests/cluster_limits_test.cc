// Tests of cluster files with numbers in another unit, and of GPUs that are described by their
// datasheet, which says everything but the training clock.
#include <fmt/core.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "tests/bad_input.h"

namespace stagecraft {
namespace {

using bad_input::Case;
using bad_input::Result;
using bad_input::RunLine;
using Json = nlohmann::json;

// How a GPU differs from an H100 as in its datasheet.
struct TestGpu {
  double rate = 1;  // by which all peaks and the clock are multiplied
  std::string extra = "";
  std::string memory_bandwidth = "3.35e12", bf16 = "9.89e14", link = "4.5e11", nic = "5e10";
};

std::string NodeText(const TestGpu& gpu, int count) {
  const double r = gpu.rate;
  return fmt::format(
      "- count: {}\n  inline_node_type:\n    id: my-node\n"
      "    inline_device: {{id: my-h100, generation: HOPPER, multiprocessors: 132, "
      "boost_clock_hz: {}, fp32_flop_per_s: {}, tf32_flop_per_s: {}, fp16_flop_per_s: {}, "
      "bf16_flop_per_s: {}, fp8_flop_per_s: {}, vector_fp32_flop_per_s: {}, "
      "sustained_fraction: 0.8033, memory_bytes: 85899345920, "
      "memory_bandwidth_bytes_per_s: {}, l2_bytes: 52428800, power_w: 700{}}}\n"
      "    devices: 8\n    wiring: SWITCHED\n    nvls: true\n"
      "    intra: {{kind: NVLINK, bandwidth_bytes_per_s: {}, latency_ns: 600}}\n"
      "    nics: 8\n    nic: {{kind: NETWORK, bandwidth_bytes_per_s: {}, latency_ns: 2700}}\n",
      count, 1.83e9 * r, 6.7e13 * r, 4.945e14 * r, 9.89e14 * r,
      r == 1 ? gpu.bf16 : fmt::format("{}", 9.89e14 * r), 1.979e15 * r, 6.7e13 * r,
      gpu.memory_bandwidth, gpu.extra, gpu.link, gpu.nic);
}

class ClusterLimitsTest : public bad_input::FolderTest {
 protected:
  std::string Job(const std::string& verb, const std::string& cluster) const {
    return verb +
           " --model llama3-8b --global-batch 128 --micro-batch 4 --seq 4096 --tp 2 --pp 2 "
           "--cluster " +
           Expand(cluster);
  }
  Json Simulated(const std::string& cluster) const {
    const std::string line = Job("simulate", cluster) + " --json --quiet";
    const Result result = RunLine(line);
    EXPECT_EQ(result.code, kExitOk) << line << "\n" << result.err;
    return Json::parse(result.out.empty() ? "{}" : result.out);
  }
  void WriteCluster(const std::string& name, const std::string& nodes) const {
    Write(name, "name: lab\nnode_groups:\n" + nodes);
  }
};

TEST_F(ClusterLimitsTest, RatesInAnotherUnitAreRefusedByEveryVerb) {
  const std::vector<std::pair<TestGpu, std::string>> gpus = {
      {{.memory_bandwidth = "3350"},
       "got 3350 bytes/s, want from 1e8 to 1e14: did you mean 3350e9?"},
      {{.bf16 = "989"}, "got 989 FLOP/s, want from 1e9 to 1e17: did you mean 989e12?"},
      {{.link = "450"}, "got 450 bytes/s, want from 1e6 to 1e13: did you mean 450e9?"},
      {{.nic = "400"}, "got 400 bytes/s, want from 1e6 to 1e13: did you mean 400e9?"},
  };
  for (size_t i = 0; i < gpus.size(); ++i) {
    const std::string file = fmt::format("c{}.yaml", i);
    WriteCluster(file, NodeText(gpus[i].first, 2));
    const std::string cluster = "$T/" + file;
    ExpectRefused({{Job("simulate", cluster), gpus[i].second, cluster},
                   {Job("explain", cluster), gpus[i].second, cluster},
                   {Job("search", cluster), gpus[i].second, cluster},
                   {"check " + cluster, gpus[i].second, cluster}});
  }
}

TEST_F(ClusterLimitsTest, AGpuFromItsDatasheetIsAsFastAsTheCatalogues) {
  WriteCluster("sheet.yaml", NodeText({}, 2));
  const Json own = Simulated("$T/sheet.yaml");
  const Json known = Simulated("h100-sxm:2x8");
  EXPECT_NEAR(own["step_time_ms"].get<double>() / known["step_time_ms"].get<double>(), 1, 0.03);
  WriteCluster("stated.yaml", NodeText({.extra = ", clock_share: 0.8"}, 2));
  EXPECT_EQ(Simulated("$T/stated.yaml")["step_time_ms"],
            Simulated("$T/sheet.yaml --clock 0.8")["step_time_ms"]);
}

TEST_F(ClusterLimitsTest, TheHostAndTheClockAreTheClustersOrAFlags) {
  WriteCluster("sheet.yaml", NodeText({}, 2));
  WriteCluster("graphs.yaml", NodeText({.extra = ", host_dispatch_ns: 0"}, 2));
  const Json eager = Simulated("$T/sheet.yaml");
  const Json flags = Simulated("$T/sheet.yaml --host-dispatch 0");
  const Json slow = Simulated("$T/graphs.yaml --host-dispatch 1000");
  EXPECT_EQ(Simulated("$T/graphs.yaml")["step_time_ms"], flags["step_time_ms"]);
  EXPECT_LT(eager["step_time_ms"], Simulated("$T/sheet.yaml --clock 0.9")["step_time_ms"]);
  EXPECT_LT(flags["step_time_ms"], eager["step_time_ms"]);
  EXPECT_GT(slow["step_time_ms"], 1.5 * flags["step_time_ms"].get<double>());
  ExpectRefused(
      {{Job("simulate", "$T/sheet.yaml --clock 0"), "--clock: got 0, want from 0.1 to 1", ""},
       {Job("search", "$T/sheet.yaml --clock 1.5"), "--clock: got 1.5, want from 0.1 to 1", ""},
       {Job("explain", "$T/sheet.yaml --host-dispatch -1"),
        "--host-dispatch: got -1, want from 0 to 100000", ""}});
}

TEST_F(ClusterLimitsTest, ANodeWithFourFifthsOfTheRatesIsAboutAFifthSlower) {
  WriteCluster("even.yaml", NodeText({}, 2));
  WriteCluster("slow.yaml", NodeText({}, 1) + NodeText({.rate = 0.8}, 1));
  const double even = Simulated("$T/even.yaml")["step_time_ms"];
  const double slow = Simulated("$T/slow.yaml")["step_time_ms"];
  EXPECT_GT(slow / even, 1.12);
  EXPECT_LT(slow / even, 1.26);
}

}  // namespace
}  // namespace stagecraft
